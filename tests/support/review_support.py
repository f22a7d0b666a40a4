"""Shared by the tests of the review queue: a store whose commands run as user or agent."""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from tests.support.index_support import document
from thunderus_mem.authoring import add, init
from thunderus_mem.authoring.add import NewDocument
from thunderus_mem.garden import apply
from thunderus_mem.memory.memory import Memory, open_memory
from thunderus_mem.memory.proposals import BadProposal, Waiting, entries

if TYPE_CHECKING:
    from thunderus_mem.garden.apply import Applied, Filed
    from thunderus_mem.store.layout import Layout

FACTS = ".thunderus/memory/semantic/FACTS"
START = datetime(2026, 1, 21, 9, tzinfo=UTC)
SAME = "The exporter waits thirty seconds for the first page and five for each further one.\n"


class Store:
    """A store in ``root``, opened again for every call, each a second later; ``days`` later when set."""

    def __init__(self, root: Path | str, seed: int = 0) -> None:
        self.root = Path(root)
        self.turn = 0
        self.days = 0
        self.seed = seed
        self.environ: dict[str, str] = {}

    def memory(self, actor: str = "user", **environ: str) -> Memory:
        self.turn += 1
        surroundings = {"THUNDERUS_MEM_ACTOR": actor, **self.environ, **environ}
        moment = START + timedelta(days=self.days, seconds=self.turn)
        return open_memory(
            str(self.root),
            environ=surroundings,
            now=lambda: moment,
            random_bits=random.Random(f"{self.seed}:{self.turn}").getrandbits,
        )

    def agent(self) -> Memory:
        """As an agent whose changes are filed."""
        return self.memory("agent", THUNDERUS_MEM_REVIEW_AGENTS="propose")

    def begin(self) -> Store:
        init.init(str(self.root), self.memory)
        return self

    def add(self, title: str, body: str, memory: Memory | None = None, **more: Any) -> str:
        new = NewDocument("fact", title, body=body, tags=["x"])
        return add.add(memory or self.memory(), new, **more).id

    def path(self, name: str) -> Path:
        return self.root / (name if "/" in name else f"{FACTS}/{name}")

    def put(self, name: str, data: bytes | str) -> Path:
        path = self.path(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data if isinstance(data, bytes) else data.encode())
        return path

    def twins(self, *names: str, body: str = SAME) -> None:
        """Documents that say the same, as files somebody wrote."""
        for name in names or ("twin-a", "twin-b"):
            self.put(f"{name}.md", document(f"fact.{name}", body))

    def bytes(self) -> dict[str, tuple[bytes, int]]:
        """Every document with its bytes and its permissions."""
        folder = self.root / ".thunderus" / "memory"
        return {
            str(path.relative_to(self.root)): (path.read_bytes(), path.stat().st_mode & 0o777)
            for path in sorted(folder.rglob("*.md"))
        }

    def patches(self) -> list[str]:
        """The ids of what waits, oldest first."""
        folder = self.root / ".thunderus" / "patches"
        return sorted(path.stem for path in folder.glob("*.json"))

    def garden(self, **more: Any) -> Applied:
        memory = self.memory()
        return apply.garden_apply(memory, apply.garden_plan(memory, **more))

    def propose(self) -> Filed:
        memory = self.memory()
        return apply.garden_propose(memory, apply.garden_plan(memory, apart=True))

    def events(self, *kinds: str) -> list[Any]:
        return [
            one.event for one in self.memory().log.read_all().events if not kinds or one.event.kind in kinds
        ]


class Queue(NamedTuple):
    """All proposals that wait, oldest first, and the files that are none."""

    waiting: tuple[Waiting, ...]
    bad: tuple[BadProposal, ...]


def queue(layout: Layout) -> Queue:
    """The whole folder of proposals at once."""
    found = list(entries(layout))
    return Queue(
        tuple(one for one in found if isinstance(one, Waiting)),
        tuple(one for one in found if isinstance(one, BadProposal)),
    )
