"""Compute the verdicts of the product for planted anchors, with the history available in each situation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from benchmarks.replay.scoring import Given
from thunderus_mem.git.history import ObjectReader
from thunderus_mem.git.repository import Git
from thunderus_mem.verdicts.code import CodePast, CommitTree
from thunderus_mem.verdicts.evaluate import evaluate
from thunderus_mem.verdicts.verdict import NoHistory

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchmarks.replay.clone import Clone
    from thunderus_mem.document.anchors import Anchor
    from thunderus_mem.verdicts.verdict import Verdict

HISTORY: Final = "history"
SQUASHED: Final = "squashed"
SHALLOW: Final = "shallow"
NONE: Final = "none"
SITUATIONS: Final = (HISTORY, SQUASHED, SHALLOW, NONE)
"""Full history; the anchor's commit was squashed; a clone with one commit; no git."""
TITLES: Final = {
    HISTORY: "with history",
    SQUASHED: "squashed",
    SHALLOW: "shallow clone",
    NONE: "without git",
}
_GONE: Final = "dead" * 10


def given(verdict: Verdict) -> Given:
    """A verdict in the form needed for scoring."""
    found = verdict.found
    return Given(verdict.status, found.path if found else "", found.symbol if found else "", verdict.reason)


class Place(NamedTuple):
    """A commit, not checked out, at which many anchors are verified."""

    tree: CommitTree
    anchors: Sequence[Anchor]

    def judged(self, root: str, revision: str, hint: str | None) -> list[Given]:
        """Verdicts with the history of the repository at ``root``; without any if ``hint`` is ``None``."""
        if hint is None:
            return [given(evaluate(anchor, self.tree, NoHistory())) for anchor in self.anchors]
        git = found(root)
        with ObjectReader(git) as reader:
            past = CodePast(git, reader, revision)
            return [given(evaluate(anchor, self.tree, past.of(anchor, hint))) for anchor in self.anchors]


def found(root: str) -> Git:
    """The repository at a folder."""
    git = Git.find(root)
    if git is None:
        raise OSError(f"{root} is not a git repository")
    return git


def in_all_situations(
    clone: Clone, a: str, b: str, anchors: Sequence[Anchor], shallow_root: str, situations: Sequence[str]
) -> list[dict[str, Given]]:
    """The verdict at B of each anchor of A in every requested situation; each file is parsed once."""
    rows: dict[str, list[Given]] = {}
    git = found(clone.root)
    with ObjectReader(git) as reader:
        tree = CommitTree(git, reader, b)
        tree.expect({anchor.symbol.rpartition(".")[2] for anchor in anchors})
        place = Place(tree, anchors)
        if HISTORY in situations:
            clone.stand_at(b)
            rows[HISTORY] = place.judged(clone.root, b, a)
        if SQUASHED in situations:
            squashed = clone.commit(b, {}, parents=[f"{a}~1"])
            clone.stand_at(squashed)
            rows[SQUASHED] = place.judged(clone.root, squashed, _GONE)
        if SHALLOW in situations:
            clone.shallow(b, shallow_root)
            rows[SHALLOW] = place.judged(shallow_root, b, a)
        if NONE in situations:
            rows[NONE] = place.judged(clone.root, b, None)
    return [{name: verdicts[at] for name, verdicts in rows.items()} for at in range(len(anchors))]
