"""The definitions of Ruby, shells, Lua, Elixir and Haskell."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from thunderus_mem.evidence.code.tables import Table, by_field, dotted, kinds

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ast_grep_py import SgNode

    Text = Callable[[SgNode], str]

__all__ = ["SCRIPT_TABLES"]

_DEEPEST: Final = 20
_DEFINING: Final = {
    "def": "function", "defp": "function", "defmacro": "macro", "defmacrop": "macro", "defguard": "macro",
    "defmodule": "module", "defprotocol": "type", "defimpl": "module",
}  # fmt: skip


def _ruby(node: SgNode, kind: str, text: Text) -> tuple[str, ...]:
    if kind != "assignment":
        return tuple(dotted(name) for name in by_field(node, kind, text))
    left = node.field("left")
    return (text(left),) if left is not None and left.kind() == "constant" else ()


def _bash(node: SgNode, kind: str, text: Text) -> tuple[str, ...]:
    if kind == "variable_assignment":
        outer = node.parent()
        outer = outer.parent() if outer is not None and outer.kind() == "declaration_command" else outer
        if outer is None or outer.kind() != "program":
            return ()
    return by_field(node, kind, text)


def _lua(node: SgNode, kind: str, text: Text) -> tuple[str, ...]:
    if kind == "function_declaration":
        return tuple(name.replace(":", ".") for name in by_field(node, kind, text))
    parts = node.named_children()
    if kind == "field":
        is_function = any(part.kind() == "function_definition" for part in parts)
        return by_field(node, kind, text) if is_function else ()
    values = [value.kind() for value in parts[-1].named_children()] if parts else []
    outer = node.parent()
    outer = outer.parent() if outer is not None and outer.kind() == "variable_declaration" else outer
    if values[:1] != ["function_definition"] and (outer is None or outer.kind() != "chunk"):
        return ()
    return (text(parts[0].named_children()[0]),) if parts and parts[0].named_children() else ()


def _elixir(node: SgNode, _kind: str, text: Text) -> tuple[str, ...]:
    target = node.field("target")
    if target is None or text(target) not in _DEFINING:
        return ()
    arguments = next((child for child in node.named_children() if child.kind() == "arguments"), None)
    head = arguments.child(0) if arguments is not None else None
    for _ in range(_DEEPEST):
        if head is None or head.kind() in ("identifier", "alias"):
            break
        head = head.child(0)
    return (text(head),) if head is not None else ()


SCRIPT_TABLES: Final[Mapping[str, Table]] = {
    "ruby": Table(
        {
            "module": "module",
            "class": "class",
            "method": "function",
            "singleton_method": "method",
            "assignment": "const",
        },
        _ruby,
    ),
    "bash": Table(
        {"function_definition": "function", "variable_assignment": "const"},
        _bash,
        frozenset(["declaration_command"]),
    ),
    "lua": Table(
        {"function_declaration": "function", "assignment_statement": "const", "field": "method"},
        _lua,
        frozenset(["variable_declaration"]),
    ),
    "elixir": Table({"call": "function"}, _elixir, clauses=True),
    "haskell": Table(
        kinds(
            "type",
            "data_type newtype type_synonym class",
            {"function": "function", "bind": "const", "signature": "signature"},
        ),
        clauses=True,
    ),
}
