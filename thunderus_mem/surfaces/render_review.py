"""The review queue for people."""

from __future__ import annotations

from typing import TYPE_CHECKING

from thunderus_mem.surfaces.render import columns
from thunderus_mem.surfaces.render_garden import names
from thunderus_mem.surfaces.render_undo import diff_lines
from thunderus_mem.surfaces.text import aligned, counted, minute, one_line

if TYPE_CHECKING:
    from thunderus_mem.surfaces.cli.console import Console
    from thunderus_mem.surfaces.style import Style
    from thunderus_mem.verbs.decision import Decided
    from thunderus_mem.verbs.proposing import Listed, ProposalListing, Rebasing, ShownProposal

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
    """Proposals, oldest first: id, age, who, what, on which documents, why."""
    style = console.style
    rows = [
        (
            style.name(one.id),
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
    return columns(rows, console, whole=1)


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
    lines = aligned([(style.dim(name), text) for name, text in rows if text])
    if value.evidence:
        lines += ["", *value.evidence]
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
    return "\n".join(line.rstrip() for line in aligned(rows))


def rebasing(value: Rebasing, console: Console) -> str:
    """What was made anew, a proposal a line."""
    style = console.style
    return "\n".join(
        line.rstrip()
        for line in aligned([(one.state, style.name(one.id), one.problem) for one in value.proposals])
    )
