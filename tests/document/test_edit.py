from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from tests.support.headers import KEYS, documents
from thunderus_mem.document.document import read_document
from thunderus_mem.document.frontmatter.edit import (
    insert_item,
    remove_item,
    remove_key,
    replace_body,
    set_key,
)
from thunderus_mem.document.frontmatter.nodes import Entry, Mapping, Scalar, Sequence, plain_data
from thunderus_mem.document.frontmatter.read import find_fences, read_header
from thunderus_mem.document.frontmatter.write import KEY_ORDER, compose
from thunderus_mem.errors import InvalidDocument

LAWS = settings(deadline=None, max_examples=50, derandomize=True)

texts = st.sampled_from(
    [
        "verified",
        "no",
        "a: b",
        "x #y",
        "",
        " lead",
        "012",
        "é",
        "it's",
        '"q"',
        "[z",
        "- d",
        "2026-01-21T09:00:00Z",
        "a\nb",
        "---",
        "\\",
        "#",
        "a,b",
        "~",
        "\u202e",
        "\x1b",
    ]
)
values = st.one_of(
    texts,
    st.integers(-5, 5),
    st.booleans(),
    st.none(),
    st.just(0.5),
    st.lists(texts, max_size=3),
    st.dictionaries(
        st.sampled_from(["status", "events", "z k"]), texts | st.lists(texts, max_size=2), max_size=2
    ),
)
paths = st.one_of(
    st.sampled_from([(key,) for key in (*KEYS, "updated", "aliases", "quoted key", "k", "author")]),
    st.tuples(st.sampled_from(KEYS), st.sampled_from([*KEYS, "status", "b", "o"])),
)


def root_of(text: str) -> Mapping:
    fences = find_fences(text)
    assert fences is not None
    root, problems = read_header(text[fences.start : fences.end])
    assert root is not None, (problems, text)
    return root


def reads(text: str) -> bool:
    fences = find_fences(text)
    return (
        fences is not None and fences.closed and read_header(text[fences.start : fences.end])[0] is not None
    )


def entry_at(root: Mapping, key: tuple[str, ...]) -> tuple[Entry | None, int]:
    """The entry at ``key``, or its deepest existing parent, and the length of that path."""
    found, depth, node = None, 0, root
    for name in key:
        for entry in node.entries:
            if entry.key.text == name:
                break
        else:
            return found, depth
        found, depth = entry, depth + 1
        if not isinstance(entry.value, Mapping):
            return found, depth
        node = entry.value
    return found, depth


def region(text: str, entry: Entry) -> tuple[int, int]:
    """Half-open range of file lines (from 0) that the entry covers."""
    fences = find_fences(text)
    assert fences is not None
    header = text[fences.start : fences.end]
    first = fences.line - 1 + entry.key.line - 1
    return first, fences.line - 1 + header.count("\n", 0, entry.value.end) + 1


def changed(old: str, new: str) -> tuple[int, int]:
    """The smallest range of old lines that differ from the new text."""
    before, after = old.split("\n"), new.split("\n")
    first = 0
    while first < min(len(before), len(after)) and before[first] == after[first]:
        first += 1
    last = 0
    while last < min(len(before), len(after)) - first and before[-1 - last] == after[-1 - last]:
        last += 1
    return first, len(before) - last


def holds(text: str, key: tuple[str, ...], value: Any) -> bool:
    data = plain_data(root_of(text))
    for name in key:
        data = data[name]
    return bool(data == value)


def nullish(node: object) -> bool:
    return isinstance(node, Scalar) and node.plain and node.text in ("", "~", "null", "Null", "NULL")


def settable(text: str, key: tuple[str, ...]) -> bool:
    """Whether every parent is a mapping, has no value, or is missing."""
    entry, depth = entry_at(root_of(text), key)
    return depth in (0, len(key)) or entry is None or isinstance(entry.value, Mapping) or nullish(entry.value)


def written(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: written(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [written(inner) for inner in value]
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    return value if isinstance(value, str) else repr(value)


@LAWS
@given(documents(), paths, values)
@example("---\na:\n- x\nb: |+\n  t\n\n\n---", ("c",), "v")
@example("---\na: [x,\n  y] # c\n---\n", ("a",), ["z"])
@example("---\r\nid: a # c\r\n---\r\n", ("id",), ["z"])
@example("---\nverification: {}\n---\n", ("verification", "status"), "verified")
@example("---\na: []#no\n---\n", ("a",), None)
@example("---\na: []#no\n---\n", ("a",), ["x"])
@example("---\nb:\n\n|+\n\n---\n", ("b",), "n: v")
@example("---\nlinks:   # later\nid: a\n---\n", ("links", "b"), ["x"])
def test_set_key_changes_only_the_lines_of_its_key(text: str, key: tuple[str, ...], value: Any) -> None:
    assume(reads(text))
    if not settable(text, key):
        with pytest.raises(InvalidDocument):
            set_key(text, key, value)
        return
    old_data = plain_data(root_of(text))
    entry, depth = entry_at(root_of(text), key)
    new = set_key(text, key, value)
    assert holds(new, key, written(value))
    first, last = changed(text, new)
    in_flow = root_of(text).flow or (
        entry is not None and isinstance(entry.value, Mapping) and entry.value.flow
    )
    if entry is not None:
        low, high = region(text, entry)
        assert low <= first
        assert last <= max(high, first)
    elif not in_flow:
        assert first >= last or not text[find_fences(text).start : find_fences(text).end]  # type: ignore[union-attr]
    rest = plain_data(root_of(new))
    for name, inner in old_data.items():
        assert name == key[0] or rest[name] == inner
    assert set_key(new, key, value) == new
    assert depth <= len(key)


@LAWS
@given(documents(), paths)
@example("---\na: {b: c}\n---\n", ("a", "b"))
@example("---\na: |+\n  t\nb: x\n\nc: y\n---\n", ("b",))
@example("---\na: |\n  t\nb: x\n   # about b\nc: y\n---\n", ("b",))
def test_remove_key_removes_only_its_lines(text: str, key: tuple[str, ...]) -> None:
    assume(reads(text))
    entry, depth = entry_at(root_of(text), key)
    new = remove_key(text, key)
    if entry is None or depth < len(key):
        assert new == text
        return
    found, now = entry_at(root_of(new), key)
    assert found is None or now < len(key)
    first, last = changed(text, new)
    low, high = region(text, entry)
    lines = text.split("\n")
    while high < len(lines) and (
        not lines[high].strip() or (lines[high].startswith(" ") and "#" in lines[high])
    ):
        high += 1
    assert low <= first
    assert last <= max(high, first)


@LAWS
@given(documents(), paths, texts)
@example("---\ntags:\n    - b   # keep\n    - d\n---\n", ("tags",), "c")
@example("---\ntags:\n# lead\n- b\n# about d\n- d\n---\n", ("tags",), "a")
@example("---\ntags: [b, d] # c\n---\n", ("tags",), "c")
@example("---\ntags:\n-\n-\n---\n", ("tags",), "c")
def test_insert_item_adds_one_line_in_place(text: str, key: tuple[str, ...], item: str) -> None:
    assume(reads(text))
    assume(settable(text, key))
    entry, depth = entry_at(root_of(text), key)
    node = entry.value if entry is not None and depth == len(key) else None
    if node is not None and not isinstance(node, Sequence) and not nullish(node):
        with pytest.raises(InvalidDocument):
            insert_item(text, key, item)
        return
    before = plain_data(node) if isinstance(node, Sequence) else []
    new = insert_item(text, key, item)
    data = plain_data(root_of(new))
    for name in key:
        data = data[name]
    assert sorted(map(repr, data)) == sorted(map(repr, before + ([] if item in before else [item])))
    if isinstance(node, Sequence) and node.items and not node.flow and item not in before:
        first, last = changed(text, new)
        assert first >= last
        assert new.count("\n") == text.count("\n") + 1
    if item not in before and before == sorted(map(str, before)):
        assert data == sorted(data)
    assert insert_item(new, key, item) == new
    again = remove_item(new, key, item)
    if item not in before:
        assert (plain_data(entry_at(root_of(again), key)[0].value) or []) == before  # type: ignore[union-attr]
        if isinstance(node, Sequence) and node.items and not node.flow:
            assert again == text


@LAWS
@given(documents(), st.sampled_from(["", "new\n", "\n# T\r\n\r\nx", "---\na: b\n---\n", "é"]))
def test_replace_body_keeps_the_header_bytes(text: str, body: str) -> None:
    assume(reads(text))
    new = replace_body(text, body)
    fences, old = find_fences(new), find_fences(text)
    assert fences is not None
    assert old is not None
    assert new[: old.body_start] == text[: old.body_start]
    assert new[fences.body_start :].replace("\r\n", "\n") == body.replace("\r\n", "\n")
    if text[: old.start].endswith("\r\n"):
        assert "\n" not in new[fences.body_start :].replace("\r\n", "")


headers_to_write = st.dictionaries(
    st.sampled_from([*KEYS, "verification", "zz"])
    | st.text(st.characters(exclude_categories=["Cs"]), max_size=6),
    st.recursive(
        st.text(st.characters(exclude_categories=["Cs"]))
        | texts
        | st.integers()
        | st.booleans()
        | st.none()
        | st.floats(allow_nan=False, allow_infinity=False),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=2),
        max_leaves=6,
    ),
    max_size=4,
)


@LAWS
@given(headers_to_write, st.text(st.characters(exclude_categories=["Cs"]), max_size=40))
def test_composed_text_round_trips(header: dict[str, Any], body: str) -> None:
    try:
        text = compose(header, body)
    except InvalidDocument:
        # NUL and nesting beyond the limits are all it refuses.
        assert (
            "\0" in repr(header).replace("\\x00", "\0") or "[[" in repr(header) or repr(header).count("{") > 3
        )
        return
    assert plain_data(root_of(text)) == written(header)
    fences = find_fences(text)
    assert fences is not None
    assert text[fences.body_start :].strip("\r\n") == body.strip("\r\n")
    assert replace_body(text, body)[fences.body_start :] == body.replace("\r\n", "\n")


@LAWS
@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=20) | texts)
def test_other_yaml_readers_agree_on_written_strings(value: str) -> None:
    import yaml

    assume("\0" not in value)
    text = compose({"k": value, "l": [value]}, "")
    assert yaml.safe_load(text.split("---\n")[1] if "---" not in value else text[4:-4]) == {
        "k": value,
        "l": [value],
    }


def test_compose_uses_the_fixed_order_and_quotes_ambiguous_values() -> None:
    header = {
        "verification": {"status": "unknown", "last_verified_commit": None},
        "provenance": {"commits": ["1234567", "abc1234", "12e4567"], "patches": [], "events": ["evt_1"]},
        "title": "Use: quotes",
        "updated": "2026-01-21T09:00:00Z",
        "own": "on",
        "tags": ["a b", "2fa", "yes"],
        "kind": "fact",
        "anchors": [{"symbol": "f", "path": ".ci/run"}],
        "id": "fact.a",
    }
    assert compose(header, "# T\n") == (
        '---\nid: fact.a\ntitle: "Use: quotes"\nkind: fact\ntags:\n  - a b\n  - "2fa"\n  - "yes"\n'
        'updated: "2026-01-21T09:00:00Z"\n'
        'provenance:\n  events:\n    - evt_1\n  patches: []\n  commits:\n    - "1234567"\n    - abc1234\n'
        '    - "12e4567"\nanchors:\n  - path: .ci/run\n    symbol: f\nverification:\n  last_verified_commit: null\n  status: unknown\nown: "on"\n---\n\n# T\n'  # noqa: E501
    )
    assert KEY_ORDER.index("tags") < KEY_ORDER.index("created") < KEY_ORDER.index("provenance")


HAND = """\ufeff---
# the id never changes
id: 'fact.a'   # quoted
title: >-
  A long
  title
kind:  fact
tags: # sorted
    - alpha  # first
    # about gamma
    - "gamma"
links:
- not a mapping
provenance: {events: [evt_1], patches: []}
verification:
  status: unknown
x-own: [ 1,2 ]
...
body
""".replace("\n", "\r\n")


def test_edit_keeps_all_other_bytes_of_a_hand_written_header() -> None:
    text = insert_item(HAND, ("tags",), "beta")
    assert text == HAND.replace("    - alpha  # first\r\n", "    - alpha  # first\r\n    - beta\r\n")
    text = set_key(HAND, ("title",), "Short")
    assert text == HAND.replace("title: >-\r\n  A long\r\n  title\r\n", "title: Short\r\n")
    text = set_key(HAND, ("verification", "status"), "verified")
    assert text == HAND.replace("status: unknown", "status: verified")
    text = set_key(HAND, ("verification", "last_verified_commit"), "1234567")
    assert text == HAND.replace("  status", '  last_verified_commit: "1234567"\r\n  status')
    text = insert_item(HAND, ("provenance", "patches"), "patch_1")
    assert text == HAND.replace("patches: []", "patches: [patch_1]")
    text = insert_item(HAND, ("provenance", "events"), "evt_0")
    assert text == HAND.replace("[evt_1]", "[evt_0, evt_1]")
    text = set_key(HAND, ("aliases",), ["z"])
    assert text == HAND.replace("kind:", "aliases:\r\n  - z\r\nkind:")
    assert remove_key(HAND, ("kind",)) == HAND.replace("kind:  fact\r\n", "")
    assert remove_item(HAND, ("tags",), "gamma") == HAND.replace('    - "gamma"\r\n', "")
    assert set_key(HAND, ("id",), "fact.a") == HAND


@pytest.mark.parametrize(
    "text", ["", "no header", "---\na: *x\n---\n", "---\na: 1\na: 2\n---\n", "---\na: 1\n"]
)
def test_invalid_header_is_never_rewritten(text: str) -> None:
    for edit in (
        lambda: set_key(text, ("a",), "b"),
        lambda: remove_key(text, ("a",)),
        lambda: insert_item(text, ("a",), "b"),
        lambda: remove_item(text, ("a",), "b"),
        lambda: replace_body(text, "b"),
    ):
        with pytest.raises(InvalidDocument) as caught:
            edit()
        assert caught.value.hint


def test_id_can_be_added_to_a_document_without_one() -> None:
    text = set_key("---\nstatus: accepted\n---\nbody", ("id",), "adr.x")
    assert text == "---\nid: adr.x\nstatus: accepted\n---\nbody"
    assert set_key("---\n---\n", ("id",), "adr.x") == "---\nid: adr.x\n---\n"


@pytest.mark.parametrize("value", [math.nan, math.inf, object(), b"x"])
def test_unsupported_values_are_rejected(value: Any) -> None:
    with pytest.raises(InvalidDocument):
        compose({"a": value}, "")


def test_edited_document_is_still_valid() -> None:
    text = compose({"id": "fact.a", "title": "T", "kind": "fact", "tags": ["x"]}, "Body.")
    text = set_key(text, ("links", "supersedes"), ["fact.b"])
    reading = read_document("a.md", text.encode())
    assert reading.document is not None
    assert [link.target for link in reading.document.links] == ["fact.b"]


@pytest.mark.parametrize(
    ("before", "value", "after"),
    [
        ("a: >-  # why\n  x\n  y\nb: 1\n", "new", "a: new  # why\nb: 1\n"),
        ("a: |2 # why\n   x\n  y\nb: 1\n", ["p"], "a: # why\n  - p\nb: 1\n"),
        ("a: |  # why\n", None, "a: null  # why\n"),
        ("a: |\n  # no comment\n  x\nb: 1\n", "new", "a: new\nb: 1\n"),
        ("a:\n  >+ # why\n  x\n\nb: 1\n", "new", "a:\n  new # why\nb: 1\n"),
        ("a:\n  > # why\n  x\n\nb: 1\n", {"c": "d"}, "a:\n  c: d\n\nb: 1\n"),
    ],
)
def test_comment_after_a_block_mark_is_kept(before: str, value: Any, after: str) -> None:
    assert set_key(f"---\n{before}---\n", ("a",), value) == f"---\n{after}---\n"


BROKEN_UP = "---\na: [\n    x, # of x\n    y  # of y\n  ] # of a\nb: 1\n---\n"


@pytest.mark.parametrize(
    ("item", "after"),
    [
        ("w", "a: [\n    w,\n    x, # of x\n    y  # of y\n  ] # of a\nb: 1\n"),
        ("x2", "a: [\n    x, # of x\n    x2,\n    y  # of y\n  ] # of a\nb: 1\n"),
        ("z", "a: [\n    x, # of x\n    y,  # of y\n    z\n  ] # of a\nb: 1\n"),
    ],
)
def test_flow_list_with_one_item_per_line_gets_a_line(item: str, after: str) -> None:
    assert insert_item(BROKEN_UP, ("a",), item) == f"---\n{after}---\n"
    assert insert_item(BROKEN_UP.replace("\n", "\r\n"), ("a",), item) == f"---\n{after}---\n".replace(
        "\n", "\r\n"
    )


@pytest.mark.parametrize(
    ("item", "after"),
    [
        ("x", "a: [\n    y  # of y\n  ] # of a\nb: 1\n"),
        ("y", "a: [\n    x, # of x\n  ] # of a\nb: 1\n"),
    ],
)
def test_item_on_its_own_line_is_removed_with_the_line(item: str, after: str) -> None:
    assert remove_item(BROKEN_UP, ("a",), item) == f"---\n{after}---\n"


@pytest.mark.parametrize("written", ["[" + "x, " * 1_100 + "y]", "\n" + "- x\n" * 900 + "- y"])
def test_thousand_equal_items_are_removed_at_once(written: str) -> None:
    text = remove_item(f"---\nt: {written}\n---\n", ("t",), "x")
    assert plain_data(root_of(text)) == {"t": ["y"]}
    text = remove_item(f"---\nt: {written.replace('y', 'x')}\n---\n", ("t",), "x")
    assert plain_data(root_of(text)) == {"t": []}


@pytest.mark.parametrize(
    ("before", "key", "after"),
    [
        ("a: {b: c, # of b\n    d: e}\n", ("a", "b"), "a: { # of b\n    d: e}\n"),
        ("a: {b: c, # of b\n    d: e}\n", ("a", "d"), "a: {b: c, # of b\n    }\n"),
        ("a: {b: c, # of b\n    d: e,}\n", ("a", "d"), "a: {b: c, # of b\n    }\n"),
        ("a: {\n    b: c, # of b\n    d: e\n  }\n", ("a", "d"), "a: {\n    b: c, # of b\n  }\n"),
        ("a: {b: c, d: e, f: g}\n", ("a", "d"), "a: {b: c, f: g}\n"),
        ("a: {b: c, d: e}\n", ("a", "d"), "a: {b: c}\n"),
        ("a: {b: c,}\n", ("a", "b"), "a: {}\n"),
    ],
)
def test_removing_a_flow_key_keeps_comments_of_its_neighbors(
    before: str, key: tuple[str, ...], after: str
) -> None:
    assert remove_key(f"---\n{before}---\n", key) == f"---\n{after}---\n"


def test_new_lines_have_the_line_ends_of_the_header() -> None:
    text = "---\nid: a\r\nb: c\r\n---\nbody\n"
    assert set_key(text, ("d",), "e") == "---\nid: a\r\nb: c\r\nd: e\r\n---\nbody\n"
    assert replace_body(text, "x\ny\n") == "---\nid: a\r\nb: c\r\n---\nx\ny\n"
