"""Which commit made an anchor stale, and the code it was made for as it was."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from thunderus_mem.evidence.past import measured
from thunderus_mem.model.fingerprint import parse_fingerprint
from thunderus_mem.model.textdiff import unified_diff

if TYPE_CHECKING:
    from thunderus_mem.evidence.code.source import Source
    from thunderus_mem.evidence.past import Past
    from thunderus_mem.evidence.verdict import Tree, Verdict
    from thunderus_mem.model.anchor import Anchor
    from thunderus_mem.store.git_history import Commit

__all__ = ["Turn", "code_diff", "code_of", "turn"]


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


def code_diff(verdict: Verdict, known: Turn, tree: Tree) -> str:
    """The anchored code as it was and as it is now, as a unified diff; "" when it is too long to show."""
    was = code_of(verdict.anchor, known.source)
    found = verdict.found
    here = tree.source(found.path) if found is not None else None
    now = code_of(found, here) if found is not None and here is not None else None
    return unified_diff(was, now, (found or verdict.anchor).path) or ""


def code_of(anchor: Anchor, source: Source) -> str | None:
    """The lines of what an anchor names in a version of its file; ``None`` when it is not there."""
    lines = source.text.splitlines(keepends=True)
    if anchor.symbol:
        found = source.find(anchor.symbol)
        return "".join(lines[found[0].first - 1 : found[0].last]) if found else None
    if anchor.lines is None:
        return source.text
    return "".join(lines[anchor.lines[0] - 1 : anchor.lines[1]]) or None
