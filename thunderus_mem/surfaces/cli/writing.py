"""``add edit remove supersede link note``: everything that writes a document or the log."""

from __future__ import annotations

import sys
from contextlib import nullcontext
from typing import TYPE_CHECKING, Annotated, Any

import typer

from thunderus_mem.model.errors import ThunderusError
from thunderus_mem.surfaces.cli.given import links, pairs, relation, text_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from thunderus_mem.memory import Memory
    from thunderus_mem.surfaces.cli.console import Console

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
    from thunderus_mem.surfaces.cli.done import written_code
    from thunderus_mem.surfaces.cli.editor import keeping
    from thunderus_mem.verbs import adding

    console: Console = ctx.obj
    memory = console.memory()
    tags, relations = adding.given_tags(tag or ()), links(link or ())
    fields = pairs(field or (), "--field")
    text, by_hand = _body(console, (kind, title, status), body, edit=edit)
    with keeping(text, f"{kind}.md") if by_hand else nullcontext():
        value = adding.add(
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
    from thunderus_mem.surfaces.cli.editor import edited, with_help
    from thunderus_mem.verbs import adding

    text = text_of(given, console)
    if text is None and not edit and not sys.stdin.isatty():
        text = text_of("-", console) or None
    if text is not None and not edit:
        return text, False
    if console.no_input or (text is None and not console.interactive):
        raise ThunderusError("There is no text.", hint="Give it with --body TEXT, --body @FILE or on stdin.")
    kind, title, status = new
    start = adding.template(kind, title, status=status) if text is None else text
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
    from thunderus_mem.surfaces.cli.done import written_code
    from thunderus_mem.surfaces.cli.editor import keeping
    from thunderus_mem.verbs import writing

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
        value = writing.edit(memory, document, **changes, why=why)
    return written_code(console, "edit", value)


def _whole(memory: Memory, console: Console, document: str) -> dict[str, Any]:
    """The document as a person leaves it in the editor."""
    from thunderus_mem.surfaces.cli.editor import edited, with_help
    from thunderus_mem.verbs import reading

    if not console.interactive:
        raise ThunderusError(
            "There is nothing to change.", hint="Name a change: --set, --add-tag, --remove-tag or --body."
        )
    shown = reading.show(memory, document)
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
    from thunderus_mem.surfaces.cli.done import written_code
    from thunderus_mem.verbs import writing

    console: Console = ctx.obj
    return written_code(console, "remove", writing.remove(console.memory(), document, why=why))


@app.command("supersede")
def supersede(
    ctx: typer.Context,
    old: Annotated[str, typer.Argument(help="The document that no longer holds.")],
    new: Annotated[str, typer.Argument(help="The document that replaces it.")],
    why: Annotated[str, typer.Option("-m", "--why", metavar="WHY", help="The reason (needed).")],
) -> int:
    """Say that NEW replaces OLD; search then never ranks OLD above NEW."""
    from thunderus_mem.surfaces.cli.done import written_code
    from thunderus_mem.verbs import writing

    console: Console = ctx.obj
    return written_code(console, "supersede", writing.supersede(console.memory(), old, new, why=why))


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
    from thunderus_mem.surfaces.cli.done import written_code
    from thunderus_mem.verbs import writing

    console: Console = ctx.obj
    value = writing.link(console.memory(), source, relation(rel), target, why=why)
    return written_code(console, "link", value)


@app.command("note")
def note(
    ctx: typer.Context,
    text: Annotated[str, typer.Argument(metavar="TEXT|-|@FILE", help="The note; - is stdin.")],
    about: Annotated[list[str] | None, typer.Option(metavar="ID", help="A document it is about.")] = None,
) -> None:
    """Write a note into the log."""
    from thunderus_mem.surfaces.render import noted
    from thunderus_mem.verbs import writing

    console: Console = ctx.obj
    refs: Sequence[str] = tuple(about or ())
    console.emit("note", writing.note(console.memory(), text_of(text, console) or "", refs=refs), noted)
