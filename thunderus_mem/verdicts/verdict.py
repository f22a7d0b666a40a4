"""Verdicts: is the anchored code still what was verified? Pure, over a tree and a history.

The content decides. A commit only hints where to look, so squash, rebase, amend, shallow clones and
uncommitted edits change no verdict. What cannot be known is ``unknown``, never an alarm.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Protocol

from thunderus_mem.startup import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from thunderus_mem.document.anchors import Anchor
    from thunderus_mem.fingerprint.source import CodeSource

VERIFIED: Final = "verified"
MOVED: Final = "moved"
CHANGED: Final = "changed"
MISSING: Final = "missing"
UNKNOWN: Final = "unknown"
RULES: Final = 4
"""Version of the rules for verdicts, part of the cache's key. Increment it when the same code may get another
verdict or reason."""
ORDER: Final = (VERIFIED, MOVED, UNKNOWN, CHANGED, MISSING)
"""From best to worst."""

_STATUS: Final = {VERIFIED: "verified", MOVED: "verified", CHANGED: "stale", MISSING: "stale"}


class Unsearchable(Exception):
    """The files that contain a word are not known: git failed, or did not answer in time."""


class Tree(Protocol):
    """The code at one moment: the working tree, the staged files, or a commit."""

    def source(self, path: str) -> CodeSource | None:
        """The file at a root-relative path; ``None`` when there is none."""

    def paths(self) -> Sequence[str]:
        """Every file of the repository except the memory itself, sorted."""

    def naming(self, word: str) -> Sequence[str]:
        """Files that contain a word, sorted; may include a few that do not."""


class AnchorHistory(Protocol):
    """What happened to the code since an anchor was made; ``None`` for anything unknown."""

    def renamed(self, path: str) -> str | None:
        """The path to which a missing file was renamed, according to git."""

    def touched(self) -> Sequence[str] | None:
        """Files that are new or changed since, sorted."""

    def before(self, path: str) -> CodeSource | None:
        """The file when the anchor was made."""

    def is_cut(self) -> bool:
        """Whether part of the history is not available, as in a shallow clone."""


class NoHistory:
    """No history: outside git, or the commit is not in this clone."""

    def renamed(self, path: str) -> str | None:
        """Not known."""

    def touched(self) -> Sequence[str] | None:
        """Not known."""

    def before(self, path: str) -> CodeSource | None:
        """Not known."""

    def is_cut(self) -> bool:
        """Not known either."""
        return False


class Verdict(NamedTuple):
    """The state of one anchor. ``found`` is where its code is now, with the present fingerprint.

    ``reason`` is one sentence; ``by`` is how the code was found: place, rename, search, or "" for not found.
    ``note`` is for changes that are no alarm (only the docstring changed). ``others`` is true when the
    verdict depends on more files than the one in the anchor.
    """

    status: str
    anchor: Anchor
    found: Anchor | None = None
    reason: str = ""
    by: str = ""
    note: str = ""
    others: bool = False

    @property
    def is_stale(self) -> bool:
        """Whether the document may be out of date."""
        return self.status in (CHANGED, MISSING)


def worst(verdicts: Iterable[Verdict]) -> str:
    """The worst status among verdicts; ``unknown`` when there are none."""
    return max((verdict.status for verdict in verdicts), key=ORDER.index, default=UNKNOWN)


def status_of(status: str) -> str:
    """The value of ``verification.status`` for a verdict: verified, stale or unknown."""
    return _STATUS.get(status, UNKNOWN)
