"""The definitions of languages whose members stand in classes: Java, C#, Kotlin, Swift, PHP and others."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from thunderus_mem.evidence.code.tables import Table, by_field, first, kinds

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ast_grep_py import SgNode

    Text = Callable[[SgNode], str]

__all__ = ["TYPE_TABLES"]


def declared(fields: str) -> Callable[[SgNode, str, Text], tuple[str, ...]]:
    """The names of declarations that hold several, each in a node of the kind ``fields``."""

    def names(node: SgNode, kind: str, text: Text) -> tuple[str, ...]:
        if node.field("name") is not None:
            return by_field(node, kind, text)
        inner = node.named_children()
        inner += [
            child
            for part in inner
            if part.kind() == "variable_declaration"
            for child in part.named_children()
        ]
        found = [child.field("name") or child.child(0) for child in inner if child.kind() == fields]
        return tuple(text(name) for name in found if name is not None)

    return names


def _kotlin(node: SgNode, kind: str, text: Text) -> tuple[str, ...]:
    if kind == "secondary_constructor":
        return ("constructor",)
    if kind == "property_declaration":
        outer = node.parent()
        if outer is None or outer.kind() not in ("class_body", "source_file", "enum_class_body"):
            return ()
        inner = next(
            (child for child in node.named_children() if child.kind() == "variable_declaration"), None
        )
        name = first(inner, ("simple_identifier",), text) if inner is not None else ""
    else:
        name = first(node, ("type_identifier", "simple_identifier"), text)
    return (name,) if name else ()


def _swift(node: SgNode, kind: str, text: Text) -> tuple[str, ...]:
    name = node.field("name")
    if name is None:
        return ()
    outer = node.parent()
    if kind == "property_declaration" and (
        outer is None or outer.kind() not in ("class_body", "source_file")
    ):
        return ()
    return (text(name).partition("<")[0].strip(),)


def _php(node: SgNode, kind: str, text: Text) -> tuple[str, ...]:
    if kind == "const_element":
        return (first(node, ("name",), text),)
    return tuple(name.lstrip("$") for name in by_field(node, kind, text))


def _scala(node: SgNode, kind: str, text: Text) -> tuple[str, ...]:
    if kind not in ("val_definition", "var_definition"):
        return by_field(node, kind, text)
    outer, pattern = node.parent(), node.field("pattern")
    if outer is None or pattern is None or outer.kind() not in ("template_body", "compilation_unit"):
        return ()
    return (text(pattern),) if pattern.kind() == "identifier" else ()


TYPE_TABLES: Final[Mapping[str, Table]] = {
    "java": Table(
        kinds(
            "class",
            "class_declaration interface_declaration enum_declaration record_declaration "
            "annotation_type_declaration",
            {
                **dict.fromkeys(
                    ["method_declaration", "constructor_declaration", "compact_constructor_declaration"],
                    "method",
                ),
                "annotation_type_element_declaration": "method",
                "enum_constant": "const",
                "field_declaration": "field",
            },
        ),
        declared("variable_declarator"),
    ),
    "csharp": Table(
        kinds(
            "class",
            "class_declaration struct_declaration interface_declaration enum_declaration record_declaration",
            {
                **dict.fromkeys(
                    ["method_declaration", "constructor_declaration", "local_function_statement"], "method"
                ),
                **dict.fromkeys(
                    ["property_declaration", "field_declaration", "event_field_declaration"], "field"
                ),
                "delegate_declaration": "type",
                "enum_member_declaration": "const",
            },
        ),
        declared("variable_declarator"),
    ),
    "kotlin": Table(
        {
            "class_declaration": "class",
            "object_declaration": "class",
            "function_declaration": "function",
            "secondary_constructor": "method",
            "property_declaration": "field",
            "type_alias": "type",
            "enum_entry": "const",
        },
        _kotlin,
    ),
    "swift": Table(
        {
            "class_declaration": "class",
            "protocol_declaration": "type",
            "function_declaration": "function",
            "protocol_function_declaration": "method",
            "init_declaration": "method",
            "property_declaration": "field",
            "typealias_declaration": "type",
            "enum_entry": "const",
        },
        _swift,
    ),
    "php": Table(
        kinds(
            "class",
            "class_declaration interface_declaration trait_declaration enum_declaration",
            {
                "method_declaration": "method",
                "function_definition": "function",
                "const_element": "const",
                "property_element": "field",
                "enum_case": "const",
            },
        ),
        _php,
        frozenset(["const_declaration", "property_declaration"]),
    ),
    "scala": Table(
        kinds(
            "class",
            "object_definition class_definition trait_definition enum_definition",
            {
                **dict.fromkeys(["function_definition", "function_declaration"], "function"),
                **dict.fromkeys(["val_definition", "var_definition", "given_definition"], "const"),
                **dict.fromkeys(["simple_enum_case", "full_enum_case"], "const"),
                "type_definition": "type",
            },
        ),
        _scala,
    ),
    "solidity": Table(
        kinds(
            "function",
            "function_definition modifier_definition event_definition",
            {"contract_declaration": "class", "struct_declaration": "type", "enum_declaration": "type"},
        ),
    ),
    "dart": Table({"class_declaration": "class", "function_signature": "function"}),
    "zig": Table({"function_declaration": "function"}),
}
