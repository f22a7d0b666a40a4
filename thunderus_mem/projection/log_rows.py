"""What the index keeps of the log: of a shard its stamp, of an event its day and everything it names."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from thunderus_mem.projection.scan import is_racy

if TYPE_CHECKING:
    from thunderus_mem.model.event import Event


def day_of(ts: str) -> str:
    """The day of a timestamp in UTC."""
    from thunderus_mem.model.timestamp import utc_key

    return ts[:10] if ts[-1:] == "Z" else utc_key(ts)[:10]


def named(event: Event) -> set[tuple[str, str, str | None]]:
    """``(document id, path, hash after)`` of everything the event names."""
    from thunderus_mem.model.event import changes_of, named_ids

    changes = {
        (change.doc_id, change.path, change.after if change.before or change.after else None)
        for change in changes_of(event)
    }
    changed = {doc_id for doc_id, _, _ in changes}
    return changes | {(doc_id, "", None) for doc_id in named_ids(event) if doc_id not in changed}


def stamp_of(path: str) -> str:
    """Stamp of a shard. One that changed just now gets a stamp that never repeats, so it is read again."""
    import time

    try:
        info = os.lstat(path)
    except OSError:
        return ""
    now = time.time_ns()
    racy = f" {now}" if is_racy(info.st_mtime_ns, info.st_ctime_ns, now) else ""
    return f"{info.st_size} {info.st_mtime_ns} {info.st_ctime_ns} {info.st_ino}{racy}"


def is_regular(path: str) -> bool:
    """Whether the log reads such a file at all: neither it nor its folder is a link."""
    return os.path.isfile(path) and not os.path.islink(path) and not os.path.islink(os.path.dirname(path))
