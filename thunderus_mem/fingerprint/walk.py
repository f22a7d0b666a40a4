"""Convert a node of a syntax tree into tokens that do not depend on formatting.

A node becomes an opening bracket with its kind, its children, and a closing bracket; a leaf becomes its text.
Each language defines what to omit and what to normalize: see `Rules`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeAlias

from thunderus_mem.startup import NamedTuple, lazy_pattern

if TYPE_CHECKING:
    import re
    from collections.abc import Callable, Mapping, Sequence

    from ast_grep_py import SgNode

OPEN: Final = "\x01"
"""Begins the token that opens a node; a text begins with it only if it has a stray control character."""
CLOSE: Final = "\x02"
AT: Final = "\x03"

Pair: TypeAlias = "tuple[SgNode, str]"
"""A node, and the kind to treat it as: "" omits the node, `AT` omits the text before it."""
Pairs: TypeAlias = "Sequence[Pair]"
Item: TypeAlias = "str | Pair"
Handler: TypeAlias = "Callable[[TokenWalk, SgNode, list[Pair]], Sequence[Item] | None]"


class Rules(NamedTuple):
    """How the tokens of one language are made.

    ``comments`` are kinds omitted entirely; ``transparent`` kinds give their content without brackets of
    their own and without parentheses; ``names`` maps kinds to normalized ones; ``drop`` are omitted tokens,
    except in the kinds of ``keep``; ``nodes`` gives the content of a node if it is not simply its children
    (``None``: as usual, with brackets; a list: exactly that); ``leaves`` normalizes a leaf's text; ``empty``
    are kinds that may be empty; ``trailing`` omits trailing commas. ``version`` is incremented when the same
    code may get a different fingerprint.
    """

    comments: frozenset[str]
    transparent: frozenset[str] = frozenset()
    names: Mapping[str, str] = {}
    drop: frozenset[str] = frozenset()
    keep: Mapping[str, frozenset[str]] = {}
    nodes: Mapping[str, Handler] = {}
    leaves: Mapping[str, Callable[[str], str]] = {}
    empty: frozenset[str] = frozenset()
    trailing: bool = False
    version: int = 1


_PARENTHESES: Final = frozenset("()")
_NOTHING: Final[frozenset[str]] = frozenset()


class TokenWalk:
    """A pass over nodes of a text; its results are ``tokens``, ``docs`` and ``broken``."""

    def __init__(self, text: str, rules: Rules) -> None:
        self.text = text
        self.rules = rules
        self.tokens: list[str] = []
        self.docs: list[str] = []
        self.broken = False
        self._at = 0

    def run(self, nodes: Sequence[SgNode]) -> None:
        """Add the tokens of these consecutive nodes."""
        for node in nodes:
            span = node.range()
            self._at = span.start.index
            if span.end.index > self._at or node.children():
                self._run([(node, node.kind())])

    def slice(self, node: SgNode) -> str:
        """The text of a node."""
        span = node.range()
        return self.text[span.start.index : span.end.index]

    def pairs(self, node: SgNode) -> list[Pair]:
        """The children of a node with their kinds, without comments."""
        comments = self.rules.comments
        found = [(child, child.kind()) for child in node.children()]
        return [(child, kind) for child, kind in found if kind not in comments]

    def parts(self, node: SgNode) -> list[Pair]:
        """All children of a node, with comments marked as omitted: for nodes that are rewritten."""
        comments = self.rules.comments
        found = [(child, child.kind()) for child in node.children()]
        return [(child, "" if kind in comments else kind) for child, kind in found]

    def _run(self, stack: list[Item]) -> None:
        # The depth comes from the input, so an explicit stack is used instead of recursion.
        rules, tokens = self.rules, self.tokens
        comments, transparent, nodes = rules.comments, rules.transparent, rules.nodes
        while stack:
            item = stack.pop()
            if isinstance(item, str):
                tokens.append(item)
                continue
            node, kind = item
            if not kind or kind in comments:
                self._skip(node)
                continue
            if kind == AT:
                self._at = max(self._at, node.range().start.index)
                continue
            children = node.children()
            if not children:
                self._leaf(node, kind)
                continue
            if kind == "ERROR":
                self.broken = True
            named = [(child, child.kind()) for child in children]
            pairs = [(child, "" if name in comments else name) for child, name in named]
            handler = nodes.get(kind)
            if handler is not None:
                made = handler(self, node, pairs)
                if made is not None:
                    stack.extend(reversed(made))
                    continue
            if kind in transparent:
                drop = rules.drop | _PARENTHESES
                stack.extend([(child, "" if name in drop else name) for child, name in reversed(pairs)])
                continue
            if rules.trailing:
                pairs = without_last_comma(pairs)
            tokens.append(OPEN + rules.names.get(kind, kind))
            stack.append(CLOSE)
            drop = rules.drop - rules.keep.get(kind, _NOTHING)
            stack.extend([(child, "" if name in drop else name) for child, name in reversed(pairs)])

    def inside(self, kind: str, pairs: Sequence[Item]) -> list[Item]:
        """The content of a node of this kind, in brackets, without the tokens that the language drops."""
        drop = self.rules.drop - self.rules.keep.get(kind, _NOTHING)
        kept: list[Item] = [OPEN + self.rules.names.get(kind, kind)]
        kept += [item if isinstance(item, str) or item[1] not in drop else (item[0], "") for item in pairs]
        kept.append(CLOSE)
        return kept

    def _skip(self, node: SgNode) -> None:
        span = node.range()
        self._gap(span.start.index)
        self._at = max(self._at, span.end.index)

    def _leaf(self, node: SgNode, kind: str) -> None:
        span = node.range()
        start, end = span.start.index, span.end.index
        if start > self._at:
            self._gap(start)
        if start == end:
            self._nothing(kind)
            return
        self._at = max(self._at, end)
        if kind == "ERROR":
            self.broken = True
        text = self.text[start:end]
        write = self.rules.leaves.get(kind)
        if write is not None:
            text = write(text)
        elif kind == text:
            text = " ".join(text.split())  # an operator of two words
        if text and not text.isspace():
            self.tokens.append(text)

    def _nothing(self, kind: str) -> None:
        """Handle a leaf without text: a token missing in the text, unless the grammar has empty leaves."""
        if kind not in self.rules.empty:
            self.broken = True
            self.tokens.append(f"{OPEN}missing {kind}{CLOSE}")

    def _gap(self, start: int) -> None:
        """Add text that is not covered by a leaf."""
        if self._at < start:
            # Ignore line continuations.
            words = self.text[self._at : start].replace("\\\n", " ").split()
            if words and not self.rules.drop.issuperset(words):
                self.tokens.append(" ".join(words))
            self._at = start


_BODY_KINDS: Final = (
    "module program source source_file source_code compilation_unit translation_unit config_file chunk "
    "haskell document fragment stylesheet stream section list block block_node block_mapping block_sequence "
    "block_body body body_statement then statements statement_list template_body indented_block declarations "
    "class_declarations instance_declarations imports alternatives local_binds binding_set"
)
_BODIES: Final = frozenset(_BODY_KINDS.split())
"""Kinds that are sequences of lines, unless they have brackets or a keyword."""


def _is_body(node: SgNode) -> bool:
    """Whether a node only holds other nodes, so that a line beside them would be part of it."""
    return node.kind() in _BODIES and all(
        child.is_named() or not child.text().strip("; \n") for child in node.children()
    )


def tokens_of_lines(walk: TokenWalk, root: SgNode, first: int, last: int) -> None:
    """Add the tokens that begin on these lines (from 1) to the walk.

    They are the same whether or not the lines are all of a body: without its brackets, or a last comma.
    """
    stack = [root]
    rules = walk.rules
    while stack:
        node = stack.pop()
        kind = node.kind()
        if not kind or kind in rules.comments:
            continue
        span = node.range()
        begins, ends = span.start.line + 1, span.end.line + (1 if span.end.column else 0)
        if ends < first or begins > last:
            continue
        children = node.children()
        inside = begins >= first and ends <= last and not _is_body(node)
        if inside or not children:
            if begins >= first and (children or kind not in rules.drop):
                walk.run([node])
            continue
        stack.extend(reversed(children))
    if walk.tokens[-1:] == [","]:
        walk.tokens.pop()


def without_last_comma(pairs: list[Pair]) -> list[Pair]:
    """The parts of a node without the comma directly before its closing bracket."""
    kept = [at for at, (_, kind) in enumerate(pairs) if kind]
    if len(kept) < 2 or pairs[kept[-2]][1] != "," or pairs[kept[-1]][1] not in (")", "]", "}", ">"):
        return pairs
    return [(node, "" if at == kept[-2] else kind) for at, (node, kind) in enumerate(pairs)]


def pieces(
    walk: TokenWalk, start: int, end: int, embedded: Sequence[tuple[SgNode, str]], value: Callable[[str], str]
) -> list[Item]:
    """The text from ``start`` to ``end`` by value, with the embedded nodes in their places."""
    made: list[Item] = []
    at = start
    for node, kind in embedded:
        span = node.range()
        made.append(value(walk.text[at : span.start.index]))
        made += [(node, AT), (node, kind)]
        at = span.end.index
    made.append(value(walk.text[at:end]))
    return made


def quoted(mark: str, value: Callable[[str], str]) -> Callable[..., list[Item]]:
    """A handler for plain strings: without the delimiters, by value, after a mark."""

    def handler(walk: TokenWalk, node: SgNode, _pairs: object) -> list[Item]:
        return [mark + value(walk.slice(node)[1:-1]), (node, "")]

    return handler


def embedding(kinds: frozenset[str], mark: str, value: Callable[[str], str]) -> Callable[..., list[Item]]:
    """A handler for strings that embed nodes of these kinds; all other text counts as written."""

    def handler(walk: TokenWalk, node: SgNode, pairs: Sequence[tuple[SgNode, str]]) -> list[Item]:
        span = node.range()
        inner = [pair for pair in pairs if pair[1] in kinds]
        parts = pieces(walk, span.start.index, span.end.index, inner, value)
        written: list[Item] = [mark + part if isinstance(part, str) else part for part in parts if part]
        return [OPEN + "text", *written, CLOSE, (node, "")]

    return handler


def valued(value: Callable[[str], str]) -> Handler:
    """A handler for nodes whose content is a function of their text."""

    def handler(walk: TokenWalk, node: SgNode, _pairs: Pairs) -> list[Item]:
        return [value(walk.slice(node)), (node, "")]

    return handler


def written(text: str) -> str:
    """A text that counts as written."""
    return "'" + text


def flowing(text: str) -> str:
    """A text in which the kind of whitespace does not matter."""
    return "'" + " ".join(text.split())


_SPECIAL: Final = frozenset("'\"\\$#{\n`")


def unquoted(text: str) -> str:
    """A string without quotes if its content means the same in both kinds; else as written."""
    plain = len(text) > 1 and text[0] == text[-1] and text[0] in "'\"" and _SPECIAL.isdisjoint(text[1:-1])
    return "'" + (text[1:-1] if plain else text)


_STRING: Final = lazy_pattern(r'"(?:[^"\\]|\\[tnrf"\\])*"')
_SIMPLE_ESCAPE: Final = lazy_pattern(r'\\([tnrf"\\])')
"""What means the same in double quotes in every language that has them."""


def by_value(text: str) -> str:
    """A string in double quotes by value if it is plain and has only simple escapes; else as written."""
    if "$" in text or not _STRING.fullmatch(text):
        return written(text)
    return '"' + _SIMPLE_ESCAPE.sub(lambda found: _SIMPLE[found[1]], text[1:-1])


def unquoted_by_value(text: str) -> str:
    """Like `unquoted`, and a string in double quotes that has no expressions by value."""
    value = by_value(text)
    if value[0] == "'" or "#" in text:
        return unquoted(text)
    return "'" + value[1:] if _SPECIAL.isdisjoint(value[1:]) else value


def in_order(*kinds: str) -> Handler:
    """A handler for nodes in which the order of the children of these kinds does not matter."""

    def handler(walk: TokenWalk, node: SgNode, pairs: Pairs) -> list[Item] | None:
        some = [pair for pair in pairs if pair[1] in kinds]
        if len(some) < 2:
            return None
        ordered = iter(sorted(some, key=lambda pair: walk.slice(pair[0])))
        kept = [next(ordered) if pair[1] in kinds else pair for pair in pairs]
        return walk.inside(node.kind(), [item for pair in kept for item in ((pair[0], AT), pair)])

    return handler


def without(*kinds: str) -> Handler:
    """A handler for nodes in which children of these kinds do not matter."""

    def handler(walk: TokenWalk, node: SgNode, pairs: Pairs) -> list[Item]:
        return walk.inside(node.kind(), [(child, "" if kind in kinds else kind) for child, kind in pairs])

    return handler


def bare(_walk: TokenWalk, _node: SgNode, pairs: Pairs) -> list[Item] | None:
    """One node in parentheses is the node."""
    kept = [kind for _, kind in pairs if kind]
    if len(kept) != 3 or kept[0] != "(" or kept[2] != ")":
        return None
    return [(child, "" if kind in "()" else kind) for child, kind in pairs]


_MOST_DIGITS: Final = 300
"""Longer numbers stay as written: converting thousands of digits takes quadratic time."""
_PYTHON_ESCAPE: Final = lazy_pattern(
    r"\\(?:\n|([0-7]{1,3})|x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|N\{([^{}\n]{1,100})\}|([\\'\"abfnrtv]))"
)
_C_ESCAPE: Final = lazy_pattern(
    r"\\(?:(\n[ \t\n]*)|u\{([0-9a-fA-F_]{1,12})\}|x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})"
    r"|([0-7]{1,3})|([\s\S]))"
)
_SIMPLE: Final = {
    "a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v", "\\": "\\",
    "'": "'", '"': '"',
}  # fmt: skip
_WHOLE: Final = lazy_pattern(r"0[xX][0-9a-fA-F]+|0[oO][0-7]+|0[bB][01]+|[0-9]+")
_RUST_SUFFIX: Final = lazy_pattern(r"([iu](?:8|16|32|64|128|size)|f(?:16|32|64|128))$")


_NUL: Final = "\ufdd0"
_NAMED: Final = "\ufdd1"
"""Private characters, for those not allowed in a token, and for a character given by name."""


def _character(digits: str, base: int, written: str) -> str:
    code = int(digits, base)
    if code == 0:
        return _NUL
    return chr(code) if code < 0x110000 else written


def _python_escape(found: re.Match[str]) -> str:
    octal, two, four, eight, name, simple = found.groups()
    if octal:
        return _character(octal, 8, found[0])
    if name:
        return f"{_NAMED}{{{name.upper()}}}"
    if simple:
        return _SIMPLE[simple]
    digits = two or four or eight
    return _character(digits, 16, found[0]) if digits else ""


def _octet_escape(found: re.Match[str]) -> str:
    return found[0] if found[3] or found[4] or found[5] else _python_escape(found)


def python_escapes(text: str, octets: bool = False) -> str:
    """The value of a Python string without its quotes (of bytes, with ``octets``)."""
    if "\\" not in text:
        return text
    return _PYTHON_ESCAPE.sub(_octet_escape if octets else _python_escape, text)


def _c_escape(found: re.Match[str]) -> str:
    line, braced, two, four, eight, octal, other = found.groups()
    if line:
        return ""
    digits = (braced or "").replace("_", "") or two or four or eight
    if digits:
        return _character(digits, 16, found[0])
    return _character(octal, 8, found[0]) if octal else _SIMPLE.get(other, other)


def c_escapes(text: str) -> str:
    """The value of a string without its quotes in JavaScript, Go or Rust."""
    return _C_ESCAPE.sub(_c_escape, text) if "\\" in text else text


def _whole(text: str) -> str:
    """An integer in decimal digits; "" when it is not one, or too long."""
    if len(text) > _MOST_DIGITS or not _WHOLE.fullmatch(text):
        return ""
    return str(int(text, 0)) if text[:1] != "0" or text[1:2].isalpha() else str(int(text, 10))


def _floating(text: str) -> str:
    """A float by value; as written when it is too long or too large."""
    if len(text) > _MOST_DIGITS:
        return text
    try:
        value = float(text)
    except ValueError:
        return text
    return text if value in (float("inf"), float("-inf")) else repr(value)


def python_number(text: str) -> str:
    """A Python number by value: ``0x10`` is ``16``, ``1.0`` is not ``1``."""
    plain = text.replace("_", "").lower()
    if plain[:1] == "0" and plain.strip("0") and plain.isdigit():
        return plain  # an octal number of Python 2
    whole = _whole(plain)
    if whole:
        return whole
    if plain.endswith("j"):
        return _floating(plain[:-1]) + "j"
    return _floating(plain)


def script_number(text: str) -> str:
    """A JavaScript number by value: a float unless it ends in ``n``."""
    plain = text.replace("_", "").lower()
    if plain.endswith("n") and not plain.startswith("0x"):
        return (_whole(plain[:-1]) or plain[:-1]) + "n"
    if len(plain) > 1 and plain[0] == "0" and plain.isdigit():
        return plain  # an old octal number
    if plain.endswith("n"):
        return (_whole(plain[:-1]) or plain[:-1]) + "n"
    whole = _whole(plain)
    if whole and len(whole) < 16:
        return whole
    value = _floating(plain)
    return value.removesuffix(".0")


def rust_number(text: str) -> str:
    """A Rust number by value, followed by its type."""
    plain = text.replace("_", "")
    suffix = ""
    found = _RUST_SUFFIX.search(plain)
    if found and not (plain[:2].lower() == "0x" and found[0].startswith("f")):
        plain, suffix = plain[: found.start()], found[0]
    return (_whole(plain) or _floating(plain.lower())) + suffix


def go_number(text: str) -> str:
    """A Go number by value; ``0755`` is octal."""
    plain = text.replace("_", "").lower()
    tail = ""
    if plain.endswith("i"):
        plain, tail = plain[:-1], "i"
    if (
        len(plain) > 1
        and plain[0] == "0"
        and not plain.strip("01234567")
        and len(plain) <= _MOST_DIGITS
        and not tail
    ):
        return str(int(plain, 8))
    if plain.startswith("0x") and ("p" in plain or "." in plain):
        return plain + tail
    return (_whole(plain) or _floating(plain)) + tail


def loose_number(text: str) -> str:
    """A number in any other language: lower case, without separators."""
    return text.replace("_", "").replace("'", "").lower()
