"""Whether a command died in the middle of a change: cheap enough to be asked after every command."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from thunderus_mem.store.layout import Layout

__all__ = ["is_interrupted"]


def is_interrupted(layout: Layout) -> bool:
    """Whether documents may show a part of a change until the next command that writes.

    A change that a living process makes is none. Costs one look into a folder that is nearly always empty.
    """
    try:
        if not os.listdir(layout.staging_dir):
            return False
    except OSError:
        return False
    from thunderus_mem.store.lock import is_held
    from thunderus_mem.store.staging import staged_ids

    return not is_held(layout.lock_file) and bool(staged_ids(layout.staging_dir))
