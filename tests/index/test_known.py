"""The documents that an import knows, by their names."""

from __future__ import annotations

import pytest

from thunderus_mem.errors import NotWritable
from thunderus_mem.index.known import KnownDocument, KnownDocuments

ONE, OTHER = KnownDocument("fact.one", "a.md", "1"), KnownDocument("fact.other", "b.md", "")


def test_a_name_finds_its_document_among_those_of_its_kind() -> None:
    known = KnownDocuments()
    ids, keys = known.names("id"), known.names("key")
    ids["x"] = known.add(ONE)
    keys["x"] = known.add(OTHER)
    assert (ids.get("x"), keys.get("x"), ids.get("y")) == (ONE, OTHER, None)
    assert "x" in ids
    assert "y" not in ids


def test_the_last_document_has_a_name_unless_the_first_keeps_it() -> None:
    known = KnownDocuments()
    keys = known.names("key")
    first, second = known.add(ONE), known.add(OTHER)
    keys["replaced"], keys["kept"] = first, first
    keys["replaced"] = second
    assert not keys.setdefault("kept", second)
    assert keys.setdefault("new", second)
    assert (keys.get("replaced"), keys.get("kept"), keys.get("new")) == (OTHER, ONE, OTHER)


def test_a_name_may_be_taken_without_a_document() -> None:
    taken = KnownDocuments().names("id")
    taken.update(["fact.one", "half of a pair: \ud800"])
    assert "fact.one" in taken
    assert "half of a pair: \ud800" in taken
    assert taken.get("fact.one") is None


def test_a_full_disk_is_reported() -> None:
    known = KnownDocuments()
    known.run("PRAGMA max_page_count = 4", ())
    with pytest.raises(NotWritable, match="temporary file"):
        known.names("id").update(map(str, range(10_000)))
