"""F5: no line of a log, whatever its bytes, hides another one, passes for an event, or is rewritten."""

from __future__ import annotations

import json
import os
import random
import time
from typing import TYPE_CHECKING, Any

import pytest
import report
import tier
from commands import FIRST, call
from pace import pace

from tests.support.events import note_event
from tests.support.verify_store import parse_line, shards
from thunderus_mem.log.line import encode, line_hash
from thunderus_mem.log.shard import check_chain, merge_readings, parse_shard

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.support.command_server import Server

SHARES = 4
SHARD = ".thunderus/sessions/sess_1/events.jsonl"
NOW = "2026-01-21T10:00:00Z"
SLOW = 0.5


def event(number: int, prev: bytes | None = None) -> bytes:
    """A good line."""
    return encode(
        note_event(
            id=f"evt_{number:06d}",
            ts=f"2026-01-21T09:{number // 60 % 60:02d}:{number % 60:02d}Z",
            session_id="sess_1",
            actor="user",
            text=f"note {number}: été 日本",
            prev=None if prev is None else line_hash(prev),
        )
    )


def _deep(dice: random.Random) -> bytes:
    depth = dice.choice((30, 33, 100, 5_000, 100_000))
    opening, closing = dice.choice((("[", "]"), ('{"a":', "}")))
    return _with("body", opening * depth + "1" + closing * dice.choice((depth, 0)))


def _with(key: str, written: str, number: int = 1) -> bytes:
    """A good line in which a key has a value as it is written here."""
    data = json.loads(event(number))
    data[key] = "@@"
    return json.dumps(data).replace('"@@"', written).encode("utf-8", "surrogatepass") + b"\n"


_ODD = (
    *("NaN", "Infinity", "-Infinity", "1e999", "-1e999", "1e-999", "1" * 100_000, "-" + "9" * 5_000, "0.1"),
    *(
        "01",
        "+1",
        ".5",
        "1.",
        "0x1F",
        "1_000",
        "true",
        "True",
        "null",
        "None",
        "undefined",
        "[]",
        "[1,]",
        "{}",
    ),
    *(
        "{,}",
        '{"a":1,"a":2}',
        '{"a":{"b":1,"b":2}}',
        "'x'",
        '"\\ud800"',
        '"\\udc00\\ud800"',
        '"\\x41"',
        '"\\u00"',
    ),
    *(
        '"\t"',
        '"a\rb"',
        '"\x00"',
        '"\x7f"',
        '"\ud800"',
        '"' + "x" * 5_000 + '"',
        '{"\\ud800":1}',
        "/* c */ 1",
    ),
)
_KEYS = (
    "v",
    "id",
    "ts",
    "session_id",
    "actor",
    "kind",
    "refs",
    "body",
    "why",
    "origin",
    "head",
    "prev",
    "new",
)
_BYTES = (
    b"\xff",
    b"\xc0\xaf",
    b"\xed\xa0\x80",
    b"\xef\xbb\xbf",
    b"\0",
    b"\x1b",
    b"\r",
    b"\x85",
    b"{",
    b'"',
    b",",
)


def _odd_value(dice: random.Random) -> bytes:
    return _with(dice.choice(_KEYS), dice.choice(_ODD))


def _changed_bytes(dice: random.Random) -> bytes:
    line = bytearray(event(1))
    for _ in range(dice.choice((1, 1, 2, 8))):
        at = dice.randrange(len(line) - 1)
        line[at : at + dice.randrange(3)] = dice.choice((*_BYTES, bytes([dice.randrange(256)])))
    return bytes(line).replace(b"\n", b" ").rstrip() + b"\n"


def _cut(dice: random.Random) -> bytes:
    line = event(1)
    return line[: dice.randrange(1, len(line) - 1)] + b"\n"


def _keys(dice: random.Random) -> bytes:
    """A key twice, or missing, or in front of the object a mark of byte order."""
    data = json.loads(event(1))
    how = dice.randrange(4)
    if how == 0:
        line = event(1)[:-2] + b',"id":"evt_other"}'
    elif how == 1:
        del data[dice.choice(("v", "id", "ts", "session_id", "actor", "kind"))]
        line = json.dumps(data).encode()
    elif how == 2:
        line = b"\xef\xbb\xbf" + event(1)[:-1]
    else:
        line = event(1)[:-1] * 2
    return line + b"\n"


def _foreign(dice: random.Random) -> bytes:
    texts = (
        "null",
        "[]",
        "1",
        '"x"',
        "{}",
        "<<<<<<< HEAD",
        "=======",
        ">>>>>>> topic",
        "not json",
        "\u2028",
        "{",
    )
    return dice.choice(texts).encode() + b"\n"


def _long(dice: random.Random) -> bytes:
    if dice.random() > 0.02:
        return _cut(dice)
    return _with("why", '"' + "x" * dice.choice((1 << 20, 10 << 20)) + '"')


MAKERS: tuple[Callable[[random.Random], bytes], ...] = (
    *(_odd_value, _odd_value, _odd_value, _changed_bytes, _changed_bytes, _changed_bytes, _cut, _keys),
    *(_foreign, _deep, _long),
)


def judged(line: bytes) -> dict[str, Any] | None:
    """What another reader of JSON makes of a line: an object, or nothing."""
    try:
        return parse_line(line)
    except (ValueError, RecursionError):
        return None


@pytest.mark.parametrize("share", range(SHARES))
def test_bad_line_is_reported_and_hides_no_other(share: int) -> None:
    count = tier.points(2_000, 20_000) // SHARES
    dice = random.Random(share + 1_000 * tier.NIGHT)
    slowest, taken = 0.0, 0
    for number in range(count):
        line = dice.choice(MAKERS)(dice)
        good = [event(2), event(3), event(4)]
        start = time.process_time()
        reading = parse_shard(SHARD, b"".join([good[0], line, *good[1:]]))
        findings = check_chain(reading, session_id="sess_1")
        merge_readings([reading])
        slowest = max(slowest, time.process_time() - start)
        ids = {logged.line: logged.event.id for logged in reading.events}
        assert {ids.get(at) for at in (1, 3, 4)} == {"evt_000002", "evt_000003", "evt_000004"}, line[:300]
        if 2 in ids:
            taken += 1
            assert judged(line) is not None, line[:300]
        elif line.strip(b" \t\r\n"):
            assert [damage.line for damage in reading.damages] == [2], line[:300]
            assert any(one.line == 2 and one.rule in ("TM503", "TM507") for one in findings), line[:300]
        assert number < 100 or taken < number // 2
    assert slowest < SLOW * pace()
    report.add("F5", f"share {share}", tried=count, slowest=slowest)


@pytest.mark.damaged
def test_bad_lines_are_kept_unchanged(tmp_path: Path, server: Server) -> None:
    root = str(tmp_path)
    for position, words in enumerate((("init",), *FIRST)):
        assert call(server, root, words, f"2026-01-21T09:00:{position:02d}Z").code == 0
    [shard] = shards(root)
    dice, tried = random.Random(5), tier.points(60, 400)
    with open(shard, "ab") as stream:
        stream.writelines(dice.choice(MAKERS)(dice) for _ in range(tried))
    with open(shard, "rb") as stream:
        before = stream.read()
    slowest = 0.0
    for words in (
        ("log",),
        ("events", "verify"),
        ("lint", "--format", "concise"),
        ("doctor",),
        ("events", "add", "--kind", "note", "--body", "On."),
        ("log",),
    ):
        start = time.monotonic()
        done = call(server, root, words, NOW)
        slowest = max(slowest, time.monotonic() - start)
        assert done.code in (0, 1, 6), (words, done.code, done.err)
        assert "Traceback" not in done.err, (words, done.err)
    assert "On." in done.out
    with open(shard, "rb") as stream:
        assert stream.read()[: len(before)] == before
    assert all(os.path.isfile(path) for path in shards(root))
    report.add("F5", "kept", tried=tried, slowest=slowest)
