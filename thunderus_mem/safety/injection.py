"""Detect prompt injection: text written to manipulate the agent that reads it. Pure.

The context decides. Code and quotations are examples and never count. In text that a rendered page hides
(comments, hidden elements, texts of images, titles of links), addressing an agent is enough. In plain text
it takes a sign of `injection_rules` or words that add up to an order (`orders`).
"""

from __future__ import annotations

import re
from bisect import bisect_left
from functools import cache, lru_cache
from html import unescape
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from thunderus_mem.document.frontmatter.read import rewritten_values
from thunderus_mem.document.markdown import scan, suppressions
from thunderus_mem.safety.apart import orders_apart
from thunderus_mem.safety.asides import MOST_COMPANY, mentions, ordering_asides
from thunderus_mem.safety.called import SENTENCE, calls, sum_of
from thunderus_mem.safety.concealed import (
    ADDRESSES,
    CLAIMS,
    DECEIVES,
    FORGES,
    GIVES_ORDERS,
    HIDES,
    Concealed,
    concealed,
)
from thunderus_mem.safety.injection_rules import COMMANDS, HIDDEN, ORDERS, Sign
from thunderus_mem.safety.literals import Literals, lower, plain
from thunderus_mem.safety.orders import (
    ENOUGH,
    IMPERATIVES,
    NOT_LATIN,
    QUOTE_MARK,
    heard_in_scripts,
    manipulates,
    triggers,
)
from thunderus_mem.startup import NamedTuple, lazy_pattern

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

RULE: Final = "TM404"
"""The lint rule that reports injections; suppression comments name it."""

_STRONG: Final = (*ORDERS, *COMMANDS)
_IN_HIDDEN: Final = (*_STRONG, *HIDDEN)
_IN_COMMENTS: Final = tuple([sign for sign in _IN_HIDDEN if sign.name != "hidden-order"])
"""Signs in hidden texts; a comment that only names an agent is often for the people who run it."""
_TRIGGERS_REACH: Final = 200
_LONGEST: Final = 2_000
_SHORT: Final = 40
_RULE: Final = 4
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
    r"(?:human|system|developer):(?=[^\n]{1,400}\n{1,2}[>*_ \t]{0,6}assistant:)"
    r"|assistant:(?=[^\n]{1,400}\n{1,2}[>*_ \t]{0,6}human:)",
    re.IGNORECASE,
)
_HIDES = lazy_pattern(
    r"<!--|\[(?<![^\n]\[)(?://|comment|_|hidden)\]: |"
    r"<[a-z]{1,12}\b[^<>\n]{0,200}(?:display ?: ?none|visibility ?: ?hidden|font-size ?: ?[01](?:px|"
    r"pt|em|%)?(?![.\d])|"
    r"opacity ?: ?0(?![.\d])|text-indent ?: ?-\d{3}|left ?: ?-\d{3}|max-height ?: ?0|"
    r"(?<!aria-)\bhidden\b(?!=[\"']?(?:false))|"
    r"(?<![\w-])color ?[:=] ?[\"']?(?:#(?:[ef]{3}\b|(?:[ef][0-9a-f]){3}|[0-9a-f]{6}00\b)|white|transparent"
    r"|rgba\((?:\d{1,3}, ?){3}0(?:\.0)?\))|"
    r"class=[\"']?(?:sr-only|visually-hidden|d-none|invisible)\b)[^<>\n]{0,200}>|"
    r"(?P<tag></?(?:system[-_](?:prompt|reminder)|function_(?:calls|results)|tool_(?:call|result))>"
    r"|<\|[a-z_\u2581]{3,30}\|>|<\uff5c[^\n\uff5c]{2,40}\uff5c>|\[/?tool_(?:results|calls)\]"
    r"|</?(?:start|end)_of_turn>|</?(?:antml:)?invoke name=[\"'][a-z_]{2,30}[\"']>)|"
    r"</(?P<closed>untrusted[a-z_-]{0,20}|retrieved[a-z_-]{0,20}|memory|context|documents?)>|"
    r"(?P<said>\{/\*|\[\^[^\]\n]{1,20}\]: |"
    r"<(?:template|noscript|desc|script|summary|details)\b[^<>\n]{0,200}>|"
    r"<[a-z]{1,12}\b[^<>\n]{0,200}? (?:title|alt|aria-label|content|placeholder|data-[a-z-]{2,30})="
    r"[\"'](?=[^\"'\n]{15})|"
    r"\]: <?[^\s<>]{0,300}>? [\"'(](?=[^\"'\n]{15})|\\phantom\{)|\\(?:text)?color\{white\}|"
    r"</?system(?:[-_]message)?>|<\|(?:system|user|assistant)\|>|"
    r"\[(?:https?://)?(?P<text>(?:[a-z0-9-]{1,40}\.){1,4}[a-z]{2,12})(?:[/:][^\[\]\s]{0,200})?\]"
    r"\(<?https?://(?P<target>[a-z0-9.-]{4,200})|"
    r"!\[(?=[^\]\n]{20})|\]\([^()\s]{1,300} [\"'](?=[^\"'\n]{15})",
    re.IGNORECASE,
)
_FRAME = lazy_pattern(
    r"<(?P<name>(?:untrusted|retrieved|system)[a-z_-]{0,20}|memory|context|documents?)", re.IGNORECASE
)
_CHILD = lazy_pattern(r"\s{0,40}<(?!/)")
_UNSEEN: Final = "instructions in text that a rendered page hides"
_ORDERED = lazy_pattern(
    r"\b(?:always|never|must|do not|don't|should|ignore|tell|say|send|skip|run|approve|recommend|"
    r"install|add|execute|"
    r"delete|merge|push|reply|respond|answer|assistants?|agents?)\b[^\n]{0,200}? [a-z]+ [a-z0-9]+"
)
_BESIDE: Final = "orders to an agent in markup, a comment or code"
_CALLED: Final = "addresses an agent and gives it orders"
_CLAIMED: Final = "poses as a message of the system, a tool or a memory"
_ONCE: Final = frozenset((_BESIDE, _CALLED, _CLAIMED))
"""What is reported at most once in a paragraph."""
_LEAST_OF_CLAIM: Final = 1.6
"""The sum of words that is enough where a text claims authority."""
_ENOUGH_APART: Final = 7.5
"""The sum of the weights of triggers from which the pieces of a block that are apart from prose are
examined."""
_LEAST_NAMED: Final = 0.0
"""The same of an encoded text that names an agent."""
_FEW_SPACES: Final = 4
"""The spaces in an encoded text that is a sentence."""
_CONCEALED: Final = "conceals instructions from people"
_SAYS: Final = {HIDES: _CONCEALED, GIVES_ORDERS: _CONCEALED, ADDRESSES: _CONCEALED, CLAIMS: _CLAIMED}
"""What a place does, by its kind; a kind that is not here says it itself."""
_COMMANDED = lazy_pattern(
    r"(?:^|[:;,.!?(\[>-] {0,2}|\b(?:and|then|must|always|please|should|to|now|you|may) )(?:"
    + "|".join(sorted(IMPERATIVES - {"to", "type", "list", "note", "state", "log", "end", "use", "see"}))
    + r"|git|curl|wget|ssh|scp|npm|npx|pip|gh|never|do not|don't|stop|skip|turn|set|change|switch|complete"
    r"|copy|forward|obey|override)"
    r" +[a-z`~./'*:-]+ +[^\s]|\| ?(?:ba)?sh\b"
)
_ENDS: Final = frozenset(("com", "org", "edu", "dev", "info", "biz", "example", "test"))
_ARCHIVES: Final = frozenset(
    (
        *("web.archive.org", "archive.org", "archive.ph", "github.com", "aka.ms", "pkg.go.dev"),
        *("google.com", "link.juejin.cn", "link.jianshu.com", "link.zhihu.com"),
    )
)
"""Hosts that archive or forward to others."""
_BEGINS: Final = {
    "": "<!-- [//]: [comment]: [_]: [hidden]: <system </system <function_ </function_ <tool_ </tool_ <| "
    "![ ]( human: system: developer: assistant: {/* [^ ]: "
    "<template <noscript <desc> <script <summary <details "
    "<\uff5c [tool_ [/tool_ <start_of <end_of </start_of <invoke </memory> </context> "
    "</document </untrusted </retrieved \\phantom \\color \\textcolor",
    "<": "display visibility font-size opacity text-indent left max-height hidden color class= title= alt= "
    "aria-label= "
    "content= placeholder= data-",
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
# Code that speaks to an agent: comments that call one, blocks that their label makes a prompt.
_TO_AGENT = lazy_pattern(
    r"[ \t]{0,40}(?:#|//|--|%%|;|\*)[ \t]{0,4}(?:(?:note|hint|message) (?:to|for) (?:the |any |all )?)?"
    r"(?:ais?|llms?|claude|copilot|cursor|codex|chatgpt|(?:ai |coding |ai coding )?(?:assistant|agent)s?)\b"
    r"[^:,\n]{0,20}[:,] ",
    re.IGNORECASE,
)
_FOR_AGENT = lazy_pattern(
    r"[ \t]{0,12}[`~]{3,12}[ \t]{0,4}(?:system|agent|assistant|ai|llm)[-_ ](?:prompt|instruction|directive)",
    re.IGNORECASE,
)
_LATEX = lazy_pattern(r"\\[a-z]{2,20}|[{}]")
_READ_ALOUD = lazy_pattern(r"sr-only|visually-hidden")
_SPACES = lazy_pattern(r"\s*")
_BLANK_LINE = lazy_pattern(r"\n[ \t\r]*(?=\n)")
_BREAK = lazy_pattern(r" {0,3}(?:[-*+] |[0-9]{1,3}[.)] |#{1,6} |\||---)")
_SENTENCE = lazy_pattern(r"(?<=[.!?]) ")
_BEGINNING = lazy_pattern(r"^[^a-z<\[$`]+")


class Injection(NamedTuple):
    """A passage that manipulates its reader: what it does, and its offset in the text."""

    says: str
    start: int


class _Likely(NamedTuple):
    """Part of a text, the signs whose required words are in it, and where words may be an order: neither if
    only pieces `apart` from the prose may be one."""

    start: int
    end: int
    strong: list[Sign]
    worded: list[int]


def find_injections(text: str) -> list[Injection]:
    """Find passages that manipulate the reader, in order; at most one per paragraph. A value in the header of
    a document is also searched as YAML reads it."""
    found = _as_written(text)
    hidden = [
        Injection(injections[0].says, start)
        for _, value, start, end in rewritten_values(text)
        if not any(start <= one.start < end for one in found) and (injections := _as_written(value))
    ]
    return sorted([*found, *hidden], key=lambda one: one.start) if hidden else found


def _as_written(text: str) -> list[Injection]:
    likely = _likely_blocks(text)
    blocks = [block for block in likely if block.strong or block.worded]
    spots = mentions(text)
    openings = _openings(text)
    secret = [*_in_concealed(text, len(spots))]
    if 0 < len(spots) <= MOST_COMPANY:
        secret += [*_in_asides(text, spots), *_in_calls(text, spots)]
    if len(spots) <= MOST_COMPANY // 2:
        secret += [*_in_pieces(text, likely)]
    if not blocks and not openings and not secret:
        return []
    found = _search(text, blocks, openings)
    # Few texts come this far, so what is code matters only now.
    shown = _without_code(text) if found else text
    found = found if shown is text else _search(shown, blocks, openings)
    breaks = _line_breaks(text) if secret else []
    known = {bisect_left(breaks, one.start) for one in found}
    added = {bisect_left(breaks, one.start): one for one in reversed(secret)}
    for line in sorted(added.keys() - known):
        one, before = added[line], bisect_left(found, added[line].start, key=lambda each: each.start)
        if one.says not in _ONCE or not before or "\n\n" in text[found[before - 1].start : one.start]:
            found.insert(before, one)
    return found


def _in_asides(text: str, spots: Sequence[int]) -> Iterator[Injection]:
    """Orders beside the text that a page shows."""
    for at in ordering_asides(text, spots):
        if not text.startswith("thunderus-mem:", at):
            yield Injection(_BESIDE, at)


def _in_pieces(text: str, blocks: Sequence[_Likely]) -> Iterator[Injection]:
    """Orders in pieces apart from the prose."""
    for block in blocks:
        for at in orders_apart(text[block.start : block.end]):
            start = block.start + at
            if not text[start : start + _SHORT].lstrip().startswith("thunderus-mem:"):
                yield Injection(_BESIDE, start)


def _in_calls(text: str, spots: Sequence[int]) -> Iterator[Injection]:
    """Orders to an agent that a text calls."""
    for one in calls(text, spots):
        if not one.said or sum_of(one.said) > one.least:
            yield Injection(_CALLED, one.start)


def _in_concealed(text: str, company: int) -> Iterator[Injection]:
    """Injections in encoded text, out of sight, or in a frame that forges a turn; at most one per line."""
    lowered = _lower(text)
    blank = ""
    for one in concealed(text, lowered):
        if not (_claims_order(one, company) if one.kind == CLAIMS else _conceals_order(one)):
            continue
        quoted = text.count("`", _line_start(text, one.start), one.start) % 2
        if quoted and (not one.code or one.kind in (FORGES, CLAIMS)):
            continue
        if not one.code:
            blank = blank or _without_code(text)
            found = _SPACES.match(text, one.start)
            start = found.end() if found is not None else one.start
            if blank[start : start + 8].isspace():
                continue
        yield Injection(_SAYS.get(one.kind, one.kind), one.start)


def _claims_order(one: Concealed, company: int) -> bool:
    """Whether a text that claims authority orders something; not in a text about agents."""
    if company > MOST_COMPANY // 2 or SENTENCE.search(one.said) is None:
        return False
    return sum_of(one.said) > _LEAST_OF_CLAIM


def _conceals_order(one: Concealed) -> bool:
    """Whether a concealed text is an injection; its kind says what is enough for one."""
    if one.kind == DECEIVES:
        shown, _, real = one.said.partition(" ")
        return not real or not _same_host(shown.removeprefix("www."), real.removeprefix("www."))
    if one.kind == FORGES:
        return True
    if one.kind == HIDES and one.said.count(" ") >= _FEW_SPACES:
        return True
    if one.kind in (HIDES, GIVES_ORDERS) and _COMMANDED.search(one.said.lstrip(" \t\n\"'-")):
        return True
    spots = mentions(one.said)
    if one.kind == GIVES_ORDERS and spots and sum_of(one.said) > _LEAST_NAMED:
        return True
    if next(_in_calls(one.said, spots), None) is not None:
        return True
    return _find_in_paragraph(one.said, _IN_HIDDEN, worded=True, hidden=True) is not None


def _search(text: str, blocks: Sequence[_Likely], openings: Sequence[int]) -> list[Injection]:
    """Find injections in these blocks, and in hidden text that begins at these openings."""
    found = list(_in_hidden(text, openings))
    passages = sorted(one.start for one in found)
    for block in blocks:
        for start, paragraph in _paragraphs_of(_lower(text[block.start : block.end])):
            at = block.start + start
            worded = bisect_left(block.worded, at) < bisect_left(block.worded, at + len(paragraph))
            if not worded and not block.strong:
                continue
            one = _find_in_paragraph(paragraph, block.strong, worded=worded)
            known = bisect_left(passages, at) < bisect_left(passages, at + len(paragraph))
            if one is not None and not known:
                found.append(Injection(one.says, at + one.start))
    return sorted(found, key=lambda one: one.start)


class _Needed(NamedTuple):
    """The first required words of signs and the words of orders. ``signs`` and ``weights`` are by the number
    of the literal."""

    literals: Literals
    signs: dict[int, list[int]]
    weights: dict[int, float]


@cache
def _needed() -> _Needed:
    required = [
        (b" %b " % word, number) for number, sign in enumerate(_STRONG) for word in sorted(sign.needs[0])
    ]
    known = triggers()
    literals = Literals([*required, *((b" %b " % word, -1) for word in known)])
    signs: dict[int, list[int]] = {}
    for word, number in required:
        signs.setdefault(literals.number_of(word), []).append(number)
    weights = {literals.number_of(b" %b " % word): weight for word, weight in known.items()}
    return _Needed(literals, signs, weights)


def _likely_blocks(text: str) -> list[_Likely]:
    """The blocks, between empty lines, that contain the needed words of a sign or enough words of orders."""
    found: list[_Likely] = []
    known = plain(text)
    heard: list[tuple[int, int]] = []
    start = end = 0
    for word, at, _ in _needed().literals.find(known):
        if at >= end:
            if heard:
                found += _likely(text, known, start, end, heard)
            before, after = text.rfind("\n\n", end, at), text.find("\n\n", at)
            start, end = before + 2 if before >= 0 else end, after if after >= 0 else len(text)
            heard = []
        heard.append((word, at))
    if heard:
        found += _likely(text, known, start, end, heard)
    return found if text.isascii() else [*found, *_in_other_scripts(text, found)]


def _likely(
    text: str, known: bytes, start: int, end: int, heard: Sequence[tuple[int, int]]
) -> Sequence[_Likely]:
    """A block, given also as `plain` text, if these words and their places may be a sign or an order."""
    _, signs, weights = _needed()
    literals = {word for word, _ in heard}
    numbers = {number for word in literals if word in signs for number in signs[word]}
    words = frozenset(known[start : end + 2].split()) if numbers else frozenset()
    strong = [_STRONG[number] for number in sorted(numbers) if _has(words, _STRONG[number])]
    weight = sum([weights[word] for word in literals if word in weights])
    worded = list(_worded(heard)) if weight >= ENOUGH else []
    some = strong or worded or weight >= _ENOUGH_APART
    return (_Likely(start, end, strong, worded),) if some else ()


def _worded(heard: Sequence[tuple[int, int]]) -> Iterator[int]:
    """The places at which the words of orders that were last seen near them weigh enough together."""
    weights = _needed().weights
    near: dict[int, int] = {}
    total = 0.0
    for word, at in heard:
        if word not in weights:
            continue
        if near.pop(word, None) is None:
            total += weights[word]
        near[word] = at
        while at - near[first := next(iter(near))] >= _TRIGGERS_REACH:
            del near[first]
            total -= weights[first]
        if total >= ENOUGH and len(near) > 1:
            yield at


def _in_other_scripts(text: str, found: Sequence[_Likely]) -> Iterator[_Likely]:
    """The blocks with enough words in other scripts."""
    known = {one.start: one for one in found}
    end = 0
    while (match := NOT_LATIN.search(text, end)) is not None:
        before, after = text.rfind("\n\n", end, match.start()), text.find("\n\n", match.start())
        start, end = before + 2 if before >= 0 else end, after if after >= 0 else len(text)
        if heard_in_scripts(text[start:end].lower()) < ENOUGH:
            continue
        block = known.get(start) or _Likely(start, end, [], [])
        block.worded.extend([place.start() for place in NOT_LATIN.finditer(text, start, end)])
        block.worded.sort()
        if start not in known:
            yield block


def _has(words: frozenset[bytes], sign: Sign) -> bool:
    """Whether the required words of a sign are among these."""
    for group in sign.needs:  # noqa: SIM110 - a third of the time of `any`
        if group.isdisjoint(words):
            return False
    return True


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
    breaks = _line_breaks(text)
    placed = [
        FlaggedLine(bisect_left(breaks, one.start + shift) + 1 if one.start >= len(shown) else 0, one.says)
        for one in found
    ]
    return [one for one in placed if answered.isdisjoint((0, one.line))]


def _line_breaks(text: str) -> list[int]:
    return [at for at, char in enumerate(text) if char == "\n"]


def _line_start(text: str, at: int) -> int:
    """Where the line of a position begins, at most some characters before it."""
    first = max(at - _LONGEST, 0)
    return max(text.rfind("\n", first, at) + 1, first)


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
            kept[start:end] = (
                [line if _TO_AGENT.match(line) else " " * len(line) for line in kept[start:end]]
                if not _FOR_AGENT.match(lines[start])
                else kept[start:end]
            )
    return "\n".join(kept)


def shown_paragraphs(text: str) -> list[str]:
    """The paragraphs of a text in lower case, without fenced code."""
    return [paragraph for _, paragraph in _paragraphs_of(_lower(_without_code(text)))]


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
        if held and (_BREAK.match(line) or held[-1].startswith("#" if at == _RULE else ("#", "---"))):
            yield start, "\n".join(held)
            held = []
        start = start if held else at
        held.append(line)
        at += len(line) + 1
    yield start, "\n".join(held)


def _find_in_paragraph(
    paragraph: str, strong: Sequence[Sign], *, worded: bool, hidden: bool = False
) -> Injection | None:
    """Find one of these strong signs, or an order by its words, in a lower-case paragraph."""
    if strong:
        words = frozenset(plain(paragraph).split())
        for sign in strong:
            start = _find(paragraph, sign) if _has(words, sign) else None
            if start is not None:
                return Injection(sign.message, start)
    said = manipulates(paragraph, hidden=hidden) if worded else None
    if said is None:
        return None
    return Injection(f"orders to an agent ({said.words})", _place_of(paragraph, said.first))


def _place_of(paragraph: str, word: str) -> int:
    return max(paragraph.find(word), 0)


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
    said = QUOTE_MARK.sub("\n", paragraph).translate(_EMPHASIS)
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
            yield Injection(FORGES, at)
        match = _HIDES.match(text, at) if at >= end else None
        if match is None:
            continue
        end = match.end()
        if text.count("`", _line_start(text, at), at) % 2 == 0:
            says = _mark(match) or _frame(match, text)
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
    rows, begins = _MARKS.rows, tuple(_BEGINS)
    for mark, at, _ in _MARKS.find(lower(text)):
        for number in rows[mark]:
            before = begins[number]
            found.add(text.rfind(before, max(at - _REACH, 0), at) if before else at)
    return [at for at in sorted(found - {-1}) if _HIDES.match(text, at) or _TURNS.match(text, at)]


def _in_unseen(opening: re.Match[str], inner: str) -> Iterator[Injection]:
    """The injection in one hidden text; in an element that is hidden on purpose any order is one."""
    if inner.lstrip().startswith("thunderus-mem:"):
        return
    encoded = "&#" in inner
    inner = unescape(inner).lower() if encoded else inner
    inner = inner.replace('"', " ") if opening[0].startswith("<script") else inner
    inner = _LATEX.sub("", inner) if opening[0][0] == "\\" else inner
    named = bool(mentions(inner))
    commented = opening[0] == "<!--" and not encoded
    one = _find_in_paragraph(
        inner, _IN_COMMENTS if commented else _IN_HIDDEN, worded=True, hidden=named or not commented
    )
    if one is not None:
        yield Injection(one.says, opening.end() + one.start)
    elif _hides_on_purpose(opening) and (_ORDERED.search(inner) or (named and SENTENCE.search(inner))):
        yield Injection(_UNSEEN, opening.end())


def _hides_on_purpose(opening: re.Match[str]) -> bool:
    """Whether a text is hidden by its style, and not for screen readers."""
    begins = opening[0][0] in "<\\" and opening[0] != "<!--"
    return begins and not opening["said"] and _READ_ALOUD.search(opening[0]) is None


def _mark(match: re.Match[str]) -> str:
    """What a mark does on its own: a forged turn at the beginning of a line, a link to another host."""
    if match["target"]:
        shown, real = (match[name].lower().removeprefix("www.") for name in ("text", "target"))
        return "" if _same_host(shown, real) else "shows a link to another host than its target"
    turn = match[0].lower().startswith(("<system", "</system", "<|")) and _begins_line(
        match.string, match.start()
    )
    if turn and (_CHILD.match(match.string, match.end()) or _closes(match)):  # a file in XML
        return ""
    return FORGES if turn or match["tag"] else ""


def _closes(match: re.Match[str]) -> bool:
    """Whether a tag closes an element, whose beginning was judged."""
    tag = match[0].lower()
    return tag.startswith("</") and match.start() > _opened(match.string).get(tag[2:-1], len(match.string))


def _frame(match: re.Match[str], text: str) -> str:
    """What the end of a frame does that did not begin in the text: it pretends that the document ends."""
    closed = match["closed"]
    return FORGES if closed and _opened(text).get(closed.lower(), len(text)) > match.start() else ""


@lru_cache(maxsize=1)
def _opened(text: str) -> dict[str, int]:
    """Where a frame first begins, by its name and by all beginnings of the name."""
    first: dict[str, int] = {}
    for found in _FRAME.finditer(text):
        name = found["name"].lower()
        for length in range(len(name)):
            first.setdefault(name[: length + 1], found.start())
    return first


def _begins_line(text: str, at: int) -> bool:
    return not text[_line_start(text, at) : at].strip(" \t>*_-#")


def _same_host(shown: str, real: str) -> bool:
    ends = shown.rpartition(".")[2]
    return ends not in _ENDS or real in _ARCHIVES or shown.split(".")[-2:] == real.rstrip(".").split(".")[-2:]


def _closing(opening: str) -> str:
    """What ends a hidden text: of a comment, of an element, of the text of an image, of a link or a "
    "line."""
    by_begin = {"<!": "-->", "![": "]", "</": "", "<|": "", "{/": "*/", "[^": "\n"}
    if opening[-1] in "\"'" and opening[0] in "]<":
        return opening[-1]
    if opening[:2] in by_begin:
        return by_begin[opening[:2]]
    if "](" in opening:
        return ""
    return "</" if opening[0] == "<" else "\n"


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)
