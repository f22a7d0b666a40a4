"""The jail: which relative paths may be opened at all, by the rules of every system on every system.

Rules: Windows file naming (learn.microsoft.com, "Naming Files, Paths, and Namespaces"), git's
``verify_path`` with ``core.protectNTFS`` and ``core.protectHFS``. Nothing here writes.
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
from thunderus_mem.store.layout import CORE_FILE, DOCUMENT_FOLDERS, SHARD_FOLDERS

_MAX_PATH: Final = 240
_MAX_COMPONENT: Final = 255

# Letters that Windows and macOS reserve, or that some program in between takes for something else.
_FORBIDDEN: Final = re.compile(r'[<>:"|?*\\]')
_ENCODED: Final = re.compile(r"%[0-9A-Fa-f]{2}")
_SHORT_NAME: Final = re.compile(r"~[0-9]")
# A name that only its length and the devices of Windows can speak against.
_ORDINARY: Final = re.compile(r"[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*", re.ASCII)
_PLAIN: Final = re.compile(r"[A-Za-z0-9_./-]*", re.ASCII)
_HIDDEN_CATEGORIES: Final = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
# Default-ignorable code points of other categories (Unicode 15, DerivedCoreProperties).
_IGNORABLE: Final = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164\ufe00-\ufe0f\uffa0\U000e0000-\U000e0fff]"
)
# A dot, a slash or a blank to somebody else: fullwidth and small forms, division slash, non-breaking blanks.
_LOOKALIKE: Final = re.compile(
    "[\u00a0\u2024-\u2026\u2044\u2215\u29f5\u29f8\u2571\ufe52\ufe68\uff0e\uff0f\uff3c\uff1a\u3000]"
)


def _refuse(path: str, reason: str) -> Refused:
    return Refused(
        f"{path!r} is not a path we open: {reason}.",
        hint="Give a path relative to the repository, of plain names joined by '/'.",
    )


def _check_text(path: str) -> None:
    if not path:
        raise _refuse(path, "it is empty")
    if len(path) > _MAX_PATH:
        raise _refuse(path[:60] + "…", f"it is longer than {_MAX_PATH} characters")
    if path.startswith("/"):
        raise _refuse(path, "it is absolute")
    if _PLAIN.fullmatch(path):
        return
    for letter in path:
        if unicodedata.category(letter) in _HIDDEN_CATEGORIES:
            raise _refuse(path, f"it holds an invisible or control character (U+{ord(letter):04X})")
    if found := _IGNORABLE.search(path) or _LOOKALIKE.search(path):
        raise _refuse(path, f"it holds a misleading character (U+{ord(found.group()):04X})")
    if found := _FORBIDDEN.search(path):
        raise _refuse(path, f"it holds {found.group()!r}, which some systems reserve")
    if _ENCODED.search(path):
        raise _refuse(path, "it holds a percent-encoded character")


def _check_component(path: str, name: str) -> None:
    if _ORDINARY.fullmatch(name) and len(name) <= _MAX_COMPONENT and not is_reserved_name(name):
        return
    if name == "..":
        raise _refuse(path, "it climbs with '..'")
    if name.endswith((".", " ")):
        raise _refuse(path, f"{name!r} ends in a dot or a blank, which some systems drop")
    if name.startswith(("~", " ")) or _SHORT_NAME.search(name):
        raise _refuse(path, f"{name!r} is a home folder, a short name or begins with a blank")
    if len(name.encode()) > _MAX_COMPONENT:
        raise _refuse(path, f"a name in it is longer than {_MAX_COMPONENT} bytes")
    folded = unicodedata.normalize("NFKC", name).casefold()
    if is_reserved_name(folded) or folded.partition(".")[0].rstrip(" ") == "clock$":
        raise _refuse(path, f"{name!r} is a device on Windows")
    if folded == ".git":
        raise _refuse(path, "it points into git's own folder")


def safe_relative(path: str) -> str:
    """The same path with ``.`` and doubled slashes taken out, POSIX style.

    Raises ``Refused`` for what could leave the root, or mean another file on any system: ``..``, absolute,
    drive, UNC, stream, backslash, control or invisible characters, trailing dot or blank, reserved and
    short names, percent-encoding, ``.git`` in any disguise, more than 240 characters.
    """
    _check_text(path)
    names = [name for name in path.split("/") if name not in ("", ".")]
    if not names:
        raise _refuse(path, "it names no file")
    for name in names:
        _check_component(path, name)
    return "/".join(names)


def is_safe(path: str) -> bool:
    """Whether `safe_relative` takes the path and leaves it as it is."""
    try:
        return safe_relative(path) == path
    except Refused:
        return False


def inside(root: str, relative: str) -> str:
    """The absolute path of ``relative`` below ``root``; it need not exist.

    Raises ``Refused`` as ``safe_relative`` does, and when a component that exists is a symbolic link, or a
    file where a folder must be. ``root`` itself may be a link.
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
                f"{relative!r} leads through a symbolic link ({name!r}).",
                hint="Put a real file or folder there: links could lead out of the repository.",
            )
        if position + 1 < len(names) and not stat.S_ISDIR(mode):
            raise Refused(
                f"{relative!r} leads through {name!r}, which is a file.", hint="Move that file away."
            )
    return os.path.join(root, *names)


def kind_of(path: str) -> str | None:
    """The kind that a root-relative POSIX path is filed under, in use or archived; ``None`` when no document
    lives there."""
    if not path.endswith(".md") or posixpath.basename(path).startswith("."):
        return None
    home = live_path(path)
    for kind, folder in DOCUMENT_FOLDERS.items():
        if home.startswith(folder + "/"):
            return kind if kind != "core" or home == path else None
    return None


def is_shard(path: str) -> bool:
    """Whether a root-relative POSIX path is that of a session's shard."""
    folder, _, name = path.rpartition("/")
    return name == "events.jsonl" and posixpath.dirname(folder) in SHARD_FOLDERS


def is_private_shard(path: str) -> bool:
    """Whether it is one of those that stay in this working tree, which no repository brings along."""
    return is_shard(path) and path.startswith(f"{SHARD_FOLDERS[1]}/")


GARDENER_FILE: Final = ".thunderus/memory/gardener.toml"
_PROPOSAL: Final = re.compile(r"\.thunderus/patches/(patch_[0-9A-HJKMNP-TV-Z]{26})\.json", re.ASCII)
_OLDER_FILES: Final = {".thunderus/CORE.md": CORE_FILE, ".thunderus/memory/CORE.md": CORE_FILE}
OLDER_FOLDERS: Final = {
    ".thunderus": "",
    ".thunderus/memory": "",
    ".thunderus/memory/FACTS": DOCUMENT_FOLDERS["fact"],
    ".thunderus/memory/DECISIONS": DOCUMENT_FOLDERS["adr"],
    ".thunderus/memory/PLAYBOOKS": DOCUMENT_FOLDERS["playbook"],
}
"""Folders that held documents before there were tiers, and the present ones; "" where only CORE.md did."""


def present_place(path: str) -> str | None:
    """Where a file of an older place belongs today; ``None`` for one that is in its place.

    ``CORE.md`` of the store or of its memory folder belongs in ``core``; ``FACTS``, ``DECISIONS`` and
    ``PLAYBOOKS`` of the memory folder belong below ``semantic`` and ``procedural``.
    """
    folder, name = posixpath.split(path)
    if path in _OLDER_FILES:
        return _OLDER_FILES[path]
    present = OLDER_FOLDERS.get(folder)
    return f"{present}/{name}" if present and name.endswith(".md") and not name.startswith(".") else None


def may_change(path: str) -> bool:
    """Whether a change may write this file: a document, one of an older place, the gardener's rules."""
    return kind_of(path) is not None or present_place(path) is not None or path == GARDENER_FILE


def proposal_id(path: str) -> str:
    """The id of the proposal that a root-relative path holds by its name; "" for any other file."""
    found = _PROPOSAL.fullmatch(path)
    return found[1] if found else ""


def may_stage(path: str) -> bool:
    """Whether the journal may carry a change of this file out: what `may_change` names, and a proposal, which
    goes away with the decision about it."""
    return may_change(path) or bool(proposal_id(path))
