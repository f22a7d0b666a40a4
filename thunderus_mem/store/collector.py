"""Python's collector of cycles, kept still while thousands of values without cycles are made."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["paused"]


@contextmanager
def paused() -> Iterator[None]:
    """No collection inside: it would walk every value again and again and find nothing."""
    import gc

    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            gc.enable()
