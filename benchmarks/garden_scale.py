"""How planning duplicates grows: exact, near and paraphrase, over made-up memories that double in size.

``python benchmarks/garden_scale.py [--documents N] [--steps K]`` plans over N/2^(K-1), …, N/2, N documents
that are read already: with nothing kept of them, then with one document changed, then with none. It prints
how long learning the texts (in several processes) and each rule take, and time(2n)/time(n). One document in
fifty is a copy of another with a word, a number or a sentence changed, one in a hundred an exact copy, one in
thirty fills one form. The exit code is 1 when a doubling costs more than 2.5 times.
"""

from __future__ import annotations

import argparse
import gc
import os
import random
import resource
import sys
import time
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

PROJECT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, PROJECT)

from benchmarks.make_store import Writer  # noqa: E402
from thunderus_mem.document.document import Document, read_document  # noqa: E402
from thunderus_mem.garden.apply import RULES, learn  # noqa: E402
from thunderus_mem.garden.plan import GardenInput  # noqa: E402
from thunderus_mem.store.config import Config  # noqa: E402
from thunderus_mem.store.parallel import gc_paused  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Sequence

_MOST_GROWTH = 2.5
_FLOOR_SECONDS = 0.4
_RULES = ("duplicates", "similar")


class Timed(NamedTuple):
    """Seconds of each part, and how many steps were found."""

    seconds: dict[str, float]
    steps: int

    @property
    def total(self) -> float:
        return sum(self.seconds.values())


def _form(writer: Writer, number: int, text: str) -> str:
    """The document's header with a filled form for a body."""
    head = text.partition("\n---\n\n")[0]
    word = writer.subject
    rows = [("Owner", word()), ("Port", str(8000 + number % 997)), ("Language", word()), ("Queue", word())]
    notes = "Ask the owner before you change anything here, and keep this card up to date when you do."
    return head + "\n---\n\n" + "\n".join(f"- {key}: {value}" for key, value in rows) + f"\n\n{notes}\n"


def _changed(draw: random.Random, writer: Writer, text: str) -> str:
    """The text with a sentence more, or one word of its body replaced."""
    if draw.random() < 0.5:
        return text + "\n" + writer.sentence() + "\n"
    head, fence, body = text.partition("\n---\n\n")
    words = body.split(" ")
    words[draw.randrange(len(words))] = writer.word()
    return head + fence + " ".join(words)


def made_up(count: int, seed: int = 7) -> list[Document]:
    """``count`` documents, some of them alike."""
    writer, draw = Writer(seed), random.Random(seed)
    texts: list[str] = []
    found = []
    for number in range(count):
        path, doc_id, text = writer.document(number)
        what = draw.random()
        if texts and what < 0.03:
            other = draw.choice(texts)
            body = other.partition("\n---\n\n")[2]
            text = text.partition("\n---\n\n")[0] + "\n---\n\n" + body
            text = text if what < 0.01 else _changed(draw, writer, text)
        elif what < 0.06:
            text = _form(writer, number, text)
        texts.append(text)
        document = read_document(path, text.encode()).document
        assert document is not None, doc_id
        found.append(document)
    return found


def timed(documents: Sequence[Document], known: dict[str, bytes]) -> Timed:
    """How long planning takes, with what is kept of texts; adds to that."""
    seconds, steps = {}, 0
    gc.collect()
    with gc_paused():
        start = time.perf_counter()
        learn(documents, known)
        seconds["learning"] = time.perf_counter() - start
        material = GardenInput(tuple(documents), signatures=known)
        for rule in RULES:
            if rule.name in _RULES:
                start = time.perf_counter()
                steps += len(rule.plan(material, Config()))
                seconds[rule.name] = time.perf_counter() - start
    return Timed(seconds, steps)


def one_changed(documents: Sequence[Document]) -> list[Document]:
    """The documents, one of them with a line more."""
    middle = len(documents) // 2
    changed = documents[middle].text + "\nThe owner of the exporter asked for this on a Tuesday.\n"
    document = read_document(documents[middle].path, changed.encode()).document
    assert document is not None
    return [*documents[:middle], document, *documents[middle + 1 :]]


def main() -> int:
    """Command line."""
    parser = argparse.ArgumentParser(description="How planning duplicates grows.")
    parser.add_argument("--documents", type=int, default=10_000)
    parser.add_argument("--steps", type=int, default=4)
    asked = parser.parse_args()
    sizes = [asked.documents >> step for step in reversed(range(asked.steps))]
    runs: dict[str, list[float]] = {}
    print("documents  planning      learning  exact  near+paraphrase   total s  steps  memory MB")
    for size in sizes:
        documents, known = made_up(size), dict[str, bytes]()
        changed = one_changed(documents)
        for name, given in (("cold", documents), ("one changed", changed), ("kept", changed)):
            found = timed(given, known)
            runs.setdefault(name, []).append(found.total)
            learning, exact, similar = found.seconds.values()
            memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
            print(
                f"{size:9,}  {name:11}  {learning:8.2f}  {exact:5.2f}  {similar:15.2f}  {found.total:8.2f}"
                f"  {found.steps:5}  {memory:9.0f}",
                flush=True,
            )
    worst = 0.0
    for name, totals in runs.items():
        growth = [after / before for before, after in pairwise(totals)]
        print(f"{name}: time(2n)/time(n) = {', '.join(f'{each:.2f}' for each in growth)}")
        worst = max(
            [worst, *(each for each, after in zip(growth, totals[1:], strict=True) if after > _FLOOR_SECONDS)]
        )
    return 1 if worst > _MOST_GROWTH else 0


if __name__ == "__main__":
    raise SystemExit(main())
