"""How wide the terminal behind a stream is."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final, TextIO

if TYPE_CHECKING:
    from collections.abc import Mapping

_USUAL: Final = 80


def columns(stream: TextIO, environ: Mapping[str, str]) -> int:
    """Columns for what a stream prints: ``COLUMNS`` where that is a number above 0, else what the terminal
    behind the stream says, else 80."""
    try:
        given = int(environ.get("COLUMNS", ""))
    except ValueError:
        given = 0
    if given > 0:
        return given
    try:
        return os.get_terminal_size(stream.fileno()).columns or _USUAL
    except (OSError, ValueError):
        return _USUAL
