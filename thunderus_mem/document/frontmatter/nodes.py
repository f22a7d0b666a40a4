"""Frontmatter as values with positions: a subset of YAML 1.2 in which every scalar keeps its raw text. Pure.

`plain_data` leaves scalars untyped; `typed_data` applies the types of known keys (`KEY_TYPES`), and YAML
1.2's core schema to all others.
"""

from __future__ import annotations

import re
from typing import Any, TypeAlias

from thunderus_mem.startup import NamedTuple, lazy_pattern

MAX_BYTES = 32 * 1024
MAX_DEPTH = 6
MAX_NODES = 2_500


class Scalar(NamedTuple):
    """One scalar. ``text`` is its decoded value; ``plain`` means written without quotes.

    A named tuple: parsing makes thirty of these per document, and a frozen dataclass costs three times as
    much.

    In every node ``start`` and ``end`` are offsets into the parsed text (including quotes), ``line`` and
    ``column`` count from 1. A missing value is an empty plain scalar right after its ``:`` or ``-``.
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
    """Keys and values in the order of the file; keys are unique."""

    entries: tuple[Entry, ...]
    start: int
    end: int
    line: int
    column: int
    flow: bool

    def entry(self, key: str) -> Entry | None:
        """The key with its value, or ``None``."""
        for entry in self.entries:
            if entry.key.text == key:
                return entry
        return None

    def get(self, key: str) -> Node | None:
        """The value of ``key``, or ``None``."""
        for entry in self.entries:
            if entry.key.text == key:
                return entry.value
        return None

    def at(self, key: Key) -> Node | None:
        """The node at a path of keys; ``None`` when it is missing or a parent is not a mapping."""
        node: Node | None = self
        for name in key:
            node = node.get(name) if isinstance(node, Mapping) else None
        return node


Node: TypeAlias = Scalar | Sequence | Mapping
Key: TypeAlias = tuple[str, ...]
"""A path of keys, such as ``("verification", "status")``."""


class HeaderProblem(NamedTuple):
    """Why a header cannot be parsed.

    ``code`` is one of duplicate-key, tab, alias, anchor, tag, merge-key, key, depth, size, syntax,
    control-character, multi-document, not-a-mapping. ``line`` and ``column`` count from 1 in the header, and
    so does ``first``, the line of the first of two equal keys (0 for other problems).
    """

    code: str
    message: str
    line: int
    column: int
    key: str = ""
    hint: str = ""
    first: int = 0


def plain_data(node: Node) -> Any:
    """The node as nested dict, list and str; scalars stay untyped."""
    if isinstance(node, Scalar):
        return node.text
    if isinstance(node, Sequence):
        return [plain_data(item) for item in node.items]
    return {entry.key.text: plain_data(entry.value) for entry in node.entries}


NUMBER_KEYS = ("credibility", "emotional_valence", "emotional_arousal", "quality_score", "sequence_number")

# Types of known keys: s string, n number, o string or null, L list of strings, A list of anchors, C by the
# core schema. A "*" is for every other key below.
KEY_TYPES: dict[str, Any] = {
    **dict.fromkeys(
        (
            *("id", "title", "kind", "created", "updated", "author", "type", "source_type", "emotion"),
            *("episode_id", "category", "run_id", "agent", "source", "symbol", "timeframe", "market"),
            *("expires", "status", "rating"),
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


def is_null(node: Node | None) -> bool:
    """Whether the value is missing or null."""
    return node is None or (isinstance(node, Scalar) and node.plain and node.text in _NULLS)


_INTEGER = lazy_pattern(r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+", re.ASCII)
_FLOAT = lazy_pattern(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?", re.ASCII)
_BOOLEANS = {"true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False}
# Python refuses to parse very long decimal numbers, and no header needs one.
_LONGEST_NUMBER = 300


def typed_data(root: Mapping) -> dict[str, Any]:
    """The header as JSON-like data: known keys typed by a table, others by YAML 1.2's core schema.

    Ids, times and commit hashes are always strings. A known list or mapping without a value is empty. Numbers
    that are not finite, or longer than 300 characters, stay strings. Source: yaml.org/spec/1.2.2 §10.3.
    """
    return {entry.key.text: _typed(entry.value, KEY_TYPES.get(entry.key.text, "C")) for entry in root.entries}


def typed_value(root: Mapping, key: str) -> Any:
    """The value of one key as in `typed_data`, ``None`` if the header has no such key."""
    node = root.get(key)
    return None if node is None else _typed(node, KEY_TYPES.get(key, "C"))


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
        return None if text in _NULLS else _number(text)
    if text in _NULLS:
        return None
    if text in _BOOLEANS:
        return _BOOLEANS[text]
    return _number(text)


def _number(text: str) -> int | float | str:
    """The text as a number by YAML 1.2's core schema, else the text itself."""
    if len(text) > _LONGEST_NUMBER:
        return text
    if _INTEGER.fullmatch(text):
        return int(text, 0) if text[:2] in ("0o", "0x") else int(text)
    if _FLOAT.fullmatch(text):
        value = float(text)
        return value if abs(value) != float("inf") else text
    return text
