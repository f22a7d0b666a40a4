"""The staging folder: what a change is about to do, durable before it is committed. Only the journal uses it.

A staged operation is a folder named after its event: ``op.json``, the new text of write *n* in the file
``n``, and a removed document, once taken, in ``n.taken``. A write whose staged file is gone has been
published.
"""

from __future__ import annotations

import os
import re
import stat
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from thunderus_mem.model.document import content_hash
from thunderus_mem.model.errors import Refused
from thunderus_mem.store import disk
from thunderus_mem.store.batch import Batch
from thunderus_mem.store.disk import explain
from thunderus_mem.store.failpoints import hit
from thunderus_mem.store.files import ABSENT, read_file
from thunderus_mem.store.paths import safe_relative

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = [
    "OPERATION",
    "Operation",
    "Planned",
    "Write",
    "drop",
    "plan",
    "read_operation",
    "stage",
    "staged_ids",
]

OPERATION: Final = "op.json"

_EVENT_ID: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,79}", re.ASCII)
_OPERATION_LIMIT: Final = 16 << 20
_BATCH_LIMIT: Final = 1 << 30


class Write(NamedTuple):
    """One file of a change: ``path`` below the root, the hash it must have now, its new bytes.

    ``before`` is ``ABSENT`` for a new file, ``after`` is None to remove one. ``mode`` are the permissions of
    a new file, None for the usual ones; a file that is there keeps its own.
    """

    path: str
    before: str
    after: bytes | None
    mode: int | None = None


class Planned(NamedTuple):
    """A write as ``op.json`` holds it: both hashes, ``ABSENT`` for no file."""

    path: str
    before: str
    after: str


class Operation(NamedTuple):
    """A staged change: its event and the log it goes to, git's HEAD when it was made, its writes; or several
    lines of the log that change no file, ``event_id`` being that of the first."""

    event_id: str
    shard: str
    head: str
    writes: tuple[Planned, ...]
    batch: Batch | None = None


def plan(event_id: str, shard: str, writes: Sequence[Write], head: str) -> Operation:
    """The operation for ``writes``; raises ``Refused`` for an odd event id or a file named twice."""
    if not _EVENT_ID.fullmatch(event_id):
        raise Refused(f"{event_id[:80]!r} is not an event id.", hint="Let the tool make the id.")
    folded = [write.path.casefold() for write in writes]
    if len(set(folded)) != len(folded):
        raise Refused("One change names the same file twice.", hint="Make it two changes.")
    planned = (
        Planned(write.path, write.before, ABSENT if write.after is None else content_hash(write.after))
        for write in writes
    )
    return Operation(event_id, shard, head, tuple(planned))


def _encode(operation: Operation) -> bytes:
    import json

    record: dict[str, Any] = {
        "event": operation.event_id,
        "shard": operation.shard,
        "head": operation.head,
        "writes": [
            {"path": planned.path, "before": planned.before, "after": planned.after}
            for planned in operation.writes
        ],
    }
    if operation.batch is not None:
        record["batch"] = operation.batch._asdict()
    return json.dumps(record, ensure_ascii=False, indent=1).encode()


def read_operation(staging: str, event_id: str) -> Operation | None:
    """Read ``op.json`` of a staged change; None when it is damaged or names a path that leads out.

    Raises as ``read_file``: what the disk refuses to read is not damage.
    """
    import json

    path = os.path.join(staging, event_id, OPERATION)
    if not stat.S_ISREG(disk.mode_of(path)):
        return None
    data = read_file(path, _OPERATION_LIMIT)
    try:
        record: dict[str, Any] = json.loads(data.decode("utf-8"))
        writes = tuple(
            Planned(safe_relative(entry["path"]), str(entry["before"]), str(entry["after"]))
            for entry in record["writes"]
        )
        operation = Operation(
            str(record["event"]),
            safe_relative(record["shard"]),
            str(record["head"]),
            writes,
            _batch(record.get("batch")),
        )
    except (ValueError, KeyError, TypeError, RecursionError, Refused):
        return None
    return operation if operation.event_id == event_id else None


def _batch(record: dict[str, Any] | None) -> Batch | None:
    if record is None:
        return None
    offset, size = int(record["offset"]), int(record["size"])
    if min(offset, size) < 0 or size > _BATCH_LIMIT:
        raise ValueError(record)
    return Batch(offset, size, str(record["hash"]))


def staged_ids(staging: str) -> list[str]:
    """The events that have something staged, oldest first."""
    try:
        with os.scandir(staging) as entries:
            return sorted(
                entry.name
                for entry in entries
                if _EVENT_ID.fullmatch(entry.name) and entry.is_dir(follow_symlinks=False)
            )
    except FileNotFoundError:
        return []
    except OSError as error:
        raise explain(error, staging) from error


def stage(staging: str, operation: Operation, writes: Sequence[Write]) -> None:
    """Write the new bytes and ``op.json``, all synced; leaves nothing when it fails."""
    folder = os.path.join(staging, operation.event_id)
    try:
        disk.make_folders(staging)
        disk.make_folder(folder)
    except OSError as error:
        raise explain(error, folder) from error
    try:
        hit("stage.begun")
        for position, write in enumerate(writes):
            if write.after is not None:
                _write_synced(os.path.join(folder, str(position)), write.after, write.mode)
                hit("stage.bytes")
        _write_synced(os.path.join(folder, OPERATION), _encode(operation))
        hit("stage.operation")
        disk.sync_folder(folder)
        disk.sync_folder(staging)
        hit("stage.done")
    except BaseException as error:
        drop(staging, operation.event_id)
        if isinstance(error, OSError):
            raise explain(error, folder) from error
        raise


def _write_synced(path: str, data: bytes, mode: int | None = None) -> None:
    descriptor = disk.create(path)
    try:
        if mode is not None:
            disk.set_mode(path, mode)
        disk.write_all(descriptor, path, data, failpoint="stage.half-written")
        disk.sync_file(descriptor, path)
    finally:
        os.close(descriptor)


def drop(staging: str, event_id: str) -> None:
    """Take a staged change away, ``op.json`` last: half-dropped it still says what it was.

    What the disk refuses to drop is found again by the next command; the change itself is settled either way.
    """
    folder = os.path.join(staging, event_id)
    try:
        for name in sorted(os.listdir(folder), key=lambda name: (name == OPERATION, name)):
            disk.unlink(os.path.join(folder, name))
            hit("drop.each")
        disk.remove_folder(folder)
        hit("drop.done")
    except OSError:
        return
