"""Caches of verdicts and of text signatures.

Files in ``indexes/`` that can be deleted at any time: ``verdicts.json`` and ``similar.bin``. If one cannot be
written, or two processes write it at once, only time is lost.
"""

from __future__ import annotations

import struct
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final
from zlib import crc32

from thunderus_mem.errors import ThunderusError
from thunderus_mem.index.scan import is_racy
from thunderus_mem.store.files import read_file, replace_file

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from thunderus_mem.index.scan import Stamp

_MOST_VERDICTS: Final = 100_000
_MAGIC: Final = b"thunderus-mem similar 1\n"
_RECORD: Final = struct.Struct("<32sI")
_SUM: Final = struct.Struct("<I")


class _CacheFile:
    """A file of at most ``limit`` bytes; errors on reading or writing are ignored."""

    limit: int

    def __init__(self, path: str) -> None:
        self._path = path

    def _load(self) -> bytes:
        try:
            return read_file(self._path, self.limit)
        except ThunderusError:
            return b""

    def _store(self, data: bytes) -> None:
        with suppress(ThunderusError):
            replace_file(self._path, data, durable=False)


class VerdictCache(_CacheFile):
    """A cache of verdicts by anchor: those on disk, and those learned in this command.

    A verdict is stored with the stamps of the files it depends on and used only while they are unchanged; one
    that depends on the whole tree is not stored. ``measure`` is the version of the rules.
    """

    limit = 64 << 20

    def __init__(self, path: str, measure: str) -> None:
        super().__init__(path)
        self._measure = measure
        self._known: dict[str, Any] | None = None
        self._learned: dict[str, Any] = {}
        self._now = time.time_ns()

    def _entries(self) -> dict[str, Any]:
        if self._known is None:
            self._known = self._read()
        return self._known

    def _read(self) -> dict[str, Any]:
        import json

        try:
            found = json.loads(self._load())
        except (ValueError, RecursionError):
            return {}
        if not isinstance(found, dict) or found.get("measure") != self._measure:
            return {}
        entries = found.get("verdicts")
        return entries if isinstance(entries, dict) else {}

    def recall(self, key: str, stamp_of: Callable[[str], Stamp | None]) -> Sequence[Any] | None:
        """Return the values of a key if all files they depend on still have their stamps, else ``None``."""
        kept = self._entries().get(key)
        try:
            files, values = kept  # type: ignore[misc]
            for path, *stamp in files:
                now = stamp_of(path)
                if list(now or ()) != stamp:
                    return None
        except (TypeError, ValueError):
            return None
        return values if isinstance(values, list) else None

    def learn(
        self, key: str, files: Sequence[str], stamps: Sequence[Stamp | None], values: list[Any]
    ) -> None:
        """Store values that depend on these files; the stamps were taken before reading, ``None`` if missing.

        If a file changed just now, its stamp may not show the next change: nothing is stored.
        """
        for stamp in stamps:
            if stamp is not None and is_racy(stamp[1], stamp[2], self._now):
                return
        self._learned[key] = [
            [[path, *(stamp or ())] for path, stamp in zip(files, stamps, strict=True)],
            values,
        ]

    def save(self) -> None:
        """Write learned values to the file, if there are any."""
        if not self._learned:
            return
        import json

        entries = {**self._read(), **self._learned}
        while len(entries) > _MOST_VERDICTS:
            del entries[next(iter(entries))]
        text = json.dumps({"measure": self._measure, "verdicts": entries}, separators=(",", ":"))
        self._learned = {}
        self._store(text.encode("utf-8", "surrogatepass"))


class SignatureCache(_CacheFile):
    """A cache of text signatures by SHA-256 (hex), for the similarity search.

    It contains only what the last plan needed. ``measure`` is the version of the rules.
    """

    limit = 256 << 20

    def __init__(self, path: str, measure: str) -> None:
        super().__init__(path)
        self._head = _MAGIC + measure.encode() + b"\n"
        self._on_disk: frozenset[str] = frozenset()

    def read(self) -> dict[str, bytes]:
        """Return all entries; none if the file is missing, damaged or of another version."""
        data = self._load()
        end = len(data) - _SUM.size
        if not data.startswith(self._head) or end < len(self._head):
            return {}
        if _SUM.unpack_from(data, end)[0] != crc32(memoryview(data)[:end]):
            return {}
        found = _records(data, len(self._head), end)
        self._on_disk = frozenset(found)
        return found

    def save(self, known: Mapping[str, bytes], needed: Collection[str]) -> None:
        """Write the ``needed`` entries of ``known``, unless the file already has exactly these."""
        kept = sorted(key for key in set(needed) if key in known)
        if self._on_disk == frozenset(kept):
            return
        parts = [self._head]
        size = len(self._head)
        for key in kept:
            size += _RECORD.size + len(known[key])
            if size > self.limit - _SUM.size:
                break
            parts += [_RECORD.pack(bytes.fromhex(key), len(known[key])), known[key]]
        data = b"".join(parts)
        self._store(data + _SUM.pack(crc32(data)))


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
