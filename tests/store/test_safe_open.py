"""Linked folders in a store are never followed, by any function and whenever they were linked."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from thunderus_mem.errors import Refused
from thunderus_mem.index.scan import read_bytes
from thunderus_mem.log.append import append_record
from thunderus_mem.store import disk
from thunderus_mem.store.files import read_file, remove_file, replace_file
from thunderus_mem.store.safe_open import Folders, folder_of, open_file

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

ELSEWHERE = b"somebody else's"


@pytest.fixture
def linked(tmp_path: Path) -> str:
    """A folder in a store that is a link to one outside that contains ``a.md``."""
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "a.md").write_bytes(ELSEWHERE)
    (tmp_path / ".thunderus" / "memory").mkdir(parents=True)
    (tmp_path / ".thunderus" / "memory" / "notes").symlink_to(tmp_path / "outside")
    (tmp_path / ".thunderus" / "b.md").write_bytes(b"ours")
    return str(tmp_path / ".thunderus" / "memory" / "notes")


@pytest.mark.parametrize(
    "call",
    [
        lambda path: disk.create(path + ".new"),
        lambda path: disk.unlink(path),
        lambda path: disk.set_mode(path, 0o600),
        lambda path: disk.mode_of(path),
        lambda path: disk.make_folder(path + ".folder"),
        lambda path: disk.make_folders(path + ".deep/er", durable=False),
        lambda path: disk.sync_folder(os.path.dirname(path)),
        lambda path: disk.rename(path, path + ".new"),
        lambda path: disk.link(path, path + ".new"),
        lambda path: open_file(path, os.O_RDONLY),
    ],
)
def test_no_call_follows_a_linked_folder(linked: str, tmp_path: Path, call: Callable[[str], object]) -> None:
    try:
        found = call(os.path.join(linked, "a.md"))
    except OSError:
        found = None
    assert not found
    assert {path.name: path.read_bytes() for path in (tmp_path / "outside").iterdir()} == {"a.md": ELSEWHERE}


def test_file_and_log_functions_follow_no_linked_folder(linked: str, tmp_path: Path) -> None:
    path = os.path.join(linked, "a.md")
    for action in (
        lambda: read_file(path, 100),
        lambda: replace_file(path, b"x"),
        lambda: remove_file(path, expecting="x"),
        lambda: append_record(path, b'{"a": 1}\n'),
    ):
        with pytest.raises(Refused):
            action()
    with pytest.raises(OSError, match=r"directory|symbolic"):
        read_bytes(str(tmp_path), _stamp(".thunderus/memory/notes/a.md"))
    assert (tmp_path / "outside" / "a.md").read_bytes() == ELSEWHERE


def _stamp(path: str):
    from thunderus_mem.index.scan import FileStamp

    return FileStamp(path, 1, 0, 0, 0)


def test_links_above_the_store_are_followed(tmp_path: Path) -> None:
    (tmp_path / "real" / ".thunderus").mkdir(parents=True)
    (tmp_path / "way").symlink_to(tmp_path / "real")
    path = str(tmp_path / "way" / ".thunderus" / "a.md")
    replace_file(path, b"x")
    assert read_file(path, 10) == b"x"
    with folder_of(str(tmp_path / "way" / "b.md")) as (name, at):
        assert (name, at) == (str(tmp_path / "way" / "b.md"), None)


def test_no_descriptor_is_leaked(linked: str, tmp_path: Path) -> None:
    before = len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else 0
    for _ in range(20):
        replace_file(str(tmp_path / ".thunderus" / "b.md"), b"y")
        with pytest.raises(Refused):
            read_file(os.path.join(linked, "a.md"), 10)
    assert (len(os.listdir("/proc/self/fd")) if before else 0) == before


def test_folder_created_concurrently_is_accepted(tmp_path: Path, monkeypatch) -> None:
    """Another process creates the folder just before our call; or there is a file in its place."""
    folder = str(tmp_path / "new")
    make = disk.make_folder

    def beaten(path: str) -> None:
        os.mkdir(path)
        make(path)

    monkeypatch.setattr(disk, "make_folder", beaten)
    disk.make_folders(folder)
    assert os.path.isdir(folder)
    (tmp_path / "file").write_bytes(b"x")
    monkeypatch.undo()
    with pytest.raises(FileExistsError):
        disk.make_folders(str(tmp_path / "file"))
    monkeypatch.setattr(disk, "_CAN_CHMOD_DESCRIPTOR", False)
    disk.set_mode(str(tmp_path / "file"), 0o640)
    assert os.stat(tmp_path / "file").st_mode & 0o777 == 0o640


def test_sibling_files_are_opened_from_one_folder(linked: str, tmp_path: Path) -> None:
    """A link is rejected every time; an open folder remains the same folder."""
    store = tmp_path / ".thunderus"
    (store / "memory" / "c.md").write_bytes(b"c")
    (tmp_path / "plain.md").write_bytes(b"plain")
    opened = len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else 0

    def read(folders: Folders, path: Path) -> bytes:
        descriptor = folders.open_file(str(path), os.O_RDONLY)
        try:
            return os.read(descriptor, 100)
        finally:
            os.close(descriptor)

    with Folders() as folders:
        for _ in range(2):
            assert read(folders, store / "b.md") == b"ours"
            assert read(folders, tmp_path / "plain.md") == b"plain"
            with pytest.raises(OSError, match=r"Not a directory|Too many levels"):
                read(folders, store / "memory" / "notes" / "a.md")
            with pytest.raises(FileNotFoundError):
                read(folders, store / "memory" / "none.md")
            assert read(folders, store / "memory" / "c.md") == b"c"
        (store / "memory").rename(tmp_path / "away")
        (store / "memory").symlink_to(tmp_path / "outside")
        assert read(folders, store / "memory" / "c.md") == b"c"
        with pytest.raises(FileNotFoundError):
            read(folders, store / "memory" / "a.md")
    with Folders() as folders, pytest.raises(OSError, match=r"Not a directory|Too many levels"):
        read(folders, store / "memory" / "a.md")
    if opened:
        assert len(os.listdir("/proc/self/fd")) == opened
