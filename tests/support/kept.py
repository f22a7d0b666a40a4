"""Cached starting states of tests: made once in a process, then copied."""

from __future__ import annotations

import os
import shutil
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable
    from pathlib import Path

STATE = ".thunderus/local/session.json"


class _Kept(NamedTuple):
    """A copy of what was made, and where it was made."""

    folder: TemporaryDirectory[str]
    root: str


_KEPT: dict[Hashable, _Kept] = {}


def begin_with(root: Path, key: Hashable, make: Callable[[], object]) -> bool:
    """Have in ``root`` what is there after ``make``; whether it was called, as by the first with this key.

    All files that are in ``root`` then are part of it.
    """
    if first := key not in _KEPT:
        make()
        kept = _Kept(TemporaryDirectory(prefix="kept-"), os.path.realpath(root))
        shutil.copytree(root, kept.folder.name, symlinks=True, dirs_exist_ok=True)
        _KEPT[key] = kept
    kept = _KEPT[key]
    # The first has a copy too, so that it begins as the others do.
    shutil.copytree(kept.folder.name, root, symlinks=True, dirs_exist_ok=True, copy_function=_instead)
    state = root / STATE
    if not first and state.exists():  # in a copy on another path a session ends
        state.write_text(state.read_text().replace(kept.root, os.path.realpath(root)))
    return first


def _instead(source: str, target: str) -> None:
    """Copy a file to where one may be that cannot be written, as git's objects."""
    if os.path.lexists(target):
        os.unlink(target)
    shutil.copy2(source, target)
