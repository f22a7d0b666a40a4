"""Find calls to an agent: a label that names one, and what is said to it. Pure.

A label is what comes before a colon, a comma, a bracket or the end of a line, a key or a tag: ``NOTE(ai):``,
``x-assistant-rules:``, ``<meta name="ai-agent" …``. Documents that are not about agents hardly ever call one,
so a low sum of words (`orders`) is enough. Beside the name of an agent, a setting that silences it
(``"tell_user": false``) is enough, too. A text that also names agents elsewhere is not searched.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from thunderus_mem.safety.asides import fences
from thunderus_mem.safety.orders import Sentence, score, windows, words_of
from thunderus_mem.startup import NamedTuple, lazy_pattern

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_MOST_COMPANY: Final = 4
_COMPANY_OF_NAME: Final = 2
"""How often a text may name agents elsewhere, and if a label is a name only."""
_LEAST_TO_READER: Final = -1.0
_LEAST: Final = 0.5
_LEAST_AFTER_COMMA: Final = 2.0
_LEAST_IN_PROSE: Final = 2.5
_LEAST_BESIDE: Final = 3.75
_LEAST_UNCERTAIN: Final = 4.5
_LEAST_QUOTED: Final = 2.5
"""The sum of words that is enough: after a label for readers, a name, a name with a comma, in prose, and if
an agent is named without a label in code, by a word that may mean something else, or in a block quote."""
_MOST_WORDS: Final = 8
_MOST_UNKNOWN: Final = 3
_REACH: Final = 60
_LONGEST: Final = 700
_EDGE: Final = lazy_pattern(
    r"[:.!?\"`|<>)\[\]{};,=\n#*~\u2014\u2013\u2022\u2192\u2139\u201c\u201e\u00ab\u27e6\u27e8\u300a\u300c\u3010]|(?<!\w)\("
    r"|(?:^|\s)(?:--|//|%%?)(?=\s)|'(?!\w)|(?<!\w)'"
)
"""What a label begins after."""
_END: Final = lazy_pattern(
    r"[\w /&+@'*-]{0,60}?(?:\([\w /&+-]{1,30}\))?"
    r"(?P<end>\)?\*{0,2}[:\uff1a]\*{0,2}|,(?=\s)|[\u2014\u2013\u2192>=)\]}\n\u27e7\u27e9\u300b\u300d\u3011]|[\"'`](?!\w))"
)
"""What a label ends with."""
_REST_OF_NAME: Final = lazy_pattern(r"[\w-]{0,60}")
_VALUE: Final = lazy_pattern(r"[\"'`]?[ \t]{0,4}(?:[:=] |\| )")
_DOER: Final = lazy_pattern("(?:[eo]rs?|engines?)$")
"""The ending of one that does something: of a reader."""
_KEY: Final = lazy_pattern(r"[ \t]{0,4}[:=>|]")
_ATTRIBUTES: Final = lazy_pattern(r"(?:\s[\w-]{1,20}=[\"'][^\"'<>\n]{0,60}[\"']){0,4}\s?>")
_QUOTATION: Final = lazy_pattern("(?:^|[\\w,.] )[\"'\u201c\u201e\u00ab]$")
_HEADING: Final = lazy_pattern(r"#{1,6} [^\n]*(?:\n[ \t]*\n|$)")
_PROSE: Final = lazy_pattern(
    r"[^\w\n<]{0,12}(?:<!--)?(?:[a-z]{2,12}=[\"'])?[^\w\n<]{0,8}"
    r"(?P<below>\n[^\w\n]{0,40})?(?:\d{1,2}[.)] )?"
    r"(?:(?=[^\W\d_])(?:[`\"']?[^\W_][\w'\u2019-]*[,.:`\"']? (?:[#*/]{1,2} )?){3}|[\u3040-\uffef]{6})"
)
_CERTAIN: Final = lazy_pattern(
    r"(?<![A-Za-z])(?<![Uu]ser[-_ ])"
    r"(?:AIs?|(?i:agents?|assistants?|llms?|copilot|claude|chatgpt|codex|gpt|gemini))\b"
)
"""A name of an agent that is hardly ever something else."""
SENTENCE: Final = lazy_pattern(
    r"(?<![\w'\u2019-])(?:[^\W\d_][\w'\u2019-]{0,30}+[,.:;]? ){5}|[\u3040-\uffef]{8}"
)
"""Words after each other, as no code has them."""
_SETTING: Final = lazy_pattern(
    r"[:=][ \t]{0,3}[\"']?(?:false|no|never|none|off|nobody|0|nein|nie|non|n\u00e3o)[\"']?"
    r"(?=[ \t]{0,4}(?:[\n,;}\])>/]|$|[a-z]{1,12}=))",
    re.IGNORECASE,
)
_QUIET: Final = lazy_pattern(
    r"(?<![A-Za-z])(?:silent(?:ly)?|silence|quiet|stealth|covert|hide[-_]\w{1,20}|invisible)[\"']?"
    r"[ \t]{0,3}[:=][ \t]{0,3}[\"']?(?:true|yes|on|1)\b",
    re.IGNORECASE,
)
_NAME_BEFORE: Final = lazy_pattern(r"[^\W\d][\w-]{2,40}(?=[\"']?[ \t]{0,3}$)")
_SILENCED: Final = frozenset(("+tell", "+ask"))
_TELLING: Final = words_of("report reports visible disclosure disclosures visibility surface")
_WORDS: Final = lazy_pattern(r"[^\W_]+(?:'[a-z]+)?")
_HUMP: Final = lazy_pattern(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Za-z])(?=[\u3040-\uffef])")
_END_OF_BLOCK: Final = lazy_pattern(r"\n[ \t]*(?:\n|```|~~~)")
_BETWEEN: Final = lazy_pattern(r"--!?>[^<]{0,200}<!--")
_MARKS: Final = lazy_pattern(r"\n[ \t>]*(?:#+|//+|--|;+|%+|\*+|[+-])?[ \t]?|<!--|-->|[<>*_\"`{}\[\]|\\]")
_COMMENTED: Final = (("<!--", "-->"), ("{% comment", "{% endcomment"))
_COMMENTS: Final = ("<!--", "/*", "/**", "*", "//", "--", "{#", "%")
_OPENS: Final = "([{\u27e6\u27e8\u300a\u300c\u3010"
_CLOSES: Final = ")]}\u27e7\u27e9\u300b\u300d\u3011"
_BEGINS: Final = "\"'`{([<|!\u2139\u201c\u201e\u00ab"
_OPENINGS: Final = " \t>*_-#/;%|\"'`({[<!.+~=@&^"
# Words of a label that addresses a reader; "agent" alone may also be a role, a speaker or a product.
_TO: Final = words_of("to for an für fuer pour para per voor à ai de kepada untuk dla для")
_ADDRESS: Final = _TO | words_of(
    "note notes hint hints help message messages msg instruction instructions rule rules directive "
    "directives prompt prompts preamble order orders policy notice override attention reminder guidance "
    "only command commands action actions task todo fixme important reading executes execute "
    "execution remark remarks memo reader readers reviewer reviewers anweisung anweisungen hinweis nota "
    "aviso consigne consignes instrucciones instruções istruzioni please dear hey hello todos へ への"
)
_PLAIN: Final = words_of(
    "all any every each the this that these and or of in by your my our x coding code automatic automated "
    "review who which required data extra meta custom internal begin end start tools alle die der das den "
    "aux les el los las i gli os y et und e digitale digitalen context must dev"
)


class AgentCall(NamedTuple):
    """What is said to an agent: where its label is, the text, and the sum of words that is enough.

    Without a text, it is a setting that silences the agent.
    """

    start: int
    said: str
    least: float


class _Label(NamedTuple):
    """A label: where it begins and ends, the sum that is enough, and whether it addresses a reader."""

    start: int
    end: int
    least: float
    addresses: bool


def calls(text: str, spots: Sequence[int]) -> Iterator[AgentCall]:
    """The calls in a text that names agents at these places, and settings beside their names that silence
    them."""
    end = seen = 0
    for spot in spots:
        near = bisect_left(spots, spot + _LONGEST) - bisect_left(spots, spot - _REACH)
        if spot < end or len(spots) - near > _MOST_COMPANY:
            continue
        label = _label(text, spot)
        start = label.start if label is not None else spot
        after = _end_of_block(text, label.end if label is not None else spot)
        company = len(spots) - (bisect_left(spots, after) - bisect_left(spots, start))
        if company > _MOST_COMPANY:
            continue
        if label is not None and _is_said(text, label, after, company):
            yield AgentCall(start, _BETWEEN.sub(" ", text[label.end : after]), label.least)
            end = after
        elif company <= _COMPANY_OF_NAME and spot >= seen:
            seen = after
            yield from _beside(text, spot, after)


def _beside(text: str, spot: int, end: int) -> Iterator[AgentCall]:
    """What is said beside the name of an agent: a setting that silences it, an order in code, in a comment,
    in a block quote or in a row of a table."""
    start = max(text.rfind("\n\n", 0, spot) + 2, spot - _LONGEST // 2)
    if _silences(text, start, end):
        yield AgentCall(spot, "", -1.0)
        return
    start = max(text.rfind("\n", start, spot) + 1, start)
    if not _in_sentence(text, spot, start, end):
        return
    certain = _CERTAIN.match(text, spot) or _CERTAIN.match(text, max(spot - 1, 0))
    mark = text[start:spot].lstrip()[:1]
    if _is_code(text, spot):
        if certain is None and "user" in text[max(spot - 7, 0) : spot].lower():
            return
        least = _LEAST_BESIDE if certain is not None else _LEAST_UNCERTAIN
        yield AgentCall(spot, _BETWEEN.sub(" ", text[start:end]), least)
    elif certain is not None and mark in (">", "|"):
        row = text.find("\n", spot, end) if mark == "|" else -1
        yield AgentCall(spot, text[start : row if row >= 0 else end], _LEAST_QUOTED)


def _in_sentence(text: str, spot: int, start: int, end: int) -> bool:
    return SENTENCE.search(text, max(spot - _REACH, start), min(spot + 4 * _REACH, end)) is not None


def _end_of_block(text: str, at: int) -> int:
    blank = _END_OF_BLOCK.search(text, at, at + _LONGEST)
    return blank.start() if blank is not None else min(at + _LONGEST, len(text))


def _is_said(text: str, label: _Label, end: int, company: int) -> bool:
    """Whether something is said to the one whom a label names."""
    said = _BETWEEN.sub(" ", text[label.end : end])
    prose = _PROSE.match(said)
    if prose is None:
        return label.addresses and SENTENCE.search(said) is not None and _is_code(text, label.start)
    return label.addresses or (company <= _COMPANY_OF_NAME and not prose["below"])


def _is_prose(text: str, at: int) -> bool:
    """Whether a label is in prose: in no code, comment or string."""
    first = max(text.rfind("\n", 0, at) + 1, at - _REACH)
    marked = (at > 0 and text[at - 1] in _BEGINS) or text.startswith(("    ", "\t"), first)
    return not marked and not _is_code(text, at)


def _is_code(text: str, at: int) -> bool:
    """Whether a place is in fenced code or in a comment."""
    commented = any(text.rfind(begin, 0, at) > text.rfind(end, 0, at) for begin, end in _COMMENTED)
    return commented or any(start <= at < end for start, end in _fences(text))


_fences = lru_cache(maxsize=1)(fences)


def _silences(text: str, start: int, end: int) -> bool:
    """Whether a setting says not to ask or not to tell."""
    for found in _SETTING.finditer(text, start, end):
        name = _NAME_BEFORE.search(text[max(found.start() - _REACH, start) : found.start()])
        words = [word for word in _words(name[0]) if not word.endswith("ed")] if name is not None else []
        if any(word in _TELLING or not _SILENCED.isdisjoint(_classes(word)) for word in words):
            return True
    return _QUIET.search(text, start, end) is not None


def _label(text: str, spot: int) -> _Label | None:
    """The label at the name of an agent."""
    first = max(text.rfind("\n", 0, spot) + 1, spot - _REACH)
    name = _name(text, first, spot)
    found = _END.match(text, spot) if name is None else None
    if found is None:
        return name
    start = spot - len(_EDGE.split(text[first:spot])[-1])
    before, last = text[first:start], found["end"][-1]
    addresses = _addresses(_words(text[start : found.start("end")]))
    key = last in "\"'`" and _KEY.match(text, found.end()) is not None
    half = found["end"][0] == ")" and last != ")" and "(" not in text[start:spot]
    if addresses is None or half or (before.count("`") % 2 and not key):
        return None
    if _QUOTATION.search(before) is not None and "](" not in before:
        return None
    if before[-1:] == "=" and last in _CLOSES:
        return _Label(start, found.end(), _LEAST_TO_READER, True)
    if last in "\"'" and before[-2:-1] == "=" and "<" in before:
        attributes = _ATTRIBUTES.match(text, found.end())
        end = attributes.end() if attributes is not None else found.end()
        return _Label(start, end, _LEAST_TO_READER, True)
    commented = text[first:spot].lstrip().startswith(_COMMENTS)
    bracket = last in _CLOSES and before.rstrip(".")[-1:] in _OPENS
    closed = commented or key or bracket or (last not in "\"'`," and last not in _CLOSES)
    if addresses and closed and (commented or last != "\n"):
        least = _LEAST_IN_PROSE if _is_prose(text, start) else _LEAST_TO_READER
        return _Label(start, found.end(), least, True)
    return _named(text, first, start, found)


def _named(text: str, first: int, start: int, found: re.Match[str]) -> _Label | None:
    """The label that is only the name of an agent."""
    before, last = text[first:start], found["end"][-1]
    heading = before[:1] == "#" and _HEADING.match(text, first) is not None
    models = all(word.startswith("model") for word in _words(text[start : found.start("end")]))
    begins = not before.strip(_OPENINGS) or before[-1:] in _BEGINS
    key = last in "\"'`" and _KEY.match(text, found.end()) is not None
    if heading or models or not begins or (last not in ":*,\uff1a" and not key):
        return None
    prose = _LEAST_IN_PROSE if _is_prose(text, start) else _LEAST
    return _Label(start, found.end(), max(prose, _LEAST_AFTER_COMMA) if last == "," else prose, False)


def _name(text: str, first: int, spot: int) -> _Label | None:
    """The label that is one name: ``assistant_rules``, ``_ai_mapping:``; not in a sentence."""
    start = spot
    while start > first and (text[start - 1].isalnum() or text[start - 1] in "_-"):
        start -= 1
    found = _REST_OF_NAME.match(text, spot)
    words = _words(text[start : found.end()]) if found is not None else []
    previous = text[first:start].rstrip(" \t@\"'`([{<*#/-")[-1:]
    if found is None or len(words) < 2 or previous.islower() or previous == ",":
        return None
    if _addresses(words) and text[found.end() : found.end() + 1] not in ("/", "."):
        return _Label(start, found.end(), _LEAST, True)
    key = (
        len(words) <= _MOST_UNKNOWN
        and "user" not in words
        and any("+agent" in _classes(word) for word in words)
    )
    return _Label(start, found.end(), _LEAST, False) if key and _VALUE.match(text, found.end()) else None


def _addresses(words: Sequence[str]) -> bool | None:
    """Whether the words of a label address an agent; `None` if they are no label of one."""
    at = next((at for at, word in enumerate(words) if "+agent" in _classes(word)), None)
    if at is None or len(words) > _MOST_WORDS:
        return None
    others = [word for word in words if "+agent" not in _classes(word) and word not in _PLAIN]
    doers = [word for word in words[at + 1 :] if _DOER.search(word) is not None]
    unknown = [word for word in others if word not in _ADDRESS and word not in doers]
    if not set(words[at:]).isdisjoint(unknown) or "example" in words:
        return None
    most = _MOST_UNKNOWN if not _TO.isdisjoint(words[max(at - 3, 0) : at]) else int(len(others) > 1)
    return not _ADDRESS.isdisjoint(others) if len(unknown) <= most else None


def _words(label: str) -> list[str]:
    return _WORDS.findall(_HUMP.sub(" ", label).lower())


@lru_cache(maxsize=1024)
def _classes(word: str) -> tuple[str, ...]:
    return Sentence(word, 0).classes[1]


def sum_of(said: str) -> float:
    """The highest sum of the words of one to three neighbouring sentences."""
    plain = " ".join(_MARKS.sub(" ", said).lower().replace("\u2019", "'").split())
    return max([score(near, sum([one.length for one in near])) for near in windows(plain)], default=-99.0)
