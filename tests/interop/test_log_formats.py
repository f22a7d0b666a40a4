"""The formats that contain events: `thunderus`, `memoryos` and `prov-json`."""

from __future__ import annotations

import json
import os
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from thunderus_mem.errors import InvalidDocument
from thunderus_mem.interop.events import _READERS, LOGGED_TYPES, _without_floats
from thunderus_mem.interop.memoryos_files import LOG
from thunderus_mem.interop.thunderus_events import FIELDS, event_of, rest_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.support.command_server import Done

    Run = Callable[..., Done]

CASES = os.path.join(os.path.dirname(os.path.dirname(__file__)), "cases", "formats")
USER = {"MEMORY_USER_ID": "ada"}
CONVERSATION = {
    "message_id": "msg_1",
    "explanation": "asked about the cache",
    "user_input": "Why is it slow?",
    "agent_response": "The key changes.",
    "timestamp": "2026-02-01T09:00:00.250Z",
    "meta_data": {"topic": "ci", "turn": 2, "score": 0.5},
}
EXECUTION = {
    "message_id": "msg_1",
    "explanation": "measured it",
    "execution_summary": "Done the build twice.",
    "tools_used": ["shell", "grep", "shell"],
    "errors": [{"error_type": "Timeout", "error_message": "after 60 s", "tool": "shell"}],
    "observations": "The second run is fast.",
    "success": True,
    "duration_ms": 40,
    "timestamp": "2026-02-01T09:00:01Z",
}


def golden() -> str:
    with open(os.path.join(CASES, "thunderus.jsonl"), encoding="utf-8") as file:
        return file.read()


VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-3, 3), st.floats(-2, 2), st.text("ab é", max_size=4)),
    lambda inner: st.one_of(st.lists(inner, max_size=2), st.dictionaries(st.text("ab", max_size=2), inner)),
    max_leaves=4,
)
TYPED = {
    "content": st.text(max_size=9),
    "success": st.booleans(),
    "approved": st.booleans(),
    "args": st.lists(st.text("a b'", max_size=4), max_size=2),
    "files": st.lists(st.sampled_from(["a.py", "../b", "/etc/c"]), max_size=2),
    "changed_files": st.integers(0, 3) | st.lists(st.just("a.py"), max_size=1),
    "exit_code": st.none() | st.integers(0, 2),
    "error": st.none() | st.text(max_size=5),
    "file_path": st.sampled_from(["a.py", "/x"]),
    **dict.fromkeys(("tool", "command", "action", "status", "path"), st.text("ab", min_size=1, max_size=3)),
}
EVENTS = st.sampled_from(sorted(FIELDS)).flatmap(
    lambda name: st.fixed_dictionaries(
        {"type": st.just(name), **{key: TYPED.get(key, VALUES) for key in FIELDS[name]}},
        optional={"new": VALUES},
    )
)


@settings(max_examples=150, deadline=None, database=None)
@given(EVENTS)
def test_every_thunderus_event_round_trips(event: dict[str, Any]) -> None:
    _, _, body, paths = _READERS[event["type"]](event)
    body, paths = _without_floats(body), [path for path in paths if path == "a.py"]
    rest = rest_of(event, body, paths)
    back = event_of(event["type"], {**body, **({"thunderus": rest} if rest else {})}, paths)
    assert json.dumps(back, sort_keys=True) == json.dumps(event, sort_keys=True)


def test_fields_of_all_known_types_are_listed() -> None:
    assert set(FIELDS) == set(LOGGED_TYPES)


def test_thunderus_log_round_trips_byte_for_byte(run: Run, repo: Path) -> None:
    run("init")
    (repo / "in.jsonl").write_text(golden(), encoding="utf-8")
    assert run("import", "thunderus", "in.jsonl", "--dry-run").err.startswith("16 records would be imported")
    first = run("import", "thunderus", "in.jsonl")
    assert "more; --json" not in first.out
    assert (first.code, first.err.splitlines()[0]) == (0, "16 records imported")
    assert run("import", "thunderus", "in.jsonl").err.startswith("0 records imported, 16 unchanged")
    lines = run("export", "thunderus").out.splitlines(keepends=True)
    assert "".join(line for line in lines if "2026-02-01T09-00-00Z" in line) == golden()


def test_events_in_the_base_shape_come_back_in_it(run: Run, repo: Path) -> None:
    refs = {"paths": ["src/a.py"], "patch_id": "patch_7", "memory_doc_ids": ["fact.port"]}
    about = {"ts": "2026-02-01T09:00:00Z", "session_id": "sess_1", "refs": refs}
    lines = [
        {"v": 1, "id": "evt_12", **about, "actor": "agent", "kind": "patch", "body": {"diff": "+a"}},
        {"v": 1, "id": "evt_x", **about, "actor": "user", "kind": "message", "body": {"text": "Why?"}},
        {"v": 1, "id": "evt_y", **about, "actor": "tool", "kind": "voice", "body": {"text": "Hm."}},
    ]
    run("init")
    (repo / "in.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert run("import", "thunderus", "in.jsonl").err.startswith("3 records imported")
    ran = run("export", "thunderus", "-o", "out.jsonl")
    found = [json.loads(line) for line in (repo / "out.jsonl").read_text().splitlines()]
    assert [line for line in found if "event" not in line] == lines
    assert "Not in this format" not in ran.err
    assert "3 unchanged" in run("import", "thunderus", "out.jsonl").err


def test_own_changes_become_memory_updates_of_thunderus(run: Run, repo: Path) -> None:
    run("init")
    run("add", "fact", "Port", "--body", "It is 80.")
    run("events", "add", "--kind", "note", "--body", "It was 81.")
    run("events", "add", "--kind", "message", "--body", "private")
    run("events", "add", "--kind", "tool_result", "--body", "make", "--exit-code", "1")
    ran = run("export", "thunderus", "-o", "out.jsonl")
    assert "records exported" in ran.err or "record exported" in ran.err
    assert "Not in this format: note (1)" in ran.err
    events = [json.loads(line) for line in (repo / "out.jsonl").read_text().splitlines()]
    assert [one["seq"] for one in events] == list(range(len(events)))
    update = events[-1]["event"]
    assert update["path"] == ".thunderus/memory/semantic/FACTS/port.md"
    assert (update["type"], update["kind"], update["operation"]) == ("memory-update", "semantic", "create")
    assert "private" not in json.dumps(events)
    assert "shell-command" not in json.dumps(events)  # private as well
    shared = run("export", "thunderus", env={"THUNDERUS_MEM_EVENTS_PRIVATE": ""}).out
    assert shared.count("\n") == len(events)
    assert run("validate", "thunderus", "out.jsonl").code == 0


def test_problems_of_a_thunderus_log_are_listed_by_line(run: Run, repo: Path) -> None:
    run("init")
    (repo / "bad.jsonl").write_text(golden() + '{"seq":-1,"event":{"type":"x"}}\n')
    ran = run("validate", "thunderus", "bad.jsonl")
    assert ran.code == 1
    assert "line 16" in ran.out
    assert "voice-note" in ran.out
    assert 'line 17: "seq" is not a non-negative integer' in ran.out


def queue_of_thunderus(repo: Path, run: Run) -> list[dict[str, Any]]:
    """A store with the queue of a session of Thunderus beside it; its pending memory patches."""
    run("init")
    run("add", "fact", "Port", "--body", "It is 80.")
    with open(os.path.join(CASES, "thunderus-queue.json"), encoding="utf-8") as file:
        text = file.read()
    (repo / "patch_queue.json").write_text(text)
    return [one for one in json.loads(text)["memory_patches"] if one["status"] == "proposed"]


def test_patch_queue_of_thunderus_is_not_a_log(run: Run, repo: Path) -> None:
    queue_of_thunderus(repo, run)
    ran = run("import", "thunderus", "patch_queue.json")
    assert (ran.code, "use the format `thunderus-queue`" in ran.err) == (2, True)


def test_patch_queue_of_thunderus_is_reviewed_here_and_comes_back_as_it_was(run: Run, repo: Path) -> None:
    pending = queue_of_thunderus(repo, run)
    assert run("validate", "thunderus-queue", "patch_queue.json").code == 0
    wanted = "2 records would be imported\nNot stored: applied (1), patches (1)\n"
    assert run("import", "thunderus-queue", "patch_queue.json", "--dry-run").err == wanted
    done = run("import", "thunderus-queue", "patch_queue.json")
    assert (done.code, done.err.splitlines()[0]) == (0, "2 records imported")
    assert "Pending review: thunderus-mem review list" in done.err
    again = run("import", "thunderus-queue", "patch_queue.json")
    assert again.err.startswith("0 records imported, 2 unchanged")
    queue = json.loads(run("export", "thunderus-queue").out)
    assert queue == {
        "patches": [], "memory_patches": pending, "applied_patches": [], "base_snapshot": "HEAD",
    }  # fmt: skip
    assert run("review", "approve", "--all", "--yes", env={"THUNDERUS_MEM_ACTOR": "user"}).code == 0
    assert "cargo test --workspace" in run("show", "fact.commands.test").out
    assert "It is 80.\n\n## Staging\n\nThere it is 8080." in run("show", "fact.port", "--raw").out
    assert json.loads(run("export", "thunderus-queue").out)["memory_patches"] == []


def test_own_proposals_become_memory_patches_of_thunderus(run: Run, repo: Path) -> None:
    run("init")
    run("add", "fact", "Port", "--body", "It is 80.")
    run("config", "set", "review.agents", "propose")
    agent = {"THUNDERUS_MEM_ACTOR": "agent"}
    run("add", "fact", "Host", "--body", "It is ::1.", "-m", "seen in a log", env=agent)
    run("remove", "fact.port", "-m", "old", env=agent)
    ran = run("export", "thunderus-queue", "-o", "queue.json")
    assert ran.err == "1 record exported\nNot in this format: remove (1)\n"
    (patch,) = json.loads((repo / "queue.json").read_text())["memory_patches"]
    assert (patch["doc_id"], patch["kind"], patch["status"]) == ("fact.host", "fact", "proposed")
    assert (patch["path"], patch["description"]) == (
        ".thunderus/memory/semantic/FACTS/host.md",
        "seen in a log",
    )
    assert patch["diff"].endswith("---\n\nIt is ::1.\n")
    assert run("validate", "thunderus-queue", "queue.json").code == 0


@pytest.mark.parametrize(
    ("key", "value", "reason"),
    [
        ("id", "mem_0", "`id` is not an object with a string `id`"),
        ("diff", 5, "`diff` is not a string"),
        ("seq", True, "`seq` is not an integer"),
        ("source_events", [5], "`source_events` is not a list of strings"),
        ("created_at", "today", "`created_at` is not a time in RFC 3339 format"),
        ("path", "../../etc/passwd", "`path` is not that of a document"),
        ("path", "/etc/.thunderus/../../x.md", "`path` is not that of a document"),
        ("doc_id", "fact.other", "the text is that of fact.commands.test, not of `doc_id`"),
        ("diff", "one section", "the document to append to does not exist"),
        ("diff", "---\nid: [", "frontmatter"),
    ],
)
def test_bad_memory_patch_does_not_stop_the_others(
    run: Run, repo: Path, key: str, value: Any, reason: str
) -> None:
    first, second = queue_of_thunderus(repo, run)
    given = {"memory_patches": [5, {**first, key: value}, second]}
    (repo / "bad.json").write_text(json.dumps(given))
    done = run("import", "thunderus-queue", "bad.json", "--json")
    value = done.json
    assert (done.code, value["imported"], [one["number"] for one in value["refused"]]) == (1, 1, [0, 1])
    assert reason in value["refused"][1]["reason"]


def test_log_format_refuses_options_about_documents(run: Run, repo: Path) -> None:
    run("init")
    assert run("export", "prov-json", "--kind", "adr").code == 2
    assert run("import", "thunderus", "x", "--kind", "fact").code == 2
    assert run("import", "prov-json", "x").code == 2
    assert run("validate", "prov-json", "x").code == 2


def test_dual_memory_round_trips(run: Run, repo: Path) -> None:
    run("init")
    given = {"conversations": [CONVERSATION], "executions": [EXECUTION]}
    (repo / "in.json").write_text(json.dumps(given))
    assert run("validate", "memoryos", "in.json").code == 0
    assert run("import", "memoryos", "in.json", env=USER).err.startswith("2 records imported")
    assert run("import", "memoryos", "in.json", env=USER).err.startswith("0 records imported, 2 unchanged")
    assert json.loads(run("export", "memoryos", env=USER).out) == given
    empty: dict[str, list[Any]] = {"conversations": [], "executions": []}
    assert json.loads(run("export", "memoryos", env={"MEMORY_USER_ID": "ben"}).out) == empty
    assert run("list", "--kind", "recap", "--ids").out == ""
    (repo / "nested.json").write_text(json.dumps([{"params": {"user_id": "ada", **CONVERSATION}}]))
    assert run("import", "memoryos", "nested.json", env=USER).err.startswith(
        "0 records imported, 1 unchanged"
    )


def test_bad_conversation_does_not_stop_the_others(run: Run, repo: Path) -> None:
    run("init")
    bad = {**CONVERSATION, "message_id": "", "user_id": "ada"}
    deep = {**CONVERSATION, "meta_data": json.loads('{"a":' * 600 + "1" + "}" * 600)}
    other = {**CONVERSATION, "message_id": "msg_2", "user_id": "ben"}
    (repo / "in.json").write_text(json.dumps([bad, 5, other, deep, CONVERSATION]))
    ran = run("import", "memoryos", "in.json", env=USER)
    assert (ran.code, ran.err.splitlines()[0]) == (1, "1 record imported, 4 refused")
    assert run("validate", "memoryos", "in.json").code == 1


@pytest.mark.parametrize(
    ("file", "reason"),
    [
        ('{"sessions": []}', "`sessions` is not an object"),
        ('{"knowledge_base": 5}', "`knowledge_base` is not a list"),
        ('{"conversations": {}}', "`conversations` is not a list"),
        ('{"assistant_knowledge": "x"}', "`assistant_knowledge` is not a list"),
        ('{"user_profiles": [1]}', "`user_profiles` is not an object"),
        ('[{"user_input": 1e999}]', "1e999 is too large for a number"),
        ("5", "is not a JSON object or list"),
    ],
)
def test_file_with_a_section_of_a_wrong_type_is_refused(file: str, reason: str) -> None:
    for call in (LOG.problems, partial(LOG.take, None, source="x", why="", dry_run=True)):
        with pytest.raises(InvalidDocument, match=reason):
            call(file.encode())


PAGE = {"user_input": "Hello", "agent_response": "Hi", "timestamp": "2026-02-01 09:00:00"}


@pytest.mark.parametrize(
    "file",
    [
        [PAGE],
        {"sessions": {"session_1": {"summary": "greeting", "details": [{**PAGE, "page_embedding": [0.1]}]}}},
        {"session_1": {"details": [PAGE]}},
    ],
)
def test_pages_of_bai_lab_become_conversations(run: Run, repo: Path, file: object) -> None:
    run("init")
    (repo / "in.json").write_text(json.dumps(file))
    assert run("import", "memoryos", "in.json", env=USER).code == 0
    assert run("import", "memoryos", "in.json", env=USER).err.startswith("0 records imported, 1 unchanged")
    (found,) = json.loads(run("export", "memoryos", env=USER).out)["conversations"]
    assert (found["user_input"], found["timestamp"]) == ("Hello", "2026-02-01T09:00:00Z")
    assert "page_embedding" not in found.get("meta_data", {})


def test_long_term_knowledge_becomes_facts(run: Run, repo: Path) -> None:
    run("init")
    file = {
        "user_profiles": {"ada": {"data": "likes tea"}},
        "knowledge_base": [
            {"knowledge": "Ada drinks tea.", "timestamp": "2026-02-01 09:00:00", "knowledge_embedding": [0.1]}
        ],
        "assistant_knowledge": [{"knowledge": "The assistant can book rooms."}, {"knowledge": " "}],
    }
    (repo / "long.json").write_text(json.dumps(file))
    ran = run("import", "memoryos", "long.json", env=USER)
    assert (ran.code, ran.err.splitlines()[0]) == (1, "2 records imported, 1 refused")
    assert run("list", "--tag", "knowledge-base", "--ids").out == "fact.ada-drinks-tea\n"
    assert run("show", "ada-drinks-tea", "--json").json["updated"] == "2026-02-01T09:00:00Z"
    assert run("import", "memoryos", "long.json", env=USER).err.startswith("0 records imported, 2 unchanged")
    run("undo")
    assert run("list", "--kind", "fact", "--ids").out == ""


def test_prov_is_that_of_the_log(run: Run, repo: Path) -> None:
    run("init")
    run("add", "fact", "Port", "--body", "It is 80.")
    assert run("export", "prov-json").out == run("events", "export", "--format", "prov-json").out
