"""Path safety: which relative paths may be opened, by the rules of all systems on every system.

Rules: Windows file naming (learn.microsoft.com, "Naming Files, Paths, and Namespaces"), git's
``verify_path`` with ``core.protectNTFS`` and ``core.protectHFS``. Read only.
"""

from __future__ import annotations

import os
import posixpath
import re
import stat
import unicodedata
from typing import Final

from thunderus_mem.document.ids import is_reserved_name
from thunderus_mem.document.paths import live_path
from thunderus_mem.errors import Refused, explain
from thunderus_mem.startup import lazy_pattern
from thunderus_mem.store.layout import CORE_FILE, DOCUMENT_FOLDERS, SHARD_FOLDERS

_MAX_PATH: Final = 240
_MAX_COMPONENT: Final = 255

# Characters that Windows or macOS reserve, or that some programs interpret.
_FORBIDDEN: Final = lazy_pattern(r'[<>:"|?*\\]')
_ENCODED: Final = lazy_pattern(r"%[0-9A-Fa-f]{2}")
_SHORT_NAME: Final = lazy_pattern(r"~[0-9]")
# Names that only their length or a Windows device name can make invalid.
_ORDINARY: Final = lazy_pattern(r"[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*", re.ASCII)
_PLAIN: Final = lazy_pattern(r"[A-Za-z0-9_./-]*", re.ASCII)
_HIDDEN_CATEGORIES: Final = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
# Default-ignorable code points of other categories (Unicode 15, DerivedCoreProperties).
_IGNORABLE: Final = lazy_pattern(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164\ufe00-\ufe0f\uffa0\U000e0000-\U000e0fff]"
)
# Lookalikes of dot, slash and space: fullwidth and small forms, division slash, non-breaking spaces.
_LOOKALIKE: Final = lazy_pattern(
    "[\u00a0\u2024-\u2026\u2044\u2215\u29f5\u29f8\u2571\ufe52\ufe68\uff0e\uff0f\uff3c\uff1a\u3000]"
)


_RENAME: Final = "choose another name"
_RELATIVE: Final = "paths are relative to the repository, with '/' between the names"


def _refuse(path: str, reason: str, hint: str = _RENAME) -> Refused:
    return Refused(f"invalid path {path!r}: {reason}", hint=hint)


def _check_text(path: str) -> None:
    if not path:
        raise _refuse(path, "it is empty", _RELATIVE)
    if len(path) > _MAX_PATH:
        raise _refuse(path[:60] + "…", f"it is longer than {_MAX_PATH} characters")
    if path.startswith("/"):
        raise _refuse(path, "it is absolute", _RELATIVE)
    if _PLAIN.fullmatch(path):
        return
    for letter in path:
        if unicodedata.category(letter) in _HIDDEN_CATEGORIES:
            raise _refuse(path, f"it contains an invisible or control character (U+{ord(letter):04X})")
    if found := _IGNORABLE.search(path) or _LOOKALIKE.search(path):
        raise _refuse(path, f"it contains a misleading character (U+{ord(found.group()):04X})")
    if found := _FORBIDDEN.search(path):
        hint = _RELATIVE if found.group() in "\\:" else _RENAME
        raise _refuse(path, f"it contains {found.group()!r}, which some systems reserve", hint)
    if _ENCODED.search(path):
        raise _refuse(path, "it contains a percent-encoded character")


def _check_component(path: str, name: str) -> None:
    if _ORDINARY.fullmatch(name) and len(name) <= _MAX_COMPONENT and not is_reserved_name(name):
        return
    if name == "..":
        raise _refuse(path, "it contains '..'", _RELATIVE)
    if name.endswith((".", " ")):
        raise _refuse(path, f"{name!r} ends in a dot or space, which some systems drop")
    if name.startswith(("~", " ")) or _SHORT_NAME.search(name):
        raise _refuse(path, f"{name!r} is a home folder, a Windows short name or starts with a space")
    if len(name.encode()) > _MAX_COMPONENT:
        raise _refuse(path, f"a component is longer than {_MAX_COMPONENT} bytes")
    folded = unicodedata.normalize("NFKC", name).casefold()
    if is_reserved_name(folded) or folded.partition(".")[0].rstrip(" ") == "clock$":
        raise _refuse(path, f"{name!r} is a device name on Windows")
    if folded == ".git":
        raise _refuse(path, "it points into the .git folder")


def safe_relative(path: str) -> str:
    """Return the POSIX path without ``.`` and double slashes.

    Raises ``Refused`` for a path that could leave the root, or mean another file on some system: ``..``,
    absolute, drive, UNC, stream, backslash, control or invisible characters, trailing dot or space, reserved
    and short names, percent-encoding, ``.git`` in any spelling, more than 240 characters.
    """
    _check_text(path)
    names = [name for name in path.split("/") if name not in ("", ".")]
    if not names:
        raise _refuse(path, "it has no file name", _RELATIVE)
    for name in names:
        _check_component(path, name)
    return "/".join(names)


def is_safe(path: str) -> bool:
    """Whether `safe_relative` accepts the path without changing it."""
    try:
        return safe_relative(path) == path
    except Refused:
        return False


def inside(root: str, relative: str) -> str:
    """Return the absolute path of ``relative`` below ``root``; it need not exist.

    Raises ``Refused`` like ``safe_relative``, and if an existing component is a symbolic link, or a file
    instead of a folder. ``root`` itself may be a link.
    """
    names = safe_relative(relative).split("/")
    path = root
    for position, name in enumerate(names):
        path = os.path.join(path, name)
        try:
            mode = os.lstat(path).st_mode
        except (FileNotFoundError, NotADirectoryError):
            break
        except OSError as error:
            raise explain(error, path) from error
        if stat.S_ISLNK(mode):
            raise Refused(
                f"{relative!r} is a symbolic link"
                if position + 1 == len(names)
                else f"{relative!r} is below the symbolic link {name!r}",
                hint="replace it with a regular file or folder; it could point outside the repository",
            )
        if position + 1 < len(names) and not stat.S_ISDIR(mode):
            raise Refused(
                f"{relative!r} has a file instead of the folder {name!r}", hint="move that file away"
            )
    return os.path.join(root, *names)


def kind_of(path: str) -> str | None:
    """Return the kind of document at a root-relative POSIX path, archived or not; ``None`` if the path cannot
    be one of a document."""
    if not path.endswith(".md") or posixpath.basename(path).startswith("."):
        return None
    home = live_path(path)
    for kind, folder in DOCUMENT_FOLDERS.items():
        if home.startswith(folder + "/"):
            return kind if kind != "core" or home == path else None
    return None


def is_shard(path: str) -> bool:
    """Whether a root-relative POSIX path is the shard of a session."""
    folder, _, name = path.rpartition("/")
    above = posixpath.dirname(folder)
    *folders, users = SHARD_FOLDERS
    return name == "events.jsonl" and (above in folders or posixpath.dirname(above) == users)


def is_private_shard(path: str) -> bool:
    """Whether it is a shard kept local to this working tree, never part of a clone."""
    return is_shard(path) and not path.startswith(f"{SHARD_FOLDERS[0]}/")


GARDENER_FILE: Final = ".thunderus/memory/gardener.toml"
_PROPOSAL: Final = lazy_pattern(r"\.thunderus/patches/(patch_[0-9A-HJKMNP-TV-Z]{26})\.json", re.ASCII)
_OLDER_FILES: Final = {".thunderus/CORE.md": CORE_FILE, ".thunderus/memory/CORE.md": CORE_FILE}
OLDER_FOLDERS: Final = {
    ".thunderus": "",
    ".thunderus/memory": "",
    ".thunderus/memory/FACTS": DOCUMENT_FOLDERS["fact"],
    ".thunderus/memory/DECISIONS": DOCUMENT_FOLDERS["adr"],
    ".thunderus/memory/PLAYBOOKS": DOCUMENT_FOLDERS["playbook"],
}
"""Folders of documents in older stores → current folders; "" for those with only CORE.md."""


def present_place(path: str) -> str | None:
    """Return the current path of a file at an older path; ``None`` if its path is current.

    ``CORE.md`` moves from the store or its memory folder to ``core``; ``FACTS``, ``DECISIONS`` and
    ``PLAYBOOKS`` move from the memory folder to ``semantic`` and ``procedural``.
    """
    folder, name = posixpath.split(path)
    if path in _OLDER_FILES:
        return _OLDER_FILES[path]
    present = OLDER_FOLDERS.get(folder)
    return f"{present}/{name}" if present and name.endswith(".md") and not name.startswith(".") else None


def may_change(path: str) -> bool:
    """Whether a change may write this file: a document, also at an older path, or ``gardener.toml``."""
    return kind_of(path) is not None or present_place(path) is not None or path == GARDENER_FILE


def proposal_id(path: str) -> str:
    """Return the proposal id in the name of a root-relative path; "" for any other file."""
    found = _PROPOSAL.fullmatch(path)
    return found[1] if found else ""


def may_stage(path: str) -> bool:
    """Whether the journal may change this file: as `may_change`, or a proposal, which is deleted when it is
    decided."""
    return may_change(path) or bool(proposal_id(path))
