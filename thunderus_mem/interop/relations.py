"""What a line of a decision record says of its relation to others. Pure: text in, targets as written out.

A target is a link's, ``#7`` for a record named by its number, or ``?name`` for a word that may be the name of
a file, and means nothing when there is none.
"""

from __future__ import annotations

import re
from typing import NamedTuple

_BY = re.compile(r"\b(?:super[sc]eded|replaced|obsoleted)\b.*?\bby\b(.*)", re.IGNORECASE)
_BY_LINK = re.compile(r"\b(?:super[sc]eded|replaced|obsoleted)\b[\s:\u2013\u2014-]*(\[.*)", re.IGNORECASE)
_OVER = re.compile(r"\b(?:super[sc]edes?|replaces|obsoletes)\b(.*)", re.IGNORECASE)
_PARTLY = re.compile(r"§|\b(?:in part|partly|partial(?:ly)?|aspects?|parts? of|sections?)\b", re.IGNORECASE)
_OPENING = r"[\s>*+_-]*\[?(?:\*\*|__)?"
_REFERS = re.compile(
    rf"{_OPENING}(amends|extends|refines|clarifies|complements|depends on|builds on|relate[sd] to)\b(.*)",
    re.IGNORECASE,
)
_REFERRED = re.compile(
    rf"{_OPENING}(amended|extended|refined|clarified|complemented)\b[^\[\]]{{0,40}}?\bby\b(.*)", re.IGNORECASE
)
_BEGINS = re.compile(
    rf"{_OPENING}(?:super[sc]ede[sd]?|replace[sd]|obsolete[sd]|amend|extend|refine|clarif|complement|depends|builds|relate)",
    re.IGNORECASE,
)
_LINK = re.compile(r"\]\(<?([^()\s<>\[\]]+)(?:[\s>][^()\[\]]*)?\)|\[\[([^\[\]|]+)")
_NAMED = re.compile(r"\b(?:adr|rfc|decision)[\s#_-]*(\d{1,5})\b", re.ASCII | re.IGNORECASE)
_FILE = re.compile(r"(?<![\w./-])(\d{3,8}-[a-zA-Z][\w.-]*|[\w.-]+\.md)(?![\w/])", re.ASCII)
_LABELLED = re.compile(
    rf"{_OPENING}(?:super[sc]ede[sd]?|replaced?s?|amend(?:s|ed)|extend(?:s|ed)|refine[sd]|relate[sd])"
    r"(?: (?:by|to))?[*_]{0,2}:",
    re.IGNORECASE,
)
_MAX_LINE = 2_000

SUPERSEDES, REFERS = "supersedes", "refers_to"


class Mention(NamedTuple):
    """One relation: this record to ``target``, or with ``backwards`` the target to this one.

    ``word`` is how it was said. ``partial`` is a whole line about a part: no relation follows from it.
    """

    rel: str
    target: str
    backwards: bool = False
    word: str = ""
    partial: str = ""


def mentions(line: str, *, strict: bool = False) -> list[Mention]:
    """The relations a line tells; with ``strict`` only when it begins with one, as an item of a list does."""
    if len(line) > _MAX_LINE or is_choice(line) or (strict and not _BEGINS.match(line)):
        return []
    for pattern, rel, backwards in ((_REFERRED, REFERS, True), (_REFERS, REFERS, False)):
        if found := pattern.match(line):
            return [Mention(rel, target, backwards, found[1].lower()) for target in targets(found[2])]
    by = _BY.search(line) or _BY_LINK.search(line)
    over = None if by else _OVER.search(line)
    found = by or over
    if found is None:
        return []
    told = targets(found[1])
    if told and _PARTLY.search(line):
        return [Mention(SUPERSEDES, "", partial=" ".join(line.split()))]
    return [Mention(SUPERSEDES, target, by is not None) for target in told]


def key_mentions(key: str, value: object) -> list[Mention]:
    """The relations a key of a frontmatter tells, as ``supersedes``, ``superseded-by`` or ``amends``."""
    phrase = " ".join(re.split(r"[_\s-]+", re.sub(r"(?<=[a-z])(?=[A-Z])", " ", key))).lower()
    rel = {
        "supersedes": (SUPERSEDES, False),
        "replaces": (SUPERSEDES, False),
        "superseded by": (SUPERSEDES, True),
        "replaced by": (SUPERSEDES, True),
        "amends": (REFERS, False),
        "extends": (REFERS, False),
        "refines": (REFERS, False),
        "depends on": (REFERS, False),
        "related": (REFERS, False),
        "related to": (REFERS, False),
        "relates to": (REFERS, False),
        "amended by": (REFERS, True),
        "extended by": (REFERS, True),
        "refined by": (REFERS, True),
    }.get(phrase)
    if rel is None:
        return []
    values = value if isinstance(value, list) else [value]
    return [Mention(rel[0], target, rel[1], phrase) for item in values for target in value_targets(item)]


def is_labelled(line: str) -> bool:
    """Whether a line is a field that tells a relation, as ``**Extends**: …``, wherever it stands."""
    return _LABELLED.match(line) is not None


def value_targets(item: object) -> list[str]:
    """The records that one value of a field names: a number, a link, a name."""
    text = str(item).strip() if isinstance(item, (str, int)) and not isinstance(item, bool) else ""
    if text.isdigit():
        return [f"#{int(text[:9])}"]
    return targets(text) or ([f"?{text}"] if text and not any(char.isspace() for char in text) else [])


def targets(text: str) -> list[str]:
    """The records a piece of text names: its links, else numbers, else words that could be files."""
    links = [first or second for first, second in _LINK.findall(text)]
    if links:
        return links
    named = [f"#{int(number)}" for number in _NAMED.findall(text)]
    return named or [f"?{name.rstrip('.')}" for name in _FILE.findall(text)]


def is_choice(line: str) -> bool:
    """Whether a line offers values to choose from, as templates do."""
    return line.count("|") > 1
