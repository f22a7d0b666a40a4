"""Change several files atomically: stage the bytes, commit with one line of the log, publish, drop.

The caller holds the lock. If the process is killed before the line is written, nothing has changed; after it,
``recover`` finishes the change.

A staged operation is a folder named after its event: ``op.json``, the new text of write *n* in the file
``n``, and a removed document, once moved, in ``n.taken``. A write without a staged file is published. Reads
and writes the staging folder, the documents and the log.
"""

from __future__ import annotations

import os
import re
import stat
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final, Literal

from thunderus_mem.document.document import content_hash, same_text
from thunderus_mem.errors import Conflict, NotWritable, Refused, ThunderusError, explain
from thunderus_mem.log.append import (
    Batch,
    TailRepair,
    Uncertain,
    append_record,
    append_records,
    batch_at,
    repair_batch,
    repair_tail,
    sync_log,
)
from thunderus_mem.log.event import Change
from thunderus_mem.startup import NamedTuple, lazy_pattern
from thunderus_mem.store import disk
from thunderus_mem.store.files import (
    ABSENT,
    check_expected,
    file_hash,
    publish_staged,
    read_file,
    settle_published,
    sweep,
)
from thunderus_mem.store.parallel import overlap
from thunderus_mem.store.paths import inside, safe_relative
from thunderus_mem.store.quarantine import quarantine

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

    GivenUp = Callable[[Iterable[str]], Collection[tuple[str, str]]]

OPERATION: Final = "op.json"

_EVENT_ID: Final = lazy_pattern(r"[A-Za-z0-9][A-Za-z0-9_-]{0,79}", re.ASCII)
_OPERATION_LIMIT: Final = 16 << 20
_BATCH_LIMIT: Final = 1 << 30


class Planned(NamedTuple):
    """A write in ``op.json``: the hashes before and after, ``ABSENT`` for no file."""

    path: str
    before: str
    after: str


class Operation(NamedTuple):
    """A staged change: its event, its shard, git's HEAD when it was staged, and its writes.

    With a ``batch``: several lines of the log without writes; ``event_id`` is that of the first.
    """

    event_id: str
    shard: str
    head: str
    writes: tuple[Planned, ...]
    batch: Batch | None = None


def plan(event_id: str, shard: str, changes: Sequence[FileChange], head: str) -> Operation:
    """Return the operation for ``changes``; raises ``Refused`` for an invalid event id or duplicate paths."""
    if not _EVENT_ID.fullmatch(event_id):
        raise Refused(f"invalid event id {event_id[:80]!r}", hint="let the program generate the id")
    folded = [change.path.casefold() for change in changes]
    if len(set(folded)) != len(folded):
        raise Refused("a change names the same file twice", hint="make two changes")
    planned = tuple(Planned(change.path, change.hash_found, change.hash_after) for change in changes)
    return Operation(event_id, shard, head, planned)


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
    """Read ``op.json`` of a staged change; None if it is damaged or has an unsafe path.

    Raises like ``read_file``: a read error is not damage.
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
    """Return the ids of the staged events, oldest first."""
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


def stage(staging: str, operation: Operation, changes: Sequence[FileChange]) -> None:
    """Write the new texts and ``op.json``, all synced; leaves nothing on failure."""
    folder = os.path.join(staging, operation.event_id)
    try:
        disk.make_folders(staging)
        disk.make_folder(folder)
    except OSError as error:
        raise explain(error, folder) from error
    try:
        texts = [(at, one.after, one.mode) for at, one in enumerate(changes) if one.after is not None]
        overlap(
            texts, lambda one: disk.write_new(os.path.join(folder, str(one[0])), (one[1].encode(),), one[2])
        )
        disk.write_new(os.path.join(folder, OPERATION), (_encode(operation),), None)
        disk.sync_folder(folder)
        disk.sync_folder(staging)
    except BaseException as error:
        drop(staging, operation.event_id)
        if isinstance(error, OSError):
            raise explain(error, folder) from error
        raise


def drop(staging: str, event_id: str) -> None:
    """Remove a staged change, ``op.json`` last, so that an interrupted drop can be recognised.

    Errors are ignored: the next command finds the rest, and the change itself is complete.
    """
    folder = os.path.join(staging, event_id)
    try:
        for name in sorted(os.listdir(folder), key=lambda name: (name == OPERATION, name)):
            disk.unlink(os.path.join(folder, name))
        disk.remove_folder(folder)
    except OSError:
        return


DEFAULT_MODE: Final = 0o644
"""Default permissions, omitted from the log."""


class FileChange(NamedTuple):
    """A change of one file: its text before (``None``: no file) and after (``None``: removed).

    A moved document is two changes with ``renames``: its old path is removed, its new path created. ``found``
    is the current text instead of ``before``, if git left a conflict in the file. ``mode`` are the
    permissions of a new or removed file, if not the default.
    """

    doc_id: str
    path: str
    before: str | None
    after: str | None
    renames: bool = False
    found: str | None = None
    mode: int | None = None

    @classmethod
    def move(
        cls, id: str, path: str, text: str, to: str, *, new_text: str | None = None, new_id: str | None = None
    ) -> list[FileChange]:
        """Return the changes that move a document to the path ``to``, optionally with a new text or id."""
        gets = cls(
            id if new_id is None else new_id, to, None, text if new_text is None else new_text, renames=True
        )
        return [cls(id, path, text, None, renames=True), gets]

    @property
    def op(self) -> str:
        """What the change does to the file: create, update, remove or rename."""
        if self.renames:
            return "rename"
        if self.before is None:
            return "create"
        return "remove" if self.after is None else "update"

    @property
    def hash_before(self) -> str:
        """The hash of the text before, ``ABSENT`` for no file."""
        return ABSENT if self.before is None else content_hash(self.before)

    @property
    def hash_found(self) -> str:
        """The hash the file must have when it is changed."""
        return self.hash_before if self.found is None else content_hash(self.found)

    @property
    def hash_after(self) -> str:
        """The hash of the text after, ``ABSENT`` if removed."""
        return ABSENT if self.after is None else content_hash(self.after)

    def for_log(self, *, diffs: bool = True) -> Change:
        """Return the change for the log: hashes, and with ``diffs`` the diff if it is short and may be
        logged."""
        from thunderus_mem.safety.secrets import diff_for_log

        diff = diff_for_log(self.before, self.after, self.path) if diffs else None
        return Change(
            op=self.op,
            doc_id=self.doc_id,
            path=self.path,
            before=self.hash_before,
            after=self.hash_after,
            diff=diff,
            diff_omitted=diff is None,
            mode=f"{self.mode:03o}" if self.op == "remove" and self.mode is not None else "",
            text_kept=bool(self.before and self.after and same_text(self.before, self.after)),
        )


def with_modes(edits: Iterable[FileChange], mode_at: Callable[[str], int]) -> Iterator[FileChange]:
    """Add the permissions of removed files to the edits, for the log; a moved file keeps its permissions.

    ``mode_at`` returns the permissions of a path, 0 if missing.
    """
    left: int | None = None
    for edit in edits:
        if edit.after is None:
            mode = mode_at(edit.path)
            left = mode if mode not in (0, DEFAULT_MODE) else None
            yield edit._replace(mode=left)
        else:  # the new path of a move follows its old path immediately
            moved = left if edit.renames and edit.mode is None else edit.mode
            yield edit._replace(mode=moved)
            left = None


class RecoveredFile(NamedTuple):
    """How one file of an interrupted change was recovered.

    ``removed``: not committed, undone. ``published``: finished now. ``dropped``: was already finished.
    ``aborted``: the file has other text, which is kept; ours is in ``kept``. ``pending``: writing failed
    again, ``problem`` is the error. ``tail``: the end of the log ``path`` was repaired, torn bytes are in
    ``kept``. ``damaged``: the staged change is unreadable; its files are in ``kept``.
    """

    event_id: str
    path: str
    action: Literal["removed", "published", "dropped", "aborted", "pending", "tail", "damaged"]
    kept: str = ""
    problem: str = ""


class Committed(NamedTuple):
    """A change that is in the log, and the state of its files.

    ``problem``: why a file could not be written yet; the next command finishes it. ``aborted``: files that
    another program changed at the last moment; they are kept, and our text is quarantined.
    """

    problem: str = ""
    aborted: tuple[RecoveredFile, ...] = ()

    @property
    def published(self) -> bool:
        """Whether all files are written."""
        return not self.problem


_STAGED_LIMIT: Final = 256 << 20


class Journal:
    """Commits changes to files below ``root``; ``staging`` and ``quarantine`` are absolute folders.

    ``is_log`` and ``is_document`` decide which root-relative paths a change may contain: a staged change with
    any other path is not ours (a clone can contain a staging folder) and is quarantined. ``is_private`` are
    the logs that batches are appended to.
    """

    def __init__(
        self,
        root: str,
        staging: str,
        quarantine: str,
        *,
        is_log: Callable[[str], object] = bool,
        is_private: Callable[[str], object] = bool,
        is_document: Callable[[str], object] = bool,
    ) -> None:
        self._root = root
        self._is_log = is_log
        self._is_private = is_private
        self._is_document = is_document
        self._staging = staging
        self._quarantine = quarantine

    def pending(self) -> int:
        """Return the number of staged changes: in progress in another process, or interrupted."""
        return len(staged_ids(self._staging))

    def waiting(self) -> frozenset[tuple[str, str]]:
        """Return ``(event id, path)`` of the staged writes that are not published yet."""
        found: set[tuple[str, str]] = set()
        for event_id in staged_ids(self._staging):
            with suppress(OSError, ThunderusError):  # dropped meanwhile, or `recover` reports it
                found |= {(event_id, one.writes[at].path) for one, at in self._unpublished(event_id)}
        return frozenset(found)

    def _unpublished(self, event_id: str) -> Iterator[tuple[Operation, int]]:
        operation = read_operation(self._staging, event_id)
        if operation is not None:
            for position in range(len(operation.writes)):
                if self._is_pending(operation, position):
                    yield operation, position

    def repair(self, shard: str) -> TailRepair | None:
        """Repair the end of a root-relative log; call it before computing a line's ``prev``."""
        return repair_tail(inside(self._root, shard), self._quarantine)

    def append(self, event_id: str, shard: str, lines: Sequence[bytes], *, follows: str = "") -> None:
        """Append lines that change no file to the log ``shard`` in one write: all or none, after `recover`.
        ``event_id`` is that of the first line. Raises like `commit`."""
        log = inside(self._root, shard)
        repair = repair_tail(log, self._quarantine)
        if repair is not None:
            raise Conflict(f"the end of {shard} was just repaired", hint="run the command again")
        if len(lines) > 1:
            stage(self._staging, plan(event_id, shard, (), "")._replace(batch=batch_at(log, lines)), ())
        try:
            append_records(log, lines, quarantine_dir=self._quarantine, follows=follows)
        except Uncertain:
            raise
        except BaseException:
            drop(self._staging, event_id)
            raise
        drop(self._staging, event_id)

    def commit(
        self, event_id: str, shard: str, line: bytes, changes: Sequence[FileChange], *, head: str = "",
        follows: str = "",
    ) -> Committed:  # fmt: skip
        """Append ``line`` to the log ``shard`` and make ``changes``; the line commits them.

        ``head`` is git's HEAD at the time of the change; ``recover`` compares it. ``follows`` is the hash of
        the previous line. Raises ``Conflict`` if a file or the log is not as expected, ``Refused`` for an
        unsafe path, ``NotWritable`` for a system error or a file that an earlier change has yet to write, and
        its subclass ``Uncertain`` if the line may or may not be written. Once it is written, nothing is
        raised: see ``Committed``.
        """
        operation = plan(event_id, shard, changes, head)
        log = inside(self._root, shard)
        self._check_waiting(operation)
        for planned in operation.writes:
            check_expected(inside(self._root, planned.path), planned.before)
        repair = repair_tail(log, self._quarantine)
        if repair is not None and repair.action == "completed":
            # The line's ``prev`` is no longer the hash of the last record.
            raise Conflict(f"the end of {shard} was just repaired", hint="run the command again")
        if changes:
            stage(self._staging, operation, changes)
        try:
            append_record(log, line, quarantine_dir=self._quarantine, follows=follows)
        except Uncertain:
            raise
        except BaseException:
            drop(self._staging, event_id)
            raise
        outcomes = self._publish(operation, range(len(changes)))
        problem = next((outcome.problem for outcome in outcomes if outcome.problem), "")
        if not problem:
            drop(self._staging, event_id)
        return Committed(problem, tuple(one for one in outcomes if one.action == "aborted"))

    def _check_waiting(self, operation: Operation) -> None:
        """Raise if an earlier change of a file waits: this one would be based on a text about to change."""
        paths = {planned.path for planned in operation.writes}
        for event_id, path in sorted(self.waiting() if paths else ()):
            if path in paths:
                raise NotWritable(
                    f"an earlier change of {path} is logged, but could not be written yet",
                    hint=f"make its folder writable, or run `thunderus-mem undo {event_id}`",
                )

    def give_up(
        self, event_id: str, on_abort: Callable[[Sequence[RecoveredFile]], None]
    ) -> tuple[RecoveredFile, ...]:
        """Abort the writes of a committed change that are not published yet, under the lock; return them.

        Their texts are quarantined. ``on_abort`` records them, which decides: before it, ``recover``
        publishes them, and after it never. Raises ``NotWritable``, and whatever ``on_abort`` raises.
        """
        lost = tuple(self._abort(operation, at) for operation, at in self._unpublished(event_id))
        problem = next((one.problem for one in lost if one.problem), "")
        if problem:
            raise NotWritable(problem)
        on_abort(lost)
        drop(self._staging, event_id)
        return lost

    def _publish(
        self, operation: Operation, positions: Iterable[int], *, moved: bool = False
    ) -> list[RecoveredFile]:
        """Publish committed writes, or abort those left if HEAD has ``moved``; sync each folder once."""
        staging = os.path.join(self._staging, operation.event_id)
        outcomes: dict[int, RecoveredFile] = {}
        folders: dict[str, list[int]] = {}
        for position in positions:
            planned = operation.writes[position]
            if moved and self._is_pending(operation, position):
                outcomes[position] = self._abort(operation, position)
                continue
            try:
                target = inside(self._root, planned.path)
                staged = os.path.join(staging, str(position))
                action = publish_staged(staged, target, planned.before, planned.after)
                outcomes[position] = RecoveredFile(operation.event_id, planned.path, action)
                folders.setdefault(os.path.dirname(target), []).append(position)
            except Conflict:
                outcomes[position] = self._abort(operation, position)
            except (OSError, ThunderusError) as error:
                outcomes[position] = _pending_file(operation, planned, error)
        for folder, done in folders.items():
            try:
                settle_published(folder, staging, {str(position) for position in done})
            except (OSError, ThunderusError) as error:
                outcomes |= {at: _pending_file(operation, operation.writes[at], error) for at in done}
        return [*outcomes.values()]

    def _abort(self, operation: Operation, position: int) -> RecoveredFile:
        planned = operation.writes[position]
        staged = os.path.join(self._staging, operation.event_id, str(position))
        kept = ""
        try:
            for path in (staged, staged + ".taken"):
                if disk.mode_of(path):
                    kept = quarantine(self._quarantine, planned.path, read_file(path, _STAGED_LIMIT))
        except (OSError, ThunderusError) as error:
            return _pending_file(operation, planned, error)
        return RecoveredFile(operation.event_id, planned.path, "aborted", kept)

    def recover(
        self,
        contains: Callable[[str, str], bool],
        *,
        head: str | None = None,
        shards: Iterable[str] = (),
        given_up: GivenUp = lambda paths: frozenset(),
        on_abort: Callable[[RecoveredFile], None] | None = None,
    ) -> list[RecoveredFile]:
        """Finish or undo interrupted changes, under the lock; return what was done.

        ``contains(shard, event_id)`` is whether the log has the event. ``head`` is git's current HEAD: a
        change made on another HEAD is quarantined, not published. The ends of ``shards`` are repaired first.
        ``on_abort`` is called for each aborted file, so that it can be recorded, before the staged operation
        is dropped. ``given_up`` returns ``(event id, path)`` of the recorded ones among some paths: these are
        neither published nor recorded again. An interrupted recovery is finished by the next call. Raises
        ``NotWritable`` if the staging folder cannot be read.
        """
        recovered: list[RecoveredFile] = []
        sweep(self._quarantine)
        for shard in shards:
            recovered += _tail_recovered(self.repair(shard), shard)
        try:
            for event_id in staged_ids(self._staging):
                recovered += self._recover_one(event_id, contains, head, given_up, on_abort)
        except OSError as error:
            raise explain(error, self._staging) from error
        return recovered

    def _recover_one(
        self,
        event_id: str,
        contains: Callable[[str, str], bool],
        head: str | None,
        given_up: GivenUp,
        on_abort: Callable[[RecoveredFile], None] | None,
    ) -> list[RecoveredFile]:
        folder = os.path.join(self._staging, event_id)
        if not disk.mode_of(os.path.join(folder, OPERATION)):
            # Killed while staging, or at the end of dropping: nothing to recover.
            unfinished = bool(os.listdir(folder))
            drop(self._staging, event_id)
            return [RecoveredFile(event_id, "", "removed")] if unfinished else []
        operation = read_operation(self._staging, event_id)
        if operation is None or not self._is_ours(operation):
            return [self._keep_damaged(event_id)]
        log = inside(self._root, operation.shard)
        if operation.batch is not None:
            tails = _tail_recovered(repair_batch(log, operation.batch, self._quarantine), operation.shard)
            drop(self._staging, event_id)
            return tails
        tails = _tail_recovered(repair_tail(log, self._quarantine), operation.shard)
        moved = head is not None and operation.head not in ("", head)
        if contains(operation.shard, event_id):
            sync_log(log)
            lost = given_up([planned.path for planned in operation.writes])
            return [*tails, *self._finish(operation, moved, lost, on_abort)]
        return [*tails, *self._undo(operation, moved)]

    def _is_ours(self, operation: Operation) -> bool:
        if operation.batch is not None and (operation.writes or not self._is_private(operation.shard)):
            return False
        return bool(self._is_log(operation.shard)) and all(
            self._is_document(planned.path) for planned in operation.writes
        )

    def _undo(self, operation: Operation, moved: bool) -> list[RecoveredFile]:
        undone = []
        for position, planned in enumerate(operation.writes):
            # On another HEAD the event may exist in a log that is not checked out.
            kept = self._abort(operation, position) if moved else None
            if kept is not None and kept.action == "pending":
                return [kept]
            undone.append(
                RecoveredFile(operation.event_id, planned.path, "removed", "" if kept is None else kept.kept)
            )
        drop(self._staging, operation.event_id)
        return undone

    def _finish(
        self,
        operation: Operation,
        moved: bool,
        given_up: Collection[tuple[str, str]],
        on_abort: Callable[[RecoveredFile], None] | None,
    ) -> list[RecoveredFile]:
        wanted = [
            position
            for position, planned in enumerate(operation.writes)
            if (operation.event_id, planned.path) not in given_up
        ]
        outcomes = self._publish(operation, wanted, moved=moved)
        for outcome in outcomes:
            if outcome.action == "aborted" and on_abort is not None:
                on_abort(outcome)
        if not any(outcome.action == "pending" for outcome in outcomes):
            drop(self._staging, operation.event_id)
        return outcomes

    def _is_pending(self, operation: Operation, position: int) -> bool:
        """Whether a write is not published yet; also if that cannot be determined."""
        planned = operation.writes[position]
        staged = os.path.join(self._staging, operation.event_id, str(position))
        try:
            begun = disk.mode_of(staged + ".taken") if planned.after == ABSENT else not disk.mode_of(staged)
            # Hashes ignore line ends: of a write that changes only these, they say nothing.
            same = planned.before == planned.after
            return not begun and (same or file_hash(inside(self._root, planned.path)) != planned.after)
        except (OSError, ThunderusError):
            return True

    def _keep_damaged(self, event_id: str) -> RecoveredFile:
        folder = os.path.join(self._staging, event_id)
        kept = ""
        for name in sorted(os.listdir(folder)):
            path = os.path.join(folder, name)
            if stat.S_ISREG(disk.mode_of(path)):
                data = read_file(path, _STAGED_LIMIT)
                kept = quarantine(self._quarantine, f"{event_id}-{name}", data)
        drop(self._staging, event_id)
        return RecoveredFile(event_id, "", "damaged", kept)


def _pending_file(operation: Operation, planned: Planned, error: OSError | ThunderusError) -> RecoveredFile:
    """Return a write that failed: the next command retries it."""
    problem = explain(error, planned.path) if isinstance(error, OSError) else error
    return RecoveredFile(operation.event_id, planned.path, "pending", problem=str(problem))


def _tail_recovered(repair: TailRepair | None, shard: str) -> list[RecoveredFile]:
    return [] if repair is None else [RecoveredFile("", shard, "tail", repair.kept)]
