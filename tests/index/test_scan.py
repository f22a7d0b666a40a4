from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from thunderus_mem.index.scan import RACY_NS, look_at, scan, stamp_of, visible_name
from thunderus_mem.store.safe_open import open_folder

if TYPE_CHECKING:
    from pathlib import Path


def names(root: Path) -> list[str]:
    return sorted(scan(str(root), ("a", "b")).paths())


def test_scan_finds_markdown_except_hidden_files(tmp_path: Path) -> None:
    for name in ("a/x.md", "a/deep/er/y.md", "a/.hidden.md", "a/.git/z.md", "a/note.txt", "b/w.md", "c/v.md"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("x")
    assert names(tmp_path) == ["a/deep/er/y.md", "a/x.md", "b/w.md"]


def test_links_and_pipes_are_special_and_folders_are_scanned(tmp_path: Path) -> None:
    (tmp_path / "a/folder.md").mkdir(parents=True)
    (tmp_path / "a/folder.md/in.md").write_text("x")
    (tmp_path / "a/link.md").symlink_to("nowhere")
    os.mkfifo(tmp_path / "a/pipe.md")
    found = scan(str(tmp_path), ("a",))
    assert sorted((file.path, file.regular) for file in found.files()) == [
        ("a/folder.md/in.md", True),
        ("a/link.md", False),
        ("a/pipe.md", False),
    ]


def test_linked_folder_is_not_scanned(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out/x.md").write_text("x")
    (tmp_path / "a").symlink_to("out")
    assert names(tmp_path) == []


def test_scan_result_changes_with_content_name_and_restored_times(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    file = tmp_path / "a/x.md"
    file.write_text("one")
    first = scan(str(tmp_path), ("a",)).parts[0]
    assert scan(str(tmp_path), ("a",)).parts[0] == first
    times = file.stat()
    file.write_text("two, longer")
    os.utime(file, ns=(times.st_atime_ns, times.st_mtime_ns))
    second = scan(str(tmp_path), ("a",)).parts[0]
    file.rename(tmp_path / "a/y.md")
    assert len({first, second, scan(str(tmp_path), ("a",)).parts[0]}) == 3


@pytest.mark.parametrize("most", [1, 2, 3])
def test_parts_of_a_folder_are_its_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, most: int) -> None:
    monkeypatch.setattr("thunderus_mem.index.scan._MOST_IN_PART", most)
    assert scan(str(tmp_path), ("a",)).parts == ()
    (tmp_path / "a").mkdir()
    for name in ("x.md", "é.md", "z.md"):
        (tmp_path / "a" / name).write_text(name)
    os.symlink("nowhere", tmp_path / "a/link.md")
    seen = scan(str(tmp_path), ("a",))
    assert seen.size == sum(part.size for part in seen.parts) == 4
    assert all(part.size <= most for part in seen.parts)
    files = sorted(seen.files())
    assert [file.path for file in files] == sorted(seen.paths())
    assert files == [stamp_of(str(tmp_path), file.path) for file in files]
    assert sorted(look_at(str(tmp_path), [*seen.paths(), "a/gone.md"]).files()) == files


def test_added_file_leaves_most_parts_of_a_folder_unchanged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("thunderus_mem.index.scan._PART_BITS", 7)
    (tmp_path / "a").mkdir()
    for number in range(200):
        (tmp_path / f"a/{number}.md").write_text("x")
    before = set(scan(str(tmp_path), ("a",)).parts)
    (tmp_path / "a/new.md").write_text("x")
    (tmp_path / "a/100.md").unlink()
    after = set(scan(str(tmp_path), ("a",)).parts)
    assert len(before) > 10
    assert len(after - before) <= 3


def test_non_utf8_name_is_escaped_and_special(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    with open(os.fsencode(tmp_path / "a") + b"/\xff.md", "w"):
        pass
    found = scan(str(tmp_path), ("a",))
    assert [(file.path, file.regular) for file in found.files()] == [("a/\\xff.md", False)]
    assert visible_name("plain.md") == "plain.md"


def test_scan_lists_unreadable_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for folder in ("a/shut", "b"):
        (tmp_path / folder).mkdir(parents=True)
    assert scan(str(tmp_path), ("a", "b")).unlisted == ()
    (tmp_path / "b/link.md").symlink_to("nowhere")

    def refused(path: str) -> int:
        if path.endswith("shut"):
            raise PermissionError(path)
        return open_folder(path)

    monkeypatch.setattr("thunderus_mem.index.scan.open_folder", refused)
    for name in ("", "a/x.md"):
        if name:
            (tmp_path / name).write_text("x")
        assert scan(str(tmp_path), ("a", "b")).unlisted == ("a/shut",)


def test_missing_folder_is_not_an_unreadable_one(tmp_path: Path) -> None:
    found = scan(str(tmp_path), ("a", "b"))
    assert (found.unlisted, found.parts) == ((), ())


def test_recent_file_is_racy(tmp_path: Path) -> None:
    (tmp_path / "x.md").write_text("x")
    stamp = stamp_of(str(tmp_path), "x.md")
    assert stamp is not None
    assert stamp.racy_at(stamp.ctime_ns)
    assert not stamp.racy_at(stamp.ctime_ns + RACY_NS + 1)
    assert stamp_of(str(tmp_path), "gone.md") is None


def test_future_mtime_is_trusted_like_any_other(tmp_path: Path) -> None:
    (tmp_path / "x.md").write_text("x")
    os.utime(tmp_path / "x.md", (4e9, 4e9))
    stamp = stamp_of(str(tmp_path), "x.md")
    assert stamp is not None
    assert stamp.racy_at(stamp.ctime_ns)
    assert not stamp.racy_at(stamp.ctime_ns + RACY_NS + 1)
    assert stamp.racy_at(stamp.mtime_ns - RACY_NS)
    assert stamp._replace(ctime_ns=stamp.mtime_ns).racy_at(stamp.ctime_ns + RACY_NS + 1)


def test_a_file_that_cannot_be_looked_at_is_not_missing(tmp_path: Path) -> None:
    folder = tmp_path / "a"
    folder.mkdir()
    (folder / "b.md").write_text("text")
    too_long = f"a/{'x' * 300}.md"  # the system refuses the name, as it refuses files of a locked folder
    seen = look_at(str(tmp_path), ["a/b.md", "a/none.md", too_long])
    assert (list(seen.paths()), seen.unlisted) == (["a/b.md"], ("a",))
