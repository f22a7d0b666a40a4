"""Which paths a glob matches: ``*``, ``?`` and ``[…]`` inside one name, ``**`` over any number of folders."""

from __future__ import annotations

import re
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["fits", "matching"]

_LONGEST: Final = 1_024
_WILD: Final = re.compile(r"[*?\[]")


def fits(glob: str, path: str) -> bool:
    """Whether a whole path fits a glob. A glob that ends in ``/`` means everything below; none that is longer
    than 1,024 characters fits anything."""
    if len(glob) > _LONGEST:
        return False
    return _fits(tuple(f"{glob}**".split("/") if glob.endswith("/") else glob.split("/")), path)


def matching(glob: str, paths: Iterable[str]) -> list[str]:
    """The paths that fit a glob, in their order."""
    wild = _WILD.search(glob)
    literal = glob[: wild.start()] if wild else glob
    return [path for path in paths if path.startswith(literal) and fits(glob, path)]


def _fits(wanted: tuple[str, ...], path: str) -> bool:
    """Row by row, so that many ``**`` cost no more than the product of both lengths."""
    steps = path.split("/")
    reached = {0}
    for part in wanted:
        if part == "**":
            reached = set(range(min(reached), len(steps) + 1))
        else:
            reached = {at + 1 for at in reached if at < len(steps) and fnmatchcase(steps[at], part)}
        if not reached:
            return False
    return len(steps) in reached
