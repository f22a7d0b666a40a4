"""All scenes, by name. A scene is a function that plays its steps on a ``Scene``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scenes import (
    code,
    damage,
    everyday,
    garden,
    help_pages,
    history,
    kept_stores,
    lint,
    merging,
    places,
    review,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from stage import Scene

_MODULES = (code, garden, lint, damage, review, history, everyday, merging, places, kept_stores, help_pages)

SCENES: dict[str, Callable[[Scene], None]] = {
    name.removeprefix("scene_").replace("_", "-"): play
    for module in _MODULES
    for name, play in vars(module).items()
    if name.startswith("scene_")
}
"""The long ones first, so that no worker waits for the last."""
