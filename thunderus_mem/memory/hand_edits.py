"""Edits that people made outside the tool and that neither an event nor a commit explains yet. Read only.

A hand edit never breaks anything: the next writing command records it as a patch of actor ``user``. Its id
is derived from document and both hashes, so that two recordings of one edit are one event. What git has
committed is never logged again; git tells that story.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from thunderus_mem.document.diff import apply_diff, unified_diff
from thunderus_mem.document.document import MAX_DOCUMENT, content_hash, read_document
from thunderus_mem.document.secrets import find_secrets, holds_secret
from thunderus_mem.errors import NotFound, Refused, ThunderusError
from thunderus_mem.index.refresh import most_lost
from thunderus_mem.log.event import Change, changes_of, hand_edit_id
from thunderus_mem.store.files import ABSENT, read_file
from thunderus_mem.store.paths import kind_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from thunderus_mem.git.repository import Git, GitState
    from thunderus_mem.memory.memory import Memory
    from thunderus_mem.store.layout import Layout

_MANY = 100


@dataclass(frozen=True)
class HandEdit:
    """One edit to record, by the hashes it led from and to; its diff is worked out when it is asked for."""

    path: str
    doc_id: str
    before: str
    after: str
    describe: Callable[[HandEdit], Change]

    @cached_property
    def change(self) -> Change:
        """The edit as the log keeps it, with its diff."""
        return self.describe(self)

    @property
    def event_id(self) -> str:
        """The id of its event, which follows from what it did."""
        return hand_edit_id(self.doc_id, self.before, self.after)

    @property
    def patch_id(self) -> str:
        """The id of its patch."""
        return "patch_" + self.event_id.removeprefix("evt_")

    def still_there(self, layout: Layout) -> bool:
        """Whether the file is still as it was when the edit was seen."""
        try:
            now = _bytes_now(layout, self.path)
        except ThunderusError:
            return False
        return (ABSENT if now is None else content_hash(now)) == self.after


class _Seen(NamedTuple):
    """A file that differs: its hash now (``ABSENT``: gone) and the id it has."""

    path: str
    hash: str
    doc_id: str


def hand_edits(memory: Memory, state: GitState | None) -> tuple[HandEdit, ...]:
    """The unrecorded edits of a store, by path; ``state`` is git's answer.

    Git says which documents differ from its newest commit; outside git every document is looked at, by the
    hash the index read unless its file has changed since. A removed one that git never had is known by the
    log of the session that goes on. Of the log only those lines are read that speak of an edit which no hash
    explains.
    """
    layout, log_index = memory.layout, memory.log_index()
    asked = memory.git if state is not None and not state.ignored else None
    if state is not None and asked is not None:
        paths = sorted(filter(kind_of, state.changed))
    else:
        paths = sorted(path for path, _, _ in memory.index.files() if kind_of(path))
    settled = memory.index.settled() if len(paths) > _MANY else {}
    found = (_seen(layout, path, settled.get(path)) for path in paths)
    unexplained = [one for one in found if one and not (one.hash and log_index.explains(one.hash))]
    vanished = list(log_index.vanished(_open_shard(state) if asked is not None else None))
    if not unexplained and not vanished:
        return ()
    edited = [one.path for one in unexplained]
    named = _History(memory, (), vanished)
    gone = {path for doc_id in vanished if (path := named.path(doc_id))}.difference(edited)
    gone = {path for path in gone if not os.path.lexists(os.path.join(layout.root, path))}
    committed = _committed(asked, [*edited, *gone])
    finder = _Finder(layout, _History(memory, [*edited, *gone], ()), committed)
    edits = [finder.edit(one) for one in unexplained]
    # What git has and does not call changed is left out of the working tree on purpose: a sparse checkout.
    edits += [finder.removal(path) for path in gone if path not in committed]
    return tuple(sorted((edit for edit in edits if edit is not None), key=lambda edit: edit.path))


def still_unrecorded(memory: Memory, edits: Iterable[HandEdit]) -> list[HandEdit]:
    """Those of the edits that no event explains now either: another process may have written since."""
    index = memory.log_index()
    return [
        edit
        for edit in edits
        if not (index.explains(edit.after) if edit.after else index.removed(edit.doc_id))
    ]


def _seen(layout: Layout, path: str, settled: tuple[str, str] | None) -> _Seen | None:
    if settled is not None:
        return _Seen(path, *settled)
    try:
        now = _bytes_now(layout, path)
    except ThunderusError:
        return None  # a link, a device, a giant, or no permission: lint says so, and it is not gone
    return _Seen(path, ABSENT if now is None else content_hash(now), _doc_id(path, now))


def _open_shard(state: GitState | None) -> str:
    """The shard of the session that goes on; "" when git has it already, so that nothing can match."""
    return state.shard if state is not None and not state.shard_known else ""


def _committed(git: Git | None, paths: list[str]) -> dict[str, bytes]:
    if git is None:
        return {}
    names = {path: f"HEAD:{git.prefix}{path}" for path in paths}
    texts = git.blobs(list(names.values()))
    return {path: text for path, name in names.items() if (text := texts[name]) is not None}


class _History:
    """What the events about some paths and documents say of each path, in the order of the log."""

    def __init__(self, memory: Memory, paths: Iterable[str], doc_ids: Iterable[str]) -> None:
        self._by_path: dict[str, list[Change]] = {}
        self._paths: dict[str, str] = {}
        # The log is looked at again: what a file shows now was logged before.
        for event in memory.events_about(paths, doc_ids):
            for change in changes_of(event):
                if change.op != "aborted":
                    self._by_path.setdefault(change.path, []).append(change)
                    self._paths[change.doc_id] = change.path

    def changes(self, path: str) -> list[Change]:
        """All changes of a path, oldest first."""
        return self._by_path.get(path, [])

    def last_hash(self, path: str) -> str | None:
        """The hash the log last knew a path by; ``None`` when it never spoke of it."""
        changes = self.changes(path)
        return changes[-1].after if changes else None

    def knows(self, path: str, text_hash: str) -> bool:
        """Whether an event led to a text or started from it."""
        return any(text_hash in (change.before, change.after) for change in self.changes(path))

    def path(self, doc_id: str) -> str:
        """Where a document last was, or ""."""
        return self._paths.get(doc_id, "")

    def doc_id(self, path: str) -> str:
        """The id of the document that was last at a path, or ""."""
        return next((change.doc_id for change in reversed(self.changes(path)) if change.doc_id), "")


class _Finder:
    """Makes edits of files that differ. ``committed`` are the texts that git's newest commit has of them."""

    def __init__(self, layout: Layout, history: _History, committed: Mapping[str, bytes]) -> None:
        self._layout = layout
        self._history = history
        self._committed = committed

    def edit(self, seen: _Seen) -> HandEdit | None:
        """The edit that led to what was seen; ``None`` when it led back to a text that is known."""
        committed = self._committed.get(seen.path)
        base = ABSENT if committed is None else content_hash(committed)
        last = self._history.last_hash(seen.path)
        # A commit that the log knows nothing of came after its last event.
        newer = base != ABSENT and not self._history.knows(seen.path, base)
        before = base if last is None or newer else last
        if seen.hash in (before, base):
            return None
        doc_id = seen.doc_id or _doc_id(seen.path, committed) or self._history.doc_id(seen.path)
        return self._made(seen.path, doc_id, before, seen.hash)

    def removal(self, path: str) -> HandEdit | None:
        """A file that git never had, and that somebody deleted."""
        before = self._history.last_hash(path)
        return self._made(path, self._history.doc_id(path), before, ABSENT) if before else None

    def _made(self, path: str, doc_id: str, before: str, after: str) -> HandEdit | None:
        # Looking costs: once at both, and again only at what holds one.
        if find_secrets(f"{path}\n{doc_id}"):
            if find_secrets(path):
                return None
            doc_id = ""
        return HandEdit(path, doc_id, before, after, self._described)

    def _described(self, edit: HandEdit) -> Change:
        now = _bytes_now(self._layout, edit.path) if edit.after != ABSENT else None
        text_before = _text_before(edit.path, self._committed.get(edit.path), edit.before, self._history)
        diff = _diff(text_before, now, edit.path)
        return Change(
            op="create" if edit.before == ABSENT else "remove" if edit.after == ABSENT else "update",
            doc_id=edit.doc_id,
            path=edit.path,
            before=edit.before,
            after=edit.after,
            diff=diff,
            diff_omitted=diff is None,
        )


def _doc_id(path: str, data: bytes | None) -> str:
    document = read_document(path, data).document if data is not None else None
    return document.id if document is not None else ""


def _diff(before: str | None, now: bytes | None, path: str) -> str | None:
    """The diff, unless the text before is unknown, the text is not UTF-8, or the diff would log a secret."""
    if before is None:
        return None
    try:
        after = None if now is None else now.decode("utf-8")
    except UnicodeDecodeError:
        return None
    if holds_secret(before) or (after is not None and holds_secret(after)):
        return None
    return unified_diff(before or None, after, path)


def _text_before(path: str, committed: bytes | None, before: str, history: _History) -> str | None:
    """The text of hash ``before``: what git has, or what the log's diffs make of it or of nothing."""
    if before == ABSENT:
        return ""
    text = committed.decode("utf-8", "replace") if committed is not None else ""
    if text and content_hash(text) == before:
        return text
    for start in (text.replace("\r\n", "\n"), ""):
        replayed = _replay(start, history.changes(path))
        if replayed is not None and content_hash(replayed) == before:
            return replayed
    return None


def _replay(text: str, changes: Iterable[Change]) -> str | None:
    """Apply the changes that begin at ``text``; ``None`` when a diff is missing or does not fit."""
    current, started = text, False
    for change in changes:
        if not started and change.before != (content_hash(current) if current else ABSENT):
            continue
        started = True
        applied = None if change.diff is None else apply_diff(current, change.diff)
        if applied is None:
            return None
        current = applied
    return current if started else None


def _bytes_now(layout: Layout, path: str) -> bytes | None:
    """The file's bytes, ``None`` when there is none. Raises ``ThunderusError`` when it cannot be told."""
    try:
        return read_file(os.path.join(layout.root, path), MAX_DOCUMENT)
    except NotFound:
        return None


def mass_loss(memory: Memory, edits: Iterable[HandEdit]) -> tuple[HandEdit, ...]:
    """The removals among ``edits`` when they are so many that hardly anybody meant them; else none. A
    document that lives on in another file is not removed."""
    index = memory.index
    gone = tuple(edit for edit in edits if edit.after == ABSENT and index.get(edit.doc_id) is None)
    return gone if len(gone) > most_lost(index.count() + len(gone)) else ()


def refusal(gone: int, left: int) -> Refused:
    """A folder that is not mounted must not be logged as hundreds of removals, nor be written into."""
    return Refused(
        f"{gone:,} of {gone + left:,} documents are gone, and neither a command nor a commit took them away; "
        "nothing was written",
        hint="bring them back; or, if they are meant to be gone, commit that or run "
        "`thunderus-mem record --yes`",
    )
