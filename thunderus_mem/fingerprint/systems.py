"""Tokens and definitions of Rust and Go."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from thunderus_mem.fingerprint import definitions
from thunderus_mem.fingerprint.walk import AT, CLOSE, OPEN, Rules, c_escapes, go_number, quoted, rust_number

if TYPE_CHECKING:
    from ast_grep_py import SgNode

    from thunderus_mem.fingerprint.walk import Item, Pairs, TokenWalk

_LEAVING: Final = ("return_expression", "break_expression", "continue_expression")


def _sole(walk: TokenWalk, node: SgNode, kind: str) -> tuple[SgNode, str] | None:
    """The expression of a block, if it contains nothing else."""
    if kind != "block":
        return None
    inner = walk.pairs(node)
    if len(inner) != 3 or not inner[1][0].is_named():
        return None
    child, name = inner[1]
    if name == "expression_statement":
        parts = walk.pairs(child)
        # ``{ return x; }`` is ``return x``; any other semicolon discards a value.
        if len(parts) == 1 or parts[0][1] in _LEAVING:
            return parts[0]
        return None
    return None if name.endswith(("_item", "_declaration", "_definition", "label")) else (child, name)


def _unbraced(walk: TokenWalk, node: SgNode, pairs: Pairs) -> list[Item]:
    """The arm of a match or the body of a closure: braces around one expression have no meaning."""
    items: list[Item] = []
    for child, kind in pairs:
        sole = _sole(walk, child, kind)
        if sole is None:
            items.append((child, kind))
            continue
        while (deeper := _sole(walk, *sole)) is not None:
            sole = deeper
        items += [(sole[0], AT), sole, (child, "")]
    return walk.inside(node.kind(), items)


def _rust_statement(walk: TokenWalk, _node: SgNode, pairs: Pairs) -> list[Item] | None:
    """A semicolon after an expression that never returns has no meaning."""
    if pairs[0][1] not in _LEAVING:
        return None
    return [(child, "" if kind == ";" else kind) for child, kind in pairs]


def _rust_parentheses(walk: TokenWalk, node: SgNode, pairs: Pairs) -> list[Item] | None:
    outer = node.parent()
    if outer is None or outer.kind() != "call_expression":
        return None
    if not any(kind == "field_expression" for _, kind in pairs):
        return None
    # (s.f)(x) calls the field, s.f(x) the method.
    return walk.inside("field_call", pairs)


def _or_pattern(walk: TokenWalk, _node: SgNode, pairs: Pairs) -> list[Item] | None:
    kept = [pair for pair in pairs if pair[1]]
    if kept and kept[0][1] == "|" and len(kept) == 2:
        return [(child, "" if kind == "|" else kind) for child, kind in pairs]
    return None


def _extern(walk: TokenWalk, _node: SgNode, pairs: Pairs) -> list[Item] | None:
    return walk.inside("extern_modifier", [*pairs, "'C"]) if len(pairs) == 1 else None


def _rust_raw(walk: TokenWalk, node: SgNode, _pairs: Pairs) -> list[Item]:
    text = walk.slice(node)
    start = text.find('"')
    prefix = "b'" if text[:1] == "b" else "c'" if text[:1] == "c" else "'"
    return [prefix + text[start + 1 : text.rfind('"')], (node, "")]


def _rust_string(walk: TokenWalk, node: SgNode, _pairs: Pairs) -> list[Item]:
    text = walk.slice(node)
    start = text.find('"')
    return [text[:start] + "'" + c_escapes(text[start + 1 : -1]), (node, "")]


def _token_tree(walk: TokenWalk, _node: SgNode, pairs: Pairs) -> list[Item] | None:
    """A trailing comma, which formatters add."""
    last = [i for i, (_, kind) in enumerate(pairs) if kind][-2:-1]
    if not last or pairs[last[0]][1] != ",":
        return None
    items = [(child, "" if i == last[0] else kind) for i, (child, kind) in enumerate(pairs)]
    return [OPEN + "token_tree", *items, CLOSE]


def _sort_key(walk: TokenWalk, node: SgNode) -> str:
    return "".join(walk.slice(node).partition("{")[0].split())


def _in_order(walk: TokenWalk, units: list[list[tuple[SgNode, str]]]) -> list[Item]:
    """Groups of nodes whose order does not matter, sorted by text."""
    units.sort(key=lambda unit: _sort_key(walk, unit[-1][0]))
    return [item for unit in units for item in _apart(unit)]


def _apart(unit: list[tuple[SgNode, str]]) -> list[Item]:
    """Nodes without the comments between them."""
    return [item for node, kind in unit for item in ((node, AT), (node, kind))]


def _use_list(walk: TokenWalk, node: SgNode, pairs: Pairs) -> list[Item]:
    """The order of imported names has no meaning."""
    middle = [[pair] for pair in pairs[1:-1] if pair[1] not in ("", ",")]
    return [OPEN + node.kind(), pairs[0], *_in_order(walk, middle), (pairs[-1][0], AT), pairs[-1], CLOSE]


def _items(walk: TokenWalk, node: SgNode, pairs: Pairs) -> list[Item]:
    """Consecutive imports (and module declarations) sorted by text; the rest unchanged."""
    items: list[Item] = []
    run: list[list[tuple[SgNode, str]]] = []
    unit: list[tuple[SgNode, str]] = []
    for child, kind in pairs:
        if not kind:
            continue
        unit.append((child, kind))
        if kind == "attribute_item":
            continue
        if kind == "use_declaration" or (kind == "mod_item" and child.field("body") is None):
            run.append(unit)
        else:
            items += [*_in_order(walk, run), *_apart(unit)]
            run = []
        unit = []
    return walk.inside(node.kind(), [*items, *_in_order(walk, run), *_apart(unit)])


def _go_group(_walk: TokenWalk, node: SgNode, pairs: Pairs) -> list[Item] | None:
    """``var x int`` is ``var (x int)``; the kind of the declaration implies its keyword.

    Constants in a group depend on each other (``iota``), so a group of more than one keeps its brackets.
    """
    specs = [kind.endswith(("_spec", "_alias", "_list")) for _, kind in pairs]
    if node.kind() == "const_declaration" and sum(specs) > 1:
        return None
    return [(child, kind if kept else "") for (child, kind), kept in zip(pairs, specs, strict=True)]


def _go_imports(walk: TokenWalk, node: SgNode, pairs: Pairs) -> list[Item]:
    specs = [[pair] for pair in pairs if pair[1] == "import_spec"]
    return [OPEN + node.kind(), *_in_order(walk, specs), (node, ""), CLOSE]


def _go_for(walk: TokenWalk, _node: SgNode, pairs: Pairs) -> list[Item] | None:
    """``for ; x; {`` is ``for x {``."""
    named = [(child, kind) for child, kind in pairs if kind and kind != ";"]
    marks = [kind for _, kind in pairs if kind]
    if len(named) == 1 and marks in ([";", named[0][1], ";"], [";", named[0][1]]):
        return [(child, "" if kind == ";" else kind) for child, kind in pairs]
    return None


RUST: Final = Rules(
    comments=frozenset(["line_comment", "block_comment"]),
    transparent=frozenset(["parenthesized_expression"]),
    drop=frozenset([","]),
    keep={"tuple_expression": frozenset(), "token_tree": frozenset([","])},
    nodes={
        "match_arm": _unbraced,
        "closure_expression": _unbraced,
        "expression_statement": _rust_statement,
        "parenthesized_expression": _rust_parentheses,
        "or_pattern": _or_pattern,
        "extern_modifier": _extern,
        "string_literal": _rust_string,
        "raw_string_literal": _rust_raw,
        "token_tree": _token_tree,
        "use_list": _use_list,
        "source_file": _items,
        "block": _items,
        "declaration_list": _items,
    },
    leaves={"integer_literal": rust_number, "float_literal": rust_number},
    empty=frozenset(["string_content"]),
)

GO: Final = Rules(
    comments=frozenset(["comment"]),
    transparent=frozenset(["parenthesized_expression", "parenthesized_type"]),
    drop=frozenset([",", ";", "\n"]),
    keep={"for_clause": frozenset([";"])},
    nodes={
        "interpreted_string_literal": quoted("'", c_escapes),
        "raw_string_literal": quoted("'", str),
        "for_clause": _go_for,
        "import_spec_list": _go_imports,
        "const_declaration": _go_group,
        "type_declaration": _go_group,
        "var_declaration": _go_group,
        "var_spec_list": _go_group,
    },
    leaves={"int_literal": go_number, "float_literal": go_number, "imaginary_literal": go_number},
    empty=frozenset(["raw_string_literal_content", "interpreted_string_literal_content"]),
)


def _go(node: SgNode, kind: str, text: definitions.TokenText) -> tuple[str, ...]:
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


GO_TABLE: Final = definitions.Table(
    definitions.kinds(
        "function: function_declaration",
        "method: method_declaration method_elem",
        "type: type_spec type_alias",
        "const: const_spec",
        "var: var_spec",
    ),
    _go,
    bodies=definitions.bodies("function_declaration: block", "method_declaration: block"),
)
"""Only the declaration counts, not its keyword: it may be alone or in a group."""


def _rust(node: SgNode, kind: str, text: definitions.TokenText) -> tuple[str, ...]:
    if kind != "impl_item":
        return definitions.by_field(node, kind, text)
    of = node.field("type")
    return (text(of).partition("<")[0].strip("&* ").rpartition("::")[2],) if of is not None else ()


RUST_TABLE: Final = definitions.Table(
    {
        **definitions.kinds(
            "function: function_item function_signature_item",
            "type: struct_item enum_item union_item trait_item type_item associated_type",
            "const: const_item static_item enum_variant",
            "macro: macro_definition",
            "module: mod_item",
        ),
        "impl_item": definitions.SCOPE,
    },
    _rust,
    before=frozenset(["attribute_item"]),
    bodies=definitions.bodies("function_signature_item:", "mod_item: declaration_list"),
)
