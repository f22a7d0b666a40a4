"""Verdicts: does the code still hold what an anchor was made for? Pure, over a tree and a history.

The content decides. A commit is only a hint where to look, so that squash, rebase, amend, shallow clones and
uncommitted edits change no verdict; what cannot be known is ``unknown``, never an alarm.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from thunderus_mem.document.anchors import Anchor
    from thunderus_mem.fingerprint.source import CodeSource

VERIFIED: Final = "verified"
MOVED: Final = "moved"
CHANGED: Final = "changed"
MISSING: Final = "missing"
UNKNOWN: Final = "unknown"
RULES: Final = 1
"""Number of the rules by which verdicts are found. Raised whenever the same code may be judged otherwise."""
ORDER: Final = (VERIFIED, MOVED, UNKNOWN, CHANGED, MISSING)
"""From good to bad."""

_STATUS: Final = {VERIFIED: "verified", MOVED: "verified", CHANGED: "stale", MISSING: "stale"}


class Tree(Protocol):
    """The code as it is at one moment: the working tree, what is staged, or a commit."""

    def source(self, path: str) -> CodeSource | None:
        """The file at a root-relative path; ``None`` when there is none."""

    def paths(self) -> Sequence[str]:
        """Every file that counts as code of the repository, sorted."""

    def naming(self, word: str) -> Sequence[str]:
        """Files that hold a word, as far as that can be told cheaply, sorted."""


class AnchorHistory(Protocol):
    """What happened to the code since an anchor was made. Whatever is not known is ``None``."""

    def renamed(self, path: str) -> str | None:
        """Where git says that a file which is gone has moved to."""

    def touched(self) -> Sequence[str] | None:
        """Files that are new or changed since, sorted."""

    def before(self, path: str) -> CodeSource | None:
        """The file as it was then."""

    def is_cut(self) -> bool:
        """Whether there was a past that cannot be asked, as in a shallow clone."""


class NoHistory:
    """Nothing is known of the past: outside git, or the commit is not in this clone."""

    def renamed(self, path: str) -> str | None:
        """Not known."""

    def touched(self) -> Sequence[str] | None:
        """Not known."""

    def before(self, path: str) -> CodeSource | None:
        """Not known."""

    def is_cut(self) -> bool:
        """Nothing is known of that either."""
        return False


class Verdict(NamedTuple):
    """What is true of one anchor. ``found`` is where its code is now, with the fingerprint of what is there.

    ``reason`` is one sentence; ``by`` says how it was found: place, rename, search, or "" for not at all.
    ``note`` tells what is no alarm (only the docstring changed); ``others`` says that the verdict rests on
    more than the one file that the anchor names.
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
        """Whether the code no longer supports the claim."""
        return self.status in (CHANGED, MISSING)


def worst(verdicts: Iterable[Verdict]) -> str:
    """The worst status among verdicts; ``unknown`` for none."""
    return max((verdict.status for verdict in verdicts), key=ORDER.index, default=UNKNOWN)


def status_of(status: str) -> str:
    """A verdict's status as ``verification.status`` has it: verified, stale or unknown."""
    return _STATUS.get(status, UNKNOWN)
