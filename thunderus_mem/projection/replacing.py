"""Puts small files of ours into the folder of projections, whatever stands in their place."""

from __future__ import annotations

import os
import stat
import time
from contextlib import suppress
from typing import Final

_NEW: Final = (
    os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
)


def put(path: str, data: bytes) -> None:
    """Put ``data`` at ``path`` in one step; a folder there is moved aside. Raises ``OSError``."""
    temporary = new_name(path)
    try:
        descriptor = os.open(temporary, _NEW, 0o664)
        with open(descriptor, "wb") as handle:
            handle.write(data)
        if _is_folder(path):
            clear_away(path)
        os.replace(temporary, path)
    except OSError:
        with suppress(OSError):
            os.unlink(temporary)
        raise


def new_name(path: str) -> str:
    """A name beside ``path`` that nobody can know beforehand; `leftovers` finds it when it is left."""
    return f"{path}.{os.urandom(6).hex()}.tmp"


def clear_away(path: str) -> None:
    """Take away what has this name: a folder by renaming it, anything else for good."""
    if _is_folder(path):
        os.rename(path, f"{path}.set-aside-{time.time_ns()}")
    else:
        with suppress(FileNotFoundError):
            os.unlink(path)


def _is_folder(path: str) -> bool:
    try:
        return stat.S_ISDIR(os.lstat(path).st_mode)
    except OSError:
        return False
