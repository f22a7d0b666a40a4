"""Shared by the tests of the index: write documents, dump the index as plain values."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from thunderus_mem.index.sqlite_index import DOCUMENT_TABLES
from thunderus_mem.search.search import find, hits_of
from thunderus_mem.store.layout import DOCUMENT_FOLDERS, Layout

if TYPE_CHECKING:
    from collections.abc import Sequence

    from thunderus_mem.index.sqlite_index import SqliteIndex
    from thunderus_mem.search.query import Query
    from thunderus_mem.search.search import Hit

FACTS = DOCUMENT_FOLDERS["fact"]


def document(
    doc_id: str,
    body: str = "Some text.\n",
    *,
    title: str = "A title",
    kind: str = "fact",
    tags: Sequence[str] = ("one",),
    updated: str = "2026-01-02T00:00:00Z",
    status: str = "unknown",
    more: str = "",
) -> str:
    """The text of a document with every required key."""
    return (
        f"---\nid: {doc_id}\ntitle: {title}\nkind: {kind}\ntags: [{', '.join(tags)}]\n"
        f'created: "2026-01-01T00:00:00Z"\nupdated: "{updated}"\n'
        "provenance:\n  events: [evt_1]\n  patches: []\n  commits: []\n"
        f"verification:\n  last_verified_commit: null\n  status: {status}\n{more}---\n{body}"
    )


def new_store(root: object) -> Layout:
    """An empty store."""
    layout = Layout(str(root))
    for folder in DOCUMENT_FOLDERS.values():
        os.makedirs(layout.at(folder), exist_ok=True)
    return layout


def put(layout: Layout, path: str, text: str | bytes) -> str:
    """Write a file of the store; a bare name goes to the facts. Returns its path."""
    path = path if "/" in path else f"{FACTS}/{path}"
    os.makedirs(os.path.dirname(layout.at(path)), exist_ok=True)
    with open(layout.at(path), "wb") as handle:
        handle.write(text if isinstance(text, bytes) else text.encode())
    return path


def content(index: SqliteIndex) -> dict[str, list[tuple[Any, ...]]]:
    """Everything the index says, without stamps and row numbers."""
    return {name: index.database.rows(sql) for name, sql in DOCUMENT_TABLES.items()}


def find_hits(index: SqliteIndex, query: Query, *, root: str, limit: int = 10, **options: bool) -> list[Hit]:
    """The answers to a query, with the statuses that files have."""
    found = find(index, query, limit=limit)
    hits = hits_of(index, found.judged({}), root=root, limit=limit, **options)
    return list(hits) if found.answered else []
