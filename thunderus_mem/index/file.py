"""The file of the index: opened as if an enemy had made it, sealed, replaced in one step, swept up behind.

Nothing of it is believed, or parsed, before it is proved ours. A seal beside the file (``memory.db.seal``)
holds its stamp after our last write. A file with another stamp was touched by somebody else, or by a process
that died: no row of it is believed, and it is built anew. (SQLite's own checks find no flipped letter in a
table.) Busy is not damaged: whoever of us writes keeps everybody out until the seal is on.
"""

from __future__ import annotations

import os
import re
import stat
import time
from contextlib import ExitStack, contextmanager, suppress
from typing import TYPE_CHECKING, Final, NamedTuple

from thunderus_mem.index.database import (
    APPLICATION_ID,
    VERSION,
    Damaged,
    Database,
    Moved,
    Newer,
    busy,
    connection_to,
    is_shadow_table,
    schema_statements,
    translated,
    uri_of,
)
from thunderus_mem.store.safe_open import folder_of, open_file

if TYPE_CHECKING:
    from collections.abc import Iterator

SIDECARS: Final = ("-journal", "-wal", "-shm")
"""Endings of files that SQLite reads beside a database. We never write one. A journal can name a file that
is deleted once it is played back (fileformat2, section 3), and rows of a ``-wal`` hide the file's own."""

_TRIES: Final = 20

QUIET_SECONDS: Final = 60.0
"""A file somebody still writes has changed since."""

_NAMES: Final = re.compile(
    r"(memory\.db(\.seal)?|manifest\.json|verdicts\.json|similar\.bin)\.[0-9a-f]{12}\.tmp(-journal)?",
    re.ASCII,
)
_FLAGS: Final = (
    os.O_RDWR | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
)

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

        Who writes keeps readers out until the seal is on, so no seal means another's hand. Raises ``Moved``
        or ``Damaged``.
        """
        self.row("PRAGMA user_version")
        if inode_of(self.path) != self._inode:
            raise Moved("another file is in its place")
        if not is_sealed(self.path):
            raise Damaged("something else wrote to it, or a writer died")

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

    def _distrust(self) -> None:
        """Whoever opens it next builds a new one."""
        if inode_of(self.path) == self._inode:
            break_seal(self.path)


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
