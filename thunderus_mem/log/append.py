"""Append records to a log durably, and repair a torn end; damaged bytes are quarantined.

A log is a file of lines, each a JSON object ending in LF. Existing bytes are never rewritten.
"""

from __future__ import annotations

import hashlib
import os
import stat
from typing import TYPE_CHECKING, Final, Literal

from thunderus_mem.errors import Conflict, Degraded, NotWritable, Refused, ThunderusError, explain
from thunderus_mem.log.line import line_hash
from thunderus_mem.startup import NamedTuple
from thunderus_mem.store import disk
from thunderus_mem.store.quarantine import quarantine
from thunderus_mem.store.safe_open import open_file

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

MAX_RECORD: Final = 1 << 20
"""Maximum size of a record in bytes, including its LF."""

_CHUNK: Final = 1 << 16
_FLAGS: Final = (
    os.O_RDWR | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0)
)


class Uncertain(NotWritable):
    """The record may or may not be on disk: syncing failed, and so did removing it."""

    code = "Uncertain"


class TailRepair(NamedTuple):
    """How the damaged end of ``path``, ``size`` bytes at ``offset``, was repaired.

    ``completed``: a complete record that lacked only its LF. ``set-aside``: torn bytes, quarantined in the
    file ``kept``.
    """

    path: str
    action: Literal["completed", "set-aside"]
    offset: int
    size: int
    kept: str = ""


def _open_log(path: str, flags: int, *, new: bool = False) -> int:
    descriptor = disk.create(path, flags) if new else open_file(path, flags, 0o664)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise Refused(f"{path} is not a regular file", hint="restore the log, or move this elsewhere")
    return descriptor


def with_open_log(path: str, repair: Callable[[int], TailRepair | None]) -> TailRepair | None:
    """Call ``repair`` with the descriptor of a log, open for reading and writing; ``None`` if it is missing.

    System errors are raised as `ThunderusError`.
    """
    try:
        descriptor = _open_log(path, _FLAGS)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise explain(error, path) from error
    try:
        return repair(descriptor)
    except OSError as error:
        raise explain(error, path) from error
    finally:
        os.close(descriptor)


def _last_line(descriptor: int, size: int) -> tuple[int, bytes]:
    """Return the offset of the line that ends at ``size``, and its bytes without LF."""
    start = size
    tail = b""
    while start:
        step = min(_CHUNK, start)
        start -= step
        piece = os.pread(descriptor, step, start)
        cut = piece.rfind(b"\n")
        if cut >= 0:
            return start + cut + 1, piece[cut + 1 :] + tail
        tail = piece + tail
    return 0, tail


def _is_record(tail: bytes) -> bool:
    import json

    try:
        return isinstance(json.loads(tail.decode("utf-8")), dict)
    except (ValueError, RecursionError):
        return False


def repair_tail(path: str, quarantine_dir: str | None) -> TailRepair | None:
    """Repair the end of a log, under the lock; return None if it is intact, empty or missing.

    A complete record without LF gets one. Other bytes without LF, or a last line with NULs (the disk kept its
    size but not all blocks), are copied to ``quarantine_dir`` and truncated (``Degraded`` if that is None).
    An interrupted repair is finished by the next call. Raises ``NotWritable`` for a system error.
    """
    return with_open_log(path, lambda descriptor: _repair_open(descriptor, path, quarantine_dir))


def _repair_open(descriptor: int, path: str, quarantine_dir: str | None) -> TailRepair | None:
    size = os.fstat(descriptor).st_size
    if size == 0:
        return None
    terminated = os.pread(descriptor, 1, size - 1) == b"\n"
    offset, tail = _last_line(descriptor, size - terminated)
    if terminated:
        if b"\0" not in tail:
            return None
        tail += b"\n"
    elif _is_record(tail):
        os.lseek(descriptor, size, os.SEEK_SET)
        disk.write_all(descriptor, path, b"\n")
        disk.sync_file(descriptor, path)
        return TailRepair(path, "completed", offset, len(tail))
    if quarantine_dir is None:
        raise Degraded(f"{path} ends in a torn record", hint="run `thunderus-mem doctor`")
    name = f"{os.path.basename(os.path.dirname(path))}-{os.path.basename(path)}.torn"
    kept = quarantine(quarantine_dir, name, tail)
    disk.truncate(descriptor, path, offset)
    disk.sync_file(descriptor, path)
    return TailRepair(path, "set-aside", offset, len(tail), kept)


def append_record(path: str, line: bytes, *, quarantine_dir: str | None = None, follows: str = "") -> int:
    """Append one line to a log like `append_records`."""
    return append_records(path, (line,), quarantine_dir=quarantine_dir, follows=follows)


def append_records(
    path: str, lines: Sequence[bytes], *, quarantine_dir: str | None = None, follows: str = ""
) -> int:
    """Append lines, each ending in LF, to a log in one synced write, under the lock; return the offset.

    A torn end is repaired first. ``follows`` is the hash that the current last line must have; "" for any.
    On failure the log is unchanged (``NotWritable``; ``Conflict`` if the file was replaced meanwhile); if it
    could not be restored, ``Uncertain`` is raised, and the next reader finds out.
    """
    for line in lines:
        if not line.endswith(b"\n") or line.count(b"\n") != 1 or len(line) > MAX_RECORD:
            raise ThunderusError(
                f"a record for {path} is not one line of at most {MAX_RECORD:,} bytes: it has {len(line):,}",
                hint="shorten the text",
            )
    repair_tail(path, quarantine_dir)
    folder = os.path.dirname(path) or "."
    try:
        disk.make_folders(folder)
        existed = disk.mode_of(path) != 0
        if follows and not existed:
            raise _replaced(path)
        descriptor = _open_log(path, _FLAGS | os.O_APPEND | os.O_CREAT, new=not existed)
    except OSError as error:
        raise _failed(error, path) from error
    try:
        _check_end(descriptor, path, follows)
        return _append_open(descriptor, path, b"".join(lines), sync_name=not existed)
    finally:
        os.close(descriptor)


def _append_open(descriptor: int, path: str, line: bytes, *, sync_name: bool) -> int:
    offset = -1
    try:
        offset = os.fstat(descriptor).st_size
        disk.write_all(descriptor, path, line)
        disk.sync_file(descriptor, path)
        if sync_name:
            disk.sync_folder(os.path.dirname(path) or ".")
        _check_same_file(descriptor, path, offset + len(line))
    except BaseException as error:
        if offset >= 0:
            _roll_back(descriptor, path, offset, line)
        if isinstance(error, OSError):
            raise _failed(error, path) from error
        raise
    return offset


def _failed(error: OSError, path: str) -> ThunderusError:
    """Return the error of an append; its folder existed, so git removed what is missing now."""
    return _replaced(path) if isinstance(error, FileNotFoundError) else explain(error, path)


def _check_same_file(descriptor: int, path: str, size: int) -> None:
    # A checkout or an editor may have replaced the file while we wrote to the old one.
    ours = os.fstat(descriptor)
    try:
        named = os.lstat(path)
    except FileNotFoundError:
        named = None
    if named is None or (named.st_dev, named.st_ino) != (ours.st_dev, ours.st_ino) or ours.st_size != size:
        raise _replaced(path)


def _check_end(descriptor: int, path: str, follows: str) -> None:
    """Check that the log, as opened, still ends with the line that the new one follows."""
    if not follows:
        return
    size = os.fstat(descriptor).st_size
    _, line = _last_line(descriptor, max(size - 1, 0))
    if line_hash(line.rstrip(b"\r")) != follows:
        raise _replaced(path)


def _replaced(path: str) -> Conflict:
    return Conflict(
        f"{path} was replaced or removed while it was being written", hint="run the command again"
    )


def _roll_back(descriptor: int, path: str, offset: int, line: bytes) -> None:
    """Truncate what this append wrote, unless another program wrote after it."""
    try:
        size = os.fstat(descriptor).st_size
        if size == offset:
            return
        ours = size <= offset + len(line) and line.startswith(os.pread(descriptor, size - offset, offset))
        if not ours:
            raise _uncertain(path, "another program wrote to it")
        disk.truncate(descriptor, path, offset)
        disk.sync_file(descriptor, path)
    except OSError as error:
        raise _uncertain(path, error.strerror or str(error)) from error


def _uncertain(path: str, reason: str) -> Uncertain:
    return Uncertain(
        f"cannot write {path}, nor restore it: {reason}",
        hint="the next command checks whether the change was recorded, and finishes or undoes it",
    )


def sync_log(path: str) -> None:
    """Sync a log: its last line must be on disk before anything that depends on it."""
    try:
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_CLOEXEC", 0))
        try:
            disk.sync_file(descriptor, path)
        finally:
            os.close(descriptor)
    except OSError as error:
        raise explain(error, path) from error


class Batch(NamedTuple):
    """Lines to append together: their offset, and the size and hash of their bytes."""

    offset: int
    size: int
    hash: str


def batch_at(path: str, lines: Sequence[bytes]) -> Batch:
    """Return the batch for appending lines to a log as it is now."""
    try:
        offset = os.lstat(path).st_size
    except FileNotFoundError:
        offset = 0
    except OSError as error:
        raise explain(error, path) from error
    data = b"".join(lines)
    return Batch(offset, len(data), hashlib.sha256(data).hexdigest())


def repair_batch(path: str, batch: Batch, quarantine_dir: str) -> TailRepair | None:
    """Ensure that a log has all lines of a batch or none, under the lock; return what was quarantined.

    A log with later lines is left unchanged. Raises ``NotWritable`` for a system error.
    """
    return with_open_log(path, lambda descriptor: _repair_batch_open(descriptor, path, batch, quarantine_dir))


def _repair_batch_open(descriptor: int, path: str, batch: Batch, quarantine_dir: str) -> TailRepair | None:
    size = os.fstat(descriptor).st_size
    if not batch.offset < size <= batch.offset + batch.size:
        return None
    found = os.pread(descriptor, batch.size, batch.offset)
    if hashlib.sha256(found).hexdigest() == batch.hash:
        disk.sync_file(descriptor, path)
        return None
    kept = quarantine(quarantine_dir, f"{os.path.basename(os.path.dirname(path))}-batch.torn", found)
    disk.truncate(descriptor, path, batch.offset)
    disk.sync_file(descriptor, path)
    return TailRepair(path, "set-aside", batch.offset, len(found), kept)
