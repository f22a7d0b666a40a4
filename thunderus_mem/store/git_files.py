"""The two files that tell git about the store: what is never committed, and whose line ends never change.

People may add lines of their own. In both files the last line that fits a path decides.
"""

from __future__ import annotations

from typing import Final

from thunderus_mem.model.errors import NotFound, ThunderusError
from thunderus_mem.store.files import read_file

__all__ = ["FILES", "GITATTRIBUTES", "GITIGNORE", "amended", "lacking"]

GITIGNORE: Final = """\
# Projections, locks and what belongs to one working tree: rebuilt or private, never committed.
memory/indexes/
memory/core/CORE.local.md
local/
.staging/
.quarantine/
.lock*
"""

GITATTRIBUTES: Final = """\
# Shards are written once; line ends must not change, and diffs of them need not be read.
sessions/** text eol=lf linguist-generated
"""

FILES: Final = {".thunderus/.gitignore": GITIGNORE, ".thunderus/.gitattributes": GITATTRIBUTES}
"""Root-relative path of each file, and its text as `init` writes it."""

_LIMIT: Final = 1 << 20


def _lines(text: str) -> list[str]:
    stripped = (line.strip() for line in text.splitlines())
    return [line for line in stripped if line and not line.startswith("#")]


def _pattern(line: str) -> str:
    """The path a line speaks of, whether it takes it in or out, as these files write it."""
    return line.split()[0].removeprefix("!").strip("/")


def lacking(path: str, place: str) -> tuple[str, ...]:
    """The lines that the file at ``place`` lacks, or that a later line of it takes back."""
    try:
        text = read_file(place, _LIMIT).decode("utf-8", "replace")
    except NotFound:
        text = ""
    except ThunderusError:
        return tuple(_lines(FILES[path]))
    last = {_pattern(line): line for line in _lines(text)}
    return tuple(
        wanted for wanted in _lines(FILES[path]) if not _says(last.get(_pattern(wanted), ""), wanted)
    )


def _says(line: str, wanted: str) -> bool:
    """Whether a line says at least what is wanted: the same pattern with its attributes among others."""
    words, needed = line.split(), wanted.split()
    return bool(words) and not line.startswith("!") and set(needed[1:]) <= {*words[1:], "linguist-generated"}


def amended(path: str, text: str, missing: tuple[str, ...]) -> str:
    """The file with the lines it lacks at its end, all others as they were."""
    if not text:
        return FILES[path]
    gap = "" if text.endswith("\n") else "\n"
    return f"{text}{gap}# Lines that `thunderus-mem doctor --fix` found missing.\n" + "".join(
        f"{line}\n" for line in missing
    )
