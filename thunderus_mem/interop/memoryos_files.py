"""The format `memoryos`: files of MemoryOS.

Of the dual-memory server: an object with the lists ``conversations`` and ``executions``, in the form of the
arguments of its tools, or one such list. Of BAI-LAB's MemoryOS: ``short_term.json``, ``mid_term.json`` and
``long_term_*.json``, which can be imported. Conversations and executions are private records of the user, as
those that the MCP profile stores; knowledge becomes facts.
"""

from __future__ import annotations

import hashlib
import io
import json
from typing import TYPE_CHECKING, Any, Final

from thunderus_mem.errors import InvalidDocument, ThunderusError
from thunderus_mem.interop import memoryos
from thunderus_mem.interop import values as by
from thunderus_mem.interop.formats import Format, FormatField
from thunderus_mem.interop.streams import JsonList
from thunderus_mem.interop.table import BODY, As, Field, FieldTable
from thunderus_mem.interop.transfer import ImportOptions, RefusedRecord, TransferReport, import_records
from thunderus_mem.log.records import CONVERSATION, user_in
from thunderus_mem.memory.records import AddedRecord, UserRecords
from thunderus_mem.startup import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from thunderus_mem.interop.export import Tally
    from thunderus_mem.log.records import Record
    from thunderus_mem.memory.memory import Memory

_CONVERSATION, _EXECUTION = "add_conversation_memory", "add_execution_memory"
_LISTS: Final = {"conversations": _CONVERSATION, "executions": _EXECUTION}
_KNOWLEDGE: Final = ("knowledge_base", "assistant_knowledge")
_SECTIONS: Final[dict[str, tuple[type, str]]] = {
    **dict.fromkeys((*_LISTS, *_KNOWLEDGE), (list, "a list")),
    **dict.fromkeys(("sessions", "user_profiles"), (dict, "an object")),
}
_DROPPED: Final = ("page_embedding", "summary_embedding", "knowledge_embedding")
_EXPLANATION: Final = "Imported from MemoryOS"

_TABLE: Final = FieldTable(
    name="memoryos",
    fields=(
        Field("knowledge", BODY, by.CONTENT, required=True),
        Field("knowledge", "title", by.TITLE),
        Field("kind", "kind", by.LABEL, otherwise=by.DEFAULT_KIND),
        Field("tags", "tags", by.TAGS, otherwise=by.DEFAULT_TAGS),
        Field("timestamp", "created", by.SQL_TIME),
        Field("timestamp", "updated", by.SQL_TIME, otherwise=As("created")),
        Field("knowledge_embedding", "", by.DROPPED, note="compute it again in the target"),
    ),
    identity="id",
    new_id=lambda given, text: given or by.raw_hash(text)[:16],
)


class _Entry(NamedTuple):
    """A conversation or execution in a file: its number, the tool that stores it, its arguments."""

    number: int
    tool: str
    arguments: dict[str, Any]


class MemoryFiles:
    """Reads and writes such files."""

    fields = (
        FormatField(
            "conversations", "private record", "object", "kept", "without a time: that of the import"
        ),
        FormatField("executions", "private record", "object", "kept", "without a time: that of the import"),
        FormatField("user_input, agent_response", "private record", "text", "kept", "BAI-LAB: import only"),
        FormatField("knowledge", "text", "text", "kept", "BAI-LAB: import only; a fact"),
        FormatField("timestamp", "created", "time, RFC 3339 or SQLite", "kept", "BAI-LAB: import only"),
        FormatField("user_profiles", "-", "text", "lost", "written by a model; it can be computed again"),
        FormatField("page_embedding", "-", "not stored", "lost", "compute it again in the target"),
    )

    def take(self, memory: Memory, data: bytes, source: str, why: str, *, dry_run: bool) -> TransferReport:
        """Store the records for the user of the environment, and add the knowledge as facts."""
        given = _parsed(data)
        entries, refused = _entries(given)
        records = UserRecords(memory, user_in(memory.environ))
        fit: list[tuple[_Entry, Record]] = []
        for one in entries:
            try:
                checked = memoryos.checked(one.tool, one.arguments, records.user)
                fit.append((one, memoryos.record_of(one.tool, checked)))
            except ThunderusError as reason:
                refused.append(RefusedRecord(one.number, _name(one), str(reason)))
        stored = [] if dry_run or not fit else records.add_all([record for _, record in fit])
        for (one, _), added in zip(fit, stored, strict=False):
            if isinstance(added, ThunderusError):
                refused.append(RefusedRecord(one.number, _name(one), str(added)))
        unchanged = sum(isinstance(added, AddedRecord) and added.repeated for added in stored)
        imported = sum(isinstance(added, AddedRecord) for added in stored) - unchanged if stored else len(fit)
        report = TransferReport(
            "memoryos", source, imported, 0, unchanged, (), tuple(sorted(refused)), {}, {}, dry_run=dry_run
        )
        return _with_knowledge(memory, given, report, why)

    def problems(self, data: bytes) -> tuple[int, list[RefusedRecord]]:
        """The number of conversations and executions, and what is wrong with some."""
        entries, found = _entries(_parsed(data))
        for one in entries:
            try:
                memoryos.record_of(one.tool, memoryos.checked(one.tool, one.arguments, ""))
            except ThunderusError as reason:
                found.append(RefusedRecord(one.number, _name(one), str(reason)))
        return len(entries) + len(found), sorted(found)

    def pieces(self, memory: Memory, tally: Tally) -> Iterator[str]:
        """Yield an object with the conversations and executions of the user of the environment."""
        from thunderus_mem.log.records import records_in

        records = UserRecords(memory, user_in(memory.environ))
        found: dict[str, list[Any]] = {name: [] for name in _LISTS}
        for stored in records_in(records.read_all().events, records.user):
            name = "conversations" if stored.record.kind == CONVERSATION else "executions"
            found[name].append(memoryos.arguments_of(stored.record))
            tally.exported += 1
        yield json.dumps(found, ensure_ascii=False, indent=1) + "\n"


def _name(one: _Entry) -> str:
    return str(one.arguments.get("message_id", ""))


def _parsed(data: bytes) -> Any:
    try:
        given = by.json_value(data)
    except ValueError as reason:
        raise InvalidDocument(f"the file {reason}") from None
    for name, (kind, words) in _SECTIONS.items():
        if isinstance(given, dict) and not isinstance(given.get(name), kind | None):
            raise InvalidDocument(f"`{name}` is not {words}")
    return given


def _entries(given: Any) -> tuple[list[_Entry], list[RefusedRecord]]:
    """The conversations and executions in a file of any of the shapes."""
    found: list[_Entry] = []
    refused = []
    for number, one in enumerate(_records(given)):
        if not isinstance(one, dict):
            refused.append(RefusedRecord(number, "", "is not an object"))
            continue
        inner = memoryos.flattened(one)
        is_execution = "execution_summary" in inner
        tool = _EXECUTION if is_execution else _CONVERSATION
        found.append(_Entry(number, tool, inner if "explanation" in inner else _page(inner)))
    return found, refused


def _records(given: Any) -> Iterable[Any]:
    if isinstance(given, list):
        return given
    if not isinstance(given, dict):
        raise InvalidDocument("the file is not a JSON object or list")
    listed = [given[name] for name in _LISTS if isinstance(given.get(name), list)]
    if listed:
        return [one for items in listed for one in items]
    sessions = given.get("sessions") or given
    pages = [one.get("details") for one in sessions.values() if isinstance(one, dict)]
    if pages and all(isinstance(one, list) for one in pages):
        return [page for listed in pages for page in listed or ()]
    if any(name in given for name in (*_KNOWLEDGE, "user_profiles")):
        return []
    return [given]


def _page(page: dict[str, Any]) -> dict[str, Any]:
    """The arguments that store a page of BAI-LAB's; what they have no place for is in ``meta_data``."""
    texts = {key: page.get(key) for key in ("user_input", "agent_response")}
    digest = hashlib.sha256(json.dumps(texts, sort_keys=True).encode()).hexdigest()[:16]
    id = page.get("page_id")
    time = page.get("timestamp")
    own = {key: value for key, value in page.items() if key not in (*texts, *_DROPPED, "timestamp")}
    timed = {"timestamp": by.SQL_TIME.read(time)} if isinstance(time, str) and _is_time(time) else {}
    named = id if isinstance(id, str) and 0 < len(id) <= 100 else f"page_{digest}"
    return {
        "message_id": named,
        "explanation": _EXPLANATION,
        **texts,
        **timed,
        **({"meta_data": own} if own else {}),
    }


def _is_time(text: str) -> bool:
    try:
        return bool(by.SQL_TIME.read(text))
    except ValueError:
        return False


def _with_knowledge(memory: Memory, given: Any, report: TransferReport, why: str) -> TransferReport:
    """Import the knowledge of a long-term file, as facts, and add it to the report."""
    from dataclasses import replace

    entries = [
        {**entry, "tags": [name.replace("_", "-")]} if isinstance(entry, dict) else entry
        for name in (_KNOWLEDGE if isinstance(given, dict) else ())
        for entry in given.get(name) or ()
    ]
    if not entries:
        return report
    form = Format("memoryos", _TABLE, JsonList("knowledge"))
    file = io.BytesIO(json.dumps(entries).encode())
    done = import_records(memory, form, file, report.source, ImportOptions(why=why, dry_run=report.dry_run))
    return replace(
        done,
        imported=done.imported + report.imported,
        unchanged=done.unchanged + report.unchanged,
        refused=(*report.refused, *done.refused),
    )


LOG: Final = MemoryFiles()
