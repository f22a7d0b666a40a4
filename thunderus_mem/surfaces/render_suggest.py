"""``anchor --suggest`` for people: commands that are ready to run, their reasons as comments of a shell."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from thunderus_mem.surfaces.text import one_line

if TYPE_CHECKING:
    from collections.abc import Sequence

    from thunderus_mem.evidence.suggest import Passed, Proposal
    from thunderus_mem.surfaces.cli.console import Console
    from thunderus_mem.surfaces.style import Style
    from thunderus_mem.verbs.suggesting import Suggestions

_SHOWN: Final = 12


def suggestions(value: Suggestions, console: Console) -> str:
    """A command for each proposal below its reason, then what was passed over, as comments: the whole may be
    given to a shell."""
    style = console.style
    lines: list[str] = []
    for one in value.proposals:
        lines += [
            style.dim(f"# {one_line(one.reason)}{'; weak' if one.weak else ''}"),
            _command(value.id, one),
        ]
    if value.passed:
        lines += [*([""] if lines else []), style.dim("# Passed over:")]
        lines += [style.dim(f"#   {line}") for line in _passed(value.passed)]
    return "\n".join(lines)


def _passed(passed: Sequence[Passed]) -> list[str]:
    """What was passed over, together what was for the same reason."""
    reasons: dict[str, list[str]] = {}
    for one in passed:
        reasons.setdefault(one_line(one.why), []).append(one_line(one.code))
    return [
        f"{why}: {', '.join(codes[:_SHOWN])}{_more(len(codes) - _SHOWN)}" for why, codes in reasons.items()
    ]


def _more(count: int) -> str:
    return f" and {count:,} more" if count > 0 else ""


def _command(id: str, one: Proposal) -> str:
    import shlex

    dashes = " --" if one.place.startswith("-") else ""
    return f"thunderus-mem anchor{dashes} {id} {shlex.quote(one.place)}"


def suggestions_note(value: Suggestions, style: Style) -> str:
    """What to do with them, or that there are none."""
    if not value.proposals:
        return "The text names no code that could be told for sure."
    return f"Write the strong ones with: {style.name(f'thunderus-mem anchor --suggest {value.id} --apply')}"
