"""What the code spans and links of a text name: files, places in files, and names out of the code. Pure."""

from __future__ import annotations

import posixpath
import re
from typing import TYPE_CHECKING, Final, NamedTuple

from thunderus_mem.model.anchor import parse_lines
from thunderus_mem.model.path_text import path_in
from thunderus_mem.model.references import code_spans, references

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["CodeWord", "code_words"]

_LONGEST: Final = 300
_WORD: Final = r"[^\W\d]\w*"
_NAME: Final = re.compile(rf"{_WORD}(?:(?:\.|::|#|->|\?\.){_WORD})*")
_SYMBOL: Final = re.compile(rf"{_WORD}(?:(?:\.|::){_WORD})*(?:\(\))?")
_PARTING: Final = re.compile(r"\?\.|\.|::|#|->")
_LINES: Final = re.compile(r"[:#](L?[0-9]+(?:-L?[0-9]+)?)(?::[0-9]+)?")
_BEFORE_WORDS: Final = (
    "async await class const def default enum export fn func function impl interface let new private "
    "protected pub public static struct trait type var "
)
_BEFORE: Final = frozenset(_BEFORE_WORDS.split())
_OWN: Final = frozenset(("self", "this", "cls", "Self", "super"))


class CodeWord(NamedTuple):
    """What one code span or link names.

    ``path`` is a file or folder ("" for none) and ``symbol`` or ``lines`` a place in it; ``name`` the parts
    of a name out of the code, which ``called`` says stands there with its brackets. A text that may be
    either, such as ``app.go``, has both. ``line`` and ``paragraph`` count from 1 in the text.
    """

    code: str
    line: int
    paragraph: int
    path: str = ""
    symbol: str = ""
    lines: tuple[int, int] | None = None
    name: tuple[str, ...] = ()
    called: bool = False


def code_words(body: str, folder: str = "") -> tuple[CodeWord, ...]:
    """What a Markdown text names, in order. Links are relative to ``folder``, where the document is."""
    found = [word for span in code_spans(body) if (word := _read(span.code, span.line, span.paragraph))]
    found.extend(_links(body, folder))
    return tuple(sorted(found, key=lambda word: word.line))


def _links(body: str, folder: str) -> Iterator[CodeWord]:
    for one in references(body):
        path, _, behind = one.target.partition("#")
        if one.kind == "link" and path and path_in(path):
            named = posixpath.normpath(posixpath.join(folder, path))
            lines = parse_lines(behind) if behind[:1] == "L" else None
            yield CodeWord(one.target, one.line, one.line, named, lines=lines)


def _read(code: str, line: int, paragraph: int) -> CodeWord | None:
    if not code or len(code) > _LONGEST or not code.isprintable():
        return None
    word = CodeWord(code, line, paragraph)
    for mark in ("#", "::"):
        head, found, rest = code.partition(mark)
        if found and path_in(head) and _SYMBOL.fullmatch(rest) and parse_lines(rest) is None:
            return word._replace(path=head, symbol=rest.removesuffix("()").replace("::", "."))
    path = path_in(code)
    name, called = _name(code)
    if not path:
        return word._replace(name=name, called=called) if name else None
    match = _LINES.fullmatch(code[len(path) :])
    return word._replace(path=path, lines=parse_lines(match[1]) if match else None, name=name)


def _name(code: str) -> tuple[tuple[str, ...], bool]:
    """The parts of the one name that a text is about, and whether it is called there."""
    words = code.split(" ")
    while len(words) > 1 and words[0] in _BEFORE:
        words.pop(0)
    text = " ".join(words).lstrip("@&*").rstrip(":;,.!")
    match = _NAME.match(text)
    if match is None:
        return (), False
    rest = text[match.end() :]
    called = rest.startswith("(") and _closes(rest)
    if rest and not called and not (rest[0] in "<[" and rest[-1] in ">]"):
        return (), False
    parts = tuple(_PARTING.split(match[0]))
    return (parts[1:] if len(parts) > 1 and parts[0] in _OWN else parts), called


def _closes(rest: str) -> bool:
    """Whether a call ends with its brackets, or with the type that it returns."""
    depth = 0
    for at, char in enumerate(rest):
        depth += (char == "(") - (char == ")")
        if not depth:
            behind = rest[at + 1 :].lstrip()
            return not behind or behind.startswith(("->", ":"))
    return False
