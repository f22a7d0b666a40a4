"""Edits that people made outside the tool and that neither an event nor a commit explains yet.

A hand edit never breaks anything: the next writing command records it as a patch of actor ``user``. Its id
is derived from document and both hashes, so that two recordings of one edit are one event. What git has
committed is never logged again; git tells that story.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

from thunderus_mem.model.document import MAX_DOCUMENT, content_hash, read_document
from thunderus_mem.model.errors import NotFound
from thunderus_mem.model.event import Change, hand_edit_id, unified_diff
from thunderus_mem.model.patch import apply_diff
from thunderus_mem.model.secrets import find_secrets
from thunderus_mem.store.files import ABSENT, read_file

if TYPE_CHECKING:
    from collections.abc import Iterable

    from thunderus_mem.projection.log_index import LogIndex
    from thunderus_mem.store.git import Git, GitState
    from thunderus_mem.store.layout import Layout


@dataclass(frozen=True, slots=True)
class HandEdit:
    """One edit to record: the change, and ids that follow from it."""

    change: Change
    event_id: str
    patch_id: str

    def still_there(self, layout: Layout) -> bool:
        """Whether the file is still as it was when the edit was seen."""
        return _hash_now(layout, self.change.path) == self.change.after


def hand_edits(
    layout: Layout, log: LogIndex, git: Git | None, state: GitState | None
) -> tuple[HandEdit, ...]:
    """The unrecorded edits of a store, by path. Reads files and, for the text before, git and the log."""
    candidates = state.changed if state is not None else log.unexplained_paths()
    found = (_hand_edit(layout, log, git, path) for path in sorted(candidates) if layout.kind_of(path))
    return tuple(edit for edit in found if edit is not None)


def _hand_edit(layout: Layout, log: LogIndex, git: Git | None, path: str) -> HandEdit | None:
    now = _bytes_now(layout, path)
    after = ABSENT if now is None else content_hash(now)
    if log.explains(path, after):
        return None
    committed = git.head_bytes(path) if git is not None else None
    if committed is not None and content_hash(committed) == after:
        return None
    before_text = _text_before(log, path, committed)
    before = log.last_hash(path)
    if before is None:
        before = ABSENT if committed is None else content_hash(committed)
    if before == after:
        return None
    document = read_document(path, now).document if now is not None else None
    doc_id = document.id if document is not None else log.doc_id_of(path)
    diff = _diff(before_text, now, path)
    change = Change(
        op="create" if before == ABSENT else "remove" if after == ABSENT else "update",
        doc_id=doc_id,
        path=path,
        before=before,
        after=after,
        diff=diff,
        diff_omitted=diff is None,
    )
    event_id = hand_edit_id(doc_id or path, before, after)
    return HandEdit(change, event_id, "patch_" + event_id.removeprefix("evt_"))


def _diff(before: str | None, now: bytes | None, path: str) -> str | None:
    """The diff, unless the text before is unknown, the text is not UTF-8, or the diff would log a secret."""
    if before is None:
        return None
    try:
        after = "" if now is None else now.decode("utf-8")
    except UnicodeDecodeError:
        return None
    diff = unified_diff(before, after, path)
    return None if diff is None or find_secrets(diff) else diff


def _text_before(log: LogIndex, path: str, committed: bytes | None) -> str | None:
    """The last known text of a path: what git has, carried on by the diffs the log has since."""
    text = committed.decode("utf-8", "replace") if committed is not None else ""
    known = log.last_hash(path)
    if known is None or known == (content_hash(text) if text else ABSENT):
        return text
    for start in (text, ""):
        replayed = _replay(start, log.changes_of(path))
        if replayed is not None and content_hash(replayed) == known:
            return replayed
    return None


def _replay(text: str, changes: Iterable[Change]) -> str | None:
    """Apply the changes that begin at ``text``; ``None`` when a diff is missing or does not fit."""
    current: str | None = text
    started = False
    for change in changes:
        here = content_hash(current) if current else ABSENT
        if not started and change.before != here:
            continue
        started = True
        if change.diff is None or current is None:
            return None
        current = apply_diff(current, change.diff)
        if current is None:
            return None
    return current if started else None


def _bytes_now(layout: Layout, path: str) -> bytes | None:
    try:
        return read_file(os.path.join(layout.root, path), MAX_DOCUMENT)
    except NotFound:
        return None


def _hash_now(layout: Layout, path: str) -> str:
    now = _bytes_now(layout, path)
    return ABSENT if now is None else content_hash(now)
