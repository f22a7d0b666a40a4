"""Whole files: read up to a size limit; replaced or removed atomically, if they have an expected hash."""

from __future__ import annotations

import errno
import os
import stat
from typing import TYPE_CHECKING, Final, Literal

from thunderus_mem.document.document import content_hash
from thunderus_mem.errors import (
    Conflict,
    DocumentExists,
    NotFound,
    Refused,
    ThunderusError,
    TooLarge,
    explain,
)
from thunderus_mem.store import disk
from thunderus_mem.store.paths import inside
from thunderus_mem.store.safe_open import READ, open_file

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

ABSENT: Final = ""
"""The expected hash of a file that must not exist."""

TEMP_PREFIX: Final = ".thunderus-mem-"
"""Prefix of temporary file names. They end in ``.tmp``, so that no scan reads them as documents."""

HASH_LIMIT: Final = 256 << 20
"""Maximum size in bytes of a file to hash."""

_CHUNK: Final = 1 << 20
_READ_AGAIN: Final = "read it again, then repeat the change"


def _not_regular(path: str) -> Refused:
    return Refused(f"{path} is not a regular file", hint="replace it with a regular file, or move it away")


def read_file(path: str, limit: int) -> bytes:
    """Return the bytes of a regular file of at most ``limit`` bytes; never follow a link or wait on a pipe.

    Raises ``NotFound``, ``Refused`` (a link, a folder, a device, too large) or ``NotWritable`` (a system
    error).
    """
    try:
        descriptor = open_file(path, READ)
    except OSError as error:
        if error.errno == errno.ENXIO:
            raise _not_regular(path) from error
        raise explain(error, path) from error
    try:
        state = os.fstat(descriptor)
        if not stat.S_ISREG(state.st_mode):
            raise _not_regular(path)
        return _read_capped(descriptor, path, state.st_size, limit)
    except OSError as error:
        raise explain(error, path) from error
    finally:
        os.close(descriptor)


def _read_capped(descriptor: int, path: str, size: int, limit: int) -> bytes:
    pieces: list[bytes] = []
    total = 0
    if size <= limit:
        # The file may grow while it is read: check the size after each piece.
        while total <= limit and (piece := os.read(descriptor, min(_CHUNK, limit + 1 - total))):
            pieces.append(piece)
            total += len(piece)
    if size > limit or total > limit:
        message = f"{path} is larger than {limit:,} bytes"
        raise TooLarge(message, hint="split it, or move it out of the memory")
    return b"".join(pieces)


def read_below(root: str, path: str, limit: int) -> bytes:
    """Read a file like ``read_file``, by its ``path`` relative to ``root``; messages contain only this path.

    Also raises ``Refused`` like ``inside``.
    """
    place = inside(root, path)
    try:
        return read_file(place, limit)
    except ThunderusError as error:
        raise type(error)(str(error).replace(place, path), hint=error.hint) from error


def file_hash(path: str) -> str:
    """Return the content hash of the file at ``path``, or ``ABSENT``; raises like ``read_file``."""
    try:
        return content_hash(read_file(path, HASH_LIMIT))
    except NotFound:
        return ABSENT


def check_expected(path: str, expecting: str) -> None:
    """Raise ``Conflict`` (``DocumentExists`` for ``ABSENT``) unless the file has the hash ``expecting``."""
    found = file_hash(path)
    if found == expecting:
        return
    if expecting == ABSENT:
        raise DocumentExists(f"{path} already exists", hint="choose another id, or edit that document")
    if found == ABSENT:
        raise Conflict(f"{path} was removed since it was read", hint=_READ_AGAIN)
    raise Conflict(
        f"{path} changed since it was read: expected {expecting[:19]}…, found {found[:19]}…",
        hint=_READ_AGAIN,
    )


def existing_mode(path: str) -> int | None:
    """Return the permission bits of a regular file, None if missing; raise for anything else, e.g. a link."""
    mode = disk.mode_of(path)
    if not mode:
        return None
    if stat.S_ISLNK(mode):
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), path)
    if not stat.S_ISREG(mode):
        raise _not_regular(path)
    return stat.S_IMODE(mode)


def permissions(path: str) -> int:
    """Return the permission bits of a regular file; 0 if there is none or they cannot be read."""
    try:
        mode = disk.mode_of(path)
    except OSError:
        return 0
    return stat.S_IMODE(mode) & 0o777 if stat.S_ISREG(mode) else 0


def replace_file(
    path: str,
    data: bytes | Iterable[bytes],
    *,
    expecting: str | None = None,
    durable: bool = True,
    pauses: Iterable[float] = disk.PAUSES,
) -> None:
    """Atomically write ``data`` (or its pieces) to ``path``, keeping the mode of an existing file.

    ``expecting`` is the hash the file must have now (``ABSENT``: no file); None means any. Without
    ``durable``, a power failure may restore the old file, but never leaves a part of the new one. Missing
    folders are created. ``pauses`` are seconds to wait while another program has the file open. Raises
    ``Conflict``, ``Refused`` (the path is a link or not a regular file) or ``NotWritable``.
    """
    if expecting is not None:
        check_expected(path, expecting)
    folder = os.path.dirname(path) or "."
    temporary = os.path.join(folder, f"{TEMP_PREFIX}{os.urandom(8).hex()}.tmp")
    try:
        mode = existing_mode(path)
        disk.make_folders(folder, durable=durable)
        try:
            disk.write_new(temporary, (data,) if isinstance(data, bytes) else data, mode)
            disk.rename(temporary, path, pauses=pauses)
        except BaseException:
            _discard(temporary)
            raise
        if durable:
            disk.sync_folder(folder)
    except OSError as error:
        raise explain(error, path) from error


def _discard(path: str) -> None:
    # The first error is the one to report; `doctor` finds a file that stays.
    try:
        disk.unlink(path)
    except OSError:
        return


def remove_file(path: str, *, expecting: str) -> None:
    """Remove the file if it has the hash ``expecting``; raises ``Conflict`` or ``NotWritable``."""
    check_expected(path, expecting)
    try:
        disk.unlink(path)
        disk.sync_folder(os.path.dirname(path) or ".")
    except OSError as error:
        raise explain(error, path) from error


# Errors of link(2) where the file system has no hard links or the paths are on two devices.
_NO_LINKS: Final = frozenset(
    {errno.EPERM, errno.EXDEV, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK, errno.EINVAL, errno.EACCES}
)


def publish_file(staged: str, path: str, *, expecting: str) -> None:
    """Give a synced file from another folder the name ``path`` atomically; ``staged`` may stay as its other
    name. The caller syncs both folders.

    With ``expecting`` = ``ABSENT``, an existing file is never replaced. Raises like ``replace_file``, and
    ``OSError``.
    """
    disk.make_folders(os.path.dirname(path))
    if expecting != ABSENT:
        check_expected(path, expecting)
        mode = existing_mode(path)
        if mode is not None:
            disk.set_mode(staged, mode)
    try:
        if expecting == ABSENT:
            disk.link(staged, path)
        else:
            disk.rename(staged, path)
    except FileExistsError as error:
        raise DocumentExists(
            f"{path} was created in the meantime", hint="choose another id, or edit that document"
        ) from error
    except OSError as error:
        # If another program has the file open, copying would wait as long again and fail the same way.
        held = expecting != ABSENT and disk.is_held(error)
        if held or error.errno not in _NO_LINKS:
            raise
        replace_file(path, read_file(staged, HASH_LIMIT), expecting=expecting)


def take_file(path: str, into: str, *, expecting: str) -> None:
    """Move a document to be removed to ``into`` (same disk), then verify its hash. The caller syncs its
    folder.

    Raises ``Conflict``, after moving the file back, if its text is not the expected one.
    """
    check_expected(path, expecting)
    disk.rename(path, into)
    if file_hash(into) != expecting:
        _move_back(into, path)
        raise Conflict(f"{path} changed while it was being removed; it is kept", hint="read it again")


def _move_back(taken: str, path: str) -> None:
    """Move a taken file back; raises ``FileExistsError`` if the path exists again."""
    disk.link(taken, path)
    disk.sync_folder(os.path.dirname(path))
    disk.unlink(taken)


def publish_staged(staged: str, target: str, before: str, after: str) -> Literal["published", "dropped"]:
    """Publish one staged write: the text with the hash ``after``; ``dropped`` if the target has it already.

    A document to be removed is kept as ``staged`` + ``.taken``; a new text may keep its name ``staged``.
    Call `settle_published` next. Raises ``Conflict`` if ``target`` has other text, ``Refused`` or
    ``NotWritable`` like ``replace_file``, and ``OSError``.
    """
    if after == ABSENT:
        return _publish_removal(staged + ".taken", target, before)
    found = file_hash(staged)
    if found == ABSENT:
        return "dropped"
    if found != after:
        raise Conflict(f"{staged} is damaged")
    try:
        publish_file(staged, target, expecting=before)
    except Conflict:
        # Hashes ignore line ends: a file with the same hash may still have to be replaced.
        if before != after and file_hash(target) == after:
            return "dropped"
        raise
    return "published"


def settle_published(folder: str, staging: str, names: Collection[str]) -> None:
    """Sync a ``folder`` of published files, then remove the ``names`` that they still have in ``staging``.

    The old names go only after the new ones are synced, and that is synced too: an old name that reappears
    after a power failure would make the change look unfinished.
    """
    if disk.mode_of(folder):
        disk.sync_folder(folder)
    left = [name for name in os.listdir(staging) if name in names]
    for name in left:
        disk.unlink(os.path.join(staging, name))
    if left:
        disk.sync_folder(staging)


def _publish_removal(taken: str, target: str, before: str) -> Literal["published", "dropped"]:
    if disk.mode_of(taken):
        if file_hash(taken) == before:
            return "dropped"
        # Killed between moving the file and verifying its hash.
        if not disk.mode_of(target):
            _move_back(taken, target)
        raise Conflict(f"{target} changed while it was being removed")
    if file_hash(target) == ABSENT:
        return "dropped"
    take_file(target, taken, expecting=before)
    return "published"


def sweep(folder: str) -> int:
    """Remove temporary files that a killed process left in ``folder`` (not recursively); return their number.

    Call it under the lock, and only for folders that are never written without it.
    """
    try:
        names = os.listdir(folder)
    except OSError:
        return 0
    left = [name for name in names if name.startswith(TEMP_PREFIX) and name.endswith(".tmp")]
    for name in left:
        _discard(os.path.join(folder, name))
    return len(left)
