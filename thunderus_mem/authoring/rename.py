"""Rename: change a document's id and file name, and update references to it; only those lines change.

Reads every document that may refer to it, and asks git for such lines outside the store.
"""

from __future__ import annotations

import posixpath
import re
from contextlib import suppress
from typing import TYPE_CHECKING

from thunderus_mem.document.diff import unified_diff
from thunderus_mem.document.document import MAX_DOCUMENT, RELATIONS, Document, read_document
from thunderus_mem.document.frontmatter import nodes
from thunderus_mem.document.frontmatter.edit import insert_item, remove_item, rename_item, set_key
from thunderus_mem.document.frontmatter.nodes import Mapping, Node, Scalar
from thunderus_mem.document.frontmatter.read import open_header
from thunderus_mem.document.ids import file_stem, fold_key
from thunderus_mem.document.paths import live_path
from thunderus_mem.document.references import Reference, cited_paths, references
from thunderus_mem.document.templates import choose_id
from thunderus_mem.errors import DocumentExists, InvalidDocument, NotFound, Refused
from thunderus_mem.git.changes import lines_with
from thunderus_mem.memory.journal import FileChange
from thunderus_mem.memory.locate import IndexCorpus, check_free, document_in, find_row, stored_path
from thunderus_mem.memory.transaction import open_transaction, settle
from thunderus_mem.startup import NamedTuple, lazy_pattern
from thunderus_mem.store.files import read_file
from thunderus_mem.store.layout import STORE
from thunderus_mem.store.paths import inside

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from thunderus_mem.memory.memory import Memory

_NUMBER = lazy_pattern(r"ADR-[0-9]{1,9}(?=[-.])", re.ASCII | re.IGNORECASE)


class Name(NamedTuple):
    """The id of a document and the root-relative path of its file."""

    id: str
    path: str


class _Replacement(NamedTuple):
    """Text to replace in one line; line and column from 1."""

    line: int
    column: int
    old: str
    new: str


def new_path(document: Document, new_id: str) -> str:
    """The path for a new id: in the same folder and, for a decision, with the same number."""
    folder, name = posixpath.split(document.path)
    stem = file_stem(new_id, document.kind)
    number = _NUMBER.match(name) if document.kind == "adr" else None
    return posixpath.join(folder, f"{number[0]}-{stem}.md" if number else f"{stem}.md")


def with_new_id(text: str, old: str, new: str, *, keeps_old: bool = True) -> str:
    """The text of the document with its new id, and the old one as an alias.

    With ``keeps_old`` false there is no alias, because another file has that id.
    """
    text = remove_item(set_key(text, ("id",), new), ("aliases",), new)
    return insert_item(text, ("aliases",), old) if keeps_old else text


def retarget(document: Document, old: Name, new: Name, means: Callable[[str], bool]) -> str:
    """The text of a document with its links and references updated to the new name.

    ``means`` returns whether a name in double brackets or in ``links`` refers to the renamed document.
    """
    text = _retarget_links(document.text, new.id, means)
    body = _retarget_body(document, old, new, means)
    return text[: len(text) - len(document.body)] + body


def _retarget_links(text: str, new_id: str, means: Callable[[str], bool]) -> str:
    for relation in RELATIONS:
        for _ in _items(open_header(text).root, relation):
            text = _with_item(text, relation, new_id, means)
    return text


def _items(root: Mapping, relation: str) -> tuple[Node, ...]:
    links = root.get("links")
    node = links.get(relation) if isinstance(links, Mapping) else None
    return node.items if isinstance(node, nodes.Sequence) else ()


def _with_item(text: str, relation: str, new_id: str, means: Callable[[str], bool]) -> str:
    """Replace the first item of a list that refers to the document with its new id."""
    opened = open_header(text)
    items = _items(opened.root, relation)
    for item in items:
        if not isinstance(item, Scalar) or item.text == new_id or not means(item.text):
            continue
        return rename_item(text, ("links", relation), item.text, new_id)
    return text


def _retarget_body(document: Document, old: Name, new: Name, means: Callable[[str], bool]) -> str:
    lines = document.body.split("\n")
    for one in sorted(_replacements(document, old, new, means), reverse=True):
        line, start = lines[one.line - 1], one.column - 1
        if line.startswith(one.old, start):
            lines[one.line - 1] = line[:start] + one.new + line[start + len(one.old) :]
    return "\n".join(lines)


def _replacements(
    document: Document, old: Name, new: Name, means: Callable[[str], bool]
) -> Iterator[_Replacement]:
    """Every part of a body that refers to the document by its id, file name or path."""
    folder = posixpath.dirname(document.path)
    for one in references(document.body):
        wiki = one.kind == "wiki"
        text = _retarget_wiki(one, old, new, means) if wiki else _retarget_link(one, old, new, folder)
        if text != one.written:
            yield _Replacement(*one.place, one.written, text)
    for cited in cited_paths(document.body) if old.path != new.path else ():
        if not cited.relative and posixpath.normpath(cited.path) == old.path:
            yield _Replacement(cited.line, cited.column, cited.path, new.path)


def _retarget_wiki(one: Reference, old: Name, new: Name, means: Callable[[str], bool]) -> str:
    name = one.target.partition("#")[0].strip()
    if name == old.path:
        return one.written.replace(name, new.path, 1)
    return one.written.replace(name, new.id, 1) if name and means(name) else one.written


def _retarget_link(one: Reference, old: Name, new: Name, folder: str) -> str:
    target = re.split("[#?]", one.target, maxsplit=1)[0]
    if not target or posixpath.normpath(posixpath.join(folder, target)) not in _spellings(old.path):
        return one.written
    path = re.split("[#?]", one.written, maxsplit=1)[0]
    ending = "" if target.endswith(posixpath.basename(old.path).removesuffix(".md")) else ".md"
    file = posixpath.basename(new.path).removesuffix(".md") + ending
    return path[: path.rfind("/") + 1] + file + one.written[len(path) :]


def _spellings(path: str) -> tuple[str, ...]:
    """Forms of a file's path in links: with or without its ending; for an archived file also its former
    path."""
    return tuple(name for one in {path, live_path(path)} for name in (one, one.removesuffix(".md")))


def mentions(text: str, old: Name) -> tuple[int, ...]:
    """Lines (from 1) of a text that still mention an id or a path.

    An id of a single word is not searched for: it is an ordinary word.
    """
    names = [name for name in needles(old) if name in text]
    if not names:
        return ()
    word = re.compile(rf"(?<![\w.-])(?:{'|'.join(map(re.escape, names))})(?![\w-]|\.\w)")
    return tuple(number for number, line in enumerate(text.split("\n"), 1) if word.search(line))


def needles(old: Name) -> tuple[str, ...]:
    """The strings to search for to find mentions of a document."""
    return (old.path, old.id) if "." in old.id else (old.path,)


class IdMention(NamedTuple):
    """A line that mentions the old id or path and was not changed: prose, code, other files."""

    path: str
    line: int


class Renamed(NamedTuple):
    """The result of `rename`, or with ``planned`` what it would do (``diff``).

    ``followed`` are the documents with updated references. ``mentions`` still contain the old id or path; the
    old id stays valid as an alias. ``published`` is false if the next command still has to write a file.
    ``proposed`` is the id of the proposal if the change is pending review: then nothing was changed.
    """

    id: str
    old_id: str
    path: str
    old_path: str
    followed: tuple[str, ...] = ()
    mentions: tuple[IdMention, ...] = ()
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
    edits: tuple[FileChange, ...]
    followed: tuple[str, ...]
    mentions: tuple[IdMention, ...]


def rename(memory: Memory, id: str, new_id: str, *, dry_run: bool = False, why: str = "") -> Renamed:
    """Change a document's id to ``new_id``, and its file name with it; the old id becomes an alias.

    Links, references in double brackets and paths in other documents are updated, in one event. Title and
    times stay the same. Of two files with the same id, give the path of the one to rename; references are
    then not updated, because the other file keeps the old id. Raises `InvalidDocument`, `NotFound`,
    `DocumentExists` if the id or file name is taken, or `NotWritable` if a document that may refer to it
    cannot be read.
    """
    if not dry_run:
        settle(memory, "rename")
    memory.refresh()
    document, _ = _chosen(memory, id)
    outside = _outside(memory, Name(document.id, document.path))
    if dry_run:
        return _value(_plan(memory, id, new_id), outside, planned=True)
    with open_transaction(memory, "rename") as transaction:
        planned = _plan(memory, id, new_id)
        if not planned.edits:
            return _value(planned)
        transaction.commit("rename", planned.edits, why=why)
        done = transaction.outcome
        return _value(planned, outside)._replace(changed=not done.proposed, **done._asdict())


def _value(plan: _Plan, outside: Sequence[IdMention] = (), *, planned: bool = False) -> Renamed:
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
    corpus = IndexCorpus(memory.index)
    row = find_row(memory, given, itself=True)
    paths = corpus.paths_of(row.id)
    path = next((path for path in paths if path == stored_path(memory, given)), row.path)
    if len(paths) > 1 and path != stored_path(memory, given):
        raise InvalidDocument(
            f"ambiguous: {len(paths)} files have the id {row.id!r}",
            hint=f"give the path of one: {', '.join(paths)}",
        )
    return document_in(memory, path, row.id), len(paths) == 1


def _plan(memory: Memory, given: str, new_id: str) -> _Plan:
    """All changes of a rename; none if the document already has that id."""
    document, alone = _chosen(memory, given)
    old = Name(document.id, document.path)
    if new_id == document.id:
        return _Plan(old, old, (), (), ())
    new = _new_name(memory, document, new_id)
    means = _means(memory, document)
    own = retarget(document, old, new, means) if alone else document.text
    edits = _own_edits(document, new, with_new_id(own, old.id, new.id, keeps_old=alone))
    others: list[str] = []
    left: list[IdMention] = []
    for other in _others(memory, document) if alone else ():
        text = retarget(other, old, new, means)
        if text != other.text:
            edits.append(FileChange(other.id, other.path, other.text, text))
            others.append(other.id)
        left += [IdMention(other.path, line) for line in mentions(text, old)]
    return _Plan(old, new, tuple(edits), tuple(others), tuple(left))


def _own_edits(document: Document, new: Name, text: str) -> list[FileChange]:
    if new.path == document.path:
        return [FileChange(new.id, new.path, document.text, text)]
    return FileChange.move(document.id, document.path, document.text, new.path, new_text=text, new_id=new.id)


def _new_name(memory: Memory, document: Document, new_id: str) -> Name:
    """The new id and path. Raises if they are invalid or taken."""
    if document.kind == "core":
        raise InvalidDocument("the core document cannot be renamed: its id is fixed")
    choose_id(document.kind, document.title, new_id)
    index, corpus = memory.index, IndexCorpus(memory.index)
    for known in index.ids():
        if known != document.id and fold_key(known) == fold_key(new_id):
            raise DocumentExists(f"{known!r} already exists", hint="choose another id")
    called = corpus.resolve(new_id)
    if called is not None and called != document.id:
        raise DocumentExists(f"{new_id!r} is already an alias of {called!r}", hint="choose another id")
    path = new_path(document, new_id)
    if fold_key(path) == fold_key(document.path):
        return Name(new_id, document.path)
    check_free(memory, path, "choose another id")
    return Name(new_id, path)


def _means(memory: Memory, document: Document) -> Callable[[str], bool]:
    """Return a test whether a name is the document's id or file name, both of which a rename changes."""
    corpus = IndexCorpus(memory.index)
    stem = posixpath.basename(document.path).removesuffix(".md").casefold()

    def means(name: str) -> bool:
        bare = name.removesuffix(".md")
        if bare.casefold() not in (document.id.casefold(), stem):
            return False
        return corpus.resolve(name) == document.id

    return means


def _others(memory: Memory, document: Document) -> Iterator[Document]:
    """The other documents whose bytes contain a possible name of this one."""
    stem = posixpath.basename(document.path).removesuffix(".md")
    # Links may percent-encode characters, and bytes are matched case-insensitively only for ASCII.
    names = [re.escape(name) for name in (document.id, stem)] + (["%"] if stem.isascii() else [""])
    wanted = re.compile("|".join(names).encode(), re.IGNORECASE)
    for path, hash, doc_id in memory.index.files():
        # A file without a hash could not be read, so it may be a document.
        if (hash and not doc_id) or path == document.path:
            continue
        # Missing and foreign files contain no references; any other read error is raised.
        with suppress(NotFound, Refused):
            data = read_file(inside(memory.root, path), MAX_DOCUMENT)
            other = read_document(path, data).document if wanted.search(data) else None
            if other is not None:
                yield other


def _outside(memory: Memory, old: Name) -> list[IdMention]:
    """Lines outside the store that mention the document."""
    found = lines_with(memory.git, needles(old)) if memory.git is not None else []
    return [
        IdMention(one.path, one.line)
        for one in found
        if not one.path.startswith(f"{STORE}/") and mentions(one.text, old)
    ]


def _diff(plan: _Plan) -> str:
    """The change as a diff; a renamed file as git shows it."""
    diffs = []
    texts = {edit.path: edit for edit in plan.edits}
    if plan.old.path != plan.new.path and plan.edits:
        old, new = texts.pop(plan.old.path), texts.pop(plan.new.path)
        moved = f"diff --git a/{old.path} b/{new.path}\nrename from {old.path}\nrename to {new.path}\n"
        diffs.append(moved + (unified_diff(old.before, new.after, new.path) or ""))
    return "".join([*diffs, *(unified_diff(one.before, one.after, one.path) or "" for one in texts.values())])
