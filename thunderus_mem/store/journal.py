"""A change of several files as one step: stage the bytes, commit by one line of the log, publish, drop.

The caller holds the lock. Killed before the commit point nothing has happened; after it ``heal`` does the
rest. A staged operation is a folder named after its event: ``op.json``, the new text of write *n* in the
file ``n``, and a removed document, once taken, in ``n.taken``. A write whose staged file is gone has been
published.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal

from thunderus_mem.model.document import content_hash
from thunderus_mem.model.errors import Conflict, Refused, ThunderusError
from thunderus_mem.store import disk
from thunderus_mem.store.failpoints import hit
from thunderus_mem.store.files import (
    ABSENT,
    TailRepair,
    append_record,
    check_expected,
    explain,
    file_hash,
    publish_file,
    quarantine,
    read_file,
    repair_tail,
    take_file,
)
from thunderus_mem.store.paths import inside
from thunderus_mem.store.tail import Uncertain

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

__all__ = ["Committed", "Healed", "Journal", "Write"]

_EVENT_ID: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,79}", re.ASCII)
_OPERATION: Final = "op.json"
_OPERATION_LIMIT: Final = 16 << 20
_STAGED_LIMIT: Final = 256 << 20


@dataclass(frozen=True, slots=True)
class Write:
    """One file of a change: ``path`` below the root, the hash it must have now, its new bytes (None:
    remove).
    """

    path: str
    before: str
    after: bytes | None


@dataclass(frozen=True, slots=True)
class Healed:
    """What became of one file of an interrupted change.

    ``removed``: never committed, nothing had happened. ``published``: finished now. ``dropped``: had been
    finished. ``aborted``: the file has other text, which stays; ours is in ``kept``. ``pending``: the disk
    refused again. ``tail``: the torn end of a log (``path``) was mended, the bytes are in ``kept``.
    ``damaged``: the staged operation could not be read; its files are in ``kept``.
    """

    event_id: str
    path: str
    action: Literal["removed", "published", "dropped", "aborted", "pending", "tail", "damaged"]
    kept: str = ""
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Committed:
    """A change that is in the log for good, and what became of its files.

    ``published`` is False while a file waits for the disk (``problem`` says why): the next command finishes
    it. ``aborted`` names files that somebody changed at the last moment: their text stays, ours is set
    aside.
    """

    event_id: str
    published: bool
    problem: str = ""
    aborted: tuple[Healed, ...] = ()


@dataclass(frozen=True, slots=True)
class _Planned:
    path: str
    before: str
    after: str

    def record(self) -> dict[str, str]:
        return {"path": self.path, "before": self.before, "after": self.after}


@dataclass(frozen=True, slots=True)
class _Operation:
    event_id: str
    shard: str
    head: str
    writes: tuple[_Planned, ...]


def _encode(operation: _Operation) -> bytes:
    import json

    record = {
        "event": operation.event_id,
        "shard": operation.shard,
        "head": operation.head,
        "writes": [planned.record() for planned in operation.writes],
    }
    return json.dumps(record, ensure_ascii=False, indent=1).encode()


def _decode(data: bytes) -> _Operation:
    import json

    record: dict[str, Any] = json.loads(data.decode("utf-8"))
    writes = tuple(
        _Planned(str(entry["path"]), str(entry["before"]), str(entry["after"])) for entry in record["writes"]
    )
    return _Operation(str(record["event"]), str(record["shard"]), str(record["head"]), writes)


class Journal:
    """Commits changes to the files below ``root``; ``staging`` and ``quarantine`` are absolute folders."""

    def __init__(self, root: str, staging: str, quarantine: str) -> None:
        self._root = root
        self._staging = staging
        self._quarantine = quarantine

    def pending(self) -> int:
        """How many changes are staged: under way in another process, or interrupted."""
        return len(self._staged())

    def repair(self, shard: str) -> TailRepair | None:
        """Mend the end of a log (root-relative); to be done before a line's ``prev`` is worked out."""
        return repair_tail(inside(self._root, shard), self._quarantine)

    def commit(
        self, event_id: str, shard: str, line: bytes, writes: Sequence[Write], *, head: str = ""
    ) -> Committed:
        """Record ``line`` in the log ``shard`` and make ``writes`` true, all or (before the log says so)
        nothing.

        ``head`` is what git's HEAD was when the change was made; ``heal`` compares it. Raises ``Conflict``
        when a file is not as its write expects, ``Refused`` for a path that leads out, ``NotWritable`` when
        the disk refuses, ``Uncertain`` when it could not even be told whether the line is recorded. After
        the line is in the log nothing is raised: see ``Committed``.
        """
        operation = _Operation(event_id, shard, head, tuple(_planned(write) for write in writes))
        self._check(operation)
        if writes:
            self._stage(operation, writes)
        try:
            hit("commit.before")
            append_record(inside(self._root, shard), line, quarantine_dir=self._quarantine)
        except Uncertain:
            raise
        except BaseException as error:
            self._drop(event_id)
            if isinstance(error, OSError):
                raise explain(error, shard) from error
            raise
        return self._publish_committed(operation)

    def _check(self, operation: _Operation) -> None:
        if not _EVENT_ID.fullmatch(operation.event_id):
            raise Refused(
                f"{operation.event_id[:80]!r} is not an event id.", hint="Let the tool make the id."
            )
        folded = [planned.path.casefold() for planned in operation.writes]
        if len(set(folded)) != len(folded):
            raise Refused("One change names the same file twice.", hint="Make it two changes.")
        for planned in operation.writes:
            check_expected(inside(self._root, planned.path), planned.before)
        repair = self.repair(operation.shard)
        if repair is not None and repair.action == "completed":
            # The line names the record before it, and that is no longer the last one.
            raise Conflict(f"{operation.shard} was mended just now.", hint="Run the command again.")

    def _stage(self, operation: _Operation, writes: Sequence[Write]) -> None:
        folder = os.path.join(self._staging, operation.event_id)
        try:
            disk.make_folders(self._staging)
            os.mkdir(folder)
            disk.note("mkdir", folder)
        except OSError as error:
            raise explain(error, folder) from error
        try:
            hit("stage.begun")
            for position, write in enumerate(writes):
                if write.after is not None:
                    _write_staged(os.path.join(folder, str(position)), write.after)
                    hit("stage.bytes")
            _write_staged(os.path.join(folder, _OPERATION), _encode(operation))
            hit("stage.operation")
            disk.sync_folder(folder)
            disk.sync_folder(self._staging)
            hit("stage.done")
        except BaseException as error:
            self._drop(operation.event_id)
            if isinstance(error, OSError):
                raise explain(error, folder) from error
            raise

    def _publish_committed(self, operation: _Operation) -> Committed:
        aborted: list[Healed] = []
        problem = ""
        try:
            hit("commit.after")
            for position, planned in enumerate(operation.writes):
                outcome = self._publish(operation, position, planned)
                if outcome.action == "aborted":
                    aborted.append(outcome)
                problem = problem or outcome.problem
            hit("publish.done")
        except OSError as error:
            problem = str(explain(error, operation.shard))
        if not problem:
            self._drop(operation.event_id)
        return Committed(operation.event_id, not problem, problem, tuple(aborted))

    def _publish(self, operation: _Operation, position: int, planned: _Planned) -> Healed:
        """Make one committed write true; what the disk refuses is ``pending``, other text ``aborted``."""
        staged = os.path.join(self._staging, operation.event_id, str(position))
        try:
            target = inside(self._root, planned.path)
            action = self._publish_one(staged, target, planned)
            hit("publish.each")
        except (Conflict, Refused):
            return self._set_aside(operation, position, planned)
        except OSError as error:
            return Healed(
                operation.event_id, planned.path, "pending", problem=str(explain(error, planned.path))
            )
        except ThunderusError as error:
            return Healed(operation.event_id, planned.path, "pending", problem=str(error))
        return Healed(operation.event_id, planned.path, action)

    def _publish_one(self, staged: str, target: str, planned: _Planned) -> Literal["published", "dropped"]:
        if planned.after == ABSENT:
            return _publish_removal(staged + ".taken", target, planned)
        if not os.path.lexists(staged) or file_hash(target) == planned.after:
            if os.path.isdir(os.path.dirname(target)):
                disk.sync_folder(os.path.dirname(target))
            return "dropped"
        if file_hash(staged) != planned.after:
            raise Conflict(f"{staged} is damaged.")
        publish_file(staged, target, expecting=planned.before)
        return "published"

    def _set_aside(self, operation: _Operation, position: int, planned: _Planned) -> Healed:
        base = os.path.join(self._staging, operation.event_id, str(position))
        kept = ""
        try:
            for path in (base, base + ".taken"):
                if os.path.lexists(path):
                    kept = quarantine(self._quarantine, planned.path, read_file(path, _STAGED_LIMIT))
        except ThunderusError as error:
            return Healed(operation.event_id, planned.path, "pending", problem=str(error))
        return Healed(operation.event_id, planned.path, "aborted", kept)

    def _staged(self) -> list[str]:
        try:
            with os.scandir(self._staging) as entries:
                return sorted(
                    entry.name
                    for entry in entries
                    if _EVENT_ID.fullmatch(entry.name) and entry.is_dir(follow_symlinks=False)
                )
        except FileNotFoundError:
            return []
        except OSError as error:
            raise explain(error, self._staging) from error

    def _drop(self, event_id: str) -> None:
        """Take the staged operation away, op.json last: half-dropped it still says what it was."""
        folder = os.path.join(self._staging, event_id)
        # What is left is found again by heal; the change itself is done either way.
        try:
            names = sorted(os.listdir(folder), key=lambda name: name == _OPERATION)
            for name in names:
                disk.unlink(os.path.join(folder, name))
                hit("drop.each")
            os.rmdir(folder)
            disk.note("rmdir", folder)
            hit("drop.done")
        except OSError:
            return

    def heal(
        self,
        contains: Callable[[str, str], bool],
        *,
        head: str | None = None,
        shards: Iterable[str] = (),
        on_abort: Callable[[Healed], None] | None = None,
    ) -> list[Healed]:
        """Finish or undo whatever an interrupted process left, under the lock; says what was done.

        ``contains(shard, event_id)`` tells whether the log has the event. ``head`` is git's HEAD now: a
        change made on another one is not published but set aside. The ends of ``shards`` are mended first.
        ``on_abort`` is called for each file that keeps other text, before the staged operation is
        forgotten, so that it can be recorded; it must bear being called twice. Killed itself, the next call
        does the rest.
        """
        healed: list[Healed] = []
        for shard in shards:
            healed += _told(self.repair(shard))
        try:
            for event_id in self._staged():
                hit("heal.found")
                healed += self._heal_one(event_id, contains, head, on_abort)
                hit("heal.done")
        except OSError as error:
            raise explain(error, self._staging) from error
        return healed

    def _heal_one(
        self,
        event_id: str,
        contains: Callable[[str, str], bool],
        head: str | None,
        on_abort: Callable[[Healed], None] | None,
    ) -> list[Healed]:
        folder = os.path.join(self._staging, event_id)
        if not os.path.lexists(os.path.join(folder, _OPERATION)):
            # Killed while staging, or at the very end of dropping: either way there is nothing to do.
            unfinished = bool(os.listdir(folder))
            self._drop(event_id)
            return [Healed(event_id, "", "removed")] if unfinished else []
        try:
            operation = _decode(read_file(os.path.join(folder, _OPERATION), _OPERATION_LIMIT))
            shard = inside(self._root, operation.shard)
        except (ValueError, KeyError, TypeError, Refused):
            return [self._keep_damaged(event_id)]
        told = _told(repair_tail(shard, self._quarantine))
        if not contains(operation.shard, event_id):
            self._drop(event_id)
            return [*told, *(Healed(event_id, planned.path, "removed") for planned in operation.writes)]
        hit("heal.known")
        _sync_log(shard)
        moved = head is not None and operation.head != "" and head != operation.head
        outcomes = [
            self._set_aside(operation, position, planned)
            if moved and self._waits(operation, position, planned)
            else self._publish(operation, position, planned)
            for position, planned in enumerate(operation.writes)
        ]
        for outcome in outcomes:
            if outcome.action == "aborted" and on_abort is not None:
                hit("heal.set-aside")
                on_abort(outcome)
        if not any(outcome.action == "pending" for outcome in outcomes):
            self._drop(event_id)
        return [*told, *outcomes]

    def _waits(self, operation: _Operation, position: int, planned: _Planned) -> bool:
        target = inside(self._root, planned.path)
        if planned.after == ABSENT:
            return os.path.lexists(target)
        staged = os.path.join(self._staging, operation.event_id, str(position))
        return os.path.lexists(staged) and file_hash(target) != planned.after

    def _keep_damaged(self, event_id: str) -> Healed:
        folder = os.path.join(self._staging, event_id)
        kept = ""
        for name in sorted(os.listdir(folder)):
            path = os.path.join(folder, name)
            kept = quarantine(self._quarantine, f"{event_id}-{name}", read_file(path, _STAGED_LIMIT))
        self._drop(event_id)
        return Healed(event_id, "", "damaged", kept)


def _planned(write: Write) -> _Planned:
    return _Planned(write.path, write.before, ABSENT if write.after is None else content_hash(write.after))


def _write_staged(path: str, data: bytes) -> None:
    descriptor = disk.create(path)
    try:
        disk.write_all(descriptor, path, data, failpoint="stage.half-written")
        disk.sync_file(descriptor, path)
    finally:
        os.close(descriptor)


def _publish_removal(taken: str, target: str, planned: _Planned) -> Literal["published", "dropped"]:
    if os.path.lexists(taken):
        if file_hash(taken) == planned.before:
            return "dropped"
        # Killed between taking the file and seeing that it was not the one to remove.
        if not os.path.lexists(target):
            disk.link(taken, target)
            disk.unlink(taken)
        raise Conflict(f"{planned.path} changed while it was removed.")
    if file_hash(target) == ABSENT:
        return "dropped"
    take_file(target, taken, expecting=planned.before)
    return "published"


def _told(repair: TailRepair | None) -> list[Healed]:
    return [] if repair is None else [Healed("", repair.path, "tail", repair.kept)]


def _sync_log(path: str) -> None:
    # The line may have been seen in memory only: it must outlive the documents published on its word.
    try:
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_CLOEXEC", 0))
    except OSError as error:
        raise explain(error, path) from error
    try:
        disk.sync_file(descriptor, path)
    except OSError as error:
        raise explain(error, path) from error
    finally:
        os.close(descriptor)
