"""How often documents were read: counted in ``.thunderus/local/usage.jsonl``, only with ``usage.count``.

The file has one line for each read; a long one is replaced by one line for each document. Nothing is counted,
and no error raised, where the file cannot be written. A count may be off by one if two processes replace the
file at the same time.
"""

from __future__ import annotations

import json
import os
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

from thunderus_mem.document.timestamp import format_timestamp, utc_key
from thunderus_mem.errors import ThunderusError
from thunderus_mem.startup import NamedTuple
from thunderus_mem.store import disk
from thunderus_mem.store.files import read_file

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from thunderus_mem.memory.memory import Memory

_FILE: Final = "usage.jsonl"
_LONG: Final = 1 << 18
_LARGEST: Final = 64 << 20


class Usage(NamedTuple):
    """How often a document was read, and when last (RFC 3339)."""

    access_count: int = 0
    last_accessed_at: str = ""

    def and_then(self, later: Usage) -> Usage:
        """Both together."""
        last = max(self.last_accessed_at, later.last_accessed_at, key=utc_key)
        return Usage(self.access_count + later.access_count, last)


def count_reads(memory: Memory, ids: Iterable[str]) -> None:
    """Count one read of each document now; nothing unless ``usage.count`` is set."""
    if memory.config.usage_count:
        now = format_timestamp(memory.now())
        add_usage(memory, {id: Usage(1, now) for id in ids})


def add_usage(memory: Memory, usage: Mapping[str, Usage]) -> None:
    """Add to the counts, whatever the configuration; an import does so with the counts of its file."""
    path = os.path.join(memory.layout.local_dir, _FILE)
    with suppress(OSError, ThunderusError):
        disk.make_folders(memory.layout.local_dir, durable=False)
        if _append(path, usage) > _LONG:
            _shorten(path)


def _append(path: str, usage: Mapping[str, Usage]) -> int:
    """Add a line for each document; return the size of the file."""
    lines = (
        json.dumps({"id": id, "n": one.access_count, "at": one.last_accessed_at}) for id, one in usage.items()
    )
    data = "".join(f"{line}\n" for line in lines).encode()
    descriptor = disk.create(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    try:
        disk.write_all(descriptor, path, data)
        return os.fstat(descriptor).st_size
    finally:
        os.close(descriptor)


def _shorten(path: str) -> None:
    """Replace the file by one line for each document; readers also read the old file until it is removed."""
    old = f"{path}.{os.getpid()}.old"
    disk.rename(path, old)
    _append(path, _read([old]))
    disk.unlink(old)


def usage_of(memory: Memory) -> dict[str, Usage]:
    """The reads of each document by id, as counted in this working tree."""
    folder = memory.layout.local_dir
    names = [name for name in _names(folder) if name.startswith(_FILE)]
    return _read([os.path.join(folder, name) for name in sorted(names)])


def _names(folder: str) -> list[str]:
    with suppress(OSError):
        return os.listdir(folder)
    return []


def _read(paths: Iterable[str]) -> dict[str, Usage]:
    found: dict[str, Usage] = {}
    for path in paths:
        with suppress(ThunderusError):
            for line in read_file(path, _LARGEST).splitlines():
                read = _parsed(line)
                if read is not None:
                    id, usage = read
                    found[id] = found.get(id, Usage()).and_then(usage)
    return found


def _parsed(line: bytes) -> tuple[str, Usage] | None:
    """The id and reads of a line; ``None`` for a damaged one."""
    try:
        data: Any = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(data, dict):
        return None
    id, number, last = data.get("id"), data.get("n"), data.get("at")
    if not (isinstance(id, str) and isinstance(number, int) and isinstance(last, str)):
        return None
    return id, Usage(max(number, 0), last)
