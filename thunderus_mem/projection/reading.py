"""Reads a file that may have changed and works out its rows, without asking the index."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, NamedTuple

from thunderus_mem.model.document import content_hash, read_document
from thunderus_mem.projection.entry import Entry, entry_of
from thunderus_mem.projection.index import encode_problems
from thunderus_mem.projection.refused import failed, irregular, openable
from thunderus_mem.projection.source import read_bytes

if TYPE_CHECKING:
    from thunderus_mem.model.diagnostic import Diagnostic
    from thunderus_mem.projection.scan import FileStamp
    from thunderus_mem.store.unlinked import Folders

__all__ = ["FileRow", "KnownFile", "ReadFile", "entry_in", "read_file"]


class KnownFile(NamedTuple):
    """What the index holds of a file before it is read."""

    size: int
    hash: str
    doc_id: str
    problems_json: str


class FileRow(NamedTuple):
    """The row of a file in ``files``."""

    path: str
    size: int
    mtime_ns: int
    ctime_ns: int
    inode: int
    hash: str
    doc_id: str
    problems_json: str


class ReadFile(NamedTuple):
    """What was read: the new ``row`` of the file (``None`` leaves the old one), what the index keeps of the
    document in it, the ids whose document may be another now, and whether the file has to be read again next
    time, whatever its stamp says."""

    row: FileRow | None
    entry: Entry | None = None
    touched: tuple[str, ...] = ()
    unsettled: bool = False


def read_file(
    root: str, stamp: FileStamp, before: KnownFile | None, folders: Folders | None = None
) -> ReadFile:
    """Read the file of a stamp; ``before`` is what the index knows of it, ``folders`` opens it."""
    path = stamp.path
    if not (stamp.regular and openable(path)):
        return _not_a_document(stamp, before, (irregular(path),))
    moment = time.time_ns()
    try:
        data, stamp = read_bytes(root, stamp, folders)
    except FileNotFoundError:  # it went after the walk
        return ReadFile(None, unsettled=True)
    except OSError as error:
        return _unreadable(stamp, before, error)
    text_hash = content_hash(data)
    racy = stamp.racy_at(moment)
    if before and before.hash == text_hash and before.size == stamp.size and b"\r" not in data:
        row = FileRow(path, *stamp.values, text_hash, before.doc_id, before.problems_json)
        return ReadFile(row, unsettled=racy)
    reading = read_document(path, data)
    document = reading.document
    doc_id = document.id if document else ""
    return ReadFile(
        FileRow(path, *stamp.values, text_hash, doc_id, encode_problems(reading.problems)),
        entry_of(document, text_hash, stamp.size) if document else None,
        (doc_id, before.doc_id if before else ""),
        racy,
    )


def _unreadable(stamp: FileStamp, before: KnownFile | None, error: OSError) -> ReadFile:
    """A read that failed proves nothing about the text: what was known stays, and it is tried again."""
    if before and before.doc_id:
        return ReadFile(None, unsettled=True)
    return _not_a_document(stamp, before, (failed(stamp.path, error),))._replace(unsettled=True)


def _not_a_document(stamp: FileStamp, before: KnownFile | None, problems: tuple[Diagnostic, ...]) -> ReadFile:
    row = FileRow(stamp.path, *stamp.values, "", "", encode_problems(problems))
    return ReadFile(row, touched=(before.doc_id,) if before else ())


def entry_in(root: str, stamp: FileStamp, doc_id: str) -> Entry | None:
    """What the index keeps of the document with this id in a file; ``None`` when it holds another by now.

    Raises ``OSError`` when it cannot be read.
    """
    data, stamp = read_bytes(root, stamp)
    document = read_document(stamp.path, data).document
    if document is None or document.id != doc_id:
        return None
    return entry_of(document, content_hash(data), stamp.size)
