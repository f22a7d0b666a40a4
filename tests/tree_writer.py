"""The smallest writer that keeps the rules of a session: ask git, write documents and a line, remember it."""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from thunderus_mem.model.diagnostic import Severity
from thunderus_mem.model.document import content_hash
from thunderus_mem.model.event import Change, encode, note_event, patch_event, unified_diff
from thunderus_mem.model.ids import UlidSource
from thunderus_mem.model.timestamp import format_precise
from thunderus_mem.store.events import EventLog
from thunderus_mem.store.git import Git
from thunderus_mem.store.journal import Journal, Write
from thunderus_mem.store.sessions import Sessions

if TYPE_CHECKING:
    from git_repository import Repository

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

    def _write(self, changes: list[tuple[str, str | None]], text: str = "") -> str:
        git = Git.find(str(self.root), self.repository.env)
        state = self._sessions.ask(git, MEMORY)
        state = self._sessions.ask_again(git, state, MEMORY)
        session = self._sessions.current(state, self._clock(), self._ids.new)
        event_id, ts = self._ids.new("evt"), format_precise(self._clock())
        links = {"prev": session.prev_line_hash, "head": session.head_hint}
        writes, logged = [], []
        for path, new in changes:
            target = self.root / path
            old = target.read_bytes().decode() if target.exists() else None
            name = target.stem
            new = None if new is None else new.format(name=name, event=event_id)
            before = "" if old is None else content_hash(old)
            after = "" if new is None else content_hash(new)
            op = "create" if old is None else "remove" if new is None else "update"
            diff = unified_diff(old, new, path)
            logged.append(Change(op, f"fact.{name}", path, before, after, diff))
            writes.append(Write(path, before, None if new is None else new.encode()))
        shared = {"id": event_id, "ts": ts, "session_id": session.id, "actor": "user"}
        if logged:
            patch_id = self._ids.new("patch")
            op = "add" if logged[0].op == "create" else "edit"
            event = patch_event(**shared, **links, patch_id=patch_id, op=op, changes=logged)  # type: ignore[arg-type]
        else:
            event = note_event(**shared, **links, text=text)  # type: ignore[arg-type]
        line = encode(event)
        assert self._journal.commit(event_id, session.shard, line, writes).published
        self._sessions.wrote(session, line)
        return event_id

    def add(self, name: str, body: str = "") -> str:
        return self._write([(f"{FACTS}/{name}.md", DOCUMENT + body)])

    def note(self, text: str) -> str:
        return self._write([], text)

    def edit(self, name: str, old: str, new: str) -> str:
        path = f"{FACTS}/{name}.md"
        text = (self.root / path).read_text()
        assert old in text
        return self._write([(path, text.replace(old, new))])

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
        findings = self.reader.verify()
        assert [one for one in findings if one.severity is not Severity.NOTE] == []
        assert self.git("ls-files", "--unmerged") == ""
