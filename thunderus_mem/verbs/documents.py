"""Every document of the store as a value, read from its file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from thunderus_mem.model.archive import is_archived
from thunderus_mem.model.document import MAX_DOCUMENT, Document, read_document
from thunderus_mem.model.errors import ThunderusError
from thunderus_mem.store.files import read_file
from thunderus_mem.store.paths import inside

if TYPE_CHECKING:
    from thunderus_mem.memory import Memory


def document_at(memory: Memory, path: str) -> Document | None:
    """The document in the file at ``path`` (from the root), or ``None``."""
    try:
        data = read_file(inside(memory.root, path), MAX_DOCUMENT)
    except ThunderusError:
        return None
    return read_document(path, data).document


def documents(memory: Memory, *, archived: bool = False) -> list[Document]:
    """Every file in use that reads as a document, also those whose id another file claims; with ``archived``
    those in the archive instead."""
    paths = [path for path, _, doc_id in memory.index.files() if doc_id and is_archived(path) == archived]
    return [document for path in paths if (document := document_at(memory, path)) is not None]
