"""The anchored code: files, whole trees, their history, and the commit that changed an anchor's code.

Reads code files and git as needed for a verdict; writes nothing, follows no symlink, never leaves the root.
"""

from __future__ import annotations

import os
import stat
from abc import ABC, abstractmethod
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, Final

from thunderus_mem.document.anchors import Anchor
from thunderus_mem.document.diff import unified_diff
from thunderus_mem.document.paths import matching
from thunderus_mem.fingerprint.source import CodeSource, parse_fingerprint, read_text
from thunderus_mem.git import history
from thunderus_mem.git.changes import changes_since, code_paths, destination, files_naming, untracked_files
from thunderus_mem.startup import NamedTuple
from thunderus_mem.verdicts.evaluate import evaluate
from thunderus_mem.verdicts.verdict import MOVED, NoHistory, Unsearchable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from thunderus_mem.fingerprint.source import Fingerprint
    from thunderus_mem.git.changes import Changes
    from thunderus_mem.git.commits import Commit
    from thunderus_mem.git.repository import Git
    from thunderus_mem.verdicts.verdict import Tree, Verdict

MAX_CODE: Final = 2 << 20
"""Size limit in bytes of a file that is parsed."""
_MOST_FILES: Final = 50_000
_MOST_VERSIONS: Final = 200
_MOST_MOVES: Final = 20
_FLAGS: Final = (
    os.O_RDONLY
    | getattr(os, "O_NONBLOCK", 0)
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_NOCTTY", 0)
)


class CodeFile(NamedTuple):
    """A file's bytes, or in ``trouble`` a phrase why they cannot be read."""

    data: bytes
    trouble: str = ""


class CodeFolder:
    """The files below a root. Folders are checked once, so use a new one for each command."""

    def __init__(self, root: str) -> None:
        self.root = root
        self._real = os.path.realpath(root)
        self._inside: dict[str, bool] = {"": True}

    def _leads_out(self, folder: str) -> bool:
        inside = self._inside.get(folder)
        if inside is None:
            real = os.path.realpath(os.path.join(self.root, *folder.split("/")))
            inside = self._inside[folder] = real == self._real or real.startswith(self._real + os.sep)
        return not inside

    def _place(self, path: str) -> str:
        return os.path.join(self.root, *path.split("/"))

    def stamp(self, path: str) -> tuple[int, int, int, int] | None:
        """Size, mtime, ctime (ns) and inode of a regular file; ``None`` for anything else."""
        try:
            found = os.lstat(self._place(path))
        except (OSError, ValueError):
            return None
        if not stat.S_ISREG(found.st_mode):
            return None
        return (found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino)

    def walk(self) -> list[str]:
        """Files below the root, sorted, without hidden files and folders. At most 50,000: outside git, a
        larger tree is not searched completely."""
        found: list[str] = []
        waiting = [""]
        while waiting and len(found) < _MOST_FILES:
            folder = waiting.pop()
            try:
                with os.scandir(os.path.join(self.root, *folder.split("/"))) as entries:
                    for entry in entries:
                        path = f"{folder}/{entry.name}" if folder else entry.name
                        if entry.name.startswith("."):
                            continue
                        if entry.is_dir(follow_symlinks=False):
                            waiting.append(path)
                        elif entry.is_file(follow_symlinks=False):
                            found.append(path)
            except OSError:  # nothing in an unreadable folder can be judged
                continue
        return sorted(found)

    def read(self, path: str) -> CodeFile | None:
        """A file below the root; ``None`` when it does not exist. Never raises, whatever the file is."""
        if "\0" in path or path.startswith("/") or ".." in path.split("/"):
            return None
        folder = path.rpartition("/")[0]
        if self._leads_out(folder):
            return CodeFile(b"", "its folder is a symlink that points outside the repository")
        place = self._place(path)
        try:
            descriptor = os.open(place, _FLAGS)
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            return CodeFile(b"", _reason(place, error))
        try:
            found = os.fstat(descriptor)
            if stat.S_ISDIR(found.st_mode):
                return CodeFile(
                    b"",
                    f"it is a folder; use {path + '/'!r} to anchor the whole folder, or anchor a file in it",
                )
            if not stat.S_ISREG(found.st_mode):
                return CodeFile(b"", "it is not a regular file")
            if found.st_size > MAX_CODE:
                return CodeFile(b"", _too_large(found.st_size))
            return CodeFile(_read(descriptor, found.st_size))
        except OSError as error:
            return CodeFile(b"", _reason(place, error))
        finally:
            os.close(descriptor)


def _read(descriptor: int, size: int) -> bytes:
    pieces, have = [], 0
    while have <= MAX_CODE:
        piece = os.read(descriptor, max(size - have, 0) + 1)
        if not piece:
            break
        pieces.append(piece)
        have += len(piece)
    return b"".join(pieces)


def _too_large(size: int) -> str:
    return f"it is {size / (1 << 20):.1f} MiB, over the limit of 2 MiB"


def _reason(place: str, error: OSError) -> str:
    if os.path.islink(place):
        return "it is a symlink; anchor its target"
    return f"it cannot be read ({(error.strerror or 'unknown error').lower()})"


class CodeTree(ABC):
    """Base of the trees: each file is read and parsed once, and words are searched for together."""

    def __init__(self) -> None:
        self._sources: dict[str, CodeSource | None] = {}
        self._expected: set[str] = set()
        self._naming: list[str] | None = None
        self._paths: list[str] | None = None

    def source(self, path: str) -> CodeSource | None:
        """The file at a root-relative path; ``None`` when it does not exist."""
        if path not in self._sources:
            self._sources[path] = self._read(path)
        return self._sources[path]

    def paths(self) -> Sequence[str]:
        """Every file of the repository except the memory itself, sorted."""
        if self._paths is None:
            self._paths = [path for path in self._listed() if not path.startswith(".thunderus/")]
        return self._paths

    def expect(self, words: Iterable[str]) -> None:
        """Announce words, so that one search finds the files of all of them."""
        new = set(words) - self._expected
        if new:
            self._expected |= new
            self._naming = None

    def naming(self, word: str) -> Sequence[str]:
        """Files that contain a word as a whole, sorted."""
        self.expect([word])
        found = self.naming_any()
        return found if len(self._expected) == 1 else [path for path in found if self._holds(path, word)]

    def naming_any(self) -> Sequence[str]:
        """Files that contain any of the announced words as a whole, sorted."""
        if self._naming is None:
            found = self._with_words(sorted(self._expected))
            if found is None:
                raise Unsearchable
            self._naming = [path for path in found if not path.startswith(".thunderus/")]
        return self._naming

    def text(self, path: str) -> str:
        """The text of a file, without trying whether it can be parsed; "" when it cannot be read."""
        source = self.source(path)
        return source.text if source is not None else ""

    def _holds(self, path: str, word: str) -> bool:
        source = self.source(path)
        return source is not None and word in source.text

    @abstractmethod
    def _read(self, path: str) -> CodeSource | None:
        """The file in this tree."""

    @abstractmethod
    def _listed(self) -> Sequence[str]:
        """Every file of the tree, sorted."""

    def _with_words(self, words: Sequence[str]) -> Sequence[str] | None:
        return [path for path in self.paths() if any(self._holds(path, word) for word in words)]


class WorkingTree(CodeTree):
    """The files on disk; with git, only tracked files and untracked ones that are not ignored."""

    def __init__(self, root: str, git: Git | None) -> None:
        super().__init__()
        self.folder = CodeFolder(root)
        self._git = git

    def _read(self, path: str) -> CodeSource | None:
        found = self.folder.read(path)
        return None if found is None else CodeSource(path, found.data, found.trouble)

    def text(self, path: str) -> str:
        found = self.folder.read(path)
        return "" if found is None or found.trouble else read_text(found.data)

    def _listed(self) -> Sequence[str]:
        return self.folder.walk() if self._git is None else code_paths(self._git)

    def _with_words(self, words: Sequence[str]) -> Sequence[str] | None:
        return super()._with_words(words) if self._git is None else files_naming(self._git, words)


class CommitTree(CodeTree):
    """The files of a commit, or of git's index when ``revision`` is ``:``."""

    def __init__(self, git: Git, reader: history.ObjectReader, revision: str) -> None:
        super().__init__()
        self._git = git
        self._reader = reader
        self._revision = revision

    def _read(self, path: str) -> CodeSource | None:
        data = self._reader.read("" if self._revision == ":" else self._revision, path)
        if data is None:
            return None
        trouble = _too_large(len(data)) if len(data) > MAX_CODE else ""
        return CodeSource(path, b"" if trouble else data, trouble)

    def _listed(self) -> Sequence[str]:
        return code_paths(self._git, self._revision)

    def _with_words(self, words: Sequence[str]) -> Sequence[str] | None:
        return files_naming(self._git, words, self._revision)


class PatchedTree(CodeTree):
    """Another tree with a patch applied: new content by path, ``None`` for a deleted file."""

    def __init__(self, tree: CodeTree, patched: Mapping[str, bytes | None]) -> None:
        super().__init__()
        self._tree = tree
        self._patched = patched

    def _read(self, path: str) -> CodeSource | None:
        if path not in self._patched:
            return self._tree.source(path)
        data = self._patched[path]
        return None if data is None else CodeSource(path, data)

    def _listed(self) -> Sequence[str]:
        added = {path for path, data in self._patched.items() if data is not None}
        gone = self._patched.keys() - added
        return sorted((set(self._tree.paths()) | added) - gone)

    def _with_words(self, words: Sequence[str]) -> Sequence[str] | None:
        found = {path for word in words for path in self._tree.naming(word)} - self._patched.keys()
        added = {path for path in self._patched if any(self._holds(path, word) for word in words)}
        return sorted(found | added)


class CodePast:
    """The history that all anchors of one command share. ``until`` is the tree they are judged in: "" for the
    working tree, ``:`` for the index, or a commit."""

    def __init__(self, git: Git, reader: history.ObjectReader, until: str = "") -> None:
        self.git = git
        self.reader = reader
        self.until = until
        self._changes: dict[str, Changes | None] = {}
        self._sources: dict[tuple[str, str], CodeSource | None] = {}
        self._destinations: dict[str, str | None] = {}

    def of(self, anchor: Anchor, hint: str) -> CodeHistory:
        """The history of one anchor, made about when ``hint`` was the newest commit."""
        return CodeHistory(self, anchor, hint)

    def changes(self, since: str) -> Changes | None:
        """The changes since a commit; ``None`` when the commit is not in this clone."""
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

    def source(self, revision: str, path: str) -> CodeSource | None:
        """A file in a commit."""
        key = (revision, path)
        if key not in self._sources:
            data = self.reader.read(revision, path)
            self._sources[key] = None if data is None else CodeSource(path, data)
        return self._sources[key]

    def destination(self, path: str) -> str | None:
        """The path to which the commits renamed a missing file."""
        if path not in self._destinations:
            self._destinations[path] = destination(self.git, path, self._newest, self._exists)
        return self._destinations[path]

    @property
    def _newest(self) -> str:
        return "HEAD" if self.until in ("", ":") else self.until

    def _exists(self, path: str) -> bool:
        if not self.until:
            return os.path.lexists(os.path.join(self.git.root, *path.split("/")))
        return self.reader.read("" if self.until == ":" else self.until, path) is not None

    def versions(self, path: str) -> Iterator[tuple[Commit, CodeSource | None]]:
        """The committed versions of a file, newest first, up to 200."""
        for commit, _ in islice(history.file_commits(self.git, [path], self._newest), _MOST_VERSIONS):
            yield commit, self.source(commit.sha, path)

    def at(self, commit: str) -> CodePast:
        """The history up to a commit."""
        return CodePast(self.git, self.reader, commit)


class CodeHistory:
    """The history of one anchor."""

    def __init__(self, past: CodePast, anchor: Anchor, hint: str) -> None:
        self._past = past
        self._anchor = anchor
        self._hint = hint

    @cached_property
    def base(self) -> str | None:
        """The commit to compare with; ``None`` when it cannot be determined."""
        if self._hint and self._past.changes(self._hint) is not None:
            return self._hint
        wanted = parse_fingerprint(self._anchor.fingerprint)
        if wanted is None or self._anchor.is_glob:
            return None
        for commit, source in self._past.versions(self._anchor.path):
            if any(one.hash == wanted.hash for one in _every(self._anchor, source)):
                return commit.sha
        return None

    def renamed(self, path: str) -> str | None:
        """The path to which a missing file was renamed, according to git."""
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
        """Whether the commits needed are missing from this shallow clone."""
        return self.base is None and self._past.git.is_shallow()

    def before(self, path: str) -> CodeSource | None:
        """The file in the base commit."""
        return self._past.source(self.base, path) if self.base is not None else None


def measured(anchor: Anchor, source: CodeSource | None) -> list[Fingerprint]:
    """The fingerprints of an anchor's code in a version of its file; empty when it does not exist there."""
    if source is None or source.trouble:
        return []
    if anchor.symbol:
        return [named.read_as(anchor.scheme) for named in source.meanings(anchor.symbol)]
    if anchor.lines is not None:
        found = source.of_lines(*anchor.lines)
        return [found] if found is not None else []
    return [source.whole()]


def same_code(anchor: Anchor, tree: CodeTree, other: CodeTree) -> bool:
    """Whether an anchor's code is in two trees with the same text."""
    if anchor.is_glob:
        files = matching(anchor.path, tree.paths())
        return files == matching(anchor.path, other.paths()) and all(
            same_code(Anchor(path), tree, other) for path in files
        )
    one, two = tree.source(anchor.path), other.source(anchor.path)
    if one is None or two is None or one.trouble or two.trouble:
        # A file that is not read as text has a fingerprint of its bytes.
        return one is not None and two is not None and one.whole() == two.whole()
    text = code_of(anchor, one)
    return text is not None and text == code_of(anchor, two)


def _every(anchor: Anchor, source: CodeSource | None) -> list[Fingerprint]:
    """Like `measured`, with each of several definitions: an older fingerprint may be that of one."""
    found = measured(anchor, source)
    if source is not None and found and anchor.symbol:
        found += [one.read_as(anchor.scheme) for one in source.find(anchor.symbol)]
    return found


MOST_EXPLAINED: Final = 100
"""Stale anchors for which a command searches the breaking commit; with more of them it is not useful."""


class BreakingCommit(NamedTuple):
    """The newest commit that still had the anchored code, where it was in that commit (``anchor``) with the
    file then, and the next commit, which changed it (``None``: the change is not committed yet)."""

    last_good: Commit
    anchor: Anchor
    source: CodeSource
    commit: Commit | None


def breaking_commit(anchor: Anchor, past: CodePast) -> BreakingCommit | None:
    """Find the commit that changed an anchor's code, wherever earlier commits moved it; ``None`` when the
    code is not in this history."""
    known = _newest_with(anchor, past)
    moves = 0
    while known is not None and known.commit is not None and moves < _MOST_MOVES:
        moved = _moved_by(known, known.commit, past)
        later = _newest_with(moved, past, known.commit) if moved is not None else None
        if later is None:
            break
        known, moves = later, moves + 1
    return known


def _moved_by(known: BreakingCommit, commit: Commit, past: CodePast) -> Anchor | None:
    """Where a commit moved the code to; ``None`` when it changed it."""
    then = past.at(commit.sha)
    tree = CommitTree(past.git, past.reader, commit.sha)
    verdict = evaluate(known.anchor, tree, then.of(known.anchor, known.last_good.sha))
    return verdict.found if verdict.status == MOVED else None


def _newest_with(anchor: Anchor, past: CodePast, oldest: Commit | None = None) -> BreakingCommit | None:
    """The newest version of the anchor's file with its code, from the commit ``oldest`` on."""
    wanted = parse_fingerprint(anchor.fingerprint)
    if wanted is None:
        return None
    newer: list[tuple[Commit, CodeSource | None]] = []
    for commit, source in past.versions(anchor.path):
        if source is not None and any(one.hash == wanted.hash for one in measured(anchor, source)):
            return _followed(BreakingCommit(commit, anchor, source, None), newer)
        newer.append((commit, source))
        if oldest is not None and commit.sha == oldest.sha:
            break
    return None


def _followed(known: BreakingCommit, newer: Sequence[tuple[Commit, CodeSource | None]]) -> BreakingCommit:
    """The newest of the versions of the same file, newest first, that still has the code of ``known``, at
    other lines or under another name."""
    later = None
    for commit, source in newer:
        found = evaluate(known.anchor, _OneFile(source), _Since(known.source)) if source is not None else None
        if source is not None and found is not None and found.found is not None and found.status == MOVED:
            return BreakingCommit(commit, found.found, source, later)
        later = commit
    return known._replace(commit=later)


class _OneFile:
    """A tree of one file."""

    def __init__(self, source: CodeSource) -> None:
        self._source = source

    def source(self, path: str) -> CodeSource | None:
        """The file."""
        return self._source if path == self._source.path else None

    def paths(self) -> Sequence[str]:
        """Its path."""
        return [self._source.path]

    def naming(self, word: str) -> Sequence[str]:
        """Its path."""
        return [self._source.path]


class _Since(NoHistory):
    """A history in which nothing but one file changed."""

    def __init__(self, source: CodeSource) -> None:
        self._source = source

    def touched(self) -> Sequence[str]:
        """That file."""
        return [self._source.path]

    def before(self, path: str) -> CodeSource | None:
        """That file, before."""
        return self._source if path == self._source.path else None


def code_diff(verdict: Verdict, known: BreakingCommit, tree: Tree) -> str:
    """The anchored code before and now, as a unified diff with the line numbers of its file; "" when it is
    too long to show."""
    was = code_of(known.anchor, known.source)
    found = verdict.found
    here = tree.source(found.path) if found is not None else None
    now = code_of(found, here) if found is not None and here is not None else None
    spans = spans_of(known.anchor, known.source), spans_of(found, here) if found is not None else []
    old_line, new_line = (span[0][0] if span else 1 for span in spans)
    return unified_diff(was, now, (found or verdict.anchor).path, first_lines=(old_line, new_line)) or ""


def spans_of(anchor: Anchor, source: CodeSource | None) -> list[tuple[int, int]]:
    """The lines of the anchored code in a version of its file."""
    if source is None or source.trouble:
        return []
    if anchor.symbol:
        named = source.named(anchor.symbol)
        return named.spans if named is not None else []
    return [anchor.lines or (1, source.text.count("\n") + 1)]


def changed_line(found: Anchor, was: str, source: CodeSource) -> int:
    """The first line of the anchored code in a version of its file that differs from the text ``was`` (its
    first line for ""); 0 if there is no such code."""
    numbers = [number for first, last in spans_of(found, source) for number in range(first, last + 1)]
    lines, then = source.text.splitlines(), was.splitlines()
    for at, number in enumerate(numbers):
        if lines[number - 1 : number] != then[at : at + 1]:
            return number
    return numbers[-1] if numbers else 0


def code_of(anchor: Anchor, source: CodeSource) -> str | None:
    """The lines of an anchor's code in a version of its file; ``None`` when it does not exist there."""
    lines = source.text.splitlines(keepends=True)
    if anchor.symbol:
        named = source.named(anchor.symbol)
        if named is None:
            return None
        return "".join("".join(lines[first - 1 : last]) for first, last in named.spans)
    if anchor.lines is None:
        return source.text
    return "".join(lines[anchor.lines[0] - 1 : anchor.lines[1]]) or None
