"""Measures warm calls of the MCP server over standard input and output, on a made-up store.

Prints for each tool the median and the 95th percentile of the time between request and answer, and the
processor time of the server per call, which other programs on the machine hardly change. For comparison the
same functions are called in this process, on a memory that is opened once.
Usage: ``python -m benchmarks.mcp_calls [N] [--calls C] [--store FOLDER]``.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from typing import TYPE_CHECKING, Any

from benchmarks.make_store import make_store
from thunderus_mem.mcp.tools import run
from thunderus_mem.memory.memory import open_memory

if TYPE_CHECKING:
    from collections.abc import Callable

WORDS = ("cache", "parser", "timeout", "schema", "retry", "token", "lock", "branch", "metric", "gateway")
TARGET = 15.0


class Client:
    """A client of a running server, which speaks the protocol with a handshake."""

    def __init__(self, root: str) -> None:
        command = [sys.executable, "-m", "thunderus_mem", "-C", root, "mcp"]
        self.server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self._number = 0
        about = {"name": "benchmark", "version": "1"}
        self.request("initialize", protocolVersion="2025-11-25", capabilities={}, clientInfo=about)

    def request(self, method: str, **params: Any) -> dict[str, Any]:
        """Send a request and return the answer."""
        assert self.server.stdin is not None
        assert self.server.stdout is not None
        self._number += 1
        message = {"jsonrpc": "2.0", "id": self._number, "method": method, "params": params}
        self.server.stdin.write(json.dumps(message) + "\n")
        self.server.stdin.flush()
        answer: dict[str, Any] = json.loads(self.server.stdout.readline())["result"]
        return answer

    def processor(self) -> float:
        """Return the processor time of the server so far, in seconds."""
        with open(f"/proc/{self.server.pid}/stat", encoding="ascii") as handle:
            fields = handle.read().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def timed(calls: int, action: Callable[[int], object]) -> list[float]:
    """Return the times of calls in milliseconds, sorted."""
    times = []
    for number in range(calls):
        begun = time.perf_counter()
        action(number)
        times.append((time.perf_counter() - begun) * 1000)
    return sorted(times)


def arguments(tool: str, ids: list[str], number: int) -> dict[str, Any]:
    """Return the arguments of a call, different ones for each number."""
    if tool == "memory_show":
        return {"id": ids[number * 37 % len(ids)]}
    if tool == "memory_for":
        return {"path": f"src/{WORDS[number % len(WORDS)]}.py"}
    words = f"{WORDS[number % len(WORDS)]} {WORDS[number * 3 % len(WORDS)]}"
    return {"task" if tool == "memory_context" else "query": words}


def measure(root: str, calls: int, tools: list[str]) -> None:
    """Print a line for each tool."""
    memory = open_memory(root)
    memory.refresh()
    ids = list(memory.index.ids())
    client = Client(root)
    print(f"{'ms a call':20} {'median':>8} {'p95':>8} {'cpu':>8} {'cpu here':>9}")
    for tool in tools:

        def call(number: int, tool: str = tool) -> object:
            return client.request("tools/call", name=tool, arguments=arguments(tool, ids, number))

        def here(number: int, tool: str = tool) -> object:
            return run(memory, tool, arguments(tool, ids, number))

        timed(5, call)
        before = client.processor()
        times = timed(calls, call)
        used = (client.processor() - before) * 1000 / calls
        timed(5, here)
        begun = time.process_time()
        timed(calls, here)
        own = (time.process_time() - begun) * 1000 / calls
        p95 = times[int(len(times) * 0.95)]
        late = "" if p95 <= TARGET else f"  over {TARGET:.0f}"
        print(f"{tool:20} {times[len(times) // 2]:8.1f} {p95:8.1f} {used:8.1f} {own:9.1f}{late}")
    begun = time.process_time()
    timed(calls, lambda _: memory.refresh())
    print(f"{'refresh, here':20} {'':8} {'':8} {'':8} {(time.process_time() - begun) * 1000 / calls:9.1f}")
    client.server.communicate()


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description="Measure warm calls of the MCP server.")
    parser.add_argument("count", type=int, nargs="?", default=5000)
    parser.add_argument("--calls", type=int, default=100)
    parser.add_argument("--store", default="", help="keep the made-up store in this folder and use it again")
    given = parser.parse_args()
    root = given.store or tempfile.mkdtemp(prefix="mcp-")
    try:
        if not os.path.isdir(os.path.join(root, ".thunderus")):
            make_store(root, given.count)
        measure(root, given.calls, ["memory_search", "memory_show", "memory_for", "memory_context"])
    finally:
        if not given.store:
            shutil.rmtree(root)


if __name__ == "__main__":
    main()
