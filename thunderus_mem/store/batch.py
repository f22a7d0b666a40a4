"""Several lines appended to a log in one write: a disk that loses power may keep the last and lose the first.

Of one line that is seen at the end of the log. Of several it is not: so their place, size and hash are staged
first, and whoever comes next cuts off what is not all of them. Nobody was told that they are there by then.
"""

from __future__ import annotations

import hashlib
import os
from typing import TYPE_CHECKING, NamedTuple

from thunderus_mem.store import disk
from thunderus_mem.store.disk import explain
from thunderus_mem.store.failpoints import hit
from thunderus_mem.store.tail import TailRepair, at_log, quarantine

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Batch", "batch_at", "mend_batch"]


class Batch(NamedTuple):
    """Lines about to be appended: where they begin, their bytes together, and the hash of these."""

    offset: int
    size: int
    hash: str


def batch_at(path: str, lines: Sequence[bytes]) -> Batch:
    """The batch that lines are when they are appended to a log as it is now."""
    try:
        offset = os.lstat(path).st_size
    except FileNotFoundError:
        offset = 0
    except OSError as error:
        raise explain(error, path) from error
    data = b"".join(lines)
    return Batch(offset, len(data), hashlib.sha256(data).hexdigest())


def mend_batch(path: str, batch: Batch, quarantine_dir: str) -> TailRepair | None:
    """See that a log has all lines of a batch or none, under the lock; returns what was set aside.

    A log to which others have appended since stays as it is. Raises ``NotWritable`` when the disk refuses.
    """
    return at_log(path, lambda descriptor: _mend_open(descriptor, path, batch, quarantine_dir))


def _mend_open(descriptor: int, path: str, batch: Batch, quarantine_dir: str) -> TailRepair | None:
    size = os.fstat(descriptor).st_size
    if not batch.offset < size <= batch.offset + batch.size:
        return None
    found = os.pread(descriptor, batch.size, batch.offset)
    if hashlib.sha256(found).hexdigest() == batch.hash:
        disk.sync_file(descriptor, path)
        return None
    kept = quarantine(quarantine_dir, f"{os.path.basename(os.path.dirname(path))}-batch.torn", found)
    hit("batch.set-aside")
    disk.truncate(descriptor, path, batch.offset)
    disk.sync_file(descriptor, path)
    hit("batch.truncated")
    return TailRepair(path, "set-aside", batch.offset, len(found), kept)
