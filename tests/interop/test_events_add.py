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
from thunderus_mem.interop.events import BROUGHT_KINDS, LOGGED_TYPES, Brought, read_brought
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
    again = store.run("events", "add", "--kind", "tool_result", "--body", "make test", "--exit-code", "2")
    assert again.code == 0, again.err
    assert store.events(PRIVATE)[1]["body"] == {
        "tool": "shell", "command": "make test", "exit_code": 2, "success": False,
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


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (b"[]", "line 2: invalid event: not a JSON object"),
        (b"{", "line 2: invalid event: not valid JSON"),
        (b"\xff", "line 2: invalid event: not UTF-8"),
        (
            line(kind="patch", body={"op": "add"}),
            "unknown kind 'patch'; use one of: message, tool_call, tool_result, note",
        ),
        (line(kind="note", body={}), '"body" is missing, empty'),
        (line(kind="note", body={"text": 7}), "line 2: invalid event: `body.text` is a number"),
        (line(kind="note", body={"text": "a"}, actor="robot"), "unknown actor 'robot'; use one of:"),
        (line(kind="note", body={"text": "a"}, ts="today"), "not in RFC 3339 format"),
        (line(kind="note", body={"text": "a"}, v=2), '"v" is not 1'),
        (line(kind="note", body={"text": "a"}, wy="x"), 'unknown key "wy"'),
        (line(kind="note", body={"text": "a"}, refs=[]), '"refs" is not an object'),
        (line(kind="note", body={"text": "a"}, refs={"paths": [1]}), '"refs.paths" is not a list of strings'),
        (line(kind="message", body={"text": "a" * 10_000_000}), "bytes long"),
        (
            line(seq=0, session_id="s", timestamp="2026-01-21T09:00:00Z", event={"type": "x"}),
            "unknown type 'x'; use one of:",
        ),
        (line(seq=-1, session_id="s", event={"type": "approval"}), '"seq" is not a non-negative integer'),
        (
            line(seq=0, session_id="s", timestamp="2026-01-21T09:00:00Z", event={"type": "tool-result"}),
            '"event.success" is missing',
        ),
    ],
)
def test_invalid_line_is_reported_and_nothing_written(store: CommandStore, text: bytes, says: str) -> None:
    before = store.events(SHARED)
    good = line(kind="note", body={"text": "fine"})
    ran = store.run("events", "add", stdin=good + text.rstrip(b"\n") + b"\n" + good)
    assert ran.code == 2
    assert says.lower() in ran.err.lower()
    assert "line 2" in ran.err.lower()
    assert (store.events(SHARED), store.events(PRIVATE)) == (before, [])


def test_secret_is_rejected_by_key_and_not_printed(store: CommandStore) -> None:
    before = store.events(SHARED)
    body = {"tool": "shell", "arguments": {"env": [{"TOKEN": TOKEN}]}}
    ran = store.run(
        "events", "add", stdin=line(kind="note", body={"text": "a"}) + line(kind="tool_call", body=body)
    )
    assert ran.code == 5
    assert "line 2: possible secret in body.arguments.env[0].TOKEN" in ran.err
    assert TOKEN not in ran.err
    assert (store.events(SHARED), store.events(PRIVATE)) == (before, [])


@pytest.mark.parametrize(
    "arguments",
    [
        ("--kind", "note"),
        ("--body", "x"),
        ("--kind", "patch", "--body", "x"),
        ("--kind", "note", "--body", "x", "--exit-code", "1"),
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


@settings(deadline=None, max_examples=200, derandomize=True)
@given(
    st.lists(
        st.binary(max_size=40) | st.dictionaries(KEYS, JSON, max_size=6).map(lambda d: json.dumps(d).encode())
    )
)
def test_any_bytes_are_events_or_an_error_with_a_line(lines: list[bytes]) -> None:
    said = "line 0"
    found: tuple[Brought, ...] = ()
    try:
        found = read_brought(b"\n".join(lines))
    except InvalidDocument as error:
        said = str(error)
    assert "line " in said or "no events to add" in said
    assert all(isinstance(one, Brought) and one.kind in BROUGHT_KINDS for one in found)


def test_object_on_several_lines_is_one_event() -> None:
    pretty = json.dumps({"kind": "note", "body": {"text": "a"}, "session_id": "s"}, indent=1).encode()
    (one,) = read_brought(pretty)
    assert (one.line, one.body, one.session) == (1, {"text": "a"}, "s")


def test_floats_become_text_and_episodes_go_into_the_body() -> None:
    (one,) = read_brought(line(kind="tool_result", body={"tool": "x", "seconds": [0.5]}, episode_id="e1"))
    assert one.body == {"episode_id": "e1", "tool": "x", "seconds": ["0.5"]}


def test_path_outside_the_repository_is_ignored() -> None:
    paths = ["src/a.py", "../b.py", "/etc/passwd", "~/x", "C:\\x", "a/../../b"]
    (one,) = read_brought(line(kind="note", body={"text": "a"}, refs={"paths": paths}))
    assert one.refs["paths"] == ["src/a.py"]
    assert not is_inside("")
