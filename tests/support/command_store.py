"""A store in a repository, written by the real command line; and where its events are."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from tests.support.kept import begin_with

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.command_server import Done, Server

SHARED, PRIVATE = ".thunderus/sessions/*/events.jsonl", ".thunderus/local/sessions/*/events.jsonl"


class CommandStore:
    """A store in a repository, written by the real command line."""

    def __init__(self, root: Path, server: Server) -> None:
        self.root, self._server, self._seed = root, server, 1
        begin_with(root, CommandStore, self._begin)
        self._seed = 2

    def _begin(self) -> None:
        assert self.run("init").code == 0

    def run(self, *arguments: str, stdin: bytes = b"", **environ: str) -> Done:
        self._seed += 1
        env = {"THUNDERUS_MEM_SEED": str(self._seed), **environ}
        return self._server.run(*arguments, cwd=str(self.root), stdin=stdin, env=env)

    def events(self, pattern: str) -> list[dict[str, Any]]:
        return [
            json.loads(text)
            for path in sorted(self.root.glob(pattern))
            for text in path.read_text(encoding="utf-8").splitlines()
        ]
