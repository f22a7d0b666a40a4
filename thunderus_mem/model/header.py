"""Frontmatter as values with places: a subset of YAML 1.2 in which every scalar stays its raw text.

Two readers stand behind `read_header`: a fast one for ordinary headers, which declines whatever it does not
know for sure, and a full one over the events of ruamel.yaml's pure parser. They never disagree.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple, TypeAlias

MAX_BYTES = 32 * 1024
MAX_DEPTH = 6
MAX_NODES = 2_500


class Scalar(NamedTuple):
    """One scalar. ``text`` is its decoded value; ``plain`` says that it was written without quotes.

    A named tuple: reading makes thirty of these a document, and a frozen dataclass costs three times that.

    In every node ``start`` and ``end`` are offsets into the text that was read (quotes included), ``line``
    and ``column`` count from 1. A missing value is an empty plain scalar right behind its ``:`` or ``-``.
    """

    text: str
    start: int
    end: int
    line: int
    column: int
    plain: bool


class Sequence(NamedTuple):
    """A list, written with dashes or (``flow``) in brackets. ``end`` is the end of its last item."""

    items: tuple[Node, ...]
    start: int
    end: int
    line: int
    column: int
    flow: bool


class Entry(NamedTuple):
    """A key of a mapping and its value."""

    key: Scalar
    value: Node


class Mapping(NamedTuple):
    """Keys and values in the order of the file; every key is there once."""

    entries: tuple[Entry, ...]
    start: int
    end: int
    line: int
    column: int
    flow: bool

    def get(self, key: str) -> Node | None:
        """The value of ``key``, or ``None``."""
        for entry in self.entries:
            if entry.key.text == key:
                return entry.value
        return None


Node: TypeAlias = Scalar | Sequence | Mapping


class Problem(NamedTuple):
    """Why a header cannot be read.

    ``code`` is one of duplicate-key, tab, alias, anchor, tag, merge-key, key, depth, size, syntax,
    control-character, multi-document, not-a-mapping. ``line`` and ``column`` count from 1 in the header.
    """

    code: str
    message: str
    line: int
    column: int
    key: str = ""
    hint: str = ""


class Fences(NamedTuple):
    """Where a header stands in a file's text (offsets; lines from 1).

    ``start``/``line`` are the header's first line, ``end`` the offset of the closing fence, ``body_start``
    and ``body_line`` what follows it. Not ``closed``: the offsets are the text's end.
    """

    closed: bool
    start: int
    line: int
    end: int
    body_start: int
    body_line: int


def find_fences(text: str) -> Fences | None:
    """Find the header: a first line ``---`` (after a BOM, if any), closed by a line ``---`` or ``...``.

    Blanks may follow the marks. ``None`` when the first line is no fence. One pass, no backtracking.
    """
    opening = 1 if text.startswith("\ufeff") else 0
    if not text.startswith("---", opening):
        return None
    line_end = text.find("\n", opening)
    if line_end < 0:
        line_end = len(text)
    if text[opening + 3 : line_end].strip(" \t\r"):
        return None
    start = min(line_end + 1, len(text))
    best = _closing(text, line_end, "\n---", len(text))
    best = _closing(text, line_end, "\n...", best)
    if best >= len(text):
        return Fences(False, start, 2, len(text), len(text), 2)
    after = text.find("\n", best)
    body_start = len(text) if after < 0 else after + 1
    body_line = 3 + text.count("\n", start, best)
    return Fences(True, start, 2, best, body_start, body_line)


def _closing(text: str, position: int, mark: str, limit: int) -> int:
    """Offset of the first line before ``limit`` that holds nothing but ``mark``; ``limit`` when none does."""
    while True:
        position = text.find(mark, position, limit)
        if position < 0:
            return limit
        line_end = text.find("\n", position + 1)
        rest = text[position + 4 : len(text) if line_end < 0 else line_end]
        if not rest.strip(" \t\r"):
            return position + 1
        position += 4


# What no YAML reader treats alike: controls, a carriage return alone, line and paragraph separators, a BOM
# that is not at the file's start, and what is no character at all.
_FORBIDDEN = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff\ud800-\udfff]|\r(?!\n)"
)


def read_header(text: str) -> tuple[Mapping | None, tuple[Problem, ...]]:
    """Read the text between the fences. Either a mapping and no problem, or ``None`` and why.

    Offsets, lines and columns are relative to ``text``; its first line is 1. An empty header is an empty
    mapping. Never raises, and takes linear time.
    """
    if len(text) * 4 > MAX_BYTES and len(text.encode("utf-8", "surrogatepass")) > MAX_BYTES:
        return None, (
            Problem("size", "The frontmatter is larger than 32 KiB.", 1, 1, hint="Move text to the body."),
        )
    if not text.replace("\n", "").isprintable():
        bad = _FORBIDDEN.search(text)
        if bad is not None:
            return None, (_control_character(text, bad.start()),)
    from thunderus_mem.model.header_fast import read_fast

    fast = read_fast(text)
    if fast is not None:
        return fast, ()
    from thunderus_mem.model.header_full import read_full

    return read_full(text)


def _control_character(text: str, offset: int) -> Problem:
    line = text.count("\n", 0, offset) + 1
    column = offset - text.rfind("\n", 0, offset)
    name = f"U+{ord(text[offset]):04X}"
    return Problem(
        "control-character",
        f"The frontmatter holds the invisible character {name}.",
        line,
        column,
        hint="Delete it, or write it as an escape inside double quotes.",
    )


def plain_data(node: Node) -> Any:
    """The nested dict, list and str a node stands for; no scalar is given a type."""
    if isinstance(node, Scalar):
        return node.text
    if isinstance(node, Sequence):
        return [plain_data(item) for item in node.items]
    return {entry.key.text: plain_data(entry.value) for entry in node.entries}


NUMBER_KEYS = ("credibility", "emotional_valence", "emotional_arousal", "quality_score", "sequence_number")

# Types of known keys: s text, n number, o text or null, L list of texts, M mapping of known or free keys,
# R mapping of lists of texts, C as the core schema says. A "*" names every other key below.
_TABLE: dict[str, Any] = {
    **dict.fromkeys(
        (
            *("id", "title", "kind", "created", "updated", "author", "type", "source_type", "emotion"),
            *(
                "episode_id",
                "category",
                "run_id",
                "agent",
                "source",
                "symbol",
                "timeframe",
                "market",
                "expires",
                "status",
            ),
        ),
        "s",
    ),
    **dict.fromkeys(NUMBER_KEYS, "n"),
    "tags": "L",
    "aliases": "L",
    "links": {"*": "L"},
    "provenance": {"events": "L", "patches": "L", "commits": "L", "*": "C"},
    "verification": {"last_verified_commit": "o", "status": "s", "*": "C"},
    "anchors": "A",
    "metadata": {"*": "C"},
    "*": "C",
}

_NULLS = frozenset(["", "~", "null", "Null", "NULL"])
_INTEGER = re.compile(r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+", re.ASCII)
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?", re.ASCII)
_BOOLEANS = {"true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False}
# Python refuses to read longer decimal numbers, and no header has a use for one.
_LONGEST_NUMBER = 300


def typed_data(root: Mapping) -> dict[str, Any]:
    """The header as JSON-like data: known keys typed by a table, others by YAML 1.2's core schema.

    Ids, times and shas are text whatever they look like. A known list or mapping without a value is empty.
    Numbers that are not finite, or longer than 300 characters, stay text. Source: yaml.org/spec/1.2.2 §10.3.
    """
    return {entry.key.text: _typed(entry.value, _TABLE.get(entry.key.text, "C")) for entry in root.entries}


def _typed(node: Node, kind: Any) -> Any:
    if isinstance(node, Scalar):
        return _typed_scalar(node, kind)
    if isinstance(node, Sequence):
        inner = {"L": "s", "A": {"*": "s"}}.get(kind, "C") if isinstance(kind, str) else "C"
        return [_typed(item, inner) for item in node.items]
    table = kind if isinstance(kind, dict) else {"*": "C"}
    return {e.key.text: _typed(e.value, table.get(e.key.text, table["*"])) for e in node.entries}


def _typed_scalar(node: Scalar, kind: Any) -> Any:
    text = node.text
    if kind == "s":
        return text
    if not node.plain:
        return text
    if kind == "o":
        return None if text in _NULLS else text
    if isinstance(kind, dict) or kind in ("L", "A"):
        if text not in _NULLS:
            return text
        return {} if isinstance(kind, dict) else []
    if kind == "n":
        return _number(text)
    if text in _NULLS:
        return None
    if text in _BOOLEANS:
        return _BOOLEANS[text]
    return _number(text)


def _number(text: str) -> int | float | str:
    """The number a text is in YAML 1.2's core schema, else the text itself."""
    if len(text) > _LONGEST_NUMBER:
        return text
    if _INTEGER.fullmatch(text):
        return int(text, 0) if text[:2] in ("0o", "0x") else int(text)
    if _FLOAT.fullmatch(text):
        value = float(text)
        return value if abs(value) != float("inf") else text
    return text
