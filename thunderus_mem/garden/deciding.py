"""Sentences that tell of a decision, by keywords, with the reason given beside them. Pure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = ["Decided", "decisions_in"]

_LONGEST_TEXT: Final = 20_000
_SHORTEST: Final = 4
_LONGEST: Final = 400
_SENTENCE = re.compile(r"(?<=[.!?])[ \t]+(?=[A-Z`\"(])|\n+")
_MARK = re.compile(r"^[ \t]*(?:[-*+]|\d{1,3}[.)]|#{1,6})[ \t]+")
_BEFORE: Final = frozenset(
    (
        *("i", "we", "they", "team", "i've", "we've", "have", "has", "had", "been", "was", "were", "is"),
        *("are", "finally", "then", "and", "so", "also", "therefore"),
    )
)
_UNDECIDED = re.compile(
    r"\b(?:not|never|if|whether|should|could|would|unless|until|once|when|before|cannot)\b|n't\b|\bto be\b"
)
_REASON = re.compile(
    r"\b(?:because|since|so that|so as to|due to|in order to|to avoid|to keep|as it|as they|as this|for)\b"
)
_REASON_FIRST = re.compile(r"(?:because|since|this |that |it |the reason|reason:|otherwise)", re.IGNORECASE)
_WORD = re.compile(r"[\w'’-]+")


class Decided(NamedTuple):
    """A sentence that tells of a decision; the reason may stand in it (``reason`` is "" then or when none is
    given), and ``grounds`` says whether there is one at all. ``context`` is the sentence before."""

    sentence: str
    reason: str
    context: str
    grounds: bool


def decisions_in(text: str, keywords: Sequence[str]) -> Iterator[Decided]:
    """The decisions that a text tells of: sentences with a keyword said of somebody, not asked, not denied.

    Code, quotations and what is longer than a page are passed over.
    """
    sentences = list(_sentences(text[:_LONGEST_TEXT]))
    for at, sentence in enumerate(sentences):
        if not _decides(sentence, keywords):
            continue
        following = sentences[at + 1] if at + 1 < len(sentences) else ""
        within = _REASON.search(sentence.lower()) is not None
        after = following if not within and _REASON_FIRST.match(following) else ""
        yield Decided(sentence, after, sentences[at - 1] if at else "", within or bool(after))


def _sentences(text: str) -> Iterator[str]:
    fenced = False
    for line in text.splitlines():
        if line.lstrip().startswith(("```", "~~~")):
            fenced = not fenced
        elif not fenced and not line.lstrip().startswith((">", "|", "$ ")) and not line.startswith("    "):
            for piece in _SENTENCE.split(_MARK.sub("", line)):
                if piece.strip():
                    yield " ".join(piece.split())


def _decides(sentence: str, keywords: Sequence[str]) -> bool:
    words = _WORD.findall(sentence.lower().replace("’", "'"))
    if not len(words) >= _SHORTEST or len(sentence) > _LONGEST or sentence.endswith("?"):
        return False
    for keyword in keywords:
        wanted = _WORD.findall(keyword.lower())
        for at in range(len(words) - len(wanted) + 1) if wanted else ():
            if words[at : at + len(wanted)] != wanted:
                continue
            before = words[max(0, at - 2) : at]
            if (not before or not _BEFORE.isdisjoint(before)) and not _UNDECIDED.search(" ".join(words[:at])):
                return True
    return False
