from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.index_support import FACTS, document, new_store, put
from thunderus_mem.index import sqlite_index
from thunderus_mem.index.manifest import check_manifest, take_inventory
from thunderus_mem.index.questions import Filter
from thunderus_mem.index.refresh import open_index, silent
from thunderus_mem.memory.locate import IndexCorpus
from thunderus_mem.store.layout import DOCUMENT_FOLDERS


def test_index_has_the_fields_of_documents(tmp_path: Path) -> None:
    layout = new_store(tmp_path)
    put(
        layout,
        "a.md",
        document("fact.a", "# One\n\n## Two\n", tags=("x", "y"), more="aliases: [The  First]\n"),
    )
    put(
        layout,
        "b.md",
        document("fact.b", status="stale", more="links:\n  supersedes: [fact.a]\n  refers_to: [fact.q]\n"),
    )
    number = f"{DOCUMENT_FOLDERS['adr']}/ADR-0007-use-jwt.md"
    put(layout, number, document("adr.use-jwt", kind="adr", updated="2026-05-01T00:00:00+02:00"))
    put(layout, "z.md", document("fact.a"))
    index, _ = open_index(layout)
    assert index.ids() == ["adr.use-jwt", "fact.a", "fact.b"]
    row = index.get("fact.a")
    assert row is not None
    assert (row.tags, row.aliases, row.path) == (("x", "y"), ("The  First",), f"{FACTS}/a.md")
    assert index.by_path(f"{FACTS}/a.md") == row
    assert [doc.id for doc in index.documents(Filter(kinds=["fact"], statuses=["stale"]))] == ["fact.b"]
    assert [doc.id for doc in index.documents(Filter(states=["superseded"]))] == ["fact.a"]
    code = {"fact.a": "stale"}
    for verdict, ids in (("stale", ["fact.a", "fact.b"]), ("unanchored", ["adr.use-jwt"]), ("archived", [])):
        assert [doc.id for doc in index.documents(Filter(verdicts=[verdict], judged=code))] == ids
    assert [doc.id for doc in index.documents(Filter(tags=["Y", "x"]))] == ["fact.a"]
    assert [doc.id for doc in index.documents(Filter(paths=["decisions"]))] == ["adr.use-jwt"]
    assert [doc.id for doc in index.documents(Filter(paths=["*ADR-*.md"]))] == ["adr.use-jwt"]
    assert [doc.id for doc in index.documents(Filter(since="2026-04-30T21:00:00.000000Z"))] == ["adr.use-jwt"]
    assert index.edges() == [("fact.b", "refers_to", "fact.q"), ("fact.b", "supersedes", "fact.a")]
    assert index.edges_of("fact.a") == [("fact.b", "supersedes", "fact.a")]
    assert index.superseded_by(["fact.a", "fact.b"]) == {"fact.a": "fact.b"}
    assert index.titles("adr.u", 9) == [("adr.use-jwt", "A title")]
    for target in ("fact.a", f"{FACTS}/a.md", "the first", "a", "a.md"):
        assert IndexCorpus(index).resolve(target) == "fact.a"
    corpus = IndexCorpus(index)
    assert corpus.resolve("nothing") is None
    assert corpus.paths_of("fact.a") == (f"{FACTS}/a.md", f"{FACTS}/z.md")
    assert corpus.anchors("fact.a") == {"one", "two"}
    assert corpus.superseded_by("fact.a") == "fact.b"
    assert corpus.adr_numbers() == {7: (number,)}
    assert list(corpus.ids()) == index.ids()


@pytest.mark.parametrize("count", [0, 1, 4, 5])
def test_a_manifest_is_written_in_pieces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, count: int) -> None:
    monkeypatch.setattr(sqlite_index, "_ENTRIES", 2)
    layout = new_store(tmp_path)
    for number in range(count):
        put(layout, f"{number}.md", document(f"fact.number-{number}"))
    open_index(layout)
    found = Path(layout.manifest_file).read_bytes()
    assert found == take_inventory(layout.root, silent).manifest
    assert len(json.loads(found)["docs"]) == count


def test_manifest_is_checked_against_the_documents(tmp_path: Path) -> None:
    layout = new_store(tmp_path)
    put(layout, "a.md", document("fact.a"))
    index, _ = open_index(layout)
    relative, wanted = layout.relative(layout.manifest_file), b"".join(index.manifest())
    assert check_manifest(layout.manifest_file, relative, wanted) == []
    text = Path(layout.manifest_file).read_text().replace("fact.a", "fact.b", 1)
    Path(layout.manifest_file).write_text(text)
    (finding,) = check_manifest(layout.manifest_file, relative, wanted)
    assert (finding.rule, finding.line) == ("TM502", 4)
    Path(layout.manifest_file).unlink()
    assert check_manifest(layout.manifest_file, relative, wanted)
