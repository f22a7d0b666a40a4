"""What a merge left in conflict in the store, document by document, and what each comes to. Writes nothing.

Git knows files, and guesses renames from likeness; a document is known by its id. So one document may stand
at two paths (both sides renamed it), and one path may hold two documents (git took one for the other). A
file may hold git's markers, and already some of a person's work on them. Git's index and files are read.
"""

from __future__ import annotations

import os
import posixpath
from collections import Counter
from contextlib import suppress
from typing import TYPE_CHECKING, Final, NamedTuple

from thunderus_mem.document.diff import raw_lines
from thunderus_mem.document.document import MAX_DOCUMENT, read_document
from thunderus_mem.document.frontmatter.read import find_fences, open_header
from thunderus_mem.document.ids import file_name, file_stem
from thunderus_mem.document.markdown import suppressions
from thunderus_mem.errors import InvalidDocument, NotFound, ThunderusError
from thunderus_mem.git.changes import unmerged
from thunderus_mem.index.log import read
from thunderus_mem.log.event import changes_of
from thunderus_mem.merge import documents
from thunderus_mem.store.files import read_file
from thunderus_mem.store.layout import DOCUMENT_FOLDERS, STORE
from thunderus_mem.store.paths import inside, is_shard, kind_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from thunderus_mem.document.document import Document
    from thunderus_mem.git.changes import Unmerged
    from thunderus_mem.git.repository import Git
    from thunderus_mem.memory.memory import Memory


class Versions(NamedTuple):
    """A file in conflict: the text of each version, ``None`` where a version has no such file."""

    path: str
    base: str | None
    ours: str | None
    theirs: str | None


class DocumentConflict(NamedTuple):
    """A document whose versions must become one, and the ``path`` at which it goes on.

    ``id`` is "" when no version reads. Other files that hold it, and go, are ``drops``. ``apart`` names the
    side ("ours", "theirs") whose version it is alone, when the other version is another document; one of the
    two ``moves`` to a file of its own. ``note`` says what is odd.
    """

    id: str
    path: str
    base: str | None
    ours: str | None
    theirs: str | None
    drops: tuple[str, ...] = ()
    apart: str = ""
    moves: bool = False
    note: str = ""


def document_conflicts(files: Sequence[Versions]) -> list[DocumentConflict]:
    """Sort files in conflict by document."""
    found: list[DocumentConflict] = []
    mine = [one for one in files if one.ours is not None and one.base is None and one.theirs is None]
    others = [one for one in files if one.theirs is not None and one.base is None and one.ours is None]
    gone = [one for one in files if one.base is not None and one.ours is None and one.theirs is None]
    for one in files:
        if one in mine:
            found.append(_renamed_twice(one, others, gone))
        elif one in others or one in gone:
            continue
        elif _are_two(one):
            found += _apart(one)
        else:
            found.append(_plain(one))
    used = {path for one in found for path in one.drops}
    return [*found, *(_plain(one) for one in (*others, *gone) if one.path not in used)]


def _plain(one: Versions) -> DocumentConflict:
    return DocumentConflict(_id(one.ours) or _id(one.theirs) or _id(one.base), *one)


def _document(text: str | None) -> Document | None:
    return None if text is None else read_document("", text.encode("utf-8", "surrogateescape")).document


def _id(text: str | None) -> str:
    document = _document(text)
    return document.id if document is not None else ""


def _names(text: str | None, side: int) -> frozenset[str]:
    """The id and aliases of a version; of one that git filled with markers itself, those of its side."""
    document = _document(documents.sides(documents.parse(text or ""))[side])
    return frozenset() if document is None else frozenset((document.id, *document.aliases))


def _renamed_twice(one: Versions, others: Sequence[Versions], gone: Sequence[Versions]) -> DocumentConflict:
    """A file only we have: with the one only they have, when both are one document under two names."""
    mine = _names(one.ours, 1)
    for other in others:
        theirs = _names(other.theirs, 2)
        base = next((was for was in gone if _id(was.base) in mine & theirs), None)
        if _id(one.ours) == _id(other.theirs) != "" or base is not None:
            both = (
                documents.sides(documents.parse(one.ours or "")).ours,
                documents.sides(documents.parse(other.theirs or "")).theirs,
            )
            drops = (other.path, *([base.path] if base else []))
            note = f"both sides renamed its file, theirs to {other.path}"
            return DocumentConflict(_id(both[0]), one.path, base and base.base, *both, drops, note=note)
    return _plain(one)


def _are_two(one: Versions) -> bool:
    """Whether two documents that have nothing to do with each other stand in one file."""
    ours, theirs, base = _document(one.ours), _document(one.theirs), _document(one.base)
    if ours is None or theirs is None or ours.id == theirs.id:
        return False
    related = ours.id in theirs.aliases or theirs.id in ours.aliases
    both_from = (
        base is not None and base.id in (ours.id, *ours.aliases) and base.id in (theirs.id, *theirs.aliases)
    )
    return not (related or both_from)


def _apart(one: Versions) -> list[DocumentConflict]:
    """Two documents of one file: the one whose name fits stays, the other gets a file of its own."""
    ours, theirs = _document(one.ours), _document(one.theirs)
    assert ours is not None
    assert theirs is not None
    stays_mine = _fits(one.path, ours) or not _fits(one.path, theirs)
    note = f"git took {theirs.id} and {ours.id} for one document"
    mine = DocumentConflict(ours.id, *one, apart="ours", moves=not stays_mine, note=note)
    other = DocumentConflict(theirs.id, *one, apart="theirs", moves=stays_mine, note=note)
    return [mine, other] if stays_mine else [other, mine]


def _fits(path: str, document: Document) -> bool:
    name = posixpath.basename(path).removesuffix(".md").lower()
    stem = file_stem(document.id, document.kind)
    return name == stem or (document.kind == "adr" and name.startswith("adr-") and name.endswith(f"-{stem}"))


def _sides_of(
    found: str, base: str | None, ours: str | None, theirs: str | None
) -> tuple[documents.Sides, tuple[str, str]] | None:
    """The versions of a file that git left in conflict, and the names that its markers give the sides;
    ``None`` when no marker is in it (any more).

    The text between the markers counts: what a person has decided in the file stands on both sides of it.
    Only a header that is still as git left it is taken from the versions in git's index (where given), as
    merging line by line can spoil it. Raises `InvalidDocument` when the sides cannot be told apart.
    """
    base, ours, theirs = (text and _like(found, text) for text in (base, ours, theirs))
    parts = documents.parse(found, documents.examples_in(ours, theirs))
    blocks = [part for part in parts if isinstance(part, documents.Block)]
    if not blocks:
        return None
    now = documents.sides(parts)
    labels = blocks[0].labels if all(blocks[0].labels) else documents.LABELS
    if base is None and ours is None:
        base = now.base
    if ours is None or theirs is None:
        _refuse_doubtful(blocks)
        return now._replace(base=base), labels
    mine, other = _head(now.ours), _head(now.theirs)
    if any(block.doubtful for block in blocks) or not (mine and other):
        if _as_git_left((base, ours, theirs), (now.ours, now.theirs)):
            return documents.Sides(base, ours, theirs), labels
        _refuse_doubtful(blocks)
        return now._replace(base=base), labels
    was = tuple(None if text is None else _head(text) for text in (base, ours, theirs))
    if _reads(ours) and _reads(theirs) and _as_git_left(was, (mine, other)):
        now = now._replace(
            ours=_head(ours) + now.ours[len(mine) :], theirs=_head(theirs) + now.theirs[len(other) :]
        )
    return now._replace(base=base), labels


def _is_untouched(found: str, base: str | None, ours: str, theirs: str) -> bool:
    """Whether a file in conflict is still as git left it, as far as its lines tell."""
    base, ours, theirs = base and _like(found, base), _like(found, ours), _like(found, theirs)
    now = documents.sides(documents.parse(found, documents.examples_in(ours, theirs)))
    return found in (ours, theirs) or _as_git_left((base, ours, theirs), (now.ours, now.theirs))


def _refuse_doubtful(blocks: list[documents.Block]) -> None:
    doubtful = next((block for block in blocks if block.doubtful), None)
    if doubtful is not None:
        raise InvalidDocument(
            f"a line between the conflict markers of line {doubtful.lines[0]} looks like a marker itself",
            hint="settle this conflict by hand",
        )


def _like(found: str, text: str) -> str:
    """A text of git's index with the line ends it has in the working tree."""
    converted = "\r\n" in found and found.count("\n") == found.count("\r\n") and "\r" not in text
    return text.replace("\n", "\r\n") if converted else text


def _head(text: str) -> str:
    """Everything before the body; "" when there is no frontmatter that ends."""
    fences = find_fences(text)
    return text[: fences.body_start] if fences is not None and fences.closed else ""


def _reads(text: str) -> bool:
    try:
        return bool(open_header(text))
    except InvalidDocument:
        return False


def _as_git_left(was: tuple[str | None, ...], now: tuple[str, str]) -> bool:
    """Whether two sides of a conflict may be what merging line by line made: nobody took a line out or in.

    What no side changed is there as often as before, and what a side added is there on its side.
    """
    base, ours, theirs = (Counter(_lines(text or "")) for text in was)
    mine, other = (Counter(_lines(text)) for text in now)
    for line in ours.keys() | theirs.keys() | base.keys() | mine.keys() | other.keys():
        before = base[line]
        if ours[line] == theirs[line] == before:
            if not mine[line] == other[line] == before:
                return False
        elif (ours[line] > before and mine[line] < ours[line]) or (
            theirs[line] > before and other[line] < theirs[line]
        ):
            return False
    return True


def _lines(text: str) -> list[str]:
    return [line.rstrip("\r\n") for line in raw_lines(text)]


_THEIRS: Final = {
    "merge": "MERGE_HEAD",
    "rebase": "REBASE_HEAD",
    "cherry-pick": "CHERRY_PICK_HEAD",
    "revert": "REVERT_HEAD^",
}


class Shard(NamedTuple):
    """A shard that is settled: its bytes, ``None`` where neither side has it; and how that was told.

    Git takes one shard for another, as their lines are much alike, where one went (by a revert, say) and one
    came. Each is whole on the side that has it.
    """

    path: str
    data: bytes | None
    how: str


def _shard(git: Git, one: Unmerged) -> Shard | None:
    """What a shard in conflict is; ``None`` when both sides have other lines, which is no work of git."""
    if one.ours is not None and one.theirs is not None:
        longer, shorter = sorted((_as_lf(one.ours), _as_lf(one.theirs)), key=len, reverse=True)
        return Shard(one.path, longer, "both sides have it") if longer.startswith(shorter) else None
    if one.ours is None and one.theirs is None:
        return Shard(one.path, None, "neither side has it any more")
    mine = one.ours is not None
    side = "HEAD" if mine else _THEIRS.get(git.operation(), "")
    name = f"{side}:{git.prefix}{one.path}"
    # What git shows as this side's version may be the two shards mixed.
    data = (git.blobs([name])[name] if side else None) or (one.ours if mine else one.theirs)
    return Shard(
        one.path, data, f"whole, as {'ours' if mine else 'theirs'} has it: git took it for another one"
    )


def _as_lf(data: bytes) -> bytes:
    return data.replace(b"\r\n", b"\n")


_SHARD: Final = (
    "a shard of the log, which two branches never write to: keep the lines of both sides, each whole and in "
    "the order of their times, and delete the markers"
)


class Other(NamedTuple):
    """A file in conflict that is no document, and what to do about it, or how it is ``settled``."""

    path: str
    advice: str
    settled: bool = False


class Answer(NamedTuple):
    """What a document comes to. ``text`` is its new text, ``None`` when its file goes.

    ``found`` is what the file holds now, ``before`` what our side had (``None``: nothing, each of them).
    ``state``: ``merged``; ``kept`` (removed on one side); ``done`` (settled before); ``apart`` (a file of its
    own now); ``unreadable`` (left as it is). ``drops`` are other files of it that go, with their text, if
    they are still there. ``file`` is the one that git had in conflict.
    """

    id: str
    path: str
    state: str
    before: str | None
    found: str | None
    text: str | None
    settled: tuple[documents.MergedKey, ...] = ()
    left: tuple[documents.UnmergedKey, ...] = ()
    note: str = ""
    labels: tuple[str, str] | None = None
    drops: tuple[tuple[str, str | None], ...] = ()
    file: str = ""

    @property
    def is_clean(self) -> bool:
        """Whether nothing is left to people."""
        return not self.left


class InConflict(NamedTuple):
    """What git has in conflict: documents, shards that are settled, and files that we leave alone."""

    documents: list[DocumentConflict]
    shards: list[Shard]
    others: list[Other]


def in_store(memory: Memory) -> InConflict:
    """What git's index has in conflict below the store."""
    found = InConflict([], [], [])
    files: list[Versions] = []
    for one in unmerged(memory.git, STORE) if memory.git is not None else ():
        versions = _texts(one) if kind_of(one.path) and one.regular else None
        shard = _shard(memory.git, one) if memory.git and is_shard(one.path) and one.regular else None
        if versions is not None:
            files.append(versions)
        elif shard is not None:
            found.shards.append(shard)
        else:
            found.others.append(Other(one.path, _advice(memory, one)))
    found.documents.extend(document_conflicts(files))
    return found


def _texts(one: Unmerged) -> Versions | None:
    try:
        base, ours, theirs = (
            None if data is None else data.decode("utf-8") for data in (one.base, one.ours, one.theirs)
        )
    except UnicodeDecodeError:
        return None
    return Versions(one.path, base, ours, theirs)


def _advice(memory: Memory, one: Unmerged) -> str:
    if not one.regular:
        return "a link or a submodule: decide with git"
    if kind_of(one.path):
        return "a side of it is not UTF-8: decide with `git checkout --ours` or `--theirs`"
    if one.path.startswith(f"{STORE}/sessions/"):
        return _SHARD
    if one.path.startswith(f"{STORE}/schemas/"):
        return "a copy of a schema: take either side, then `thunderus-mem schema update`"
    return "not a document: decide by hand"


def committed_conflicts(memory: Memory, files: Iterable[tuple[str, str]]) -> list[DocumentConflict]:
    """Among files (path, id or "") those with conflict markers that git takes for settled.

    A document that says to lint that it shows a conflict on purpose is not one of them.
    """
    found = []
    for path, doc_id in files:
        with suppress(ThunderusError):
            text = _text_at(memory, path) or ""
            wanted = any("TM012" in one.codes and not one.line for one in suppressions(text))
            if not wanted and documents.find_conflict(text):
                found.append(DocumentConflict(doc_id, path, None, None, None))
    return found


def _text_at(memory: Memory, path: str) -> str | None:
    """The text of a file, ``None`` when there is none. Raises `InvalidDocument` when it is no text."""
    try:
        return read_file(inside(memory.root, path), MAX_DOCUMENT).decode("utf-8")
    except NotFound:
        return None
    except UnicodeDecodeError as error:
        raise InvalidDocument("the file is not UTF-8", hint="settle it by hand") from error


def decide(memory: Memory, one: DocumentConflict, lines: documents.Lines) -> Answer:
    """Decide what can be decided of one document; what cannot be read is left as it is."""
    try:
        return _decided(memory, one, lines)._replace(file=one.path)
    except (ThunderusError, ValueError) as error:
        return Answer(
            one.id,
            one.path,
            "unreadable",
            one.ours,
            None,
            None,
            left=(documents.UnmergedKey("", str(error)),),
        )


def _decided(memory: Memory, one: DocumentConflict, lines: documents.Lines) -> Answer:
    found = _text_at(memory, one.path)
    answer = Answer(one.id, one.path, "merged", one.ours, found, found, note=one.note)
    if one.apart:
        return _conflicts_apart(memory, answer, one)
    if found is None:
        return answer._replace(state="done", note="its file is gone")
    marked = _sides_of(found, one.base, one.ours, one.theirs)
    if marked is None:
        return _without_markers(memory, answer, one)
    versions, labels = marked
    merged = documents.merge(versions.base, versions.ours, versions.theirs, lines, labels)
    document = read_document(one.path, merged.text.encode()).document
    if document is None and not any(left.key != "text" for left in merged.left):
        raise InvalidDocument("the merged text does not read as a document")
    before = found if one.ours is None and one.theirs is None else one.ours
    return answer._replace(
        id=one.id or (document.id if document else ""),
        # Where both sides renamed the file, git's versions of it are mixed already.
        before=_committed(memory, one.path) if one.drops else before,
        text=merged.text,
        settled=merged.settled,
        left=merged.left,
        labels=labels,
        drops=_drops(memory, one, found),
    )


def _committed(memory: Memory, path: str) -> str | None:
    """The text that our side's newest commit has."""
    data = memory.git.head_bytes(path) if memory.git is not None else None
    return None if data is None else data.decode("utf-8", "replace")


def _without_markers(memory: Memory, answer: Answer, one: DocumentConflict) -> Answer:
    """A file that git, or somebody, left without markers."""
    if one.drops:
        drops = _drops(memory, one, answer.found or "")
        return answer._replace(before=_committed(memory, one.path), drops=drops)
    if one.ours is not None and one.theirs is not None:
        return answer._replace(state="done", note=one.note or "no conflict markers are in it any more")
    if one.base is None:
        return answer._replace(state="kept")
    kept, removed = ("ours", "theirs") if one.theirs is None else ("theirs", "ours")
    base = read_document(one.path, one.base.encode()).document
    if base is not None and one.id and base.id != one.id:
        note = f"git took it for {base.id} under another name, which {removed} removed"
        return answer._replace(state="kept", note=note)
    return answer._replace(state="kept", note=f"{kept} changed the document, {removed} removed it")


def _drops(memory: Memory, one: DocumentConflict, found: str) -> tuple[tuple[str, str | None], ...]:
    """The other files that hold the document, where nobody has written anything else into them."""
    held = tuple([(path, _text_at(memory, path)) for path in one.drops])
    for path, text in held:
        if text is not None and text != found and text not in (one.ours, one.theirs):
            raise InvalidDocument(
                f"{path} holds this document too, with another text", hint="keep one of the two"
            )
    return held


def _conflicts_apart(memory: Memory, answer: Answer, one: DocumentConflict) -> Answer:
    """A document that shares its file with another one: it keeps the file as its own, or gets a new one."""
    mine = one.apart == "ours"
    text = one.ours if mine else one.theirs
    if answer.found is None or one.ours is None or one.theirs is None:
        return answer._replace(state="done", note="its file is gone")
    if not _is_untouched(answer.found, one.base, one.ours, one.theirs):
        raise InvalidDocument(f"{one.note}, and somebody has begun to make them one")
    if one.moves:
        return answer._replace(
            path=_own_path(memory, one, text or ""), state="apart", before=None, found=None, text=text
        )
    return answer._replace(state="apart", before=text if mine else None, text=text)


def _own_path(memory: Memory, one: DocumentConflict, text: str) -> str:
    """The path the log last knew for a document, else one that follows from its id; there is no file yet."""
    document = read_document(one.path, text.encode()).document
    folder = DOCUMENT_FOLDERS.get(document.kind if document else "", posixpath.dirname(one.path))
    logged = read(memory.log, memory.log_index().naming([one.id]))
    changes = [change for entry in logged for change in changes_of(entry.event)]
    known = [change.path for change in reversed(changes) if change.doc_id == one.id]
    names = [posixpath.basename(path) for path, _, _ in memory.index.files() if path.startswith(f"{folder}/")]
    kind = document.kind if document else ""
    derived = f"{folder}/{file_name(one.id, kind, [*names, posixpath.basename(one.path)])}"
    for path in (*known, derived):
        if kind_of(path) and not os.path.lexists(os.path.join(memory.root, path)):
            return path
    raise InvalidDocument(f"{one.note}, and the name {derived} is taken, too")
