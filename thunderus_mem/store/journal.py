"""A change of several files as one step: stage the bytes, commit by one line of the log, publish, drop.

The caller holds the lock. Killed before the commit point nothing has happened; after it ``heal`` does the
rest.
"""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING, Final

from thunderus_mem.model.errors import Conflict, ThunderusError
from thunderus_mem.store.batch import batch_at, mend_batch
from thunderus_mem.store.disk import explain, mode_of
from thunderus_mem.store.failpoints import hit
from thunderus_mem.store.files import (
    ABSENT,
    TailRepair,
    append_record,
    append_records,
    check_expected,
    quarantine,
    read_file,
    repair_tail,
    sweep,
)
from thunderus_mem.store.outcome import Committed, Healed
from thunderus_mem.store.paths import inside
from thunderus_mem.store.publishing import publish_staged
from thunderus_mem.store.staging import (
    OPERATION,
    Operation,
    drop,
    plan,
    read_operation,
    stage,
    staged_ids,
)
from thunderus_mem.store.tail import Uncertain, sync_log

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from thunderus_mem.store.staging import Planned, Write

__all__ = ["Journal"]

_STAGED_LIMIT: Final = 256 << 20


class Journal:
    """Commits changes to the files below ``root``; ``staging`` and ``quarantine`` are absolute folders.

    ``is_log`` and ``is_document`` tell which root-relative paths a change may speak of: a staged change that
    names any other was not made by us (a repository can bring a staging folder along) and is set aside.
    ``is_private`` are the logs that several lines at once are appended to.
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
        """How many changes are staged: under way in another process, or interrupted."""
        return len(staged_ids(self._staging))

    def repair(self, shard: str) -> TailRepair | None:
        """Mend the end of a log (root-relative); to be done before a line's ``prev`` is worked out."""
        return repair_tail(inside(self._root, shard), self._quarantine)

    def append(self, event_id: str, shard: str, lines: Sequence[bytes], *, follows: str = "") -> None:
        """Append lines that change no file to the log ``shard``, in one write: all, or none for whoever reads
        it after the next `heal`. The first is that of the event. Raises as `commit` does."""
        log = inside(self._root, shard)
        mended = repair_tail(log, self._quarantine)
        if mended is not None:
            raise Conflict(f"{shard} was mended just now.", hint="Run the command again.")
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
        self, event_id: str, shard: str, line: bytes, writes: Sequence[Write], *, head: str = "",
        follows: str = "",
    ) -> Committed:  # fmt: skip
        """Record ``line`` in the log ``shard`` and make ``writes`` true: all, or nothing before the log
        says so.

        ``head`` is what git's HEAD was when the change was made; ``heal`` compares it. ``follows`` is the
        hash of the line before. Raises ``Conflict`` when a file or the log is not as expected, ``Refused``
        for a path that leads out, ``NotWritable`` when the disk refuses, ``Uncertain`` (one of them) when
        nobody can tell whether the line is there. Once it is, nothing is raised: see ``Committed``.
        """
        operation = plan(event_id, shard, writes, head)
        log = inside(self._root, shard)
        for planned in operation.writes:
            check_expected(inside(self._root, planned.path), planned.before)
        mended = repair_tail(log, self._quarantine)
        if mended is not None and mended.action == "completed":
            # The line names the record before it, and that is no longer the last one.
            raise Conflict(f"{shard} was mended just now.", hint="Run the command again.")
        if writes:
            stage(self._staging, operation, writes)
        try:
            hit("commit.before")
            append_record(log, line, quarantine_dir=self._quarantine, follows=follows)
        except Uncertain:
            raise
        except BaseException as error:
            drop(self._staging, event_id)
            if isinstance(error, OSError):
                raise explain(error, shard) from error
            raise
        return self._publish_committed(operation)

    def _publish_committed(self, operation: Operation) -> Committed:
        outcomes: list[Healed] = []
        problem = ""
        try:
            hit("commit.after")
            for position in range(len(operation.writes)):
                outcomes += [self._publish(operation, position)]
            hit("publish.done")
        except OSError as error:
            problem = str(explain(error, operation.shard))
        problem = next((outcome.problem for outcome in outcomes if outcome.problem), problem)
        if not problem:
            drop(self._staging, operation.event_id)
        aborted = tuple(outcome for outcome in outcomes if outcome.action == "aborted")
        return Committed(operation.event_id, not problem, problem, aborted)

    def _publish(self, operation: Operation, position: int) -> Healed:
        """Make one committed write true; what the disk refuses is ``pending``, other text ``aborted``."""
        planned = operation.writes[position]
        staged = os.path.join(self._staging, operation.event_id, str(position))
        try:
            action = publish_staged(staged, inside(self._root, planned.path), planned)
            hit("publish.each")
        except Conflict:
            return self._set_aside(operation, position)
        except (OSError, ThunderusError) as error:
            return _waiting(operation, planned, error)
        return Healed(operation.event_id, planned.path, action)

    def _set_aside(self, operation: Operation, position: int) -> Healed:
        planned = operation.writes[position]
        staged = os.path.join(self._staging, operation.event_id, str(position))
        kept = ""
        try:
            for path in (staged, staged + ".taken"):
                if mode_of(path):
                    kept = quarantine(self._quarantine, planned.path, read_file(path, _STAGED_LIMIT))
        except (OSError, ThunderusError) as error:
            return _waiting(operation, planned, error)
        return Healed(operation.event_id, planned.path, "aborted", kept)

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
        does the rest. Raises ``NotWritable`` when the disk refuses to say what there is.
        """
        healed: list[Healed] = []
        sweep(self._quarantine)
        for shard in shards:
            healed += _told(self.repair(shard), shard)
        try:
            for event_id in staged_ids(self._staging):
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
        if not mode_of(os.path.join(folder, OPERATION)):
            # Killed while staging, or at the very end of dropping: either way there is nothing to do.
            unfinished = bool(os.listdir(folder))
            drop(self._staging, event_id)
            return [Healed(event_id, "", "removed")] if unfinished else []
        operation = read_operation(self._staging, event_id)
        if operation is None or not self._is_ours(operation):
            return [self._keep_damaged(event_id)]
        log = inside(self._root, operation.shard)
        if operation.batch is not None:
            told = _told(mend_batch(log, operation.batch, self._quarantine), operation.shard)
            drop(self._staging, event_id)
            return told
        told = _told(repair_tail(log, self._quarantine), operation.shard)
        moved = head is not None and operation.head not in ("", head)
        if contains(operation.shard, event_id):
            hit("heal.known")
            sync_log(log)
            return [*told, *self._finish(operation, moved, on_abort)]
        return [*told, *self._undo(operation, moved)]

    def _is_ours(self, operation: Operation) -> bool:
        if operation.batch is not None and (operation.writes or not self._is_private(operation.shard)):
            return False
        return bool(self._is_log(operation.shard)) and all(
            self._is_document(planned.path) for planned in operation.writes
        )

    def _undo(self, operation: Operation, moved: bool) -> list[Healed]:
        undone = []
        for position, planned in enumerate(operation.writes):
            # On another HEAD the event may well exist, in a log that is not checked out.
            kept = self._set_aside(operation, position) if moved else None
            if kept is not None and kept.action == "pending":
                return [kept]
            undone.append(
                Healed(operation.event_id, planned.path, "removed", "" if kept is None else kept.kept)
            )
        drop(self._staging, operation.event_id)
        return undone

    def _finish(
        self, operation: Operation, moved: bool, on_abort: Callable[[Healed], None] | None
    ) -> list[Healed]:
        outcomes = []
        for position in range(len(operation.writes)):
            if moved and self._waits(operation, position):
                outcome = self._set_aside(operation, position)
            else:
                outcome = self._publish(operation, position)
            if outcome.action == "aborted" and on_abort is not None:
                hit("heal.set-aside")
                on_abort(outcome)
            outcomes.append(outcome)
        if not any(outcome.action == "pending" for outcome in outcomes):
            drop(self._staging, operation.event_id)
        return outcomes

    def _waits(self, operation: Operation, position: int) -> bool:
        planned = operation.writes[position]
        staged = os.path.join(self._staging, operation.event_id, str(position))
        if planned.after == ABSENT:
            return not mode_of(staged + ".taken")
        return mode_of(staged) != 0

    def _keep_damaged(self, event_id: str) -> Healed:
        folder = os.path.join(self._staging, event_id)
        kept = ""
        for name in sorted(os.listdir(folder)):
            path = os.path.join(folder, name)
            if stat.S_ISREG(mode_of(path)):
                data = read_file(path, _STAGED_LIMIT)
                kept = quarantine(self._quarantine, f"{event_id}-{name}", data)
        drop(self._staging, event_id)
        return Healed(event_id, "", "damaged", kept)


def _waiting(operation: Operation, planned: Planned, error: OSError | ThunderusError) -> Healed:
    """A write that the disk refuses: the next command tries it again."""
    problem = explain(error, planned.path) if isinstance(error, OSError) else error
    return Healed(operation.event_id, planned.path, "pending", problem=str(problem))


def _told(mended: TailRepair | None, shard: str) -> list[Healed]:
    return [] if mended is None else [Healed("", shard, "tail", mended.kept)]
