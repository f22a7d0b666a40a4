"""The file of the index and the only door to sqlite3: rows, transactions, SQLite's errors as ours, schema.

Nothing of the file is believed, or parsed, before it is proved ours. A seal beside it (``memory.db.seal``)
holds its stamp after our last write. A file with another stamp was touched by somebody else, or by a process
that died: no row of it is believed, and it is built anew. (SQLite's own checks find no flipped letter in a
table.) Busy is not damaged: whoever of us writes keeps everybody out until the seal is on.

So a journal on the disk would be of no use: it is kept in memory, and a file beside the index that SQLite
would read is none of ours.
"""

from __future__ import annotations

import os
import sqlite3
import stat
import sys
import time
from contextlib import ExitStack, contextmanager, suppress
from typing import TYPE_CHECKING, Any, Final

from thunderus_mem.errors import Busy, Degraded, NotWritable
from thunderus_mem.store.safe_open import folder_of, open_file

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


class IndexDamaged(Degraded):
    """The index file cannot be believed; the message says why. Never leaves the projection: it is rebuilt."""

    code = "Damaged"


class IndexNewer(IndexDamaged):
    """A later version of the program wrote the index: it is not ours to replace."""

    code = "Newer"


class IndexMoved(IndexDamaged):
    """Another file has replaced the one that is open: not damage, open that one."""

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
        """All rows of a query. Raises ``IndexDamaged`` or ``Busy``."""
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
        """Within a snapshot: see that nobody else had a hand in it. Raises ``IndexDamaged``."""

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

    def distrust(self) -> None:
        """Have whoever opens it next build a new one: damage has shown."""

    @contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            with translated(self.path):
                yield
        except IndexDamaged as error:
            # A statement that SQLite does not understand is a mistake of ours, not damage.
            if not isinstance(error, IndexMoved) and _primary(error.__cause__) != sqlite3.SQLITE_ERROR:
                self.distrust()
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
        except IndexDamaged as error:
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
            raise IndexMoved("another file is in its place") from None
        if code in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_FULL, sqlite3.SQLITE_CANTOPEN):
            raise NotWritable(
                f"The index {path} cannot be written: {error}.",
                hint="Free some space or mend its permissions.",
            ) from None
        raise IndexDamaged(str(error)) from error
    except (UnicodeDecodeError, OverflowError, sqlite3.Warning) as error:
        raise IndexDamaged(str(error)) from error


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


def engine() -> tuple[str, bool]:
    """The version of the SQLite library in use, and whether it was built with FTS5."""
    try:
        scratch("CREATE VIRTUAL TABLE probe USING fts5(text)").close()
    except sqlite3.OperationalError:
        return sqlite3.sqlite_version, False
    return sqlite3.sqlite_version, True


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


SIDECARS: Final = ("-journal", "-wal", "-shm")
"""Endings of files that SQLite reads beside a database. We never write one. A journal can name a file that
is deleted once it is played back (fileformat2, section 3), and rows of a ``-wal`` hide the file's own."""

_TRIES: Final = 20


_ORDINARY_WORDS = 1048576

_LIMIT = 200
# Not blocking, should somebody have put a pipe there.
_READ: Final = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0)
_BACKDATE_NS = 5_000_000_001

_NEW: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_CLOEXEC", 0)
_READ_KIB, _WRITE_KIB = 2000, 64 * 1024


class IndexFile(Database):
    """A connection to a file that others see too; nothing of it is believed yet but its inode."""

    def __init__(self, path: str) -> None:
        """Raises ``FileNotFoundError`` when there is none."""
        with folder_of(path) as (name, at):
            self._inode = os.lstat(name, dir_fd=at).st_ino
        with translated(path):
            connection = connection_to(uri_of(path))
            connection.execute("PRAGMA query_only = ON")
        super().__init__(connection, path)

    def prove(self) -> None:
        """Within a snapshot: see that the file still is the one in its place, as our last write left it.

        Who writes keeps readers out until the seal is on, so no seal means another's hand. Raises
        ``IndexMoved`` or ``IndexDamaged``.
        """
        self.row("PRAGMA user_version")
        if inode_of(self.path) != self._inode:
            raise IndexMoved("another file is in its place")
        if not is_sealed(self.path):
            raise IndexDamaged("something else wrote to it, or a writer died")

    def _begin(self) -> None:
        """Keep the lock beyond COMMIT, until the seal is on."""
        super()._begin()
        # Not before: who waits for the write lock must not keep a read lock meanwhile.
        self._connection.execute("PRAGMA locking_mode = EXCLUSIVE")
        # Pages that find no room are written before COMMIT, and readers kept out since then.
        self._connection.execute(f"PRAGMA cache_size = {-_WRITE_KIB}")

    def _sign(self) -> None:
        write_seal(self.path)

    def _release(self) -> None:
        self._connection.execute("PRAGMA locking_mode = NORMAL")
        self._connection.execute(f"PRAGMA cache_size = {-_READ_KIB}")
        # The lock goes with the next access.
        self._connection.execute("PRAGMA user_version").fetchone()

    def distrust(self) -> None:
        if inode_of(self.path) == self._inode:
            break_seal(self.path)


def open_existing(path: str) -> Database:
    """Open an index that is there. Raises ``IndexDamaged`` (or ``IndexNewer``) when it is not whole and ours,
    ``Busy`` when a writer does not let go, ``FileNotFoundError`` when there is none."""
    for _ in range(_TRIES):
        try:
            return _opened(path)
        except IndexMoved:
            continue  # replaced while we looked
    raise busy(path)


def _opened(path: str) -> Database:
    if not stat.S_ISREG(os.lstat(path).st_mode):
        raise IndexDamaged("it is not a regular file")
    if any(os.path.lexists(path + suffix) for suffix in SIDECARS):
        raise IndexDamaged("the files beside it are not ours")
    database = IndexFile(path)
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
    """Look at the marks in the header, which SQLite reads without the schema. Raises ``IndexDamaged``."""
    application, version = (
        (database.row(f"PRAGMA {name}") or (0,))[0] for name in ("application_id", "user_version")
    )
    if application != APPLICATION_ID:
        raise IndexDamaged("it is not an index of ours")
    if version > VERSION:
        raise IndexNewer("a newer version of the program wrote it")
    if version != VERSION:
        raise IndexDamaged("an older version of the program wrote it")


def _check_schema(database: Database) -> None:
    """See that the file has exactly the statements of ``memory_store.sql``: no view, no trigger."""
    rows = database.rows("SELECT sql, name FROM sqlite_master WHERE sql IS NOT NULL")
    if {sql for sql, name in rows if not is_shadow_table(name, sql)} != schema_statements():
        raise IndexDamaged("it has another schema")


def write_seal(path: str) -> None:
    """Remember the stamp of the index file after our own write, before anybody else gets at it.

    Its mtime is set back first, so that a write by anybody else, even in the same tick, gives another one.
    """
    try:
        moment = time.time_ns() - _BACKDATE_NS
        with folder_of(path) as (name, at):
            os.utime(name, ns=(moment, moment), dir_fd=at)
        put(_seal_path(path), _stamp(path).encode("ascii"))
    except OSError:
        break_seal(path)


def break_seal(path: str) -> None:
    """Have the next one who opens the index build a new one: slower, never wrong."""
    with suppress(OSError), folder_of(_seal_path(path)) as (name, at):
        os.unlink(name, dir_fd=at)


def is_sealed(path: str) -> bool:
    """Whether the index file is as we left it. To be asked while no writer of ours can be at work."""
    try:
        descriptor = open_file(_seal_path(path), _READ)
        try:
            kept = os.read(descriptor, _LIMIT)
        finally:
            os.close(descriptor)
        return kept == _stamp(path).encode("ascii")
    except OSError:
        return False


def _seal_path(path: str) -> str:
    return f"{path}.seal"


def _stamp(path: str) -> str:
    with folder_of(path) as (name, at):
        info = os.lstat(name, dir_fd=at)
    return f"{info.st_size} {info.st_mtime_ns} {info.st_ctime_ns} {info.st_ino}"


def inode_of(path: str) -> int:
    """What tells one file in a place from the next; 0 when there is none."""
    try:
        return os.lstat(path).st_ino
    except (FileNotFoundError, NotADirectoryError):
        return 0


def publish(database: Database, path: str, *, instead_of: int | None = None) -> None:
    """Check a new index file, close it, and put it in the place of ``path`` for everyone.

    ``instead_of`` is the inode of the file it is to replace (0: none), ``None`` for whatever is there. Raises
    ``IndexDamaged`` when the disk did not keep what was written, ``IndexMoved`` when another file is there by
    now, ``IndexNewer`` when a newer program wrote that, ``Busy`` when a writer of it does not let go.
    """
    temporary = database.path
    database.run("PRAGMA query_only = OFF")
    database.tune_words(_ORDINARY_WORDS)
    # The words went in a moment ago from this very process: what can go wrong now is the disk.
    problem = database.check(words=False)
    database.close()
    if problem:
        raise IndexDamaged(problem)
    _sync(temporary)
    # Whoever opens the new file waits until its seal is on.
    with _alone(temporary):
        with _writers_kept_out(path):
            if instead_of is not None and inode_of(path) != instead_of:
                raise IndexMoved("another index is in its place")
            with folder_of(temporary) as (new, here), folder_of(path) as (name, there):
                os.replace(new, name, src_dir_fd=here, dst_dir_fd=there)
            write_seal(path)
        # The old file may have had SQLite make some.
        _clear_sidecars(path)


@contextmanager
def _alone(path: str) -> Iterator[Database]:
    """Hold a database file so that nobody else reads or writes it."""
    if not stat.S_ISREG(os.lstat(path).st_mode):
        raise IndexDamaged("it is not a regular file")
    database = IndexFile(path)
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
        except IndexDamaged:
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
    except IndexNewer:
        raise
    except IndexDamaged:
        return


def _sync(path: str) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


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
