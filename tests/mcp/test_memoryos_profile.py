"""The profile memoryos: golden conversations, replayed through a client of the SDK."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from typing import TYPE_CHECKING, Any, TextIO

import pytest

from tests.conftest import PROJECT, sealed_environment
from tests.support.command_store import PRIVATE, CommandStore
from thunderus_mem.interop.memoryos import TOOLS, held, input_schema

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.command_server import Server

Call = tuple[str, dict[str, Any]]
GOLDEN = PROJECT / "tests" / "cases" / "memoryos"


def replayed(root: Path, home: Path, calls: list[Call], **environ: str) -> list[dict[str, Any]]:
    """The results of calls to one server, each with its ``isError``."""
    from mcp.client.client import Client
    from mcp.client.stdio import StdioServerParameters, stdio_client

    results: list[dict[str, Any]] = []

    async def play(errlog: TextIO) -> None:
        parameters = StdioServerParameters(
            command=sys.executable,
            args=["-m", "thunderus_mem", "mcp", "--profile", "memoryos"],
            cwd=root,
            env=sealed_environment(home) | environ,
        )
        async with Client(stdio_client(parameters, errlog)) as client:
            tools = (await client.list_tools()).tools
            assert [tool.name for tool in tools] == list(TOOLS)
            assert [tool.input_schema for tool in tools] == [input_schema(name) for name in TOOLS]
            for name, arguments in calls:
                result = await client.call_tool(name, arguments)
                (content,) = result.content
                value = json.loads(content.text)
                assert value == result.structured_content
                results.append({"isError": result.is_error, **value})
                if name in TOOLS:
                    held(name, value)

    with (root / "stderr").open("w") as errlog:
        asyncio.run(play(errlog))
    assert "Traceback" not in (root / "stderr").read_text()
    return results


@pytest.fixture
def store(repo: Path, server: Server) -> CommandStore:
    return CommandStore(repo, server)


def test_golden_conversations_of_two_users(store: CommandStore, sealed: Path) -> None:
    """Calls of two users with their results; ``REWRITE_CASES=1`` writes those that come out."""
    for seed, path in enumerate(sorted(GOLDEN.glob("*.json")), 10):
        steps = json.loads(path.read_text(encoding="utf-8"))
        calls = [(step["tool"], step["arguments"]) for step in steps]
        results = replayed(store.root, sealed, calls, MEMORY_USER_ID=path.stem, THUNDERUS_MEM_SEED=str(seed))
        for result in results:
            if result["isError"]:  # the time of an error is that of the real clock
                data = result["data"]
                data |= {key: "now" for key in ("timestamp", "retrieval_timestamp") if key in data}
        found = [{**step, "result": result} for step, result in zip(steps, results, strict=True)]
        if os.environ.get("REWRITE_CASES") == "1":
            path.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
            steps = found
        assert found == steps, f"{path.name}: look at what came out, then run this with REWRITE_CASES=1"
    assert not store.events(PRIVATE)
    assert store.run("events", "verify").code == 0


def test_server_without_a_valid_user_answers_with_errors(store: CommandStore, sealed: Path) -> None:
    ask = ("retrieve_conversation_memory", {"explanation": "x", "query": "port"})
    for result in replayed(store.root, sealed, [ask, ("get_user_profile", {})], MEMORY_USER_ID=""):
        assert result["isError"]
        assert "MEMORY_USER_ID" in result["message"]
