"""The index file and the only user of sqlite3: rows, transactions, translated errors, schema.

The file is untrusted, and not parsed, until it is verified as ours. A seal next to it (``memory.db.seal``)
contains its stamp after our last write. A file with another stamp was changed by another program, or by a
process that was killed: it is not used, but rebuilt. (SQLite's own checks do not detect a flipped bit in a
table.) Busy is not damaged: a writer keeps everyone out until the seal is written.

So a journal on disk would be useless: it is kept in memory, and any file next to the index that SQLite would
read is not ours.
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
from thunderus_mem.store.safe_open import CREATE, READ, folder_of, open_file

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

BUSY_SECONDS: Final = 10.0
WRITE_KIB: Final = 48 * 1024
"""Cache of a write: room for some 10,000 changed documents, which take about as long as readers wait."""
_BUSY_CODES = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
Row = tuple[Any, ...]
SqliteError: Final = sqlite3.Error

APPLICATION_ID: Final = 0x54484D45
VERSION: Final = 29
"""Increased when the meaning of a column, the text of stored findings or the patterns of
`safety.injection` change.

An older index is rebuilt, a newer one is left alone."""

BATCH: Final = 500
"""How many documents or events are looked up, read or written at once; limits memory."""
LISTED: Final = "IN (SELECT value FROM json_each(?))"
"""A condition: the column has one of the values of a JSON array."""
PASSAGES_PER_DOCUMENT: Final = 4096
"""Row id of a passage = row id of its document times this, plus its position."""

FULL_TEXT_TABLES: Final = ("docs_fts", "passages_fts", "records_fts")
_SCHEMA_FILE: Final = os.path.join(
    os.path.dirname(os.path.dirname(__file__)), "document", "schemas", "memory_store.sql"
)


def schema_sql() -> str:
    """Return the text of ``memory_store.sql``."""
    with open(_SCHEMA_FILE, encoding="utf-8") as handle:
        return handle.read()


def schema_statements() -> set[str]:
    """Return its statements as SQLite stores them."""
    return {
        part[part.index("CREATE") :].strip()
        for part in f"\n{schema_sql()}".split(";\n")
        if "\nCREATE" in f"\n{part}"
    }


def decode_list(text: str) -> tuple[str, ...]:
    """Decode a JSON array of strings in the index."""
    import json

    return tuple(json.loads(text)) if text != "[]" else ()


def is_shadow_table(name: str, sql: str) -> bool:
    """Whether a table was created by SQLite itself for a full-text table."""
    return sql.startswith("CREATE TABLE '") and name.startswith(
        tuple(f"{table}_" for table in FULL_TEXT_TABLES)
    )


class IndexDamaged(Degraded):
    """The index file is not usable; the message is the reason. Never leaves this package: it is rebuilt."""

    code = "Damaged"


class IndexNewer(IndexDamaged):
    """A newer version of the program wrote the index: it must not be replaced."""

    code = "Newer"
    newer = True


class IndexMoved(IndexDamaged):
    """The open index file was replaced: not damage, open the new one."""

    code = "Moved"


def busy(path: str) -> Busy:
    """Return the error for an index locked by another process."""
    return Busy(
        f"another process is writing the index {path}",
        hint="run the command again; if it stays locked, delete the file: it is rebuilt",
    )


class Database:
    """One open connection. Reads by default; writes only inside ``transaction``."""

    def __init__(self, connection: sqlite3.Connection, path: str) -> None:
        self._connection = connection
        self.path = path

    @property
    def in_memory(self) -> bool:
        """Whether it has no file."""
        return not self.path

    def rows(self, sql: str, values: Sequence[Any] = ()) -> list[Row]:
        """Return all rows of a query. Raises ``IndexDamaged`` or ``Busy``."""
        with self._translated():
            return self._connection.execute(sql, values).fetchall()

    def each(self, sql: str, values: Sequence[Any] = ()) -> Iterator[Row]:
        """Yield the rows of a query one by one."""
        with self._translated():
            yield from self._connection.execute(sql, values)

    def row(self, sql: str, values: Sequence[Any] = ()) -> Row | None:
        """Return the first row of a query, if any."""
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
        """Return a value of the whole index, "" if not set."""
        found = self.row("SELECT value FROM meta WHERE key = ?", (key,))
        return str(found[0]) if found else ""

    def set_meta(self, key: str, value: str) -> None:
        """Set a value of the whole index."""
        self.run(
            "INSERT INTO meta VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value "
            "WHERE value <> excluded.value",
            (key, value),
        )

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """A context in which all reads see one state. Writers wait: keep it short."""
        if self._connection.in_transaction:
            yield
            return
        self.run("BEGIN")
        try:
            yield
        finally:
            with suppress(sqlite3.Error):
                self._connection.execute("ROLLBACK")

    def verify(self) -> None:
        """Verify, within a snapshot, that no other program changed the file. Raises ``IndexDamaged``."""

    @contextmanager
    def transaction(self, cache_kib: int = WRITE_KIB) -> Iterator[None]:
        """An atomic, exclusive write. Raises ``Busy``, or like ``verify``. Once it has changed more than fits
        into the cache, readers wait for its end."""
        self._lock(cache_kib)
        try:
            self.verify()
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

    def _begin(self, cache_kib: int) -> None:
        self._connection.execute("BEGIN IMMEDIATE")

    def _sign(self) -> None:
        """Called after a commit, before the lock is released."""

    def _release(self) -> None:
        """Release the lock, committed or not."""

    def distrust(self) -> None:
        """Make the next process that opens the index rebuild it, because it is damaged."""

    @contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            with translated(self.path):
                yield
        except IndexDamaged as error:
            # An SQL error is a bug of ours, not damage.
            if not isinstance(error, IndexMoved) and _primary(error.__cause__) != sqlite3.SQLITE_ERROR:
                self.distrust()
            raise

    def _lock(self, cache_kib: int) -> None:
        assert not self._connection.in_transaction
        with self._translated():
            self._connection.execute("PRAGMA query_only = OFF")
            try:
                self._begin(cache_kib)
            except sqlite3.Error:
                self._unlock()
                raise

    def _unlock(self) -> None:
        with suppress(sqlite3.Error):
            self._connection.execute("PRAGMA query_only = ON")
            self._release()

    def check(self, *, words: bool = True) -> str:
        """Describe damage of the pages and, with ``words``, of the full-text tables; "" if intact."""
        try:
            with self.snapshot():
                self.verify()
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

    def tune_words(self, bytes_of_words: int, segments: int) -> None:
        """Set how many bytes of new words the full-text tables collect before writing them as a segment, and
        how many segments they merge into one; with 0, only 16 are merged."""
        for table in FULL_TEXT_TABLES:
            self.run(f"INSERT INTO {table}({table}, rank) VALUES ('hashsize', {bytes_of_words})")
            self.run(f"INSERT INTO {table}({table}, rank) VALUES ('automerge', {segments})")

    def close(self) -> None:
        """Close the file."""
        self._connection.close()


@contextmanager
def translated(path: str) -> Iterator[None]:
    """Translate SQLite's errors: busy, not writable, or damaged."""
    try:
        yield
    except sqlite3.DatabaseError as error:
        code = _primary(error)
        if code in _BUSY_CODES:
            raise busy(path) from None
        if getattr(error, "sqlite_errorcode", 0) == sqlite3.SQLITE_READONLY_DBMOVED:
            raise IndexMoved("it was replaced") from None
        if code in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_FULL, sqlite3.SQLITE_CANTOPEN):
            raise NotWritable(
                f"cannot write the index {path}: {error}",
                hint="free some space, or fix its permissions",
            ) from None
        raise IndexDamaged(str(error)) from error
    except (UnicodeDecodeError, OverflowError, sqlite3.Warning) as error:
        raise IndexDamaged(str(error)) from error


def uri_of(path: str) -> str:
    """Return SQLite's URI for an existing file, which it must not create."""
    return "file:" + path.replace("%", "%25").replace("?", "%3f").replace("#", "%23") + "?mode=rw"


def create(path: str = "") -> Database:
    """Create an empty index in memory, or in a new file; not crash-safe until it is published."""
    with translated(path):
        if path:
            # SQLite would follow a link when creating the file; with O_EXCL it cannot be one.
            os.close(open_file(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o664))
        connection = connection_to(uri_of(path) if path else ":memory:")
        connection.execute("PRAGMA journal_mode = OFF")
        connection.execute("PRAGMA synchronous = OFF")
        connection.execute("PRAGMA locking_mode = EXCLUSIVE")
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        connection.execute(f"PRAGMA user_version = {VERSION}")
        connection.executescript(schema_sql())
    database = Database(connection, path)
    # Otherwise each row creates a segment, and segments are merged again and again.
    database.tune_words(33554432, 0)
    return database


def scratch(statements: str, *, on_disk: bool = False) -> sqlite3.Connection:
    """Open a small database for what is not in the index: in memory, or in a temporary file without a name,
    which is written only once there is much in it."""
    connection = sqlite3.connect("" if on_disk else ":memory:", isolation_level=None)
    connection.executescript(statements)
    return connection


def engine() -> tuple[str, bool]:
    """Return the version of the SQLite library, and whether it has FTS5."""
    try:
        scratch("CREATE VIRTUAL TABLE probe USING fts5(text)").close()
    except sqlite3.OperationalError:
        return sqlite3.sqlite_version, False
    return sqlite3.sqlite_version, True


def connection_to(place: str) -> sqlite3.Connection:
    """Open a connection to an untrusted file: no code in it is run. Its schema is not read yet."""
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
"""Suffixes of files that SQLite reads next to a database; we never write them. A journal can name a file that
is deleted after playback (fileformat2, section 3), and rows in a ``-wal`` hide those of the file."""

_TRIES: Final = 20


_ORDINARY_WORDS = 1048576
_ORDINARY_SEGMENTS = 4

_LIMIT = 200
_BACKDATE_NS = 5_000_000_001

_READ_KIB: Final = 2000


UNSEALED: Final = "it was copied or changed by another program, or a command was killed while writing it"


class IndexFile(Database):
    """A connection to the shared index file, not verified yet except for its inode."""

    def __init__(self, path: str) -> None:
        """Open the connection. Raises ``FileNotFoundError``."""
        with folder_of(path) as (name, at):
            self._inode = os.lstat(name, dir_fd=at).st_ino
        with translated(path):
            connection = connection_to(uri_of(path))
            connection.execute("PRAGMA query_only = ON")
        super().__init__(connection, path)

    def verify(self) -> None:
        """Verify, within a snapshot, that the file was not replaced, or changed since our last write.

        A writer keeps readers out until the seal is written, so a missing seal means another program. Raises
        ``IndexMoved`` or ``IndexDamaged``.
        """
        self.row("PRAGMA user_version")
        if inode_of(self.path) != self._inode:
            raise IndexMoved("it was replaced")
        if not is_sealed(self.path):
            raise IndexDamaged(UNSEALED)

    def _begin(self, cache_kib: int) -> None:
        """Begin; keep the lock after COMMIT, until the seal is written."""
        super()._begin(cache_kib)
        # Only now: while waiting for the write lock, no read lock may be kept.
        self._connection.execute("PRAGMA locking_mode = EXCLUSIVE")
        # With a small cache, pages would be written, and readers kept out, before COMMIT.
        self._connection.execute(f"PRAGMA cache_size = {-cache_kib}")

    def _sign(self) -> None:
        write_seal(self.path)

    def _release(self) -> None:
        self._connection.execute("PRAGMA locking_mode = NORMAL")
        self._connection.execute(f"PRAGMA cache_size = {-_READ_KIB}")
        # The next access releases the lock.
        self._connection.execute("PRAGMA user_version").fetchone()

    def distrust(self) -> None:
        if inode_of(self.path) == self._inode:
            break_seal(self.path)


def open_existing(path: str) -> Database:
    """Open an existing index. Raises ``IndexDamaged`` (or ``IndexNewer``) if it is not intact and ours,
    ``Busy`` if a writer keeps the lock, and ``FileNotFoundError``."""
    for _ in range(_TRIES):
        try:
            return _opened(path)
        except IndexMoved:
            continue  # replaced meanwhile
    raise busy(path)


def _opened(path: str) -> Database:
    if not stat.S_ISREG(os.lstat(path).st_mode):
        raise IndexDamaged("it is not a regular file")
    if any(os.path.lexists(path + suffix) for suffix in SIDECARS):
        raise IndexDamaged("there is a SQLite journal next to it that is not ours")
    database = IndexFile(path)
    try:
        with database.snapshot():
            check_maker(database)
            database.verify()
            _check_schema(database)
        database.run("PRAGMA journal_mode = MEMORY")
    except BaseException:
        database.close()
        raise
    return database


def check_maker(database: Database) -> None:
    """Check application and version in the header, without reading the schema. Raises ``IndexDamaged``."""
    application, version = (
        (database.row(f"PRAGMA {name}") or (0,))[0] for name in ("application_id", "user_version")
    )
    if application != APPLICATION_ID:
        raise IndexDamaged("it is not a thunderus-mem index")
    if version > VERSION:
        raise IndexNewer("a newer version of the program wrote it")
    if version != VERSION:
        raise IndexDamaged("an older version of the program wrote it")


def _check_schema(database: Database) -> None:
    """Check that the file has exactly the schema of ``memory_store.sql``: no view, no trigger."""
    rows = database.rows("SELECT sql, name FROM sqlite_master WHERE sql IS NOT NULL")
    if {sql for sql, name in rows if not is_shadow_table(name, sql)} != schema_statements():
        raise IndexDamaged("it has a different schema")


def write_seal(path: str) -> None:
    """Store the stamp of the index file after our write, before any other process can access it.

    Its mtime is set back first, so that a later write, even in the same tick, changes it.
    """
    try:
        moment = time.time_ns() - _BACKDATE_NS
        with folder_of(path) as (name, at):
            os.utime(name, ns=(moment, moment), dir_fd=at)
        put(_seal_path(path), (_stamp(path).encode("ascii"),))
    except OSError:
        break_seal(path)


def break_seal(path: str) -> None:
    """Remove the seal, so that the next process rebuilds the index."""
    with suppress(OSError), folder_of(_seal_path(path)) as (name, at):
        os.unlink(name, dir_fd=at)


def is_sealed(path: str) -> bool:
    """Whether the index file is unchanged since our last write. Call it only while no writer is active."""
    try:
        descriptor = open_file(_seal_path(path), READ)
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
    """Return the inode of a file, 0 if it is missing."""
    try:
        return os.lstat(path).st_ino
    except (FileNotFoundError, NotADirectoryError):
        return 0


def publish(database: Database, path: str, *, instead_of: int | None = None) -> None:
    """Check and close a new index file, and replace ``path`` with it.

    ``instead_of`` is the inode of the file to replace (0: none), ``None`` for any. Raises ``IndexDamaged`` if
    the new file was not written correctly, ``IndexMoved`` if another file is at ``path`` now, ``IndexNewer``
    if a newer program wrote that, ``Busy`` if a writer of it keeps the lock.
    """
    temporary = database.path
    database.run("PRAGMA query_only = OFF")
    database.tune_words(_ORDINARY_WORDS, _ORDINARY_SEGMENTS)
    # This process just wrote the words: only the disk can have failed.
    problem = database.check(words=False)
    database.close()
    if problem:
        raise IndexDamaged(problem)
    _sync(temporary)
    # Processes that open the new file wait until its seal is written.
    with _alone(temporary):
        with _writers_kept_out(path):
            if instead_of is not None and inode_of(path) != instead_of:
                raise IndexMoved("it was replaced")
            with folder_of(temporary) as (new, here), folder_of(path) as (name, there):
                os.replace(new, name, src_dir_fd=here, dst_dir_fd=there)
            write_seal(path)
        # SQLite may have created some for the old file.
        _clear_sidecars(path)


@contextmanager
def _alone(path: str) -> Iterator[Database]:
    """Lock a database file against all other readers and writers."""
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
    """Lock the file to be replaced: a process about to seal it would seal the new one."""
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
    """Remove files next to the index that SQLite would read."""
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


def put(path: str, data: Iterable[bytes]) -> None:
    """Atomically write pieces to ``path``; a folder there is renamed. Raises ``OSError``."""
    temporary = new_name(path)
    try:
        descriptor = open_file(temporary, CREATE, 0o664)
        with open(descriptor, "wb") as handle:
            handle.writelines(data)
        if _is_folder(path):
            clear_away(path)
        with folder_of(temporary) as (new, here), folder_of(path) as (name, there):
            os.replace(new, name, src_dir_fd=here, dst_dir_fd=there)
    except OSError:
        with suppress(OSError), folder_of(temporary) as (new, here):
            os.unlink(new, dir_fd=here)
        raise


def new_name(path: str) -> str:
    """Return an unpredictable name next to ``path``; `leftovers` finds the file if it stays."""
    return f"{path}.{os.urandom(6).hex()}.tmp"


def clear_away(path: str) -> None:
    """Remove a file; rename a folder out of the way."""
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
