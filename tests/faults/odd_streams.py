"""Streams with another console encoding, installed in the process of a command."""

from __future__ import annotations

import sys
from typing import Any


def encode(encoding: str) -> Any:
    """Make stdout and stderr write ``encoding``."""
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(encoding=encoding, errors="strict")  # type: ignore[union-attr]
    return dict
