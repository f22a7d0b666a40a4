"""Former texts that git may have, for who holds the lock: asked between two attempts, without it."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from thunderus_mem.evidence.former import as_lf
from thunderus_mem.model.document import content_hash

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from thunderus_mem.store.git import Git

__all__ = ["Committed", "asking"]

Result = TypeVar("Result")


class _AskGit(Exception):
    """Texts that git may have are needed, of these paths."""

    def __init__(self, paths: tuple[str, ...]) -> None:
        super().__init__(paths)
        self.paths = paths


class Committed:
    """What git has of some paths, asked without the lock: until then `_AskGit` tells what is needed."""

    def __init__(self, git: Git | None) -> None:
        self._git = git
        self._asked: set[str] = set()
        self._texts: dict[str, str] = {}

    def texts(self, paths: Iterable[str]) -> dict[str, str]:
        """Every text known, by hash, when the paths are among those that git was asked about."""
        missing = set(paths) - self._asked
        if missing and self._git is not None:
            raise _AskGit(tuple(sorted(missing)))
        return self._texts

    def fetch(self, paths: tuple[str, ...]) -> None:
        """Ask git."""
        from thunderus_mem.store.git_texts import former_texts

        self._asked.update(paths)
        found = former_texts(self._git, paths) if self._git is not None else []
        self._texts |= {content_hash(text): as_lf(text) for data in found if (text := _decoded(data))}


def _decoded(data: bytes) -> str | None:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return None


def asking(committed: Committed, attempt: Callable[[], Result]) -> Result:
    """The attempt's result; whatever it needs from git is fetched between two attempts."""
    while True:
        try:
            return attempt()
        except _AskGit as wanted:
            committed.fetch(wanted.paths)
