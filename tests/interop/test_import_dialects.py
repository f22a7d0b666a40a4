"""Records as adr-tools, MADR 2 to 4, log4brains and people write them: the result for each file.

Each folder of tests/cases/import is a foreign folder; ``expected.txt`` in it says what its plan is.
``REWRITE_CASES=1`` rewrites it.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from tests.support.import_plan import planned
from thunderus_mem.document.document import Document, read_document
from thunderus_mem.document.references import rebased
from thunderus_mem.document.schema import check
from thunderus_mem.errors import ThunderusError
from thunderus_mem.interop.decisions import day_in, writes_day_first
from thunderus_mem.interop.fields import Dates, Options, read_mapping
from thunderus_mem.interop.markdown import SourceFile, plan_folder

CASES = Path(__file__).parent.parent / "cases" / "import"
GIT = Dates("2018-05-06T07:08:09Z", "2025-05-06T07:08:09Z")
DECISIONS = ".thunderus/memory/semantic/DECISIONS"


def plan(folder: Path, *mapping: str) -> list[Any]:
    files = [
        SourceFile(path.relative_to(folder).as_posix(), path.read_bytes(), GIT)
        for path in sorted(folder.rglob("*.md"))
    ]
    options = Options(
        folder=DECISIONS,
        now="2026-01-21T09:00:00Z",
        origin="docs/adr",
        mapping=read_mapping(mapping),
    )
    return planned(plan_folder(files, "adr", (), options))


def document(item: Any) -> Document:
    made = read_document(item.path, item.text.encode()).document
    assert made is not None
    assert check("memory_doc.frontmatter", made.data()) == []
    return made


def summary(item: Any) -> str:
    if not item.imported:
        return f"{item.source}\n  skipped: {item.reason}\n"
    made = document(item)
    lines = [
        f"{item.source} -> {made.id}  {item.path.rpartition('/')[2]}",
        f"  title: {made.title}",
        f"  created: {made.created[:10]}{'  (from git)' if made.created == GIT.created else ''}",
        f"  status: {item.decision_status}",
        *(f"  link: {link.rel} {link.target}" for link in made.links),
        *(f"  kept: {key}" for key in item.kept),
        *(f"  changed: {key}" for key in item.changed),
        *(f"  note: {note}" for note in item.notes),
    ]
    return "\n".join(line.rstrip() for line in lines) + "\n"


@pytest.mark.parametrize("folder", sorted(CASES.iterdir()), ids=lambda folder: folder.name)
def test_folder_is_imported_as_its_case_expects(folder: Path) -> None:
    text = "\n".join(map(summary, plan(folder)))
    expected = folder / "expected.txt"
    if os.environ.get("REWRITE_CASES") == "1":
        expected.write_text(text, encoding="utf-8")
    assert expected.read_text(encoding="utf-8") == text


@pytest.mark.parametrize("folder", sorted(CASES.iterdir()), ids=lambda folder: folder.name)
def test_only_links_of_texts_are_rewritten(folder: Path) -> None:
    for item in plan(folder):
        if item.imported:
            body = rebased(document(item).body, item.path, f"docs/adr/{item.source}")
            assert (folder / item.source).read_text(encoding="utf-8").endswith(body)


def test_map_fills_fields_from_foreign_keys() -> None:
    given = ("Deciders=author", "Technical Story=source", "tags=aliases", "consulted=tags")
    made = {item.source: document(item) for item in plan(CASES / "madr-2", *given) if item.imported}
    first = made["0001-use-madr.md"].data()
    assert (first["author"], first["source"]) == ("Ada, Grace", "TICKET-12")
    made = {item.source: document(item) for item in plan(CASES / "madr-3", *given) if item.imported}
    assert made["0001-cache-in-process.md"].data()["author"] == "Ada, Grace"
    assert "deciders: [Ada, Grace]\n" in made["0002-cache-in-redis.md"].text
    made = {item.source: document(item) for item in plan(CASES / "log4brains", "Tags=tags") if item.imported}
    assert made["20210104-use-log4brains.md"].tags == ("dev-tools", "doc")


def test_invalid_mapped_value_is_reported(tmp_path: Path) -> None:
    (tmp_path / "0001-a.md").write_text("---\nwhen: soon\nold: [1, ADR-2]\n---\n# A\n")
    (tmp_path / "0002-b.md").write_text("---\nwhen: 2020-01-02\nold: ''\n---\n# B\n")
    first, second = plan(tmp_path, "when=created", "old=supersedes")
    assert any("soon" in note for note in first.notes)
    assert document(second).created == "2020-01-02T00:00:00Z"
    assert [(link.rel, link.target) for link in document(first).links] == [("supersedes", "adr.b")]


@pytest.mark.parametrize("given", ["author", "=author", "x=", "x=nothing", "x=id"])
def test_map_to_an_unknown_field_is_rejected(given: str) -> None:
    with pytest.raises(ThunderusError):
        read_mapping([given])


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("2020-03-23", "2020-03-23"),
        ("2020/3/5", "2020-03-05"),
        ("23/03/2020", "2020-03-23"),
        ("03/23/2020", "2020-03-23"),
        ("04/04/2020", "2020-04-04"),
        ("04/07/2020", ""),
        ("23.03.2020", "2020-03-23"),
        ("March 23rd, 2020", "2020-03-23"),
        ("23 Mar 2020", "2020-03-23"),
        ("3 Sept. 2020", "2020-09-03"),
        ("2020-02-31", ""),
        ("31/02/2020", ""),
        ("YYYY-MM-DD", ""),
        ("soon", ""),
    ],
)
def test_common_date_formats_are_parsed(text: str, day: str) -> None:
    assert day_in(text) == day


def test_ambiguous_dates_are_resolved_by_other_dates() -> None:
    assert writes_day_first(["23/03/2020", "04/07/2020"]) is True
    assert writes_day_first(["03/23/2020", "04/07/2020"]) is False
    assert writes_day_first(["03/23/2020", "23/03/2020"]) is None
    assert day_in("04/07/2020", day_first=True) == "2020-07-04"
    assert day_in("04/07/2020", day_first=False) == "2020-04-07"
