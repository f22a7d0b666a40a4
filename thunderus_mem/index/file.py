"""Opens the index as if an enemy had made it: nothing of it is believed, or parsed, before it is proved ours.

A seal beside the file remembers its stamp after our last write. A file with another stamp was touched by
somebody else, or by a process that died: no row of it is believed. (SQLite's own checks find no flipped
letter in a table.) Busy is not damaged: whoever of us writes keeps everybody out until the seal is on.
"""

from __future__ import annotations

import os
import re
import stat
import time
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Final, NamedTuple

from thunderus_mem.index.database import (
    APPLICATION_ID,
    VERSION,
    Damaged,
    Moved,
    Newer,
    busy,
    clear_away,
    connect,
    inode_of,
    is_shadow_table,
    schema_statements,
    write_seal,
)
from thunderus_mem.store.disk import folder_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from thunderus_mem.index.database import Database

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


# Puts a new index in the place of the old one, in one step, with everybody else kept out meanwhile.

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


# What a killed process left beside the index: half a new index, half a manifest. Found, and swept away.

QUIET_SECONDS: Final = 60.0
"""A file somebody still writes has changed since."""

_NAMES: Final = re.compile(
    r"(memory\.db(\.seal)?|manifest\.json|verdicts\.json|similar\.bin)\.[0-9a-f]{12}\.tmp(-journal)?",
    re.ASCII,
)
_FLAGS: Final = (
    os.O_RDWR | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
)


class Leftover(NamedTuple):
    """A temporary file in the folder of the index. ``in_use``: written lately, or held by a process."""

    path: str
    size: int
    in_use: bool


def leftovers(folder: str) -> list[Leftover]:
    """The temporary files in a folder of projections, by name; none when it cannot be listed."""
    found = []
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                if _NAMES.fullmatch(entry.name):
                    info = entry.stat(follow_symlinks=False)
                    lately = info.st_mtime > time.time() - QUIET_SECONDS
                    found.append(Leftover(entry.path, info.st_size, lately or _is_held(entry.path)))
    except OSError:
        return []
    return sorted(found)


def sweep(folder: str) -> None:
    """Remove those that nobody writes any more."""
    for leftover in leftovers(folder):
        if not leftover.in_use:
            try:
                os.unlink(leftover.path)
            except OSError:
                continue


def _is_held(path: str) -> bool:
    """Whether another process holds SQLite's lock on the file; it dies with that process."""
    try:
        import fcntl

        descriptor = os.open(path, _FLAGS)
    except (ImportError, OSError):
        return False
    try:
        fcntl.lockf(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(descriptor)
    return False


# Proves an index against a new one of the same files: what both say, row by row, without stamps and ids.

_EVENT: Final = "SELECT path, line, id, kind, place, day FROM events JOIN shards USING (shard)"
_NAMED: Final = (
    "SELECT shards.path, line, doc_id, event_docs.path, after_hash FROM event_docs JOIN shards USING (shard)"
)
DOCUMENT_TABLES: Final = {
    "generation": "SELECT value FROM meta WHERE key = 'generation'",
    "files": "SELECT path, hash, doc_id, problems_json FROM files ORDER BY path",
    "docs": "SELECT * FROM docs ORDER BY doc_id",
    "manifest": "SELECT * FROM manifest ORDER BY doc_id",
    "words": "SELECT * FROM docs_fts ORDER BY doc_id",
    "passages": (
        "SELECT doc_id, p.id % 4096, anchor, line, p.title, heading, body, parts FROM passages p "
        "JOIN docs ON docs.rowid = p.id / 4096 ORDER BY 1, 2"
    ),
    "names": "SELECT * FROM names ORDER BY 1, 2",
    "edges": "SELECT * FROM doc_edges ORDER BY 1, 2, 3",
    "anchors": "SELECT * FROM anchors ORDER BY 1, 2",
    "orphans": "SELECT id FROM passages WHERE id / 4096 NOT IN (SELECT rowid FROM docs)",
}
"""What is known of documents, by a name for people; each a query whose rows follow from the files alone."""

LOG_TABLES: Final = {
    "shards": "SELECT path, damages FROM shards ORDER BY path",
    "events": f"{_EVENT} ORDER BY path, line",
    "changes": f"{_NAMED} ORDER BY 1, 2, 3, 4, 5",
}
"""The same for the log."""


def first_difference(one: Database, other: Database) -> str:
    """The name of the first thing that two indexes say differently; "" when they say the same."""
    for name, sql in (DOCUMENT_TABLES | LOG_TABLES).items():
        if _digest(one, sql) != _digest(other, sql):
            return name
    return ""


def _digest(database: Database, sql: str) -> bytes:
    from hashlib import sha256

    total = sha256()
    for row in database.each(sql):
        total.update(repr(row).encode("utf-8", "surrogatepass"))
    return total.digest()
