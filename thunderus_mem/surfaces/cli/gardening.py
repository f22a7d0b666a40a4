"""``garden``: what the gardener would do, and does."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from thunderus_mem.model.errors import Conflict, ThunderusError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from thunderus_mem.garden.plan import Plan
    from thunderus_mem.memory import Memory
    from thunderus_mem.surfaces.cli.console import Console
    from thunderus_mem.verbs.gardened import SkippedStep

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
    from thunderus_mem.transaction.opening import settle
    from thunderus_mem.verbs import gardening

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
    apart = propose or (apply and gardening.is_reviewed(memory))
    found = gardening.garden_plan(memory, only=_rules(only or ()), apart=apart)
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
    from thunderus_mem.surfaces.render_garden import plan as render
    from thunderus_mem.verbs.garden_report import garden_report

    if not found.steps:
        console.say("Nothing to do.")
    # A program wants all of it, a person what fits on a few screens.
    shown = 0 if console.json or console.plain else limit
    console.emit("garden", garden_report(memory, found, limit=shown), render, long=True)
    return int(check and bool(found.applicable or found.proposals))


def _apply(console: Console, memory: Memory, found: Plan) -> int:
    from thunderus_mem.surfaces.cli.done import published_code
    from thunderus_mem.surfaces.render_garden import applied
    from thunderus_mem.verbs import gardening

    value = gardening.garden_apply(memory, found)
    console.emit("garden apply", value, applied)
    if value.steps:
        console.say("To take it back: thunderus-mem garden --undo")
    return _skipped(console, value.skipped) or published_code(console, published=value.published)


def _propose(console: Console, memory: Memory, found: Plan) -> int:
    from thunderus_mem.surfaces.render_garden import filed
    from thunderus_mem.verbs import gardening

    value = gardening.garden_propose(memory, found)
    console.emit("garden propose", value, filed)
    return _skipped(console, value.skipped)


def _skipped(console: Console, skipped: Sequence[SkippedStep]) -> int:
    """Tell of the steps that no longer fit what is on disk; the exit code that says so."""
    if not skipped:
        return 0
    from thunderus_mem.surfaces.text import counted

    told = "; ".join(f"{', '.join(step.targets)}: {step.why}" for step in skipped[:_MOST_SKIPPED])
    more = f"; and {len(skipped) - _MOST_SKIPPED} more" if len(skipped) > _MOST_SKIPPED else ""
    error = Conflict(
        f"{counted(len(skipped), 'step')} skipped: {told}{more}", hint="plan again: thunderus-mem garden"
    )
    console.failure(error, error.exit_code)
    return error.exit_code


def _undo(console: Console, memory: Memory, why: str) -> int:
    from thunderus_mem.surfaces.cli.done import published_code
    from thunderus_mem.surfaces.render_undo import undone
    from thunderus_mem.verbs import restoring

    value = restoring.restore_last(memory, why=why)
    console.emit("garden undo", value, undone)
    console.say("To have it again: thunderus-mem undo --redo")
    return published_code(console, published=value.published)
