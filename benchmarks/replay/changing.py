"""Change checks against truth: anchors planted once and never mended, and commits long after them.

For a commit, the product is asked what `check --since` its parent reports in a checkout of it. Truth walks
from the planted commit to it, commit by commit, and knows where each definition is by then: an anchor must be
reported when the commit edits or removes its definition. An anchor whose definition was edited before, and
one whose fate is undecided, is left out on both sides.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from typing import TYPE_CHECKING, NamedTuple

from benchmarks.replay.planting import choose
from benchmarks.replay.truth import FOLLOWED, HELD, STALE, Span, expected
from benchmarks.replay.walking import sown
from thunderus_mem.document.frontmatter.write import compose
from thunderus_mem.lint.check import check_since
from thunderus_mem.memory.memory import open_memory

if TYPE_CHECKING:
    from random import Random

    from benchmarks.replay.clone import Clone
    from benchmarks.replay.planting import Planted
    from benchmarks.replay.symbols import Symbol
    from benchmarks.replay.truth import Library

NEAREST, FURTHEST = 20, 200
"""Commits between the planted anchors and the checked commit."""
_MOMENT = "2026-01-21T09:00:00Z"


class Checked(NamedTuple):
    """A commit: the anchors it edited by truth and those reported; ``distance`` from the planted commit, and
    how many anchors were ``asked`` about."""

    repository: str
    planted: str
    commit: str
    distance: int
    asked: int
    edited: frozenset[str]
    reported: frozenset[str]

    @property
    def equal(self) -> bool:
        """Whether the check reported exactly what the commit edited."""
        return self.edited == self.reported


class _Place:
    """Where an anchored definition is by now, and whether it is still what was anchored."""

    def __init__(self, planted: Planted) -> None:
        self.planted = planted
        self.path, self.symbol = planted.anchor.path, planted.symbol
        self.fresh, self.known = True, True

    def follow(self, span: Span) -> bool:
        """Go over one commit; whether it edits the definition, which was still as anchored before."""
        truth = expected(span, self.path, self.symbol, small=self.planted.small)
        was_fresh = self.fresh
        if truth.kind in (*HELD, *FOLLOWED):
            self._go(span, truth.places)
            return False
        if truth.kind not in STALE:
            self.known = False
            return False
        self.fresh = False
        if truth.places:
            self._go(span, truth.places)
            self.fresh = self.symbol.content == self.planted.symbol.content
        else:
            self.known = False
        return was_fresh

    def _go(self, span: Span, places: tuple[tuple[str, str], ...]) -> None:
        path, name = places[0]
        found: tuple[Symbol, ...] = span.library.one(path, span.after[path]).named(name)
        if found:
            self.path, self.symbol = path, found[0]
        else:
            self.known = False


class _Store:
    """A checkout of the clone with one document for each anchor."""

    def __init__(self, clone: Clone, root: str) -> None:
        self.root = root
        shutil.rmtree(root, ignore_errors=True)
        _git(os.path.dirname(root), "clone", "--quiet", "--shared", "--no-checkout", clone.root, root)
        refs = os.path.join(clone.root, ".git", "refs", "replace")
        if os.path.isdir(refs):
            shutil.copytree(refs, os.path.join(root, ".git", "refs", "replace"))
        with open(os.path.join(root, ".git", "info", "exclude"), "w", encoding="utf-8") as file:
            file.write(".thunderus/\n")

    def fill(self, planted: list[Planted], revision: str) -> None:
        """The documents, verified at a commit."""
        shutil.rmtree(os.path.join(self.root, ".thunderus"), ignore_errors=True)
        folder = os.path.join(self.root, ".thunderus", "memory", "semantic", "FACTS")
        os.makedirs(folder)
        for number, one in enumerate(planted):
            header = {
                "id": f"fact.d{number}",
                "title": f"What number {number} does",
                "kind": "fact",
                "tags": ["replay"],
                "created": _MOMENT,
                "updated": _MOMENT,
                "anchors": [one.anchor.item],
                "provenance": {"events": [], "patches": [], "commits": []},
                "verification": {"last_verified_commit": revision, "status": "verified"},
            }
            with open(os.path.join(folder, f"d{number}.md"), "w", encoding="utf-8") as file:
                file.write(compose(header, f"Number {number} is anchored.\n"))

    def reported(self, revision: str) -> set[int]:
        """The numbers of the documents that a commit affects."""
        _git(self.root, "checkout", "--quiet", "--force", "--detach", revision)
        memory = open_memory(self.root, environ={"HOME": self.root, "PATH": os.environ["PATH"]})
        report = check_since(memory, "HEAD~1")
        return {int(one.doc_id.removeprefix("fact.d")) for one in report.findings}


def _git(folder: str, *arguments: str) -> None:
    subprocess.run(["git", *arguments], cwd=folder, check=True, capture_output=True)


def check_changes(library: Library, dice: Random, commits: int, anchors: int) -> list[Checked]:
    """About ``commits`` commits that touch a file with an anchor, up to ten in a stretch; half of them edit
    an anchored definition, where there are such."""
    clone = library.clone
    line = clone.line()
    store = _Store(clone, f"{clone.root}-store")
    found: list[Checked] = []
    for _ in range(max(1, commits // 5)):
        if len(found) >= commits or len(line) <= FURTHEST + 1:
            break
        at = dice.randint(max(1, len(line) - 3000), len(line) - 1 - FURTHEST)
        found += _stretch(
            library, line[at : at + FURTHEST + 1], dice, store, min(10, commits - len(found)), anchors
        )
    return found


def _stretch(
    library: Library, line: list[str], dice: Random, store: _Store, most: int, anchors: int
) -> list[Checked]:
    clone = library.clone
    tree = clone.tree(line[0])
    paths = clone.paths_by_commit(line[0], line[-1])
    touched = {path for names in paths.values() for path in names}
    planted, _ = sown(library, tree, choose(library, tree, touched, dice, anchors))
    places = [_Place(one) for one in planted]
    truths: list[tuple[int, set[int], set[int]]] = []
    for step in range(1, len(line)):
        names = paths.get(line[step], set())
        concerned = [at for at, one in enumerate(places) if one.known and one.path in names]
        if not concerned:
            continue
        span = Span(library, line[step - 1], line[step])
        left_out = {at for at, one in enumerate(places) if not (one.known and one.fresh)}
        edited = {at for at in concerned if places[at].follow(span)}
        left_out |= {at for at in concerned if not places[at].known and at not in edited}
        if step >= NEAREST and set(concerned) - left_out:
            truths.append((step, edited, left_out))
    if not truths:
        return []
    store.fill(planted, line[0])
    found = []
    dice.shuffle(truths)
    truths.sort(key=lambda one: not one[1])  # those that edit first, so that they are half of all
    half = truths[: most // 2]
    for step, edited, left_out in half + dice.sample(
        truths[len(half) :], min(most - len(half), len(truths) - len(half))
    ):
        told = store.reported(line[step]) - left_out
        asked = len(planted) - len(left_out)
        wanted, given = (frozenset(planted[at].anchor.place for at in some) for some in (edited, told))
        found.append(Checked(clone.name, line[0], line[step], step, asked, wanted, given))
    return found
