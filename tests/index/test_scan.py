from __future__ import annotations

import os
from typing import TYPE_CHECKING

from thunderus_mem.index.scan import RACY_NS, UNSETTLED, scan, stamp_of, visible_name
from thunderus_mem.store.safe_open import open_folder

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


def names(root: Path) -> list[str]:
    return sorted(scan(str(root), ("a", "b")).names)


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
    assert found.special == {"a/link.md", "a/pipe.md"}
    assert sorted(found.names) == ["a/folder.md/in.md", "a/link.md", "a/pipe.md"]


def test_linked_folder_is_not_scanned(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out/x.md").write_text("x")
    (tmp_path / "a").symlink_to("out")
    assert names(tmp_path) == []


def test_scan_result_changes_with_content_name_and_restored_times(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    file = tmp_path / "a/x.md"
    file.write_text("one")
    first = scan(str(tmp_path), ("a",)).packed()
    assert scan(str(tmp_path), ("a",)).packed() == first
    times = file.stat()
    file.write_text("two, longer")
    os.utime(file, ns=(times.st_atime_ns, times.st_mtime_ns))
    second = scan(str(tmp_path), ("a",)).packed()
    file.rename(tmp_path / "a/y.md")
    assert len({first, second, scan(str(tmp_path), ("a",)).packed()}) == 3


def test_packed_scan_round_trips_every_stamp(tmp_path: Path) -> None:
    assert scan(str(tmp_path), ("a",)).packed().files() == {}
    (tmp_path / "a").mkdir()
    for name in ("x.md", "é.md", "z.md"):
        (tmp_path / "a" / name).write_text(name)
    os.symlink("nowhere", tmp_path / "a/link.md")
    seen = scan(str(tmp_path), ("a",))
    assert seen.packed().files() == dict(seen.files())
    remembered = seen.packed(unsettled={"a/é.md"}).files()
    assert remembered.pop("a/é.md") == UNSETTLED
    assert remembered.items() < dict(seen.files()).items()


def test_non_utf8_name_is_escaped_and_special(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    with open(os.fsencode(tmp_path / "a") + b"/\xff.md", "w"):
        pass
    found = scan(str(tmp_path), ("a",))
    assert found.names == ["a/\\xff.md"]
    assert found.special == {"a/\\xff.md"}
    assert visible_name("plain.md") == "plain.md"


def test_packed_scan_contains_unreadable_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for folder in ("a/shut", "b"):
        (tmp_path / folder).mkdir(parents=True)
    assert scan(str(tmp_path), ("a", "b")).packed().unlisted() == ()
    (tmp_path / "b/link.md").symlink_to("nowhere")

    def refused(path: str) -> int:
        if path.endswith("shut"):
            raise PermissionError(path)
        return open_folder(path)

    monkeypatch.setattr("thunderus_mem.index.scan.open_folder", refused)
    for name in ("", "a/x.md"):
        if name:
            (tmp_path / name).write_text("x")
        assert scan(str(tmp_path), ("a", "b")).packed().unlisted() == ("a/shut",)


def test_missing_folder_is_not_an_unreadable_one(tmp_path: Path) -> None:
    found = scan(str(tmp_path), ("a", "b"))
    assert (found.unlisted, found.names) == ((), [])


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
