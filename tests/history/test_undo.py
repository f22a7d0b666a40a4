"""`undo`: every change can be undone exactly, and no later change is lost."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
import zlib
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.support.events import note
from tests.support.index_support import document
from tests.support.undo_support import CHANGES, DECISIONS, FACTS, LONG, Store, bring_in, decision, with_hand
from tests.support.verify_store import verify
from thunderus_mem.authoring import add, edit
from thunderus_mem.authoring.add import NewDocument
from thunderus_mem.authoring.edit import DocumentEdits
from thunderus_mem.errors import Conflict, InvalidDocument, NotFound, Refused
from thunderus_mem.history.undo import _RunningUndo, snapshots
from thunderus_mem.log.event import undone_by
from thunderus_mem.log.new_event import PatchLinks
from thunderus_mem.log.reader import EventLog
from thunderus_mem.memory.journal import FileChange
from thunderus_mem.memory.transaction import open_transaction
from thunderus_mem.recap import recap

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from tests.support.command_server import Done, Server
    from thunderus_mem.log.shard import LoggedEvent

TOKEN = "gh" + "p_" + "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8"


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return with_hand(tmp_path)


def git(root: Path, *words: str) -> None:
    subprocess.run(["git", *words], cwd=root, check=True, capture_output=True)


@pytest.fixture
def tracked(repo: Path) -> Store:
    """The same in a repository with everything committed."""
    store = with_hand(repo)
    git(repo, "add", "-A")
    git(repo, "commit", "-qm", "Keep a memory")
    return store


DRESSES = {
    "plain": {},
    "crlf": {"ends": "\r\n"},
    "bom": {"mark": "\ufeff"},
    "no end": {"last": ""},
    "bom, crlf, no end": {"mark": "\ufeff", "ends": "\r\n", "last": ""},
}


@pytest.mark.parametrize(
    ("change", "dress"),
    [
        *((change, "plain") for change in CHANGES),
        *(
            (change, "bom, crlf, no end")
            for change in ("edit body", "edit tags", "edit long", "remove", "link")
        ),
    ],
)
def test_undo_and_redo_restore_every_byte(tmp_path: Path, change: str, dress: str) -> None:
    store = with_hand(tmp_path, **DRESSES[dress])
    if change in ("garden", "lint --fix", "renumber"):
        # These need documents of their own, created by hand before the change.
        initial = store.documents() | _made_by_hand(store, change)
    else:
        initial = store.documents()
        CHANGES[change](store)
    done = store.documents()
    assert done != initial
    undone = store.undo()
    assert store.documents() == initial
    assert undone.published
    assert [event.again for event in undone.events] == [False] * len(undone.events)
    assert store.ops()[-1] == "undo"
    back = store.undo(redo=True)
    assert store.ops()[-1] == "redo"
    assert store.documents() == done
    assert all(event.again for event in back.events)
    assert [event.id for event in back.events] == [event.id for event in reversed(undone.events)]
    assert verify(str(tmp_path), settled=True) == []


def _made_by_hand(store: Store, change: str) -> dict[str, bytes]:
    """Apply a change that first creates documents by hand; return those."""
    seen: dict[str, bytes] = {}
    put = store.put

    def noticed(name: str, data: str | bytes) -> Path:
        path = put(name, data)
        seen[str(path.relative_to(store.root))] = path.read_bytes()
        return path

    store.put = noticed  # type: ignore[method-assign]
    CHANGES[change](store)
    return seen


STEPS = st.lists(
    st.sampled_from(
        ["add", "edit", "tag", "field", "long", "remove", "link", "supersede", "import", "recap"]
    ),
    min_size=1,
    max_size=4,
)


@given(steps=STEPS, data=st.data(), dress=st.sampled_from(sorted(DRESSES)))
@settings(max_examples=5, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
def test_undoing_every_change_restores_the_tree(steps: list[str], data: st.DataObject, dress: str) -> None:
    with tempfile.TemporaryDirectory(prefix="undo-") as folder:
        store = with_hand(folder, **DRESSES[dress])
        trees = [store.documents()]
        for number, step in enumerate(steps):
            _walk(store, step, number, data)
            if store.documents() != trees[-1]:
                trees.append(store.documents())
        for before in reversed(trees[:-1]):
            store.undo()
            assert store.documents() == before
        for after in trees[1:]:
            store.undo(redo=True)
            assert store.documents() == after
        store.undo(number=len(trees) - 1) if len(trees) > 1 else None
        assert store.documents() == trees[0]
        assert verify(folder, settled=True) == []


def _walk(store: Store, step: str, number: int, data: st.DataObject) -> None:
    """One random step on existing documents."""
    memory = store.memory()
    ids = [row.id for row in memory.index.documents() if row.id != "core"]
    if step == "add" or not ids:
        add.add(memory, NewDocument("fact", f"Title {number}", body=f"It is {number}.\n" * 3, tags=("t",)))
        return
    chosen = data.draw(st.permutations(ids))
    one, other = chosen[0], chosen[-1]
    if step in ("link", "supersede") and one == other:
        return
    if step == "import":
        bring_in(store)
    elif step == "recap":
        recap.recap(memory, "2026-01-21", force=True)
    elif step == "remove":
        edit.remove(memory, one, why="so")
    elif step == "link":
        edit.link(memory, one, "refers_to", other)
    elif step == "supersede":
        edit.link(memory, one, "derives_from", other)
    else:
        source = "## Provenance\n\n- a note\n"  # which a recap must have
        bodies = {"edit": f"Now {number}.\n\n{source}", "long": f"{source}\n{number}\n{LONG}"}
        fields = {"metadata.step": str(number)} if step == "field" else {}
        tags = (f"t{number}",) if step == "tag" else ()
        edit.edit(memory, one, DocumentEdits(body=bodies.get(step), sets=fields, add_tags=tags))


@pytest.mark.parametrize("verb", ["edit", "remove"])
def test_undo_restores_every_kind_of_line_end(tmp_path: Path, verb: str) -> None:
    store = with_hand(tmp_path)
    mixed = document("fact.mixed", "a\nb\n").replace("title: A", "title: A").encode()
    path = store.put("mixed.md", mixed.replace(b"kind: fact\n", b"kind: fact\r\n").replace(b"a\n", b"a\r\n"))
    before = path.read_bytes()
    if verb == "edit":
        edit.edit(store.memory(), "fact.mixed", DocumentEdits(body="c\nd\n", add_tags=("zz",)))
    else:
        edit.remove(store.memory(), "fact.mixed", why="so")
    store.undo()
    assert path.read_bytes() == before


def test_change_of_line_ends_only_can_be_undone(store: Store) -> None:
    before = store.read("other.md")
    memory, text = store.memory(), before.decode()
    with open_transaction(memory, "edit") as transaction:
        path, after = f"{FACTS}/other.md", text.replace("\n", "\r\n")
        transaction.commit("edit", [FileChange("fact.other", path, text, after)])
    assert store.read("other.md") == after.encode()
    store.undo()
    assert store.read("other.md") == before


# --- later changes -----------------------------------------------------------------------------------


def test_hand_edit_elsewhere_is_kept(store: Store) -> None:
    edit.link(store.memory(), "fact.hand", "refers_to", "fact.other")
    store.put("hand.md", store.read("hand.md").replace(b"Body two.", b"Body two, and more."))
    undone = store.undo()
    text = store.read("hand.md").decode()
    assert "Body two, and more." in text
    assert "fact.other" not in text
    assert undone.recorded == ("fact.hand",)
    assert verify(str(store.root), settled=True) == []


def test_hand_edit_of_the_same_lines_is_never_overwritten(store: Store) -> None:
    edit.edit(store.memory(), "fact.hand", DocumentEdits(body="Body three."))
    store.put("hand.md", store.read("hand.md").replace(b"Body three.", b"Body 3."))
    before = store.documents()
    for dry_run in (True, False):
        with pytest.raises(Conflict, match=r"by hand after evt_\w+ \(\w+\)$") as refused:
            store.undo(dry_run=dry_run)
        assert "hand.md" in (refused.value.hint or "")
    assert store.documents() == before
    assert "undo" not in store.ops()


def test_added_document_edited_by_hand_is_not_removed(store: Store) -> None:
    add.add(store.memory(), NewDocument("fact", "New", body="It is new.", tags=("n",)))
    path = store.put("new.md", store.read("new.md") + b"And by hand.\n")
    with pytest.raises(Conflict):
        store.undo()
    assert b"And by hand." in path.read_bytes()


def test_named_event_is_undone_below_later_ones(store: Store) -> None:
    first = edit.edit(store.memory(), "fact.hand", DocumentEdits(body="\nBody 1.\n\nBody two.\n")).event_id
    edit.edit(store.memory(), "fact.hand", DocumentEdits(body="\nBody 1.\n\nBody two.\n\nBody three.\n"))
    later = store.memory().now()
    undone = store.undo(first)
    text = store.read("hand.md").decode()
    assert "Body  one.\n\nBody two.\n\nBody three.\n" in text
    assert f"updated: {later:%Y-%m-%dT%H:%M}" in text.replace('"', "")
    assert [event.id for event in undone.events] == [first]
    assert store.undo(redo=True).events[0].id == first
    assert "Body 1.\n\nBody two.\n\nBody three.\n" in store.read("hand.md").decode()


def test_conflicting_later_event_is_reported_and_nothing_written(store: Store) -> None:
    first = edit.edit(store.memory(), "fact.hand", DocumentEdits(body="Body 1.")).event_id
    second = edit.edit(store.memory(), "fact.hand", DocumentEdits(body="Body 2.")).event_id
    before, log = store.documents(), store.shards()
    with pytest.raises(Conflict, match=f"by {second} \\(edit\\)") as refused:
        store.undo(first)
    assert refused.value.hint == f"undo that first: `thunderus-mem undo {second}`"
    assert (store.documents(), store.shards()) == (before, log)
    store.undo(second)
    store.undo(first)
    assert b"Body  one." in store.read("hand.md")


def test_several_changes_are_all_undone_or_none(store: Store) -> None:
    edit.edit(store.memory(), "fact.other", DocumentEdits(body="Other."))
    edit.edit(store.memory(), "fact.hand", DocumentEdits(body="Hand."))
    store.put("other.md", store.read("other.md").replace(b"Other.", b"By hand."))
    before = store.documents()
    with pytest.raises(Conflict):
        store.undo(number=2)
    assert store.documents() == before
    store.undo()
    assert b"Body  one." in store.read("hand.md")


def test_adjacent_list_items_are_no_conflict(store: Store) -> None:
    for name in ("a", "b", "c"):
        add.add(store.memory(), NewDocument("fact", name, body=f"It is {name}.", tags=("n",)))
    done = [edit.link(store.memory(), "fact.hand", "refers_to", f"fact.{name}").event_id for name in "abc"]
    store.undo(done[1])
    text = store.read("hand.md").decode()
    assert "    - fact.a\n    - fact.c\n" in text
    # The first one added the list; the others need it.
    with pytest.raises(Conflict):
        store.undo(done[0])
    store.undo(done[2])
    store.undo(done[0])
    assert "links:" not in store.read("hand.md").decode()


def test_existing_file_is_not_overwritten(store: Store) -> None:
    edit.remove(store.memory(), "fact.hand", why="gone")
    store.put("hand.md", document("fact.stranger", "Somebody else.\n"))
    with pytest.raises(Conflict, match=r"hand\.md now contains fact\.stranger"):
        store.undo()
    store.put("elsewhere.md", document("fact.hand", "Written anew.\n"))
    (store.root / FACTS / "hand.md").unlink()
    with pytest.raises(Conflict, match=r"elsewhere\.md now contains a different version of it") as raised:
        store.undo()
    assert raised.value.hint == f"move or delete {FACTS}/elsewhere.md first"
    (store.root / FACTS / "elsewhere.md").unlink()
    store.put("hand.md", "Notes by hand.\n")
    with pytest.raises(Conflict, match=r"hand\.md now contains text that is not a document$") as raised:
        store.undo()
    assert raised.value.hint == f"move or delete {FACTS}/hand.md first"


def test_document_moved_by_hand_is_followed_by_its_id(store: Store) -> None:
    add.add(store.memory(), NewDocument("fact", "New", body="It is new.", tags=("n",)))
    edit.edit(store.memory(), "fact.new", DocumentEdits(body="It is old."))
    (store.root / FACTS / "deep").mkdir()
    os.rename(store.root / FACTS / "new.md", store.root / FACTS / "deep" / "moved.md")
    store.undo()
    assert b"It is new." in store.read(f"{FACTS}/deep/moved.md")
    store.undo()
    assert not (store.root / FACTS / "deep" / "moved.md").exists()


def test_undone_rename_keeps_a_later_edit(store: Store) -> None:
    CHANGES["renumber"](store)
    renamed = store.last()
    edit.edit(store.memory(), "adr.new", DocumentEdits(add_tags=("zz",)))
    (new,) = (path for path in store.documents() if path.endswith("-new.md"))
    text = store.read(new)
    store.undo(renamed)
    assert store.read(f"{DECISIONS}/ADR-0007-new.md") == text
    assert new not in store.documents()


def test_change_reverted_by_git_is_reported_as_undone(tracked: Store) -> None:
    edit.edit(tracked.memory(), "fact.hand", DocumentEdits(body="Thrown away by git."))
    earlier = tracked.documents()
    git(tracked.root, "checkout", "-q", "--", ".thunderus/memory")
    assert tracked.documents() != earlier
    undone = tracked.undo()
    assert undone.events[0].documents == ()
    with pytest.raises(NotFound):
        # The rest was written before the first commit, by hand and by init.
        tracked.undo(number=2)


# --- sources of earlier texts ------------------------------------------------------------------------


def test_long_text_is_restored_from_the_undo_copy_or_git(tracked: Store) -> None:
    edit.edit(tracked.memory(), "fact.hand", DocumentEdits(body=LONG))
    git(tracked.root, "commit", "-qam", "Long")
    long = tracked.read("hand.md")
    edit.remove(tracked.memory(), "fact.hand", why="gone")
    kept = tracked.root / ".thunderus" / "local" / "undo"
    assert len(list(kept.iterdir())) == 2
    shutil.rmtree(kept)
    tracked.undo()
    assert tracked.read("hand.md") == long
    tracked.undo()
    assert b"Body  one." in tracked.read("hand.md")


def test_unavailable_text_is_reported(store: Store) -> None:
    edit.edit(store.memory(), "fact.hand", DocumentEdits(body=LONG))
    edit.remove(store.memory(), "fact.hand", why="gone")
    shutil.rmtree(store.root / ".thunderus" / "local")
    before = store.documents()
    with pytest.raises(NotFound, match=r"cannot find the text of 'fact\.hand' before evt_\w+"):
        store.undo()
    assert store.documents() == before


def test_modified_undo_copy_is_rejected(store: Store) -> None:
    edit.edit(store.memory(), "fact.hand", DocumentEdits(body=LONG))
    edit.edit(store.memory(), "fact.hand", DocumentEdits(body="Short."))
    copies = list((store.root / ".thunderus" / "local" / "undo").iterdir())
    for data in (json.dumps({"0": "Something else."}), '{"0": "\\ud800"}'):
        for copy in copies:
            copy.write_text(data)
        with pytest.raises(NotFound):
            store.undo()


def test_secret_is_neither_kept_nor_restored(tracked: Store) -> None:
    leaked = tracked.read("hand.md").decode().replace("Body two.", f"Body {TOKEN}.")
    tracked.put("hand.md", leaked)
    git(tracked.root, "commit", "-qam", "Leak")
    edit.edit(tracked.memory(), "fact.hand", DocumentEdits(body="Where the token is kept."))
    (copy,) = (tracked.root / ".thunderus" / "local" / "undo").iterdir()
    kept = zlib.decompress(copy.read_bytes())
    assert b"Where the token is kept." in kept
    assert TOKEN.encode() not in kept
    with pytest.raises(Refused, match="would restore a possible secret"):
        tracked.undo()
    assert TOKEN.encode() not in b"".join(tracked.shards().values())


def test_log_alone_restores_an_earlier_text(store: Store) -> None:
    first = edit.edit(store.memory(), "fact.hand", DocumentEdits(body="\nBody 1.\n\nBody two.\n")).event_id
    for number in range(3):
        edit.edit(store.memory(), "fact.hand", DocumentEdits(sets={"metadata.step": str(number)}))
    store.put("hand.md", store.read("hand.md").replace(b"Body two.", b"Body 2."))
    shutil.rmtree(store.root / ".thunderus" / "local")
    (shown,) = store.undo(first, dry_run=True).events[0].documents
    store.undo(first)
    assert "\nBody  one.\n\nBody 2.\n" in store.read("hand.md").decode()
    assert shown.diff is not None
    assert "-Body 1.\n+Body  one." in shown.diff


# --- which changes -----------------------------------------------------------------------------------


def test_hand_edits_notes_and_undos_are_not_undone(store: Store) -> None:
    edit.edit(store.memory(), "fact.hand", DocumentEdits(body="Body 1."))
    store.put("other.md", store.read("other.md") + b"By hand.\n")
    note(store.memory(), "Looked at it.")
    undone = store.undo()
    assert [event.op for event in undone.events] == ["edit"]
    assert b"By hand." in store.read("other.md")
    assert store.undo().events[0].documents[0].id == "core"
    with pytest.raises(NotFound, match="nothing to undo in this working tree"):
        store.undo()


def test_command_with_many_events_is_one_change(store: Store) -> None:
    for number in range(3):
        store.put(f"yes-{number}.md", document(f"fact.yes-{number}", tags=("on", "x")))
    before = store.documents()
    from thunderus_mem.lint.lint import lint

    lint(store.memory(), fix=True)
    assert store.ops()[-3:] == ["edit"] * 3
    undone = store.undo()
    assert len(undone.events) == 3
    assert store.documents() == before
    assert store.ops()[-3:] == ["undo"] * 3
    assert len(store.undo(redo=True).events) == 3


@pytest.mark.parametrize(("old", "new"), [("Body 1", "Body ten"), ("title: ", "title: New ")])
def test_document_changed_while_undo_runs_is_a_conflict(
    store: Store, monkeypatch: pytest.MonkeyPatch, old: str, new: str
) -> None:
    before = store.documents()
    edit.edit(store.memory(), "fact.hand", DocumentEdits(body="Body 1."))
    edit.edit(store.memory(), "fact.other", DocumentEdits(body="Other."))
    text = store.read("hand.md").decode()

    def edit_now(running: object, planned: object) -> None:
        begin(running, planned)
        store.put("hand.md", text.replace(old, new))

    begin = _RunningUndo.begin
    monkeypatch.setattr(_RunningUndo, "begin", edit_now)
    with pytest.raises(Conflict, match="while `undo` was running"):
        store.undo(number=2)
    monkeypatch.setattr(_RunningUndo, "begin", begin)
    assert store.read("hand.md").decode() == text.replace(old, new) != text
    store.put("hand.md", text)
    assert store.undo(number=2).resumed
    assert store.documents() == before


def counted_reads(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The shards whose lines are read from now on."""
    reads: list[str] = []
    read = EventLog.read_lines

    def counted(log: EventLog, shard: str, numbers: Collection[int]) -> list[LoggedEvent]:
        reads.append(shard)
        return read(log, shard, numbers)

    monkeypatch.setattr(EventLog, "read_lines", counted)
    return reads


def test_many_changes_are_planned_without_reading_the_log_for_each(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(24):
        edit.edit(store.memory(), "fact.hand", DocumentEdits(body=f"Body {number}."))
    reads = counted_reads(monkeypatch)
    for number in (1, 24):
        reads.clear()
        assert len(store.undo(number=number, dry_run=True).events) == number
        assert len(reads) <= 8


def test_many_snapshots_are_listed_without_reading_the_log_for_each(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = store.read("hand.md").decode()
    for number in range(12):
        memory, after = store.memory(), f"{text}\nLine {number}.\n"
        with open_transaction(memory, "garden") as transaction:
            links = PatchLinks(snapshot=memory.new_id("snap"))
            transaction.snapshot(links.snapshot, {"command": "garden"}, ("fact.hand",), why="")
            change = FileChange("fact.hand", f"{FACTS}/hand.md", text, after)
            transaction.commit("garden", [change], links=links)
        text = after
    store.undo(number=2)
    reads = counted_reads(monkeypatch)
    listed = snapshots(store.memory()).snapshots
    assert [one.is_restored for one in listed] == [True, True] + [False] * 10
    assert {(one.steps, one.documents) for one in listed} == {(1, 1)}
    assert len(reads) <= 6


def test_fixing_and_renumbering_are_one_change(store: Store) -> None:
    store.put(f"{DECISIONS}/ADR-0007-old.md", decision("adr.old", "2026-01-01"))
    text = decision("adr.new", "2026-01-02").replace("tags: [one]", "tags: [on]")
    store.put(f"{DECISIONS}/ADR-0007-new.md", text)
    before = store.documents()
    from thunderus_mem.lint.lint import lint

    lint(store.memory(), fix=True)
    assert b'tags: ["on"]' in store.read(f"{DECISIONS}/ADR-0008-new.md")
    assert [event.op for event in store.undo().events] == ["rename", "edit"]
    assert store.documents() == before


def test_import_of_many_documents_is_one_change_in_several_events(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = store.documents()
    monkeypatch.setattr("thunderus_mem.interop.markdown.MOST_DOCUMENTS", 2)
    bring_in(store)
    assert store.ops()[-2:] == ["import"] * 2
    events = [done.event for done in store.memory().log.read_all().events[-2:]]
    assert len({event.origin["import"] for event in events}) == 1
    assert len(store.documents()) == len(before) + 3
    assert len(store.undo().events) == 2
    assert store.documents() == before


def test_undo_event_names_what_it_reverted(store: Store) -> None:
    done = edit.edit(store.memory(), "fact.hand", DocumentEdits(body="Body 1."), why="counted")
    undone = store.undo(why="miscounted")
    events = store.memory().log.read_all().events
    assert undone_by(events[-1].event) == (done.event_id,)
    assert events[-1].event.why == "miscounted"
    assert undone.events[0].undo_id == events[-1].event.id
    store.undo(redo=True)
    assert store.memory().log.read_all().events[-1].event.why == "redo edit: counted"


def test_invalid_event_is_reported(store: Store) -> None:
    done = edit.edit(store.memory(), "fact.hand", DocumentEdits(body="Body 1."))
    noted = note(store.memory(), "Looked at it.")
    with pytest.raises(NotFound, match="no event has the id"):
        store.undo("evt_nothing")
    with pytest.raises(InvalidDocument, match="is ambiguous"):
        store.undo("evt_")
    with pytest.raises(InvalidDocument, match="changed no document"):
        store.undo(noted)
    undone = store.undo(done.event_id).events[0].undo_id
    with pytest.raises(Conflict, match=f"is already undone by {undone}"):
        store.undo(done.event_id)
    assert store.undo(undone).events[0].again
    with pytest.raises(NotFound, match="only 2 changes to undo in this working tree"):
        store.undo(number=9)


def test_patch_can_be_undone_by_id(store: Store) -> None:
    edit.edit(store.memory(), "fact.hand", DocumentEdits(body="Body 1."))
    patch = store.memory().log.read_all().events[-1].event.refs["patch_id"]
    assert store.undo(patch.lower()).events[0].op == "edit"
    with pytest.raises(NotFound):
        store.undo("patch_" + "Z" * 26)


def test_changes_of_other_working_trees_are_undone_only_by_id(tracked: Store) -> None:
    other = Store(tracked.root.parent / "other")
    git(tracked.root.parent, "clone", "-q", str(tracked.root), str(other.root))
    other.turn = 1000
    edit.edit(tracked.memory(), "fact.hand", DocumentEdits(body="Mine."))
    edit.edit(other.memory(), "fact.other", DocumentEdits(body="Theirs."), why="Theirs")
    git(other.root, "add", "-A")
    git(other.root, "commit", "-qm", "Theirs")
    git(tracked.root, "add", "-A")
    git(tracked.root, "commit", "-qm", "Mine")
    git(tracked.root, "pull", "-q", "--no-rebase", "--no-edit", str(other.root), "HEAD")
    assert tracked.undo(dry_run=True).events[0].documents[0].id == "fact.hand"
    undone = tracked.undo()
    assert undone.events[0].documents[0].id == "fact.hand"
    (theirs,) = [event for event in tracked.memory().log.read_all().events if event.event.why == "Theirs"]
    tracked.undo(theirs.event.id)
    assert b"Something else." in tracked.read("other.md")
    shutil.rmtree(other.root)


def test_changes_belong_to_this_tree_across_commits(tracked: Store) -> None:
    edit.edit(tracked.memory(), "fact.hand", DocumentEdits(body="One."))
    git(tracked.root, "add", "-A")
    git(tracked.root, "commit", "-qm", "One")
    edit.edit(tracked.memory(), "fact.hand", DocumentEdits(body="Two."))
    git(tracked.root, "add", "-A")
    git(tracked.root, "commit", "-qm", "Two")
    assert len(tracked.undo(number=2).events) == 2
    assert b"Body  one." in tracked.read("hand.md")
    assert len(tracked.shards()) == 4


def test_forged_log_reaches_no_other_file(store: Store) -> None:
    edit.remove(store.memory(), "fact.hand", why="gone")
    (shard,) = (path for path in store.shards() if b"remove" in store.shards()[path])
    text = Path(shard).read_text()
    forged = text.replace(f"{FACTS}/hand.md", "Makefile")
    Path(shard).write_text(forged)
    with pytest.raises(Refused, match="contains Makefile, which is outside the document folders"):
        store.undo()
    assert not (store.root / "Makefile").exists()
    Path(shard).write_text(text)


# --- the command -------------------------------------------------------------------------------------


@pytest.fixture
def call(repo: Path, server: Server) -> Callable[..., Done]:
    """Run a command in the repository, each a second later."""
    calls = iter(range(1, 1000))

    def command(*words: str) -> Done:
        number = next(calls)
        now = {"THUNDERUS_MEM_NOW": f"2026-01-21T09:00:{number:02d}Z", "THUNDERUS_MEM_SEED": str(number)}
        return server.run(*words, cwd=str(repo), env=now)

    return command


def test_command_lists_undoes_and_redoes(repo: Path, call: Callable[..., Done]) -> None:
    call("init")
    call("add", "fact", "Ports", "--tag", "net", "--body", "It is 8080.")
    call("edit", "fact.ports", "--body", "It is 9090.", "-m", "moved")
    path = repo / FACTS / "ports.md"
    edited = path.read_bytes()
    shown = call("undo", "--dry-run")
    assert shown.code == 0
    assert "-It is 9090.\n+It is 8080." in shown.out
    assert "would undo: edit evt_" in shown.err
    assert path.read_bytes() == edited
    assert call("undo", "--dry-run").out == shown.out
    planned = call("--json", "undo", "--dry-run").json
    assert planned["dry_run"] is True
    assert planned["events"][0]["documents"][0]["op"] == "update"
    done = call("undo")
    assert done.code == 0
    assert done.out == f"changed  fact.ports  {FACTS}/ports.md\n"
    assert "Undid: edit evt_" in done.err
    assert ": moved" in done.err
    assert "undo --redo" in done.err
    again = call("--json", "undo", "--redo").json
    assert again["events"][0]["again"] is True
    assert path.read_bytes() == edited
    assert call("undo", "-n", "2").out.splitlines()[-1] == f"removed  fact.ports  {FACTS}/ports.md"
    assert not path.exists()
    assert call("undo", "-n", "9").code == 4
    assert call("undo", "evt_01", "--redo").code == 2
    assert call("undo", "-n", "0").code == 2


def test_many_similar_events_are_reported_in_one_line(repo: Path, call: Callable[..., Done]) -> None:
    call("init")
    for number in range(5):
        text = document(f"fact.n{number}", f"Body {number}.\n").replace("tags: [one]", "tags: [on]")
        (repo / FACTS / f"n{number}.md").write_text(text, encoding="utf-8")
    call("lint", "--fix")
    reports = [("undo", "--dry-run"), ("undo",), ("undo", "--redo")]
    for words, begin in zip(reports, ("Dry run; would undo", "Undid", "Redid"), strict=True):
        lines = [line for line in call(*words).err.splitlines() if "events" in line or "evt_" in line]
        assert len(lines) == 1, lines
        assert lines[0].startswith(f"{begin}: 5 events (edit) from 2026-01-21 09:00 by "), lines
        assert lines[0].endswith(": lint --fix")


def test_redo_of_a_merge_reports_only_links_that_do_not_resolve(
    repo: Path, call: Callable[..., Done]
) -> None:
    call("init")
    call("add", "fact", "Retries", "--id", "fact.one", "--body", "Clients retry over the whole weekend.")
    text = (repo / FACTS / "one.md").read_text(encoding="utf-8")
    for name in ("two", "three"):
        (repo / FACTS / f"{name}.md").write_text(text.replace("fact.one", f"fact.{name}"), encoding="utf-8")
    call("add", "fact", "Limits", "--body", "See [[fact.two]].")
    assert "To undo:" in call("garden", "--apply").err
    assert call("undo").code == 0
    again = call("undo", "--redo")
    assert (again.code, "still links" in again.err) == (0, False), again.err
    assert call("lint").out == "No findings\n"
    assert call("undo").code == 0
    call("add", "fact", "Files", "--body", "See [this](two.md).")
    path = repo / FACTS / "files.md"
    redo = call("undo", call("--json", "log", "--all", "-n", "2").json["events"][1]["id"])
    assert f"{FACTS}/{path.name}: warning TM201 fact.files still links to fact.two" in redo.err


def test_conflict_exits_with_3_and_broken_links_are_reported(repo: Path, call: Callable[..., Done]) -> None:
    call("init")
    call("add", "fact", "Ports", "--tag", "net", "--body", "It is 8080.")
    added = call("--json", "log", "--all", "-n", "1").json["events"][0]["id"]
    call("add", "fact", "Hosts", "--tag", "net", "--body", "It is one.", "--link", "refers_to:fact.ports")
    assert "fact.hosts still links to fact.ports" in call("undo", added).err
    call("undo", "--redo")
    path = repo / FACTS / "ports.md"
    path.write_bytes(path.read_bytes().replace(b"8080", b"8081"))
    refused = call("undo", added)
    assert refused.code == 3
    assert refused.out == ""
    assert f"by hand after {added} (add)\n" in refused.err
    words = [line.partition("\t")[0] for line in call("--complete", "undo", "evt_").out.splitlines()]
    assert added in words


@pytest.mark.parametrize("command", [("undo",), ("undo", "--list"), ("log",)], ids=" ".join)
def test_number_that_no_log_reaches_is_refused(call: Callable[..., Done], command: tuple[str, ...]) -> None:
    refused = call(*command, "-n", "9" * 25)
    assert (refused.code, "999999" in refused.err) == (2, True)
