"""Which store a folder belongs to: the nearest one upwards, as far as its repository goes."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Final, NamedTuple

from thunderus_mem.errors import NoStore, Refused, ThunderusError
from thunderus_mem.store.config import FORMAT, Config
from thunderus_mem.store.layout import STORE, check_places

if TYPE_CHECKING:
    from collections.abc import Mapping

    from thunderus_mem.store.layout import Layout

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


_LIMIT: Final = 1 << 20
_NAMES: Final = ("memory_doc.frontmatter", "memory_manifest", "events.v1")
_ID: Final = re.compile(rb'"\$id":\s{0,9}"urn:thunderus-mem:schema:[a-z-]{1,40}:([0-9]{1,6})"')


def version_of_schemas(layout: Layout) -> int:
    """The highest version among the store's copies of the schemas; 0 when it has none."""
    from thunderus_mem.store.files import read_file

    found = [0]
    for name in _NAMES:
        try:
            text = read_file(os.path.join(layout.schemas_dir, f"{name}.schema.json"), _LIMIT)
        except ThunderusError:
            continue
        match = _ID.search(text)
        found.append(int(match[1]) if match is not None else 0)
    return max(found)


def newer_version(layout: Layout, config: Config) -> int:
    """The version of a store that is newer than this program; 0 for any other."""
    version = max(version_of_schemas(layout), config.store_version)
    return version if version > FORMAT else 0


def refuse_newer(layout: Layout, config: Config) -> None:
    """Raise `Refused` when a later version of the program must write this store."""
    version = newer_version(layout, config)
    if version:
        raise Refused(
            f"this store has version {version} of the formats, this program knows {FORMAT}: it only reads",
            hint="use a newer thunderus-mem to write; nothing was changed",
        )
