"""Three texts of one document merged: laws over odd documents, then what each kind of key comes to."""

from __future__ import annotations

import os
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from thunderus_mem.model.conflict import parse, sides, two_way
from thunderus_mem.model.document import Document, read_document
from thunderus_mem.model.merge import Merged, merge
from thunderus_mem.store.git_merge import merge_lines
from thunderus_mem.store.git_process import GitProcess, find_executable

LAWS = settings(deadline=None, max_examples=60, derandomize=True)
WITH_GIT = settings(deadline=None, max_examples=25, derandomize=True)


def by_git(base: str, ours: str, theirs: str, labels: tuple[str, str]) -> str:
    executable = find_executable(os.environ["PATH"])
    assert executable is not None
    return merge_lines(GitProcess(executable, "/", os.environ), base, ours, theirs, labels)


def whole(_base: str, ours: str, theirs: str, labels: tuple[str, str]) -> str:
    """The clumsiest merge of lines there is: all of ours against all of theirs."""
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
def test_what_one_side_changed_is_the_merge(base: str, changed: str) -> None:
    assert merge(base, changed, base, whole) == Merged(changed)
    assert merge(base, base, changed, whole) == Merged(changed)
    assert merge(base, changed, changed, whole) == Merged(changed)
    assert merge(None, changed, changed, whole) == Merged(changed)


@given(st.none() | texts(), texts(), texts())
@LAWS
def test_the_result_reads_when_nothing_of_the_header_is_left(
    base: str | None, ours: str, theirs: str
) -> None:
    result = merge(base, ours, theirs, whole)
    both = sides(parse(result.text))
    assert {document(text).id for text in (both.ours, both.theirs)} == {"fact.a"}
    if all(left.key == "text" for left in result.left):
        assert document(result.text).id == "fact.a"
    if not result.left:
        assert result.text == both.ours == both.theirs


@given(st.none() | texts(), texts(), texts())
@LAWS
def test_both_orders_say_the_same(base: str | None, ours: str, theirs: str) -> None:
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
def test_merging_what_is_left_again_changes_nothing(base: str | None, ours: str, theirs: str) -> None:
    # Between markers a last line gets the line end it lacked.
    ours, theirs = (text if text.endswith("\n") else f"{text}\n" for text in (ours, theirs))
    first = merged(base, ours, theirs)
    both = sides(parse(first.text))
    again = merged(base, both.ours, both.theirs)
    assert again.text == first.text
    assert {left.key for left in again.left} == {left.key for left in first.left}
