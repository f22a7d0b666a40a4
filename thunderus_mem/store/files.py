"""Whole files of the disk: read under a cap, replaced or removed in one step, expecting a hash."""

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
from thunderus_mem.store.safe_open import open_file

if TYPE_CHECKING:
    from collections.abc import Iterable

ABSENT: Final = ""
"""The expected hash of a file that must not exist."""

TEMP_PREFIX: Final = ".thunderus-mem-"
"""How the names of temporary files begin; they end in ``.tmp`` and no scan takes them for documents."""

HASH_LIMIT: Final = 256 << 20
"""Bytes a file may have at most to be hashed."""

_CHUNK: Final = 1 << 20
_READ_FLAGS: Final = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0)


def _not_regular(path: str) -> Refused:
    return Refused(f"{path} is not a regular file.", hint="Put a real file there, or move it away.")


def read_file(path: str, limit: int) -> bytes:
    """The bytes of a regular file of at most ``limit`` bytes; never follows a link, never waits on a pipe.

    Raises ``NotFound``, ``Refused`` (a link, a folder, a device, too large) or ``NotWritable`` (the
    system's no).
    """
    try:
        descriptor = open_file(path, _READ_FLAGS)
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
        # The file may grow while it is read: the size is looked at again with every piece.
        while total <= limit and (piece := os.read(descriptor, min(_CHUNK, limit + 1 - total))):
            pieces.append(piece)
            total += len(piece)
    if size > limit or total > limit:
        message = f"{path} is larger than {limit:,} bytes."
        raise TooLarge(message, hint="Split it, or move it out of the memory.")
    return b"".join(pieces)


def read_below(root: str, path: str, limit: int) -> bytes:
    """As ``read_file``, of a file by its ``path`` from ``root``, which is all that messages tell of where it
    is. Raises ``Refused`` besides, as ``inside``."""
    place = inside(root, path)
    try:
        return read_file(place, limit)
    except ThunderusError as error:
        raise type(error)(str(error).replace(place, path), hint=error.hint) from error


def file_hash(path: str) -> str:
    """The content hash of the file at ``path``, or ``ABSENT``; raises like ``read_file``."""
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
        raise DocumentExists(f"{path} is already there.", hint="Choose another id, or edit that one.")
    if found == ABSENT:
        raise Conflict(f"{path} was removed meanwhile.", hint="Look at it again, then repeat the change.")
    raise Conflict(
        f"{path} changed meanwhile: expected {expecting[:19]}…, found {found[:19]}….",
        hint="Look at it again, then repeat the change.",
    )


def existing_mode(path: str) -> int | None:
    """The permission bits of a regular file, None when there is no file; refuses links and other things."""
    mode = disk.mode_of(path)
    if not mode:
        return None
    if stat.S_ISLNK(mode):
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), path)
    if not stat.S_ISREG(mode):
        raise _not_regular(path)
    return stat.S_IMODE(mode)


def permissions(path: str) -> int:
    """The permission bits of the regular file with this name; 0 where there is none, or nobody may know."""
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
    """Put ``data`` (or its pieces) at ``path`` whole or not at all, keeping the mode of the file there was.

    ``expecting`` is the hash the file must have now (``ABSENT``: no file), None for whatever there is.
    Without ``durable`` a power failure may bring the old file back, but never leaves a part of the new one.
    Missing folders are made. ``pauses`` are seconds to wait while another program has the file open.
    Raises ``Conflict``, ``Refused`` (a link or no regular file in its place) or ``NotWritable``.
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
    # The first error is the one to tell; a name that stays is found by doctor.
    try:
        disk.unlink(path)
    except OSError:
        return


def remove_file(path: str, *, expecting: str) -> None:
    """Take the file away when it has the hash ``expecting``; raises ``Conflict`` or ``NotWritable``."""
    check_expected(path, expecting)
    try:
        disk.unlink(path)
        disk.sync_folder(os.path.dirname(path) or ".")
    except OSError as error:
        raise explain(error, path) from error


# A second name is refused like this where the file system has no hard links or sees two devices.
_NO_LINKS: Final = frozenset(
    {errno.EPERM, errno.EXDEV, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK, errno.EINVAL, errno.EACCES}
)


def publish_file(staged: str, path: str, *, expecting: str) -> None:
    """Move a synced file of another folder to ``path`` in one step; ``staged`` is gone afterwards.

    Where a new file is expected it is made without ever replacing another one. Raises as ``replace_file``;
    ``OSError`` when the disk refuses.
    """
    check_expected(path, expecting)
    mode = existing_mode(path)
    folder = os.path.dirname(path)
    disk.make_folders(folder)
    if mode is not None:
        disk.set_mode(staged, mode)
    _give_name(staged, path, expecting)
    disk.sync_folder(folder)
    if disk.mode_of(staged):
        # Only now that the new name is sure may the old one go, and were the old one to come back with the
        # power, the change would look unfinished.
        disk.unlink(staged)
        disk.sync_folder(os.path.dirname(staged))


def _give_name(staged: str, path: str, expecting: str) -> None:
    try:
        if expecting == ABSENT:
            disk.link(staged, path)
        else:
            disk.rename(staged, path)
    except FileExistsError as error:
        raise DocumentExists(
            f"{path} appeared meanwhile.", hint="Choose another id, or edit that one."
        ) from error
    except OSError as error:
        # A copy would meet whoever has the file open as the move did, after waiting as long once more.
        held = expecting != ABSENT and disk.is_held(error)
        if held or error.errno not in _NO_LINKS:
            raise
        replace_file(path, read_file(staged, HASH_LIMIT), expecting=expecting)


def take_file(path: str, into: str, *, expecting: str) -> None:
    """Move a document that is to be removed to ``into`` (same disk), and look at what was really taken.

    Raises ``Conflict``, with the file back in its place, when its text was not the expected one.
    """
    check_expected(path, expecting)
    disk.rename(path, into)
    if file_hash(into) != expecting:
        _put_back(into, path)
        raise Conflict(f"{path} changed while it was removed; it stays.", hint="Look at it again.")
    disk.sync_folder(os.path.dirname(path))


def _put_back(taken: str, path: str) -> None:
    """Give a taken file its name again; raises ``FileExistsError`` when another has it."""
    disk.link(taken, path)
    disk.sync_folder(os.path.dirname(path))
    disk.unlink(taken)


def publish_staged(staged: str, target: str, before: str, after: str) -> Literal["published", "dropped"]:
    """Make one write true, from its staged file: the text with the hash ``after``; ``dropped`` when it was so
    already. A document that is to be removed is kept as ``staged`` + ``.taken``.

    Raises ``Conflict`` when ``target`` has other text, ``Refused`` or ``NotWritable`` as ``replace_file``,
    and ``OSError`` when the disk refuses.
    """
    if after == ABSENT:
        return _publish_removal(staged + ".taken", target, before)
    # Line ends do not count in a hash: a file that has the text already may still be the one to replace.
    changes = before != after
    if not disk.mode_of(staged) or (changes and file_hash(target) == after):
        # The name may have been changed by a process that died before it could sync it.
        if disk.mode_of(os.path.dirname(target)):
            disk.sync_folder(os.path.dirname(target))
        return "dropped"
    if file_hash(staged) != after:
        raise Conflict(f"{staged} is damaged.")
    publish_file(staged, target, expecting=before)
    return "published"


def _publish_removal(taken: str, target: str, before: str) -> Literal["published", "dropped"]:
    if disk.mode_of(taken):
        if file_hash(taken) == before:
            return "dropped"
        # Killed between taking the file and seeing that it was not the one to remove.
        if not disk.mode_of(target):
            _put_back(taken, target)
        raise Conflict(f"{target} changed while it was removed.")
    if file_hash(target) == ABSENT:
        return "dropped"
    take_file(target, taken, expecting=before)
    return "published"


def sweep(folder: str) -> int:
    """Remove the temporary files that a killed process left in ``folder`` (not below); says how many.

    Under the lock, and only for folders where nobody writes without it.
    """
    try:
        names = os.listdir(folder)
    except OSError:
        return 0
    left = [name for name in names if name.startswith(TEMP_PREFIX) and name.endswith(".tmp")]
    for name in left:
        _discard(os.path.join(folder, name))
    return len(left)
