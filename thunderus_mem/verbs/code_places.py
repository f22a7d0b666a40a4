"""Places in the code as a person names them: any path, with a symbol or lines behind it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from thunderus_mem.model.anchor import Anchor, split_place
from thunderus_mem.model.errors import InvalidQuery
from thunderus_mem.projection.anchored import anchored_at

if TYPE_CHECKING:
    from thunderus_mem.memory import Memory

__all__ = ["place_in_code"]


def place_in_code(memory: Memory, given: str, start: str) -> tuple[Anchor, bool]:
    """What a person names by ``PATH``, ``PATH#SYMBOL`` or ``PATH:10-20``, its path from the root, and whether
    that path is there. A folder ends in ``/``; the root is "".

    The path may be absolute, from the folder ``start`` or from the root. Raises `InvalidQuery` for one
    outside the repository, `InvalidDocument` for what is no place.
    """
    if not _is_text(given):
        raise InvalidQuery("that path is not valid UTF-8, so no anchor can name it")
    whole = Anchor(given)
    wanted = whole if _is_there(memory, given, start) else split_place(given)
    if not wanted.path:
        raise InvalidQuery(f"{given!r} names no file", hint="write PATH, PATH#SYMBOL or PATH:10-20")
    choices = _from_root(memory, wanted.path, start)
    if not choices:
        raise InvalidQuery(
            f"{wanted.path!r} is outside the repository",
            hint=f"memories speak of what is below {memory.root}",
        )
    there = next((path for path in choices if os.path.lexists(os.path.join(memory.root, path))), None)
    path = there
    if path is None:
        # Nothing is there any more: the path that some memory speaks of is the one that is meant.
        path = next((path for path in choices if _is_known(memory, path)), choices[0])
    folder = os.path.isdir(os.path.join(memory.root, path)) or (there is None and wanted.path.endswith("/"))
    if folder:
        if not wanted.is_weak:
            raise InvalidQuery(f"{wanted.path!r} is a folder, which has no symbols and lines")
        path = "" if path == "." else f"{path}/"
    return wanted._replace(path=path), there is not None


def _is_known(memory: Memory, path: str) -> bool:
    return any(one.anchor.path == path for one in anchored_at(memory.index.database, [path]))


def _is_there(memory: Memory, given: str, start: str) -> bool:
    return any(os.path.lexists(os.path.join(base, given)) for base in (start, memory.root))


def _from_root(memory: Memory, given: str, start: str) -> list[str]:
    """The root-relative paths that a path may mean: from the folder somebody is in, or from the root."""
    found: list[str] = []
    root = os.path.realpath(memory.root)
    for base in (start, memory.root):
        absolute = os.path.normpath(os.path.join(os.path.abspath(base), given))
        folder, name = os.path.split(absolute)
        real = os.path.join(os.path.realpath(folder), name)
        relative = os.path.relpath(real, root).replace(os.sep, "/")
        if relative != ".." and not relative.startswith("../") and relative not in found:
            found.append(relative)
    return found


def _is_text(given: str) -> bool:
    try:
        given.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return "\0" not in given
