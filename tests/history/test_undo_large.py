"""`undo` of events too large for their diffs, after some of their documents were edited by hand."""

from __future__ import annotations

import json
import re
from io import BytesIO
from typing import TYPE_CHECKING

import pytest

from tests.support.undo_support import FACTS, Store, with_hand
from tests.support.verify_store import verify
from thunderus_mem.authoring.edit import record
from thunderus_mem.authoring.rename import rename
from thunderus_mem.errors import Conflict
from thunderus_mem.interop.formats import load
from thunderus_mem.interop.transfer import ImportOptions, import_records
from thunderus_mem.log import new_event
from thunderus_mem.log.event import changes_of
from thunderus_mem.memory.journal import FileChange
from thunderus_mem.memory.transaction import open_transaction

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.support.command_server import Done

COUNT = 9


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Store:
    """A store with imported documents, `fact.number-N`, whose events have no room for a diff."""
    store = with_hand(tmp_path)
    monkeypatch.setattr(new_event, "MAX_RECORD", 100)
    lines = [
        json.dumps(
            {"id": f"r{number}", "text": f"Number {number}\n\nThe colour is red.\n\nIt is {number} times."}
        )
        for number in range(COUNT)
    ]
    file = BytesIO("\n".join(lines).encode())
    import_records(store.memory(), load("jsonl"), file, "records", ImportOptions())
    assert all(one.diff is None for one in changes_of(store.memory().log.read_all().events[-1].event))
    return store


def respell(store: Store) -> str:
    """Change every imported document in one event; return its id."""
    changes = []
    for number in range(COUNT):
        path = f"{FACTS}/number-{number}.md"
        text = store.read(path).decode()
        changes.append(FileChange(f"fact.number-{number}", path, text, text.replace("colour", "color")))
    with open_transaction(store.memory(), "garden") as transaction:
        return transaction.commit("garden", changes)


def edit_by_hand(store: Store, name: str, old: str, new: str) -> None:
    text = store.read(name).decode()
    assert old in text
    store.put(name, text.replace(old, new))


def test_first_edit_by_hand_after_a_large_import_can_be_undone(store: Store) -> None:
    before = store.documents()
    edit_by_hand(store, "number-3.md", "red", "green")
    record(store.memory())
    first = store.last()
    edit_by_hand(store, "number-3.md", "times", "often")
    record(store.memory())
    store.undo(store.last())
    store.undo(first)
    assert store.documents() == before
    assert verify(str(store.root), settled=True) == []


def test_removal_by_hand_after_a_large_import_can_be_undone(store: Store) -> None:
    before = store.documents()
    (store.root / FACTS / "number-3.md").unlink()
    record(store.memory())
    store.undo(store.last())
    assert store.documents() == before


def test_edit_by_hand_elsewhere_in_a_document_is_kept(store: Store) -> None:
    before = store.documents()
    respell(store)
    edit_by_hand(store, "number-3.md", "times", "often")
    edit_by_hand(store, "hand.md", "Body two", "Body 2")
    undone = store.undo()
    assert len(undone.events[0].documents) == COUNT
    edit_by_hand(store, "number-3.md", "often", "times")
    edit_by_hand(store, "hand.md", "Body 2", "Body two")
    assert store.documents() == before


def test_every_conflict_is_named_and_the_rest_undone_on_request(store: Store) -> None:
    before = store.documents()
    event = respell(store)
    for number in (2, 5):
        edit_by_hand(store, f"number-{number}.md", "color is red", "hue is red")
    edited = store.documents()
    with pytest.raises(Conflict, match=r"'fact\.number-\d' .* by hand") as refused:
        store.undo()
    assert set(re.findall(r"fact\.number-\d", str(refused.value))) == {"fact.number-2", "fact.number-5"}
    assert (refused.value.hint or "").endswith("; to undo the rest, run `thunderus-mem undo --partial`")
    assert store.documents() == edited
    undone = store.undo(event, partial=True)
    assert {one.id for one in undone.events[0].documents} == {
        f"fact.number-{number}" for number in range(COUNT) if number not in (2, 5)
    }
    assert {one.id for one in undone.events[0].skipped} == {"fact.number-2", "fact.number-5"}
    now = store.documents()
    differing = {path for path, text in before.items() if now[path] != text}
    assert differing == {f"{FACTS}/number-2.md", f"{FACTS}/number-5.md"}
    store.undo(redo=True)
    assert store.documents() == edited


def test_only_conflicts_leave_nothing_to_undo(store: Store) -> None:
    respell(store)
    for number in range(COUNT):
        edit_by_hand(store, f"number-{number}.md", "color is red", "hue is red")
    with pytest.raises(Conflict, match="and 4 more"):
        store.undo(partial=True)


def test_imported_document_that_was_renamed_is_a_conflict(store: Store) -> None:
    event = store.last()
    before = store.documents()
    rename(store.memory(), "fact.number-3", "fact.three")
    renamed = store.last()
    with pytest.raises(Conflict, match=rf"renamed to fact\.three after {event} \(import\), by {renamed}"):
        store.undo(event)
    store.undo(event, partial=True)
    assert [path for path in store.documents() if "/FACTS/number" in path or "three" in path] == [
        f"{FACTS}/three.md"
    ]
    store.undo(redo=True)
    store.undo(renamed)
    assert store.documents() == before
    store.undo(event)
    assert not [path for path in store.documents() if "/FACTS/number" in path]


def test_import_is_undone_except_for_edited_documents(store: Store) -> None:
    edit_by_hand(store, "number-3.md", "red", "green")
    with pytest.raises(Conflict, match=r"'fact\.number-3' was edited by hand after evt_\w+ \(import\)$"):
        store.undo()
    store.undo(partial=True)
    left = [path for path in store.documents() if "/number-" in path]
    assert left == [f"{FACTS}/number-3.md"]
    assert verify(str(store.root), settled=True) == []


def test_long_list_of_documents_is_cut(repo: Path, run: Callable[..., Done]) -> None:
    run("init")
    lines = "\n".join(json.dumps({"id": f"r{number}", "text": f"Number {number}."}) for number in range(25))
    (repo / "r.jsonl").write_text(lines)
    assert run("import", "jsonl", "r.jsonl").code == 0
    done = run("undo")
    *listed, last = done.out.splitlines()
    assert len(listed) == 20
    seen = last.partition("and 5 more; see: thunderus-mem ")[2]
    assert len(json.loads(run(*seen.split()).out)["body"]["changes"]) == 25
    assert run("undo", "--redo", "--json").json["events"][0]["documents"][24]
    run("edit", "fact.number-1", "--set", "author=Ada")
    *listed, last = run("undo", "-n", "2").out.splitlines()
    assert len(listed) == 20
    assert last == "and 6 more; see: thunderus-mem log -n 2 --json"
