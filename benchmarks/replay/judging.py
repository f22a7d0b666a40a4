"""Runs the product's own judge over planted anchors, with as much history as a situation leaves."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from benchmarks.replay.scoring import Given
from thunderus_mem.evidence.past import Past
from thunderus_mem.evidence.trees import CommitTree
from thunderus_mem.evidence.verdict import NoHistory, judge
from thunderus_mem.store.git import Git
from thunderus_mem.store.git_objects import ObjectReader

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchmarks.replay.clone import Clone
    from thunderus_mem.evidence.verdict import Verdict
    from thunderus_mem.model.anchor import Anchor

HISTORY: Final = "history"
SQUASHED: Final = "squashed"
SHALLOW: Final = "shallow"
NONE: Final = "none"
SITUATIONS: Final = (HISTORY, SQUASHED, SHALLOW, NONE)
"""The anchor's commit is there; it was squashed away; the clone has one commit; there is no git."""
_GONE: Final = "dead" * 10


def given(verdict: Verdict) -> Given:
    """A verdict as scoring wants it."""
    found = verdict.found
    return Given(verdict.status, found.path if found else "", found.symbol if found else "", verdict.reason)


def judged(root: str, revision: str, anchors: Sequence[Anchor], hint: str | None) -> list[Given]:
    """Verdicts in the tree of a commit of the repository at ``root``; ``hint`` ``None``: no history at all."""
    git = Git.find(root)
    if git is None:
        raise OSError(f"{root} is no repository")
    with ObjectReader(git) as reader:
        tree = CommitTree(git, reader, revision)
        tree.expect({anchor.symbol.rpartition(".")[2] for anchor in anchors})
        if hint is None:
            return [given(judge(anchor, tree, NoHistory())) for anchor in anchors]
        past = Past(git, reader, revision)
        return [given(judge(anchor, tree, past.of(anchor, hint))) for anchor in anchors]


def in_all_situations(
    clone: Clone, a: str, b: str, anchors: Sequence[Anchor], shallow_root: str, situations: Sequence[str]
) -> list[dict[str, Given]]:
    """For each anchor of A its verdict at B in every situation asked for."""
    found: dict[str, list[Given]] = {}
    if HISTORY in situations:
        clone.stand_at(b)
        found[HISTORY] = judged(clone.root, b, anchors, a)
    if SQUASHED in situations:
        squashed = clone.commit(b, {}, parents=[f"{a}~1"])
        clone.stand_at(squashed)
        found[SQUASHED] = judged(clone.root, squashed, anchors, _GONE)
    if SHALLOW in situations:
        clone.shallow(b, shallow_root)
        found[SHALLOW] = judged(shallow_root, b, anchors, a)
    if NONE in situations:
        clone.stand_at(b)
        found[NONE] = judged(clone.root, b, anchors, None)
    return [{name: rows[at] for name, rows in found.items()} for at in range(len(anchors))]
