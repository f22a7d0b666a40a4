"""``review``: list, show and decide the proposals in the review queue."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from thunderus_mem.cli.options import Argument, Call, Commands, Option
from thunderus_mem.cli.params import DryRun, NeededWhy, Why, Yes
from thunderus_mem.cli.text import (
    Style,
    columns,
    counted,
    diff_lines,
    flowing,
    hint_line,
    minute,
    one_line,
    target_names,
    wrapped,
)
from thunderus_mem.errors import Degraded, ThunderusError
from thunderus_mem.log.actor import by_whom
from thunderus_mem.review import decisions, queue

if TYPE_CHECKING:
    from collections.abc import Sequence

    from thunderus_mem.cli.console import Console
    from thunderus_mem.memory.proposals import BadProposal

app = Commands()
review_app = app.group("review")

_MOST_BAD = 20
_NARROW = 64
"""Minimum width for all columns of a listing."""
_NARROWEST = 48
_SHORTEST = 18
_APPLIES = {
    "fits": "yes",
    "moved": "yes, after a rebase: its documents changed since; this is the diff against the current text",
    "conflict": "no",
    "gone": "no",
    "there": "already applied",
}

Ids = Annotated[list[str] | None, Argument(metavar="[ID]...", help="Proposal ids, or unique prefixes.")]
Every = Annotated[bool, Option("--all", help="All pending proposals.")]
Only = Annotated[
    str, Option("--only", metavar="NAME", help="All from this gardener rule, e.g. tags, or with this label.")
]


@review_app.command("list")
def review_list_command(
    ctx: Call,
    only: Only = "",
    limit: Annotated[
        int, Option("--limit", "-n", metavar="N", min=0, help="Proposals to show; 0 for all.")
    ] = 50,
) -> int:
    """List pending proposals, oldest first. Exits with 6 if a proposal file is unreadable.

    `thunderus-mem review` does the same.
    """
    console: Console = ctx.obj
    # Programs get all proposals, people a few screens.
    most = 0 if console.json else limit
    value = queue.review_list(console.memory(), only=only, limit=most)
    if not value.proposals and not value.unreadable:  # an unreadable file may be a pending proposal
        console.say("No matching proposals" if only else "No pending proposals")
    console.emit("review list", value, listing, long=True)
    if value.left_out:
        console.say(f"{value.left_out:,} newer not shown; use -n")
    _report_invalid(console, value.unreadable)
    return Degraded.exit_code if value.unreadable else 0


@review_app.command("show")
def review_show_command(
    ctx: Call,
    proposal: Annotated[str, Argument(metavar="ID", help="Proposal id, or a unique prefix of it.")],
) -> None:
    """Show a proposal, and whether it still applies."""
    console: Console = ctx.obj
    console.emit("review show", queue.review_show(console.memory(), proposal), shown, long=True)


@review_app.command("approve")
def review_approve_command(
    ctx: Call,
    proposals: Ids = None,
    every: Every = False,
    only: Only = "",
    rebase: Annotated[
        bool, Option("--rebase", help="Also apply proposals whose documents have changed.")
    ] = False,
    yes: Yes = False,
    why: Why = "",
) -> int:
    """Apply proposals; the log records who approved them and why.

    A proposal whose documents have changed is applied only with --rebase; look at it first. Proposals that
    cannot be applied stay in the queue and are reported.
    """
    console: Console = ctx.obj
    every = every or bool(only)
    ids = _chosen(console, "Approve", proposals, every=every, only=only, yes=yes)
    if ids is None:
        return 1
    value = decisions.review_approve(console.memory(), ids, every=every, only=only, rebase=rebase, why=why)
    return _decided_code(console, "review approve", value)


@review_app.command("reject")
def review_reject_command(
    ctx: Call,
    proposals: Ids = None,
    every: Every = False,
    only: Only = "",
    yes: Yes = False,
    why: NeededWhy = "",
) -> int:
    """Reject proposals.

    The gardener proposes them again only if one of the documents involved changes.
    """
    console: Console = ctx.obj
    every = every or bool(only)
    ids = _chosen(console, "Reject", proposals, every=every, only=only, yes=yes)
    if ids is None:
        return 1
    value = decisions.review_reject(console.memory(), ids, every=every, only=only, why=why)
    return _decided_code(console, "review reject", value)


@review_app.command("expire")
def review_expire_command(
    ctx: Call,
    dry_run: DryRun = False,
    why: Why = "",
) -> int:
    """Remove old proposals, and those that change nothing.

    Old are those of more than review.expires_days.
    """
    console: Console = ctx.obj
    value = decisions.review_expire(console.memory(), dry_run=dry_run, why=why)
    if not value.decisions:
        console.say("Nothing to expire")
    return _decided_code(console, "review expire", value)


def _report_invalid(console: Console, unreadable: Sequence[BadProposal]) -> None:
    """Report invalid files in the queue; print a hint shared by consecutive files once."""
    shown = unreadable[:_MOST_BAD]
    for bad, following in zip(shown, (*shown[1:], None), strict=False):
        console.talk(f"{bad.path}: invalid proposal: {f'{bad.key}: ' if bad.key else ''}{bad.reason}")
        if bad.fix and (following is None or following.fix != bad.fix):
            console.talk(hint_line(bad.fix, console.style))
    if len(unreadable) > _MOST_BAD:
        console.talk(f"{len(unreadable) - _MOST_BAD:,} more invalid files; see: thunderus-mem lint")


def _chosen(
    console: Console,
    verb: str,
    given: Sequence[str] | None,
    *,
    every: bool,
    only: str,
    yes: bool,
) -> tuple[str, ...] | None:
    """Return the given ids, () for all; ``None`` when the user declines the prompt."""
    ids = tuple(given or ())
    if every and ids:
        raise ThunderusError(f"ID and {'--only' if only else '--all'} are mutually exclusive")
    if not every and not ids:
        raise ThunderusError(
            "missing argument ID", hint="pass proposal ids (see `thunderus-mem review list`), or --all"
        )
    if yes or not every:
        return ids
    what = f"all proposals of {only}" if only else "all proposals"
    if not console.interactive:
        hint = f"use --yes to {verb.lower()} {what}"
        raise ThunderusError("cannot ask for confirmation without a terminal", hint=hint)
    if console.confirm(f"{verb} {what}?"):
        return ids
    console.say("Nothing written")
    return None


def _decided_code(console: Console, command: str, value: decisions.Decided) -> int:
    console.emit(command, value, decided)
    if not value.decisions and command != "review expire":
        console.say("No matching proposals; see: thunderus-mem review list")
    for one in () if console.json else value.decisions:
        if one.code:
            problem = ThunderusError(f"{one.id} not applied: {one.problem}", hint=one.hint or None)
            console.failure(problem, one.code)
    console.say_others()
    return console.published_code(value.published) or value.code


def _days(one: queue.ListedProposal) -> str:
    age = "today" if not one.age_days else counted(one.age_days, "day")
    return f"{age}, expired" if one.expired else age


def listing(value: queue.ProposalListing, console: Console) -> str:
    """Format proposals, oldest first: id, age, author, action, documents and reason.

    On a terminal show a unique prefix of the id; on a narrow one only id, action and documents.
    """
    style = console.style
    room = console.width
    length = None if room is None else _prefix_length([one.id for one in value.proposals])
    rows = [
        (
            style.name(one.id[:length]),
            style.warning(_days(one)) if one.expired else style.dim(_days(one)),
            by_whom(one.actor, one.author),
            one.label or one.action,
            target_names(one.targets, style, one.more_targets),
            one_line(one.why),
        )
        for one in value.proposals
    ]
    if value.expired:
        console.say(
            f"{counted(value.expired, 'proposal')} older than {counted(value.expires_days, 'day')}: "
            "thunderus-mem review expire"
        )
    if room is not None and room < _NARROW:
        kept = (0, 4) if room < _NARROWEST else (0, 3, 4)
        return columns([[row[at] for at in kept] for row in rows], console.width, whole=1)
    return columns(rows, console.width, whole=1)


def _prefix_length(ids: Sequence[str]) -> int:
    """Return the length of unique prefixes of the ids."""
    longest = max(map(len, ids), default=0)
    lengths = range(_SHORTEST, longest)
    return next((length for length in lengths if len({id[:length] for id in ids}) == len(ids)), longest)


def shown(value: queue.ShownProposal, console: Console) -> str:
    """Format a proposal: metadata, evidence and diff."""
    style, one = console.style, value.proposal
    rows = [
        ("id", style.name(one.id)),
        ("created", f"{minute(one.created)} by {by_whom(one.actor, one.author)}"),
        ("action", one.action + (f" (rule {one.rule})" if one.rule else "")),
        ("label", one.label),
        ("targets", target_names(one.targets, style)),
        ("why", one_line(one.why)),
        ("applies", _applies(value, style)),
    ]
    room = console.width
    lines = flowing([(style.dim(name), text) for name, text in rows if text], room)
    if value.evidence:
        lines += ["", *(line for item in value.evidence for line in wrapped(item, room))]
    lines.append("")
    for change in value.changes:
        lines += diff_lines(change.path, change.op, change.diff, change.moved_from, style)
    return "\n".join(lines)


def _applies(value: queue.ShownProposal, style: Style) -> str:
    text = _APPLIES[value.state] + (f": {value.problem}" if value.problem else "")
    return text if value.state in ("fits", "there") else style.warning(text)


def decided(value: decisions.Decided, console: Console) -> str:
    """Format the decisions, one per line."""
    style = console.style
    console.say_recorded(value.recorded)
    if value.planned and value.decisions:
        console.say("Dry run; these would expire:")
    rows = []
    for one in value.decisions:
        if not one.code:  # failures are reported on stderr
            about = target_names(one.targets, style)
            rows.append((one.state, style.name(one.id), about, one_line(one.problem)))
    return "\n".join(line.rstrip() for line in flowing(rows, console.width))
