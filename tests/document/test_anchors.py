"""Anchors as text and in frontmatter, globs, and edits of one item of a list."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from thunderus_mem.document.anchors import Anchor, anchors_in, parse_anchor, parse_lines
from thunderus_mem.document.document import read_document
from thunderus_mem.document.frontmatter.edit import insert_item, remove_item, update_item
from thunderus_mem.document.paths import fits, matching
from thunderus_mem.document.schema import check
from thunderus_mem.errors import InvalidDocument
from thunderus_mem.fingerprint.source import Fingerprint, parse_fingerprint

NAMES = st.from_regex(r"[a-z_][a-z0-9_]{0,8}", fullmatch=True)
PATHS = st.lists(NAMES, min_size=1, max_size=4).map(lambda names: "/".join(names) + ".py")
SPANS = st.tuples(st.integers(1, 900), st.integers(0, 90)).map(lambda pair: (pair[0], pair[0] + pair[1]))
ANCHORS = st.one_of(
    PATHS.map(Anchor),
    st.tuples(PATHS, st.lists(NAMES, min_size=1, max_size=3).map(".".join)).map(lambda pair: Anchor(*pair)),
    st.tuples(PATHS, SPANS).map(lambda pair: Anchor(pair[0], "", pair[1])),
)
HEAD = """---
id: fact.a
title: A title   # said once
kind: fact
tags: [one]
created: 2026-01-21T09:00:00Z
updated: 2026-01-21T09:00:00Z
{anchors}provenance: {{events: [], patches: [], commits: []}}
verification: {{last_verified_commit: null, status: unknown}}
---

Text.
"""


@settings(deadline=None)
@given(ANCHORS)
def test_anchor_round_trips(anchor: Anchor) -> None:
    assert parse_anchor(anchor.place) == anchor
    text = insert_item(HEAD.format(anchors=""), ("anchors",), anchor.item)
    assert [one.anchor for one in cited(text)] == [anchor]


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("./src//a.py#f", "src/a.py#f"),
        ("a/../b.py", "b.py"),
        ("b.py:L3", "b.py:L3"),
        ("b.py:3-3", "b.py:L3"),
        ("b.py#L3-L9", "b.py:L3-9"),
        ("b.py#Low", "b.py#Low"),
        (" src/ ", "src/"),
        ("a:b.py", "a:b.py"),
        ("C#/a.cs#M", "C#/a.cs#M"),
        ("a.c#limit(int, char *)", "a.c#limit(int, char *)"),
        ("a.cc#A::limit(std::map<int, int>)~2", "a.cc#A::limit(std::map<int, int>)~2"),
        ("a.py#limit~2", "a.py#limit~2"),
    ],
)
def test_place_forms(text: str, place: str) -> None:
    assert parse_anchor(text).place == place


@pytest.mark.parametrize(
    "text",
    ["", " ", "#f", "a.py#", "../a.py", "/etc/passwd", "a.py:9-3", "a\n.py", "x" * 2000, "..", "a/../.."],
)
def test_invalid_place_is_an_error_with_a_hint(text: str) -> None:
    with pytest.raises(InvalidDocument) as caught:
        parse_anchor(text)
    assert caught.value.hint


@given(st.text(max_size=60))
def test_any_text_is_a_place_or_an_error(text: str) -> None:
    try:
        anchor = parse_anchor(text)
    except InvalidDocument:
        return
    assert anchor.path
    assert not anchor.path.startswith("/")
    assert parse_lines(text) is None or anchor.path


def cited(text: str):
    document = read_document("a.md", text.encode()).document
    assert document is not None
    return anchors_in(document.header, document.header_line)


def test_anchors_of_every_form_are_parsed_with_their_lines() -> None:
    listed = """anchors:
  - src/a.py
  - src/a.py#f
  - {path: src/b.py, lines: 3-9}
  - path: src/c.py
    symbol: "C.m"
    fingerprint: python@0.51/1:00112233445566778899:-:7
    owner: nobody
  - [nonsense]
  - path: /etc/passwd
  - path: x.py
    lines: never
"""
    text = HEAD.format(anchors=listed)
    assert [(one.anchor.place, one.line) for one in cited(text)] == [
        ("src/a.py", 9),
        ("src/a.py#f", 10),
        ("src/b.py:L3-9", 11),
        ("src/c.py#C.m", 12),
    ]
    assert [one.anchor.place for one in cited(HEAD.format(anchors="anchors: a.py#f\n"))] == ["a.py#f"]
    assert cited(HEAD.format(anchors="anchors: null\n")) == ()
    assert cited(HEAD.format(anchors="anchors: []\n")) == ()


@settings(deadline=None, max_examples=30)
@given(st.lists(ANCHORS, min_size=1, max_size=5, unique_by=lambda one: one.place), st.data())
def test_only_the_edited_item_changes(anchors: list[Anchor], data: st.DataObject) -> None:
    text = HEAD.format(anchors="")
    for anchor in anchors:
        item: str | dict[str, str] = anchor.item if data.draw(st.booleans()) else anchor.place
        text = insert_item(text, ("anchors",), item)
    before = cited(text)
    chosen = data.draw(st.sampled_from(before))
    new = chosen.anchor._replace(fingerprint="lines@/1:00112233445566778899:-:7")
    after = update_item(text, ("anchors",), chosen.item, new.item)
    assert {one.anchor for one in cited(after)} == {new if one is chosen else one.anchor for one in before}
    kept = [line for line in text.splitlines() if line in after.splitlines()]
    lost = [line for line in text.splitlines() if line not in kept]
    assert len(lost) <= 1, "at most the line of an item written as one text"
    again = update_item(after, ("anchors",), new.item, new.item)
    assert again == after
    assert check("memory_doc.frontmatter", read_document("a.md", after.encode()).document.data()) == []
    for one in cited(after):
        after = remove_item(after, ("anchors",), one.item)
    assert cited(after) == ()


def test_edit_of_an_item_keeps_flow_style_and_comments() -> None:
    flow = HEAD.format(anchors="anchors: [{path: a.py, symbol: f}, b.py]  # two\n")
    item = cited(flow)[0].item
    after = update_item(
        flow, ("anchors",), item, {**item, "fingerprint": "lines@/1:00112233445566778899:-:7"}
    )
    assert "# two" in after
    assert [one.anchor.fingerprint[:5] for one in cited(after)] == ["lines", ""]
    block = HEAD.format(anchors="anchors:\r\n  # why\r\n  - path: a.py   # here\r\n    mine: yes\r\n")
    item = cited(block)[0].item
    after = update_item(block, ("anchors",), item, {**item, "path": "b.py"})
    assert after == block.replace("path: a.py ", "path: b.py ")


def test_globs() -> None:
    paths = ["a.py", "src/a.py", "src/deep/a.py", "src/deep/b.go"]
    assert matching("src/*.py", paths) == ["src/a.py"]
    assert matching("src/**", paths) == paths[1:]
    assert matching("src/", paths) == paths[1:]
    assert matching("**/a.py", paths) == paths[:3]
    assert matching("src/deep/?.[gp]*", paths) == paths[2:]
    assert not fits("*" * 2000, "a")
    assert Anchor("src/").is_glob
    assert not Anchor("src/a.py").is_glob


@given(
    st.builds(
        Fingerprint,
        st.sampled_from(["python", "text-ini", "lines", "files", "csharp"]),
        st.sampled_from(["0.51", "", "12345678"]),
        st.integers(0, 99),
        st.text("0123456789abcdef", min_size=20, max_size=20),
        st.one_of(st.just("-"), st.text("0123456789abcdef", min_size=20, max_size=20)),
        st.one_of(st.just(""), st.text("0123456789abcdef", min_size=8, max_size=8)),
        st.integers(0, 10**8),
    )
)
def test_fingerprint_round_trips(fingerprint: Fingerprint) -> None:
    assert parse_fingerprint(str(fingerprint)) == fingerprint
