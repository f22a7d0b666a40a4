"""Numbers of decisions in their file names: the next free one, and new ones where two have the same. Pure."""

from __future__ import annotations

import posixpath
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from thunderus_mem.document.paths import is_archived
from thunderus_mem.document.references import references
from thunderus_mem.document.timestamp import utc_key

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from thunderus_mem.document.document import Document

_ADR_FILE = re.compile(r"ADR-(\d{1,9})(?=[-.])", re.ASCII | re.IGNORECASE)
_NUMBERED = re.compile(r"(ADR-)([0-9]{1,6})(?=[-_.]|$)", re.IGNORECASE)


def next_adr_number(existing: Iterable[str]) -> int:
    """One more than the highest number among ADR file names; 1 when there is none."""
    return max((int(match[1]) for name in existing if (match := _ADR_FILE.match(name))), default=0) + 1


@dataclass(frozen=True, slots=True)
class Rename:
    """A document whose file gets another name: id, title and text stay."""

    document: Document
    path: str


def renames(documents: Sequence[Document]) -> tuple[Rename, ...]:
    """The newer of two decisions with one number gets the next free one; the oldest keeps it.

    ``documents`` are all of the store. A file that another document links to by its path keeps its name: its
    number is for a person to settle. So does one in the archive, which keeps its number before all others.
    """
    by_number: dict[int, list[Document]] = {}
    for document in documents:
        match = _NUMBERED.match(posixpath.basename(document.path)) if document.kind == "adr" else None
        if match is not None:
            by_number.setdefault(int(match[2]), []).append(document)
    shared = {number: found for number, found in sorted(by_number.items()) if len(found) > 1}
    if not shared:
        return ()
    linked = _linked_paths(documents)
    free = max(by_number) + 1
    planned = []
    for found in shared.values():
        for document in sorted(found, key=_age)[1:]:
            if document.path not in linked and not is_archived(document.path):
                planned.append(Rename(document, _numbered(document.path, free)))
                free += 1
    return tuple(planned)


def _age(document: Document) -> tuple[bool, str, str]:
    return not is_archived(document.path), utc_key(document.created) or "9", document.path


def _numbered(path: str, number: int) -> str:
    folder, name = posixpath.split(path)
    return posixpath.join(folder, _NUMBERED.sub(lambda match: f"{match[1]}{number:04d}", name, count=1))


def _linked_paths(documents: Iterable[Document]) -> frozenset[str]:
    """Every path that a relative link of some document leads to."""
    found: set[str] = set()
    for document in documents:
        folder = posixpath.dirname(document.path)
        for reference in references(document.body) if "adr-" in document.body.lower() else ():
            if reference.kind == "link":
                found.add(posixpath.normpath(posixpath.join(folder, reference.target.partition("#")[0])))
    return frozenset(found)
