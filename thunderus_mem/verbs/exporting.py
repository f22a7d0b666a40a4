"""``events export``: the log for other programs, whole or not at all."""

from __future__ import annotations

import json
import os
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from thunderus_mem.model.errors import InvalidQuery, NotFound, Refused
from thunderus_mem.model.secrets import find_secrets, redacted_data

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from thunderus_mem.memory import Memory
    from thunderus_mem.store.events import LoggedEvent

JSONL, PROV = "jsonl", "prov-json"
FORMATS = (JSONL, PROV)
_ESCAPES = re.compile(r"\\(?:u[0-9a-fA-F]{4}|.)")


@dataclass(frozen=True, slots=True)
class Exported:
    """What was exported: ``file`` is where it was written, or ``text`` the export itself. ``private`` counts
    private events that were left out, ``damaged`` the lines of the log that cannot be read."""

    file: str
    format: str
    events: int
    private: int
    damaged: int
    text: str = ""


class Export:
    """The events that pass the filters, in the order of the log; counted as they are read.

    Private events are left out unless ``private``. Raises `InvalidQuery` for a day or a format that there is
    not, `NotFound` for a document that no event names.
    """

    def __init__(
        self,
        memory: Memory,
        *,
        form: str = JSONL,
        document: str | None = None,
        kinds: Collection[str] = (),
        since: str = "",
        private: bool = False,
    ) -> None:
        from thunderus_mem.model.query import filter_value
        from thunderus_mem.verbs.history import events_of, names_of_document

        if form not in FORMATS:
            raise InvalidQuery(f"There is no format {form}.", hint=f"Formats: {', '.join(FORMATS)}")
        wanted = names_of_document(memory, document) if document is not None else None
        self._events = events_of(
            memory, doc_ids=wanted or (), kinds=kinds, since=filter_value("since", since) if since else ""
        )
        self._log = memory.log
        self._damaged = memory.log_index().damages()
        self._with_private = private
        self._form = form
        self.count = 0
        self.left_out = 0

    def pieces(self) -> Iterator[str]:
        """The text, piece by piece."""
        if self._form == PROV:
            from thunderus_mem.interop.prov import prov_document

            document = prov_document(logged.event for logged in self._read())
            yield json.dumps(redacted_data(document), ensure_ascii=False, indent=1, sort_keys=True) + "\n"
            return
        for logged in self._read():
            yield _line(logged)

    def _read(self) -> Iterator[LoggedEvent]:
        for logged in self._events:
            if self._log.is_private(logged.shard) and not self._with_private:
                self.left_out += 1
                continue
            self.count += 1
            yield logged

    def write(self, memory: Memory, path: str) -> Exported:
        """Write the file ``path`` (absolute): the whole export, or the file stays as it was."""
        from thunderus_mem.store.files import replace_file

        _check_target(memory, path)
        replace_file(path, (piece.encode("utf-8", "replace") for piece in self.pieces()))
        return self.done(path)

    def done(self, path: str = "") -> Exported:
        """What was exported so far."""
        return Exported(path, self._form, self.count, self.left_out, self._damaged)


def _line(logged: LoggedEvent) -> str:
    """An event with its place, on one line: the event's own text to the letter, unless it holds a secret."""
    head = json.dumps({"shard": logged.shard, "line": logged.line}, ensure_ascii=False)[:-1]
    raw = logged.event.raw.decode("utf-8", "replace")
    if find_secrets(_ESCAPES.sub(" ", raw)):
        data: Any = redacted_data(json.loads(raw))
        raw = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
        head += ', "redacted": true'
    return f'{head}, "event": {raw}}}\n'


def _check_target(memory: Memory, path: str) -> None:
    folder = os.path.dirname(path)
    if not os.path.isdir(folder):
        raise NotFound(f"there is no folder {folder}", hint="make it first, or name another file")
    store = os.path.realpath(memory.layout.store)
    if os.path.commonpath([os.path.realpath(folder), store]) == store:
        raise Refused(f"{path} is inside the store", hint="export to a file outside .thunderus")
