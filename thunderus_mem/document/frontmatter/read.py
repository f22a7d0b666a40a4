"""Finds and parses the header of a document's text: the fences, keys and values. Pure.

`read_header` uses two parsers: `read_fast`, which declines anything unusual, and `read_full`, over the events
of ruamel.yaml's pure parser and under limits. They never disagree. Nothing is constructed: no tags, anchors,
aliases, merge keys.
"""

from __future__ import annotations

from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from thunderus_mem.document.frontmatter import nodes
from thunderus_mem.errors import InvalidDocument
from thunderus_mem.startup import NamedTuple, lazy_pattern

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


class Fences(NamedTuple):
    """The position of a header in a file's text (offsets; lines from 1).

    ``start``/``line`` are the header's first line, ``end`` the offset of the closing fence, ``body_start``
    and ``body_line`` where the body begins. If not ``closed``, the offsets are the end of the text.
    """

    closed: bool
    start: int
    line: int
    end: int
    body_start: int
    body_line: int


def find_fences(text: str) -> Fences | None:
    """Find the header: a first line ``---`` (after a BOM, if any), closed by a line ``---`` or ``...``.

    Spaces may follow the marks. ``None`` when the first line is not a fence. One pass, no backtracking.
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
    """Offset of the first line before ``limit`` with only ``mark``; ``limit`` when there is none."""
    while True:
        position = text.find(mark, position, limit)
        if position < 0:
            return limit
        line_end = text.find("\n", position + 1)
        rest = text[position + 4 : len(text) if line_end < 0 else line_end]
        if not rest.strip(" \t\r"):
            return position + 1
        position += 4


# Characters that YAML readers treat differently: controls, a lone carriage return, line and paragraph
# separators, a BOM not at the start of the file, and noncharacters.
_FORBIDDEN = lazy_pattern(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff\ud800-\udfff]|\r(?!\n)"
)


_MOST_KEPT: Final = 128


@lru_cache(maxsize=_MOST_KEPT)
def read_header(text: str) -> tuple[nodes.Mapping | None, tuple[nodes.HeaderProblem, ...]]:
    """Parse the text between the fences: a mapping and no problems, or ``None`` and the problems.

    Offsets, lines and columns are relative to ``text``; its first line is 1. An empty header is an empty
    mapping. Never raises; linear time. The last ones are kept, because each edit of a text reads it again.
    """
    if len(text) * 4 > nodes.MAX_BYTES and len(text.encode("utf-8", "surrogatepass")) > nodes.MAX_BYTES:
        return None, (
            nodes.HeaderProblem(
                "size", "The frontmatter is larger than 32 KiB", 1, 1, hint="Move text to the body"
            ),
        )
    if not text.replace("\n", "").isprintable():
        bad = _FORBIDDEN.search(text)
        if bad is not None:
            return None, (_control_character(text, bad.start()),)

    fast = read_fast(text)
    if fast is not None:
        return fast, ()

    return read_full(text)


def _control_character(text: str, offset: int) -> nodes.HeaderProblem:
    line = text.count("\n", 0, offset) + 1
    column = offset - text.rfind("\n", 0, offset)
    name = f"U+{ord(text[offset]):04X}"
    return nodes.HeaderProblem(
        "control-character",
        f"The frontmatter contains the invisible character {name}",
        line,
        column,
        hint="Delete it",
    )


class Opened(NamedTuple):
    """A text with a valid header."""

    text: str
    fences: Fences
    header: str
    root: nodes.Mapping
    eol: str

    def with_header(self, header: str) -> str:
        """The text with a new header."""
        return self.text[: self.fences.start] + header + self.text[self.fences.end :]


def open_header(text: str) -> Opened:
    """Parse the header of a text to edit. Raises `InvalidDocument` when it is missing or invalid."""
    fences = find_fences(text)
    if fences is None or not fences.closed:
        message = "the document has no frontmatter between a first line --- and another line ---"
        raise InvalidDocument(message, hint="add the frontmatter by hand")
    header = text[fences.start : fences.end]
    root, problems = read_header(header)
    if root is None:
        first = problems[0]
        message = f"invalid frontmatter (line {fences.line + first.line - 1}): {first.message}"
        raise InvalidDocument(message, hint=first.hint or "fix it by hand")
    line = header[: header.find("\n") + 1] or text[: fences.start]
    eol = "\r\n" if line.endswith("\r\n") else "\n"
    return Opened(text, fences, header, root, eol)


class RewrittenValue(NamedTuple):
    """A value of a header that is not written as it is read: its key, and its place in the text."""

    key: str
    value: str
    start: int
    end: int


_REWRITES = lazy_pattern(r"\\|\n[ \t]+(?!- |#|[\w.-]+:(?:[ \r\n]|$))\S")


def rewritten_values(text: str) -> Iterator[RewrittenValue]:
    """Yield the values of a document's header with escapes or line breaks, and such keys as values without a
    key; none of an invalid header."""
    fences = find_fences(text)
    if fences is None or not fences.closed or not _REWRITES.search(text, fences.start, fences.end):
        return
    root, _ = read_header(text[fences.start : fences.end])
    for key, one in _scalars("", root) if root is not None else ():
        start, end = fences.start + one.start, fences.start + one.end
        if any(mark in text[start:end] for mark in "\\\n"):
            yield RewrittenValue(key, one.text, start, end)


def _scalars(key: str, node: nodes.Node) -> Iterator[tuple[str, nodes.Scalar]]:
    if isinstance(node, nodes.Scalar):
        yield key, node
    elif isinstance(node, nodes.Sequence):
        for item in node.items:
            yield from _scalars(key, item)
    elif isinstance(node, nodes.Mapping):
        for entry in node.entries:
            yield "", entry.key
            yield from _scalars(entry.key.text, entry.value)


# Ordinary headers

_LINE = lazy_pattern(r"( *)(- +)?(?:([^\W\d][\w.-]{0,99}(?: [\w.-]{1,40}){0,9}):(?: +|$))?(.*)")

# A plain scalar on one line: no indicator at the start, no ": " and no " #", no ":" at the end.
_STARTS = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./(<~+$^;=\\")
_NO_START = frozenset("\u2028\u2029\ufeff\ufffe\uffff")
_QUOTED = lazy_pattern(r"""(?:"([^"\\]*)"|'((?:[^']|'')*)')(?: +#.*| *)""")
_FOLD = lazy_pattern(r"(?<! ) *\r?\n *")
_FLOW_PLAIN = lazy_pattern(r"[\w./][\w./@+ -]*")
_FLOW_QUOTED = lazy_pattern(r""""[^"\\]*"|'[^']*'""")


# A line with content: offset, number (from 1), indent, width of a dash with the spaces after it (0 without
# one), key ("" without one), the rest with the lines that continue it, and the rest's column (from 0).
_Line: TypeAlias = tuple[int, int, int, int, str, str, int]


# Construct named tuples without their Python-level `__new__`, which would take a fifth of the parsing time.
_scalar: Final[Callable[[tuple[str, int, int, int, int, bool]], nodes.Scalar]] = partial(
    tuple.__new__, nodes.Scalar
)
_entry: Final[Callable[[tuple[nodes.Scalar, nodes.Node]], nodes.Entry]] = partial(tuple.__new__, nodes.Entry)


class _DeclineError(Exception):
    """An unusual header: left to the full parser."""


def read_fast(text: str) -> nodes.Mapping | None:
    """Parse an ordinary header, or return ``None``. ``text`` has no control characters except line ends."""
    if "\t" in text:
        return None
    lines = _lines(text)
    if lines is None:
        return None
    if not lines:
        return nodes.Mapping((), 0, 0, 1, 1, False)
    if lines[0][2] or lines[0][3] or len(lines) * 4 + text.count(",") > nodes.MAX_NODES:
        return None
    try:
        root, after = _mapping(lines, 0, 0, 1)
    except _DeclineError:
        return None
    return root if after == len(lines) else None


def _lines(text: str) -> list[_Line] | None:
    """The lines with content; ``None`` when one is not a key, an item, a comment or the rest of a value."""
    found: list[_Line] = []
    offset = last = 0
    match = _LINE.match
    carriage = "\r" in text
    for number, raw in enumerate(text.split("\n"), 1):
        line = raw[:-1] if carriage and raw.endswith("\r") else raw
        parts = match(line)
        if parts is None:
            return None
        indent, dash, key, rest = parts.groups("")
        if key:
            found.append((offset, number, len(indent), len(dash), key, rest, len(line) - len(rest)))
        elif dash:
            if not rest:
                return None
            found.append((offset, number, len(indent), len(dash), key, rest, len(line) - len(rest)))
        elif rest and rest[0] != "#":
            if not found or number != last + 1 or not _continues(found[-1], len(indent)):
                return None
            begun = found[-1]
            found[-1] = (*begun[:5], text[begun[0] + begun[6] : offset + len(line)], begun[6])
        else:
            offset += len(raw) + 1
            continue
        last = number
        offset += len(raw) + 1
    return found


def _continues(line: _Line, indent: int) -> bool:
    """Whether a line with this indent may continue the value that begins on a line."""
    _, _, column, dash, key, rest, _ = line
    return indent > column + (dash if key else 0) and rest[:1] not in ("", "#")


def _mapping(lines: list[_Line], index: int, indent: int, depth: int) -> tuple[nodes.Mapping, int]:
    """The block mapping that begins at a line, and the index of the line after it."""
    if depth > nodes.MAX_DEPTH:
        raise _DeclineError
    entries: list[nodes.Entry] = []
    seen: set[str] = set()
    first = index
    count = len(lines)
    while index < count:
        offset, number, column, dash, key, rest, rest_column = lines[index]
        if column != indent or dash or not key:
            break
        if key in seen:
            raise _DeclineError
        seen.add(key)
        start = offset + indent
        end = start + len(key)
        index += 1
        value: nodes.Node
        if rest and rest[0] != "#":
            value = _value(rest, offset + rest_column, number, rest_column + 1, depth)
        else:
            value, index = _below(lines, index, indent, depth) or (
                nodes.Scalar("", end + 1, end + 1, number, indent + len(key) + 2, True),
                index,
            )
        entries.append(_entry((_scalar((key, start, end, number, indent + 1, True)), value)))
        if index < count and lines[index][2] > indent:
            raise _DeclineError
    if not entries:
        raise _DeclineError
    start, number = lines[first][0] + indent, lines[first][1]
    return nodes.Mapping(tuple(entries), start, entries[-1].value.end, number, indent + 1, False), index


def _below(lines: list[_Line], index: int, indent: int, depth: int) -> tuple[nodes.Node, int] | None:
    """The block value below a key at ``indent`` columns; ``None`` when there is none."""
    if index == len(lines):
        return None
    _, _, column, dash, _, _, _ = lines[index]
    if column < indent or (column == indent and not dash):
        return None
    if dash:
        return _sequence(lines, index, column, depth + 1)
    return _mapping(lines, index, column, depth + 1)


def _sequence(lines: list[_Line], index: int, indent: int, depth: int) -> tuple[nodes.Sequence, int]:
    """The block list that begins at a line, and the index of the line after it."""
    if depth > nodes.MAX_DEPTH:
        raise _DeclineError
    first = index
    items: list[nodes.Node] = []
    while index < len(lines):
        offset, number, column, dash, key, rest, rest_column = lines[index]
        if column != indent or not dash:
            break
        item: nodes.Node
        if key:
            lines[index] = (offset, number, indent + dash, 0, key, rest, rest_column)
            item, index = _mapping(lines, index, indent + dash, depth + 1)
        else:
            item = _value(rest, offset + rest_column, number, rest_column + 1, depth)
            index += 1
        items.append(item)
        if index < len(lines) and lines[index][2] > indent:
            raise _DeclineError
    start, number = lines[first][0] + indent, lines[first][1]
    return nodes.Sequence(tuple(items), start, items[-1].end, number, indent + 1, False), index


def _value(rest: str, start: int, line: int, column: int, depth: int) -> nodes.Node:
    """The rest of a line as a scalar or flow list, in a value ``depth`` levels deep."""
    mark = rest[0]
    if mark in _STARTS or (mark > "\xa0" and mark not in _NO_START):
        if " #" in rest:
            if "\n" in rest:
                raise _DeclineError
            rest = rest[: rest.find(" #")]
        if rest[-1] == " ":
            rest = rest.rstrip(" ")
        text = _folded(rest) if "\n" in rest else rest
        if text[-1] == ":" or ": " in text:
            raise _DeclineError
        return _scalar((text, start, start + len(rest), line, column, True))
    if mark == "[":
        if depth == nodes.MAX_DEPTH:
            raise _DeclineError
        return _flow(rest, start, line, column)
    quoted = _QUOTED.fullmatch(rest)
    if quoted is None:
        raise _DeclineError
    double, single = quoted.groups()
    if double is not None:
        text = _folded(double) if "\n" in double else double
        return _scalar((text, start, start + len(double) + 2, line, column, False))
    text = (_folded(single) if "\n" in single else single).replace("''", "'")
    return nodes.Scalar(text, start, start + len(single) + 2, line, column, False)


def _folded(text: str) -> str:
    """The lines of a value, joined by spaces."""
    return _FOLD.sub(" ", text)


def _flow(rest: str, start: int, line: int, column: int) -> nodes.Sequence:
    """A flow list of scalars without commas, colons or quotes in them."""
    rest = rest.rstrip(" ")
    if rest[-1] != "]" or "\n" in rest:
        raise _DeclineError
    items: list[nodes.Node] = []
    inner = rest[1:-1]
    position = 1
    for part in inner.split(",") if inner.strip(" ") else ():
        item = part.strip(" ")
        lead = position + len(part) - len(part.lstrip(" "))
        if _FLOW_PLAIN.fullmatch(item):
            items.append(
                nodes.Scalar(item, start + lead, start + lead + len(item), line, column + lead, True)
            )
        elif _FLOW_QUOTED.fullmatch(item):
            items.append(
                nodes.Scalar(item[1:-1], start + lead, start + lead + len(item), line, column + lead, False)
            )
        else:
            raise _DeclineError
        position += len(part) + 1
    return nodes.Sequence(tuple(items), start, start + len(rest), line, column, True)


# Any header, from the events of ruamel.yaml

_SURROGATES = range(0xD800, 0xE000)


class _UnreadableError(Exception):
    def __init__(self, problem: nodes.HeaderProblem) -> None:
        super().__init__(problem.message)
        self.problem = problem


_UNCLOSED = 64
_BRACKETS = lazy_pattern(r"[\[\]{}\n]")
_BEYOND = lazy_pattern(r"\\U(?!000[0-9A-Fa-f]|0010)")


def read_full(text: str) -> tuple[nodes.Mapping | None, tuple[nodes.HeaderProblem, ...]]:
    """Parse any header of the subset. See `read_header`."""
    from ruamel.yaml import YAML
    from ruamel.yaml.error import MarkedYAMLError

    bomb = _brackets(text)
    if bomb is not None:
        return None, (bomb,)
    reader = _Reader(text)
    try:
        root = reader.document(iter(YAML(typ="safe", pure=True).parse(text)))
    except _UnreadableError as stop:
        return None, (stop.problem,)
    except MarkedYAMLError as error:
        return None, (_syntax(text, error),)
    except MemoryError:
        raise
    except Exception as error:  # noqa: BLE001  (the parser raises bare ValueError, IndexError and others)
        return None, (_bare(text, error),)
    if reader.duplicates:
        return None, tuple(reader.duplicates)
    return root, ()


def _brackets(text: str) -> nodes.HeaderProblem | None:
    """Find open brackets in one line far beyond the depth limit, which the scanner would be slow to reject.

    It keeps every open bracket of the last 1,024 characters of a line as a possible key and checks all of
    them at each token.
    """
    if text.count("[") + text.count("{") <= _UNCLOSED:
        return None
    unclosed = first = 0
    for mark in _BRACKETS.finditer(text):
        if mark[0] in "[{":
            first = first if unclosed else mark.start()
            unclosed += 1
            if unclosed > _UNCLOSED:
                return _too_deep(text, first)
        else:
            unclosed = 0 if mark[0] == "\n" else max(unclosed - 1, 0)
    return None


def _too_deep(text: str, at: int) -> nodes.HeaderProblem:
    line = text.count("\n", 0, at) + 1
    column = at - text.rfind("\n", 0, at)
    message = f"The frontmatter is nested more than {nodes.MAX_DEPTH} levels deep"
    return nodes.HeaderProblem("depth", message, line, column, hint="Reduce the nesting")


def _bare(text: str, error: Exception) -> nodes.HeaderProblem:
    """A parser error without a position: usually an escape beyond Unicode."""
    message = f"The frontmatter is not valid YAML ({type(error).__name__})"
    escape = _BEYOND.search(text)
    at = escape.start() if escape is not None else 0
    line, column = text.count("\n", 0, at) + 1, at - text.rfind("\n", 0, at)
    return nodes.HeaderProblem("syntax", message, line, column, hint="Check its quotes and escapes")


def _mark(text: str, error: Any) -> tuple[int, int]:
    """Line and column (from 0) of an error; for something left open, where it begins."""
    mark = error.problem_mark or error.context_mark
    last = text.rstrip().count("\n")
    if mark is not None and (mark.line > last or str(error.problem).startswith("could not find expected")):
        mark = error.context_mark or mark
    directive = text.rfind("\n%") + 1
    if directive and "document start" in str(error.problem):
        return text.count("\n", 0, directive), 0
    if mark is None:
        return 0, 0
    return (mark.line, mark.column) if mark.line <= last else (last, 0)


def _syntax(text: str, error: Any) -> nodes.HeaderProblem:
    line, at = _mark(text, error)
    column = at + 1
    row = text.split("\n")[line]
    reason = str(error.problem or error.context or "it does not parse").split("\n")[0][:120]
    blank = row[: len(row) - len(row.lstrip(" \t"))]
    if "\t" in blank or r"\t" in reason:
        where = row.index("\t") + 1 if "\t" in row else column
        return nodes.HeaderProblem(
            "tab", "The frontmatter is indented with a tab", line + 1, where, hint="Use spaces"
        )
    return nodes.HeaderProblem(
        "syntax",
        f"The frontmatter is not valid YAML: {reason}",
        line + 1,
        column,
        hint=_syntax_hint(row, reason),
    )


def _syntax_hint(row: str, reason: str) -> str:
    if "mapping values" in reason or row.count(": ") > 1:
        return "Put a value that contains ': ' in quotes"
    if "cannot start any token" in reason:
        return "Put the value in quotes"
    return "Fix this line; the file is not changed until it is valid"


class _Reader:
    """The state of one pass over the events: the number of nodes, and duplicate keys."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.nodes = 0
        self.duplicates: list[nodes.HeaderProblem] = []
        self.events: Iterator[Any] = iter(())

    def document(self, events: Iterator[Any]) -> nodes.Mapping:
        """Read the one document of the stream."""
        self.events = events
        next(events)  # stream start
        event = next(events)
        if _name(event) == "StreamEnd":
            return nodes.Mapping((), 0, 0, 1, 1, False)
        if event.explicit or event.version or event.tags:
            message = "The frontmatter contains a YAML directive or document mark"
            raise self.stop("multi-document", message, event, "Remove the line")
        event = next(events)
        root = self.node(event, 1)
        end = next(events)
        if getattr(end, "explicit", False) or _name(next(events)) != "StreamEnd":
            message = "The frontmatter contains more than one YAML document"
            raise self.stop("multi-document", message, end, "Keep one")
        if isinstance(root, nodes.Scalar) and root.plain and root.text == "":
            return nodes.Mapping((), 0, 0, 1, 1, False)
        if not isinstance(root, nodes.Mapping):
            message = "The frontmatter is not a mapping"
            raise self.stop("not-a-mapping", message, event, "Write 'key: value' lines")
        return root

    def stop(self, code: str, message: str, event: Any, hint: str = "") -> _UnreadableError:
        mark = event.start_mark
        return _UnreadableError(nodes.HeaderProblem(code, message, mark.line + 1, mark.column + 1, hint=hint))

    def node(self, event: Any, depth: int) -> nodes.Node:
        """The node that begins with ``event``."""
        self.nodes += 1
        kind = _name(event)
        if kind == "Alias":
            hint = "Put a value that begins with * in quotes; write out an aliased value"
            raise self.stop("alias", "The frontmatter uses a YAML alias (*)", event, hint)
        if event.anchor is not None:
            raise self.stop("anchor", "The frontmatter uses a YAML anchor (&)", event, "Write the value out")
        if event.tag is not None:
            raise self.stop("tag", "The frontmatter uses a YAML tag (!)", event, "Remove the tag")
        if self.nodes > nodes.MAX_NODES:
            raise self.stop(
                "size",
                f"The frontmatter has more than {nodes.MAX_NODES:,} values",
                event,
                "Move lists to the body",
            )
        if kind == "Scalar":
            return self.scalar(event)
        if depth > nodes.MAX_DEPTH:
            raise self.stop(
                "depth",
                f"The frontmatter is nested more than {nodes.MAX_DEPTH} levels deep",
                event,
                "Reduce the nesting",
            )
        return self.sequence(event, depth) if kind == "SequenceStart" else self.mapping(event, depth)

    def scalar(self, event: Any) -> nodes.Scalar:
        text = str(event.value)
        start, end = event.start_mark.index, event.end_mark.index
        if (not text.isascii() and any(ord(char) in _SURROGATES for char in text)) or "\0" in text:
            raise self.stop("control-character", "Invalid character escape", event, "Delete it")
        if event.style is None and text.endswith(":"):
            # Only in brackets: a key without a value in YAML 1.2, a string to the scanner.
            raise self.stop("key", "A key in brackets has no value", event, "Put the text in quotes")
        if event.style in ("|", ">"):
            end = self.block_end(start, end)
        place = (event.start_mark.line + 1, event.start_mark.column + 1)
        return nodes.Scalar(text, start, end, *place, event.style is None)

    def block_end(self, start: int, end: int) -> int:
        """The end of a literal or folded scalar: that of its last line, without the line end.

        Blank lines after it belong to it only with a ``+`` (keep) in its mark.
        """
        text = self.text
        head_end = text.find("\n", start)
        if head_end < 0:
            return len(text.rstrip(" \t\r\n")) if end > start else end
        end = text.rfind("\n", 0, max(end, head_end + 1))
        if "+" not in text[start:head_end].split(" #")[0]:
            content = len(text[:end].rstrip(" \t\r\n")) if end > start else end
            stop = text.find("\n", max(content, start))
            end = len(text) if stop < 0 else stop
        return end - 1 if text[end - 1 : end] == "\r" else end

    def sequence(self, event: Any, depth: int) -> nodes.Sequence:
        start = event.start_mark
        items: list[nodes.Node] = []
        while _name(inner := next(self.events)) != "SequenceEnd":
            items.append(self.node(inner, depth + 1))
        flow = bool(event.flow_style)
        end = inner.end_mark.index if flow else items[-1].end
        return nodes.Sequence(tuple(items), start.index, end, start.line + 1, start.column + 1, flow)

    def mapping(self, event: Any, depth: int) -> nodes.Mapping:
        start = event.start_mark
        entries: list[nodes.Entry] = []
        seen: dict[str, int] = {}
        while _name(inner := next(self.events)) != "MappingEnd":
            key = self.key(inner, depth)
            if key.text in seen:
                message, hint = f"Duplicate key '{key.text[:60]}'", "Keep one of the two"
                self.duplicates.append(
                    nodes.HeaderProblem(
                        "duplicate-key", message, key.line, key.column, key.text, hint, seen[key.text]
                    )
                )
            seen.setdefault(key.text, key.line)
            entries.append(nodes.Entry(key, self.placed(key, self.node(next(self.events), depth + 1))))
        flow = bool(event.flow_style)
        end = inner.end_mark.index if flow else entries[-1].value.end
        return nodes.Mapping(tuple(entries), start.index, end, start.line + 1, start.column + 1, flow)

    def placed(self, key: nodes.Scalar, value: nodes.Node) -> nodes.Node:
        """Place a missing value right after the ``:``; the parser puts it anywhere up to the next token."""
        if not isinstance(value, nodes.Scalar) or value.start < value.end:
            return value
        place = self.text.index(":", key.end) + 1
        return nodes.Scalar("", place, place, key.line, key.column + place - key.start, True)

    def key(self, event: Any, depth: int) -> nodes.Scalar:
        key = self.node(event, depth + 1)
        if not isinstance(key, nodes.Scalar):
            raise self.stop("key", "A key is a list or a mapping", event, "Use a word as the key")
        if key.plain and key.text == "<<":
            raise self.stop("merge-key", "The frontmatter uses a merge key (<<)", event, "Write the keys out")
        if key.start == key.end:
            raise self.stop("key", "A value has no key", event, "Write 'key: value'")
        if self.text[key.start - 1 : key.start] == "?":
            # The scanner drops the mark; in YAML 1.2 it is the first letter of the key.
            raise self.stop("key", "A key in brackets begins with '?'", event, "Put the key in quotes")
        if self.text[key.end : key.end + 200].lstrip(" \t")[:1] != ":":
            hint = "Write 'key: value'; put a value that begins with { in quotes"
            raise self.stop("key", "A key is not followed by ':'", event, hint)
        return key


def _name(event: Any) -> str:
    return type(event).__name__.removesuffix("Event")
