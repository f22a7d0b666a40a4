"""How far a sentence reaches: to all of something, to some of it, or to nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from thunderus_mem.garden.similar.vocabulary import NEGATIONS, NUMBER_WORDS, UNITS, WEEKDAYS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from thunderus_mem.garden.similar.sentences import Sentence

_ALL: Final = frozenset(("all", "any", "both", "each", "entire", "every", "everyone", "everything"))
_PART: Final = frozenset(
    ("alone", "except", "excluding", "exclusively", "few", "only", "partly", "solely", "some", "most")
)
_NARROW: Final = frozenset(("alone", "only", "solely", "exclusively", "except", "excluding"))
# "The only one", "at most", "at all", "after all" and "in any case" say nothing of how far something reaches.
_IDLE: Final = {
    "only": frozenset(("the", "not", "if")),
    "most": frozenset(("at", "the")),
    "few": frozenset(("a",)),
    "all": frozenset(("at", "after", "above", "of", "first")),
    "any": frozenset(("in", "at", "if")),
}


def _counts(behind: str) -> bool:
    """Whether a word before this one stands at an amount or a time: "every 6 hours", "some 20 minutes"."""
    numbered = behind[:1].isdigit() or behind in NUMBER_WORDS
    return numbered or behind in UNITS or behind in WEEKDAYS or behind in ("time", "times")


def reaches(words: Sequence[str]) -> tuple[set[str], set[str]]:
    """The words by which a sentence reaches to all, and those by which it reaches only to a part."""
    whole: set[str] = set()
    part: set[str] = set()
    for at, word in enumerate(words):
        if word not in _ALL and word not in _PART:
            continue
        before = words[at - 1] if at else ""
        behind = words[at + 1] if at + 1 < len(words) else ""
        if before in _IDLE.get(word, ()) or _counts(behind):
            continue
        if word in _ALL and (before in NEGATIONS or before.endswith("n't")):
            part.add(word)  # "not every"
        else:
            (whole if word in _ALL else part).add(word)
    return whole, part


def scopes_apart(one: Sentence, other: Sentence, *, in_place: bool) -> tuple[str, str] | None:
    """The words by which one sentence reaches to all and the other to a part; ``in_place`` also when nothing
    but such a word is added."""
    mine, theirs = reaches(one.words), reaches(other.words)
    for (whole, part), (their_whole, their_part), turned in ((mine, theirs, False), (theirs, mine, True)):
        if whole - their_whole and their_part - part and not (part & _NARROW):
            said = min(whole - their_whole), min(their_part - part)
            return (said[1], said[0]) if turned else said
    bare = [[w for w in each.words if w not in _ALL and w not in _PART] for each in (one, other)]
    if in_place and bare[0] == bare[1] and bool(mine[1]) != bool(theirs[1]):
        return " ".join(sorted(mine[1])), " ".join(sorted(theirs[1]))
    return None
