"""Anchor a document: tie it to the code it talks about.

Making an anchor takes the fingerprint of what is there now: who writes it says that the text is about this.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from thunderus_mem.document.anchors import Anchor, anchors_in, parse_anchor
from thunderus_mem.document.frontmatter.edit import insert_item, remove_item, update_item
from thunderus_mem.document.paths import matching
from thunderus_mem.errors import InvalidDocument, NotFound
from thunderus_mem.fingerprint.source import fingerprint_of_files
from thunderus_mem.lint.validate import validate
from thunderus_mem.memory.locate import find_document
from thunderus_mem.memory.transaction import Written, open_transaction, settle, unchanged
from thunderus_mem.verdicts.code import WorkingTree, measured

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from thunderus_mem.document.document import Document
    from thunderus_mem.document.frontmatter.edit import Item
    from thunderus_mem.fingerprint.source import CodeSource
    from thunderus_mem.memory.memory import Memory
    from thunderus_mem.verdicts.verdict import Tree

_KEY = ("anchors",)


class Anchoring(NamedTuple):
    """What `anchor` did. ``weak`` are anchors on whole files: any edit there speaks against it."""

    written: Written
    anchors: tuple[str, ...]
    weak: tuple[str, ...]


def given_anchors(memory: Memory, places: Iterable[str]) -> list[Anchor]:
    """The anchors that a person named, each with the fingerprint of what is there.

    Raises `InvalidDocument` for a text that is no place, `NotFound` for a file, symbol or line that is not
    there.
    """
    wanted = [parse_anchor(place) for place in places]
    tree = WorkingTree(memory.root, memory.git)
    return [fingerprinted(one, tree) for one in wanted]


def fingerprinted(anchor: Anchor, tree: Tree) -> Anchor:
    """The anchor with the fingerprint of what a tree has at its place.

    Raises `NotFound` when nothing is there, `InvalidDocument` when what is there cannot be read.
    """
    if anchor.is_glob:
        files = matching(anchor.path, tree.paths())
        sources = [source for path in files if (source := tree.source(path)) is not None]
        if not sources:
            raise NotFound(f"no file of the repository fits {anchor.path!r}")
        return anchor._replace(fingerprint=str(fingerprint_of_files(sources)))
    source = tree.source(anchor.path)
    if source is None:
        raise NotFound(f"there is no file {anchor.path!r}", hint=_near_path(anchor.path, tree))
    if source.trouble:
        raise InvalidDocument(f"{anchor.path} cannot be anchored: {source.trouble}")
    found = measured(anchor, source)
    if not found:
        raise NotFound(f"{anchor.path} {_lacks(anchor)}", hint=_near_symbol(anchor, source))
    if source.broken and anchor.symbol:
        raise InvalidDocument(
            f"{anchor.path} does not parse (line {source.trouble_at})",
            hint="anchor it when the file is whole, or anchor lines",
        )
    return anchor._replace(fingerprint=str(found[0]))


def _lacks(anchor: Anchor) -> str:
    return f"defines no {anchor.symbol}" if anchor.symbol else "has no code in these lines"


def _near_path(path: str, tree: Tree) -> str:
    from difflib import get_close_matches

    name = path.rpartition("/")[2]
    same = [one for one in tree.paths() if one.rpartition("/")[2] == name]
    near = same[:3] or get_close_matches(path, tree.paths(), 3)
    return f"did you mean {', '.join(near)}?" if near else "paths are relative to the root of the store"


def _near_symbol(anchor: Anchor, source: CodeSource) -> str:
    from difflib import get_close_matches

    if not anchor.symbol:
        return f"it has {source.text.count(chr(10)) + 1} lines"
    names = sorted({definition.name for definition in source.definitions()})
    if not names:
        return f"definitions of such files cannot be told; anchor lines: {anchor.path}:10-20"
    leaves = {name.rpartition(".")[2]: name for name in reversed(names)}
    leaf = anchor.symbol.rpartition(".")[2]
    near = get_close_matches(anchor.symbol, names, 3) or [
        leaves[one] for one in get_close_matches(leaf, list(leaves), 3)
    ]
    return f"it defines {', '.join(near or names[:5])}{'' if near or len(names) <= 5 else ' …'}"


def text_with_anchors(text: str, header_anchors: Iterable[tuple[Anchor, Item]], new: Iterable[Anchor]) -> str:
    """The document's text with more anchors; one for the same place gets the new fingerprint."""
    known = {anchor.place: item for anchor, item in header_anchors}
    for one in new:
        if one.place in known:
            text = update_item(text, _KEY, known[one.place], one.item)
        else:
            text = insert_item(text, _KEY, one.item)
    return text


def cited_of(document: Document) -> list[tuple[Anchor, Item]]:
    """The anchors of a document with the items they were read from."""
    return [(cited.anchor, cited.item) for cited in anchors_in(document.header, document.header_line)]


def anchor(
    memory: Memory,
    id: str,
    places: Sequence[str],
    *,
    remove: bool = False,
    why: str = "",
    actor: str = "user",
) -> Anchoring:
    """Tie a document to places in the code, or with ``remove`` untie it.

    Raises `NotFound` for a document or a place that is not there, `InvalidDocument` for what is no place.
    """
    settle(memory, "anchor")
    memory.refresh()
    find_document(memory, id)
    new = [] if remove else given_anchors(memory, places)
    gone = [parse_anchor(place).place for place in places] if remove else []
    with open_transaction(memory, "anchor") as transaction:
        document = find_document(memory, id)
        cited = cited_of(document)
        text = _without(document, cited, gone) if remove else text_with_anchors(document.text, cited, new)
        if text == document.text:
            return _answer(document, unchanged(document, "anchor"))
        after, warnings = validate(memory, document.path, text, before=document.text)
        written = transaction.write("anchor", document, after, why=why, actor=actor, warnings=warnings)
        return _answer(after, written)


def _without(document: Document, cited: Sequence[tuple[Anchor, Item]], places: Iterable[str]) -> str:
    items = {one.place: item for one, item in cited}
    text = document.text
    for place in places:
        if place not in items:
            raise NotFound(
                f"{document.id} has no anchor {place!r}",
                hint=f"it has {', '.join(items)}" if items else "it has none",
            )
        text = remove_item(text, _KEY, items[place])
    return text


def _answer(document: Document, written: Written) -> Anchoring:
    anchors = [one for one, _ in cited_of(document)]
    places = tuple(one.place for one in anchors)
    return Anchoring(written, places, tuple(one.place for one in anchors if one.is_weak))
