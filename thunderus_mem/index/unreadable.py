"""Files that commands do not open, and the findings for them."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from thunderus_mem.diagnostic import Diagnostic, Severity
from thunderus_mem.document.ids import is_reserved_name
from thunderus_mem.errors import Refused
from thunderus_mem.startup import lazy_pattern
from thunderus_mem.store.paths import safe_relative

_ORDINARY: Final = lazy_pattern(r"[A-Za-z0-9][A-Za-z0-9_-]*(?:\.[A-Za-z0-9_-]+)*", re.ASCII)
_FOREIGN: Final = lazy_pattern(r"(?:\\x[89a-f][0-9a-f])+")


@lru_cache(maxsize=64)
def _folder_opens(folder: str) -> bool:
    return _opens(folder)


def _opens(path: str) -> bool:
    try:
        return bool(safe_relative(path))
    except Refused:
        return False


def openable(path: str) -> bool:
    """Whether commands open files with this path: what `show` refuses is not indexed either."""
    folder, _, name = path.rpartition("/")
    ordinary = len(path) < 200 and _ORDINARY.fullmatch(name) is not None and not is_reserved_name(name)
    return _folder_opens(folder) if ordinary else _opens(path)


def is_foreign_name(path: str) -> bool:
    """Whether a path in the index has escaped bytes (``\\xff``): the file name is not UTF-8."""
    return _FOREIGN.search(path) is not None


def foreign_name(path: str) -> Diagnostic:
    """Return the finding for a file name that is not UTF-8."""
    return _refused(
        path,
        "File name is not valid UTF-8 (other bytes are shown as \\x and two digits)",
        "a file name in UTF-8",
        f"Rename it: mv {_FOREIGN.sub('?', path)} NEW-NAME",
    )


def _refused(path: str, message: str, expected: str, hint: str) -> Diagnostic:
    return Diagnostic("TM002", Severity.ERROR, path, 0, 0, message, expected=expected, hint=hint)


def irregular(path: str) -> Diagnostic:
    """Return the finding for a document path that is not a regular file."""
    if is_foreign_name(path):
        return foreign_name(path)
    return _refused(
        path,
        "Not a regular file (a link or device), or a file name that some systems do not allow",
        "a regular file with a plain name",
        "Replace it with a regular file, or move it out of the memory",
    )


def failed(path: str, error: OSError) -> Diagnostic:
    """Return the finding for a file that cannot be read."""
    return _refused(
        path,
        f"Cannot read the file: {error.strerror or error}",
        "a readable file",
        "Fix its permissions",
    )


def unlisted_folder(folder: str) -> Diagnostic:
    """Return the finding for a folder of documents that cannot be read."""
    return _refused(
        folder,
        "Cannot read the folder; its documents may be unchecked",
        "a readable folder",
        f"Fix its permissions (`chmod u+rwx {folder}`), then run the command again",
    )
