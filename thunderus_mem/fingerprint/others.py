"""Tokens and definitions of all other languages with a grammar (conservative: strings count as written)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from thunderus_mem.fingerprint import definitions
from thunderus_mem.fingerprint.walk import (
    Rules,
    bare,
    by_value,
    in_order,
    loose_number,
    unquoted,
    unquoted_by_value,
    valued,
    without,
    without_last_comma,
    written,
)
from thunderus_mem.startup import lazy_pattern

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ast_grep_py import SgNode

    from thunderus_mem.fingerprint.walk import Handler, Item, Pairs, TokenWalk

_DEEPEST: Final = 20


def _is_empty(walk: TokenWalk, node: SgNode, kind: str) -> bool:
    """Whether a statement or declaration is only a semicolon."""
    return kind in (";", "empty_statement") or (kind == "expression_statement" and walk.slice(node) == ";")


def _sequence(walk: TokenWalk, node: SgNode, pairs: Pairs) -> list[Item]:
    """A sequence of statements or declarations: empty ones have no meaning."""
    return walk.inside(
        node.kind(), [(child, "" if _is_empty(walk, child, kind) else kind) for child, kind in pairs]
    )


def _rules(
    verbatim: str = "",
    quotes: str = "",
    drop: str = "",
    *,
    numbers: str = "",
    parentheses: bool = True,
    comments: str = "comment line_comment block_comment",
    sequences: str = "",
    nodes: Mapping[str, Handler] = {},
) -> Rules:
    return Rules(
        comments=frozenset(comments.split()),
        transparent=frozenset(["parenthesized_expression"] if parentheses else []),
        drop=frozenset([*drop.split(), "\n"]),
        keep={"for_statement": frozenset(";")},
        nodes={
            **dict.fromkeys(verbatim.split(), valued(written)),
            **dict.fromkeys(quotes.split(), valued(unquoted)),
            **dict.fromkeys(sequences.split(), _sequence),
            **nodes,
        },
        leaves=dict.fromkeys(numbers.split(), loose_number),
        trailing=True,
        version=2,
    )


_MACRO: Final = lazy_pattern(
    r"//.*|/\*[\s\S]*?\*/|\\\n"
    r"|(\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'|\.?[0-9](?:[eEpP][+-]|'[0-9a-fA-F]|[\w.])*|\w+"
    r"|<<=|>>=|\.\.\.|\+\+|--|->|&&|\|\||<<|>>|[-+*/%&|^<>=!]=|\#\#|::|\S)"
)
"""A comment, a continued line, or a token of the preprocessor."""


def _macro(text: str) -> str:
    """The body of a macro without comments, its tokens separated by one space."""
    return " ".join(found[1] for found in _MACRO.finditer(text) if found[1])


def _java_enum(walk: TokenWalk, node: SgNode, pairs: Pairs) -> list[Item]:
    """The commas and the semicolon after the last constant have no meaning."""
    empty = ("enum_body_declarations", ";")
    return walk.inside(
        node.kind(),
        [(child, "" if kind == "," or (kind, walk.slice(child)) == empty else kind) for child, kind in pairs],
    )


def _php_program(walk: TokenWalk, node: SgNode, pairs: Pairs) -> list[Item]:
    """The closing tag at the end has no meaning."""
    last = max((at for at, (_, kind) in enumerate(pairs) if kind), default=0)
    kept = [
        (child, "" if kind == "php_end_tag" and at == last else kind)
        for at, (child, kind) in enumerate(pairs)
    ]
    return _sequence(walk, node, kept)


def _php_array(walk: TokenWalk, node: SgNode, pairs: Pairs) -> list[Item]:
    """``array(1)`` is ``[1]``."""
    marks = ("array", "(", ")", "[", "]")
    return walk.inside(
        node.kind(),
        [(child, "" if kind in marks else kind) for child, kind in without_last_comma(list(pairs))],
    )


def _in_parentheses(walk: TokenWalk, node: SgNode, pairs: Pairs) -> list[Item]:
    """Omit parentheses around arguments or parameters: the tree shows what they enclose."""
    return walk.inside(
        node.kind(),
        [(child, "" if kind in "()" else kind) for child, kind in without_last_comma(list(pairs))],
    )


def _ruby_words(text: str) -> str:
    """``%w[a b]``: the words, separated by any whitespace."""
    return "'" + (text if "\\" in text else f"{text[:3]}{' '.join(text[3:-1].split())}{text[-1]}")


def _ruby_pair(walk: TokenWalk, node: SgNode, pairs: Pairs) -> list[Item] | None:
    """``:a => 1`` is ``a: 1``."""
    if [kind for _, kind in pairs[:2]] != ["simple_symbol", "=>"]:
        return None
    name = walk.slice(pairs[0][0])[1:]
    if not name.isidentifier():
        return None
    return walk.inside("pair", [name, ":", *[(child, "") for child, _ in pairs[:2]], *pairs[2:]])


def _ruby_block(walk: TokenWalk, node: SgNode, pairs: Pairs) -> list[Item]:
    """``{ }`` is ``do end``: the tree shows which call the block belongs to."""
    bodies = ("body_statement", "block_body")
    kept = [
        (child, "" if kind in ("{", "}", "do", "end") else "block_body" if kind in bodies else kind)
        for child, kind in pairs
    ]
    return walk.inside("block", kept)


_BY_VALUE: Final = {"string_literal": valued(by_value)}
_C_RULES: Final = _rules(
    "char_literal raw_string_literal system_lib_string",
    numbers="number_literal",
    sequences="translation_unit compound_statement declaration_list",
    nodes=_BY_VALUE,
)
_C_LEAVES: Final = {**_C_RULES.leaves, "preproc_arg": _macro}

_MODIFIERS: Final = (
    "member_modifier visibility_modifier property_modifier class_modifier function_modifier "
    "inheritance_modifier mutation_modifier ownership_modifier platform_modifier access_modifier "
    "inline_modifier infix_modifier open_modifier "
    "public protected private abstract static final strictfp default synchronized native transient volatile "
    "sealed non-sealed override implicit lazy case opaque"
)
"""Kinds in a list of modifiers, where annotations keep their places."""
_IN_ORDER: Final = {"modifiers": in_order(*_MODIFIERS.split())}
_CSHARP_DECLARATIONS: Final = (
    "class_declaration struct_declaration interface_declaration enum_declaration record_declaration "
    "delegate_declaration method_declaration constructor_declaration property_declaration field_declaration "
    "event_declaration event_field_declaration indexer_declaration operator_declaration "
    "conversion_operator_declaration accessor_declaration local_function_statement"
)
_PHP_MODIFIERS: Final = (
    "visibility_modifier static_modifier abstract_modifier final_modifier readonly_modifier"
)
_PHP_DECLARATIONS: Final = "class_declaration method_declaration property_declaration const_declaration"

RULES: Final[Mapping[str, Rules]] = {
    "java": _rules(
        "character_literal",
        numbers="decimal_integer_literal hex_integer_literal octal_integer_literal binary_integer_literal "
        "decimal_floating_point_literal",
        sequences="program class_body interface_body annotation_type_body enum_body_declarations block "
        "constructor_body",
        nodes={"enum_body": _java_enum, **_BY_VALUE, **_IN_ORDER},
    ),
    "c": _C_RULES._replace(leaves=_C_LEAVES),
    "cpp": _C_RULES._replace(leaves=_C_LEAVES),
    "csharp": _rules(
        "verbatim_string_literal raw_string_literal interpolated_string_expression character_literal",
        numbers="integer_literal real_literal",
        sequences="compilation_unit declaration_list block",
        nodes={**_BY_VALUE, **dict.fromkeys(_CSHARP_DECLARATIONS.split(), in_order("modifier"))},
    ),
    "ruby": _rules(
        "heredoc_body regex subshell delimited_symbol",
        drop=";",
        numbers="integer float",
        parentheses=False,
        nodes={
            "string": valued(unquoted_by_value),
            **dict.fromkeys(["argument_list", "method_parameters"], _in_parentheses),
            **dict.fromkeys(["string_array", "symbol_array"], valued(_ruby_words)),
            **dict.fromkeys(["block", "do_block"], _ruby_block),
            "pair": _ruby_pair,
            "then": without("then"),
            "parenthesized_statements": bare,
        },
    ),
    "kotlin": _rules(
        "character_literal multi_line_string_literal line_string_literal",
        drop=";",
        numbers="integer_literal real_literal hex_literal bin_literal long_literal",
        comments="line_comment multiline_comment",
        nodes={
            **_BY_VALUE,
            **_IN_ORDER,
            **dict.fromkeys(["enum_class_body", "lambda_parameters", "when_entry"], without(",")),
        },
    ),
    "swift": _rules(
        "line_string_literal multi_line_string_literal raw_string_literal regex_literal",
        drop=";",
        numbers="integer_literal hex_literal real_literal",
        comments="comment multiline_comment",
        nodes={"tuple_expression": bare, **_IN_ORDER},
    ),
    "php": _rules(
        "heredoc nowdoc text shell_command_expression",
        "string",
        numbers="integer float",
        sequences="compound_statement declaration_list",
        nodes={
            "program": _php_program,
            "array_creation_expression": _php_array,
            "encapsed_string": valued(unquoted_by_value),
            **dict.fromkeys(_PHP_DECLARATIONS.split(), in_order(*_PHP_MODIFIERS.split())),
        },
    ),
    "scala": _rules(
        "string interpolated_string interpolated_string_expression character_literal",
        drop=";",
        numbers="integer_literal floating_point_literal",
        parentheses=False,
        comments="comment block_comment",
        nodes=_IN_ORDER,
    ),
    "bash": _rules(
        "ansi_c_string heredoc_body heredoc_redirect",
        "string",
        ";",
        parentheses=False,
        nodes={"function_definition": without("function", "(", ")"), "case_item": without("(")},
    )._replace(leaves={"raw_string": unquoted}, keep={"c_style_for_statement": frozenset(";")}),
    "lua": _rules(
        "",
        "string",
        ";",
        numbers="number",
        parentheses=False,
        sequences="chunk block",
        nodes={"table_constructor": without(","), "arguments": _in_parentheses},
    ),
    "elixir": _rules(
        "string charlist sigil quoted_atom", drop=";", numbers="integer float", parentheses=False
    )._replace(version=1),
    "haskell": _rules("string char", parentheses=False, comments="comment haddock")._replace(
        empty=frozenset(["layout_start", "layout_end"]), version=1
    ),
    "solidity": _rules("unicode_string_literal hex_string_literal", "string", numbers="number_literal"),
    "dart": _rules("", "string_literal", numbers="decimal_integer_literal hex_integer_literal"),
    "zig": _rules("string multiline_string character"),
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


def _accessors(node: SgNode) -> list[SgNode]:
    """The accessors below a property: ``get()`` of ``val x: Int``."""
    nodes: list[SgNode] = []
    beside = node.next() if node.kind() == "property_declaration" else None
    while beside is not None and (beside.kind() in ("getter", "setter") or "comment" in beside.kind()):
        nodes.append(beside)
        beside = beside.next()
    return [one for one in nodes if "comment" not in one.kind()]


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
        bodies=definitions.bodies("method_declaration: block", "field_declaration:"),
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
        behind=_accessors,
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
        bodies=definitions.bodies("method_declaration: compound_statement", "property_element:"),
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
    "dart": definitions.Table(
        {"class_declaration": "class", "function_signature": "function"},
        wrappers=frozenset(["function_declaration", "method_signature", "method_declaration", "declaration"]),
    ),
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


def _texts_of_here_documents(node: SgNode) -> list[SgNode]:
    """The texts of here-documents below their definition: ``X = <<END``."""
    missing = _here_documents(node)
    outer, below = node, _texts_below(node) if missing else []
    while missing and not below and (parent := outer.parent()) is not None:
        outer, below = parent, _texts_below(parent)
    if not below:
        return []
    # The texts are in the order in which the line names them.
    start = node.range().start.index
    skipped = _here_documents(outer, start)
    beside = outer.prev()
    for _ in range(_DEEPEST):
        if beside is None or beside.range().end.line < outer.range().start.line:
            break
        skipped += _here_documents(beside)
        beside = beside.prev()
    return below[skipped : skipped + missing]


def _here_documents(node: SgNode, end: int | None = None) -> int:
    """The number of here-documents begun in a node (before ``end``) whose texts are not in it."""
    found = definitions.find_kinds(node, ["heredoc_beginning", "heredoc_body"])
    kinds = [one.kind() for one in found if end is None or one.range().start.index < end]
    return max(0, kinds.count("heredoc_beginning") - kinds.count("heredoc_body"))


def _texts_below(node: SgNode) -> list[SgNode]:
    """The texts of here-documents that begin on the last line of a node, behind it."""
    found: list[SgNode] = []
    line, beside = node.range().end.line, node.next()
    while beside is not None and beside.range().start.line <= line:
        if beside.kind() == "heredoc_body":
            found.append(beside)
            line = beside.range().end.line + 1
        beside = beside.next()
    return found


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
        behind=_texts_of_here_documents,
    ),
    "bash": definitions.Table(
        {"function_definition": "function", "variable_assignment": "const"},
        _bash,
        frozenset(["declaration_command", "redirected_statement"]),
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


TABLES: Final = {**_C_TABLES, **_TYPE_TABLES, **_SCRIPT_TABLES}
