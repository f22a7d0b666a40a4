"""Choose the shard to write: a session is the writes of one working tree on top of one HEAD.

A session ends when HEAD moves, when ``logs/HEAD`` changes size, when git's index contains its shard, or when
the shard's last line was not written by this tree (e.g. this tree is a copy). So a shard that git knows is
never written again, and merges only add or drop whole files. Outside git a session is a day. The state is
local to this tree and disposable: if it is invalid, a new session starts.
"""

from __future__ import annotations

import json
import os
from contextlib import suppress
from datetime import UTC
from typing import TYPE_CHECKING, Any, Final

from thunderus_mem.errors import ThunderusError
from thunderus_mem.log.line import line_hash, parse_object
from thunderus_mem.log.reader import SHARD_NAME, last_line, open_regular
from thunderus_mem.startup import NamedTuple
from thunderus_mem.store.disk import PAUSES

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from thunderus_mem.git.repository import Git, GitState

STATE_NAME: Final = "session.json"
_STATE_LIMIT: Final = 64 * 1024
_VERSION: Final = 1
_OUTSIDE: Final = "outside"
_REMEMBERED: Final = 500


class Session(NamedTuple):
    """Where the next event goes.

    ``shard`` is that of committed events, root-relative. Its next line gets ``prev_line_hash`` as ``prev``,
    ``None`` for the first one. ``base`` is HEAD and reflog size, or the day.
    """

    id: str
    shard: str
    prev_line_hash: str | None
    base: tuple[str, int]


def _machine() -> str:
    return os.uname().nodename if hasattr(os, "uname") else os.environ.get("COMPUTERNAME", "")


class Sessions:
    """The session of one working tree. ``sessions_dir`` and ``local_dir`` are absolute, below ``root``."""

    def __init__(self, root: str, sessions_dir: str, local_dir: str) -> None:
        self._root = root
        self._sessions_dir = sessions_dir
        self._state_file = os.path.join(local_dir, STATE_NAME)
        # A copy of the folder, at another path or on another machine, must not continue the same shard.
        self._place = f"{_machine()}:{os.path.realpath(root)}"
        # A command writes the state with every event, but waits only once for a program that has it open.
        self._pauses = iter(PAUSES)

    def _relative(self, *parts: str) -> str:
        return os.path.relpath(os.path.join(*parts), self._root).replace(os.sep, "/")

    def _absolute(self, shard: str) -> str:
        return os.path.join(self._root, *shard.split("/"))

    def _state(self) -> dict[str, Any]:
        """Return the stored state, empty if missing or invalid."""
        try:
            with open(open_regular(self._state_file), "rb") as file:
                state = parse_object(file.read(_STATE_LIMIT + 1), _STATE_LIMIT)
        except (OSError, ValueError):
            return {}
        session_id = state.get("session_id")
        if state.get("version") != _VERSION or state.get("place") != self._place:
            return {}
        if not isinstance(session_id, str):
            return {}
        # The id becomes part of a path, so it must be a plain name.
        plain = session_id.replace("_", "").replace("-", "")
        return state if session_id.startswith("sess_") and plain.isascii() and plain.isalnum() else {}

    def known_shard(self) -> str:
        """Return the shard of the last session, "" if none."""
        session_id = self._state().get("session_id")
        return self._relative(self._sessions_dir, session_id, SHARD_NAME) if session_id else ""

    def own(self) -> frozenset[str]:
        """Return the ids of the last sessions written by this working tree."""
        state = self._state()
        return frozenset([*_earlier(state), state["session_id"]]) if state else frozenset()

    def ask(self, git: Git | None, memory_dir: str) -> GitState | None:
        """Ask git for its state once, before taking the lock. ``memory_dir`` is root-relative."""
        return git.state(self.known_shard(), memory_dir) if git else None

    def still_holds(self, git: Git | None, state: GitState | None) -> bool:
        """Under the lock: whether git's answer is still valid.

        It is not if ``logs/HEAD`` changed size since, or another process began another session.
        """
        if git is None or state is None:
            return True
        return git.reflog_size() == state.reflog_size and self.known_shard() == state.shard

    def last_written(self) -> tuple[str, str]:
        """Return session and line hash of this tree's last write: changes with every write."""
        state = self._state()
        return str(state.get("session_id") or ""), str(state.get("last_line") or "")

    def current(self, git: GitState | None, now: datetime, new_id: Callable[[str], str]) -> Session:
        """Return the session to write, under the lock, without writing. ``new_id("sess")`` creates an id."""
        if git is None or git.ignored:
            base = (f"{_OUTSIDE} {now.astimezone(UTC):%Y-%m-%d}", 0)
        else:
            base = (git.head or "", git.reflog_size)
        state = self._state()
        same_base = [state.get("head"), state.get("reflog_size")] == list(base)
        if same_base and not (git and git.shard_known and self.known_shard() == git.shard):
            resumed = self._resumed(state, base)
            if resumed is not None:
                return resumed
        session_id = new_id("sess")
        while os.path.lexists(os.path.join(self._sessions_dir, session_id)):
            session_id = new_id("sess")
        return self._session(session_id, base, None)

    def _resumed(self, state: dict[str, Any], base: tuple[str, int]) -> Session | None:
        """Return the stored session if its shard still ends with the line this tree wrote."""
        session_id, written = state["session_id"], state.get("last_line")
        path = os.path.join(self._sessions_dir, session_id, SHARD_NAME)
        if written is None and not _has_bytes(path):
            return self._session(session_id, base, None)
        line = last_line(path)
        if line is None or line_hash(line) != written:
            return None
        return self._session(session_id, base, written)

    def _session(self, session_id: str, base: tuple[str, int], prev: str | None) -> Session:
        return Session(
            id=session_id,
            shard=self._relative(self._sessions_dir, session_id, SHARD_NAME),
            prev_line_hash=prev,
            base=base,
        )

    def begin(self, session: Session) -> None:
        """Store a session before its first line is written, so that a torn line is found and repaired."""
        if session.prev_line_hash is None:
            self._store_state(session, None, durable=True)

    def wrote(self, session: Session, line: bytes, *, private: bool = False) -> None:
        """Store that ``line`` is now the last one of the session's shard.

        ``private``: it was appended to a private shard; ``shard`` is unchanged.
        """
        self._store_state(session, session.prev_line_hash if private else line_hash(line))

    def _store_state(self, session: Session, last_line: str | None, *, durable: bool = False) -> None:
        from thunderus_mem.store.files import replace_file

        before = self._state()
        earlier = [id for id in (*_earlier(before), before.get("session_id")) if id not in (None, session.id)]
        state = {
            "version": _VERSION,
            "place": self._place,
            "session_id": session.id,
            "head": session.base[0],
            "reflog_size": session.base[1],
            "last_line": last_line,
            "earlier": earlier[-_REMEMBERED:],
        }
        data = json.dumps(state, indent=1, sort_keys=True).encode() + b"\n"
        # If the state cannot be written, only a new session starts.
        with suppress(ThunderusError):
            replace_file(self._state_file, data, durable=durable, pauses=self._pauses)


def _earlier(state: dict[str, Any]) -> list[str]:
    listed = state.get("earlier")
    return [id for id in listed if isinstance(id, str)] if isinstance(listed, list) else []


def _has_bytes(path: str) -> bool:
    try:
        return os.lstat(path).st_size > 0
    except OSError:
        return False
