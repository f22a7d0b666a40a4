"""The careful reader of headers: walks ruamel.yaml's pure YAML 1.2 events under limits.

The only module that knows ruamel.yaml. Nothing is constructed: no tags, anchors, aliases, merge keys.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from thunderus_mem.document.frontmatter.nodes import (
    MAX_DEPTH,
    MAX_NODES,
    Entry,
    HeaderProblem,
    Mapping,
    Node,
    Scalar,
    Sequence,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

_SURROGATES = range(0xD800, 0xE000)


class _UnreadableError(Exception):
    def __init__(self, problem: HeaderProblem) -> None:
        super().__init__(problem.message)
        self.problem = problem


_UNCLOSED = 64
_BRACKETS = re.compile(r"[\[\]{}\n]")
_BEYOND = re.compile(r"\\U(?!000[0-9A-Fa-f]|0010)")


def read_full(text: str) -> tuple[Mapping | None, tuple[HeaderProblem, ...]]:
    """Read any header that the subset allows. See `read_header`."""
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
    except Exception as error:  # noqa: BLE001  (the parser raises bare ValueError, IndexError and others)
        return None, (_bare(text, error),)
    if reader.duplicates:
        return None, tuple(reader.duplicates)
    return root, ()


def _brackets(text: str) -> HeaderProblem | None:
    """Brackets left open in one line far beyond the depth limit, which the scanner would take long to refuse.

    It remembers every open bracket of the last 1,024 characters of a line as a possible key and looks through
    them all at each token.
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


def _too_deep(text: str, at: int) -> HeaderProblem:
    line = text.count("\n", 0, at) + 1
    column = at - text.rfind("\n", 0, at)
    message = f"The frontmatter is nested more than {MAX_DEPTH} deep."
    return HeaderProblem("depth", message, line, column, hint="Make it flatter.")


def _bare(text: str, error: Exception) -> HeaderProblem:
    """What the parser stumbled over without saying where: as a rule an escape beyond Unicode."""
    message = f"The frontmatter is not YAML ({type(error).__name__})."
    escape = _BEYOND.search(text)
    at = escape.start() if escape is not None else 0
    line, column = text.count("\n", 0, at) + 1, at - text.rfind("\n", 0, at)
    return HeaderProblem("syntax", message, line, column, hint="Check its quotes and escapes.")


def _mark(text: str, error: Any) -> tuple[int, int]:
    """Line and column (from 0) of an error; what is open at the end of the text began where it says."""
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


def _syntax(text: str, error: Any) -> HeaderProblem:
    line, at = _mark(text, error)
    column = at + 1
    row = text.split("\n")[line]
    reason = str(error.problem or error.context or "it does not parse").split("\n")[0][:120]
    blank = row[: len(row) - len(row.lstrip(" \t"))]
    if "\t" in blank or r"\t" in reason:
        where = row.index("\t") + 1 if "\t" in row else column
        return HeaderProblem(
            "tab", "A tab stands where YAML wants spaces.", line + 1, where, hint="Use spaces."
        )
    return HeaderProblem(
        "syntax", f"The frontmatter is not YAML: {reason}.", line + 1, column, hint=_syntax_hint(row, reason)
    )


def _syntax_hint(row: str, reason: str) -> str:
    if "mapping values" in reason or row.count(": ") > 1:
        return "Put a value that contains ': ' in quotes."
    if "cannot start any token" in reason:
        return "Put the value in quotes."
    return "Mend this line; the file is left as it is until it reads."


class _Reader:
    """State of one walk over events: how many nodes there were, and which keys came twice."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.nodes = 0
        self.duplicates: list[HeaderProblem] = []
        self.events: Iterator[Any] = iter(())

    def document(self, events: Iterator[Any]) -> Mapping:
        """Read the one document of the stream."""
        self.events = events
        next(events)  # stream start
        event = next(events)
        if _name(event) == "StreamEnd":
            return Mapping((), 0, 0, 1, 1, False)
        if event.explicit or event.version or event.tags:
            message = "The frontmatter holds a YAML directive or document mark."
            raise self.stop("multi-document", message, event, "Remove the line.")
        event = next(events)
        root = self.node(event, 1)
        end = next(events)
        if getattr(end, "explicit", False) or _name(next(events)) != "StreamEnd":
            message = "The frontmatter holds more than one YAML document."
            raise self.stop("multi-document", message, end, "Keep one.")
        if isinstance(root, Scalar) and root.plain and root.text == "":
            return Mapping((), 0, 0, 1, 1, False)
        if not isinstance(root, Mapping):
            message = "The frontmatter does not hold keys and values."
            raise self.stop("not-a-mapping", message, event, "Write 'key: value' lines.")
        return root

    def stop(self, code: str, message: str, event: Any, hint: str = "", key: str = "") -> _UnreadableError:
        mark = event.start_mark
        return _UnreadableError(HeaderProblem(code, message, mark.line + 1, mark.column + 1, key, hint))

    def node(self, event: Any, depth: int) -> Node:
        """The node that begins with ``event``."""
        self.nodes += 1
        kind = _name(event)
        if kind == "Alias":
            hint = "Put a value that begins with * in quotes; write out what another key says."
            raise self.stop("alias", "The frontmatter uses a YAML alias (*).", event, hint)
        if event.anchor is not None:
            raise self.stop(
                "anchor", "The frontmatter uses a YAML anchor (&).", event, "Write the value out."
            )
        if event.tag is not None:
            raise self.stop("tag", "The frontmatter uses a YAML tag (!).", event, "Remove the tag.")
        if self.nodes > MAX_NODES:
            raise self.stop(
                "size",
                f"The frontmatter holds more than {MAX_NODES:,} values.",
                event,
                "Move lists to the body.",
            )
        if kind == "Scalar":
            return self.scalar(event)
        if depth > MAX_DEPTH:
            raise self.stop(
                "depth", f"The frontmatter is nested more than {MAX_DEPTH} deep.", event, "Make it flatter."
            )
        return self.sequence(event, depth) if kind == "SequenceStart" else self.mapping(event, depth)

    def scalar(self, event: Any) -> Scalar:
        text = str(event.value)
        start, end = event.start_mark.index, event.end_mark.index
        if (not text.isascii() and any(ord(char) in _SURROGATES for char in text)) or "\0" in text:
            raise self.stop("control-character", "An escape stands for no character.", event, "Delete it.")
        if event.style is None and text.endswith(":"):
            # Only between brackets: YAML 1.2 takes it for a key without a value, the scanner for a text.
            raise self.stop("key", "A key in brackets has no value.", event, "Put the text in quotes.")
        if event.style in ("|", ">"):
            end = self.block_end(start, end)
        place = (event.start_mark.line + 1, event.start_mark.column + 1)
        return Scalar(text, start, end, *place, event.style is None)

    def block_end(self, start: int, end: int) -> int:
        """Where a literal or folded scalar ends: behind its last line, without that line's end.

        Blank lines behind it belong to it only when its mark says ``+`` (keep).
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

    def sequence(self, event: Any, depth: int) -> Sequence:
        start = event.start_mark
        items: list[Node] = []
        while _name(inner := next(self.events)) != "SequenceEnd":
            items.append(self.node(inner, depth + 1))
        flow = bool(event.flow_style)
        end = inner.end_mark.index if flow else items[-1].end
        return Sequence(tuple(items), start.index, end, start.line + 1, start.column + 1, flow)

    def mapping(self, event: Any, depth: int) -> Mapping:
        start = event.start_mark
        entries: list[Entry] = []
        seen: dict[str, int] = {}
        while _name(inner := next(self.events)) != "MappingEnd":
            key = self.key(inner, depth)
            if key.text in seen:
                message = (
                    f"The key '{key.text[:60]}' stands here a second time (first in line {seen[key.text]})."
                )
                self.duplicates.append(
                    HeaderProblem(
                        "duplicate-key", message, key.line, key.column, key.text, "Keep one of the two."
                    )
                )
            seen.setdefault(key.text, key.line)
            entries.append(Entry(key, self.settled(key, self.node(next(self.events), depth + 1))))
        flow = bool(event.flow_style)
        end = inner.end_mark.index if flow else entries[-1].value.end
        return Mapping(tuple(entries), start.index, end, start.line + 1, start.column + 1, flow)

    def settled(self, key: Scalar, value: Node) -> Node:
        """A missing value stands right behind the ``:``; the parser puts it anywhere up to the next token."""
        if not isinstance(value, Scalar) or value.start < value.end:
            return value
        place = self.text.index(":", key.end) + 1
        return Scalar("", place, place, key.line, key.column + place - key.start, True)

    def key(self, event: Any, depth: int) -> Scalar:
        key = self.node(event, depth + 1)
        if not isinstance(key, Scalar):
            raise self.stop("key", "A key is a list or a mapping.", event, "Keys are words.")
        if key.plain and key.text == "<<":
            raise self.stop(
                "merge-key", "The frontmatter uses a merge key (<<).", event, "Write the keys out."
            )
        if key.start == key.end:
            raise self.stop("key", "A value has no key.", event, "Write 'key: value'.")
        if self.text[key.start - 1 : key.start] == "?":
            # The scanner drops the mark, to YAML 1.2 it is the first letter of the key.
            raise self.stop("key", "A key in brackets begins with '?'.", event, "Put the key in quotes.")
        if self.text[key.end : key.end + 200].lstrip(" \t")[:1] != ":":
            hint = "Write 'key: value'; put a value that begins with { in quotes."
            raise self.stop("key", "A key is not followed by ':'.", event, hint)
        return key


def _name(event: Any) -> str:
    return type(event).__name__.removesuffix("Event")
