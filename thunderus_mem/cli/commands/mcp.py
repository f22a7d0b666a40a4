"""``mcp``: serve the memory to coding agents."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Annotated

from thunderus_mem.cli.options import Call, Commands, Option

if TYPE_CHECKING:
    from collections.abc import Mapping

    from thunderus_mem.cli.console import Console
    from thunderus_mem.memory.memory import Memory

app = Commands()


@app.command("mcp")
def mcp_command(
    ctx: Call,
    profile: Annotated[
        str,
        Option(
            "--profile", metavar="NAME", help="Offer the tools of another memory server: memoryos or nova."
        ),
    ] = "",
    strict: Annotated[
        bool, Option("--strict", help="With --profile: reject what the contract only advises against.")
    ] = False,
) -> None:
    """Serve the memory of this folder over MCP, on standard input and output.

    Agents start it. It needs the extra mcp: pip install 'thunderus-mem[mcp]'

    Configuration of most agents, e.g. in .mcp.json:
    {"mcpServers": {"memory": {"command": "thunderus-mem", "args": ["mcp"]}}}
    """
    import random

    console: Console = ctx.obj
    from thunderus_mem.cli.app import write_crash_report
    from thunderus_mem.cli.console import fixed_clock
    from thunderus_mem.mcp.calls import Calls
    from thunderus_mem.mcp.profile import find_profile
    from thunderus_mem.mcp.server import serve
    from thunderus_mem.memory.memory import open_memory

    offered = find_profile(profile, strict=strict) if profile else None
    now, random_bits = fixed_clock(console.environ)
    start = os.path.abspath(console.start)

    def opened(environ: Mapping[str, str]) -> Memory:
        return open_memory(start, environ=environ, now=now, random_bits=random_bits)

    def report(error: Exception) -> str:
        return write_crash_report(error, ["mcp"], start, console.environ) or ""

    session = f"mcp_{(random_bits or random.SystemRandom().getrandbits)(64):016x}"
    serve(Calls(opened, console.environ, report, session), offered)
