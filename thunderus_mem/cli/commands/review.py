"""``patch``: the review queue, what waits in it and what becomes of it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Annotated

import typer

from thunderus_mem.cli.params import NeededWhy, Why, Yes
from thunderus_mem.cli.text import (
    Style,
    columns,
    counted,
    diff_lines,
    flowing,
    hint_line,
    indented,
    minute,
    one_line,
    target_names,
)
from thunderus_mem.errors import Conflict, Degraded, ThunderusError
from thunderus_mem.review import decisions, queue

if TYPE_CHECKING:
    from collections.abc import Sequence

    from thunderus_mem.cli.console import Console
    from thunderus_mem.memory.proposals import BadProposal

app = typer.Typer()
patch_app = typer.Typer(no_args_is_help=True)
app.add_typer(patch_app, name="patch")

_MOST_BAD = 20
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
_DAYS = re.compile(r"([0-9]{1,4})d?", re.ASCII)

Ids = Annotated[
    list[str] | None, typer.Argument(metavar="[ID]...", help="Proposals, or unique beginnings of their ids.")
]
Every = Annotated[bool, typer.Option("--all", help="All that wait; --label and --rule choose among them.")]
Label = Annotated[str, typer.Option("--label", metavar="LABEL", help="Only with this label.")]
Rule = Annotated[str, typer.Option("--rule", metavar="RULE", help="Only of this gardening rule.")]


@patch_app.command("list")
def patch_list_command(
    ctx: typer.Context,
    label: Label = "",
    rule: Rule = "",
    limit: Annotated[
        int, typer.Option("--limit", "-n", metavar="N", min=0, help="Proposals to show; 0 for all.")
    ] = 50,
) -> int:
    """What waits for a decision, oldest first. Exits with 6 when a file of the queue cannot be read."""
    console: Console = ctx.obj
    # A program wants all of it, a person what fits on a few screens.
    most = 0 if console.json or console.plain else limit
    value = queue.patch_list(console.memory(), label=label, rule=rule, limit=most)
    if not value.proposals and not value.unreadable:  # what cannot be read may be what waits
        console.say("No such proposal waits for review." if label or rule else "Nothing waits for review.")
    console.emit("patch list", value, listing, long=True)
    if value.left_out:
        console.say(f"{value.left_out:,} newer left out; -n shows more.")
    _tell_bad(console, value.unreadable)
    return Degraded.exit_code if value.unreadable else 0


@patch_app.command("show")
def patch_show_command(
    ctx: typer.Context, proposal: Annotated[str, typer.Argument(metavar="ID", help="The proposal.")]
) -> None:
    """One proposal: why, on what evidence, the diff, and whether it still fits."""
    console: Console = ctx.obj
    console.emit("patch show", queue.patch_show(console.memory(), proposal), shown, long=True)


@patch_app.command("approve")
def patch_approve_command(
    ctx: typer.Context,
    proposals: Ids = None,
    every: Every = False,
    label: Label = "",
    rule: Rule = "",
    rebase: Annotated[
        bool, typer.Option("--rebase", help="Also where documents changed since, in other places.")
    ] = False,
    yes: Yes = False,
    why: Why = "",
) -> int:
    """Write what proposals want; the log keeps who approved it and why.

    A proposal whose documents changed since is written only with --rebase: look at it first. What cannot be
    written stays in the queue and is told.
    """
    console: Console = ctx.obj
    ids = _chosen(console, "Approve", proposals, every=every, label=label, rule=rule, yes=yes)
    if ids is None:
        return 1
    value = decisions.patch_approve(
        console.memory(), ids, every=every, label=label, rule=rule, rebase=rebase, why=why
    )
    return _decided_code(console, "patch approve", value)


@patch_app.command("reject")
def patch_reject_command(
    ctx: typer.Context,
    proposals: Ids = None,
    every: Every = False,
    label: Label = "",
    rule: Rule = "",
    yes: Yes = False,
    why: NeededWhy = "",
) -> int:
    """Turn proposals down; the gardener asks again only when one of the texts has changed."""
    console: Console = ctx.obj
    ids = _chosen(console, "Reject", proposals, every=every, label=label, rule=rule, yes=yes)
    if ids is None:
        return 1
    value = decisions.patch_reject(console.memory(), ids, every=every, label=label, rule=rule, why=why)
    return _decided_code(console, "patch reject", value)


@patch_app.command("rebase")
def patch_rebase_command(
    ctx: typer.Context,
    proposals: Annotated[list[str], typer.Argument(metavar="ID...", help="Proposals to make anew.")],
) -> int:
    """Make the diff of a proposal anew against what is there now; says which lines are in conflict."""
    console: Console = ctx.obj
    value = queue.patch_rebase(console.memory(), proposals)
    console.emit("patch rebase", value, rebasing)
    stuck = any(one.state not in ("fits", "rebased") for one in value.proposals)
    return Conflict.exit_code if stuck else 0


@patch_app.command("expire")
def patch_expire_command(
    ctx: typer.Context,
    older_than: Annotated[
        str, typer.Option("--older-than", metavar="DAYS", help="As 30d; default: review.expires_days.")
    ] = "",
    plan: Annotated[
        bool, typer.Option("--plan", "--dry-run", help="Only say which; change nothing.")
    ] = False,
    why: Why = "",
) -> int:
    """Take away proposals that nobody decided in time, or that lead nowhere any more."""
    days = _DAYS.fullmatch(older_than)
    if older_than and days is None:
        raise ThunderusError(f"--older-than takes days, as 30d, not {older_than}.")
    console: Console = ctx.obj
    value = decisions.patch_expire(
        console.memory(), older_than=int(days[1]) if days else None, plan=plan, why=why
    )
    if not value.decisions:
        console.say("Nothing has expired.")
    return _decided_code(console, "patch expire", value)


def _tell_bad(console: Console, unreadable: Sequence[BadProposal]) -> None:
    """The files that are no proposals, and what to do: once for those that stand together."""
    told = unreadable[:_MOST_BAD]
    for bad, following in zip(told, (*told[1:], None), strict=False):
        console.talk(f"{bad.path} is no proposal: {f'{bad.key}: ' if bad.key else ''}{bad.reason}")
        if bad.fix and (following is None or following.fix != bad.fix):
            console.talk(hint_line(bad.fix, console.style))
    if len(unreadable) > _MOST_BAD:
        console.talk(f"{len(unreadable) - _MOST_BAD:,} more are none; see: thunderus-mem lint")


def _chosen(
    console: Console,
    verb: str,
    given: Sequence[str] | None,
    *,
    every: bool,
    label: str,
    rule: str,
    yes: bool,
) -> tuple[str, ...] | None:
    """The proposals named, none for all of them; ``None`` when so many at once are not meant."""
    ids = tuple(given or ())
    if every and ids:
        raise ThunderusError("Give IDs or --all, not both.")
    if not every and (label or rule):
        raise ThunderusError("--label and --rule choose among --all.")
    if not every and not ids:
        raise ThunderusError("No proposal is named.", hint="thunderus-mem patch list shows what waits")
    if yes or not every:
        return ids
    what = " ".join(filter(None, ("all proposals", label and f"labelled {label}", rule and f"of {rule}")))
    if not console.interactive:
        raise ThunderusError(f"{verb} {what}?", hint="--yes does it without asking; nothing is written")
    if console.confirm(f"{verb} {what}?"):
        return ids
    console.say("Nothing is written.")
    return None


def _decided_code(console: Console, command: str, value: decisions.Decided) -> int:
    console.emit(command, value, decided)
    if not value.decisions and command != "patch expire":
        console.say("No such proposal; `thunderus-mem patch list` shows what waits.")
    for one in () if console.json else value.decisions:
        if one.code:
            stays = ThunderusError(f"{one.id} stays ({one.state}): {one.problem}", hint=one.hint or None)
            console.failure(stays, one.code)
    console.tell_others()
    return console.published_code(value.published) or value.code


def _days(one: queue.ListedProposal) -> str:
    age = "today" if not one.age_days else counted(one.age_days, "day")
    return f"{age}, expired" if one.expired else age


def listing(value: queue.ProposalListing, console: Console) -> str:
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
            target_names(one.targets, style, one.more_targets),
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
        return columns([[row[at] for at in kept] for row in rows], console.width, whole=1)
    return columns(rows, console.width, whole=1)


def _telling(ids: Sequence[str]) -> int:
    """How much of each id tells it from the others."""
    longest = max(map(len, ids), default=0)
    lengths = range(_SHORTEST, longest)
    return next((length for length in lengths if len({id[:length] for id in ids}) == len(ids)), longest)


def shown(value: queue.ShownProposal, console: Console) -> str:
    """A proposal: the facts, the evidence, and the diff."""
    style, one = console.style, value.proposal
    rows = [
        ("id", style.name(one.id)),
        ("made", f"{minute(one.created)} by {one.author}{' (agent)' if one.actor == 'agent' else ''}"),
        ("what", one.action + (f" (rule {one.rule})" if one.rule else "")),
        ("label", one.label),
        ("about", target_names(one.targets, style)),
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


def _fits(value: queue.ShownProposal, style: Style) -> str:
    text = _FITS[value.state] + (f": {value.problem}" if value.problem else "")
    return text if value.state in ("fits", "there") else style.warning(text)


def decided(value: decisions.Decided, console: Console) -> str:
    """What was decided, a proposal a line."""
    style = console.style
    console.say_recorded(value.recorded)
    if value.planned and value.decisions:
        console.say("Nothing is written; these would expire:")
    rows = []
    for one in value.decisions:
        if not one.code:  # what stays is told on stderr
            about = target_names(one.targets, style)
            rows.append((one.state, style.name(one.id), about, one_line(one.problem)))
    return "\n".join(line.rstrip() for line in flowing(rows, console.width))


def rebasing(value: queue.RebaseReport, console: Console) -> str:
    """What was made anew, a proposal a line."""
    style = console.style
    rows = [(one.state, style.name(one.id), one.problem) for one in value.proposals]
    return "\n".join(line.rstrip() for line in flowing(rows, console.width))
