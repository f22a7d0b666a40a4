"""What a recap is of: a day, a session, all since a moment, or an episode. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from thunderus_mem.garden.recaps.runs import thread_of
from thunderus_mem.model.ids import short_hash, slug
from thunderus_mem.model.timestamp import utc_key

if TYPE_CHECKING:
    from collections.abc import Sequence

    from thunderus_mem.model.event import Event

__all__ = ["Scope", "day_scope", "episode_of", "episode_scope", "session_scope", "since_scope"]

_SHORT = 8


class Scope(NamedTuple):
    """``kind`` is day, session, since or episode, ``key`` its name (a day in UTC, a session, a `utc_key`, an
    episode). ``since`` and ``until`` are `utc_key`s of the commits that belong to it; ``label`` says it in
    words."""

    kind: str
    key: str
    doc_id: str
    title: str
    label: str
    since: str
    until: str

    @property
    def stem(self) -> str:
        """The name of the file, without ``.md``."""
        return self.doc_id.removeprefix("recap.")

    def holds(self, event: Event) -> bool:
        """Whether an event belongs to it."""
        if self.kind == "session":
            return self.key in (event.session_id, thread_of(event))
        if self.kind == "episode":
            return episode_of(event) == self.key
        return self.since <= utc_key(event.ts) < self.until

    def holds_moment(self, ts: str) -> bool:
        """Whether a commit of this time belongs to it."""
        return self.since <= utc_key(ts) < self.until


def episode_of(event: Event) -> str:
    """The episode that an event names; "" when it names none."""
    named = event.body.get("episode_id")
    return named if isinstance(named, str) else ""


def day_scope(day: str) -> Scope:
    """A day in UTC, as ``2026-01-21``."""
    return Scope("day", day, f"recap.{day}", f"Recap of {day}", f"on {day}", day, f"{day}U")


def since_scope(moment: str, until: str) -> Scope:
    """All from one `utc_key` up to another; the document is named after the first."""
    day, time = moment[:10], moment[11:19].replace(":", "")
    name = day if time == "000000" else f"{day}t{time}"
    shown = day if time == "000000" else f"{day} {moment[11:16]}"
    title = f"Recap of all since {shown}"
    return Scope("since", moment, f"recap.{name}-since", title, f"since {shown}", moment, until)


def _named(events: Sequence[Event]) -> tuple[str, str]:
    """First moment, and the first behind the last one, of events that are not none."""
    keys = [utc_key(event.ts) for event in events]
    return min(keys), max(keys) + "~"


def session_scope(session: str, events: Sequence[Event]) -> Scope:
    """A session by its name, with all its events."""
    first, last = _named(events)
    short = session[-_SHORT:].lower() if session.startswith("sess_") and session[5:].isalnum() else ""
    if not short.isascii() or len(short) < _SHORT:
        short = short_hash(session, _SHORT)
    day = first[:10]
    title = f"Recap of session {short} of {day}"
    return Scope("session", session, f"recap.{day}-{short}", title, f"in session {session}", first, last)


def episode_scope(episode: str, events: Sequence[Event]) -> Scope:
    """An episode by its name, with all its events."""
    first, last = _named(events)
    name = slug(episode)[:40].strip("-") or short_hash(episode, _SHORT)
    doc_id = f"recap.{first[:10]}-episode-{name}"
    return Scope(
        "episode", episode, doc_id, f"Recap of episode {episode}", f"in episode {episode}", first, last
    )
