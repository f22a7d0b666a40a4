"""The definitions of C and C++."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from thunderus_mem.evidence.code.tables import Table, by_field, dotted

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ast_grep_py import SgNode

    Text = Callable[[SgNode], str]

__all__ = ["C_TABLES"]

_LEAVES: Final = (
    "identifier",
    "field_identifier",
    "type_identifier",
    "operator_name",
    "destructor_name",
    "operator_cast",
)
_BODIED: Final = ("struct_specifier", "class_specifier", "union_specifier", "enum_specifier")
_DEEPEST: Final = 20
_C_TOP: Final = (
    "translation_unit",
    "preproc_ifdef",
    "preproc_if",
    "preproc_else",
    "preproc_elif",
    "declaration_list",
)


def _declarator(node: SgNode, text: Text) -> tuple[str, bool]:
    """The name that a declarator of C declares, and whether it is a function."""
    function = False
    for _ in range(_DEEPEST):
        kind = node.kind()
        if kind == "qualified_identifier":
            return dotted(text(node)), function
        if kind in _LEAVES:
            return " ".join(text(node).partition("(")[0].split()), function
        function |= kind == "function_declarator"
        inner = node.field("declarator")
        if inner is None:
            named = [
                child
                for child in node.named_children()
                if "identifier" in child.kind() or "declarator" in child.kind()
            ]
            if not named:
                return "", function
            inner = named[0]
        node = inner
    return "", function


def _c(node: SgNode, kind: str, text: Text) -> tuple[str, ...]:
    if kind in _BODIED:
        return by_field(node, kind, text) if node.field("body") is not None else ()
    if kind not in ("function_definition", "declaration", "field_declaration", "type_definition"):
        return by_field(node, kind, text)
    outer = node.parent()
    where = outer.kind() if outer is not None else ""
    if kind == "declaration" and where not in (*_C_TOP, "field_declaration_list", "template_declaration"):
        return ()
    found = [_declarator(child, text) for child in node.field_children("declarator")]
    return tuple(name for name, function in found if name and (function or kind != "field_declaration"))


_C_KINDS: Final = {
    "function_definition": "function",
    "declaration": "const",
    "struct_specifier": "type",
    "union_specifier": "type",
    "enum_specifier": "type",
    "type_definition": "type",
    "enumerator": "const",
    "preproc_def": "macro",
    "preproc_function_def": "macro",
}


C_TABLES: Final[Mapping[str, Table]] = {
    "c": Table(_C_KINDS, _c),
    "cpp": Table(
        {
            **_C_KINDS,
            "class_specifier": "class",
            "field_declaration": "method",
            "alias_declaration": "type",
            "concept_definition": "type",
        },
        _c,
        frozenset(["template_declaration"]),
    ),
}
