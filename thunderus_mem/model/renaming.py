"""A document gets another id: its own text, and the texts that name it. Pure; only those lines change."""

from __future__ import annotations

import posixpath
import re
from typing import TYPE_CHECKING, NamedTuple

from thunderus_mem.model.archive import live_path
from thunderus_mem.model.document import RELATIONS
from thunderus_mem.model.edit import insert_item, remove_item, set_key
from thunderus_mem.model.edit_items import rename_item
from thunderus_mem.model.header import Mapping, Node, Scalar, Sequence
from thunderus_mem.model.ids import file_stem
from thunderus_mem.model.references import Reference, cited_paths, references
from thunderus_mem.model.splice import open_header

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from thunderus_mem.model.document import Document

__all__ = ["Name", "followed", "mentions", "needles", "new_path", "renamed"]

_NUMBER = re.compile(r"ADR-[0-9]{1,9}(?=[-.])", re.ASCII | re.IGNORECASE)


class Name(NamedTuple):
    """What a document is called: its id, and the root-relative path of its file."""

    id: str
    path: str


class _Cut(NamedTuple):
    """A piece of one line, from 1, that is replaced."""

    line: int
    column: int
    old: str
    new: str


def new_path(document: Document, new_id: str) -> str:
    """The path under a new id: the same folder and, for a decision, the same number."""
    folder, name = posixpath.split(document.path)
    stem = file_stem(new_id, document.kind)
    number = _NUMBER.match(name) if document.kind == "adr" else None
    return posixpath.join(folder, f"{number[0]}-{stem}.md" if number else f"{stem}.md")


def renamed(text: str, old: str, new: str, *, keeps_old: bool = True) -> str:
    """The text of the document itself under its new id; the old one is an alias from now on.

    Without ``keeps_old`` it is not: another file has that id.
    """
    text = remove_item(set_key(text, ("id",), new), ("aliases",), new)
    return insert_item(text, ("aliases",), old) if keeps_old else text


def followed(document: Document, old: Name, new: Name, means: Callable[[str], bool]) -> str:
    """The text of a document with its links and references led to the new name.

    ``means`` tells whether a name in double brackets or in ``links`` is the document's id or file name.
    """
    text = _followed_links(document.text, new.id, means)
    body = _followed_body(document, old, new, means)
    return text[: len(text) - len(document.body)] + body


def _followed_links(text: str, new_id: str, means: Callable[[str], bool]) -> str:
    for relation in RELATIONS:
        for _ in _items(open_header(text).root, relation):
            text = _with_item(text, relation, new_id, means)
    return text


def _items(root: Mapping, relation: str) -> tuple[Node, ...]:
    links = root.get("links")
    node = links.get(relation) if isinstance(links, Mapping) else None
    return node.items if isinstance(node, Sequence) else ()


def _with_item(text: str, relation: str, new_id: str, means: Callable[[str], bool]) -> str:
    """The text with the first item of a list that names the document led to its new id."""
    opened = open_header(text)
    items = _items(opened.root, relation)
    for item in items:
        if not isinstance(item, Scalar) or item.text == new_id or not means(item.text):
            continue
        return rename_item(text, ("links", relation), item.text, new_id)
    return text


def _followed_body(document: Document, old: Name, new: Name, means: Callable[[str], bool]) -> str:
    lines = document.body.split("\n")
    for cut in sorted(_cuts(document, old, new, means), reverse=True):
        line, start = lines[cut.line - 1], cut.column - 1
        if line.startswith(cut.old, start):
            lines[cut.line - 1] = line[:start] + cut.new + line[start + len(cut.old) :]
    return "\n".join(lines)


def _cuts(document: Document, old: Name, new: Name, means: Callable[[str], bool]) -> Iterator[_Cut]:
    """Every piece of a body that names the document by its id, its file, or its path."""
    folder = posixpath.dirname(document.path)
    for one in references(document.body):
        led = _led_wiki(one, old, new, means) if one.kind == "wiki" else _led_link(one, old, new, folder)
        if led != one.written:
            yield _Cut(*one.place, one.written, led)
    for cited in cited_paths(document.body) if old.path != new.path else ():
        if not cited.relative and posixpath.normpath(cited.path) == old.path:
            yield _Cut(cited.line, cited.column, cited.path, new.path)


def _led_wiki(one: Reference, old: Name, new: Name, means: Callable[[str], bool]) -> str:
    name = one.target.partition("#")[0].strip()
    if name == old.path:
        return one.written.replace(name, new.path, 1)
    return one.written.replace(name, new.id, 1) if name and means(name) else one.written


def _led_link(one: Reference, old: Name, new: Name, folder: str) -> str:
    target = re.split("[#?]", one.target, maxsplit=1)[0]
    if not target or posixpath.normpath(posixpath.join(folder, target)) not in _spellings(old.path):
        return one.written
    path = re.split("[#?]", one.written, maxsplit=1)[0]
    ending = "" if target.endswith(posixpath.basename(old.path).removesuffix(".md")) else ".md"
    file = posixpath.basename(new.path).removesuffix(".md") + ending
    return path[: path.rfind("/") + 1] + file + one.written[len(path) :]


def _spellings(path: str) -> tuple[str, ...]:
    """How links write the path of a file: with its ending, or without; an archived one's as it was in use."""
    return tuple(name for one in {path, live_path(path)} for name in (one, one.removesuffix(".md")))


def mentions(text: str, old: Name) -> tuple[int, ...]:
    """Lines, from 1, in which a text still names an id or a path, in whatever way.

    An id of one word says nothing: it is a word.
    """
    names = [name for name in needles(old) if name in text]
    if not names:
        return ()
    word = re.compile(rf"(?<![\w.-])(?:{'|'.join(map(re.escape, names))})(?![\w-]|\.\w)")
    return tuple(number for number, line in enumerate(text.split("\n"), 1) if word.search(line))


def needles(old: Name) -> tuple[str, ...]:
    """What to look for where somebody may name a document."""
    return (old.path, old.id) if "." in old.id else (old.path,)
