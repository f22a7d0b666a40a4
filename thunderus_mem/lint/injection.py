"""Where a text reads as if it was planted to steer the agent that reads it. Pure.

Places count differently. Code and quotations are shown, not said, and never count. Text that a rendered page
hides (comments, hidden elements) counts as soon as it speaks to an agent. In plain text one order or command
is enough; of weaker signs it takes two that belong together, in one paragraph. The signs themselves are in
`lint.injection_signs`; they are looked up by the words they need, so that honest text costs little.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Final, NamedTuple

from thunderus_mem.document.markdown import scan
from thunderus_mem.lint.injection_signs import COMMANDS, HIDDEN, ORDERS, PAIRS, WEAK, Sign

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_STRONG: Final = (*ORDERS, *COMMANDS)
_SIGNS: Final = (*_STRONG, *HIDDEN, *WEAK)
_NEEDED: Final = frozenset().union(*(group for sign in _SIGNS for group in sign.needs))
_PAIRED: Final = tuple((demand, deed) for demand, deeds in PAIRS.items() for deed in deeds)
_LONGEST: Final = 2_000
_SEPARATE: Final = bytes(code if chr(code).isalnum() or code > 127 else 32 for code in range(256))
_PLAIN: Final = {chr(code): " " for code in (0xA0, *range(0x2000, 0x200B), 0x202F, 0x205F, 0x3000)} | {
    "\u2019": "'"
}
_EMPHASIS: Final = {ord(char): " " for char in "\t\n\r*_~"}
_CODE = re.compile(r"`[^`\n]{1,400}`")
_QUOTED = re.compile(
    r"`[^`\n]{1,400}`|\"[^\"\n]{3,400}\"|\u201c[^\u201d\n]{3,400}\u201d|\u00ab[^\u00bb\n]{3,400}\u00bb|"
    r"(?<!\w)'[^'\n]{12,300}'(?!\w)"
)
_HIDES = re.compile(
    r"<!--|^\[(?://|comment|_|hidden)\]: |"
    r"<[a-z]{1,8}\b[^<>\n]{0,200}(?:display ?: ?none|visibility ?: ?hidden|font-size ?: ?0|"
    r"opacity ?: ?0(?![.\d])|color ?[:=] ?[\"']?(?:#fff|white|transparent))[^<>\n]{0,200}>",
    re.MULTILINE,
)
_MAY_HIDE = ("<!--", "style", "color", "]: #", "]: <")
_BLANK_LINE = re.compile(r"\n[ \t\r]*(?=\n)")
_BREAK = re.compile(r" {0,3}(?:[-*+] |[0-9]{1,3}[.)] |#{1,6} |\|)")
_QUOTE_MARK = re.compile(r"(?:^|\n) {0,3}>[> ]{0,20}")
_SENTENCE = re.compile(r"(?<=[.!?]) ")
_BEGINNING = re.compile(r"^[^a-z<\[$`]+")


class Injection(NamedTuple):
    """A passage that steers its reader: what it does, and the offset in the text at which that stands."""

    says: str
    start: int


def find_injections(text: str) -> list[Injection]:
    """Every passage of a text that steers its reader, in order; at most one a paragraph."""
    lowered = _lower(text)
    words = _words(lowered)
    strong, hidden, weak = _likely(words)
    if hidden and not any(mark in lowered for mark in _MAY_HIDE):
        hidden = []
    if not strong and not weak and not hidden:
        return []
    shown = _without_code(lowered)
    found = list(_in_hidden(shown)) if hidden else []
    passages = [one.start for one in found]
    demands = [sign for sign in weak if sign.says in PAIRS]
    for start, paragraph in _paragraphs_with(shown, _anchors((*strong, *demands), words)):
        one = _steers(paragraph)
        known = bisect_left(passages, start) < bisect_left(passages, start + len(paragraph))
        if one is not None and not known:
            found.append(Injection(one.says, start + one.start))
    return sorted(found, key=lambda one: one.start)


def _lower(text: str) -> str:
    """Lower case with plain blanks, as long as it was."""
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
    """The words of a text that some sign needs."""
    return _NEEDED.intersection(text.encode("utf-8", "surrogatepass").translate(_SEPARATE).split())


class _Likely(NamedTuple):
    """Signs that have the words they need; of the weak ones those of which two belong together."""

    strong: list[Sign]
    hidden: list[Sign]
    weak: list[Sign]


def _likely(words: frozenset[bytes]) -> _Likely:
    """The signs whose words a text has, in their order; they are looked up by the first thing they need."""
    by_first = _by_first()
    places = {place for word in words if word in by_first for place in by_first[word]}
    chosen = [place for place in sorted(places) if not any(map(words.isdisjoint, _SIGNS[place].needs))]
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
    """The weak signs of which two belong together."""
    names = {sign.says for sign in signs}
    paired = {name for pair in _PAIRED if names.issuperset(pair) for name in pair}
    return [sign for sign in signs if sign.says in paired]


def _anchors(signs: Iterable[Sign], words: frozenset[bytes]) -> set[str]:
    """Words of which a passage with one of the signs must have one: their first needs in this text."""
    return {word.decode() for sign in signs for word in sign.needs[0] & words}


def _without_code(text: str) -> str:
    """The text with fenced code blank; offsets stay."""
    if "```" not in text and "~~~" not in text:
        return text
    lines, _, hidden = scan(text)
    kept = text.split("\n")
    for start, end in hidden:
        if lines[start].lstrip(" \t")[:1] in ("`", "~"):
            kept[start:end] = [" " * len(line) for line in kept[start:end]]
    return "\n".join(kept)


def _paragraphs_with(text: str, words: Iterable[str]) -> Iterator[tuple[int, str]]:
    """Offset and text of each paragraph near one of the words."""
    edges = [0, *(match.end() for match in _BLANK_LINE.finditer(text)), len(text)]
    near = set()
    for word in words:
        at = text.find(word)
        while at >= 0:
            block = bisect_right(edges, at) - 1
            near.add(block)
            at = text.find(word, max(edges[block + 1], at + 1))
    for block in sorted(near):
        start, whole = edges[block], text[edges[block] : edges[block + 1]]
        # What a paragraph shows, its block shows too.
        likely = _likely(_words(whole))
        for at, paragraph in _paragraphs(whole) if likely.strong or likely.weak else ():
            yield start + at, paragraph


def _paragraphs(block: str) -> Iterator[tuple[int, str]]:
    """The paragraphs of a block without blank lines: headings, items, rows of tables, what is between."""
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


def _steers(paragraph: str, *, unseen: bool = False) -> Injection | None:
    """What a paragraph shows: a strong sign, or two weak ones that belong together.

    ``unseen``: a rendered page hides it, and so the signs that count only there do.
    """
    likely = _likely(_words(paragraph))
    for sign in (*likely.strong, *likely.hidden) if unseen else likely.strong:
        start = _find(paragraph, sign)
        if start is not None:
            return Injection(sign.says, start)
    found = {sign.says: start for sign in likely.weak if (start := _find(paragraph, sign)) is not None}
    for demand, deeds in PAIRS.items():
        for deed in deeds:
            if demand in found and deed in found:
                return Injection(f"it joins {demand} with {deed}", min(found[demand], found[deed]))
    return None


def _find(paragraph: str, sign: Sign) -> int | None:
    """Where the parts of a sign follow each other in one sentence, or in one line for a raw sign."""
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
    """Lines with code marks blank; a command in quotes runs all the same."""
    for line in _CODE.sub(_blank, paragraph).split("\n"):
        yield line[:_LONGEST]


@lru_cache(maxsize=8)
def _sentences(paragraph: str) -> tuple[str, ...]:
    """Sentences without marks of emphasis, in one line each, with what is quoted blank."""
    said = _QUOTE_MARK.sub("\n", paragraph).translate(_EMPHASIS)
    plain = _QUOTED.sub(_blank, " ".join(said.split()))
    return tuple([piece[:_LONGEST] for piece in _SENTENCE.split(plain)])


def _blank(found: re.Match[str]) -> str:
    return "\0" * len(found[0])


def _in_hidden(text: str) -> Iterator[Injection]:
    """Passages that a rendered page hides and that steer; our own comments and those in code marks do not."""
    match = _HIDES.search(text)
    while match is not None:
        closing = "-->" if match[0] == "<!--" else "</" if match[0][0] == "<" else "\n"
        end = text.find(closing, match.end(), match.end() + _LONGEST)
        end = end if end >= 0 else match.end() + _LONGEST
        inner = text[match.end() : end]
        line = text.rfind("\n", max(match.start() - _LONGEST, 0), match.start()) + 1
        if not inner.lstrip().startswith("thunderus-mem:") and text.count("`", line, match.start()) % 2 == 0:
            one = _steers(inner, unseen=True)
            if one is not None:
                yield Injection(one.says, match.end() + one.start)
        match = _HIDES.search(text, end)


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)
