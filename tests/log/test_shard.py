"""Shards as values: damage keeps its position, and a changed line breaks the chain."""

from __future__ import annotations

import json

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tests.support.events import note_event, patch_event
from thunderus_mem.diagnostic import Severity
from thunderus_mem.log.event import Change, hand_edit_id
from thunderus_mem.log.line import Event, decode, encode, line_hash
from thunderus_mem.log.shard import (
    Damage,
    GitVersion,
    LogCheck,
    ShardReading,
    broken_links,
    check_chain,
    check_growth,
    first_change,
    merge_readings,
    parse_shard,
)

PATH = ".thunderus/sessions/sess_1/events.jsonl"
HASH = "sha256:" + "a" * 64


def note(number: int, prev: bytes | None = None, **more: object) -> Event:
    event = note_event(
        id=f"evt_{number}",
        ts=f"2026-01-21T09:00:{number:02d}Z",
        session_id="sess_1",
        actor="user",
        text=f"note {number}",
        prev=None if prev is None else line_hash(prev),
    )
    return event._replace(**more)  # type: ignore[arg-type]


def chain(count: int) -> list[bytes]:
    lines: list[bytes] = []
    for number in range(count):
        lines.append(encode(note(number, lines[-1] if lines else None)))
    return lines


LINES = chain(5)


def together(*readings: ShardReading) -> list[tuple[str, str, Severity]]:
    """Findings that need all shards."""
    check = LogCheck()
    for reading in readings:
        check.take(reading, None)
    return [(one.path, one.rule, one.severity) for one in check.close(lambda: readings)]


def findings(lines: list[bytes], **options: object) -> list[tuple[str, str, int]]:
    reading = parse_shard(PATH, b"".join(lines))
    found = check_chain(reading, session_id="sess_1", **options)  # type: ignore[arg-type]
    return [(one.rule, str(one.severity), one.line) for one in found]


def test_intact_shard_is_read_in_order_without_findings() -> None:
    reading = parse_shard(PATH, b"".join(LINES))
    assert [logged.event.id for logged in reading.events] == [f"evt_{n}" for n in range(5)]
    assert [logged.line for logged in reading.events] == [1, 2, 3, 4, 5]
    assert reading.lines[-1] == (5, line_hash(LINES[-1]))
    assert (reading.torn, reading.damages) == (False, ())
    assert findings(LINES) == []


def test_empty_shard_is_valid() -> None:
    assert parse_shard(PATH, b"").lines == ()
    assert findings([]) == []


def test_blank_lines_repeats_and_line_ends_are_ignored() -> None:
    union = [LINES[0], b"\n", LINES[1], LINES[1], b"  \n", LINES[2], LINES[0], LINES[3], LINES[4]]
    assert findings(union) == []
    assert findings([line.replace(b"\n", b"\r\n") for line in LINES]) == []


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ([LINES[0], LINES[2], LINES[3], LINES[4]], [("TM504", "error", 2)]),
        (LINES[1:], [("TM504", "error", 1)]),
        ([LINES[0], LINES[2], LINES[1], *LINES[3:]], [("TM504", "error", n) for n in (2, 3, 4)]),
        ([LINES[0], LINES[1].replace(b"note 1", b"note x"), *LINES[2:]], [("TM504", "error", 3)]),
        ([LINES[0], LINES[1].replace(b'"body"', b'"dobY"'), *LINES[2:]], [("TM503", "error", 2)]),
        ([LINES[0], b"<<<<<<< HEAD\n", *LINES[1:]], [("TM507", "error", 2)]),
        ([*LINES[:4], LINES[4][:40]], [("TM505", "error", 5)]),
        ([*LINES[:4], LINES[4][:-1]], [("TM505", "note", 0)]),
        ([*LINES, b"\0" * 100], [("TM505", "error", 6)]),
        ([LINES[0].replace(b"sess_1", b"sess_2")], [("TM503", "error", 1)]),
        ([LINES[0].replace(b'"note"', b'"verdict"')], [("TM503", "note", 1)]),
    ],
    ids=["removed", "first-gone", "moved", "edited", "broken", "markers", "torn", "no-end", "nuls",
         "foreign-session", "later-kind"],
)  # fmt: skip
def test_damage_is_reported_at_its_line(lines: list[bytes], expected: list[tuple[str, str, int]]) -> None:
    assert findings(lines) == expected


def test_flipped_byte_is_detected_except_in_the_newest_line() -> None:
    data = b"".join(LINES)
    last = len(data) - len(LINES[-1])
    for at in range(0, last, 7):
        flipped = data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :]
        assert findings([flipped]), at


def test_torn_tail_keeps_earlier_events() -> None:
    data = b"".join(LINES)
    for cut in range(len(data) - len(LINES[-1]) + 1, len(data) - 1):
        reading = parse_shard(PATH, data[:cut])
        assert len(reading.events) == 4
        assert reading.torn


def test_complete_record_without_line_end_is_read() -> None:
    reading = parse_shard(PATH, b"".join(LINES)[:-1])
    assert len(reading.events) == 5
    assert reading.torn
    assert reading.damages == ()


UNCHAINED = [line.replace(b',"prev":null', b"") for line in (encode(note(n)) for n in range(3))]


def test_shard_without_any_prev_is_unchained_which_is_a_note() -> None:
    assert findings(UNCHAINED) == [("TM504", "note", 0)]
    assert findings(UNCHAINED[:1]) == [("TM504", "note", 0)]
    assert parse_shard(PATH, b"".join(UNCHAINED)).chained is False


def test_null_prev_on_any_line_makes_a_shard_chained() -> None:
    errors = [("TM504", "error", 2), ("TM504", "error", 3)]
    assert findings([LINES[0], *UNCHAINED[1:]]) == errors
    assert findings([encode(note(number)) for number in range(3)]) == errors
    assert findings([UNCHAINED[0], LINES[1], UNCHAINED[2]])[0] == ("TM504", "error", 2)


def test_shard_that_git_has_with_a_chain_stays_chained() -> None:
    stripped = b"".join(line.replace(b',"prev":null', b"") for line in UNCHAINED)
    chained = b"".join(encode(note(number)) for number in range(2))
    found = LogCheck().take(parse_shard(PATH, stripped), "sess_1", [GitVersion("HEAD", chained)])
    assert {(one.rule, one.severity) for one in found} == {("TM504", Severity.ERROR)}
    assert found[-1].message == "This line differs from HEAD"


def test_links_before_and_after_a_changed_line_are_known() -> None:
    edited = [LINES[0], LINES[1].replace(b"note 1", b"note x"), *LINES[2:]]
    (link,) = broken_links(parse_shard(PATH, b"".join(edited)))
    assert (link.before, link.line, link.expected) == (2, 3, line_hash(edited[1]))
    (link,) = broken_links(parse_shard(PATH, b"".join(LINES[1:])))
    assert (link.before, link.line, link.expected) == (0, 1, None)


@pytest.mark.parametrize(
    ("now", "line"),
    [
        (LINES, None),
        ([line.replace(b"\n", b"\r\n") for line in LINES], None),
        ([b"\n", *LINES], None),
        ([LINES[0], LINES[1], LINES[3]], 3),
        ([LINES[0].replace(b"note 0", b"other"), *LINES[1:]], 1),
        (LINES[:2], 0),
        ([], 0),
    ],
    ids=["grown", "crlf", "blank", "removed", "edited", "shorter", "empty"],
)
def test_shard_must_begin_with_what_git_has(now: list[bytes], line: int | None) -> None:
    reading = parse_shard(PATH, b"".join(now))
    assert first_change(reading, b"".join(LINES[:3])) == line
    found = list(check_growth(reading, GitVersion("HEAD", b"".join(LINES[:3]))))
    assert [one.line for one in found] == ([] if line is None else [line])


def shard_of(session_id: str) -> str:
    return f".thunderus/sessions/{session_id}/events.jsonl"


def log_of_shards(counts: list[int]) -> dict[str, list[bytes]]:
    """Shards by session, each naming the last line of the one before."""
    shards: dict[str, list[bytes]] = {}
    heads: dict[str, str] = {}
    for shard, count in enumerate(counts):
        session_id, lines = f"sess_{shard}", list[bytes]()
        for number in range(count):
            event = note(number, lines[-1] if lines else None, heads={} if lines else heads)
            lines.append(encode(event._replace(id=f"evt_{shard}_{number}", session_id=session_id)))
        heads = {session_id: line_hash(lines[-1])}
        shards[session_id] = lines
    return shards


def errors_of(shards: dict[str, bytes]) -> set[str]:
    check = LogCheck()
    readings = [parse_shard(shard_of(session_id), data) for session_id, data in shards.items()]
    found = [one for reading in readings for one in check.take(reading, reading.path.split("/")[-2])]
    found += check.close(lambda: readings)
    return {one.path for one in found if one.severity is Severity.ERROR}


@given(st.lists(st.integers(1, 3), min_size=2, max_size=4), st.data())
def test_every_change_before_the_newest_line_of_the_log_is_an_error(
    counts: list[int], data: st.DataObject
) -> None:
    lines = log_of_shards(counts)
    shards = {session_id: b"".join(one) for session_id, one in lines.items()}
    assert errors_of(shards) == set()
    session_id = data.draw(st.sampled_from(sorted(shards)))
    last = lines[session_id][-1:] if session_id == max(shards) else []
    before = lines[session_id][: len(lines[session_id]) - len(last)]
    assume(before)
    removed = b"".join([*before[:-1], *last])
    flipped = bytearray(shards[session_id])
    flipped[data.draw(st.integers(0, len(b"".join(before)) - 1))] ^= 1
    assert errors_of(shards | {session_id: data.draw(st.sampled_from([removed, bytes(flipped)]))})


def test_named_line_that_is_missing_is_an_error_at_its_shard() -> None:
    shards = log_of_shards([1, 1])
    forged = shards["sess_0"][0].replace(b"note 0", b"forged")
    check = LogCheck()
    readings = [parse_shard(shard_of("sess_0"), forged), parse_shard(shard_of("sess_1"), shards["sess_1"][0])]
    found = [one for reading in readings for one in check.take(reading, reading.path.split("/")[-2])]
    (error,) = [*found, *check.close(lambda: readings)]
    assert (error.path, error.severity, error.expected) == (
        shard_of("sess_0"), Severity.ERROR, line_hash(shards["sess_0"][0]),
    )  # fmt: skip
    assert f"{shard_of('sess_1')}:1" in error.message
    assert f"git checkout COMMIT -- {shard_of('sess_0')}" in error.hint


def test_missing_shard_is_a_note_at_the_line_that_names_it() -> None:
    named = {"sess_0": HASH, "sess_9": "sha256:" + "b" * 64}
    reading = parse_shard(shard_of("sess_1"), encode(note(1, session_id="sess_1", heads=named)))
    check = LogCheck()
    assert check.take(reading, "sess_1") == []
    (found,) = check.close(lambda: [reading])
    assert (found.rule, found.severity, found.path, found.line) == ("TM504", Severity.NOTE, reading.path, 1)
    assert found.message == "2 shards named here are missing, among them that of sess_0"


@pytest.mark.parametrize(
    "heads", [[], {"sess_1": 1}, {"sess_1": None}, {"other": HASH}, {"sess_1": "sha256:x"}]
)
def test_invalid_heads_are_refused(heads: object) -> None:
    line = encode(note(1)).replace(b'"prev"', b'"heads":' + json.dumps(heads).encode() + b',"prev"')
    with pytest.raises(ValueError, match=r'"heads"|line hash'):
        decode(line)


def test_shards_are_merged_by_time_across_offsets() -> None:
    late = encode(note(1, ts="2026-01-21T08:30:00-02:00"))
    early = encode(note(2, ts="2026-01-21T11:00:00.5+02:00"))
    joined = merge_readings([parse_shard("a", late), parse_shard("b", early)])
    assert [logged.event.id for logged in joined.events] == ["evt_2", "evt_1"]


def test_simultaneous_lines_keep_their_order_in_the_shard() -> None:
    moment = {"ts": "2026-01-21T09:00:00.000Z"}
    lines = b"".join(encode(note(number, **moment)) for number in (5, 3, 9))
    other = encode(note(4, session_id="sess_2", **moment))
    read = merge_readings([parse_shard(PATH, lines), parse_shard("other", other)])
    assert [logged.event.id for logged in read.events] == ["evt_4", "evt_5", "evt_3", "evt_9"]


def test_same_line_in_two_shards_counts_once() -> None:
    joined = merge_readings([parse_shard("a", LINES[0]), parse_shard("b", LINES[0])])
    assert len(joined.events) == 1
    assert joined.damages == ()


def test_id_with_two_contents_is_reported_and_the_first_is_used() -> None:
    readings = [parse_shard("a", LINES[0]), parse_shard("b", LINES[0].replace(b"note 0", b"other"))]
    joined = merge_readings(readings)
    assert [logged.shard for logged in joined.events] == ["a"]
    assert [(damage.shard, damage.line, damage.code) for damage in joined.damages] == [("b", 1, "TM503")]
    assert together(*readings) == [("b", "TM503", Severity.ERROR)]


def by_hand(edit: Change, **more: str) -> bytes:
    ids = {"id": hand_edit_id("fact.a", "a.md", "", HASH), "patch_id": "patch_1"}
    shared = {"ts": "2026-01-21T09:00:00Z", "actor": "user", "op": "hand-edit"}
    return encode(patch_event(**{**ids, **shared, "changes": [edit], **more}))  # type: ignore[arg-type]


def test_hand_edit_recorded_twice_counts_once() -> None:
    edit = Change("update", "fact.a", "a.md", "", HASH, "+a\n")
    omitted = edit._replace(diff=None, diff_omitted=True)
    readings = [
        parse_shard("a", by_hand(edit, ts="2026-01-21T10:00:00Z", session_id="sess_1")),
        parse_shard("b", by_hand(omitted, ts="2026-01-21T09:00:00Z", session_id="sess_2", actor="tool")),
    ]
    joined = merge_readings(readings)
    assert [logged.shard for logged in joined.events] == ["b"]
    assert joined.damages == ()
    assert together(*readings) == []


def test_id_of_two_changes_is_an_error() -> None:
    edit = Change("create", "fact.a", "a.md", "", HASH)
    readings = [
        parse_shard("a", by_hand(edit, session_id="sess_1")),
        parse_shard("b", by_hand(edit._replace(path="b.md"), session_id="sess_2")),
    ]
    assert together(*readings) == [("b", "TM503", Severity.ERROR)]


def test_unknown_head_is_a_note() -> None:
    known = parse_shard("a", LINES[0])
    good = parse_shard("b", encode(note(7, head=line_hash(LINES[0]))))
    lost = parse_shard("c", encode(note(8, head=HASH)))
    assert together(known, good) == []
    assert together(known, good, lost) == [("c", "TM504", Severity.NOTE)]


def test_damage_names_line_and_reason() -> None:
    reading = parse_shard(PATH, b"{\n")
    assert reading.damages[0].shard == PATH
    assert isinstance(reading.damages[0], Damage)
    assert reading.damages[0].message.startswith("Invalid event: not valid JSON")


def test_only_a_last_line_with_lost_blocks_is_torn() -> None:
    lost = b'{"v":1,\0\0\0\0}\n'
    assert [(one.line, one.code) for one in parse_shard(PATH, LINES[0] + lost).damages] == [(2, "TM505")]
    assert [(one.line, one.code) for one in parse_shard(PATH, lost + LINES[0]).damages] == [(1, "TM503")]
