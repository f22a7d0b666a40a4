"""The real mcp-memory-service reads what we export, and we read its export and its database; `make peers`.

It runs with a Python whose SQLite can load extensions, in an environment of its own.
"""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.support.command_server import Done

pytestmark = pytest.mark.peers

PACKAGES = os.environ.get("THUNDERUS_MEM_PEERS", "")
"""The folder in which the packages of the other programs are installed."""
PYTHON = os.environ.get("THUNDERUS_MEM_PEERS_PYTHON", "python3")
SERVICE = """
import asyncio, json, sys
from pathlib import Path
from mcp_memory_service.storage.sqlite_vec import SqliteVecMemoryStorage
from mcp_memory_service.sync.exporter import MemoryExporter
from mcp_memory_service.sync.importer import MemoryImporter

async def main(given, out, database):
    storage = SqliteVecMemoryStorage(database)
    await storage.initialize()
    done = await MemoryImporter(storage).import_from_json([Path(given)])
    await MemoryExporter(storage).export_to_json(Path(out))
    print(json.dumps(done))

asyncio.run(main(*sys.argv[1:]))
"""


@pytest.fixture
def service(tmp_path: Path) -> Callable[..., dict[str, Any]]:
    if not PACKAGES or not Path(PACKAGES, "mcp_memory_service").is_dir():
        pytest.skip("mcp-memory-service is not installed; run `make peers`")

    def call(*paths: str) -> dict[str, Any]:
        environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path / "home"), "PYTHONPATH": PACKAGES}
        command = [PYTHON, "-c", SERVICE, *paths]
        done = subprocess.run(
            command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False, timeout=300
        )
        if "enable-loadable-sqlite-extensions" in done.stdout + done.stderr:
            pytest.skip("this Python cannot load SQLite extensions; set THUNDERUS_MEM_PEERS_PYTHON")
        assert done.returncode == 0, done.stderr[-2_000:]
        answer: dict[str, Any] = json.loads(done.stdout.strip().rpartition("\n")[2])
        return answer

    return call


def test_mcp_memory_service_takes_our_export_and_we_take_its_own(
    run: Callable[..., Done], tmp_path: Path, service: Callable[..., dict[str, Any]]
) -> None:
    run("init")
    run("add", "fact", "CI cache", "--tag", "ci", "--body", "Cache is keyed on the lock file hash.")
    run("add", "adr", "Use JWT", "--tag", "auth", "--body", "Use JWT.\n\n---\n\nNot sessions: ü ☃.")
    assert run("export", "mcp-memory-service", "-o", "ours.json").code == 0
    done = service("ours.json", "theirs.json", str(tmp_path / "theirs.db"))
    assert (done["imported"], done["rejected"], done["errors"]) == (2, 0, 0)
    ours = {one["content_hash"]: one for one in json.loads((tmp_path / "ours.json").read_bytes())["memories"]}
    theirs = json.loads((tmp_path / "theirs.json").read_bytes())["memories"]
    for one in theirs:
        assert one["metadata"]["thunderus_mem"] == ours[one["content_hash"]]["metadata"]["thunderus_mem"]
        assert one["memory_type"] == ours[one["content_hash"]]["memory_type"]
    for source in ("theirs.json", "theirs.db"):
        found = run("import", "mcp-memory-service", source, "--dry-run", "--json").json
        assert len(found["skipped"]) == 2  # it adds a tag and metadata of its own: found, and different
        assert not found.get("refused")
