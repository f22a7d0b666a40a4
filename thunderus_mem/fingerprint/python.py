"""Tokens and definitions of Python.

Two texts with the same ``ast`` (ignoring docstrings) give the same tokens. Strings count by value, adjacent
ones joined.
"""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING, Final

from thunderus_mem.fingerprint import definitions
from thunderus_mem.fingerprint.walk import AT, CLOSE, OPEN, Rules, python_escapes, python_number

if TYPE_CHECKING:
    from ast_grep_py import SgNode

    from thunderus_mem.fingerprint.walk import Item, Pairs, TokenWalk

_STRINGS: Final = ("string", "concatenated_string")


class _Text:
    """The parts of one or more adjacent strings: adjacent text is joined."""

    def __init__(self, walk: TokenWalk) -> None:
        self.walk = walk
        self.items: list[Item] = []
        self.text: list[str] = []
        self.mark = "'"
        self.formatted = False

    def add(self, node: SgNode) -> None:
        children = [(child, child.kind()) for child in node.children()]
        if not children or children[0][1] != "string_start" or children[-1][1] != "string_end":
            self.items.append(self.walk.slice(node))
            self.walk.broken = True
            return
        prefix = self.walk.slice(children[0][0]).rstrip("'\"").lower()
        raw, octets, formatted = "r" in prefix, "b" in prefix, "f" in prefix or "t" in prefix
        self.formatted |= formatted
        self.mark = "b'" if octets else "t'" if "t" in prefix else self.mark
        at = children[0][0].range().end.index
        # The grammar includes a quote after a backslash at the end of a raw string in the closing quotes.
        closing = len(self.walk.slice(children[0][0])) - len(prefix)
        for child, kind in children[1:-1]:
            if kind == "string_content":
                continue
            span = child.range()
            self._text(self.walk.text[at : span.start.index], raw, octets, formatted)
            at = span.end.index
            if kind == "interpolation":
                self._interpolation(child)
        end = node.range().end.index - closing
        self._text(self.walk.text[at:end], raw, octets, formatted)

    def _text(self, text: str, raw: bool, octets: bool, formatted: bool) -> None:
        value = text if raw else python_escapes(text, octets)
        self.text.append(value.replace("{{", "{").replace("}}", "}") if formatted else value)

    def _interpolation(self, node: SgNode) -> None:
        parts = self.walk.parts(node)
        ends = ("type_conversion", "format_specifier")
        items: list[Item] = [(child, "" if kind == "=" else kind) for child, kind in parts]
        if any(kind == "=" for _, kind in parts):
            # f"{x = }" shows the text of the expression, including spaces, and then its repr.
            start = parts[0][0].range().end.index
            upto = next((child for child, kind in parts if kind in ends), parts[-1][0])
            self.text.append(self.walk.text[start : upto.range().start.index])
            if not any(kind in ends for _, kind in parts):
                items.insert(-1, "!r")
        self.flush()
        self.items += [(node, AT), OPEN + "interpolation", *items, CLOSE]

    def flush(self) -> None:
        value = "".join(self.text)
        self.text.clear()
        if value:
            self.items.append(self.mark + value)

    def done(self, node: SgNode) -> list[Item]:
        """The items: one token for a plain string, brackets around the parts of a formatted one."""
        if not self.formatted:
            self.items.append(self.mark + "".join(self.text))
            return [*self.items, (node, "")]
        self.flush()
        return [OPEN + "fstring", *self.items, CLOSE, (node, "")]


def string(walk: TokenWalk, node: SgNode, pairs: Pairs) -> list[Item]:
    """One string, or several in a row."""
    text = _Text(walk)
    parts = (
        [child for child, kind in pairs if kind == "string"] if pairs and pairs[0][1] == "string" else [node]
    )
    for part in parts:
        text.add(part)
    return text.done(node)


def specification(walk: TokenWalk, node: SgNode, pairs: Pairs) -> list[Item]:
    """A format specification: its text, and the expressions in it."""
    span = node.range()
    items: list[Item] = [OPEN + "format_specifier"]
    at = span.start.index
    for child, kind in pairs:
        if kind in ("format_expression", "interpolation"):
            here = child.range()
            items += ["'" + walk.text[at : here.start.index], (child, AT), (child, kind)]
            at = here.end.index
    return [*items, "'" + walk.text[at : span.end.index], CLOSE, (node, "")]


def docstring(walk: TokenWalk, pairs: Pairs) -> SgNode | None:
    """The first statement of a body, if it is only a string."""
    first = next(((node, kind) for node, kind in pairs if kind), None)
    if first is None or first[1] != "expression_statement":
        return None
    inner = walk.pairs(first[0])
    while len(inner) == 1 and inner[0][1] == "parenthesized_expression":
        inner = [pair for pair in walk.pairs(inner[0][0]) if pair[1] not in "()"]
    if len(inner) != 1 or inner[0][1] not in _STRINGS:
        return None
    text = _Text(walk)
    string = inner[0][0]
    for part in [string] if inner[0][1] == "string" else string.children():
        text.add(part)
    if text.formatted or text.mark != "'":
        return None
    walk.docs.append(_dedented("".join(text.text)))
    return first[0]


def _dedented(text: str) -> str:
    """A docstring without its indent."""
    return "\n".join(line.strip() for line in text.strip().split("\n"))


_OPEN_ENDED: Final = ("lambda", "conditional_expression", "boolean_operator", "not_operator")
"""Expressions that end with another expression."""


def _name(text: str) -> str:
    return text if text.isascii() else unicodedata.normalize("NFKC", text)


def _body(walk: TokenWalk, _node: SgNode, pairs: Pairs) -> list[Item]:
    """The body of a function, class or module; its docstring is kept separately."""
    doc = docstring(walk, pairs)
    items: list[Item] = list(pairs)
    if doc is not None:
        at = next(i for i, (_, kind) in enumerate(pairs) if kind == "expression_statement")
        items[at] = (pairs[at][0], "")
    return walk.inside("block", items)


def _definition(walk: TokenWalk, node: SgNode, pairs: Pairs) -> list[Item]:
    items: list[Item] = []
    for child, kind in pairs:
        empty = kind == "argument_list" and not child.named_children()
        items.append((child, "" if empty else "body" if kind == "block" else kind))
    return walk.inside(node.kind(), items)


def _call(walk: TokenWalk, _node: SgNode, pairs: Pairs) -> list[Item] | None:
    if pairs[-1][1] != "generator_expression":
        return None
    *before, generator = pairs
    return walk.inside("call", [*before, OPEN + "argument_list", generator, CLOSE])


def _subscript(walk: TokenWalk, _node: SgNode, pairs: Pairs) -> list[Item] | None:
    opening = next((i for i, (_, kind) in enumerate(pairs) if kind == "["), None)
    if opening is None or not any(kind == "," for _, kind in pairs):
        return None
    return walk.inside(
        "subscript",
        [*pairs[: opening + 1], OPEN + "tuple", *pairs[opening + 1 : -1], CLOSE, pairs[-1]],
    )


def _slice(walk: TokenWalk, _node: SgNode, pairs: Pairs) -> list[Item] | None:
    """``a[b:c:]`` is ``a[b:c]``."""
    kept = [at for at, (_, kind) in enumerate(pairs) if kind]
    if sum(pairs[at][1] == ":" for at in kept) < 2 or pairs[kept[-1]][1] != ":":
        return None
    items = [(child, "" if at == kept[-1] else kind) for at, (child, kind) in enumerate(pairs)]
    return walk.inside("slice", items)


def _generic(walk: TokenWalk, _node: SgNode, pairs: Pairs) -> list[Item] | None:
    """``list[int]`` in a type is the same as elsewhere."""
    if pairs[-1][1] != "type_parameter":
        return None
    return [OPEN + "subscript", *pairs[:-1], *_type_arguments(walk, pairs[-1][0]), CLOSE]


def _type_arguments(walk: TokenWalk, node: SgNode) -> list[Item]:
    inner = walk.parts(node)
    if not any(kind == "," for _, kind in inner):
        return [*inner]
    kept = [(child, "" if kind == "," else kind) for child, kind in inner]
    return [kept[0], OPEN + "tuple", *kept[1:-1], CLOSE, kept[-1]]


def _statement(walk: TokenWalk, _node: SgNode, pairs: Pairs) -> list[Item] | None:
    """``a, b`` as a statement is a tuple."""
    if not any(kind == "," for _, kind in pairs):
        return None
    return walk.inside("expression_statement", [OPEN + "tuple", *pairs, CLOSE])


def _assignment(walk: TokenWalk, _node: SgNode, pairs: Pairs) -> list[Item] | None:
    """``(a): int`` does not declare a name, ``a: int`` does."""
    if pairs[0][1] not in ("parenthesized_expression", "tuple_pattern") or not any(
        kind == ":" for _, kind in pairs
    ):
        return None
    return walk.inside("assignment", ["(", *pairs])


def _tuple(walk: TokenWalk, node: SgNode, pairs: Pairs) -> list[Item] | None:
    """``(a)`` in a pattern is not a tuple."""
    inner = [(child, "" if kind in "()" else kind) for child, kind in pairs]
    if any(kind == "," for _, kind in pairs) or not any(kind for _, kind in inner):
        return None
    return list(inner) if len(walk.pairs(node)) == 3 else None


def _if(walk: TokenWalk, _node: SgNode, pairs: Pairs) -> list[Item] | None:
    """``elif`` is an ``if`` in an ``else``."""
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


def _clauses(walk: TokenWalk, _node: SgNode, pairs: Pairs) -> list[Item] | None:
    """``case a, b:`` is a sequence."""
    patterns = [i for i, (_, kind) in enumerate(pairs) if kind == "case_pattern"]
    if not any(kind == "," for _, kind in pairs) or not patterns:
        return None
    last = max(i for i, (_, kind) in enumerate(pairs) if kind in ("case_pattern", ",")) + 1
    first = patterns[0]
    return walk.inside(
        "case_clause", [*pairs[:first], OPEN + "tuple", *pairs[first:last], CLOSE, *pairs[last:]]
    )


def _naming(walk: TokenWalk, node: SgNode, pairs: Pairs) -> list[Item] | None:
    """``lambda: x as a`` names the whole expression; the grammar parses ``lambda: (x as a)``."""
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
    """Whether an ``as`` was attached to the end of an expression instead of the whole."""
    outer = node.parent()
    if outer is None or outer.kind() not in _OPEN_ENDED:
        return False
    while outer is not None and outer.kind() in (*_OPEN_ENDED, "parenthesized_expression"):
        outer = outer.parent()
    return outer is not None and outer.kind() in ("with_item", "except_clause")


def _as_pattern(_walk: TokenWalk, node: SgNode, pairs: Pairs) -> list[Item] | None:
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
"""``(`` and ``,`` can be dropped: the kinds of the nodes have the same information."""


def _python(node: SgNode, kind: str, text: definitions.TokenText) -> tuple[str, ...]:
    if kind == "type_alias_statement":
        left = node.field("left")
        return (text(left).partition("[")[0],) if left is not None else ()
    if kind != "assignment":
        return definitions.by_field(node, kind, text)
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
    """Whether names assigned here belong to a module or class, even under a condition."""
    outer: SgNode | None = block
    while outer is not None and outer.kind() in _BRANCHES:
        outer = outer.parent()
    return outer is not None and outer.kind() in ("module", "class_definition")


PYTHON_TABLE: Final = definitions.Table(
    definitions.kinds(
        "function: function_definition",
        "class: class_definition",
        "const: assignment",
        "type: type_alias_statement",
    ),
    _python,
    frozenset(["decorated_definition", "expression_statement"]),
    bodies=definitions.bodies("assignment: ="),
    stub="overload",
)
