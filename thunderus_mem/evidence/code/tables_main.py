"""The definitions of Python, JavaScript, TypeScript, Go and Rust."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from thunderus_mem.evidence.code.tables import SCOPE, Table, by_field

if TYPE_CHECKING:
    from collections.abc import Callable

    from ast_grep_py import SgNode

    Text = Callable[[SgNode], str]

__all__ = ["GO_TABLE", "JAVASCRIPT_TABLE", "PYTHON_TABLE", "RUST_TABLE", "TYPESCRIPT_TABLE"]

_FUNCTIONS: Final = frozenset(
    ["function_expression", "arrow_function", "generator_function", "class", "function"]
)
_TOP: Final = ("program", "export_statement", "source_file")


def _python(node: SgNode, kind: str, text: Text) -> tuple[str, ...]:
    if kind == "type_alias_statement":
        left = node.field("left")
        return (text(left).partition("[")[0],) if left is not None else ()
    if kind != "assignment":
        return by_field(node, kind, text)
    statement = node.parent()
    block = (
        statement.parent() if statement is not None and statement.kind() == "expression_statement" else None
    )
    if block is None or not _holds_constants(block):
        return ()
    left = node.field("left")
    return (text(left),) if left is not None and left.kind() == "identifier" else ()


_BRANCHES: Final = (
    "block", "if_statement", "elif_clause", "else_clause", "try_statement", "except_clause",
    "except_group_clause", "finally_clause", "with_statement",
)  # fmt: skip


def _holds_constants(block: SgNode) -> bool:
    """Whether names assigned here are those of a module or a class, under a condition or not."""
    outer: SgNode | None = block
    while outer is not None and outer.kind() in _BRANCHES:
        outer = outer.parent()
    return outer is not None and outer.kind() in ("module", "class_definition")


PYTHON_TABLE: Final = Table(
    {
        "function_definition": "function",
        "class_definition": "class",
        "assignment": "const",
        "type_alias_statement": "type",
    },
    _python,
    frozenset(["decorated_definition", "expression_statement"]),
)


def _script(node: SgNode, kind: str, text: Text) -> tuple[str, ...]:
    if kind == "variable_declarator":
        return _declared(node, text)
    if kind == "assignment_expression":
        return _assigned(node, text)
    if kind == "pair":
        value, key = node.field("value"), node.field("key")
        plain = value is not None and value.kind() in (*_FUNCTIONS, "object")
        return (_plain(text(key)),) if plain and key is not None else ()
    if kind == "export_statement":
        return _exported(node)
    name = node.field("name") or node.field("property")
    return (_plain(text(name)),) if name is not None else ()


def _plain(name: str) -> str:
    """A key without its brackets, quotes and ``#``."""
    return "".join(name.strip("[]# ").translate({ord(mark): None for mark in "'\"`"}).split("\n"))


def _declared(node: SgNode, text: Text) -> tuple[str, ...]:
    name, value = node.field("name"), node.field("value")
    if name is None or name.kind() != "identifier":
        return ()
    if value is not None and value.kind() in _FUNCTIONS:
        return (text(name),)
    outer = node.parent()
    outer = outer.parent() if outer is not None else None
    if outer is not None and outer.kind() == "statement_block":
        outer = outer.parent()
        return (text(name),) if outer is not None and outer.kind() in ("internal_module", "module") else ()
    top = outer is not None and outer.kind() in (*_TOP, "ambient_declaration")
    return (text(name),) if top else ()


def _assigned(node: SgNode, text: Text) -> tuple[str, ...]:
    left, right = node.field("left"), node.field("right")
    if left is None or right is None or right.kind() not in (*_FUNCTIONS, "object"):
        return ()
    if left.kind() != "member_expression":
        return ()
    parts = [part for part in text(left).split(".") if part not in ("module", "exports", "prototype", "this")]
    return (".".join(parts),) if parts and all(part.isidentifier() for part in parts) else ()


def _exported(node: SgNode) -> tuple[str, ...]:
    """``export default`` of something without a name."""
    value = node.field("value")
    named = value is None or (value.kind() == "identifier") or value.field("name") is not None
    return () if named else ("default",)


_SCRIPT_WRAPPERS: Final = frozenset(["export_statement", "lexical_declaration", "variable_declaration"])
_SCRIPT_KINDS: Final = {
    "function_declaration": "function",
    "generator_function_declaration": "function",
    "class_declaration": "class",
    "method_definition": "method",
    "variable_declarator": "const",
    "assignment_expression": "function",
    "pair": "method",
    "export_statement": "const",
}

JAVASCRIPT_TABLE: Final = Table(
    {**_SCRIPT_KINDS, "field_definition": "field"}, _script, _SCRIPT_WRAPPERS, frozenset(["decorator"])
)
TYPESCRIPT_TABLE: Final = Table(
    {
        **_SCRIPT_KINDS,
        "function_signature": "function",
        "abstract_class_declaration": "class",
        "method_signature": "method",
        "abstract_method_signature": "method",
        "public_field_definition": "field",
        "property_signature": "field",
        "interface_declaration": "type",
        "type_alias_declaration": "type",
        "enum_declaration": "type",
        "internal_module": "module",
        "module": "module",
    },
    _script,
    _SCRIPT_WRAPPERS | {"ambient_declaration"},
    frozenset(["decorator"]),
)


def _go(node: SgNode, kind: str, text: Text) -> tuple[str, ...]:
    if kind in ("const_spec", "var_spec"):
        outer = node.parent()
        outer = outer.parent() if outer is not None and outer.kind() == "var_spec_list" else outer
        outer = outer.parent() if outer is not None else None
        if outer is None or outer.kind() != "source_file":
            return ()
        return tuple(text(name) for name in node.field_children("name") if name.kind() == "identifier")
    name = node.field("name")
    if name is None:
        return ()
    if kind != "method_declaration":
        return (text(name),)
    receiver = node.field("receiver")
    words = text(receiver).strip("()").partition("[")[0].split() if receiver is not None else []
    return (f"{words[-1].strip('*')}.{text(name)}",) if words else (text(name),)


GO_TABLE: Final = Table(
    {
        "function_declaration": "function",
        "method_declaration": "method",
        "type_spec": "type",
        "type_alias": "type",
        "method_elem": "method",
        "const_spec": "const",
        "var_spec": "var",
    },
    _go,
)
"""Only what is declared is measured, not the keyword before it: it may stand alone or in a group."""


def _rust(node: SgNode, kind: str, text: Text) -> tuple[str, ...]:
    if kind != "impl_item":
        return by_field(node, kind, text)
    of = node.field("type")
    return (text(of).partition("<")[0].strip("&* ").rpartition("::")[2],) if of is not None else ()


RUST_TABLE: Final = Table(
    {
        "function_item": "function",
        "function_signature_item": "function",
        "struct_item": "type",
        "enum_item": "type",
        "union_item": "type",
        "trait_item": "type",
        "type_item": "type",
        "associated_type": "type",
        "const_item": "const",
        "static_item": "const",
        "enum_variant": "const",
        "macro_definition": "macro",
        "mod_item": "module",
        "impl_item": SCOPE,
    },
    _rust,
    before=frozenset(["attribute_item"]),
)
