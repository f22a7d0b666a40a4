"""Opens the index as if an enemy had made it: nothing of it is believed, or parsed, before it is proved ours.

A seal beside the file remembers its stamp after our last write. A file with another stamp was touched by
somebody else, or by a process that died: no row of it is believed. (SQLite's own checks find no flipped
letter in a table.) Busy is not damaged: whoever of us writes keeps everybody out until the seal is on.
"""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING, Final

from thunderus_mem.projection.damage import Damaged, Moved, Newer, busy
from thunderus_mem.projection.database import connect
from thunderus_mem.projection.statements import APPLICATION_ID, VERSION, is_shadow_table, schema_statements

if TYPE_CHECKING:
    from thunderus_mem.projection.database import Database

SIDECARS: Final = ("-journal", "-wal", "-shm")
"""Endings of files that SQLite reads beside a database. We never write one. A journal can name a file that
is deleted once it is played back (fileformat2, section 3), and rows of a ``-wal`` hide the file's own."""

_TRIES: Final = 20


def open_existing(path: str) -> Database:
    """Open an index that is there. Raises ``Damaged`` (or ``Newer``) when it is not whole and ours, ``Busy``
    when a writer does not let go, ``FileNotFoundError`` when there is none."""
    for _ in range(_TRIES):
        try:
            return _opened(path)
        except Moved:
            continue  # replaced while we looked
    raise busy(path)


def _opened(path: str) -> Database:
    if not stat.S_ISREG(os.lstat(path).st_mode):
        raise Damaged("it is not a regular file")
    if any(os.path.lexists(path + suffix) for suffix in SIDECARS):
        raise Damaged("the files beside it are not ours")
    database = connect(path)
    try:
        with database.snapshot():
            check_maker(database)
            database.prove()
            _check_schema(database)
        database.run("PRAGMA journal_mode = MEMORY")
    except BaseException:
        database.close()
        raise
    return database


def check_maker(database: Database) -> None:
    """Look at the marks in the header, which SQLite reads without the schema. Raises ``Damaged``."""
    application, version = (
        (database.row(f"PRAGMA {name}") or (0,))[0] for name in ("application_id", "user_version")
    )
    if application != APPLICATION_ID:
        raise Damaged("it is not an index of ours")
    if version > VERSION:
        raise Newer("a newer version of the program wrote it")
    if version != VERSION:
        raise Damaged("an older version of the program wrote it")


def _check_schema(database: Database) -> None:
    """See that the file has exactly the statements of ``memory_store.sql``: no view, no trigger."""
    rows = database.rows("SELECT sql, name FROM sqlite_master WHERE sql IS NOT NULL")
    if {sql for sql, name in rows if not is_shadow_table(name, sql)} != schema_statements():
        raise Damaged("it has another schema")
