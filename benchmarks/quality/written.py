"""The pairs written by hand for this benchmark: plain files in ``benchmarks/pairs/<split>/``.

A file is a group: ``restatement-<grade>.toml``, ``contradiction.toml``, ``related.toml``, ``form.toml``. The
last holds skeletons with several fillings each, and any two fillings of one skeleton are a pair.
"""

from __future__ import annotations

import hashlib
import itertools
import os
import tomllib
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from benchmarks.quality.documents import document, slug
from benchmarks.quality.trials import CONTRADICTION, FORM, RELATED, RESTATEMENT, Trial

if TYPE_CHECKING:
    from collections.abc import Iterable

    from thunderus_mem.document.document import Document

FOLDER: Final = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "pairs")
DEV: Final = "dev"
HELD_OUT: Final = "held-out"
SPLITS: Final = (DEV, HELD_OUT)
GRADES: Final = ("1", "2", "3", "4", "5")
DISAGREEMENTS: Final = (
    "negation", "number", "version", "name", "order", "unit", "modality", "switch", "scope",
)  # fmt: skip


class Entry(NamedTuple):
    """One entry of a file: a pair, or a skeleton with its fillings. ``texts`` are (title, body) in order."""

    id: str
    what: str
    by: str
    how: str
    split: str
    kind: str
    topic: str
    texts: tuple[tuple[str, str], ...]


def _entries(path: str, split: str) -> list[Entry]:
    with open(path, "rb") as file:
        data: dict[str, list[dict[str, Any]]] = tomllib.load(file)
    name = os.path.basename(path).removesuffix(".toml")
    what, _, grade = name.partition("-")
    found = []
    for one in data.get("pair", []):
        texts = tuple(zip(one["titles"], (one["one"], one["other"]), strict=True))
        by, kind = one.get("by", grade) or what, one.get("kind", "fact")
        found.append(Entry(one["id"], what, by, one.get("phrasing", ""), split, kind, one["topic"], texts))
    for one in data.get("skeleton", []):
        texts = tuple((filling["title"], filling["text"]) for filling in one["filling"])
        found.append(Entry(one["id"], FORM, one["id"], "", split, one["kind"], one["topic"], texts))
    return found


def load(folder: str = FOLDER) -> tuple[Entry, ...]:
    """Every entry of both splits, in the order of files and of entries in them."""
    return tuple(
        entry
        for split in SPLITS
        for name in sorted(os.listdir(os.path.join(folder, split)))
        for entry in _entries(os.path.join(folder, split, name), split)
    )


def right_split(entries: Iterable[Entry]) -> dict[str, str]:
    """Where each entry belongs: within its class, every other one in the order of the hashes of their ids."""
    classes: dict[tuple[str, str], list[str]] = {}
    for entry in entries:
        classes.setdefault((entry.what, "" if entry.what == FORM else entry.by), []).append(entry.id)
    found = {}
    for ids in classes.values():
        for at, id in enumerate(sorted(ids, key=lambda each: hashlib.sha256(each.encode()).digest())):
            found[id] = SPLITS[at % 2]
    return found


def written(entries: Iterable[Entry]) -> tuple[tuple[Document, ...], tuple[Trial, ...]]:
    """The documents of some entries and the trials among them. A document is named after its own title."""
    documents: dict[str, Document] = {}
    trials = []
    for entry in entries:
        ids = []
        for title, body in entry.texts:
            id = f"{entry.kind}.{slug(entry.topic)}.{slug(title)}"
            while id in documents:
                id += "-more"
            documents[id] = document(id, title, body, kind=entry.kind, tags=(entry.topic,))
            ids.append(id)
        how = f"{entry.id} {entry.how}".strip()
        trials += [
            Trial(entry.what, entry.by, entry.split, one, other, "written", how)
            for one, other in itertools.combinations(ids, 2)
        ]
    return tuple(documents.values()), tuple(trials)


WHATS: Final = (RESTATEMENT, CONTRADICTION, FORM, RELATED)
