"""Frontmatter as text: how a key and its value are written so that every YAML reader reads the same."""

from __future__ import annotations

import json
import math
import re
from typing import TYPE_CHECKING, Any, Final

from thunderus_mem.model.errors import InvalidDocument

if TYPE_CHECKING:
    from collections.abc import Iterable

KEY_ORDER: Final[tuple[str, ...]] = (
    *("id", "title", "kind", "tags", "aliases", "created", "updated"),
    *(
        "author",
        "type",
        "source",
        "source_type",
        "agent",
        "run_id",
        "category",
        "symbol",
        "timeframe",
        "market",
        "expires",
    ),
    *("credibility", "quality_score", "emotion", "emotional_valence", "emotional_arousal"),
    *("episode_id", "sequence_number", "anchors", "links", "metadata", "provenance", "verification"),
)
_NESTED_ORDER: Final[dict[str, tuple[str, ...]]] = {
    "provenance": ("events", "patches", "commits"),
    "verification": ("last_verified_commit", "status", "by"),
    "links": ("derives_from", "refers_to", "supersedes", "duplicates"),
    "anchors": ("path", "symbol", "lines", "fingerprint"),
}

# Begins with a letter, and nothing in it is a mark in block style. Whatever else there is gets quotes:
# numbers, times and shas of digits among it.
_SAFE = re.compile(
    r"(?:[^\W\d_]|_|\.(?=[^\W\d]))(?:[\w ./()'@+;!?&%=*<>|~^$,\[\]{}\"`\\-]|:(?=[^\s:])|(?<! )#)*"
)
_SAFE_FLOW = re.compile(r"(?:[^\W\d_]|_|\.(?=[^\W\d]))[\w./@+-]*(?: [\w./@+-]+)*")
_OTHERS = "y n yes no on off true false null none nan inf .nan .inf ~ _"
_WORDS_OF_OTHERS = frozenset(_OTHERS.split())
_FOLDED = re.compile(r"[_0-9a-fA-F]*[0-9][eE][0-9]+|0[xob][0-9a-fA-F_]+")
_ESCAPED = re.compile(
    "[\x7f-\xa0\u2028\u2029\ufeff\ufffe\uffff\ud800-\udfff\u200b-\u200f\u202a-\u202e\u2060-\u2069]"
)


def quoted(text: str) -> str:
    """Text in double quotes, as JSON and YAML both read it; invisible characters become escapes."""
    return _ESCAPED.sub(lambda m: f"\\u{ord(m[0]):04x}", json.dumps(text, ensure_ascii=False))


def scalar(value: object, *, flow: bool = False) -> str:
    """One value on one line. Texts get quotes when any YAML reader could take them for something else."""
    if value is None:
        return "null"
    if value is True or value is False:
        return "true" if value else "false"
    if isinstance(value, float) and not math.isfinite(value):
        raise InvalidDocument("A number in the frontmatter is not finite.", hint="Give a number, or a text.")
    if isinstance(value, int | float):
        return repr(value)
    if not isinstance(value, str):
        message = f"The frontmatter cannot hold a value of type {type(value).__name__}."
        raise InvalidDocument(message, hint="Give text, a number, true, false, null, a list or a mapping.")
    return value if _is_plain(value, flow) else quoted(value)


def _is_plain(text: str, flow: bool) -> bool:
    pattern = _SAFE_FLOW if flow else _SAFE
    return (
        pattern.fullmatch(text) is not None
        and text[-1] not in " :"
        and text.lower() not in _WORDS_OF_OTHERS
        and _FOLDED.fullmatch(text) is None
        and (text.isascii() or _ESCAPED.search(text) is None)
    )


def flow_value(value: object) -> str:
    """A value of any depth on one line, in brackets and braces."""
    if isinstance(value, dict):
        return "{" + ", ".join([f"{scalar(k, flow=True)}: {flow_value(v)}" for k, v in value.items()]) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join([flow_value(item) for item in value]) + "]"
    return scalar(value, flow=True)


def block_lines(key: str, value: object, indent: int) -> list[str]:
    """The lines of ``key`` and ``value`` in block style, ``indent`` columns in."""
    head = f"{' ' * indent}{scalar(key)}:"
    below = value_lines(key, value, indent + 2)
    if below:
        return [head, *below]
    return [f"{head} {_one_line(value)}"]


def _one_line(value: object) -> str:
    if isinstance(value, dict):
        return "{}"
    return "[]" if isinstance(value, list | tuple) else scalar(value)


def value_lines(key: str, value: object, indent: int) -> list[str]:
    """The lines below a key: one item or one nested key a line; none for a scalar or an empty value."""
    if isinstance(value, dict):
        lines: list[str] = []
        for name in ordered(value, key):
            lines.extend(block_lines(name, value[name], indent))
        return lines
    if not isinstance(value, list | tuple):
        return []
    lines = []
    for item in value:
        if isinstance(item, dict) and item:
            inner = value_lines(key, item, indent + 2)
            lines.append(f"{' ' * indent}- {inner[0].lstrip(' ')}")
            lines.extend(inner[1:])
        elif isinstance(item, list | tuple | dict):
            lines.append(f"{' ' * indent}- {flow_value(item)}")
        else:
            lines.append(f"{' ' * indent}- {scalar(item)}")
    return lines


def order_of(parent: str) -> tuple[str, ...]:
    """The fixed order of keys below ``parent`` ("" = the top)."""
    return _NESTED_ORDER.get(parent, ()) if parent else KEY_ORDER


def ordered(keys: Iterable[str], parent: str = "") -> list[str]:
    """Known keys in their fixed order, then the others as they came."""
    fixed = order_of(parent)
    given = list(keys)
    return [key for key in fixed if key in given] + [key for key in given if key not in fixed]


def as_read(value: Any) -> Any:
    """What `header.plain_data` answers for a value once it is written and read: every scalar a text."""
    if isinstance(value, dict):
        return {str(key): as_read(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [as_read(item) for item in value]
    return value if isinstance(value, str) else scalar(value)
