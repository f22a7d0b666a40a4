"""Shared by the tests of `undo`: a store with a clock, its bytes, and every kind of change."""

from __future__ import annotations

import os
import random
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from tests.support.index_support import document
from thunderus_mem.authoring import add, edit, init
from thunderus_mem.authoring.add import NewDocument
from thunderus_mem.authoring.edit import DocumentEdits
from thunderus_mem.garden import apply
from thunderus_mem.history.reverse import UndoChoice
from thunderus_mem.history.undo import Undone, restore, snapshots, undo
from thunderus_mem.interop import markdown
from thunderus_mem.lint import lint
from thunderus_mem.memory.memory import Memory, open_memory
from thunderus_mem.memory.transaction import open_transaction
from thunderus_mem.recap import recap

if TYPE_CHECKING:
    from collections.abc import Callable


def restore_last(memory: Memory) -> Undone:
    """Undo the last gardener run of this working tree that is not undone yet."""
    runs = [one.id for one in snapshots(memory).snapshots if one.here and not one.is_restored]
    return restore(memory, runs[0] if runs else "snap_none")


FACTS = ".thunderus/memory/semantic/FACTS"
DECISIONS = ".thunderus/memory/semantic/DECISIONS"
START = datetime(2026, 1, 21, 9, tzinfo=UTC)
HAND = "\nBody  one.\n\nBody two."
LONG = "".join(f"Line {n} of a long text that no log takes whole, as it should not.\n" for n in range(900))


class Store:
    """A store in ``root``, opened again for every call, each a second later."""

    def __init__(self, root: Path | str) -> None:
        self.root = Path(root)
        self.turn = 0

    def memory(self) -> Memory:
        self.turn += 1
        return open_memory(
            str(self.root),
            environ={"PATH": os.environ["PATH"], "THUNDERUS_MEM_CAPS_DOCUMENT_HARD": "100000"},
            now=lambda: START + timedelta(seconds=self.turn),
            random_bits=random.Random(self.turn).getrandbits,
        )

    def undo(self, event: str | None = None, **more: Any) -> Undone:
        chosen = {name: more.pop(name) for name in ("number", "redo") if name in more}
        return undo(self.memory(), UndoChoice(event, **chosen), **more)

    def put(self, name: str, data: str | bytes) -> Path:
        path = self.root / (name if "/" in name else f"{FACTS}/{name}")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data if isinstance(data, bytes) else data.encode())
        return path

    def read(self, name: str) -> bytes:
        return (self.root / (name if "/" in name else f"{FACTS}/{name}")).read_bytes()

    def documents(self) -> dict[str, bytes]:
        """Every document with its bytes."""
        folder = self.root / ".thunderus" / "memory"
        return {str(path.relative_to(self.root)): path.read_bytes() for path in folder.rglob("*.md")}

    def shards(self) -> dict[str, bytes]:
        """Every shard with its bytes."""
        folder = self.root / ".thunderus" / "sessions"
        return {str(path): path.read_bytes() for path in folder.rglob("*.jsonl")}

    def ops(self) -> list[str]:
        """What the log says was done, in order."""
        return [str(entry.event.body.get("op", "note")) for entry in self.memory().log.read_all().events]

    def last(self) -> str:
        """The id of the last event."""
        return self.memory().log.read_all().events[-1].event.id


def decision(doc_id: str, created: str) -> str:
    """A decision as a file holds it."""
    text = document(
        doc_id, "## Status\n\nAccepted\n\n## Context\n\n## Decision\n\n## Consequences\n", kind="adr"
    )
    return text.replace("2026-01-01", created)


def lint_fix(store: Store) -> None:
    store.put("yes.md", document("fact.yes", tags=("on", "x")))
    lint.lint(store.memory(), fix=True)


def renumber(store: Store) -> None:
    store.put(f"{DECISIONS}/ADR-0007-old.md", decision("adr.old", "2026-01-01"))
    store.put(f"{DECISIONS}/ADR-0007-new.md", decision("adr.new", "2026-01-02"))
    lint.lint(store.memory(), fix=True, select=["TM111"])


def garden(store: Store) -> None:
    same = "Frames are four bytes long and come in network order.\n\n- One detail.\n"
    store.put("twin-a.md", document("fact.twin-a", same, title="Frames"))
    store.put("twin-b.md", document("fact.twin-b", same, title="Frames", updated="2026-01-03T00:00:00Z"))
    memory = store.memory()
    apply.garden_apply(memory, apply.garden_plan(memory))


def bring_in(store: Store) -> None:
    folder = store.root / "elsewhere"
    for number in range(3):
        path = folder / f"page-{number}.md"
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(f"# Page {number}\n\nIt says {number}.\r\n".encode())
    markdown.import_markdown(store.memory(), str(folder), "fact", tags=("in",))


CHANGES: dict[str, Callable[[Store], object]] = {
    "add": lambda store: add.add(store.memory(), NewDocument("fact", "New", body="It is new.", tags=("n",))),
    "edit body": lambda store: edit.edit(store.memory(), "fact.hand", DocumentEdits(body="Now this.")),
    "edit tags": lambda store: edit.edit(store.memory(), "fact.hand", DocumentEdits(add_tags=("bee",))),
    "edit field": lambda store: edit.edit(
        store.memory(), "fact.hand", DocumentEdits(sets={"metadata.owner": "ada"})
    ),
    "edit long": lambda store: edit.edit(store.memory(), "fact.hand", DocumentEdits(body=LONG)),
    "remove": lambda store: edit.remove(store.memory(), "fact.hand", why="gone"),
    "link": lambda store: edit.link(store.memory(), "fact.hand", "refers_to", "fact.other"),
    "supersede": lambda store: edit.supersede(store.memory(), "fact.other", "fact.hand", why="so")[0],
    "import": bring_in,
    "garden": garden,
    "recap": lambda store: recap.recap(store.memory(), "2026-01-21"),
    "lint --fix": lint_fix,
    "renumber": renumber,
}
"""Every kind of change, on a store with `fact.hand` and `fact.other`."""


@cache
def _files(mark: str, ends: str, last: str) -> dict[str, bytes]:
    """The files of a store with the two documents, recorded, the first in the given dress."""
    with TemporaryDirectory(prefix="undo-") as folder:
        store = Store(folder)
        init.init(folder, store.memory)
        text = document("fact.hand", HAND, title="By hand", more="custom: {a: 1}  # mine\n")
        store.put("hand.md", mark + (text + last).replace("\n", ends))
        store.put("other.md", document("fact.other", "Something else.\n", title="Another"))
        with open_transaction(store.memory(), "look"):
            pass
        kept = (path for path in Path(folder).rglob("*") if path.is_file() and path.name != ".lock")
        return {str(path.relative_to(folder)): path.read_bytes() for path in kept if path.suffix != ".db"}


def with_hand(root: Path | str, *, mark: str = "", ends: str = "\n", last: str = "\n") -> Store:
    """A store whose log knows two documents that were written by hand."""
    store = Store(root)
    for name, data in _files(mark, ends, last).items():
        store.put(f"./{name}", data)
    store.turn = 100
    return store
