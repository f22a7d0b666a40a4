"""Every writing command first recovers an interrupted write, and only then plans its own.

Each is aimed at just what the killed command was about to put in place: it must end as it does after a
command that was left alone.
"""

from __future__ import annotations

import os
import re
import shutil
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pytest

from tests.support.git_repository import begin_repository
from tests.support.index_support import document
from tests.support.verify_store import verify

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.support.command_server import Done, Server

    Words = tuple[str, ...]

FACTS = ".thunderus/memory/semantic/FACTS"
SAME = "The exporter waits thirty seconds for the first page and five for each further one."
MORE = SAME + "\n\nThen it gives up."
PORTS = ("add", "fact", "Ports", "--tag", "net", "--body", "The service listens on 8080.")
_TWIN = ("add", "fact", "Twin", "--tag", "net", "--body", SAME)
_OTHER = ("add", "fact", "Other", "--tag", "net", "--body", "Something else.")
_TWINS = (_TWIN, _OTHER)
_ALIKE = ("edit", "fact.other", "--set", "title=Twin", "--body", SAME)
_WAITING = (*_TWINS, _ALIKE, ("garden", "--propose"))
_GARDEN = ("garden", "--apply")
_EVENT = b'{"kind": "message", "body": {"role": "user", "text": "Hello."}, "id": "evt_0"}\n'


class Row(NamedTuple):
    """A writing command, and the one before it, which is killed at the ``turn``-th commit with its event in
    the log and no file in its place."""

    command: Words
    killed: Words = PORTS
    prepare: tuple[Words, ...] = ()
    files: tuple[tuple[str, str], ...] = ()
    stdin: bytes = b""
    turn: int = 1


_EARLY = document("fact.early", "It was early.\n", tags=("net",), updated="2025-12-31T00:00:00Z")
ROWS = (
    Row(("add", "fact", "Doors", "--tag", "net", "--body", "Two.", "--link", "refers_to:fact.ports")),
    Row(("edit", "fact.ports", "--tag", "later")),
    Row(("remove", "fact.ports", "-m", "gone")),
    Row(("supersede", "fact.limits", "fact.ports", "-m", "newer")),
    Row(("link", "fact.limits", "refers_to", "fact.ports")),
    Row(("rename", "fact.ports", "fact.doors")),
    Row(("archive", "fact.ports", "-m", "no longer needed")),
    Row(("archive", "--undo", "fact.limits"), killed=("archive", "fact.limits", "-m", "old")),
    Row(("anchor", "fact.ports", ".thunderus/config.toml")),
    Row(("verify", "fact.ports", "-m", "looked at it")),
    Row(
        ("verify", "--update-status"),
        killed=("anchor", "fact.limits", "code.txt", "--remove"),
        prepare=(("anchor", "fact.limits", "code.txt"),),
        files=(("code.txt", "other\n"),),
    ),
    Row(("events", "add", "--kind", "note", "--body", "seen", "--about", "fact.ports")),
    Row(("events", "record")),
    Row(("undo",)),
    Row(("undo", "--redo"), killed=("undo",)),
    Row(("events", "add"), stdin=_EVENT),
    Row(("events", "add", "--kind", "note", "--body", "seen")),
    Row(("recap", "2026-01-21")),
    Row(("recap", "2026-01-21"), killed=("recap", "2026-01-21")),
    Row(("recap", "2026-W04"), killed=("recap", "2026-01-21")),
    Row(_GARDEN, killed=_ALIKE, prepare=_TWINS),
    Row(("garden", "--propose"), killed=_ALIKE, prepare=_TWINS),
    Row(("undo", "snap_0"), killed=_GARDEN, prepare=(*_TWINS, _ALIKE), turn=2),
    Row(("undo", "snap_0"), killed=("undo", "snap_0"), prepare=(*_TWINS, _ALIKE, _GARDEN)),
    Row(
        ("review", "approve", "--all", "--yes"),
        killed=("remove", "fact.limits", "-m", "old"),
        prepare=_WAITING,
    ),
    Row(("review", "reject", "--all", "--yes", "-m", "no"), killed=PORTS, prepare=_WAITING),
    Row(
        ("review", "reject", "--all", "--yes", "-m", "no"),
        killed=("review", "approve", "--all", "--yes"),
        prepare=_WAITING,
        turn=2,
    ),
    Row(("review", "expire"), killed=("remove", "fact.other", "-m", "old"), prepare=_WAITING),
    Row(("review", "expire"), killed=("review", "approve", "--all", "--yes"), prepare=_WAITING, turn=2),
    Row(("lint", "--fix"), files=((f"{FACTS}/early.md", _EARLY),), turn=2),
    Row(("lint", "--fix")),
    Row(
        ("import", "markdown", "notes", "--kind", "fact", "--tag", "net"),
        files=(("notes/ports.md", "# Ports\n\nThe service listens on 8080.\n"),),
    ),
    Row(("migrate", "--apply")),
    Row(("resolve",)),
    Row(("doctor", "--fix")),
    Row(("init",)),
)

_IDS = re.compile(r"(evt|patch|snap|sess)_[0-9A-Z]{26}")


def _run(server: Server, root: Path, at: int, words: Words, stdin: bytes = b"", failpoint: str = "") -> Done:
    env = {"THUNDERUS_MEM_NOW": f"2026-01-21T09:00:{at:02d}Z", "THUNDERUS_MEM_SEED": str(at)}
    if failpoint:
        env |= {"FAILPOINT": failpoint}
    return server.run(*words, cwd=str(root), env=env, stdin=stdin)


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory, server: Server) -> Callable[[tuple[Words, ...]], Path]:
    """A repository with a store, two facts and the result of these commands; created once."""

    @cache
    def made(prepare: tuple[Words, ...]) -> Path:
        root = tmp_path_factory.mktemp("prepared")
        begin_repository(root, ("init", "-q"), ("commit", "-q", "--allow-empty", "-m", "Begin"))
        (root / "code.txt").write_text("the code\n")
        for at, words in enumerate((("init",), *_FIRST, *prepare)):
            done = _run(server, root, at, words)
            assert done.code == 0, (words, done)
        return root

    return made


_FIRST = (
    ("add", "fact", "Retries", "--tag", "net", "--body", "Requests are tried three times."),
    ("add", "fact", "Limits", "--tag", "net", "--body", "A page holds one hundred rows."),
)


def _left(root: Path) -> dict[str, str]:
    """Documents and proposals without their ids, which depend on how many commands ran before."""
    found = {}
    for folder in ("memory", "patches"):
        for path in sorted((root / ".thunderus" / folder).rglob("*")):
            if path.is_file() and path.parent.name != "indexes":
                text = path.read_text()
                found[_IDS.sub(r"\1_", str(path.relative_to(root)))] = _IDS.sub(r"\1_", text)
    return found


def _name(row: Row) -> str:
    return f"{' '.join(row.command[:2])} after {' '.join(row.killed[:2])}"


@pytest.mark.parametrize("row", ROWS, ids=_name)
def test_writing_command_recovers_first(
    row: Row, tmp_path: Path, server: Server, prepared: Callable[[tuple[Words, ...]], Path]
) -> None:
    repo = tmp_path / "repo"

    def ended(failpoint: str) -> tuple[Done, Done, dict[str, str]]:
        shutil.rmtree(repo, ignore_errors=True)
        shutil.copytree(prepared(row.prepare), repo, symlinks=True)
        for name, text in row.files:
            (repo / name).parent.mkdir(parents=True, exist_ok=True)
            (repo / name).write_text(text)
        before = _run(server, repo, 40, row.killed, failpoint=failpoint)
        return before, _run(server, repo, 50, row.command, row.stdin), _left(repo)

    whole, done, golden = ended("")
    assert whole.code == 0, whole
    killed, settled, found = ended(f"after-sync-log:kill:{row.turn}")
    assert killed.code in (137, -9), killed
    assert settled.code == done.code, (settled, done)
    assert found == golden, (settled, done)
    assert os.listdir(repo / ".thunderus/.staging") == []
    assert verify(str(repo)) == []


def test_every_writing_command_is_tested() -> None:
    package = Path(__file__).parents[2] / "thunderus_mem"
    sources = "".join(path.read_text() for path in package.rglob("*.py"))
    named = set(re.findall(r"""(?:open_transaction\([\w.]+, |command=)"([a-z -]+)\"""", sources)) - {"check"}
    tried = {" ".join(row.command) for row in ROWS}
    untried = {name for name in named if not any(one.startswith(name) for one in tried)}
    assert untried == {"config set", "mcp"}
    assert len(named) > 15
