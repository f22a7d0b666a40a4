"""What happened, gathered for recaps: events of the log, which of them are private, commits, and how texts
are read here."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from thunderus_mem.garden.day import Reading
from thunderus_mem.lint.planted import planted
from thunderus_mem.model.secrets import holds_secret
from thunderus_mem.model.timestamp import parse_timestamp
from thunderus_mem.projection.log_index import read

if TYPE_CHECKING:
    from thunderus_mem.memory import Memory
    from thunderus_mem.model.event import Event
    from thunderus_mem.projection.log_index import EventRow
    from thunderus_mem.store.git_history import Commit

__all__ = ["Happened", "commits_within", "happened", "reading_here"]

# A commit may be rebased for a while after it was made.
_DAYS_OF_REBASE = 7


class Happened(NamedTuple):
    """Events in the order of the log, and the ids of those that are private to this working tree."""

    events: tuple[Event, ...]
    private: frozenset[str]


def happened(memory: Memory, *, day: str = "", since: str = "", naming: str = "") -> Happened:
    """The events of a day, since a `utc_key`, or all; besides them those that name the document ``naming``."""
    log_index = memory.log_index()
    if day:
        rows = log_index.of_day(day)
    else:
        rows = [row for batch in log_index.in_order(since=since) for row in batch]
    named: list[EventRow] = log_index.naming([naming]) if naming else []
    logged = read(memory.log, [*rows, *named])
    private = frozenset(one.event.id for one in logged if memory.log.is_private(one.shard))
    return Happened(tuple({one.event.id: one.event for one in logged}.values()), private)


def commits_within(memory: Memory, first: str, last: str) -> list[Commit]:
    """The commits of HEAD from one time to another (RFC 3339 or a day), and those made soon after."""
    start, end = _moment(first), _moment(last)
    if memory.git is None or start is None or end is None:
        return []
    most = datetime.max.replace(tzinfo=UTC)
    end += min(timedelta(days=1 + _DAYS_OF_REBASE), most - end)
    return memory.git.commits_between(f"{start:%Y-%m-%dT%H:%M:%SZ}", f"{end:%Y-%m-%dT%H:%M:%SZ}")


def _moment(text: str) -> datetime | None:
    text = text.rstrip("U~")
    moment = parse_timestamp(text) or parse_timestamp(f"{text[:10]}T00:00:00Z")
    return moment.astimezone(UTC) if moment is not None else None


def reading_here(memory: Memory) -> Reading:
    """How texts are read: paths of this machine are shortened, and a text that holds a secret or an order to
    its reader is unfit for a page."""
    home = memory.environ.get("HOME", "")
    hide = {memory.root: "."} | ({home: "~"} if len(home) > 1 else {})

    @lru_cache(maxsize=65_536)
    def unfit(text: str) -> bool:
        return holds_secret(text) or bool(planted(text))

    return Reading(hide=hide, unfit=unfit)
