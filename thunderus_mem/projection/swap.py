"""Puts a new index in the place of the old one, in one step, with everybody else kept out meanwhile."""

from __future__ import annotations

import os
import stat
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING

from thunderus_mem.projection.damage import Damaged, Moved, Newer
from thunderus_mem.projection.database import connect
from thunderus_mem.projection.opening import SIDECARS, check_maker
from thunderus_mem.projection.replacing import clear_away
from thunderus_mem.projection.seal import inode_of, write_seal
from thunderus_mem.store.unlinked import folder_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from thunderus_mem.projection.database import Database

_ORDINARY_WORDS = 1048576


def publish(database: Database, path: str, *, instead_of: int | None = None) -> None:
    """Check a new index file, close it, and put it in the place of ``path`` for everyone.

    ``instead_of`` is the inode of the file it is to replace (0: none), ``None`` for whatever is there. Raises
    ``Damaged`` when the disk did not keep what was written, ``Moved`` when another file is there by now,
    ``Newer`` when a newer program wrote that, ``Busy`` when a writer of it does not let go.
    """
    temporary = database.path
    database.run("PRAGMA query_only = OFF")
    database.tune_words(_ORDINARY_WORDS)
    # The words went in a moment ago from this very process: what can go wrong now is the disk.
    problem = database.check(words=False)
    database.close()
    if problem:
        raise Damaged(problem)
    _sync(temporary)
    # Whoever opens the new file waits until its seal is on.
    with _alone(temporary):
        with _writers_kept_out(path):
            if instead_of is not None and inode_of(path) != instead_of:
                raise Moved("another index is in its place")
            with folder_of(temporary) as (new, here), folder_of(path) as (name, there):
                os.replace(new, name, src_dir_fd=here, dst_dir_fd=there)
            write_seal(path)
        # The old file may have had SQLite make some.
        _clear_sidecars(path)


@contextmanager
def _alone(path: str) -> Iterator[Database]:
    """Hold a database file so that nobody else reads or writes it."""
    if not stat.S_ISREG(os.lstat(path).st_mode):
        raise Damaged("it is not a regular file")
    database = connect(path)
    try:
        database.run("PRAGMA query_only = OFF")
        database.run("BEGIN EXCLUSIVE")
        yield database
    finally:
        database.close()


@contextmanager
def _writers_kept_out(path: str) -> Iterator[None]:
    """Hold the file that is replaced: one of us may be about to seal it, and would seal the new one."""
    _clear_sidecars(path)
    with ExitStack() as held:
        try:
            old = held.enter_context(_alone(path))
        except FileNotFoundError:
            pass
        except Damaged:
            clear_away(path)
        else:
            _leave_newer(old)
        yield


def _clear_sidecars(path: str) -> None:
    """Nothing that SQLite would read beside the index is ours."""
    for suffix in SIDECARS:
        clear_away(path + suffix)


def _leave_newer(old: Database) -> None:
    try:
        check_maker(old)
    except Newer:
        raise
    except Damaged:
        return


def _sync(path: str) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
