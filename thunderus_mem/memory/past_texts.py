"""Texts that a document had once, each proved by its hash: by the log's diffs, git, or kept for `undo`.

Reads git and ``.thunderus/local``; writes the latter.
"""

from __future__ import annotations

import json
import os
import re
from contextlib import suppress
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Final, TypeVar

from thunderus_mem.document.diff import apply_diff, lines_of, reversed_diff, three_way
from thunderus_mem.document.document import content_hash
from thunderus_mem.document.secrets import holds_secret
from thunderus_mem.document.timestamp import encode_ulid
from thunderus_mem.errors import ThunderusError
from thunderus_mem.git.history import former_texts
from thunderus_mem.log.line import parse_object
from thunderus_mem.log.reader import Transition, known_texts
from thunderus_mem.store import disk
from thunderus_mem.store.files import read_file, replace_file, sweep

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from datetime import datetime

    from thunderus_mem.git.repository import Git
    from thunderus_mem.log.event import Change


def as_lf(text: str) -> str:
    """The text as the log knows it: every line end LF."""
    return "".join(lines_of(text)) if "\r" in text else text


def text_before(after: str | None, diff: str) -> str | None:
    """What a diff of the log says the text was, with the line ends of the one ``after``.

    ``None`` when the diff is not one of that text.
    """
    now = as_lf(after or "")
    before = apply_diff(now, reversed_diff(diff))
    if before is None or after is None or "\r" not in after:
        return before
    return three_way(now, after, before)


def leads_back(before: str, after: str | None, diff: str | None) -> bool:
    """Whether the logged diff gives back the text before a change to the byte."""
    if diff is None:
        return False
    if "\r" not in before and (after is None or "\r" not in after):
        return True
    return text_before(after, diff) == before


def without_way_back(
    changes: Sequence[Change], texts: Sequence[tuple[str | None, str | None]]
) -> dict[int, str]:
    """Texts before that an event's own diffs do not lead back to, by place; none that holds a secret.

    ``texts`` are those before and after each change, as they are on disk. A document that only moves has its
    text at its new path.
    """
    moved = {change.after for change in changes if change.op == "rename"}
    lost = {
        place: before
        for place, (change, (before, after)) in enumerate(zip(changes, texts, strict=True))
        if before is not None
        and not (change.op == "rename" and change.before in moved)
        and not leads_back(before, after, change.diff)
    }
    return {place: text for place, text in lost.items() if not holds_secret(text)}


class PastTexts:
    """The past texts of one document, with line ends as LF, worked out when first asked for.

    ``changes`` are those of the log; ``now`` its text. ``elsewhere`` gives texts by hash from outside the log
    (what git has, say), and is asked only when the log alone does not lead there.
    """

    def __init__(
        self, changes: Iterable[Change], now: str | None, elsewhere: Callable[[], Mapping[str, str]]
    ) -> None:
        self._transitions = [
            Transition("", at, one.doc_id, one.path, one.before, one.after, one.before, one.diff)
            for at, one in enumerate(changes)
        ]
        self._elsewhere = elsewhere
        self._asked = False
        self._known = {} if now is None else {content_hash(now): as_lf(now)}

    def text(self, wanted: str) -> str | None:
        """The text of this hash; ``None`` when it is nowhere any more."""
        if wanted not in self._known:
            self._known = known_texts(self._transitions, self._known)
        if wanted not in self._known and not self._asked:
            self._asked = True
            self._known = known_texts(self._transitions, {**self._elsewhere(), **self._known})
        return self._known.get(wanted)


Result = TypeVar("Result")


class CommittedTexts:
    """The texts that git has of some paths, for whoever holds the lock, which is never held over git.

    `texts` gives up an attempt that needs a path git was not asked for; `fetching` then asks git, without the
    lock, and makes the next attempt. ``git`` is ``None`` outside a repository.
    """

    def __init__(self, git: Git | None) -> None:
        self._git = git
        self._asked: set[str] = set()
        self._texts: dict[str, str] = {}

    def texts(self, paths: Iterable[str]) -> dict[str, str]:
        """Every text known, by hash, when the paths are among those that git was asked about."""
        missing = set(paths) - self._asked
        if missing and self._git is not None:
            raise _NotFetched(tuple(sorted(missing)))
        return self._texts

    def fetching(self, attempt: Callable[[], Result]) -> Result:
        """The attempt's result; what it needs from git is fetched between two attempts."""
        while True:
            try:
                return attempt()
            except _NotFetched as needed:
                self._fetch(needed.paths)

    def _fetch(self, paths: tuple[str, ...]) -> None:
        self._asked.update(paths)
        for data in former_texts(self._git, paths) if self._git is not None else ():
            with suppress(UnicodeDecodeError):
                text = data.decode("utf-8")
                self._texts[content_hash(text)] = as_lf(text)


class _NotFetched(Exception):
    """Texts that git may have are needed, of these paths."""

    def __init__(self, paths: tuple[str, ...]) -> None:
        super().__init__(paths)
        self.paths = paths


CAP: Final = 32 << 20
"""Bytes all kept texts may have together."""
DAYS: Final = 90
"""Days a kept text stays."""
_NAME: Final = re.compile(r"(evt_[0-9A-HJKMNP-TV-Z]{26})\.json", re.ASCII)


class UndoTexts:
    """Texts that the log has no way back to, kept in one working tree, in the absolute ``folder``.

    One file an event, named after it: the texts before its changes, by their place in the event. Only what
    the diffs of the log do not lead back to is there (they were too long, or write line ends as LF), and
    never a text that holds a secret. Old files go, and the oldest when there are too many; nothing but `undo`
    depends on them. Writing is for who holds the lock.
    """

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._last: tuple[str, dict[str, Any]] = ("", {})

    def _file(self, event_id: str) -> str | None:
        name = f"{event_id}.json"
        return os.path.join(self._folder, name) if _NAME.fullmatch(name) else None

    def keep(self, event_id: str, texts: Mapping[int, str], now: datetime) -> bool:
        """Keep texts by their place in the event; says whether they are kept. Never raises for the disk."""
        path = self._file(event_id)
        data = json.dumps({str(place): text for place, text in texts.items()}, ensure_ascii=False).encode()
        if path is None or len(data) > CAP:
            return False
        try:
            replace_file(path, data)
        except ThunderusError:
            return False
        self._clear(now)
        return True

    def read(self, event_id: str, place: int) -> str | None:
        """The text before the change at this place of the event; ``None`` when none was kept."""
        if self._last[0] != event_id:
            path = self._file(event_id)
            try:
                texts = parse_object(read_file(path, CAP), CAP) if path is not None else {}
            except (ThunderusError, ValueError):
                texts = {}
            self._last = (event_id, texts)
        text = self._last[1].get(str(place))
        return text if isinstance(text, str) else None

    def _clear(self, now: datetime) -> None:
        """Take away what is too old and, while there is too much, the oldest."""
        sweep(self._folder)
        eldest = max(int((now - timedelta(days=DAYS)).timestamp() * 1000), 0)
        first = f"evt_{encode_ulid(eldest, 0)}.json"
        room = CAP
        with suppress(OSError):
            for name in sorted(filter(_NAME.fullmatch, os.listdir(self._folder)), reverse=True):
                path = os.path.join(self._folder, name)
                room -= os.lstat(path).st_size
                if room < 0 or name < first:
                    disk.unlink(path)
