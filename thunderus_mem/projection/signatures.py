"""What was computed of texts before, to find those alike: ``indexes/similar.bin``, by content.

A projection like the others: delete it at any time. It holds what the documents of the last planning needed
and nothing else. Whoever cannot write it computes again; of two that write at once one wins, which costs
time and nothing else.
"""

from __future__ import annotations

import struct
from contextlib import suppress
from typing import TYPE_CHECKING, Final
from zlib import crc32

from thunderus_mem.model.errors import ThunderusError
from thunderus_mem.store.files import read_file, replace_file

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

__all__ = ["RememberedSignatures"]

_LIMIT: Final = 256 << 20
_MAGIC: Final = b"thunderus-mem similar 1\n"
_RECORD: Final = struct.Struct("<32sI")
_SUM: Final = struct.Struct("<I")


class RememberedSignatures:
    """What is known of texts by the SHA-256 (hex) of each. ``measure`` names the rules it was computed by."""

    def __init__(self, path: str, measure: str) -> None:
        self._path = path
        self._head = _MAGIC + measure.encode() + b"\n"
        self._on_disk: frozenset[str] = frozenset()

    def read(self) -> dict[str, bytes]:
        """Everything that is kept; nothing when the file is missing, damaged or of other rules."""
        try:
            data = read_file(self._path, _LIMIT)
        except ThunderusError:
            return {}
        end = len(data) - _SUM.size
        if not data.startswith(self._head) or end < len(self._head):
            return {}
        if _SUM.unpack_from(data, end)[0] != crc32(memoryview(data)[:end]):
            return {}
        found = _records(data, len(self._head), end)
        self._on_disk = frozenset(found)
        return found

    def save(self, known: Mapping[str, bytes], needed: Collection[str]) -> None:
        """Keep of ``known`` what is ``needed``; writes nothing when that is what the file holds."""
        kept = sorted(key for key in set(needed) if key in known)
        if self._on_disk == frozenset(kept):
            return
        parts = [self._head]
        size = len(self._head)
        for key in kept:
            size += _RECORD.size + len(known[key])
            if size > _LIMIT - _SUM.size:
                break
            parts += [_RECORD.pack(bytes.fromhex(key), len(known[key])), known[key]]
        data = b"".join(parts)
        with suppress(ThunderusError):
            replace_file(self._path, data + _SUM.pack(crc32(data)), durable=False)


def _records(data: bytes, at: int, end: int) -> dict[str, bytes]:
    found = {}
    while at + _RECORD.size <= end:
        key, size = _RECORD.unpack_from(data, at)
        at += _RECORD.size
        if at + size > end:
            return {}
        found[key.hex()] = data[at : at + size]
        at += size
    return found if at == end else {}
