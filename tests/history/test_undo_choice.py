"""Which changes `undo` chooses: the same from the end of the log as from all of it."""

from __future__ import annotations

import atexit
import os
import shutil
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory, mkdtemp
from typing import NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.events import note_event, patch_event
from thunderus_mem.authoring import init
from thunderus_mem.errors import NotFound
from thunderus_mem.history.reverse import (
    Chosen,
    UndoChoice,
    can_be_undone,
    chosen,
    origin,
    outline,
    patch_of,
    undone_events,
)
from thunderus_mem.log.event import Change
from thunderus_mem.log.line import Event, encode, line_hash
from thunderus_mem.log.reader import EventLog
from thunderus_mem.memory.memory import Memory, open_memory

DOCUMENTS = ("a", "b", "c")
HASHES = tuple("sha256:" + digit * 64 for digit in "01")


class Step(NamedTuple):
    """One command: actor, operation, document, number of events, delay."""

    session: int
    op: str
    document: str
    events: int
    later: int


STEPS = st.builds(
    Step,
    session=st.integers(0, 3),
    op=st.sampled_from(("edit", "edit", "undo", "redo", "hand-edit", "note")),
    document=st.sampled_from(DOCUMENTS),
    events=st.sampled_from((1, 1, 1, 2, 3, 70)),
    later=st.integers(0, 2),
)


class Writers:
    """Several working trees whose logs were merged, with interleaved events."""

    def __init__(self, root: str) -> None:
        self.root = root
        self.shards: dict[int, list[bytes]] = {}
        self.made: list[Event] = []
        self.moment = 0

    def take(self, step: Step) -> None:
        number = len(self.made)
        targets = self._targets(step) if step.op in ("undo", "redo") else []
        if step.op in ("undo", "redo") and not targets:
            return
        for place in range(step.events if step.op == "edit" else max(len(targets), 1)):
            # Every other instant is left to events of another tree.
            self.moment += 2 if step.events > 1 else step.later
            self._append(step, f"{number:04}", targets[place : place + 1])
        if step.events > 1:
            self.moment -= 2 * step.events - 1

    def _targets(self, step: Step) -> list[Event]:
        taken = undone_events(self.made)
        left = [one for one in self.made if can_be_undone(one, taken, undos=step.later == 2)]
        mine = [one for one in left if _document(one) == step.document][-1:]
        return [one for one in reversed(left) if mine and patch_of(one) == patch_of(mine[0])]

    def _append(self, step: Step, patch: str, targets: list[Event]) -> None:
        lines = self.shards.setdefault(step.session, [])
        path = f".thunderus/memory/semantic/FACTS/{step.document}.md"
        common = {
            "id": f"evt_{len(self.made):04}",
            "ts": f"2026-01-21T09:{self.moment // 60 % 60:02}:{self.moment % 60:02}.000Z",
            "session_id": f"sess_{step.session}",
            "actor": "user",
            "prev": line_hash(lines[-1].rstrip(b"\n")) if lines else None,
        }
        change = Change("update", f"fact.{step.document}", path, *HASHES, "")
        event = (
            note_event(text="Seen.", doc_ids=(), **common)
            if step.op == "note"
            else patch_event(
                patch_id=f"patch_{patch}",
                op=step.op,
                changes=(change,)
                if step.op not in ("undo", "redo") or not targets[0].body.get("undoes")
                else (),
                undoes=[one.id for one in targets],
                about=[f"fact.{_document(one)}" for one in targets],
                **common,
            )
        )
        lines.append(encode(event))
        self.made.append(event)

    def write(self) -> list[str]:
        """Write the shards; returns their paths."""
        paths = []
        for session, lines in self.shards.items():
            path = f".thunderus/sessions/sess_{session}/events.jsonl"
            os.makedirs(os.path.join(self.root, os.path.dirname(path)))
            Path(self.root, path).write_bytes(b"".join(lines))
            paths.append(path)
        return paths


@cache
def _base() -> str:
    """A store as `init` makes it."""
    folder = mkdtemp(prefix="choice-")
    atexit.register(shutil.rmtree, folder)
    begun = datetime(2026, 1, 20, tzinfo=UTC)
    init.init(folder, lambda: open_memory(folder, environ={}, now=lambda: begun))
    return folder


def _document(event: Event) -> str:
    ids = event.refs.get("memory_doc_ids") or ["fact.?"]
    return str(ids[0]).removeprefix("fact.")


def by_reading_everything(
    memory: Memory, choice: UndoChoice, committed: frozenset[str]
) -> list[tuple[Chosen, ...]]:
    """The slow way: all events, all undos, then what is left of the commands, the last to end first."""
    logged = memory.log.read_all().events
    known = {entry.event.id: entry.event for entry in logged}
    taken = undone_events(list(known.values()))
    commands: dict[object, list[Chosen]] = {}
    for entry in reversed(logged):
        if not can_be_undone(entry.event, {}, undos=choice.redo):
            continue
        if entry.shard in committed:
            continue
        whole = commands.setdefault((entry.shard, patch_of(entry.event)), [])
        first, again = origin(entry.event, known.get)
        if entry.event.id not in taken and again is choice.redo:
            whole.append(Chosen(outline(entry.event), outline(first), again))
    return [tuple(whole) for whole in commands.values() if whole]


@settings(max_examples=8, deadline=None, derandomize=True)
@given(steps=st.lists(STEPS, min_size=1, max_size=14), data=st.data())
def test_end_of_the_log_gives_the_same_choice_as_all_of_it(steps: list[Step], data: st.DataObject) -> None:
    with TemporaryDirectory(prefix="choice-") as root:
        shutil.copytree(_base(), root, dirs_exist_ok=True)
        writers = Writers(root)
        for step in steps:
            writers.take(step)
        paths = writers.write()
        memory = open_memory(root, environ={})
        committed = frozenset(path for path in paths if data.draw(st.booleans()))
        for redo in (False, True):
            expected = by_reading_everything(memory, UndoChoice(None, 1, redo), committed)
            for number in {min(1, len(expected)), len(expected) // 2, len(expected)} - {0}:
                assert chosen(memory, UndoChoice(None, number, redo), committed) == expected[:number]
            with pytest.raises(NotFound, match=f"only {len(expected)} " if expected else "nothing to"):
                chosen(memory, UndoChoice(None, len(expected) + 1, redo), committed)


def test_last_undo_is_found_without_reading_earlier_lines(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = str(tmp_path)
    shutil.copytree(_base(), root, dirs_exist_ok=True)
    writers = Writers(root)
    for number in range(1500):
        writers.take(Step(number % 3, "edit", DOCUMENTS[number % 2], 1, 1))
    writers.take(Step(0, "edit", "c", 1, 1))
    writers.take(Step(0, "undo", "c", 1, 1))
    writers.write()
    memory = open_memory(root, environ={})
    memory.log_index()
    asked: list[int] = []
    read = EventLog.read_lines

    def counted(log: EventLog, shard: str, numbers: range) -> list[object]:
        asked.append(len(numbers))
        return list(read(log, shard, numbers))

    monkeypatch.setattr(EventLog, "read_lines", counted)
    for redo in (False, True):
        asked.clear()
        (step,) = chosen(memory, UndoChoice(redo=redo), frozenset())
        assert [one.event for one in step] == [outline(writers.made[-1 if redo else -3])]
        assert sum(asked) < 1000 if not redo else sum(asked) < 200
