"""Frontmatter as text: format keys and values so that all YAML readers agree, and replace parts of a header.

`edit` decides what to change; `checked` parses each result again. `ambiguous` finds unquoted values that YAML
readers interpret differently. Pure.
"""

from __future__ import annotations

import json
import math
import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

from thunderus_mem.document.frontmatter import nodes, read
from thunderus_mem.errors import InvalidDocument
from thunderus_mem.startup import lazy_pattern

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator


# Keys and values as they are written

_OPTIONAL: Final[dict[str, tuple[str, ...]]] = {
    "title": ("aliases",),
    "kind": (
        *("author", "type", "source", "source_type", "agent", "run_id", "category"),
        *("symbol", "timeframe", "market", "expires", "links"),
    ),
    "provenance": (
        *("credibility", "quality_score", "rating", "emotion", "emotional_valence", "emotional_arousal"),
        *("episode_id", "sequence_number", "metadata", "anchors"),
    ),
}
"""Optional keys, by the required key they follow.

Git cannot merge changes of adjacent lines. Below these keys no list grows (that of patches only when the
gardener merges duplicates), and `updated` and the values of `verification`, which change most, are not
adjacent.
"""
REQUIRED: Final = ("id", "title", "kind", "tags", "created", "updated", "provenance", "verification")
KEY_ORDER: Final = tuple(name for key in REQUIRED for name in (key, *_OPTIONAL.get(key, ())))
PROVENANCE: Final = ("events", "patches", "commits")
_NESTED_ORDER: Final[dict[str, tuple[str, ...]]] = {
    "provenance": PROVENANCE,
    "verification": ("last_verified_commit", "status", "by", "committed"),
    "links": ("derives_from", "refers_to", "supersedes", "duplicates"),
    "anchors": ("path", "symbol", "lines", "fingerprint"),
}

# Begins with a letter and has no indicator of block style. Everything else gets quotes, including numbers,
# times and commit hashes of digits.
_SAFE = lazy_pattern(
    r"(?:[^\W\d_]|_|\.(?=[^\W\d]))(?:[\w ./()'@+;!?&%=*<>|~^$,\[\]{}\"`\\-]++|:(?=[^\s:])|(?<! )#)*+"
)
_SAFE_FLOW = lazy_pattern(r"(?:[^\W\d_]|_|\.(?=[^\W\d]))[\w./@+-]*(?: [\w./@+-]+)*")
_OTHERS = "y n yes no on off true false null none nan inf .nan .inf ~ _"
_WORDS_OF_OTHERS = frozenset(_OTHERS.split())
_FOLDED = lazy_pattern(r"[_0-9a-fA-F]*[0-9][eE][0-9]+|0[xob][0-9a-fA-F_]+")
_ESCAPED = lazy_pattern(
    "[\x7f-\xa0\u2028\u2029\ufeff\ufffe\uffff\ud800-\udfff\u200b-\u200f\u202a-\u202e\u2060-\u2069]"
)


def quoted(text: str) -> str:
    """Text in double quotes, valid in JSON and YAML; invisible characters become escapes."""
    return _ESCAPED.sub(lambda m: f"\\u{ord(m[0]):04x}", json.dumps(text, ensure_ascii=False))


def scalar(value: object, *, flow: bool = False) -> str:
    """One value on one line. Strings get quotes when any YAML reader could give them another type."""
    if value is None:
        return "null"
    if value is True or value is False:
        return "true" if value else "false"
    if isinstance(value, float) and not math.isfinite(value):
        raise InvalidDocument(
            "a number in the frontmatter is not finite", hint="use a finite number or a string"
        )
    if isinstance(value, int | float):
        return repr(value)
    if not isinstance(value, str):
        message = f"unsupported type in the frontmatter: {type(value).__name__}"
        raise InvalidDocument(message, hint="use a string, a number, true, false, null, a list or a mapping")
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
    """The lines of ``key`` and ``value`` in block style, indented by ``indent``."""
    head = f"{' ' * indent}{_key(key)}:"
    below = value_lines(key, value, indent + 2)
    if below:
        return [head, *below]
    return [f"{head} {_one_line(value)}"]


@lru_cache(maxsize=1_024, typed=True)
def _key(key: str) -> str:
    """A key as it is written: documents have the same ones."""
    return scalar(key)


def _one_line(value: object) -> str:
    if isinstance(value, dict):
        return "{}"
    return "[]" if isinstance(value, list | tuple) else scalar(value)


def value_lines(key: str, value: object, indent: int) -> list[str]:
    """The lines below a key: one per item or nested key; none for a scalar or an empty value."""
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
    """The fixed order of keys below ``parent`` ("" = top level)."""
    return _NESTED_ORDER.get(parent, ()) if parent else KEY_ORDER


def ordered(keys: Iterable[str], parent: str = "") -> list[str]:
    """Known keys in their fixed order, then the others in the given order."""
    fixed = order_of(parent)
    given = list(keys)
    return [key for key in fixed if key in given] + [key for key in given if key not in fixed]


def as_read(value: Any) -> Any:
    """The `plain_data` of a value once written and parsed: every scalar is a string."""
    if isinstance(value, dict):
        return {str(key): as_read(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [as_read(item) for item in value]
    return value if isinstance(value, str) else scalar(value)


def compose(header: dict[str, Any], body: str) -> str:
    """The text of a new document: keys in `KEY_ORDER`, one list item per line, then the body.

    A blank line separates header and body, and the text ends in a line end. To keep the exact bytes of a body
    use ``replace_body(compose(header, ""), body)``. Raises `InvalidDocument` for values that cannot be
    written.
    """
    text = header_text(header)
    if body:
        lead = "" if body[0] in "\r\n" else "\n"
        text += lead + body + ("" if body.endswith("\n") else "\n")
    opened = read.open_header(text)
    if nodes.plain_data(opened.root) != as_read(dict(header)):
        raise InvalidDocument(
            "the frontmatter cannot be written without changing its values", hint="simplify them"
        )
    return text


def header_text(header: dict[str, Any]) -> str:
    """The fences and lines of a new header. The caller reads them again: a value might have changed."""
    lines: list[str] = []
    for name in ordered(header):
        lines.extend(block_lines(name, header[name], 0))
    return "---\n" + joined(lines, "\n") + "---\n"


# Lines of a header, removed and inserted


def checked(opened: read.Opened, header: str, expected: Any) -> str:
    """The new text, if its header parses as ``expected``; raises `InvalidDocument` otherwise."""
    text = opened.with_header(header)
    fences = read.find_fences(text)
    if fences is not None and fences.closed and fences.end == opened.fences.start + len(header):
        root, _ = read.read_header(header)
        if root is not None and nodes.plain_data(root) == expected:
            return text
    raise InvalidDocument(
        "this edit cannot preserve the style of the frontmatter",
        hint="make the change by hand",
    )


def line_start(text: str, offset: int) -> int:
    return text.rfind("\n", 0, offset) + 1


def line_after(text: str, offset: int) -> int:
    """Offset after the line end of the line at ``offset``."""
    end = text.find("\n", offset)
    return len(text) if end < 0 else end + 1


def entry_lines(header: str, entry: nodes.Entry) -> tuple[int, int]:
    """The lines of a block entry, half-open, including comments indented deeper than its key.

    If they stayed when the entry is removed, they could become part of the value above.
    """
    own = re.compile(rf"(?: {{{entry.key.column},}}#[^\n]*\n?|[ \t]*\r?\n(?= {{{entry.key.column},}}#))*")
    end = line_after(header, entry.value.end)
    match = own.match(header, end)
    return line_start(header, entry.key.start), end if match is None else match.end()


def _colon_end(header: str, entry: nodes.Entry) -> int:
    return header.index(":", entry.key.end) + 1


def joined(lines: list[str], eol: str) -> str:
    return "".join([line + eol for line in lines])


def insert_lines(opened: read.Opened, offset: int, lines: list[str]) -> str:
    """The header with lines inserted at an offset where a line begins or the text ends."""
    header = opened.header
    lead = "" if offset == 0 or header[offset - 1] == "\n" else opened.eol
    return header[:offset] + lead + joined(lines, opened.eol) + header[offset:]


def with_new_key(opened: read.Opened, mapping: nodes.Mapping, name: str, value: Any, parent: str) -> str:
    """The header with a new key in ``mapping``, which has entries unless it is the root."""
    header = opened.header
    if mapping.flow:
        pair = f"{scalar(name, flow=True)}: {flow_value(value)}"
        return (
            header[: mapping.start + 1]
            + pair
            + (", " if mapping.entries else "")
            + header[mapping.start + 1 :]
        )
    lines = block_lines(name, value, mapping.column - 1)
    if not mapping.entries:
        return insert_lines(opened, len(header), lines)
    before = _predecessor(mapping, name, parent)
    if before is None:
        return insert_lines(opened, line_start(header, mapping.start), lines)
    return insert_lines(opened, line_after(header, before.value.end), lines)


def _predecessor(mapping: nodes.Mapping, name: str, parent: str) -> nodes.Entry | None:
    """The entry a new key follows: the last one before it in the fixed order; unknown keys go last.

    It directly follows a required key, and a relation goes first: below another key it could be adjacent to
    the end of a list, which grows there.
    """
    order = order_of(parent)
    if name not in order:
        return mapping.entries[-1]
    before = set(order[: order.index(name)])
    if parent in ("", "links"):
        before.intersection_update(REQUIRED)
    return next((entry for entry in reversed(mapping.entries) if entry.key.text in before), None)


_MARK = lazy_pattern(r"[|>][-+0-9]*([ \t]+#[^\r\n]*)?")


def _mark_comment(header: str, old: nodes.Node) -> str:
    """The comment after the mark of a literal or folded scalar, with the spaces before it."""
    if not isinstance(old, nodes.Scalar) or old.plain:
        return ""
    mark = _MARK.match(header, old.start)
    return mark[1] or "" if mark is not None else ""


def with_value(opened: read.Opened, mapping: nodes.Mapping, entry: nodes.Entry, value: Any) -> str:
    """The header with a new value for an existing entry."""
    header, old = opened.header, entry.value
    colon = _colon_end(header, entry)
    if mapping.flow or _stays_flow(old, value):
        return _spliced(header, old.start, old.end, flow_value(value))
    below = value_lines(entry.key.text, value, entry.key.column + 1)
    comment = _mark_comment(header, old)
    if not below:
        one_line = _single(value) + comment
        if (isinstance(old, nodes.Scalar) or old.flow) and old.column > entry.key.column:
            return _spliced(header, old.start, old.end, one_line)
        cut = _without_lines(header, old)
        return cut[:colon] + " " + one_line + cut[colon:]
    if old.line == entry.key.line:
        gap = comment or (" " if header[old.end : old.end + 1] == "#" else "")
        cut = header[:colon] + gap + header[old.end :]
        at = line_after(cut, colon)
    elif isinstance(old, nodes.Scalar) or old.flow:
        first = line_start(header, old.start)
        cut = header[:first] + header[line_after(header, old.end) :]
        at = first
    else:
        cut = _without_lines(header, old)
        at = line_start(header, old.start)
    lead = "" if at == 0 or cut[at - 1] == "\n" else opened.eol
    return cut[:at] + lead + joined(below, opened.eol) + cut[at:]


def _stays_flow(old: nodes.Node, value: Any) -> bool:
    if isinstance(old, nodes.Sequence):
        return old.flow and bool(old.items) and isinstance(value, list | tuple)
    return isinstance(old, nodes.Mapping) and old.flow and bool(old.entries) and isinstance(value, dict)


def _single(value: Any) -> str:
    if isinstance(value, dict | list | tuple):
        return flow_value(value)
    return scalar(value)


def _spliced(header: str, start: int, end: int, new: str) -> str:
    """Replace a value by ``new``, with spaces after an indicator and before a comment."""
    lead = " " if start and header[start - 1] in ":-" else ""
    tail = " " if header[end : end + 1] == "#" else ""
    return header[:start] + lead + new + tail + header[end:]


def _without_lines(header: str, node: nodes.Node) -> str:
    """The header without the lines of a block value."""
    return header[: line_start(header, node.start)] + header[line_after(header, node.end) :]


# The comma after an item, and the spaces before the next one on the same line.
_COMMA: Final = lazy_pattern(r"[ \t]*,(?:[ \t]+(?![ \t#\r\n]))?")
# Anything between an item in brackets and the end of its line.
_TAIL: Final = lazy_pattern(r"([ \t]*,)?(?:[ \t]+#[^\n]*|[ \t\r]*)(?:\n|\Z)")


def with_item(opened: read.Opened, node: nodes.Sequence, place: int, item: Any, name: str = "") -> str:
    """The header with ``item`` inserted at index ``place`` of the list ``name``, which is not empty."""
    if not node.flow:
        return _with_line(opened, node, place, item, name)
    broken_up = _with_flow_line(opened, node, place, flow_value(item))
    return broken_up or _within_line(opened.header, node, place, flow_value(item))


def _with_line(opened: read.Opened, node: nodes.Sequence, place: int, item: Any, name: str) -> str:
    header = opened.header
    sibling = node.items[min(place, len(node.items) - 1)]
    between = re.match(r"-( *)", header[line_start(header, sibling.start) + node.column - 1 :])
    blanks = between[1] if between is not None and between[1] else " "
    lines = [" " * (node.column - 1) + "-" + blanks + scalar(item)] if isinstance(item, str) else []
    lines = lines or value_lines(name, [item], node.column - 1)
    if place == 0:
        return insert_lines(opened, line_start(header, node.start), lines)
    return insert_lines(opened, line_after(header, node.items[place - 1].end), lines)


def _within_line(header: str, node: nodes.Sequence, place: int, written: str) -> str:
    if place:
        end = node.items[place - 1].end
        return header[:end] + ", " + written + header[end:]
    start = node.items[0].start
    return header[:start] + written + ", " + header[start:]


def _with_flow_line(opened: read.Opened, node: nodes.Sequence, place: int, written: str) -> str:
    """The header with the item on a line of its own in brackets, if its neighbor has one; else ""."""
    header = opened.header
    neighbour = node.items[max(place - 1, 0)]
    indent = _own_indent(header, neighbour.start)
    if indent is None:
        return ""
    if place == 0:
        return insert_lines(opened, line_start(header, neighbour.start), [indent + written + ","])
    tail = _TAIL.match(header, neighbour.end)
    if tail is None:
        return ""
    if tail[1]:
        return insert_lines(opened, tail.end(), [indent + written + ","])
    if place < len(node.items):
        return ""
    lined = insert_lines(opened, tail.end(), [indent + written])
    return lined[: neighbour.end] + "," + lined[neighbour.end :]


def _own_indent(header: str, start: int) -> str | None:
    """The spaces before an item that is first on its line; else ``None``."""
    blanks = header[line_start(header, start) : start]
    return None if blanks.strip(" ") else blanks


def without_items(header: str, node: nodes.Sequence, gone: set[int]) -> str:
    """The header without the items at these indexes; at least one item remains."""
    if node.flow:
        return without_flow(header, [(one.start, one.end) for one in node.items], gone)
    return _cut(header, [_line_cut(header, node, first, last) for first, last in _runs(gone)])


def without_flow(header: str, places: list[tuple[int, int]], gone: set[int]) -> str:
    """The header without some of the items at these places in one pair of brackets or braces."""
    if len(gone) == len(places):
        comma = re.compile(r"[ \t]*,").match(header, places[-1][1])
        return _cut(header, [(places[0][0], comma.end() if comma is not None else places[-1][1])])
    return _cut(header, [_flow_cut(header, places, first, last) for first, last in _runs(gone)])


def _runs(numbers: set[int]) -> list[tuple[int, int]]:
    """First and last of each run of consecutive numbers."""
    firsts = sorted(number for number in numbers if number - 1 not in numbers)
    return list(zip(firsts, sorted(n for n in numbers if n + 1 not in numbers), strict=True))


def _cut(header: str, cuts: list[tuple[int, int]]) -> str:
    for start, end in reversed(cuts):
        header = header[:start] + header[end:]
    return header


def _line_cut(header: str, node: nodes.Sequence, first: int, last: int) -> tuple[int, int]:
    dash = "\n" + " " * (node.column - 1) + "-"
    start = header.rfind(dash, 0, node.items[first].start) + 1
    return start, line_after(header, node.items[last].end)


def _flow_cut(header: str, places: list[tuple[int, int]], first: int, last: int) -> tuple[int, int]:
    """The range to cut for a run of items: its lines if it has its own, else with the comma after or
    before."""
    start, end = places[first][0], places[last][1]
    is_last = last + 1 == len(places)
    tail = _TAIL.match(header, end)
    own = _own_indent(header, start) is not None
    if own and tail is not None and (tail[1] or is_last):
        return line_start(header, start), tail.end()
    comma = _COMMA.match(header, end)
    if not is_last:
        return start, comma.end() if comma is not None else places[last + 1][0]
    if own:
        return start, comma.end() if comma is not None else end
    return places[first - 1][1], end


# Values that YAML readers interpret differently

_OTHER_BOOLEAN = frozenset(("y", "n", "yes", "no", "on", "off"))
_BOOLEAN_OR_NULL = frozenset(("true", "false", "null", "~"))
# Numbers that differ between YAML 1.1 and 1.2: leading zeros, 0o, sexagesimal, exponents without a dot, `_`.
_OTHER_NUMBER = lazy_pattern(
    r"[-+]?(?:0[0-9_]+|0o[0-7]+|0b[01_]+|[0-9][0-9_]*_[0-9_]*|[0-9]+[eE][-+]?[0-9]+|[0-9]+(?::[0-5]?[0-9])+(?:\.[0-9]*)?)"
)
_ANY_NUMBER = lazy_pattern(
    r"[-+]?(?:0x[0-9a-fA-F_]+|(?:[0-9][0-9_]*\.?[0-9_]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?|\.(?:inf|nan|Inf|NaN|INF|NAN))"
)
_DATE = lazy_pattern(r"[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}(?:[Tt \t].*)?")

_TIMES = frozenset(("created", "updated", "expires"))
_NUMBERS = frozenset((*nodes.NUMBER_KEYS, "session"))
_TEXTS = frozenset(
    ("links", "provenance", *(key for key, kind in nodes.KEY_TYPES.items() if kind == "s" or kind == "L"))
) - {*_TIMES, "status"}


def _reads_two_ways(text: str) -> bool:
    return text.lower() in _OTHER_BOOLEAN or _OTHER_NUMBER.fullmatch(text) is not None


def _is_not_text(text: str) -> bool:
    return (
        _reads_two_ways(text)
        or text.lower() in _BOOLEAN_OR_NULL
        or _ANY_NUMBER.fullmatch(text) is not None
        or _DATE.fullmatch(text) is not None
    )


def _short(node: nodes.Node, path: nodes.Key, found: list[tuple[nodes.Key, nodes.Scalar]]) -> None:
    """Collect the unquoted values that may be ambiguous, in order: short ones, or not beginning with a
    letter."""
    if isinstance(node, nodes.Scalar):
        text = node.text
        # Most values begin with a letter and are longer than any ambiguous word.
        if node.plain and text and (len(text) <= 5 or (len(text) <= 64 and not text[0].isalpha())):
            found.append((path, node))
    elif isinstance(node, nodes.Sequence):
        for index, item in enumerate(node.items):
            _short(item, (*path, str(index)), found)
    else:
        for entry in node.entries:
            _short(entry.value, (*path, entry.key.text), found)


def _test_for(path: nodes.Key) -> Callable[[str], bool] | None:
    """The test for a value: known strings must be strings to every reader, others the same to all."""
    top = path[0]
    if top in _TIMES or top in _NUMBERS:
        return None
    if top in _TEXTS:
        return _is_not_text
    if path == ("verification", "last_verified_commit"):
        return lambda text: text not in ("null", "~") and _is_not_text(text)
    return _reads_two_ways


def ambiguous(header: nodes.Mapping) -> Iterator[tuple[nodes.Key, nodes.Scalar]]:
    """The unquoted values that YAML readers interpret differently, each with its path of keys."""
    found: list[tuple[nodes.Key, nodes.Scalar]] = []
    _short(header, (), found)
    for path, value in found:
        test = _test_for(path)
        if test is not None and test(value.text):
            yield path, value
