"""Arguments and options that several commands take: one name, one help, everywhere the same."""

from __future__ import annotations

from typing import Annotated

import typer

DocumentId = Annotated[str, typer.Argument(metavar="ID", help="An id, or a unique beginning of it.")]
ChangedId = Annotated[str, typer.Argument(metavar="ID", help="Its id, or a unique beginning of it.")]

Why = Annotated[str, typer.Option("-m", "--why", metavar="WHY", help="The reason, kept in the log.")]
NeededWhy = Annotated[str, typer.Option("-m", "--why", metavar="WHY", help="The reason (needed).")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]

Plan = Annotated[bool, typer.Option("--plan", help="Show what would change; write nothing.")]
DryRun = Annotated[bool, typer.Option("--dry-run", "--plan", help="Show what would change; write nothing.")]

Kinds = Annotated[list[str] | None, typer.Option("--kind", "-k", help="Only this kind; repeat.")]
Newest = Annotated[int, typer.Option("--limit", "-n", min=1, help="How many, newest first.")]
OnlyIds = Annotated[bool, typer.Option("--ids", help="Print only the ids.")]
Patch = Annotated[bool, typer.Option("--patch", "-p", help="Show the code then and now.")]
Output = Annotated[str, typer.Option("--output", "-o", metavar="FILE", help="Write the report to a file.")]
