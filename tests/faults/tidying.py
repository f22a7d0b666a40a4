"""Further commands that faults are aimed at: those that tidy up, tell, decide, and bring events in."""

from __future__ import annotations

import json

from commands import COMMANDS, FACTS, GARDENED, PROPOSED, Command, twice
from tier import NIGHT

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
_LEADS_NOWHERE = {path: text for path, text in PROPOSED.items() if FACTS not in path}
_SAID = "It waits for a minute, and then for five."
_EXPIRED = "It held until the new year."
_ALIKE_AND_EXPIRED = {
    f"{FACTS}/alike-a.md": twice("alike-a", _SAID),
    f"{FACTS}/alike-b.md": twice("alike-b", _SAID),
    f"{FACTS}/held.md": twice("held", _EXPIRED).replace("provenance:", "expires: 2026-01-10\nprovenance:"),
}
"""Two that are merged, and one that goes into the archive."""
TIDYING = (
    Command("recap", ("recap", "--day", "2026-01-21"), heal=("recap", "--day", "2026-01-21")),
    # Sent again, it adds what is missing: events that have an id are known by it.
    Command("events-add", ("events", "add"), heal=("events", "add"), stdin=_LINES.encode()),
    Command("garden-both", ("garden", "--apply"), files=_ALIKE_AND_EXPIRED, keeps=(_EXPIRED, _SAID)),
    Command("unarchive", ("unarchive", "fact.retries"), prepare=(("archive", "fact.retries"),)),
    Command("garden-undo", ("garden", "--undo"), prepare=GARDENED),
    # What it removes is gone, and what it changes is no longer there either: it leads nowhere.
    Command("patch-expire", ("patch", "expire"), files=_LEADS_NOWHERE),
    Command(
        "patch-rebase",
        ("patch", "rebase", "patch_0"),
        prepare=(
            *GARDENED[:-1],
            ("garden", "--propose", "--only", "duplicates"),
            ("edit", "fact.twice-a", "--add-tag", "later"),
        ),
    ),
)
EVERY = (*COMMANDS, *TIDYING)
MOST = EVERY if NIGHT else (*COMMANDS, TIDYING[0])
"""For rows that try every point of a command: with every change only one of those here."""
