"""The verb `rename`: a document gets another id and file name, and what names it follows."""

from __future__ import annotations

import os
import posixpath
import re
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

from thunderus_mem.model.composing import choose_id
from thunderus_mem.model.document import MAX_DOCUMENT, Document, read_document
from thunderus_mem.model.errors import DocumentExists, InvalidDocument, NotFound, Refused
from thunderus_mem.model.ids import fold_key
from thunderus_mem.model.renaming import Name, followed, mentions, needles, new_path, renamed
from thunderus_mem.model.textdiff import unified_diff
from thunderus_mem.store.edits import Edit
from thunderus_mem.store.files import read_file
from thunderus_mem.store.git_search import lines_with
from thunderus_mem.store.layout import STORE
from thunderus_mem.store.paths import inside
from thunderus_mem.transaction.opening import settle
from thunderus_mem.verbs.locating import find_row, stored_path

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from thunderus_mem.memory import Memory

__all__ = ["Mention", "Renamed", "rename"]


class Mention(NamedTuple):
    """A line that names the old id or path and was left alone: prose, code, other files of the repository."""

    path: str
    line: int


@dataclass(frozen=True, slots=True)
class Renamed:
    """What `rename` did, or with ``planned`` would do (``diff``).

    ``followed`` are the documents whose links or text follow. ``mentions`` still name the old id or path; the
    id goes on as an alias. ``published`` is false when a file waits for the next command. ``proposed`` names
    the proposal it became, where that waits for a decision: then nothing was changed.
    """

    id: str
    old_id: str
    path: str
    old_path: str
    followed: tuple[str, ...] = ()
    mentions: tuple[Mention, ...] = ()
    diff: str = ""
    planned: bool = False
    changed: bool = True
    event_id: str = ""
    recorded: tuple[str, ...] = ()
    published: bool = True
    proposed: str = ""


class _Plan(NamedTuple):
    old: Name
    new: Name
    edits: tuple[Edit, ...]
    followed: tuple[str, ...]
    mentions: tuple[Mention, ...]


def rename(
    memory: Memory, id: str, new_id: str, *, plan: bool = False, why: str = "", actor: str = "user"
) -> Renamed:
    """Give a document the id ``new_id``: its file is named after it, the old id is an alias from now on.

    Links, references in double brackets and paths that name it in other documents follow, in one event.
    Title and times stay. Of two files with one id the one named by its path is renamed; nothing follows then,
    and the old id stays with the other. Raises `InvalidDocument`, `NotFound`, `DocumentExists` when the id or
    the file name is taken, or `NotWritable` when a document that may name it cannot be read.
    """
    if not plan:
        settle(memory, "rename")
    memory.refresh()
    document, _ = _chosen(memory, id)
    outside = _outside(memory, Name(document.id, document.path))
    if plan:
        return _value(_plan(memory, id, new_id), outside, planned=True)
    with memory.writing("rename") as transaction:
        planned = _plan(memory, id, new_id)
        if not planned.edits:
            return _value(planned)
        event = transaction.commit("rename", planned.edits, why=why, actor=actor)
    return replace(
        _value(planned, outside),
        event_id="" if transaction.proposed else event.id,
        recorded=transaction.recorded,
        published=not transaction.pending,
        changed=not transaction.proposed,
        proposed=transaction.proposed,
    )


def _value(plan: _Plan, outside: Sequence[Mention] = (), *, planned: bool = False) -> Renamed:
    return Renamed(
        plan.new.id,
        plan.old.id,
        plan.new.path,
        plan.old.path,
        plan.followed,
        (*plan.mentions, *outside),
        diff=_diff(plan) if planned else "",
        planned=planned,
        changed=bool(plan.edits),
    )


def _chosen(memory: Memory, given: str) -> tuple[Document, bool]:
    """The document to rename, and whether it is the only file with its id."""
    corpus = memory.index.corpus()
    row = find_row(memory, given, itself=True)
    paths = corpus.paths_of(row.id)
    path = next((path for path in paths if path == stored_path(memory, given)), row.path)
    if len(paths) > 1 and path != stored_path(memory, given):
        raise InvalidDocument(
            f"{len(paths)} files have the id {row.id}", hint=f"name the one to rename: {', '.join(paths)}"
        )
    document = read_document(path, read_file(inside(memory.root, path), MAX_DOCUMENT)).document
    if document is None or document.id != row.id:
        raise InvalidDocument(f"{path} cannot be read as a document", hint=f"see `thunderus-mem lint {path}`")
    return document, len(paths) == 1


def _plan(memory: Memory, given: str, new_id: str) -> _Plan:
    """Everything a renaming changes; nothing when the document has that id already."""
    document, alone = _chosen(memory, given)
    old = Name(document.id, document.path)
    if new_id == document.id:
        return _Plan(old, old, (), (), ())
    new = _new_name(memory, document, new_id)
    means = _means(memory, document) if alone else _nothing
    own = followed(document, old, new, means) if alone else document.text
    edits = _own_edits(document, new, renamed(own, old.id, new.id, keeps_old=alone))
    others: list[str] = []
    left: list[Mention] = []
    for other in _others(memory, document) if alone else ():
        text = followed(other, old, new, means)
        if text != other.text:
            edits.append(Edit(other.id, other.path, other.text, text))
            others.append(other.id)
        left += [Mention(other.path, line) for line in mentions(text, old)]
    return _Plan(old, new, tuple(edits), tuple(others), tuple(left))


def _own_edits(document: Document, new: Name, text: str) -> list[Edit]:
    if new.path == document.path:
        return [Edit(new.id, new.path, document.text, text)]
    return [
        Edit(document.id, document.path, document.text, None, renames=True),
        Edit(new.id, new.path, None, text, renames=True),
    ]


def _new_name(memory: Memory, document: Document, new_id: str) -> Name:
    """The new id and path. Raises when they cannot be, or are somebody else's."""
    choose_id(document.kind, document.title, new_id)
    if document.kind == "core":
        raise InvalidDocument("the core document keeps its id: every reader looks for it under that name")
    index, corpus = memory.index, memory.index.corpus()
    for known in index.ids():
        if known != document.id and fold_key(known) == fold_key(new_id):
            raise DocumentExists(f"{known} exists already", hint="choose another id")
    called = corpus.resolve(new_id)
    if called is not None and called != document.id:
        raise DocumentExists(f"{new_id} is another name of {called} already", hint="choose another id")
    path = new_path(document, new_id)
    if fold_key(path) == fold_key(document.path):
        return Name(new_id, document.path)
    folder = os.path.dirname(inside(memory.root, path))
    taken = next(
        (name for name in os.listdir(folder) if fold_key(name) == fold_key(posixpath.basename(path))), ""
    )
    if taken:
        raise DocumentExists(
            f"there is a file {posixpath.dirname(path)}/{taken} already", hint="choose another id"
        )
    return Name(new_id, path)


def _nothing(_name: str) -> bool:
    return False


def _means(memory: Memory, document: Document) -> Callable[[str], bool]:
    """Whether a name is the document's id, or the name of its file: what does not hold after a renaming."""
    corpus = memory.index.corpus()
    stem = posixpath.basename(document.path).removesuffix(".md").casefold()

    def means(name: str) -> bool:
        bare = name.removesuffix(".md")
        if bare != document.id and bare.casefold() != stem:
            return False
        return corpus.resolve(name) == document.id

    return means


def _others(memory: Memory, document: Document) -> Iterator[Document]:
    """The other documents whose bytes hold anything that could be a name of this one."""
    stem = posixpath.basename(document.path).removesuffix(".md")
    # A link may write letters as %20, and only ASCII letters are found whatever their case.
    names = [re.escape(name) for name in (document.id, stem)] + (["%"] if stem.isascii() else [""])
    wanted = re.compile("|".join(names).encode(), re.IGNORECASE)
    for path, hash, doc_id in memory.index.files():
        # Of a file that could not be read it is not known whether it is a document.
        if (hash and not doc_id) or path == document.path:
            continue
        # What is gone, or is no file of ours, names nothing; what may not be read now might.
        with suppress(NotFound, Refused):
            data = read_file(inside(memory.root, path), MAX_DOCUMENT)
            other = read_document(path, data).document if wanted.search(data) else None
            if other is not None:
                yield other


def _outside(memory: Memory, old: Name) -> list[Mention]:
    """Lines outside the store that name the document."""
    found = lines_with(memory.git, needles(old)) if memory.git is not None else []
    return [
        Mention(one.path, one.line)
        for one in found
        if not one.path.startswith(f"{STORE}/") and mentions(one.text, old)
    ]


def _diff(plan: _Plan) -> str:
    """The change as a patch; a moved file as git shows one."""
    diffs = []
    texts = {edit.path: edit for edit in plan.edits}
    if plan.old.path != plan.new.path and plan.edits:
        old, new = texts.pop(plan.old.path), texts.pop(plan.new.path)
        moved = f"diff --git a/{old.path} b/{new.path}\nrename from {old.path}\nrename to {new.path}\n"
        diffs.append(moved + (unified_diff(old.before, new.after, new.path) or ""))
    return "".join([*diffs, *(unified_diff(one.before, one.after, one.path) or "" for one in texts.values())])
