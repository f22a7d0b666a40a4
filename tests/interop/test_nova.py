"""The contract of Nova: what its table keeps, what it refuses, and what it warns about."""

from __future__ import annotations

import hashlib
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from thunderus_mem.document.frontmatter.edit import set_key
from thunderus_mem.interop import nova
from thunderus_mem.interop.table import read_record, write_record
from thunderus_mem.interop.transfer import checked, values_of
from thunderus_mem.lint.rules.profiles import NOVA_CATEGORIES, NOVA_SOURCES
from thunderus_mem.log.new_event import Ids

if TYPE_CHECKING:
    from thunderus_mem.document.document import Document

FULL = {
    "category": "risk_rule",
    "run_id": "run_7",
    "agent": "tester",
    "source": "manual",
    "timestamp": "2026-02-22T10:30:00Z",
    "symbol": "BTCUSD",
    "timeframe": "15m",
    "market": "crypto",
    "tags": ["risk", "atr"],
}
NOW = "2026-03-01T00:00:00Z"


def stored(item: dict[str, Any]) -> Document:
    """The document of an item, as read from its text."""
    found = read_record(nova.CONTRACT, nova.record_of(item))
    return checked("x.md", nova.new_text(found, "fact.x", "0" * 64, Ids("evt_1", "patch_1"), NOW))


def test_fields_of_the_contract_have_keys_of_their_own() -> None:
    document = stored({"content": "# Keep stops wide\n\nUse 2 ATR.", "metadata": FULL})
    values = document.data()
    times = {"created": FULL["timestamp"], "updated": FULL["timestamp"]}
    named = {key: value for key, value in FULL.items() if key != "timestamp"}
    assert {key: values[key] for key in (*named, *times)} == {**named, **times}
    assert values["title"] == "Keep stops wide"
    assert nova.memory_of(document)["metadata"] == FULL


def test_id_is_the_given_one_or_the_md5_of_the_content() -> None:
    assert nova.memory_of(stored({"content": "x", "id": "A b/ü"}))["id"] == "A b/ü"
    expected = hashlib.md5(b" x\r\n", usedforsecurity=False).hexdigest()
    assert nova.memory_of(stored({"content": " x\r\n"}))["id"] == expected
    assert nova.memory_of(stored({"content": "x", "id": "why?"}))["id"] == "why?"
    text = stored({"content": "x"}).text.replace("imported_from: nova:", "imported_from: notes/")
    assert nova.memory_of(checked("x.md", text))["id"] == "fact.x"


_TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=12)
_SCALAR = (
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats(allow_nan=False, allow_infinity=False)
)
_VALUE = st.recursive(
    _SCALAR | _TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_TEXT, inner, max_size=3),
    max_leaves=5,
)
_KNOWN = st.sampled_from([*FULL, "title", "kind", "nova", "imported_from", "metadata", "merged"])
_METADATA = st.dictionaries(_KNOWN | _TEXT, _VALUE, max_size=5)


@settings(deadline=None, max_examples=60)
@given(metadata=_METADATA, known=st.sets(st.sampled_from(sorted(FULL))))
def test_metadata_round_trips(metadata: dict[str, Any], known: set[str]) -> None:
    """Every value of JSON, under any name; only a missing time is filled in."""
    item = {"content": "text", "metadata": {**metadata, **{name: FULL[name] for name in known}}}
    wanted = nova.record_of(item)["metadata"]
    found = nova.memory_of(stored(item))["metadata"]
    if wanted.get("timestamp") is None:
        assert found.pop("timestamp") == NOW
        wanted.pop("timestamp", None)
    assert found == wanted


@settings(deadline=None, max_examples=60)
@given(before=_METADATA, after=_METADATA, known=st.sets(st.sampled_from(sorted(FULL))))
def test_replaced_memory_is_as_if_it_were_new(
    before: dict[str, Any], after: dict[str, Any], known: set[str]
) -> None:
    old = stored({"content": "text", "id": "m", "metadata": {**FULL, **before}})
    item = {"content": "new text", "id": "m", "metadata": {**after, **{name: FULL[name] for name in known}}}
    found = read_record(nova.CONTRACT, nova.record_of(item))
    changed = checked("x.md", nova.changed_text(old, found, "0" * 64, NOW))
    assert nova.memory_of(changed) == nova.memory_of(stored(item))


@pytest.mark.parametrize(
    ("written", "mapped"),
    [
        ("2026-02-22T10:30:00Z", "2026-02-22T10:30:00Z"),
        ("2026-02-22T12:30:00.250+02:00", "2026-02-22T12:30:00.250+02:00"),
        ("2026-02-22T10:30:00", "2026-02-22T10:30:00Z"),
        ("2026-02-22", "2026-02-22T00:00:00Z"),
        ("last Tuesday", NOW),
    ],
)
def test_timestamp_is_kept_as_written_and_mapped(written: str, mapped: str) -> None:
    document = stored({"content": "x", "metadata": {**FULL, "timestamp": written}})
    assert (document.created, document.updated) == (mapped, mapped)
    assert nova.memory_of(document)["metadata"]["timestamp"] == written


def test_edited_time_replaces_the_one_that_was_written() -> None:
    text = stored({"content": "x", "metadata": {**FULL, "timestamp": "2026-02-22"}}).text
    edited = checked("x.md", set_key(text, ("updated",), "2026-05-01T00:00:00Z"))
    assert nova.memory_of(edited)["metadata"]["timestamp"] == "2026-05-01T00:00:00Z"


def test_default_tag_is_not_returned() -> None:
    document = stored({"content": "x", "metadata": {"category": "risk_rule"}})
    assert document.tags == ("imported",)
    assert "tags" not in nova.memory_of(document)["metadata"]


def test_dates_are_stored_as_text_and_internal_names_omitted() -> None:
    metadata = {
        "day": date(2026, 2, 3),
        "at": datetime(2026, 2, 3, tzinfo=UTC),
        "_seq": 4,
        "thunderus_mem": {"id": "x"},
    }
    found = nova.record_of({"content": "x", "metadata": metadata})["metadata"]
    assert found == {"day": "2026-02-03", "at": "2026-02-03T00:00:00+00:00"}


@pytest.mark.parametrize(
    ("item", "reason"),
    [
        ("text", "the item must be an object"),
        ({}, "`content`"),
        ({"content": " \n"}, "`content`"),
        ({"content": 7}, "`content`"),
        ({"content": "\ud800"}, "`content` is not valid Unicode"),
        ({"content": "x", "id": 7}, "`id` must be a string"),
        ({"content": "x", "id": "a\nb"}, "control characters"),
        ({"content": "x", "metadata": []}, "`metadata` must be an object"),
        (
            {"content": "x", "metadata": {"a": float("nan")}},
            "`metadata.a` is not a number that JSON can hold",
        ),
        ({"content": "x", "metadata": {"a": [float("inf")]}}, "`metadata.a` is not a number"),
        ({"content": "x", "metadata": {"a": {1}}}, "`metadata.a` is a set"),
        ({"content": "x", "metadata": {"a": "\udfff"}}, "not valid Unicode"),
    ],
)
def test_invalid_item_is_refused(item: Any, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        nova.record_of(item)


def test_complete_metadata_has_no_warnings() -> None:
    for category in NOVA_CATEGORIES:
        for source in NOVA_SOURCES:
            assert nova.warnings_of({**FULL, "category": category, "source": source}) == []


@pytest.mark.parametrize("name", nova.REQUIRED)
def test_missing_field_is_a_warning(name: str) -> None:
    given = {key: value for key, value in FULL.items() if key != name}
    assert nova.warnings_of(given) == [f"`metadata.{name}` is missing"]


@pytest.mark.parametrize(
    ("name", "value", "warning"),
    [
        ("category", "poem", "is not one of: strategy_spec, "),
        ("source", "rumour", "is not one of: url, file, manual, agent"),
        ("run_id", 5, "`metadata.run_id` is not a string"),
        ("symbol", ["a"], "`metadata.symbol` is not a string"),
        ("timestamp", "2026-02-22T10:30:00+02:00", "ISO 8601 time in UTC"),
        ("timestamp", "soon", "ISO 8601 time in UTC"),
        ("tags", "risk", "is not a list of strings"),
        ("tags", ["Risk"], "are not in lower case"),
    ],
)
def test_value_outside_of_the_contract_is_a_warning(name: str, value: object, warning: str) -> None:
    (found,) = nova.warnings_of({**FULL, name: value})
    assert warning in found


def test_body_keeps_its_line_ends_and_blank_lines() -> None:
    assert nova.memory_of(stored({"content": "\n\n  a\r\nb\n\n"}))["content"] == "\n\n  a\nb\n\n"


def test_memory_of_the_tools_is_known_to_an_import() -> None:
    """Both tables agree on a memory that keeps to the contract."""
    record = nova.record_of({"content": "x", "metadata": FULL})
    assert write_record(nova.TABLE, values_of(stored(record))).data["id"] == record["id"]
    assert nova.memory_of(stored(record)) == record
    exported = write_record(nova.TABLE, values_of(stored(record))).data["metadata"]
    assert {key: exported[key] for key in FULL} == FULL
