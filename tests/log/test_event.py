"""Events: canonical lines, strict reading, the content of patch events."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.events import make_event, note_event, patch_event
from thunderus_mem.log.event import (
    Change,
    changes_of,
    document_ids,
    hand_edit_id,
    is_hand_edit,
    private_to,
    undone_by,
)
from thunderus_mem.log.imported import is_imported
from thunderus_mem.log.line import KINDS, MAX_LINE, Event, decode, encode, line_hash
from thunderus_mem.log.new_event import MAX_RECORD

HASH = "sha256:" + "a" * 64
TS = "2026-01-21T09:00:00.000Z"
LINE = encode(note_event(id="evt_1", ts=TS, session_id="sess_1", actor="user", text="hello"))

json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**30), 10**30)
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
tables = st.dictionaries(
    st.text(st.characters(exclude_categories=["Cs"]), max_size=8), json_values, max_size=4
)
hashes = st.none() | st.text("0123456789abcdef", min_size=64, max_size=64).map("sha256:".__add__)
events = st.builds(
    Event,
    id=st.text("0123456789ABCDEFGHJKMNPQRSTVWXYZ", min_size=26, max_size=26).map("evt_".__add__),
    ts=st.datetimes().map(lambda moment: moment.strftime(f"{moment.year:04d}-%m-%dT%H:%M:%S.000Z")),
    session_id=st.just("sess_01"),
    actor=st.sampled_from(["user", "agent", "tool"]),
    kind=st.sampled_from(KINDS),
    refs=tables,
    body=tables,
    prev=hashes,
    head=hashes,
    origin=tables,
    extra=st.just({}),
    heads=st.just({}),
    raw=st.just(b""),
    chained=st.just(True),
    why=st.text(st.characters(exclude_categories=["Cs"])),
)


def change(**more: object) -> Change:
    return Change("create", "fact.a", "m/a.md", "", HASH, "+a\n")._replace(**more)  # type: ignore[arg-type]


def patch(changes: list[Change], **more: object) -> Event:
    settings_ = {"id": "evt_1", "patch_id": "patch_1", "ts": TS, "session_id": "sess_1", "actor": "user"}
    return patch_event(**({"op": "add", "changes": changes} | settings_ | more))  # type: ignore[arg-type]


@settings(deadline=None, max_examples=60, derandomize=True)
@given(events)
def test_event_round_trips_to_the_same_bytes(event: Event) -> None:
    line = encode(event)
    assert line.endswith(b"\n")
    assert line.count(b"\n") == 1
    assert decode(line) == event._replace(raw=line.rstrip(b"\n"))
    assert encode(decode(line)) == line


@settings(deadline=None, max_examples=100, derandomize=True)
@given(
    st.binary(max_size=200)
    | st.builds(
        lambda cut, junk: LINE[:cut] + junk + LINE[cut:], st.integers(0, len(LINE)), st.binary(max_size=8)
    )
)
def test_any_bytes_are_an_event_or_give_a_reason(data: bytes) -> None:
    try:
        event = decode(data)
    except ValueError:
        return
    assert event.raw == data.rstrip(b"\r\n")


def test_base_keys_come_first_in_fixed_order() -> None:
    data = json.loads(LINE)
    assert list(data)[:8] == ["v", "id", "ts", "session_id", "actor", "kind", "refs", "body"]
    assert data["v"] == 1
    assert data["prev"] is None


def test_keys_of_later_versions_are_kept() -> None:
    line = LINE[:-2] + b',"colour":"blue"}\n'
    assert decode(line).extra == {"colour": "blue"}
    assert encode(decode(line)) == line


def test_kind_of_a_later_version_is_read() -> None:
    assert decode(LINE.replace(b'"note"', b'"verdict"')).kind == "verdict"


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        (b'"v":1', b'"v":2', "newer version"),
        (b'"v":1', b'"v":true', "version number"),
        (b'"v":1,', b"", "version number"),
        (b"evt_1", b"event-1", "event id"),
        (b"evt_1", b"evt_" + b"1" * 200, "event id"),
        (b"sess_1", b"../../x", "session id"),
        (TS.encode(), b"yesterday", "RFC 3339"),
        (b'"user"', b'"nobody"', "actor"),
        (b'"note"', b'"No te"', "kind"),
        (b'"body":{"text":"hello"}', b'"body":[]', "body"),
        (b'"prev":null', b'"prev":"abc"', "line hash"),
        (b'"prev":null', b'"prev":null,"prev":null', "duplicate key"),
        (b'"hello"', b"NaN", "NaN"),
        (b'"hello"', b"1e999", "out of range"),
        (b'"hello"', b"1" * 5000, "digits"),
        (b'"hello"', b'"\\ud800"', "surrogate"),
        (b'"hello"', b'"\xff"', "UTF-8"),
        (b'"hello"', b'"' + b"x" * MAX_LINE + b'"', "bytes long"),
        (b'"hello"', b"[" * 40 + b"]" * 40, "nested"),
        (b'"hello"', b"[" * 100_000 + b"]" * 100_000, "nested"),
    ],
    ids=lambda value: value[:12].decode("latin-1") if isinstance(value, bytes) else None,
)
def test_malformed_line_is_rejected_with_a_reason(old: bytes, new: bytes, reason: str) -> None:
    assert old in LINE
    with pytest.raises(ValueError, match=reason):
        decode(LINE.replace(old, new, 1))


@pytest.mark.parametrize("data", [b"", b"[]", b"null", b'"x"', b"{", b"\xef\xbb\xbf{}", b"\0" * 50])
def test_non_objects_are_rejected(data: bytes) -> None:
    with pytest.raises(ValueError, match="JSON"):
        decode(data)


def test_hidden_characters_are_escaped() -> None:
    text = "a\u202eb\u200bc\U000e0041d\x7fe\x9bf"
    line = encode(note_event(id="evt_1", ts=TS, session_id="sess_1", actor="user", text=text))
    assert all(32 <= byte < 127 for byte in line[:-1])
    assert decode(line).body["text"] == text


def test_surrogates_from_a_shell_do_not_stop_a_write() -> None:
    line = encode(note_event(id="evt_1", ts=TS, session_id="sess_1", actor="user", text="a\udcffb"))
    assert decode(line).body["text"] == "a?b"


def test_floats_and_oversized_events_are_rejected_on_write() -> None:
    with pytest.raises(ValueError, match="floating"):
        encode(make_event("note", {"n": [1.5]}, id="evt_1", ts=TS, session_id="sess_1", actor="user"))
    with pytest.raises(ValueError, match="bytes long"):
        encode(
            make_event("note", {"n": "x" * MAX_LINE}, id="evt_1", ts=TS, session_id="sess_1", actor="user")
        )


def test_unknown_actor_kind_and_op_are_rejected() -> None:
    with pytest.raises(ValueError, match="actor"):
        make_event("note", {}, id="evt_1", ts=TS, session_id="sess_1", actor="cat")
    with pytest.raises(ValueError, match="kind of event"):
        make_event("purr", {}, id="evt_1", ts=TS, session_id="sess_1", actor="user")
    with pytest.raises(ValueError, match="kind of patch"):
        patch([change()], op="purr")


def test_line_hash_ignores_only_the_line_end() -> None:
    assert line_hash(LINE) == line_hash(LINE[:-1]) == line_hash(LINE[:-1] + b"\r\n")
    assert line_hash(LINE) != line_hash(LINE.replace(b"hello", b"hallo"))


def test_patch_event_names_paths_documents_and_patch_once() -> None:
    event = patch([change(), change(op="update", before=HASH)])
    assert event.refs == {"paths": ["m/a.md"], "patch_id": "patch_1", "memory_doc_ids": ["fact.a"]}
    assert changes_of(decode(encode(event))) == (change(), change(op="update", before=HASH))
    assert document_ids(event) == ("fact.a",)


def test_long_patch_omits_its_longest_diffs_and_keeps_hashes() -> None:
    diffs = ["+" + "x" * size for size in (30_000, 100, 31_000, 20_000)]
    event = patch([change(doc_id=f"fact.{n}", path=f"{n}.md", diff=diff) for n, diff in enumerate(diffs)])
    assert len(encode(event)) <= MAX_RECORD
    assert [one.diff_omitted for one in changes_of(event)] == [False, False, True, False]
    assert all(one.after == HASH for one in changes_of(event))


def test_malformed_changes_are_ignored() -> None:
    body = {"op": "add", "changes": [1, {"op": ["x"]}, {"op": "create", "before": None, "after": HASH}]}
    event = make_event("patch", body, id="evt_1", ts=TS, session_id="sess_1", actor="user")
    assert changes_of(event) == (Change("create", "", "", "", HASH),)
    assert changes_of(event._replace(kind="note")) == ()
    assert changes_of(event._replace(body={"changes": "x"})) == ()


def test_hand_edit_has_a_deterministic_unique_id() -> None:
    parts = ("fact.a", "a.md", "", HASH)
    one = hand_edit_id(*parts)
    assert one == hand_edit_id(*parts)
    assert len(one) == 30
    others = {hand_edit_id(*parts[:at], "other", *parts[at + 1 :]) for at in range(4)}
    assert len({one, *others}) == 5
    assert is_hand_edit(patch([change()], op="hand-edit"))
    assert not is_hand_edit(patch([change()]))
    assert not is_hand_edit(patch([change()], op="hand-edit")._replace(origin={"imported": True}))


def test_patch_of_many_documents_fits_the_limit() -> None:
    diffs = ["+" + "é\u202e\n+" * 300 for _ in range(1_500)]
    event = patch([change(doc_id=f"fact.{n}", path=f"{n}.md", diff=diff) for n, diff in enumerate(diffs)])
    assert len(encode(event)) <= MAX_LINE
    assert all(one.diff_omitted for one in changes_of(event))


def test_undo_names_the_events_it_reverts() -> None:
    event = patch([change()], op="undo", undoes=["evt_2", "evt_3"])
    assert undone_by(decode(encode(event))) == ("evt_2", "evt_3")
    assert list(event.body) == ["op", "undoes", "changes"]
    assert "undoes" not in patch([change()]).body
    assert undone_by(patch([change()])) == ()
    assert undone_by(decode(LINE)) == ()
    for damaged in ("evt_1", {"evt_1": 1}, [7, None]):
        assert undone_by(event._replace(body={"undoes": damaged})) == ()


def test_imported_patch_changes_nothing_here() -> None:
    own = patch([change()], op="undo", undoes=["evt_2"], private=["evt_3"])
    imported = own._replace(origin={"imported": True})
    assert (is_imported(own), is_imported(decode(encode(imported)))) == (False, True)
    assert (changes_of(own), undone_by(own), private_to(own)) == ((change(),), ("evt_2",), ("evt_3",))
    assert (changes_of(imported), undone_by(imported), private_to(imported)) == ((), (), ())
    for other in ("true", 1, None, False):
        assert not is_imported(own._replace(origin={"imported": other}))


@pytest.mark.parametrize("op", ["undo", "redo", "migrate", "resolve"])
def test_repair_operations_are_recognized(op: str) -> None:
    assert patch([change()], op=op).body["op"] == op


def test_unfinished_string_is_reported_with_one_at() -> None:
    with pytest.raises(ValueError, match=r"\(Unterminated string starting at column 8\)"):
        decode(b'{"id": "evt')
