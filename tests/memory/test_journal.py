"""Stage, commit, publish, recover: the result of each. Faults at every step are in tests/faults."""

from __future__ import annotations

import errno
import json
import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.support import failpoints
from thunderus_mem.errors import Conflict, NotWritable, Refused, ThunderusError
from thunderus_mem.log.append import Uncertain, batch_at
from thunderus_mem.memory import journal as journal_module
from thunderus_mem.memory.journal import FileChange, Journal, plan, stage, with_modes
from thunderus_mem.store import disk
from thunderus_mem.store.files import read_file, replace_file

if TYPE_CHECKING:
    from thunderus_mem.memory.journal import RecoveredFile

LOG = "log/events.jsonl"


class Store:
    """A store with two documents and a journal."""

    def __init__(self, root: str) -> None:
        self.root = root
        self.staging = os.path.join(root, ".staging")
        self.kept = os.path.join(root, ".quarantine")
        self.journal = Journal(root, self.staging, self.kept)
        self.write("a.md", b"old a")
        self.write("b.md", b"old b")

    def write(self, path: str, data: bytes) -> None:
        replace_file(os.path.join(self.root, path), data)

    def read(self, path: str) -> bytes | None:
        full = os.path.join(self.root, path)
        return read_file(full, 1000) if os.path.exists(full) else None

    def contains(self, shard: str, event_id: str) -> bool:
        return f'"{event_id}"'.encode() in (self.read(shard) or b"")

    def commit(self, event_id: str = "evt_1", head: str = ""):
        writes = [
            FileChange("", "a.md", "old a", "new a"),
            FileChange("", "b.md", "old b", None),
            FileChange("", "sub/c.md", None, "new c"),
        ]
        return self.journal.commit(event_id, LOG, f'{{"id":"{event_id}"}}\n'.encode(), writes, head=head)

    def documents(self) -> tuple[bytes | None, ...]:
        return tuple(self.read(path) for path in ("a.md", "b.md", "sub/c.md"))


def one_file(path: str) -> FileChange:
    return FileChange("", path, None, "1")


OLD = (b"old a", b"old b", None)
NEW = (b"new a", None, b"new c")


@pytest.fixture
def store(tmp_path) -> Store:
    return Store(str(tmp_path))


class Died(BaseException):
    pass


@pytest.fixture
def fail_at(monkeypatch):
    def arm(point: str) -> None:
        def die(code: int) -> None:
            raise Died

        monkeypatch.setattr(os, "_exit", die)
        failpoints.arm(point, monkeypatch.setattr)

    return arm


def test_change_of_three_files_is_applied_and_leaves_no_staging(store: Store) -> None:
    done = store.commit()
    assert (done.published, done.problem, done.aborted) == (True, "", ())
    assert store.documents() == NEW
    assert store.contains(LOG, "evt_1")
    assert os.listdir(store.staging) == []
    assert store.journal.pending() == 0
    assert store.journal.recover(store.contains, shards=[LOG]) == []


def test_change_of_many_files_syncs_each_folder_once(store: Store) -> None:
    heard: list[tuple[str, str]] = []
    changes = [FileChange("", f"sub/{number}.md", None, f"text {number}") for number in range(40)]
    os.mkdir(os.path.join(store.root, "sub"))
    with failpoints.recording(lambda operation, path, detail: heard.append((operation, path))):
        assert store.journal.commit("evt_1", LOG, b'{"id":"evt_1"}\n', changes).published
    assert heard.count(("sync-folder", os.path.join(store.root, "sub"))) == 1
    assert [name for name, path in heard if path.endswith("/evt_1")].count("sync-folder") == 2
    assert store.read("sub/39.md") == b"text 39"
    assert os.listdir(store.staging) == []


def test_change_of_line_ends_only_is_written(store: Store) -> None:
    store.write("d.md", b"one\r\ntwo\r\n")
    write = FileChange("", "d.md", "one\ntwo\n", "one\ntwo\n")
    assert store.journal.commit("evt_1", LOG, b'{"id":"evt_1"}\n', [write]).published
    assert store.read("d.md") == b"one\ntwo\n"


def test_file_changed_before_the_commit_is_a_conflict(store: Store) -> None:
    store.write("b.md", b"somebody's")
    with pytest.raises(Conflict):
        store.commit()
    assert store.documents() == (b"old a", b"somebody's", None)
    assert store.read(LOG) is None


@pytest.mark.parametrize("event_id", ["", "../x", "a/b", "x" * 81, "é"])
def test_invalid_event_id_is_rejected(store: Store, event_id: str) -> None:
    with pytest.raises(Refused):
        store.commit(event_id)


def test_repeated_file_and_invalid_line_are_rejected(store: Store) -> None:
    with pytest.raises(Refused):
        store.journal.commit("evt_1", LOG, b"{}\n", [one_file("x.md"), one_file("X.md")])
    for line in (b"{}", b"{}\n{}\n", b"x" * (1 << 20) + b"\n"):
        with pytest.raises(ThunderusError):
            store.journal.commit("evt_1", LOG, line, [one_file("x.md")])
    assert store.journal.pending() == 0
    assert store.read("x.md") is None


def test_repaired_log_needs_a_new_line(store: Store) -> None:
    store.write(LOG, b'{"id":"evt_0"}')
    with pytest.raises(Conflict, match="repaired"):
        store.commit()
    assert store.commit().published


@pytest.mark.parametrize(
    ("point", "documents", "actions"),
    [
        ("after-mkdir-change", OLD, []),
        ("after-sync-staged", OLD, ["removed"]),
        ("after-sync-folder-staging", OLD, ["removed"] * 3),
        ("before-rename-staged", NEW, ["published"] * 3),
        ("after-rename-staged", NEW, ["dropped", "published", "published"]),
        ("after-rename-taken", NEW, ["dropped", "dropped", "published"]),
        ("after-link-staged", NEW, ["dropped"] * 3),
        ("before-unlink-taken", NEW, ["dropped"] * 3),
        ("after-unlink-taken", NEW, ["dropped"] * 3),
    ],
)
def test_killed_write_is_recovered_and_reported(
    store: Store, fail_at, monkeypatch, point: str, documents, actions
):
    # A killed process cleans nothing up.
    with monkeypatch.context() as patch:
        if documents == OLD:
            patch.setattr(journal_module, "drop", lambda staging, event_id: None)
        fail_at(f"{point}:kill")
        with pytest.raises(Died):
            store.commit()
    assert store.journal.pending() == 1
    recovered = store.journal.recover(store.contains, shards=[LOG])
    assert [one.action for one in recovered] == actions
    assert store.documents() == documents
    assert store.journal.recover(store.contains, shards=[LOG]) == []


@pytest.mark.parametrize(
    "point", ["before-rename-staged", "after-rename-staged", "before-rename-taken", "after-unlink-staged"]
)
def test_error_after_the_commit_leaves_the_change_pending(
    store: Store, fail_at, monkeypatch, point: str
) -> None:
    fail_at(f"{point}:raise")
    done = store.commit()
    assert not done.published
    assert "input/output error" in done.problem
    store.journal.recover(store.contains)
    assert store.documents() == NEW


@pytest.mark.parametrize(
    "point",
    [
        "after-sync-staged",
        "after-sync-folder-staging",
        "before-create-log",
        "before-write-log",
        "after-write-log",
    ],
)
def test_error_before_the_commit_changes_nothing(store: Store, fail_at, monkeypatch, point: str) -> None:
    fail_at(f"{point}:raise")
    with pytest.raises(NotWritable):
        store.commit()
    assert store.journal.pending() == 0
    assert store.documents() == OLD
    assert not store.contains(LOG, "evt_1")


def _die_committed(store: Store, fail_at, head: str = "") -> None:
    fail_at("before-rename-staged:kill")
    with pytest.raises(Died):
        store.commit(head=head)


def test_hand_edit_wins_and_our_text_is_kept_and_reported_once(store: Store, fail_at, monkeypatch) -> None:
    _die_committed(store, fail_at)
    store.write("a.md", b"a person's")
    store.write("b.md", b"a person's too")
    reported: list[RecoveredFile] = []
    recovered = store.journal.recover(store.contains, on_abort=reported.append)
    assert [one.action for one in recovered] == ["aborted", "aborted", "published"]
    assert reported == recovered[:2]
    assert read_file(recovered[0].kept, 100) == b"new a"
    assert recovered[1].kept == ""
    assert store.documents() == (b"a person's", b"a person's too", b"new c")


def test_nothing_is_published_on_another_head(store: Store, fail_at, monkeypatch) -> None:
    _die_committed(store, fail_at, head="1111")
    recovered = store.journal.recover(store.contains, head="2222")
    assert [one.action for one in recovered] == ["aborted"] * 3
    assert store.documents() == OLD
    assert sorted(read_file(one.kept, 100) for one in recovered if one.kept) == [b"new a", b"new c"]


def test_text_is_kept_on_another_head_without_the_log(store: Store, fail_at, monkeypatch) -> None:
    _die_committed(store, fail_at, head="1111")
    recovered = store.journal.recover(lambda shard, event_id: False, head="2222")
    assert [(one.action, bool(one.kept)) for one in recovered] == [
        ("removed", True),
        ("removed", False),
        ("removed", True),
    ]


def test_damaged_operation_is_kept(store: Store, fail_at, monkeypatch) -> None:
    _die_committed(store, fail_at)
    with open(os.path.join(store.staging, "evt_1", "op.json"), "w", encoding="utf-8") as stream:
        stream.write('{"event": "evt_1"')
    os.symlink(store.root, os.path.join(store.staging, "evt_1", "link"))
    assert [one.action for one in store.journal.recover(store.contains)] == ["damaged"]
    assert len(os.listdir(store.kept)) == 3
    assert store.journal.pending() == 0


def test_damaged_staged_bytes_are_never_published(store: Store, fail_at, monkeypatch) -> None:
    _die_committed(store, fail_at)
    with open(os.path.join(store.staging, "evt_1", "0"), "wb") as stream:
        stream.write(b"rot")
    assert [one.action for one in store.journal.recover(store.contains)] == [
        "aborted",
        "published",
        "published",
    ]
    assert store.read("a.md") == b"old a"


def test_change_stays_pending_while_the_disk_fails(store: Store, fail_at, monkeypatch) -> None:
    _die_committed(store, fail_at)

    def refuse(*arguments: object, **options: object) -> None:
        raise OSError(errno.EROFS, "no")

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", refuse)
        recovered = store.journal.recover(store.contains)
    assert [one.action for one in recovered] == ["pending", "pending", "published"]
    assert all("read-only" in one.problem for one in recovered[:2])
    assert store.journal.pending() == 1
    store.journal.recover(store.contains)
    assert store.documents() == NEW


def test_file_moved_by_mistake_is_restored(store: Store, fail_at, monkeypatch) -> None:
    _die_committed(store, fail_at)
    store.write("b.md", b"a person's")
    os.rename(os.path.join(store.root, "b.md"), os.path.join(store.staging, "evt_1", "1.taken"))
    assert [one.action for one in store.journal.recover(store.contains)][1] == "aborted"
    assert store.read("b.md") == b"a person's"


def test_stray_files_in_the_staging_folder_are_ignored(store: Store) -> None:
    os.makedirs(os.path.join(store.staging, "not an event"))
    with open(os.path.join(store.staging, "evt_file"), "w", encoding="utf-8"):
        pass
    assert store.journal.pending() == 0


def test_unreadable_operation_is_not_treated_as_damaged(store: Store, fail_at, monkeypatch) -> None:
    _die_committed(store, fail_at)
    real = os.lstat

    def refuse(path: str, **named: object) -> os.stat_result:
        if str(path).endswith("op.json"):
            raise OSError(errno.EIO, "no")
        return real(path, **named)

    with monkeypatch.context() as patch:
        patch.setattr(os, "lstat", refuse)
        with pytest.raises(NotWritable):
            store.journal.recover(store.contains)
    store.journal.recover(store.contains)
    assert store.documents() == NEW


def test_staging_that_cannot_be_created_or_read_is_reported(store: Store, monkeypatch) -> None:
    def refuse(*arguments: object, **options: object) -> None:
        raise OSError(errno.EROFS, "no")

    with monkeypatch.context() as patch:
        patch.setattr(os, "mkdir", refuse)
        with pytest.raises(NotWritable):
            store.commit()
    with monkeypatch.context() as patch:
        patch.setattr(os, "scandir", refuse)
        with pytest.raises(NotWritable):
            store.journal.pending()
    assert store.documents() == OLD


def test_line_that_cannot_be_kept_or_removed_keeps_the_change_staged(store: Store, monkeypatch) -> None:
    def refuse(path: str, line: bytes, **named: object) -> int:
        raise Uncertain("unknown")

    with monkeypatch.context() as patch:
        patch.setattr(journal_module, "append_record", refuse)
        with pytest.raises(Uncertain):
            store.commit()
    assert store.journal.pending() == 1
    assert [one.action for one in store.journal.recover(store.contains)] == ["removed"] * 3


def test_removal_of_a_missing_file_succeeds(store: Store, fail_at, monkeypatch) -> None:
    _die_committed(store, fail_at)
    os.unlink(os.path.join(store.root, "b.md"))
    assert [one.action for one in store.journal.recover(store.contains)] == [
        "published",
        "dropped",
        "published",
    ]


def test_quarantine_is_deferred_when_the_disk_is_full(store: Store, fail_at, monkeypatch) -> None:
    _die_committed(store, fail_at, head="1111")
    with open(store.kept, "w", encoding="utf-8"):
        pass
    assert {one.action for one in store.journal.recover(store.contains, head="2222")} == {
        "pending",
        "aborted",
    }
    assert [one.action for one in store.journal.recover(lambda *_: False, head="2222")] == ["pending"]
    os.unlink(store.kept)
    assert [one.action for one in store.journal.recover(store.contains, head="2222")] == ["aborted"] * 3


def _refuse(*arguments: object, **named: object) -> None:
    raise OSError(errno.EIO, "no")


def test_note_needs_no_staging(store: Store) -> None:
    assert store.journal.pending() == 0
    assert store.journal.commit("evt_1", LOG, b'{"id":"evt_1"}\n', []).published
    assert not os.path.exists(store.staging)


def test_unreadable_target_leaves_the_change_pending(store: Store, fail_at, monkeypatch) -> None:
    _die_committed(store, fail_at)
    real = os.open

    def refuse(path: str, *rest: int, **options: int) -> int:
        return _refuse() or 0 if str(path).endswith("a.md") else real(path, *rest, **options)

    with monkeypatch.context() as patch:
        patch.setattr(os, "open", refuse)
        assert [one.action for one in store.journal.recover(store.contains)] == [
            "pending",
            "published",
            "published",
        ]
    store.journal.recover(store.contains)
    assert store.documents() == NEW


def test_unreadable_staged_text_is_kept(store: Store, fail_at, monkeypatch) -> None:
    _die_committed(store, fail_at)
    store.write("a.md", b"a person's")
    real = disk.mode_of

    def refuse(path: str) -> int:
        return _refuse() or 0 if path.endswith("0.taken") else real(path)

    with monkeypatch.context() as patch:
        patch.setattr(disk, "mode_of", refuse)
        assert store.journal.recover(store.contains)[0].action == "pending"
    assert store.journal.recover(store.contains)[0].action == "aborted"


def test_operation_that_is_not_a_file_is_damaged(store: Store) -> None:
    os.makedirs(os.path.join(store.staging, "evt_1", "op.json"))
    assert [one.action for one in store.journal.recover(store.contains)] == ["damaged"]


def test_staged_change_that_cannot_be_removed_is_still_applied(store: Store, monkeypatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(os, "rmdir", _refuse)
        assert store.commit().published
    assert store.journal.recover(store.contains) == []
    assert store.documents() == NEW


def test_published_files_may_be_removed_before_recovery(store: Store, fail_at, monkeypatch) -> None:
    fail_at("before-unlink-taken:kill")
    with pytest.raises(Died):
        store.commit()
    os.unlink(os.path.join(store.root, "sub", "c.md"))
    os.rmdir(os.path.join(store.root, "sub"))
    assert [one.action for one in store.journal.recover(store.contains)] == ["dropped"] * 3
    assert store.read("sub/c.md") is None


def test_file_moved_by_mistake_and_written_again_keeps_both(store: Store, fail_at, monkeypatch) -> None:
    _die_committed(store, fail_at)
    with open(os.path.join(store.staging, "evt_1", "1.taken"), "wb") as stream:
        stream.write(b"first")
    store.write("b.md", b"second")
    recovered = store.journal.recover(store.contains)
    assert read_file(recovered[1].kept, 100) == b"first"
    assert store.read("b.md") == b"second"


LINES = [b'{"id":"evt_2"}\n', b'{"id":"evt_3"}\n', b'{"id":"evt_4"}\n']


def _cut(data: bytes, lost: int) -> bytes:
    """What a disk may keep of several lines: one block of eight bytes is lost."""
    return data[:lost] + b"\0" * len(data[lost : lost + 8]) + data[lost + 8 :]


def _begin(store: Store) -> None:
    """Leave the disk as after a power failure during the write of several lines."""
    batch = batch_at(os.path.join(store.root, LOG), LINES)
    stage(store.staging, plan("evt_2", LOG, (), "")._replace(batch=batch), ())


@pytest.mark.parametrize("number", range(6))
def test_several_lines_are_written_completely_or_not_at_all(store: Store, number: int) -> None:
    """For any lost block, even if the last line is complete."""
    first, data = b'{"id":"evt_1"}\n', b"".join(LINES)
    store.write(LOG, first)
    _begin(store)
    kept = [data, data[:20], b"", _cut(data, 0), _cut(data, 16), _cut(data, len(data) - 8)][number]
    (Path(store.root) / LOG).write_bytes(first + kept)
    assert store.journal.pending() == 1

    recovered = store.journal.recover(store.contains, shards=[LOG])

    assert store.read(LOG) == first + (data if kept == data else b"")
    assert store.journal.pending() == 0
    assert bool(recovered) == (kept not in (data, b""))
    texts = [read_file(one.kept, 1000) for one in recovered]
    assert b"".join(reversed(texts)) in (kept, b"")
    assert store.journal.recover(store.contains, shards=[LOG]) == []


def test_several_lines_leave_no_staging(store: Store) -> None:
    store.journal.append("evt_2", LOG, LINES)
    store.journal.append("evt_5", LOG, [b'{"id":"evt_5"}\n'])
    assert store.read(LOG) == b"".join(LINES) + b'{"id":"evt_5"}\n'
    assert os.listdir(store.staging) == []


def test_log_that_others_appended_to_is_not_truncated(store: Store) -> None:
    _begin(store)
    damaged = _cut(b"".join(LINES), 0) + b'{"id":"evt_5"}\n'
    store.write(LOG, damaged)
    assert store.journal.recover(store.contains) == []
    assert store.read(LOG) == damaged
    assert store.journal.pending() == 0


@pytest.mark.parametrize(
    "batch",
    [
        {"offset": -1, "size": 9, "hash": ""},
        {"offset": 0, "size": 1 << 40, "hash": ""},
        {"offset": 0},
        {"offset": [], "size": 1, "hash": ""},
        [],
        7,
    ],
)
def test_foreign_batch_truncates_nothing(store: Store, batch: object) -> None:
    store.write(LOG, LINES[0])
    record = {"event": "evt_9", "shard": LOG, "head": "", "writes": [], "batch": batch}
    store.write(".staging/evt_9/op.json", json.dumps(record).encode())
    assert [one.action for one in store.journal.recover(store.contains)] == ["damaged"]
    assert store.read(LOG) == LINES[0]


def test_tracked_log_is_never_truncated(store: Store) -> None:
    journal = Journal(store.root, store.staging, store.kept, is_private=lambda path: path != LOG)
    store.write(LOG, LINES[0])
    batch = {"offset": 0, "size": 1000, "hash": ""}
    record = {"event": "evt_9", "shard": LOG, "head": "", "writes": [], "batch": batch}
    store.write(".staging/evt_9/op.json", json.dumps(record).encode())
    assert [one.action for one in journal.recover(store.contains)] == ["damaged"]
    assert store.read(LOG) == LINES[0]


def test_repaired_log_rejects_several_lines(store: Store) -> None:
    store.write(LOG, b'{"id":"evt_0"}')
    with pytest.raises(Conflict, match="repaired"):
        store.journal.append("evt_2", LOG, LINES)
    store.journal.append("evt_2", LOG, LINES)
    assert store.read(LOG) == b'{"id":"evt_0"}\n' + b"".join(LINES)


@pytest.mark.parametrize(("error", "staged"), [(Uncertain("unknown"), 1), (NotWritable("no"), 0)])
def test_possibly_written_lines_stay_staged(store: Store, monkeypatch, error: Exception, staged: int) -> None:
    def refuse(path: str, lines: object, **named: object) -> int:
        raise error

    monkeypatch.setattr(journal_module, "append_records", refuse)
    with pytest.raises(type(error)):
        store.journal.append("evt_2", LOG, LINES)
    assert store.journal.pending() == staged


def test_moved_document_can_get_a_new_text_and_id(store: Store) -> None:
    changes = FileChange.move("fact.b", "b.md", "old b", "c.md", new_text="new b", new_id="fact.c")
    assert [change.doc_id for change in changes] == ["fact.b", "fact.c"]
    assert store.journal.commit("evt_1", LOG, b'{"id":"evt_1"}\n', changes).published
    assert (store.read("b.md"), store.read("c.md")) == (None, b"new b")


def test_new_file_gets_its_permissions(store: Store) -> None:
    change = FileChange("", "d.md", None, "new", mode=0o600)
    assert store.journal.commit("evt_1", LOG, b'{"id":"evt_1"}\n', [change]).published
    assert os.stat(os.path.join(store.root, "d.md")).st_mode & 0o777 == 0o600


def test_removed_and_moved_files_keep_their_permissions() -> None:
    gone = FileChange("fact.a", "a.md", "a", None)
    moved = FileChange.move("fact.b", "b.md", "b", "c.md")
    kept = list(with_modes([gone, *moved], {"a.md": 0o644, "b.md": 0o600}.__getitem__))
    assert [one.mode for one in kept] == [None, 0o600, 0o600]
    assert [one.op for one in kept] == ["remove", "rename", "rename"]
    assert [one.for_log().mode for one in (kept[0], kept[1]._replace(renames=False))] == ["", "600"]


def _refused_commit(store: Store, monkeypatch) -> None:
    """Commit while the new text of ``a.md`` and the removal of ``b.md`` are refused."""

    def refuse(*arguments: object, **options: object) -> None:
        raise OSError(errno.EROFS, "no")

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", refuse)
        assert not store.commit().published


def test_unpublished_writes_wait(store: Store, monkeypatch) -> None:
    assert store.journal.waiting() == frozenset()
    _refused_commit(store, monkeypatch)
    assert store.journal.waiting() == {("evt_1", "a.md"), ("evt_1", "b.md")}
    store.write("b.md", b"a person's")
    assert store.journal.waiting() == {("evt_1", "a.md"), ("evt_1", "b.md")}
    os.unlink(os.path.join(store.root, "b.md"))
    store.write("a.md", b"new a")  # as staged, whoever wrote it
    assert store.journal.waiting() == frozenset()
    store.journal.recover(store.contains)
    assert store.journal.pending() == 0


def test_removed_file_does_not_wait(store: Store, monkeypatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(disk, "link", _refuse)
        assert not store.commit().published
    assert store.journal.waiting() == {("evt_1", "sub/c.md")}


def test_write_waits_if_its_file_cannot_be_read(store: Store, monkeypatch) -> None:
    _refused_commit(store, monkeypatch)
    os.unlink(os.path.join(store.root, "b.md"))
    os.mkdir(os.path.join(store.root, "b.md"))
    assert ("evt_1", "b.md") in store.journal.waiting()


def test_damaged_operation_does_not_wait(store: Store, monkeypatch) -> None:
    _refused_commit(store, monkeypatch)
    with open(os.path.join(store.staging, "evt_1", "op.json"), "w", encoding="utf-8") as stream:
        stream.write("{")
    assert store.journal.waiting() == frozenset()


def test_line_ends_wait_though_hashes_are_equal(store: Store, monkeypatch) -> None:
    store.write("a.md", b"one\r\n")

    def refuse(*arguments: object, **options: object) -> None:
        raise OSError(errno.EROFS, "no")

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", refuse)
        change = FileChange("", "a.md", "one\r\n", "one\n")
        assert not store.journal.commit("evt_1", LOG, b'{"id":"evt_1"}\n', [change]).published
    assert store.journal.waiting() == {("evt_1", "a.md")}
    store.journal.recover(store.contains)
    assert store.read("a.md") == b"one\n"


def test_file_that_waits_takes_no_other_change(store: Store, monkeypatch) -> None:
    _refused_commit(store, monkeypatch)
    change = FileChange("", "a.md", "old a", "other")
    with pytest.raises(NotWritable, match=r"a\.md") as caught:
        store.journal.commit("evt_2", LOG, b'{"id":"evt_2"}\n', [change])
    assert "undo evt_1" in (caught.value.hint or "")
    assert store.journal.commit("evt_2", LOG, b'{"id":"evt_2"}\n', [one_file("d.md")]).published


def test_given_up_writes_are_kept_and_never_published(store: Store, monkeypatch) -> None:
    _refused_commit(store, monkeypatch)
    told: list[RecoveredFile] = []
    lost = store.journal.give_up("evt_1", told.extend)
    assert told == list(lost)
    assert [(one.path, one.action, bool(one.kept)) for one in lost] == [
        ("a.md", "aborted", True),
        ("b.md", "aborted", False),
    ]
    assert read_file(lost[0].kept, 100) == b"new a"
    assert store.journal.pending() == 0
    assert store.documents() == (b"old a", b"old b", b"new c")


def test_change_given_up_in_the_log_is_dropped_by_recovery(store: Store, monkeypatch) -> None:
    _refused_commit(store, monkeypatch)
    given_up = {("evt_1", "a.md"), ("evt_1", "b.md")}
    told: list[RecoveredFile] = []
    recovered = store.journal.recover(
        store.contains, given_up=lambda paths: given_up if list(paths) else set(), on_abort=told.append
    )
    assert [(one.path, one.action) for one in recovered] == [("sub/c.md", "dropped")]
    assert told == []
    assert store.journal.pending() == 0
    assert store.documents() == (b"old a", b"old b", b"new c")


def test_change_that_cannot_be_kept_is_not_given_up(store: Store, monkeypatch) -> None:
    _refused_commit(store, monkeypatch)
    with open(store.kept, "w", encoding="utf-8"):
        pass
    told: list[RecoveredFile] = []
    with pytest.raises(NotWritable):
        store.journal.give_up("evt_1", told.extend)
    assert told == []
    assert store.journal.pending() == 1
