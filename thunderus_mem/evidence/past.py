"""What git tells of the code since an anchor was made, asked for only as far as a verdict needs it.

The commit that a document names is a hint. When this clone has not got it (squashed away, rebased, shallow),
the newest commit whose file still holds what the anchor says takes its place.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Final

from thunderus_mem.evidence.code.source import Source
from thunderus_mem.model.fingerprint import parse_fingerprint
from thunderus_mem.store.git_changes import changes_since, destination, untracked_files
from thunderus_mem.store.git_versions import file_commits

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from thunderus_mem.model.anchor import Anchor
    from thunderus_mem.model.fingerprint import Fingerprint
    from thunderus_mem.store.git import Git
    from thunderus_mem.store.git_changes import Changes
    from thunderus_mem.store.git_history import Commit
    from thunderus_mem.store.git_objects import ObjectReader

__all__ = ["CodeHistory", "Past", "measured"]

_MOST_VERSIONS: Final = 200


class Past:
    """Answers that all anchors of one command share. ``until`` is the tree they are judged in: "" for the
    working tree, ``:`` for the index, or a commit."""

    def __init__(self, git: Git, reader: ObjectReader, until: str = "") -> None:
        self.git = git
        self.reader = reader
        self.until = until
        self._changes: dict[str, Changes | None] = {}
        self._sources: dict[tuple[str, str], Source | None] = {}
        self._destinations: dict[str, str | None] = {}

    def of(self, anchor: Anchor, hint: str) -> CodeHistory:
        """The history of one anchor, which was made about when ``hint`` was the newest commit."""
        return CodeHistory(self, anchor, hint)

    def changes(self, since: str) -> Changes | None:
        """What differs since a commit; ``None`` when this clone has not got it."""
        if since not in self._changes:
            found = changes_since(self.git, since, self.until)
            if found is not None and not self.until:
                touched = tuple(sorted({*found.touched, *self._untracked}))
                found = found._replace(touched=touched)
            self._changes[since] = found
        return self._changes[since]

    @cached_property
    def _untracked(self) -> list[str]:
        return untracked_files(self.git)

    def source(self, revision: str, path: str) -> Source | None:
        """A file as it was in a commit."""
        key = (revision, path)
        if key not in self._sources:
            data = self.reader.read(revision, path)
            self._sources[key] = None if data is None else Source(path, data)
        return self._sources[key]

    def destination(self, path: str) -> str | None:
        """Where the commits behind HEAD moved a file that is gone."""
        if path not in self._destinations:
            self._destinations[path] = destination(self.git, path)
        return self._destinations[path]

    def versions(self, path: str) -> Iterator[tuple[Commit, Source | None]]:
        """A file as commits left it, the newest first, as far as that is worth reading."""
        for commit, _ in _first(_MOST_VERSIONS, file_commits(self.git, [path])):
            yield commit, self.source(commit.sha, path)


def _first(
    count: int, commits: Iterator[tuple[Commit, tuple[str, ...]]]
) -> Iterator[tuple[Commit, tuple[str, ...]]]:
    for _, one in zip(range(count), commits, strict=False):
        yield one


class CodeHistory:
    """The history of one anchor."""

    def __init__(self, past: Past, anchor: Anchor, hint: str) -> None:
        self._past = past
        self._anchor = anchor
        self._hint = hint

    @cached_property
    def base(self) -> str | None:
        """The commit that the present is compared with; ``None`` when none can be told."""
        if self._hint and self._past.changes(self._hint) is not None:
            return self._hint
        wanted = parse_fingerprint(self._anchor.fingerprint)
        if wanted is None:
            return None
        for commit, source in self._past.versions(self._anchor.path):
            found = measured(self._anchor, source)
            if any(one.hash == wanted.hash for one in found):
                return commit.sha
        return None

    def renamed(self, path: str) -> str | None:
        """Where git says that a file which is gone has moved to."""
        if self.base is not None:
            changes = self._past.changes(self.base)
            if changes is not None and path in changes.renamed:
                return changes.renamed[path]
        return self._past.destination(path)

    def touched(self) -> Sequence[str] | None:
        """Files that are new or changed since, sorted."""
        changes = self._past.changes(self.base) if self.base is not None else None
        return None if changes is None else changes.touched

    def is_cut(self) -> bool:
        """Whether this clone was made without the commits that could tell."""
        return self.base is None and self._past.git.is_shallow()

    def before(self, path: str) -> Source | None:
        """The file as it was then."""
        return self._past.source(self.base, path) if self.base is not None else None


def measured(anchor: Anchor, source: Source | None) -> list[Fingerprint]:
    """The fingerprints of what an anchor names in a version of its file; none where it is not there."""
    if source is None or source.trouble:
        return []
    if anchor.symbol:
        return [definition.fingerprint for definition in source.find(anchor.symbol)]
    if anchor.lines is not None:
        found = source.of_lines(*anchor.lines)
        return [found] if found is not None else []
    return [source.whole()]
