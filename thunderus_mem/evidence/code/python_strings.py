"""Python's strings as tokens: by value, those that stand together joined, docstrings apart."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from thunderus_mem.evidence.code.literals import python_escapes
from thunderus_mem.evidence.code.walk import AT, CLOSE, OPEN

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ast_grep_py import SgNode

    from thunderus_mem.evidence.code.walk import Item, Walk

    Pairs = Sequence[tuple[SgNode, str]]

__all__ = ["docstring", "specification", "string"]

_STRINGS: Final = ("string", "concatenated_string")


class _Text:
    """The parts of one string, or of several that stand together: text that touches is one text."""

    def __init__(self, walk: Walk) -> None:
        self.walk = walk
        self.items: list[Item] = []
        self.text: list[str] = []
        self.mark = "'"
        self.formatted = False

    def add(self, node: SgNode) -> None:
        children = [(child, child.kind()) for child in node.children()]
        if not children or children[0][1] != "string_start" or children[-1][1] != "string_end":
            self.items.append(self.walk.slice(node))
            self.walk.broken = True
            return
        prefix = self.walk.slice(children[0][0]).rstrip("'\"").lower()
        raw, octets, formatted = "r" in prefix, "b" in prefix, "f" in prefix or "t" in prefix
        self.formatted |= formatted
        self.mark = "b'" if octets else "t'" if "t" in prefix else self.mark
        at = children[0][0].range().end.index
        # The grammar gives a quote behind a backslash at the end of a raw string to what closes it.
        closing = len(self.walk.slice(children[0][0])) - len(prefix)
        for child, kind in children[1:-1]:
            if kind == "string_content":
                continue
            span = child.range()
            self._text(self.walk.text[at : span.start.index], raw, octets, formatted)
            at = span.end.index
            if kind == "interpolation":
                self._interpolation(child)
        end = node.range().end.index - closing
        self._text(self.walk.text[at:end], raw, octets, formatted)

    def _text(self, text: str, raw: bool, octets: bool, formatted: bool) -> None:
        value = text if raw else python_escapes(text, octets)
        self.text.append(value.replace("{{", "{").replace("}}", "}") if formatted else value)

    def _interpolation(self, node: SgNode) -> None:
        parts = self.walk.parts(node)
        ends = ("type_conversion", "format_specifier")
        items: list[Item] = [(child, "" if kind == "=" else kind) for child, kind in parts]
        if any(kind == "=" for _, kind in parts):
            # f"{x = }" shows the text of the expression itself, spaces and all, and then its repr.
            start = parts[0][0].range().end.index
            upto = next((child for child, kind in parts if kind in ends), parts[-1][0])
            self.text.append(self.walk.text[start : upto.range().start.index])
            if not any(kind in ends for _, kind in parts):
                items.insert(-1, "!r")
        self.flush()
        self.items += [(node, AT), OPEN + "interpolation", *items, CLOSE]

    def flush(self) -> None:
        value = "".join(self.text)
        self.text.clear()
        if value:
            self.items.append(self.mark + value)

    def done(self, node: SgNode) -> list[Item]:
        """The items: one token for a plain string, brackets around the parts of a formatted one."""
        if not self.formatted:
            self.items.append(self.mark + "".join(self.text))
            return [*self.items, (node, "")]
        self.flush()
        return [OPEN + "fstring", *self.items, CLOSE, (node, "")]


def string(walk: Walk, node: SgNode, pairs: Pairs) -> list[Item]:
    """One string, or several in a row."""
    text = _Text(walk)
    parts = (
        [child for child, kind in pairs if kind == "string"] if pairs and pairs[0][1] == "string" else [node]
    )
    for part in parts:
        text.add(part)
    return text.done(node)


def specification(walk: Walk, node: SgNode, pairs: Pairs) -> list[Item]:
    """A format specification: its own text, and the expressions in it."""
    span = node.range()
    items: list[Item] = [OPEN + "format_specifier"]
    at = span.start.index
    for child, kind in pairs:
        if kind in ("format_expression", "interpolation"):
            here = child.range()
            items += ["'" + walk.text[at : here.start.index], (child, AT), (child, kind)]
            at = here.end.index
    return [*items, "'" + walk.text[at : span.end.index], CLOSE, (node, "")]


def docstring(walk: Walk, pairs: Pairs) -> SgNode | None:
    """The first statement of a body when it is a string and nothing else."""
    first = next(((node, kind) for node, kind in pairs if kind), None)
    if first is None or first[1] != "expression_statement":
        return None
    inner = walk.pairs(first[0])
    while len(inner) == 1 and inner[0][1] == "parenthesized_expression":
        inner = [pair for pair in walk.pairs(inner[0][0]) if pair[1] not in "()"]
    if len(inner) != 1 or inner[0][1] not in _STRINGS:
        return None
    text = _Text(walk)
    string = inner[0][0]
    for part in [string] if inner[0][1] == "string" else string.children():
        text.add(part)
    if text.formatted or text.mark != "'":
        return None
    walk.docs.append(_dedented("".join(text.text)))
    return first[0]


def _dedented(text: str) -> str:
    """A docstring without the indent that formatting gives it."""
    return "\n".join(line.strip() for line in text.strip().split("\n"))
