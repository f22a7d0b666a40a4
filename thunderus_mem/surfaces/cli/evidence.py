"""``anchor verify``: tie documents to code, and confirm what they say of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from thunderus_mem.model.errors import ThunderusError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from thunderus_mem.memory import Memory
    from thunderus_mem.surfaces.cli.console import Console

app = typer.Typer()

Why = Annotated[str, typer.Option("-m", "--why", metavar="WHY", help="The reason, kept in the log.")]
_ACTORS = ("user", "agent")


@app.command("anchor")
def anchor(
    ctx: typer.Context,
    document: Annotated[str, typer.Argument(metavar="ID", help="Its id, or a unique beginning of it.")],
    places: Annotated[
        list[str] | None, typer.Argument(metavar="PLACE", help="PATH, PATH#SYMBOL, PATH:10-20 or a glob.")
    ] = None,
    remove: Annotated[bool, typer.Option("--remove", help="Untie it from these places.")] = False,
    suggest: Annotated[
        bool, typer.Option("--suggest", help="Propose places from what the text names.")
    ] = False,
    apply: Annotated[
        bool, typer.Option("--apply", help="With --suggest: tie it to those that are not weak.")
    ] = False,
    why: Why = "",
) -> int:
    """Tie a document to the code it talks about, and take the fingerprint of what is there now."""
    from thunderus_mem.surfaces.cli.done import published_code
    from thunderus_mem.surfaces.render_evidence import anchoring
    from thunderus_mem.verbs import anchoring as verb

    console: Console = ctx.obj
    if apply and not suggest:
        raise ThunderusError("--apply carries out what --suggest proposes.", hint="Give both.")
    if suggest:
        if places or remove:
            raise ThunderusError("--suggest finds the places itself.", hint="Give only the document.")
        places = _suggested(console, document, apply=apply)
        if not places:
            return 0
    if not places:
        raise ThunderusError("No place is named.", hint="PATH, PATH#SYMBOL or PATH:10-20")
    value = verb.anchor(console.memory(), document, tuple(places), remove=remove, why=why)
    console.emit("anchor", value, anchoring)
    console.tell_others()
    return published_code(console, published=value.written.published)


def _suggested(console: Console, document: str, *, apply: bool) -> list[str]:
    """Proposals are printed, or with ``apply`` the places given back that are worth an anchor."""
    from thunderus_mem.surfaces.render_suggest import suggestions, suggestions_note
    from thunderus_mem.verbs.suggesting import suggest

    value = suggest(console.memory(), document)
    if apply and value.strong:
        return list(value.strong)
    console.emit("anchor suggest", value, suggestions, long=True)
    if note := suggestions_note(value, console.style):
        console.say(note)
    return []


@app.command("verify")
def verify(
    ctx: typer.Context,
    documents: Annotated[
        list[str] | None, typer.Argument(metavar="ID", help="Documents that are right as they are.")
    ] = None,
    all_moved: Annotated[
        bool, typer.Option("--all-moved", help="Confirm all whose code only moved.")
    ] = False,
    fix_moved: Annotated[
        bool, typer.Option("--fix-moved", help="Set anchors anew whose code only moved; confirm nothing.")
    ] = False,
    status: Annotated[
        bool, typer.Option("--update-status", help="Write into the files what the code says of them.")
    ] = False,
    check: Annotated[
        bool, typer.Option("--check", help="Write nothing; exit with 1 when some is stale.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    actor: Annotated[
        str, typer.Option("--actor", metavar="WHO", help="Whose word it is: user or agent.")
    ] = "",
    note: Annotated[str, typer.Option("-m", "--note", "--why", metavar="WHY", help="Why it is right.")] = "",
) -> int:
    """Confirm that documents are right about the code as it is now.

    Writes fingerprints, commit, status and who confirmed it, and an approval into the log.
    """
    from thunderus_mem.transaction.opening import settle
    from thunderus_mem.verbs import verifying

    console: Console = ctx.obj
    memory = console.memory()
    ids = tuple(documents or ())
    if sum((all_moved, fix_moved, status, check)) > 1 or (all_moved and ids):
        raise ThunderusError("Give one of IDs, --all-moved, --fix-moved, --update-status, --check.")
    if check:
        return _told_drift(console, verifying.drifted(memory, ids or None))
    if status:
        drift, event_id = verifying.update_status(memory, ids or None, why=note)
        return _told_status(console, drift, event_id)
    if all_moved or (fix_moved and yes):
        settle(memory, "verify")
    if fix_moved:
        return _fix_moved(console, memory, ids, note, yes=yes)
    if all_moved:
        ids = tuple(verifying.moved_documents(memory))
        if not ids:
            console.say("Nothing has moved.")
            return 0
    if not ids:
        raise ThunderusError("No document is named.", hint="thunderus-mem verify ID, or --all-moved")
    return _confirm(console, memory, ids, note, actor)


def _confirm(console: Console, memory: Memory, ids: Sequence[str], note: str, actor: str) -> int:
    from thunderus_mem.surfaces.cli.done import published_code
    from thunderus_mem.surfaces.render_evidence import confirmed
    from thunderus_mem.verbs import verifying

    who = actor or console.environ.get("THUNDERUS_MEM_ACTOR", "") or "user"
    if who not in _ACTORS:
        raise ThunderusError(f"{who} cannot confirm anything.", hint=f"One of: {', '.join(_ACTORS)}")
    value = verifying.confirm(memory, ids, note=note, actor=who)
    console.emit("verify", value, confirmed)
    console.tell_others()
    return published_code(console, published=value.published) or int(bool(value.refused))


def _told_drift(console: Console, drift: Sequence[object]) -> int:
    from thunderus_mem.surfaces.render_evidence import drifts

    console.emit("verify check", tuple(drift), drifts)
    if not drift:
        console.say("Every document says of itself what the code says.")
    return int(bool(drift))


def _told_status(console: Console, drift: Sequence[object], event_id: str) -> int:
    from thunderus_mem.surfaces.render_evidence import drifts

    console.emit("verify check", tuple(drift), drifts)
    console.say(f"Written ({event_id})." if event_id else "Nothing to write.")
    return 0


def _fix_moved(console: Console, memory: Memory, ids: Sequence[str], why: str, *, yes: bool) -> int:
    from thunderus_mem.surfaces.cli.done import published_code
    from thunderus_mem.surfaces.render_evidence import moves
    from thunderus_mem.verbs import verifying

    planned = verifying.planned_moves(memory, ids or None)
    if not planned.moves:
        console.emit("verify fix_moved", planned, moves)
        console.say("Nothing has moved.")
        return 0
    if not yes:
        console.emit("verify fix_moved", planned, moves)
        if not console.interactive:
            console.say("Nothing is written; --yes sets these anchors anew.")
            return 0
        if console.ask("Set these anchors anew? [y/N] ").strip().lower() not in ("y", "yes"):
            console.say("Nothing is written.")
            return 1
    value = verifying.reanchor(memory, planned, why=why)
    if yes:
        console.emit("verify fix_moved", value, moves)
    console.say(f"Written ({value.event_id})." if value.event_id else "Nothing is written.")
    return published_code(console, published=value.published)
