"""An index replaced by another process never makes a completed write fail."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.support.events import note, note_event
from thunderus_mem.authoring.add import NewDocument, add
from thunderus_mem.index.refresh import rebuild
from thunderus_mem.memory.memory import open_memory
from thunderus_mem.memory.transaction import open_transaction

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.support.command_server import Done

    Run = Callable[..., Done]


def test_index_replaced_while_open_is_opened_again(repo: Path, run: Run) -> None:
    assert run("init").code == 0
    memory = open_memory(str(repo))
    memory.refresh()
    rebuild(open_memory(str(repo)).layout)
    assert note(memory, "hello")
    with open_transaction(memory, "note") as transaction:
        rebuild(open_memory(str(repo)).layout)
        transaction.log(
            lambda context: note_event(
                text="again", id=memory.new_id("evt"), actor="user", **context._asdict()
            )
        )
    rebuild(open_memory(str(repo)).layout)
    written = add(memory, NewDocument("fact", "Plain", body="plain words", tags=["t"]))
    assert (repo / written.path).exists()
    assert "fact.plain" in run("list").out
    assert memory.log_index().naming(["fact.plain"])
