"""Quarantine: files are moved to the same path below it, and overwrite nothing."""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING

import pytest

from thunderus_mem.errors import NotWritable, Refused, ThunderusError
from thunderus_mem.store.layout import Layout
from thunderus_mem.store.quarantine import Quarantine, kept_files, way_back

if TYPE_CHECKING:
    from pathlib import Path

INDEX = ".thunderus/memory/indexes/memory.db"
RUN = ".thunderus/.quarantine/doctor-1"


@pytest.fixture
def layout(tmp_path: Path) -> Layout:
    (tmp_path / ".thunderus/memory/indexes").mkdir(parents=True)
    (tmp_path / INDEX).write_bytes(b"index")
    return Layout(str(tmp_path))


def test_moved_file_keeps_its_path_and_can_be_restored(layout: Layout, tmp_path: Path) -> None:
    kept = Quarantine(layout, "1").move(INDEX)
    assert kept == f"{RUN}/memory/indexes/memory.db"
    assert not (tmp_path / INDEX).exists()
    assert [(one.path, one.was, one.size) for one in kept_files(layout)] == [(kept, INDEX, 5)]
    subprocess.run(["bash", "-c", way_back(kept, INDEX)], cwd=tmp_path, check=True)
    assert (tmp_path / INDEX).read_bytes() == b"index"


def test_simultaneous_runs_use_separate_folders(layout: Layout, tmp_path: Path) -> None:
    assert Quarantine(layout, "1").move(INDEX).startswith(f"{RUN}/")
    (tmp_path / INDEX).write_bytes(b"another")
    again = Quarantine(layout, "1")
    assert again.move(INDEX).startswith(f"{RUN}-2/")
    assert again.copy(".thunderus/.gitignore", b"lines") == f"{RUN}-2/.gitignore"
    assert [one.was for one in kept_files(layout)] == [INDEX, ".thunderus/.gitignore", INDEX]


@pytest.mark.parametrize("what", ["folder", "link", "pipe", "odd name"])
def test_any_file_type_can_be_moved(layout: Layout, tmp_path: Path, what: str) -> None:
    path = ".thunderus/local/it's odd\u202e" if what == "odd name" else ".thunderus/local/thing"
    place = tmp_path / path
    place.parent.mkdir()
    if what == "folder":
        (place / "deep").mkdir(parents=True)
    elif what == "link":
        place.symlink_to(tmp_path / "nowhere")
    elif what == "pipe":
        os.mkfifo(place)
    else:
        place.write_bytes(b"x")
    kept = Quarantine(layout, "1").move(path)
    assert os.path.lexists(tmp_path / kept)
    assert not os.path.lexists(place)
    subprocess.run(["bash", "-c", way_back(kept, path)], cwd=tmp_path, check=True)
    assert os.path.lexists(place)


def test_missing_file_cannot_be_moved(layout: Layout) -> None:
    with pytest.raises(ThunderusError, match="does not exist"):
        Quarantine(layout, "1").move(".thunderus/nothing")


@pytest.mark.parametrize("what", ["file", "link"])
def test_quarantine_that_is_not_a_folder_is_rejected(layout: Layout, tmp_path: Path, what: str) -> None:
    quarantine = tmp_path / ".thunderus/.quarantine"
    (tmp_path / "elsewhere").mkdir()
    quarantine.write_text("x") if what == "file" else quarantine.symlink_to(tmp_path / "elsewhere")
    for work in (lambda aside: aside.move(INDEX), lambda aside: aside.copy(INDEX, b"x")):
        with pytest.raises(Refused):
            work(Quarantine(layout, "1"))
    assert list((tmp_path / "elsewhere").iterdir()) == []
    assert (tmp_path / INDEX).exists()


def test_disk_error_leaves_the_file_in_place(layout: Layout, tmp_path: Path, monkeypatch) -> None:
    def refuse(source: str, target: str, **options: object) -> None:
        raise OSError(28, "full")

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", refuse)
        with pytest.raises(NotWritable, match="no space left"):
            Quarantine(layout, "1").move(INDEX)
    assert (tmp_path / INDEX).read_bytes() == b"index"


def test_empty_or_missing_quarantine_contains_nothing(layout: Layout, tmp_path: Path) -> None:
    assert kept_files(layout) == []
    (tmp_path / ".thunderus/.quarantine").mkdir()
    assert kept_files(layout) == []


def test_long_listing_is_truncated(layout: Layout, tmp_path: Path, monkeypatch) -> None:
    from thunderus_mem.store import quarantine

    monkeypatch.setattr(quarantine, "_MOST_LISTED", 2)
    for number in range(4):
        path = tmp_path / f".thunderus/.quarantine/{number:016x}-a.md"
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(b"x")
    assert [one.was for one in kept_files(layout)] == ["", ""]


def test_file_removed_during_listing_is_skipped(layout: Layout, tmp_path: Path, monkeypatch) -> None:
    folder = tmp_path / ".thunderus/.quarantine"
    folder.mkdir()
    monkeypatch.setattr(os, "listdir", lambda path: ["gone"])
    assert kept_files(layout) == []
