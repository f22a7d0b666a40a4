"""The repository of the store: running git, finding the repository, and its working tree, index, objects and
settings.

`GitProcess` runs ``git``: hardened, quiet, with a timeout. The repository is found by reading files; a
process is only needed for unusual ownership or settings. No state of a repository raises: without git, or
when git fails, results are empty or ``None`` and `Git.reason` has the reason in one sentence. Paths are
relative to the root. Reads files of the git folder.
"""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Final

from thunderus_mem.errors import NotFound
from thunderus_mem.startup import NamedTuple, lazy_pattern

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
    from subprocess import Popen

# Processes

_TIMEOUT: Final = 30.0
_NO_ANSWER: Final = f"git did not answer within {_TIMEOUT:.0f} seconds"
# No program from the repository's configuration is run: no monitor, hook, pager or diff filter.
_HARDENING: Final = (
    "--no-pager",
    "--no-optional-locks",
    "--literal-pathspecs",
    *("-c", "core.fsmonitor=false"),
    *("-c", "core.quotePath=false"),
    *("-c", "diff.external="),
    *("-c", "log.showSignature=false"),
    *("-c", "log.follow=false"),
    *("-c", "submodule.recurse=false"),
)
_NO_HOOKS: Final = ("-c", f"core.hooksPath={os.devnull}")


def find_executable(search_path: str) -> str | None:
    """The absolute path of ``git`` in the absolute folders of a ``PATH``; ``None`` if not found.

    Relative folders are skipped, so that no program in the working tree is run as git.
    """
    names = ("git.exe",) if os.name == "nt" else ("git",)
    for folder in search_path.split(os.pathsep):
        if not os.path.isabs(folder):
            continue
        for name in names:
            path = os.path.join(folder, name)
            if os.path.isfile(path) and os.access(path, os.X_OK):
                return path
    return None


class Output(NamedTuple):
    """The result of a git process: exit code (-1: not started or timed out), stdout, and its error
    message."""

    code: int
    data: bytes
    complaint: str

    @property
    def ok(self) -> bool:
        """Whether git exited with 0."""
        return self.code == 0


def _complaint(stderr: bytes) -> str:
    lines = [line.strip() for line in stderr.decode("utf-8", "replace").splitlines() if line.strip()]
    fatal = [line for line in lines if line.startswith(("fatal:", "error:"))]
    chosen = (fatal or lines or [""])[0]
    return chosen.removeprefix("fatal: ").removeprefix("error: ")


_CONFIG = lazy_pattern(r"GIT_CONFIG_(?:GLOBAL|SYSTEM|NOSYSTEM|COUNT|(?:KEY|VALUE)_\d+)\Z", re.ASCII)


class GitProcess:
    """Runs git in one folder.

    Of the ``GIT_*`` variables of the caller only those for the configuration are passed on, e.g. for
    ``safe.directory`` in a container; ``index_file`` is that of a hook, if it is to be used.
    """

    def __init__(
        self, executable: str, folder: str, environ: Mapping[str, str], index_file: str | None = None
    ) -> None:
        self.executable = executable
        self.folder = folder
        self._hangs = False
        self.environment = {
            key: value for key, value in environ.items() if not key.startswith("GIT_") or _CONFIG.match(key)
        }
        self.environment.update(
            LC_ALL="C", GIT_TERMINAL_PROMPT="0", GIT_OPTIONAL_LOCKS="0", GIT_NO_LAZY_FETCH="1"
        )
        if index_file:
            self.environment["GIT_INDEX_FILE"] = index_file

    def disarm_filters(self) -> None:
        """Disable all configured filters, which git would run on every changed file."""
        asked = self.run("config", "-z", "--name-only", "--get-regexp", r"^filter\.")
        for key in asked.data.decode("utf-8", "surrogateescape").split("\0"):
            filter_name, _, setting = key.rpartition(".")
            if setting in ("clean", "process", "required"):
                self._set(f"{filter_name}.{setting}", "false" if setting == "required" else "")

    def command(self, *arguments: str) -> list[str]:
        """The command line of a git command."""
        return [self.executable, *_HARDENING, *_NO_HOOKS, *arguments]

    def _set(self, key: str, value: str) -> None:
        given = self.environment.get("GIT_CONFIG_COUNT", "")
        count = int(given) if given.isdecimal() else 0
        self.environment |= {f"GIT_CONFIG_KEY_{count}": key, f"GIT_CONFIG_VALUE_{count}": value}
        self.environment["GIT_CONFIG_COUNT"] = str(count + 1)

    def start(self, *arguments: str) -> Popen[bytes] | None:
        """Start a git process that reads requests from its stdin; ``None`` when it cannot start."""
        import subprocess

        try:
            return subprocess.Popen(
                self.command(*arguments),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                cwd=self.folder,
                env=self.environment,
            )
        except OSError:
            return None

    def run(
        self,
        *arguments: str,
        data: bytes | None = None,
        configured_hooks: bool = False,
    ) -> Output:
        """Run a git command with ``data`` as stdin. Never raises when git or the system fails.

        ``configured_hooks`` keeps the configured ``core.hooksPath``, to find the hooks folder.
        """
        import subprocess

        if self._hangs:
            return Output(-1, b"", _NO_ANSWER)
        hooks = () if configured_hooks else _NO_HOOKS
        command = [self.executable, *_HARDENING, *hooks, *arguments]
        try:
            done = subprocess.run(
                command,
                input=data,
                stdin=subprocess.DEVNULL if data is None else None,
                capture_output=True,
                cwd=self.folder,
                env=self.environment,
                timeout=_TIMEOUT,
                check=False,
            )
        except subprocess.TimeoutExpired:
            self._hangs = True
            return Output(-1, b"", _NO_ANSWER)
        except OSError as error:
            return Output(-1, b"", f"cannot run git: {error.strerror or error}")
        return Output(done.returncode, done.stdout, _complaint(done.stderr))


# The output of ``git status --porcelain=v2 --branch -z`` for the store (format: git-status(1))

STATUS: Final = (
    *("status", "--porcelain=v2", "--branch", "-z", "--untracked-files=all"),
    *("--ignored=matching", "--no-renames", "--ignore-submodules=all", "--"),
)
_SHARD_NAME: Final = "events.jsonl"
# Fields before the path in each kind of line.
_FIELDS: Final = {"1": 8, "2": 9, "u": 10}


class GitState(NamedTuple):
    """The present state of a working tree.

    ``head`` is the commit, ``None`` before the first. ``reflog_size`` is that of ``logs/HEAD`` (0: none).
    ``shard_known``: the ``shard`` is in git's index. ``changed``: root-relative paths of documents that
    differ from HEAD or are untracked, without changes that git makes during a merge. ``conflicts``:
    documents in conflict, sorted. ``ignored``: git ignores the store. ``differing``: shards that git does not
    have as they are (new or changed), and ignored folders, ending in ``/``.
    """

    head: str | None
    reflog_size: int
    shard_known: bool
    changed: Iterable[str]
    shard: str = ""
    ignored: bool = False
    conflicts: tuple[str, ...] = ()
    differing: frozenset[str] = frozenset()

    def has(self, shard: str) -> bool:
        """Whether git has an existing shard as it is, at least in its index."""
        return shard not in self.differing and not _is_ignored(shard, self.differing)


class _Listed(NamedTuple):
    """A line of the output: its kind and path; for a tracked file, whether it differs from HEAD only in the
    index (``staged``), and HEAD does not have it (``added``)."""

    kind: str
    path: str
    staged: bool = False
    added: bool = False


def _listed(data: bytes) -> Iterator[_Listed]:
    """Yield the lines of the output; of a header, the rest of the line is the path."""
    start = 0
    while (end := data.find(b"\0", start)) >= 0:
        token = data[start:end].decode("utf-8", "surrogateescape")
        start = end + 1
        kind, _, rest = token.partition(" ")
        if kind in _FIELDS:
            staged = kind != "u" and token[3] == "."
            yield _Listed(kind, token.split(" ", _FIELDS[kind])[-1], staged, staged and token[2] == "A")
            if kind == "2":
                start = data.find(b"\0", start) + 1
        else:
            yield _Listed(kind, rest)


class _ChangedDocuments:
    """The documents in the output, without those that git changes. They are read from it each time, since
    they may be all documents of a large store."""

    def __init__(self, data: bytes, prefix: str, folder: str, by_git: Collection[str]) -> None:
        self._data = data
        self._start = len(prefix)
        self._folder = folder
        self._by_git = by_git

    def __iter__(self) -> Iterator[str]:
        for kind, path, *_ in _listed(self._data):
            is_changed = (kind == "?" or kind in _FIELDS) and path not in self._by_git
            if is_changed and _is_document(path, self._folder):
                yield path[self._start :]


def _is_document(path: str, folder: str) -> bool:
    return path.startswith(folder) and path.endswith(".md")


def read_state(
    data: bytes,
    prefix: str,
    shard: str,
    exists: bool,
    memory_dir: str,
    reflog_size: int,
    merging: bool = False,
) -> GitState:
    """Parse the NUL-separated output into the state of a store; unknown kinds of lines are skipped.

    The root is at ``prefix`` ("" or ``sub/folder/``) below the top level, to which the paths in the output
    are relative. ``exists``: the file ``shard`` exists; if it is not listed, it is in the index, unchanged.
    ``merging``: a merge, rebase or similar is in progress, and git stages the files it has merged.
    """
    head: str | None = None
    full, folder = prefix + shard, f"{prefix}{memory_dir}/"
    ignored, by_git, conflicts, differing, of_shard = (
        set[str](),
        set[str](),
        set[str](),
        set[str](),
        set[str](),
    )
    for kind, path, staged, added in _listed(data):
        if kind == "#" and path.startswith("branch.oid "):
            oid = path[len("branch.oid ") :]
            head = None if oid.startswith("(") else oid
        elif kind in _FIELDS or kind in ("?", "!"):
            if path == full:
                of_shard.add(kind)
            if kind == "!":
                ignored.add(path)
            if kind == "u" and _is_document(path, folder):
                conflicts.add(path[len(prefix) :])
            if kind == "u" or (merging and staged):
                by_git.add(path)
            if not added and path.startswith(prefix) and path.endswith((f"/{_SHARD_NAME}", "/")):
                differing.add(path[len(prefix) :])
    unlisted = exists and "?" not in of_shard and not _is_ignored(full, ignored)
    return GitState(
        head=head,
        reflog_size=reflog_size,
        shard_known=unlisted or not of_shard.isdisjoint(_FIELDS),
        changed=_ChangedDocuments(data, prefix, folder, by_git),
        shard=shard,
        ignored=_is_ignored(folder, ignored),
        conflicts=tuple(sorted(conflicts)),
        differing=frozenset(differing),
    )


def _is_ignored(path: str, ignored: Collection[str]) -> bool:
    return any(path == one or (one.endswith("/") and path.startswith(one)) for one in ignored)


# Finding the repository: ``.git`` is a folder, or a file ``gitdir: PATH`` in linked worktrees and submodules;
# ``commondir`` in the git folder of a linked worktree is the path of the shared one. See
# gitrepository-layout(5).

_SMALL: Final = 64 * 1024


class RepositoryPlace(NamedTuple):
    """The folders of a repository (absolute), or why there is none.

    ``ask``: git must be asked, because of another owner or a configured work tree. ``filters``: the
    configuration may have filters, which git runs on contents.
    """

    toplevel: str = ""
    git_dir: str = ""
    common_dir: str = ""
    reason: str = ""
    ask: bool = False
    filters: bool = False


def _small_text(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="surrogateescape") as file:
            return file.read(_SMALL)
    except OSError:
        return ""


def _pointed(dot_git: str) -> str:
    """The git folder that a ``.git`` file points to; "" for none."""
    text = _small_text(dot_git)
    if not text.startswith("gitdir:"):
        return ""
    return os.path.normpath(os.path.join(os.path.dirname(dot_git), text[len("gitdir:") :].strip()))


def _is_mine(*paths: str) -> bool:
    """Whether every path belongs to the current user, as git requires of a trusted repository."""
    if not hasattr(os, "geteuid"):
        return False
    try:
        return all(os.lstat(path).st_uid == os.geteuid() for path in paths)
    except OSError:
        return False


def _place(toplevel: str, dot_git: str, git_dir: str) -> RepositoryPlace:
    pointer = _small_text(os.path.join(git_dir, "commondir")).strip()
    common = os.path.normpath(os.path.join(git_dir, pointer)) if pointer else git_dir
    settings = _small_text(os.path.join(common, "config")).lower()
    moved = "worktree" in settings
    filters = moved or "filter" in settings or "include" in settings
    ask = moved or not _is_mine(toplevel, dot_git, git_dir)
    return RepositoryPlace(toplevel, git_dir, common, ask=ask, filters=filters)


def find_place(start: str) -> RepositoryPlace:
    """The repository of ``start`` (absolute, symlinks resolved): the nearest valid ``.git``."""
    folder = start
    while True:
        dot_git = os.path.join(folder, ".git")
        if os.path.isfile(dot_git):
            git_dir = _pointed(dot_git)
            if os.path.isfile(os.path.join(git_dir, "HEAD")):
                return _place(folder, dot_git, git_dir)
            return RepositoryPlace(reason=f"{dot_git} points to a git folder that does not exist")
        # A reftable repository has HEAD too, as a stub; a folder without one is not a repository.
        if os.path.lexists(os.path.join(dot_git, "HEAD")):
            return _place(folder, dot_git, dot_git)
        if os.path.isfile(os.path.join(folder, "HEAD")) and os.path.isdir(os.path.join(folder, "objects")):
            return RepositoryPlace(
                reason=f"{folder} is a bare repository or a git folder; it has no working tree"
            )
        parent = os.path.dirname(folder)
        if parent == folder:
            return RepositoryPlace(reason="not inside the working tree of a git repository")
        folder = parent


# Queries

_CHUNK: Final = 200
SHA: Final = lazy_pattern(r"[0-9a-f]{4,64}", re.ASCII)
_STALE_LOCK: Final = 30.0
_UNTRUSTED: Final = "git refuses this checkout because it belongs to another user"
_MISSING: Final = "git is not installed, or not in an absolute folder of PATH"
_COMPLAINTS: Final = ("dubious ownership", "unsafe repository")
"""How git (since 2.35.3, and before) complains about a repository of another owner."""
_OPERATIONS: Final = (
    ("rebase-merge", "rebase"),
    ("rebase-apply", "rebase"),
    ("MERGE_HEAD", "merge"),
    ("CHERRY_PICK_HEAD", "cherry-pick"),
    ("REVERT_HEAD", "revert"),
    ("BISECT_LOG", "bisect"),
)


def look_for_git(
    path: str, environ: Mapping[str, str] | None = None, *, honour_index: bool = False
) -> tuple[Git | None, str]:
    """The repository whose working tree contains the folder ``path``, or ``None`` and the reason.

    ``honour_index`` is for hooks: it uses the index in ``GIT_INDEX_FILE``.
    """
    environ = os.environ if environ is None else environ
    root = os.path.realpath(path)
    place = find_place(root)
    if not place.toplevel:
        return None, place.reason
    executable = find_executable(environ.get("PATH", os.defpath))
    if executable is None:
        return None, _MISSING
    index = environ.get("GIT_INDEX_FILE") if honour_index else None
    if index:
        index = os.path.join(place.toplevel, index)
    process = GitProcess(executable, root, environ, index)
    if place.filters:
        process.disarm_filters()
    folders = (place.toplevel, place.git_dir, place.common_dir)
    if place.ask:
        answer = process.run("rev-parse", "--show-toplevel", "--absolute-git-dir", "--git-common-dir")
        lines = os.fsdecode(answer.data).splitlines()
        if any(words in answer.complaint for words in _COMPLAINTS):
            return None, _UNTRUSTED
        if not answer.ok or len(lines) != 3:
            return None, answer.complaint or "git does not report its working tree"
        folders = (lines[0], lines[1], os.path.join(root, lines[2]))
    toplevel, git_dir, common_dir = map(os.path.normpath, folders)
    return Git(root, toplevel, git_dir, common_dir, process, environ), ""


def no_repository(
    path: str, environ: Mapping[str, str], *, message: str = "", hint: str | None = None
) -> NotFound:
    """The error for a folder without a repository, or whose repository git refuses.

    ``message`` and ``hint`` are for the former; without ``message`` it is the reason of `look_for_git`.
    """
    return unusable_repository(path, environ) or NotFound(
        message or look_for_git(path, environ)[1], hint=hint
    )


def unusable_repository(path: str, environ: Mapping[str, str]) -> NotFound | None:
    """The error for a folder with a repository that cannot be read, because git is missing or refuses it."""
    reason = look_for_git(path, environ)[1]
    if reason == _MISSING:
        return NotFound(reason, hint="install git, or add its folder to PATH")
    if reason != _UNTRUSTED:
        return None
    import shlex

    toplevel = shlex.quote(find_place(os.path.realpath(path)).toplevel)
    return NotFound(reason, hint=f"run `git config --global --add safe.directory {toplevel}` if you trust it")


class Git:
    """A working tree of a repository; ``root`` is the folder of the store."""

    def __init__(
        self,
        root: str,
        toplevel: str,
        git_dir: str,
        common_dir: str,
        process: GitProcess,
        environ: Mapping[str, str],
    ) -> None:
        self.root = root
        self.toplevel = toplevel
        self.git_dir = git_dir
        self.common_dir = common_dir
        self.reason = ""
        """Why the last command failed; "" if it succeeded."""
        self._process = process
        self._environ = environ
        inside = os.path.relpath(root, toplevel).replace(os.sep, "/")
        self.prefix = "" if inside == "." else f"{inside}/"
        self._names: dict[str, str | None] = {}

    @staticmethod
    def find(path: str, environ: Mapping[str, str] | None = None) -> Git | None:
        """The repository of ``path``; `look_for_git` also returns the reason if there is none."""
        return look_for_git(path, environ)[0]

    def ask(self, *arguments: str, data: bytes | None = None, configured_hooks: bool = False) -> Output:
        """Run git with ``data`` as stdin; see `GitProcess.run`."""
        output = self._process.run(*arguments, data=data, configured_hooks=configured_hooks)
        self.reason = "" if output.ok else output.complaint or f"git {arguments[0]} failed"
        return output

    def command(self, *arguments: str) -> tuple[list[str], dict[str, str]]:
        """The command line and the environment of a git command, to run it in the root."""
        return self._process.command(*arguments), self._process.environment

    def start(self, *arguments: str) -> Popen[bytes] | None:
        """Start a long-running process; ``None`` when it cannot start."""
        return self._process.start(*arguments)

    def shallow_commits(self) -> frozenset[str]:
        """Commits whose parents are not in this shallow clone. No process."""
        try:
            with open(os.path.join(self.common_dir, "shallow"), encoding="ascii") as file:
                return frozenset(file.read().split())
        except (OSError, ValueError):
            return frozenset()

    def below(self, name: str) -> str | None:
        """Convert a path relative to the top level to one relative to the root; ``None`` if outside."""
        return name[len(self.prefix) :] if name.startswith(self.prefix) else None

    def listed(self, output: Output) -> list[str]:
        """The NUL-separated paths in the output that are below the root, relative to it, sorted."""
        names = (os.fsdecode(name) for name in output.data.split(b"\0") if name) if output.ok else ()
        return sorted({below for name in names if (below := self.below(name)) is not None})

    def reflog_size(self) -> int:
        """Size of ``logs/HEAD`` of this working tree in bytes; 0 if it does not exist. No process."""
        try:
            return os.stat(os.path.join(self.git_dir, "logs", "HEAD")).st_size
        except OSError:
            return 0

    def state(self, shard: str, memory_dir: str) -> GitState | None:
        """Head, whether ``shard`` is in the index, changed documents: one process. ``None``: see `reason`."""
        size = self.reflog_size()
        store = memory_dir.rpartition("/")[0] or memory_dir
        output = self.ask(*STATUS, store)
        if not output.ok:
            return None
        exists = bool(shard) and os.path.lexists(os.path.join(self.root, *shard.split("/")))
        merging = self.operation() not in ("", "bisect")
        return read_state(output.data, self.prefix, shard, exists, memory_dir, size, merging)

    def config(self, key: str) -> str | None:
        """A configured value (``core.hooksPath``); ``None`` if not set."""
        if key not in self._names:
            output = self.ask("config", "--get", key, configured_hooks=True)
            self._names[key] = output.data.decode("utf-8", "replace").rstrip("\r\n") if output.ok else None
        return self._names[key]

    def user_name(self) -> str | None:
        """The author name git would use: ``GIT_AUTHOR_NAME``, else ``user.name``."""
        return self._environ.get("GIT_AUTHOR_NAME") or self.config("user.name")

    def hooks_dir(self) -> str:
        """The absolute folder of git's hooks, with regard to ``core.hooksPath``."""
        output = self.ask("rev-parse", "--git-path", "hooks", configured_hooks=True)
        path = os.fsdecode(output.data).rstrip("\n") if output.ok else os.path.join(self.common_dir, "hooks")
        return os.path.normpath(os.path.join(self.root, os.path.expanduser(path)))

    def operation(self) -> str:
        """The operation in progress (``rebase``, ``merge``, ``cherry-pick``, …), or "". No process."""
        for name, operation in _OPERATIONS:
            if os.path.exists(os.path.join(self.git_dir, name)):
                return operation
        return ""

    def index_locked(self, now: float) -> bool:
        """Whether a git command is changing index and files; a lock older than half a minute is stale."""
        try:
            return now - os.stat(os.path.join(self.git_dir, "index.lock")).st_mtime < _STALE_LOCK
        except OSError:
            return False

    def staged_files(self, prefix: str) -> list[str]:
        """Files below ``prefix`` that the next commit adds or changes (not deleted ones)."""
        return self.listed(
            self.ask(
                *("diff", "--cached", "--name-only", "-z", "--no-renames", "--no-ext-diff"),
                *("--diff-filter=ACMRT", "--", prefix or "."),
            )
        )

    def tracked(self, paths: Sequence[str]) -> set[str]:
        """The files among or below these paths that are in git's index."""
        found: set[str] = set()
        for at in range(0, len(paths), _CHUNK):
            output = self.ask("ls-files", "-z", "--full-name", "--", *paths[at : at + _CHUNK])
            found.update(self.listed(output))
        return found

    def blobs(self, names: Sequence[str]) -> dict[str, bytes | None]:
        """Contents of objects by name (``:path``, ``HEAD:path``, from the top level), in one process."""
        asked = [name for name in dict.fromkeys(names) if "\n" not in name]
        found: dict[str, bytes | None] = dict.fromkeys(names)
        if not asked:
            return found
        data = "".join(f"{name}\n" for name in asked).encode("utf-8", "surrogateescape")
        output = self.ask("cat-file", "--batch", data=data)
        answer, at = output.data, 0
        for name in asked:
            end = answer.find(b"\n", at)
            if end < 0:
                break
            header = answer[at:end].rsplit(b" ", 2)
            at = end + 1
            if len(header) == 3 and header[2].isdigit():
                size = int(header[2])
                found[name] = answer[at : at + size] if header[1] == b"blob" else None
                at += size + 1
        return found

    def _blob(self, revision: str, path: str) -> bytes | None:
        name = f"{revision}:{self.prefix}{path}"
        return self.blobs([name])[name]

    def staged_bytes(self, path: str) -> bytes | None:
        """The staged content of a file; ``None`` when it is not in the index."""
        return self._blob("", path)

    def staged_texts(self, paths: Sequence[str]) -> dict[str, bytes | None]:
        """`staged_bytes` of many files in one process."""
        found = self.blobs([f":{self.prefix}{path}" for path in paths])
        return {path: found[f":{self.prefix}{path}"] for path in paths}

    def head_bytes(self, path: str) -> bytes | None:
        """The content of a file in HEAD; ``None`` when it is not there."""
        return self._blob("HEAD", path)

    def show(self, rev: str, path: str) -> bytes | None:
        """The content of a file in a commit; ``None`` when either does not exist."""
        if not rev or rev.startswith("-") or any(character in rev for character in " \n:"):
            return None
        return self._blob(rev, path)

    def is_shallow(self) -> bool:
        """Whether this is a shallow clone. No process."""
        return os.path.exists(os.path.join(self.common_dir, "shallow"))

    def reached(self, names: Iterable[str]) -> dict[str, bool | None]:
        """Whether a branch or tag reaches each commit (may be abbreviated); ``None``: not in this clone.

        Two processes for all of them. If git fails, every commit counts as reached.
        """
        found: dict[str, bool | None] = dict.fromkeys(names)
        asked = [name for name in found if SHA.fullmatch(name)]
        if not asked:
            return found
        data = "".join(f"{name}^{{commit}}\n" for name in asked).encode()
        answer = self.ask("cat-file", "--batch-check", data=data)
        lines = answer.data.decode("utf-8", "replace").splitlines()
        if not answer.ok or len(lines) != len(asked):
            return dict.fromkeys(found, True)
        full = {name: line.split()[0] for name, line in zip(asked, lines, strict=True) if " commit " in line}
        data = "".join(f"{sha}\n" for sha in full.values()).encode()
        answer = self.ask("rev-list", "--stdin", "--not", "--all", data=data) if full else answer
        loose = set(answer.data.decode("utf-8", "replace").split()) if full and answer.ok else set()
        return found | {name: sha not in loose for name, sha in full.items()}
