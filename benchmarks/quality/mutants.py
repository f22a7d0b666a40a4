"""A document with one thing changed in one sentence, so that it says something else."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

from benchmarks.quality.prose import blocks

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from random import Random

NUMBER: Final = "number"
NAME: Final = "name"
NEGATION: Final = "negation"
CHANGES: Final = (NUMBER, NAME, NEGATION)

_NUMBER = re.compile(r"(?<![\w./:#-])\d+(?:\.\d+)*(?![\w/:-]|\.\w)")
_CODE_NAME = re.compile(r"`([A-Za-z_][\w.-]{2,40})`")
_CAPITAL_NAME = re.compile(r"(?<=[a-z,] )[A-Z][a-z]+(?:[A-Z][a-z]+)*(?=[ .,;])")
_WEB = re.compile(r"\]\([^)]*\)|https?://\S+|<[^>]*>")
_NEGATED: Final = (
    (" is not ", " is "), (" are not ", " are "), (" does not ", " does "), (" do not ", " do "),
    (" must not ", " must "), (" should not ", " should "), (" cannot ", " can "), (" can't ", " can "),
    (" don't ", " do "), (" doesn't ", " does "), (" isn't ", " is "), (" never ", " always "),
    (" without ", " with "), (" will not ", " will "),
)  # fmt: skip
_AFFIRMED: Final = (
    (" is ", " is not "), (" are ", " are not "), (" must ", " must not "), (" should ", " should not "),
    (" can ", " cannot "), (" will ", " will not "), (" always ", " never "), (" has ", " has no "),
)  # fmt: skip


class Mutant(NamedTuple):
    """A changed text; ``old`` was replaced with ``new``, ``line`` is the original line."""

    change: str
    old: str
    new: str
    line: str
    body: str


class _Place(NamedTuple):
    line: int
    start: int
    end: int
    new: str


def _prose(body: str) -> list[tuple[int, str]]:
    """Number and text of every line of prose."""
    found, at = [], 0
    for block in blocks(body):
        if block.sort != "other":
            found += [(at + offset, line) for offset, line in enumerate(block.lines)]
        at += len(block.lines)
    return found


def _allowed(line: str, start: int, end: int) -> bool:
    """Whether a place is text and not the address of a link."""
    return not any(web.start() < end and start < web.end() for web in _WEB.finditer(line))


def _numbers(lines: list[tuple[int, str]], dice: Random, names: Sequence[str]) -> list[_Place]:
    found = []
    for number, line in lines:
        for match in _NUMBER.finditer(line):
            head, dot, last = match[0].rpartition(".")
            other = str(int(last) + dice.choice((1, 2, 3, 5, 10, 40)))
            found.append(_Place(number, match.start(), match.end(), f"{head}{dot}{other}"))
    return found


def _names(lines: list[tuple[int, str]], dice: Random, names: Sequence[str]) -> list[_Place]:
    codes = [name for name in names if name.startswith("`")]
    plain = [name for name in names if not name.startswith("`")]
    found = []
    for number, line in lines:
        for pattern, others in ((_CODE_NAME, codes), (_CAPITAL_NAME, plain)):
            for match in pattern.finditer(line):
                known = [name for name in others if name.lower() != match[0].lower()]
                if known:
                    found.append(_Place(number, match.start(), match.end(), dice.choice(known)))
    return found


def _negations(lines: list[tuple[int, str]], dice: Random, names: Sequence[str]) -> list[_Place]:
    pairs = _NEGATED if any(old in line for _, line in lines for old, _ in _NEGATED) else _AFFIRMED
    return [
        _Place(number, line.index(old), line.index(old) + len(old), new)
        for number, line in lines
        for old, new in pairs
        if line.count(old) == 1 and not (pairs is _AFFIRMED and f"{old}no" in line)
    ]


_PLACES: Final[dict[str, Callable[..., list[_Place]]]] = {
    NUMBER: _numbers, NAME: _names, NEGATION: _negations,
}  # fmt: skip


def names_in(bodies: Sequence[str]) -> tuple[str, ...]:
    """Names that texts use in their prose, to put one in the place of another."""
    found = {
        match[0]
        for body in bodies
        for _, line in _prose(body)
        for pattern in (_CODE_NAME, _CAPITAL_NAME)
        for match in pattern.finditer(line)
    }
    return tuple(sorted(found))


def mutant(body: str, change: str, names: Sequence[str], dice: Random) -> Mutant | None:
    """A text with one number, name or negation changed; ``None`` when it has none to change."""
    lines = _prose(body)
    texts = dict(lines)
    places = [one for one in _PLACES[change](lines, dice, names) if _allowed(texts[one.line], *one[1:3])]
    if not places:
        return None
    place = dice.choice(places)
    line = texts[place.line]
    every = body.split("\n")
    every[place.line] = line[: place.start] + place.new + line[place.end :]
    return Mutant(change, line[place.start : place.end], place.new, line, "\n".join(every))
