"""The history of HEAD: the versions of a file as a graph, former texts and deleted files, and objects.

Each function runs one process unless it says otherwise; `ObjectReader` reads many objects on demand through
one process.
"""

from __future__ import annotations

import hashlib
import os
from typing import TYPE_CHECKING, Final

from thunderus_mem.document.document import content_hash
from thunderus_mem.git.changes import changes_since, without_filter
from thunderus_mem.git.commits import log
from thunderus_mem.startup import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from subprocess import Popen
    from types import TracebackType

    from thunderus_mem.git.commits import Commit
    from thunderus_mem.git.repository import Git

_MOST: Final = 5_000
_FEW: Final = 200
_SHA1_DIGITS: Final = 40
_RENAMES: Final = (
    *("log", "-z", "--no-walk=unsorted", "-m", "--raw", "--no-abbrev", "-M", "--diff-filter=R"),
    *("--no-ext-diff", "--format=%x01%H"),
)

_LISTED: Final = (
    *("status", "--porcelain=v2", "-z", "--untracked-files=no", "--no-renames"),
    "--ignore-submodules=all",
)
_RAW: Final = ("diff", "--raw", "-z", "--no-abbrev", "--no-renames", "--no-ext-diff", "--no-textconv")


class FileVersion(NamedTuple):
    """A version of a file in a commit. ``parents`` are the commits with the versions before it.

    ``texts`` has the bytes at each requested path where there was a file. ``cut``: older versions exist that
    are not in this clone, or are too many.
    """

    commit: Commit
    parents: tuple[str, ...]
    texts: Mapping[str, bytes]
    cut: bool


def file_versions(git: Git, paths: Sequence[str]) -> list[FileVersion]:
    """The versions of a file that had these root-relative paths, newest first, parents after children.

    Omitted are commits that did not change it, merges that took one side unchanged, and their other side.
    """
    listed = list(file_commits(git, paths))
    if not listed:
        return []
    known = {commit.sha for commit, _ in listed}
    cut = git.shallow_commits()
    names = {(commit.sha, path): f"{commit.sha}:{git.prefix}{path}" for commit, _ in listed for path in paths}
    texts = git.blobs(list(names.values()))
    versions = []
    for commit, parents in listed:
        found = {path: text for path in paths if (text := texts[names[commit.sha, path]]) is not None}
        lost = commit.sha in cut or not known.issuperset(parents)
        versions.append(FileVersion(commit, tuple(sha for sha in parents if sha in known), found, lost))
    return versions


def file_commits(
    git: Git, paths: Sequence[str], until: str = "HEAD"
) -> Iterator[tuple[Commit, tuple[str, ...]]]:
    """The commits of `file_versions` behind a revision, each with its parents among them."""
    for one in log(git, "--topo-order", "--parents", f"--max-count={_MOST}", until, "--", *paths):
        yield one.commit, one.parents


def renamed_files(git: Git, commits: Sequence[str], below: str) -> dict[tuple[str, str], str]:
    """``(commit, new path)`` → old path, for the files below a folder that these commits renamed."""
    output = git.ask(*_RENAMES, *commits, "--", below)
    found: dict[tuple[str, str], str] = {}
    for block in output.data.split(b"\x01")[1:] if output.ok else ():
        sha, *fields = [os.fsdecode(field).lstrip("\n") for field in block.split(b"\0")]
        entries = [field for field in fields if field]
        for head, old, new in zip(entries[0::3], entries[1::3], entries[2::3], strict=False):
            before, after = git.below(old), git.below(new)
            if head.startswith(":") and before is not None and after is not None:
                found[sha, after] = before
    return found


def former_names(git: Git, paths: Sequence[str], removed: Sequence[str]) -> dict[str, str]:
    """Path → the one among ``removed`` that it had before commits of HEAD, or staged changes, renamed it; two
    processes."""
    asked = [*paths, *removed]
    output = git.ask(
        *("log", "-z", "-M", "--diff-filter=R", "--name-status", "--no-ext-diff", "--format="),
        *("HEAD", "--", *(asked if len(asked) <= _FEW else ["."])),
    )
    fields = [os.fsdecode(field).lstrip("\n") for field in output.data.split(b"\0")] if output.ok else []
    entries = [field for field in fields if field]
    staged = changes_since(git, "")
    steps = {new: old for old, new in staged.renamed.items()} if staged else {}
    for old, new in zip(entries[1::3], entries[2::3], strict=False):
        before, after = git.below(old), git.below(new)
        if before is not None and after is not None:
            steps.setdefault(after, before)
    wanted, found = frozenset(removed), {}
    for path in paths:
        seen, name = {path}, steps.get(path)
        while name is not None and name not in wanted and name not in seen:
            seen.add(name)
            name = steps.get(name)
        if name in wanted and name is not None:
            found[path] = name
    return found


def texts_in_history(git: Git, texts: Mapping[str, bytes], below: str) -> set[str]:
    """The paths whose text is in a commit of HEAD below a folder, ignoring line ends.

    HEAD's own files are checked first, then the whole history: at most three processes for any number of
    texts.
    """
    found = _among(texts, {oid for oid, _ in _head_files(git, below)})
    if len(found) < len(texts):
        older = _all_files(git, below)
        found |= _among(texts, {oid for oid, _ in older})
        rest = {path: text for path, text in texts.items() if path not in found}
        found |= _with_other_line_ends(git, rest, older)
    return found


def former_texts(git: Git, paths: Sequence[str]) -> list[bytes]:
    """Every text of a file at one of these paths in the history of HEAD; two processes."""
    oids = [oid for oid, _ in _all_files(git, *paths)] if paths else []
    return [blob for blob in git.blobs(oids).values() if blob is not None]


def versions_with_hash(git: Git, wanted: Mapping[str, str]) -> dict[str, bytes]:
    """The newest version, in the history of HEAD, of each file whose `content_hash` is the given one; by
    root-relative path. Two processes; of very many versions the oldest are not read."""
    found: dict[str, bytes] = {}
    asked = list(wanted) if len(wanted) <= _FEW else ["."]
    with ObjectReader(git) as reader:
        for oid, name in _all_files(git, *asked)[:_MOST]:
            path = git.below(name)
            if path is None or path not in wanted or path in found:
                continue
            data = reader.object(oid)
            if data is not None and content_hash(data) == wanted[path]:
                found[path] = data
            if len(found) == len(wanted):
                break
    return found


def _head_files(git: Git, below: str) -> list[tuple[str, str]]:
    """Object and path of every file of HEAD below a folder."""
    output = git.ask("ls-tree", "-r", "-z", "--full-name", "HEAD", "--", below)
    entries = (os.fsdecode(entry) for entry in output.data.split(b"\0") if entry) if output.ok else ()
    pairs = (entry.partition("\t") for entry in entries)
    return [(head.rpartition(" ")[2], path) for head, _, path in pairs]


def _all_files(git: Git, *below: str) -> list[tuple[str, str]]:
    """Object and path of every version of every file at or below the paths, including folders."""
    output = git.ask("rev-list", "--objects", "--full-history", "HEAD", "--", *below)
    lines = os.fsdecode(output.data).split("\n") if output.ok else []
    pairs = (line.partition(" ") for line in lines)
    return [(oid, path) for oid, _, path in pairs if path]


def _among(texts: Mapping[str, bytes], oids: set[str]) -> set[str]:
    """The paths whose text, with any uniform line ends, is one of the objects."""
    if not oids:
        return set()
    digest = hashlib.sha1 if len(next(iter(oids))) == _SHA1_DIGITS else hashlib.sha256
    found = set()
    for path, text in texts.items():
        as_lf = text.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        for form in dict.fromkeys((text, as_lf, as_lf.replace(b"\n", b"\r\n"))):
            if digest(b"blob %d\0" % len(form) + form, usedforsecurity=False).hexdigest() in oids:
                found.add(path)
                break
    return found


def _with_other_line_ends(git: Git, texts: Mapping[str, bytes], older: Sequence[tuple[str, str]]) -> set[str]:
    """The paths whose text is in the history with mixed line ends."""
    versions: dict[str, list[str]] = {}
    for oid, path in older:
        below = git.below(path)
        if below is not None and below in texts:
            versions.setdefault(below, []).append(oid)
    blobs = git.blobs([oid for oids in versions.values() for oid in oids])
    wanted = {path: content_hash(texts[path]) for path in versions}
    return {
        path
        for path, oids in versions.items()
        if any(content_hash(blob) == wanted[path] for oid in oids if (blob := blobs[oid]) is not None)
    }


def removed_files(git: Git, paths: Sequence[str], below: str) -> set[str]:
    """The root-relative paths that a commit of HEAD deleted and HEAD does not have."""
    asked = paths if len(paths) <= _FEW else [below]
    output = git.ask(
        *("log", "-z", "-m", "--full-history", "--no-renames", "--diff-filter=D", "--name-only"),
        *("--no-ext-diff", "--format=", "HEAD", "--", *asked),
    )
    names = (os.fsdecode(name).lstrip("\n") for name in output.data.split(b"\0")) if output.ok else ()
    deleted = {git.below(name) for name in names}
    present = {git.below(path) for _, path in _head_files(git, below)}
    return {path for path in paths if path in deleted and path not in present}


# Files of the working tree that differ from git


class OlderBytes(NamedTuple):
    """The bytes of a file in git; ``revision`` is HEAD, "" for the index, or another commit."""

    revision: str
    data: bytes


def bytes_before(git: Git, paths: Sequence[str]) -> dict[str, OlderBytes]:
    """The bytes in HEAD, else in the index, of changed files at or below these paths; by path.

    One process if none is changed. New files, conflicts and files with a git filter are not included.
    """
    output = git.ask(*_LISTED, "--", *paths) if paths else None
    found: dict[str, tuple[str, str]] = {}
    for entry in output.data.split(b"\0") if output is not None and output.ok else ():
        fields = os.fsdecode(entry).split(" ", 8)
        path = git.below(fields[-1]) if fields[0] == "1" and len(fields) == 9 else None
        if path is not None:
            states, head, staged = fields[1], fields[6], fields[7]
            if head.strip("0"):
                found[path] = ("HEAD", head)
            elif states[1] != ".":
                found[path] = ("", staged)
    return _with_bytes(git, found)


def bytes_since(git: Git, commit: str, paths: Sequence[str]) -> tuple[dict[str, OlderBytes], list[str]]:
    """The bytes in a commit of files at or below these paths that are changed since, and the removed ones.

    Compares with the working tree. Files with a git filter are not included in the first.
    """
    output = git.ask(*_RAW, commit, "--", *paths)
    entries = [os.fsdecode(entry) for entry in output.data.split(b"\0")] if output.ok else []
    found: dict[str, tuple[str, str]] = {}
    removed = []
    for head, name in zip(entries[0::2], entries[1::2], strict=False):
        _, _, older, _, status = head.split(" ")
        path = git.below(name)
        if path is not None and status == "D":
            removed.append(path)
        elif path is not None and older.strip("0"):
            found[path] = (commit, older)
    return _with_bytes(git, found), removed


def _with_bytes(git: Git, found: Mapping[str, tuple[str, str]]) -> dict[str, OlderBytes]:
    """Read these objects, by path; files with a filter differ from git's bytes by design."""
    if not found:
        return {}
    blobs = git.blobs([oid for _, oid in found.values()])
    plain = without_filter(git, list(found))
    return {
        path: OlderBytes(revision, blob)
        for path, (revision, oid) in found.items()
        if path in plain and (blob := blobs[oid]) is not None
    }


# Objects

_TIMEOUT: Final = 30.0
_PIECE: Final = 1 << 16


class ObjectReader:
    """``git cat-file --batch``, started on first use. Close it, or use it as a context manager.

    Objects of more than ``limit`` bytes are skipped: their content is ``None``.
    """

    def __init__(self, git: Git, limit: int = 4 << 20) -> None:
        self._git = git
        self._limit = limit
        self._process: Popen[bytes] | None = None
        self._rest = b""
        self._failed = False

    def __enter__(self) -> ObjectReader:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def read(self, revision: str, path: str) -> bytes | None:
        """The file at a root-relative path in a commit, or in the index (``""``); ``None`` if missing."""
        return self.object(f"{revision}:{self._git.prefix}{path}")

    def object(self, name: str) -> bytes | None:
        """The file with this object name; ``None`` if missing."""
        if self._failed or "\n" in name or "\0" in name:
            return None
        process = self._started()
        if process is None or process.stdin is None:
            return None
        try:
            process.stdin.write(name.encode("utf-8", "surrogateescape") + b"\n")
            process.stdin.flush()
            return self._answer(process)
        except OSError:
            self._failed = True
            return None

    def _started(self) -> Popen[bytes] | None:
        if self._process is None:
            self._process = self._git.start("cat-file", "--batch")
            self._failed = self._process is None
        return self._process

    def _answer(self, process: Popen[bytes]) -> bytes | None:
        header = self._until_line(process)
        words = header.rsplit(b" ", 2)
        if len(words) != 3 or not words[2].isdigit():
            return None
        size = int(words[2])
        data = self._take(process, size + 1, keep=size <= self._limit)
        return data[:-1] if words[1] == b"blob" and size <= self._limit else None

    def _until_line(self, process: Popen[bytes]) -> bytes:
        while b"\n" not in self._rest:
            self._rest += self._more(process)
        line, _, self._rest = self._rest.partition(b"\n")
        return line

    def _take(self, process: Popen[bytes], size: int, *, keep: bool) -> bytes:
        pieces, missing = [self._rest[:size]], size - len(self._rest)
        self._rest = self._rest[size:]
        while missing > 0:
            piece = self._more(process)
            if keep:
                pieces.append(piece[:missing])
            self._rest = piece[missing:] if len(piece) > missing else b""
            missing -= len(piece)
        return b"".join(pieces)

    def _more(self, process: Popen[bytes]) -> bytes:
        """The next bytes of the output. Raises ``OSError`` when git ends or is silent for half a minute."""
        import select

        assert process.stdout is not None
        output = select.poll()  # unlike `select.select`, it takes any number of open files
        output.register(process.stdout, select.POLLIN)
        piece = os.read(process.stdout.fileno(), _PIECE) if output.poll(_TIMEOUT * 1_000) else b""
        if not piece:
            raise TimeoutError("git did not answer")
        return piece

    def close(self) -> None:
        """End the process."""
        process, self._process = self._process, None
        self._failed = True
        if process is None:
            return
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                try:
                    pipe.close()
                except OSError:  # git has already ended
                    continue
        try:
            process.wait(timeout=1)
        except Exception:  # noqa: BLE001 - whatever the reason, it must not outlive this process
            process.kill()
            process.wait()
