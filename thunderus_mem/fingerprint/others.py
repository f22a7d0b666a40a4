"""Tokens and definitions of all other languages with a grammar (conservative: strings count as written)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from thunderus_mem.fingerprint import definitions
from thunderus_mem.fingerprint.walk import Rules, loose_number

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ast_grep_py import SgNode

    from thunderus_mem.fingerprint.walk import Item, TokenWalk

_DEEPEST: Final = 20


def _verbatim(walk: TokenWalk, node: SgNode, _pairs: object) -> list[Item]:
    return ["'" + walk.slice(node), (node, "")]


def _either_quote(walk: TokenWalk, node: SgNode, _pairs: object) -> list[Item]:
    """A string whose quotes do not matter, because its content means the same in both."""
    text = walk.slice(node)
    inner = text[1:-1]
    plain = len(text) > 1 and text[0] == text[-1] and text[0] in "'\"" and not set(inner) & set("'\"\\$#{\n")
    return ["'" + (inner if plain else text), (node, "")]


def _flowing(walk: TokenWalk, node: SgNode, _pairs: object) -> list[Item]:
    """Text in which line breaks do not matter."""
    return ["'" + " ".join(walk.slice(node).split()), (node, "")]


def _dashes(text: str) -> str:
    while "--" in text:
        text = text.replace("--", "-")
    return text


def _rules(
    verbatim: str = "",
    quotes: str = "",
    drop: str = "",
    *,
    numbers: str = "",
    parentheses: bool = True,
    flowing: str = "",
    comments: str = "comment line_comment block_comment",
    loops: str = "for_statement c_style_for_statement",
) -> Rules:
    return Rules(
        comments=frozenset(comments.split()),
        transparent=frozenset(["parenthesized_expression"] if parentheses else []),
        drop=frozenset([*drop.split(), "\n"]),
        keep=dict.fromkeys(loops.split(), frozenset(";")),
        nodes={
            **dict.fromkeys(verbatim.split(), _verbatim),
            **dict.fromkeys(quotes.split(), _either_quote),
            **dict.fromkeys(flowing.split(), _flowing),
        },
        leaves=dict.fromkeys(numbers.split(), loose_number),
        trailing=True,
    )


_C: Final = "string_literal char_literal raw_string_literal system_lib_string"
_MARKDOWN: Final = Rules(
    comments=frozenset(["block_continuation"]),
    nodes={
        **dict.fromkeys(["inline", "html_block"], _flowing),
        **dict.fromkeys(["fenced_code_block", "indented_code_block"], _verbatim),
    },
    leaves={
        "list_marker_star": lambda _: "-",
        "list_marker_minus": lambda _: "-",
        "list_marker_plus": lambda _: "-",
        "pipe_table_delimiter_cell": _dashes,
    },
    empty=frozenset(["block_continuation", "inline"]),
)

RULES: Final[Mapping[str, Rules]] = {
    "java": _rules(
        "string_literal character_literal",
        numbers="decimal_integer_literal hex_integer_literal octal_integer_literal binary_integer_literal "
        "decimal_floating_point_literal",
    ),
    "c": _rules(_C, numbers="number_literal"),
    "cpp": _rules(_C, numbers="number_literal"),
    "csharp": _rules(
        "string_literal verbatim_string_literal raw_string_literal interpolated_string_expression "
        "character_literal",
        numbers="integer_literal real_literal",
    ),
    "ruby": _rules(
        "heredoc_body regex string_array symbol_array subshell delimited_symbol",
        "string",
        ";",
        numbers="integer float",
        parentheses=False,
    ),
    "kotlin": _rules(
        "string_literal character_literal multi_line_string_literal line_string_literal",
        drop=";",
        numbers="integer_literal real_literal hex_literal bin_literal long_literal",
        comments="line_comment multiline_comment",
    ),
    "swift": _rules(
        "line_string_literal multi_line_string_literal raw_string_literal regex_literal",
        drop=";",
        numbers="integer_literal hex_literal real_literal",
        comments="comment multiline_comment",
    ),
    "php": _rules(
        "heredoc nowdoc text shell_command_expression",
        "string encapsed_string",
        numbers="integer float",
    ),
    "scala": _rules(
        "string interpolated_string interpolated_string_expression character_literal",
        drop=";",
        numbers="integer_literal floating_point_literal",
        parentheses=False,
        comments="comment block_comment",
    ),
    "bash": _rules(
        "ansi_c_string heredoc_body heredoc_redirect string",
        "raw_string",
        ";",
        parentheses=False,
        loops="c_style_for_statement",
    ),
    "lua": _rules("", "string", ";", numbers="number", parentheses=False),
    "elixir": _rules(
        "string charlist sigil quoted_atom", drop=";", numbers="integer float", parentheses=False
    ),
    "haskell": _rules("string char", parentheses=False, comments="comment haddock")._replace(
        empty=frozenset(["layout_start", "layout_end"])
    ),
    "css": _rules("", "string_value", ";", comments="comment js_comment"),
    "json": _rules("string"),
    "yaml": _rules("block_scalar", "single_quote_scalar double_quote_scalar", flowing="plain_scalar"),
    "html": _rules("attribute_value raw_text", flowing="text"),
    "markdown": _MARKDOWN,
    "hcl": _rules("string_lit heredoc_template", parentheses=False),
    "nix": _rules("string_expression indented_string_expression", parentheses=False),
    "solidity": _rules("string unicode_string_literal hex_string_literal", numbers="number_literal"),
    "dart": _rules("string_literal", numbers="decimal_integer_literal hex_integer_literal"),
    "zig": _rules("string multiline_string character", parentheses=False),
}

_HEADER_PARTS: Final = ["condition_clause", "subscript_argument_list", "variadic_parameter"]
"""Nodes that only one of the grammars of C and C++ has."""
HEADER: Final = RULES["cpp"]._replace(
    transparent=RULES["cpp"].transparent | frozenset(_HEADER_PARTS),
)
"""Headers: either C or C++."""

_LEAVES: Final = (
    "identifier",
    "field_identifier",
    "type_identifier",
    "operator_name",
    "destructor_name",
    "operator_cast",
)
_BODIED: Final = ("struct_specifier", "class_specifier", "union_specifier", "enum_specifier")


_C_TOP: Final = (
    "translation_unit",
    "preproc_ifdef",
    "preproc_if",
    "preproc_else",
    "preproc_elif",
    "declaration_list",
)


def _declarator(node: SgNode, text: definitions.TokenText) -> tuple[str, bool]:
    """The name declared by a C declarator, and whether it is a function."""
    function = False
    for _ in range(_DEEPEST):
        kind = node.kind()
        if kind == "qualified_identifier":
            return definitions.dotted(text(node)), function
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


def _c(node: SgNode, kind: str, text: definitions.TokenText) -> tuple[str, ...]:
    if kind in _BODIED:
        return definitions.by_field(node, kind, text) if node.field("body") is not None else ()
    if kind not in ("function_definition", "declaration", "field_declaration", "type_definition"):
        return definitions.by_field(node, kind, text)
    outer = node.parent()
    where = outer.kind() if outer is not None else ""
    if kind == "declaration" and where not in (*_C_TOP, "field_declaration_list", "template_declaration"):
        return ()
    found = [_declarator(child, text) for child in node.field_children("declarator")]
    return tuple(name for name, function in found if name and (function or kind != "field_declaration"))


_C_KINDS: Final = definitions.kinds(
    "function: function_definition",
    "const: declaration enumerator",
    "type: struct_specifier union_specifier enum_specifier type_definition",
    "macro: preproc_def preproc_function_def",
)
_C_BODIES: Final = definitions.bodies(
    "declaration: init_declarator", "type_definition: field_declaration_list enumerator_list"
)


_C_TABLES: Final[Mapping[str, definitions.Table]] = {
    "c": definitions.Table(_C_KINDS, _c, bodies=_C_BODIES),
    "cpp": definitions.Table(
        {
            **_C_KINDS,
            **definitions.kinds(
                "class: class_specifier",
                "method: field_declaration",
                "type: alias_declaration concept_definition",
            ),
        },
        _c,
        frozenset(["template_declaration"]),
        bodies=_C_BODIES | definitions.bodies("field_declaration:"),
    ),
}


HEADER_TABLES: Final[Mapping[str, definitions.Table]] = {
    "cpp": _C_TABLES["cpp"],
    "c": definitions.Table({**_C_KINDS, "field_declaration": "method"}, _c),
}


def _each_in(fields: str) -> definitions.Names:
    """The names of a declaration with several, each in a node of the kind ``fields``."""

    def names(node: SgNode, kind: str, text: definitions.TokenText) -> tuple[str, ...]:
        if node.field("name") is not None:
            return definitions.by_field(node, kind, text)
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


def _kotlin(node: SgNode, kind: str, text: definitions.TokenText) -> tuple[str, ...]:
    if kind == "secondary_constructor":
        return ("constructor",)
    if kind == "property_declaration":
        outer = node.parent()
        if outer is None or outer.kind() not in ("class_body", "source_file", "enum_class_body"):
            return ()
        inner = next(
            (child for child in node.named_children() if child.kind() == "variable_declaration"), None
        )
        name = definitions.first(inner, ("simple_identifier",), text) if inner is not None else ""
    else:
        name = definitions.first(node, ("type_identifier", "simple_identifier"), text)
    return (name,) if name else ()


def _swift(node: SgNode, kind: str, text: definitions.TokenText) -> tuple[str, ...]:
    name = node.field("name")
    if name is None:
        return ()
    outer = node.parent()
    if kind == "property_declaration" and (
        outer is None or outer.kind() not in ("class_body", "source_file")
    ):
        return ()
    return (text(name).partition("<")[0].strip(),)


def _php(node: SgNode, kind: str, text: definitions.TokenText) -> tuple[str, ...]:
    if kind == "const_element":
        return (definitions.first(node, ("name",), text),)
    return tuple(name.lstrip("$") for name in definitions.by_field(node, kind, text))


def _scala(node: SgNode, kind: str, text: definitions.TokenText) -> tuple[str, ...]:
    if kind not in ("val_definition", "var_definition"):
        return definitions.by_field(node, kind, text)
    outer, pattern = node.parent(), node.field("pattern")
    if outer is None or pattern is None or outer.kind() not in ("template_body", "compilation_unit"):
        return ()
    return (text(pattern),) if pattern.kind() == "identifier" else ()


_TYPE_TABLES: Final[Mapping[str, definitions.Table]] = {
    "java": definitions.Table(
        definitions.kinds(
            "class: class_declaration interface_declaration enum_declaration record_declaration "
            "annotation_type_declaration",
            "method: method_declaration constructor_declaration compact_constructor_declaration "
            "annotation_type_element_declaration",
            "const: enum_constant",
            "field: field_declaration",
        ),
        _each_in("variable_declarator"),
        bodies=definitions.bodies("method_declaration: block"),
    ),
    "csharp": definitions.Table(
        definitions.kinds(
            "class: class_declaration struct_declaration interface_declaration enum_declaration "
            "record_declaration",
            "method: method_declaration constructor_declaration local_function_statement",
            "field: property_declaration field_declaration event_field_declaration",
            "type: delegate_declaration",
            "const: enum_member_declaration",
        ),
        _each_in("variable_declarator"),
        bodies=definitions.bodies("method_declaration: block arrow_expression_clause"),
    ),
    "kotlin": definitions.Table(
        definitions.kinds(
            "class: class_declaration object_declaration",
            "function: function_declaration",
            "method: secondary_constructor",
            "field: property_declaration",
            "type: type_alias",
            "const: enum_entry",
        ),
        _kotlin,
        bodies=definitions.bodies("function_declaration: function_body"),
    ),
    "swift": definitions.Table(
        definitions.kinds(
            "class: class_declaration",
            "type: protocol_declaration typealias_declaration",
            "function: function_declaration",
            "method: protocol_function_declaration init_declaration",
            "field: property_declaration",
            "const: enum_entry",
        ),
        _swift,
        bodies=definitions.bodies("protocol_function_declaration:"),
    ),
    "php": definitions.Table(
        definitions.kinds(
            "class: class_declaration interface_declaration trait_declaration enum_declaration",
            "method: method_declaration",
            "function: function_definition",
            "const: const_element enum_case",
            "field: property_element",
        ),
        _php,
        frozenset(["const_declaration", "property_declaration"]),
        bodies=definitions.bodies("method_declaration: compound_statement"),
    ),
    "scala": definitions.Table(
        definitions.kinds(
            "class: object_definition class_definition trait_definition enum_definition",
            "function: function_definition function_declaration",
            "const: val_definition var_definition given_definition simple_enum_case full_enum_case",
            "type: type_definition",
        ),
        _scala,
        bodies=definitions.bodies("function_declaration:"),
    ),
    "solidity": definitions.Table(
        definitions.kinds(
            "function: function_definition modifier_definition event_definition",
            "class: contract_declaration",
            "type: struct_declaration enum_declaration",
        ),
        bodies=definitions.bodies("function_definition: function_body"),
    ),
    "dart": definitions.Table({"class_declaration": "class", "function_signature": "function"}),
    "zig": definitions.Table({"function_declaration": "function"}),
}


_DEFINING: Final = {
    "def": "function", "defp": "function", "defmacro": "macro", "defmacrop": "macro", "defguard": "macro",
    "defmodule": "module", "defprotocol": "type", "defimpl": "module",
}  # fmt: skip


def _ruby(node: SgNode, kind: str, text: definitions.TokenText) -> tuple[str, ...]:
    if kind != "assignment":
        return tuple(definitions.dotted(name) for name in definitions.by_field(node, kind, text))
    left = node.field("left")
    return (text(left),) if left is not None and left.kind() == "constant" else ()


def _bash(node: SgNode, kind: str, text: definitions.TokenText) -> tuple[str, ...]:
    if kind == "variable_assignment":
        outer = node.parent()
        outer = outer.parent() if outer is not None and outer.kind() == "declaration_command" else outer
        if outer is None or outer.kind() != "program":
            return ()
    return definitions.by_field(node, kind, text)


def _lua(node: SgNode, kind: str, text: definitions.TokenText) -> tuple[str, ...]:
    if kind == "function_declaration":
        return tuple(name.replace(":", ".") for name in definitions.by_field(node, kind, text))
    parts = node.named_children()
    if kind == "field":
        is_function = any(part.kind() == "function_definition" for part in parts)
        return definitions.by_field(node, kind, text) if is_function else ()
    values = [value.kind() for value in parts[-1].named_children()] if parts else []
    outer = node.parent()
    outer = outer.parent() if outer is not None and outer.kind() == "variable_declaration" else outer
    if values[:1] != ["function_definition"] and (outer is None or outer.kind() != "chunk"):
        return ()
    return (text(parts[0].named_children()[0]),) if parts and parts[0].named_children() else ()


def _elixir(node: SgNode, _kind: str, text: definitions.TokenText) -> tuple[str, ...]:
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


_SCRIPT_TABLES: Final[Mapping[str, definitions.Table]] = {
    "ruby": definitions.Table(
        definitions.kinds(
            "module: module",
            "class: class",
            "function: method",
            "method: singleton_method",
            "const: assignment",
        ),
        _ruby,
    ),
    "bash": definitions.Table(
        {"function_definition": "function", "variable_assignment": "const"},
        _bash,
        frozenset(["declaration_command"]),
    ),
    "lua": definitions.Table(
        {"function_declaration": "function", "assignment_statement": "const", "field": "method"},
        _lua,
        frozenset(["variable_declaration"]),
    ),
    "elixir": definitions.Table({"call": "function"}, _elixir, clauses=True),
    "haskell": definitions.Table(
        definitions.kinds(
            "type: data_type newtype type_synonym class",
            "function: function",
            "const: bind",
            "signature: signature",
        ),
        clauses=True,
        bodies=definitions.bodies("signature:"),
    ),
}


def _css(node: SgNode, kind: str, text: definitions.TokenText) -> tuple[str, ...]:
    name = node.child(1 if kind == "keyframes_statement" else 0)
    return (" ".join(text(name).split()),) if name is not None else ()


def _key(node: SgNode, _kind: str, text: definitions.TokenText) -> tuple[str, ...]:
    key = node.field("key")
    return (text(key).strip("'\""),) if key is not None else ()


def _section(node: SgNode, _kind: str, text: definitions.TokenText) -> tuple[str, ...]:
    heading = node.child(0)
    if heading is None or "heading" not in heading.kind():
        return ()
    return (" ".join(text(heading).strip("#=- \n\t").split()),)


def _hcl(node: SgNode, kind: str, text: definitions.TokenText) -> tuple[str, ...]:
    if kind == "attribute":
        return (definitions.first(node, ("identifier",), text),)
    labels = [
        text(child).strip('"')
        for child in node.named_children()
        if child.kind() in ("identifier", "string_lit")
    ]
    return (".".join(labels),)


_DATA_TABLES: Final[Mapping[str, definitions.Table]] = {
    "css": definitions.Table({"rule_set": "rule", "keyframes_statement": "rule"}, _css),
    "json": definitions.Table({"pair": "key"}, _key),
    "yaml": definitions.Table({"block_mapping_pair": "key"}, _key),
    "html": definitions.Table({}),
    "markdown": definitions.Table({"section": "heading"}, _section),
    "hcl": definitions.Table({"block": "block", "attribute": "key"}, _hcl),
    "nix": definitions.Table({}),
}


TABLES: Final = {**_C_TABLES, **_TYPE_TABLES, **_SCRIPT_TABLES, **_DATA_TABLES}
