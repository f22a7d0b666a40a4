"""The verb `lint` over many documents."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.index_support import document, new_store, put
from thunderus_mem.memory import open_memory
from thunderus_mem.projection.index import Index
from thunderus_mem.verbs.linting import lint

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

    from thunderus_mem.projection.corpus import IndexCorpus


def test_the_other_documents_are_read_once_for_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    layout = new_store(tmp_path)
    for number in range(20):
        put(layout, f"n{number}.md", document(f"fact.n{number}", f"See [[fact.n{number + 1}]].\n"))
    asked: list[Index] = []
    corpus = Index.corpus

    def counted(index: Index) -> IndexCorpus:
        asked.append(index)
        return corpus(index)

    monkeypatch.setattr(Index, "corpus", counted)

    report = lint(open_memory(str(tmp_path)), ["."])

    assert report.checked == 20
    assert [finding.doc_id for finding in report.diagnostics if finding.rule == "TM201"] == ["fact.n19"]
    assert len(asked) == 1
