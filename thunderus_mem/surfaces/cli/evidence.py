"""``anchor check verify``: what documents say about the code, and whether the code still supports it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Annotated

import typer

from thunderus_mem.model.errors import ThunderusError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from thunderus_mem.memory import Memory
    from thunderus_mem.surfaces.cli.console import Console
    from thunderus_mem.verbs.code_checking import CheckReport

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


@app.command("check")
def check(
    ctx: typer.Context,
    documents: Annotated[
        list[str] | None, typer.Argument(metavar="ID", help="Documents; all when none.")
    ] = None,
    since: Annotated[str, typer.Option("--since", metavar="REV", help="What changed since a commit.")] = "",
    staged: Annotated[bool, typer.Option("--staged", help="What the next commit changes.")] = False,
    diff: Annotated[
        str, typer.Option("--diff", metavar="FILE|-", help="What a unified diff changes; - is stdin.")
    ] = "",
    everything: Annotated[bool, typer.Option("--all", help="Every document; the default.")] = False,
    form: Annotated[
        str,
        typer.Option("--format", metavar="FORMAT", help="text, json, jsonl, github, gitlab, sarif, junit."),
    ] = "",
    patch: Annotated[bool, typer.Option("--patch", "-p", help="Show the code then and now.")] = False,
    output: Annotated[
        str, typer.Option("--output", "-o", metavar="FILE", help="Write the report to a file.")
    ] = "",
    exit_zero: Annotated[bool, typer.Option("--exit-zero", help="End with 0 whatever is found.")] = False,
) -> int:
    """Tell which memories the code does not support any more. Exits with 1 when there are some.

    With --since, --staged or --diff: which ones that change makes false, judged by its hunks.
    """
    from thunderus_mem.surfaces.render_evidence import said_of_check

    console: Console = ctx.obj
    chosen = sum((bool(documents), bool(since), staged, bool(diff), everything))
    if chosen > 1:
        raise ThunderusError("IDs, --since, --staged, --diff and --all leave each other no room.")
    form = _form(console, form)
    memory = console.memory()
    value = _checked(console, memory, documents or (), since=since, staged=staged, diff=diff)
    _print(console, memory, value, form, output, patch=patch)
    for line in said_of_check(value, changed=bool(since or staged or diff)) if form == "text" else ():
        console.say(line)
    console.tell_others()
    return int(bool(value.findings) and not exit_zero)


def _checked(
    console: Console, memory: Memory, ids: Sequence[str], *, since: str, staged: bool, diff: str
) -> CheckReport:
    from thunderus_mem.verbs import code_checking

    if not (since or staged or diff):
        return code_checking.check(memory, tuple(ids))
    from thunderus_mem.verbs import code_changes

    if staged:
        return code_changes.check_staged(memory)
    if since:
        return code_changes.check_since(memory, since)
    return code_changes.check_diff(memory, _diff_text(console, diff))


def _diff_text(console: Console, given: str) -> str:
    import sys

    if given == "-":
        return sys.stdin.buffer.read().decode("utf-8", "surrogateescape")
    path = os.path.join(console.start, given)
    try:
        with open(path, "rb") as file:
            return file.read().decode("utf-8", "surrogateescape")
    except OSError as error:
        raise ThunderusError(f"{given} cannot be read: {error.strerror}.") from error


def _form(console: Console, given: str) -> str:
    from thunderus_mem.surfaces.report import FORMATS

    form = given or ("github" if console.environ.get("GITHUB_ACTIONS") == "true" else "text")
    names = ("text", *(name for name in FORMATS if name not in ("full", "concise")))
    if form not in names:
        raise ThunderusError(f"There is no format {form}.", hint=f"Formats: {', '.join(names)}")
    return form


def _print(
    console: Console, memory: Memory, value: CheckReport, form: str, output: str, *, patch: bool
) -> None:
    from thunderus_mem.surfaces.render_evidence import check_report

    if form == "text":
        text: Callable[[CheckReport, Console], str] = lambda value, to: check_report(value, to, patch=patch)  # noqa: E731
    else:
        rendered = _reported(memory, value, form)
        text = lambda *_: rendered  # noqa: E731
    if output:
        from thunderus_mem.store.files import replace_file

        written = text(value, console)
        kept = console.safe(written) if form in ("text", "github") else written
        replace_file(
            os.path.join(console.start, output), f"{kept}\n".encode() if kept else b"", durable=False
        )
    if console.json or not output:
        console.emit("check", value, text, long=form == "text", safe=form not in ("text", "github"))


def _reported(memory: Memory, value: CheckReport, form: str) -> str:
    from thunderus_mem.surfaces.report import REPOSITORY_PATHS, report
    from thunderus_mem.verbs.code_checking import diagnostics

    found = diagnostics(memory, value)
    if form in REPOSITORY_PATHS and memory.git is not None and memory.git.prefix:
        found = [one._replace(path=memory.git.prefix + one.path) for one in found]
    return report(found, form, ()).rstrip("\n")


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
