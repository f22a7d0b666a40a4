"""Truth for C#, from a lexer and a reader of members of our own: no compiler of it can be had everywhere.

What a definition is: classes, structures, interfaces, records, enums and their members, delegates, methods,
constructors (named as their class), properties, fields and events without accessors, each with its attributes
and modifiers; a namespace qualifies no name, and neither operators, indexers, finalizers, accessors nor local
functions are definitions of their own. A method with a block or ``=>`` has a body; an abstract one has none.
What its content is: its tokens. Comments, documentation, layout, ``#region`` and ``#pragma`` lines and commas
behind a last element are left out; other directives count. Both sides of an ``#if`` are read as they stand,
so a file in which they only fit together one at a time is trouble.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from benchmarks.replay.braces import Token, Unclosed, closing, symbol
from benchmarks.replay.symbols import Reading

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchmarks.replay.symbols import Symbol

_SILENT: Final = ("region", "endregion", "pragma", "line", "nullable", "warning")
_TYPES: Final = ("class", "struct", "interface", "enum", "record")
_TOKEN: Final = re.compile(
    r"""(?P<skip>[\s\ufeff]+|//[^\n]*|/\*.*?\*/)
    |(?P<line>^[ \t]*\#[^\n]*)
    |(?P<raw>\$*"{3,})
    |(?P<open>\$@"|@\$"|\$"|@"|")
    |(?P<char>'(?:\\.[^'\n]*|[^'\\\n])')
    |(?P<word>@?[^\W\d]\w*)
    |(?P<number>\.?\d(?:[eE][+-]?\d|[\w.])*)
    |(?P<mark>=>|\?\?=?|\?\.|::|[-+*/%&|^!=]=|\+\+|--|&&|\|\||->|.)""",
    re.VERBOSE | re.DOTALL | re.MULTILINE,
)
_MODIFIERS: Final = frozenset([
    "public", "private", "protected", "internal", "static", "readonly", "sealed", "abstract", "virtual",
    "override", "async", "extern", "unsafe", "new", "partial", "volatile", "required", "ref", "const", "file",
    "fixed",
])  # fmt: skip


def _string_end(text: str, at: int, head: str) -> int:
    """Where a string ends that begins with ``head`` at ``at``; the holes of ``$`` may hold strings."""
    verbatim, holes = "@" in head, "$" in head
    at += len(head)
    while at < len(text):
        one = text[at]
        if one == "\\" and not verbatim:
            at += 2
        elif one == '"':
            if not (verbatim and text[at + 1 : at + 2] == '"'):
                return at + 1
            at += 2
        elif one == "{" and holes:
            at = at + 2 if text[at + 1 : at + 2] == "{" else _hole_end(text, at + 1)
        elif one == "\n" and not verbatim:
            break
        else:
            at += 1
    raise Unclosed("a string is not closed")


def _hole_end(text: str, at: int) -> int:
    depth = 1
    while at < len(text):
        found = _TOKEN.match(text, at)
        if found is None:
            break
        if found["open"]:
            at = _string_end(text, at, found["open"])
            continue
        at = found.end()
        depth += (found[0] in ("{", "(", "[")) - (found[0] in ("}", ")", "]"))
        if not depth:
            return at
    raise Unclosed("the hole of a string is not closed")


def _tokens(text: str) -> list[Token]:
    found: list[Token] = []
    at, line = 0, 1
    while at < len(text):
        one = _TOKEN.match(text, at)
        if one is None:
            break
        end = one.end()
        if one["open"]:
            end = _string_end(text, at, one["open"])
        elif one["raw"]:
            close = text.find('"' * one["raw"].count('"'), end)
            if one["raw"] in ('""', '$""') or close < 0:
                raise Unclosed("a string is not closed")
            end = close + one["raw"].count('"')
            while text[end : end + 1] == '"':
                end += 1
        written = text[at:end]
        after = line + written.count("\n")
        silent = one["line"] and written.strip(" \t#").startswith(_SILENT)
        if not one["skip"] and not silent:
            found.append(Token(" ".join(written.split()) if one["line"] else written, line, after))
        at, line = end, after
    return found


def _is_directive(token: Token) -> bool:
    return token.text.startswith("#")


class _Members:
    """The definitions of a file, while they are read."""

    def __init__(self, tokens: list[Token]) -> None:
        self.tokens = tokens
        self.found: list[Symbol] = []

    def read(self, at: int, end: int, prefix: str, owner: str) -> None:
        """Everything between two places, in a type if there is a ``prefix``."""
        while at < end:
            if self.tokens[at].text == ";" or _is_directive(self.tokens[at]):
                at += 1
            else:
                at = self._one(at, end, prefix, owner)

    def _head_end(self, at: int, end: int) -> int:
        """The mark that ends what stands before a body or value, brackets of other kinds skipped."""
        while at < end:
            text = self.tokens[at].text
            if text in ("{", ";", "=>", "="):
                return at
            at = closing(self.tokens, at) + 1 if text in ("(", "[") else at + 1
        return at

    def _statement_end(self, at: int, end: int) -> int:
        while at < end and self.tokens[at].text != ";":
            at = closing(self.tokens, at) + 1 if self.tokens[at].text in ("(", "[", "{") else at + 1
        return min(at, end - 1)

    def _one(self, start: int, end: int, prefix: str, owner: str) -> int:
        """One member or statement; returns the place behind it."""
        tokens = self.tokens
        mark = self._head_end(start, end)
        if mark >= end:
            return end
        head = self._bare(start, mark)
        words = [tokens[at].text for at in head]
        if tokens[mark].text == "=" and "operator" in words:
            mark = self._head_end(mark + 1, end)
        if words[:1] in (["namespace"], ["using"], ["extern"]) and not prefix and "(" not in words:
            if tokens[mark].text == "{":
                close = closing(tokens, mark)
                self.read(mark + 1, close, prefix, owner)
                return close + 1
            return self._statement_end(mark, end) + 1
        kind = self._type_at(head)
        if kind is not None:
            return self._type(start, mark, head, kind, prefix, end)
        return self._member(start, mark, head, prefix, owner, end)

    def _bare(self, start: int, mark: int) -> list[int]:
        """The places of a head without its attributes and directives."""
        at, kept = start, []
        while at < mark:
            if self.tokens[at].text == "[" and not kept:
                at = closing(self.tokens, at) + 1
                continue
            if not _is_directive(self.tokens[at]):
                kept.append(at)
            at += 1
        return kept

    def _type_at(self, head: list[int]) -> int | None:
        """The place of the keyword of a type; ``None`` when the head is another member."""
        words = [self.tokens[at].text for at in head]
        for order, word in enumerate(words):
            if word in _TYPES and order + 1 < len(words) and self.tokens[head[order + 1]].is_name:
                return head[order]
            if word not in _MODIFIERS:
                return None
        return None

    def _type(self, start: int, mark: int, head: list[int], kind: int, prefix: str, end: int) -> int:
        tokens = self.tokens
        place = kind + 1
        if tokens[kind].text == "record" and tokens[place].text in ("class", "struct"):
            place += 1
        own = tokens[place].text
        close = closing(tokens, mark) if tokens[mark].text == "{" else mark
        self.found.append(symbol(prefix + own, "class", tokens[start : close + 1], bodied=True))
        if close > mark:
            if tokens[kind].text == "enum":
                self._enum(mark + 1, close, f"{prefix}{own}.")
            else:
                self.read(mark + 1, close, f"{prefix}{own}.", own)
        return close + 1

    def _enum(self, at: int, end: int, prefix: str) -> None:
        tokens = self.tokens
        while at < end:
            stop = at
            while stop < end and tokens[stop].text != ",":
                stop = closing(tokens, stop) + 1 if tokens[stop].text in ("(", "[") else stop + 1
            head = self._bare(at, stop)
            if head:
                own = tokens[head[0]].text
                rows = [one for one in tokens[at:stop] if not _is_directive(one)]
                self.found.append(symbol(prefix + own, "const", rows, bodied=True))
            at = stop + 1

    def _member(self, start: int, mark: int, head: list[int], prefix: str, owner: str, end: int) -> int:
        tokens = self.tokens
        words = [tokens[at].text for at in head]
        text = tokens[mark].text
        if text == "{":
            last = closing(tokens, mark)
            if last + 1 < end and tokens[last + 1].text == "=":
                last = self._statement_end(last + 1, end)
        else:
            last = self._statement_end(mark, end)
        whole = tokens[start : last + 1]
        named = self._called(head)
        if (not prefix and "delegate" not in words) or "operator" in words or "~" in words or "this" in words:
            pass  # a statement of the top level, or without a name
        elif named is not None:
            kind = "type" if "delegate" in words else "method"
            bodied = text != ";" or kind == "type"
            self.found.append(symbol(prefix + tokens[named].text, kind, whole, bodied=bodied))
        elif text in ("{", "=>"):
            if "event" not in words and head and tokens[head[-1]].is_name:
                self.found.append(symbol(prefix + tokens[head[-1]].text, "property", whole, bodied=True))
        else:
            for own in self._declared(head, mark, last):
                self.found.append(symbol(prefix + own, "field", whole, bodied=True))
        return last + 1

    def _called(self, head: list[int]) -> int | None:
        """The place of a method's name: before the first parentheses that are not a tuple."""
        depth = 0
        for order, at in enumerate(head):
            text = self.tokens[at].text
            if text == "(" and not depth and order:
                before = self._before_generics(head, order - 1)
                if before is not None:
                    name = self.tokens[before]
                    if name.is_name and name.text not in _MODIFIERS and name.text != "delegate":
                        return before
            depth += (text in ("(", "[", "<")) - (text in (")", "]", ">"))
        return None

    def _before_generics(self, head: list[int], order: int) -> int | None:
        depth = 0
        while order >= 0:
            text = self.tokens[head[order]].text
            depth += (text == ">") - (text == "<")
            if not depth and text != "<":
                return head[order]
            order -= 1
        return None

    def _declared(self, head: list[int], mark: int, last: int) -> list[str]:
        """The names of a field: the last word before ``=``, and the first behind each comma."""
        names = []
        depth = 0
        commas = [at for at in head if self.tokens[at].text == ","]
        plain = head
        if commas:
            for order, at in enumerate(head):
                text = self.tokens[at].text
                depth += (text in ("<", "(", "[")) - (text in (">", ")", "]"))
                if text == "," and not depth:
                    plain = head[:order]
                    names += [self.tokens[one].text for one in head[order + 1 :] if self.tokens[one].is_name]
                    break
        own = [self.tokens[at].text for at in plain if self.tokens[at].is_name]
        names = own[-1:] + names
        at = mark
        while at < last:
            if self.tokens[at].text in ("(", "[", "{"):
                at = closing(self.tokens, at)
            elif self.tokens[at].text == "," and self.tokens[at + 2].text in ("=", ",", ";"):
                names.append(self.tokens[at + 1].text)
            at += 1
        return names


class CSharpReader:
    """Reads ``.cs``."""

    suffixes = (".cs",)
    made_of = __file__

    def read(self, files: Sequence[tuple[str, bytes]]) -> list[Reading]:
        """One reading for every file."""
        return [_read(data) for _, data in files]


def _read(data: bytes) -> Reading:
    try:
        tokens = _tokens(data.decode("utf-8-sig").replace("\r\n", "\n"))
        members = _Members(tokens)
        members.read(0, len(tokens), "", "")
    except (UnicodeDecodeError, Unclosed, IndexError) as problem:
        return Reading((), f"{type(problem).__name__}: {problem}")
    return Reading(tuple(members.found))
