"""The private records of one user in a store: add them, and read those that the index finds.

They are in the user's own folder of shards, which nothing else reads: neither the log, nor a recap, nor the
search for documents.
"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Final

from thunderus_mem.document.timestamp import format_precise
from thunderus_mem.errors import InvalidDocument, ThunderusError
from thunderus_mem.index.records import RecordFilter
from thunderus_mem.log.event import text_in
from thunderus_mem.log.line import decode, encode, refuse_secrets
from thunderus_mem.log.new_event import EventContext, make_event
from thunderus_mem.log.reader import SHARD_NAME, EventLog
from thunderus_mem.log.records import RECORD_KINDS, Record, parts_of, records_in, user_folder, valid_user
from thunderus_mem.memory.transaction import open_transaction
from thunderus_mem.startup import NamedTuple
from thunderus_mem.store.disk import make_folders
from thunderus_mem.store.files import replace_file
from thunderus_mem.store.layout import SHARD_FOLDERS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from thunderus_mem.index.questions import Index
    from thunderus_mem.index.records import RecordIndex, RecordRow
    from thunderus_mem.log.line import Event
    from thunderus_mem.log.records import Part
    from thunderus_mem.log.shard import LogReading
    from thunderus_mem.memory.memory import Memory


_LARGE: Final = 256 * 1024
"""Bytes of a shard to which no record is added: the index reads a changed shard as a whole."""


class AddedRecord(NamedTuple):
    """A stored record, with its time; the folder of its shard, and whether it was stored before."""

    record: Record
    folder: str
    repeated: bool = False


def user_logs(memory: Memory) -> list[EventLog]:
    """Return the log of each user, in the order of their folders."""
    place = memory.layout.at(SHARD_FOLDERS[2])
    try:
        names = sorted(os.listdir(place))
    except OSError:
        return []
    return [_log_in(memory, os.path.join(place, name)) for name in names]


def _log_in(memory: Memory, folder: str) -> EventLog:
    return EventLog(memory.root, folder, folder, os.path.join(folder, "none"))


class UserRecords:
    """The records of one user. Raises `InvalidQuery` for an id that no user can have."""

    def __init__(self, memory: Memory, user: str) -> None:
        self._memory = memory
        self.user = valid_user(user)
        self._folder = user_folder(user)
        self.log = _log_in(memory, memory.layout.at(self._folder))

    def index(self) -> RecordIndex:
        """Return the index of the records, up to date."""

        def refreshed(index: Index) -> RecordIndex:
            records = index.records()
            records.refresh(self.user, self.log, self._memory.tell)
            return records

        return self._memory.updated(refreshed)

    def read(self, rows: Iterable[RecordRow]) -> list[tuple[RecordRow, Record]]:
        """Read records, in the order of the rows; skip those whose lines no longer exist."""
        wanted = list(rows)
        lines: dict[str, set[int]] = {}
        for row in wanted:
            lines.setdefault(row.shard, set()).update(json.loads(row.lines))
        found = {
            (shard, stored.lines): stored.record
            for shard, numbers in lines.items()
            for stored in records_in(self.log.read_lines(shard, numbers), self.user)
        }
        keys = [(row.shard, tuple(json.loads(row.lines))) for row in wanted]
        return [(row, found[key]) for row, key in zip(wanted, keys, strict=True) if key in found]

    def read_all(self) -> LogReading:
        """Read all events of the user, in the order of the log."""
        reading = self.log.read_all()
        own = tuple(one for one in reading.events if text_in(one.event.body, "user") == self.user)
        return reading._replace(events=own)

    def _shard(self) -> str:
        """Return the shard for the next record: the newest one, or a new one if that is large."""
        newest = max(self.log.shards(), default="")
        if newest and os.path.getsize(self._memory.layout.at(newest)) < _LARGE:
            return newest
        ignored = self._memory.layout.at(f"{SHARD_FOLDERS[2]}/.gitignore")
        if not os.path.lexists(ignored):  # a store that was not made by `init` has none
            make_folders(os.path.dirname(ignored))
            replace_file(ignored, b"*\n")
        return f"{self._folder}/{self._memory.new_id('sess')}/{SHARD_NAME}"

    def add(self, record: Record) -> AddedRecord:
        """Store a record; without a time, that of this call. The same record again is not stored twice.

        Raises `InvalidDocument` if it does not fit into an event, `Refused` if it contains a secret.
        """
        (added,) = self.add_all([record])
        if isinstance(added, ThunderusError):
            raise added
        return added

    def add_all(self, records: Sequence[Record]) -> list[AddedRecord | ThunderusError]:
        """Store records like `add`; return for each what was stored, or why not."""
        results: list[AddedRecord | ThunderusError] = []
        if not records:
            return results
        with open_transaction(self._memory, "mcp") as transaction:
            known = self._known({record.message_id for record in records})
            waiting: list[Callable[[EventContext], Event]] = []
            size = 0
            for record in records:
                same = known.setdefault((record.kind, record.message_id), [])
                found = next((one for one in same if one == record._replace(ts=record.ts or one.ts)), None)
                if found is not None:
                    results.append(AddedRecord(found, self._folder, repeated=True))
                    continue
                dated = record._replace(ts=record.ts or format_precise(self._memory.now()))
                try:
                    makers = self._makers(dated)
                    size += _checked_size(makers)
                except ThunderusError as error:
                    results.append(error)
                    continue
                same.append(dated)
                results.append(AddedRecord(dated, self._folder))
                waiting += makers
                if size >= _LARGE:
                    transaction.log_private(waiting, self._shard())
                    waiting, size = [], 0
            if waiting:
                transaction.log_private(waiting, self._shard())
        return results

    def _known(self, message_ids: set[str]) -> dict[tuple[str, str], list[Record]]:
        """Return the records with these message ids, by kind and message id."""
        wanted = RecordFilter(message_id=min(message_ids)) if len(message_ids) == 1 else RecordFilter()
        rows = self.index().select(self.user, RECORD_KINDS, wanted)
        known: dict[tuple[str, str], list[Record]] = {}
        for _, record in self.read(row for row in rows if row.message_id in message_ids):
            known.setdefault((record.kind, record.message_id), []).append(record)
        return known

    def _makers(self, record: Record) -> list[Callable[[EventContext], Event]]:
        first = self._memory.new_id("evt")
        parts = parts_of(record, self.user, first)
        ids = [first, *(self._memory.new_id("evt") for _ in parts[1:])]
        return [_maker(part, id, record.ts) for part, id in zip(parts, ids, strict=True)]


def _maker(part: Part, id: str, ts: str) -> Callable[[EventContext], Event]:
    def make(context: EventContext) -> Event:
        dated = context._replace(ts=ts)
        return make_event(dated, part.kind, part.body, id=id, actor=part.actor, why=part.why)

    return make


def _checked_size(makers: Iterable[Callable[[EventContext], Event]]) -> int:
    """Return the size of events in bytes. Raises `InvalidDocument` if one cannot be written, or read again,
    and `Refused` for a secret."""
    size = 0
    for make in makers:
        event = make(EventContext("2026-01-21T09:00:00.000Z", "sess_0"))
        refuse_secrets(event)
        try:
            line = encode(event)
            decode(line)
        except ValueError as reason:
            raise InvalidDocument(str(reason), hint="shorten it, or write the value as text") from reason
        size += len(line)
    return size
