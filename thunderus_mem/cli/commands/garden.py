"""``garden recap``: what the gardener would do, and does; and what happened in a day or another while.

The commands parse, call and render; what they call writes documents, proposals and events.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from thunderus_mem.cli.commands.undo import undone_code
from thunderus_mem.cli.commands.write import written_code
from thunderus_mem.cli.params import Why
from thunderus_mem.cli.text import Style, counted, diff_lines, flowing, indented, target_names
from thunderus_mem.errors import Conflict, ThunderusError
from thunderus_mem.garden import apply as gardener
from thunderus_mem.history import undo
from thunderus_mem.memory.transaction import settle
from thunderus_mem.recap.recap import recap
from thunderus_mem.recap.scope import Wanted

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from thunderus_mem.cli.console import Console
    from thunderus_mem.garden.plan import Plan, Step
    from thunderus_mem.memory.memory import Memory

app = typer.Typer()

# ``garden``

_MOST_SKIPPED = 5
_REACH = {"apply": "", "propose": "for review", "report": "for you to decide"}
_MOST_LINES = 60
"""Of the diff of one step; a longer one says how much more there is."""
_MOST_STEPS = 5
"""Of those that are told beside what was done."""


@app.command("garden")
def garden_command(
    ctx: typer.Context,
    plan: Annotated[bool, typer.Option("--plan", help="Say what would be done (the default).")] = False,
    apply: Annotated[bool, typer.Option("--apply", help="Do what may be done without asking.")] = False,
    propose: Annotated[
        bool, typer.Option("--propose", help="File everything for review; see `patch`.")
    ] = False,
    check: Annotated[
        bool, typer.Option("--check", help="Exit with 1 when there is anything to apply or to propose.")
    ] = False,
    undo: Annotated[bool, typer.Option("--undo", help="Take back the last run in this tree.")] = False,
    only: Annotated[
        list[str] | None,
        typer.Option("--only", metavar="RULE", help="Only these rules, as a,b; repeat."),
    ] = None,
    limit: Annotated[
        int, typer.Option("--limit", "-n", metavar="N", min=0, help="Steps to show; 0 for all.")
    ] = 20,
    why: Annotated[str, typer.Option("-m", "--why", metavar="WHY", help="The reason for --undo.")] = "",
) -> int:
    """Find what can be tidied or told: duplicates, numbers, links, tags, sizes, recaps, the archive.

    Writes nothing unless --apply or --propose say so. Only what is certain is changed by --apply; the rest
    waits for a decision, and so does all that an agent wants where review.agents says so. What somebody
    changes meanwhile is left as it is and named; the exit code is 3 then.
    """
    if sum((plan, apply, propose, check, undo)) > 1 and not (plan and check):
        raise ThunderusError("Give one of --plan, --apply, --propose, --check, --undo.")
    console: Console = ctx.obj
    memory = console.memory()
    if undo:
        if only:
            raise ThunderusError("--undo takes a run back as a whole, so --only has nothing to choose.")
        return _undo(console, memory, why)
    if apply or propose:
        settle(memory, "garden")
    apart = propose or (apply and gardener.is_reviewed(memory))
    found = gardener.garden_plan(memory, only=_rules(only or ()), apart=apart)
    if apply and found.steps:
        return _apply(console, memory, found)
    if propose and found.steps:
        return _propose(console, memory, found)
    return _show(console, memory, found, limit, check=check)


def _rules(given: Sequence[str]) -> tuple[str, ...]:
    """The rules of ``--only a,b --only c``. Raises for a word between commas that is none."""
    names = [name.strip() for text in given for name in text.split(",")]
    if not all(names):
        raise ThunderusError(
            f"--only takes names of rules, not {', '.join(map(repr, given))}.", hint="As --only links,tags"
        )
    return tuple(dict.fromkeys(names))


def _show(console: Console, memory: Memory, found: Plan, limit: int, *, check: bool) -> int:
    if not found.steps:
        console.say("Nothing to do.")
    # A program wants all of it, a person what fits on a few screens.
    shown = 0 if console.json or console.plain else limit
    console.emit("garden", gardener.garden_report(memory, found, limit=shown), plan, long=True)
    return int(check and bool(found.applicable or found.proposals))


def _apply(console: Console, memory: Memory, found: Plan) -> int:
    value = gardener.garden_apply(memory, found)
    console.emit("garden apply", value, applied)
    if value.steps:
        console.say("To take it back: thunderus-mem garden --undo")
    return _skipped(console, value.skipped) or console.published_code(value.published)


def _propose(console: Console, memory: Memory, found: Plan) -> int:
    value = gardener.garden_propose(memory, found)
    console.emit("garden propose", value, filed)
    return _skipped(console, value.skipped)


def _skipped(console: Console, skipped: Sequence[gardener.SkippedStep]) -> int:
    """Tell of the steps that no longer fit what is on disk; the exit code that says so."""
    if not skipped:
        return 0
    told = "; ".join(f"{', '.join(step.targets)}: {step.why}" for step in skipped[:_MOST_SKIPPED])
    more = f"; and {len(skipped) - _MOST_SKIPPED} more" if len(skipped) > _MOST_SKIPPED else ""
    error = Conflict(
        f"{counted(len(skipped), 'step')} skipped: {told}{more}", hint="plan again: thunderus-mem garden"
    )
    console.failure(error, error.exit_code)
    return error.exit_code


def _undo(console: Console, memory: Memory, why: str) -> int:
    value = undo.restore_last(memory, why=why)
    return undone_code(console, "garden undo", value)


def plan(value: gardener.PlanReport, console: Console) -> str:
    """The steps, numbered: what, why, on what evidence, and the diff; then how many there are."""
    style = console.style
    lines: list[str] = []
    for number, step in enumerate(value.steps, 1):
        lines += _step(step, number, style, console.width)
    if value.left_out:
        lines += ["", f"{counted(value.left_out, 'more step')} not shown; -n 0 shows all, --json too."]
    lines += ["", *_counts(value)] if lines else _counts(value)
    if value.to_apply:
        lines.append("Next: thunderus-mem garden --apply")
    elif value.to_propose:
        lines.append("Next: thunderus-mem garden --propose")
    return "\n".join(lines).strip("\n")


def _step(step: gardener.PlannedStep, number: int, style: Style, room: int | None) -> Iterator[str]:
    about = ", ".join(filter(None, (step.label, _REACH[step.reach])))
    head = f"{number}. {style.bold(step.action)}  {target_names(step.targets, style)}"
    yield from indented(head + (f"  ({about})" if about else ""), room)
    yield from indented(step.why, room, "   ")
    for item in step.evidence:
        yield from (style.dim(line) for line in indented(item, room, "   "))
    diff: list[str] = []
    for edit in step.edits:
        diff += diff_lines(edit.path, edit.op or "change", edit.diff, edit.moved_from, style)
    yield from (f"   {line}" for line in diff[:_MOST_LINES])
    if len(diff) > _MOST_LINES:
        more = counted(len(diff) - _MOST_LINES, "more line")
        yield f"   {style.dim(f'… {more}')}"


def _counts(value: gardener.PlanReport) -> list[str]:
    """How many steps there are of each kind, in one line; nothing where there are none."""
    parts = [
        (value.to_apply, "to apply"),
        (value.to_propose, "to propose"),
        (value.to_report, "for you to decide"),
        (value.waiting, "waiting for review"),
        (value.decided, "turned down before"),
    ]
    told = ", ".join(f"{number:,} {what}" for number, what in parts if number)
    lines = [f"Steps: {told}."] if told else []
    if value.expired:
        lines.append(f"{counted(value.expired, 'proposal')} expired; see: thunderus-mem patch expire --plan")
    return lines


def applied(value: gardener.Applied, console: Console) -> str:
    """What the gardener did, a step a line; then what waits for a person."""
    style = console.style
    room = console.width
    lines = flowing(
        [(done.action, target_names(done.targets, style), done.why) for done in value.steps], room
    )
    if value.filed:
        console.say(f"{counted(len(value.filed), 'step')} filed for review, not carried out.")
        lines += [*([""] if lines else []), *_filed_lines(value.filed, style, room)]
    for title, steps in (
        ("To propose (thunderus-mem garden --propose):", value.proposals),
        ("For you to decide:", value.reported),
    ):
        if steps:
            lines += [*([""] if lines else []), title, *_few(steps, style, room)]
    if value.waiting:
        console.say(f"{counted(value.waiting, 'step')} waiting for review: thunderus-mem patch list")
    return "\n".join(lines)


def _few(steps: Sequence[Step], style: Style, room: int | None) -> list[str]:
    rows = [(step.action, target_names(step.targets, style), step.why) for step in steps[:_MOST_STEPS]]
    more = (
        [f"… {len(steps) - _MOST_STEPS:,} more: thunderus-mem garden -n 0"] if len(steps) > len(rows) else []
    )
    return [*flowing(rows, room), *more]


def filed(value: gardener.Filed, console: Console) -> str:
    """What was filed, a proposal a line; how many were there before."""
    style = console.style
    if value.waiting:
        console.say(f"Filed before, and still waiting for review: {value.waiting:,}.")
    if not value.proposals and not value.waiting:
        console.say("There is nothing to file.")
    if value.proposals:
        console.say(f"Filed {counted(len(value.proposals), 'proposal')}; next: thunderus-mem patch list")
    return "\n".join(_filed_lines(value.proposals, style, console.width))


def _filed_lines(proposals: Sequence[gardener.FiledStep], style: Style, room: int | None) -> list[str]:
    return flowing(
        [
            (style.name(one.id), one.label or one.action, target_names(one.targets, style), one.why)
            for one in proposals
        ],
        room,
    )


# ``recap``

_Day = Annotated[
    str, typer.Option("--day", metavar="DATE", help="As 2026-01-21, today or yesterday; in UTC.")
]
_Session = Annotated[
    str, typer.Option("--session", metavar="ID", help="A session by its id, or the id's beginning or end.")
]
_Since = Annotated[
    str, typer.Option("--since", metavar="WHEN", help="A day, a time, an age as 2d, or a revision of git.")
]
_Episode = Annotated[
    str, typer.Option("--episode", metavar="NAME", help="The events that name this episode_id.")
]
_Week = Annotated[str, typer.Option("--week", metavar="WEEK", help="The recaps of a week, as 2026-W04.")]
_Month = Annotated[str, typer.Option("--month", metavar="MONTH", help="The recaps of a month, as 2026-01.")]
_Summarizer = Annotated[
    str,
    typer.Option(
        "--summarizer",
        metavar="CMD",
        help="A command that gets the recap on stdin; its answer is kept as a draft.",
    ),
]
_Timeout = Annotated[
    float, typer.Option("--timeout", metavar="SECONDS", help="How long the summarizer may take.")
]


@app.command("recap")
def recap_command(
    ctx: typer.Context,
    day: _Day = "",
    session: _Session = "",
    since: _Since = "",
    episode: _Episode = "",
    week: _Week = "",
    month: _Month = "",
    force: Annotated[bool, typer.Option("--force", help="Replace a recap that was edited by hand.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show the recap; write nothing.")] = False,
    summarizer: _Summarizer = "",
    timeout: _Timeout = 60.0,
    why: Why = "",
) -> int:
    """Write a recap of today, or of another day, session, episode or while, from its events, documents and
    commits; every line of its provenance cites events."""
    console: Console = ctx.obj
    value = recap(
        console.memory(),
        _wanted(day=day, session=session, since=since, episode=episode, week=week, month=month),
        force=force,
        dry_run=dry_run,
        why=why,
        summarizer=summarizer,
        timeout=timeout,
    )
    code = written_code(console, "recap", value)
    return console.served_code(value.damaged) or code


def _wanted(**named: str) -> Wanted:
    """The one while that was named, or today."""
    given = [Wanted(kind, name) for kind, name in named.items() if name]
    if len(given) > 1:
        raise ThunderusError(f"--{given[0].kind} and --{given[1].kind} exclude each other.")
    return given[0] if given else Wanted("day", "today")
