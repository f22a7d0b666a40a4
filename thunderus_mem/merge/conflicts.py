"""Conflicts in the store by document, and the result for each. Writes nothing.

Git tracks files and guesses renames by similarity; a document is identified by its id. So one document may be
at two paths (both sides renamed it), and one path may contain two documents (git confused them). A file may
have conflict markers, some of them already edited by the user. Reads git's index and files.
"""

from __future__ import annotations

import os
import posixpath
from collections import Counter
from contextlib import suppress
from typing import TYPE_CHECKING, Final

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
from thunderus_mem.startup import NamedTuple
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
    """A file in conflict: the text of each version, ``None`` if the version has no such file."""

    path: str
    base: str | None
    ours: str | None
    theirs: str | None


class DocumentConflict(NamedTuple):
    """A document whose versions must be merged, and its resulting ``path``.

    ``id`` is "" when no version is valid. ``drops`` are other files with the document, to be deleted.
    ``apart`` is the side ("ours", "theirs") that has this document when the other side has a different one in
    the file; one of the two ``moves`` to a file of its own. ``note`` describes anything unusual.
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
    """Group files in conflict by document."""
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
    """The id and aliases of a version; if it contains conflict markers, those of its side."""
    document = _document(documents.sides(documents.parse(text or ""))[side])
    return frozenset() if document is None else frozenset((document.id, *document.aliases))


def _renamed_twice(one: Versions, others: Sequence[Versions], gone: Sequence[Versions]) -> DocumentConflict:
    """A file only in ours, paired with the one only in theirs if both are the same document renamed."""
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
            note = f"both sides renamed the file, theirs to {other.path}"
            return DocumentConflict(_id(both[0]), one.path, base and base.base, *both, drops, note=note)
    return _plain(one)


def _are_two(one: Versions) -> bool:
    """Whether the sides have two unrelated documents in one file."""
    ours, theirs, base = _document(one.ours), _document(one.theirs), _document(one.base)
    if ours is None or theirs is None or ours.id == theirs.id:
        return False
    related = ours.id in theirs.aliases or theirs.id in ours.aliases
    both_from = (
        base is not None and base.id in (ours.id, *ours.aliases) and base.id in (theirs.id, *theirs.aliases)
    )
    return not (related or both_from)


def _apart(one: Versions) -> list[DocumentConflict]:
    """Two documents in one file: the one that matches the file name stays, the other gets its own file."""
    ours, theirs = _document(one.ours), _document(one.theirs)
    assert ours is not None
    assert theirs is not None
    stays_mine = _matches_name(one.path, ours) or not _matches_name(one.path, theirs)
    note = f"git merged {theirs.id} and {ours.id} as if they were one document"
    mine = DocumentConflict(ours.id, *one, apart="ours", moves=not stays_mine, note=note)
    other = DocumentConflict(theirs.id, *one, apart="theirs", moves=stays_mine, note=note)
    return [mine, other] if stays_mine else [other, mine]


def _matches_name(path: str, document: Document) -> bool:
    name = posixpath.basename(path).removesuffix(".md").lower()
    stem = file_stem(document.id, document.kind)
    return name == stem or (document.kind == "adr" and name.startswith("adr-") and name.endswith(f"-{stem}"))


def _sides_of(
    found: str, base: str | None, ours: str | None, theirs: str | None
) -> tuple[documents.Sides, tuple[str, str]] | None:
    """The versions of a file in conflict, and the labels of its markers; ``None`` when it has no markers.

    The text of the file counts, so that edits by the user are on both sides. Only a header that is unchanged
    since the merge is taken from git's index (if given), because a merge by line can damage it. Raises
    `InvalidDocument` when the sides cannot be separated.
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
    """Whether a file in conflict is unchanged since the merge, judging by its lines."""
    base, ours, theirs = base and _like(found, base), _like(found, ours), _like(found, theirs)
    now = documents.sides(documents.parse(found, documents.examples_in(ours, theirs)))
    return found in (ours, theirs) or _as_git_left((base, ours, theirs), (now.ours, now.theirs))


def _refuse_doubtful(blocks: list[documents.Block]) -> None:
    doubtful = next((block for block in blocks if block.doubtful), None)
    if doubtful is not None:
        raise InvalidDocument(
            f"a line in the conflict at line {doubtful.lines[0]} looks like a conflict marker",
            hint="resolve this conflict by hand",
        )


def _like(found: str, text: str) -> str:
    """A text from git's index with the line ends of the working tree."""
    converted = "\r\n" in found and found.count("\n") == found.count("\r\n") and "\r" not in text
    return text.replace("\n", "\r\n") if converted else text


def _head(text: str) -> str:
    """Everything before the body; "" when the frontmatter is missing or not closed."""
    fences = find_fences(text)
    return text[: fences.body_start] if fences is not None and fences.closed else ""


def _reads(text: str) -> bool:
    try:
        return bool(open_header(text))
    except InvalidDocument:
        return False


def _as_git_left(was: tuple[str | None, ...], now: tuple[str, str]) -> bool:
    """Whether both sides may be the output of a merge by line, without lines removed or added by the user.

    Lines that no side changed occur as often as before, and lines added by a side are on that side.
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
    """A resolved shard: its bytes, ``None`` if neither side has it; and how it was resolved.

    Git confuses shards, because their lines are similar, when one was deleted (e.g. by a revert) and another
    added. Each is complete on the side that has it.
    """

    path: str
    data: bytes | None
    how: str


def _shard(git: Git, one: Unmerged) -> Shard | None:
    """Resolve a shard in conflict; ``None`` when both sides have different lines, which git alone cannot
    cause."""
    if one.ours is not None and one.theirs is not None:
        longer, shorter = sorted((_as_lf(one.ours), _as_lf(one.theirs)), key=len, reverse=True)
        return Shard(one.path, longer, "both sides have it") if longer.startswith(shorter) else None
    if one.ours is None and one.theirs is None:
        return Shard(one.path, None, "removed on both sides")
    mine = one.ours is not None
    side = "HEAD" if mine else _THEIRS.get(git.operation(), "")
    name = f"{side}:{git.prefix}{one.path}"
    # This side's version in git's index may be a mixture of two shards.
    data = (git.blobs([name])[name] if side else None) or (one.ours if mine else one.theirs)
    return Shard(
        one.path, data, f"complete from {'ours' if mine else 'theirs'}: git confused it with another shard"
    )


def _as_lf(data: bytes) -> bytes:
    return data.replace(b"\r\n", b"\n")


_SHARD: Final = (
    "a shard of the log, which two branches never write to: delete the markers and keep the lines of both "
    "sides in order of time"
)


class Other(NamedTuple):
    """A file in conflict that is not a document, and what to do about it, or how it was ``settled``."""

    path: str
    advice: str
    settled: bool = False


class Answer(NamedTuple):
    """The result for a document. ``text`` is its new text, ``None`` when its file is deleted.

    ``found`` is the present text of the file, ``before`` that of our side (``None``: no file). ``state``:
    ``merged``; ``kept`` (removed on one side); ``done`` (resolved before); ``apart`` (now has its own file);
    ``unreadable`` (not changed). ``drops`` are its other files, which are deleted, with their text if they
    still exist. ``file`` is the file in conflict.
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
        """Whether nothing is left to decide."""
        return not self.left


class InConflict(NamedTuple):
    """The conflicts: documents, resolved shards, and files that are not changed."""

    documents: list[DocumentConflict]
    shards: list[Shard]
    others: list[Other]


def in_store(memory: Memory) -> InConflict:
    """The conflicts in git's index below the store."""
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
            found.others.append(Other(one.path, _advice(one)))
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


def _advice(one: Unmerged) -> str:
    if not one.regular:
        return "a symlink or a submodule: resolve it with git"
    if kind_of(one.path):
        return "not UTF-8 on one side: resolve it with `git checkout --ours` or `--theirs`"
    if one.path.startswith(f"{STORE}/sessions/"):
        return _SHARD
    if one.path.startswith(f"{STORE}/schemas/"):
        return "a copy of a schema: take either side, then `thunderus-mem migrate --apply`"
    return "not a document: resolve it by hand"


def committed_conflicts(memory: Memory, files: Iterable[tuple[str, str]]) -> list[DocumentConflict]:
    """The files (path, id or "") with conflict markers that git considers resolved.

    Documents that suppress TM012 for the whole file are not included.
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
    """The text of a file, ``None`` when it does not exist. Raises `InvalidDocument` when it is not UTF-8."""
    try:
        return read_file(inside(memory.root, path), MAX_DOCUMENT).decode("utf-8")
    except NotFound:
        return None
    except UnicodeDecodeError as error:
        raise InvalidDocument("the file is not UTF-8", hint="resolve it by hand") from error


def decide(memory: Memory, one: DocumentConflict, lines: documents.Lines) -> Answer:
    """Resolve one document as far as possible; an unreadable one is not changed."""
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
        return answer._replace(state="done", note="the file no longer exists")
    marked = _sides_of(found, one.base, one.ours, one.theirs)
    if marked is None:
        return _without_markers(memory, answer, one)
    versions, labels = marked
    merged = documents.merge(versions.base, versions.ours, versions.theirs, lines, labels)
    document = read_document(one.path, merged.text.encode()).document
    if document is None and not any(left.key != "text" for left in merged.left):
        raise InvalidDocument("the merged text is not a valid document")
    before = found if one.ours is None and one.theirs is None else one.ours
    return answer._replace(
        id=one.id or (document.id if document else ""),
        # When both sides renamed the file, git's versions of it are already mixed.
        before=_committed(memory, one.path) if one.drops else before,
        text=merged.text,
        settled=merged.settled,
        left=merged.left,
        labels=labels,
        drops=_drops(memory, one, found),
    )


def _committed(memory: Memory, path: str) -> str | None:
    """The text in HEAD."""
    data = memory.git.head_bytes(path) if memory.git is not None else None
    return None if data is None else data.decode("utf-8", "replace")


def _without_markers(memory: Memory, answer: Answer, one: DocumentConflict) -> Answer:
    """A file in conflict without markers."""
    if one.drops:
        drops = _drops(memory, one, answer.found or "")
        return answer._replace(before=_committed(memory, one.path), drops=drops)
    if one.ours is not None and one.theirs is not None:
        return answer._replace(state="done", note=one.note or "no conflict markers")
    if one.base is None:
        return answer._replace(state="kept")
    kept, removed = ("ours", "theirs") if one.theirs is None else ("theirs", "ours")
    base = read_document(one.path, one.base.encode()).document
    if base is not None and one.id and base.id != one.id:
        note = f"git confused it with {base.id}, which {removed} removed"
        return answer._replace(state="kept", note=note)
    return answer._replace(state="kept", note=f"{kept} changed the document, {removed} removed it")


def _drops(memory: Memory, one: DocumentConflict, found: str) -> tuple[tuple[str, str | None], ...]:
    """The other files with the document, if they have not been edited since."""
    others = tuple([(path, _text_at(memory, path)) for path in one.drops])
    for path, text in others:
        if text is not None and text != found and text not in (one.ours, one.theirs):
            raise InvalidDocument(
                f"{path} also contains this document, with a different text", hint="keep one of the two"
            )
    return others


def _conflicts_apart(memory: Memory, answer: Answer, one: DocumentConflict) -> Answer:
    """Separate a document from another one in the same file: it keeps the file, or gets a new one."""
    mine = one.apart == "ours"
    text = one.ours if mine else one.theirs
    if answer.found is None or one.ours is None or one.theirs is None:
        return answer._replace(state="done", note="the file no longer exists")
    if not _is_untouched(answer.found, one.base, one.ours, one.theirs):
        raise InvalidDocument(f"{one.note}, and the file has been edited since")
    if one.moves:
        return answer._replace(
            path=_own_path(memory, one, text or ""), state="apart", before=None, found=None, text=text
        )
    return answer._replace(state="apart", before=text if mine else None, text=text)


def _own_path(memory: Memory, one: DocumentConflict, text: str) -> str:
    """A free path for a document: the last one in the log, else one derived from its id."""
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
    raise InvalidDocument(f"{one.note}, and {derived} already exists")
