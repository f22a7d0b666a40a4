"""Find hand edits: changes made outside the program that are in no event and no commit yet. Read only.

Hand edits are always allowed: the next write records them as patches. Their actor is ``user`` if a user runs
that command, else ``tool``. The id of such an event is derived from the document, its path and both hashes,
so that the same edit recorded twice is one event. Edits that are committed to git are not logged.
"""

from __future__ import annotations

import os
from functools import cache
from itertools import islice
from typing import TYPE_CHECKING

from thunderus_mem.document.diff import three_way
from thunderus_mem.document.document import MAX_DOCUMENT, content_hash, read_document
from thunderus_mem.errors import NotFound, Refused, ThunderusError
from thunderus_mem.index.database import BATCH
from thunderus_mem.index.refresh import most_lost
from thunderus_mem.log.event import Change, hand_edit_id
from thunderus_mem.log.transitions import happened
from thunderus_mem.memory.past_texts import PastTexts, as_lf
from thunderus_mem.safety.redaction import has_secret
from thunderus_mem.startup import NamedTuple
from thunderus_mem.store.files import ABSENT, read_file
from thunderus_mem.store.paths import kind_of

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping

    from thunderus_mem.git.repository import Git, GitState
    from thunderus_mem.index.log import LogIndex
    from thunderus_mem.log.line import Event
    from thunderus_mem.memory.memory import Memory
    from thunderus_mem.memory.past_texts import UndoTexts
    from thunderus_mem.store.layout import Layout

_MANY = 100


class HandEdit(NamedTuple):
    """A hand edit to record, by the hashes before and after; its diff is computed on demand."""

    path: str
    doc_id: str
    before: str
    after: str
    describe: Callable[[HandEdit], tuple[Change, str | None, str | None]]

    @property
    def change(self) -> Change:
        """The edit as a change for the log, with its diff."""
        return self.describe(self)[0]

    @property
    def texts(self) -> tuple[str | None, str | None]:
        """The texts before and after; ``None`` for no file or an unknown text."""
        return self.describe(self)[1:]

    @property
    def event_id(self) -> str:
        """The id of its event, derived from document, path and hashes."""
        return hand_edit_id(self.doc_id, self.path, self.before, self.after)

    @property
    def patch_id(self) -> str:
        """The id of its patch."""
        return "patch_" + self.event_id.removeprefix("evt_")

    def still_applies(self, layout: Layout) -> bool:
        """Whether the file is unchanged since the edit was found."""
        try:
            now = _bytes_now(layout, self.path)
        except ThunderusError:
            return False
        return (ABSENT if now is None else content_hash(now)) == self.after


class _ChangedFile(NamedTuple):
    """A file that may have been edited: its current hash (``ABSENT``: missing) and document id."""

    path: str
    hash: str
    doc_id: str


def hand_edits(memory: Memory, state: GitState | None) -> tuple[HandEdit, ...]:
    """Return the unrecorded edits of a store, by path; ``state`` is git's state.

    Git lists the documents that differ from HEAD; outside git every document is checked, using the hash in
    the index if its file has not changed since. A removed document that was never committed is found in the
    log of the current session. Only log lines about edits that no hash explains are read.
    """
    layout, log_index = memory.layout, memory.log_index()
    asked = memory.git if state is not None and not state.ignored else None
    if state is not None and asked is not None:
        paths: Iterable[str] = state.changed
    else:
        paths = log_index.unexplained_files(unsettled=True)
    unexplained = list(_unexplained(layout, filter(kind_of, paths), log_index))
    vanished = list(log_index.vanished(_open_shard(state) if asked is not None else None))
    if not unexplained and not vanished:
        return ()
    edited = [one.path for one in unexplained]
    waiting = memory.journal.waiting()
    named = _History(memory, waiting, (), vanished)
    gone = {path for doc_id in vanished if (path := named.path(doc_id))}.difference(edited)
    gone = {path for path in gone if not os.path.lexists(os.path.join(layout.root, path))}
    committed = _committed(asked, [*edited, *gone])
    history = _History(memory, waiting, [*edited, *gone], ())
    finder = _Finder(layout, history, committed, memory.undo_texts)
    edits = [finder.edit(one) for one in unexplained]
    # A committed file that is missing but not reported as changed is excluded by a sparse checkout.
    edits += [finder.removal(path) for path in gone if path not in committed]
    return tuple(sorted((edit for edit in edits if edit is not None), key=lambda edit: edit.path))


def never_logged(memory: Memory) -> tuple[str, ...]:
    """Return the files whose edits are never logged, because a file name may contain a secret."""
    paths = [path for path, _, _ in memory.index.files()]
    return tuple(filter(has_secret, paths)) if has_secret("\n".join(paths)) else ()


def still_unrecorded(memory: Memory, edits: Iterable[HandEdit]) -> list[HandEdit]:
    """Return the edits that are still in no event: another process may have written since."""
    index = memory.log_index()
    return [
        edit
        for edit in edits
        if not (index.explains(edit.after) if edit.after else index.removed(edit.doc_id))
    ]


def _unexplained(layout: Layout, paths: Iterator[str], log_index: LogIndex) -> Iterator[_ChangedFile]:
    """Yield the files whose text no event explains; only such a file is parsed, for its id. Of many files,
    those that are unchanged since the last refresh are not read."""
    while some := list(islice(paths, BATCH)):
        settled = log_index.settled_files(some) if len(some) > _MANY else {}
        for path in some:
            if (known := settled.get(path)) is None:
                changed = _changed_file(layout, path, log_index.explains)
            else:
                changed = None if known.explained else _ChangedFile(path, known.hash, known.doc_id)
            if changed is not None:
                yield changed


def _changed_file(layout: Layout, path: str, explains: Callable[[str], bool]) -> _ChangedFile | None:
    try:
        now = _bytes_now(layout, path)
    except ThunderusError:
        return None  # a link, a device, too large, or no permission: lint reports it, and it is not missing
    text_hash = ABSENT if now is None else content_hash(now)
    return None if text_hash and explains(text_hash) else _ChangedFile(path, text_hash, _doc_id(path, now))


def _open_shard(state: GitState | None) -> str:
    """Return the shard of the current session, "" if git has it already, so that nothing matches."""
    return state.shard if state is not None and not state.shard_known else ""


def _committed(git: Git | None, paths: list[str]) -> dict[str, bytes]:
    if git is None:
        return {}
    names = {path: f"HEAD:{git.prefix}{path}" for path in paths}
    texts = git.blobs(list(names.values()))
    return {path: text for path, name in names.items() if (text := texts[name]) is not None}


class _History:
    """The changes that events made to some paths and documents, in the order of the log.

    Changes that are logged but were aborted, or are not written yet (``waiting``), are left out.
    """

    def __init__(
        self,
        memory: Memory,
        waiting: Collection[tuple[str, str]],
        paths: Iterable[str],
        doc_ids: Iterable[str],
    ) -> None:
        self._by_path: dict[str, list[tuple[Event, Change]]] = {}
        self._paths: dict[str, str] = {}
        # Reads the log now, after the files: the change that made a file's current text is in it.
        for event, changes in happened(memory.events_about(paths, doc_ids)):
            for change in changes:
                if (event.id, change.path) not in waiting:
                    self._by_path.setdefault(change.path, []).append((event, change))
                    self._paths[change.doc_id] = change.path

    def changes(self, path: str) -> list[Change]:
        """Return all changes of a path, oldest first."""
        return [change for _, change in self.made(path)]

    def made(self, path: str) -> list[tuple[Event, Change]]:
        """Return the changes of a path with their events, oldest first."""
        return self._by_path.get(path, [])

    def last_hash(self, path: str) -> str | None:
        """Return the last hash of a path in the log, ``None`` if the log has none."""
        changes = self.changes(path)
        return changes[-1].after if changes else None

    def knows(self, path: str, text_hash: str) -> bool:
        """Whether a text is before or after some event."""
        return any(text_hash in (change.before, change.after) for change in self.changes(path))

    def path(self, doc_id: str) -> str:
        """Return the last path of a document, or ""."""
        return self._paths.get(doc_id, "")

    def doc_id(self, path: str) -> str:
        """Return the id of the last document at a path, or ""."""
        return next((change.doc_id for change in reversed(self.changes(path)) if change.doc_id), "")


class _Finder:
    """Creates the edits for changed files. ``committed`` are their texts in HEAD, ``kept`` those for
    `undo`."""

    def __init__(
        self, layout: Layout, history: _History, committed: Mapping[str, bytes], kept: UndoTexts
    ) -> None:
        self._layout = layout
        self._history = history
        self._committed = committed
        self._kept = kept

    def edit(self, seen: _ChangedFile) -> HandEdit | None:
        """Return the edit of a changed file; ``None`` if its text is already known."""
        committed = self._committed.get(seen.path)
        base = ABSENT if committed is None else content_hash(committed)
        last = self._history.last_hash(seen.path)
        # The text of HEAD is in no event, so the commit is newer than the last event.
        newer = base != ABSENT and not self._history.knows(seen.path, base)
        before = base if last is None or newer else last
        if seen.hash in (before, base):
            return None
        doc_id = seen.doc_id or _doc_id(seen.path, committed) or self._history.doc_id(seen.path)
        return self._create(seen.path, doc_id, before, seen.hash)

    def removal(self, path: str) -> HandEdit | None:
        """Return the removal of a file that was never committed."""
        before = self._history.last_hash(path)
        return self._create(path, self._history.doc_id(path), before, ABSENT) if before else None

    def _create(self, path: str, doc_id: str, before: str, after: str) -> HandEdit | None:
        # Searching is slow: search both at once, then the path only if there is a secret.
        if has_secret(f"{path}\n{doc_id}"):
            if has_secret(path):
                return None
            doc_id = ""
        return HandEdit(path, doc_id, before, after, cache(self._describe))

    def _describe(self, edit: HandEdit) -> tuple[Change, str | None, str | None]:
        data = _bytes_now(self._layout, edit.path) if edit.after != ABSENT else None
        after = data.decode("utf-8", "replace") if data is not None else None
        is_text = after is None or after.encode() == data
        before = self._text_before(edit, after)
        diff = None
        if is_text and (before is not None or edit.before == ABSENT):
            from thunderus_mem.safety.secrets import diff_for_log

            diff = diff_for_log(before, after, edit.path)
        change = Change(
            op="create" if edit.before == ABSENT else "remove" if edit.after == ABSENT else "update",
            doc_id=edit.doc_id,
            path=edit.path,
            before=edit.before,
            after=edit.after,
            diff=diff,
            diff_omitted=diff is None,
        )
        return change, before, after if is_text else None

    def _text_before(self, edit: HandEdit, after: str | None) -> str | None:
        """Return the text with the hash ``edit.before``, with the line ends of the one after it."""
        if edit.before == ABSENT:
            return None
        committed = self._committed.get(edit.path)
        made = self._history.made(edit.path)
        past = PastTexts(
            [change for _, change in made],
            committed.decode("utf-8", "replace") if committed is not None else None,
            lambda: self._kept.of_changes(made),
        )
        text = past.text(edit.before)
        if text is None or after is None or "\r" not in after:
            return text
        return three_way(as_lf(after), after, text) or text


def _doc_id(path: str, data: bytes | None) -> str:
    document = read_document(path, data).document if data is not None else None
    return document.id if document is not None else ""


def _bytes_now(layout: Layout, path: str) -> bytes | None:
    """Return the file's bytes, ``None`` if missing. Raises ``ThunderusError`` if it cannot be read."""
    try:
        return read_file(os.path.join(layout.root, path), MAX_DOCUMENT)
    except NotFound:
        return None


def mass_loss(memory: Memory, edits: Iterable[HandEdit]) -> tuple[HandEdit, ...]:
    """Return the removals among ``edits`` if they are too many to be intended, else none.

    A document that exists in another file does not count as removed.
    """
    index = memory.index
    gone = tuple(edit for edit in edits if edit.after == ABSENT and index.get(edit.doc_id) is None)
    return gone if len(gone) > most_lost(index.count() + len(gone)) else ()


def refusal(gone: int, left: int) -> Refused:
    """Return the error for a mass deletion: e.g. an unmounted folder must not be logged as removals."""
    return Refused(
        f"{gone:,} of {gone + left:,} documents are missing, but no command or commit removed them; "
        "nothing was written",
        hint="restore them; if you deleted them on purpose, commit that or run "
        "`thunderus-mem events record --yes`",
    )
