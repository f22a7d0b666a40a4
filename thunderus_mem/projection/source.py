"""Reads one document file as the projections do: a regular file, never followed, no more than the limit."""

from __future__ import annotations

import os
import stat
from typing import Final

from thunderus_mem.projection.scan import FileStamp
from thunderus_mem.store.unlinked import Folders, open_file

_LIMIT: Final = 1024 * 1024 + 1
_OPEN_FLAGS: Final = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)


def read_bytes(root: str, stamp: FileStamp, folders: Folders | None = None) -> tuple[bytes, FileStamp]:
    """Read a regular file, no more than the limit and a byte; the stamp is that of the open file.

    ``folders`` opens it, when many are read.
    """
    open_it = folders.open_file if folders is not None else open_file
    descriptor = open_it(os.path.join(root, stamp.path), _OPEN_FLAGS)
    try:
        info = os.fstat(descriptor)
        if not stat.S_ISREG(info.st_mode):
            raise OSError(0, "not a regular file")
        wanted = min(info.st_size + 1, _LIMIT)
        data = os.read(descriptor, wanted)
        while len(data) < wanted and (more := os.read(descriptor, wanted - len(data))):
            data += more
    finally:
        os.close(descriptor)
    inode = info.st_ino & 0x7FFFFFFFFFFFFFFF
    return data, FileStamp(stamp.path, info.st_size, info.st_mtime_ns, info.st_ctime_ns, inode)
