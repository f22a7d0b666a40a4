"""Git and we write into one working tree: waiting for git, and seeing that what we wrote outlived it.

Git takes its index lock, looks at the files, and then exchanges those that it found unchanged. What is
written between the look and the exchange is gone, and nobody is told. So a write waits for git before it
begins, and before it is acknowledged it is looked for.
"""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING, Final

from thunderus_mem.model.document import content_hash
from thunderus_mem.model.errors import Conflict
from thunderus_mem.store.events import read_last_line
from thunderus_mem.store.files import ABSENT, explain, file_hash
from thunderus_mem.store.paths import inside

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from thunderus_mem.store.git import Git, GitState
    from thunderus_mem.store.staging import Write

__all__ = ["Standstill"]

_PATIENCE: Final = 2.0
_PAUSE: Final = 0.01
_LOOK: Final = "see with `thunderus-mem log` whether it is there, then repeat it"
_IN_A_HOOK: Final = ("GIT_INDEX_FILE", "GIT_DIR")


class Standstill:
    """The moments when git leaves the working tree alone. ``git`` is ``None`` outside a repository."""

    def __init__(self, git: Git | None, environ: Mapping[str, str]) -> None:
        # Inside a hook git waits for us, so we must not wait for it.
        self._git = None if any(environ.get(name) for name in _IN_A_HOOK) else git

    def wait(self) -> bool:
        """Wait a moment for git to let go of its index; whether there was anything to wait for.

        It may be a long ``git add``, which touches no file: then the write goes on without it.
        """
        until = time.monotonic() + _PATIENCE
        waited = False
        while self._git is not None and self._git.index_locked(time.time()) and time.monotonic() < until:
            waited = True
            time.sleep(_PAUSE)
        return waited

    def see(
        self, root: str, shard: str, line: bytes, writes: Sequence[Write], state: GitState | None
    ) -> None:
        """See, once git is done, that a line and the files it speaks of stand where they were written.

        ``state`` is what git said before. Raises ``Conflict`` when git exchanged them meanwhile, and what the
        system says when it does not let us look.
        """
        moved = self.wait() or (self._git is not None and self._git.reflog_size() != _reflog_size(state))
        stands = _end_of(root, shard) == line.rstrip(b"\r\n")
        if stands and (not moved or all(self._stands(root, write) for write in writes)):
            return
        raise Conflict(
            "git exchanged the working tree while this was written",
            hint=_LOOK,
        )

    @staticmethod
    def _stands(root: str, write: Write) -> bool:
        expected = ABSENT if write.after is None else content_hash(write.after)
        return file_hash(inside(root, write.path)) == expected


def _end_of(root: str, shard: str) -> bytes | None:
    """The last line of a shard; ``None`` when the shard is gone."""
    try:
        return read_last_line(os.path.join(root, *shard.split("/")))
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        told = explain(error, shard)
        raise type(told)(str(told), hint=_LOOK) from error


def _reflog_size(state: GitState | None) -> int:
    return state.reflog_size if state is not None else 0
