"""Obstacles to merging two documents with the same text."""

from __future__ import annotations

import pytest

from thunderus_mem.document.document import Document, read_document
from thunderus_mem.garden.rules.duplicates import conflicts, file_links, malformation, merged, unite


def document(name: str = "a", *, title: str = "The cache", extra: str = "", tags: str = "[x]") -> Document:
    rest = "" if "provenance" in extra else "provenance: {events: [], patches: [], commits: []}"
    text = (
        f"---\nid: fact.{name}\ntitle: {title}\nkind: fact\ntags: {tags}\n"
        f"created: 2026-01-01T00:00:00Z\nupdated: 2026-01-01T00:00:00Z\n{extra}"
        f"{rest}\n---\ntext\n"
    )
    found = read_document(f"FACTS/{name}.md", text.encode()).document
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("extra", "key"),
    [
        ("aliases: word\n", "aliases"),
        ("links: {blocks: [fact.c]}\n", "links.blocks"),
        ("links: [fact.c]\n", "links"),
        ("provenance: {events: evt_1}\n", "provenance.events"),
        ("provenance: {events: [], reviews: [x]}\n", "provenance.reviews"),
    ],
)
def test_header_that_could_lose_data_is_not_merged(extra: str, key: str) -> None:
    assert malformation(document(extra=extra)).endswith(f"unsupported `{key}`")


def test_valid_header_is_no_obstacle() -> None:
    assert malformation(document(extra="aliases:\nlinks:\n  refers_to: [fact.c]\n")) == ""


def test_both_values_of_a_key_are_listed_but_not_those_of_an_author() -> None:
    one, other = (
        document(extra="market: Oslo\nauthor: I\n"),
        document("b", extra="market: Bergen\nauthor: R\n"),
    )
    assert conflicts(one, other) == ('`market`: "Oslo" in `fact.a`, "Bergen" in `fact.b`',)
    same = document("b", extra="market: Oslo\nauthor: R\n")
    assert conflicts(one, same) == ()
    assert isinstance(merged(one, same, {}), Document)
    united = unite(one, same)
    assert united is not None
    assert united.data()["metadata"] == {"merged": {"fact.b": {"author": "R"}}}


def test_merge_creates_no_self_links() -> None:
    united = unite(document(), document("b", extra="links:\n  refers_to: [fact.a, fact.c]\n"))
    assert united is not None
    assert [(link.rel, link.target) for link in united.links] == [
        ("refers_to", "fact.c"),
        ("duplicates", "fact.b"),
    ]


def test_only_file_links_prevent_a_merge() -> None:
    assert file_links("[a](b.md#c) [d](#e) [f](https://example.org) `[g](h.md)`") == ("b.md",)
