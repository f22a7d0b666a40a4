"""Files among the documents that no command would open: which they are, and the findings for them. Pure."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from thunderus_mem.diagnostic import Diagnostic, Severity
from thunderus_mem.document.ids import is_reserved_name
from thunderus_mem.errors import Refused
from thunderus_mem.store.paths import safe_relative

_ORDINARY: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*(?:\.[A-Za-z0-9_-]+)*", re.ASCII)
_FOREIGN: Final = re.compile(r"(?:\\x[89a-f][0-9a-f])+")


@lru_cache(maxsize=64)
def _folder_opens(folder: str) -> bool:
    return _opens(folder)


def _opens(path: str) -> bool:
    try:
        return bool(safe_relative(path))
    except Refused:
        return False


def openable(path: str) -> bool:
    """Whether every command would open a file of this path: what `show` refuses is not found either."""
    folder, _, name = path.rpartition("/")
    ordinary = len(path) < 200 and _ORDINARY.fullmatch(name) is not None and not is_reserved_name(name)
    return _folder_opens(folder) if ordinary else _opens(path)


def is_foreign_name(path: str) -> bool:
    """Whether the index has this path for a file whose name is not UTF-8: its bytes are ``\\xff`` there."""
    return _FOREIGN.search(path) is not None


def foreign_name(path: str) -> Diagnostic:
    """The finding for a file whose name is not UTF-8."""
    return _refused(
        path,
        "The name of this file is not UTF-8 text; its bytes that are none are shown as \\x and two digits.",
        "a plain name, or one in UTF-8",
        f"Rename it; nothing else needs to change: mv {_FOREIGN.sub('?', path)} NEW-NAME",
    )


def _refused(path: str, said: str, expected: str, hint: str) -> Diagnostic:
    return Diagnostic("TM002", Severity.ERROR, path, 0, 0, said, expected=expected, hint=hint)


def irregular(path: str) -> Diagnostic:
    """The finding for what stands where a document should and is no regular file."""
    if is_foreign_name(path):
        return foreign_name(path)
    return _refused(
        path,
        "This is a link, a device, or a file whose name is not one every system has.",
        "a regular file with a plain name",
        "Put the text itself here, or move the file out of the memory.",
    )


def failed(path: str, error: OSError) -> Diagnostic:
    """The finding for a file that is there and cannot be read."""
    return _refused(
        path,
        f"This file cannot be read: {error.strerror or error}.",
        "a file that can be read",
        "Mend its permissions.",
    )


def unlisted_folder(folder: str) -> Diagnostic:
    """The finding for a folder of documents that is there and could not be looked into."""
    return _refused(
        folder,
        "This folder could not be looked into, so the documents in it may not have been checked.",
        "a folder that can be read",
        f"Mend its permissions (chmod u+rwx {folder}), then run the command again.",
    )
