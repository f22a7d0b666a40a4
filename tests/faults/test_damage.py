"""C6: damage in the middle of the log: the rest is served, each bad line named, nothing rewritten."""

from __future__ import annotations

import os
import random
from typing import TYPE_CHECKING, NamedTuple

import pytest
import report
from commands import Command, call
from harness import Tally, copy, shards
from tier import points

from tests.support.verify_store import normal_hash, parse_line
from thunderus_mem.log.line import line_hash
from thunderus_mem.log.shard import check_chain, parse_shard

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.support.command_server import Server

pytestmark = pytest.mark.damaged

NOTES = 12
PAGE = 4096


class Damaged(NamedTuple):
    """A damaged shard: its bytes, the lines that are not events, and those that are missing."""

    data: bytes
    bad: frozenset[int]
    gone: frozenset[int] = frozenset()


def _lines(data: bytes) -> list[bytes]:
    return data.splitlines(keepends=True)


def _spoiled(lines: list[bytes], at: int, new: bytes) -> Damaged:
    changed = [*lines[:at], new, *lines[at + 1 :]]
    return Damaged(b"".join(changed), frozenset({at + 1}))


def flip(lines: list[bytes], dice: random.Random) -> Damaged:
    """One flipped bit of a line, never in its line end: invalid JSON or another text."""
    at = dice.randrange(1, len(lines) - 1)
    line = bytearray(lines[at][:-1])
    while True:
        place, bit = dice.randrange(len(line)), 1 << dice.randrange(8)
        if line[place] ^ bit not in (10, 13) and (place > 0 or bit != 0x20):
            break
    line[place] ^= bit
    return _spoiled(lines, at, bytes(line) + b"\n")


def nul_page(lines: list[bytes], dice: random.Random) -> Damaged:
    """A page of NUL bytes over several lines and their ends."""
    data = b"".join(lines)
    start = dice.randrange(len(lines[0]), len(data) // 2)
    end = min(start + dice.choice((64, 512, PAGE)), len(data) - len(lines[-1]) - 1)
    data = data[:start] + bytes(end - start) + data[end:]
    whole = {line: number for number, line in enumerate(lines, 1)}
    bad = frozenset(number for number, line in enumerate(_lines(data), 1) if line not in whole)
    gone = frozenset(whole[line] for line in lines if line not in _lines(data))
    return Damaged(data, bad, gone)


def dropped(lines: list[bytes], dice: random.Random) -> Damaged:
    """A removed line."""
    at = dice.randrange(1, len(lines) - 1)
    return Damaged(b"".join(lines[:at] + lines[at + 1 :]), frozenset(), frozenset({at + 1}))


def markers(lines: list[bytes], dice: random.Random) -> Damaged:
    """A merge committed with conflict markers."""
    first, second, third = sorted(dice.sample(range(1, len(lines)), 3))
    marked = list(lines)
    for at, text in ((third, b">>>>>>> topic\n"), (second, b"=======\n"), (first, b"<<<<<<< HEAD\n")):
        marked.insert(at, text)
    return Damaged(b"".join(marked), frozenset({first + 1, second + 2, third + 3}))


def carriage_returns(lines: list[bytes], dice: random.Random) -> Damaged:
    """A checkout with CRLF line ends: no damage."""
    return Damaged(b"".join(lines).replace(b"\n", b"\r\n"), frozenset())


def byte_order_mark(lines: list[bytes], dice: random.Random) -> Damaged:
    """A byte order mark before the first line."""
    return Damaged(b"\xef\xbb\xbf" + b"".join(lines), frozenset({1}))


DAMAGES: dict[str, Callable[[list[bytes], random.Random], Damaged]] = {
    function.__name__: function
    for function in (flip, nul_page, dropped, markers, carriage_returns, byte_order_mark)
}


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory, server: Server) -> tuple[str, str]:
    """A store with a session of some events; and where copies of it must go."""
    command = Command(
        "damage",
        (),
        prepare=tuple(
            ("events", "add", "--kind", "note", "--body", f"Number {number}: äöü {'x' * number * 40}")
            for number in range(NOTES)
        ),
    )
    return command.made(server, str(tmp_path_factory.mktemp("damage")))


def _share(name: str) -> int:
    single = name in ("carriage_returns", "byte_order_mark")
    return 1 if single else points(120, 400)


@pytest.mark.parametrize("name", DAMAGES)
def test_intact_lines_are_read_and_damaged_ones_reported(name: str, store: tuple[str, str]) -> None:
    (path,) = shards(store[0])
    with open(path, "rb") as stream:
        lines = _lines(stream.read())
    dice, tried = random.Random(name), 0
    session = os.path.basename(os.path.dirname(path))
    for _ in range(_share(name)):
        damaged = DAMAGES[name](lines, dice)
        reading = parse_shard(path, damaged.data)
        findings = check_chain(reading, session_id=session)
        left = _lines(damaged.data.replace(b"\r\n", b"\n"))
        known = {parse_line(line)["id"] for line in left if line in lines}
        assert known <= {logged.event.id for logged in reading.events}
        named = {damage.line: damage.message for damage in reading.damages}
        for number in damaged.bad - set(named):
            # Flipped into another text of the same shape: then the chain says so.
            assert any(found.rule in ("TM503", "TM504") for found in findings), (number, left[number - 1])
        assert set(named) <= damaged.bad
        for number, message in named.items():
            digest = line_hash(damaged.data.split(b"\n")[number - 1].rstrip(b"\r"))
            assert digest[: len("sha256:") + 12] in message
        if damaged.gone and not damaged.bad:
            assert any(found.rule == "TM504" for found in findings), damaged.gone
        tried += 1
    report.add("C6", f"{name} read", tried=tried)


READS = (("log",), ("log", "--all"), ("why", "fact.limits"))
OTHERS = (("search", "page rows"), ("list", "--ids"), ("show", "fact.limits"), ("status",))


@pytest.mark.parametrize("name", DAMAGES)
def test_commands_serve_intact_data_and_exit_with_6(
    name: str, store: tuple[str, str], server: Server
) -> None:
    base, root = store
    (path,) = shards(base)
    with open(path, "rb") as stream:
        lines = _lines(stream.read())
    dice, tally = random.Random(f"{name} again"), Tally()
    for _ in range(min(_share(name), points(4, 25))):
        damaged = DAMAGES[name](lines, dice)
        (target,) = shards(copy(base, root))
        with open(target, "wb") as stream:
            stream.write(damaged.data)
        unread = {damage.line for damage in parse_shard(path, damaged.data).damages}
        _expect(server, root, damaged, unread)
        # A writer keeps the damaged bytes.
        assert (
            call(
                server,
                root,
                ("events", "add", "--kind", "note", "--body", "on we go"),
                "2026-01-21T11:00:00Z",
            ).code
            == 0
        )
        with open(target, "rb") as stream:
            assert stream.read().startswith(damaged.data)
        tally.tried += 1
        tally.healed += 1
    report.add("C6", f"{name} served", **vars(tally))


def _expect(server: Server, root: str, damaged: Damaged, unread: set[int]) -> None:
    before = _documents(root)
    for words in READS:
        done = call(server, root, words, "2026-01-21T10:00:00Z")
        assert done.code == (6 if unread else 0), (words, done)
        assert ("unreadable line" in done.err) is bool(unread), (words, done)
        assert "Traceback" not in done.err
    listed = call(server, root, ("--json", "log", "--all", "-n", "999"), "2026-01-21T10:00:01Z")
    ids = {event["id"] for event in listed.json["events"]}
    for number, line in enumerate(damaged.data.replace(b"\r\n", b"\n").split(b"\n"), 1):
        if number not in unread and line.startswith(b'{"v":1') and _is_event(line):
            assert parse_line(line)["id"] in ids, line
    for words in OTHERS:
        done = call(server, root, words, "2026-01-21T10:00:02Z")
        assert done.code == 0, (words, done)
    verified = call(server, root, ("--json", "events", "verify"), "2026-01-21T10:00:03Z")
    reported = {finding["line"] for finding in verified.json["diagnostics"]}
    assert verified.code == int(bool(damaged.bad or damaged.gone)), verified
    assert unread <= reported
    assert _documents(root) == before


def _is_event(line: bytes) -> bool:
    try:
        return bool(parse_line(line)["kind"])
    except (ValueError, KeyError):
        return False


def _documents(root: str) -> dict[str, str]:
    found = {}
    for folder, _, names in os.walk(os.path.join(root, ".thunderus", "memory", "semantic")):
        for name in names:
            with open(os.path.join(folder, name), "rb") as stream:
                found[name] = normal_hash(stream.read())
    return found
