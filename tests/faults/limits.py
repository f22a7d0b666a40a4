"""Limits of memory for a command."""

from __future__ import annotations

import resource
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable


def allow_memory(more: int) -> Callable[[], dict[str, Any]]:
    """Let this process take only so many more bytes of memory than it has."""
    with open("/proc/self/statm", encoding="ascii") as stream:
        used = int(stream.read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + more, used + more))
    return dict
