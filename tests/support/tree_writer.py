"""The smallest writer that follows the rules of sessions: ask git, write documents and a log line."""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from tests.support.events import note_event, patch_event
from tests.support.log_findings import log_findings
from thunderus_mem.diagnostic import Severity
from thunderus_mem.document.diff import unified_diff
from thunderus_mem.document.document import content_hash
from thunderus_mem.document.timestamp import UlidSource, format_precise
from thunderus_mem.git.repository import Git
from thunderus_mem.index.database import create
from thunderus_mem.index.log import LogIndex
from thunderus_mem.log.event import Change, hand_edit_id
from thunderus_mem.log.line import Event, encode
from thunderus_mem.log.reader import EventLog
from thunderus_mem.log.sessions import Sessions
from thunderus_mem.memory.journal import FileChange, Journal

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tests.support.git_repository import Repository
    from thunderus_mem.git.repository import GitState

MEMORY = ".thunderus/memory"
FACTS = f"{MEMORY}/semantic/FACTS"
IGNORED = "memory/indexes/\nlocal/\n.staging/\n.quarantine/\n.lock\n"
DOCUMENT = """---
id: fact.{name}
title: {name}
kind: fact
tags:
  - one
created: 2026-01-21T09:00:00Z
updated: 2026-01-21T09:00:00Z
provenance:
  events:
    - {event}
  patches: []
  commits: []
verification:
  last_verified_commit: null
  status: unknown
---
{name} is so.
"""


class Clock:
    """Moves on by a second at every look, shared by all trees of a test."""

    def __init__(self) -> None:
        self.moment = datetime(2026, 1, 21, 9, tzinfo=UTC)

    def __call__(self) -> datetime:
        self.moment += timedelta(seconds=1)
        return self.moment


class Writer:
    """One working tree with a store in it, written the way the verbs write."""

    def __init__(self, repository: Repository, clock: Clock, seed: int = 1) -> None:
        self.repository = repository
        self.git = repository.git
        self.root = repository.root
        self._clock = clock
        self._ids = UlidSource(clock, random.Random(f"{seed}:{repository.root.name}").getrandbits)
        store = self.root / ".thunderus"
        local = store / "local"
        self._sessions = Sessions(str(self.root), str(store / "sessions"), str(local))
        self._journal = Journal(str(self.root), str(store / ".staging"), str(store / ".quarantine"))
        legacy = str(store / "events.jsonl")
        self.reader = EventLog(str(self.root), str(store / "sessions"), str(local / "sessions"), legacy)

    def _append(self, make: Callable[[dict[str, Any]], Event], files: Sequence[FileChange] = ()) -> str:
        git = Git.find(str(self.root), self.repository.env)
        state = self._sessions.ask(git, MEMORY)
        assert self._sessions.still_holds(git, state)
        session = self._sessions.current(state, self._clock(), self._ids.new)
        common = {
            "ts": format_precise(self._clock()),
            "session_id": session.id,
            "actor": "user",
            "prev": session.prev_line_hash,
            "heads": self._heads(state) if session.prev_line_hash is None else {},
        }
        event = make(common)
        line = encode(event)
        assert self._journal.commit(event.id, session.shard, line, files).published
        self._sessions.wrote(session, line)
        return event.id

    def _heads(self, state: GitState | None) -> dict[str, str]:
        """What a new shard names."""
        assert state is not None
        index = LogIndex(create())
        index.refresh(self.reader)
        return index.unnamed_heads(state.has)

    def _change(self, name: str, old: str | None, new: str) -> Change:
        path = f"{FACTS}/{name}.md"
        before = "" if old is None else content_hash(old)
        op = "create" if old is None else "update"
        return Change(op, f"fact.{name}", path, before, content_hash(new), unified_diff(old, new, path))

    def _patch(
        self, op: str, change: Change, files: Sequence[FileChange], event_id: str, patch_id: str = ""
    ) -> str:
        patch_id = patch_id or self._ids.new("patch")
        return self._append(
            lambda common: patch_event(id=event_id, patch_id=patch_id, op=op, changes=[change], **common),
            files,
        )

    def _write(self, op: str, name: str, old: str | None, new: str, event_id: str) -> str:
        change = self._change(name, old, new)
        return self._patch(op, change, [FileChange("", change.path, old, new)], event_id)

    def text(self, name: str) -> str:
        return (self.root / FACTS / f"{name}.md").read_bytes().decode()

    def add(self, name: str, body: str = "") -> str:
        event_id = self._ids.new("evt")
        text = DOCUMENT.format(name=name, event=event_id) + body
        return self._write("add", name, None, text, event_id)

    def edit(self, name: str, old: str, new: str) -> str:
        text = self.text(name)
        assert old in text
        changed = text.replace(old, new)
        return self._write("edit", name, text, changed, self._ids.new("evt"))

    def edit_by_hand(self, name: str, old: str, new: str) -> str:
        """Somebody edits the file; the next writing command records it."""
        text = self.text(name)
        changed = text.replace(old, new)
        (self.root / FACTS / f"{name}.md").write_bytes(changed.encode())
        change = self._change(name, text, changed)
        id = hand_edit_id(change.doc_id, change.path, change.before, change.after)
        return self._patch("hand-edit", change, (), id, id.replace("evt_", "patch_"))

    def note(self, text: str) -> str:
        return self._append(lambda common: note_event(id=self._ids.new("evt"), text=text, **common))

    def events(self) -> list[str]:
        return [logged.event.id for logged in self.reader.read_all().events]

    def names(self) -> set[str]:
        folder = self.root / FACTS
        return {path.stem for path in folder.glob("*.md")} if folder.exists() else set()

    def shards(self) -> set[str]:
        return set(self.reader.shards())

    def save(self, message: str) -> str:
        return self.repository.commit(message)

    def check(self) -> None:
        """The log has no error (notes are fine), and nothing under the store holds a conflict."""
        findings = log_findings(self.reader)
        assert [one for one in findings if one.severity is not Severity.NOTE] == []
        assert self.git("ls-files", "--unmerged") == ""
