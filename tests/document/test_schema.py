"""The schemas: violations with their position, and the fast check that never contradicts them."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from thunderus_mem.document.schema import (
    DOCUMENT,
    EVENT,
    MANIFEST,
    SCHEMA_NAMES,
    check,
    is_valid_fast,
    load_schema,
    schema_text,
)
from thunderus_mem.document.templates import new_header
from thunderus_mem.recap.page import page_header

NOW = "2026-01-21T09:00:00Z"

EMPTY = {"events": [], "patches": [], "commits": []}
UNVERIFIED = {"last_verified_commit": None, "status": "unknown"}
FACT: dict[str, Any] = {
    "id": "fact.testing.llvm-cov",
    "title": "Testing",
    "kind": "fact",
    "tags": ["testing"],
    "created": "2026-01-21T09:00:00Z",
    "updated": "2026-01-31T09:00:00.5+02:00",
    "provenance": {"events": ["evt_12"], "patches": [], "commits": ["0a1b2c3"]},
    "verification": UNVERIFIED,
}
EVENT_LINE: dict[str, Any] = {
    "v": 1,
    "id": "evt_01J",
    "ts": "2026-01-21T09:00:00Z",
    "session_id": "sess_01J",
    "actor": "user",
    "kind": "patch",
    "refs": {"paths": ["a.md"], "patch_id": "patch_1", "memory_doc_ids": ["fact.a"]},
    "body": {
        "op": "add",
        "changes": [
            {
                "op": "create",
                "doc_id": "fact.a",
                "path": "a.md",
                "before": "",
                "after": "sha256:0",
                "diff": None,
                "diff_omitted": True,
                "mode": "600",
            }
        ],
    },
    "prev": None,
    "head": None,
    "origin": {"author": "A"},
    "why": "because",
}
MANIFEST_FILE: dict[str, Any] = {
    "version": 1,
    "generated_at": "2026-01-21T09:00:00Z",
    "docs": [
        {
            "path": ".thunderus/memory/semantic/FACTS/testing.md",
            "id": "fact.testing",
            "kind": "fact",
            "title": "Testing",
            "tags": ["testing"],
            "updated": "2026-01-21T09:00:00Z",
            "size_bytes": 412,
            "token_count_approx": 18,
            "provenance": EMPTY,
            "verification": UNVERIFIED,
        }
    ],
    "stats": {"total_docs": 1, "by_kind": {"fact": 1}, "total_tokens_approx": 18},
}


@pytest.mark.parametrize("name", SCHEMA_NAMES)
def test_each_schema_is_a_valid_2020_12_schema_with_an_id(name: str) -> None:
    schema = load_schema(name)
    Draft202012Validator.check_schema(schema)
    assert schema["$schema"].endswith("2020-12/schema")
    assert schema["$id"].startswith("urn:thunderus-mem:schema:")
    assert schema_text(name).endswith("}\n")
    for key, value in schema["properties"].items():
        assert value["title"], key
        assert value["description"], key


def test_ordinary_data_is_valid_for_both_checks() -> None:
    for fact in (FACT, {**FACT, "tags": []}):
        assert is_valid_fast(DOCUMENT, fact)
        assert check(DOCUMENT, fact) == []
    undo = {**EVENT_LINE, "body": {**EVENT_LINE["body"], "op": "undo", "undoes": ["evt_1"]}}
    for event in (EVENT_LINE, undo):
        assert is_valid_fast(EVENT, event)
        assert check(EVENT, event) == []
    assert is_valid_fast(MANIFEST, MANIFEST_FILE)
    assert check(MANIFEST, MANIFEST_FILE) == []


@pytest.mark.parametrize(
    "header",
    [
        new_header(
            "fact.a", "A", "fact", tags=["a"], now=NOW, event_id="evt_1", patch_id="patch_1", fields={}
        ),
        page_header("recap.a", "A", ["recap"], (NOW, NOW), ["evt_1"]),
    ],
    ids=["document", "recap"],
)
def test_new_document_has_only_required_keys(header: dict[str, Any]) -> None:
    assert check(DOCUMENT, header) == []
    for key, value in header.items():
        assert check(DOCUMENT, {other: header[other] for other in header if other != key}), key
        for inner in value if isinstance(value, dict) else ():
            assert check(DOCUMENT, {**header, key: {name: value[name] for name in value if name != inner}}), (
                inner
            )


def test_seed_event_and_optional_and_unknown_keys_are_valid() -> None:
    assert check(DOCUMENT, {**FACT, "owner": {"any": [1]}, "author": None, "session": {"id": "s"}}) == []
    seed = {**EVENT_LINE, "kind": "message", "refs": {}, "body": {}, "extra": 1}
    assert (
        check(
            EVENT,
            {key: seed[key] for key in ("v", "id", "ts", "session_id", "actor", "kind", "refs", "body")},
        )
        == []
    )


@pytest.mark.parametrize(
    ("change", "key", "said"),
    [
        ({"tags": "testing"}, "tags", "must be a list, not a single value"),
        ({"created": "2026-01-21"}, "created", "is not a valid time"),
        ({"updated": "2026-02-30T09:00:00Z"}, "updated", "2026-02-30"),
        ({"kind": "note"}, "kind", "cannot be 'note'"),
        ({"provenance": {"events": []}}, "provenance.patches", "is missing"),
        ({"provenance": None}, "provenance", "is empty"),
        (
            {"verification": {"last_verified_commit": "HEAD", "status": "stale"}},
            "verification.last_verified_commit",
            "HEAD",
        ),
        ({"links": {"superseeds": []}}, "links.superseeds", "Unknown key"),
        ({"credibility": 1.5}, "credibility", "1.5"),
        ({"sequence_number": 10**5000}, "sequence_number", ""),
    ],
)
def test_violation_has_its_key_and_value(change: dict[str, Any], key: str, said: str) -> None:
    found = check(DOCUMENT, {**FACT, **change})
    if key == "sequence_number":
        assert found == []
        return
    assert [one.key for one in found] == [key]
    assert said in found[0].message
    assert found[0].expected
    assert not is_valid_fast(DOCUMENT, {**FACT, **change})


def test_huge_numbers_are_reported_without_their_digits() -> None:
    found = check(DOCUMENT, {**FACT, "credibility": 10**5000})
    assert "very large number" in found[0].message


def test_missing_keys_of_events_and_manifest_are_reported() -> None:
    bare = {**EVENT_LINE, "refs": {}}
    assert [one.key for one in check(EVENT, bare)] == ["refs.patch_id"]
    assert [one.key for one in check(EVENT, {**EVENT_LINE, "ts": "now"})] == ["ts"]
    assert [one.key for one in check(MANIFEST, {"version": 1, "docs": []})] == ["generated_at"]


MINIMAL_MANIFEST: dict[str, Any] = {
    "version": 1,
    "generated_at": "2026-01-21T09:00:00Z",
    "docs": [
        {
            "path": ".thunderus/memory/semantic/FACTS/testing.md",
            "id": "fact.testing",
            "kind": "fact",
            "title": "Testing conventions",
            "tags": ["testing"],
            "updated": "2026-01-21T09:00:00Z",
            "provenance": {"events": ["evt_1"], "patches": ["patch_1"], "commits": ["0a1b2c3"]},
        }
    ],
}


def test_minimal_manifest_of_the_format_is_valid() -> None:
    assert check(MANIFEST, MINIMAL_MANIFEST) == []
    assert is_valid_fast(MANIFEST, MINIMAL_MANIFEST)


def test_optional_keys_of_a_manifest_are_checked() -> None:
    entry = {**MINIMAL_MANIFEST["docs"][0], "size_bytes": -1, "verification": {"status": "unknown"}}
    found = check(MANIFEST, {**MINIMAL_MANIFEST, "docs": [entry], "stats": {"total_docs": 1, "by_kind": {}}})
    assert [one.key for one in found] == [
        "docs.0.size_bytes",
        "docs.0.verification.last_verified_commit",
        "stats.total_tokens_approx",
    ]


def test_unknown_schema_is_a_key_error() -> None:
    with pytest.raises(KeyError):
        load_schema("nothing")


def test_fast_check_does_not_load_the_schema_library() -> None:
    code = (
        "import sys;  from thunderus_mem.document.schema import DOCUMENT, is_valid_fast; "
        f"assert is_valid_fast(DOCUMENT, {FACT!r}); assert 'jsonschema' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


ODD = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 3),
    st.floats(allow_nan=True),
    st.sampled_from(
        ["", " ", "a", "A b", "evt_1", "evt_", "2026-01-21T09:00:00Z", "2026-02-30T09:00:00Z", "0abc", "core"]
    ),
    st.text(max_size=5),
)
ODDER = st.one_of(
    ODD,
    st.lists(ODD, max_size=3),
    st.dictionaries(st.sampled_from(["path", "events", "status", "a"]), ODD, max_size=3),
)


def changed(base: dict[str, Any], keys: list[str]) -> st.SearchStrategy[dict[str, Any]]:
    dropped = st.sets(st.sampled_from(sorted(base)), max_size=1)
    return st.builds(
        lambda drop, extra: {**{k: v for k, v in base.items() if k not in drop}, **extra},
        dropped,
        st.dictionaries(st.sampled_from([*base, *keys, "other"]), ODDER, max_size=2),
    )


@settings(deadline=None, max_examples=300, derandomize=True)
@given(changed(FACT, sorted(load_schema(DOCUMENT)["properties"])))
def test_frontmatter_accepted_by_the_fast_check_is_valid(data: dict[str, Any]) -> None:
    if is_valid_fast(DOCUMENT, data):
        assert check(DOCUMENT, data) == []


@settings(deadline=None, max_examples=200, derandomize=True)
@given(
    changed(EVENT_LINE, []),
    st.dictionaries(st.sampled_from(["paths", "patch_id", "snapshot_id", "x"]), ODDER, max_size=2),
    st.dictionaries(st.sampled_from(["op", "undoes", "changes", "x"]), ODDER, max_size=2),
)
def test_event_accepted_by_the_fast_check_is_valid(
    data: dict[str, Any], refs: dict[str, Any], body: dict[str, Any]
) -> None:
    for key, more in (("refs", refs), ("body", body)):
        if isinstance(data.get(key), dict):
            data = {**data, key: {**data[key], **more}}
    if is_valid_fast(EVENT, data):
        assert check(EVENT, data) == []


@settings(deadline=None, max_examples=200, derandomize=True)
@given(changed(MANIFEST_FILE, []), changed(MANIFEST_FILE["docs"][0], []))
def test_manifest_accepted_by_the_fast_check_is_valid(data: dict[str, Any], entry: dict[str, Any]) -> None:
    data = {**data, "docs": [entry]} if isinstance(data.get("docs"), list) else data
    if is_valid_fast(MANIFEST, data):
        assert check(MANIFEST, data) == []
