"""``garden``: what the gardener would do, and does."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from thunderus_mem.cli.commands.undo import diff_lines
from thunderus_mem.cli.text import aligned, counted, flowing, indented, minute
from thunderus_mem.errors import Conflict, ThunderusError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from thunderus_mem.cli.console import Console
    from thunderus_mem.cli.text import Style
    from thunderus_mem.garden.apply import Applied, Filed, FiledStep, PlannedStep, PlanReport, SkippedStep
    from thunderus_mem.garden.plan import Plan, Step
    from thunderus_mem.history.undo import SnapshotList
    from thunderus_mem.memory.memory import Memory
    from thunderus_mem.recap.scope import Wanted

app = typer.Typer()
_MOST_SKIPPED = 5


@app.command("garden")
def garden(
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
    from thunderus_mem.garden import apply as apply_module
    from thunderus_mem.memory.transaction import settle

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
    apart = propose or (apply and apply_module.is_reviewed(memory))
    found = apply_module.garden_plan(memory, only=_rules(only or ()), apart=apart)
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
            f"--only takes names of rules, not {', '.join(map(repr, given))}.",
            hint="As --only links,tags",
        )
    return tuple(dict.fromkeys(names))


def _show(console: Console, memory: Memory, found: Plan, limit: int, *, check: bool) -> int:
    from thunderus_mem.garden.apply import garden_report

    if not found.steps:
        console.say("Nothing to do.")
    # A program wants all of it, a person what fits on a few screens.
    shown = 0 if console.json or console.plain else limit
    console.emit("garden", garden_report(memory, found, limit=shown), plan, long=True)
    return int(check and bool(found.applicable or found.proposals))


def _apply(console: Console, memory: Memory, found: Plan) -> int:
    from thunderus_mem.cli.render import published_code
    from thunderus_mem.garden import apply

    value = apply.garden_apply(memory, found)
    console.emit("garden apply", value, applied)
    if value.steps:
        console.say("To take it back: thunderus-mem garden --undo")
    return _skipped(console, value.skipped) or published_code(console, published=value.published)


def _propose(console: Console, memory: Memory, found: Plan) -> int:
    from thunderus_mem.garden import apply

    value = apply.garden_propose(memory, found)
    console.emit("garden propose", value, filed)
    return _skipped(console, value.skipped)


def _skipped(console: Console, skipped: Sequence[SkippedStep]) -> int:
    """Tell of the steps that no longer fit what is on disk; the exit code that says so."""
    if not skipped:
        return 0
    from thunderus_mem.cli.text import counted

    told = "; ".join(f"{', '.join(step.targets)}: {step.why}" for step in skipped[:_MOST_SKIPPED])
    more = f"; and {len(skipped) - _MOST_SKIPPED} more" if len(skipped) > _MOST_SKIPPED else ""
    error = Conflict(
        f"{counted(len(skipped), 'step')} skipped: {told}{more}", hint="plan again: thunderus-mem garden"
    )
    console.failure(error, error.exit_code)
    return error.exit_code


def _undo(console: Console, memory: Memory, why: str) -> int:
    from thunderus_mem.cli.commands.undo import undone
    from thunderus_mem.cli.render import published_code
    from thunderus_mem.history import undo

    value = undo.restore_last(memory, why=why)
    console.emit("garden undo", value, undone)
    console.say("To have it again: thunderus-mem undo --redo")
    return published_code(console, published=value.published)


# ``restore``: back to what a snapshot tells of.


@app.command("restore")
def restore(
    ctx: typer.Context,
    snapshot: Annotated[
        str | None, typer.Argument(metavar="[SNAP]", help="A snapshot's id, or a unique beginning of it.")
    ] = None,
    listed: Annotated[bool, typer.Option("--list", help="Show what there is to go back to.")] = False,
    limit: Annotated[int, typer.Option("--limit", "-n", metavar="N", min=1, help="How many to list.")] = 20,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", "--plan", help="Show what would change; write nothing.")
    ] = False,
    why: Annotated[str, typer.Option("-m", "--why", metavar="WHY", help="The reason, kept in the log.")] = "",
) -> int:
    """Put everything back to how it was before a run of the gardener: to the byte, all or nothing.

    When somebody has changed one of its documents since, nothing is written and the document is named.
    """
    from thunderus_mem.cli.commands.undo import undone
    from thunderus_mem.cli.render import published_code
    from thunderus_mem.history import undo

    console: Console = ctx.obj
    if listed == (snapshot is not None):
        raise ThunderusError("Name one snapshot, or give --list.", hint="thunderus-mem restore --list")
    if snapshot is None:
        value = undo.snapshots(console.memory(), limit=limit)
        if not value.snapshots:
            console.say("There is no snapshot: garden --apply takes one.")
        console.emit("restore listed", value, snapshot_list, long=True)
        if value.left_out:
            console.say(f"{value.left_out:,} older left out; -n shows more.")
        return 0
    done = undo.restore(console.memory(), snapshot, why=why, dry_run=dry_run)
    console.emit("restore", done, undone)
    if not dry_run:
        console.say("To have it again: thunderus-mem undo --redo")
    return published_code(console, published=done.published)


# The gardener for people: its plan with diffs, what it did, what it filed, and its snapshots.

_REACH = {"apply": "", "propose": "for review", "report": "for you to decide"}
_MOST_LINES = 60
"""Of the diff of one step; a longer one says how much more there is."""
_MOST_STEPS = 5
"""Of those that are told beside what was done."""
_MOST_NAMES = 4


def plan(value: PlanReport, console: Console) -> str:
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


def _step(step: PlannedStep, number: int, style: Style, room: int | None) -> Iterator[str]:
    about = ", ".join(filter(None, (step.label, _REACH[step.reach])))
    head = f"{number}. {style.bold(step.action)}  {names(step.targets, style)}"
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


def _counts(value: PlanReport) -> list[str]:
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


def applied(value: Applied, console: Console) -> str:
    """What the gardener did, a step a line; then what waits for a person."""
    style = console.style
    room = console.width
    lines = flowing([(done.action, names(done.targets, style), done.why) for done in value.steps], room)
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
    rows = [(step.action, names(step.targets, style), step.why) for step in steps[:_MOST_STEPS]]
    more = (
        [f"… {len(steps) - _MOST_STEPS:,} more: thunderus-mem garden -n 0"] if len(steps) > len(rows) else []
    )
    return [*flowing(rows, room), *more]


def names(targets: Sequence[str], style: Style, more_targets: int = 0) -> str:
    """The first few documents of a step or proposal, and how many more there are, those included that
    ``targets`` lacks."""
    left = len(targets) - _MOST_NAMES + more_targets
    more = f" and {left:,} more" if left > 0 else ""
    return style.name(", ".join(targets[:_MOST_NAMES])) + more


def filed(value: Filed, console: Console) -> str:
    """What was filed, a proposal a line; how many were there before."""
    style = console.style
    if value.waiting:
        console.say(f"Filed before, and still waiting for review: {value.waiting:,}.")
    if not value.proposals and not value.waiting:
        console.say("There is nothing to file.")
    if value.proposals:
        console.say(f"Filed {counted(len(value.proposals), 'proposal')}; next: thunderus-mem patch list")
    return "\n".join(_filed_lines(value.proposals, style, console.width))


def _filed_lines(proposals: Sequence[FiledStep], style: Style, room: int | None) -> list[str]:
    return flowing(
        [
            (style.name(one.id), one.label or one.action, names(one.targets, style), one.why)
            for one in proposals
        ],
        room,
    )


def snapshot_list(value: SnapshotList, console: Console) -> str:
    """Snapshots, newest first: id, when, who, and what is left of the run."""
    style = console.style
    rows = []
    for one in value.snapshots:
        left = "restored" if one.is_restored and one.steps else counted(one.steps, "step")
        if 0 < one.taken_back < one.steps:
            left = f"{left}, {one.taken_back:,} taken back"
        place = "" if one.here else "elsewhere"
        documents = counted(one.documents, "document")
        rows.append(
            (style.name(one.id), style.dim(minute(one.ts)), one.author, one.command, left, documents, place)
        )
    return "\n".join(_bare(aligned(rows)))


def _bare(lines: Iterable[str]) -> list[str]:
    return [line.rstrip() for line in lines]


# ``recap``: what happened in a day, or in another while.

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
def recap(
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
    why: Annotated[str, typer.Option("-m", "--why", metavar="WHY", help="The reason, kept in the log.")] = "",
) -> int:
    """Write a recap of today, or of another day, session, episode or while, from its events, documents and
    commits; every line of its provenance cites events."""
    from thunderus_mem.cli.render import served_code, written_code
    from thunderus_mem.recap import recap as recap_module

    console: Console = ctx.obj
    value = recap_module.recap(
        console.memory(),
        _wanted(day=day, session=session, since=since, episode=episode, week=week, month=month),
        force=force,
        dry_run=dry_run,
        why=why,
        summarizer=summarizer,
        timeout=timeout,
    )
    code = written_code(console, "recap", value)
    return served_code(console, value.damaged) or code


def _wanted(**named: str) -> Wanted:
    """The one while that was named, or today."""
    from thunderus_mem.recap.scope import Wanted

    given = [Wanted(kind, name) for kind, name in named.items() if name]
    if len(given) > 1:
        raise ThunderusError(f"--{given[0].kind} and --{given[1].kind} exclude each other.")
    return given[0] if given else Wanted("day", "today")
