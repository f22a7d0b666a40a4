"""One change of the code, between two trees: what judges anchors by its hunks and tells which hunk did it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from thunderus_mem.evidence.past import measured
from thunderus_mem.evidence.verdict import Verdict, judge
from thunderus_mem.model.fingerprint import parse_fingerprint, same_measure

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from thunderus_mem.evidence.code.source import Source
    from thunderus_mem.evidence.verdict import Tree
    from thunderus_mem.model.anchor import Anchor
    from thunderus_mem.model.hunks import FileDiff, Hunk

__all__ = ["CodeChange", "Harm"]


class Harm(NamedTuple):
    """An anchor that a change made stale, and the first hunk that touches its code (``None`` when the whole
    file went, or came with no lines shown)."""

    verdict: Verdict
    file: str
    hunk: Hunk | None


class CodeChange:
    """A diff with the trees before and after it; it is the history of every anchor it is asked about."""

    def __init__(self, before: Tree, after: Tree, diffs: Sequence[FileDiff]) -> None:
        self._before = before
        self._after = after
        self.diffs = tuple(diffs)
        self._by_old = {diff.old_path: diff for diff in diffs if diff.old_path}
        self._by_new = {diff.new_path: diff for diff in diffs if diff.new_path}

    @property
    def paths(self) -> frozenset[str]:
        """Files that it touches, under their former and their new names."""
        return frozenset(self._by_old) | frozenset(self._by_new)

    def renamed(self, path: str) -> str | None:
        """Where the change moves a file."""
        diff = self._by_old.get(path)
        return diff.new_path if diff is not None and diff.new_path and diff.new_path != path else None

    def touched(self) -> Sequence[str]:
        """Files that are new or changed by it, sorted."""
        return sorted(self._by_new)

    def is_cut(self) -> bool:
        """A diff knows both its ends."""
        return False

    def before(self, path: str) -> Source | None:
        """A file as it was before the change."""
        diff = self._by_new.get(path)
        return self._before.source(path) if diff is None or diff.old_path == path else None

    def harm(self, anchor: Anchor) -> Harm | None:
        """What it does to an anchor; ``None`` when that holds, cannot be known, or did not hold before."""
        verdict = judge(anchor, self._after, self)
        if not verdict.is_stale or not self._held_before(anchor):
            return None
        hunks = list(self._hunks(anchor, verdict))
        path = verdict.found.path if verdict.found is not None else anchor.path
        return Harm(verdict, path, hunks[0] if hunks else None)

    def _held_before(self, anchor: Anchor) -> bool:
        if anchor.is_glob:
            return judge(anchor, self._before, self).status == "verified"
        wanted = parse_fingerprint(anchor.fingerprint)
        found = measured(anchor, self._before.source(anchor.path))
        if wanted is None:
            return bool(found)
        return any(one.hash == wanted.hash and same_measure(one, wanted) for one in found)

    def _hunks(self, anchor: Anchor, verdict: Verdict) -> Iterator[Hunk]:
        """The hunks inside the anchored code, as it was or as it is."""
        old, new = self._by_old.get(anchor.path), None
        if verdict.found is not None:
            new = self._by_new.get(verdict.found.path)
        diff = old or new
        if diff is None:
            return
        was = _span(anchor, self._before.source(diff.old_path) if diff.old_path else None)
        here = None
        if verdict.found is not None and diff.new_path:
            here = _span(verdict.found, self._after.source(diff.new_path))
        for hunk in diff.hunks:
            if (was and hunk.touches_old(*was)) or (here and hunk.touches_new(*here)):
                yield hunk


def _span(anchor: Anchor, source: Source | None) -> tuple[int, int] | None:
    """The lines of what an anchor names in a version of its file."""
    if source is None or source.trouble:
        return None
    if anchor.symbol:
        found = source.find(anchor.symbol)
        return (found[0].first, found[0].last) if found else None
    return anchor.lines or (1, source.text.count("\n") + 1)
