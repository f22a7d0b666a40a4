"""The shipped manifest with the real pre-commit, which builds the tool from this repository and runs it."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.interop.test_exchange import BAD, FACT, GIT, GOOD, git, tool

PROJECT = Path(__file__).resolve().parents[2]
MANIFEST = PROJECT / ".pre-commit-hooks.yaml"


def pre_commit(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environ = {**os.environ, **{key: value for key, value in GIT.items() if key.startswith("GIT_")}}
    environ.pop("PYTHONPATH", None)
    environ["PRE_COMMIT_HOME"] = str(folder.parent / "pre-commit-home")
    return subprocess.run(
        [sys.executable, "-m", "pre_commit", *arguments],
        cwd=folder,
        env=environ,
        capture_output=True,
        text=True,
        check=False,
    )


installed = pytest.mark.skipif(find_spec("pre_commit") is None, reason="pre-commit is not installed")


@installed
def test_manifest_is_valid(tmp_path: Path) -> None:
    done = pre_commit(tmp_path, "validate-manifest", str(MANIFEST))
    assert done.returncode == 0, done.stdout + done.stderr


@installed
@pytest.mark.faults
def test_pre_commit_builds_the_tool_and_checks_staged_documents(tmp_path: Path) -> None:
    probe = subprocess.run(
        [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "-d", str(tmp_path), "hatchling"],
        capture_output=True,
        text=True,
        check=False,
    )
    if probe.returncode != 0:
        pytest.skip("SKIPPED LOUDLY: pip reaches no package index, so pre-commit cannot build the tool")
    shipped = tmp_path / "shipped"
    git(tmp_path, "clone", "-q", "--no-hardlinks", str(PROJECT), str(shipped))
    folder = tmp_path / "project"
    folder.mkdir()
    git(folder, "init", "-q")
    assert tool(folder, "init").returncode == 0
    (folder / FACT).write_text(BAD)
    git(folder, "add", ".")
    (folder / FACT).write_text(GOOD)
    bad = pre_commit(folder, "try-repo", str(shipped), "thunderus-mem-lint", "--verbose")
    assert bad.returncode == 1, bad.stdout + bad.stderr
    assert FACT in bad.stdout, bad.stdout + bad.stderr
    assert (folder / FACT).read_text() == GOOD
    ids = ("thunderus-mem-lint", "thunderus-mem-check", "thunderus-mem-format")
    hooks = ", ".join(f"{{id: {name}}}" for name in ids)
    rev = git(shipped, "rev-parse", "HEAD").strip()
    config = f"repos: [{{repo: '{shipped}', rev: {rev}, hooks: [{hooks}]}}]\n"
    (folder / ".pre-commit-config.yaml").write_text(config)
    git(folder, "add", ".")
    good = pre_commit(folder, "run")
    assert good.returncode == 0, good.stdout + good.stderr
    assert good.stdout.count("Passed") == len(ids)
