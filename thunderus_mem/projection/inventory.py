"""The manifest as the files alone say it should be: what the one on disk is judged by."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from thunderus_mem.model.archive import is_archived
from thunderus_mem.model.document import read_document
from thunderus_mem.model.timestamp import utc_key
from thunderus_mem.projection.entry import approximate_tokens, manifest_entry
from thunderus_mem.projection.manifest import manifest_bytes
from thunderus_mem.projection.scan import FileStamp, scan
from thunderus_mem.projection.source import read_bytes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from thunderus_mem.model.document import Document


class Inventory(NamedTuple):
    """What the documents are, by their files alone: the manifest there should be, and its sums."""

    manifest: bytes
    documents: int
    tokens: int


def take_inventory(root: str, folders: tuple[str, ...]) -> Inventory:
    """Read every document and make the manifest of them; no index is asked and nothing is written."""
    entries: dict[str, str] = {}
    kinds: dict[str, tuple[int, int]] = {}
    newest = ("", "")
    for document, size in _documents(root, folders):
        if document.id in entries:
            continue
        tokens = approximate_tokens(document)
        entries[document.id] = manifest_entry(document, size, tokens)
        count, sum_of_tokens = kinds.get(document.kind, (0, 0))
        kinds[document.kind] = (count + 1, sum_of_tokens + tokens)
        newest = max(newest, (utc_key(document.updated), document.updated))
    listed = [(kind, count, tokens) for kind, (count, tokens) in kinds.items()]
    joined = ",\n".join(entries[doc_id] for doc_id in sorted(entries)).encode()
    total = sum(tokens for _, _, tokens in listed)
    return Inventory(manifest_bytes(joined, listed, newest[1]), len(entries), total)


def _documents(root: str, folders: tuple[str, ...]) -> Iterator[tuple[Document, int]]:
    """Documents in use that can be read and the sizes of their files, by path."""
    seen = scan(root, folders)
    for path in sorted(seen.names):
        if path in seen.special or is_archived(path):
            continue
        try:
            data, stamp = read_bytes(root, FileStamp(path, 0, 0, 0, 0))
        except OSError:
            continue
        document = read_document(path, data).document
        if document is not None:
            yield document, stamp.size
