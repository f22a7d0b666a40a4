"""Which shard to write: a session is what one working tree writes on top of one HEAD.

It ends when HEAD moved, when ``logs/HEAD`` changed size, when git's index has its shard, or when the shard's
last line is not the one this tree wrote (or this tree is a copy of the one that wrote). So a shard that git
knows is never written again, and every merge only adds or drops whole files. Outside git a session is a day.
The state is this tree's own and disposable: whatever is wrong with it, a new session starts.
"""

from __future__ import annotations

import json
import os
from contextlib import suppress
from datetime import UTC
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from thunderus_mem.errors import ThunderusError
from thunderus_mem.log.line import line_hash, parse_object
from thunderus_mem.log.reader import SHARD_NAME, last_line, open_regular
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

    ``shard`` takes what is committed, ``local_shard`` what stays private; both root-relative. The next line
    of ``shard`` carries ``prev_line_hash`` as ``prev``; the first one ``head_hint`` as ``head``: the newest
    line of the newest other shard. ``base`` is what it stands on: head and reflog size, or the day.
    """

    id: str
    shard: str
    local_shard: str
    prev_line_hash: str | None
    head_hint: str | None
    base: tuple[str, int]


def _machine() -> str:
    return os.uname().nodename if hasattr(os, "uname") else os.environ.get("COMPUTERNAME", "")


class Sessions:
    """The session of one working tree. ``sessions_dir`` and ``local_dir`` are absolute, below ``root``."""

    def __init__(self, root: str, sessions_dir: str, local_dir: str) -> None:
        self._root = root
        self._sessions_dir = sessions_dir
        self._local_sessions_dir = os.path.join(local_dir, "sessions")
        self._state_file = os.path.join(local_dir, STATE_NAME)
        # A copy of the whole folder, on another path or machine, must not go on in the same shard.
        self._place = f"{_machine()}:{os.path.realpath(root)}"
        # One command writes the state with every event, and waits once for a program that has it open.
        self._pauses = iter(PAUSES)

    def _relative(self, *parts: str) -> str:
        return os.path.relpath(os.path.join(*parts), self._root).replace(os.sep, "/")

    def _absolute(self, shard: str) -> str:
        return os.path.join(self._root, *shard.split("/"))

    def _state(self) -> dict[str, Any]:
        """The stored state; empty when there is none that can be used."""
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
        # The path is made from the id, so the id must be a plain name.
        plain = session_id.replace("_", "").replace("-", "")
        return state if session_id.startswith("sess_") and plain.isascii() and plain.isalnum() else {}

    def known_shard(self) -> str:
        """The shard of the last session, to ask git about; "" when there is none."""
        session_id = self._state().get("session_id")
        return self._relative(self._sessions_dir, session_id, SHARD_NAME) if session_id else ""

    def own(self) -> frozenset[str]:
        """The ids of the last sessions this working tree is known to have written."""
        state = self._state()
        return frozenset([*_earlier(state), state["session_id"]]) if state else frozenset()

    def ask(self, git: Git | None, memory_dir: str) -> GitState | None:
        """Ask git once, before the lock is taken. ``memory_dir`` is root-relative."""
        return git.state(self.known_shard(), memory_dir) if git else None

    def still_holds(self, git: Git | None, state: GitState | None) -> bool:
        """Under the lock: whether git's answer is still true.

        It is not when ``logs/HEAD`` changed size since, or another process began another session.
        """
        if git is None or state is None:
            return True
        return git.reflog_size() == state.reflog_size and self.known_shard() == state.shard

    def last_written(self) -> tuple[str, str]:
        """What this tree wrote last, as session and hash of its line: moves with every write."""
        state = self._state()
        return str(state.get("session_id") or ""), str(state.get("last_line") or "")

    def current(self, git: GitState | None, now: datetime, new_id: Callable[[str], str]) -> Session:
        """The session to write in, under the lock; nothing is written. ``new_id("sess")`` makes an id."""
        if git is None or git.ignored:
            base = (f"{_OUTSIDE} {now.astimezone(UTC):%Y-%m-%d}", 0)
        else:
            base = (git.head or "", git.reflog_size)
        state = self._state()
        same_base = [state.get("head"), state.get("reflog_size")] == list(base)
        if same_base and not (git and git.shard_known and self.known_shard() == git.shard):
            going = self._going_on(state, base)
            if going is not None:
                return going
        session_id = new_id("sess")
        while os.path.lexists(os.path.join(self._sessions_dir, session_id)):
            session_id = new_id("sess")
        return self._session(session_id, base, None, self._newest_head())

    def _going_on(self, state: dict[str, Any], base: tuple[str, int]) -> Session | None:
        """The stored session, when its shard still ends with the line this tree wrote."""
        session_id, written = state["session_id"], state.get("last_line")
        path = os.path.join(self._sessions_dir, session_id, SHARD_NAME)
        if written is None and not _has_bytes(path):
            return self._session(session_id, base, None, self._newest_head())
        line = last_line(path)
        if line is None or line_hash(line) != written:
            return None
        return self._session(session_id, base, written, None)

    def _session(self, session_id: str, base: tuple[str, int], prev: str | None, hint: str | None) -> Session:
        return Session(
            id=session_id,
            shard=self._relative(self._sessions_dir, session_id, SHARD_NAME),
            local_shard=self._relative(self._local_sessions_dir, session_id, SHARD_NAME),
            prev_line_hash=prev,
            head_hint=hint,
            base=base,
        )

    def _newest_head(self) -> str | None:
        """The last line of the newest shard, by its session id, that has one."""
        try:
            names = sorted(os.listdir(self._sessions_dir), reverse=True)
        except OSError:
            return None
        for name in names:
            line = last_line(os.path.join(self._sessions_dir, name, SHARD_NAME))
            if line is not None:
                return line_hash(line)
        return None

    def begin(self, session: Session) -> None:
        """Remember a session before its first line is written, so that a torn one is found and mended."""
        if session.prev_line_hash is None:
            self._remember(session, None, durable=True)

    def wrote(self, session: Session, line: bytes, *, private: bool = False) -> None:
        """Remember that ``line`` is now the last one of the session's shard.

        ``private``: it went to ``local_shard``, and ``shard`` is as it was.
        """
        self._remember(session, session.prev_line_hash if private else line_hash(line))

    def _remember(self, session: Session, last_line: str | None, *, durable: bool = False) -> None:
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
        # A state that cannot be written costs a new session, nothing more.
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
