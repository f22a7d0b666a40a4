"""``manifest.json``: the list of all documents. The same documents give the same bytes.

The format is a superset of the minimal manifest: Thunderus's loader also requires sizes, verification and
``stats``, which are optional in the schema.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

from thunderus_mem.document.paths import is_archived
from thunderus_mem.errors import ThunderusError
from thunderus_mem.index.database import put
from thunderus_mem.index.scan import read_bytes, scan
from thunderus_mem.startup import NamedTuple
from thunderus_mem.store.layout import FOLDERS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from thunderus_mem.diagnostic import Diagnostic
    from thunderus_mem.document.document import Document
    from thunderus_mem.index.writer import Tell

MANIFEST_VERSION = 1
MANIFEST_LIMIT: Final = 256 << 20


def manifest_pieces(
    entries: Iterable[bytes], kinds: Sequence[tuple[str, int, int]], newest: str
) -> Iterator[bytes]:
    """Yield the manifest for the entries of all documents (JSON objects by id, some joined by commas), the
    count and tokens of each kind, and the newest ``updated``, which becomes ``generated_at``."""
    from json.encoder import encode_basestring as text

    by_kind = ", ".join(f"{text(kind)}: {count}" for kind, count, _ in sorted(kinds))
    count, tokens = sum(kind[1] for kind in kinds), sum(kind[2] for kind in kinds)
    tail = (
        f'  "generated_at": {text(newest or "1970-01-01T00:00:00Z")},\n'
        f'  "stats": {{"by_kind": {{{by_kind}}}, "total_docs": {count}, '
        f'"total_tokens_approx": {tokens}}},\n'
        f'  "version": {MANIFEST_VERSION}\n'
        "}\n"
    )
    yield b'{\n  "docs": ['
    between = b"\n"
    for some in entries:
        yield between
        yield some
        between = b",\n"
    yield (b"\n  ],\n" if count else b"],\n") + tail.encode()


def write_manifest(path: str, data: Iterable[bytes]) -> str:
    """Replace the manifest; return its new stamp, "" if it could not be written."""
    try:
        put(path, data)
    except OSError:
        return ""
    return manifest_stamp(path)


def manifest_stamp(path: str) -> str:
    """Return the stamp of the manifest, "" if it is missing."""
    try:
        info = os.lstat(path)
    except OSError:
        return ""
    return f"{info.st_size} {info.st_mtime_ns} {info.st_ctime_ns} {info.st_ino}"


def check_manifest(path: str, relative: str, expected: bytes) -> list[Diagnostic]:
    """Compare the manifest on disk with the expected one (``index manifest --check``)."""
    from thunderus_mem.store.files import read_file

    try:
        found = read_file(path, MANIFEST_LIMIT)
    except ThunderusError:
        return [_finding(relative, 0, "Missing manifest")]
    if found == expected:
        return []
    pairs = zip(expected.split(b"\n"), found.split(b"\n"), strict=False)
    line = 1 + next((at for at, (ours, theirs) in enumerate(pairs) if ours != theirs), 0)
    return [_finding(relative, line, "The manifest does not match the documents")]


def _finding(
    path: str,
    line: int,
    message: str,
    expected: str = "the current documents",
    hint: str = "Run `thunderus-mem index manifest`",
) -> Diagnostic:
    from thunderus_mem.diagnostic import Diagnostic, Severity

    return Diagnostic("TM502", Severity.ERROR, path, line, 0, message, expected=expected, hint=hint)


def _not_listed(problem: Diagnostic) -> Diagnostic:
    return problem._replace(rule="TM502", message=f"Not in the manifest: {problem.message}", edits=())


class Inventory(NamedTuple):
    """The documents by their files alone: the expected manifest and its totals, and a finding for each file
    that is not in it."""

    manifest: bytes
    documents: int
    tokens: int
    left_out: tuple[Diagnostic, ...]


def take_inventory(root: str, tell: Tell) -> Inventory:
    """Read every document and compute the manifest, without the index; writes nothing."""
    from thunderus_mem.document.timestamp import utc_key
    from thunderus_mem.document.unicode import token_count
    from thunderus_mem.index.writer import manifest_entry

    paths: dict[str, str] = {}
    entries: dict[str, str] = {}
    kinds: dict[str, tuple[int, int]] = {}
    newest = ("", "")
    left_out: list[Diagnostic] = []
    for document, size in _documents(root, left_out, tell):
        if document.id in entries:
            message = f"{paths[document.id]} has the same id `{document.id}`"
            left_out.append(_finding(document.path, 0, message, "a unique id", "Change one of the ids"))
            continue
        tokens = token_count(document.text)
        paths[document.id] = document.path
        entries[document.id] = manifest_entry(document, size, tokens)
        count, sum_of_tokens = kinds.get(document.kind, (0, 0))
        kinds[document.kind] = (count + 1, sum_of_tokens + tokens)
        newest = max(newest, (utc_key(document.updated), document.updated))
    listed = [(kind, count, tokens) for kind, (count, tokens) in kinds.items()]
    listing = (entries[doc_id].encode() for doc_id in sorted(entries))
    total = sum(tokens for _, _, tokens in listed)
    return Inventory(
        b"".join(manifest_pieces(listing, listed, newest[1])),
        len(entries),
        total,
        tuple(map(_not_listed, left_out)),
    )


def _documents(root: str, left_out: list[Diagnostic], tell: Tell) -> Iterator[tuple[Document, int]]:
    """Yield readable active documents and their file sizes, by path; add a finding for each other file."""
    from thunderus_mem.document.document import read_document
    from thunderus_mem.index.unreadable import failed, irregular, unlisted_folder

    seen = scan(root, FOLDERS)
    left_out += [unlisted_folder(folder) for folder in seen.unlisted]
    files = sorted(seen.files())
    for done, file in enumerate(files):
        path = file.path
        tell("Reading documents:", done, len(files))
        if is_archived(path):
            continue
        if not file.regular:
            left_out.append(irregular(path))
            continue
        try:
            data, stamp = read_bytes(root, file)
        except OSError as error:
            left_out.append(failed(path, error))
            continue
        reading = read_document(path, data)
        if reading.document is not None:
            yield reading.document, stamp.size
        else:
            left_out.append(reading.problems[0])
