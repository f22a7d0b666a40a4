"""Importing again with ``--on-conflict update``: changes of the originals are merged into their documents."""

from __future__ import annotations

import shutil
import subprocess
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.interop.test_exchange import GIT, files, git, opened
from tests.interop.test_interop_markdown import DECISIONS, document, options
from tests.interop.test_interop_markdown import GIT as DATES
from tests.support.import_plan import planned
from thunderus_mem.authoring.edit import archive, unarchive
from thunderus_mem.authoring.rename import rename
from thunderus_mem.document.document import source_hash
from thunderus_mem.errors import ThunderusError
from thunderus_mem.garden.apply import garden_apply, garden_plan
from thunderus_mem.git.repository import Git
from thunderus_mem.history.undo import undo
from thunderus_mem.interop import markdown
from thunderus_mem.interop.batches import ImportRun
from thunderus_mem.interop.markdown import (
    ImportUpdate,
    SourceFile,
    import_markdown,
    plan_folder,
    stored_documents,
)
from thunderus_mem.lint.lint import lint
from thunderus_mem.log.event import document_ids
from thunderus_mem.memory.memory import Memory, open_memory

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.support.command_server import Done
    from thunderus_mem.document.document import Document

ONE = "---\nstatus: accepted\n---\n# 1. Use a queue\n\nFirst.\n\nSecond, see ![it](./it.png).\n\nThird.\n"
TWO = "# 2. Drop the queue\n\nSupersedes [1](0001-queue.md).\n"


def plan(
    texts: dict[str, str], documents: list[Document], bases: dict[str, str] | None = None
) -> dict[str, Any]:
    sources = [SourceFile(path, text.encode(), DATES) for path, text in texts.items()]
    update = None
    if bases is not None:
        former = {f"docs/adr/{path}": text.encode() for path, text in bases.items()}
        update = ImportUpdate(former, "no history")
    return {
        item.source: item
        for item in planned(
            plan_folder(sources, "adr", documents, options("adr", origin="docs/adr"), update=update)
        )
    }


def imported(text: str = ONE, path: str = "0001-queue.md") -> Document:
    return document(plan({path: text}, [])[path])


def edited(made: Document, *changes: tuple[str, str]) -> Document:
    text = made.text
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    return document(type("Item", (), {"path": made.path, "text": text}))


def updated(now: str, ours: Document, base: str | None = ONE) -> Any:
    bases = {} if base is None else {"0001-queue.md": base}
    return plan({"0001-queue.md": now}, [ours], bases)["0001-queue.md"]


def test_change_of_the_file_is_merged_with_changes_of_the_document() -> None:
    ours = edited(
        imported(),
        ("First.", "First, as we know now."),
        ("tags: []\n", "tags: [ours]\n"),
        ("verification:\n", "owner: us  # a comment\nverification:\n"),
    )
    now = ONE.replace("Third.", "Third, see [two](0002-drop.md).").replace("accepted", "deprecated")
    item = updated(now, ours)
    assert (item.updated, item.imported, item.refused) == (True, False, False)
    assert item.changed == ("status", "text")
    made = document(item)
    there = "../../../../docs/adr"
    assert made.body == (
        f"# 1. Use a queue\n\nFirst, as we know now.\n\nSecond, see ![it]({there}/it.png).\n\n"
        f"Third, see [two]({there}/0002-drop.md).\n"
    )
    assert (made.id, made.path, made.tags) == (ours.id, ours.path, ("ours",))
    assert "owner: us  # a comment\n" in made.text
    assert made.data()["status"] == "deprecated"
    assert made.imported_sha256 == source_hash(now.encode())
    assert made.updated == "2026-01-21T09:00:00Z" != ours.updated


_LINE = st.sampled_from(
    ["", "a", "b", "## C", "[x](y.md)", "![i](../i.png)", "- d", "```", "Status: accepted", "---"]
)
_TEXT = st.lists(_LINE, min_size=1, max_size=12).map(lambda lines: "# 1. T\n\n" + "\n".join(lines) + "\n")


@settings(deadline=None, max_examples=60, derandomize=True)
@given(base=_TEXT, now=_TEXT, end=st.sampled_from(["\n", "\r\n"]))
def test_update_of_an_untouched_document_gives_the_text_of_a_new_import(
    base: str, now: str, end: str
) -> None:
    base, now = (text.replace("\n", end) for text in (base, now))
    item = updated(now, imported(base), base)
    if base == now:
        assert item.reason == "already imported as adr.t"
        return
    made, new = document(item), imported(now)
    assert (made.body, made.title, made.imported_sha256) == (new.body, new.title, new.imported_sha256)


def test_title_created_and_own_time_of_the_file_are_taken() -> None:
    base = ONE.replace("status: accepted\n", "date: 2020-01-01\nupdated: 2020-01-02T00:00:00Z\n")
    now = base.replace("2020", "2021").replace("Use a queue", "Use two queues")
    made = document(updated(now, imported(base), base))
    assert (made.title, made.id) == ("Use two queues", "adr.use-a-queue")
    assert (made.created, made.updated) == ("2021-01-01T00:00:00Z", "2021-01-02T00:00:00Z")


def test_same_change_on_both_sides_is_merged() -> None:
    item = updated(ONE.replace("Third.", "Fourth."), edited(imported(), ("Third.", "Fourth.")))
    assert item.updated
    assert document(item).body.endswith("\n\nFourth.\n")


def test_different_change_of_one_line_is_a_conflict_with_both_texts() -> None:
    ours = edited(imported(), ("Third.", "Ours."), ("title: Use a queue", "title: Our queue"))
    now = ONE.replace("Third.", "Theirs.").replace("Use a queue", "Their queue")
    item = updated(now, ours)
    assert (item.updated, item.refused, item.text) == (False, True, "")
    assert item.reason == "both sides changed: title, text"
    assert {"-title: Our queue", "+title: Their queue", "-Ours.", "+Theirs."} <= set(
        item.conflict.split("\n")
    )
    command = f"thunderus-mem edit adr.use-a-queue --set metadata.imported_sha256={source_hash(now.encode())}"
    assert item.notes == (f"after merging it by hand: {command}",)


def test_without_the_former_version_everything_is_a_conflict() -> None:
    item = updated(ONE.replace("Third.", "Theirs."), imported(), None)
    assert (item.reason, item.refused) == ("no history", True)
    assert "+Theirs." in item.conflict


def test_document_imported_without_a_hash_gets_it_if_its_text_is_the_same() -> None:
    made = imported()
    links = ("../../../../docs/adr/it.png", "./it.png")
    old = edited(made, (f'  imported_sha256: "{made.imported_sha256}"\n', ""), links)
    assert old.imported_sha256 == ""
    assert (
        plan({"0001-queue.md": ONE}, [old])["0001-queue.md"].reason == "already imported as adr.use-a-queue"
    )
    item = updated(ONE, old, None)
    assert (item.updated, item.changed) == (True, ("text",))
    assert (document(item).body, document(item).imported_sha256) == (made.body, made.imported_sha256)
    changed = updated(ONE.replace("Third.", "Theirs."), old, None)
    assert changed.reason == "the version imported before was not recorded"


def test_file_that_can_no_longer_be_read_is_reported() -> None:
    item = updated("---\na: [\n---\n# 1. Use a queue\n", imported())
    assert "invalid frontmatter" in item.reason
    assert (item.refused, item.conflict) == (True, "")


def test_relations_to_documents_imported_before_become_links() -> None:
    one, two = imported(), imported(TWO, "0002-drop.md")
    new = {"0003-x.md": "# 3. X\n\nSupersedes [2](0002-drop.md).\n\nSuperseded by [1](0001-queue.md).\n"}
    first = plan(new, [one, two])["0003-x.md"]
    assert first.links == (("supersedes", two.id),)
    assert (
        f"0001-queue.md was imported before: thunderus-mem link {one.id} supersedes adr.x" in first.notes[1]
    )
    both = plan({**new, "0001-queue.md": ONE}, [one, two], {})
    assert both["0001-queue.md"].changed == ("links",)
    assert document(both["0001-queue.md"]).links[0] == ("supersedes", "adr.x")


def test_relation_is_added_once_and_reported_when_removed() -> None:
    one, two = imported(), imported(TWO, "0002-drop.md")
    now = TWO.replace("Supersedes [1](0001-queue.md)", "Amends [1](0001-queue.md)")
    bases = {"0002-drop.md": TWO}
    item = plan({"0002-drop.md": now}, [one, two], bases)["0002-drop.md"]
    assert item.links == (("refers_to", one.id),)
    gone = f"no longer mentioned: {two.id} supersedes {one.id}; remove the link if it is outdated"
    assert item.notes == (f"refers_to {one.id}", gone)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    (folder / ".thunderus/memory").mkdir(parents=True)
    git(folder, "init", "-q")
    return folder


@pytest.fixture
def adopted(root: Path) -> Path:
    folder = root / "docs/adr"
    folder.mkdir(parents=True)
    (folder / "0001-queue.md").write_text(ONE)
    (folder / "0002-drop.md").write_text(TWO)
    git(root, "add", "docs")
    git(root, "commit", "-qm", "Decisions")
    import_markdown(opened(root), str(folder), "adr")
    git(root, "add", ".")
    git(root, "commit", "-qm", "Import")
    return folder


def later(root: Path) -> Memory:
    hours = count(10)
    return open_memory(
        str(root), environ=GIT, now=lambda: datetime(2026, 1, 21, tzinfo=UTC) + timedelta(hours=next(hours))
    )


PATH = f"{DECISIONS}/ADR-0001-use-a-queue.md"


def test_update_is_one_event_that_undo_reverts(
    root: Path, adopted: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = later(root)
    (adopted / "0001-queue.md").write_bytes(ONE.replace("Third.", "Fourth.").replace("\n", "\r\n").encode())
    (adopted / "0002-drop.md").write_bytes(TWO.replace("\n", "\r\n").encode())
    assert [(one.rule, one.doc_id) for one in lint(memory, select=["TM208"]).diagnostics] == [
        ("TM208", "adr.use-a-queue")
    ]
    before = files(root)
    asked: list[tuple[str, ...]] = []
    real, start = Git.ask, Git.start
    monkeypatch.setattr(
        Git, "ask", lambda self, *words, **more: asked.append(words) or real(self, *words, **more)
    )
    monkeypatch.setattr(Git, "start", lambda self, *words: asked.append(words) or start(self, *words))
    report = import_markdown(memory, str(adopted), "adr", on_conflict="update", dry_run=True)
    monkeypatch.undo()
    assert [words[0] for words in asked] == ["rev-list", "cat-file"]
    assert files(root) == before
    report = import_markdown(memory, str(adopted), "adr", on_conflict="update")
    assert [(item.updated, item.reason) for item in report.files] == [
        (True, ""),
        (False, "already imported as adr.drop-the-queue"),
    ]
    assert (report.imported, report.updated, report.skipped) == (0, 1, 1)
    assert "Fourth." in (root / PATH).read_text()
    assert lint(memory, select=["TM208"]).diagnostics == ()
    assert import_markdown(memory, str(adopted), "adr", on_conflict="update").updated == 0
    undo(memory)
    assert (root / PATH).read_bytes() == before[PATH]


def test_renamed_document_follows_its_original(root: Path, adopted: Path) -> None:
    memory = later(root)
    rename(memory, "adr.use-a-queue", "adr.queue")
    (adopted / "0001-queue.md").write_text(ONE.replace("Third.", "Third ![x](x.png)."))
    report = import_markdown(memory, str(adopted), "adr", on_conflict="update")
    assert [item.id for item in report.files if item.updated] == ["adr.queue"]
    made = (root / DECISIONS / "ADR-0001-queue.md").read_text()
    assert made.startswith("---\nid: adr.queue\n")
    assert "Third ![x](../../../../docs/adr/x.png)." in made


def test_moved_document_follows_its_original(root: Path, adopted: Path) -> None:
    memory = later(root)
    text = (root / PATH).read_text()
    archive(memory, ["adr.use-a-queue"])
    archived = root / PATH.replace("memory/", "memory/archive/")
    assert "](../../../../../docs/adr/it.png)" in archived.read_text()
    (adopted / "0001-queue.md").write_text(ONE.replace("Third.", "Third ![x](x.png)."))
    import_markdown(memory, str(adopted), "adr", on_conflict="update")
    assert "Third ![x](../../../../../docs/adr/x.png)." in archived.read_text()
    undo(memory)
    unarchive(memory, ["adr.use-a-queue"])
    assert (root / PATH).read_text() == text


def test_renamed_original_is_followed(root: Path, adopted: Path) -> None:
    memory = later(root)
    folder = root / "docs/decisions"
    git(root, "mv", "docs/adr", "docs/decisions")
    git(root, "mv", "docs/decisions/0001-queue.md", "docs/decisions/0001-one-queue.md")
    text = ONE.replace("Third.", "Fourth.") + "\nMore of it.\n" * 3
    (folder / "0001-one-queue.md").write_text(text.replace("More of it.", "More."))
    git(root, "commit", "-qam", "Rename")
    (folder / "0001-one-queue.md").write_text(text)
    (folder / "0003-copy.md").write_text(TWO)
    report = import_markdown(memory, str(folder), "adr", on_conflict="update")
    assert [(item.id, item.updated, item.reason) for item in report.files] == [
        ("adr.use-a-queue", True, ""),
        ("adr.drop-the-queue", True, ""),
        ("", False, "duplicate of adr.drop-the-queue"),
    ]
    assert report.files[0].notes == ("renamed from docs/adr/0001-queue.md",)
    made = (root / PATH).read_text()
    assert "imported_from: docs/decisions/0001-one-queue.md\n" in made
    assert '  - "0001-one-queue"\n  - "0001-queue"\n' in made
    assert "](../../../../docs/decisions/it.png)" in made
    assert made.endswith("Fourth.\n" + "\nMore of it.\n" * 3)


def test_staged_rename_with_an_edit_is_followed(root: Path, adopted: Path) -> None:
    git(root, "mv", "docs/adr/0001-queue.md", "docs/adr/0001-one-queue.md")
    (adopted / "0001-one-queue.md").write_text(ONE.replace("Third.", "Fourth."))
    report = import_markdown(later(root), str(adopted), "adr", on_conflict="update")
    assert (report.files[0].id, report.files[0].updated) == ("adr.use-a-queue", True)
    assert report.files[0].notes == ("renamed from docs/adr/0001-queue.md",)
    assert "Fourth." in (root / PATH).read_text()


def test_former_version_is_missing_in_a_shallow_clone_and_without_git(
    root: Path, adopted: Path, tmp_path: Path
) -> None:
    (adopted / "0001-queue.md").write_text(ONE.replace("Third.", "Fourth."))
    git(root, "commit", "-qam", "Fourth")
    clone = tmp_path / "clone"
    subprocess.run(["git", "clone", "-q", "--depth=1", root.as_uri(), clone], check=True, env=GIT)
    for where in ("the history of this shallow clone", "git's history"):
        report = import_markdown(opened(clone), str(clone / "docs/adr"), "adr", on_conflict="update")
        assert report.files[0].reason == f"the version imported before is not in {where}"
        assert "+Fourth." in report.files[0].conflict
        assert report.event_id == ""
        shutil.rmtree(clone / ".git", ignore_errors=True)


def test_command_ends_with_what_was_not_imported(repo: Path, run: Callable[..., Done]) -> None:
    run("init")
    folder = repo / "in"
    folder.mkdir()
    (folder / "a.md").write_text("# A\n\nText.\n")
    run("import", "markdown", "in", "--kind", "fact")
    (folder / "a.md").write_text("# A\n\nOther.\n")
    for name in "bcde":
        (folder / f"{name}.md").write_text(f"---\nx: {{\n---\n{name}\n")
    done = run("import", "markdown", "in", "--kind", "fact", "--on-conflict", "update")
    assert done.code == 1
    assert "conflict a.md → fact.a: the version imported before is not in git's history\n" in done.out
    assert "       -Text.\n       +Other.\n" in done.out
    assert done.err.splitlines()[-1] == (
        "4 files could not be imported: b.md, c.md, d.md, and 1 more; 1 file could not be merged: a.md"
    )


def test_unknown_way_to_treat_conflicts_is_an_error(root: Path) -> None:
    with pytest.raises(ThunderusError, match="--on-conflict"):
        import_markdown(opened(root), str(root), "fact", on_conflict="merge")


def test_original_of_a_merged_document_counts_as_imported(root: Path) -> None:
    folder = root / "docs"
    text = (
        "# Retries\n\nThe exporter retries a batch that the server refused. It waits between two attempts, "
        "each time for twice as long.\n"
    )
    for name in "ab":
        (folder / name).mkdir(parents=True)
        (folder / name / f"{name}-retries.md").write_text(text if name == "a" else f"{text}\nTwice.\n")

    def again(**options: str) -> list[tuple[bool, str]]:
        report = import_markdown(later(root), str(folder), "fact", **options)
        return [(item.imported, item.reason) for item in report.files]

    assert again() == [(True, ""), (True, "")]
    git(root, "add", "-A")
    git(root, "commit", "-qm", "Import")
    (folder / "b" / "b-retries.md").write_text(text)
    again(on_conflict="update")
    memory = later(root)
    origins = {one.id: one.imported_from for one in stored_documents(memory)}
    plan = garden_plan(memory)
    stays, leaves = plan.applicable[0].targets
    garden_apply(memory, plan)
    assert again() == again(on_conflict="update") == [(False, f"already imported as {stays}")] * 2

    gone = root / origins[leaves]
    gone.write_text(gone.read_text() + "\nAfter three attempts it gives up.\n")
    assert [(one.doc_id, one.message) for one in lint(later(root), select=["TM208"]).diagnostics] == [
        (stays, f"{origins[leaves]} has changed since it was imported")
    ]
    changed = (False, f"already imported as {stays}, and changed since; use --on-conflict update")
    assert changed in again()
    assert sorted(again(on_conflict="update")) == [(False, f"already imported as {stays}"), (True, "")]
    assert lint(later(root), select=["TM208"]).diagnostics == ()
    assert {imported for imported, _ in again()} == {False}


def test_a_large_folder_is_several_events_and_after_an_interruption_one_undo(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = root / "many"
    folder.mkdir()
    for name in "abcde":
        (folder / f"{name}.md").write_text(f"# Note {name}\n\nText of {name}.\n")
    monkeypatch.setattr(markdown, "MOST_DOCUMENTS", 2)
    original = ImportRun.write

    def interrupted(self: ImportRun, *given: Any) -> bool:
        if self.events == 1:
            raise KeyboardInterrupt
        return original(self, *given)

    with monkeypatch.context() as patched:
        patched.setattr(ImportRun, "write", interrupted)
        with pytest.raises(KeyboardInterrupt):
            import_markdown(opened(root), str(folder), "fact")
    report = import_markdown(later(root), str(folder), "fact")
    assert report.imported == 3

    memory = later(root)
    imported = [one for one in stored_documents(memory) if one.imported_from.startswith("many/")]
    assert len(imported) == 5
    assert {one.patches for one in imported} == {(report.patch,)}
    changed = {event.id: set(document_ids(event)) for event, *_ in memory.log.read_all().events}
    assert all(one.id in changed[event] for one in imported for event in one.events)
    assert len({one.events for one in imported}) == 3

    undo(later(root))
    assert not [one for one in stored_documents(later(root)) if one.imported_from.startswith("many/")]
