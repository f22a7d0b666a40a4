"""The layout of a store: the names inside ``.thunderus``, and how to find the store of a folder.

The store's folder names follow the Thunderus file formats (``.thunderus/memory/semantic/FACTS`` …).
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

from thunderus_mem.document.paths import ARCHIVE, archived_path
from thunderus_mem.errors import NoStore, Refused
from thunderus_mem.startup import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

STORE: Final = ".thunderus"
MEMORY: Final = ".thunderus/memory"
INDEXES: Final = ".thunderus/memory/indexes"
CORE_FILE: Final = ".thunderus/memory/core/CORE.md"
CORE_LOCAL_FILE: Final = ".thunderus/memory/core/CORE.local.md"

DOCUMENT_FOLDERS: Final[dict[str, str]] = {
    "core": ".thunderus/memory/core",
    "fact": ".thunderus/memory/semantic/FACTS",
    "adr": ".thunderus/memory/semantic/DECISIONS",
    "playbook": ".thunderus/memory/procedural/PLAYBOOKS",
    "recap": ".thunderus/memory/episodic",
}
"""Kind of document → its folder, POSIX and relative to root."""

ARCHIVE_FOLDERS: Final = tuple(
    archived_path(folder) for kind, folder in DOCUMENT_FOLDERS.items() if kind != "core"
)
"""Folders of archived documents, by kind; core documents are never archived."""

FOLDERS: Final = (*DOCUMENT_FOLDERS.values(), *ARCHIVE_FOLDERS)
"""Every folder of documents, the archive last."""

SHARD_FOLDERS: Final = (".thunderus/sessions", ".thunderus/local/sessions", ".thunderus/local/users")
"""The folders of committed shards, of private ones, and of those of users, each in a folder of its own."""

_STORE_FOLDERS: Final = (
    STORE,
    MEMORY,
    ".thunderus/memory/semantic",
    ".thunderus/memory/procedural",
    *DOCUMENT_FOLDERS.values(),
    ARCHIVE,
    f"{ARCHIVE}/semantic",
    f"{ARCHIVE}/procedural",
    *ARCHIVE_FOLDERS,
    INDEXES,
    ".thunderus/schemas",
    ".thunderus/patches",
    ".thunderus/local",
    ".thunderus/local/undo",
    *SHARD_FOLDERS,
    ".thunderus/.staging",
    ".thunderus/.quarantine",
)


class Layout(NamedTuple):
    """All paths of one store. ``root`` is the absolute folder that contains ``.thunderus``.

    The properties are absolute native paths; document paths elsewhere are POSIX and relative to root.
    """

    root: str

    def at(self, relative: str) -> str:
        """Return the absolute path of a root-relative POSIX path, unchecked: see ``store.paths``."""
        return os.path.join(self.root, *relative.split("/"))

    @property
    def store(self) -> str:
        """The ``.thunderus`` folder."""
        return os.path.join(self.root, STORE)

    @property
    def config_file(self) -> str:
        """``config.toml``: the settings of this repository."""
        return os.path.join(self.store, "config.toml")

    @property
    def schemas_dir(self) -> str:
        """Copies of the JSON Schemas and of the index's SQL schema."""
        return os.path.join(self.store, "schemas")

    @property
    def sessions_dir(self) -> str:
        """The committed shards, one folder per session."""
        return os.path.join(self.store, "sessions")

    @property
    def legacy_events_file(self) -> str:
        """A log in a single file, the minimal form of the format; read as another shard, never written."""
        return os.path.join(self.store, "events.jsonl")

    @property
    def patches_dir(self) -> str:
        """Pending proposals."""
        return os.path.join(self.store, "patches")

    @property
    def local_dir(self) -> str:
        """Files local to this working tree; never committed."""
        return os.path.join(self.store, "local")

    @property
    def local_sessions_dir(self) -> str:
        """Shards local to this working tree."""
        return os.path.join(self.local_dir, "sessions")

    @property
    def kept_dir(self) -> str:
        """Texts that the log cannot restore, for `undo` in this working tree."""
        return os.path.join(self.local_dir, "undo")

    @property
    def crash_dir(self) -> str:
        """Crash reports."""
        return os.path.join(self.local_dir, "crashes")

    @property
    def staging_dir(self) -> str:
        """Staged writes."""
        return os.path.join(self.store, ".staging")

    @property
    def quarantine_dir(self) -> str:
        """The quarantine: damaged or conflicting bytes, never deleted."""
        return os.path.join(self.store, ".quarantine")

    @property
    def lock_file(self) -> str:
        """The lock of this working tree."""
        return os.path.join(self.store, ".lock")

    @property
    def memory_dir(self) -> str:
        """The folder of all documents."""
        return os.path.join(self.store, "memory")

    @property
    def gardener_file(self) -> str:
        """``gardener.toml``: settings of the gardener."""
        return os.path.join(self.memory_dir, "gardener.toml")

    @property
    def gardener_json_file(self) -> str:
        """``gardener.json``: the same settings as JSON, instead of ``gardener.toml``."""
        return os.path.join(self.memory_dir, "gardener.json")

    @property
    def core_file(self) -> str:
        """The shared core document."""
        return self.at(CORE_FILE)

    @property
    def indexes_dir(self) -> str:
        """Index and caches; can be deleted at any time."""
        return os.path.join(self.memory_dir, "indexes")

    @property
    def index_file(self) -> str:
        """The full-text index."""
        return os.path.join(self.indexes_dir, "memory.db")

    @property
    def verdicts_file(self) -> str:
        """The verdict cache: ``…/indexes/verdicts.json``."""
        return os.path.join(self.indexes_dir, "verdicts.json")

    @property
    def manifest_file(self) -> str:
        """The manifest: the list of all documents."""
        return os.path.join(self.indexes_dir, "manifest.json")

    def relative(self, absolute: str) -> str:
        """Return the POSIX path relative to root. Raises ``ValueError`` if it is outside."""
        relative = os.path.relpath(absolute, self.root).replace(os.sep, "/")
        if relative == ".." or relative.startswith("../") or os.path.isabs(relative):
            raise ValueError(f"{absolute} is outside {self.root}")
        return relative


def check_places(root: str) -> None:
    """Raise ``Refused`` if a folder of the store is a symbolic link.

    A cloned repository can contain such a link; we must never write or delete where it points.
    """
    for place in linked_places(root):
        path = os.path.join(root, *place.split("/"))
        raise Refused(
            f"{path} is a symbolic link; folders of the store must be real folders",
            hint="replace it with a real folder",
        )


def linked_places(root: str) -> tuple[str, ...]:
    """Return the folders of the store that are symbolic links, root-relative."""
    return tuple(place for place in _STORE_FOLDERS if os.path.islink(os.path.join(root, *place.split("/"))))


# Find the store of a folder: the nearest one upwards within its repository.

_MAX_STEPS = 200
_GIT_FILE_LIMIT = 4096


class FoundStore(NamedTuple):
    """A store that was found. ``also`` are the roots of further stores above it in the same repository."""

    root: str
    also: tuple[str, ...] = ()


def find_root(start: str, environ: Mapping[str, str], *, linked: bool = False) -> FoundStore:
    """Find the store of a folder: ``THUNDERUS_MEM_ROOT``, or the nearest ``.thunderus`` upwards.

    Inside git the search ends at the top of the working tree (for a submodule: of the outermost one); a
    linked worktree without a store uses that of the main worktree. Raises ``NoStore`` if there is none, and
    ``Refused`` if one of its folders is a symbolic link, unless ``linked`` is set.
    """
    found = _find_root(start, environ)
    if not linked:
        check_places(found.root)
    return found


def _find_root(start: str, environ: Mapping[str, str]) -> FoundStore:
    named = environ.get("THUNDERUS_MEM_ROOT", "")
    if named:
        root = os.path.abspath(os.path.join(start, os.path.expanduser(named)))
        if _has_store(root):
            return FoundStore(root)
        raise NoStore(
            f"THUNDERUS_MEM_ROOT is {root}, which has no {STORE} folder",
            hint="correct the variable, or unset it to search upwards from the current folder",
        )
    roots, main_worktree = _roots_upwards(os.path.abspath(start))
    if not roots and main_worktree is not None and _has_store(main_worktree):
        roots = [main_worktree]
    if roots:
        return FoundStore(roots[0], tuple(roots[1:]))
    raise NoStore(
        f"no {STORE} folder in {os.path.abspath(start)} or any parent folder",
        hint=_hint_below(start) or "run `thunderus-mem init` to create a memory here",
    )


_MOST_NAMED = 5


def _hint_below(start: str) -> str:
    """A hint that names the stores in folders below, e.g. from the top of a repository of many packages."""
    from itertools import islice

    found = [os.path.relpath(root, start) for root in islice(_roots_below(start), _MOST_NAMED + 1)]
    if not found:
        return ""
    names = ", ".join(found[:_MOST_NAMED]) + (", …" if len(found) > _MOST_NAMED else "")
    return f"use one of those below with `thunderus-mem -C DIR`: {names}"


def _roots_below(start: str) -> Iterator[str]:
    """The stores below a folder, without those inside another one."""
    from thunderus_mem.store.folders import folders_below

    found: list[str] = []
    for folder in folders_below(start):
        if _has_store(folder) and not folder.startswith(tuple(f"{root}{os.sep}" for root in found)):
            found.append(folder)
            yield folder


def _has_store(folder: str) -> bool:
    return os.path.isdir(os.path.join(folder, STORE))


def _roots_upwards(folder: str) -> tuple[list[str], str | None]:
    """Return all stores from ``folder`` upwards within its repository, and a linked worktree's main one."""
    roots: list[str] = []
    for _ in range(_MAX_STEPS):
        if _has_store(folder):
            roots.append(folder)
        git_entry = os.path.join(folder, ".git")
        if os.path.isdir(git_entry):
            return roots, None
        if os.path.isfile(git_entry):
            git_dir = _git_dir_named_in(git_entry)
            if f"{os.sep}modules{os.sep}" not in git_dir:
                return roots, _main_worktree(git_dir)
        parent = os.path.dirname(folder)
        if parent == folder:
            break
        folder = parent
    return roots, None


def _git_dir_named_in(git_file: str) -> str:
    """Return the folder a ``.git`` file points to (gitrepository-layout(5)), "" if none."""
    try:
        with open(git_file, encoding="utf-8", errors="surrogateescape") as handle:
            text = handle.read(_GIT_FILE_LIMIT)
    except OSError:
        return ""
    if not text.startswith("gitdir:"):
        return ""
    target = text.removeprefix("gitdir:").strip().replace("/", os.sep)
    return os.path.normpath(os.path.join(os.path.dirname(git_file), target))


def _main_worktree(git_dir: str) -> str | None:
    """Return the main worktree of a linked one, from ``<main>/.git/worktrees/<name>``."""
    head, _ = os.path.split(git_dir)
    common, name = os.path.split(head)
    if name == "worktrees" and os.path.basename(common) == ".git":
        return os.path.dirname(common)
    return None
