"""The mechanism of profiles: names, start-up, and what a server with a profile offers."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from typing import TYPE_CHECKING, TextIO

import pytest

from tests.conftest import PROJECT, sealed_environment
from thunderus_mem.mcp.profile import PROFILES, find_profile

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.support.command_server import Done


def test_unknown_profile_is_a_usage_error_that_lists_the_known_ones(
    repo: Path, run: Callable[..., Done]
) -> None:
    ran = run("mcp", "--profile", "none")
    assert ran.code == 2
    assert "unknown profile 'none'" in ran.err
    assert f"use one of: {', '.join(PROFILES)}" in ran.err


def test_help_lists_every_profile(run: Callable[..., Done]) -> None:
    printed = " ".join(run("mcp", "--help").out.split())
    assert all(f" {name}" in printed for name in PROFILES)


@pytest.mark.parametrize("name", PROFILES)
def test_profile_is_small_and_its_tools_have_schemas(name: str) -> None:
    path = PROJECT / "thunderus_mem" / "mcp" / "profiles" / f"{name}.py"
    assert len(path.read_text(encoding="utf-8").splitlines()) <= 300
    for tool in find_profile(name, strict=False).tools:
        assert tool["description"].endswith(".")
        assert tool["inputSchema"]["type"] == "object"
        assert tool["annotations"]["openWorldHint"] is False


def test_server_with_our_own_tools_loads_no_profile() -> None:
    code = (
        "import sys, thunderus_mem.mcp.server, thunderus_mem.mcp.profile\n"
        "print(*[name for name in sys.modules if 'profiles' in name or 'interop' in name])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=PROJECT, capture_output=True, text=True, check=True
    )
    assert done.stdout == "\n"


def test_server_with_a_profile_offers_only_its_tools(tmp_path: Path, sealed: Path) -> None:
    from mcp.client.client import Client
    from mcp.client.stdio import StdioServerParameters, stdio_client

    (tmp_path / ".thunderus" / "memory").mkdir(parents=True)

    async def tour(errlog: TextIO) -> None:
        parameters = StdioServerParameters(
            command=sys.executable,
            args=["-m", "thunderus_mem", "mcp", "--profile", "nova"],
            cwd=tmp_path,
            env=sealed_environment(sealed),
        )
        async with Client(stdio_client(parameters, errlog)) as client:
            names = [tool.name for tool in (await client.list_tools()).tools]
            assert names == [tool["name"] for tool in find_profile("nova", strict=False).tools]
            assert client.server_capabilities.resources is None
            assert client.server_capabilities.prompts is None
            health = await client.call_tool("check_health", {})
            assert health.structured_content["status"] == "ok"
            unknown = await client.call_tool("no_such_tool", {})
            assert not unknown.is_error
            assert "no_such_tool" in unknown.structured_content["error"]

    with (tmp_path / "stderr").open("w") as errlog:
        asyncio.run(tour(errlog))
