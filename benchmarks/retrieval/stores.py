"""A store with the documents of a collection, as an import would leave it."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from typing import TYPE_CHECKING, NamedTuple

from thunderus_mem.memory.memory import open_memory

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from benchmarks.retrieval.collection import Document
    from thunderus_mem.memory.memory import Memory

_NOT_IN_ID = re.compile(r"[^a-z0-9]+")
_LONGEST = 55
_FOLDER = os.path.join(".thunderus", "memory", "semantic", "FACTS")


class Store(NamedTuple):
    """A memory, and the path of each of its documents in the collection."""

    memory: Memory
    paths: dict[str, str]


def ids_of(documents: Iterable[Document]) -> dict[str, str]:
    """An id for each path, made from its words."""
    found: dict[str, str] = {}
    for document in documents:
        words = _NOT_IN_ID.sub("-", document.path.lower()).strip("-")
        name = words = words[-_LONGEST:].strip("-")
        copies = 1
        while f"fact.{name}" in found:
            copies += 1
            name = f"{words}-{copies}"
        found[f"fact.{name}"] = document.path
    return {path: id for id, path in found.items()}


def rendered(document: Document, id: str, supersedes: Iterable[str] = (), aliases: Iterable[str] = ()) -> str:
    """The text of a memory document."""
    body = document.body
    if not body.lstrip().startswith("# ") and document.title not in body[:300]:
        body = f"# {document.title}\n\n{body}"
    links = {"supersedes": sorted(supersedes)} if supersedes else {}
    lines = [
        f"id: {id}",
        f"title: {json.dumps(document.title, ensure_ascii=False)}",
        "kind: fact",
        "tags: [imported]",
        "created: 2026-01-21T12:00:00Z",
        "updated: 2026-01-21T12:00:00Z",
        "author: {}",
        "session: {}",
        "provenance: {}",
        f"links: {json.dumps(links)}",
        "verification: {}",
        f"metadata: {{imported_from: {json.dumps(document.path, ensure_ascii=False)}}}",
    ]
    if aliases:
        lines.append(f"aliases: {json.dumps(list(aliases), ensure_ascii=False)}")
    return "---\n" + "\n".join(lines) + f"\n---\n\n{body}\n"


def build(
    root: str,
    documents: Iterable[Document],
    *,
    superseded: Mapping[str, Iterable[str]] | None = None,
    aliases: Mapping[str, Iterable[str]] | None = None,
) -> Store:
    """Write a store into an empty folder and index it.

    ``superseded`` maps the path of a document to those it replaces; ``aliases`` maps one to other names.
    """
    shutil.rmtree(root, ignore_errors=True)
    os.makedirs(os.path.join(root, _FOLDER))
    subprocess.run(["git", "init", "-q", root], check=True)
    documents = list(documents)
    ids = ids_of(documents)
    for document in documents:
        id = ids[document.path]
        older = [ids[path] for path in (superseded or {}).get(document.path, ())]
        text = rendered(document, id, older, (aliases or {}).get(document.path, ()))
        name = id.removeprefix("fact.") + ".md"
        with open(os.path.join(root, _FOLDER, name), "w", encoding="utf-8") as file:
            file.write(text)
    memory = open_memory(root)
    memory.refresh()
    return Store(memory, {id: path for path, id in ids.items()})
