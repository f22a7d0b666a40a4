"""Arguments and options shared by several commands, with one name and one help text each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from thunderus_mem.cli.options import Argument, Option
from thunderus_mem.errors import ThunderusError

if TYPE_CHECKING:
    from thunderus_mem.index.questions import Filter

MOST = 999_999
"""The largest number that an option accepts."""

DocumentId = Annotated[str, Argument(metavar="ID", help="Document id, or a unique prefix of it.")]
ChangedId = Annotated[str, Argument(metavar="ID", help="Document id, or a unique prefix of it.")]

Why = Annotated[str, Option("-m", "--why", metavar="WHY", help="The reason, recorded in the log.")]
NeededWhy = Annotated[str, Option("-m", "--why", metavar="WHY", help="The reason, recorded in the log.")]
Yes = Annotated[bool, Option("--yes", "-y", help="Skip the confirmation prompt.")]

DryRun = Annotated[bool, Option("--dry-run", help="Show the changes without writing them.")]

Kinds = Annotated[
    list[str] | None,
    Option("--kind", "-k", metavar="KIND", help="Only core, fact, adr, playbook or recap (repeatable)."),
]
Tags = Annotated[
    list[str] | None, Option("--tag", "-t", metavar="TAG", help="Only with this tag (repeatable).")
]
Filters = Annotated[
    list[str] | None, Argument(metavar="[FILTER]...", help="As in search, e.g. verdict:stale since:2d.")
]
Episode = Annotated[str, Option(metavar="NAME", help="Only this episode, in its order.")]
Archived = Annotated[bool, Option("--archived", help="Include archived documents.")]
Newest = Annotated[
    int, Option("--limit", "-n", metavar="N", min=1, max=MOST, help="Show at most N, newest first.")
]
Budget = Annotated[
    int,
    Option(
        "--budget",
        metavar="TOKENS",
        min=0,
        max=MOST,
        show_default=False,
        help="Print at most about this many tokens (characters / 4).",
    ),
]
OnlyIds = Annotated[bool, Option("--ids", help="Print only the ids.")]
Patch = Annotated[bool, Option("--patch", "-p", help="Show the recorded code and the current code.")]
FailOn = Annotated[
    str,
    Option("--fail-on", metavar="SEVERITY", help="Exit with 1 from error, warning or note on; or never."),
]
PreCommit = Annotated[bool, Option("--pre-commit", hidden=True)]
"""The command is a hook of the pre-commit framework, which says in the environment what to check."""
Output = Annotated[str, Option("--output", "-o", metavar="FILE", help="Write the report to a file.")]


def checked_limit(given: str) -> str:
    """Return the value of ``--fail-on``. Raises `ThunderusError` for an unknown one."""
    if given not in ("error", "warning", "note", "never"):
        raise ThunderusError(f"unknown severity {given!r}", hint="use error, warning, note or never")
    return given


def filter_of(kind: list[str] | None, tag: list[str] | None, episode: str, *, archived: bool) -> Filter:
    """The filter that the options `Kinds`, `Tags`, `Episode` and `Archived` give."""
    from thunderus_mem.index.questions import Filter

    return Filter(
        kinds=tuple(kind or ()),
        tags=tuple(tag or ()),
        archived=archived,
        episode=episode,
    )
