"""``add edit remove supersede link note record rename archive unarchive``: what writes documents."""

from __future__ import annotations

import sys
from contextlib import nullcontext
from typing import TYPE_CHECKING, Annotated, Final

import typer

from thunderus_mem.authoring import add, edit, rename, show
from thunderus_mem.cli.input import edited, keeping, links, pairs, relation, text_of, with_help
from thunderus_mem.cli.params import ChangedId, NeededWhy, Plan, Why
from thunderus_mem.cli.text import aligned, counted, finding_lines
from thunderus_mem.errors import ThunderusError

if TYPE_CHECKING:
    from thunderus_mem.cli.console import Console
    from thunderus_mem.memory.memory import Memory
    from thunderus_mem.memory.transaction import Written

app = typer.Typer()

Anchor = Annotated[
    list[str] | None,
    typer.Option(metavar="PLACE", help="Code it talks about: PATH, PATH#SYMBOL, PATH:10-20; repeat."),
]
Documents = Annotated[list[str], typer.Argument(metavar="ID...", help="Ids, or paths of their files.")]
_ADD_HELP = """Write the document's text above. Leave it empty, or save nothing, to add no document."""
_EDIT_HELP = """Change fields and text above. Save nothing new to leave the document as it is."""
_MOST_SHOWN: Final = 20
_DONE: Final = {
    "add": "Added",
    "edit": "Changed",
    "remove": "Removed",
    "supersede": "Superseded",
    "link": "Linked",
    "recap": "Wrote",
}


def written_code(console: Console, command: str, value: Written) -> int:
    """Print what was written and return the exit code."""
    console.emit(command, value, written)
    console.tell_others()
    return console.published_code(value.published)


def written(value: Written, console: Console) -> str:
    """What was written: findings on stderr, then id and path."""
    style = console.style
    for line in finding_lines(value.warnings, style):
        console.talk(line)
    console.say_recorded(value.recorded)
    if value.proposed:
        return filed(value.proposed, value.id, value.path, console)
    if value.dry_run:
        console.say(f"Nothing is written; this would be {value.path}:")
        return value.text.rstrip("\n")
    console.say(f"{_DONE.get(value.op, 'Wrote')}:" if value.changed else "Nothing to change.")
    return f"{style.name(value.id)}  {value.path}"


def filed(proposal: str, document: str, path: str, console: Console) -> str:
    """What became a proposal instead: its id, and the document it is about."""
    console.say(f"Filed for review; nothing is written yet: thunderus-mem patch show {proposal}")
    return f"{console.style.name(proposal)}  {console.style.name(document)}  {path}"


@app.command("add")
def add_command(
    ctx: typer.Context,
    kind: Annotated[str, typer.Argument(metavar="KIND", help="core, fact, adr, playbook or recap.")],
    title: Annotated[str, typer.Argument(metavar="TITLE", help="What it says, in one line.")],
    body: Annotated[
        str | None, typer.Option(metavar="TEXT|-|@FILE", help="The text; - is stdin, @FILE a file.")
    ] = None,
    tag: Annotated[
        list[str] | None, typer.Option("--tag", "-t", metavar="TAG", help="A tag; repeat.")
    ] = None,
    document: Annotated[str | None, typer.Option("--id", metavar="ID", help="Default: by title.")] = None,
    given_links: Annotated[
        list[str] | None, typer.Option("--link", metavar="REL:ID", help="A link; repeat.")
    ] = None,
    field: Annotated[list[str] | None, typer.Option(metavar="KEY=VALUE", help="A field; repeat.")] = None,
    alias: Annotated[list[str] | None, typer.Option(metavar="PHRASE", help="Another name; repeat.")] = None,
    status: Annotated[str | None, typer.Option(metavar="STATUS", help="Status of a decision.")] = None,
    anchor: Anchor = None,
    why: Why = "",
    in_editor: Annotated[bool, typer.Option("--edit", help="Open the text in the editor first.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show the document; write nothing.")] = False,
) -> int:
    """Add a document and print its id and path.

    Without --body the text comes from stdin when that is no terminal, else from your editor.
    """
    console: Console = ctx.obj
    memory = console.memory()
    tags, relations = add.given_tags(tag or ()), links(given_links or ())
    fields = pairs(field or (), "--field")
    text, by_hand = _body(console, (kind, title, status), body, edit=in_editor)
    with keeping(text, f"{kind}.md") if by_hand else nullcontext():
        new = add.NewDocument(
            kind,
            title,
            text,
            tags,
            document,
            relations,
            fields,
            tuple(alias or ()),
            status,
            tuple(anchor or ()),
        )
        value = add.add(memory, new, why=why, dry_run=dry_run)
    return written_code(console, "add", value)


def _unwritten(console: Console) -> typer.Exit:
    """How a command ends whose editor brought nothing new."""
    console.talk("Nothing is written: the editor left the text empty or as it was.")
    return typer.Exit(1)


def _body(
    console: Console, new: tuple[str, str, str | None], given: str | None, *, edit: bool
) -> tuple[str, bool]:
    """The text of a new document (given, piped, or written in the editor), and whether it is the editor's."""
    text = text_of(given, console)
    if text is None and not edit and not sys.stdin.isatty():
        text = text_of("-", console) or None
    if text is not None and not edit:
        return text, False
    if console.no_input or (text is None and not console.interactive):
        raise ThunderusError("There is no text.", hint="Give it with --body TEXT, --body @FILE or on stdin.")
    kind, title, status = new
    start = add.template(kind, title, status=status) if text is None else text
    result = edited(with_help(start, _ADD_HELP), console.environ, f"{kind}.md")
    if result is None:
        raise _unwritten(console)
    return result, True


@app.command("edit")
def edit_command(
    ctx: typer.Context,
    document: ChangedId,
    sets: Annotated[
        list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="Set a field, as title=Words.")
    ] = None,
    add_tag: Annotated[list[str] | None, typer.Option(metavar="TAG", help="Add a tag.")] = None,
    remove_tag: Annotated[list[str] | None, typer.Option(metavar="TAG", help="Remove a tag.")] = None,
    anchor: Anchor = None,
    body: Annotated[str | None, typer.Option(metavar="TEXT|-|@FILE", help="Replace the text.")] = None,
    expecting: Annotated[
        str | None,
        typer.Option(metavar="HASH", help="Only if it still has this hash (see show --json)."),
    ] = None,
    why: Why = "",
) -> int:
    """Change a document; without any option it opens in your editor, whole.

    Only the lines of the fields you name change. --set metadata.owner=… reaches a nested field.
    """
    console: Console = ctx.obj
    memory = console.memory()
    edits = edit.DocumentEdits(
        sets=pairs(sets or (), "--set"),
        add_tags=tuple(add_tag or ()),
        remove_tags=tuple(remove_tag or ()),
        anchors=tuple(anchor or ()),
        body=text_of(body, console),
    )
    if edits.body is None and not any(edits):
        edits = _whole(memory, console, document)
    if expecting is not None:
        edits = edits._replace(expecting=expecting)
    with keeping(edits.text, f"{document}.md") if edits.text else nullcontext():
        value = edit.edit(memory, document, edits, why=why)
    return written_code(console, "edit", value)


def _whole(memory: Memory, console: Console, document: str) -> edit.DocumentEdits:
    """The document as a person leaves it in the editor."""
    if not console.interactive:
        raise ThunderusError(
            "There is nothing to change.", hint="Name a change: --set, --add-tag, --remove-tag or --body."
        )
    shown = show.show(memory, document)
    result = edited(with_help(shown.text, _EDIT_HELP), console.environ, f"{shown.id}.md")
    if result is None:
        raise _unwritten(console)
    return edit.DocumentEdits(text=result, expecting=shown.hash)


@app.command("remove")
def remove_command(
    ctx: typer.Context,
    document: ChangedId,
    why: NeededWhy,
) -> int:
    """Remove a document. Its last text stays in the log and in git."""
    console: Console = ctx.obj
    return written_code(console, "remove", edit.remove(console.memory(), document, why=why))


@app.command("supersede")
def supersede_command(
    ctx: typer.Context,
    old: Annotated[str, typer.Argument(help="The document that no longer holds.")],
    new: Annotated[str, typer.Argument(help="The document that replaces it.")],
    why: NeededWhy,
) -> int:
    """Say that NEW replaces OLD; search then never ranks OLD above NEW."""
    console: Console = ctx.obj
    return written_code(console, "supersede", edit.supersede(console.memory(), old, new, why=why))


@app.command("link")
def link_command(
    ctx: typer.Context,
    source: Annotated[str, typer.Argument(metavar="A", help="The document that gets the link.")],
    rel: Annotated[
        str, typer.Argument(metavar="REL", help="derives_from, refers_to, supersedes, duplicates.")
    ],
    target: Annotated[str, typer.Argument(metavar="B", help="The document it points to.")],
    why: Why = "",
) -> int:
    """Link document A to document B."""
    console: Console = ctx.obj
    value = edit.link(console.memory(), source, relation(rel), target, why=why)
    return written_code(console, "link", value)


@app.command("note")
def note_command(
    ctx: typer.Context,
    text: Annotated[str, typer.Argument(metavar="TEXT|-|@FILE", help="The note; - is stdin.")],
    about: Annotated[list[str] | None, typer.Option(metavar="ID", help="A document it is about.")] = None,
) -> None:
    """Write a note into the log."""
    console: Console = ctx.obj
    value = edit.note(console.memory(), text_of(text, console) or "", refs=tuple(about or ()))
    console.emit("note", value, _noted)


@app.command("record")
def record_command(
    ctx: typer.Context,
    yes: Annotated[
        bool, typer.Option("--yes", help="Also when many documents are gone: they are meant to be.")
    ] = False,
    why: Why = "",
) -> None:
    """Log now what was edited by hand; every command that writes does so first anyway."""
    console: Console = ctx.obj
    value = edit.record(console.memory(), accept_loss=yes, why=why)
    if not value.recorded:
        console.say("Nothing was edited by hand.")
    console.emit("record", value, _recorded)


def _noted(value: edit.Noted, console: Console) -> str:
    return console.style.name(value.event_id)


def _recorded(value: edit.Recorded, console: Console) -> str:
    return "\n".join(console.style.name(one) for one in value.recorded)


@app.command("rename")
def rename_command(
    ctx: typer.Context,
    document: Annotated[str, typer.Argument(metavar="ID", help="Its id, or the path of its file.")],
    new_id: Annotated[str, typer.Argument(metavar="NEW-ID", help="What it is to be called.")],
    plan: Plan = False,
    why: Why = "",
) -> int:
    """Give a document another id and its file the name that follows from it.

    Links and references in other documents follow; the old id stays as an alias. A decision keeps its number.
    """
    console: Console = ctx.obj
    value = rename.rename(console.memory(), document, new_id, plan=plan, why=why)
    console.emit("rename", value, renamed)
    say_more(value, console)
    return console.published_code(value.published)


def renamed(value: rename.Renamed, console: Console) -> str:
    """The new id and path; with a plan the diff."""
    style = console.style
    console.say_recorded(value.recorded)
    if value.proposed:
        return filed(value.proposed, value.id, value.path, console)
    if not value.changed:
        console.say("Nothing to change.")
    elif not value.planned:
        console.say(f"Renamed {value.old_id}:")
    lines = [f"{style.name(value.id)}  {value.path}"]
    if value.planned and value.diff:
        console.say(f"Nothing is written; {value.old_id} would be:")
        lines += ["", value.diff.rstrip("\n")]
    return "\n".join(lines)


def say_more(value: rename.Renamed, console: Console) -> None:
    """After the new name: who followed, and where the old one stands."""
    if value.followed:
        verb = "would follow" if value.planned else "followed"
        console.say(
            f"{counted(len(value.followed), 'document')} {verb}: {', '.join(value.followed[:_MOST_SHOWN])}"
        )
    if value.mentions:
        shown = ", ".join(f"{one.path}:{one.line}" for one in value.mentions[:_MOST_SHOWN])
        more = f" and {len(value.mentions) - _MOST_SHOWN} more" if len(value.mentions) > _MOST_SHOWN else ""
        console.say(f"The old name still stands in {shown}{more}.")


@app.command("archive")
def archive_command(ctx: typer.Context, documents: Documents, why: Why = "") -> int:
    """Set documents aside: they leave search and list, and keep their text, ids and history.

    --archived finds them again, show and links always do, unarchive and undo bring them back.
    """
    console: Console = ctx.obj
    return _archived_code(console, edit.archive(console.memory(), documents, why=why))


@app.command("unarchive")
def unarchive_command(ctx: typer.Context, documents: Documents, why: Why = "") -> int:
    """Bring archived documents back to where they came from."""
    console: Console = ctx.obj
    return _archived_code(console, edit.unarchive(console.memory(), documents, why=why))


def _archived_code(console: Console, value: edit.Archived) -> int:
    console.emit(value.op, value, archived)
    return console.published_code(value.published)


def archived(value: edit.Archived, console: Console) -> str:
    """Ids and new paths, in columns."""
    console.say_recorded(value.recorded)
    if value.kept:
        state = "in the archive" if value.op == "archive" else "in use"
        console.say(f"Already {state}: {', '.join(value.kept)}")
    if value.documents:
        console.say("Archived:" if value.op == "archive" else "Back in use:")
    return "\n".join(aligned([(console.style.name(one.id), one.path) for one in value.documents]))
