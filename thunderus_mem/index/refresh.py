"""Update the index and the manifest from the files: apply changes, or rebuild everything.

``refresh`` gives exactly the same result as ``rebuild``. An unchanged tree costs one walk and a comparison
with the previous walk, which is stored in the index. Files are read inside the index's write transaction, so
that refreshes cannot interleave.
"""

from __future__ import annotations

import os
import re
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from thunderus_mem.errors import Busy, NotWritable, Refused
from thunderus_mem.index.database import (
    IndexDamaged,
    IndexMoved,
    IndexNewer,
    create,
    inode_of,
    new_name,
    publish,
)
from thunderus_mem.index.manifest import manifest_stamp, write_manifest
from thunderus_mem.index.scan import look_at, scan
from thunderus_mem.index.sqlite_index import SqliteIndex
from thunderus_mem.startup import NamedTuple, lazy_pattern
from thunderus_mem.store.layout import FOLDERS

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from thunderus_mem.index.scan import FolderScan
    from thunderus_mem.index.writer import Tell
    from thunderus_mem.store.layout import Layout

QUIET_SECONDS: Final = 60.0
"""A temporary file that is still being written was changed within this time."""

_NAMES: Final = lazy_pattern(
    r"(memory\.db(\.seal)?|manifest\.json|verdicts\.json|similar\.bin)\.[0-9a-f]{12}\.tmp(-journal)?",
    re.ASCII,
)
_FLAGS: Final = (
    os.O_RDWR | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
)


_TRIES: Final = 20
_DONE: Final = object()


def most_lost(documents: int) -> int:
    """Return how many of this number of documents may be missing at once without a confirmation."""
    return max(5, documents // 10)


def silent(what: str, done: int, total: int) -> None:
    """Ignore progress."""


class Refreshed(NamedTuple):
    """The result of a refresh.

    ``rebuilt`` is the reason for a rebuild ("" = none); with ``in_memory`` the file was left as it is, and
    the index was built in memory for this command only. ``problems`` counts the files with findings of the
    reader; ``held`` counts documents kept although their folder cannot be read. ``gone`` are the ids of the
    removed ones.
    """

    added: int
    modified: int
    removed: int
    total: int
    rebuilt: str = ""
    problems: int = 0
    held: int = 0
    in_memory: bool = False
    gone: tuple[str, ...] = ()

    @property
    def before(self) -> int:
        """The number of documents before."""
        return self.total - self.added + self.removed

    @property
    def changed(self) -> bool:
        """Whether any document was added, modified or removed, or the index was rebuilt."""
        return bool(self.added or self.modified or self.removed or self.rebuilt)


def open_index(layout: Layout, tell: Tell = silent) -> tuple[SqliteIndex, Refreshed]:
    """Open the index, up to date. A missing, damaged or outdated one is rebuilt: see ``Refreshed.rebuilt``.
    If nothing can be written, it is built in memory."""
    for _ in range(_TRIES):
        inode = inode_of(layout.index_file)
        try:
            index = SqliteIndex.open(layout.index_file)
            try:
                return index, refresh(layout, index, tell)
            except BaseException:
                index.close()
                raise
        except IndexMoved:
            continue
        except FileNotFoundError:
            reason = "missing index"
        except (IndexNewer, NotWritable) as error:
            return in_memory(layout, str(error), tell)
        except IndexDamaged as error:
            reason = str(error)
        except OSError as error:
            return in_memory(layout, error.strerror or "cannot open the index", tell)
        try:
            return _build(layout, reason, tell, instead_of=inode)
        except IndexMoved:
            continue
    return in_memory(layout, "other processes keep replacing the index", tell)


def reopened(layout: Layout, generation: str) -> SqliteIndex:
    """Open the index on disk with a new connection, if it still has this generation.

    Raises ``IndexMoved``, ``IndexDamaged`` or ``FileNotFoundError``.
    """
    index = SqliteIndex.open(layout.index_file)
    if index.generation() != generation:
        index.close()
        raise IndexMoved("it was updated in the meantime")
    return index


def refresh(
    layout: Layout, index: SqliteIndex, tell: Tell = silent, *, changed: Collection[str] | None = None
) -> Refreshed:
    """Update index and manifest from the files. Raises ``IndexDamaged``, ``Busy``, ``NotWritable``.

    With ``changed``, only these files are looked at: the next refresh finds other changes.
    """
    only = None if changed is None else list(filter(_is_walked, changed))
    seen = scan(layout.root, FOLDERS) if only is None else look_at(layout.root, only)
    with index.database.snapshot():
        index.database.verify()
        is_equal = index.has_walk(seen) if only is None else not only
        is_current = is_equal and _manifest_is_ours(layout, index)
        total, problems = _counts(index.database.meta("counts"))
    if is_current:
        return Refreshed(0, 0, 0, total, problems=problems)
    return _apply(layout, index, seen, tell, only)


def _is_walked(path: str) -> bool:
    """Whether a file that was written is one that `scan` lists."""
    folder = next((one for one in FOLDERS if path.startswith(one + "/")), None)
    return folder is not None and path.endswith(".md") and "/." not in path[len(folder) :]


def rebuild(layout: Layout, reason: str = "requested", tell: Tell = silent) -> Refreshed:
    """Read every file into a new index, and replace the old one.

    Raises ``Refused`` if a newer version of the program wrote the old one: both would rebuild it in turns.
    ``NotWritable`` if a folder of documents cannot be read.
    """
    try:
        SqliteIndex.open(layout.index_file).close()
    except IndexNewer as error:
        raise Refused(
            f"cannot rebuild {layout.index_file}: {error}",
            hint="use that version, or delete the file, which loses nothing",
        ) from None
    except (IndexDamaged, OSError, NotWritable, Busy):
        pass
    else:
        refuse_unlisted(scan(layout.root, FOLDERS).unlisted)
    index, refreshed = _build(layout, reason, tell)
    index.close()
    return refreshed


def refuse_unlisted(folders: Sequence[str]) -> None:
    """Raise ``NotWritable`` if a walk could not read a folder."""
    for folder in folders:
        raise NotWritable(
            f"cannot read the folder {folder}, so its documents would be missing",
            hint=f"fix its permissions (`chmod u+rwx {folder}`), then run the command again",
        )


def peek(layout: Layout, index: SqliteIndex) -> bool:
    """Whether the index is up to date with the files, by their stamps; changes nothing."""
    known, now = index.stamps(), scan(layout.root, FOLDERS)
    stamps = {file.path: file.values for file in now.files()}
    return stamps.keys() == known.keys() and all(
        known[path] in (stamp, None) for path, stamp in stamps.items()
    )


def _build(
    layout: Layout, reason: str, tell: Tell = silent, *, instead_of: int | None = None
) -> tuple[SqliteIndex, Refreshed]:
    """Build an index in a file, or in memory if the folder cannot be written. ``instead_of`` is the inode of
    the file to replace: ``IndexMoved`` if it was replaced meanwhile."""
    temporary = new_name(layout.index_file)
    try:
        os.makedirs(layout.indexes_dir, exist_ok=True)
        sweep(layout.indexes_dir)
        new = SqliteIndex(create(temporary))
        refreshed = _fill(layout, new, tell)
        publish(new.database, layout.index_file, instead_of=instead_of)
        return SqliteIndex.open(layout.index_file), refreshed._replace(rebuilt=reason)
    except IndexMoved:
        raise
    except (OSError, NotWritable, Busy, IndexDamaged) as error:
        if isinstance(error, Busy) and instead_of is None:
            raise
        why = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        return in_memory(layout, f"{reason}; cannot write it: {why}", tell)
    finally:
        for name in (temporary, temporary + "-journal"):
            with suppress(OSError):
                os.unlink(name)


def in_memory(layout: Layout, reason: str, tell: Tell = silent) -> tuple[SqliteIndex, Refreshed]:
    """Build an index in memory, without writing to the disk."""
    index = SqliteIndex(create())
    return index, _fill(layout, index, tell)._replace(rebuilt=reason, in_memory=True)


def _fill(layout: Layout, index: SqliteIndex, tell: Tell) -> Refreshed:
    return _apply(layout, index, scan(layout.root, FOLDERS), tell)


def _apply(
    layout: Layout, index: SqliteIndex, seen: FolderScan, tell: Tell, only: Collection[str] | None = None
) -> Refreshed:
    """Apply a scan to the index; with ``only``, it is one of these files alone."""
    from thunderus_mem.index.writer import Update
    from thunderus_mem.store.parallel import gc_paused

    database = index.database
    update = Update(layout.root, database, tell)
    steps = update.run(seen, only)
    is_done = False
    while not is_done:
        with gc_paused(), database.transaction():
            is_done = next(steps, _DONE) is _DONE
            total = index.count()
            problems = update.problem_count()
            database.set_meta("counts", f"{total} {problems}")
            database.set_meta("generation", update.drift.applied(index.generation()))
            if not is_done:
                database.set_meta("manifest", "")  # as long as it lists removed documents, it is not ours
            elif database.path and (update.changed or not _manifest_is_ours(layout, index)):
                stamp = write_manifest(layout.manifest_file, index.manifest())
                database.set_meta("manifest", stamp)
    gone = update.removed
    return Refreshed(
        update.added, update.modified, len(gone), total, problems=problems, held=update.held, gone=gone
    )


def _manifest_is_ours(layout: Layout, index: SqliteIndex) -> bool:
    """Whether the manifest is still the file we wrote; true for an index in memory, which has none."""
    stamp = index.manifest_stamp()
    return index.database.in_memory or (bool(stamp) and stamp == manifest_stamp(layout.manifest_file))


def _counts(text: str) -> tuple[int, int]:
    total, _, problems = text.partition(" ")
    return int(total or 0), int(problems or 0)


class Leftover(NamedTuple):
    """A temporary file in the folder of the index. ``in_use``: written recently, or locked by a process."""

    path: str
    size: int
    in_use: bool


def leftovers(folder: str) -> list[Leftover]:
    """Return the temporary files in the folder of the index, by name; none if it cannot be read."""
    found = []
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                if _NAMES.fullmatch(entry.name):
                    info = entry.stat(follow_symlinks=False)
                    recent = info.st_mtime > time.time() - QUIET_SECONDS
                    found.append(Leftover(entry.path, info.st_size, recent or _is_held(entry.path)))
    except OSError:
        return []
    return sorted(found)


def sweep(folder: str) -> None:
    """Remove temporary files that are not in use."""
    for leftover in leftovers(folder):
        if not leftover.in_use:
            try:
                os.unlink(leftover.path)
            except OSError:
                continue


def _is_held(path: str) -> bool:
    """Whether another process holds SQLite's lock on the file; the kernel releases it with the process."""
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
