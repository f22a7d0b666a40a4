"""Where everything lives: the names inside ``.thunderus``, and which store a folder belongs to.

The store's folder names follow the Thunderus file formats (``.thunderus/memory/semantic/FACTS`` …).
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final, NamedTuple

from thunderus_mem.document.paths import ARCHIVE, archived_path
from thunderus_mem.errors import NoStore, Refused

if TYPE_CHECKING:
    from collections.abc import Mapping

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
"""Kind of a document → the folder that holds it, POSIX and relative to root."""

ARCHIVE_FOLDERS: Final = tuple(
    archived_path(folder) for kind, folder in DOCUMENT_FOLDERS.items() if kind != "core"
)
"""Where documents stand that are set aside, by the same kinds; what is core is never."""

FOLDERS: Final = (*DOCUMENT_FOLDERS.values(), *ARCHIVE_FOLDERS)
"""Every folder that holds documents, those in use first."""

SHARD_FOLDERS: Final = (".thunderus/sessions", ".thunderus/local/sessions")
"""The folders of committed and of private shards."""

_PLACES: Final = (
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
    """Every place in one store. ``root`` is the absolute folder that holds ``.thunderus``.

    The properties are absolute paths of this system; document paths everywhere else are POSIX and relative.
    """

    root: str

    def at(self, relative: str) -> str:
        """The absolute path of a POSIX path relative to root. Does not check it: see ``store.paths``."""
        return os.path.join(self.root, *relative.split("/"))

    @property
    def store(self) -> str:
        """The ``.thunderus`` folder."""
        return os.path.join(self.root, STORE)

    @property
    def config_file(self) -> str:
        """``config.toml``: what a team decides about the tool."""
        return os.path.join(self.store, "config.toml")

    @property
    def schemas_dir(self) -> str:
        """The copies of the JSON Schemas and of the index's SQL schema."""
        return os.path.join(self.store, "schemas")

    @property
    def sessions_dir(self) -> str:
        """The committed event shards, one folder a session."""
        return os.path.join(self.store, "sessions")

    @property
    def legacy_events_file(self) -> str:
        """One log in one file, the smallest form of the format; read as one more shard, never written."""
        return os.path.join(self.store, "events.jsonl")

    @property
    def patches_dir(self) -> str:
        """Proposals that wait for a decision."""
        return os.path.join(self.store, "patches")

    @property
    def local_dir(self) -> str:
        """What belongs to this working tree alone; never committed."""
        return os.path.join(self.store, "local")

    @property
    def local_sessions_dir(self) -> str:
        """Event shards that stay private to this working tree."""
        return os.path.join(self.local_dir, "sessions")

    @property
    def kept_dir(self) -> str:
        """Texts the log has no way back to, for `undo` in this working tree."""
        return os.path.join(self.local_dir, "undo")

    @property
    def crash_dir(self) -> str:
        """Where a bug leaves its report."""
        return os.path.join(self.local_dir, "crashes")

    @property
    def staging_dir(self) -> str:
        """Writes under way."""
        return os.path.join(self.store, ".staging")

    @property
    def quarantine_dir(self) -> str:
        """Bytes set aside from damage, never thrown away."""
        return os.path.join(self.store, ".quarantine")

    @property
    def lock_file(self) -> str:
        """The one lock of this working tree."""
        return os.path.join(self.store, ".lock")

    @property
    def memory_dir(self) -> str:
        """The folder of all documents."""
        return os.path.join(self.store, "memory")

    @property
    def gardener_file(self) -> str:
        """``gardener.toml``: size caps, duplicates, recaps."""
        return os.path.join(self.memory_dir, "gardener.toml")

    @property
    def core_file(self) -> str:
        """The core document that everyone shares."""
        return self.at(CORE_FILE)

    @property
    def indexes_dir(self) -> str:
        """Projections; may be deleted at any time."""
        return os.path.join(self.memory_dir, "indexes")

    @property
    def index_file(self) -> str:
        """The full-text index."""
        return os.path.join(self.indexes_dir, "memory.db")

    @property
    def verdicts_file(self) -> str:
        """The verdicts computed before: ``…/indexes/verdicts.json``."""
        return os.path.join(self.indexes_dir, "verdicts.json")

    @property
    def signatures_file(self) -> str:
        """What was computed of texts to find those alike: ``…/indexes/similar.bin``."""
        return os.path.join(self.indexes_dir, "similar.bin")

    @property
    def manifest_file(self) -> str:
        """The inventory of documents."""
        return os.path.join(self.indexes_dir, "manifest.json")

    def relative(self, absolute: str) -> str:
        """The POSIX path relative to root. Raises ``ValueError`` when it lies outside."""
        relative = os.path.relpath(absolute, self.root).replace(os.sep, "/")
        if relative == ".." or relative.startswith("../") or os.path.isabs(relative):
            raise ValueError(f"{absolute} is outside {self.root}")
        return relative


def check_places(root: str) -> None:
    """Raise ``Refused`` when a folder of the store is a symbolic link.

    A repository can bring such a link along; what we write and clear away must never land where it points.
    """
    for place in linked_places(root):
        path = os.path.join(root, *place.split("/"))
        raise Refused(
            f"{path} is a symbolic link; the store keeps to its own folder.",
            hint="Put a real folder there: links could lead out of the repository.",
        )


def linked_places(root: str) -> tuple[str, ...]:
    """The folders of the store that are symbolic links, root-relative."""
    return tuple(place for place in _PLACES if os.path.islink(os.path.join(root, *place.split("/"))))


# Which store a folder belongs to: the nearest one upwards, as far as its repository goes.

_MAX_STEPS = 200
_GIT_FILE_LIMIT = 4096


class FoundStore(NamedTuple):
    """A store that was found. ``also`` are the roots further up (same repository) it could have been."""

    root: str
    also: tuple[str, ...] = ()


def find_root(start: str, environ: Mapping[str, str], *, linked: bool = False) -> FoundStore:
    """Find the store for a folder: the nearest ``.thunderus`` upwards, or ``THUNDERUS_MEM_ROOT``.

    Inside git the walk ends at the top of the working tree (for a submodule: of the outermost one); a linked
    worktree that has no store of its own uses the main worktree's. Raises ``NoStore`` when there is none,
    ``Refused`` when one of its folders is a symbolic link, unless ``linked`` asks for such a store too.
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
            f"THUNDERUS_MEM_ROOT names {root}, which holds no {STORE} folder.",
            hint="Correct the variable, or unset it to look upwards from the current folder.",
        )
    roots, main_worktree = _roots_upwards(os.path.abspath(start))
    if not roots and main_worktree is not None and _has_store(main_worktree):
        roots = [main_worktree]
    if roots:
        return FoundStore(roots[0], tuple(roots[1:]))
    raise NoStore(
        f"There is no {STORE} folder in {os.path.abspath(start)} or above it.",
        hint="Make a memory here with: thunderus-mem init",
    )


def _has_store(folder: str) -> bool:
    return os.path.isdir(os.path.join(folder, STORE))


def _roots_upwards(folder: str) -> tuple[list[str], str | None]:
    """All stores from ``folder`` upwards within its repository, and the main worktree of a linked one."""
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
    """The folder a ``.git`` file points to (gitrepository-layout(5)); "" when it says nothing."""
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
    """The main working tree of a linked one, from ``<main>/.git/worktrees/<name>``."""
    head, _ = os.path.split(git_dir)
    common, name = os.path.split(head)
    if name == "worktrees" and os.path.basename(common) == ".git":
        return os.path.dirname(common)
    return None
