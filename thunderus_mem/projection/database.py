"""The only door to sqlite3: opens the index as if an enemy had made it, proves it whole, swaps in a new one.

A seal beside the file remembers its stamp after our last write. A file with another stamp was touched by
somebody
else, or by a process that died: no row of it is believed. (SQLite's own checks find no flipped letter in a
table.)
Busy is not damaged.
"""

from __future__ import annotations

import os
import sqlite3
import sys
import time
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, Final

from thunderus_mem.model.errors import Busy, Degraded, NotWritable
from thunderus_mem.projection.seal import sealed, write_seal

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

APPLICATION_ID: Final = 0x54484D45
VERSION: Final = 5
"""Raised when the meaning of a column changes: an older index is rebuilt, a newer one is left alone."""

BUSY_SECONDS: Final = 10.0
_BUILD_CACHE_KIB: Final = 64 * 1024
_SEAL_POLLS, _SEAL_PAUSE = 20, 0.01
_SCHEMA_FILE = os.path.join(
    os.path.dirname(os.path.dirname(__file__)), "model", "schemas", "memory_store.sql"
)
_FTS_TABLES = ("docs_fts", "passages_fts")
_BUSY_CODES = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
_PEEK = (
    os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
)
_JOURNAL_MAGIC = bytes.fromhex("d9d505f920a163d7")
_SIDECARS = ("-journal", "-wal", "-shm")

Row = tuple[Any, ...]


class Damaged(Degraded):
    """The index file cannot be believed; the message says why. Never leaves the projection: it is rebuilt."""


class Newer(Damaged):
    """A later version of the program wrote the index: it is not ours to replace."""


def schema_sql() -> str:
    """The text of ``memory_store.sql``."""
    with open(_SCHEMA_FILE, encoding="utf-8") as handle:
        return handle.read()


class Database:
    """One open connection. Reads by default; writes only inside ``transaction``."""

    def __init__(self, connection: sqlite3.Connection, path: str, *, published: bool) -> None:
        self._connection = connection
        self._published = published
        self.path = path

    @property
    def in_memory(self) -> bool:
        """Whether there is no file behind it."""
        return not self.path

    def rows(self, sql: str, values: Sequence[Any] = ()) -> list[Row]:
        """All rows of a query. Raises ``Damaged`` or ``Busy``."""
        with translated(self.path):
            return self._connection.execute(sql, values).fetchall()

    def row(self, sql: str, values: Sequence[Any] = ()) -> Row | None:
        """The first row of a query, if any."""
        with translated(self.path):
            found: Row | None = self._connection.execute(sql, values).fetchone()
            return found

    def run(self, sql: str, values: Sequence[Any] = ()) -> None:
        """Run one statement that changes the index."""
        with translated(self.path):
            self._connection.execute(sql, values)

    def run_many(self, sql: str, rows: Sequence[Sequence[Any]]) -> None:
        """Run one statement for many rows."""
        with translated(self.path):
            self._connection.executemany(sql, rows)

    def meta(self, key: str) -> str:
        """A value that belongs to the whole index; "" when it was never set."""
        found = self.row("SELECT value FROM meta WHERE key = ?", (key,))
        return str(found[0]) if found else ""

    def set_meta(self, key: str, value: str) -> None:
        """Keep a value that belongs to the whole index."""
        self.run(
            "INSERT INTO meta VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value",
            (key, value),
        )

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """All or nothing, the only writer meanwhile. Raises ``Busy`` when another writes for too long."""
        with translated(self.path):
            self._connection.execute("PRAGMA query_only = OFF")
            self._connection.execute("BEGIN IMMEDIATE")
        try:
            yield
            with translated(self.path):
                self._connection.execute("COMMIT")
        except BaseException:
            with suppress(sqlite3.Error):
                self._connection.execute("ROLLBACK")
            raise
        finally:
            with suppress(sqlite3.Error):
                self._connection.execute("PRAGMA query_only = ON")
        if self._published:
            write_seal(self.path)

    def check(self, *, words: bool = True) -> str:
        """What is wrong with the index; "" when nothing is. Reads every page; with ``words`` every text is
        also held against the full-text tables."""
        if self._published and not sealed(self.path):
            return "something else wrote to it"
        try:
            found = self._connection.execute("PRAGMA quick_check(1)").fetchone()[0]
            if found != "ok":
                return f"its pages are damaged ({found})"
            self._connection.execute("PRAGMA query_only = OFF")
            for table in _FTS_TABLES if words else ():
                self._connection.execute(f"INSERT INTO {table}({table}, rank) VALUES ('integrity-check', 1)")
        except sqlite3.OperationalError as error:
            if _primary(error) in _BUSY_CODES:
                raise _busy(self.path) from None
            if _primary(error) == sqlite3.SQLITE_READONLY:
                return ""
            return str(error)
        except sqlite3.DatabaseError as error:
            return str(error)
        finally:
            with suppress(sqlite3.Error):
                self._connection.execute("PRAGMA query_only = ON")
        return ""

    def close(self) -> None:
        """Let go of the file."""
        self._connection.close()


@contextmanager
def translated(path: str) -> Iterator[None]:
    """Turn SQLite's errors into ours: busy, not writable, or damaged."""
    try:
        yield
    except sqlite3.DatabaseError as error:
        code = _primary(error)
        if code in _BUSY_CODES:
            raise _busy(path) from None
        if getattr(error, "sqlite_errorcode", 0) == sqlite3.SQLITE_READONLY_DBMOVED:
            raise Damaged("another process put a new one in its place") from None
        if code in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_FULL, sqlite3.SQLITE_CANTOPEN):
            raise NotWritable(
                f"The index {path} cannot be written: {error}.",
                hint="Free some space or mend its permissions.",
            ) from None
        raise Damaged(str(error)) from error
    except (UnicodeDecodeError, OverflowError, sqlite3.Warning) as error:
        raise Damaged(str(error)) from error


def create(path: str = "") -> Database:
    """A new, empty index: in memory, or in a file that must not hold one. Speed over safety until it is
    published."""
    with translated(path):
        connection = sqlite3.connect(path or ":memory:", isolation_level=None, timeout=BUSY_SECONDS)
        connection.execute("PRAGMA journal_mode = OFF")
        connection.execute("PRAGMA synchronous = OFF")
        connection.execute("PRAGMA locking_mode = EXCLUSIVE")
        connection.execute(f"PRAGMA cache_size = {-_BUILD_CACHE_KIB}")
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        connection.execute(f"PRAGMA user_version = {VERSION}")
        _harden(connection)
        connection.executescript(schema_sql())
        # Without it each row's words become a segment of their own and are merged again and again.
        for table in _FTS_TABLES:
            connection.execute(f"INSERT INTO {table}({table}, rank) VALUES ('hashsize', 33554432)")
    return Database(connection, path, published=False)


def open_existing(path: str) -> Database:
    """Open an index that is there. Raises ``Damaged`` (or ``Newer``) when it is not whole and ours,
    ``Busy`` when
    a writer does not let go, ``FileNotFoundError`` when there is none."""
    info = os.lstat(path)
    if not (info.st_mode & 0o170000 == 0o100000):
        raise Damaged("it is not a regular file")
    if _is_bait(path):
        raise Damaged("the files beside it are not ours")
    uri = "file:" + path.replace("%", "%25").replace("?", "%3f").replace("#", "%23") + "?mode=rw"
    with translated(path):
        connection = sqlite3.connect(uri, uri=True, isolation_level=None, timeout=BUSY_SECONDS)
    database = Database(connection, path, published=True)
    try:
        _verify(database, connection)
    except BaseException:
        connection.close()
        raise
    return database


def _is_bait(path: str) -> bool:
    """Whether a file beside the index would lead SQLite to another one: a link, a pipe, or a journal that
    names a super-journal, which is deleted once the journal is played back (fileformat2, section 3). We
    never write one."""
    for suffix in _SIDECARS:
        try:
            descriptor = os.open(path + suffix, _PEEK)
        except FileNotFoundError:
            continue
        except OSError:
            return True
        with open(descriptor, "rb") as handle:
            if not os.path.isfile(path + suffix):
                return True
            size = handle.seek(0, os.SEEK_END)
            handle.seek(max(size - len(_JOURNAL_MAGIC), 0))
            if suffix == "-journal" and handle.read() == _JOURNAL_MAGIC:
                return True
    return False


def publish(database: Database, path: str) -> None:
    """Check a new index file, close it, and put it in the place of ``path`` for everyone.

    Raises ``Damaged`` when the disk did not keep what was written.
    """
    temporary = database.path
    database.run("PRAGMA query_only = OFF")
    for table in _FTS_TABLES:
        database.run(f"INSERT INTO {table}({table}, rank) VALUES ('hashsize', 1048576)")
    # The words went in a moment ago from this very process: what can go wrong now is the disk.
    problem = database.check(words=False)
    database.close()
    if problem:
        raise Damaged(problem)
    _sync(temporary)
    with _writers_kept_out(path):
        os.replace(temporary, path)
    write_seal(path)


def scratch(statements: str) -> sqlite3.Connection:
    """A small private database in memory, for questions about text that is not in the index."""
    connection = sqlite3.connect(":memory:", isolation_level=None)
    connection.executescript(statements)
    return connection


def engine_version() -> str:
    """The version of the SQLite library in use."""
    return sqlite3.sqlite_version


def has_full_text_search() -> bool:
    """Whether the SQLite library in use was built with FTS5."""
    connection = sqlite3.connect(":memory:")
    try:
        connection.execute("CREATE VIRTUAL TABLE probe USING fts5(text)")
    except sqlite3.OperationalError:
        return False
    finally:
        connection.close()
    return True


def _verify(database: Database, connection: sqlite3.Connection) -> None:
    with translated(database.path):
        _harden(connection)
        connection.execute("PRAGMA query_only = ON")
        application = connection.execute("PRAGMA application_id").fetchone()[0]
        version = connection.execute("PRAGMA user_version").fetchone()[0]
        if application != APPLICATION_ID:
            raise Damaged("it is not an index of ours")
        if version > VERSION:
            raise Newer("a newer version of the program wrote it")
        if version != VERSION or not _has_our_schema(connection):
            raise Damaged("it has another schema")
        if not sealed(database.path):
            _wait_for_seal(database.path, connection)


def _wait_for_seal(path: str, connection: sqlite3.Connection) -> None:
    """Give a writer that has committed the moment it needs to seal. No other can begin meanwhile."""
    connection.execute("PRAGMA query_only = OFF")
    connection.execute("BEGIN IMMEDIATE")
    for _ in range(_SEAL_POLLS):
        if sealed(path):
            break
        time.sleep(_SEAL_PAUSE)
    proved = sealed(path)
    connection.execute("ROLLBACK")
    connection.execute("PRAGMA query_only = ON")
    if not proved:
        raise Damaged("something else wrote to it, or a writer died")


def _has_our_schema(connection: sqlite3.Connection) -> bool:
    """Whether the file has exactly the statements of ``memory_store.sql``: no view, no trigger, nothing
    else."""
    found = {
        sql
        for sql, name in connection.execute("SELECT sql, name FROM sqlite_master WHERE sql IS NOT NULL")
        if not (
            name.startswith(tuple(f"{table}_" for table in _FTS_TABLES)) and sql.startswith("CREATE TABLE '")
        )
    }
    return found == _statements(schema_sql())


def _statements(sql: str) -> set[str]:
    return {
        part[part.index("CREATE") :].strip() for part in f"\n{sql}".split(";\n") if "\nCREATE" in f"\n{part}"
    }


def _harden(connection: sqlite3.Connection) -> None:
    connection.execute("PRAGMA trusted_schema = OFF")
    connection.execute("PRAGMA cell_size_check = ON")
    connection.execute("PRAGMA mmap_size = 0")
    connection.execute("PRAGMA temp_store = MEMORY")
    connection.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
    if sys.version_info >= (3, 12):
        connection.setconfig(sqlite3.SQLITE_DBCONFIG_DEFENSIVE, True)


@contextmanager
def _writers_kept_out(path: str) -> Iterator[None]:
    """Hold the old index's lock while it is replaced: a journal of the old file must never meet the new
    one."""
    old = None
    try:
        if os.path.isfile(path) and not os.path.islink(path) and not _is_bait(path):
            old = sqlite3.connect(path, isolation_level=None, timeout=BUSY_SECONDS)
            old.execute("BEGIN EXCLUSIVE")
    except sqlite3.DatabaseError as error:
        if _primary(error) in _BUSY_CODES:
            if old is not None:
                old.close()
            raise _busy(path) from None
        if old is not None:
            old.close()
            old = None
    if old is None:
        _clear_away(path)
    try:
        yield
    finally:
        if old is not None:
            old.close()


def _clear_away(path: str) -> None:
    """Remove what stands in the place of the index and is not a database, with the sidecars."""
    for name in (path, *(path + suffix for suffix in _SIDECARS)):
        if os.path.isdir(name) and not os.path.islink(name):
            os.rename(name, f"{name}.set-aside-{time.time_ns()}")
        else:
            with suppress(FileNotFoundError):
                os.unlink(name)


def _sync(path: str) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _primary(error: sqlite3.Error) -> int:
    return int(getattr(error, "sqlite_errorcode", 0) or 0) & 0xFF


def _busy(path: str) -> Busy:
    return Busy(
        f"Another process is writing the index {path}.",
        hint="Try again; it is rebuilt whenever it is deleted.",
    )
