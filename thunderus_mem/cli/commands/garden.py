"""``garden recap``: plan and apply cleanup; summarize a period.

The commands parse, call and render; the functions they call write documents, proposals and events.
"""

from __future__ import annotations

from functools import partial
from itertools import groupby
from typing import TYPE_CHECKING, Annotated

from thunderus_mem.cli.commands.write import written_code
from thunderus_mem.cli.options import Argument, Call, Commands, Option
from thunderus_mem.cli.params import DryRun, Why
from thunderus_mem.cli.text import ELLIPSIS, counted, cut, diff_line, diff_lines, folded, one_line, width
from thunderus_mem.errors import Conflict, ThunderusError
from thunderus_mem.garden import apply as gardener
from thunderus_mem.memory.transaction import settle
from thunderus_mem.recap.recap import recap
from thunderus_mem.recap.scope import Wanted
from thunderus_mem.startup import lazy_pattern

if TYPE_CHECKING:
    import re
    from collections.abc import Iterable, Iterator, Sequence

    from thunderus_mem.cli.console import Console
    from thunderus_mem.garden.plan import Plan, Step
    from thunderus_mem.memory.memory import Memory

app = Commands()

# ``garden``

_NAME = lazy_pattern(r"(?<=`)[^`\s]+(?=`)")
_SHORTEST_NAME = 12
_MOST_SKIPPED = 5
_REACH = {"apply": "to apply", "propose": "to propose", "report": "to decide"}
_MOST_STEPS = 5
"""Maximum number of other steps listed after an apply."""


@app.command("garden")
def garden_command(
    ctx: Call,
    apply: Annotated[bool, Option("--apply", help="Apply the safe steps.")] = False,
    propose: Annotated[
        bool, Option("--propose", help="Queue all steps for review, including safe ones; see `review`.")
    ] = False,
    check: Annotated[
        bool, Option("--check", help="Exit with 1 if there is anything to apply or propose.")
    ] = False,
    only: Annotated[
        list[str] | None,
        Option("--only", metavar="RULE", help="Only these rules, e.g. links,tags (repeatable)."),
    ] = None,
    patch: Annotated[
        bool, Option("--patch", "-p", help="Show the evidence and the diff of each step.")
    ] = False,
    verbose: Annotated[
        bool,
        Option(
            "--verbose", "-v", help="Report also similar documents and tags for which no change is proposed."
        ),
    ] = False,
    limit: Annotated[
        int, Option("--limit", "-n", metavar="N", min=0, help="Steps to show per rule; 0 for all.")
    ] = 20,
) -> int:
    """Plan cleanup: duplicates, numbers, links, tags, sizes, recaps, documents to archive.

    Writes nothing without --apply or --propose. --apply makes only safe changes; others need a review. If
    review.agents = "propose", all changes made by an agent need a review. Steps whose documents changed in
    the meantime are skipped and reported, with exit code 3.
    """
    if sum((apply, propose, check)) > 1:
        raise ThunderusError("--apply, --propose and --check are mutually exclusive")
    console: Console = ctx.obj
    memory = console.memory()
    if apply or propose:
        settle(memory, "garden")
    apart = propose or (apply and gardener.is_reviewed(memory))
    found = gardener.garden_plan(memory, only=_rules(only or ()), apart=apart, verbose=verbose)
    if apply and found.steps:
        return _apply(console, memory, found)
    if propose and found.steps:
        return _propose(console, memory, found)
    return _show(console, memory, found, limit, check=check, patch=patch)


def _rules(given: Sequence[str]) -> tuple[str, ...]:
    """Split ``--only a,b --only c`` into rules. Raises for an empty name."""
    names = [name.strip() for text in given for name in text.split(",")]
    if not all(names):
        raise ThunderusError(
            f"invalid value for --only: {', '.join(map(repr, given))}",
            hint="use rule names: --only links,tags",
        )
    return tuple(dict.fromkeys(names))


def _show(console: Console, memory: Memory, found: Plan, limit: int, *, check: bool, patch: bool) -> int:
    if not found.steps:
        console.say("Nothing new to do" if found.waiting or found.decided else "Nothing to do")
    # Programs get all steps, people a few screens.
    people = not console.json
    console.details = patch
    value = gardener.garden_report(memory, found, limit=limit if people else 0, diffs=patch)
    console.emit("garden", value, partial(plan, patch=patch), long=True)
    return int(check and bool(found.applicable or found.proposals))


def _apply(console: Console, memory: Memory, found: Plan) -> int:
    value = gardener.garden_apply(memory, found)
    console.emit("garden apply", value, applied)
    if value.steps:
        console.say(f"To undo: thunderus-mem undo {value.snapshot_id}")
    return _skipped(console, value.skipped) or console.published_code(value.published)


def _propose(console: Console, memory: Memory, found: Plan) -> int:
    value = gardener.garden_propose(memory, found)
    console.emit("garden propose", value, filed)
    return _skipped(console, value.skipped)


def _skipped(console: Console, skipped: Sequence[gardener.SkippedStep]) -> int:
    """Report steps whose documents have changed since, and return the exit code."""
    if not skipped:
        return 0
    steps = "; ".join(f"{', '.join(step.targets)}: {step.why}" for step in skipped[:_MOST_SKIPPED])
    more = f"; and {len(skipped) - _MOST_SKIPPED} more" if len(skipped) > _MOST_SKIPPED else ""
    error = Conflict(
        f"{counted(len(skipped), 'step')} skipped: {steps}{more}", hint="run `thunderus-mem garden` again"
    )
    console.failure(error, error.exit_code)
    return error.exit_code


def plan(value: gardener.PlanReport, console: Console, *, patch: bool = False) -> str:
    """Format the steps, one per line under the name of their rule, then their counts.

    With ``patch`` the evidence and the diff follow each step.
    """
    lines: list[str] = []
    for rule, some in groupby(value.steps, key=lambda step: step.rule):
        steps = list(some)
        counts = value.counts[rule]
        about = ", ".join(f"{counts[reach]:,} {what}" for reach, what in _REACH.items() if reach in counts)
        lines += [*([""] if lines else []), f"{console.style.bold(rule)}: {about}"]
        for step in steps:
            lines += _step(step, console, patch=patch)
        if omitted := sum(counts.values()) - len(steps):
            lines.append(f"  {counted(omitted, 'more step')} not shown; use -n 0")
    lines += ["", *_counts(value)] if lines else _counts(value)
    if value.to_apply:
        lines.append("Next: thunderus-mem garden --apply")
    elif value.to_propose:
        lines.append("Next: thunderus-mem garden --propose")
    return "\n".join(lines).strip("\n")


def _step(step: gardener.PlannedStep, console: Console, *, patch: bool) -> Iterator[str]:
    yield _line(step.action, step.why, console, "  ")
    if not patch:
        return
    for item in step.evidence:
        yield from map(console.style.dim, _folds(one_line(item), console))
    is_merge = any(edit.kept_in for edit in step.edits)
    for edit in step.edits:
        # The evidence of a move has both paths.
        if not edit.moved_from or edit.diff or not any(edit.path in item for item in step.evidence):
            yield from _edit(edit, console, is_merge=is_merge)


def _edit(edit: gardener.PlannedEdit, console: Console, *, is_merge: bool) -> Iterator[str]:
    """The diff of a file; in a merge only the lines that change, and those that are lost."""
    style = console.style
    if edit.kept_in:
        state = f"{len(edit.missing)} not in" if edit.missing else "all in"
        about = f"removed: {edit.path} ({counted(edit.lines or 0, 'line')}, {state} {edit.kept_in})"
        yield from _folds(about, console)
        diff: Iterable[str] = (diff_line(f"-{line}", style) for line in edit.missing)
    elif is_merge and edit.diff:
        yield f"    changed: {edit.path}"
        diff = (diff_line(line, style) for line in _changes(edit.diff))
    else:
        diff = diff_lines(edit.path, edit.op or "change", edit.diff, edit.moved_from, style)
    yield from (f"    {line}" for line in diff)


def _folds(text: str, console: Console) -> list[str]:
    """An indented line below a step, folded to the terminal."""
    line = f"    {text}"
    return (line if console.width is None else folded(line, console.width)).split("\n")


def _changes(diff: str) -> Iterator[str]:
    """The changed lines of a diff without their context, list items below their key."""
    keys: list[str] = []
    for line in diff.splitlines()[2:]:
        depth = _depth(line)
        keys = [key for key in keys if _depth(key) < depth]
        if line[:1] in "+-":
            yield from keys
            keys = []
            yield line
        elif line.endswith(":"):
            keys.append(line)


def _depth(line: str) -> int:
    """The indentation of a line of a diff."""
    return len(line[1:]) - len(line[1:].lstrip())


def _line(name: str, why: str, console: Console, indent: str = "") -> str:
    """A step as one line that fits the terminal: long names are shortened in the middle, because ids and
    paths differ at their ends."""
    text = f"{indent}{name}  {one_line(why)}"
    if console.width is None:
        return text
    longest = max(map(len, _NAME.findall(text)), default=0)
    while width(text) > console.width and longest > _SHORTEST_NAME:
        longest -= 1
        text = _NAME.sub(partial(_middle_cut, limit=longest), text)
    return cut(text, console.width)


def _middle_cut(found: re.Match[str], limit: int) -> str:
    """A name with at most this many characters."""
    name, head = found[0], limit // 3
    return name if len(name) <= limit else name[:head] + ELLIPSIS + name[head + 1 - limit :]


def _counts(value: gardener.PlanReport) -> list[str]:
    """Count the steps of each kind in one line; nothing if there are none."""
    parts = [
        (value.to_apply, "to apply"),
        (value.to_propose, "to propose"),
        (value.to_report, "need a decision" if value.to_report != 1 else "needs a decision"),
        (value.waiting, "pending review"),
        (value.decided, "rejected earlier"),
    ]
    counts = ", ".join(f"{number:,} {what}" for number, what in parts if number)
    lines = [f"Steps: {counts}"] if counts else []
    if value.expired:
        lines.append(
            f"{counted(value.expired, 'proposal')} expired; see: thunderus-mem review expire --dry-run"
        )
    return lines


def applied(value: gardener.Applied, console: Console) -> str:
    """Format the applied steps, one per line, then those that need a review or decision."""
    lines = [_line(done.action, done.why, console) for done in value.steps]
    if value.filed:
        console.say(f"{counted(len(value.filed), 'step')} queued for review, not applied")
        lines += [*([""] if lines else []), *_filed_lines(value.filed, console)]
    for title, steps in (
        ("To propose (thunderus-mem garden --propose):", value.proposals),
        ("Needs a decision:", value.reported),
    ):
        if steps:
            lines += [*([""] if lines else []), title, *_few(steps, console)]
    if value.waiting:
        console.say(f"{counted(value.waiting, 'step')} pending review: thunderus-mem review list")
    return "\n".join(lines)


def _few(steps: Sequence[Step], console: Console) -> list[str]:
    rows = [_line(step.action, step.why, console) for step in steps[:_MOST_STEPS]]
    left = len(steps) - len(rows)
    return [*rows, *([f"… {left:,} more; see: thunderus-mem garden -n 0"] if left else [])]


def filed(value: gardener.Filed, console: Console) -> str:
    """Format the queued proposals, one per line."""
    if value.waiting:
        console.say(f"{counted(value.waiting, 'step')} already pending review")
    if not value.proposals and not value.waiting:
        console.say("Nothing to propose")
    if value.proposals:
        console.say(
            f"Queued {counted(len(value.proposals), 'proposal')} for review\nNext: thunderus-mem review list"
        )
    return "\n".join(_filed_lines(value.proposals, console))


def _filed_lines(proposals: Sequence[gardener.FiledStep], console: Console) -> list[str]:
    return [_line(console.style.name(one.id), f"{one.action}  {one.why}", console) for one in proposals]


# ``recap``

_Period = Annotated[
    str,
    Argument(
        metavar="[PERIOD]",
        help="A day (2026-01-21, today or yesterday, in UTC); or a week (2026-W04) or month (2026-01), "
        "from its daily recaps.",
    ),
]
_Session = Annotated[
    str, Option("--session", metavar="ID", help="A session id, or its first or last characters.")
]
_Since = Annotated[
    str, Option("--since", metavar="WHEN", help="Since a day, a time, an age (2d) or a git revision.")
]
_Episode = Annotated[
    str, Option("--episode", metavar="NAME", help="Events and documents with this episode_id.")
]
_Summarizer = Annotated[
    str,
    Option(
        "--summarizer",
        metavar="CMD",
        help="A command that reads the recap from stdin and prints a draft summary.",
    ),
]


@app.command("recap")
def recap_command(
    ctx: Call,
    period: _Period = "",
    session: _Session = "",
    since: _Since = "",
    episode: _Episode = "",
    yes: Annotated[bool, Option("--yes", "-y", help="Overwrite a recap that was edited by hand.")] = False,
    dry_run: DryRun = False,
    summarizer: _Summarizer = "",
    why: Why = "",
) -> int:
    """Write a recap of today, or of another period, session or episode.

    It summarizes events, documents and commits of the period, and cites the events."""
    console: Console = ctx.obj
    value = recap(
        console.memory(),
        _wanted(period, session=session, since=since, episode=episode),
        force=yes,
        dry_run=dry_run,
        why=why,
        summarizer=summarizer,
    )
    code = written_code(console, "recap", value)
    return console.served_code(value.damaged) or code


def _wanted(period: str, **named: str) -> Wanted:
    """Return what the recap is about."""
    given = [Wanted(kind, name) for kind, name in named.items() if name]
    if len(given) + bool(period) > 1:
        raise ThunderusError("PERIOD, --session, --since and --episode are mutually exclusive")
    return given[0] if given else Wanted.of_period(period or "today")
