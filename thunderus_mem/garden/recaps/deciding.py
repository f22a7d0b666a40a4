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
_LEADING = re.compile(r"[ :,]*(?:to|on|for|that|in favou?r of)? *", re.IGNORECASE)
_WORD = re.compile(r"[\w'’-]+")


class Decided(NamedTuple):
    """A sentence that tells of a decision. ``reason`` is the part of it that says why, or else the sentence
    after it that does; "" when none is given. ``context`` is the sentence before, ``subject`` what was
    decided, in few words."""

    sentence: str
    reason: str
    context: str
    subject: str

    @property
    def whole(self) -> str:
        """The sentence, with its reason when that is another one."""
        return self.sentence if self.reason in self.sentence else f"{self.sentence} {self.reason}"


def decisions_in(text: str, keywords: Sequence[str]) -> Iterator[Decided]:
    """The decisions that a text tells of: sentences with a keyword said of somebody, not asked, not denied.

    Code, quotations and what is longer than a page are passed over.
    """
    sentences = list(_sentences(text[:_LONGEST_TEXT]))
    for at, sentence in enumerate(sentences):
        keyword = _deciding(sentence, keywords)
        if not keyword:
            continue
        following = sentences[at + 1] if at + 1 < len(sentences) else ""
        within = _REASON.search(sentence)
        reason = sentence[within.start() :] if within else ""
        if within is None and _REASON_FIRST.match(following):
            reason = following
        core = sentence[: within.start()] if within is not None else sentence
        yield Decided(sentence, reason, sentences[at - 1] if at else "", _subject(core, keyword))


def _subject(core: str, keyword: str) -> str:
    """What was decided, without who did and how it was called; all of it when little is left then."""
    core = core.strip(" ,;:.-")
    after = core.lower().partition(keyword.lower())[2]
    left = _LEADING.sub("", core[len(core) - len(after) :], count=1) if after else ""
    chosen = left if len(left.split()) > 1 else core
    return chosen[:1].upper() + chosen[1:]


def _sentences(text: str) -> Iterator[str]:
    fenced = False
    for line in text.splitlines():
        if line.lstrip().startswith(("```", "~~~")):
            fenced = not fenced
        elif not fenced and not line.lstrip().startswith((">", "|", "$ ")) and not line.startswith("    "):
            for piece in _SENTENCE.split(_MARK.sub("", line)):
                if piece.strip():
                    yield " ".join(piece.split())


def _deciding(sentence: str, keywords: Sequence[str]) -> str:
    """The keyword by which the sentence tells of a decision; "" when it tells of none."""
    words = _WORD.findall(sentence.lower().replace("’", "'"))
    if not len(words) >= _SHORTEST or len(sentence) > _LONGEST or sentence.endswith("?"):
        return ""
    for keyword in keywords:
        wanted = _WORD.findall(keyword.lower())
        for at in range(len(words) - len(wanted) + 1) if wanted else ():
            if words[at : at + len(wanted)] != wanted:
                continue
            before = words[max(0, at - 2) : at]
            if (not before or not _BEFORE.isdisjoint(before)) and not _UNDECIDED.search(" ".join(words[:at])):
                return keyword
    return ""
