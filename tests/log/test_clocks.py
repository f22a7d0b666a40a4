"""Clocks that go back, stop, or are ten years ahead: order, ids and documents stay correct."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from typing import TYPE_CHECKING

import pytest

from thunderus_mem.authoring.add import NewDocument, add
from thunderus_mem.authoring.edit import DocumentEdits, edit
from thunderus_mem.authoring.show import show
from thunderus_mem.document.timestamp import utc_key
from thunderus_mem.lint.lint import lint
from thunderus_mem.memory.memory import Memory, open_memory

if TYPE_CHECKING:
    from pathlib import Path

NOON = datetime(2026, 3, 29, 12, tzinfo=UTC)


@pytest.fixture
def store(tmp_path: Path) -> Path:
    (tmp_path / ".thunderus").mkdir()
    return tmp_path


def at(store: Path, moment: datetime) -> Memory:
    return open_memory(str(store), now=lambda: moment)


@pytest.mark.parametrize(
    "later",
    [
        NOON - timedelta(days=1),
        NOON - timedelta(seconds=1),
        datetime(1970, 1, 1, tzinfo=UTC),
        NOON.astimezone(timezone(timedelta(hours=-12))) - timedelta(hours=1),
    ],
    ids=["a day back", "a second back", "1970", "odd zone"],
)
def test_edit_with_a_clock_set_back_is_recorded(store: Path, later: datetime) -> None:
    add(at(store, NOON), NewDocument("fact", "Limits", body="A page holds one hundred rows.", tags=["net"]))
    memory = at(store, later)
    assert edit(memory, "fact.limits", DocumentEdits(body="A page holds fifty rows.")).changed
    found = show(memory, "fact.limits")
    assert "fifty" in found.body
    assert utc_key(found.updated) >= utc_key(found.created)
    assert [one for one in lint(memory).diagnostics if one.rule == "TM109"] == []


def test_edit_ten_years_later_changes_updated(store: Path) -> None:
    add(at(store, NOON), NewDocument("fact", "Limits", body="A page holds one hundred rows.", tags=["net"]))
    far = NOON.replace(year=2036)
    edit(at(store, far), "fact.limits", DocumentEdits(body="A page holds fifty rows."))
    assert utc_key(show(at(store, NOON), "fact.limits").updated) == utc_key("2036-03-29T12:00:00Z")


def test_ids_without_a_clock_are_random(store: Path) -> None:
    """Some computers start at 1970 after each boot."""
    begun = datetime(1970, 1, 1, tzinfo=UTC)
    ids = {at(store, begun).new_id("evt") for _ in range(20)}
    assert len(ids) == 20


@pytest.mark.parametrize(
    ("written", "key"),
    [
        ("2026-01-02T03:04:05Z", "2026-01-02T03:04:05.000000Z"),
        ("2026-01-02t03:04:05z", "2026-01-02T03:04:05.000000Z"),
        ("2026-01-02T03:04:05.25+01:30", "2026-01-02T01:34:05.250000Z"),
        ("2026-01-02", "2026-01-02T00:00:00.000000Z"),
        ("2016-12-31T23:59:60Z", "2016-12-31T23:59:59.999999Z"),
        ("0001-01-01T00:00:00Z", "0001-01-01T00:00:00.000000Z"),
        ("2026-02-29T03:04:05Z", ""),
        ("2026-01-02T24:00:00Z", ""),
        ("0000-01-01T00:00:00Z", ""),
        ("2026-01-02T03:04:05", ""),
        ("\u0662026-01-02T03:04:05Z", ""),
        ("", ""),
    ],
)
def test_sort_key_orders_by_time(written: str, key: str) -> None:
    assert utc_key(written) == key
