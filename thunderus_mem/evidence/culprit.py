"""Which commit made an anchor stale, and the code it was made for as it was."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from thunderus_mem.evidence.past import measured
from thunderus_mem.model.fingerprint import parse_fingerprint

if TYPE_CHECKING:
    from thunderus_mem.evidence.code.source import Source
    from thunderus_mem.evidence.past import Past
    from thunderus_mem.model.anchor import Anchor
    from thunderus_mem.store.git_history import Commit

__all__ = ["Turn", "culprit", "turn"]


class Turn(NamedTuple):
    """Where the history of a file turned: the newest commit that still had what the anchor says, the file
    then, and the commit after it (``None``: the turn is not committed yet)."""

    last_good: Commit
    source: Source
    commit: Commit | None


def turn(anchor: Anchor, found: Anchor | None, past: Past) -> Turn | None:
    """Where the code of an anchor stopped being what it says; ``None`` when that is not in this history."""
    wanted = parse_fingerprint(anchor.fingerprint)
    if wanted is None:
        return None
    later: Commit | None = None
    paths = [anchor.path]
    if found is not None and found.path != anchor.path:
        paths.insert(0, found.path)
    for path in paths:
        for commit, source in past.versions(path):
            if source is not None and any(one.hash == wanted.hash for one in measured(anchor, source)):
                return Turn(commit, source, later)
            if source is not None or path == anchor.path:
                later = commit
    return None


def culprit(anchor: Anchor, found: Anchor | None, past: Past) -> Commit | None:
    """The commit that made an anchor stale; ``None`` when it is not committed yet, or not known."""
    known = turn(anchor, found, past)
    return known.commit if known is not None else None
