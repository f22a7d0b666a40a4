"""Anchors: the places in the code that a document is about. Pure.

In the frontmatter an anchor is a mapping (``path``; optional: ``symbol``, ``lines``, ``fingerprint``) or a
string: ``src/jwt.py``, ``src/jwt.py#Token.issue``, ``src/jwt.py#issue(int)``, ``src/jwt.py:L10-20``.
"""

from __future__ import annotations

import posixpath
import re
from typing import TYPE_CHECKING, Any, Final

from thunderus_mem.document.frontmatter import nodes
from thunderus_mem.document.paths import WILD, path_in
from thunderus_mem.document.references import code_spans, references
from thunderus_mem.errors import InvalidDocument
from thunderus_mem.startup import NamedTuple, lazy_pattern

if TYPE_CHECKING:
    from collections.abc import Iterator


_LINES: Final = lazy_pattern(r"L?([1-9][0-9]{0,6})(?:-L?([1-9][0-9]{0,6}))?", re.ASCII)
_WITH_LINES: Final = lazy_pattern(r"(.+):(L?[1-9][0-9]{0,6}(?:-L?[1-9][0-9]{0,6})?)", re.ASCII | re.DOTALL)
_MAX_PATH: Final = 1_024
_MAX_SYMBOL: Final = 512


class Anchor(NamedTuple):
    """A place in the code. ``path`` is POSIX and relative to the root of the store; it may be a glob, or a
    folder when it ends in ``/``.

    ``symbol`` is a dotted name in that file, which may end in a selector (``limit(int)``, ``limit~2``),
    ``lines`` the first and last line (from 1), ``fingerprint`` that of the code when the document was last
    verified ("" = not verified yet).
    """

    path: str
    symbol: str = ""
    lines: tuple[int, int] | None = None
    fingerprint: str = ""

    @property
    def place(self) -> str:
        """The anchor as a string, without the fingerprint."""
        if self.symbol:
            return f"{self.path}#{self.symbol}"
        if self.lines is None:
            return self.path
        first, last = self.lines
        return f"{self.path}:L{first}" if first == last else f"{self.path}:L{first}-{last}"

    @property
    def scheme(self) -> str:
        """The scheme of its fingerprint: how the code was read; "" without a fingerprint."""
        return self.fingerprint.partition("@")[0]

    @property
    def is_glob(self) -> bool:
        """Whether the path matches more than one file: a pattern or a folder."""
        return self.is_weak and (self.path.endswith("/") or WILD.search(self.path) is not None)

    @property
    def is_weak(self) -> bool:
        """Whether it covers whole files, so that any edit there marks the document stale."""
        return not self.symbol and self.lines is None

    @property
    def item(self) -> dict[str, str]:
        """The anchor as a frontmatter mapping."""
        found = {"path": self.path}
        if self.symbol:
            found["symbol"] = self.symbol
        if self.lines is not None:
            first, last = self.lines
            found["lines"] = str(first) if first == last else f"{first}-{last}"
        if self.fingerprint:
            found["fingerprint"] = self.fingerprint
        return found


class Cited(NamedTuple):
    """An anchor of a document: its line in the file, and the item as written there."""

    anchor: Anchor
    line: int
    item: Any


def parse_lines(text: str) -> tuple[int, int] | None:
    """``10``, ``10-20``, ``L10-L20`` as first and last line; ``None`` for anything else."""
    match = _LINES.fullmatch(text.strip())
    if match is None:
        return None
    first, last = int(match[1]), int(match[2] or match[1])
    return (first, last) if first <= last else None


def parse_anchor(text: str) -> Anchor:
    """Parse an anchor: ``PATH``, ``PATH#SYMBOL``, ``PATH:10-20`` or ``PATH#L10-L20``.

    Raises `InvalidDocument` for anything else.
    """
    text = text.strip()
    anchor, usable = _split(text)
    return _checked(anchor, text, empty=not usable)


def split_place(text: str) -> Anchor:
    """Parse like `parse_anchor`, but keep the path as written: it may be absolute or begin with ``..``.

    Raises `InvalidDocument` when no symbol or lines follow ``#`` or ``:``.
    """
    anchor, usable = _split(text)
    return anchor if usable else _checked(anchor, text, empty=True)


def _split(text: str) -> tuple[Anchor, bool]:
    """The parts of a text, and whether what follows the path is valid."""
    path, mark, rest = text.partition("#")
    if mark:
        lines = parse_lines(rest) if rest[:1] == "L" else None
        return (Anchor(path, lines=lines) if lines else Anchor(path, rest)), bool(rest)
    match = _WITH_LINES.fullmatch(text)
    if match is None:
        return Anchor(text), True
    lines = parse_lines(match[2])
    return Anchor(match[1], lines=lines), lines is not None


def _checked(anchor: Anchor, text: str, *, empty: bool = False) -> Anchor:
    path = _normal(anchor.path)
    reason = ""
    if empty:
        reason = "no valid symbol or lines after the path"
    elif not path:
        reason = "it has no path"
    elif path.startswith(("/", "../")) or path == "..":
        reason = "the path is outside the repository"
    elif len(path) > _MAX_PATH or len(anchor.symbol) > _MAX_SYMBOL:
        reason = "it is too long"
    elif not (path.isprintable() and anchor.symbol.isprintable()):
        reason = "it contains control characters"
    if reason:
        shown = text if len(text) <= 80 else text[:80] + "…"
        raise InvalidDocument(
            f"invalid anchor {shown!r}: {reason}",
            hint="use PATH, PATH#SYMBOL or PATH:10-20, with the path relative to the repository",
        )
    return anchor._replace(path=path)


def _normal(path: str) -> str:
    """The path without ``.``, ``..`` and double slashes where possible; "" when nothing is left."""
    if path.startswith("/"):
        return path
    names: list[str] = []
    for name in path.split("/"):
        if name == ".." and names and names[-1] != "..":
            names.pop()
        elif name not in ("", "."):
            names.append(name)
    return "/".join(names) + ("/" if names and path.endswith("/") else "")


def place_of(item: Any) -> str:
    """The place of an item in a list of anchors, in either form; "" for an invalid item."""
    if isinstance(item, dict):
        anchor = _of_mapping({key: text for key, text in item.items() if isinstance(text, str)})
    else:
        anchor = _parse_or_none(item) if isinstance(item, str) else None
    return anchor.place if anchor is not None else ""


def anchors_in(header: nodes.Mapping, header_line: int) -> tuple[Cited, ...]:
    """The anchors of a frontmatter, in order, each with its line in the file.

    Invalid items are skipped: the schema check reports them.
    """
    node = header.get("anchors")
    if isinstance(node, nodes.Scalar) and node.text and not (node.plain and node.text in ("~", "null")):
        return tuple(_cited([node], header_line))
    return tuple(_cited(node.items, header_line)) if isinstance(node, nodes.Sequence) else ()


def _cited(items: list[nodes.Scalar] | tuple[nodes.Node, ...], header_line: int) -> Iterator[Cited]:
    for item in items:
        written = nodes.plain_data(item)
        found = _parse_or_none(written) if isinstance(item, nodes.Scalar) else None
        if isinstance(item, nodes.Mapping):
            found = _of_mapping({key: text for key, text in written.items() if isinstance(text, str)})
        if found is not None:
            yield Cited(found, header_line + item.line - 1, written)


def _parse_or_none(text: str) -> Anchor | None:
    try:
        return parse_anchor(text)
    except InvalidDocument:
        return None


def _of_mapping(values: dict[str, str]) -> Anchor | None:
    given = values.get("lines", "")
    lines = parse_lines(given)
    anchor = Anchor(values.get("path", ""), values.get("symbol", ""), lines, values.get("fingerprint", ""))
    try:
        return _checked(anchor, anchor.path, empty=bool(given) and lines is None)
    except InvalidDocument:
        return None


_LONGEST: Final = 300
_WORD: Final = r"[^\W\d]\w*"
_NAME: Final = lazy_pattern(rf"{_WORD}(?:(?:\.|::|#|->|\?\.|\\){_WORD})*")
_SYMBOL: Final = lazy_pattern(rf"({_WORD}(?:(?:\.|::){_WORD})*)(?:\(\)|((?:\([^()]+\))?(?:~[1-9][0-9]*)?))")
_PARTING: Final = lazy_pattern(r"\?\.|\.|::|#|->|\\")
_TYPED: Final = lazy_pattern(r"[\w<>,:*&\[\] ]*[\w>*&\]] [*&]*(?=[^\W\d]\w*(?:<[\w, ]*>)?\()")
"""The return type before a function's name."""
_LINE_SUFFIX: Final = lazy_pattern(r"[:#](L?[0-9]+(?:-L?[0-9]+)?)(?::[0-9]+)?")
_HEADED: Final = (".md", ".mdx", ".markdown")
_BEFORE_WORDS: Final = (
    "async await class const def default enum export fn func function impl interface let new private "
    "protected pub public static struct trait type var "
)
_BEFORE: Final = frozenset(_BEFORE_WORDS.split())
_OWN: Final = frozenset(("self", "this", "cls", "Self", "super"))


class CodeWord(NamedTuple):
    """The code that a code span or link mentions.

    ``path`` is a file or folder ("" for none), ``symbol`` or ``lines`` a place in it; ``name`` has the parts
    of a name in the code, and ``called`` says whether it is written as a call. A text that may be either,
    such as ``app.go``, has both. ``origin`` is the path as seen from the original of an imported text.
    ``line`` and ``paragraph`` count from 1 in the text.
    """

    code: str
    line: int
    paragraph: int
    path: str = ""
    symbol: str = ""
    lines: tuple[int, int] | None = None
    name: tuple[str, ...] = ()
    called: bool = False
    origin: str = ""


def code_words(body: str, folder: str = "", origin: str | None = None) -> tuple[CodeWord, ...]:
    """The code that a Markdown text mentions, in order.

    Links are relative to ``folder``, the document's, or to ``origin``, that of an imported text's original.
    """
    found = [word for span in code_spans(body) if (word := _read(span.code, span.line, span.paragraph))]
    found.extend(_links(body, folder, origin))
    return tuple(sorted(found, key=lambda word: word.line))


def _links(body: str, folder: str, origin: str | None) -> Iterator[CodeWord]:
    for one in references(body):
        path, _, behind = one.target.partition("#")
        if one.kind == "link" and path and path_in(path):
            named = posixpath.normpath(posixpath.join(folder, path))
            lines = parse_lines(behind) if behind[:1] == "L" else None
            original = posixpath.normpath(posixpath.join(origin, path)) if origin is not None else ""
            yield CodeWord(one.target, one.line, one.line, named, lines=lines, origin=original)


def _read(code: str, line: int, paragraph: int) -> CodeWord | None:
    if not code or len(code) > _LONGEST or not code.isprintable():
        return None
    word = CodeWord(code, line, paragraph)
    for mark in ("#", "::"):
        head, found, rest = code.partition(mark)
        if not (found and path_in(head)) or parse_lines(rest) is not None:
            continue
        if mark == "#" and rest and head.endswith(_HEADED):
            return word._replace(path=head, symbol=rest)
        if symbol := _SYMBOL.fullmatch(rest):
            return word._replace(path=head, symbol=symbol[1].replace("::", ".") + (symbol[2] or ""))
    path = path_in(code)
    name, called = _name(code)
    if not path:
        return word._replace(name=name, called=called) if name else None
    match = _LINE_SUFFIX.fullmatch(code[len(path) :])
    return word._replace(path=path, lines=parse_lines(match[1]) if match else None, name=name)


def _name(code: str) -> tuple[tuple[str, ...], bool]:
    """The parts of the name in a code span, and whether it is written as a call."""
    words = code.split(" ")
    while len(words) > 1 and words[0] in _BEFORE:
        words.pop(0)
    text = " ".join(words).lstrip("@&*").rstrip(":;,.!")
    text = text.removeprefix("$") if "->" in text else text
    typed = _TYPED.match(text)
    text = text[typed.end() :] if typed else text
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
    """Whether a call ends with its parentheses or its return type."""
    depth = 0
    for at, char in enumerate(rest):
        depth += (char == "(") - (char == ")")
        if not depth:
            behind = rest[at + 1 :].lstrip()
            return not behind or behind.startswith(("->", ":"))
    return False
