"""More commands that faults are injected into: cleanup, reports, decisions and imports."""

from __future__ import annotations

import json

from commands import COMMANDS, FACTS, PROPOSED, Command, twice
from tier import NIGHT

from tests.support.events import patch_event
from thunderus_mem.log.line import encode
from thunderus_mem.memory.journal import FileChange

_ID = "evt_01KFFWGHHRHD99FDTGJ8YEP{:03d}"
_LINES = "".join(
    json.dumps({**event, "id": _ID.format(at), "session_id": "elsewhere"}) + "\n"
    for at, event in enumerate(
        (
            {"kind": "message", "body": {"role": "user", "text": "The exporter is slow."}},
            {"kind": "tool_call", "body": {"tool": "shell", "arguments": {"command": "make"}}},
            {"kind": "tool_result", "body": {"tool": "shell", "command": "make", "exit_code": 0}},
            {"kind": "note", "body": {"text": "It waits for the disk."}},
            {"kind": "note", "body": {"text": "Nothing else."}},
        )
    )
)
_SHARED = ("events", "add", "--share")
_LEADS_NOWHERE = {path: text for path, text in PROPOSED.items() if FACTS not in path}
_SAID = "It waits for a minute, and then for five."
_LONG_AGO = "Nothing happened that still counts."
_OLD_RECAP = (
    twice("old", _LONG_AGO, "2025-01-02T09:00:00Z")
    .replace("fact.old", "recap.2025-01-02")
    .replace("kind: fact", "kind: recap")
    .replace("created: 2026-01-20", "created: 2025-01-02")
)
_RECAP_PATH = ".thunderus/memory/episodic/2025-01-02.md"
_SESSION = "sess_01JGJSR0GGJYAJDSX5VK7TBXAB"
_WRITTEN = patch_event(
    id="evt_01JGJSR0GGJYAJDSX5VK7TBXAC",
    patch_id="patch_01JGJSR0GGJYAJDSX5VK7TBXAD",
    actor="user",
    op="recap",
    changes=[FileChange("recap.2025-01-02", _RECAP_PATH, None, _OLD_RECAP).for_log()],
    ts="2025-01-02T09:00:00.000Z",
    session_id=_SESSION,
    origin={},
    prev=None,
)
_ALIKE_AND_OLD = {
    f"{FACTS}/alike-a.md": twice("alike-a", _SAID),
    f"{FACTS}/alike-b.md": twice("alike-b", _SAID),
    _RECAP_PATH: _OLD_RECAP,
    f".thunderus/sessions/{_SESSION}/events.jsonl": encode(_WRITTEN).decode(),
    ".thunderus/memory/gardener.toml": "[archive]\nrecaps_after_days = 30\n",
}
"""Two documents that are merged, and a generated recap that is archived."""
TIDYING = (
    Command("recap", ("recap", "2026-01-21"), heal=("recap", "2026-01-21")),
    # Sent again, it adds what is missing: events that have an id are known by it.
    Command("events-add", _SHARED, heal=_SHARED, stdin=_LINES.encode()),
    Command("garden-both", ("garden", "--apply"), files=_ALIKE_AND_OLD, keeps=(_LONG_AGO, _SAID)),
    Command("unarchive", ("archive", "--undo", "fact.retries"), prepare=(("archive", "fact.retries"),)),
    # What it removes is gone, and what it changes is no longer there either: it leads nowhere.
    Command("patch-expire", ("review", "expire"), files=_LEADS_NOWHERE),
)
EVERY = (*COMMANDS, *TIDYING)
MOST = EVERY if NIGHT else (*COMMANDS, TIDYING[0])
"""For rows that try every point of a command: with every change only one of those here."""
