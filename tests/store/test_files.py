"""Files: read up to a limit, and replaced atomically if the hash is the expected one."""

from __future__ import annotations

import errno
import os
import stat
from typing import Any

import pytest

from thunderus_mem.document.document import content_hash
from thunderus_mem.errors import (
    Busy,
    Conflict,
    DocumentExists,
    NotFound,
    NotWritable,
    Refused,
    ThunderusError,
    TooLarge,
    explain,
)
from thunderus_mem.store import disk, files
from thunderus_mem.store.files import (
    ABSENT,
    file_hash,
    permissions,
    read_below,
    read_file,
    remove_file,
    replace_file,
    sweep,
)


def test_file_is_read_completely_up_to_its_limit(tmp_path) -> None:
    path = str(tmp_path / "a")
    replace_file(path, b"12345")
    assert read_file(path, 5) == b"12345"
    with pytest.raises(Refused):
        read_file(path, 4)


def test_file_of_a_store_is_reported_by_its_path_in_the_store(tmp_path) -> None:
    (tmp_path / "a.md").write_bytes(b"12345")
    assert read_below(str(tmp_path), "a.md", 5) == b"12345"
    with pytest.raises(TooLarge, match=r"^a\.md is larger than 4 bytes$"):
        read_below(str(tmp_path), "a.md", 4)
    with pytest.raises(NotFound, match=r"^b\.md "):
        read_below(str(tmp_path), "b.md", 4)


def test_file_that_grows_while_being_read_is_rejected(tmp_path, monkeypatch) -> None:
    path = str(tmp_path / "a")
    replace_file(path, b"12")
    pieces = [b"123", b"456", b""]
    monkeypatch.setattr(os, "read", lambda descriptor, size: pieces.pop(0))
    with pytest.raises(Refused):
        read_file(path, 5)


def test_only_regular_files_are_read(tmp_path) -> None:
    replace_file(str(tmp_path / "a"), b"x")
    (tmp_path / "link").symlink_to(tmp_path / "a")
    os.mkfifo(tmp_path / "pipe")
    for name in ("link", "pipe", "."):
        with pytest.raises(Refused):
            read_file(str(tmp_path / name), 10)
    with pytest.raises(NotFound):
        read_file(str(tmp_path / "none"), 10)


def test_socket_and_failing_disk_are_distinguished(tmp_path, monkeypatch) -> None:
    path = str(tmp_path / "a")
    replace_file(path, b"x")

    def fail(code: int):
        def call(*arguments: object, **options: object) -> None:
            raise OSError(code, os.strerror(code))

        return call

    with monkeypatch.context() as patch:
        patch.setattr(os, "read", fail(errno.EIO))
        with pytest.raises(NotWritable):
            read_file(path, 10)
    with monkeypatch.context() as patch:
        patch.setattr(os, "open", fail(errno.ENXIO))
        with pytest.raises(Refused):
            read_file(path, 10)


def test_replace_checks_the_expected_hash(tmp_path) -> None:
    path = str(tmp_path / "deep" / "er" / "a.md")
    replace_file(path, b"one\r\n", expecting=ABSENT)
    assert file_hash(path) == content_hash(b"one\n")
    with pytest.raises(DocumentExists):
        replace_file(path, b"two", expecting=ABSENT)
    with pytest.raises(Conflict):
        replace_file(path, b"two", expecting=content_hash(b"other"))
    replace_file(path, b"two", expecting=content_hash(b"one\n"))
    assert read_file(path, 10) == b"two"
    with pytest.raises(Conflict):
        replace_file(str(tmp_path / "none"), b"x", expecting=content_hash(b"x"))
    assert os.listdir(tmp_path / "deep" / "er") == ["a.md"]


def test_replace_keeps_the_mode_without_world_write(tmp_path) -> None:
    path = str(tmp_path / "a")
    old = os.umask(0)
    try:
        replace_file(path, b"x", durable=False)
    finally:
        os.umask(old)
    assert not os.stat(path).st_mode & stat.S_IWOTH
    os.chmod(path, 0o640)
    replace_file(path, b"y")
    assert stat.S_IMODE(os.stat(path).st_mode) == 0o640


def test_replace_follows_no_link_and_leaves_no_temporary_file(tmp_path, monkeypatch) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "elsewhere")
    (tmp_path / "folder").mkdir()
    for name in ("link", "folder"):
        with pytest.raises(Refused):
            replace_file(str(tmp_path / name), b"x")

    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, "full")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(NotWritable) as caught:
        replace_file(str(tmp_path / "a"), b"x")
    assert "no space left" in str(caught.value)
    assert sorted(os.listdir(tmp_path)) == ["folder", "link"]


def test_first_error_is_reported_if_the_temporary_file_cannot_be_removed(tmp_path, monkeypatch) -> None:
    def fail(*arguments: object, **options: object) -> None:
        raise OSError(errno.EROFS, "no")

    monkeypatch.setattr(os, "replace", fail)
    monkeypatch.setattr(os, "unlink", fail)
    with pytest.raises(NotWritable, match="read-only"):
        replace_file(str(tmp_path / "a"), b"x")
    monkeypatch.undo()
    assert sweep(str(tmp_path)) == 1
    assert sweep(str(tmp_path / "none")) == 0
    assert os.listdir(tmp_path) == []


def test_only_windows_sharing_errors_are_retried(tmp_path, monkeypatch) -> None:
    real, left, waited = os.replace, [8], []

    def shared(source: str, target: str, **options: Any) -> None:
        if left[0]:
            left[0] -= 1
            error = PermissionError(errno.EACCES, "in use")
            error.winerror = 32  # type: ignore[attr-defined]
            raise error
        real(source, target, **options)

    monkeypatch.setattr(os, "replace", shared)
    monkeypatch.setattr(disk.time, "sleep", waited.append)
    replace_file(str(tmp_path / "a"), b"x")
    assert len(waited) == 8
    assert sum(waited) <= 2.5
    left[0] = 99
    with pytest.raises(NotWritable):
        replace_file(str(tmp_path / "a"), b"y")
    assert os.listdir(tmp_path) == ["a"]


def test_document_open_in_another_program_is_waited_for_once(tmp_path, monkeypatch) -> None:
    staged, target = str(tmp_path / "staged"), str(tmp_path / "a.md")
    replace_file(staged, b"new")
    replace_file(target, b"old")
    waited: list[float] = []

    def shared(source: str, target: str, **options: Any) -> None:
        error = PermissionError(errno.EACCES, "in use")
        error.winerror = 5  # type: ignore[attr-defined]
        raise error

    monkeypatch.setattr(os, "replace", shared)
    monkeypatch.setattr(disk.time, "sleep", waited.append)
    with pytest.raises(PermissionError):
        files.publish_file(staged, target, expecting=content_hash(b"old"))
    assert 2 < sum(waited) <= 2.5
    assert sorted(os.listdir(tmp_path)) == ["a.md", "staged"]


def test_remove_checks_the_expected_hash(tmp_path, monkeypatch) -> None:
    path = str(tmp_path / "a")
    replace_file(path, b"x")
    with pytest.raises(Conflict):
        remove_file(path, expecting=content_hash(b"y"))
    with monkeypatch.context() as patch:
        patch.setattr(os, "unlink", lambda path, **_: (_ for _ in ()).throw(OSError(errno.EACCES, "no")))
        with pytest.raises(NotWritable):
            remove_file(path, expecting=content_hash(b"x"))
    remove_file(path, expecting=content_hash(b"x"))
    assert file_hash(path) == ABSENT


@pytest.mark.parametrize("code", sorted(errno.errorcode))
def test_every_errno_has_one_message_with_a_hint(code: int) -> None:
    error = explain(OSError(code, os.strerror(code)), "some/file.md")
    assert isinstance(error, ThunderusError)
    assert "some/file.md" in str(error)
    assert not str(error).endswith(".")
    assert error.hint
    assert explain(OSError("odd"), "x").exit_code == 4
    assert isinstance(explain(OSError(errno.ENOLCK, ""), "x"), Busy)


def test_disk_without_links_is_published_to_by_copying(tmp_path, monkeypatch) -> None:
    staged, target = str(tmp_path / "staged"), str(tmp_path / "new" / "a.md")
    replace_file(staged, b"text")

    def no_links(source: str, target: str, **options: object) -> None:
        raise OSError(errno.EXDEV, "two disks")

    monkeypatch.setattr(os, "link", no_links)
    files.publish_file(staged, target, expecting=ABSENT)
    assert read_file(target, 10) == b"text"


def test_file_created_during_publishing_is_kept(tmp_path, monkeypatch) -> None:
    staged, target = str(tmp_path / "staged"), str(tmp_path / "a.md")
    replace_file(staged, b"ours")
    replace_file(target, b"theirs")
    monkeypatch.setattr(files, "check_expected", lambda path, expecting: None)
    with pytest.raises(DocumentExists):
        files.publish_file(staged, target, expecting=ABSENT)
    with monkeypatch.context() as patch:
        patch.setattr(os, "link", lambda source, target, **_: (_ for _ in ()).throw(OSError(errno.EIO, "no")))
        with pytest.raises(OSError, match="no"):
            files.publish_file(staged, str(tmp_path / "b.md"), expecting=ABSENT)
    with pytest.raises(Conflict):
        files.take_file(target, str(tmp_path / "taken"), expecting=content_hash(b"other"))
    assert read_file(target, 10) == b"theirs"
    assert files.ABSENT == ""
    files.publish_file(staged, str(tmp_path / "removed.md"), expecting=content_hash(b"old"))
    assert read_file(str(tmp_path / "removed.md"), 10) == b"ours"


def test_drive_cache_is_flushed_where_supported(tmp_path, monkeypatch) -> None:
    import fcntl

    asked: list[int] = []
    monkeypatch.setattr(fcntl, "F_FULLFSYNC", 51, raising=False)
    monkeypatch.setattr(fcntl, "fcntl", lambda descriptor, command: asked.append(command))
    replace_file(str(tmp_path / "a"), b"x")
    assert asked == [51]


def test_write_works_without_folder_sync_and_fcntl(tmp_path, monkeypatch) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "fcntl", None)
    replace_file(str(tmp_path / "a"), b"x")
    monkeypatch.setattr(disk.os, "name", "nt")
    disk.sync_folder(str(tmp_path / "none"))

    assert (tmp_path / "a").read_bytes() == b"x"


def test_concurrently_created_folders_are_accepted_and_files_rejected(tmp_path, monkeypatch) -> None:
    real, seen = os.path.isdir, []

    def late(path: str) -> bool:
        seen.append(path)
        return real(path) if len(seen) > 1 else False

    (tmp_path / "made").mkdir()
    with monkeypatch.context() as patch:
        patch.setattr(os.path, "isdir", late)
        disk.make_folders(str(tmp_path / "made"))
    (tmp_path / "file").write_text("x")
    with pytest.raises(FileExistsError):
        disk.make_folders(str(tmp_path / "file"))
    disk.make_folders(str(tmp_path / "quick"), durable=False)


def _heard(action) -> list[tuple[str, str]]:
    """The operations on the disk while ``action`` runs, with the last part of their paths."""
    from tests.support.failpoints import recording

    found: list[tuple[str, str]] = []
    with recording(lambda operation, path, detail: found.append((operation, os.path.basename(path)))):
        action()
    return found


def test_old_names_are_removed_after_the_new_ones_are_synced(tmp_path) -> None:
    staging, folder = tmp_path / "staging", tmp_path / "facts"
    for place in (staging, folder):
        place.mkdir()
    for name in "01":
        replace_file(str(staging / name), b"text")

    def publish() -> None:
        for name in "01":
            target = str(folder / f"{name}.md")
            assert files.publish_staged(str(staging / name), target, ABSENT, content_hash(b"text"))
        files.settle_published(str(folder), str(staging), ("0", "1", "2"))

    heard = _heard(publish)
    assert heard[:3] == [("link", "0"), ("link", "1"), ("sync-folder", "facts")]
    assert sorted(heard[3:5]) == [("unlink", "0"), ("unlink", "1")]
    assert heard[5:] == [("sync-folder", "staging")]


def test_restored_document_is_synced_before_its_other_name_is_removed(tmp_path, monkeypatch) -> None:
    path, into = str(tmp_path / "a.md"), str(tmp_path / "taken")
    replace_file(path, b"theirs")
    monkeypatch.setattr(files, "check_expected", lambda path, expecting: None)

    def take() -> None:
        with pytest.raises(Conflict):
            files.take_file(path, into, expecting=content_hash(b"ours"))

    assert [name for name, _ in _heard(take)] == ["rename", "link", "sync-folder", "unlink"]
    assert read_file(path, 10) == b"theirs"


def test_replaceable_file_is_never_torn(tmp_path) -> None:
    heard = _heard(lambda: replace_file(str(tmp_path / "a"), b"x", durable=False))
    assert [name for name, _ in heard] == ["create", "write", "sync", "rename"]


def test_permissions_are_known_only_for_regular_files(tmp_path, monkeypatch) -> None:
    path = tmp_path / "a"
    path.write_text("")
    path.chmod(0o640)
    assert [permissions(str(one)) for one in (path, tmp_path, tmp_path / "none")] == [0o640, 0, 0]

    def refuse(path: str) -> int:
        raise PermissionError(errno.EACCES, "no")

    monkeypatch.setattr(disk, "mode_of", refuse)
    assert permissions(str(path)) == 0


def test_permissions_are_set_before_the_first_byte_is_written(tmp_path, monkeypatch) -> None:
    path = str(tmp_path / "private")
    modes: list[int] = []
    write_all = disk.write_all

    def watched(descriptor: int, name: str, data: bytes) -> None:
        modes.append(stat.S_IMODE(os.fstat(descriptor).st_mode))
        write_all(descriptor, name, data)

    monkeypatch.setattr(disk, "write_all", watched)
    disk.write_new(path, (b"one", b"two"), 0o600)
    assert modes == [0o600, 0o600]
    with open(path, "rb") as written:
        assert written.read() == b"onetwo"
