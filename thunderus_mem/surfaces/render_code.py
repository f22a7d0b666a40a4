"""Code then and now for people: side by side where the terminal has room, else one above the other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, TypeVar

from thunderus_mem.model.textdiff import stretches
from thunderus_mem.surfaces.render_evidence import verdict_word
from thunderus_mem.surfaces.text import cut, one_line, width

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from thunderus_mem.surfaces.cli.console import Console
    from thunderus_mem.surfaces.style import Style
    from thunderus_mem.verbs.code_then import CodeThen


class _HasCode(Protocol):
    @property
    def code(self) -> tuple[CodeThen, ...]: ...


Value = TypeVar("Value", bound=_HasCode)
_NARROW = 100
_SHORT = 12


def with_code(render: Callable[[Value, Console], str], value: Value, console: Console) -> str:
    """What a value prints, and below it the code it speaks of, then and now."""
    blocks = ["\n".join(_block(one, console)) for one in value.code]
    return "\n\n".join([render(value, console), *blocks])


def _block(one: CodeThen, console: Console) -> Iterator[str]:
    style = console.style
    yield f"{style.bold(one.place)}  {verdict_word(one.verdict, style)}: {one.reason}"
    if one.commit:
        yield style.dim(f"by {one.commit[:_SHORT]} {one_line(one.subject)}")
    then, now = one.then.splitlines(), one.now.splitlines()
    if then == now:
        yield from (f"  {line}" for line in now)
        return
    room = console.width
    if room is None or room < _NARROW:
        yield from _above(then, now, style)
    else:
        yield from _beside(then, now, (room - 5) // 2, style)


def _pairs(then: Sequence[str], now: Sequence[str]) -> Iterator[tuple[str | None, str | None, bool]]:
    """Lines beside each other, and whether they are the same."""
    at = 0
    edits = stretches(then, now)
    if edits is None:
        edits = [(0, len(then), 0, len(now))]
    for old_start, old_stop, new_start, new_stop in edits:
        yield from ((line, line, True) for line in then[at:old_start])
        for place in range(max(old_stop - old_start, new_stop - new_start)):
            left = then[old_start + place] if old_start + place < old_stop else None
            right = now[new_start + place] if new_start + place < new_stop else None
            yield left, right, False
        at = old_stop
    yield from ((line, line, True) for line in then[at:])


def _beside(then: Sequence[str], now: Sequence[str], room: int, style: Style) -> Iterator[str]:
    for left, right, same in _pairs(then, now):
        before, after = (cut((text or "").expandtabs(4), room) for text in (left, right))
        gap = " " * (room - width(before))
        if same:
            yield f"{before}{gap}   {after}".rstrip()
        else:
            yield f"{style.error(before)}{gap} | {style.good(after)}".rstrip()


def _above(then: Sequence[str], now: Sequence[str], style: Style) -> Iterator[str]:
    for left, right, same in _pairs(then, now):
        if same:
            yield f"  {left}"
            continue
        if left is not None:
            yield style.error(f"- {left}")
        if right is not None:
            yield style.good(f"+ {right}")
