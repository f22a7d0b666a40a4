"""The generation of an index: which paths and texts it agrees with, as one short word.

It is a sum over all files, so that one changed file costs one hash and the order of changes does not matter.
"""

from __future__ import annotations

from hashlib import sha256
from typing import Final

from thunderus_mem.projection.damage import Damaged

_SPACE: Final = 1 << 64


class Drift:
    """How far changes of files move a generation."""

    def __init__(self) -> None:
        self._sum = 0

    def came(self, path: str, content_hash: str) -> None:
        """A file with this text is there now."""
        self._sum += _worth(path, content_hash)

    def went(self, path: str, content_hash: str) -> None:
        """A file with this text is there no more."""
        self._sum -= _worth(path, content_hash)

    def applied(self, generation: str) -> str:
        """The generation after the changes; "" stands for that of no files. Raises ``Damaged``."""
        try:
            before = int(generation or "0", 16)
        except ValueError:
            raise Damaged("its generation is none") from None
        return f"{(before + self._sum) % _SPACE:016x}"


def _worth(path: str, content_hash: str) -> int:
    return int.from_bytes(sha256(f"{path}\0{content_hash}".encode()).digest()[:8], "big")
