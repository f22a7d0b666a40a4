"""Puts small files of ours into the folder of projections, whatever stands in their place."""

from __future__ import annotations

import os
import stat
import time
from contextlib import suppress
from typing import Final

from thunderus_mem.store.unlinked import folder_of, open_file

_NEW: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_CLOEXEC", 0)


def put(path: str, data: bytes) -> None:
    """Put ``data`` at ``path`` in one step; a folder there is moved aside. Raises ``OSError``."""
    temporary = new_name(path)
    try:
        descriptor = open_file(temporary, _NEW, 0o664)
        with open(descriptor, "wb") as handle:
            handle.write(data)
        if _is_folder(path):
            clear_away(path)
        with folder_of(temporary) as (new, here), folder_of(path) as (name, there):
            os.replace(new, name, src_dir_fd=here, dst_dir_fd=there)
    except OSError:
        with suppress(OSError), folder_of(temporary) as (new, here):
            os.unlink(new, dir_fd=here)
        raise


def new_name(path: str) -> str:
    """A name beside ``path`` that nobody can know beforehand; `leftovers` finds it when it is left."""
    return f"{path}.{os.urandom(6).hex()}.tmp"


def clear_away(path: str) -> None:
    """Take away what has this name: a folder by renaming it, anything else for good."""
    if _is_folder(path):
        with folder_of(path) as (name, at):
            os.rename(name, f"{name}.set-aside-{time.time_ns()}", src_dir_fd=at, dst_dir_fd=at)
    else:
        with suppress(FileNotFoundError), folder_of(path) as (name, at):
            os.unlink(name, dir_fd=at)


def _is_folder(path: str) -> bool:
    try:
        return stat.S_ISDIR(os.lstat(path).st_mode)
    except OSError:
        return False
