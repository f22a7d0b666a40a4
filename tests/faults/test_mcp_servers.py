"""M1: several servers and commands that write to one store at once."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import report
from harness import environment
from tier import points

from tests.support.git_repository import begin_repository
from tests.support.verify_store import shards, verify

if TYPE_CHECKING:
    from pathlib import Path

SERVERS, COMMANDS = 3, 2
PROGRAM = (sys.executable, "-m", "thunderus_mem")


def _request(server: subprocess.Popen[str], number: int, method: str, **params: Any) -> dict[str, Any]:
    assert server.stdin is not None
    assert server.stdout is not None
    message = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
    server.stdin.write(json.dumps(message) + "\n")
    server.stdin.flush()
    answer: dict[str, Any] = json.loads(server.stdout.readline())
    assert answer["id"] == number
    return answer["result"]


def _by_server(root: Path, name: str, each: int) -> set[str]:
    """Add documents through one server, and search after each; return the titles that it acknowledged."""
    added = set()
    with subprocess.Popen(
        [*PROGRAM, "mcp"],
        cwd=root,
        env=environment(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as server:
        about = {"name": name, "version": "1"}
        _request(server, 0, "initialize", protocolVersion="2025-11-25", capabilities={}, clientInfo=about)
        for number in range(1, each + 1):
            title = f"{name} {number}"
            new = {"kind": "fact", "title": title, "body": f"Text {number} of the client {name}."}
            reply = _request(server, number, "tools/call", name="memory_add", arguments=new)
            assert not reply["isError"], reply
            added.add(title)
            asked = {"name": "memory_search", "arguments": {"query": f'"text {number} of the client {name}"'}}
            found = _request(server, number, "tools/call", **asked)
            assert f"> Text {number} of the client {name}." in found["content"][0]["text"]
    return added


def _by_commands(root: Path, name: str, each: int) -> set[str]:
    for number in range(1, each + 1):
        command = ["add", "fact", f"{name} {number}", "--body", f"Text {number} of the command {name}."]
        subprocess.run([*PROGRAM, *command], cwd=root, env=environment(), check=True, capture_output=True)
    return {f"{name} {number}" for number in range(1, each + 1)}


def test_servers_and_commands_on_one_store_lose_nothing(tmp_path: Path) -> None:
    begin_repository(tmp_path, ("init", "-q"), ("commit", "-q", "--allow-empty", "-m", "Begin"))
    (tmp_path / ".thunderus" / "memory").mkdir(parents=True)
    each = points(6, 60)
    begun = time.monotonic()
    with ThreadPoolExecutor() as pool:
        made = [pool.submit(_by_server, tmp_path, f"server{number}", each) for number in range(SERVERS)]
        made += [pool.submit(_by_commands, tmp_path, f"command{number}", each) for number in range(COMMANDS)]
        acknowledged = {title for one in made for title in one.result()}
    events = [json.loads(line) for path in shards(str(tmp_path)) for line in open(path, "rb")]  # noqa: SIM115
    logged = [event["body"]["changes"][0]["doc_id"] for event in events]
    titles = {path.stem.replace("-", " ") for path in tmp_path.glob(".thunderus/memory/semantic/FACTS/*.md")}
    clients = {event["origin"]["client"]: event["actor"] for event in events}
    report.add(
        "M1",
        "servers and commands",
        tried=each * (SERVERS + COMMANDS),
        lost=len(acknowledged - titles),
        slowest=time.monotonic() - begun,
    )
    assert titles == acknowledged
    assert len(logged) == len(set(logged)) == len(acknowledged)
    assert {clients[f"server{number}"] for number in range(SERVERS)} == {"agent"}
    assert verify(str(tmp_path), settled=True) == []
