"""A working tree whose documents and log are written by the program, each step on a newly opened store."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

from tests.support.events import note
from tests.support.git_repository import Repository
from tests.support.tree_writer import FACTS, Clock, Writer
from thunderus_mem.authoring import add, edit, init
from thunderus_mem.authoring.add import NewDocument
from thunderus_mem.authoring.edit import DocumentEdits
from thunderus_mem.document.document import content_hash
from thunderus_mem.log.event import hand_edit_id
from thunderus_mem.memory.memory import Memory, open_memory
from thunderus_mem.memory.transaction import open_transaction

if TYPE_CHECKING:
    from pathlib import Path


class VerbTree(Writer):
    """What `Writer` does, done by the verbs; reading it is inherited."""

    def __init__(self, repository: Repository, clock: Clock, seed: int = 1) -> None:
        super().__init__(repository, clock, seed)
        self._bits = random.Random(f"{seed}:{repository.root}").getrandbits

    def memory(self) -> Memory:
        """The store, opened as a command opens it."""
        return open_memory(
            str(self.root), environ=self.repository.env, now=self._clock, random_bits=self._bits
        )

    def begin(self) -> None:
        """Make the store."""
        init.init(str(self.root), self.memory)

    def add(self, name: str, body: str = "") -> str:
        text = f"{name} is so.\n{body}"
        return add.add(
            self.memory(), NewDocument("fact", name, body=text, tags=("one",)), why="seen"
        ).event_id

    def edit(self, name: str, old: str, new: str) -> str:
        text = self.text(name)
        assert old in text
        done = edit.edit(self.memory(), f"fact.{name}", DocumentEdits(text=text.replace(old, new)))
        assert done.published
        return done.event_id

    def edit_by_hand(self, name: str, old: str, new: str) -> str:
        text = self.text(name)
        changed = text.replace(old, new)
        (self.root / FACTS / f"{name}.md").write_bytes(changed.encode())
        with open_transaction(self.memory(), "look"):
            pass
        return hand_edit_id(f"fact.{name}", f"{FACTS}/{name}.md", content_hash(text), content_hash(changed))

    def note(self, text: str) -> str:
        return note(self.memory(), text)


def begun(root: Path, *, git: bool = True) -> VerbTree:
    """A new store in the folder ``root``, in a repository of its own or outside git; nothing is committed."""
    repository = Repository(root, root.parent / "home")
    if git:
        repository.init()
    else:
        root.mkdir()
    tree = VerbTree(repository, Clock())
    tree.begin()
    return tree
