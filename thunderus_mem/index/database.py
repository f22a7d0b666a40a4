"""The only door to sqlite3: connections, rows, transactions, SQLite's errors as ours, and the schema.

A journal on the disk would be of no use: an index in which a process died is built anew (see ``file``). So
the journal is kept in memory, and a file beside the index that SQLite would read is none of ours.
"""

from __future__ import annotations

import os
import sqlite3
import sys
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, Final

from thunderus_mem.errors import Busy, Degraded, NotWritable
from thunderus_mem.store.safe_open import open_file

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

BUSY_SECONDS: Final = 10.0
_BUSY_CODES = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
Row = tuple[Any, ...]

APPLICATION_ID: Final = 0x54484D45
VERSION: Final = 8
"""Raised when the meaning of a column changes: an older index is rebuilt, a newer one is left alone."""

PASSAGES_PER_DOCUMENT: Final = 4096
"""Row id of a passage = row id of its document times this, plus its place."""

FULL_TEXT_TABLES: Final = ("docs_fts", "passages_fts")
_SCHEMA_FILE: Final = os.path.join(
    os.path.dirname(os.path.dirname(__file__)), "document", "schemas", "memory_store.sql"
)


def schema_sql() -> str:
    """The text of ``memory_store.sql``."""
    with open(_SCHEMA_FILE, encoding="utf-8") as handle:
        return handle.read()


def schema_statements() -> set[str]:
    """Every statement of it, as SQLite keeps them."""
    return {
        part[part.index("CREATE") :].strip()
        for part in f"\n{schema_sql()}".split(";\n")
        if "\nCREATE" in f"\n{part}"
    }


def decode_list(text: str) -> tuple[str, ...]:
    """A JSON array of strings as the index keeps it."""
    import json

    return tuple(json.loads(text)) if text != "[]" else ()


def is_shadow_table(name: str, sql: str) -> bool:
    """Whether a table was made by SQLite itself to hold the words of a full-text table."""
    return sql.startswith("CREATE TABLE '") and name.startswith(
        tuple(f"{table}_" for table in FULL_TEXT_TABLES)
    )


class Damaged(Degraded):
    """The index file cannot be believed; the message says why. Never leaves the projection: it is rebuilt."""

    code = "Damaged"


class Newer(Damaged):
    """A later version of the program wrote the index: it is not ours to replace."""

    code = "Newer"


class Moved(Damaged):
    """Another file stands in the place of the one that is open: not damage, open that one."""

    code = "Moved"


def busy(path: str) -> Busy:
    """What to say when another process does not let go."""
    return Busy(
        f"Another process is writing the index {path}.",
        hint="Try again; it is rebuilt whenever it is deleted.",
    )


class Database:
    """One open connection. Reads by default; writes only inside ``transaction``."""

    def __init__(self, connection: sqlite3.Connection, path: str) -> None:
        self._connection = connection
        self.path = path

    @property
    def in_memory(self) -> bool:
        """Whether there is no file behind it."""
        return not self.path

    def rows(self, sql: str, values: Sequence[Any] = ()) -> list[Row]:
        """All rows of a query. Raises ``Damaged`` or ``Busy``."""
        with self._translated():
            return self._connection.execute(sql, values).fetchall()

    def each(self, sql: str) -> Iterator[Row]:
        """The rows of a query one by one, however many there are."""
        with self._translated():
            yield from self._connection.execute(sql)

    def row(self, sql: str, values: Sequence[Any] = ()) -> Row | None:
        """The first row of a query, if any."""
        with self._translated():
            found: Row | None = self._connection.execute(sql, values).fetchone()
            return found

    def run(self, sql: str, values: Sequence[Any] = ()) -> None:
        """Run one statement that changes the index."""
        with self._translated():
            self._connection.execute(sql, values)

    def run_many(self, sql: str, rows: Sequence[Sequence[Any]]) -> None:
        """Run one statement for many rows."""
        with self._translated():
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
    def snapshot(self) -> Iterator[None]:
        """All that is read inside is of one moment: writers wait. To be held for moments only."""
        if self._connection.in_transaction:
            yield
            return
        self.run("BEGIN")
        try:
            yield
        finally:
            with suppress(sqlite3.Error):
                self._connection.execute("ROLLBACK")

    def prove(self) -> None:
        """Within a snapshot: see that nobody else had a hand in it. Raises ``Moved`` or ``Damaged``."""

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """All or nothing, the only writer meanwhile. Raises ``Busy``, or as ``prove`` does."""
        self._lock()
        try:
            self.prove()
            yield
            with self._translated():
                self._connection.execute("COMMIT")
            self._sign()
        except BaseException:
            with suppress(sqlite3.Error):
                self._connection.execute("ROLLBACK")
            raise
        finally:
            self._unlock()

    def _begin(self) -> None:
        self._connection.execute("BEGIN IMMEDIATE")

    def _sign(self) -> None:
        """A transaction is committed, and the lock not yet released."""

    def _release(self) -> None:
        """Let others in again, committed or not."""

    def _distrust(self) -> None:
        """Damage has shown."""

    @contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            with translated(self.path):
                yield
        except Damaged as error:
            # A statement that SQLite does not understand is a mistake of ours, not damage.
            if not isinstance(error, Moved) and _primary(error.__cause__) != sqlite3.SQLITE_ERROR:
                self._distrust()
            raise

    def _lock(self) -> None:
        assert not self._connection.in_transaction
        with self._translated():
            self._connection.execute("PRAGMA query_only = OFF")
            try:
                self._begin()
            except sqlite3.Error:
                self._unlock()
                raise

    def _unlock(self) -> None:
        with suppress(sqlite3.Error):
            self._connection.execute("PRAGMA query_only = ON")
            self._release()

    def check(self, *, words: bool = True) -> str:
        """What is wrong with the pages, and with ``words`` with the full-text tables; "" when nothing is."""
        try:
            with self.snapshot():
                self.prove()
            found = self._connection.execute("PRAGMA quick_check(1)").fetchone()[0]
            if found != "ok":
                return f"its pages are damaged ({found})"
            self._connection.execute("PRAGMA query_only = OFF")
            for table in FULL_TEXT_TABLES if words else ():
                self._connection.execute(f"INSERT INTO {table}({table}, rank) VALUES ('integrity-check', 1)")
        except Damaged as error:
            return str(error)
        except sqlite3.OperationalError as error:
            if _primary(error) in _BUSY_CODES:
                raise busy(self.path) from None
            if _primary(error) == sqlite3.SQLITE_READONLY:
                return ""
            return str(error)
        except sqlite3.DatabaseError as error:
            return str(error)
        finally:
            with suppress(sqlite3.Error):
                self._connection.execute("PRAGMA query_only = ON")
        return ""

    def tune_words(self, bytes_of_words: int) -> None:
        """How many bytes of new words are gathered before the full-text tables write them out."""
        for table in FULL_TEXT_TABLES:
            self.run(f"INSERT INTO {table}({table}, rank) VALUES ('hashsize', {bytes_of_words})")

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
            raise busy(path) from None
        if getattr(error, "sqlite_errorcode", 0) == sqlite3.SQLITE_READONLY_DBMOVED:
            raise Moved("another file is in its place") from None
        if code in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_FULL, sqlite3.SQLITE_CANTOPEN):
            raise NotWritable(
                f"The index {path} cannot be written: {error}.",
                hint="Free some space or mend its permissions.",
            ) from None
        raise Damaged(str(error)) from error
    except (UnicodeDecodeError, OverflowError, sqlite3.Warning) as error:
        raise Damaged(str(error)) from error


def uri_of(path: str) -> str:
    """SQLite's name for a file that it must not make."""
    return "file:" + path.replace("%", "%25").replace("?", "%3f").replace("#", "%23") + "?mode=rw"


def create(path: str = "") -> Database:
    """A new, empty index: in memory, or in a new file. Speed over safety until it is published."""
    with translated(path):
        if path:
            # SQLite would make it wherever the path leads by then; a new name is nowhere else.
            os.close(open_file(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o664))
        connection = connection_to(uri_of(path) if path else ":memory:")
        connection.execute("PRAGMA journal_mode = OFF")
        connection.execute("PRAGMA synchronous = OFF")
        connection.execute("PRAGMA locking_mode = EXCLUSIVE")
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        connection.execute(f"PRAGMA user_version = {VERSION}")
        connection.executescript(schema_sql())
    database = Database(connection, path)
    # Without it each row's words become a segment of their own and are merged again and again.
    database.tune_words(33554432)
    return database


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
    try:
        scratch("CREATE VIRTUAL TABLE probe USING fts5(text)").close()
    except sqlite3.OperationalError:
        return False
    return True


def connection_to(place: str) -> sqlite3.Connection:
    """A connection as one to an enemy's file: nothing in it is run. Its schema is not read yet."""
    connection = sqlite3.connect(
        place,
        uri=place.startswith("file:"),
        isolation_level=None,
        timeout=BUSY_SECONDS,
        check_same_thread=False,
    )
    connection.execute("PRAGMA trusted_schema = OFF")
    connection.execute("PRAGMA cell_size_check = ON")
    connection.execute("PRAGMA mmap_size = 0")
    connection.execute("PRAGMA temp_store = MEMORY")
    connection.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
    if sys.version_info >= (3, 12):
        connection.setconfig(sqlite3.SQLITE_DBCONFIG_DEFENSIVE, True)
    return connection


def _primary(error: BaseException | None) -> int:
    return int(getattr(error, "sqlite_errorcode", 0) or 0) & 0xFF
