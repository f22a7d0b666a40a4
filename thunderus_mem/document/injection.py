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
from typing import TYPE_CHECKING, Final

from thunderus_mem.document.injection_rules import (
    COMMANDS,
    DISTINCTIVE,
    FORGED,
    HIDDEN,
    ORDERS,
    PAIRS,
    WEAK,
    Sign,
)
from thunderus_mem.document.literals import Literals, lower, plain
from thunderus_mem.document.markdown import scan, suppressions
from thunderus_mem.startup import NamedTuple, lazy_pattern

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

RULE: Final = "TM404"
"""The lint rule that reports injections; suppression comments name it."""

_STRONG: Final = (*ORDERS, *COMMANDS)
_PAIRED: Final = tuple((demand, deed) for demand, deeds in PAIRS.items() for deed in deeds)
_TRIED: Final = (*_STRONG, *[sign for sign in WEAK if sign.message in DISTINCTIVE])
_WORDS: Final = Literals(
    [(b" %b " % word, number) for number, sign in enumerate(_TRIED) for word in sorted(sign.needs[0])]
)
_LONGEST: Final = 2_000
_REACH: Final = 450
_PLAIN: Final = {chr(code): " " for code in (0xA0, *range(0x2000, 0x200B), 0x202F, 0x205F, 0x3000)} | {
    "\u2019": "'"
}
_EMPHASIS: Final = {ord(char): " " for char in "\t\n\r*_~"}
_CODE = lazy_pattern(r"`[^`\n]{1,400}`")
_QUOTED = lazy_pattern(
    r"`[^`\n]{1,400}`|\"[^\"\n]{3,400}\"|\u201c[^\u201d\n]{3,400}\u201d|\u00ab[^\u00bb\n]{3,400}\u00bb|"
    r"(?<!\w)'[^'\n]{12,300}'(?!\w)"
)
_TURNS = lazy_pattern(
    r"(?:human|system|developer):(?=[^\n]{1,400}\n{1,2}[>*_ \t]{0,6}assistant:)", re.IGNORECASE
)
_HIDES = lazy_pattern(
    r"<!--|\[(?<![^\n]\[)(?://|comment|_|hidden)\]: |"
    r"<[a-z]{1,8}\b[^<>\n]{0,200}(?:display ?: ?none|visibility ?: ?hidden|font-size ?: ?[01](?:px|"
    r"pt|em|%)?(?![.\d])|"
    r"opacity ?: ?0(?![.\d])|text-indent ?: ?-\d{3}|left ?: ?-\d{3}|max-height ?: ?0|"
    r"(?<!aria-)\bhidden\b(?!=[\"']?(?:false))|"
    r"color ?[:=] ?[\"']?(?:#fff|white|transparent))[^<>\n]{0,200}>|"
    r"(?P<tag></?(?:system[-_](?:prompt|reminder)|function_(?:calls|results)|tool_(?:call|result))>)|"
    r"</?system(?:[-_]message)?>|<\|(?:system|user|assistant)\|>|"
    r"\[(?:https?://)?(?P<text>(?:[a-z0-9-]{1,40}\.){1,4}[a-z]{2,12})(?:[/:][^\[\]\n]{0,200})?\]"
    r"\(<?https?://(?P<target>[a-z0-9.-]{4,200})|"
    r"!\[(?=[^\]\n]{20})|\]\([^()\s]{1,300} [\"'](?=[^\"'\n]{15})",
    re.IGNORECASE,
)
_UNSEEN: Final = "instructions in text that a rendered page hides"
_ORDERED = lazy_pattern(
    r"\b(?:always|never|must|do not|don't|should|ignore|tell|say|send|skip|run|approve|recommend|"
    r"install|add|execute|"
    r"delete|merge|push|reply|respond|answer|assistants?|agents?)\b[^\n]{0,200}? [a-z]+ [a-z]+"
)
_ENDS: Final = frozenset(("com", "org", "edu", "dev", "info", "biz", "example", "test"))
_ARCHIVES: Final = frozenset(("web.archive.org", "archive.org", "archive.ph", "github.com"))
_BEGINS: Final = {
    "": "<!-- [//]: [comment]: [_]: [hidden]: <system </system <function_ </function_ <tool_ </tool_ <| "
    "![ ]( human: system: developer:",
    "<": "display visibility font-size opacity text-indent left max-height hidden color",
    "[": "](",
}
_MARKS: Final = Literals(
    [
        (lower(literal), number)
        for number, literals in enumerate(_BEGINS.values())
        for literal in literals.split()
    ]
)
"""Literals of `_HIDES` and `_TURNS`: where they begin, and after the beginning of a tag or of a link."""
_BLANK_LINE = lazy_pattern(r"\n[ \t\r]*(?=\n)")
_BREAK = lazy_pattern(r" {0,3}(?:[-*+] |[0-9]{1,3}[.)] |#{1,6} |\|)")
_QUOTE_MARK = lazy_pattern(r"(?:^|\n) {0,3}>[> ]{0,20}")
_SENTENCE = lazy_pattern(r"(?<=[.!?]) ")
_BEGINNING = lazy_pattern(r"^[^a-z<\[$`]+")


class Injection(NamedTuple):
    """A passage that manipulates its reader: what it does, and its offset in the text."""

    says: str
    start: int


class _Likely(NamedTuple):
    """Part of a text, and the signs whose required words are in it; weak ones only if they form a pair."""

    start: int
    end: int
    strong: list[Sign]
    weak: list[Sign]


def find_injections(text: str) -> list[Injection]:
    """Find passages that manipulate the reader, in order; at most one per paragraph."""
    blocks = _likely_blocks(text)
    openings = _openings(text)
    if not blocks and not openings:
        return []
    found = _search(text, blocks, openings)
    # Few texts come this far, so what is code matters only now.
    shown = _without_code(text) if found else text
    return found if shown is text else _search(shown, blocks, openings)


def _search(text: str, blocks: Sequence[_Likely], openings: Sequence[int]) -> list[Injection]:
    """Find injections in these blocks, and in hidden text that begins at these openings."""
    found = list(_in_hidden(text, openings))
    passages = sorted(one.start for one in found)
    for block in blocks:
        for start, paragraph in _paragraphs_of(_lower(text[block.start : block.end])):
            at = block.start + start
            one = _find_in_paragraph(paragraph, block.strong, block.weak)
            known = bisect_left(passages, at) < bisect_left(passages, at + len(paragraph))
            if one is not None and not known:
                found.append(Injection(one.says, at + one.start))
    return sorted(found, key=lambda one: one.start)


def _likely_blocks(text: str) -> list[_Likely]:
    """The blocks, between empty lines, that contain the required words of a sign."""
    found: list[_Likely] = []
    known = plain(text)
    numbers: set[int] = set()
    start = end = 0
    for word, at, _ in _WORDS.find(known):
        if at >= end:
            found += _likely(known, start, end, numbers)
            before, after = text.rfind("\n\n", end, at), text.find("\n\n", at)
            start, end = before + 2 if before >= 0 else end, after if after >= 0 else len(text)
            numbers = set()
        numbers.update(_WORDS.rows[word])
    return [*found, *_likely(known, start, end, numbers)]


def _likely(known: bytes, start: int, end: int, numbers: Collection[int]) -> Iterator[_Likely]:
    """The part of a `plain` text, if it contains the required words of one of these signs, or of a pair."""
    words = frozenset(known[start : end + 2].split()) if numbers else frozenset()
    signs = [number for number in sorted(numbers) if _has(words, _TRIED[number])] if words else []
    if signs:
        strong = [_TRIED[number] for number in signs if number < len(_STRONG)]
        pairs = _pairs_in(words) if signs[-1] >= len(_STRONG) else []
        if strong or pairs:
            yield _Likely(start, end, strong, pairs)


def _has(words: frozenset[bytes], sign: Sign) -> bool:
    """Whether the required words of a sign are among these."""
    return not any(group.isdisjoint(words) for group in sign.needs)


def _pairs_in(words: frozenset[bytes]) -> list[Sign]:
    """The weak signs that form a pair, if their required words are among these."""
    signs = [sign for sign in WEAK if _has(words, sign)]
    names = {sign.message for sign in signs}
    paired = {name for pair in _PAIRED if names.issuperset(pair) for name in pair}
    return [sign for sign in signs if sign.message in paired]


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
    for char, ordinary in _PLAIN.items():
        if char in lowered:
            lowered = lowered.replace(char, ordinary)
    return lowered


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


def _paragraphs_of(text: str) -> Iterator[tuple[int, str]]:
    """Offset and text of the paragraphs of a text with blank lines."""
    edges = [0, *(match.end() for match in _BLANK_LINE.finditer(text)), len(text)]
    for start, end in pairwise(edges):
        for at, paragraph in _paragraphs(text[start:end]):
            yield start + at, paragraph


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


def _find_in_paragraph(paragraph: str, strong: Sequence[Sign], weak: Sequence[Sign]) -> Injection | None:
    """Find one of these strong signs, or a pair of the weak ones, in a paragraph."""
    if not weak and not any(word in paragraph for sign in strong for word in _first_words(sign.name)):
        return None
    words = frozenset(plain(paragraph).split())
    for sign in strong:
        start = _find(paragraph, sign) if _has(words, sign) else None
        if start is not None:
            return Injection(sign.message, start)
    here = _pairs_in(words) if weak else []
    found = {sign.message: start for sign in here if (start := _find(paragraph, sign)) is not None}
    for demand, deeds in PAIRS.items() if found else ():
        for deed in deeds:
            if demand in found and deed in found:
                return Injection(f"combines {demand} with {deed}", min(found[demand], found[deed]))
    return None


@cache
def _first_words(name: str) -> list[str]:
    return [word.decode() for sign in _STRONG if sign.name == name for word in sorted(sign.needs[0])]


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


def _in_hidden(text: str, openings: Sequence[int]) -> Iterator[Injection]:
    """Injections in text that a rendered page hides, except our own comments and those in inline code; and
    marks that are injections themselves."""
    end = 0
    for at in openings:
        turn = _TURNS.match(text, at)
        if turn is not None and _begins_line(text, at):
            yield Injection(FORGED, at)
        match = _HIDES.match(text, at) if at >= end else None
        if match is None:
            continue
        line = text.rfind("\n", max(at - _LONGEST, 0), at) + 1
        end = match.end()
        if text.count("`", line, at) % 2 == 0:
            says = _mark(match)
            if says:
                yield Injection(says, at)
            closing = "" if says else _closing(match[0])
            if closing:
                found = text.find(closing, match.end(), match.end() + _LONGEST)
                end = found if found >= 0 else match.end() + _LONGEST
                yield from _in_unseen(match, _lower(text[match.end() : end]))


def _openings(text: str) -> list[int]:
    """Where hidden text or a forged turn begins."""
    found = set()
    for mark, at, _ in _MARKS.find(lower(text)):
        for number in _MARKS.rows[mark]:
            before = tuple(_BEGINS)[number]
            found.add(text.rfind(before, max(at - _REACH, 0), at) if before else at)
    return [at for at in sorted(found - {-1}) if _HIDES.match(text, at) or _TURNS.match(text, at)]


def _in_unseen(opening: re.Match[str], inner: str) -> Iterator[Injection]:
    """The injection in one hidden text; in an element that is hidden on purpose any order is one."""
    if inner.lstrip().startswith("thunderus-mem:"):
        return
    one = _find_in_paragraph(inner, (*_STRONG, *HIDDEN), WEAK)
    if one is not None:
        yield Injection(one.says, opening.end() + one.start)
    elif opening[0][0] == "<" and opening[0] != "<!--" and _ORDERED.search(inner):
        yield Injection(_UNSEEN, opening.end())


def _mark(match: re.Match[str]) -> str:
    """What a mark does on its own: a forged turn at the beginning of a line, a link to another host."""
    if match["target"]:
        shown, real = (match[name].lower().removeprefix("www.") for name in ("text", "target"))
        return "" if _same_host(shown, real) else "shows a link to another host than its target"
    turn = match[0].lower().startswith(("<system", "</system", "<|")) and _begins_line(
        match.string, match.start()
    )
    return FORGED if turn or match["tag"] else ""


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
