"""Find orders to an agent in asides: what a text says beside the prose that a rendered page shows. Pure.

A comment in any syntax, the value of an attribute, a key or a string, a hidden or unknown element, the title
of a link, a line of code. No markup is parsed: delimiters cut a block into pieces, and the delimiter before
a piece says what kind of aside it is in. One to four neighbouring pieces are judged by the sum of the
weights in ``aside_weights.txt`` (`benchmarks/fit_asides.py`): their kinds, their words and the classes of
these (`orders`), whether they call an agent, and how often the rest of the text names agents, for there it
is no surprise.
"""

from __future__ import annotations

import os
import re
from bisect import bisect_left, bisect_right
from functools import cache, lru_cache
from math import log2
from typing import TYPE_CHECKING, Final

from thunderus_mem.safety.literals import Literals, plain
from thunderus_mem.safety.orders import Sentence, length_of, score, words_of
from thunderus_mem.startup import NamedTuple, lazy_pattern

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

WEIGHTS: Final = os.path.join(os.path.dirname(__file__), "aside_weights.txt")
MOST_COMPANY: Final = 12
"""A text that names agents more often is about agents; its asides are not judged."""
_MOST: Final = 4
_LONGEST: Final = 900
_LONGEST_PIECE: Final = 600
_LONGEST_BLOCK: Final = 3_000
_FEWEST_WORDS: Final = 5
_SHORT_LABEL: Final = 8
_FIRST: Final = 6
_REACH: Final = 1_500

_SPLIT: Final = lazy_pattern(
    # Most characters begin no delimiter: they fail at once.
    r"(?=[<>\-*%#}?\]/{!\"'h\[\u201c\u201d\u300c\u300d`|():=\uff1a\n.;\u3002\uff01\uff1f])(?:"
    r"(?P<close></[\w:.-]{0,60}>?|--!?>|\*/\}?|[%#-]\}\}?|\}\}|\?>|\]\]>)"
    r"|(?P<comment><!--|\{?/\*+|\{#|\{\{[-!#]?|\{%-?|<\?|<!\[CDATA\[|<!(?=[A-Z])|%%|\"\"\"|'''|<%)"
    r"|(?P<target>\]\((?!data:text)[^\s()]*|https?://[^\s\"'<>)\]]+)"
    r"|(?P<link>!\[|\]\(|\]: |\[\^)"
    r"|(?P<tag><(?=[A-Za-z\uff5c|]))|(?P<gt>/?>)"
    r"|(?P<quote>[\"\u201c\u201d\u300c\u300d`]|(?<!\w)'|'(?!\w))"
    r"|(?P<bracket>[\[\]{}|()])"
    r"|(?P<label>[:=]{1,3}(?=[\s\"'`*{\[]|$)|(?<=\w)[:=](?=\w{3})|\uff1a)"
    r"|(?P<line>\n[ \t>]*(?:(?P<lead>//[/!]?|[#]{1,6}[.:!|']?|--|;{1,3}|%{1,2}|\*|\.\.|REM|=)(?=[ \t\n]|$)"
    r"|(?P<item>[+-])(?=[A-Za-z ]))?)"
    r"|(?P<stop>[.!?;](?=\s)|[\u3002\uff01\uff1f]))"
)
"""Delimiters by their kind."""
_COMMENTS: Final = frozenset(("//", ";;", "..", "%", "%%", "--"))
"""What begins a comment in text that is not known to be code."""
_KNOWN: Final = words_of(
    "a abbr b big blockquote br button caption center cite code col dd del dfn div dl dt em "
    "figcaption figure font footer h1 h2 h3 h4 h5 h6 header hr i img ins kbd label li main mark nav "
    "ol p picture pre q s samp section article aside small source span strike strong sub sup table "
    "tbody td tfoot th thead tr tt u ul var video http https"
)
"""Elements that show their content."""
_FENCE: Final = lazy_pattern(r"^[ \t>]{0,12}(?P<mark>`{3,}|~{3,})(?P<info>[^\n]*)$", re.MULTILINE)
_HEADER: Final = lazy_pattern(r"^---\n(?=[\w\"'@.-]{1,60} ?:)[^\0]{0,4000}?\n---$", re.MULTILINE)
"""Frontmatter, of the text or quoted in it."""
_NAME: Final = lazy_pattern(r"[A-Za-z][\w:.-]{0,60}")
_HIDES: Final = lazy_pattern(
    r"display ?: ?none|visibility ?: ?hidden|font-size ?: ?0|opacity ?: ?0|(?:left|top|indent) ?: ?-\d\d"
    r"|(?:height|width) ?: ?[01](?:px)?\b|(?<!-)\bhidden\b|color ?[:=] ?[\"']?(?:#f|white|transparent)"
    r"|sr-only|visually-hidden|d-none|invisible|clip ?:",
    re.IGNORECASE,
)
_HUMP: Final = lazy_pattern(r"(?<=[a-z])(?=[A-Z])|_")
_WORD: Final = lazy_pattern(r"(?<![\w/.@-])[^\W\d_]{2,}(?![\w/@(=-])")
_UNSPACED: Final = lazy_pattern("[\u0e00-\u0eff\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7a3]")
_AGENTS: Final = Literals(
    (word.replace("_", " ").encode(), 0)
    for word in sorted(
        words_of(
            "agent assistant asistent assistent chatbot copilot llm _ai_ _ais_ _bot_ _bots_ "
            "_claude_ chatgpt _gpt_ _gemini_ _codex_ _ki_ _ia_ _model_ _models_ _modell _modelo "
            "_modele_ _modelu _modello_ _robot _automated_ _machines_ _machine_readers asystent "
            "_agen_ language_model sprachmodel sprogmodel taalmodel kielimalli _botti _ajan"
        )
    )
)
"""What names an agent: words and parts of words, with ``_`` for the end of a word."""
_AGENTS_IN_SCRIPTS: Final = Literals(
    (word.replace("_", " ").encode(), 0)
    for word in sorted(
        words_of(
            "агент ассистент помічник помощник модел бот ші هوش "
            "एआई 智能 助手 模型 机器人 人工智能 エージェント アシスタント モデル ボット 에이전트 모델 "
            "어시스턴트 الذكاء المساعد الوكيل βοηθ πράκτορ trợ_lý "
            "tác_nhân tekoäly ügynök språkmodel"
        )
    )
)
"""The same of words with letters outside ASCII, with ``_`` for a space."""


class Piece(NamedTuple):
    """A piece of text between two delimiters: where it is, what it is in, and the delimiters around it."""

    start: int
    end: int
    kind: str
    before: str
    after: str


class Aside(NamedTuple):
    """Neighbouring pieces: where they are, their features, and what they say."""

    start: int
    end: int
    features: dict[str, float]
    said: tuple[Sentence, ...]


class _Context:
    """What a piece is in: changed by each delimiter."""

    def __init__(self, text: str, inside: str) -> None:
        self.text = text
        self.inside = self.kind = inside
        self.before = "line"
        self.lead: str | None = None
        self.tag = 0
        self.shown = True

    def passes(self, mark: re.Match[str]) -> bool:
        """Pass a delimiter; whether pieces after it do not belong to those before it."""
        self.before = name = delimiter(mark)
        if name in ("line", "leader"):
            return self._line(mark)
        if name == "tag":
            found = _NAME.match(self.text, mark.end())
            self.shown = found is not None and found[0].lower() in _KNOWN
            self.tag, self.kind = mark.end(), "attribute"
        elif name == "gt" and self.tag:
            hides = _HIDES.search(self.text, self.tag, min(mark.start(), self.tag + _REACH)) is not None
            self.kind = "hidden" if hides else self.inside if self.shown else "element"
            self.tag = 0
        elif name in ("comment", "link"):
            self.kind = name
        elif name == "target":
            self.kind = "link" if mark[0][0] == "]" else self.kind
        elif name == "close":
            self.kind, self.tag = self._closed(mark), 0
        elif name == "bracket":
            self._bracket(mark[0])
        return name == "close"

    def _closed(self, mark: re.Match[str]) -> str:
        """What follows the end of an element, a comment or the condition of a template."""
        begun = self.text.rfind("{", max(mark.start() - _REACH // 4, 0), mark.start())
        conditional = mark[0][-1] == "}" and "if" in self.text[begun : begun + 6] if begun >= 0 else False
        return "element" if conditional else self.inside

    def _bracket(self, mark: str) -> None:
        if mark in "[{" and self.kind == "prose":
            self.kind = "bracket"
        elif mark in "]})" and self.kind in ("link", "bracket"):
            self.kind = self.inside
        elif mark == "|" and self.kind == "prose":
            self.kind = "cell"

    def _line(self, mark: re.Match[str]) -> bool:
        lead = mark["lead"] or mark["item"] or ""
        lead = "#" if lead[:1] == "#" else lead
        changed = self.lead != lead and bool(lead or self.lead)
        self.lead = lead
        if lead and (self.inside != "prose" or lead[:2] in _COMMENTS):
            self.kind = "leader"
        elif self.kind not in ("comment", "hidden", "element", "attribute"):
            self.kind = self.inside
        return changed


def delimiter(mark: re.Match[str]) -> str:
    """The kind of a delimiter: the name of its group, or "leader" for a line that begins with a mark."""
    name = "line" if mark["line"] is not None else mark.lastgroup or ""
    return "leader" if name == "line" and (mark["lead"] or mark["item"]) else name


def pieces(text: str, start: int, end: int, inside: str = "prose") -> Iterator[list[Piece]]:
    """The pieces of a block, in runs of those that may belong together."""
    run: list[Piece] = []
    context = _Context(text, inside)
    at = start
    first = text.rfind("\n", 0, start)  # the mark at the beginning of the first line, too
    begin = first if first >= 0 and not text[first:start].strip() else start
    for mark in _SPLIT.finditer(text, begin, end):
        if mark.start() > at and text[at : mark.start()].strip():
            run.append(Piece(at, mark.start(), context.kind, context.before, delimiter(mark)))
        if context.passes(mark) and run:
            yield run
            run = []
        at = max(mark.end(), start)
    if end > at and text[at:end].strip():
        run.append(Piece(at, end, context.kind, context.before, "end"))
    if run:
        yield run


def mentions(text: str) -> list[int]:
    """Where a text names agents, at least as often as is counted; a user agent is a program."""
    known = plain(text)
    found = [at for _, at, _ in _AGENTS.find(known) if not known.endswith((b"user ", b"user"), 0, at)]
    if text.isascii() or len(found) > MOST_COMPANY:
        return found
    data = text.lower().encode("utf-8", "surrogatepass")
    length = at = 0
    for _, start, _ in _AGENTS_IN_SCRIPTS.find(data)[: MOST_COMPANY + 1]:
        length += len(data[at:start].decode("utf-8", "ignore"))
        found.append(length)
        at = start
    return sorted(found)


def fences(text: str) -> list[tuple[int, int]]:
    """Where fenced code begins and ends."""
    found: list[tuple[int, int]] = []
    begun: re.Match[str] | None = None
    for one in _FENCE.finditer(text) if "```" in text or "~~~" in text else ():
        if begun is None:
            begun = one
        elif one["mark"].startswith(begun["mark"]) and not one["info"].strip():
            found.append((begun.start(), one.end()))
            begun = None
    return [*found, (begun.start(), len(text))] if begun is not None else found


def asides(text: str, spots: Sequence[int]) -> Iterator[Aside]:
    """The asides of a text that may address an agent, which is named at these places."""
    if len(spots) > MOST_COMPANY or not spots:
        return
    code = fences(text)
    headers = [one.span() for one in _HEADER.finditer(text)]
    edges = sorted({edge for place in (*code, *headers) for edge in place})
    end = -1
    for spot in spots:
        if spot < end:
            continue
        start, end = _block(text, spot, edges)
        company = len(spots) - (bisect_left(spots, end) - bisect_left(spots, start))
        inside = _inside(text, start, code, headers)
        for run in pieces(text, start, end, inside):
            for near in _near(run, spots):
                yield from _windows(text, near, company)


def _near(run: Sequence[Piece], spots: Sequence[int]) -> Iterator[Sequence[Piece]]:
    """The parts of a run that may be in a window with a piece that names an agent."""
    begin = end = 0
    for at, one in enumerate(run):
        if bisect_left(spots, one.start) < bisect_right(spots, one.end):
            if at + 1 - _MOST > end and end:
                yield run[begin:end]
            begin = begin if end and at + 1 - _MOST <= end else max(at + 1 - _MOST, 0)
            end = at + _MOST
    if end:
        yield run[begin:end]


def _block(text: str, spot: int, edges: Sequence[int]) -> tuple[int, int]:
    """The block between empty lines and edges of code at a place."""
    at = bisect_right(edges, spot)
    least = max(edges[at - 1] if at else 0, spot - _LONGEST_BLOCK // 2)
    most = min(edges[at] if at < len(edges) else len(text), spot + _LONGEST_BLOCK // 2)
    before, after = text.rfind("\n\n", least, spot), text.find("\n\n", spot, most)
    return before + 2 if before >= 0 else least, after if after >= 0 else most


def _inside(text: str, at: int, code: Sequence[tuple[int, int]], headers: Sequence[tuple[int, int]]) -> str:
    """What the beginning of a block is in."""
    for places, kind in ((code, "code"), (headers, "front")):
        place = bisect_right(places, (at, len(text))) - 1
        if place >= 0 and at < places[place][1]:
            return kind
    first = max(at - _REACH, 0)
    for begin, end, kind in (("<!--", "-->", "comment"), ("<details", "</details", "element")):
        begun = text.rfind(begin, first, at)
        if begun >= 0 and text.find(end, begun, at) < 0:
            return kind
    if text.startswith(("    ", "\t"), at):
        return "code"
    tag = text.rfind("<", max(at - _REACH // 4, 0), at)
    if tag >= 0 and text[tag + 1 : tag + 2].isalpha() and _HIDES.search(text, tag, at):
        return "hidden"
    return "prose"


class _Said(NamedTuple):
    """What a piece says: its sentence, the classes of its words, the number of words, and its features."""

    sentence: Sentence
    classes: frozenset[str]
    words: int
    features: frozenset[str]


@lru_cache(maxsize=256)
def _said(raw: str) -> _Said:
    spaced = _HUMP.sub(" ", raw)
    sentence = Sentence(" ".join(spaced.lower().replace("\u2019", "'").split()), 0)
    classes = frozenset([name for name in sentence.simple if name[0] == "+"])
    words = len(_WORD.findall(spaced)) + len(_UNSPACED.findall(spaced)) // 2
    found = {*classes}
    for at, names in enumerate(sentence.classes[1:_FIRST], 1):
        if "+agent" in names:
            found.add("agent first")
            if sentence.words[at + 1 : at + 2] in ([","], [":"]):
                found.add("agent called")
    return _Said(sentence, classes, words, frozenset(found))


def _windows(text: str, run: Sequence[Piece], company: int) -> Iterator[Aside]:
    """Every one to four neighbouring pieces of a run that are words."""
    said = [_said(text[one.start : min(one.end, one.start + _LONGEST_PIECE)]) for one in run]
    labels = [_label(run, said, at) for at in range(len(run))]
    for first in range(len(run)):
        for last in range(first, min(first + _MOST, len(run))):
            window = said[first : last + 1]
            length = sum([one.sentence.length for one in window])
            if length > _LONGEST:
                break
            words = sum([one.words for one in window])
            kinds = {f"kind {one.kind}" for one in run[first : last + 1]}
            if (
                words < _FEWEST_WORDS
                or kinds == {"kind prose"}
                or not any("+agent" in one.classes for one in window)
            ):
                continue
            found = set().union(*[one.features for one in window], *labels[first:last], kinds)
            sentences = tuple([one.sentence for one in window])
            sum_of = score(sentences, length)
            tokens = sum([len(one.sentence.words) - 1 for one in window])
            yield Aside(
                run[first].start,
                run[last].end,
                {
                    **dict.fromkeys(found, 1.0),
                    "prose": sum_of,
                    "prose above": max(sum_of, 0.0),
                    "length": length_of(length),
                    "company": log2(1 + company),
                    "words": min(words, 30) / 10,
                    "share of words": words / max(tokens, 1),
                },
                sentences,
            )


def _label(run: Sequence[Piece], said: Sequence[_Said], at: int) -> frozenset[str]:
    """The features of a piece that is the name of the one after it: of a key, an element or who is called."""
    one = run[at]
    if len(said[at].sentence.words) > _SHORT_LABEL or (
        one.after not in ("label", "gt") and one.before != "tag"
    ):
        return frozenset()
    found = {f"label {name}" for name in said[at].classes}
    if "+agent" in said[at].classes:
        after = said[at + 1] if at + 1 < len(said) and one.after == "label" else None
        if after is not None and after.words >= _FEWEST_WORDS - 1:
            found.add("agent called by label")
            found.update(["agent called at length"] if after.words >= 2 * _FEWEST_WORDS else [])
        found.update(["name of element"] if one.before == "tag" else [])
        found.update(["name of key"] if one.kind in ("code", "front", "attribute") else [])
    return frozenset(found)


class _Weights(NamedTuple):
    """The table of weights: of features, and of words (``!word``)."""

    features: dict[str, float]
    words: dict[str, float]


@cache
def _weights() -> _Weights:
    found = _Weights({}, {})
    with open(WEIGHTS, encoding="utf-8") as file:
        for line in file:
            name, _, weight = line.rstrip("\n").partition("\t")
            table = found.words if name[0] == "!" else found.features
            table[name.removeprefix("!")] = float(weight)
    return found


def _sum_of(one: Aside, weights: _Weights) -> float:
    known = weights.features
    sum_of = sum([known[name] * value for name, value in one.features.items() if name in known])
    words = {word for sentence in one.said for word in weights.words.keys() & sentence.simple}
    return sum_of + sum([weights.words[word] for word in words])


def ordering_asides(text: str, spots: Sequence[int]) -> list[int]:
    """Where asides order something; at most one for each line."""
    weights = _weights()
    found: list[int] = []
    line = -1
    for one in asides(text, spots):
        if one.start < line:
            continue
        if _sum_of(one, weights) > weights.features["(threshold)"]:
            found.append(one.start + len(text[one.start : one.end]) - len(text[one.start : one.end].lstrip()))
            line = text.find("\n", one.end)
            line = line if line >= 0 else len(text)
    return found
