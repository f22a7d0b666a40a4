"""What git left in conflict in the store, document by document, and what each comes to. Writes nothing."""

from __future__ import annotations

import os
import posixpath
from contextlib import suppress
from typing import TYPE_CHECKING, Final, NamedTuple

from thunderus_mem.model.conflict import find_conflict
from thunderus_mem.model.document import MAX_DOCUMENT, read_document
from thunderus_mem.model.errors import InvalidDocument, NotFound, ThunderusError
from thunderus_mem.model.half_merged import is_untouched, three_of
from thunderus_mem.model.merge import Left, Settled, merge
from thunderus_mem.model.standoff import Standoff, Versions, stand_offs
from thunderus_mem.projection.log_index import read
from thunderus_mem.store.files import read_file
from thunderus_mem.store.git_unmerged import unmerged
from thunderus_mem.store.layout import DOCUMENT_FOLDERS, STORE, is_shard
from thunderus_mem.store.paths import inside
from thunderus_mem.verbs.paired_shards import Shard, shard_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from thunderus_mem.memory import Memory
    from thunderus_mem.model.merge import Lines
    from thunderus_mem.store.git_unmerged import Unmerged

__all__ = ["Answer", "InConflict", "Other", "committed_conflicts", "conflicts", "settle"]

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
    settled: tuple[Settled, ...] = ()
    left: tuple[Left, ...] = ()
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

    documents: list[Standoff]
    shards: list[Shard]
    others: list[Other]


def conflicts(memory: Memory) -> InConflict:
    """What git's index has in conflict below the store."""
    found = InConflict([], [], [])
    files: list[Versions] = []
    for one in unmerged(memory.git, STORE) if memory.git is not None else ():
        versions = _texts(one) if memory.layout.kind_of(one.path) and one.regular else None
        shard = shard_of(memory.git, one) if memory.git and is_shard(one.path) and one.regular else None
        if versions is not None:
            files.append(versions)
        elif shard is not None:
            found.shards.append(shard)
        else:
            found.others.append(Other(one.path, _advice(memory, one)))
    found.documents.extend(stand_offs(files))
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
    if memory.layout.kind_of(one.path):
        return "a side of it is not UTF-8: decide with `git checkout --ours` or `--theirs`"
    if one.path.startswith(f"{STORE}/sessions/"):
        return _SHARD
    if one.path.startswith(f"{STORE}/schemas/"):
        return "a copy of a schema: take either side, then `thunderus-mem schema update`"
    return "not a document: decide by hand"


def committed_conflicts(memory: Memory, files: Iterable[tuple[str, str]]) -> list[Standoff]:
    """Among files (path, id or "") those with conflict markers that git takes for settled.

    A document that says to lint that it shows a conflict on purpose is not one of them.
    """
    from thunderus_mem.lint.suppress import suppressions

    found = []
    for path, doc_id in files:
        with suppress(ThunderusError):
            text = _text_at(memory, path) or ""
            wanted = any("TM012" in one.codes and not one.line for one in suppressions(text))
            if not wanted and find_conflict(text):
                found.append(Standoff(doc_id, path, None, None, None))
    return found


def _text_at(memory: Memory, path: str) -> str | None:
    """The text of a file, ``None`` when there is none. Raises `InvalidDocument` when it is no text."""
    try:
        return read_file(inside(memory.root, path), MAX_DOCUMENT).decode("utf-8")
    except NotFound:
        return None
    except UnicodeDecodeError as error:
        raise InvalidDocument("the file is not UTF-8", hint="settle it by hand") from error


def settle(memory: Memory, one: Standoff, lines: Lines) -> Answer:
    """Decide what can be decided of one document; what cannot be read is left as it is."""
    try:
        return _settled(memory, one, lines)._replace(file=one.path)
    except (ThunderusError, ValueError) as error:
        return Answer(one.id, one.path, "unreadable", one.ours, None, None, left=(Left("", str(error)),))


def _settled(memory: Memory, one: Standoff, lines: Lines) -> Answer:
    found = _text_at(memory, one.path)
    answer = Answer(one.id, one.path, "merged", one.ours, found, found, note=one.note)
    if one.apart:
        return _apart(memory, answer, one)
    if found is None:
        return answer._replace(state="done", note="its file is gone")
    three = three_of(found, one.base, one.ours, one.theirs)
    if three is None:
        return _without_markers(memory, answer, one)
    merged = merge(three.base, three.ours, three.theirs, lines, three.labels)
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
        labels=three.labels,
        drops=_drops(memory, one, found),
    )


def _committed(memory: Memory, path: str) -> str | None:
    """The text that our side's newest commit has."""
    data = memory.git.head_bytes(path) if memory.git is not None else None
    return None if data is None else data.decode("utf-8", "replace")


def _without_markers(memory: Memory, answer: Answer, one: Standoff) -> Answer:
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


def _drops(memory: Memory, one: Standoff, found: str) -> tuple[tuple[str, str | None], ...]:
    """The other files that hold the document, where nobody has written anything else into them."""
    held = tuple([(path, _text_at(memory, path)) for path in one.drops])
    for path, text in held:
        if text is not None and text != found and text not in (one.ours, one.theirs):
            raise InvalidDocument(
                f"{path} holds this document too, with another text", hint="keep one of the two"
            )
    return held


def _apart(memory: Memory, answer: Answer, one: Standoff) -> Answer:
    """A document that shares its file with another one: it keeps the file as its own, or gets a new one."""
    mine = one.apart == "ours"
    text = one.ours if mine else one.theirs
    if answer.found is None or one.ours is None or one.theirs is None:
        return answer._replace(state="done", note="its file is gone")
    if not is_untouched(answer.found, one.base, one.ours, one.theirs):
        raise InvalidDocument(f"{one.note}, and somebody has begun to make them one")
    if one.moves:
        return answer._replace(
            path=_own_path(memory, one, text or ""), state="apart", before=None, found=None, text=text
        )
    return answer._replace(state="apart", before=text if mine else None, text=text)


def _own_path(memory: Memory, one: Standoff, text: str) -> str:
    """The path the log last knew for a document, else one that follows from its id; there is no file yet."""
    from thunderus_mem.model.composing import file_name
    from thunderus_mem.model.event import changes_of

    document = read_document(one.path, text.encode()).document
    folder = DOCUMENT_FOLDERS.get(document.kind if document else "", posixpath.dirname(one.path))
    logged = read(memory.log, memory.log_index().naming([one.id]))
    changes = [change for entry in logged for change in changes_of(entry.event)]
    known = [change.path for change in reversed(changes) if change.doc_id == one.id]
    names = [posixpath.basename(path) for path, _, _ in memory.index.files() if path.startswith(f"{folder}/")]
    kind = document.kind if document else ""
    derived = f"{folder}/{file_name(one.id, kind, [*names, posixpath.basename(one.path)])}"
    for path in (*known, derived):
        if memory.layout.kind_of(path) and not os.path.lexists(os.path.join(memory.root, path)):
            return path
    raise InvalidDocument(f"{one.note}, and the name {derived} is taken, too")
