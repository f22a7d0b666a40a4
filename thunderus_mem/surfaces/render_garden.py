"""The gardener for people: its plan with diffs, what it did, what it filed, and its snapshots."""

from __future__ import annotations

from typing import TYPE_CHECKING

from thunderus_mem.surfaces.render_undo import diff_lines
from thunderus_mem.surfaces.text import aligned, counted, flowing, indented, minute

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from thunderus_mem.garden.plan import Step
    from thunderus_mem.surfaces.cli.console import Console
    from thunderus_mem.surfaces.style import Style
    from thunderus_mem.verbs.gardened import Applied, Filed, FiledStep, PlannedStep, PlanReport
    from thunderus_mem.verbs.restoring import SnapshotList

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
