"""The archive in real repositories: what moves, which commands still find it, and how git merges it."""

from __future__ import annotations

import json
import shutil
import subprocess
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.garden.test_gardening import Clock, git, opened
from tests.support.events import note
from tests.support.order_support import document_text
from thunderus_mem.authoring.add import NewDocument, add
from thunderus_mem.authoring.edit import DocumentEdits, archive, edit, unarchive
from thunderus_mem.authoring.init import init
from thunderus_mem.authoring.rename import rename
from thunderus_mem.authoring.show import list_documents, show, status
from thunderus_mem.doctor.upkeep import index_verify
from thunderus_mem.document.paths import archived_path, is_archived, live_path
from thunderus_mem.errors import DocumentExists, InvalidDocument, Refused
from thunderus_mem.garden.apply import garden_apply, garden_plan, material_of
from thunderus_mem.history.reverse import UndoChoice
from thunderus_mem.history.undo import undo
from thunderus_mem.index.manifest import take_inventory
from thunderus_mem.index.questions import Filter
from thunderus_mem.index.refresh import rebuild, silent
from thunderus_mem.lint.lint import lint
from thunderus_mem.log.event import changes_of
from thunderus_mem.recap.recap import recap
from thunderus_mem.search.search import search
from thunderus_mem.store.paths import kind_of
from thunderus_mem.verdicts.lookup import governing

if TYPE_CHECKING:
    from thunderus_mem.memory.memory import Memory

FACTS = ".thunderus/memory/semantic/FACTS"
ASIDE = ".thunderus/memory/archive/semantic/FACTS"


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def root(tmp_path: Path, clock: Clock) -> Path:
    git(tmp_path, "init", "-q", "-b", "main")
    (tmp_path / "gate.py").write_text("PORT = 8080\n", encoding="utf-8")
    init(str(tmp_path), lambda: opened(tmp_path, clock))
    memory = opened(tmp_path, clock)
    add(
        memory,
        NewDocument(
            "fact", "Old port", body="The gateway listens on port 8080.", tags=["net"], anchors=["gate.py"]
        ),
    )
    body = "Not [as before](old-port.md), see [[fact.old-port]]; it listens on 9090.\n"
    add(memory, NewDocument("fact", "Port", body=body, tags=["net"], links=[("refers_to", "fact.old-port")]))
    add(
        memory,
        NewDocument(
            "adr",
            "Use a gateway",
            body="## Context\n\nC.\n\n## Decision\n\nD.\n\n## Consequences\n\nE.\n",
            tags=["net"],
        ),
    )
    commit(tmp_path, "Begin a memory")
    return tmp_path


def commit(root: Path, message: str) -> None:
    git(root, "add", "-A")
    git(root, "commit", "-q", "--allow-empty", "-m", message)


def listed(memory: Memory, *, archived: bool = False) -> list[str]:
    return [one.id for one in list_documents(memory, Filter(archived=archived)).documents]


def hits(memory: Memory, words: str, *, archived: bool = False) -> list[str]:
    return [hit.id for hit in search(memory, words, archived=archived).hits]


def codes(memory: Memory) -> list[tuple[str, str]]:
    return [(one.rule, one.path.rpartition("/")[2]) for one in lint(memory).diagnostics]


def test_archive_paths_mirror_memory_paths() -> None:
    path = ".thunderus/memory/episodic/2026-01-21.md"
    assert archived_path(path) == ".thunderus/memory/archive/episodic/2026-01-21.md"
    assert live_path(archived_path(path)) == path == live_path(path)
    assert archived_path(archived_path(path)) == archived_path(path)
    assert archived_path("docs/guide.md") == "docs/guide.md"
    assert is_archived(archived_path(path))
    assert not is_archived(path)
    assert kind_of(archived_path(path)) == "recap"
    assert kind_of(".thunderus/memory/archive/core/CORE.md") is None
    assert kind_of(".thunderus/memory/archive/notes.md") is None


def test_archived_document_keeps_its_bytes_and_is_not_listed(root: Path, clock: Clock) -> None:
    memory = opened(root, clock)
    before = (root / FACTS / "old-port.md").read_bytes()
    value = archive(memory, ["fact.old-port"], why="it moved")
    assert [(one.id, one.path) for one in value.documents] == [("fact.old-port", f"{ASIDE}/old-port.md")]
    assert (root / ASIDE / "old-port.md").read_bytes() == before
    assert not (root / FACTS / "old-port.md").exists()
    memory = opened(root, clock)
    assert "fact.old-port" not in listed(memory)
    assert "fact.old-port" in listed(memory, archived=True)
    for words in ("gateway listens port", "tag:net", "-nothing kind:fact", "path:archive"):
        assert "fact.old-port" not in hits(memory, words), words
        assert "fact.old-port" in hits(memory, words, archived=True), words
    assert search(memory, "gateway").total_documents == 3
    assert not [one for one in governing(memory, "gate.py").documents if one.id == "fact.old-port"]
    assert [one.id for one in material_of(memory).archived] == ["fact.old-port"]
    assert (status(memory).archived, sum(status(memory).counts.values())) == (1, 3)


def test_archived_document_is_found_by_id_and_linkable(root: Path, clock: Clock) -> None:
    memory = opened(root, clock)
    archive(memory, ["old-port"])
    shown = show(opened(root, clock), "fact.old-port")
    assert (shown.archived, shown.path, shown.anchors) == (True, f"{ASIDE}/old-port.md", ())
    assert [link.title for link in show(memory, "fact.port").links] == ["Old port"]
    found = codes(memory)
    assert [one for one in found if one[0] in ("TM201", "TM204")] == []
    assert found.count(("TM207", "port.md")) == 3
    assert not [step for step in garden_plan(memory).steps if step.rule == "links"]


def test_archiving_is_logged_as_a_move_and_can_be_undone(root: Path, clock: Clock) -> None:
    memory = opened(root, clock)
    before = {path: path.read_bytes() for path in (root / ".thunderus/memory").rglob("*.md")}
    event_id = archive(memory, ["fact.old-port", "adr.use-a-gateway"], why="both went").event_id
    event = next(one.event for one in memory.log.read_all().events if one.event.id == event_id)
    assert (event.body["op"], event.why) == ("archive", "both went")
    assert {change.op for change in changes_of(event)} == {"rename"}
    undo(opened(root, clock))
    assert {path: path.read_bytes() for path in (root / ".thunderus/memory").rglob("*.md")} == before
    undo(opened(root, clock), UndoChoice(redo=True))
    assert (root / ASIDE / "old-port.md").exists()
    unarchive(opened(root, clock), ["fact.old-port", "adr.use-a-gateway"])
    assert {path: path.read_bytes() for path in (root / ".thunderus/memory").rglob("*.md")} == before


def test_core_and_archived_documents_cannot_be_archived(root: Path, clock: Clock) -> None:
    memory = opened(root, clock)
    archive(memory, ["fact.old-port"])
    again = archive(memory, ["fact.old-port"])
    assert (again.documents, again.kept, again.event_id) == ((), ("fact.old-port",), "")
    assert unarchive(memory, ["fact.port"]).kept == ("fact.port",)
    with pytest.raises(InvalidDocument, match="cannot be archived"):
        archive(memory, ["fact.port", "core"])
    assert "fact.port" in listed(memory), "all or none"


def test_archiving_overwrites_nothing(root: Path, clock: Clock) -> None:
    memory = opened(root, clock)
    (root / ASIDE).mkdir(parents=True, exist_ok=True)
    (root / ASIDE / "OLD-port.md").write_bytes(b"somebody's")
    with pytest.raises(DocumentExists, match=r"OLD-port\.md already"):
        archive(memory, ["fact.old-port"])
    (root / ASIDE / "OLD-port.md").unlink()
    archive(memory, ["fact.old-port"])
    (root / FACTS / "old-port.md").write_bytes(b"somebody's")
    with pytest.raises(DocumentExists, match=r"old-port\.md already"):
        unarchive(memory, ["fact.old-port"])


def test_active_document_wins_over_an_archived_one_with_its_id(root: Path, clock: Clock) -> None:
    memory = opened(root, clock)
    archive(memory, ["fact.old-port"])
    text = document_text("fact.old-port", "Another one of this name.\n", title="Newer", tags=["net"])
    (root / FACTS / "zzz.md").write_text(text, encoding="utf-8")
    memory = opened(root, clock)
    assert show(memory, "fact.old-port").title == "Newer"
    assert "fact.old-port" in listed(memory)
    assert [one for one in codes(memory) if one[0] == "TM103"] == [
        ("TM103", "old-port.md"),
        ("TM103", "zzz.md"),
    ]
    assert index_verify(memory).problem == ""
    with pytest.raises(DocumentExists, match="has the id"):
        unarchive(memory, ["fact.old-port"])
    with pytest.raises(DocumentExists, match="has the id"):
        archive(memory, ["fact.old-port"])
    (root / FACTS / "zzz.md").unlink()
    assert show(opened(root, clock), "fact.old-port").archived


def test_empty_search_reports_that_the_archive_was_not_searched(root: Path, clock: Clock) -> None:
    memory = opened(root, clock)
    assert search(memory, "nowhereatall").notes == ()
    archive(memory, ["fact.old-port"])
    assert "--archived" in search(memory, "nowhereatall").notes[-1]
    assert search(memory, "nowhereatall", archived=True).notes == ()


def test_linked_archive_is_rejected(root: Path, clock: Clock, tmp_path: Path) -> None:
    shutil.rmtree(root / ".thunderus/memory/archive", ignore_errors=True)
    (root / ".thunderus/memory/archive").symlink_to(tmp_path)
    with pytest.raises(Refused, match="symbolic link"):
        opened(root, clock)


def test_archived_document_is_edited_and_renamed_in_the_archive(root: Path, clock: Clock) -> None:
    memory = opened(root, clock)
    archive(memory, ["fact.old-port"])
    assert edit(memory, "fact.old-port", DocumentEdits(add_tags=["history"])).path == f"{ASIDE}/old-port.md"
    renamed = rename(memory, "fact.old-port", "fact.former-port")
    assert renamed.path == f"{ASIDE}/former-port.md"
    assert not [one for one in codes(memory) if one[0] in ("TM201", "TM204")]
    assert unarchive(memory, ["fact.former-port"]).documents[0].path == f"{FACTS}/former-port.md"


def test_manifest_lists_active_documents_only(root: Path, clock: Clock) -> None:
    memory = opened(root, clock)
    archive(memory, ["fact.old-port"])
    path = root / ".thunderus/memory/indexes/manifest.json"
    manifest = json.loads(path.read_text(encoding="utf-8"))
    assert [one["id"] for one in manifest["docs"]] == ["adr.use-a-gateway", "core", "fact.port"]
    assert manifest["stats"]["total_docs"] == 3
    assert take_inventory(str(root), silent).manifest == path.read_bytes()


def test_results_do_not_depend_on_the_index(root: Path, clock: Clock) -> None:
    memory = opened(root, clock)
    archive(memory, ["fact.old-port"])

    def answers() -> list[object]:
        fresh = opened(root, clock)
        return [
            list_documents(fresh),
            list_documents(fresh, Filter(archived=True)),
            search(fresh, "gateway port")._replace(generation=""),
            search(fresh, "gateway port", archived=True)._replace(generation=""),
            show(fresh, "fact.old-port"),
            lint(fresh).diagnostics,
        ]

    before = answers()
    assert index_verify(opened(root, clock)).problem == ""
    shutil.rmtree(root / ".thunderus/memory/indexes")
    assert answers() == before
    rebuild(opened(root, clock).layout)
    assert answers() == before


def test_archived_numbers_and_texts_are_not_used_again(root: Path, clock: Clock) -> None:
    memory = opened(root, clock)
    archive(memory, ["adr.use-a-gateway", "fact.old-port"])
    written = add(memory, NewDocument("adr", "Next", body="## Context\n\nOther words.\n", tags=["net"]))
    assert Path(written.path).name == "ADR-0002-next.md"
    with pytest.raises(DocumentExists) as raised:
        add(memory, NewDocument("fact", "Port again", body="The gateway listens on port 8080.", tags=["net"]))
    assert "archive --undo fact.old-port" in (raised.value.hint or "")


def test_document_moved_by_hand_is_archived(root: Path, clock: Clock) -> None:
    (root / ASIDE).mkdir(parents=True, exist_ok=True)
    (root / FACTS / "old-port.md").rename(root / ASIDE / "old-port.md")
    memory = opened(root, clock)
    assert "fact.old-port" not in listed(memory)
    assert show(memory, "fact.old-port").archived
    note(memory, "moved it")
    assert status(opened(root, clock)).unrecorded == ()


def test_garden_archives_its_recaps_and_undo_restores_them(root: Path, clock: Clock) -> None:
    memory = opened(root, clock)
    recap(memory, "2026-01-21")
    clock.moment += timedelta(days=1)
    note(memory, "A day with words of its own.")
    edited = root / recap(opened(root, clock), "today").path
    edited.write_text(edited.read_text(encoding="utf-8") + "\nAnd lunch was good.\n", encoding="utf-8")
    before = {path: path.read_bytes() for path in (root / ".thunderus/memory").rglob("*.md")}
    clock.moment = datetime(2026, 7, 1, tzinfo=UTC)
    assert not garden_plan(opened(root, clock), only=["archive"]).steps
    clock.moment = datetime(2026, 9, 1, tzinfo=UTC)
    plan = garden_plan(opened(root, clock), only=["archive"])
    assert [step.targets for step in plan.applicable] == [("recap.2026-01-21",)]
    assert [step.targets for step in plan.proposals] == [("recap.2026-01-22",)]
    memory = opened(root, clock)
    applied = garden_apply(memory, plan)
    assert [one.path for one in applied.written][-1] == ".thunderus/memory/archive/episodic/2026-01-21.md"
    assert garden_plan(opened(root, clock), only=["archive"]).applicable == ()
    undo(opened(root, clock))
    assert {path: path.read_bytes() for path in (root / ".thunderus/memory").rglob("*.md")} == before


def test_two_rules_change_one_document_and_undo_restores_it(root: Path, clock: Clock) -> None:
    memory = opened(root, clock)
    for name in ("a", "b"):
        text = document_text(
            f"fact.{name}", f"Text of {name}, see [it](moved.md).\n", tags=["net", "Unit_Test", "x"]
        )
        (root / FACTS / f"{name}.md").write_bytes(("\ufeff" + text).replace("\n", "\r\n").encode())
    (root / FACTS / "moved.md").write_text(
        document_text("fact.moved", "Here.\n", tags=["unit_test"]), encoding="utf-8"
    )
    note(memory, "recorded")
    (root / FACTS / "deep").mkdir()
    (root / FACTS / "moved.md").rename(root / FACTS / "deep" / "other.md")
    note(opened(root, clock), "recorded again")
    before = {path: path.read_bytes() for path in (root / ".thunderus/memory").rglob("*.md")}
    memory = opened(root, clock)
    applied = garden_apply(memory, garden_plan(memory))
    assert not applied.skipped
    text = (root / FACTS / "a.md").read_bytes()
    assert b"[it](deep/other.md).\r\n" in text
    assert text.startswith(b"\xef\xbb\xbf---\r\n")
    assert len({one.lower() for one in show(memory, "fact.a").tags}) == 3
    assert garden_plan(opened(root, clock)).applicable == ()
    while (root / FACTS / "a.md").read_bytes() != before[root / FACTS / "a.md"]:
        undo(opened(root, clock))
    after = {path: path.read_bytes() for path in (root / ".thunderus/memory").rglob("*.md")}
    assert after == before


def on_two_branches(root: Path, ours: object, theirs: object) -> subprocess.CompletedProcess[bytes]:
    git(root, "switch", "-q", "-c", "topic")
    theirs()  # type: ignore[operator]
    commit(root, "Theirs")
    git(root, "switch", "-q", "main")
    ours()  # type: ignore[operator]
    commit(root, "Ours")
    return subprocess.run(
        [
            "git",
            "-c",
            "user.name=Ines",
            "-c",
            "user.email=ines@example.org",
            "merge",
            "-q",
            "--no-edit",
            "topic",
        ],
        cwd=root,
        check=False,
        capture_output=True,
    )


def test_archived_on_one_branch_and_edited_on_the_other(root: Path, clock: Clock) -> None:
    def edits() -> None:
        edit(opened(root, clock), "fact.old-port", DocumentEdits(add_tags=["history"]), why="it is")

    merged = on_two_branches(root, lambda: archive(opened(root, clock), ["fact.old-port"]), edits)
    assert merged.returncode == 0, merged.stdout
    memory = opened(root, clock)
    assert show(memory, "fact.old-port").tags == ("history", "net")
    assert show(memory, "fact.old-port").archived
    assert not [one for one in lint(memory).diagnostics if one.rule.startswith("TM5")]


def test_archived_on_both_branches(root: Path, clock: Clock) -> None:
    def put_away() -> None:
        archive(opened(root, clock), ["fact.old-port"])

    merged = on_two_branches(root, put_away, put_away)
    assert merged.returncode == 0, merged.stdout
    assert listed(opened(root, clock)).count("fact.old-port") == 0
    assert show(opened(root, clock), "fact.old-port").archived


def test_archived_on_one_branch_and_linked_on_the_other(root: Path, clock: Clock) -> None:
    def links() -> None:
        add(opened(root, clock), NewDocument("fact", "Other", body="As in [it](old-port.md).", tags=["net"]))

    merged = on_two_branches(root, lambda: archive(opened(root, clock), ["fact.old-port"]), links)
    assert merged.returncode == 0, merged.stdout
    found = codes(opened(root, clock))
    assert ("TM207", "other.md") in found
    assert ("TM201", "other.md") not in found
