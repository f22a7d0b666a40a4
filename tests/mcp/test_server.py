"""The server over standard input and output, with the client of the SDK and with plain JSON."""

from __future__ import annotations

import asyncio
import json
import signal
import subprocess
import sys
from typing import TYPE_CHECKING, Any, TextIO

import pytest

from tests.conftest import sealed_environment
from tests.mcp.test_tools import last_event
from thunderus_mem.errors import ThunderusError
from thunderus_mem.index.questions import Filter
from thunderus_mem.log.event import changes_of
from thunderus_mem.mcp.calls import Calls
from thunderus_mem.mcp.server import serve
from thunderus_mem.memory.memory import open_memory

if TYPE_CHECKING:
    from pathlib import Path

COMMAND = (sys.executable, "-m", "thunderus_mem", "mcp")


def started(root: Path, home: Path, *command: str, own_ids: bool = False) -> subprocess.Popen[str]:
    """Start the server, or another command; with ``own_ids`` its clock and ids are not fixed."""
    return subprocess.Popen(
        [*COMMAND[:-1], *(command or ("mcp",))],
        cwd=root,
        env=sealed_environment(home) | ({"THUNDERUS_MEM_TEST": ""} if own_ids else {}),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def request(number: int, method: str, **params: Any) -> str:
    return json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params}) + "\n"


def hello(version: str) -> str:
    return (
        request(
            0,
            "initialize",
            protocolVersion=version,
            capabilities={},
            clientInfo={"name": "plain", "version": "1"},
        )
        + '{"jsonrpc": "2.0", "method": "notifications/initialized"}\n'
    )


@pytest.mark.parametrize(("mode", "version"), [("legacy", "2025-11-25"), ("auto", "2026-07-28")])
def test_client_of_the_sdk_in_both_eras(tmp_path: Path, sealed: Path, mode: str, version: str) -> None:
    from mcp.client.client import Client
    from mcp.client.stdio import StdioServerParameters, stdio_client
    from mcp_types import Implementation, PromptReference

    (tmp_path / ".thunderus" / "memory").mkdir(parents=True)

    async def tour(errlog: TextIO) -> None:
        parameters = StdioServerParameters(
            command=COMMAND[0], args=list(COMMAND[1:]), cwd=tmp_path, env=sealed_environment(sealed)
        )
        about = Implementation(name="tour", version="1")
        async with Client(stdio_client(parameters, errlog), mode=mode, client_info=about) as client:
            assert client.protocol_version == version
            assert client.server_info.name == "thunderus-mem"
            assert "never an instruction" in (client.instructions or "")
            names = [tool.name for tool in (await client.list_tools()).tools]
            assert names[0] == "memory_search"
            new = {"kind": "fact", "title": "Ports", "body": "The server listens on port 8080."}
            assert not (await client.call_tool("memory_add", new)).is_error
            found = await client.call_tool("memory_search", {"query": "server port"})
            assert "> The server listens on port 8080." in found.content[0].text
            assert found.structured_content is None
            assert (await client.call_tool("memory_show", {"id": "none"})).is_error
            assert len((await client.list_resources()).resources) == 2
            assert len((await client.list_resource_templates()).resource_templates) == 1
            document = (await client.read_resource("memory://doc/fact.ports")).contents[0]
            assert "> The server listens" in document.text
            with pytest.raises(Exception, match="no document has the id 'none'"):
                await client.read_resource("memory://doc/none")
            assert len((await client.list_prompts()).prompts) == 3
            prompt = await client.get_prompt("review_stale", {"id": "fact.ports"})
            assert "only fact.ports" in prompt.messages[0].content.text
            reference = PromptReference(type="ref/prompt", name="review_stale")
            completed = await client.complete(reference, {"name": "id", "value": "fact"})
            assert completed.completion.values == ["fact.ports"]

    # What pytest puts in place of stderr has no descriptor.
    with (tmp_path / "stderr").open("w") as errlog:
        asyncio.run(tour(errlog))
    event = last_event(tmp_path)
    assert event["actor"] == "agent"
    assert event["origin"]["client"] == "tour"
    assert event["origin"]["session"].startswith("mcp_")


def test_output_is_only_the_protocol(tmp_path: Path, sealed: Path) -> None:
    """The oldest version, invalid requests and broken lines; standard output has one JSON object a line."""
    requests = (
        hello("2024-11-05"),
        "not JSON\n\n",
        request(1, "tools/list"),
        request(2, "tools/call", name="memory_search", arguments={"query": "x"}),
        request(3, "tools/call", name="memory_search", arguments="x"),
        request(4, "resources/read", uri="memory://doc/%00"),
        request(5, "prompts/get", name="nothing"),
        request(6, "no/such/method"),
    )
    with started(tmp_path, sealed) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        server.stdin.write("".join(requests))
        server.stdin.flush()
        lines = [server.stdout.readline() for _ in range(7)]
        rest, err = server.communicate(timeout=60)
        out = "".join(lines) + rest
    answers = {answer["id"]: answer for answer in map(json.loads, out.splitlines()) if "id" in answer}
    assert server.returncode == 0
    assert answers[0]["result"]["protocolVersion"] == "2024-11-05"
    assert len(answers[1]["result"]["tools"]) == 6
    assert "thunderus-mem init" in answers[2]["result"]["content"][0]["text"]
    assert answers.keys() >= set(range(7))
    assert all("error" in answers[number] for number in (3, 4, 5, 6))
    assert "Traceback" not in out + err


def test_servers_and_commands_write_at_once_and_nothing_is_lost(tmp_path: Path, sealed: Path) -> None:
    (tmp_path / ".thunderus" / "memory").mkdir(parents=True)
    titles = {name: [f"{name} {number}" for number in range(1, 6)] for name in "abc"}
    servers = [started(tmp_path, sealed, own_ids=True) for _ in range(2)]
    for server, name in zip(servers, "ab", strict=True):
        assert server.stdin is not None
        server.stdin.write(hello("2025-11-25"))
        for number, title in enumerate(titles[name], 1):
            new = {"kind": "fact", "title": title, "body": f"Server {name} wrote number {number}."}
            server.stdin.write(request(number, "tools/call", name="memory_add", arguments=new))
        server.stdin.flush()
    commands = [
        started(tmp_path, sealed, "add", "fact", title, "--body", f"{title}.", own_ids=True)
        for title in titles["c"]
    ]
    for command in commands:
        assert "Traceback" not in command.communicate(timeout=60)[1]
        assert command.returncode == 0
    for server in servers:
        assert server.stdout is not None
        answers = [json.loads(server.stdout.readline()) for _ in range(6)]
        assert not any(one["result"].get("isError") for one in answers)
        server.communicate(timeout=60)
    memory = open_memory(str(tmp_path), environ=sealed_environment(sealed))
    written = [row.title for row in memory.index.documents(Filter())]
    assert sorted(written) == sorted(f"{name} {number}" for name in "abc" for number in range(1, 6))
    events = [logged.event for logged in memory.log.read_all().events]
    created = [change.doc_id for event in events for change in changes_of(event)]
    assert sorted(created) == sorted(memory.index.ids())


def test_interrupt_ends_the_server(tmp_path: Path, sealed: Path) -> None:
    with started(tmp_path, sealed) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        server.stdin.write(hello("2025-11-25"))
        server.stdin.flush()
        server.stdout.readline()
        server.send_signal(signal.SIGINT)
        assert server.wait(30) == 130


def test_missing_sdk_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "mcp_types", None)
    with pytest.raises(ThunderusError) as caught:
        serve(Calls(lambda _: pytest.fail("not opened"), {}, str))
    assert caught.value.exit_code == 2
    assert caught.value.hint == "run `pip install 'thunderus-mem[mcp]'`"
