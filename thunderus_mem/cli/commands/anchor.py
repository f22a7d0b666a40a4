"""``anchor verify``: tie documents to code, and confirm what they say of it."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Annotated, Final

import typer

from thunderus_mem.authoring.anchor import Anchoring, anchor
from thunderus_mem.authoring.verify import (
    Drift,
    Moves,
    Verification,
    confirm,
    drifted,
    moved_documents,
    planned_moves,
    reanchor,
    update_status,
)
from thunderus_mem.cli.commands.write import filed
from thunderus_mem.cli.params import ChangedId, Why, Yes
from thunderus_mem.cli.text import aligned, one_line, verdict_word
from thunderus_mem.errors import ThunderusError
from thunderus_mem.memory.transaction import settle
from thunderus_mem.verdicts.suggest import Passed, SuggestedAnchor, Suggestions
from thunderus_mem.verdicts.suggest import suggest as suggest_anchors

if TYPE_CHECKING:
    from collections.abc import Sequence

    from thunderus_mem.cli.console import Console
    from thunderus_mem.memory.memory import Memory

app = typer.Typer()

_ACTORS: Final = ("user", "agent")
_MOST_NAMES: Final = 12
"""Names in the text that are shown as passed over for one reason."""


@app.command("anchor")
def anchor_command(
    ctx: typer.Context,
    document: ChangedId,
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
    console: Console = ctx.obj
    if apply and not suggest:
        raise ThunderusError("--apply carries out what --suggest proposes.", hint="Give both.")
    if suggest:
        if places or remove:
            raise ThunderusError("--suggest finds the places itself.", hint="Give only the document.")
        places = _suggested_places(console, document, apply=apply)
        if not places:
            return 0
    if not places:
        raise ThunderusError("No place is named.", hint="PATH, PATH#SYMBOL or PATH:10-20")
    value = anchor(console.memory(), document, tuple(places), remove=remove, why=why)
    console.emit("anchor", value, anchoring)
    console.tell_others()
    return console.published_code(value.written.published)


def _suggested_places(console: Console, document: str, *, apply: bool) -> list[str]:
    """Suggestions are printed, or with ``apply`` the places given back that are worth an anchor."""
    value = suggest_anchors(console.memory(), document)
    if apply and value.strong:
        return list(value.strong)
    console.emit("anchor suggest", value, suggestions, long=True)
    if value.proposals:
        command = console.style.name(f"thunderus-mem anchor --suggest {value.id} --apply")
        console.say(f"Write the strong ones with: {command}")
    else:
        console.say("The text names no code that could be told for sure.")
    return []


@app.command("verify")
def verify_command(
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
    yes: Yes = False,
    actor: Annotated[
        str, typer.Option("--actor", metavar="WHO", help="Whose word it is: user or agent.")
    ] = "",
    note: Annotated[str, typer.Option("-m", "--note", "--why", metavar="WHY", help="Why it is right.")] = "",
) -> int:
    """Confirm that documents are right about the code as it is now.

    Writes fingerprints, commit, status and who confirmed it, and an approval into the log.
    """
    console: Console = ctx.obj
    memory = console.memory()
    ids = tuple(documents or ())
    if sum((all_moved, fix_moved, status, check)) > 1 or (all_moved and ids):
        raise ThunderusError("Give one of IDs, --all-moved, --fix-moved, --update-status, --check.")
    if check:
        found = drifted(memory, ids or None)
        console.emit("verify check", tuple(found), drifts)
        if not found:
            console.say("Every document says of itself what the code says.")
        return int(bool(found))
    if status:
        found, event_id = update_status(memory, ids or None, why=note)
        console.emit("verify check", tuple(found), drifts)
        console.say(f"Written ({event_id})." if event_id else "Nothing to write.")
        return 0
    if all_moved or (fix_moved and yes):
        settle(memory, "verify")
    if fix_moved:
        return _fix_moved(console, memory, ids, note, yes=yes)
    if all_moved:
        ids = tuple(moved_documents(memory))
        if not ids:
            console.say("Nothing has moved.")
            return 0
    if not ids:
        raise ThunderusError("No document is named.", hint="thunderus-mem verify ID, or --all-moved")
    return _confirm(console, memory, ids, note, actor)


def _confirm(console: Console, memory: Memory, ids: Sequence[str], note: str, actor: str) -> int:
    who = actor or console.environ.get("THUNDERUS_MEM_ACTOR", "") or "user"
    if who not in _ACTORS:
        raise ThunderusError(f"{who} cannot confirm anything.", hint=f"One of: {', '.join(_ACTORS)}")
    value = confirm(memory, ids, note=note, actor=who)
    console.emit("verify", value, confirmed)
    console.tell_others()
    return console.published_code(value.published) or int(bool(value.refused))


def _fix_moved(console: Console, memory: Memory, ids: Sequence[str], why: str, *, yes: bool) -> int:
    planned = planned_moves(memory, ids or None)
    if not planned.moves:
        console.emit("verify fix_moved", planned, moves)
        console.say("Nothing has moved.")
        return 0
    if not yes:
        console.emit("verify fix_moved", planned, moves)
        if not console.interactive:
            console.say("Nothing is written; --yes sets these anchors anew.")
            return 0
        if not console.confirm("Set these anchors anew?"):
            console.say("Nothing is written.")
            return 1
    value = reanchor(memory, planned, why=why)
    if yes:
        console.emit("verify fix_moved", value, moves)
    console.say(f"Written ({value.event_id})." if value.event_id else "Nothing is written.")
    return console.published_code(value.published)


def suggestions(value: Suggestions, console: Console) -> str:
    """A command for each proposal below its reason, then what was passed over, as comments: the whole may be
    given to a shell."""
    style = console.style
    lines: list[str] = []
    for one in value.proposals:
        lines += [
            style.dim(f"# {one_line(one.reason)}{'; weak' if one.weak else ''}"),
            _command(value.id, one),
        ]
    if value.passed:
        lines += [*([""] if lines else []), style.dim("# Passed over:")]
        lines += [style.dim(f"#   {line}") for line in _passed(value.passed)]
    return "\n".join(lines)


def _passed(passed: Sequence[Passed]) -> list[str]:
    """What was passed over, together what was for the same reason."""
    reasons: dict[str, list[str]] = {}
    for one in passed:
        reasons.setdefault(one_line(one.why), []).append(one_line(one.code))
    lines = []
    for why, codes in reasons.items():
        left = len(codes) - _MOST_NAMES
        more = f" and {left:,} more" if left > 0 else ""
        lines.append(f"{why}: {', '.join(codes[:_MOST_NAMES])}{more}")
    return lines


def _command(id: str, one: SuggestedAnchor) -> str:
    dashes = " --" if one.place.startswith("-") else ""
    return f"thunderus-mem anchor{dashes} {id} {shlex.quote(one.place)}"


def anchoring(value: Anchoring, console: Console) -> str:
    """The document and its anchors."""
    written = value.written
    console.say_recorded(written.recorded)
    if written.proposed:
        return filed(written.proposed, written.id, written.path, console)
    if not written.changed:
        console.say("Nothing to change.")
    for place in value.weak:
        console.say(f"{place} names whole files: every edit in them will speak against the document.")
    return "\n".join(
        [f"{console.style.name(written.id)}  {written.path}", *(f"  {place}" for place in value.anchors)]
    )


def confirmed(value: Verification, console: Console) -> str:
    """Each document, its anchors with the verdict they had, and why one was refused."""
    style = console.style
    who = "an agent" if value.by == "agent" else "you"
    lines = []
    for one in value.documents:
        if one.refused:
            lines.append(f"{style.error('refused')}   {style.name(one.id)}  {one.refused}")
            continue
        lines.append(f"{style.good('confirmed')} {style.name(one.id)}  {one.path}")
        lines += [f"  {place} (was {verdict})" for place, verdict in one.places]
    if any(not one.refused for one in value.documents):
        console.say(f"Confirmed by {who}:")
    return "\n".join(lines)


def drifts(value: Sequence[Drift], console: Console) -> str:
    """Documents whose file says another status than the code does, with the reasons."""
    style = console.style
    lines = []
    for one in value:
        said = f"file says {one.written}" if one.written != one.status else "its file says so"
        lines.append(f"{verdict_word(one.status, style)}  {style.name(one.id)}  ({said})")
        lines += [f"    {reason}" for reason in one.reasons]
    return "\n".join(lines)


def moves(value: Moves, console: Console) -> str:
    """From where to where the code of each anchor went."""
    style = console.style
    return "\n".join(aligned([(style.name(id), before, "→", after) for id, before, after in value.moves]))
