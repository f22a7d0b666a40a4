"""Fixtures of all tests: an isolated home, a repository, files from a dict, and the command line.

Tests see nothing of the user's machine: home, git configuration, editors and our variables are fixed.
"""

from __future__ import annotations

import gc
import itertools
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.support.command_server import Done
from tests.support.git_repository import begin_repository
from tests.support.in_process import NearServer
from tests.support.kept import begin_with
from tests.support.verify_store import verify_below
from thunderus_mem.log.actor import AGENTS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

# A run in the background (nohup, `&` of a script) ignores these, and every process it starts inherits that.
for number, handler in ((signal.SIGINT, signal.default_int_handler), (signal.SIGHUP, signal.SIG_DFL)):
    if signal.getsignal(number) is signal.SIG_IGN:
        with suppress(ValueError):  # not in the main thread
            signal.signal(number, handler)

# A process that keeps no bytecode compiles our sources again each time, which takes longer than most tests.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

# An agent that runs the tests is not the one that acts in them.
for variable in (name for agent in AGENTS for name in agent.variables):
    os.environ.pop(variable, None)

PROJECT = Path(__file__).resolve().parent.parent
MOST_OPEN = 300


def _in_memory() -> str | None:
    """A folder in memory, with room, where programs can be run: what a test writes need not outlive it."""
    folder = "/dev/shm"
    if not os.access(folder, os.W_OK) or os.statvfs(folder).f_flag & os.ST_NOEXEC:
        return None
    return folder if shutil.disk_usage(folder).free > 2 << 30 else None


tempfile.tempdir = _in_memory()

FAULTS = PROJECT / "tests" / "faults"
START = "2026-01-21T09:00:00Z"


def sealed_environment(home: Path) -> dict[str, str]:
    """An environment with a path, a home, an actor, a fixed time and fixed ids, and nothing else."""
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "XDG_CONFIG_HOME": str(home / ".config"),
        "LANG": "C.UTF-8",
        "TZ": "UTC",
        "TERM": "dumb",
        "EDITOR": "false",
        "PYTHONPATH": str(PROJECT),
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": str(home / ".gitconfig"),
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_AUTHOR_DATE": START,
        "GIT_COMMITTER_DATE": START,
        "THUNDERUS_MEM_ACTOR": "user",
        "THUNDERUS_MEM_TEST": "1",
        "THUNDERUS_MEM_NOW": START,
        "THUNDERUS_MEM_SEED": "1",
    }


GITCONFIG = """[user]
    name = Ada Example
    email = ada@example.invalid
[init]
    defaultBranch = main
[core]
    autocrlf = false
[commit]
    gpgSign = false
[protocol "file"]
    allow = always
"""


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Skip files without a test of the selected tier, which are half of them."""
    tier = config.option.markexpr
    if tier == "not faults" and collection_path == FAULTS:
        return True
    if tier == "faults" and collection_path.suffix == ".py" and FAULTS not in collection_path.parents:
        return "pytest.mark.faults" not in collection_path.read_text(encoding="utf-8") or None
    return None


def pytest_runtest_teardown() -> None:
    """Collect garbage again after an interrupted command, and close the files of stores before there are
    too many."""
    gc.enable()
    if len(os.listdir("/dev/fd")) > MOST_OPEN:
        gc.collect()


def pytest_collection_finish() -> None:
    """Exclude what collection created from garbage collection."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session")
def homes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A new home at each step; numbered here, as pytest would look through all folders of the session."""
    folder = tmp_path_factory.mktemp("homes")

    def numbered() -> Iterator[Path]:
        for number in itertools.count():
            home = folder / str(number)
            home.mkdir()
            yield home

    return numbered()


@pytest.fixture(autouse=True)
def sealed(homes: Iterator[Path], monkeypatch: pytest.MonkeyPatch) -> Path:
    """Every test runs with its own home; returns it."""
    home = next(homes)
    (home / ".gitconfig").write_text(GITCONFIG, encoding="utf-8")
    for name in list(os.environ):
        if name.startswith(("GIT_", "THUNDERUS_MEM_")) or name in ("VISUAL", "NO_COLOR", "FORCE_COLOR"):
            monkeypatch.delenv(name)
    environment = sealed_environment(home)
    for name in ("PYTHONPATH", "GIT_AUTHOR_DATE", "GIT_COMMITTER_DATE"):
        environment.pop(name)
    for name in ("THUNDERUS_MEM_TEST", "THUNDERUS_MEM_NOW", "THUNDERUS_MEM_SEED"):
        environment.pop(name)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    return home


@pytest.fixture(autouse=True)
def stores_are_intact(request: pytest.FixtureRequest) -> Iterator[None]:
    """After a test, check its stores with an independent reader, unless it is marked ``damaged``."""
    folder: Path | None = None
    if "tmp_path" in request.fixturenames and request.node.get_closest_marker("damaged") is None:
        folder = request.getfixturevalue("tmp_path")
    yield
    if folder is not None:
        assert verify_below(str(folder)) == []


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    """A git repository with one commit, without a store."""
    begin_repository(tmp_path, ("init", "-q"), ("commit", "-q", "--allow-empty", "-m", "Begin"))
    return tmp_path


@pytest.fixture
def write(tmp_path: Path) -> Callable[[Mapping[str, str | bytes]], Path]:
    """Write files from a dict of relative paths; text as UTF-8 without changing line ends."""

    def put(files: Mapping[str, str | bytes]) -> Path:
        for name, content in files.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content.encode() if isinstance(content, str) else content)
        return tmp_path

    return put


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[NearServer]:
    """The command line, in this process where that shows the same: see `NearServer`."""
    home = tmp_path_factory.mktemp("server")
    (home / ".gitconfig").write_text(GITCONFIG, encoding="utf-8")
    running = NearServer(str(home), sealed_environment(home))
    yield running
    running.close()


_FIXED_AT_START = ("PYTHON", "LANG", "LC_", "TZ", "MALLOC", "LD_")
"""Beginnings of variables that a process looks at once: with one of them a command gets one of its own."""


@pytest.fixture
def run(tmp_path: Path, sealed: Path, server: NearServer) -> Callable[..., Done]:
    """Run the command line; each call a second later, with new ids."""

    def command(
        *arguments: str,
        cwd: Path | None = None,
        stdin: str | bytes = b"",
        env: Mapping[str, str] | None = None,
    ) -> Done:
        command.calls = number = command.calls + 1  # type: ignore[attr-defined]
        environment = sealed_environment(sealed)
        environment["THUNDERUS_MEM_NOW"] = f"2026-01-21T09:{number // 60 % 60:02d}:{number % 60:02d}Z"
        environment["THUNDERUS_MEM_SEED"] = str(number)
        environment |= env or {}
        data = stdin.encode() if isinstance(stdin, str) else stdin
        where = str(cwd or tmp_path)
        if not any(name.startswith(_FIXED_AT_START) for name in env or ()):
            return server.run(*arguments, cwd=where, env=environment, stdin=data)
        done = subprocess.run(
            [sys.executable, "-m", "thunderus_mem", *arguments],
            cwd=where,
            env=environment,
            input=data,
            capture_output=True,
            check=False,
            timeout=60,
        )
        return Done(done.returncode, done.stdout.decode(), done.stderr.decode())

    command.calls = 0  # type: ignore[attr-defined]
    return command


_CALLS_OF: dict[tuple[object, ...], int] = {}


@pytest.fixture
def once(tmp_path: Path, request: pytest.FixtureRequest) -> Callable[..., None]:
    """Make what a function makes of the test's folder in the first test only; the others begin with a copy.

    ``key`` is what it depends on, apart from the function itself. Times and ids of `run` go on as after it.
    """

    def begin(make: Callable[[], object], *key: str) -> None:
        run = request.getfixturevalue("run") if "run" in request.fixturenames else None
        name = (make.__code__, *key)
        if begin_with(tmp_path, name, make):
            _CALLS_OF[name] = run.calls if run else 0
        elif run:
            run.calls = _CALLS_OF[name]

    return begin
