"""Writes a store of ``n`` documents that look like a repository's memory. Same arguments, same bytes.

Words follow Zipf's law, documents differ in kind, length and number of sections, name identifiers and
paths, link to
and supersede each other. Usage: ``python -m benchmarks.make_store FOLDER N [--events E]``.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import random
import sys
from bisect import bisect
from datetime import UTC, datetime, timedelta
from itertools import accumulate
from typing import TYPE_CHECKING, Final

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from tests.support.events import patch_event
from thunderus_mem.document.document import content_hash
from thunderus_mem.document.timestamp import encode_ulid, format_precise
from thunderus_mem.log.event import Change
from thunderus_mem.log.line import encode, line_hash

if TYPE_CHECKING:
    from collections.abc import Sequence

    from thunderus_mem.log.line import Event

# ruff: noqa: SIM905, E501 – word lists read best as text
_ONSETS = "b br c cl d dr f fl g gr h j k l m n p pl pr qu r s sc sh sl sp st t th tr v w z".split()
_VOWELS = "a e i o u ai ea ee io oa ou".split()
_CODAS = "b ck d ft g l ld lt m mp n nd nt p r rd rk rm rn s sh ss st t th x".split()
_COMMON = (
    "the a to of and in is for on with that it as be this are not by from or when must we an which use can will if"
    " should has at all only one after each its have than then do so no new more before while every also into"
).split()
_DOMAIN = (
    "test build cache index query token parser schema migration deploy release branch commit merge hook config"
    " session worker queue retry timeout lock thread pool socket header request response handler router client"
    " server database table column row transaction snapshot backup restore log metric trace alert error warning"
    " fixture mock coverage lint format import module package version dependency container image registry secret"
    " key certificate proxy gateway payload stream buffer frame packet encoder decoder hash digest signature"
).split()
_FOLDERS = {
    "fact": "semantic/FACTS",
    "adr": "semantic/DECISIONS",
    "playbook": "procedural/PLAYBOOKS",
    "recap": "episodic",
}
_SECTIONS = {
    "fact": ["Details", "Why it matters", "Exceptions", "How to check"],
    "adr": ["Status", "Context", "Decision", "Consequences"],
    "playbook": ["Preconditions", "Steps", "Verification", "Rollback"],
    "recap": ["Done", "Learned", "Open", "Provenance"],
}


class Writer:
    """Makes words, sentences and documents from one seed."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        rare = sorted({self._word() for _ in range(9000)})
        self._random.shuffle(rare)
        self._words = _COMMON + _DOMAIN + rare
        self._weights = list(accumulate(1 / (rank + 2.7) for rank in range(len(self._words))))

    def _word(self) -> str:
        pick = self._random.choice
        return "".join(pick(_ONSETS) + pick(_VOWELS) for _ in range(self._random.randint(1, 3))) + pick(
            _CODAS
        )

    def word(self) -> str:
        """A word, common ones often."""
        return self._words[bisect(self._weights, self._random.random() * self._weights[-1])]

    def subject(self) -> str:
        """A word of the trade or a rare one."""
        return self._words[self._random.randrange(len(_COMMON), len(self._words) // 4)]

    def identifier(self) -> str:
        """A name as code has it: snake case, camel case, or a path."""
        words = [self.subject() for _ in range(self._random.randint(2, 3))]
        form = self._random.random()
        if form < 0.4:
            return "_".join(words)
        if form < 0.7:
            return words[0] + "".join(word.title() for word in words[1:])
        return f"src/{'/'.join(words)}.py"

    def sentence(self) -> str:
        """Eight to twenty words, an identifier now and then."""
        words = [self.word() for _ in range(self._random.randint(8, 20))]
        if self._random.random() < 0.3:
            words[self._random.randrange(len(words))] = f"`{self.identifier()}`"
        return " ".join(words).capitalize() + "."

    def paragraph(self) -> str:
        """One to four sentences."""
        return " ".join(self.sentence() for _ in range(self._random.randint(1, 4)))

    def document(self, number: int) -> tuple[str, str, str]:
        """``(path, id, text)`` of one document."""
        random_ = self._random
        kind = random_.choices(list(_FOLDERS), weights=[60, 15, 15, 10])[0]
        title = " ".join(self.subject() for _ in range(random_.randint(2, 5))).capitalize()
        stem = f"{title.lower().replace(' ', '-')}-{number}"
        doc_id = f"{kind}.{stem}"
        day = f"2026-{random_.randint(1, 9):02d}-{random_.randint(1, 28):02d}T{random_.randint(0, 23):02d}:00:00Z"
        event = hashlib.sha256(doc_id.encode()).hexdigest()[:26].upper()
        tags = sorted({self.subject() for _ in range(random_.randint(1, 3))})
        header = [
            f"id: {doc_id}",
            f"title: {title}",
            f"kind: {kind}",
            "tags:",
            *(f"  - {tag}" for tag in tags),
        ]
        header += [f'created: "{day}"', f'updated: "{day}"', "provenance:", "  events:", f"    - evt_{event}"]
        header += ["  patches: []", "  commits: []", "verification:", "  last_verified_commit: null"]
        header += [f"  status: {random_.choices(['verified', 'unknown', 'stale'], weights=[5, 4, 1])[0]}"]
        parts = [self.paragraph()]
        for section in _SECTIONS[kind][: random_.randint(0, 4)]:
            parts.append(f"## {section}")
            parts += [self.paragraph() for _ in range(random_.randint(1, 2))]
        text = "---\n" + "\n".join(header) + "\n---\n\n# " + title + "\n\n" + "\n\n".join(parts) + "\n"
        return f".thunderus/memory/{_FOLDERS[kind]}/{stem}.md", doc_id, text


def make_store(root: str, count: int, *, events: int = 0, seed: int = 7, characters: int = 0) -> list[str]:
    """Write the store; returns the document paths, relative to ``root``. Texts have at least ``characters``."""
    writer = Writer(seed)
    for folder in (*_FOLDERS.values(), "core", "indexes"):
        os.makedirs(os.path.join(root, ".thunderus/memory", folder), exist_ok=True)
    made = []
    for number in range(count):
        path, doc_id, text = writer.document(number)
        while len(text) < characters:
            text += f"\n## {writer.subject()} {len(text)}\n\n" + writer.paragraph() + "\n"
        with open(os.path.join(root, path), "w", encoding="utf-8", newline="") as handle:
            handle.write(text)
        made.append((doc_id, path, content_hash(text)))
    if events:
        _write_events(root, events, made)
    return [path for _, path, _ in made]


_SHARD: Final = 100
"""Events a session writes before somebody commits."""


def _write_events(root: str, count: int, documents: Sequence[tuple[str, str, str]]) -> None:
    """``count`` events about the documents (id, path, hash) in turn, in sessions of a hundred; the last one
    about each leaves the text that it has."""
    start = datetime(2024, 1, 1, tzinfo=UTC)
    for first in range(0, count, _SHARD):
        session = "sess_" + encode_ulid(first, 1)
        folder = os.path.join(root, ".thunderus/sessions", session)
        os.makedirs(folder, exist_ok=True)
        previous = None
        with open(os.path.join(folder, "events.jsonl"), "wb") as handle:
            for number in range(first, min(first + _SHARD, count)):
                doc_id, path, now = documents[number % len(documents)]
                after = now if number + len(documents) >= count else _hash(number)
                change = _change(number, doc_id, path, _hash(number - len(documents)), after)
                ts = format_precise(start + timedelta(minutes=number))
                line = encode(_event(number, ts, session, change, previous))
                previous = line_hash(line)
                handle.write(line)


def _hash(number: int) -> str:
    return f"sha256:{hashlib.sha256(str(number).encode()).hexdigest()}" if number >= 0 else ""


def _change(number: int, doc_id: str, path: str, before: str, after: str) -> Change:
    """An edit of one line, as most are."""
    diff = (
        f"--- a/{path}\n+++ b/{path}\n@@ -20 +20 @@\n-The limit is {number}.\n+The limit is {number + 1}.\n"
    )
    return Change("update" if before else "create", doc_id, path, before, after, diff)


def _event(number: int, ts: str, session: str, change: Change, previous: str | None) -> Event:
    return patch_event(
        id="evt_" + encode_ulid(number, 2),
        patch_id="patch_" + encode_ulid(number, 3),
        ts=ts,
        session_id=session,
        actor="agent" if number % 3 else "user",
        op="edit",
        changes=[change],
        why="the limit was raised",
        prev=previous,
    )


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description="Write a store of made-up documents.")
    parser.add_argument("folder")
    parser.add_argument("count", type=int)
    parser.add_argument("--events", type=int, default=0)
    given = parser.parse_args()
    make_store(given.folder, given.count, events=given.events)


if __name__ == "__main__":
    main()
