"""Every document of the store as a value, read from its file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from thunderus_mem.model.archive import is_archived
from thunderus_mem.model.document import MAX_DOCUMENT, Document, read_document
from thunderus_mem.model.errors import NotFound, Refused
from thunderus_mem.projection.refresh import refuse_unlisted
from thunderus_mem.store.files import read_below

if TYPE_CHECKING:
    from thunderus_mem.memory import Memory


def document_at(memory: Memory, path: str) -> Document | None:
    """The document in the file at ``path`` (from the root), or ``None`` where there is none. Raises
    `NotWritable` when the system will not let us see: unknown is not absent."""
    try:
        data = read_below(memory.root, path, MAX_DOCUMENT)
    except (NotFound, Refused):
        return None
    return read_document(path, data).document


def documents(memory: Memory, *, archived: bool = False) -> list[Document]:
    """Every file in use that reads as a document, also those whose id another file claims; with ``archived``
    those in the archive instead. For who decides by all of them: raises `NotWritable` when the system will
    not let us read one, or look into one of their folders."""
    refuse_unlisted(memory.index)
    # A file without a hash was not read; it may be a document all the same.
    paths = [
        path
        for path, text_hash, doc_id in memory.index.files()
        if (doc_id or not text_hash) and is_archived(path) == archived
    ]
    return [document for path in paths if (document := document_at(memory, path)) is not None]
