"""``patch``: the review queue, what waits in it and what becomes of it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Annotated

import typer

from thunderus_mem.model.errors import ThunderusError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from thunderus_mem.store.proposals import BadProposal
    from thunderus_mem.surfaces.cli.console import Console
    from thunderus_mem.verbs.decision import Decided

app = typer.Typer()
patch_app = typer.Typer(help="Look at what waits for review, and decide.", no_args_is_help=True)
app.add_typer(patch_app, name="patch")

_MOST_BAD = 20
_DAYS = re.compile(r"([0-9]{1,4})d?", re.ASCII)

Ids = Annotated[
    list[str] | None, typer.Argument(metavar="[ID]...", help="Proposals, or unique beginnings of their ids.")
]
Every = Annotated[bool, typer.Option("--all", help="All that wait; --label and --rule choose among them.")]
Label = Annotated[str, typer.Option("--label", metavar="LABEL", help="Only with this label.")]
Rule = Annotated[str, typer.Option("--rule", metavar="RULE", help="Only of this gardening rule.")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]
Why = Annotated[str, typer.Option("-m", "--why", metavar="WHY", help="The reason, kept in the log.")]


@patch_app.command("list")
def patch_list(
    ctx: typer.Context,
    label: Label = "",
    rule: Rule = "",
    limit: Annotated[
        int, typer.Option("--limit", "-n", metavar="N", min=0, help="Proposals to show; 0 for all.")
    ] = 50,
) -> int:
    """What waits for a decision, oldest first. Exits with 6 when a file of the queue cannot be read."""
    from thunderus_mem.model.errors import Degraded
    from thunderus_mem.surfaces.render_review import listing
    from thunderus_mem.verbs import proposing

    console: Console = ctx.obj
    # A program wants all of it, a person what fits on a few screens.
    most = 0 if console.json or console.plain else limit
    value = proposing.patch_list(console.memory(), label=label, rule=rule, limit=most)
    if not value.proposals and not value.unreadable:  # what cannot be read may be what waits
        console.say("No such proposal waits for review." if label or rule else "Nothing waits for review.")
    console.emit("patch list", value, listing, long=True)
    if value.left_out:
        console.say(f"{value.left_out:,} newer left out; -n shows more.")
    _tell_bad(console, value.unreadable)
    return Degraded.exit_code if value.unreadable else 0


@patch_app.command("show")
def patch_show(
    ctx: typer.Context, proposal: Annotated[str, typer.Argument(metavar="ID", help="The proposal.")]
) -> None:
    """One proposal: why, on what evidence, the diff, and whether it still fits."""
    from thunderus_mem.surfaces.render_review import shown
    from thunderus_mem.verbs import proposing

    console: Console = ctx.obj
    console.emit("patch show", proposing.patch_show(console.memory(), proposal), shown, long=True)


@patch_app.command("approve")
def patch_approve(
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
    from thunderus_mem.verbs import deciding

    console: Console = ctx.obj
    ids = _chosen(proposals, every=every, label=label, rule=rule)
    if every and not _sure(console, "Approve", label, rule, yes=yes):
        return 1
    value = deciding.patch_approve(
        console.memory(), ids, every=every, label=label, rule=rule, rebase=rebase, why=why
    )
    return _told(console, "patch approve", value)


@patch_app.command("reject")
def patch_reject(
    ctx: typer.Context,
    proposals: Ids = None,
    every: Every = False,
    label: Label = "",
    rule: Rule = "",
    yes: Yes = False,
    why: Annotated[str, typer.Option("-m", "--why", metavar="WHY", help="The reason (needed).")] = "",
) -> int:
    """Turn proposals down; the gardener asks again only when one of the texts has changed."""
    from thunderus_mem.verbs import deciding

    console: Console = ctx.obj
    ids = _chosen(proposals, every=every, label=label, rule=rule)
    if every and not _sure(console, "Reject", label, rule, yes=yes):
        return 1
    value = deciding.patch_reject(console.memory(), ids, every=every, label=label, rule=rule, why=why)
    return _told(console, "patch reject", value)


@patch_app.command("rebase")
def patch_rebase(
    ctx: typer.Context,
    proposals: Annotated[list[str], typer.Argument(metavar="ID...", help="Proposals to make anew.")],
) -> int:
    """Make the diff of a proposal anew against what is there now; says which lines are in conflict."""
    from thunderus_mem.model.errors import Conflict
    from thunderus_mem.surfaces.render_review import rebasing
    from thunderus_mem.verbs import proposing

    console: Console = ctx.obj
    value = proposing.patch_rebase(console.memory(), proposals)
    console.emit("patch rebase", value, rebasing)
    stuck = any(one.state not in ("fits", "rebased") for one in value.proposals)
    return Conflict.exit_code if stuck else 0


@patch_app.command("expire")
def patch_expire(
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
    from thunderus_mem.verbs import deciding

    days = _DAYS.fullmatch(older_than)
    if older_than and days is None:
        raise ThunderusError(f"--older-than takes days, as 30d, not {older_than}.")
    console: Console = ctx.obj
    value = deciding.patch_expire(
        console.memory(), older_than=int(days[1]) if days else None, plan=plan, why=why
    )
    if not value.decisions:
        console.say("Nothing has expired.")
    return _told(console, "patch expire", value)


def _tell_bad(console: Console, unreadable: Sequence[BadProposal]) -> None:
    """The files that are no proposals, and what to do: once for those that stand together."""
    from thunderus_mem.surfaces.cli.failing import hinted

    told = unreadable[:_MOST_BAD]
    for bad, following in zip(told, (*told[1:], None), strict=False):
        console.talk(f"{bad.path} is no proposal: {f'{bad.key}: ' if bad.key else ''}{bad.reason}")
        if bad.fix and (following is None or following.fix != bad.fix):
            console.talk(hinted(bad.fix, console.style))
    if len(unreadable) > _MOST_BAD:
        console.talk(f"{len(unreadable) - _MOST_BAD:,} more are none; see: thunderus-mem lint")


def _chosen(given: Sequence[str] | None, *, every: bool, label: str, rule: str) -> tuple[str, ...]:
    ids = tuple(given or ())
    if every and ids:
        raise ThunderusError("Give IDs or --all, not both.")
    if not every and (label or rule):
        raise ThunderusError("--label and --rule choose among --all.")
    if not every and not ids:
        raise ThunderusError("No proposal is named.", hint="thunderus-mem patch list shows what waits")
    return ids


def _sure(console: Console, verb: str, label: str, rule: str, *, yes: bool) -> bool:
    """Whether so many at once are meant."""
    if yes:
        return True
    what = " ".join(filter(None, ("all proposals", label and f"labelled {label}", rule and f"of {rule}")))
    if not console.interactive:
        raise ThunderusError(f"{verb} {what}?", hint="--yes does it without asking; nothing is written")
    if console.ask(f"{verb} {what}? [y/N] ").strip().lower() in ("y", "yes"):
        return True
    console.say("Nothing is written.")
    return False


def _told(console: Console, command: str, value: Decided) -> int:
    from thunderus_mem.surfaces.cli.done import published_code
    from thunderus_mem.surfaces.cli.failing import told
    from thunderus_mem.surfaces.render_review import decided

    console.emit(command, value, decided)
    if not value.decisions and command != "patch expire":
        console.say("No such proposal; `thunderus-mem patch list` shows what waits.")
    for one in () if console.json else value.decisions:
        if one.code:
            stays = ThunderusError(f"{one.id} stays ({one.state}): {one.problem}", hint=one.hint or None)
            for line in told(stays, console.style):
                console.talk(line)
    console.tell_others()
    return published_code(console, published=value.published) or value.code
