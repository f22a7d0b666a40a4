"""Detect prompt injection: text written to manipulate the agent that reads it. Pure.

The context decides. Code and quotations are examples and never count. In text that a rendered page hides
(comments, hidden elements, texts of images, titles of links), addressing an agent is enough. In plain text
one instruction or command is enough; of weaker signs it takes a related pair in one paragraph. The signs are
in `injection_rules`.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from functools import cache, lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, Final, NamedTuple

from thunderus_mem.document.injection_rules import COMMANDS, FORGED, HIDDEN, ORDERS, PAIRS, WEAK, Sign
from thunderus_mem.document.markdown import scan, suppressions

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

RULE: Final = "TM404"
"""The lint rule that reports injections; suppression comments name it."""

_STRONG: Final = (*ORDERS, *COMMANDS)
_SIGNS: Final = (*_STRONG, *HIDDEN, *WEAK)
_NEEDED: Final = frozenset().union(*(group for sign in _SIGNS for group in sign.needs))
_DEEDS: Final = frozenset(deed for deeds in PAIRS.values() for deed in deeds) - PAIRS.keys()
_FIRST: Final = frozenset().union(
    *(sign.needs[0] for sign in (*_STRONG, *WEAK) if sign.message not in _DEEDS)
)
_PAIRED: Final = tuple((demand, deed) for demand, deeds in PAIRS.items() for deed in deeds)
_LONGEST: Final = 2_000
_SEPARATE: Final = bytes(
    ord(chr(code).lower()) if code < 128 and chr(code).isalnum() else 10 if code == 10 else 32
    for code in range(256)
)
_PLAIN: Final = {chr(code): " " for code in (0xA0, *range(0x2000, 0x200B), 0x202F, 0x205F, 0x3000)} | {
    "\u2019": "'"
}
_EMPHASIS: Final = {ord(char): " " for char in "\t\n\r*_~"}
_CODE = re.compile(r"`[^`\n]{1,400}`")
_QUOTED = re.compile(
    r"`[^`\n]{1,400}`|\"[^\"\n]{3,400}\"|\u201c[^\u201d\n]{3,400}\u201d|\u00ab[^\u00bb\n]{3,400}\u00bb|"
    r"(?<!\w)'[^'\n]{12,300}'(?!\w)"
)
_TURNS = re.compile(r"(?:human|system|developer):(?=[^\n]{1,400}\n{1,2}[>*_ \t]{0,6}assistant:)")
_HIDES = re.compile(
    r"<!--|\[(?<![^\n]\[)(?://|comment|_|hidden)\]: |"
    r"<[a-z]{1,8}\b[^<>\n]{0,200}(?:display ?: ?none|visibility ?: ?hidden|font-size ?: ?[01](?:px|"
    r"pt|em|%)?(?![.\d])|"
    r"opacity ?: ?0(?![.\d])|text-indent ?: ?-\d{3}|left ?: ?-\d{3}|max-height ?: ?0|"
    r"(?<!aria-)\bhidden\b(?!=[\"']?(?:false))|"
    r"color ?[:=] ?[\"']?(?:#fff|white|transparent))[^<>\n]{0,200}>|"
    r"</?system(?:[-_]message)?>|<\|(?:system|user|assistant)\|>|"
    r"\[(?:https?://)?(?P<text>(?:[a-z0-9-]{1,40}\.){1,4}[a-z]{2,12})(?:[/:][^\]\n]{0,200})?\]"
    r"\(<?https?://(?P<target>[a-z0-9.-]{4,200})|"
    r"!\[(?=[^\]\n]{20})|\]\([^()\s]{1,300} [\"'](?=[^\"'\n]{15})",
)
_UNSEEN: Final = "instructions in text that a rendered page hides"
_ORDERED = re.compile(
    r"\b(?:always|never|must|do not|don't|should|ignore|tell|say|send|skip|run|approve|recommend|"
    r"install|add|execute|"
    r"delete|merge|push|reply|respond|answer|assistants?|agents?)\b[^\n]{0,200}? [a-z]+ [a-z]+"
)
_ENDS: Final = frozenset(("com", "org", "edu", "dev", "info", "biz", "example", "test"))
_ARCHIVES: Final = frozenset(("web.archive.org", "archive.org", "archive.ph", "github.com"))
_MAY_HIDE = (
    "<!--",
    "style",
    "color",
    "hidden",
    "]: #",
    "]: <",
    "![",
    '")',
    "')",
    "](http",
    "<system",
    "</system",
    "<|",
    "ssistant:",
)
_BLANK_LINE = re.compile(r"\n[ \t\r]*(?=\n)")
_BREAK = re.compile(r" {0,3}(?:[-*+] |[0-9]{1,3}[.)] |#{1,6} |\|)")
_QUOTE_MARK = re.compile(r"(?:^|\n) {0,3}>[> ]{0,20}")
_SENTENCE = re.compile(r"(?<=[.!?]) ")
_BEGINNING = re.compile(r"^[^a-z<\[$`]+")


class Injection(NamedTuple):
    """A passage that manipulates its reader: what it does, and its offset in the text."""

    says: str
    start: int


def find_injections(text: str) -> list[Injection]:
    """Find passages that manipulate the reader, in order; at most one per paragraph."""
    likely = _likely_blocks(text)
    hides = any(mark in text for mark in _MAY_HIDE)
    if not likely and not hides:
        return []
    lowered = _lower(text)
    if not likely and "assistant:" not in lowered and not _HIDES.search(lowered):
        return []
    shown = _without_code(lowered)
    found = list(_in_hidden(shown)) if hides else []
    passages = sorted(one.start for one in found)
    for first, after in _ranges(lowered, likely):
        for start, paragraph in _paragraphs_with(shown[first:after], first):
            one = _find_in_paragraph(paragraph)
            known = bisect_left(passages, start) < bisect_left(passages, start + len(paragraph))
            if one is not None and not known:
                found.append(Injection(one.says, start + one.start))
    return sorted(found, key=lambda one: one.start)


def _likely_blocks(text: str) -> list[int]:
    """The numbers of the blocks, between empty lines, that may contain a sign."""
    blocks = text.encode("utf-8", "surrogatepass").translate(_SEPARATE).split(b"\n\n")
    first = _FIRST.isdisjoint
    some = [number for number, block in enumerate(blocks) if not first(block.split())]
    return [number for number in some if _likely(_NEEDED.intersection(blocks[number].split())).plain]


def _ranges(text: str, numbers: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Start and end of the blocks with these numbers."""
    at = 0
    starts = [0]
    while numbers and (at := text.find("\n\n", at)) >= 0:
        at += 2
        starts.append(at)
    starts.append(len(text) + 2)
    for number in numbers:
        yield starts[number], starts[number + 1] - 2


class FlaggedLine(NamedTuple):
    """The line of an injection, from 1 (0: before the text), and what it does."""

    line: int
    says: str


def flagged_lines(text: str, start: int = 0, before: Sequence[str] = ()) -> list[FlaggedLine]:
    """The injections that no suppression comment in a file answers: in its text from an offset on, and in
    texts shown ``before`` it."""
    shown = "".join([f"{one}\n\n" for one in before])
    found = find_injections(shown + text[start:])
    if not found:
        return []
    answered = {one.line for one in suppressions(text) if RULE in one.codes}
    shift = start - len(shown)
    placed = [
        FlaggedLine(text.count("\n", 0, one.start + shift) + 1 if one.start >= len(shown) else 0, one.says)
        for one in found
    ]
    return [one for one in placed if answered.isdisjoint((0, one.line))]


def _lower(text: str) -> str:
    """Lower-case text with ordinary spaces; the length stays the same."""
    lowered = text.lower()
    if text.isascii():
        return lowered
    if len(lowered) != len(text):
        lowered = "".join(char.lower() if char.isascii() else char for char in text)
    for char, plain in _PLAIN.items():
        if char in lowered:
            lowered = lowered.replace(char, plain)
    return lowered


def _words(text: str) -> frozenset[bytes]:
    """The words of a text that any sign needs."""
    return _NEEDED.intersection(text.encode("utf-8", "surrogatepass").translate(_SEPARATE).split())


class _Likely(NamedTuple):
    """Signs whose required words are in a text; weak ones only if they form a pair."""

    strong: list[Sign]
    hidden: list[Sign]
    weak: list[Sign]

    @property
    def plain(self) -> bool:
        """Whether text that a rendered page shows may contain one."""
        return bool(self.strong or self.weak)


_NONE: Final = _Likely([], [], [])


def _likely(words: frozenset[bytes]) -> _Likely:
    """The signs whose required words are in a text, in order; looked up by their first group of words."""
    by_first = _by_first()
    places = {place for word in words & by_first.keys() for place in by_first[word]}
    chosen = [place for place in sorted(places) if not any(map(words.isdisjoint, _SIGNS[place].needs))]
    if not chosen:
        return _NONE
    in_plain, at_all = len(_STRONG), len(_STRONG) + len(HIDDEN)
    return _Likely(
        [_SIGNS[place] for place in chosen if place < in_plain],
        [_SIGNS[place] for place in chosen if in_plain <= place < at_all],
        _that_pair([_SIGNS[place] for place in chosen if place >= at_all]),
    )


@cache
def _by_first() -> dict[bytes, list[int]]:
    found: dict[bytes, list[int]] = {}
    for place, sign in enumerate(_SIGNS):
        for word in sign.needs[0]:
            found.setdefault(word, []).append(place)
    return found


def _that_pair(signs: list[Sign]) -> list[Sign]:
    """The weak signs that form a pair."""
    if len(signs) < 2:
        return []
    names = {sign.message for sign in signs}
    paired = {name for pair in _PAIRED if names.issuperset(pair) for name in pair}
    return [sign for sign in signs if sign.message in paired]


def _without_code(text: str) -> str:
    """Blank out fenced code; offsets stay the same."""
    if "```" not in text and "~~~" not in text:
        return text
    lines, _, hidden = scan(text)
    kept = text.split("\n")
    for start, end in hidden:
        if lines[start].lstrip(" \t")[:1] in ("`", "~"):
            kept[start:end] = [" " * len(line) for line in kept[start:end]]
    return "\n".join(kept)


def _paragraphs_with(text: str, offset: int) -> Iterator[tuple[int, str]]:
    """Offset and text of the paragraphs of each block that may contain a sign."""
    edges = [0, *(match.end() for match in _BLANK_LINE.finditer(text)), len(text)]
    for start, end in pairwise(edges):
        # Signs in a paragraph are also in its block.
        block = text[start:end]
        signs = _likely(_words(block))
        for at, paragraph in _paragraphs(block) if signs.plain else ():
            yield offset + start + at, paragraph


def _paragraphs(block: str) -> Iterator[tuple[int, str]]:
    """The paragraphs of a block without blank lines: headings, list items, table rows and text between."""
    at = start = 0
    held: list[str] = []
    for line in block.split("\n"):
        if held and (_BREAK.match(line) or held[-1].startswith("#")):
            yield start, "\n".join(held)
            held = []
        start = start if held else at
        held.append(line)
        at += len(line) + 1
    yield start, "\n".join(held)


def _find_in_paragraph(paragraph: str, *, unseen: bool = False) -> Injection | None:
    """Find a strong sign or a pair of weak ones in a paragraph.

    ``unseen``: a rendered page hides the paragraph, so the signs for hidden text count too.
    """
    likely = _likely(_words(paragraph))
    for sign in (*likely.strong, *likely.hidden) if unseen else likely.strong:
        start = _find(paragraph, sign)
        if start is not None:
            return Injection(sign.message, start)
    found = {sign.message: start for sign in likely.weak if (start := _find(paragraph, sign)) is not None}
    for demand, deeds in PAIRS.items():
        for deed in deeds:
            if demand in found and deed in found:
                return Injection(f"combines {demand} with {deed}", min(found[demand], found[deed]))
    return None


def _find(paragraph: str, sign: Sign) -> int | None:
    """The offset at which the parts of a sign follow each other in one sentence (raw signs: one line)."""
    for piece in _lines(paragraph) if sign.raw else _sentences(paragraph):
        at, said = 0, ""
        for part in sign.parts:
            match = _compiled(part).search(piece, at)
            if match is None:
                break
            said = said or match.group()
            at = match.end()
        else:
            return max(paragraph.find(_BEGINNING.sub("", said).partition(" ")[0]), 0)
    return None


def _lines(paragraph: str) -> Iterator[str]:
    """Lines with inline code blanked out; quotes stay, because a quoted command still runs."""
    for line in _CODE.sub(_blank, paragraph).split("\n"):
        yield line[:_LONGEST]


@lru_cache(maxsize=8)
def _sentences(paragraph: str) -> tuple[str, ...]:
    """Sentences without emphasis markup, each on one line, with quotations blanked out."""
    said = _QUOTE_MARK.sub("\n", paragraph).translate(_EMPHASIS)
    plain = _QUOTED.sub(_blank, " ".join(said.split()))
    return tuple([piece[:_LONGEST] for piece in _SENTENCE.split(plain)])


def _blank(found: re.Match[str]) -> str:
    return "\0" * len(found[0])


def _in_hidden(text: str) -> Iterator[Injection]:
    """Injections in text that a rendered page hides, except our own comments and those in inline code; and
    marks that are injections themselves."""
    for turn in _TURNS.finditer(text) if "assistant:" in text else ():
        if _begins_line(text, turn.start()):
            yield Injection(FORGED, turn.start())
    match = _HIDES.search(text)
    while match is not None:
        line = text.rfind("\n", max(match.start() - _LONGEST, 0), match.start()) + 1
        end = match.end()
        if text.count("`", line, match.start()) % 2 == 0:
            says = _mark(match)
            if says:
                yield Injection(says, match.start())
            closing = "" if says else _closing(match[0])
            if closing:
                found = text.find(closing, match.end(), match.end() + _LONGEST)
                end = found if found >= 0 else match.end() + _LONGEST
                yield from _in_unseen(match, text[match.end() : end])
        match = _HIDES.search(text, end)


def _in_unseen(opening: re.Match[str], inner: str) -> Iterator[Injection]:
    """The injection in one hidden text; in an element that is hidden on purpose any order is one."""
    if inner.lstrip().startswith("thunderus-mem:"):
        return
    one = _find_in_paragraph(inner, unseen=True)
    if one is not None:
        yield Injection(one.says, opening.end() + one.start)
    elif opening[0][0] == "<" and opening[0] != "<!--" and _ORDERED.search(inner):
        yield Injection(_UNSEEN, opening.end())


def _mark(match: re.Match[str]) -> str:
    """What a mark does on its own: a forged turn at the beginning of a line, a link to another host."""
    if match["target"]:
        shown, real = (match[name].removeprefix("www.") for name in ("text", "target"))
        return "" if _same_host(shown, real) else "shows a link to another host than its target"
    forged = match[0].startswith(("<system", "</system", "<|")) and _begins_line(match.string, match.start())
    return FORGED if forged else ""


def _begins_line(text: str, at: int) -> bool:
    line = text.rfind("\n", max(at - _LONGEST, 0), at) + 1
    return not text[line:at].strip(" \t>*_-#")


def _same_host(shown: str, real: str) -> bool:
    ends = shown.rpartition(".")[2]
    return ends not in _ENDS or real in _ARCHIVES or shown.split(".")[-2:] == real.rstrip(".").split(".")[-2:]


def _closing(opening: str) -> str:
    """What ends a hidden text: of a comment, of an element, of the text of an image, of a link or a "
    "line."""
    by_begin = {"<!": "-->", "![": "]", "</": "", "<|": ""}
    if opening[-1] in "\"'" and opening[0] == "]":
        return opening[-1]
    if opening[:2] in by_begin:
        return by_begin[opening[:2]]
    if "](" in opening:
        return ""
    return "</" if opening[0] == "<" else "\n"


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)
