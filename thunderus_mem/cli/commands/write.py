"""``add edit remove supersede link note``: everything that writes a document or the log."""

from __future__ import annotations

import sys
from contextlib import nullcontext
from typing import TYPE_CHECKING, Annotated, Any

import typer

from thunderus_mem.cli.input import links, pairs, relation, text_of
from thunderus_mem.cli.text import aligned, counted
from thunderus_mem.errors import ThunderusError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from thunderus_mem.authoring.edit import Archived, Recorded
    from thunderus_mem.authoring.rename import Renamed
    from thunderus_mem.cli.console import Console
    from thunderus_mem.memory.memory import Memory

app = typer.Typer()

Why = Annotated[str, typer.Option("-m", "--why", metavar="WHY", help="The reason, kept in the log.")]
Anchor = Annotated[
    list[str] | None,
    typer.Option(metavar="PLACE", help="Code it talks about: PATH, PATH#SYMBOL, PATH:10-20; repeat."),
]
_ADD_HELP = """Write the document's text above. Leave it empty, or save nothing, to add no document."""
_EDIT_HELP = """Change fields and text above. Save nothing new to leave the document as it is."""


@app.command("add")
def add(
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
    link: Annotated[list[str] | None, typer.Option(metavar="REL:ID", help="A link; repeat.")] = None,
    field: Annotated[list[str] | None, typer.Option(metavar="KEY=VALUE", help="A field; repeat.")] = None,
    alias: Annotated[list[str] | None, typer.Option(metavar="PHRASE", help="Another name; repeat.")] = None,
    status: Annotated[str | None, typer.Option(metavar="STATUS", help="Status of a decision.")] = None,
    anchor: Anchor = None,
    why: Why = "",
    edit: Annotated[bool, typer.Option("--edit", help="Open the text in the editor first.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show the document; write nothing.")] = False,
) -> int:
    """Add a document and print its id and path.

    Without --body the text comes from stdin when that is no terminal, else from your editor.
    """
    from thunderus_mem.authoring import add as add_module
    from thunderus_mem.cli.input import keeping
    from thunderus_mem.cli.render import written_code

    console: Console = ctx.obj
    memory = console.memory()
    tags, relations = add_module.given_tags(tag or ()), links(link or ())
    fields = pairs(field or (), "--field")
    text, by_hand = _body(console, (kind, title, status), body, edit=edit)
    with keeping(text, f"{kind}.md") if by_hand else nullcontext():
        value = add_module.add(
            memory,
            kind,
            title,
            body=text,
            tags=tags,
            id=document,
            links=relations,
            fields=fields,
            aliases=tuple(alias or ()),
            status=status,
            anchors=tuple(anchor or ()),
            why=why,
            dry_run=dry_run,
        )
    return written_code(console, "add", value)


def _unwritten(console: Console) -> typer.Exit:
    """How a command ends whose editor brought nothing new."""
    console.talk("Nothing is written: the editor left the text empty or as it was.")
    return typer.Exit(1)


def _body(
    console: Console, new: tuple[str, str, str | None], given: str | None, *, edit: bool
) -> tuple[str, bool]:
    """The text of a new document (given, piped, or written in the editor), and whether it is the editor's."""
    from thunderus_mem.authoring import add as add_module
    from thunderus_mem.cli.input import edited, with_help

    text = text_of(given, console)
    if text is None and not edit and not sys.stdin.isatty():
        text = text_of("-", console) or None
    if text is not None and not edit:
        return text, False
    if console.no_input or (text is None and not console.interactive):
        raise ThunderusError("There is no text.", hint="Give it with --body TEXT, --body @FILE or on stdin.")
    kind, title, status = new
    start = add_module.template(kind, title, status=status) if text is None else text
    result = edited(with_help(start, _ADD_HELP), console.environ, f"{kind}.md")
    if result is None:
        raise _unwritten(console)
    return result, True


@app.command("edit")
def edit(
    ctx: typer.Context,
    document: Annotated[str, typer.Argument(metavar="ID", help="Its id, or a unique beginning of it.")],
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
    from thunderus_mem.authoring import edit as edit_module
    from thunderus_mem.cli.input import keeping
    from thunderus_mem.cli.render import written_code

    console: Console = ctx.obj
    memory = console.memory()
    changes: dict[str, Any] = {
        "sets": pairs(sets or (), "--set"),
        "add_tags": tuple(add_tag or ()),
        "remove_tags": tuple(remove_tag or ()),
        "anchors": tuple(anchor or ()),
        "body": text_of(body, console),
    }
    if not any(value or value == "" for value in changes.values() if value is not None and value != ()):
        changes = _whole(memory, console, document)
    if expecting is not None:
        changes["expecting"] = expecting
    text = changes.get("text")
    with keeping(text, f"{document}.md") if text else nullcontext():
        value = edit_module.edit(memory, document, **changes, why=why)
    return written_code(console, "edit", value)


def _whole(memory: Memory, console: Console, document: str) -> dict[str, Any]:
    """The document as a person leaves it in the editor."""
    from thunderus_mem.authoring import show
    from thunderus_mem.cli.input import edited, with_help

    if not console.interactive:
        raise ThunderusError(
            "There is nothing to change.", hint="Name a change: --set, --add-tag, --remove-tag or --body."
        )
    shown = show.show(memory, document)
    result = edited(with_help(shown.text, _EDIT_HELP), console.environ, f"{shown.id}.md")
    if result is None:
        raise _unwritten(console)
    return {"text": result, "expecting": shown.hash}


@app.command("remove")
def remove(
    ctx: typer.Context,
    document: Annotated[str, typer.Argument(metavar="ID", help="Its id, or a unique beginning of it.")],
    why: Annotated[str, typer.Option("-m", "--why", metavar="WHY", help="The reason (needed).")],
) -> int:
    """Remove a document. Its last text stays in the log and in git."""
    from thunderus_mem.authoring import edit as edit_module
    from thunderus_mem.cli.render import written_code

    console: Console = ctx.obj
    return written_code(console, "remove", edit_module.remove(console.memory(), document, why=why))


@app.command("supersede")
def supersede(
    ctx: typer.Context,
    old: Annotated[str, typer.Argument(help="The document that no longer holds.")],
    new: Annotated[str, typer.Argument(help="The document that replaces it.")],
    why: Annotated[str, typer.Option("-m", "--why", metavar="WHY", help="The reason (needed).")],
) -> int:
    """Say that NEW replaces OLD; search then never ranks OLD above NEW."""
    from thunderus_mem.authoring import edit as edit_module
    from thunderus_mem.cli.render import written_code

    console: Console = ctx.obj
    return written_code(console, "supersede", edit_module.supersede(console.memory(), old, new, why=why))


@app.command("link")
def link(
    ctx: typer.Context,
    source: Annotated[str, typer.Argument(metavar="A", help="The document that gets the link.")],
    rel: Annotated[
        str, typer.Argument(metavar="REL", help="derives_from, refers_to, supersedes, duplicates.")
    ],
    target: Annotated[str, typer.Argument(metavar="B", help="The document it points to.")],
    why: Why = "",
) -> int:
    """Link document A to document B."""
    from thunderus_mem.authoring import edit as edit_module
    from thunderus_mem.cli.render import written_code

    console: Console = ctx.obj
    value = edit_module.link(console.memory(), source, relation(rel), target, why=why)
    return written_code(console, "link", value)


@app.command("note")
def note(
    ctx: typer.Context,
    text: Annotated[str, typer.Argument(metavar="TEXT|-|@FILE", help="The note; - is stdin.")],
    about: Annotated[list[str] | None, typer.Option(metavar="ID", help="A document it is about.")] = None,
) -> None:
    """Write a note into the log."""
    from thunderus_mem.authoring import edit as edit_module
    from thunderus_mem.cli.render import noted

    console: Console = ctx.obj
    refs: Sequence[str] = tuple(about or ())
    console.emit("note", edit_module.note(console.memory(), text_of(text, console) or "", refs=refs), noted)


# ``record``: what people edited by hand goes into the log now.


@app.command("record")
def record(
    ctx: typer.Context,
    yes: Annotated[
        bool, typer.Option("--yes", help="Also when many documents are gone: they are meant to be.")
    ] = False,
    why: Annotated[str, typer.Option("-m", "--why", metavar="WHY", help="The reason, kept in the log.")] = "",
) -> None:
    """Log now what was edited by hand; every command that writes does so first anyway."""
    from thunderus_mem.authoring import edit

    console: Console = ctx.obj
    value = edit.record(console.memory(), accept_loss=yes, why=why)
    if not value.recorded:
        console.say("Nothing was edited by hand.")
    console.emit("record", value, _recorded)


def _recorded(value: Recorded, console: Console) -> str:
    return "\n".join(console.style.name(one) for one in value.recorded)


# ``rename``: another id for a document.


@app.command("rename")
def rename(
    ctx: typer.Context,
    document: Annotated[str, typer.Argument(metavar="ID", help="Its id, or the path of its file.")],
    new_id: Annotated[str, typer.Argument(metavar="NEW-ID", help="What it is to be called.")],
    plan: Annotated[bool, typer.Option("--plan", help="Show what would change; write nothing.")] = False,
    why: Annotated[str, typer.Option("-m", "--why", metavar="WHY", help="The reason, kept in the log.")] = "",
) -> int:
    """Give a document another id and its file the name that follows from it.

    Links and references in other documents follow; the old id stays as an alias. A decision keeps its number.
    """
    from thunderus_mem.authoring import rename as rename_module
    from thunderus_mem.cli.render import published_code

    console: Console = ctx.obj
    value = rename_module.rename(console.memory(), document, new_id, plan=plan, why=why)
    console.emit("rename", value, renamed)
    say_more(value, console)
    return published_code(console, published=value.published)


# What `rename` did, for people: the new name, who followed, and where the old one still stands.

_SHOWN = 20


def renamed(value: Renamed, console: Console) -> str:
    """The new id and path; with a plan the diff."""
    style = console.style
    if value.recorded:
        console.say(f"Recorded edits made by hand: {', '.join(value.recorded)}")
    if value.proposed:
        console.say(f"Filed for review; nothing is written yet: thunderus-mem patch show {value.proposed}")
        return f"{style.name(value.proposed)}  {style.name(value.id)}  {value.path}"
    if not value.changed:
        console.say("Nothing to change.")
    elif not value.planned:
        console.say(f"Renamed {value.old_id}:")
    lines = [f"{style.name(value.id)}  {value.path}"]
    if value.planned and value.diff:
        console.say(f"Nothing is written; {value.old_id} would be:")
        lines += ["", value.diff.rstrip("\n")]
    return "\n".join(lines)


def say_more(value: Renamed, console: Console) -> None:
    """After the new name: who followed, and where the old one stands."""
    if value.followed:
        verb = "would follow" if value.planned else "followed"
        console.say(
            f"{counted(len(value.followed), 'document')} {verb}: {', '.join(value.followed[:_SHOWN])}"
        )
    if value.mentions:
        shown = ", ".join(f"{one.path}:{one.line}" for one in value.mentions[:_SHOWN])
        more = f" and {len(value.mentions) - _SHOWN} more" if len(value.mentions) > _SHOWN else ""
        console.say(f"The old name still stands in {shown}{more}.")


# ``archive unarchive``: documents are set aside, and brought back.

Documents = Annotated[list[str], typer.Argument(metavar="ID...", help="Ids, or paths of their files.")]


@app.command("archive")
def archive(ctx: typer.Context, documents: Documents, why: Why = "") -> int:
    """Set documents aside: they leave search and list, and keep their text, ids and history.

    --archived finds them again, show and links always do, unarchive and undo bring them back.
    """
    from thunderus_mem.authoring import edit

    console: Console = ctx.obj
    return _told(console, edit.archive(console.memory(), documents, why=why))


@app.command("unarchive")
def unarchive(ctx: typer.Context, documents: Documents, why: Why = "") -> int:
    """Bring archived documents back to where they came from."""
    from thunderus_mem.authoring import edit

    console: Console = ctx.obj
    return _told(console, edit.unarchive(console.memory(), documents, why=why))


def _told(console: Console, value: Archived) -> int:
    from thunderus_mem.cli.render import published_code

    console.emit(value.op, value, archived)
    return published_code(console, published=value.published)


# What `archive` and `unarchive` did, for people: each document and where it stands now.


def archived(value: Archived, console: Console) -> str:
    """Ids and new paths, in columns."""
    if value.recorded:
        console.say(f"Recorded edits made by hand: {', '.join(value.recorded)}")
    if value.kept:
        state = "in the archive" if value.op == "archive" else "in use"
        console.say(f"Already {state}: {', '.join(value.kept)}")
    if value.documents:
        console.say("Archived:" if value.op == "archive" else "Back in use:")
    return "\n".join(aligned([(console.style.name(one.id), one.path) for one in value.documents]))
