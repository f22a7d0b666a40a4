"""P10: file systems whose locks fail: writes fail with one message and change nothing, reads work."""

from __future__ import annotations

import errno
import fcntl
import os
import warnings
from typing import TYPE_CHECKING

import pytest
import report
from harness import state

from tests.support.events import note
from thunderus_mem.authoring.add import NewDocument, add
from thunderus_mem.authoring.edit import DocumentEdits, edit, remove
from thunderus_mem.authoring.show import list_documents
from thunderus_mem.errors import Busy, NotWritable, ThunderusError
from thunderus_mem.memory.memory import open_memory
from thunderus_mem.search.search import search

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from thunderus_mem.memory.memory import Memory

ANSWERS = {
    errno.ENOLCK: Busy,
    errno.ENOSYS: Busy,
    errno.EOPNOTSUPP: Busy,
    errno.EINVAL: Busy,
    errno.EAGAIN: Busy,
    errno.EIO: NotWritable,
    errno.ESTALE: NotWritable,
    errno.EPERM: NotWritable,
}
WRITES: tuple[Callable[[Memory], object], ...] = (
    lambda memory: add(memory, NewDocument("fact", "Ports", body="It is 8080.", tags=["net"])),
    lambda memory: edit(memory, "fact.begun", DocumentEdits(body="Another beginning.")),
    lambda memory: note(memory, "Looked at it."),
    lambda memory: remove(memory, "fact.begun", why="gone"),
)


@pytest.mark.parametrize("code", ANSWERS, ids=lambda code: errno.errorcode[code])
def test_without_locks_nothing_is_written(code: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / ".thunderus").mkdir()
    environ = {"THUNDERUS_MEM_WRITE_LOCK_TIMEOUT": "0.05", "PATH": os.environ["PATH"]}
    memory = open_memory(str(tmp_path), environ=environ)
    add(memory, NewDocument("fact", "Begun", body="It begins here.", tags=["one"]))
    before = state(str(tmp_path))

    def refused(*arguments: object) -> None:
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(fcntl, "flock", refused)
    for write in WRITES:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with pytest.raises(ANSWERS[code]) as caught:
                write(memory)
        error: ThunderusError = caught.value
        assert str(error).count("\n") == 0
        assert error.hint
        assert state(str(tmp_path)) == before
        assert [hit.id for hit in search(memory, "begins").hits] == ["fact.begun"]
        assert len(list_documents(memory).documents) == 1
    report.add("P10", errno.errorcode[code], tried=len(WRITES))
