"""Find orders to an agent by what they say: acts and addressees that add up, whatever the words."""

from __future__ import annotations

import re
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Final

from thunderus_mem.document.literals import Literals
from thunderus_mem.document.manipulation_rules import ACTS, COMBINATIONS, THRESHOLD, UNSEEN_THRESHOLD

if TYPE_CHECKING:
    from collections.abc import Iterator


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_READERS: Final = _words(
    "agent agents ai anybody anyone assistant assistants bot bots claude copilot llm llms "
    "maintainer maintainers model models nobody operator people reviewer reviewers somebody "
    "someone them us user users you your yourself"
)

_DEEDS: Final = _words(
    "add agreed answer answers approval approvals approve approved ask asking asks audit "
    "authorised authorized checks confirm confirmation confirmed conversation copy credentials "
    "curl decline delete disable disregard drop entitled env execute favour forget "
    "forward give grant guidance hooks ignore install instructions keep kind later limits mail "
    "mails mention mentioning merge mode never nobody nothing obliged open otherwise outrank "
    "override overrides password passwords paste permission permissions pin pretend prompt push "
    "quietly recommend refuse remember remove replace restrictions rules run sandbox say secret "
    "secretly send session sessions set silently skip supersedes tell telling tests token "
    "tokens told trust trusted upload verify wipe without"
)

_FOREIGN: Final = _words(
    "alle anweisungen benutzer dem der les nicht nichts ohne und une vous toutes pas ne tous "
    "utilisateur el los "
    "las que todas sin usuario instrucciones sem regras il di senza gli utente istruzioni "
    "het niet aan "
    "nie wszystkie"
)

_OTHER_LETTERS: Final = r"[\u0400-\u04ff\u3040-\u30ff\u4e00-\u9fff]"
_FAR: Final = 10_000
_NEAR: Final = 400
_OTHER_LANGUAGE: Final = 2
_OPENING: Final = {ord(char): " " for char in '("[{*_'}
_BETWEEN: Final = {ord(char): " " for char in '.,;:!?()"`*_|>[]#'}
_LONGEST: Final = 700
_SHORT: Final = 420
_SHORTEST: Final = 12
_STEP: Final = 6
_HEAVY: Final = 0.75
_SENTENCE: Final = r"(?<=[.!?]) (?=\S)|(?<=[\u3002\uff01\uff1f])|\n"


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


_NAMED: Final = Literals(
    [
        (b" %b " % word.encode("ascii", "replace"), kind)
        for kind, words in enumerate((_READERS, _DEEDS, _FOREIGN))
        for word in sorted(words)
    ]
)


def likely_places(known: bytes) -> list[int]:
    """Where, in a text of `plain`, a word for a reader and one for a deed, or two foreign words, are near."""
    kinds = _NAMED.rows
    last: list[tuple[int, int]] = [(-_FAR, -1)] * 3
    found: list[int] = []
    for number, start, _ in _NAMED.find(known):
        for kind in kinds[number]:
            other = last[2 if kind == _OTHER_LANGUAGE else 1 - kind]
            if (
                start - other[0] < _NEAR
                and other[1] != number
                and (not found or start - found[-1] > _NEAR // 4)
            ):
                found.append(start)
            last[kind] = (start, number)
    return found


def manipulates(paragraph: str, *, unseen: bool = False) -> tuple[str, int] | None:
    """What a lower-case paragraph on one line says to an agent, and the offset; None if it is harmless."""
    threshold = UNSEEN_THRESHOLD if unseen else THRESHOLD
    for start, window in _windows(paragraph):
        said = _said(f" {window.translate(_OPENING)}", threshold) if unseen or _may_manipulate(window) else []
        if said:
            return " with ".join(said[:2]), start
    return None


def _may_manipulate(text: str) -> bool:
    """Whether words of a text name a reader and a deed, or the text is in one of the other languages."""
    words = set(text.translate(_BETWEEN).split())
    if not _READERS.isdisjoint(words) and not _DEEDS.isdisjoint(words):
        return True
    foreign = words & _FOREIGN
    return len(foreign) > 1 or (not text.isascii() and _compiled(_OTHER_LETTERS).search(text) is not None)


def _windows(paragraph: str) -> Iterator[tuple[int, str]]:
    """Two or three neighbouring sentences, from every sentence on."""
    starts = [0, *(match.end() for match in _compiled(_SENTENCE).finditer(paragraph))]
    if len(starts) <= 3 and len(paragraph) <= _SHORT:
        yield 0, paragraph
        return
    ends = [*starts[1:], len(paragraph)]
    for place, start in enumerate(starts[: max(len(starts) - 1, 1)]):
        third = ends[min(place + 2, len(ends) - 1)]
        end = third if third - start <= _SHORT else ends[min(place + 1, len(ends) - 1)]
        yield start, paragraph[start : min(end, start + _LONGEST)]


def _said(text: str, threshold: float) -> list[str]:
    """The heaviest things that a text says, if together they reach the threshold; one must be heavy alone."""
    if len(text) < _SHORTEST:
        return []
    found: dict[str, float] = {}
    for number, (name, weight, pattern) in enumerate(_ordered()):
        if weight < _HEAVY and not found:
            return []
        if number % _STEP == 0 and _most(frozenset(found), number) < threshold:
            return []
        if _compiled(pattern).search(text):
            found[name] = weight
    if _most(frozenset(found), len(ACTS)) < threshold:
        return []
    return sorted(found, key=lambda name: -found[name])


@cache
def _ordered() -> tuple[tuple[str, float, str], ...]:
    """The acts, the heaviest first."""
    return tuple(sorted(ACTS, key=lambda act: -act[1]))


@lru_cache(maxsize=4_096)
def _most(found: frozenset[str], tried: int) -> float:
    """The sum that a text can still reach after so many acts were tried."""
    open_ = found.union(name for name, _, _ in _ordered()[tried:])
    alone = sum(weight for name, weight, _ in ACTS if name in open_)
    return alone + sum(
        weight for weight, groups in COMBINATIONS if all(not open_.isdisjoint(group) for group in groups)
    )
