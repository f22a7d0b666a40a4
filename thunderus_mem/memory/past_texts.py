"""The present text of a document, and earlier ones, each verified by its hash.

Earlier texts are restored from the log's diffs, from git, or from those kept for `undo`. Reads git
and ``.thunderus/local``; writes the latter.
"""

from __future__ import annotations

import json
import os
import re
import zlib
from contextlib import suppress
from datetime import timedelta
from typing import TYPE_CHECKING, Final, TypeVar

from thunderus_mem.document.diff import apply_diff, lines_of, reversed_diff, three_way
from thunderus_mem.document.document import MAX_DOCUMENT, content_hash
from thunderus_mem.document.timestamp import encode_ulid
from thunderus_mem.errors import Conflict, NotFound, ThunderusError
from thunderus_mem.log.line import parse_object
from thunderus_mem.log.transitions import Transition, known_texts
from thunderus_mem.startup import lazy_pattern
from thunderus_mem.store import disk
from thunderus_mem.store.files import read_file, replace_file, sweep
from thunderus_mem.store.paths import inside

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from datetime import datetime

    from thunderus_mem.git.repository import Git
    from thunderus_mem.log.event import Change
    from thunderus_mem.log.line import Event


def text_at(root: str, path: str) -> str | None:
    """Return the text of a file, ``None`` if it does not exist. Raises `Conflict` if it is not UTF-8."""
    try:
        return read_file(inside(root, path), MAX_DOCUMENT).decode("utf-8")
    except NotFound:
        return None
    except UnicodeDecodeError as error:
        raise Conflict(
            f"{path} is not UTF-8 text", hint=f"fix it first; see `thunderus-mem lint {path}`"
        ) from error


def as_lf(text: str) -> str:
    """Return the text with LF line ends, as in the log."""
    return "".join(lines_of(text)) if "\r" in text else text


def text_before(after: str | None, diff: str) -> str | None:
    """Reverse a diff of the log on ``after``, keeping its line ends.

    ``None`` if the diff does not apply.
    """
    now = as_lf(after or "")
    before = apply_diff(now, reversed_diff(diff))
    if before is None or after is None or "\r" not in after:
        return before
    return three_way(now, after, before)


def can_restore(before: str, after: str | None, diff: str | None) -> bool:
    """Whether the logged diff restores the exact text before a change."""
    if diff is None:
        return False
    if "\r" not in before and (after is None or "\r" not in after):
        return True
    return text_before(after, diff) == before


def unrestorable(
    changes: Sequence[Change], texts: Sequence[tuple[str | None, str | None]]
) -> tuple[list[str], list[str]]:
    """Return the old and the new texts that an event's diffs cannot restore; none that contains a secret.

    ``texts`` are the texts on disk before and after each change. The old text of a moved document is at its
    new path. A new text is on disk, but the next edit by hand replaces it.
    """
    moved = {change.after for change in changes if change.op == "rename"}
    lost = [
        before
        for change, (before, after) in zip(changes, texts, strict=True)
        if before is not None
        and not (change.op == "rename" and change.before in moved)
        and not can_restore(before, after, change.diff)
    ]
    fresh = [
        after
        for change, (_, after) in zip(changes, texts, strict=True)
        if after is not None and change.diff is None
    ]
    from thunderus_mem.safety.secrets import holds_secret

    old, new = ([text for text in found if not holds_secret(text)] for found in (lost, fresh))
    return old, new


class PastTexts:
    """The past texts of one document, with LF line ends, computed on demand.

    ``changes`` are those of the log; ``now`` is its current text. Each of ``elsewhere`` returns texts by hash
    from outside the log, e.g. from git; it is called only if the log and those before it are not sufficient.
    """

    def __init__(
        self, changes: Iterable[Change], now: str | None, *elsewhere: Callable[[], Mapping[str, str]]
    ) -> None:
        self._transitions = [
            Transition("", at, one.doc_id, one.path, one.before, one.after, one.before, one.diff)
            for at, one in enumerate(changes)
        ]
        self._elsewhere = list(elsewhere)
        self._known = {} if now is None else {content_hash(now): as_lf(now)}

    def text(self, wanted: str) -> str | None:
        """Return the text with this hash, ``None`` if it cannot be restored."""
        if wanted not in self._known:
            self._known = known_texts(self._transitions, self._known)
        while wanted not in self._known and self._elsewhere:
            found = self._elsewhere.pop(0)()
            self._known = known_texts(self._transitions, {**found, **self._known})
        return self._known.get(wanted)


Result = TypeVar("Result")


class CommittedTexts:
    """The committed texts of some paths, for code under the lock, which must not wait for git.

    `texts` aborts an attempt that needs a path not fetched yet; `fetching` then fetches it without the lock
    and retries. ``git`` is ``None`` outside a repository.
    """

    def __init__(self, git: Git | None) -> None:
        self._git = git
        self._asked: set[str] = set()
        self._texts: dict[str, str] = {}

    def texts(self, paths: Iterable[str]) -> dict[str, str]:
        """Return all known texts by hash; abort the attempt if a path was not fetched yet."""
        missing = set(paths) - self._asked
        if missing and self._git is not None:
            raise _NotFetched(tuple(sorted(missing)))
        return self._texts

    def fetching(self, attempt: Callable[[], Result]) -> Result:
        """Return the attempt's result; fetch what it needs from git between attempts."""
        while True:
            try:
                return attempt()
            except _NotFetched as needed:
                self._fetch(needed.paths)

    def _fetch(self, paths: tuple[str, ...]) -> None:
        from thunderus_mem.git.history import former_texts

        self._asked.update(paths)
        for data in former_texts(self._git, paths) if self._git is not None else ():
            with suppress(UnicodeDecodeError):
                text = data.decode("utf-8")
                self._texts[content_hash(text)] = as_lf(text)


class _NotFetched(Exception):
    """Texts of these paths must be fetched from git."""

    def __init__(self, paths: tuple[str, ...]) -> None:
        super().__init__(paths)
        self.paths = paths


CAP: Final = 256 << 20
"""Maximum total size of kept texts in bytes, compressed; also of one file, uncompressed."""
DAYS: Final = 90
"""Days after which a kept text is deleted."""
_CACHED: Final = 4
_NAME: Final = lazy_pattern(r"(evt_[0-9A-HJKMNP-TV-Z]{26})\.json", re.ASCII)


class UndoTexts:
    """Texts that the log cannot restore, kept in one working tree in the absolute ``folder``.

    One file per event, named after it: the texts before and after its changes. Only texts that the log's
    diffs cannot restore (too long, or line ends other than LF), and none that contains a secret. Old files
    are deleted, and the oldest if there are too many. Write only under the lock.
    """

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._read: dict[str, dict[str, str]] = {}

    def _file(self, event_id: str) -> str | None:
        name = f"{event_id}.json"
        return os.path.join(self._folder, name) if _NAME.fullmatch(name) else None

    def keep(self, event_id: str, texts: Sequence[str], now: datetime) -> bool:
        """Keep texts of an event; return whether they were written. Of texts with the same hash, `texts`
        returns the first. Never raises."""
        path = self._file(event_id)
        data = json.dumps(dict(enumerate(texts)), ensure_ascii=False).encode()
        data = zlib.compress(data, 1)
        if path is None or len(data) > CAP:
            return False
        try:
            replace_file(path, data)
        except ThunderusError:
            return False
        self._clear(now)
        return True

    def texts(self, event_id: str) -> Mapping[str, str]:
        """Return the texts kept of an event, by their hashes."""
        if event_id not in self._read:
            if len(self._read) == _CACHED:
                self._read.clear()
            path = self._file(event_id)
            texts = _texts_in(path) if path is not None else ()
            self._read[event_id] = {content_hash(text): text for text in reversed(texts)}
        return self._read[event_id]

    def of_changes(self, made: Iterable[tuple[Event, Change]]) -> dict[str, str]:
        """Return the texts kept of some changes, with LF line ends, by their hashes."""
        return {
            text_hash: as_lf(kept[text_hash])
            for event, change in made
            if (kept := self.texts(event.id))
            for text_hash in (change.before, change.after)
            if text_hash in kept
        }

    def _clear(self, now: datetime) -> None:
        """Delete old files, then the oldest while there are too many."""
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


def _texts_in(path: str) -> list[str]:
    """The texts in a file; none if it is missing or damaged. Earlier versions did not compress it."""
    try:
        data = read_file(path, CAP)
        if not data.startswith(b"{"):
            data = zlib.decompressobj().decompress(data, CAP)
        return [text for text in parse_object(data, CAP).values() if isinstance(text, str)]
    except (ThunderusError, ValueError, zlib.error):
        return []
