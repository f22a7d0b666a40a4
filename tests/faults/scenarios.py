"""The list of fault subjects; to add a subject or command, add an entry here."""

from __future__ import annotations

import os
import sys

from harness import HERE, Scenario, Step, Subject

WRITER = Subject(
    "writer", (sys.executable, os.path.join(HERE, "writer.py"), "{root}"), "writer:main", heal=("status",)
)

_FACTS = ".thunderus/memory/semantic/FACTS"
_TWO = (Step(("change", "a=eins", "b=zwei")), Step(("note", "hallo")))

SCENARIOS = (
    Scenario("first", WRITER, (), ("change", "a=eins")),
    Scenario("add", WRITER, _TWO, ("change", "c=neu*30")),
    Scenario("edit", WRITER, _TWO, ("change", "a=anders")),
    Scenario("remove", WRITER, _TWO, ("change", "b")),
    Scenario("several", WRITER, _TWO, ("change", "c=neu", "a=anders", "b")),
    Scenario("note", WRITER, _TWO, ("note", "noch", "eins")),
    Scenario("notes", WRITER, _TWO, ("notes", "eins", "zwei", "drei")),
    Scenario("after-torn-tail", WRITER, _TWO, ("change", "c=neu"), damage=b'{"event_id": "evt_9", "bo\xc3'),
    Scenario("after-cut-line-end", WRITER, _TWO, ("status",), cut=1),
    Scenario("roll-back", WRITER, _TWO, ("change", "c=neu", "a=anders"), always="after-write-log:raise"),
    Scenario("plain-replace", WRITER, _TWO, ("put", ".thunderus/memory/gardener.toml", "a = 1\n")),
    Scenario(
        "plain-remove",
        WRITER,
        (*_TWO, Step(("put", ".thunderus/memory/gardener.toml", "a = 1\n"))),
        ("forget", ".thunderus/memory/gardener.toml"),
    ),
    # Recovery is a command like any other: it is killed too.
    Scenario(
        "heal-committed",
        WRITER,
        (*_TWO, Step(("change", "c=neu", "a=anders", "b"), "after-sync-log:kill")),
        ("status",),
    ),
    Scenario(
        "heal-half-published",
        WRITER,
        (*_TWO, Step(("change", "c=neu", "a=anders", "b"), "after-rename-staged:kill")),
        ("status",),
    ),
    Scenario(
        "heal-uncommitted",
        WRITER,
        (*_TWO, Step(("change", "c=neu", "a=anders"), "after-sync-folder-staging:kill")),
        ("status",),
    ),
    Scenario(
        "heal-torn-commit",
        WRITER,
        (*_TWO, Step(("change", "c=neu", "a=anders"), "half-write-log:kill")),
        ("status",),
    ),
    Scenario(
        "heal-torn-notes",
        WRITER,
        (*_TWO, Step(("notes", "eins", "zwei", "drei"), "half-write-log:kill")),
        ("status",),
    ),
    Scenario(
        "heal-other-text",
        WRITER,
        (*_TWO, Step(("change", "c=neu", "a=anders"), "after-sync-log:kill")),
        ("status",),
        foreign={f"{_FACTS}/a.md": "---\nid: fact.a\n---\nEin Mensch war schneller.\n"},
    ),
)
