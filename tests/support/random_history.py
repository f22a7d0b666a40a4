"""A document's life in a real repository, at random, with the truth: who wrote each of its lines.

Each line belongs to one event (by id) or one commit (by subject), or is not committed yet.
"""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

from tests.support.git_repository import Repository
from tests.support.tree_writer import FACTS, IGNORED, Clock, Writer

if TYPE_CHECKING:
    from pathlib import Path

PATH = f"{FACTS}/base.md"
NOBODY = "nobody"
_FIRST = "base is so.\n"
_MARKERS = ("<<<<<<<", "=======", ">>>>>>>")
_OPERATIONS = (
    *(["by_tool"] * 5 + ["by_hand_recorded"] * 2 + ["by_hand"] * 2 + ["commit"] * 4),
    *("branch", "switch", "merge", "rebase", "squash", "cherry_pick"),
)


class RandomHistory:
    """Begin, then `live` some steps; ``writers`` holds the truth."""

    def __init__(self, folder: Path, seed: int) -> None:
        self.chance = random.Random(seed)
        repository = Repository(folder / "tree", folder / "home").init()
        repository.write(".thunderus/.gitignore", IGNORED)
        self.tree = Writer(repository, Clock(), seed)
        self.git = repository.git
        self.try_git = repository.try_git
        self.writers: dict[str, str] = {}
        self.branches = ["main"]
        self._count = 0
        lines = [self._line() for _ in range(4)]
        event = self.tree.add("base", "".join(f"{line}\n" for line in lines))
        self.writers |= dict.fromkeys(lines, event)
        self.commit()

    def live(self, steps: int) -> None:
        for _ in range(steps):
            operation = self.chance.choice(_OPERATIONS)
            # A tool records what was edited by hand before it writes: that would be by_hand_recorded.
            if operation.startswith("by_") and NOBODY in self.writers.values():
                continue
            if not operation.startswith(("by_", "commit")):
                self.commit()
            getattr(self, operation)()

    def _line(self) -> str:
        self._count += 1
        return f"Line {self._count} is a word."

    def _changed(self) -> tuple[str, str, list[str]]:
        """The text, the text with some lines of its body changed, and the new lines."""
        text = self.tree.text("base")
        head, first, body = text.partition(_FIRST)
        lines, new = body.split("\n")[:-1], []
        for _ in range(self.chance.randint(1, 3)):
            at, kind = self.chance.randint(0, len(lines)), self.chance.random()
            if kind < 0.2 and at < len(lines):
                del lines[at]
                continue
            new.append(self._line())
            lines[at : at + (kind < 0.45)] = [new[-1], *([""] if kind > 0.8 else [])]
        return text, head + first + "".join(f"{line}\n" for line in lines), new

    def by_tool(self) -> None:
        text, changed, new = self._changed()
        if text != changed:
            event = self.tree.edit("base", text, changed)
            self.writers |= dict.fromkeys(new, event)

    def by_hand_recorded(self) -> None:
        text, changed, new = self._changed()
        if text != changed:
            event = self.tree.edit_by_hand("base", text, changed)
            self.writers |= dict.fromkeys(new, event)

    def by_hand(self) -> None:
        _, changed, new = self._changed()
        (self.tree.root / PATH).write_bytes(changed.encode())
        self.writers |= dict.fromkeys(new, NOBODY)

    def commit(self) -> None:
        if self.git("status", "--porcelain"):
            self._count += 1
            subject = f"Commit {self._count}"
            self.tree.save(subject)
            mine = [line for line, writer in self.writers.items() if writer == NOBODY]
            self.writers |= dict.fromkeys(mine, subject)

    def branch(self) -> None:
        self.branches.append(f"branch{len(self.branches)}")
        self.git("switch", "-q", "-c", self.branches[-1])

    def switch(self) -> None:
        self.git("switch", "-q", self.chance.choice(self.branches))

    def merge(self) -> None:
        if self.try_git("merge", "-q", "--no-edit", self._other()).returncode:
            kept = [line for line in self.tree.text("base").split("\n") if not line.startswith(_MARKERS)]
            (self.tree.root / PATH).write_bytes("\n".join(kept).encode())
            self.git("add", "-A")
            self.git("commit", "-q", "--no-edit")

    def rebase(self) -> None:
        if self.try_git("rebase", "-q", self._other()).returncode:
            self.git("rebase", "--abort")

    def squash(self) -> None:
        if self.try_git("merge", "-q", "--squash", self._other()).returncode:
            self.git("reset", "-q", "--hard")
        elif self.git("status", "--porcelain"):
            self.git("commit", "-q", "-m", "Squash")

    def cherry_pick(self) -> None:
        if self.try_git("cherry-pick", self._other()).returncode:
            self.try_git("cherry-pick", "--abort")
            self.git("reset", "-q", "--hard")

    def _other(self) -> str:
        return self.chance.choice(self.branches)
