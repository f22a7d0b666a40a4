"""K1, E1 and P1 through the command line: concurrent adds, disk errors, hostile parameters."""

from __future__ import annotations

import errno
import os
import shutil
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest
import report
from commands import Command, call, named, state
from harness import Tally, copy
from judging import said_plainly
from payloads import PAYLOADS
from tidying import EVERY
from tier import NIGHT, points

from tests.conftest import sealed_environment
from tests.support.command_server import PROJECT
from tests.support.verify_store import parse_line, shards, verify

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.command_server import Server

WORKERS, EACH = 8, points(8, 25)


def test_eight_people_add_at_once(tmp_path: Path, sealed: Path, server: Server) -> None:
    root = str(tmp_path / "store")
    named("add").build(server, root)
    begun = time.monotonic()
    environment = {
        name: value
        for name, value in sealed_environment(sealed).items()
        if not name.startswith("THUNDERUS_MEM_")
    } | {"THUNDERUS_MEM_WRITE_LOCK_TIMEOUT": "120"}
    loop = (
        'for n in $(seq "$2"); do "$3" -m thunderus_mem add fact "Fact $1 $n" --tag burst '
        '--body "Worker $1 saw number $n of its own." || exit; done'
    )
    workers = [
        subprocess.Popen(
            ["bash", "-c", loop, "-", str(number), str(EACH), sys.executable],
            cwd=root,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for number in range(WORKERS)
    ]
    outputs = [worker.communicate(timeout=240) for worker in workers]
    assert [worker.returncode for worker in workers] == [0] * WORKERS, outputs
    acknowledged = {line.split()[0] for out, _ in outputs for line in out.splitlines() if line}
    events = []
    for shard in shards(root):
        with open(shard, "rb") as stream:
            events += [parse_line(line) for line in stream]
    added = [
        event["body"]["changes"][0]["doc_id"]
        for event in events
        if event["body"].get("op") == "add" and "fact-" in event["body"]["changes"][0]["path"]
    ]
    assert len(added) == len(set(added)) == WORKERS * EACH
    assert len({event["id"] for event in events}) == len(events)
    documents = {path for path, _ in state(root).documents}
    report.add(
        "K1-cli",
        f"{WORKERS} x {EACH} adds",
        tried=WORKERS * EACH,
        lost=len(acknowledged - set(added)),
        slowest=time.monotonic() - begun,
    )
    assert acknowledged == set(added)
    assert sum("/fact-" in path for path in documents) == WORKERS * EACH
    assert verify(root, settled=True) == []
    assert server.run("events", "verify", cwd=root).code == 0
    assert server.run("index", "manifest", "--check", cwd=root).code == 0
    found = server.run("search", f"worker 7 number {EACH}", "--ids", cwd=root).out.split()
    assert found[0] == f"fact.fact-7-{EACH}"


REFUSALS = (errno.ENOSPC, errno.EACCES, errno.EROFS)
REFUSED = tuple(command for command in EVERY if NIGHT or command.name in ("add", "garden", "import"))
SPARSE = points(16, 2)


@pytest.mark.parametrize("command", REFUSED, ids=lambda command: command.name)
def test_disk_error_is_reported_in_one_message(command: Command, tmp_path: Path, server: Server) -> None:
    base, root = str(tmp_path / "base"), str(tmp_path / "store")
    command.build(server, base)
    old = state(base)
    copy(base, root)
    first = command.run(server, root, arm={"refusals:refuse": [None, 0]})
    assert first.code == 0, first
    new = state(root)
    tally = Tally()
    for at in range(1, first.seen["calls"] + 1, SPARSE):
        code = REFUSALS[at // SPARSE % len(REFUSALS)]
        copy(base, root)
        done = command.run(server, root, arm={"refusals:refuse": [at, code]})
        place = (at, done.seen.get("failed"), errno.errorcode[code], done)
        said_plainly(done)
        # A file that cannot be read is one of lint's findings, and one that resolve leaves to people.
        expected = command.name in ("lint-fix", "resolve") and done.code == 1
        assert done.code in (0, 2, 3, 4, 5, 6, 75) or expected, place
        if done.code not in (0, 1, 6):
            besides = done.err.startswith("Recorded edits made by hand")
            assert len(done.err.splitlines()) <= 2 + besides, place
        healing = command.healed(server, root)
        assert healing.code == 0, (place, healing)
        assert verify(root, settled=command.settles) == [], place
        found = state(root)
        # Migrate names what it could not read, and knows of no document in a folder that it could not list.
        partly = command.name == "migrate" and ("left " in done.err or "document" not in done.err)
        if done.code in (0, 6) and "Nothing to do" not in done.err and not partly:
            tally.lost += found != new
            assert found == new, place
        elif not command.name.startswith("garden") and not partly:
            assert found in (old, new), place
        tally.tried += 1
        tally.healed += 1
    report.add("E1-cli", command.name, **vars(tally))
    assert tally.tried >= 5


# Every parameter that takes an id, a path, a title or a tag; the payload stands for {}.
PARAMETERS: tuple[tuple[str, ...], ...] = (
    ("show", "{}"),
    ("why", "{}"),
    ("log", "{}"),
    ("events", "show", "{}"),
    ("list", "path:{}"),
    ("list", "--tag", "{}"),
    ("search", "path:{}"),
    ("search", "{}"),
    ("lint", "{}"),
    ("lint", "--explain", "{}"),
    ("config", "schemas", "{}"),
    ("edit", "{}", "--tag", "x"),
    ("edit", "fact.retries", "--tag", "{}"),
    ("edit", "fact.retries", "--set", "source={}"),
    ("edit", "fact.retries", "--set", "{}=x"),
    ("remove", "{}", "-m", "gone"),
    ("archive", "{}", "fact.retries"),
    ("archive", "--undo", "{}"),
    ("supersede", "{}", "fact.limits", "-m", "x"),
    ("link", "fact.retries", "refers_to", "{}"),
    ("events", "add", "--kind", "note", "--body", "seen", "--about", "{}"),
    ("add", "fact", "Ports", "--tag", "x", "--body", "Eighty.", "--id", "{}"),
    ("add", "fact", "{}", "--tag", "x", "--body", "Ninety-one."),
    ("add", "fact", "Ports", "--tag", "{}", "--body", "Seventy."),
    ("add", "fact", "Ports", "--tag", "x", "--body", "Sixty.", "--alias", "{}"),
    ("add", "fact", "Ports", "--tag", "x", "--body", "Fifty.", "--link", "refers_to:{}"),
    ("import", "markdown", "notes", "--kind", "fact", "--tag", "{}"),
    ("recap", "{}"),
)
SHARE = 36
"""With every change a parameter meets one payload in so many, the next parameter those after them."""


def _payloads(position: int) -> list[str]:
    chosen = PAYLOADS if NIGHT else PAYLOADS[position % SHARE :: SHARE]
    # A command line cannot hold a NUL or a lone surrogate that is no byte.
    return [payload for payload in chosen if "\0" not in payload and _is_argument(payload)]


def _is_argument(payload: str) -> bool:
    try:
        os.fsencode(payload)
    except UnicodeEncodeError:
        return False
    return True


@pytest.mark.parametrize("position", range(len(PARAMETERS)), ids=lambda at: " ".join(PARAMETERS[at])[:40])
def test_hostile_parameter_opens_nothing_outside(position: int, tmp_path: Path, server: Server) -> None:
    base, root = str(tmp_path / "base"), str(tmp_path / "above" / "store")
    named("import").build(server, base)
    (tmp_path / "above").mkdir()
    (tmp_path / "above" / "x").write_text("canary\n")
    words = PARAMETERS[position]
    copy(base, root)
    harmless = tuple(word.replace("{}", "harmless") for word in words)
    ordinary = set(call(server, root, harmless, "2026-01-21T10:00:00Z", arm=_watch(root)).seen["outside"])
    for payload in (words_ := _payloads(position)):
        copy(base, root)
        arguments = tuple(word.replace("{}", payload) for word in words)
        done = call(server, root, arguments, "2026-01-21T10:00:00Z", arm=_watch(root))
        assert "Traceback" not in done.err, (arguments, done)
        assert done.code in (0, 1, 2, 3, 4, 5), (arguments, done)
        outside = {place for place in done.seen["outside"] if not _harmless(place)} - ordinary
        assert outside == set(), (arguments, done.code, outside)
        assert verify(root) == [], (arguments, done)
        assert set(os.listdir(tmp_path / "above")) == {"store", "x"}
        assert set(os.listdir(root)) == {".git", ".thunderus", "notes"}, arguments
    assert (tmp_path / "above" / "x").read_text() == "canary\n"
    shutil.rmtree(tmp_path / "above")
    report.add("P1-cli", " ".join(words), tried=len(words_))


def _watch(root: str) -> dict[str, list[str]]:
    return {"watched_opens:watch": [root]}


def _harmless(place: str) -> bool:
    """What the interpreter itself opens while importing, and the null device."""
    kept = (sys.prefix, sys.base_prefix, os.path.dirname(os.__file__), PROJECT, "/usr/lib", "/usr/share")
    return place == "/dev/null" or place.startswith(tuple(folder + os.sep for folder in kept))
