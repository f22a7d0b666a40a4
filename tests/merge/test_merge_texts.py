"""Three-way merge of a document: laws over odd documents, then the result for each kind of key."""

from __future__ import annotations

import os
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from thunderus_mem.document.document import Document, read_document
from thunderus_mem.errors import InvalidDocument
from thunderus_mem.git.repository import GitProcess, find_executable
from thunderus_mem.merge.documents import Block, Merged, merge, parse, sides, two_way
from thunderus_mem.merge.resolve import merge_lines

LAWS = settings(deadline=None, max_examples=60, derandomize=True)
WITH_GIT = settings(deadline=None, max_examples=25, derandomize=True)


def by_git(base: str, ours: str, theirs: str, labels: tuple[str, str]) -> str:
    executable = find_executable(os.environ["PATH"])
    assert executable is not None
    return merge_lines(GitProcess(executable, "/", os.environ).run, base, ours, theirs, labels)


def whole(_base: str, ours: str, theirs: str, labels: tuple[str, str]) -> str:
    """The simplest merge of lines: all of ours against all of theirs."""
    return two_way(ours, theirs, labels)


def merged(base: str | None, ours: str, theirs: str) -> Merged:
    return merge(base, ours, theirs, by_git)


def document(text: str) -> Document:
    read = read_document("FACTS/a.md", text.encode()).document
    assert read is not None, text
    return read


WORDS = st.lists(st.sampled_from(["alpha", "beta", "gamma", "delta"]), max_size=4, unique=True)
TIMES = st.sampled_from(["2026-01-21T09:00:00Z", "2026-01-21T10:00:00+01:00", "2026-01-22T09:00:00Z", "now"])
ANCHORS = st.lists(
    st.sampled_from(["a.py", ("b.py", "run"), ("b.py", "stop"), ("c.py", "go")]), max_size=3, unique=True
)


def listed(key: str, items: list[Any], flow: bool, indent: str = "") -> list[str]:
    if flow or not items:
        return [f"{indent}{key}: [{', '.join(items)}]"]
    return [f"{indent}{key}:", *(f"{indent}  - {item}" for item in items)]


def anchored(items: list[Any]) -> list[str]:
    if not items:
        return []
    lines = ["anchors:"]
    for item in items:
        lines += (
            [f"  - {item}"] if isinstance(item, str) else [f"  - path: {item[0]}", f"    symbol: {item[1]}"]
        )
    return lines


@st.composite
def headers(draw: st.DrawFn) -> list[str]:
    """Lines of a header: required keys and some others, in one of several hands."""
    flow = draw(st.booleans())
    title = draw(st.sampled_from(["One", "'Two'", "One  # said so", '"Three: it"']))
    lines = ["id: fact.a", f"title: {title}", "kind: fact"]
    lines += listed("tags", draw(WORDS), flow)
    lines += draw(st.sampled_from([[], ["# a word on times"]]))
    lines += [f"created: {draw(TIMES)}", f"updated: {draw(TIMES)}"]
    lines += draw(
        st.sampled_from([[], ["author: me"], ["author: you"], ["credibility: 0.50"], ["credibility: 1"]])
    )
    lines += draw(
        st.sampled_from(
            [[], ["x-odd: [1, 2]"], ["x-odd:", "  deep: {a: 1}"], ["x-odd: |", "  text", "  more"]]
        )
    )
    lines += anchored(draw(ANCHORS))
    links = draw(WORDS)
    lines += ["links:", *listed("refers_to", links, flow, "  ")] if links else []
    lines += ["provenance:", *listed("events", draw(WORDS), flow, "  "), "  patches: []", "  commits: []"]
    lines += ["verification:", f"  last_verified_commit: {draw(st.sampled_from(['null', 'abcd', '1234']))}"]
    return [*lines, f"  status: {draw(st.sampled_from(['unknown', 'stale', 'verified']))}"]


LINES = st.lists(st.sampled_from(["one", "two", "three", "", "    code", "- item"]), max_size=9)


@st.composite
def texts(draw: st.DrawFn) -> str:
    eol = draw(st.sampled_from(["\n", "\n", "\r\n"]))
    mark = draw(st.sampled_from(["", "", "\ufeff"]))
    body = draw(LINES)
    end = eol if draw(st.booleans()) else ""
    return mark + eol.join(["---", *draw(headers()), "---", *body]) + end


@given(texts(), texts())
@LAWS
def test_change_of_one_side_is_the_result(base: str, changed: str) -> None:
    assert merge(base, changed, base, whole) == Merged(changed)
    assert merge(base, base, changed, whole) == Merged(changed)
    assert merge(base, changed, changed, whole) == Merged(changed)
    assert merge(None, changed, changed, whole) == Merged(changed)


@given(st.none() | texts(), texts(), texts())
@LAWS
def test_result_is_valid_when_the_header_is_resolved(base: str | None, ours: str, theirs: str) -> None:
    result = merge(base, ours, theirs, whole)
    both = sides(parse(result.text))
    assert {document(text).id for text in (both.ours, both.theirs)} == {"fact.a"}
    if all(left.key == "text" for left in result.left):
        assert document(result.text).id == "fact.a"
    if not result.left:
        assert result.text == both.ours == both.theirs


@given(st.none() | texts(), texts(), texts())
@LAWS
def test_merge_report_is_symmetric(base: str | None, ours: str, theirs: str) -> None:
    one, other = merge(base, ours, theirs, whole), merge(base, theirs, ours, whole)
    assert {left.key for left in one.left} == {left.key for left in other.left}
    assert {settled.key for settled in one.settled if settled.key != "comment"} == {
        settled.key for settled in other.settled if settled.key != "comment"
    }
    mine = as_set(document(sides(parse(one.text)).ours).data())
    others = as_set(document(sides(parse(other.text)).theirs).data())
    for key in ("created", "updated"):  # two ways to write one time
        mine.pop(key), others.pop(key)
    assert mine == others


def as_set(data: Any) -> Any:
    if isinstance(data, dict):
        return {key: as_set(value) for key, value in data.items()}
    return sorted(map(repr, data)) if isinstance(data, list) else data


@given(st.none() | texts(), texts(), texts())
@WITH_GIT
def test_no_line_of_either_side_is_lost(base: str | None, ours: str, theirs: str) -> None:
    result = merged(base, ours, theirs)
    known = set(body(base)) if base else set()
    assert (set(body(ours)) | set(body(theirs))) - known <= set(result.text.splitlines())
    both = sides(parse(result.text))
    kept = [document(both.ours), document(both.theirs)]
    for side in (ours, theirs):
        was = document(base) if base else None
        for key in ("tags", "events", "links"):
            new = set(getattr(document(side), key)) - set(getattr(was, key) if was else ())
            assert all(new <= set(getattr(one, key)) for one in kept), key


def body(text: str) -> list[str]:
    return document(text).body.splitlines()


@given(st.none() | texts(), texts(), texts())
@WITH_GIT
def test_merging_the_result_again_changes_nothing(base: str | None, ours: str, theirs: str) -> None:
    # Between markers a last line gets the line end it lacked.
    ours, theirs = (text if text.endswith("\n") else f"{text}\n" for text in (ours, theirs))
    first = merged(base, ours, theirs)
    both = sides(parse(first.text))
    again = merged(base, both.ours, both.theirs)
    assert again.text == first.text
    assert {left.key for left in again.left} == {left.key for left in first.left}


TEXT = """---
id: fact.a
title: A
kind: fact
tags:
  - one
  - two
created: 2026-01-21T09:00:00Z
updated: 2026-01-21T09:00:00Z
credibility: 0.90
anchors:
  - path: a.py
    symbol: run
links: {refers_to: [adr.b]}
metadata:
  owner: me
  note: x  # by hand
provenance:
  events: []
  patches: []
  commits: []
verification:
  last_verified_commit: null
  status: unknown
---
Text.
"""
UPDATED = "updated: 2026-01-21T09:00:00Z"
VERDICT = "last_verified_commit: null\n  status: unknown"


def verdict(commit: str, status: str) -> tuple[str, str]:
    return VERDICT, f"last_verified_commit: {commit}\n  status: {status}"


@pytest.mark.parametrize(
    ("ours", "theirs", "wanted", "how"),
    [
        (
            (UPDATED, "updated: 2026-01-21T12:00:00+02:00"),
            (UPDATED, 'updated: "2026-01-21T11:00:00Z"'),
            'updated: "2026-01-21T11:00:00Z"\n',
            ("updated", "the newer time (theirs)"),
        ),
        (
            ("created: 2026-01-21", "created: 2026-01-19"),
            ("created: 2026-01-21", "created: 2026-01-20"),
            "created: 2026-01-19T09:00:00Z\n",
            ("created", "the older time (ours)"),
        ),
        (
            ("  - one\n", "  - one\n  - three  # mine\n"),
            ("  - two\n", "  - zero\n"),
            "tags:\n  - one\n  - three  # mine\n  - zero\n",
            ("tags", "items from both sides (theirs added: zero; theirs removed: two)"),
        ),
        (
            ("  - two\n", ""),
            ("  - one\n", ""),
            "tags:\n  - one\n  - two\n",
            ("tags", "items from both sides (theirs added: two)"),
        ),
        (
            ("    symbol: run\n", "    symbol: run\n  - b.py\n"),
            ("  - path: a.py\n    symbol: run\n", "  - path: a.py\n    symbol: start\n"),
            "anchors:\n  - path: a.py\n    symbol: start\n  - b.py\n",
            ("anchors", "items from both sides (theirs added: a.py; theirs removed: a.py)"),
        ),
        (
            ("    symbol: run\n", "    symbol: run\n    fingerprint: one\n"),
            ("    symbol: run\n", "    symbol: run\n    fingerprint: two\n  - b.py\n"),
            "anchors:\n  - path: a.py\n    symbol: run\n    fingerprint: one\n  - b.py\n",
            ("anchors", "items from both sides (theirs added: b.py)"),
        ),
        (
            verdict("aaaa1111", "verified\n  by: user"),
            verdict("bbbb2222", "verified\n  by: agent"),
            "verification:\n  last_verified_commit: null\n  status: unknown\n---",
            ("verification", "unknown: both sides changed it; the less trusted status is used"),
        ),
        (
            ("Text.", "Words."),
            verdict("bbbb2222", "verified\n  by: agent"),
            "verification:\n  last_verified_commit: bbbb2222\n  status: verified\n  by: agent\n---",
            ("verification", "only theirs changed it"),
        ),
        (
            ("[adr.b]", "[adr.a, adr.b]"),
            ("{refers_to: [adr.b]}", "{refers_to: [adr.b, adr.c], supersedes: [adr.d]}"),
            "links: {supersedes: [adr.d], refers_to: [adr.a, adr.b, adr.c]}\n",
            ("links.refers_to", "items from both sides (theirs added: adr.c)"),
        ),
        (
            ("owner: me", "owner: you"),
            ("note: x  # by hand", "note: y  # by hand\n  more: 010"),
            "metadata:\n  owner: you\n  note: y  # by hand\n  more: 010\n",
            ("metadata.more", "only theirs changed it"),
        ),
        (
            ("credibility: 0.90", "credibility: 0.80"),
            ("credibility: 0.90\n", ""),
            "credibility: 0.80\n",
            ("credibility", "kept: ours changed it, theirs removed it"),
        ),
        (
            ("credibility: 0.90\n", ""),
            ("credibility: 0.90", "credibility: 0.80  # less"),
            "updated: 2026-01-21T09:00:00Z\ncredibility: 0.80  # less\n",
            ("credibility", "kept: theirs changed it, ours removed it"),
        ),
        (
            ("id: fact.a", "id: fact.b"),
            ("id: fact.a", "id: fact.c"),
            "id: fact.b\ntitle: A\naliases:\n  - fact.c\nkind: fact\ntags:\n  - one\n  - two\n",
            ("id", "ours; theirs, fact.c, is now an alias"),
        ),
        (
            verdict("abcd1234", "verified"),
            verdict("null", "stale"),
            "last_verified_commit: null\n  status: stale\n",
            ("verification", "stale: both sides changed it; the less trusted status is used"),
        ),
        (
            verdict("abcd1234", "verified"),
            verdict("1234abcd", "verified"),
            "last_verified_commit: null\n  status: unknown\n",
            ("verification", "unknown: both sides changed it; the less trusted status is used"),
        ),
        (
            verdict("abcd1234", "verified\n  committed: abcdef01"),
            verdict("1234abcd", "verified\n  committed: abcdef02"),
            "last_verified_commit: null\n  status: unknown\n---\n",
            ("verification", "unknown: both sides changed it; the less trusted status is used"),
        ),
        (
            ("status: unknown", "status: verified"),
            ("commit: null", "commit: abcd1234"),
            "last_verified_commit: abcd1234\n  status: unknown\n",
            ("verification", "unknown: both sides changed it; the less trusted status is used"),
        ),
    ],
)
def test_result_for_each_key(
    ours: tuple[str, str], theirs: tuple[str, str], wanted: str, how: tuple[str, str]
) -> None:
    mine, other = TEXT.replace(*ours), TEXT.replace(*theirs)
    assert TEXT not in (mine, other)
    result = merge(TEXT, mine, other, whole)
    assert result.left == ()
    assert wanted in result.text
    assert how in [tuple(one) for one in result.settled]


@pytest.mark.parametrize(
    ("ours", "theirs", "key"),
    [
        (("title: A", "title: B"), ("title: A", "title: 'C'  # so"), "title"),
        (("owner: me", "owner: you"), ("owner: me", "owner: them"), "metadata.owner"),
        (
            ("credibility: 0.90", "x-list: [1]\ncredibility: 0.90"),
            ("title: A", "title: A\nx-list: [2]"),
            "x-list",
        ),
        (("  - one\n  - two\n", " none\n"), ("  - one\n", ""), "tags"),
        ((UPDATED, "updated: soon"), (UPDATED, "updated: 2026-01-22T09:00:00Z"), "updated"),
    ],
)
def test_conflicting_keys_are_left(ours: tuple[str, str], theirs: tuple[str, str], key: str) -> None:
    mine, other = TEXT.replace(*ours), TEXT.replace(*theirs)
    result = merge(TEXT, mine, other, whole, ("HEAD", "topic"))
    assert [left.key for left in result.left] == [key]
    (block,) = [part for part in parse(result.text) if isinstance(part, Block)]
    assert block.labels == ("HEAD", "topic")
    assert block.ours.strip() in mine
    both = sides(parse(result.text))
    place = key.split(".")
    for text, side in ((both.ours, mine), (both.theirs, other)):
        now, was = document(text).data(), document(side).data()
        for name in place:
            now, was = now[name], was[name]
        assert now == was


def test_lost_comment_is_reported() -> None:
    mine = TEXT.replace("title: A", "title: A  # ours")
    other = TEXT.replace("title: A", "# what they say of it\ntitle: A").replace(
        "credibility: 0.90", "credibility: 1"
    )
    result = merge(TEXT, mine, other, whole)
    assert ("comment", "omitted from theirs: # what they say of it") in [tuple(one) for one in result.settled]
    assert "title: A  # ours\n" in result.text


def test_invalid_base_is_ignored() -> None:
    mine, other = TEXT.replace("  - one\n", ""), TEXT.replace("Text.", "Other.")
    result = merge("no document", mine, other, whole)
    assert document(sides(parse(result.text)).ours).tags == ("one", "two")


def test_invalid_side_is_an_error() -> None:
    with pytest.raises(InvalidDocument):
        merge(TEXT, TEXT.replace("title: A", "title: [A"), TEXT.replace("Text.", "Other."), whole)


def test_conflict_on_the_last_line_of_the_header() -> None:
    short = "---\nid: fact.a\ntitle: A\nkind: fact\n---"
    result = merge(
        short, short.replace("kind: fact", "kind: adr"), short.replace("kind: fact", "kind: core"), whole
    )
    assert result.text.endswith("<<<<<<< ours\nkind: adr\n=======\nkind: core\n>>>>>>> theirs\n---\n")
