"""The review queue for people."""

from __future__ import annotations

from typing import TYPE_CHECKING

from thunderus_mem.surfaces.render import columns
from thunderus_mem.surfaces.render_garden import names
from thunderus_mem.surfaces.render_undo import diff_lines
from thunderus_mem.surfaces.text import counted, flowing, indented, minute, one_line

if TYPE_CHECKING:
    from collections.abc import Sequence

    from thunderus_mem.surfaces.cli.console import Console
    from thunderus_mem.surfaces.style import Style
    from thunderus_mem.verbs.decision import Decided
    from thunderus_mem.verbs.proposing import Listed, ProposalListing, Rebasing, ShownProposal

_NARROW = 64
"""Columns that a listing needs for all it tells of a proposal."""
_NARROWEST = 48
_SHORTEST = 18
_FITS = {
    "fits": "yes: its documents are as it found them",
    "moved": "yes, but its documents changed since: this is the diff on what is there now",
    "conflict": "no",
    "gone": "no",
    "there": "not needed",
}


def _days(one: Listed) -> str:
    age = "today" if not one.age_days else counted(one.age_days, "day")
    return f"{age}, expired" if one.expired else age


def listing(value: ProposalListing, console: Console) -> str:
    """Proposals, oldest first: id, age, who, what, on which documents, why. On a terminal the beginning of
    the id, which will do; in a narrow one id and documents, and what where that has room."""
    style = console.style
    room = console.width
    length = None if room is None else _telling([one.id for one in value.proposals])
    rows = [
        (
            style.name(one.id[:length]),
            style.warning(_days(one)) if one.expired else style.dim(_days(one)),
            one.author,
            one.label or one.action,
            names(one.targets, style, one.more_targets),
            one_line(one.why),
        )
        for one in value.proposals
    ]
    if value.expired:
        console.say(
            f"{counted(value.expired, 'proposal')} older than {counted(value.expires_days, 'day')}: "
            "thunderus-mem patch expire"
        )
    if room is not None and room < _NARROW:
        kept = (0, 4) if room < _NARROWEST else (0, 3, 4)
        return columns([[row[at] for at in kept] for row in rows], console, whole=1)
    return columns(rows, console, whole=1)


def _telling(ids: Sequence[str]) -> int:
    """How much of each id tells it from the others."""
    longest = max(map(len, ids), default=0)
    lengths = range(_SHORTEST, longest)
    return next((length for length in lengths if len({id[:length] for id in ids}) == len(ids)), longest)


def shown(value: ShownProposal, console: Console) -> str:
    """A proposal: the facts, the evidence, and the diff."""
    style, one = console.style, value.proposal
    rows = [
        ("id", style.name(one.id)),
        ("made", f"{minute(one.created)} by {one.author}{' (agent)' if one.actor == 'agent' else ''}"),
        ("what", one.action + (f" (rule {one.rule})" if one.rule else "")),
        ("label", one.label),
        ("about", names(one.targets, style)),
        ("why", one_line(one.why)),
        ("fits", _fits(value, style)),
    ]
    room = console.width
    lines = flowing([(style.dim(name), text) for name, text in rows if text], room)
    if value.evidence:
        lines += ["", *(line for item in value.evidence for line in indented(item, room))]
    lines.append("")
    for change in value.changes:
        lines += diff_lines(change.path, change.op, change.diff, change.moved_from, style)
    return "\n".join(lines)


def _fits(value: ShownProposal, style: Style) -> str:
    text = _FITS[value.state] + (f": {value.problem}" if value.problem else "")
    return text if value.state in ("fits", "there") else style.warning(text)


def decided(value: Decided, console: Console) -> str:
    """What was decided, a proposal a line."""
    style = console.style
    if value.recorded:
        console.say(f"Recorded edits made by hand: {', '.join(value.recorded)}")
    if value.planned and value.decisions:
        console.say("Nothing is written; these would expire:")
    rows = []
    for one in value.decisions:
        if not one.code:  # what stays is told on stderr
            about = names(one.targets, style)
            rows.append((one.state, style.name(one.id), about, one_line(one.problem)))
    return "\n".join(line.rstrip() for line in flowing(rows, console.width))


def rebasing(value: Rebasing, console: Console) -> str:
    """What was made anew, a proposal a line."""
    style = console.style
    rows = [(one.state, style.name(one.id), one.problem) for one in value.proposals]
    return "\n".join(line.rstrip() for line in flowing(rows, console.width))
