"""A corpus of documents in memory, and the reader of the cases in ``tests/cases/lint``."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from thunderus_mem.document import markdown
from thunderus_mem.document.anchors import anchors_in
from thunderus_mem.document.document import Reading, read_document
from thunderus_mem.document.ids import fold_key
from thunderus_mem.lint.engine import lint_reading
from thunderus_mem.lint.rule import LintConfig, LintContext

if TYPE_CHECKING:
    from collections.abc import Sequence

    from thunderus_mem.diagnostic import Diagnostic
    from thunderus_mem.document.document import Document
    from thunderus_mem.verdicts.judge import CodeState

FRONT = """---
id: {id}
title: A title
kind: {kind}
tags:
  - testing
created: 2026-01-21T09:00:00Z
updated: 2026-01-21T09:00:00Z
provenance:
  events: []
  patches: []
  commits: []
verification:
  last_verified_commit: null
  status: unknown
---
"""


class ReadCorpus:
    """What rules may know of other documents, answered from readings."""

    def __init__(self, readings: list[Reading]) -> None:
        self.documents = [one.document for one in readings if one.document is not None]

    def paths_of(self, doc_id: str) -> tuple[str, ...]:
        return tuple(sorted(one.path for one in self.documents if one.id == doc_id))

    def paths_like(self, path: str) -> tuple[str, ...]:
        return tuple(sorted(one.path for one in self.documents if fold_key(one.path) == fold_key(path)))

    def ids_like(self, doc_id: str) -> tuple[str, ...]:
        return tuple(sorted({one.id for one in self.documents if fold_key(one.id) == fold_key(doc_id)}))

    def resolve(self, target: str) -> str | None:
        for one in self.documents:
            stem = one.path.rpartition("/")[2].removesuffix(".md")
            if target in (one.id, *one.aliases, stem, one.path, one.imported_from):
                return one.id
        return None

    def superseded_by(self, doc_id: str) -> str | None:
        for one in self.documents:
            if any(link.rel == "supersedes" and link.target == doc_id for link in one.links):
                return one.id
        return None

    def ids(self) -> list[str]:
        return sorted(one.id for one in self.documents)

    def anchors(self, doc_id: str) -> frozenset[str]:
        bodies = [one.body for one in self.documents if one.id == doc_id]
        return frozenset(heading.anchor for body in bodies for heading in markdown.headings(body))

    def episode_length(self, name: str) -> int:
        return sum(one.episode is not None and one.episode[0] == name for one in self.documents)

    def adr_numbers(self) -> dict[int, tuple[str, ...]]:
        found: dict[int, list[str]] = {}
        for one in self.documents:
            match = re.search(r"/ADR-([0-9]+)", one.path)
            if match:
                found.setdefault(int(match[1]), []).append(one.path)
        return {number: tuple(sorted(paths)) for number, paths in found.items()}


class MadeUpOrigins:
    """All is there but what says GONE, which only events of recaps call private; MANY is ambiguous.

    Commits 1005e… are on no branch, 90ae0… nowhere."""

    def missing_events(self, names: Sequence[str]) -> tuple[str, ...]:
        return tuple(name for name in names if "GONE" in name)

    def ambiguous_events(self, names: Sequence[str]) -> tuple[str, ...]:
        return tuple(name for name in names if "MANY" in name)

    def private_events(self, document: Document) -> frozenset[str]:
        return frozenset(document.events if document.kind == "recap" else ())

    def missing_patches(self, document: Document) -> tuple[str, ...]:
        return tuple(name for name in document.patches if "GONE" in name)

    def lost_commits(self, names: Sequence[str]) -> tuple[tuple[str, bool], ...]:
        return tuple((name, name.startswith("1005e")) for name in names if name[:5] in ("1005e", "90ae0"))


class MadeUpEvidence:
    """An anchor below a folder that is named for a verdict has that verdict; any other is verified."""

    def of(self, document: Document) -> list[CodeState]:
        found: list[CodeState] = []
        for cited in anchors_in(document.header, document.header_line):
            from thunderus_mem.verdicts.judge import CodeState  # brings the database along

            folder, _, rest = cited.anchor.path.partition("/")
            verdict = folder if folder in ("moved", "changed", "missing", "unknown") else "verified"
            now = f"src/{rest}" if verdict == "moved" else ""
            found.append(CodeState(cited.anchor.place, cited.line, verdict, f"it is {verdict}", now))
        return found


@dataclass
class Case:
    """One case file: documents by path, which of them must and must not show the rule, what is reported."""

    head: str
    documents: dict[str, bytes] = field(default_factory=dict)
    bad: list[str] = field(default_factory=list)
    good: list[str] = field(default_factory=list)
    settings: dict[str, tuple[str, ...]] = field(default_factory=dict)
    findings: str = ""


# Put together here so that no file of the repository holds what looks like a secret.
SECRETS = {
    "github": "gh" + "p_" + "aB3dE5gH7jK9mN1pQ2rS4tU6vW8xY0zA1bC3",
    "aws": "AK" + "IA" + "Q7ZX2MWRT5LPN3VK",
}


def _expand(text: str) -> bytes:
    text = re.sub(r"\{\{front (\w+) (\S+?)\}\}\n", lambda m: FRONT.format(kind=m[1], id=m[2]), text)
    text = re.sub(
        r"\{\{imported (\S+) (\S+?)\}\}\n",
        lambda m: FRONT.format(kind="fact", id=m[1])[:-4] + f"metadata:\n  imported_from: {m[2]}\n---\n",
        text,
    )
    text = re.sub(
        r"\{\{imported (\S+) (\S+) (\d)\}\}\n",
        lambda m: (
            f"{FRONT.format(kind='fact', id=m[1])[:-4]}metadata:\n  imported_from: {m[2]}\n"
            f'  imported_sha256: "{m[3] * 64}"\n---\n'
        ),
        text,
    )
    text = re.sub(r"\{\{U\+([0-9A-F]+)\}\}", lambda m: chr(int(m[1], 16)), text)
    text = re.sub(r"\{\{secret (\w+)\}\}", lambda m: SECRETS[m[1]], text)
    text = re.sub(r"\{\{repeat (\d+) (.*?)\}\}", lambda m: m[2] * int(m[1]), text)
    data = text.encode()
    return re.sub(rb"\{\{byte ([0-9A-F]{2})\}\}", lambda m: bytes([int(m[1], 16)]), data)


def read_case(text: str) -> Case:
    """Read a case: a head, then parts begun by ``=====> bad|good|with: path``, ``=====> setting: key`` (a
    value on each line) or ``=====> findings``."""
    head, *parts = re.split(r"^=====> ", text, flags=re.MULTILINE)
    case = Case(head)
    for part in parts:
        name, _, content = part.partition("\n")
        if name == "findings":
            case.findings = content
            continue
        sort, _, path = name.partition(": ")
        if sort == "setting":
            case.settings[path] = tuple(content.split())
            continue
        if sort in ("bad", "good"):
            getattr(case, sort).append(path)
        case.documents[path] = _expand(content)
    return case


def lint_documents(
    documents: dict[str, bytes], config: LintConfig | None = None
) -> dict[str, list[Diagnostic]]:
    """Lint every document against a corpus of all of them, beside two other files."""
    readings = [read_document(path, data) for path, data in documents.items()]
    corpus = ReadCorpus(readings)
    there = {*documents, "src", "src/main.py", "docs", "docs/guide.md"}
    return {
        reading.path: lint_reading(
            LintContext(
                reading,
                corpus,
                config or LintConfig(),
                there.__contains__,
                MadeUpOrigins(),
                MadeUpEvidence(),
                {"docs/guide.md": "2" * 64}.get,
            )
        )
        for reading in readings
    }
