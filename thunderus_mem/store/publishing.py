"""The last step of a change: a staged file takes its place, a removed document is taken away."""

from __future__ import annotations

import errno
import os
from typing import TYPE_CHECKING, Final, Literal

from thunderus_mem.model.errors import Conflict, DocumentExists
from thunderus_mem.store import disk
from thunderus_mem.store.failpoints import hit
from thunderus_mem.store.files import (
    ABSENT,
    HASH_LIMIT,
    check_expected,
    existing_mode,
    file_hash,
    read_file,
    replace_file,
)

if TYPE_CHECKING:
    from thunderus_mem.store.staging import Planned

__all__ = ["publish_file", "publish_staged", "take_file"]

# A second name is refused like this where the file system has no hard links or sees two devices.
_NO_LINKS: Final = frozenset(
    {errno.EPERM, errno.EXDEV, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK, errno.EINVAL, errno.EACCES}
)


def publish_file(staged: str, path: str, *, expecting: str) -> None:
    """Move a synced file of the staging folder to ``path`` in one step; ``staged`` is gone afterwards.

    Where a new file is expected it is made without ever replacing another one. Raises as ``replace_file``;
    ``OSError`` when the disk refuses.
    """
    check_expected(path, expecting)
    mode = existing_mode(path)
    folder = os.path.dirname(path)
    disk.make_folders(folder)
    if mode is not None:
        disk.set_mode(staged, mode)
    hit("publish.checked")
    _give_name(staged, path, expecting)
    hit("publish.moved")
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
            hit("publish.linked")
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
    hit("publish.checked")
    disk.rename(path, into)
    hit("publish.taken")
    if file_hash(into) != expecting:
        _put_back(into, path)
        raise Conflict(f"{path} changed while it was removed; it stays.", hint="Look at it again.")
    disk.sync_folder(os.path.dirname(path))


def _put_back(taken: str, path: str) -> None:
    disk.link(taken, path)
    disk.sync_folder(os.path.dirname(path))
    disk.unlink(taken)


def publish_staged(staged: str, target: str, planned: Planned) -> Literal["published", "dropped"]:
    """Make one committed write true, from its staged file; ``dropped`` when it was so already.

    Raises ``Conflict`` when ``target`` has other text, ``Refused`` or ``NotWritable`` as ``replace_file``,
    and ``OSError`` when the disk refuses.
    """
    if planned.after == ABSENT:
        return _publish_removal(staged + ".taken", target, planned)
    # Line ends do not count in a hash: a file that has the text already may still be the one to replace.
    changes = planned.before != planned.after
    if not disk.mode_of(staged) or (changes and file_hash(target) == planned.after):
        # The name may have been changed by a process that died before it could sync it.
        if disk.mode_of(os.path.dirname(target)):
            disk.sync_folder(os.path.dirname(target))
        return "dropped"
    if file_hash(staged) != planned.after:
        raise Conflict(f"{staged} is damaged.")
    publish_file(staged, target, expecting=planned.before)
    return "published"


def _publish_removal(taken: str, target: str, planned: Planned) -> Literal["published", "dropped"]:
    if disk.mode_of(taken):
        if file_hash(taken) == planned.before:
            return "dropped"
        # Killed between taking the file and seeing that it was not the one to remove.
        if not disk.mode_of(target):
            _put_back(taken, target)
        raise Conflict(f"{planned.path} changed while it was removed.")
    if file_hash(target) == ABSENT:
        return "dropped"
    take_file(target, taken, expecting=planned.before)
    return "published"
