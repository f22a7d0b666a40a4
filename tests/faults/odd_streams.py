"""Streams as a console of another encoding gives them; armed in the process that runs a command."""

from __future__ import annotations

import sys
from typing import Any


def encode(encoding: str) -> Any:
    """Make stdout and stderr write ``encoding``."""
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(encoding=encoding, errors="strict")  # type: ignore[union-attr]
    return dict
