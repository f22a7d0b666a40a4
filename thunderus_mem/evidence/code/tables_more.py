"""The definitions of all other languages with a grammar."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from thunderus_mem.evidence.code.tables import Table, by_field

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ast_grep_py import SgNode

    Text = Callable[[SgNode], str]

__all__ = ["MORE_TABLES"]

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
_DEFINING: Final = {
    "def": "function", "defp": "function", "defmacro": "macro", "defmacrop": "macro", "defguard": "macro",
    "defmodule": "module", "defprotocol": "type", "defimpl": "module",
}  # fmt: skip


def _dotted(name: str) -> str:
    """A qualified name with points, without the arguments of its templates."""
    depth, kept = 0, []
    for character in name:
        if character == "<" and not name.startswith("operator"):
            depth += 1
        elif character == ">" and depth:
            depth -= 1
        elif not depth:
            kept.append(character)
    return ".".join(part.strip() for part in "".join(kept).replace("::", ".").split(".") if part.strip())


def _declarator(node: SgNode, text: Text) -> tuple[str, bool]:
    """The name that a declarator of C declares, and whether it is a function."""
    function = False
    for _ in range(_DEEPEST):
        kind = node.kind()
        if kind == "qualified_identifier":
            return _dotted(text(node)), function
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


def _declared(fields: str) -> Callable[[SgNode, str, Text], tuple[str, ...]]:
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


def _first(node: SgNode, kinds: tuple[str, ...], text: Text) -> str:
    return next((text(child) for child in node.named_children() if child.kind() in kinds), "")


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
        name = _first(inner, ("simple_identifier",), text) if inner is not None else ""
    else:
        name = _first(node, ("type_identifier", "simple_identifier"), text)
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
        return (_first(node, ("name",), text),)
    return tuple(name.lstrip("$") for name in by_field(node, kind, text))


def _ruby(node: SgNode, kind: str, text: Text) -> tuple[str, ...]:
    if kind != "assignment":
        return tuple(_dotted(name) for name in by_field(node, kind, text))
    left = node.field("left")
    return (text(left),) if left is not None and left.kind() == "constant" else ()


def _scala(node: SgNode, kind: str, text: Text) -> tuple[str, ...]:
    if kind not in ("val_definition", "var_definition"):
        return by_field(node, kind, text)
    outer, pattern = node.parent(), node.field("pattern")
    if outer is None or pattern is None or outer.kind() not in ("template_body", "compilation_unit"):
        return ()
    return (text(pattern),) if pattern.kind() == "identifier" else ()


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


def _css(node: SgNode, kind: str, text: Text) -> tuple[str, ...]:
    name = node.child(1 if kind == "keyframes_statement" else 0)
    return (" ".join(text(name).split()),) if name is not None else ()


def _key(node: SgNode, _kind: str, text: Text) -> tuple[str, ...]:
    key = node.field("key")
    return (text(key).strip("'\""),) if key is not None else ()


def _section(node: SgNode, _kind: str, text: Text) -> tuple[str, ...]:
    heading = node.child(0)
    if heading is None or "heading" not in heading.kind():
        return ()
    return (" ".join(text(heading).strip("#=- \n\t").split()),)


def _hcl(node: SgNode, kind: str, text: Text) -> tuple[str, ...]:
    if kind == "attribute":
        return (_first(node, ("identifier",), text),)
    labels = [
        text(child).strip('"')
        for child in node.named_children()
        if child.kind() in ("identifier", "string_lit")
    ]
    return (".".join(labels),)


def _kinds(label: str, kinds: str, more: Mapping[str, str]) -> dict[str, str]:
    return {**dict.fromkeys(kinds.split(), label), **more}


MORE_TABLES: Final[Mapping[str, Table]] = {
    "java": Table(
        _kinds(
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
        _declared("variable_declarator"),
    ),
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
    "csharp": Table(
        _kinds(
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
        _declared("variable_declarator"),
    ),
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
        _kinds(
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
        _kinds(
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
    "elixir": Table({"call": "function"}, _elixir),
    "haskell": Table(
        _kinds(
            "type",
            "data_type newtype type_synonym class",
            {"function": "function", "bind": "const", "signature": "signature"},
        ),
    ),
    "css": Table({"rule_set": "rule", "keyframes_statement": "rule"}, _css),
    "json": Table({"pair": "key"}, _key),
    "yaml": Table({"block_mapping_pair": "key"}, _key),
    "html": Table({}),
    "markdown": Table({"section": "heading"}, _section),
    "hcl": Table({"block": "block", "attribute": "key"}, _hcl),
    "nix": Table({}),
    "solidity": Table(
        _kinds(
            "function",
            "function_definition modifier_definition event_definition",
            {"contract_declaration": "class", "struct_declaration": "type", "enum_declaration": "type"},
        ),
    ),
    "dart": Table({"class_declaration": "class", "function_signature": "function"}),
    "zig": Table({"function_declaration": "function"}),
}
