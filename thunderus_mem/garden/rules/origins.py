"""Which documents the gardener compares, as far as their files decide it. Pure.

A document comes from the file it was imported from, otherwise from its own file. Copies kept in a backup,
originals, and the records of a version, a number or a date, are never compared with documents from elsewhere.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from thunderus_mem.startup import lazy_pattern

if TYPE_CHECKING:
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


def _parts(document: Document | Profile) -> list[str]:
    return (document.imported_from or document.path).split("/")


def _has_word(folder: str, words: frozenset[str]) -> bool:
    return any(word.lower() in words for word in _WORD.findall(folder))
