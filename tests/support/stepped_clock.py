"""A command whose runs are a second apart."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.support.command_server import Done, Server


@pytest.fixture
def run(server: Server, repo: Path) -> Callable[..., Done]:
    """Run a command in the repository."""

    def command(*arguments: str, stdin: bytes = b"", **env: str) -> Done:
        command.calls = number = command.calls + 1  # type: ignore[attr-defined]
        moment = f"2026-01-21T09:{number // 60:02d}:{number % 60:02d}Z"
        env = {"THUNDERUS_MEM_NOW": moment, "THUNDERUS_MEM_SEED": str(number)} | env
        return server.run(*arguments, cwd=str(repo), env=env, stdin=stdin)

    command.calls = 0  # type: ignore[attr-defined]
    return command
