"""One fingerprint for many files: what an anchor with a glob holds on to. Pure."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Final

from thunderus_mem.model.fingerprint import Fingerprint

if TYPE_CHECKING:
    from collections.abc import Iterable

    from thunderus_mem.evidence.code.source import Source

__all__ = ["fingerprint_of_files"]

_DIGITS: Final = 20
_MEASURES: Final = 10**8


def fingerprint_of_files(sources: Iterable[Source]) -> Fingerprint:
    """The fingerprint of files together: of each its path and what it holds, in the order of the paths.

    Its grammar is a hash over the measures of the files, so that files read by another grammar are told
    apart from files that changed.
    """
    total = hashlib.sha256()
    measures: set[str] = set()
    size = 0
    for source in sorted(sources, key=lambda source: source.path):
        one = source.whole()
        measures.add(f"{one.grammar}/{one.rules}")
        total.update(f"{source.path}\0{one.hash}\0".encode("utf-8", "surrogateescape"))
        size += one.size
    measure = int(hashlib.sha256("\0".join(sorted(measures)).encode()).hexdigest(), 16) % _MEASURES
    return Fingerprint("files", str(measure), 1, total.hexdigest()[:_DIGITS], "-", "", size)
