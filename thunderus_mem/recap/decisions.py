"""Sentences that tell of a decision, by keywords, with the reason given beside them. Pure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

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
# "For" tells mostly what a thing is for, and "since" often when: either is a reason by what follows alone.
_FOR = (
    r"for (?:(?:its|their|the sake|fear|lack|want|(?:(?:this|that|these|those|two|three|many) )?reasons?)\b|"
    r"(?:the )?(?:better|best|fewer|less|more|lower|higher|greater|smaller|faster|easier|simpler|cheaper)\b|"
    r"(?:\w+ )?(?:performance|speed|simplicity|safety|security|privacy|consistency|compatibility|"
    r"readability|reliability|portability|maintainability|stability|isolation|clarity|robustness|"
    r"scalability|latency|throughput)(?=[ ]?(?:[.,;:!)]|$|and\b|or\b|reasons?\b)))"
)
_SINCE = (
    r"since (?!then\b|\d|v\d|version\b|release\b|last\b|yesterday\b|today\b|day\b|"
    r"(?:mon|tues|wednes|thurs|fri|satur|sun)day\b|"
    r"(?:january|february|march|april|may|june|july|august|september|october|november|december)\b|"
    r"the (?:last|first|beginning|start|release|upgrade|migration)\b)"
)
_REASON = re.compile(
    r"\b(?:(?:because|so that|so as to|due to|in order to|to avoid|to keep|as it|as they|as this)\b|"
    rf"{_SINCE}|{_FOR})",
    re.IGNORECASE,
)
_REASON_FIRST = re.compile(
    rf"(?:because|{_SINCE}|this |that |it |the reason|reason:|otherwise)", re.IGNORECASE
)
_LEADING = re.compile(r"[ :,]*(?:to|on|for|that|in favou?r of)? *", re.IGNORECASE)
_WORD = re.compile(r"[\w'’-]+")


class DecisionSentence(NamedTuple):
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


def decisions_in(text: str, keywords: Sequence[str]) -> Iterator[DecisionSentence]:
    """The decisions that a text tells of: sentences with a keyword said of somebody, not asked, not denied.

    Code, quotations and what is longer than a page are passed over.
    """
    sentences = list(_sentences(text[:_LONGEST_TEXT]))
    for at, sentence in enumerate(sentences):
        keyword = _deciding(sentence, keywords)
        if not keyword:
            continue
        following = sentences[at + 1] if at + 1 < len(sentences) else ""
        core, reason = _parts(sentence, keyword)
        if not reason and _REASON_FIRST.match(following):
            reason = following
        yield DecisionSentence(sentence, reason, sentences[at - 1] if at else "", _subject(core, keyword))


def _parts(sentence: str, keyword: str) -> tuple[str, str]:
    """What a sentence says without its reason, and the reason: behind what was decided, or before it. What
    follows the keyword at once is the decision: in "decided to keep it small" nothing is a reason."""
    begins = max(sentence.lower().find(keyword.lower()), 0)
    behind = _LEADING.match(sentence, begins + len(keyword))
    word = _WORD.match(sentence, behind.end() if behind else 0)
    within = _REASON.search(sentence, word.end() if word else begins)
    if within is not None:
        return sentence[: within.start()], sentence[within.start() :]
    before = _REASON_FIRST.match(sentence, 0, begins)
    return sentence, sentence[:begins].rpartition(",")[0] if before else ""


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
