"""``import migrate``: bring in an existing folder, or an older store up to date."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Annotated

import typer

from thunderus_mem.cli.params import Why
from thunderus_mem.cli.text import aligned, counted, diff_lines
from thunderus_mem.document.unicode import escaped
from thunderus_mem.errors import ThunderusError
from thunderus_mem.interop.markdown import ImportedFile, ImportReport, import_markdown
from thunderus_mem.interop.thunderus import MigrationReport, migrate

if TYPE_CHECKING:
    from thunderus_mem.cli.console import Console

app = typer.Typer()
import_app = typer.Typer(no_args_is_help=True)
app.add_typer(import_app, name="import")


@import_app.command("markdown")
def import_markdown_command(
    ctx: typer.Context,
    directory: Annotated[str, typer.Argument(metavar="DIR", help="A folder of Markdown, or one file.")],
    kind: Annotated[str, typer.Option("--kind", "-k", help="core, fact, adr, playbook or recap.")],
    tag: Annotated[list[str] | None, typer.Option("--tag", "-t", help="A tag for all; repeatable.")] = None,
    mapping: Annotated[
        list[str] | None,
        typer.Option("--map", metavar="THEIRS=OURS", help="Take a field of ours from one of theirs; repeat."),
    ] = None,
    why: Annotated[str, typer.Option("--why", "-m", help="The reason, for the log.")] = "",
    dry_run: Annotated[bool, typer.Option("--dry-run", "-n", help="Only show what would be done.")] = False,
) -> int:
    """Import Markdown files as documents: texts byte for byte, unknown keys kept, dates from git.

    The files themselves stay where they are. Importing again adds only what is new. Decisions of adr-tools,
    MADR and log4brains keep number and date; what they say of each other becomes links. --map deciders=author
    takes our author from their deciders, a key of the frontmatter or a line under the title. Exits with 1
    when a file cannot be taken as it is.
    """
    console: Console = ctx.obj
    value = import_markdown(
        console.memory(),
        os.path.join(console.start, directory),
        kind,
        tags=tuple(tag or ()),
        mapping=tuple(mapping or ()),
        dry_run=dry_run,
        why=why,
    )
    console.emit("import markdown", value, _report)
    console.say(_summary(value))
    return console.published_code(value.published) or int(bool(value.refused))


def _report(value: ImportReport, console: Console) -> str:
    return "\n".join(line for item in value.files for line in _lines(item))


def _lines(item: ImportedFile) -> list[str]:
    source = escaped(item.source)  # a file's name may hold a line end
    if not item.imported:
        return [f"skip {source}: {item.reason}"]
    kept = [f"kept: {', '.join(item.kept)}"] if item.kept else []
    return [f"add  {source} → {item.id}", *(f"       {note}" for note in (*kept, *item.notes))]


def _summary(value: ImportReport) -> str:
    if not value.files:
        return f"There is no Markdown in {value.directory}."
    done = "would be imported" if value.dry_run else "imported"
    skipped = f", {value.skipped} skipped" if value.skipped else ""
    following = "" if value.dry_run or not value.imported else " Next: thunderus-mem lint"
    return f"{counted(value.imported, 'file')} {done}{skipped}.{following}"


@app.command("migrate")
def migrate_command(
    ctx: typer.Context,
    apply: Annotated[bool, typer.Option("--apply", help="Write it; without, it is only shown.")] = False,
    check: Annotated[
        bool, typer.Option("--check", help="Only name what is to migrate; exit with 1 if anything is.")
    ] = False,
    why: Why = "",
) -> int:
    """Show what brings an older store up to date, as a diff; with --apply do it.

    Only lines of fields that have an older shape change; texts, comments and unknown fields stay as they are,
    and the log's old lines are never rewritten. `undo` takes all of it back.
    """
    if apply and check:
        raise ThunderusError("--apply and --check exclude each other.")
    console: Console = ctx.obj
    value = migrate(console.memory(), apply=apply, why=why)
    console.emit("migrate", value, migration_names if apply or check else migration)
    if check:
        return int(value.due)
    return console.published_code(value.published)


def migration(value: MigrationReport, console: Console) -> str:
    """The diff of what would be migrated; what it is on stderr."""
    _say_migration(value, console)
    style = console.style
    lines: list[str] = []
    for one in value.changes:
        lines.append(style.dim(f"# {one.path}: {', '.join(one.steps)}"))
        lines += diff_lines(one.path, "update", one.diff, one.moved_from, style)
    return "\n".join([*lines, *(f"write {path}" for path in value.files)])


def migration_names(value: MigrationReport, console: Console) -> str:
    """What is to migrate, or was: each file and the steps it takes."""
    _say_migration(value, console)
    rows = [(console.style.name(change.path), ", ".join(change.steps)) for change in value.changes]
    rows += [(console.style.name(path), "file of the store") for path in value.files]
    return "\n".join(aligned(rows))


def _say_migration(value: MigrationReport, console: Console) -> None:
    for file in value.left:
        console.say(f"{console.style.warning('left')} {file.path}: {file.reason}")
    console.say_recorded(value.recorded)
    if not value.due:
        console.say(f"Everything has its present shape (version {value.present}).")
        return
    parts = [counted(len(value.changes), "document")] if value.changes else []
    parts += [counted(len(value.files), "file") + " beside them"] if value.files else []
    what = " and ".join(parts)
    if not value.applied:
        console.say(f"To migrate to version {value.present}: {what}. Only --apply writes.")
        return
    console.say(f"Migrated to version {value.present}: {what}.")
    if value.changes:
        console.say("To take the documents back: thunderus-mem undo")
