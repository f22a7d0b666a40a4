"""``manifest.json``: the inventory of documents, a projection. Same documents, same bytes.

The shape is a superset of the Thunderus manifest: its loader also asks for sizes, verification and ``stats``.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

from thunderus_mem.model.errors import ThunderusError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from thunderus_mem.model.diagnostic import Diagnostic

MANIFEST_VERSION = 1
_LIMIT: Final = 256 << 20


def manifest_bytes(entries: bytes, kinds: Sequence[tuple[str, int, int]], newest: str) -> bytes:
    """The manifest for the entries of all documents (JSON objects by id, with commas between them), the count
    and tokens of each kind, and the newest ``updated`` among them, which is its ``generated_at``."""
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
    listed = (b"[\n", entries, b"\n  ]") if entries else (b"[]",)
    return b"".join((b'{\n  "docs": ', *listed, b",\n", tail.encode()))


def write_manifest(path: str, data: bytes) -> str:
    """Replace the manifest as a whole; returns its new stamp, "" when the disk refused."""
    from thunderus_mem.projection.replacing import put

    try:
        put(path, data)
    except OSError:
        return ""
    return manifest_stamp(path)


def manifest_stamp(path: str) -> str:
    """What changes when somebody touches the manifest; "" when it is not there."""
    try:
        info = os.lstat(path)
    except OSError:
        return ""
    return f"{info.st_size} {info.st_mtime_ns} {info.st_ctime_ns} {info.st_ino}"


def check_manifest(path: str, relative: str, expected: bytes) -> list[Diagnostic]:
    """Compare the manifest on disk with the one there should be (``manifest --check``)."""
    from thunderus_mem.store.files import read_file

    try:
        found = read_file(path, _LIMIT)
    except ThunderusError:
        return [_finding(relative, 0, "There is no manifest.")]
    if found == expected:
        return []
    pairs = zip(expected.split(b"\n"), found.split(b"\n"), strict=False)
    line = 1 + next((at for at, (ours, theirs) in enumerate(pairs) if ours != theirs), 0)
    return [_finding(relative, line, "The manifest does not agree with the documents.")]


def _finding(path: str, line: int, message: str) -> Diagnostic:
    from thunderus_mem.model.diagnostic import Diagnostic, Severity

    return Diagnostic(
        "TM502",
        Severity.ERROR,
        path,
        line,
        0,
        message,
        expected="the inventory of the documents as they are",
        hint="Write it anew with: thunderus-mem manifest",
    )
