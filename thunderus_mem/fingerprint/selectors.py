"""Selectors choose among the definitions of a name: ``limit(int, int)`` by the types of the parameters,
``limit~2`` by order where these are equal.

Types count as written, without spaces, names, defaults, annotations and the receiver (``self``). A parameter
without a type is ``_``.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from thunderus_mem.startup import NamedTuple, lazy_pattern

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from ast_grep_py import SgNode

_NTH: Final = lazy_pattern(r"(.*[^~\s])~([1-9][0-9]{0,3})", re.DOTALL)
_SPACE: Final = lazy_pattern(r"(?<!\w) | (?!\w)")
_STEP: Final = {**dict.fromkeys("([{<", 1), **dict.fromkeys(")]}>", -1)}
_UNTYPED: Final = "_"


class Selector(NamedTuple):
    """A symbol in parts: the ``name``, the types of the ``parameters`` (``None``: not given), and which
    definition (``nth``, from 1; 0: not given)."""

    name: str
    parameters: tuple[str, ...] | None = None
    nth: int = 0

    @property
    def is_plain(self) -> bool:
        """Whether it is only a name."""
        return self.parameters is None and not self.nth

    def __str__(self) -> str:
        types = "" if self.parameters is None else f"({', '.join(self.parameters)})"
        return f"{self.name}{types}" + (f"~{self.nth}" if self.nth else "")


def split_selector(symbol: str) -> Selector:
    """The parts of a symbol. Names of some languages contain parentheses: try the whole symbol first."""
    numbered = _NTH.fullmatch(symbol)
    name, nth = (numbered[1], int(numbered[2])) if numbered is not None else (symbol, 0)
    if not name.endswith(")"):
        return Selector(name, None, nth)
    depth = 0
    for at in range(len(name) - 1, 0, -1):
        depth += (name[at] == ")") - (name[at] == "(")
        if not depth:
            if name[at - 1].isspace():
                break  # a heading
            return Selector(name[:at], _listed(name[at + 1 : -1]), nth)
    return Selector(name, None, nth)


def dotted(name: str) -> str:
    """The name with dots between its parts, also where a language writes ``::`` or ``#``."""
    return name.replace("::", ".").replace("#", ".").strip(".")


def leaf_of(symbol: str) -> str:
    """The last part of a symbol's name, without a selector."""
    return split_selector(symbol).name.replace("::", ".").replace("#", ".").rpartition(".")[2]


def _listed(text: str) -> tuple[str, ...]:
    """Types separated by commas, except for commas in brackets."""
    parts, start, depth = [], 0, 0
    for at, character in enumerate(text):
        arrow = character == ">" and text[at - 1 : at] in ("-", "=")
        depth += 0 if arrow else _STEP.get(character, 0)
        if character == "," and not depth:
            parts.append(text[start:at])
            start = at + 1
    parts.append(text[start:])
    return tuple(_normal(part) for part in parts) if text.strip() else ()


def _normal(text: str) -> str:
    """A type without spaces, except between two words."""
    return _SPACE.sub("", " ".join(text.split()))


_LISTS: Final = ("function_value_parameters", "formal_parameter_list")
_RECEIVERS: Final = ("self", "cls", "this")
_IGNORED: Final = (
    "modifiers",
    "attribute_list",
    "decorator",
    "accessibility_modifier",
    "visibility_modifier",
)
_KEPT: Final = ("ref", "out", "in")
_NAMES: Final = ("identifier", "simple_identifier", "variable_name", "field_identifier")
_MARKS: Final = "([{)]}|"


def parameters_of(node: SgNode) -> tuple[str, ...] | None:
    """The types of the parameters of a definition; ``None`` when it has no list of parameters."""
    lists = _lists(node)
    if not lists:
        return None
    found = [one for nodes in lists for group in _groups(nodes) for one in _types(group)]
    if found and found[0] in _RECEIVERS:
        found.pop(0)
    return () if found == ["void"] else tuple(found)


def _lists(node: SgNode) -> list[list[SgNode]]:
    """The lists of parameters of a definition, each as its nodes."""
    here: SgNode | None = node
    while here is not None:
        fields = here.field_children("parameters") or here.field_children("parameter")
        if fields:
            return [one.children() or [one] for one in fields]
        children = here.children()
        inner = [child.children() for child in children if child.kind() in _LISTS]
        if inner or any(child.kind() == "(" for child in children):
            return inner or [[child for child in children if child.kind() in ("parameter", ",")]]
        here = here.field("declarator") or here.field("value") or here.field("right")
    return []


def _groups(nodes: Iterable[SgNode]) -> Iterator[list[SgNode]]:
    """The nodes of each parameter: those between two commas, without defaults."""
    group: list[SgNode] = []
    skip = False
    for node in nodes:
        kind = node.kind()
        if kind == "optional_formal_parameters":
            yield from _groups(node.children())
        elif kind == ",":
            yield group
            group, skip = [], False
        elif kind not in (*_MARKS, "self_parameter") and "comment" not in kind:
            skip |= kind == "="
            group += [] if skip else [node]
    yield group


def _types(group: list[SgNode]) -> list[str]:
    """The type of a parameter, or of several that share it (``a, b int``); a receiver's name for a
    receiver."""
    group = [node for node in group if node.kind() == "parameter"] or group
    if not group:
        return []
    whole = group[0]
    parts = _parts(group)
    if not parts or (len(parts) == 1 and parts[0].kind() in (*_NAMES, *_RECEIVERS)):
        name = parts[0].text() if parts else ""
        return [name if name in _RECEIVERS else _UNTYPED]
    if parts[0].text() in _RECEIVERS:
        return [parts[0].text()]
    typed = _after_colon(parts)
    if typed is None:
        typed = _without_name(group, parts)
    shared = len(whole.field_children("name")) if whole.kind() == "parameter_declaration" else 1
    return [_normal(typed) or _UNTYPED] * max(1, shared)


def _parts(group: list[SgNode]) -> list[SgNode]:
    """The nodes of one parameter without modifiers and default."""
    whole = group[0]
    several = len(group) > 1 or whole.kind() in (*_NAMES, "type_name") or not whole.children()
    parts: list[SgNode] = []
    for part in group if several else whole.children():
        kind = part.kind()
        if kind == "=":
            break
        if kind not in _IGNORED and (kind != "modifier" or part.text() in _KEPT):
            parts.append(part)
    return parts


def _after_colon(parts: list[SgNode]) -> str | None:
    """The type after a colon, with the stars before the name; ``None`` when there is no colon."""
    written = parts[0].text()
    stars = written[: len(written) - len(written.lstrip("*."))]
    for at, part in enumerate(parts):
        if part.kind() == "type_annotation":
            return stars + part.text().lstrip(": ")
        if part.kind() == ":":
            return stars + " ".join(behind.text() for behind in parts[at + 1 :])
    return None


def _without_name(group: list[SgNode], parts: list[SgNode]) -> str:
    """The type in a parameter such as ``const char *name``."""
    names = group[0].field_children("name") if len(group) == 1 else []
    names = names or [part for part in parts[1:] if part.kind() in (*_NAMES, "variable_declarator")][-1:]
    spans = [name.range() for name in names]
    inner = group[0].field("declarator")
    while inner is not None:
        if inner.kind() in _NAMES:
            spans.append(inner.range())
        inner = inner.field("declarator") or next(
            (child for child in inner.named_children() if _may_declare(child.kind())), None
        )
    written = [_outside(part, [(span.start.index, span.end.index) for span in spans]) for part in parts]
    return " ".join(text for text in written if text != ",")


def _outside(part: SgNode, spans: list[tuple[int, int]]) -> str:
    """The text of a node without the parts at these places."""
    text, start = part.text(), part.range().start.index
    for first, last in spans:
        if start <= first and last <= start + len(text):
            text = text[: first - start] + text[last - start :]
    return text


def _may_declare(kind: str) -> bool:
    return kind in _NAMES or kind.endswith("_declarator")
