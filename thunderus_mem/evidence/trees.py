"""The code at one moment, as verdicts ask of it: the working tree, what is staged, a commit, a patch."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

from thunderus_mem.evidence.code.source import Source
from thunderus_mem.store.code_files import MAX_CODE, CodeFolder
from thunderus_mem.store.git_changes import code_paths, files_naming

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from thunderus_mem.store.git import Git
    from thunderus_mem.store.git_objects import ObjectReader

__all__ = ["CodeTree", "CommitTree", "PatchedTree", "WorkingTree"]


class CodeTree(ABC):
    """What the trees share: each file is read and parsed once, and words are looked for together."""

    def __init__(self) -> None:
        self._sources: dict[str, Source | None] = {}
        self._expected: set[str] = set()
        self._naming: list[str] | None = None
        self._paths: list[str] | None = None

    def source(self, path: str) -> Source | None:
        """The file at a root-relative path; ``None`` when there is none."""
        if path not in self._sources:
            self._sources[path] = self._read(path)
        return self._sources[path]

    def paths(self) -> Sequence[str]:
        """Every file of the repository but those of the memory itself, sorted."""
        if self._paths is None:
            self._paths = [path for path in self._listed() if not path.startswith(".thunderus/")]
        return self._paths

    def expect(self, words: Iterable[str]) -> None:
        """Say beforehand which words will be asked for, so that one look finds the files of all."""
        self._expected.update(words)
        self._naming = None

    def naming(self, word: str) -> Sequence[str]:
        """Files that hold a word as a whole, sorted."""
        if word not in self._expected or self._naming is None:
            self._expected.add(word)
            found = self._with_words(sorted(self._expected))
            self._naming = [path for path in found if not path.startswith(".thunderus/")]
        if len(self._expected) == 1:
            return self._naming
        return [path for path in self._naming if self._holds(path, word)]

    def _holds(self, path: str, word: str) -> bool:
        source = self.source(path)
        return source is not None and word in source.text

    @abstractmethod
    def _read(self, path: str) -> Source | None:
        """The file as it is in this tree."""

    @abstractmethod
    def _listed(self) -> Sequence[str]:
        """Every file of the tree, sorted."""

    def _with_words(self, words: Sequence[str]) -> Sequence[str]:
        return [path for path in self.paths() if any(self._holds(path, word) for word in words)]


class WorkingTree(CodeTree):
    """The files on disk; with git only those it tracks or would take in."""

    def __init__(self, root: str, git: Git | None) -> None:
        super().__init__()
        self.folder = CodeFolder(root)
        self._git = git

    def _read(self, path: str) -> Source | None:
        found = self.folder.read(path)
        return None if found is None else Source(path, found.data, found.trouble)

    def _listed(self) -> Sequence[str]:
        return self.folder.walk() if self._git is None else code_paths(self._git)

    def _with_words(self, words: Sequence[str]) -> Sequence[str]:
        return super()._with_words(words) if self._git is None else files_naming(self._git, words)


class CommitTree(CodeTree):
    """The files of a commit, or of git's index when ``revision`` is ``:``."""

    def __init__(self, git: Git, reader: ObjectReader, revision: str) -> None:
        super().__init__()
        self._git = git
        self._reader = reader
        self._revision = revision

    def _read(self, path: str) -> Source | None:
        data = self._reader.read("" if self._revision == ":" else self._revision, path)
        if data is None:
            return None
        too_long = f"it has {len(data) / (1 << 20):.1f} MiB, more than 2 MiB" if len(data) > MAX_CODE else ""
        return Source(path, b"" if too_long else data, too_long)

    def _listed(self) -> Sequence[str]:
        return code_paths(self._git, self._revision)

    def _with_words(self, words: Sequence[str]) -> Sequence[str]:
        return files_naming(self._git, words, self._revision)


class PatchedTree(CodeTree):
    """Another tree with some files as a patch makes them: ``None`` for one that it takes away."""

    def __init__(self, tree: CodeTree, patched: Mapping[str, bytes | None]) -> None:
        super().__init__()
        self._tree = tree
        self._patched = patched

    def _read(self, path: str) -> Source | None:
        if path not in self._patched:
            return self._tree.source(path)
        data = self._patched[path]
        return None if data is None else Source(path, data)

    def _listed(self) -> Sequence[str]:
        added = {path for path, data in self._patched.items() if data is not None}
        gone = self._patched.keys() - added
        return sorted((set(self._tree.paths()) | added) - gone)

    def _with_words(self, words: Sequence[str]) -> Sequence[str]:
        found = {path for word in words for path in self._tree.naming(word)} - self._patched.keys()
        added = {path for path in self._patched if any(self._holds(path, word) for word in words)}
        return sorted(found | added)
