"""How Python is written as tokens: two texts with the same ``ast`` (docstrings apart) give the same ones."""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING, Final

from thunderus_mem.evidence.code.literals import python_number
from thunderus_mem.evidence.code.python_strings import docstring, specification, string
from thunderus_mem.evidence.code.walk import AT, CLOSE, OPEN, Rules

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ast_grep_py import SgNode

    from thunderus_mem.evidence.code.walk import Item, Walk

    Pairs = Sequence[tuple[SgNode, str]]

__all__ = ["PYTHON"]

_OPEN_ENDED: Final = ("lambda", "conditional_expression", "boolean_operator", "not_operator")
"""Expressions that end with another one."""


def _name(text: str) -> str:
    return text if text.isascii() else unicodedata.normalize("NFKC", text)


def _body(walk: Walk, _node: SgNode, pairs: Pairs) -> list[Item]:
    """The body of a function or class, or a module: its docstring is kept apart."""
    doc = docstring(walk, pairs)
    items: list[Item] = list(pairs)
    if doc is not None:
        at = next(i for i, (_, kind) in enumerate(pairs) if kind == "expression_statement")
        items[at] = (pairs[at][0], "")
    return walk.inside("block", items)


def _definition(walk: Walk, node: SgNode, pairs: Pairs) -> list[Item]:
    items: list[Item] = []
    for child, kind in pairs:
        empty = kind == "argument_list" and not child.named_children()
        items.append((child, "" if empty else "body" if kind == "block" else kind))
    return walk.inside(node.kind(), items)


def _call(walk: Walk, _node: SgNode, pairs: Pairs) -> list[Item] | None:
    if pairs[-1][1] != "generator_expression":
        return None
    *before, generator = pairs
    return walk.inside("call", [*before, OPEN + "argument_list", generator, CLOSE])


def _subscript(walk: Walk, _node: SgNode, pairs: Pairs) -> list[Item] | None:
    opening = next((i for i, (_, kind) in enumerate(pairs) if kind == "["), None)
    if opening is None or not any(kind == "," for _, kind in pairs):
        return None
    return walk.inside(
        "subscript",
        [*pairs[: opening + 1], OPEN + "tuple", *pairs[opening + 1 : -1], CLOSE, pairs[-1]],
    )


def _slice(walk: Walk, _node: SgNode, pairs: Pairs) -> list[Item] | None:
    """``a[b:c:]`` is ``a[b:c]``."""
    kept = [at for at, (_, kind) in enumerate(pairs) if kind]
    if sum(pairs[at][1] == ":" for at in kept) < 2 or pairs[kept[-1]][1] != ":":
        return None
    items = [(child, "" if at == kept[-1] else kind) for at, (child, kind) in enumerate(pairs)]
    return walk.inside("slice", items)


def _generic(walk: Walk, _node: SgNode, pairs: Pairs) -> list[Item] | None:
    """``list[int]`` where a type is expected, as it is anywhere else."""
    if pairs[-1][1] != "type_parameter":
        return None
    return [OPEN + "subscript", *pairs[:-1], *_type_arguments(walk, pairs[-1][0]), CLOSE]


def _type_arguments(walk: Walk, node: SgNode) -> list[Item]:
    inner = walk.parts(node)
    if not any(kind == "," for _, kind in inner):
        return [*inner]
    kept = [(child, "" if kind == "," else kind) for child, kind in inner]
    return [kept[0], OPEN + "tuple", *kept[1:-1], CLOSE, kept[-1]]


def _statement(walk: Walk, _node: SgNode, pairs: Pairs) -> list[Item] | None:
    """``a, b`` as a statement is a tuple."""
    if not any(kind == "," for _, kind in pairs):
        return None
    return walk.inside("expression_statement", [OPEN + "tuple", *pairs, CLOSE])


def _assignment(walk: Walk, _node: SgNode, pairs: Pairs) -> list[Item] | None:
    """``(a): int`` declares nothing, ``a: int`` does."""
    if pairs[0][1] not in ("parenthesized_expression", "tuple_pattern") or not any(
        kind == ":" for _, kind in pairs
    ):
        return None
    return walk.inside("assignment", ["(", *pairs])


def _tuple(walk: Walk, node: SgNode, pairs: Pairs) -> list[Item] | None:
    """``(a)`` where a pattern is expected is no tuple."""
    inner = [(child, "" if kind in "()" else kind) for child, kind in pairs]
    if any(kind == "," for _, kind in pairs) or not any(kind for _, kind in inner):
        return None
    return list(inner) if len(walk.pairs(node)) == 3 else None


def _if(walk: Walk, _node: SgNode, pairs: Pairs) -> list[Item] | None:
    """``elif`` is an ``if`` of its own under ``else``."""
    if not any(kind == "elif_clause" for _, kind in pairs):
        return None
    items: list[Item] = [OPEN + "if_statement"]
    depth = 0
    for child, kind in pairs:
        if kind != "elif_clause":
            items.append((child, kind))
            continue
        depth += 1
        items += [OPEN + "else_clause", "else", ":", OPEN + "block", OPEN + "if_statement", "if"]
        items += [(part, "" if name == "elif" else name) for part, name in walk.parts(child)]
    return [*items, *([CLOSE] * (3 * depth + 1))]


def _clauses(walk: Walk, _node: SgNode, pairs: Pairs) -> list[Item] | None:
    """``case a, b:`` is a sequence."""
    patterns = [i for i, (_, kind) in enumerate(pairs) if kind == "case_pattern"]
    if not any(kind == "," for _, kind in pairs) or not patterns:
        return None
    last = max(i for i, (_, kind) in enumerate(pairs) if kind in ("case_pattern", ",")) + 1
    first = patterns[0]
    return walk.inside(
        "case_clause", [*pairs[:first], OPEN + "tuple", *pairs[first:last], CLOSE, *pairs[last:]]
    )


def _naming(walk: Walk, node: SgNode, pairs: Pairs) -> list[Item] | None:
    """``lambda: x as a`` names what the whole expression gives; the grammar reads ``lambda: (x as a)``."""
    at = 1 if pairs[0][1] == "except" else 0
    if at >= len(pairs) or pairs[at][1] not in (*_OPEN_ENDED, "parenthesized_expression"):
        return None
    inner, kind = pairs[at]
    if kind == "parenthesized_expression":
        inner, kind = walk.pairs(inner)[1]
    while kind in _OPEN_ENDED:
        inner, kind = walk.pairs(inner)[-1]
    if kind != "as_pattern" or not _misread(inner):
        return None
    naming = walk.pairs(inner)[1:]
    named: list[Item] = [OPEN + "as_pattern", pairs[at], (naming[0][0], AT), *naming, CLOSE]
    return walk.inside(node.kind(), [*pairs[:at], *named, *pairs[at + 1 :]])


def _misread(node: SgNode) -> bool:
    """Whether an ``as`` was given to the end of an expression in place of the whole."""
    outer = node.parent()
    if outer is None or outer.kind() not in _OPEN_ENDED:
        return False
    while outer is not None and outer.kind() in (*_OPEN_ENDED, "parenthesized_expression"):
        outer = outer.parent()
    return outer is not None and outer.kind() in ("with_item", "except_clause")


def _as_pattern(_walk: Walk, node: SgNode, pairs: Pairs) -> list[Item] | None:
    return [pairs[0], *[(child, "") for child, _ in pairs[1:]]] if _misread(node) else None


PYTHON: Final = Rules(
    comments=frozenset(["comment", "line_continuation"]),
    transparent=frozenset(["parenthesized_expression", "type", "as_pattern_target", "case_pattern"]),
    names={
        "expression_list": "tuple",
        "pattern_list": "tuple",
        "tuple_pattern": "tuple",
        "list_pattern": "list",
        "list_splat_pattern": "list_splat",
        "dictionary_splat_pattern": "dictionary_splat",
        "splat_type": "list_splat",
        "union_type": "binary_operator",
        "member_type": "attribute",
    },
    drop=frozenset(["(", ")", ",", ";"]),
    nodes={
        "string": string,
        "concatenated_string": string,
        "format_specifier": specification,
        "module": _body,
        "body": _body,
        "function_definition": _definition,
        "class_definition": _definition,
        "call": _call,
        "subscript": _subscript,
        "slice": _slice,
        "generic_type": _generic,
        "expression_statement": _statement,
        "assignment": _assignment,
        "tuple_pattern": _tuple,
        "if_statement": _if,
        "case_clause": _clauses,
        "with_item": _naming,
        "except_clause": _naming,
        "as_pattern": _as_pattern,
    },
    leaves={
        "integer": python_number,
        "float": python_number,
        "identifier": _name,
    },
)
"""``(`` and ``,`` go without loss: the kinds of the nodes say what they said."""
