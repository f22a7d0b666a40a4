"""Added events: all or none, private where required, and never twice."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.command_store import PRIVATE, SHARED, CommandStore
from thunderus_mem.errors import InvalidDocument
from thunderus_mem.interop.events import LOGGED_TYPES, OWN_KINDS, read_brought
from thunderus_mem.recap.events import is_inside

if TYPE_CHECKING:
    from tests.support.command_server import Server

SESSION = Path(__file__).parent.parent / "cases" / "recap" / "session.jsonl"
TOKEN = "ghp_" + "16C7e42F292c6912E7710c838347Ae178B4a"


def line(**keys: Any) -> bytes:
    return json.dumps(keys).encode() + b"\n"


@pytest.fixture
def store(repo: Path, server: Server) -> CommandStore:
    return CommandStore(repo, server)


def test_private_kinds_stay_in_the_working_tree(store: CommandStore) -> None:
    said = line(kind="message", body={"text": "hi", "role": "assistant"})
    noted = line(kind="note", body={"text": "The port is 80."}, actor="agent", refs={"paths": ["a.py"]})
    added = store.run("events", "add", stdin=said + b"\n" + noted)
    assert added.code == 0, added.err
    (message,), shared = store.events(PRIVATE), store.events(SHARED)
    assert (message["kind"], message["actor"], message["prev"]) == ("message", "agent", None)
    assert (shared[-1]["kind"], shared[-1]["refs"]["paths"]) == ("note", ["a.py"])
    assert added.out.split() == [message["id"], shared[-1]["id"]]
    assert "1 event kept local (not committed)" in added.err
    again = store.run("events", "add", "--kind", "tool_result", "--body", "make test")
    assert again.code == 0, again.err
    assert store.events(PRIVATE)[1]["body"] == {
        "tool": "shell", "command": "make test",
    }  # fmt: skip
    assert store.run("events", "verify").code == 0
    assert store.run("lint").code == 0


def test_private_kind_can_be_shared_by_configuration(store: CommandStore) -> None:
    (store.root / ".thunderus/config.toml").write_text('[events]\nprivate = ["tool_call"]\n')
    assert store.run("events", "add", stdin=line(kind="message", body={"text": "hi"})).code == 0
    assert store.events(PRIVATE) == []
    assert store.events(SHARED)[-1]["kind"] == "message"


def test_thunderus_log_is_imported_completely_and_once(store: CommandStore) -> None:
    data = SESSION.read_bytes()
    first = store.run("events", "add", stdin=data)
    assert first.code == 0, first.err
    events = store.events(PRIVATE)
    assert len(events) == len(data.splitlines()) == 19
    assert {event["origin"]["session"] for event in events} == {"2026-01-21-ab"}
    assert events[1]["body"]["command"] == "make test"
    again = store.run("events", "add", stdin=data)
    assert (again.code, again.out) == (0, "")
    assert "19 events already in the log, skipped" in again.err
    assert store.events(PRIVATE) == events
    assert store.run("events", "verify").code == 0


def test_every_thunderus_log_type_has_a_case() -> None:
    cases = {json.loads(text)["event"]["type"] for text in SESSION.read_text().splitlines()}
    assert cases == set(LOGGED_TYPES)


KINDS = ("message", "tool_call", "tool_result", "approval", "patch", "snapshot", "note")
SEVEN = b"".join(
    line(
        v=1, id=f"evt_{number}", ts=f"2026-01-21T09:00:0{number}Z", session_id="sess_seed", actor="user",
        kind=kind, refs={}, body={},
    )
    for number, kind in enumerate(KINDS)
)  # fmt: skip


def test_imported_events_keep_kind_and_origin_and_stay_private(store: CommandStore) -> None:
    added = store.run("events", "add", stdin=SEVEN)
    assert added.code == 0, added.err
    events = store.events(PRIVATE)
    assert [event["kind"] for event in events] == list(KINDS)
    assert [event["origin"] for event in events] == [
        {"id": f"evt_{number}", "session": "sess_seed", "imported": True} for number in range(7)
    ]
    assert added.out.split() == [event["id"] for event in events]
    assert (events[4]["refs"]["patch_id"][:6], events[5]["refs"]["snapshot_id"][:5]) == ("patch_", "snap_")
    assert store.run("events", "verify").code == 0
    assert store.run("lint").code == 0


def test_ids_of_several_sessions_do_not_collide(store: CommandStore) -> None:
    other = SEVEN.replace(b"sess_seed", b"sess_other")
    assert len(store.run("events", "add", stdin=SEVEN + other).out.split()) == 14
    assert len({event["id"] for event in store.events(PRIVATE)}) == 14
    again = store.run("events", "add", stdin=other + SEVEN)
    assert (again.code, again.out) == (0, "")
    assert "14 events already in the log, skipped" in again.err


def test_imported_events_are_shared_on_request_except_private_kinds(store: CommandStore) -> None:
    assert store.run("events", "add", "--share", stdin=SEVEN).code == 0
    assert [event["kind"] for event in store.events(PRIVATE)] == ["message", "tool_call", "tool_result"]
    assert [event["kind"] for event in store.events(SHARED)[-4:]] == ["approval", "patch", "snapshot", "note"]


def test_origin_of_imported_events_is_kept_without_authors(store: CommandStore) -> None:
    (store.root / ".thunderus/config.toml").write_text("[events]\norigin = false\n")
    own = line(kind="message", body={})
    assert store.run("events", "add", stdin=own + line(kind="plan-update", session_id="s", body={})).code == 0
    first, second = store.events(PRIVATE)
    assert "origin" not in first
    assert (second["kind"], second["origin"]) == (
        "note", {"session": "s", "type": "plan-update", "imported": True},
    )  # fmt: skip


def test_thunderus_patch_keeps_kind_type_and_diff(store: CommandStore) -> None:
    logged = {
        "approval": {"action": "write", "approved": False},
        "patch": {"name": "p", "status": "applied", "files": ["a.py"], "diff": "@@ -1 +1 @@"},
        "git-snapshot": {"commit": "abc", "branch": "main", "changed_files": 3},
        "invented-later": {"detail": 1.5},
    }
    data = b"".join(
        line(seq=seq, session_id="s", timestamp="2026-01-21T09:00:00Z", event={"type": type, **fields})
        for seq, (type, fields) in enumerate(logged.items())
    )
    assert store.run("events", "add", stdin=data).code == 0
    approval, patch, snapshot, note = store.events(PRIVATE)
    assert [one["origin"]["type"] for one in (approval, patch, snapshot, note)] == list(logged)
    assert (approval["kind"], approval["body"]) == ("approval", {"action": "write", "approved": False})
    assert (patch["kind"], patch["refs"]["paths"]) == ("patch", ["a.py"])
    assert patch["body"]["diff"] == "@@ -1 +1 @@"
    assert (snapshot["kind"], snapshot["body"]) == ("snapshot", logged["git-snapshot"])
    assert (note["kind"], note["body"]["detail"]) == ("note", "1.5")
    assert json.loads(note["body"]["thunderus"]) == {"set": {"detail": 1.5}}


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (b"[]", "not a JSON object"),
        (b"{", "not valid JSON"),
        (b"\xff", "not UTF-8"),
        (
            line(kind="patch", body={}),
            "unknown kind 'patch'; use one of: message, tool_call,",
        ),
        (line(kind="note"), '"body" is missing'),
        (line(id="evt_1", body={}), '"kind" is missing'),
        (line(kind="note", body={"text": 7}), "`body.text` is a number"),
        (line(kind="note", body={"text": "a"}, actor="robot"), "unknown actor 'robot'; use one of:"),
        (line(kind="note", body={"text": "a"}, ts="today"), "not in RFC 3339 format"),
        (line(kind="note", body={"text": "a"}, v=2), '"v" is not 1'),
        (line(kind="note", body={"text": "a"}, wy="x"), 'unknown key "wy"'),
        (line(kind="note", body={"text": "a"}, refs=[]), '"refs" is not an object'),
        (line(kind="note", body={"text": "a"}, refs={"paths": [1]}), '"refs.paths" is not a list of strings'),
        (line(kind="patch", id="evt_1", body={}, refs={"patch_id": "7"}), "`refs.patch_id`"),
        (line(kind="message", body={"text": "a" * 10_000_000}), "bytes long"),
        (line(seq=0, event={"type": "approval"}), '"session_id" or "timestamp" is missing'),
        (line(seq=-1, session_id="s", event={"type": "approval"}), '"seq" is not a non-negative integer'),
        (
            line(seq=0, session_id="s", timestamp="2026-01-21T09:00:00Z", event={"type": "tool-result"}),
            '"event.success" is missing',
        ),
        (line(kind="note", id="evt_1", body={"text": "x"}), "line 1 has the same id, with other content"),
        (
            line(kind="note", body={"env": [{"TOKEN": TOKEN}]}),
            "possible secret in body.env[0].TOKEN",
        ),
        (line(kind="note", session_id=TOKEN, body={}), "possible secret in origin.session"),
    ],
)
def test_invalid_line_is_reported_and_the_others_added(store: CommandStore, text: bytes, says: str) -> None:
    good = line(kind="note", id="evt_1", body={"text": "fine"})
    ran = store.run("events", "add", stdin=good + text.rstrip(b"\n") + b"\n" + good)
    assert ran.code == 1
    (reported,) = [text for text in ran.err.splitlines() if text.startswith("line 2: ")]
    assert says in reported
    assert "1 line refused" in ran.err
    assert TOKEN not in ran.err
    assert [event["body"] for event in store.events(PRIVATE)] == [{"text": "fine"}]


def test_refused_lines_are_in_the_json_output(store: CommandStore) -> None:
    ran = store.run("events", "add", "--json", stdin=b"{\n" + line(kind="note", body={}))
    value = json.loads(ran.out)
    assert (ran.code, len(value["added"]), [one["line"] for one in value["refused"]]) == (1, 1, [1])


def test_secret_on_the_command_line_is_rejected(store: CommandStore) -> None:
    ran = store.run("events", "add", "--kind", "message", "--body", f"use {TOKEN}")
    assert ran.code == 5
    assert TOKEN not in ran.err
    assert store.events(PRIVATE) == []


@pytest.mark.parametrize(
    "arguments",
    [
        ("--kind", "note"),
        ("--body", "x"),
        ("--kind", "patch", "--body", "x"),
        ("--kind", "note", "--body", "  "),
        (),
    ],
)
def test_incomplete_event_is_a_usage_error(store: CommandStore, arguments: tuple[str, ...]) -> None:
    assert store.run("events", "add", *arguments).code == 2
    assert store.events(PRIVATE) == []


@pytest.mark.damaged
def test_torn_private_shard_is_repaired_before_appending(store: CommandStore) -> None:
    message = line(kind="message", body={"text": "one"})
    assert store.run("events", "add", stdin=message).code == 0
    (shard,) = store.root.glob(PRIVATE)
    whole = shard.read_bytes()
    shard.write_bytes(whole + b'{"v":1,"id":"evt_to')
    assert store.run("events", "add", stdin=message).code == 0
    assert shard.read_bytes().startswith(whole)
    assert len(store.events(PRIVATE)) == 2
    assert store.run("events", "verify").code == 0


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=6,
)
KEYS = st.sampled_from(["v", "id", "ts", "kind", "body", "refs", "actor", "event", "seq", "session_id", "x"])


@settings(deadline=None, max_examples=80, derandomize=True)
@given(
    st.lists(
        st.binary(max_size=40) | st.dictionaries(KEYS, JSON, max_size=6).map(lambda d: json.dumps(d).encode())
    )
)
def test_any_bytes_are_events_or_refused_lines(lines: list[bytes]) -> None:
    data = b"\n".join(lines)
    if not data.removeprefix(b"\xef\xbb\xbf").strip():
        with pytest.raises(InvalidDocument, match="no events to add"):
            read_brought(data)
        return
    found, refused = read_brought(data)
    assert found or refused
    assert all(one.kind in OWN_KINDS or one.origin["imported"] for one in found)
    assert all(0 < one.line <= data.count(b"\n") + 1 and one.reason for one in refused)


def test_object_on_several_lines_is_one_event() -> None:
    pretty = json.dumps({"kind": "note", "body": {"text": "a"}, "session_id": "s"}, indent=1).encode()
    ((one,), _) = read_brought(pretty)
    assert (one.line, one.body, one.origin["session"]) == (1, {"text": "a"}, "s")


def test_floats_become_text_and_episodes_go_into_the_body() -> None:
    ((one,), _) = read_brought(
        line(kind="tool_result", body={"tool": "x", "seconds": [0.5]}, episode_id="e1")
    )
    assert one.body == {"episode_id": "e1", "tool": "x", "seconds": ["0.5"]}


def test_path_outside_the_repository_is_ignored() -> None:
    paths = ["src/a.py", "../b.py", "/etc/passwd", "~/x", "C:\\x", "a/../../b"]
    ((one,), _) = read_brought(line(kind="note", body={"text": "a"}, refs={"paths": paths}))
    assert one.refs["paths"] == ["src/a.py"]
    assert not is_inside("")


NAMES = st.text(st.sampled_from("ab/\0é "), max_size=3)


@settings(deadline=None, max_examples=40, derandomize=True)
@given(st.lists(st.tuples(NAMES, NAMES.filter(bool)), unique=True))
def test_imported_ids_are_equal_only_for_the_same_session_and_id(names: list[tuple[str, str]]) -> None:
    data = b"".join(line(kind="note", body={}, session_id=session, id=id) for session, id in names)
    found = read_brought(data)[0] if names else ()
    assert len({one.id for one in found}) == len(names)
    assert [one.id for one in found] == [one.id for one in (read_brought(data)[0] if names else ())]


def test_export_restores_original_ids_and_adding_it_again_adds_nothing(store: CommandStore) -> None:
    given = SEVEN + line(kind="note", id="evt_1", body={}, prev=None, head=None, heads={})
    given += line(kind="note", session_id="s", body={})
    assert store.run("events", "add", stdin=given).code == 0
    lines = store.run("events", "export", "--private").out.splitlines()
    events = [json.loads(text)["event"] for text in lines]
    imported = [event for event in events if event.get("origin", {}).get("imported")]
    named = [(event.get("session_id"), event["id"]) for event in imported]
    assert named[:8] == [*(("sess_seed", f"evt_{number}") for number in range(7)), (None, "evt_1")]
    assert named[8][0] == "s"
    ran = store.run("events", "add", stdin=b"".join(line(**event) for event in events))
    assert (ran.code, ran.out) == (0, ""), ran.err
