"""Tokens and definitions of JavaScript, TypeScript and JSX."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from thunderus_mem.fingerprint import definitions
from thunderus_mem.fingerprint.walk import CLOSE, OPEN, Rules, c_escapes, embedding, quoted, script_number

if TYPE_CHECKING:
    from ast_grep_py import SgNode

    from thunderus_mem.fingerprint.walk import Item, Pairs, TokenWalk

_KEYED: Final = frozenset(
    ["pair", "pair_pattern", "method_definition", "property_signature", "method_signature",
     "field_definition",     "public_field_definition", "abstract_method_signature", "enum_assignment"]
)  # fmt: skip
_STATEMENT_LISTS: Final = ("program", "statement_block", "class_body", "switch_case", "switch_default")
_CLASS_NAMES: Final = ("class", "className")


def _keyed(walk: TokenWalk, node: SgNode, pairs: Pairs) -> list[Item] | None:
    """A key is its text, whether a name, a quoted string or a number."""
    kind = node.kind()
    at = next((i for i, (_, name) in enumerate(pairs) if name in ("string", "number")), None)
    limit = next(
        (i for i, (_, name) in enumerate(pairs) if name in (":", "=", "formal_parameters")), len(pairs)
    )
    if at is None or at >= limit:
        return None
    key, name = pairs[at]
    text = walk.slice(key)
    value = c_escapes(text[1:-1]) if name == "string" else script_number(text)
    return walk.inside(kind, [*pairs[:at], value or "''", (key, ""), *pairs[at + 1 :]])


def _statements(walk: TokenWalk, node: SgNode, pairs: Pairs) -> list[Item]:
    """Empty statements have no meaning in a sequence of statements."""
    return walk.inside(
        node.kind(), [(child, "" if kind == "empty_statement" else kind) for child, kind in pairs]
    )


def _new(walk: TokenWalk, _node: SgNode, pairs: Pairs) -> list[Item]:
    """``new A`` is ``new A()``."""
    kept = [
        (child, "" if kind == "arguments" and not child.named_children() else kind) for child, kind in pairs
    ]
    return walk.inside("new_expression", kept)


def _arrow(walk: TokenWalk, _node: SgNode, pairs: Pairs) -> list[Item] | None:
    """``x => x`` is ``(x) => x``."""
    at = next((i for i, (_, kind) in enumerate(pairs) if kind == "=>"), 0)
    if not at or pairs[at - 1][1] != "identifier":
        return None
    parameter: list[Item] = [OPEN + "formal_parameters", "(", pairs[at - 1], ")", CLOSE]
    return walk.inside("arrow_function", [*pairs[: at - 1], *parameter, *pairs[at:]])


def _parameter(walk: TokenWalk, _node: SgNode, pairs: Pairs) -> list[Item] | None:
    """A parameter that is only a name, or a name and its default, as JavaScript's grammar has it."""
    kept = [kind for _, kind in pairs if kind]
    if len(kept) == 1:
        return list(pairs)
    return walk.inside("assignment_pattern", pairs) if len(kept) == 3 and kept[1] == "=" else None


def _inner(_walk: TokenWalk, _node: SgNode, pairs: Pairs) -> list[Item]:
    """A node that only TypeScript's grammar has, by its content."""
    return list(pairs)


def _either(walk: TokenWalk, node: SgNode, pairs: Pairs) -> list[Item]:
    """``A | B | C`` as a flat list, regardless of parentheses and a leading bar."""
    kind = node.kind()
    mark = "|" if kind == "union_type" else "&"
    row: list[Item] = []
    stack = list(reversed(pairs))
    while stack:
        child, name = stack.pop()
        inner = walk.pairs(child) if name in (kind, "parenthesized_type") else []
        if name == kind or (len(inner) == 3 and inner[1][1] == kind):
            stack.extend(reversed(walk.parts(child)))
        else:
            row.append((child, "" if name in (mark, "(", ")") else name))
    if len([item for item in row if item[1]]) == 1:
        return row
    return [OPEN + kind, *row, CLOSE]


def _array(walk: TokenWalk, node: SgNode, pairs: Pairs) -> list[Item] | None:
    """Commas matter only for holes: where nothing is before them."""
    items: list[Item] = []
    before = "["
    for child, kind in pairs:
        if not kind:
            items.append((child, kind))
            continue
        if kind == "," and before in ("[", ","):
            items.append(",")
        items.append((child, kind))
        before = kind
    return walk.inside(node.kind(), items)


def _parentheses(walk: TokenWalk, node: SgNode, pairs: Pairs) -> list[Item] | None:
    """Parentheses are redundant in a tree, except in ``(a?.b).c``, which differs from ``a?.b.c``."""
    outer = node.parent()
    if outer is None or outer.kind() not in ("member_expression", "call_expression", "subscript_expression"):
        return None
    if not any(_is_chain(child) for child, kind in pairs if kind not in "()"):
        return None
    return walk.inside("chain", pairs)


def _is_chain(node: SgNode) -> bool:
    while node.kind() in ("member_expression", "call_expression", "subscript_expression"):
        inner = node.children()
        if any(child.kind() in ("optional_chain", "?.") for child in inner):
            return True
        node = inner[0]
    return False


def _regex(walk: TokenWalk, node: SgNode, _pairs: Pairs) -> list[Item]:
    pattern, _, flags = walk.slice(node).rpartition("/")
    return ["regex " + pattern + "/" + "".join(sorted(flags)), (node, "")]


def _jsx_lines(text: str, first: bool, last: bool) -> str:
    """Text between tags as rendered: lines stripped and joined, blank lines omitted."""
    lines = text.split("\n")
    kept = []
    for i, line in enumerate(lines):
        plain = line.replace("\t", " ")
        plain = plain if i == 0 and not first else plain.lstrip(" ") if i else plain
        plain = plain if i == len(lines) - 1 else plain.rstrip(" ")
        if plain:
            kept.append(plain)
    return " ".join(kept)


def _jsx(walk: TokenWalk, node: SgNode, pairs: Pairs) -> list[Item]:
    """An element: adjacent text and ``{" "}`` are one text."""
    items: list[Item] = []
    text = ""
    for child, kind in pairs:
        shown = _jsx_shown(walk, child, kind)
        if shown is None:
            items += ["'" + text, (child, kind)] if text else [(child, kind)]
            text = ""
        else:
            text += shown
            items.append((child, ""))
    return [OPEN + node.kind(), *items, CLOSE]


def _jsx_shown(walk: TokenWalk, child: SgNode, kind: str) -> str | None:
    """The text of a part of an element; ``None`` when it is not only text."""
    if kind == "jsx_text":
        text = walk.slice(child)
        return _jsx_lines(text, first=False, last=False)
    if kind == "html_character_reference":
        return walk.slice(child)
    if kind != "jsx_expression":
        return None
    inner = child.children()
    if len(inner) == 2 and walk.slice(child).strip("{} \t\n") == "":
        return ""
    if len(inner) == 3 and inner[1].kind() == "string":
        return c_escapes(walk.slice(inner[1])[1:-1])
    if all(part.kind() in ("{", "}", "comment") for part in inner):
        return ""
    return None


def _attribute(walk: TokenWalk, _node: SgNode, pairs: Pairs) -> list[Item] | None:
    """``a={"b"}`` is ``a="b"``; class names are separated by any whitespace."""
    if not pairs or pairs[-1][1] not in ("string", "jsx_expression"):
        return None
    value, kind = pairs[-1]
    if kind == "jsx_expression":
        inner = walk.pairs(value)
        if len(inner) != 3 or inner[1][1] != "string":
            return None
        text = c_escapes(walk.slice(inner[1][0])[1:-1])
    else:
        text = walk.slice(value)[1:-1]
    if walk.slice(pairs[0][0]) in _CLASS_NAMES:
        text = " ".join(text.split())
    return walk.inside("jsx_attribute", [*pairs[:-1], "'" + text, (value, "")])


SCRIPT: Final = Rules(
    comments=frozenset(["comment", "html_comment"]),
    transparent=frozenset(["parenthesized_expression", "parenthesized_type"]),
    names={"field_definition": "public_field_definition"},
    drop=frozenset([",", ";", "\n"]),
    nodes={
        "string": quoted("'", c_escapes),
        "template_string": embedding(frozenset(["template_substitution"]), "`", str),
        "template_literal_type": embedding(frozenset(["template_type"]), "`", str),
        "regex": _regex,
        "new_expression": _new,
        "arrow_function": _arrow,
        "required_parameter": _parameter,
        "extends_clause": _inner,
        "optional_chain": _inner,
        "union_type": _either,
        "intersection_type": _either,
        "array": _array,
        "array_pattern": _array,
        "parenthesized_expression": _parentheses,
        "jsx_element": _jsx,
        "jsx_attribute": _attribute,
        **dict.fromkeys(_KEYED, _keyed),
        **dict.fromkeys(_STATEMENT_LISTS, _statements),
    },
    leaves={"number": script_number},
    empty=frozenset(["jsx_text"]),
)


_FUNCTIONS: Final = frozenset(
    ["function_expression", "arrow_function", "generator_function", "class", "function"]
)
_TOP: Final = ("program", "export_statement", "source_file")


def _script(node: SgNode, kind: str, text: definitions.TokenText) -> tuple[str, ...]:
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


def _declared(node: SgNode, text: definitions.TokenText) -> tuple[str, ...]:
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


def _assigned(node: SgNode, text: definitions.TokenText) -> tuple[str, ...]:
    left, right = node.field("left"), node.field("right")
    if left is None or right is None or right.kind() not in (*_FUNCTIONS, "object"):
        return ()
    if left.kind() != "member_expression":
        return ()
    parts = [part for part in text(left).split(".") if part not in ("module", "exports", "prototype", "this")]
    return (".".join(parts),) if parts and all(part.isidentifier() for part in parts) else ()


def _exported(node: SgNode) -> tuple[str, ...]:
    """``export default`` without a name."""
    value = node.field("value")
    named = value is None or (value.kind() == "identifier") or value.field("name") is not None
    return () if named else ("default",)


_SCRIPT_WRAPPERS: Final = frozenset(["export_statement", "lexical_declaration", "variable_declaration"])
_SCRIPT_KINDS: Final = definitions.kinds(
    "function: function_declaration generator_function_declaration assignment_expression",
    "class: class_declaration",
    "method: method_definition pair",
    "const: variable_declarator export_statement",
)

JAVASCRIPT_TABLE: Final = definitions.Table(
    {**_SCRIPT_KINDS, "field_definition": "field"},
    _script,
    _SCRIPT_WRAPPERS,
    frozenset(["decorator"]),
    bodies=definitions.bodies("variable_declarator: ="),
)
TYPESCRIPT_TABLE: Final = definitions.Table(
    {
        **_SCRIPT_KINDS,
        **definitions.kinds(
            "function: function_signature",
            "class: abstract_class_declaration",
            "method: method_signature abstract_method_signature",
            "field: public_field_definition property_signature",
            "type: interface_declaration type_alias_declaration enum_declaration",
            "module: internal_module module",
        ),
    },
    _script,
    _SCRIPT_WRAPPERS | {"ambient_declaration"},
    frozenset(["decorator"]),
    bodies=definitions.bodies(
        "function_signature:", "method_signature:", "abstract_method_signature:", "variable_declarator: ="
    ),
)
