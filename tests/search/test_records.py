"""The conversations and executions of users: stored privately, found by words, and never by another user."""

from __future__ import annotations

import os
import shutil
import subprocess
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.command_store import CommandStore
from thunderus_mem.errors import InvalidDocument, InvalidQuery, Refused
from thunderus_mem.index.records import RecordFilter
from thunderus_mem.log.records import CONVERSATION, EXECUTION, Record, user_folder, user_in, valid_user
from thunderus_mem.log.shard import check_chain
from thunderus_mem.memory.memory import open_memory
from thunderus_mem.memory.records import AddedRecord, UserRecords
from thunderus_mem.search.records import find_records
from thunderus_mem.store.paths import inside, is_private_shard, is_shard

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.command_server import Server
    from thunderus_mem.memory.memory import Memory

HOSTILE = (
    *("../x", "..", ".", "/etc/passwd", "a/b", "a\\b", "nul", "CON", "x-" + "0" * 64, "alice ", " alice"),
    *("alice", "Alice", "ALICE", "аlice", "alicé", "alice\u0301", "ａlice", "alice\0", "alice\n", "a" * 256),
    *("alice.", "alice~1", "-alice", "u-alice", "%61lice", "🦀", "ß", "ss", "default_user"),
)


@pytest.fixture
def memory(tmp_path: Path) -> Memory:
    (tmp_path / ".thunderus" / "memory").mkdir(parents=True)
    seconds = count()
    bits = count(1)
    start = datetime(2026, 1, 21, 9, tzinfo=UTC)
    return open_memory(
        str(tmp_path),
        environ={"PATH": os.environ["PATH"], "HOME": str(tmp_path)},
        now=lambda: start + timedelta(seconds=next(seconds)),
        random_bits=lambda number: next(bits) % (1 << number),
    )


def said(message_id: str, asked: str, answered: str = "Yes.", **more: Any) -> Record:
    return Record(CONVERSATION, message_id, (asked, answered), **more)


def done(message_id: str, summary: str, **more: Any) -> Record:
    return Record(EXECUTION, message_id, (summary, ""), **more)


def found(memory: Memory, user: str, query: str, **more: Any) -> list[tuple[str, float]]:
    hits = find_records(memory, user, query, **more).hits
    return [(hit.record.message_id, hit.score) for hit in hits]


# Users


@given(st.text(st.characters(exclude_categories=("Cs",)), min_size=1, max_size=60).filter(str.strip))
def test_folder_of_a_user_is_safe_on_every_system(user: str) -> None:
    folder = user_folder(valid_user(user))
    name = folder.removeprefix(".thunderus/local/users/")
    assert name.isascii()
    assert name == name.lower()
    assert name[:2] in ("u-", "x-")
    assert name.replace("-", "").replace("_", "").isalnum()
    assert len(name) < 100
    inside("/store", f"{folder}/sess_1/events.jsonl")


def test_no_two_users_share_a_folder() -> None:
    assert len({user_folder(user).lower() for user in HOSTILE}) == len(HOSTILE)


@pytest.mark.parametrize("user", ["", " ", "\n", "\ud800", "a" * 257])
def test_invalid_user_is_an_error(memory: Memory, user: str) -> None:
    for use in (lambda: user_in({"MEMORY_USER_ID": user}), lambda: UserRecords(memory, user)):
        with pytest.raises(InvalidQuery, match="id of the user"):
            use()


def test_user_is_that_of_the_environment() -> None:
    assert user_in({}) == "default_user"
    assert user_in({"MEMORY_USER_ID": "Alice"}) == "Alice"


def test_private_shards_of_users_are_shards() -> None:
    shard = ".thunderus/local/users/u-alice/sess_1/events.jsonl"
    assert is_shard(shard)
    assert is_private_shard(shard)
    for other in (shard.replace("/u-alice", ""), shard.replace("sess_1", "sess_1/x"), shard + "x"):
        assert not is_shard(other)


def test_users_never_find_records_of_each_other(memory: Memory) -> None:
    """The same message id and the same words, for ids that look alike."""
    users = HOSTILE[:14] + HOSTILE[-3:]
    for user in users:
        UserRecords(memory, user).add(said("msg_1", f"Which port? I am {user!r}"))
    UserRecords(memory, "alice").add(done("msg_1", "Looked up the port."))
    for user in users:
        (conversation,) = find_records(memory, user, "port", kinds=[CONVERSATION]).hits
        assert conversation.record.texts[0] == f"Which port? I am {user!r}"
        assert conversation.linked is (user == "alice")
        assert find_records(memory, user, "port", kinds=[EXECUTION]).total == (user == "alice")
        assert {one.event.body["user"] for one in UserRecords(memory, user).read_all().events} == {user}
    assert find_records(memory, "bob", "port").total == 0
    folders = os.listdir(memory.layout.at(".thunderus/local/users"))
    assert len(folders) == len(users) + 1  # and .gitignore


def test_event_of_another_user_in_a_folder_is_ignored(memory: Memory) -> None:
    """A shard that was copied by hand from one user to another."""
    UserRecords(memory, "alice").add(said("msg_1", "Which port?"))
    shutil.copytree(memory.layout.at(user_folder("alice")), memory.layout.at(user_folder("bob")))
    assert find_records(memory, "bob", "port").total == 0
    assert not UserRecords(memory, "bob").read_all().events


def test_folder_of_a_user_that_is_a_link_is_not_read_or_written(memory: Memory) -> None:
    UserRecords(memory, "alice").add(said("msg_1", "Which port?"))
    folder = memory.layout.at(user_folder("alice"))
    os.rename(folder, folder + "2")
    os.symlink(folder + "2", folder)
    assert find_records(memory, "alice", "port").total == 0
    with pytest.raises(Refused, match="symbolic link"):
        UserRecords(memory, "alice").add(said("msg_2", "Which host?"))


# Storing


def test_record_is_stored_once(memory: Memory) -> None:
    records = UserRecords(memory, "alice")
    first = records.add(said("msg_1", "Which port?", meta_data='{"a":1.5}'))
    assert (first.repeated, first.record.ts) == (False, "2026-01-21T09:00:00.000Z")
    again = records.add(said("msg_1", "Which port?", meta_data='{"a":1.5}'))
    assert again == first._replace(repeated=True)
    for other in (
        said("msg_1", "Which port?"),
        said("msg_1", "Which host?"),
        said("msg_1", "Which port?", meta_data='{"a":1.5}', ts="2024-12-15T14:30:00Z"),
        done("msg_1", "Which port?"),
    ):
        assert not records.add(other).repeated
    assert find_records(memory, "alice", "").total == 5


def test_time_of_a_record_is_kept_as_written(memory: Memory) -> None:
    ts = "2024-12-15T14:30:45.123+02:00"
    assert UserRecords(memory, "alice").add(said("msg_1", "Which port?", ts=ts)).record.ts == ts
    (hit,) = find_records(memory, "alice", "port").hits
    assert hit.record.ts == ts


def test_records_are_stored_together_except_those_that_cannot(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("thunderus_mem.memory.records._LARGE", 1200)
    records = UserRecords(memory, "alice")
    records.add(said("m0", "Which port?"))
    many = [said(f"m{number % 5}", "Which port?") for number in range(7)]
    many.insert(3, done("m3", "x", errors=({"error_type": "x", "error_message": "y", "wait": 1.5},)))
    results = records.add_all(many)
    assert isinstance(results[3], InvalidDocument)
    stored = [one for one in results if isinstance(one, AddedRecord)]
    assert [one.repeated for one in stored] == [True, False, False, False, False, True, True]
    assert sorted(id for id, _ in found(memory, "alice", "")) == ["m0", "m1", "m2", "m3", "m4"]
    assert len(records.log.shards()) == 2
    assert records.add_all([]) == []


def test_secret_is_not_stored(memory: Memory) -> None:
    token = "ghp_" + "16C7e42F292c6912E7710c838347Ae178B4a"
    with pytest.raises(Refused, match="secret"):
        UserRecords(memory, "alice").add(said("msg_1", "Which port?", f"Use {token}"))
    assert find_records(memory, "alice", "").total == 0


@pytest.mark.parametrize(
    "errors",
    [{"error_type": "x", "error_message": "y" * (1 << 20)}, {"error_type": "x", "wait": 1.5}],
    ids=["long", "float"],
)
def test_record_that_is_not_an_event_is_refused(memory: Memory, errors: dict[str, Any]) -> None:
    with pytest.raises(InvalidDocument):
        UserRecords(memory, "alice").add(done("msg_1", "x", tools=("a", "b"), errors=(errors,)))
    assert not os.path.exists(memory.layout.at(user_folder("alice")))


def test_torn_record_is_quarantined_and_the_next_one_stored(memory: Memory) -> None:
    records = UserRecords(memory, "alice")
    records.add(said("m1", "Which port?"))
    (shard,) = records.log.shards()
    with open(memory.layout.at(shard), "ab") as file:
        file.write(b'{"v":1,"id":"evt_')
    assert found(memory, "alice", "port") == [("m1", 1.0)]
    records.add(done("m1", "Looked it up."))
    assert [hit.record.kind for hit in find_records(memory, "alice", "").hits] == [EXECUTION, CONVERSATION]
    assert len(os.listdir(memory.layout.quarantine_dir)) == 1


def test_shards_are_small_and_ignored_by_git(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    """The index reads a changed shard as a whole; and not every store has the ``.gitignore`` of `init`."""
    monkeypatch.setattr("thunderus_mem.memory.records._LARGE", 1200)
    records = UserRecords(memory, "alice")
    for number in range(3):
        records.add(said(f"m{number}", "Which port?"))
    shards = records.log.shards()
    assert len(shards) == 2
    assert [len(reading.events) for reading in records.log.readings()] == [4, 2]
    for reading in records.log.readings():
        assert {one.event.session_id for one in reading.events} == {records.log.session_of(reading.path)}
        assert not check_chain(reading, session_id=records.log.session_of(reading.path) or "")
    subprocess.run(["git", "init", "-q", memory.root], check=True)
    status = subprocess.run(
        ["git", "-C", memory.root, "status", "--short", "-uall"], check=True, capture_output=True, text=True
    )
    assert "users" not in status.stdout
    assert ".thunderus" in status.stdout


# Finding


@pytest.fixture
def stored(memory: Memory) -> Memory:
    records = UserRecords(memory, "alice")
    day = "2024-12-1{}T12:00:00Z"
    records.add(said("m1", "Which port does the server use?", "Port 8080.", ts=day.format(1)))
    records.add(said("m2", "Which host does the server use?", "The port is open.", ts=day.format(2)))
    records.add(said("m3", "データベースの設定は?", "parseHTTPFrame reads it.", ts=day.format(3)))
    timeout = {"error_type": "TimeoutError", "error_message": "too slow", "tool": "pytest"}
    records.add(done("m2", "Done the tests.", tools=("shell", "pytest"), errors=(timeout,), duration_ms=100))
    records.add(done("m4", "Done the linter.", tools=("shell", "Ruff"), success=True, duration_ms=51))
    records.add(done("m4", "Done the linter again.", tools=("Ruff",), success=True))
    return memory


def test_words_select_and_rank(stored: Memory) -> None:
    assert [id for id, _ in found(stored, "alice", "which port", kinds=[CONVERSATION])] == ["m2", "m1"]
    ranked = found(stored, "alice", "server port 8080", kinds=[CONVERSATION])
    assert [id for id, _ in ranked] == ["m1", "m2"]
    assert ranked[0][1] == 1.0
    assert 0 < ranked[1][1] < 1
    assert found(stored, "alice", "TimeoutError") == [("m2", 1.0)]
    assert [id for id, _ in found(stored, "alice", "設定")] == ["m3"]
    assert [id for id, _ in found(stored, "alice", "frame")] == ["m3"]
    assert found(stored, "alice", "nothing like this") == []


@pytest.mark.parametrize(
    "query", ['"', "tag: kind:x since:y", "-port", "NEAR( OR *", "the of", "\0", "é" * 4000]
)
def test_any_query_is_answered(stored: Memory, query: str) -> None:
    result = find_records(stored, "alice", query)
    assert all(0 <= hit.score <= 1 for hit in result.hits)


def test_message_id_selects_all_of_an_exchange(stored: Memory) -> None:
    wanted = RecordFilter(message_id="m2")
    assert found(stored, "alice", "unrelated", wanted=wanted) == [("m2", 1.0), ("m2", 1.0)]
    (conversation,) = find_records(stored, "alice", "x", kinds=[CONVERSATION], wanted=wanted).hits
    (execution,) = find_records(stored, "alice", "x", kinds=[EXECUTION], wanted=wanted).hits
    assert conversation.linked
    assert execution.linked
    (alone,) = find_records(stored, "alice", "", kinds=[CONVERSATION], wanted=RecordFilter("m1")).hits
    assert not alone.linked


def test_range_of_time_selects_and_words_rank(stored: Memory) -> None:
    wanted = RecordFilter(since="2024-12-11T12:00:00.000000Z", until="2024-12-12T12:00:00.000000Z")
    assert [id for id, _ in found(stored, "alice", "8080", wanted=wanted)] == ["m1", "m2"]
    assert found(stored, "alice", "none of it", wanted=wanted) == [("m2", 0.0), ("m1", 0.0)]


def test_patterns_of_executions(stored: Memory) -> None:
    result = find_records(stored, "alice", "", kinds=[EXECUTION], limit=1)
    assert (len(result.hits), result.total) == (1, 3)
    patterns = result.patterns
    assert find_records(stored, "alice", "").patterns == patterns
    assert (patterns.executions, patterns.succeeded, patterns.duration_ms) == (3, 2, 76)
    assert patterns.tools == (("Ruff", 2), ("shell", 2), ("pytest", 1))
    assert patterns.errors == (("TimeoutError", 1),)
    for wanted, ids in (
        (RecordFilter(tools=["ruff"]), ["m4", "m4"]),
        (RecordFilter(tools=["ruff", "SHELL"]), ["m4"]),
        (RecordFilter(errors=["timeouterror"]), ["m2"]),
        (RecordFilter(success=False), ["m2"]),
        (RecordFilter(tools=["ruf"]), []),
    ):
        assert [id for id, _ in found(stored, "alice", "", kinds=[EXECUTION], wanted=wanted)] == ids


def test_answers_are_the_same_without_index_and_shards_may_disappear(stored: Memory) -> None:
    before = find_records(stored, "alice", "server port which linter")
    stored.close()
    shutil.rmtree(stored.layout.indexes_dir)
    assert find_records(stored, "alice", "server port which linter") == before
    shutil.rmtree(stored.layout.at(user_folder("alice")))
    assert find_records(stored, "alice", "server").total == 0


def test_nothing_else_reads_records(repo: Path, server: Server) -> None:
    store = CommandStore(repo, server)
    memory = open_memory(str(repo), environ={"PATH": os.environ["PATH"], "HOME": str(repo)})
    UserRecords(memory, "alice").add(said("m1", "Zanzibar?", "Decided: Zanzibar.", ts="2026-01-21T09:00:00Z"))
    UserRecords(memory, "bob").add(said("m2", "Zanzibar!", ts="2026-01-21T09:00:01Z"))
    memory.close()
    (repo / ".thunderus/memory/gardener.toml").write_text("[recap]\nquote = true\n")
    for command in (
        ("search", "zanzibar"), ("context", "zanzibar"), ("log", "--all"), ("list",), ("status",),
        ("events", "export", "--private"), ("recap", "--dry-run"), ("lint",), ("doctor",),
        ("events", "verify"),
    ):  # fmt: skip
        done_ = store.run(*command)
        assert done_.code == 0, done_.err
        assert "anzibar" not in done_.out + done_.err
        assert "alice" not in done_.out + done_.err
    (shard,) = (repo / user_folder("alice")).glob("*/events.jsonl")
    shard.write_text(shard.read_text().replace("Decided: ", "Denied: "))
    verified = store.run("events", "verify")  # a change of the last line cannot be detected
    assert verified.code == 0
    assert "5 events in 3 shards checked" in verified.err
    whole = shard.read_text()
    shard.write_text(whole.replace("?", "!"))
    verified = store.run("events", "verify")
    assert verified.code == 1
    assert f"{user_folder('alice')}/" in verified.out
    shard.write_text(whole.replace("Denied: ", "Decided: "))
    exported = store.run("events", "export", "--user", "alice")
    assert exported.out.count("anzibar") == 2
    assert "bob" not in exported.out
    shown = store.run("search", "--events", "--user", "alice", "zanzibar")
    assert shown.code == 0
    assert shown.out == "Zanzibar?\nm1  2026-01-21 09:00  (conversation)\n    Decided: Zanzibar.\n"
    assert store.run("search", "--events", "--ids", MEMORY_USER_ID="bob").out == "m2\n"
    assert "anzibar" not in store.run("search", "--events", "zanzibar").out
    assert store.run("search", "--user", "alice", "zanzibar").code == 2
    assert store.run("events", "export", "--user", "alice", "--about", "core").code == 2
