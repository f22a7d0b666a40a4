"""Files without a grammar: their lines without the space around them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from thunderus_mem.model.fingerprint import measure

if TYPE_CHECKING:
    from collections.abc import Sequence

    from thunderus_mem.model.fingerprint import Fingerprint

__all__ = ["plain_lines", "plain_whole"]


def plain_lines(_path: str, text: str, first: int, last: int) -> Fingerprint | None:
    """The measure of these lines (from 1); ``None`` when nothing stands in them."""
    lines = _written(text.split("\n")[first - 1 : last])
    return measure("lines", "", lines, len(lines)) if lines else None


def plain_whole(_path: str, text: str) -> Fingerprint:
    """The measure of a whole text."""
    lines = _written(text.split("\n"))
    return measure("lines", "", lines, len(lines))


def _written(lines: Sequence[str]) -> list[str]:
    return [" ".join(words) for line in lines if (words := line.split())]
