"""Would search be better if quality scores changed the order of hits?

``python benchmarks/quality_ranking.py STORE`` asks for each document of a memory with two words of a sentence
of it, not words of its title. Every document gets a random quality from 0 to 1, as scores have that were
given without knowing the question. The score of a hit is then mixed with the quality at several weights.
Prints how often the document is first and among the first five.
"""

from __future__ import annotations

import os
import random
import re
import sys

PROJECT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, PROJECT)

from thunderus_mem.memory.memory import open_memory  # noqa: E402
from thunderus_mem.search.search import search  # noqa: E402

WEIGHTS = (0.0, 0.05, 0.1, 0.3)
ROUNDS = 20
WORDS = 2


def questions(memory: object, dice: random.Random) -> list[tuple[str, str]]:
    """An id, and the first words of a sentence of its text."""
    from thunderus_mem.memory.locate import documents

    found = []
    for document in documents(memory):  # type: ignore[arg-type]
        known = set(re.findall(r"\w+", document.title.lower()))
        lines = [line for line in re.findall(r"[^.\n]{60,}", document.body) if not line.startswith("#")]
        words = re.findall(r"[A-Za-z]{4,}", dice.choice(lines)) if lines else []
        words = [word for word in words if word.lower() not in known][:WORDS]
        if len(words) >= 2:
            found.append((document.id, " ".join(words)))
    return found


def main(root: str) -> None:
    """Print the table."""
    memory, dice = open_memory(root), random.Random(1)
    memory.refresh()
    asked = questions(memory, dice)
    answers = []
    for doc_id, words in asked:
        scores = {hit.id: hit.score for hit in reversed(search(memory, f"{words}", limit=20).hits)}
        answers.append((doc_id, scores))
    ids = sorted({id for _, scores in answers for id in scores})
    print(f"{len(asked)} questions, {ROUNDS} rounds\nweight  first  first five")
    for weight in WEIGHTS:
        first = five = 0
        for _ in range(ROUNDS):
            quality = {id: dice.random() for id in ids}
            for doc_id, scores in answers:
                top = max(scores.values(), default=1) or 1
                mixed = {
                    id: (1 - weight) * score / top + weight * quality[id] for id, score in scores.items()
                }
                order = sorted(mixed, key=lambda name: -mixed[name])
                first += order[:1] == [doc_id]
                five += doc_id in order[:5]
        total = len(asked) * ROUNDS
        print(f"{weight:<7} {first / total:6.1%} {five / total:11.1%}")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else PROJECT)
