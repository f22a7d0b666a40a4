"""Decide which documents the gardener compares, by the files they come from. Pure.

A document comes from the file it was imported from, otherwise from its own file. Copies kept in a backup,
originals, and the records of a version, a number or a date, are never compared with documents from elsewhere.
Nor is a file that has a role in its folder, such as the inbox of each project.
"""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING, Final

from thunderus_mem.startup import lazy_pattern

if TYPE_CHECKING:
    from collections.abc import Container, Iterable

    from thunderus_mem.document.document import Document
    from thunderus_mem.document.profile import Profile

_ASIDE: Final = frozenset(
    (
        *("archive", "archived", "archives", "attempt", "attempts", "backup", "backups", "bak", "copies"),
        *("copy", "deprecated", "draft", "drafts", "legacy", "obsolete", "old", "original", "originals"),
        *("raw", "snapshot", "snapshots"),
    )
)
"""Words in the name of a folder with copies, originals, or what is no longer current."""
_APART: Final = _ASIDE | {"sources"}
"""The same, and a folder with originals or with notes about them."""
_READ_BY_NAME: Final = frozenset(
    ("agents", "changelog", "claude", "cursorrules", "gemini", "index", "migrating", "readme", "skill")
)
"""Names by which tools and readers find a file of each folder."""
_TEMPLATES: Final = frozenset(("template", "templates"))
_MANY: Final = 3
"""In how many sibling folders a file name has a meaning of its own."""
_FORM: Final = 40
"""How many words besides headings an unfilled form has at most."""
_EMPTY_ITEM: Final = lazy_pattern(r"(?m)^[ \t]*[-*+](?:[ \t]*\[ ?\])?[ \t]*\r?$")
_WORD: Final = lazy_pattern(r"[A-Z]?[a-z]+|[A-Z]+")
_DIGIT: Final = lazy_pattern(r"\d")


def is_aside(document: Document | Profile) -> bool:
    """Whether a folder of the document's file is one for copies, originals, or what is no longer current."""
    return any(_has_word(folder, _ASIDE) for folder in _parts(document)[:-1])


def tree(document: Document | Profile) -> tuple[str, ...]:
    """A value that two documents must have in common to be compared.

    The folders for copies or originals, and those with a number in their name; for a file that is read by
    name, its path.
    """
    *folders, name = _parts(document)
    if document.imported_from and name.strip("._").partition(".")[0].lower() in _READ_BY_NAME:
        return (document.imported_from,)
    return tuple(folder for folder in folders if _DIGIT.search(folder) or _has_word(folder, _APART))


def source_path(document: Document | Profile) -> str:
    """The path of the file that the document comes from."""
    return document.imported_from or document.path


def shared_names(paths: Iterable[str]) -> frozenset[str]:
    """Those of the paths whose file name is in three or more folders of one parent."""
    found: dict[tuple[str, str], set[str]] = {}
    for path in paths:
        folder, name = posixpath.split(path)
        if folder:
            found.setdefault((posixpath.dirname(folder), name), set()).add(path)
    return frozenset(path for some in found.values() if len(some) >= _MANY for path in some)


def role(path: str, body: str, shared: Container[str]) -> str:
    """The folder in which a file has a role, "" if it has none: it is among templates, its name is
    ``shared`` by several folders, or its text is an unfilled form, with an empty item and few words."""
    folder = posixpath.dirname(path)
    # Some note systems write the hierarchy into file names: `Templates.module.dev.md`.
    above = path.rpartition(".")[0].replace(".", "/").split("/")[:-1]
    has_role = path in shared or any(_has_word(part, _TEMPLATES) for part in above)
    return (folder or ".") if has_role or _is_form(body) else ""


def _is_form(body: str) -> bool:
    if not _EMPTY_ITEM.search(body):
        return False
    return sum(len(line.split()) for line in body.splitlines() if not line.startswith("#")) <= _FORM


def _parts(document: Document | Profile) -> list[str]:
    return source_path(document).split("/")


def _has_word(folder: str, words: frozenset[str]) -> bool:
    return any(word.lower() in words for word in _WORD.findall(folder))
