from __future__ import annotations

import json
import os
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.support.index_support import FACTS, content, document, find_hits, new_store, put
from thunderus_mem.index import refresh as refresh_module
from thunderus_mem.index import writer
from thunderus_mem.index.manifest import take_inventory
from thunderus_mem.index.refresh import Refreshed, open_index, peek, rebuild, refresh, silent
from thunderus_mem.index.sqlite_index import SqliteIndex
from thunderus_mem.search.query import parse_query

if TYPE_CHECKING:
    from collections.abc import Sequence

    from thunderus_mem.store.layout import Layout


def test_second_refresh_changes_nothing(tmp_path: Path) -> None:
    layout = new_store(tmp_path)
    put(layout, "a.md", document("fact.a"))
    index, built = open_index(layout)
    assert (built.added, built.total, built.rebuilt) == (1, 1, "missing index")
    again = refresh(layout, index)
    assert not again.changed
    assert again.total == 1
    assert peek(layout, index)


def test_edit_with_same_size_and_time_is_detected(tmp_path: Path) -> None:
    layout = new_store(tmp_path)
    path = put(layout, "a.md", document("fact.a", "old words\n"))
    times = os.stat(layout.at(path))
    index, _ = open_index(layout)
    put(layout, "a.md", document("fact.a", "new words\n"))
    os.utime(layout.at(path), ns=(times.st_atime_ns, times.st_mtime_ns))
    assert refresh(layout, index).modified == 1
    assert [hit.id for hit in find_hits(index, parse_query("new"), root=layout.root)] == ["fact.a"]


def test_touched_file_is_not_a_modified_document(tmp_path: Path) -> None:
    layout = new_store(tmp_path)
    path = put(layout, "a.md", document("fact.a"))
    index, _ = open_index(layout)
    os.utime(layout.at(path), (1, 1))
    assert not refresh(layout, index).changed


def test_generation_depends_only_on_paths_and_texts(tmp_path: Path) -> None:
    layouts = [new_store(tmp_path / name) for name in ("one", "two")]
    for layout, order in zip(layouts, ("ab", "ba"), strict=True):
        for name in order:
            put(layout, f"{name}.md", document(f"fact.{name}"))
    (one, _), (two, _) = map(open_index, layouts)
    begun = one.generation()
    assert (two.generation(), len(begun)) == (begun, 16)
    put(layouts[0], "a.md", document("fact.a", "Other text.\n"))
    refresh(layouts[0], one)
    assert one.generation() != begun
    put(layouts[0], "a.md", document("fact.a"))
    refresh(layouts[0], one)
    assert one.generation() == begun
    os.rename(layouts[0].at(f"{FACTS}/a.md"), layouts[0].at(f"{FACTS}/c.md"))
    refresh(layouts[0], one)
    assert one.generation() != begun


def test_first_path_wins_among_files_with_one_id(tmp_path: Path) -> None:
    layout = new_store(tmp_path)
    first = put(layout, "a.md", document("fact.same", title="First"))
    second = put(layout, "b.md", document("fact.same", title="Second"))
    index, _ = open_index(layout)
    assert index.paths_of("fact.same") == (first, second)
    row = index.get("fact.same")
    assert row is not None
    assert row.title == "First"
    os.unlink(layout.at(first))
    refresh(layout, index)
    row = index.get("fact.same")
    assert row is not None
    assert (row.title, row.path) == ("Second", second)


def test_invalid_file_hides_no_other(tmp_path: Path) -> None:
    layout = new_store(tmp_path)
    put(layout, "a.md", b"\xff\xfe not text")
    put(layout, "b.md", "no header\n")
    put(layout, "c.md", document("fact.c"))
    os.symlink("/etc/hostname", layout.at(f"{FACTS}/d.md"))
    index, built = open_index(layout)
    assert (built.total, built.problems) == (1, 3)
    unreadable = {path.rpartition("/")[2] for path, _, doc_id in index.files() if not doc_id}
    assert unreadable == {"a.md", "b.md", "d.md"}


def test_refresh_of_an_emptied_memory_equals_a_rebuild(tmp_path: Path) -> None:
    layout = new_store(tmp_path)
    for number in range(12):
        put(layout, f"{number}.md", document(f"fact.n{number}"))
    index, _ = open_index(layout)
    for folder in ("core", "semantic", "procedural", "episodic"):
        os.rename(os.path.join(layout.memory_dir, folder), os.path.join(layout.memory_dir, f"{folder}.away"))
    gone = refresh(layout, index)
    assert (gone.removed, gone.before, gone.total, index.count()) == (12, 12, 0, 0)
    for folder in ("core", "semantic", "procedural", "episodic"):
        os.rename(os.path.join(layout.memory_dir, f"{folder}.away"), os.path.join(layout.memory_dir, folder))
    assert refresh(layout, index).added == 12


def test_interrupted_removal_of_many_files_is_continued(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writer, "_PIECE", 4)
    monkeypatch.setattr(writer.FileStamp, "racy_at", lambda stamp, moment: False)
    layout = new_store(tmp_path)
    for number in range(12):
        put(layout, f"{number}.md", document(f"fact.n{number}"))
    index, _ = open_index(layout)
    before, manifest = content(index), Path(layout.manifest_file).read_bytes()
    forget, pieces = writer.Update._forget, list[int]()

    def stop(update: writer.Update, gone: Sequence[str]) -> None:
        if pieces:
            raise KeyboardInterrupt
        pieces.append(len(gone))
        forget(update, gone)

    away = f"{layout.memory_dir}/away"
    os.rename(layout.at(FACTS), away)
    with monkeypatch.context() as patch:
        patch.setattr(writer.Update, "_forget", stop)
        with pytest.raises(KeyboardInterrupt):
            refresh(layout, index)
    assert (index.count(), pieces) == (8, [4])
    os.rename(away, layout.at(FACTS))
    assert refresh(layout, index).added == 4
    assert (content(index), Path(layout.manifest_file).read_bytes()) == (before, manifest)
    os.rename(layout.at(FACTS), away)
    assert refresh(layout, index).removed == 12
    assert (index.count(), b'"total_docs": 0' in Path(layout.manifest_file).read_bytes()) == (0, True)


def test_removed_file_that_is_moved_back_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writer.FileStamp, "racy_at", lambda stamp, moment: False)
    layout = new_store(tmp_path)
    put(layout, "a.md", document("fact.a"))
    path = put(layout, "b.md", document("fact.b"))
    index, _ = open_index(layout)
    os.rename(layout.at(FACTS), tmp_path / "away")  # the stamps of the files stay
    assert refresh(layout, index, changed=[path]).removed == 1
    os.rename(tmp_path / "away", layout.at(FACTS))
    assert refresh(layout, index).added == 1


def test_manifest_is_updated_and_repaired(tmp_path: Path) -> None:
    layout = new_store(tmp_path)
    put(layout, "b.md", document("fact.b", tags=("x", "y")))
    put(layout, "a.md", document("fact.a", updated="2026-03-01T00:00:00Z"))
    index, _ = open_index(layout)
    written = Path(layout.manifest_file).read_bytes()
    data = json.loads(written)
    assert [doc["id"] for doc in data["docs"]] == ["fact.a", "fact.b"]
    assert data["generated_at"] == "2026-03-01T00:00:00Z"
    assert data["stats"]["by_kind"] == {"fact": 2}
    for damage in (b"", b'{"docs": [', written.replace(b"fact.a", b"fact.z")):
        Path(layout.manifest_file).write_bytes(damage)
        refresh(layout, index)
        assert Path(layout.manifest_file).read_bytes() == written
    os.unlink(layout.manifest_file)
    refresh(layout, index)
    assert Path(layout.manifest_file).read_bytes() == written


def test_indexing_writes_nothing_outside_its_folder(tmp_path: Path) -> None:
    layout = new_store(tmp_path)
    put(layout, "a.md", document("fact.a").replace("\n", "\r\n"))
    put(layout, "b.md", b"\xef\xbb\xbf" + document("fact.b").encode())
    put(layout, "c.md", "broken")
    before = {path: path.read_bytes() for path in tmp_path.rglob("*.md")}
    index, _ = open_index(layout)
    find_hits(index, parse_query("text"), root=layout.root)
    rebuild(layout)
    assert {path: path.read_bytes() for path in tmp_path.rglob("*.md")} == before


ASIDE = "../../archive/semantic/FACTS"
NAMES = st.sampled_from(["a.md", "b.md", "c.md", "sub/d.md", "é.md", f"{ASIDE}/a.md", f"{ASIDE}/z.md"])
TEXTS = st.sampled_from(
    [
        document("fact.x", "one\n"),
        document("fact.x", "two\n"),
        document("fact.x", "one\r\n"),
        document(
            "fact.y", "# Head\n\nparseHTTPFrame\n\n## Sub\n\nmore 数据库\n", more="aliases: [other name]\n"
        ),
        document("fact.z", "z\n", more="links:\n  supersedes: [fact.x]\n"),
        "no header",
        b"\xff\xfe",
        b"",
        "---\nid: [\n---\n",
    ]
)
WRITE = st.tuples(st.just("write"), NAMES, TEXTS)
REMOVE = st.tuples(st.just("remove"), NAMES, st.just(""))
RENAME = st.tuples(st.just("rename"), NAMES, NAMES)
LINK = st.tuples(st.just("link"), NAMES, st.just(""))
KEEP_TIME = st.tuples(st.just("sneak"), NAMES, TEXTS)
STEP = st.tuples(st.just("refresh"), st.just(""), st.just(""))
PART = st.tuples(st.just("refresh"), NAMES, st.just("only"))
OPERATIONS = st.lists(st.one_of(WRITE, WRITE, REMOVE, RENAME, LINK, KEEP_TIME, STEP, STEP, PART), max_size=14)


def apply(layout: Layout, operation: tuple[str, str, str | bytes]) -> None:
    kind, name, value = operation
    path = layout.at(f"{FACTS}/{name}")
    os.makedirs(os.path.dirname(path), exist_ok=True)
    if kind in ("remove", "link", "write") and os.path.lexists(path):
        os.unlink(path)
    if kind == "write":
        put(layout, f"{FACTS}/{name}", value)
    elif kind == "link":
        os.symlink("nowhere.md", path)
    elif kind == "rename" and os.path.lexists(path) and isinstance(value, str):
        os.makedirs(os.path.dirname(layout.at(f"{FACTS}/{value}")), exist_ok=True)
        os.replace(path, layout.at(f"{FACTS}/{value}"))
    elif kind == "sneak" and os.path.isfile(path):
        times = os.stat(path)
        put(layout, f"{FACTS}/{name}", value)
        os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))


@pytest.mark.parametrize("batch", [500, 1, 2])
@settings(
    deadline=None,
    max_examples=20,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(operations=OPERATIONS)
def test_refresh_always_equals_a_rebuild(
    monkeypatch: pytest.MonkeyPatch, batch: int, operations: list[tuple[str, str, str | bytes]]
) -> None:
    monkeypatch.setattr(writer, "BATCH", batch)
    monkeypatch.setattr(writer, "_PIECE", batch)
    monkeypatch.setattr(writer, "_MANY", 1 if batch == 2 else 100)
    root = tempfile.mkdtemp()
    try:
        layout = new_store(root)
        index, _ = open_index(layout)
        for operation in [*operations, ("refresh", "", "")]:
            if operation[0] == "refresh":
                before = {row[0] for row in index.database.rows("SELECT doc_id FROM docs")}
                changed = {f"{FACTS}/{operation[1]}"} if operation[2] == "only" else None
                done = refresh(layout, index, changed=changed)
                after = {row[0] for row in index.database.rows("SELECT doc_id FROM docs")}
                assert (done.added, done.removed) == (len(after - before), len(before - after))
                assert done.modified <= len(before & after)
            else:
                apply(layout, operation)
        refreshed = content(index)
        manifest = Path(layout.manifest_file).read_bytes()
        assert index.database.check() == ""
        index.close()
        rebuild(layout)
        index = SqliteIndex.open(layout.index_file)
        assert content(index) == refreshed
        assert not refreshed["orphans"]
        assert Path(layout.manifest_file).read_bytes() == manifest
        assert take_inventory(layout.root, silent).manifest == manifest
        index.close()
    finally:
        shutil.rmtree(root)


def test_refresh_after_a_write_looks_only_at_the_written_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    layout = new_store(tmp_path)
    written = put(layout, "written.md", document("fact.written", "before\n"))
    other = put(layout, "other.md", document("fact.other", "before\n"))
    monkeypatch.setattr(writer.FileStamp, "racy_at", lambda stamp, moment: False)
    index, _ = open_index(layout)
    for path, doc_id in ((written, "fact.written"), (other, "fact.other")):
        Path(layout.at(path)).write_text(document(doc_id, "after\n"))
    put(layout, "new.md", document("fact.new", "after\n"))
    done = refresh(layout, index, changed=[written])
    assert (done.added, done.modified, done.removed, done.total) == (0, 1, 0, 2)
    query = parse_query("after")
    assert {hit.id for hit in find_hits(index, query, root=layout.root)} == {"fact.written"}
    assert not peek(layout, index)
    done = refresh(layout, index)
    assert (done.added, done.modified, done.total) == (1, 1, 3)
    assert len(find_hits(index, query, root=layout.root)) == 3


def test_write_by_another_process_meanwhile_stays_in_the_index(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The files that were written are applied to what is in the index by then."""
    layout = new_store(tmp_path)
    index, _ = open_index(layout)
    written = put(layout, "written.md", document("fact.written"))
    apply_walk = refresh_module._apply

    def late(*given: Any) -> Refreshed:
        monkeypatch.undo()
        put(layout, "other.md", document("fact.other"))
        open_index(layout)[0].close()
        return apply_walk(*given)

    monkeypatch.setattr(refresh_module, "_apply", late)
    done = refresh(layout, index, changed=[written])
    assert (done.removed, done.total) == (0, 2)


def test_reading_an_unchanged_file_again_does_not_write_the_index(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    layout = new_store(tmp_path)
    path = put(layout, "a.md", document("fact.a"))
    monkeypatch.setattr(writer.FileStamp, "racy_at", lambda stamp, moment: True)
    index, _ = open_index(layout)
    before = Path(layout.index_file).read_bytes()
    assert not refresh(layout, index).changed
    assert Path(layout.index_file).read_bytes() == before
    put(layout, path.rpartition("/")[2], document("fact.a", "other\n"))
    assert refresh(layout, index).changed
    assert Path(layout.index_file).read_bytes() != before


def test_names_that_differ_in_case_or_unicode_form_are_found_by_key(tmp_path: Path) -> None:
    layout = new_store(tmp_path)
    path = put(layout, "caf\u00e9.md", document("fact.a"))
    index, _ = open_index(layout)
    assert index.paths_like(f"{FACTS}/CAFE\u0301.md") == (path,)
    assert index.paths_like(f"{FACTS}/cafe.md") == ()
    assert index.ids_like("fact.A") == ("fact.a",)


@pytest.mark.parametrize("name", ["a:b.md", "nul.md", "x~1.md", "line\nend.md", "per%20cent.md"])
def test_special_files_are_not_indexed(tmp_path: Path, name: str) -> None:
    layout = new_store(tmp_path)
    put(layout, "plain.md", document("fact.plain"))
    put(layout, name, document("fact.odd"))
    index, _ = open_index(layout)
    assert [row[0] for row in content(index)["docs"]] == ["fact.plain"]
    problems = {path: text for path, _, _, text in content(index)["files"]}
    assert "TM002" in problems[f"{FACTS}/{name}"]
    assert "TM002" not in problems[f"{FACTS}/plain.md"]


def test_file_read_by_two_batches_counts_once_in_the_generation(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A batch reads another file that may contain the id which one of its own files no longer has. Files
    come in the order of the folder, so only some of the pairs are of this kind."""
    layout = new_store(tmp_path)
    for number in range(12):
        put(layout, f"a{number}.md", document(f"fact.n{number}"))
        put(layout, f"b{number}.md", document(f"fact.n{number}"))
    index, _ = open_index(layout)
    for number in range(12):
        put(layout, f"a{number}.md", document(f"fact.a{number}"))
        put(layout, f"b{number}.md", document(f"fact.b{number}"))
    monkeypatch.setattr(writer, "BATCH", 1)
    refresh(layout, index)
    assert index.ids() == sorted(f"fact.{name}{number}" for name in "ab" for number in range(12))
    refreshed = index.generation()
    index.close()
    rebuild(layout)
    index = SqliteIndex.open(layout.index_file)
    assert index.generation() == refreshed
    index.close()
