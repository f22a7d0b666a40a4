"""``add edit remove supersede link note record rename archive unarchive``: commands that write documents."""

from __future__ import annotations

import sys
from contextlib import nullcontext
from functools import partial
from typing import TYPE_CHECKING, Annotated, Final

from thunderus_mem.authoring import add, edit
from thunderus_mem.cli.input import edited, keeping, links, pairs, relation, text_of, with_help
from thunderus_mem.cli.options import Argument, Call, Commands, Option
from thunderus_mem.cli.params import ChangedId, DryRun, NeededWhy, Why
from thunderus_mem.cli.text import aligned, counted, finding_lines
from thunderus_mem.document.templates import check_kind
from thunderus_mem.errors import NothingWritten, ThunderusError

if TYPE_CHECKING:
    from thunderus_mem.authoring import rename
    from thunderus_mem.cli.console import Console
    from thunderus_mem.memory.memory import Memory
    from thunderus_mem.memory.transaction import Written

app = Commands()

Anchor = Annotated[
    list[str] | None,
    Option(metavar="PLACE", help="Code it describes: PATH, PATH#SYMBOL, PATH:10-20 (repeatable)."),
]
Documents = Annotated[list[str], Argument(metavar="ID...", help="Document ids or file paths.")]
_ADD_HELP = """Write the text of the document above. To cancel, leave it empty or do not save.
Search also finds it by the questions it answers: add each with --alias."""
_EDIT_HELP = """Edit fields and text above. To cancel, do not save any change."""
_MOST_SHOWN: Final = 20
_DONE: Final = {
    "add": "Added",
    "edit": "Changed",
    "remove": "Removed",
    "link": "Linked",
    "recap": "Wrote",
}


def written_code(console: Console, command: str, value: Written, done: str = "") -> int:
    """Print the result of a write and what was ``done``; return the exit code."""
    console.emit(command, value, partial(written, done=done))
    console.say_others()
    return console.published_code(value.published)


def written(value: Written, console: Console, done: str = "") -> str:
    """Print findings and what was ``done`` on stderr, then return id and path."""
    style = console.style
    for line in finding_lines(value.warnings, style):
        console.talk(line)
    console.say_recorded(value.recorded)
    if value.proposed:
        return filed(value.proposed, value.id, value.path, console)
    if value.dry_run:
        console.say(f"Dry run; would write {value.path}:")
        return value.text.rstrip("\n")
    if value.changed:
        console.say_done(done or _DONE.get(value.op, "Wrote"), value.published)
    else:
        console.say("Already up to date:" if value.op == "recap" else "Nothing to change")
    return f"{style.name(value.id)}  {value.path}"


def filed(proposal: str, document: str, path: str, console: Console) -> str:
    """Format a write that was queued as a proposal: its id and the document."""
    console.say(f"Queued for review, not applied; see: thunderus-mem review show {proposal}")
    return f"{console.style.name(proposal)}  {console.style.name(document)}  {path}"


@app.command("add")
def add_command(
    ctx: Call,
    kind: Annotated[str, Argument(metavar="KIND", help="core, fact, adr, playbook or recap.")],
    title: Annotated[str, Argument(metavar="TITLE", help="The title: one line that summarizes it.")],
    body: Annotated[
        str | None, Option(metavar="TEXT|-|@FILE", help="The text; - reads stdin, @FILE a file.")
    ] = None,
    tag: Annotated[
        list[str] | None,
        Option("--tag", "-t", metavar="TAG", help="A tag (repeatable); default: KIND."),
    ] = None,
    document: Annotated[
        str | None, Option("--id", metavar="ID", help="The id; derived from the title by default.")
    ] = None,
    given_links: Annotated[
        list[str] | None, Option("--link", metavar="REL:ID", help="A link (repeatable).")
    ] = None,
    sets: Annotated[
        list[str] | None, Option("--set", metavar="KEY=VALUE", help="Set a field (repeatable).")
    ] = None,
    alias: Annotated[
        list[str] | None,
        Option(metavar="PHRASE", help="Another name, or a question it answers (repeatable)."),
    ] = None,
    state: Annotated[
        str | None, Option(metavar="STATE", help="State of a decision; default: accepted.")
    ] = None,
    anchor: Anchor = None,
    why: Why = "",
    dry_run: DryRun = False,
) -> int:
    """Add a document and print its id and path.

    Without --body, read the text from stdin if it is not a terminal; otherwise open your editor.
    """
    console: Console = ctx.obj
    memory = console.memory()
    check_kind(kind)
    relations = links(given_links or ())
    fields = pairs(sets or (), "--set")
    text, by_hand = _body(console, (kind, title, state), body)
    with keeping(text, f"{kind}.md") if by_hand else nullcontext():
        new = add.NewDocument(
            kind,
            title,
            text,
            tuple(tag or ()),
            document,
            relations,
            fields,
            tuple(alias or ()),
            state,
            tuple(anchor or ()),
        )
        value = add.add(memory, new, why=why, dry_run=dry_run)
    return written_code(console, "add", value)


def _body(console: Console, new: tuple[str, str, str | None], given: str | None) -> tuple[str, bool]:
    """Return the text of a new document, and whether it was written in the editor."""
    text = text_of(given, console)
    if text is None and not sys.stdin.isatty():
        text = text_of("-", console, "the text (no --body was given)") or None
    if text is not None:
        return text, False
    if not console.interactive:
        raise ThunderusError("no text given", hint="pass --body TEXT or --body @FILE, or pipe it to stdin")
    kind, title, state = new
    start = add.template(kind, title, state=state)
    console.flush()
    result = edited(with_help(start, _ADD_HELP), console.environ, f"{kind}.md")
    if result is None:
        raise NothingWritten
    return result, True


@app.command("edit")
def edit_command(
    ctx: Call,
    document: ChangedId,
    sets: Annotated[
        list[str] | None,
        Option(
            "--set",
            metavar="KEY=VALUE",
            help="Set a field, e.g. title=…, or state=accepted of a decision (repeatable).",
        ),
    ] = None,
    tag: Annotated[
        list[str] | None, Option("--tag", "-t", metavar="TAG", help="Add a tag (repeatable).")
    ] = None,
    remove_tag: Annotated[list[str] | None, Option(metavar="TAG", help="Remove a tag (repeatable).")] = None,
    anchor: Anchor = None,
    body: Annotated[
        str | None,
        Option(metavar="TEXT|-|@FILE", help="Replace the text; - reads stdin, @FILE a file."),
    ] = None,
    expecting: Annotated[
        str | None,
        Option(metavar="HASH", help="Fail if the current hash differs (see show --json)."),
    ] = None,
    why: Why = "",
) -> int:
    """Change a document; without options, open it in your editor.

    Only the lines of the given fields change. Use dots for nested fields: --set metadata.owner=…
    """
    console: Console = ctx.obj
    memory = console.memory()
    edits = edit.DocumentEdits(
        sets=pairs(sets or (), "--set"),
        add_tags=tuple(tag or ()),
        remove_tags=tuple(remove_tag or ()),
        anchors=tuple(anchor or ()),
        body=text_of(body, console),
    )
    if edits.body is None and not any(edits):
        edits = _edited(memory, console, document)
    if expecting is not None:
        edits = edits._replace(expecting=expecting)
    with keeping(edits.text, f"{document}.md") if edits.text else nullcontext():
        value = edit.edit(memory, document, edits, why=why)
    return written_code(console, "edit", value)


def _edited(memory: Memory, console: Console, document: str) -> edit.DocumentEdits:
    """Open the document in the editor and return the new text."""
    if not console.interactive:
        raise ThunderusError("no change given", hint="use --set, --tag, --remove-tag, --anchor or --body")
    from thunderus_mem.authoring.show import show

    shown = show(memory, document)
    console.flush()
    result = edited(with_help(shown.text, _EDIT_HELP), console.environ, f"{shown.id}.md")
    if result is None:
        raise NothingWritten
    return edit.DocumentEdits(text=result, expecting=shown.hash)


@app.command("remove")
def remove_command(
    ctx: Call,
    document: ChangedId,
    why: NeededWhy,
) -> int:
    """Remove a document; its last text stays in the log and in git."""
    console: Console = ctx.obj
    return written_code(console, "remove", edit.remove(console.memory(), document, why=why))


@app.command("supersede")
def supersede_command(
    ctx: Call,
    old: Annotated[str, Argument(metavar="OLD", help="The replaced document.")],
    new: Annotated[str, Argument(metavar="NEW", help="The document that replaces it.")],
    why: NeededWhy,
) -> int:
    """Mark OLD as replaced by NEW; search never ranks OLD above NEW."""
    console: Console = ctx.obj
    value, old_id = edit.supersede(console.memory(), old, new, why=why)
    return written_code(console, "supersede", value, f"Superseded {old_id} by {value.id}")


@app.command("link")
def link_command(
    ctx: Call,
    source: Annotated[str, Argument(metavar="A", help="The document that contains the link.")],
    rel: Annotated[str, Argument(metavar="REL", help="derives_from, refers_to, supersedes or duplicates.")],
    target: Annotated[str, Argument(metavar="B", help="The document it points to.")],
    why: Why = "",
) -> int:
    """Link document A to document B."""
    console: Console = ctx.obj
    value = edit.link(console.memory(), source, relation(rel), target, why=why)
    return written_code(console, "link", value)


@app.command("rename")
def rename_command(
    ctx: Call,
    document: Annotated[str, Argument(metavar="ID", help="Document id or file path.")],
    new_id: Annotated[str, Argument(metavar="NEW-ID", help="The new id.")],
    dry_run: DryRun = False,
    why: Why = "",
) -> int:
    """Change a document's id, rename its file to match, and update references to it.

    The old id stays as an alias. A decision keeps its number. To change the title: edit ID --set title=TEXT
    """
    from thunderus_mem.authoring import rename

    console: Console = ctx.obj
    value = rename.rename(console.memory(), document, new_id, dry_run=dry_run, why=why)
    console.emit("rename", value, renamed)
    say_more(value, console)
    return console.published_code(value.published)


def renamed(value: rename.Renamed, console: Console) -> str:
    """Return the new id and path; of a dry run also the diff."""
    style = console.style
    console.say_recorded(value.recorded)
    if value.proposed:
        return filed(value.proposed, value.id, value.path, console)
    if not value.changed:
        console.say("Nothing to change")
    elif not value.planned:
        console.say_done(f"Renamed {value.old_id} to {value.id}", value.published)
    lines = [f"{style.name(value.id)}  {value.path}"]
    if value.planned and value.diff:
        console.say(f"Dry run; would rename {value.old_id} to {value.id}:")
        lines += ["", value.diff.rstrip("\n")]
    return "\n".join(lines)


def say_more(value: rename.Renamed, console: Console) -> None:
    """Report which documents were updated, and where the old id is still mentioned."""
    if value.followed:
        verb = "Would update" if value.planned else "Updated"
        names = ", ".join(value.followed[:_MOST_SHOWN])
        console.say(f"{verb} references in {counted(len(value.followed), 'document')}: {names}")
    if value.mentions:
        shown = ", ".join(f"{one.path}:{one.line}" for one in value.mentions[:_MOST_SHOWN])
        more = f" and {len(value.mentions) - _MOST_SHOWN} more" if len(value.mentions) > _MOST_SHOWN else ""
        console.say(f"The old id is still mentioned in {shown}{more}")


@app.command("archive")
def archive_command(
    ctx: Call,
    documents: Documents,
    undo: Annotated[bool, Option("--undo", help="Move archived documents back to their folders.")] = False,
    why: Why = "",
) -> int:
    """Archive documents: search and list omit them, but their text, ids and history stay.

    Use --archived to search or list them; `show` and links still find them.
    """
    console: Console = ctx.obj
    move = edit.unarchive if undo else edit.archive
    return _archived_code(console, move(console.memory(), documents, why=why))


def _archived_code(console: Console, value: edit.Archived) -> int:
    console.emit("archive", value, archived)
    return console.published_code(value.published)


def archived(value: edit.Archived, console: Console) -> str:
    """Format ids and new paths in columns."""
    console.say_recorded(value.recorded)
    if value.kept:
        state = "Already archived" if value.op == "archive" else "Not in the archive"
        console.say(f"{state}: {', '.join(value.kept)}")
    if value.documents:
        console.say_done("Archived" if value.op == "archive" else "Unarchived", value.published)
    return "\n".join(aligned([(console.style.name(one.id), one.path) for one in value.documents]))
