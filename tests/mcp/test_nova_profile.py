"""The profile ``nova``: its tools through a real client, and every error as a value in a normal result."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from typing import TYPE_CHECKING, Any, TextIO

import pytest

from tests.conftest import PROJECT, sealed_environment
from tests.mcp.test_tools import CALLER, last_event
from thunderus_mem.interop import nova
from thunderus_mem.mcp.calls import Calls, Reply
from thunderus_mem.mcp.profile import find_profile
from thunderus_mem.memory.memory import open_memory

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.support.command_server import Done

GOLDEN = PROJECT / "tests" / "cases" / "mcp" / "nova.json"
METADATA = {
    "category": "risk_rule",
    "run_id": "run_1",
    "agent": "tester",
    "source": "agent",
    "timestamp": "2026-02-22T10:30:00Z",
    "tags": ["risk"],
}


class Nova:
    """The tools of the profile on the store in a folder."""

    def __init__(self, root: Path) -> None:
        environ = {name: os.environ[name] for name in ("PATH", "HOME", "GIT_CONFIG_GLOBAL")}
        self.bugs: list[Exception] = []
        self.calls = Calls(lambda env: open_memory(str(root), environ=env), environ, self._report)

    def _report(self, error: Exception) -> str:
        self.bugs.append(error)
        return "crash.log"

    def reply(self, name: str, given: dict[str, Any], *, strict: bool = False) -> Reply:
        profile = find_profile("nova", strict=strict)
        reply = self.calls.run(CALLER, lambda memory: profile.run(memory, name, given))
        return profile.failed(name, given, reply) if reply.failed else reply

    def __call__(self, name: str, *, strict: bool = False, **given: Any) -> dict[str, Any]:
        reply = self.reply(name, given, strict=strict)
        assert not reply.failed
        assert self.bugs == []
        value: dict[str, Any] = json.loads(reply.text)
        return value

    def ids(self, query: str, **given: Any) -> list[str]:
        return [one["id"] for one in self("query_memory", query=query, **given)["results"]]


@pytest.fixture
def server(tmp_path: Path, once: Callable[..., None]) -> Nova:
    made = Nova(tmp_path)

    def begin() -> None:
        (tmp_path / ".thunderus" / "memory").mkdir(parents=True)
        items = [
            {"id": "stop", "content": "Stops are two ATR wide.", "metadata": METADATA},
            {
                "id": "size",
                "content": "Positions are one percent wide.",
                "metadata": {**METADATA, "run_id": "run_2"},
            },
            {
                "id": "spec",
                "content": "Trade wide ranges.",
                "metadata": {**METADATA, "category": "strategy_spec"},
            },
            {"id": "tags", "content": "Gaps are wide.", "metadata": {**METADATA, "tags": ["risk", "Gap"]}},
        ]
        assert made("bulk_upsert_memory", items=items)["status"] == "success"

    once(begin)
    return made


# The contract


def test_golden_conversation_with_a_real_client(tmp_path: Path, sealed: Path) -> None:
    from mcp.client.client import Client
    from mcp.client.stdio import StdioServerParameters, stdio_client

    (tmp_path / ".thunderus" / "memory").mkdir(parents=True)
    golden: list[dict[str, Any]] = json.loads(GOLDEN.read_text(encoding="utf-8"))

    async def replay(errlog: TextIO) -> list[dict[str, Any]]:
        parameters = StdioServerParameters(
            command=sys.executable,
            args=["-m", "thunderus_mem", "mcp", "--profile", "nova"],
            cwd=tmp_path,
            env=sealed_environment(sealed),
        )
        replies = []
        async with Client(stdio_client(parameters, errlog)) as client:
            for call in golden:
                result = await client.call_tool(call["tool"], call["arguments"])
                assert not result.is_error
                assert json.loads(result.content[0].text) == result.structured_content
                replies.append({**call, "reply": result.structured_content})
        return replies

    with (tmp_path / "stderr").open("w") as errlog:
        replies = asyncio.run(replay(errlog))
    if os.environ.get("REWRITE_CASES"):
        golden = replies
        GOLDEN.write_text(json.dumps(replies, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    assert replies == golden
    assert "is not one of: strategy_spec" in (tmp_path / "stderr").read_text()


def test_tools_have_the_arguments_and_defaults_of_the_contract() -> None:
    found = {tool["name"]: tool["inputSchema"] for tool in nova.TOOLS}
    arguments = {name: [*schema["properties"]] for name, schema in found.items()}
    assert arguments == {
        "query_memory": [
            *("query", "top_k_vector", "top_k_final", "category", "tags", "min_score", "run_id"),
        ],
        "upsert_memory": ["content", "id", "metadata"],
        "bulk_upsert_memory": ["items"],
        "delete_memory": ["memory_id"],
        "check_health": [],
    }
    defaults = [
        found["query_memory"]["properties"][name]["default"] for name in ("top_k_vector", "top_k_final")
    ]
    assert defaults == [50, 15]


_WRONG = {"string": 7, "integer": True, "number": "x", "array": {"a": 1}, "object": [1]}


def invalid_calls() -> list[tuple[str, dict[str, Any]]]:
    """For each argument of each tool, calls without it if it is required, and with a wrong type."""
    calls: list[tuple[str, dict[str, Any]]] = []
    for tool in nova.TOOLS:
        schema = tool["inputSchema"]
        valid = {"query": "x", "content": "x", "items": [{"content": "x"}], "memory_id": "stop"}
        required = {name: valid[name] for name in schema["required"]}
        calls += [(tool["name"], {}) for _ in required]
        for name, one in schema["properties"].items():
            type = one["type"] if isinstance(one["type"], str) else one["type"][0]
            calls.append((tool["name"], {**required, name: _WRONG[type]}))
            if one.get("minimum"):
                calls.append((tool["name"], {**required, name: one["minimum"] - 1}))
            if one.get("items") == {"type": "string"}:
                calls.append((tool["name"], {**required, name: [7]}))
            if one.get("maxItems"):
                calls.append((tool["name"], {**required, name: [{"content": "x"}] * (one["maxItems"] + 1)}))
            if one.get("minItems"):
                calls.append((tool["name"], {**required, name: []}))
    return calls


@pytest.mark.parametrize(("tool", "given"), invalid_calls())
def test_invalid_argument_is_an_error_value(server: Nova, tool: str, given: dict[str, Any]) -> None:
    value = server(tool, **given)
    assert list(value) == ["error"]
    assert "`" in value["error"]


def test_bulk_reports_errors_by_index_and_writes_the_others(server: Nova, tmp_path: Path) -> None:
    items = [
        {"content": "Ranges hold."},
        7,
        {"content": "", "id": "b"},
        {"content": "x", "metadata": {"a": 1e999}},
    ]
    value = server("bulk_upsert_memory", items=items)
    assert {key: value[key] for key in ("status", "total", "succeeded", "failed")} == {
        "status": "partial_success",
        "total": 4,
        "succeeded": 1,
        "failed": 3,
    }
    assert [(one["index"], one.get("id")) for one in value["errors"]] == [(1, None), (2, "b"), (3, None)]
    assert server.ids("ranges hold")[0] == value["ids"][0]
    refused = server("bulk_upsert_memory", items=[7])
    assert (refused["status"], refused["ids"]) == ("error", [])


def test_filters_select_by_category_tags_run_and_score(server: Nova) -> None:
    assert set(server.ids("wide")) == {"stop", "size", "spec", "tags"}
    assert server.ids("wide", category="STRATEGY_spec") == ["spec"]
    assert server.ids("wide", run_id="run_2") == ["size"]
    assert server.ids("wide", run_id="RUN_2") == []
    assert server.ids("wide", tags=["GAP", "risk"]) == ["tags"]
    assert server.ids("wide", tags=["gap", "none"]) == []
    assert server.ids("", category="strategy_spec") == ["spec"]
    assert len(server.ids("wide", top_k_final=2)) == 2
    assert server.ids("wide", min_score=1.1) == []
    assert server.ids('are stops "two" ATR wide tag:none')[0] == "stop"


def test_upsert_replaces_the_memory_with_the_same_id(server: Nova) -> None:
    assert server("upsert_memory", content="Stops are three ATR.", id="stop") == {
        "id": "stop",
        "status": "success",
    }
    (found,) = server("query_memory", query="stops three ATR")["results"]
    assert (found["id"], found["text"]) == ("stop", "Stops are three ATR.")
    assert found["metadata"].keys() == {"timestamp"}
    assert server("delete_memory", memory_id="Stop") == {"error": "no memory has the id 'Stop'"}
    assert server("delete_memory", memory_id="stop")["status"] == "deleted"
    assert server("delete_memory", memory_id="stop") == {"error": "no memory has the id 'stop'"}


def test_ids_that_differ_in_case_or_contain_any_sign_are_different_memories(server: Nova) -> None:
    items = [{"content": f"The {id} is a crane.", "id": id} for id in ("aB", "Ab", "r?1", "notes.md", "7")]
    assert server("bulk_upsert_memory", items=items)["ids"] == [one["id"] for one in items]
    again = [{**one, "content": one["content"] + " Tall."} for one in items]
    assert server("bulk_upsert_memory", items=again)["ids"] == [one["id"] for one in items]
    found = server("query_memory", query="crane tall")["results"]
    assert {one["id"]: one["text"] for one in found} == {one["id"]: one["content"] for one in again}
    assert {key for one in found for key in one["metadata"]} == {"timestamp"}


def test_repeated_upsert_writes_nothing(server: Nova, tmp_path: Path) -> None:
    before = last_event(tmp_path)
    assert (
        server("upsert_memory", id="stop", content="Stops are two ATR wide.", metadata=METADATA)["id"]
        == "stop"
    )
    assert last_event(tmp_path) == before


def test_newer_memory_keeps_its_creation_time_title_and_links(server: Nova, tmp_path: Path) -> None:
    path = tmp_path / ".thunderus/memory/semantic/FACTS/stops-are-two-atr-wide.md"
    path.write_text(path.read_text().replace("title: ", "links:\n  refers_to:\n    - fact.a\ntitle: My "))
    newer = {**METADATA, "timestamp": "2026-03-01T00:00:00Z"}
    server("upsert_memory", id="stop", content="Stops are one ATR wide.", metadata=newer)
    text = path.read_text()
    assert "title: My Stops" in text
    assert "refers_to:" in text
    assert 'created: "2026-02-22T10:30:00Z"\nupdated: "2026-03-01T00:00:00Z"' in text
    assert "\n\nStops are one ATR wide.\n" in text


def test_documents_of_other_origin_have_their_own_ids(
    server: Nova, repo: Path, run: Callable[..., Done]
) -> None:
    run("init")
    run("add", "fact", "Harbour", "--body", "The harbour has cranes.")
    found = Nova(repo)("query_memory", query="harbour cranes")["results"][0]
    assert (found["id"], found["text"]) == ("fact.harbour", "The harbour has cranes.")
    assert Nova(repo)("delete_memory", memory_id="fact.harbour")["status"] == "deleted"


def test_warnings_go_to_the_log_and_not_into_the_reply(server: Nova, tmp_path: Path) -> None:
    given = {"content": "Odd.", "id": "odd", "metadata": {**METADATA, "category": "poem"}}
    reply = server.reply("upsert_memory", given)
    assert json.loads(reply.text) == {"id": "odd", "status": "success"}
    assert len(reply.notes) == 1
    event = last_event(tmp_path)
    assert event["why"].startswith("upsert_memory; fact.odd: `metadata.category` 'poem' is not one of: ")
    assert event["actor"] == "agent"


def test_warnings_are_errors_if_strict(server: Nova) -> None:
    assert "`metadata.agent` is missing" in server("upsert_memory", strict=True, content="Odd.")["error"]
    assert server("upsert_memory", strict=True, content="Even.", metadata=METADATA)["status"] == "success"
    items = [{"content": "A."}, {"content": "B.", "metadata": METADATA}]
    value = server("bulk_upsert_memory", strict=True, items=items)
    assert [one["index"] for one in value["errors"]] == [0]


def test_upsert_for_review_is_an_error_that_names_the_proposal(server: Nova, tmp_path: Path) -> None:
    (tmp_path / ".thunderus" / "config.toml").write_text('[review]\nagents = "propose"\n')
    error = server("upsert_memory", content="Ask first.", metadata=METADATA)["error"]
    (proposal,) = (tmp_path / ".thunderus" / "patches").iterdir()
    assert error.startswith(f"filed for review as {proposal.stem}, not done yet")
    bulk = server("bulk_upsert_memory", items=[{"content": "One."}, {"content": "Two."}])
    assert [one["index"] for one in bulk["errors"]] == [0, 1]
    assert "filed for review" in server("delete_memory", memory_id="stop")["error"]
    assert server.ids("ask first") == []


def test_secret_is_refused_with_an_error_value(server: Nova) -> None:
    token = "ghp_" + "A1b2C3d4" * 4 + "A1b2"
    error = server("upsert_memory", content=f"token {token}")["error"]
    assert "secret" in error
    assert token not in error


def test_health_has_the_keys_of_the_contract(server: Nova, tmp_path: Path) -> None:
    keys = {"pinecone", "graph", "reranker", "redis", "redis_timeline"}
    assert server("check_health") == {"status": "ok", **dict.fromkeys(keys, "not used")}
    (tmp_path / "none").mkdir()
    (tmp_path / ".thunderus").rename(tmp_path / "moved")
    value = server("check_health")
    assert value["status"] == "error"
    assert "thunderus-mem init" in value["details"]
