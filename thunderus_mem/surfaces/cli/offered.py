"""Ids to offer to a shell that completes one, with a line on each, from files and index as they stand.

What the shell puts on the command line is run: nothing is offered but an id as ids are made.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from thunderus_mem.projection.database import Database
    from thunderus_mem.store.layout import Layout

__all__ = ["documents", "events", "layout", "proposals", "snapshots"]


def layout(start: str, environ: Mapping[str, str]) -> Layout:
    """The places of the store that a command started in ``start`` works in."""
    from thunderus_mem.store.layout import Layout
    from thunderus_mem.store.root import find_root

    return Layout(find_root(start, environ).root)


def documents(places: Layout, typed: str, limit: int) -> Iterable[tuple[str, str]]:
    """Ids of documents that begin with what is ``typed``, and their titles."""
    from thunderus_mem.model.ids import is_document_id

    pattern = typed.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_") + "%"
    rows = _index(places).rows(
        "SELECT doc_id, title FROM docs WHERE doc_id LIKE ? ESCAPE '\\' ORDER BY doc_id LIMIT ?",
        (pattern, limit),
    )
    return [(row[0], row[1]) for row in rows if is_document_id(row[0])]


def events(places: Layout, typed: str, limit: int) -> Iterable[tuple[str, str]]:
    """Ids of patches in the log, newest first, and when they happened."""
    rows = _index(places).rows(
        "SELECT id, day FROM events WHERE kind = 'patch' AND substr(id, 1, ?) = ? "
        "ORDER BY place DESC LIMIT ?",
        (len(typed), typed, limit),
    )
    return [(row[0], row[1]) for row in rows if _is_word(row[0])]


def proposals(places: Layout, typed: str, limit: int) -> Iterable[tuple[str, str]]:
    """Ids of what waits for review, oldest first: what would be done, to which documents, and why."""
    from thunderus_mem.model.errors import ThunderusError
    from thunderus_mem.store.places import proposal_id
    from thunderus_mem.store.proposals import file_names, read

    paths = [path for path in file_names(places) if proposal_id(path).startswith(typed or "patch_")]
    for path in paths[:limit]:
        try:
            one = read(places, path).proposal
        except (ThunderusError, OSError):  # `patch list` tells of it
            continue
        yield one.id, f"{one.label or one.action or one.op}: {', '.join(one.targets)}; {one.why}"


def snapshots(places: Layout, typed: str, limit: int) -> Iterable[tuple[str, str]]:
    """Ids of snapshots, newest first: when, and before which command."""
    from thunderus_mem.projection.log_index import LogIndex, read
    from thunderus_mem.store.events import EventLog

    log = EventLog(places.root, places.sessions_dir, places.local_sessions_dir, places.legacy_events_file)
    rows = LogIndex(_index(places)).newest(limit, kinds=("snapshot",))
    for entry in read(log, rows):
        id = entry.event.refs.get("snapshot_id")
        if isinstance(id, str) and id.startswith(typed or "snap_") and _is_word(id):
            yield id, f"{entry.event.ts[:16].replace('T', ' ')} {entry.event.body.get('command', '')}"


def _index(places: Layout) -> Database:
    from thunderus_mem.projection.opening import open_existing

    return open_existing(places.index_file)


def _is_word(id: str) -> bool:
    return id.isascii() and id.replace("_", "").isalnum()
