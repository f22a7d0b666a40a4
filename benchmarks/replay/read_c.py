"""Truth for C, from a lexer and a reader of statements of our own: needs no headers, sees every ``#if``.

What a definition is: functions, macros, structures, unions and enums with members, the constants of an enum
(qualified by its name, or the ``typedef`` it stands in), ``typedef`` names, and variables and prototypes of
the top level; fields belong to their structure. Without a body are prototypes, variables without a value,
and a ``typedef`` without members. What its content is: its tokens with the storage and attributes before it,
and for a macro its whole directive. Comments, layout and commas behind a last element are left out. Both
sides of an ``#if`` are read: a bracket that each side opens is opened once. Functions of the K&R form, and
functions whose head comes from a macro, are not definitions.
"""

from __future__ import annotations

import itertools
import re
from typing import TYPE_CHECKING, Final

from benchmarks.replay.braces import OPENING, Token, Unclosed, symbol
from benchmarks.replay.symbols import Reading

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchmarks.replay.symbols import Symbol

_TOKEN: Final = re.compile(
    r"""(?P<skip>(?:[\s\ufeff]|\\\n)+|//(?:[^\n\\]|\\.)*|/\*.*?\*/)
    |(?P<string>(?:L|u8|u|U)?"(?:\\.|[^"\\\n])*"|(?:L|u|U)?'(?:\\.|[^'\\\n])*')
    |(?P<word>[^\W\d]\w*)
    |(?P<number>\.?\d(?:[eEpP][+-]|[\w.])*)
    |(?P<mark>\.\.\.|<<=|>>=|[-+*/%&|^!=<>]=|\+\+|--|&&|\|\||<<|>>|->|\#\#|.)""",
    re.VERBOSE | re.DOTALL,
)
_ATTRIBUTES: Final = ("__attribute__", "__attribute", "__declspec", "_Alignas", "alignas", "__asm__", "asm")
_BODIED: Final = ("struct", "union", "enum")
_NOT_NAMES: Final = frozenset([
    "if", "while", "for", "switch", "return", "sizeof", "do", "else", "void", "int", "char", "long", "short",
    "unsigned", "signed", "float", "double", "const", "static", "extern", "inline", "volatile", "struct",
    "union", "enum", "register",
])  # fmt: skip
_SIDES: Final = ("#if", "#ifdef", "#ifndef")


class _Line(Token):
    """A directive; its tokens are in ``parts``."""

    parts: tuple[Token, ...]


def _lexed(text: str, line: int) -> list[Token]:
    found: list[Token] = []
    for one in _TOKEN.finditer(text):
        after = line + one[0].count("\n")
        if not one["skip"]:
            found.append(Token(one[0], line, after))
        line = after
    return found


_DIRECTIVE: Final = re.compile(r"(?:/\*.*?\*/|\\\n|//[^\n]*|\"(?:\\.|[^\"\\\n])*\"|[^\n])*", re.DOTALL)
_STEP: Final = re.compile(
    r"""(?P<hash>^[ \t]*\#)|/\*.*?\*/|//(?:[^\n\\]|\\.)*|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'""",
    re.VERBOSE | re.DOTALL | re.MULTILINE,
)


def _tokens(text: str) -> list[Token]:
    """The tokens of a file, a directive being one token whose parts are known."""
    found: list[Token] = []
    at, line, start = 0, 1, 0
    while (one := _STEP.search(text, at)) is not None:
        if not one["hash"]:
            at = one.end()
            continue
        found += _lexed(text[start : one.start()], line)
        line += text.count("\n", start, one.start())
        whole = _DIRECTIVE.match(text, one.end())
        end = whole.end() if whole else one.end()
        parts = _lexed(text[one.start() : end], line)
        word = parts[1].text if len(parts) > 1 else ""
        directive = _Line(f"#{word}", line, parts[-1].end)
        directive.parts = tuple(parts)
        found.append(directive)
        line += text.count("\n", one.start(), end)
        at = start = end
    return found + _lexed(text[start:], line)


def _flat(tokens: Sequence[Token]) -> list[Token]:
    return [part for one in tokens for part in (one.parts if isinstance(one, _Line) else (one,))]


class _Depth:
    """Open brackets, of which each side of an ``#if`` starts with the same."""

    def __init__(self) -> None:
        self.open: list[str] = []
        self._sides: list[list[str]] = []

    def take(self, token: Token) -> None:
        text = token.text
        if text in _SIDES:
            self._sides.append(list(self.open))
        elif text in ("#else", "#elif") and self._sides:
            self.open = list(self._sides[-1])
        elif text == "#endif" and self._sides:
            self._sides.pop()
        elif text in OPENING:
            self.open.append(OPENING[text])
        elif self.open and text == self.open[-1]:
            self.open.pop()
        elif text in ")]}" and self.open:
            raise Unclosed(f"line {token.line}: {text} closes nothing")


def _reading(tokens: list[Token]) -> list[Symbol]:
    found: list[Symbol] = []
    depth, statement = _Depth(), list[Token]()
    for token in tokens:
        if isinstance(token, _Line):
            if token.text == "#define" and len(token.parts) > 2:
                found.append(symbol(token.parts[2].text, "macro", token.parts, bodied=True))
            depth.take(token)
            if statement:
                statement.append(token)
            continue
        was = len(depth.open)
        depth.take(token)
        if (not was and token.text == "}") or (_is_linkage(statement) and token.text == "{"):
            depth.open.clear()
            statement = []
            continue
        statement.append(token)
        if depth.open:
            continue
        if token.text == ";":
            found += _declared(statement)
            statement = []
        elif token.text == "}" and (one := _function(statement)) is not None:
            found.append(one)
            statement = []
    if depth.open:
        raise Unclosed("a bracket is not closed")
    return found


def _is_linkage(statement: Sequence[Token]) -> bool:
    words = [one for one in statement if not isinstance(one, _Line)]
    return len(words) == 2 and words[0].text == "extern" and words[1].text.startswith('"')


def _outside(statement: Sequence[Token]) -> list[tuple[int, Token]]:
    """The tokens outside of all brackets, and the opening brackets themselves."""
    depth, found = _Depth(), []
    for at, token in enumerate(statement):
        if not depth.open and not isinstance(token, _Line):
            found.append((at, token))
        was = len(depth.open)
        depth.take(token)
        if was and not depth.open and not isinstance(token, _Line):
            found.append((at, token))
    return found


def _function(statement: list[Token]) -> Symbol | None:
    """The function that a statement with a block defines; ``None`` for a type or a value."""
    outside = _outside(statement)
    texts = [one.text for _, one in outside]
    brace = len(texts) - 1 - texts[::-1].index("{")
    if "=" in texts[:brace] or "typedef" in texts:
        return None
    own = _before_parentheses(outside[:brace])
    if own is None or own in _NOT_NAMES:
        return None
    return symbol(own, "function", _flat(_trimmed(statement)), bodied=True)


def _before_parentheses(outside: Sequence[tuple[int, Token]]) -> str | None:
    """The last name directly before parentheses that is no attribute."""
    found = None
    for (_, one), (_, after) in itertools.pairwise(outside):
        if after.text == "(" and one.is_name and one.text not in _ATTRIBUTES:
            found = one.text
    return found


def _trimmed(statement: list[Token]) -> list[Token]:
    """Without directives at the end, which belong to what follows."""
    end = len(statement)
    while end and isinstance(statement[end - 1], _Line):
        end -= 1
    return statement[:end]


def _declared(statement: list[Token]) -> list[Symbol]:
    """What a statement that ends in a semicolon declares."""
    outside = _outside(statement)
    words = [one.text for _, one in outside]
    whole = _flat(statement)
    names, bodied = _names(statement, outside)
    outer = names[0] if "typedef" in words and names else ""
    found = [symbol(name, "type" if "typedef" in words else "const", whole, bodied=bodied) for name in names]
    for order, word in enumerate(words):
        if word in _BODIED and "{" in words[order : order + 3]:
            brace = words.index("{", order)
            own = words[order + 1] if brace == order + 2 else ""
            start, close = outside[order][0], outside[brace + 1][0]
            prefix = f"{outer}." if outer else ""
            if own and own not in names:
                part = _flat(statement[start : close + 1])
                found.append(symbol(prefix + own, "type", part, bodied=True))
                prefix += f"{own}."
            if word == "enum":
                found += _constants(statement[outside[brace][0] + 1 : close], prefix)
            break
    return found


def _names(statement: list[Token], outside: list[tuple[int, Token]]) -> tuple[list[str], bool]:
    """The declared names: before a comma, a value, brackets or the end."""
    names: list[str] = []
    words = [one for _, one in outside]
    texts = [one.text for one in words]
    if texts[:1] == ["_Static_assert"] or texts[:1] == ["static_assert"]:
        return [], False
    if len(words) > 1 and "(" in texts and "=" not in texts[: texts.index("(")]:
        place = texts.index("(")
        inner = statement[outside[place][0] + 1 : outside[place + 1][0]]
        pointer = [one.text for one in inner if one.is_name]
        if inner and inner[0].text == "*" and pointer:
            return [pointer[-1] if inner[-1].text == pointer[-1] else pointer[0]], "=" in texts
        own = _before_parentheses(outside)
        if own in _NOT_NAMES and len(inner) == 1 and pointer:
            own = pointer[0]
        alone = texts.index("(") == 0 or own is None or (own == texts[0] and "{" not in texts)
        return ([] if alone or own is None else [own]), False
    value = False
    for order, one in enumerate(words[:-1]):
        after = texts[order + 1]
        if one.text == "=":
            value = True
        if (
            not value
            and one.is_name
            and order
            and after in ("=", ",", ";", "[")
            and one.text not in _NOT_NAMES
        ) and (texts[order - 1] not in _BODIED or after != ";"):
            names.append(one.text)
        if one.text == ",":
            value = False
    return names, "=" in texts or ("typedef" in texts and "{" in texts)


def _constants(tokens: Sequence[Token], prefix: str) -> list[Symbol]:
    found: list[Symbol] = []
    part: list[Token] = []
    depth = _Depth()
    for token in [*tokens, Token(",", 0, 0)]:
        depth.take(token)
        if token.text == "," and not depth.open:
            rows = [one for one in part if not isinstance(one, _Line)]
            if rows and rows[0].is_name:
                found.append(symbol(prefix + rows[0].text, "const", rows, bodied=True))
            part = []
        else:
            part.append(token)
    return found


class CReader:
    """Reads ``.c`` and ``.h``."""

    suffixes = (".c", ".h")
    made_of = __file__

    def read(self, files: Sequence[tuple[str, bytes]]) -> list[Reading]:
        """One reading for every file."""
        return [_read(data) for _, data in files]


def _read(data: bytes) -> Reading:
    try:
        found = _reading(_tokens(data.decode("utf-8").replace("\r\n", "\n")))
    except (UnicodeDecodeError, Unclosed) as problem:
        return Reading((), f"{type(problem).__name__}: {problem}")
    return Reading(tuple(found))
