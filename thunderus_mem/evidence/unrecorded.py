"""Edits that people made outside the tool and that neither an event nor a commit explains yet.

A hand edit never breaks anything: the next writing command records it as a patch of actor ``user``. Its id
is derived from document and both hashes, so that two recordings of one edit are one event. What git has
committed is never logged again; git tells that story.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from thunderus_mem.model.document import MAX_DOCUMENT, content_hash, read_document
from thunderus_mem.model.errors import NotFound, ThunderusError
from thunderus_mem.model.event import Change, changes_of, hand_edit_id, unified_diff
from thunderus_mem.model.patch import apply_diff
from thunderus_mem.model.secrets import find_secrets, holds_secret
from thunderus_mem.store.files import ABSENT, read_file

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from thunderus_mem.model.event import Event
    from thunderus_mem.store.git import Git, GitState
    from thunderus_mem.store.layout import Layout


class HandEdit(NamedTuple):
    """One edit to record: the change, and ids that follow from it."""

    change: Change
    event_id: str
    patch_id: str

    def still_there(self, layout: Layout) -> bool:
        """Whether the file is still as it was when the edit was seen."""
        try:
            now = _bytes_now(layout, self.change.path)
        except ThunderusError:
            return False
        return (ABSENT if now is None else content_hash(now)) == self.change.after


class Known(NamedTuple):
    """What the projections know, asked for as it is needed.

    ``paths`` lists the files of all documents; ``explains`` tells whether some event led to a text of that
    hash; ``vanished`` names documents whose file is gone, by the given shard or by any; ``told`` gives the
    events about some paths and documents, in the order of the log.
    """

    paths: Callable[[], Iterable[str]]
    explains: Callable[[str], bool]
    vanished: Callable[[str | None], Iterable[str]]
    told: Callable[[Iterable[str], Iterable[str]], Iterable[Event]]


def hand_edits(layout: Layout, known: Known, git: Git | None, state: GitState | None) -> tuple[HandEdit, ...]:
    """The unrecorded edits of a store, by path.

    Git says which documents differ from its newest commit; outside git every document is looked at. A
    removed one that git never had is known by the log of the session that goes on. Of the log only those
    lines are read that speak of an edit which no hash explains.
    """
    asked = git if state is not None and not state.ignored else None
    seen = state.changed if state is not None and asked is not None else known.paths()
    unexplained = []
    for path in sorted(filter(layout.kind_of, seen)):
        try:
            now = _bytes_now(layout, path)
        except ThunderusError:
            continue  # a link, a device, a giant, or no permission: lint says so, and it is not gone
        if now is None or not known.explains(content_hash(now)):
            unexplained.append((path, now))
    vanished = list(known.vanished(_open_shard(state) if asked is not None else None))
    if not unexplained and not vanished:
        return ()
    edited = [path for path, _ in unexplained]
    named = _History(known.told((), vanished))
    gone = {path for doc_id in vanished if (path := named.path(doc_id))}.difference(edited)
    gone = {path for path in gone if not os.path.lexists(os.path.join(layout.root, path))}
    history = _History(known.told([*edited, *gone], ()))
    committed = _committed(asked, edited)
    found = [_hand_edit(path, now, committed.get(path), history) for path, now in unexplained]
    found += [_removal(path, history) for path in sorted(gone)]
    return tuple(sorted((edit for edit in found if edit is not None), key=lambda edit: edit.change.path))


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
    """What events in order say of each path."""

    def __init__(self, events: Iterable[Event]) -> None:
        self._by_path: dict[str, list[Change]] = {}
        self._paths: dict[str, str] = {}
        for event in events:
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

    def path(self, doc_id: str) -> str:
        """Where a document last was, or ""."""
        return self._paths.get(doc_id, "")

    def doc_id(self, path: str) -> str:
        """The id of the document that was last at a path, or ""."""
        return next((change.doc_id for change in reversed(self.changes(path)) if change.doc_id), "")


def _hand_edit(path: str, now: bytes | None, committed: bytes | None, history: _History) -> HandEdit | None:
    after = ABSENT if now is None else content_hash(now)
    base = ABSENT if committed is None else content_hash(committed)
    last = history.last_hash(path)
    before = base if last is None else last
    if after in (before, base):
        return None
    if find_secrets(path):
        return None
    doc_id = _doc_id(path, now) or _doc_id(path, committed) or history.doc_id(path)
    return _recorded(path, doc_id, before, now, _text_before(path, committed, before, history))


def _recorded(path: str, doc_id: str, before: str, now: bytes | None, text_before: str | None) -> HandEdit:
    after = ABSENT if now is None else content_hash(now)
    doc_id = "" if find_secrets(doc_id) else doc_id
    diff = _diff(text_before, now, path)
    change = Change(
        op="create" if before == ABSENT else "remove" if after == ABSENT else "update",
        doc_id=doc_id,
        path=path,
        before=before,
        after=after,
        diff=diff,
        diff_omitted=diff is None,
    )
    event_id = hand_edit_id(doc_id, before, after)
    return HandEdit(change, event_id, "patch_" + event_id.removeprefix("evt_"))


def _removal(path: str, history: _History) -> HandEdit | None:
    """A file that git never had, and that somebody deleted."""
    before = history.last_hash(path)
    if not before:
        return None
    return _recorded(path, history.doc_id(path), before, None, _text_before(path, None, before, history))


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
