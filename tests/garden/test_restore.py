"""A run of the gardener is undone byte for byte, completely or not at all, by its snapshot."""

from __future__ import annotations

import tempfile
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.support.index_support import document
from tests.support.review_support import SAME, Store
from tests.support.undo_support import restore_last
from tests.support.verify_store import verify
from thunderus_mem.authoring.edit import DocumentEdits, edit
from thunderus_mem.errors import Conflict, InvalidDocument, NotFound
from thunderus_mem.garden.apply import garden_apply, garden_plan, garden_report
from thunderus_mem.garden.plan import DocumentEdit, Plan, Step
from thunderus_mem.history.reverse import UndoChoice
from thunderus_mem.history.undo import restore, snapshots, undo
from thunderus_mem.lint.lint import lint

if TYPE_CHECKING:
    from pathlib import Path


DRESSES = {
    "plain": lambda text: text.encode(),
    "crlf": lambda text: text.replace("\n", "\r\n").encode(),
    "mark": lambda text: b"\xef\xbb\xbf" + text.encode(),
    "no end": lambda text: text.rstrip("\n").encode(),
    "all": lambda text: b"\xef\xbb\xbf" + text.rstrip("\n").replace("\n", "\r\n").encode(),
}


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path).begin()


@pytest.mark.parametrize("dress", DRESSES)
@pytest.mark.parametrize("mode", [0o644, 0o600, 0o755, 0o444])
def test_undo_restores_every_byte_and_permission(dress: str, mode: int, store: Store) -> None:
    for name in ("twin-a", "twin-b"):
        store.put(f"{name}.md", DRESSES[dress](document(f"fact.{name}", SAME))).chmod(mode)
    before = store.bytes()
    applied = store.garden()
    assert len(applied.steps) == 1
    assert store.bytes() != before
    undone = restore_last(store.memory())
    assert [event.op for event in undone.events] == ["garden"]
    assert store.bytes() == before
    assert verify(str(store.root), settled=True) == []
    undo(store.memory(), UndoChoice(redo=True))
    assert not store.path("twin-b.md").exists()


BODIES = st.sampled_from(["one thing\n", "one thing\n\n", "another\n", "# Head\n\nlast words", "one thing"])
FILES = st.lists(st.tuples(BODIES, st.sampled_from(sorted(DRESSES))), min_size=2, max_size=6)


@settings(max_examples=12, deadline=None, suppress_health_check=list(HealthCheck))
@given(FILES, st.booleans())
def test_undo_of_any_plan_restores_every_byte(files: list[tuple[str, str]], by_snapshot: bool) -> None:
    with tempfile.TemporaryDirectory() as folder:
        store = Store(folder).begin()
        for number, (body, dress) in enumerate(files):
            store.put(f"doc-{number}.md", DRESSES[dress](document(f"fact.doc-{number}", body)))
        before = store.bytes()
        said = {line for data, _ in before.values() for line in data.decode("utf-8-sig").splitlines()}
        applied = store.garden()
        assert garden_plan(store.memory()).applicable == ()
        if not applied.steps:
            assert not applied.snapshot_id
            assert store.bytes() == before
            return
        left = {line for data, _ in store.bytes().values() for line in data.decode("utf-8-sig").splitlines()}
        assert {line for line in said - left if not line.startswith(("id:", "title:", "updated:"))} == set()
        if by_snapshot:
            restore(store.memory(), applied.snapshot_id)
        else:
            restore_last(store.memory())
        assert store.bytes() == before
        assert verify(folder, settled=True) == []


def test_snapshot_is_first_and_cited_by_every_step(store: Store) -> None:
    store.twins()
    store.twins("twin-c", "twin-d", body="Quite another text, which two documents share.\n")
    plan = garden_plan(store.memory())
    hashes = {step_edit.path: step_edit.before for step in plan.applicable for step_edit in step.edits}
    applied = store.garden()
    kinds = [event.kind for event in store.events() if event.body.get("op") != "hand-edit"]
    assert kinds[-3:] == ["snapshot", "patch", "patch"]
    snapshot = store.events("snapshot")[-1]
    assert snapshot.refs["snapshot_id"] == applied.snapshot_id
    assert {one["path"]: one["hash"] for one in snapshot.body["documents"]} == hashes
    assert snapshot.body["command"] == "garden"
    steps = store.events("patch")[-2:]
    assert {event.refs["snapshot_id"] for event in steps} == {applied.snapshot_id}
    assert [one for one in lint(store.memory()).diagnostics if one.rule == "TM503"] == []
    (listed,) = snapshots(store.memory()).snapshots
    assert (listed.steps, listed.taken_back, listed.documents, listed.here) == (2, 0, 4, True)


def test_plan_without_applicable_steps_takes_no_snapshot(store: Store) -> None:
    store.twins()
    memory = store.memory()
    plan = garden_plan(memory)
    store.path("twin-a.md").write_text(store.path("twin-a.md").read_text() + "More.\n")
    applied = garden_apply(memory, plan)
    assert applied.skipped
    assert not applied.snapshot_id
    assert store.events("snapshot") == []
    assert garden_apply(store.memory(), Plan()).snapshot_id == ""


@pytest.mark.parametrize("by_hand", [False, True])
def test_changed_document_prevents_restore_and_is_reported(by_hand: bool, store: Store) -> None:
    store.twins()
    store.twins("twin-c", "twin-d", body="Quite another text, which two documents share.\n")
    applied = store.garden()
    if by_hand:
        path = store.path("twin-c.md")
        path.write_text(path.read_text() + "One thing more, far below.\n")
    else:
        edit(store.memory(), "fact.twin-c", DocumentEdits(add_tags=["later"]))
    changed = store.bytes()
    for attempt in (
        lambda: restore_last(store.memory()),
        lambda: restore(store.memory(), applied.snapshot_id),
    ):
        with pytest.raises(Conflict, match=r"fact.twin-c.* has changed since") as raised:
            attempt()
        assert store.bytes() == changed
        assert raised.value.hint is not None
        assert "thunderus-mem undo patch_" in raised.value.hint
    undo(store.memory(), UndoChoice(raised.value.hint.rpartition(" ")[2].rstrip("`")))  # type: ignore[union-attr]
    assert store.path("twin-d.md").exists()
    assert ("One thing more" if by_hand else "later") in store.path("twin-c.md").read_text()


def test_runs_are_undone_one_by_one(store: Store) -> None:
    store.twins()
    first = store.garden().snapshot_id
    middle = store.bytes()
    store.twins("twin-c", "twin-d", body="Quite another text, which two documents share.\n")
    store.memory().refresh()
    second = store.garden().snapshot_id
    restore_last(store.memory())
    assert [one.id for one in snapshots(store.memory()).snapshots if not one.is_restored] == [first]
    restore_last(store.memory())
    with pytest.raises(NotFound, match="no snapshot"):
        restore_last(store.memory())
    with pytest.raises(Conflict, match="already undone"):
        restore(store.memory(), second)
    with pytest.raises(InvalidDocument, match="it matches 2"):
        restore(store.memory(), "snap_0")
    with pytest.raises(NotFound, match="no snapshot"):
        restore(store.memory(), "snap_Z")
    assert len(snapshots(store.memory(), limit=1).snapshots) == 1
    assert snapshots(store.memory(), limit=1).left_out == 1
    assert set(middle) < set(store.bytes())


def test_run_across_midnight_is_undone_completely(store: Store) -> None:
    store.twins()
    store.twins("twin-c", "twin-d", body="Quite another text, which two documents share.\n")
    store.memory().refresh()
    before = store.bytes()
    moments = iter(range(10_000))
    memory = store.memory()
    midnight = datetime(2026, 1, 22, tzinfo=UTC)
    plan = garden_plan(memory)

    def clock() -> datetime:
        shards = (store.root / ".thunderus" / "sessions").rglob("*.jsonl")
        first_is_done = any(b'"op":"garden"' in shard.read_bytes() for shard in shards)
        return midnight + timedelta(seconds=next(moments) / 100 - (0 if first_is_done else 600))

    memory._clock = clock
    garden_apply(memory, plan)
    events = [event for event in store.events("patch") if event.body["op"] == "garden"]
    assert {event.ts[:10] for event in events} == {"2026-01-21", "2026-01-22"}
    store.days = 2
    restore_last(store.memory())
    assert store.bytes() == before


def test_snapshot_of_a_huge_plan_is_bounded(store: Store) -> None:
    steps = tuple(
        Step("merge", "why", (), (f"fact.{n}",), (DocumentEdit(f"x/{n}.md", f"fact.{n}", "sha256:0", "a"),))
        for n in range(3_000)
    )
    report = garden_report(store.memory(), Plan(steps), limit=20)
    assert (len(report.steps), report.left_out, report.to_apply) == (20, 2_980, 3_000)
    assert garden_report(store.memory(), Plan(steps[:50])).left_out == 0
