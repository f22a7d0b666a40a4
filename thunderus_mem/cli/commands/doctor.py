"""``doctor``: what each trouble touches, what is lost, and what to run; with --fix, what was done."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Final

import typer

from thunderus_mem.cli.text import aligned, counted, size, width
from thunderus_mem.doctor.checks import doctor
from thunderus_mem.doctor.fix import apply_fixes, plan_fixes

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from thunderus_mem.cli.console import Console
    from thunderus_mem.cli.style import Style
    from thunderus_mem.doctor.context import Check, DoctorReport, FixReport, FixStep, KeptFile

app = typer.Typer()

_MOST_AFFECTED: Final = 5
_MOST_KEPT: Final = 3
_FIX: Final = "thunderus-mem doctor --fix"


@app.command("doctor")
def doctor_command(
    ctx: typer.Context,
    fix: Annotated[
        bool, typer.Option("--fix", help="Mend what can be mended; what is in the way is set aside.")
    ] = False,
    plan: Annotated[bool, typer.Option("--plan", help="Only say what --fix would do.")] = False,
) -> int:
    """Check the store and its surroundings; each trouble comes with what to do.

    Exits with 1 when there is any. Works where no other command does. Changes nothing without --fix, which
    deletes nothing and touches no document: what it takes away is in .thunderus/.quarantine, and each step
    says how it comes back.
    """
    console: Console = ctx.obj
    if not fix and not plan:
        report = doctor(console.memory(lenient=True))
        console.emit("doctor", report, checks_report, long=True)
        return int(any(check.is_trouble for check in report.checks))
    value = plan_fixes(console.memory(lenient=True))
    if not plan:
        console.say(announced(value))
        value = apply_fixes(lambda: console.memory(lenient=True))
    console.emit("doctor fix", value, treatment, long=True)
    return int(bool(value.left) or any(step.state != "done" for step in value.steps))


def checks_report(value: DoctorReport, console: Console) -> str:
    """Checks in columns, each trouble with its facts below, then what the quarantine holds."""
    style = console.style
    lines = _checks(value.checks, style)
    if value.kept:
        lines += ["", "In the quarantine:", *_kept(value.kept, style)]
    if value.mends:
        steps = counted(len(value.mends), "step")
        lines += ["", f"Next: {_FIX}   ({steps}; --plan shows them)"]
    return "\n".join(lines)


def _checks(checks: Sequence[Check], style: Style) -> list[str]:
    paint = {"ok": style.good, "note": style.dim, "warning": style.warning, "error": style.error}
    names = aligned([(paint[check.state](check.state), check.name) for check in checks])
    indent = max((width(line) for line in names), default=0) + 2
    lines: list[str] = []
    for check, line in zip(checks, names, strict=True):
        lines.append(f"{line}{' ' * (indent - width(line))}{check.message}")
        if check.state != "ok":
            lines += [f"{' ' * indent}{style.dim(name)} {text}" for name, text in _facts(check)]
    return lines


def _facts(check: Check) -> Iterator[tuple[str, str]]:
    """What a person asks next: what to do, what it touches, whether anything is gone, what to type."""
    if check.hint:
        yield "what to do:", check.hint
    if check.affects:
        more = len(check.affects) - _MOST_AFFECTED
        shown = ", ".join(check.affects[:_MOST_AFFECTED])
        yield "affects:", f"{shown} and {more:,} more" if more > 0 else shown
    if check.lost:
        yield "lost:", check.lost
    if check.command:
        yield "run:", check.command


def _kept(kept: Sequence[KeptFile], style: Style) -> list[str]:
    lines = []
    for one in kept[:_MOST_KEPT]:
        lines += [f"  {style.name(one.path)}  {size(one.size)}, {one.time[:10]}, {one.what}"]
        lines += [f"    {style.dim('run:')} {one.back}"]
    if len(kept) > _MOST_KEPT:
        lines.append(f"  and {len(kept) - _MOST_KEPT:,} more; --json lists them all")
    return lines


def announced(value: FixReport) -> str:
    """The plan in one sentence, before it is carried out."""
    if not value.steps:
        return "There is nothing that can be mended without you."
    lines = [f"{counted(len(value.steps), 'step')} to take:"]
    return "\n".join([*lines, *(f"  {number}. {step.says}" for number, step in enumerate(value.steps, 1))])


def treatment(value: FixReport, console: Console) -> str:
    """Each step: what was done, where the old file is, how to get it back; then what needs a person."""
    style = console.style
    lines = [line for step in value.steps for line in _step(step, style)]
    if value.left:
        head = "For you to decide:" if value.applied else "Not to be mended without you:"
        lines += [*([""] if lines else []), head, *_checks(value.left, style)]
    elif value.applied and lines:
        lines += ["", "Everything is in order now."]
    elif not lines:
        lines = ["Everything is in order."]
    if not value.applied and value.steps:
        lines += ["", f"Next: {_FIX}"]
    return "\n".join(lines)


def _step(step: FixStep, style: Style) -> Iterator[str]:
    paint = {"planned": style.dim, "done": style.good, "failed": style.error}
    yield f"{paint[step.state](step.state)}  {step.says}"
    indent = " " * (len(step.state) + 2)
    if step.kept:
        yield f"{indent}{style.dim('it is now')} {style.name(step.kept)}"
    if step.back:
        yield f"{indent}{style.dim('back:')} {step.back}"
    if step.problem:
        yield f"{indent}{step.problem}"
