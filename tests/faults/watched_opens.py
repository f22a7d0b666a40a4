"""An audit hook that records what a command opens or changes outside a folder."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

WATCHED = frozenset(
    ["open", "glob.glob", "shutil.rmtree"]
    + [
        f"os.{name}"
        for name in ("rename", "remove", "mkdir", "rmdir", "link", "symlink", "chmod", "truncate", "listdir")
    ]
    + ["os.scandir"]
)


def watch(root: str) -> Callable[[], dict[str, Any]]:
    """Watch from now on; the function returned tells the places outside ``root``."""
    inside = os.path.realpath(root)
    outside: set[str] = set()
    busy = False

    def hook(event: str, arguments: tuple[object, ...]) -> None:
        nonlocal busy
        if event not in WATCHED or busy:
            return
        busy = True
        try:
            named = arguments[:2] if event in ("os.rename", "os.link", "os.symlink") else arguments[:1]
            for argument in named:
                if isinstance(argument, str | bytes):
                    place = os.path.realpath(os.path.abspath(os.fsdecode(argument)))
                    if place != inside and not place.startswith(inside + os.sep):
                        outside.add(place)
        finally:
            busy = False

    sys.addaudithook(hook)
    return lambda: {"outside": sorted(outside)}
