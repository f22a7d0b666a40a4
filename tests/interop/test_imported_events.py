"""Imported events are cited by documents, but explain, confirm and decide nothing here."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.command_store import PRIVATE, SHARED, CommandStore
from thunderus_mem.document.document import content_hash
from thunderus_mem.memory.memory import open_memory
from thunderus_mem.memory.transaction import open_transaction
from thunderus_mem.review.queue import decision_about, rejected_keys

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.command_server import Server

FACTS = ".thunderus/memory/semantic/FACTS"
TEXT = """---
id: fact.a
title: A
kind: fact
tags:
  - a
created: "2026-01-21T09:00:00Z"
updated: "2026-01-21T09:00:00Z"
provenance:
  events: [{events}]
  patches: []
verification:
  last_verified_commit: null
  status: unknown
---

The port is 80.
"""


@pytest.fixture
def store(repo: Path, server: Server) -> CommandStore:
    return CommandStore(repo, server)


def add(store: CommandStore, kind: str, body: dict[str, Any], *, session: str = "s", **keys: Any) -> str:
    event = {"id": "evt_1", "session_id": session, "ts": "2026-01-21T09:00:00Z", "kind": kind, "body": body}
    ran = store.run("events", "add", stdin=json.dumps(event | keys).encode())
    assert ran.code == 0, ran.err
    return ran.out.strip()


def write(store: CommandStore, *events: str) -> str:
    text = TEXT.replace("{events}", ", ".join(f'"{name}"' for name in events))
    (store.root / FACTS).mkdir(parents=True, exist_ok=True)
    (store.root / FACTS / "a.md").write_text(text)
    return text


def test_imported_patch_does_not_explain_a_text(store: CommandStore) -> None:
    change = {"op": "create", "doc_id": "fact.a", "path": f"{FACTS}/a.md", "before": ""}
    change["after"] = content_hash(TEXT.replace("{events}", ""))
    body = {"op": "add", "changes": [change]}
    add(store, "patch", body, refs={"memory_doc_ids": ["fact.a"]})
    write(store)
    replayed = store.run("events", "replay", "--check")
    assert (replayed.code, f"{FACTS}/a.md" in replayed.out) == (1, True)
    assert "unrecorded" in store.run("why", "fact.a").out
    assert "unrecorded" in store.run("why", "fact.a", "--lines").out
    assert store.run("events", "add", "--kind", "note", "--body", "x").code == 0
    assert store.events(SHARED)[-2]["body"]["op"] == "hand-edit"


def test_imported_patch_cannot_be_undone(store: CommandStore) -> None:
    assert store.run("add", "fact", "B", "--body", "b.", "--tag", "b").code == 0
    own = store.events(SHARED)[-1]
    imported = add(store, "patch", own["body"], refs=own["refs"])
    assert store.run("undo", imported).code != 0
    assert (store.root / FACTS / "b.md").exists()
    assert store.run("undo", own["refs"]["patch_id"]).code == 0
    assert not (store.root / FACTS / "b.md").exists()


def test_imported_approval_decides_nothing(store: CommandStore) -> None:
    memory = open_memory(str(store.root))
    rejected = {"action": "patch", "approved": False, "decision": "rejected"}
    add(store, "approval", rejected | {"key": "k1"}, refs={"patch_id": "patch_1"})
    with open_transaction(memory, "test") as transaction:
        transaction.approve(rejected | {"key": "k2"}, (), why="", patch="patch_2")
    approved = {"action": "patch", "approved": True, "decision": "approved", "key": "k2"}
    add(store, "approval", approved, id="evt_2", ts="2026-12-31T09:00:00Z", refs={"patch_id": "patch_2"})
    memory.refresh()
    assert rejected_keys(memory) == {"k2"}
    assert decision_about(memory, "patch_1") is None
    decided = decision_about(memory, "patch_2")
    assert decided is not None
    assert decided.body["decision"] == "rejected"


def test_recap_does_not_list_imported_approvals_as_decisions(store: CommandStore) -> None:
    body = {"action": "write", "approved": True, "reason": "It looks good."}
    add(store, "approval", body)
    add(store, "snapshot", {}, id="evt_2")
    add(store, "note", {"text": "The port is 80."}, id="evt_3")
    ran = store.run("recap", "2026-01-21", "--dry-run")
    assert "- 1 note in a private event, not quoted" in ran.out, ran.err
    assert "pprov" not in ran.out
    assert "snapshot" not in ran.out


def provenance_findings(store: CommandStore) -> list[str]:
    report = json.loads(store.run("lint", "--select", "TM206", "--json").out)
    return [one["message"] for one in report["diagnostics"]]


def test_document_may_cite_an_imported_event_by_its_original_id(store: CommandStore) -> None:
    write(store, "evt_1")
    assert "is not in the log" in provenance_findings(store)[0]
    ours = add(store, "note", {"text": "The port is 80."})
    assert provenance_findings(store) == []
    assert f"event {ours}" in store.run("why", "fact.a", "-v").out
    add(store, "note", {"text": "The port is 81."}, session="t/u")
    (finding,) = provenance_findings(store)
    assert "ambiguous" in finding
    assert "evt_1  ambiguous" in store.run("why", "fact.a").out
    write(store, "s/evt_1", "t/u/evt_1")
    assert provenance_findings(store) == []
    shown = store.run("why", "fact.a", "-v").out
    assert all(f"event {event['id']}" in shown for event in store.events(PRIVATE))
    write(store, ours, "u/evt_1")
    assert "`u/evt_1` is not in the log" in provenance_findings(store)[0]


@pytest.mark.damaged
def test_log_of_thunderus_in_a_session_folder_is_named_with_its_command(store: CommandStore) -> None:
    folder = store.root / ".thunderus/sessions/2026-01-21T09-00-00Z"
    os.makedirs(folder)
    event = {"type": "user-message", "content": "hi"}
    logged = {"seq": 0, "session_id": "x", "timestamp": "2026-01-21T09:00:00Z", "event": event}
    (folder / "events.jsonl").write_text(json.dumps(logged) + "\n")
    ran = store.run("events", "verify")
    assert ran.code == 1
    assert "`thunderus-mem events add < .thunderus/sessions/2026-01-21T09-00-00Z/events.jsonl`" in ran.out
    assert store.run("events", "add", stdin=(folder / "events.jsonl").read_bytes()).code == 0
