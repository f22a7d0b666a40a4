"""Reads many objects of git through one process, one after another, as they turn out to be needed."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from subprocess import Popen
    from types import TracebackType

    from thunderus_mem.git.repository import Git

_TIMEOUT: Final = 30.0
_PIECE: Final = 1 << 16


class ObjectReader:
    """``git cat-file --batch``, started at the first question. Close it, or use it as a context.

    Objects of more than ``limit`` bytes are passed over: their text comes back as ``None``.
    """

    def __init__(self, git: Git, limit: int = 4 << 20) -> None:
        self._git = git
        self._limit = limit
        self._process: Popen[bytes] | None = None
        self._rest = b""
        self._failed = False

    def __enter__(self) -> ObjectReader:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def read(self, revision: str, path: str) -> bytes | None:
        """The file at a root-relative path in a commit, or in the index (``""``); ``None``: not there."""
        return self._object(f"{revision}:{self._git.prefix}{path}")

    def _object(self, name: str) -> bytes | None:
        if self._failed or "\n" in name or "\0" in name:
            return None
        process = self._started()
        if process is None or process.stdin is None:
            return None
        try:
            process.stdin.write(name.encode("utf-8", "surrogateescape") + b"\n")
            process.stdin.flush()
            return self._answer(process)
        except OSError:
            self._failed = True
            return None

    def _started(self) -> Popen[bytes] | None:
        if self._process is None:
            self._process = self._git.start("cat-file", "--batch")
            self._failed = self._process is None
        return self._process

    def _answer(self, process: Popen[bytes]) -> bytes | None:
        header = self._until_line(process)
        words = header.rsplit(b" ", 2)
        if len(words) != 3 or not words[2].isdigit():
            return None
        size = int(words[2])
        data = self._take(process, size + 1, keep=size <= self._limit)
        return data[:-1] if words[1] == b"blob" and size <= self._limit else None

    def _until_line(self, process: Popen[bytes]) -> bytes:
        while b"\n" not in self._rest:
            self._rest += self._more(process)
        line, _, self._rest = self._rest.partition(b"\n")
        return line

    def _take(self, process: Popen[bytes], size: int, *, keep: bool) -> bytes:
        pieces, missing = [self._rest[:size]], size - len(self._rest)
        self._rest = self._rest[size:]
        while missing > 0:
            piece = self._more(process)
            if keep:
                pieces.append(piece[:missing])
            self._rest = piece[missing:] if len(piece) > missing else b""
            missing -= len(piece)
        return b"".join(pieces)

    def _more(self, process: Popen[bytes]) -> bytes:
        """The next bytes of the answer. Raises ``OSError`` when git ends or is silent for half a minute."""
        import select

        assert process.stdout is not None
        ready, _, _ = select.select([process.stdout], [], [], _TIMEOUT)
        piece = os.read(process.stdout.fileno(), _PIECE) if ready else b""
        if not piece:
            raise TimeoutError("git did not answer")
        return piece

    def close(self) -> None:
        """End the process."""
        process, self._process = self._process, None
        self._failed = True
        if process is None:
            return
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                try:
                    pipe.close()
                except OSError:  # git has gone before us
                    continue
        try:
            process.wait(timeout=1)
        except Exception:  # noqa: BLE001 - whatever keeps it: it must not outlive us
            process.kill()
            process.wait()
