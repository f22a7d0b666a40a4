"""One line of progress on stderr: for long work, on a terminal, and gone when the work is done."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from typing import TextIO

_PATIENCE: Final = 0.5
_PAUSE: Final = 0.1


class Progress:
    """Called with what is done of how much; draws only when the work has lasted half a second."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._began = 0.0
        self._drawn = 0.0
        self._what = ""

    def __call__(self, what: str, done: int, total: int) -> None:
        """Tell that ``done`` of ``total`` files have had ``what`` done to them."""
        now = time.monotonic()
        if what != self._what:
            self.clear()
            self._what, self._began = what, now
        if now - self._began >= _PATIENCE and now - self._drawn >= _PAUSE:
            self._drawn = now
            self._put(f"\r{what} {done:,} of {total:,}\x1b[K")

    def clear(self) -> None:
        """Take the line away, when there is one."""
        if self._drawn:
            self._drawn = 0.0
            self._put("\r\x1b[K")

    def _put(self, text: str) -> None:
        try:
            self._stream.write(text)
            self._stream.flush()
        except (OSError, ValueError):
            self._began = float("inf")
