"""How planning grows: all rules of the gardener, over made-up memories that double in size.

``python benchmarks/garden_scale.py [--documents N] [--steps K]`` plans over N/2^(K-1), …, N/2, N documents
after a change of one, in three kinds of memories: notes of which one in fifty is a copy of another with a
word or a sentence changed and one in thirty fills one form; short pages of a wiki that link to each other;
and imported reference pages of 25 KB with links to each other's headings, one in a hundred of them written
here and thus split. It prints the processor time of the index and of each rule, time(2n)/time(n) and the peak
memory. The exit
code is 1 when a doubling costs more than 2.2 times.
"""

from __future__ import annotations

import argparse
import gc
import os
import random
import resource
import sys
import tempfile
import time
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

PROJECT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, PROJECT)

from benchmarks.make_store import Writer  # noqa: E402
from thunderus_mem.document.document import Document, read_document  # noqa: E402
from thunderus_mem.garden.apply import RULES, material_of  # noqa: E402
from thunderus_mem.index.scan import RACY_NS  # noqa: E402
from thunderus_mem.memory.memory import open_memory  # noqa: E402
from thunderus_mem.store.config import Config  # noqa: E402
from thunderus_mem.store.parallel import gc_paused  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Sequence

_MOST_GROWTH = 2.2
_FLOOR_SECONDS = 0.4
_SETTLED_SECONDS = RACY_NS / 1e9 + 0.1


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


def wiki(count: int, seed: int = 7) -> list[Document]:
    """Short pages that link to others by id and by path."""
    draw, writer = random.Random(seed), Writer(seed)
    found = []
    for number in range(count):
        links = [f"[[fact.page-{draw.randrange(count)}]]", f"[it](page-{draw.randrange(count)}.md#part-1)"]
        body = "\n".join(f"- {writer.sentence()} {link}" for link in links)
        found.append(_page(number, f"Page {number}", body))
    return found


def reference(count: int, seed: int = 7) -> list[Document]:
    """Long pages in eight parts, each with links to parts of others; most are imported."""
    draw, writer = random.Random(seed), Writer(seed)
    text = [" ".join(writer.sentence() for _ in range(30)) for _ in range(40)]
    found = []
    for number in range(count):
        parts = [
            f"## Part {part}\n\nSee [it](page-{draw.randrange(count)}.md#part-{part}). {draw.choice(text)}"
            f" {writer.sentence()}"
            for part in range(1, 9)
        ]
        more = f"metadata: {{imported_from: docs/page-{number}.md}}\n" if number % 100 else ""
        found.append(_page(number, f"Page {number}", "\n\n".join(parts), more))
    return found


def _page(number: int, title: str, body: str, more: str = "") -> Document:
    head = f"---\nid: fact.page-{number}\ntitle: {title}\nkind: fact\ntags: []\n"
    head += "created: 2026-01-01T00:00:00Z\nupdated: 2026-01-01T00:00:00Z\n"
    head += "provenance: {events: [], patches: [], commits: []}\n" + more + "---\n\n"
    path = f".thunderus/memory/semantic/FACTS/page-{number}.md"
    document = read_document(path, (head + body + "\n").encode()).document
    assert document is not None
    return document


KINDS = {"notes": made_up, "wiki": wiki, "reference": reference}


def timed(documents: Sequence[Document]) -> Timed:
    """How long planning takes after a change of one document."""
    seconds, steps = {}, 0
    with tempfile.TemporaryDirectory() as root:
        for document in documents:
            place = os.path.join(root, document.path)
            os.makedirs(os.path.dirname(place), exist_ok=True)
            with open(place, "w", encoding="utf-8") as handle:
                handle.write(document.text)
        os.makedirs(os.path.join(root, ".git"))
        open_memory(root).refresh()
        time.sleep(_SETTLED_SECONDS)
        open_memory(root).refresh()
        with open(place, "a", encoding="utf-8") as handle:
            handle.write("One more.\n")
        gc.collect()
        memory = open_memory(root)
        with gc_paused():
            start = time.process_time()
            material = material_of(memory)
            seconds["index"] = time.process_time() - start
            for rule in RULES:
                start = time.process_time()
                steps += len(rule.plan(material, Config()))
                seconds[rule.name] = time.process_time() - start
    return Timed(seconds, steps)


def main() -> int:
    """Command line."""
    parser = argparse.ArgumentParser(description="How planning grows.")
    parser.add_argument("--documents", type=int, default=10_000)
    parser.add_argument("--steps", type=int, default=3)
    asked = parser.parse_args()
    sizes = [asked.documents >> step for step in reversed(range(asked.steps))]
    worst = 0.0
    for kind, make in KINDS.items():
        totals = []
        for size in sizes:
            found = timed(make(size))
            totals.append(found.total)
            memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
            parts = ", ".join(f"{name} {spent:.2f}" for name, spent in found.seconds.items() if spent >= 0.01)
            print(
                f"{kind:9} {size:7,} documents: {found.total:6.2f} s, {found.steps} steps, "
                f"{memory:.0f} MB ({parts})",
                flush=True,
            )
        growth = [(after / before, after) for before, after in pairwise(totals)]
        print(f"{kind}: time(2n)/time(n) = {', '.join(f'{each:.2f}' for each, _ in growth)}")
        worst = max([worst, *(each for each, after in growth if after > _FLOOR_SECONDS)])
    return 1 if worst > _MOST_GROWTH else 0


if __name__ == "__main__":
    raise SystemExit(main())
