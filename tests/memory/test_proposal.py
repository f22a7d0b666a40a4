"""The file of a proposal: equal values give equal bytes, and anything else is rejected."""

from __future__ import annotations

import json
import os
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.review_support import queue
from thunderus_mem.document.diff import whole_diff
from thunderus_mem.document.document import content_hash
from thunderus_mem.document.schema import PROPOSAL, check
from thunderus_mem.errors import InvalidDocument, NotFound, Refused, TooLarge
from thunderus_mem.memory.proposals import (
    MAX_PROPOSAL,
    OPS,
    InvalidProposal,
    Proposal,
    ProposedEdit,
    age,
    decode,
    encode,
    read,
    write,
)
from thunderus_mem.store.layout import Layout

if TYPE_CHECKING:
    from pathlib import Path

FACTS = ".thunderus/memory/semantic/FACTS"
ID = "patch_01KFFWGHHRHD99FDTGJ8YEPFZX"
TEXTS = st.text(alphabet=st.characters(codec="utf-8", exclude_categories=["Cs"]), max_size=80)
LINES = st.lists(st.sampled_from(["", "a", "b", "c ", "# d", "--- a/x", "+++ b/x", "@@ -1 +1 @@", "é\u2028"]))
BODIES = st.builds(lambda lines, end: "\n".join(lines) + end, LINES, st.sampled_from(["", "\n"]))


def proposal(*edits: ProposedEdit, **more: Any) -> Proposal:
    made = edits or (ProposedEdit.between(f"{FACTS}/a.md", "fact.a", "old\n", "new\n"),)
    given_ = {"actor": "user", "op": "edit", "why": "because", "targets": ("fact.a",), **more}
    return Proposal(id=ID, created="2026-01-21T09:00:00Z", edits=made, **given_)


@st.composite
def proposals(draw: st.DrawFn) -> Proposal:
    names = draw(st.lists(st.sampled_from("abcdef"), min_size=1, max_size=4, unique=True))
    edits = []
    for name in names:
        before, after = draw(st.none() | BODIES), draw(st.none() | BODIES)
        if before is None and after is None:
            before = "one\n"
        edits.append(ProposedEdit.between(f"{FACTS}/{name}.md", f"fact.{name}", before, after))
    return Proposal(
        id=ID,
        created="2026-01-21T09:00:00Z",
        actor=draw(st.sampled_from(["user", "agent"])),
        op=draw(st.sampled_from(OPS)),
        why=draw(TEXTS),
        targets=(*(edit.doc_id for edit in edits), *draw(st.lists(TEXTS, max_size=3))),
        edits=tuple(edits),
        origin=draw(st.dictionaries(TEXTS, TEXTS, max_size=2)),
        rule="duplicates",
        action="merge",
        label="possible contradiction",
        evidence=tuple(draw(st.lists(TEXTS, max_size=3))),
        key="0" * 32,
        texts=tuple((name, "0" * 8) for name in names),
    )


@settings(deadline=None)
@given(proposals())
def test_proposal_round_trips_and_matches_the_schema(one: Proposal) -> None:
    data = encode(one)
    assert decode(data) == one
    assert encode(decode(data)) == data
    assert check(PROPOSAL, json.loads(data)) == []
    assert data.endswith(b"}\n")
    assert b"\xe2\x80\xa8" not in data  # nothing hides in a line


@settings(deadline=None)
@given(BODIES, BODIES, st.sampled_from(["\n", "\r\n"]))
def test_edit_applies_with_the_line_ends_of_the_file(before: str, after: str, eol: str) -> None:
    edit = ProposedEdit.between("a.md", "fact.a", before, after)
    now = before.replace("\n", eol)
    made = edit.text_after(now)
    assert made is not None
    assert content_hash(made) == content_hash(after)
    if before == after:
        assert made == now


@settings(deadline=None, max_examples=20)
@given(BODIES, BODIES)
def test_edit_of_any_length_applies(before: str, after: str) -> None:
    long = "".join(f"line {number}\n" for number in range(4_000))
    edit = ProposedEdit.between("a.md", "fact.a", before + long, long.replace("line", "row") + after)
    assert edit.text_after(before + long) == long.replace("line", "row") + after
    assert whole_diff(before, before, "a.md") == ""


@settings(deadline=None)
@given(st.binary(max_size=200))
def test_any_bytes_are_a_proposal_or_give_a_reason(data: bytes) -> None:
    with pytest.raises(InvalidProposal) as raised:
        decode(data)
    assert raised.value.reason
    assert raised.value.fix


def changed(**keys: Any) -> bytes:
    return json.dumps({**json.loads(encode(proposal())), **keys}).encode()


def edit_data(**keys: Any) -> list[dict[str, Any]]:
    return [{**json.loads(encode(proposal()))["edits"][0], **keys}]


NEW = {"before": "", "after": content_hash("x\n")}


@pytest.mark.parametrize(
    ("data", "key", "reason"),
    [
        (b"", "", "not valid JSON"),
        (b"[]", "", "not a JSON object"),
        (b"<<<<<<< HEAD\n", "", "not valid JSON"),
        (b'{"v": 1, "v": 1}', "", "duplicate key"),
        (b'{"v": 2}', "v", "newer format version"),
        (b'{"v": true}', "id", "is missing"),
        (changed(v=0), "v", "must be 1"),
        (changed(lable=""), "lable", "unknown key"),
        (changed(id="patch_1"), "id", "is not a patch id"),
        (changed(id="patch_../../../x"), "id", "is not a patch id"),
        (changed(created="yesterday"), "created", "RFC 3339"),
        (changed(actor="root"), "actor", "one of user"),
        (changed(op="undo"), "op", "one of add"),
        (changed(label="x" * 121), "label", "at most 120"),
        (changed(label="a\nb"), "label", "visible"),
        (changed(why=7), "why", "must be a string"),
        (changed(evidence="x"), "evidence", "must be a list"),
        (changed(evidence=[1]), "evidence", "list of strings"),
        (changed(origin={"a": 1}), "origin", "object of strings"),
        (changed(texts=["x"]), "texts[0]", "must be an object"),
        (changed(targets=[]), "edits[0].doc_id", "'fact.a' is not one of the targets"),
        (changed(targets=["fact.b"]), "edits[0].doc_id", "'fact.a' is not one of the targets"),
        (changed(targets=["fact.a", "x" * 9_999]), "targets[1]", "no edit changes 'xxx"),
        (changed(edits=[]), "edits", "is empty"),
        (changed(edits=edit_data(path="")), "edits[0].path", "is empty"),
        (changed(edits=edit_data(before="md5:1")), "edits[0].before", "is not a content hash"),
        (changed(edits=edit_data(before="", after="")), "edits[0]", "neither"),
        (changed(edits=edit_data(renames="yes")), "edits[0].renames", "true or false"),
        (changed(edits=edit_data(renames=True)), "edits", "two edits"),
        (changed(edits=edit_data() * 2), "edits[1].path", "duplicate path"),
        (changed(edits=edit_data(diff=["a\nb"])), "edits[0].diff", "without line ends"),
        (changed(edits=edit_data(diff=["@@ -0,0 +1 @@", "+y"], **NEW)), "edits[0].diff", "does not give"),
    ],
)
def test_invalid_value_is_reported_with_its_key(data: bytes, key: str, reason: str) -> None:
    with pytest.raises(InvalidProposal) as raised:
        decode(data)
    assert raised.value.key == key
    assert reason in raised.value.reason


def test_misspelled_key_gets_a_suggestion() -> None:
    with pytest.raises(InvalidProposal) as raised:
        decode(changed(lable=""))
    assert raised.value.fix == 'rename it to "label", or remove it'


def test_edit_does_not_apply_to_another_text() -> None:
    edit = ProposedEdit.between("a.md", "fact.a", "one\ntwo\n", "one\n2\n")
    with pytest.raises(InvalidProposal, match="does not give"):
        edit.text_after("one\nthree\n")
    with pytest.raises(InvalidProposal, match="does not give"):
        edit._replace(after=content_hash("else\n")).text_after("one\ntwo\n")


def store(root: Path) -> Layout:
    (root / ".thunderus" / "patches").mkdir(parents=True)
    return Layout(str(root))


@pytest.mark.parametrize(
    "path",
    [
        "../../etc/passwd",
        ".git/hooks/pre-commit",
        ".thunderus/config.toml",
        ".thunderus/sessions/x/events.jsonl",
        f"{FACTS}/../../../config.toml",
        f"{FACTS}/a.md:stream",
        "/etc/passwd.md",
        f"{FACTS}/.hidden.md",
    ],
)
def test_proposal_can_change_only_documents(path: str, tmp_path: Path) -> None:
    layout = store(tmp_path)
    bad = proposal(ProposedEdit.between(path, "fact.a", None, "new\n"))
    (tmp_path / ".thunderus" / "patches" / f"{ID}.json").write_bytes(encode(bad))
    found = queue(layout)
    assert found.waiting == ()
    assert [(one.key, "is not the path of a document" in one.reason) for one in found.bad] == [
        ("edits[0].path", True)
    ]
    with pytest.raises(InvalidDocument, match="is not the path of a document"):
        read(layout, f".thunderus/patches/{ID}.json")


def test_queue_reads_proposals_and_reports_invalid_files(tmp_path: Path) -> None:
    layout = store(tmp_path)
    folder = tmp_path / ".thunderus" / "patches"
    assert queue(Layout(str(tmp_path / "nowhere"))).waiting == ()
    path = write(layout, proposal())
    (folder / "notes.txt").write_text("x")
    (folder / f"{ID[:-1]}0.json").write_bytes(encode(proposal()))
    (folder / f"{ID[:-1]}1.json").write_bytes(b"{" * 100_000)
    os.symlink("/etc/passwd", folder / f"{ID[:-1]}2.json")
    (folder / f"{ID[:-1]}3.json").mkdir()
    with open(folder / f"{ID[:-1]}4.json", "wb") as stream:
        stream.truncate(MAX_PROPOSAL + 1)
    found = queue(layout)
    assert [one.path for one in found.waiting] == [path]
    assert len(found.bad) == 6
    assert all(one.reason and one.fix for one in found.bad)
    by_name = {one.path[-6:-5]: one for one in found.bad}
    assert by_name["0"].key == "id"
    assert "root:" not in repr(found)


def test_edit_without_a_document_is_invalid(tmp_path: Path) -> None:
    layout = store(tmp_path)
    nameless = proposal(ProposedEdit.between(f"{FACTS}/a.md", "", "old\n", None), targets=())
    write(layout, nameless)
    (bad,) = queue(layout).bad
    assert (bad.key, bad.reason) == ("edits[0].doc_id", "is empty")


def test_unreadable_file_is_reported_with_its_path_in_the_store(tmp_path: Path) -> None:
    layout = store(tmp_path)
    path = f".thunderus/patches/{ID}.json"
    with open(tmp_path / path, "wb") as stream:
        stream.truncate(MAX_PROPOSAL + 1)
    (bad,) = queue(layout).bad
    assert (bad.path, bad.reason) == (path, "is larger than 4,194,304 bytes")
    with pytest.raises(TooLarge) as raised:
        read(layout, path)
    assert str(raised.value) == f"{path} is larger than 4,194,304 bytes"
    os.unlink(tmp_path / path)
    os.mkfifo(tmp_path / path)
    (bad,) = queue(layout).bad
    assert (bad.path, bad.reason) == (path, "is not a regular file")


def test_proposal_with_a_secret_is_neither_written_nor_read(tmp_path: Path) -> None:
    layout = store(tmp_path)
    token = "gh" + "p_" + "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8"
    one = proposal(ProposedEdit.between(f"{FACTS}/a.md", "fact.a", None, f"{token}\n"))
    with pytest.raises(Refused, match="secret"):
        write(layout, one)
    assert queue(layout) == ((), ())
    (tmp_path / ".thunderus" / "patches" / f"{ID}.json").write_bytes(encode(one))
    (bad,) = queue(layout).bad
    assert "secret" in bad.reason
    assert token not in bad.reason
    with pytest.raises(NotFound):
        read(layout, f".thunderus/patches/{ID[:-1]}9.json")


def test_oversized_proposal_is_rejected(tmp_path: Path) -> None:
    long = "".join(f"a line of words, number {number}\n" for number in range(200_000))
    with pytest.raises(Refused, match="bytes long"):
        write(store(tmp_path), proposal(ProposedEdit.between(f"{FACTS}/a.md", "fact.a", None, long)))


def test_proposal_name_contains_its_age() -> None:
    path = f".thunderus/patches/{ID}.json"
    assert age(path, datetime(2026, 1, 21, 9, 0, 0, tzinfo=UTC)) == 0
    assert age(path, datetime(2026, 2, 20, 10, tzinfo=UTC)) == 30
    assert age(path, datetime(2020, 1, 1, tzinfo=UTC)) == 0
    assert age(".thunderus/patches/notes.txt", datetime(2026, 2, 20, tzinfo=UTC)) is None
