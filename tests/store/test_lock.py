"""The lock: held by the kernel, waited for, and reported with its holder if busy."""

from __future__ import annotations

import errno
import os
import subprocess
import sys

import pytest

from thunderus_mem.errors import Busy, NotFound, ThunderusError
from thunderus_mem.store.lock import held, is_held, owner_path

HOLD = (
    "import sys; from thunderus_mem.store.lock import held\n"
    "with held(sys.argv[1], command='garden'):\n    print('held', flush=True); sys.stdin.read()\n"
)


@pytest.fixture
def holder(tmp_path):
    path = str(tmp_path / ".lock")
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD, path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=os.getcwd()
    )
    assert process.stdout is not None
    assert process.stdout.readline() == b"held\n"
    yield process, path
    process.kill()
    process.communicate()


def test_holder_is_reported_with_command_and_age(holder) -> None:
    process, path = holder
    words = rf"process {process.pid} on .* \(garden, started \d+ s ago\)"
    with pytest.raises(Busy, match=words), held(path, timeout=0.02):
        pass


@pytest.mark.parametrize(
    ("owner", "words"),
    [
        (b"{", "another process"),
        (b"[]", "another process"),
        (b'{"pid": 7, "since": "x"}', r"process 7 on None \(a command\)"),
    ],
)
def test_invalid_owner_file_only_hides_the_holder(holder, owner: bytes, words: str) -> None:
    _, path = holder
    with open(owner_path(path), "wb") as stream:
        stream.write(owner)
    with pytest.raises(Busy, match=words), held(path, timeout=0.02):
        pass


def test_killed_holder_releases_the_lock_and_keeps_the_file(holder) -> None:
    process, path = holder
    process.kill()
    process.wait()
    with held(path, timeout=0.5, command="next"):
        assert os.path.exists(path)
    assert os.path.exists(path)


def test_missing_folder_is_not_created(tmp_path) -> None:
    with pytest.raises(NotFound), held(str(tmp_path / "none" / ".lock")):
        pass
    assert os.listdir(tmp_path) == []


def test_owner_file_errors_do_not_stop_a_write(tmp_path, monkeypatch) -> None:
    (tmp_path / "local").write_text("a file where the folder would be")
    reached = []
    with held(str(tmp_path / ".lock")):
        reached.append("a file in the way")
    (tmp_path / "local").unlink()
    with monkeypatch.context() as patch:
        patch.setattr(os, "write", lambda *arguments: (_ for _ in ()).throw(OSError(errno.ENOSPC, "full")))
        with held(str(tmp_path / ".lock")):
            reached.append("a full disk")
    monkeypatch.delattr(os, "uname")
    with held(str(tmp_path / ".lock")):
        reached.append("no name of the machine")

    assert len(reached) == 3


def test_lock_that_is_a_folder_is_rejected(tmp_path) -> None:
    (tmp_path / ".lock").mkdir()
    with pytest.raises(ThunderusError, match="lock"), held(str(tmp_path / ".lock"), timeout=0.02):
        pass


def test_file_system_without_locks_is_reported(tmp_path, monkeypatch) -> None:
    import fcntl

    def missing(*arguments: object) -> None:
        raise OSError(errno.ENOSYS, "no flock")

    monkeypatch.setattr(fcntl, "flock", missing)
    with pytest.raises(Busy, match="cannot lock"), held(str(tmp_path / "other.lock")):
        pass


def test_lock_that_is_a_symlink_is_not_followed(tmp_path) -> None:
    (tmp_path / ".lock").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(ThunderusError, match="lock"), held(str(tmp_path / ".lock"), timeout=0.02):
        pass
    assert not (tmp_path / "elsewhere").exists()


def test_deleted_lock_file_does_not_lock(holder) -> None:
    _, path = holder
    os.unlink(path)
    with held(path, timeout=0.5, command="next"):
        assert is_held(path)
    assert not is_held(path)


def test_process_forked_meanwhile_does_not_keep_the_lock(tmp_path) -> None:
    path = str(tmp_path / ".lock")
    reading, writing = os.pipe()
    with held(path):
        child = os.fork()
        if not child:
            os.close(writing)
            os.read(reading, 1)
            os._exit(0)
    assert not is_held(path)
    os.close(writing)
    os.waitpid(child, 0)
    os.close(reading)
