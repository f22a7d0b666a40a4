"""What a recap is of: a day, a session, all since a moment, or an episode; and which of them the words of a
command line mean. The scopes are pure; `scope_of` reads the log, and asks git for a revision.
"""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING, NamedTuple

from thunderus_mem.document.ids import short_hash, slug
from thunderus_mem.document.timestamp import format_precise, format_timestamp, utc_key
from thunderus_mem.errors import NotFound, ThunderusError
from thunderus_mem.git.changes import merge_base
from thunderus_mem.git.commits import commit_named
from thunderus_mem.recap.activity import happened
from thunderus_mem.recap.commands import thread_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from thunderus_mem.log.line import Event
    from thunderus_mem.memory.memory import Memory
    from thunderus_mem.recap.activity import Activity

_SHORT = 8
_AGO = re.compile(r"(\d{1,4})([hdw])", re.ASCII)
_UNITS = {"h": "hours", "d": "days", "w": "weeks"}
_SHOWN = 5


class RecapScope(NamedTuple):
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


def day_scope(day: str) -> RecapScope:
    """A day in UTC, as ``2026-01-21``."""
    return RecapScope("day", day, f"recap.{day}", f"Recap of {day}", f"on {day}", day, f"{day}U")


def since_scope(moment: str, until: str) -> RecapScope:
    """All from one `utc_key` up to another; the document is named after the first."""
    day, time = moment[:10], moment[11:19].replace(":", "")
    name = day if time == "000000" else f"{day}t{time}"
    shown = day if time == "000000" else f"{day} {moment[11:16]}"
    title = f"Recap of all since {shown}"
    return RecapScope("since", moment, f"recap.{name}-since", title, f"since {shown}", moment, until)


def _moments(events: Sequence[Event]) -> tuple[str, str]:
    """First moment, and the first behind the last one, of events that are not none."""
    keys = [utc_key(event.ts) for event in events]
    return min(keys), max(keys) + "~"


def session_scope(session: str, events: Sequence[Event]) -> RecapScope:
    """A session by its name, with all its events."""
    first, last = _moments(events)
    short = session[-_SHORT:].lower() if session.startswith("sess_") and session[5:].isalnum() else ""
    if not short.isascii() or len(short) < _SHORT:
        short = short_hash(session, _SHORT)
    day = first[:10]
    title = f"Recap of session {short} of {day}"
    return RecapScope("session", session, f"recap.{day}-{short}", title, f"in session {session}", first, last)


def episode_scope(episode: str, events: Sequence[Event]) -> RecapScope:
    """An episode by its name, with all its events."""
    first, last = _moments(events)
    name = slug(episode)[:40].strip("-") or short_hash(episode, _SHORT)
    doc_id = f"recap.{first[:10]}-episode-{name}"
    return RecapScope(
        "episode", episode, doc_id, f"Recap of episode {episode}", f"in episode {episode}", first, last
    )


class Wanted(NamedTuple):
    """What a recap is wanted of: ``kind`` is day, session, since, episode, week or month."""

    kind: str
    name: str


def chosen_day(memory: Memory, day: str) -> str:
    """A day in UTC as ``2026-01-21``, from that, ``today`` or ``yesterday``."""
    today = memory.now().astimezone(UTC).date()
    named = {"today": today, "yesterday": today - timedelta(days=1)}
    if day in named:
        return named[day].isoformat()
    try:
        chosen = date.fromisoformat(day)
    except ValueError:
        chosen = None
    if chosen is None or chosen.isoformat() != day:
        raise ThunderusError(
            f'"{day}" is not a day', hint="give it as 2026-01-21, or say `today` or `yesterday`"
        )
    return day


def scope_of(memory: Memory, wanted: Wanted) -> tuple[RecapScope, Activity]:
    """The scope and the events that may belong to it.

    Raises `NotFound` for a session or an episode that no event names, `ThunderusError` for a time that is
    none.
    """
    if wanted.kind == "day":
        scope = day_scope(chosen_day(memory, wanted.name))
        return scope, happened(memory, day=scope.key, naming=scope.doc_id)
    if wanted.kind == "since":
        now = memory.now()
        scope = since_scope(_moment_of(memory, wanted.name), utc_key(format_precise(now)) + "~")
        # The index sorts a line behind the lines before it, so all are looked at.
        return scope, happened(memory)
    everything = happened(memory)
    if wanted.kind == "session":
        names = {name for event in everything.events for name in (event.session_id, thread_of(event))}
        session = _one_of(wanted.name, names, "session")
        own = [event for event in everything.events if session in (event.session_id, thread_of(event))]
        return session_scope(session, own), everything
    own = [event for event in everything.events if episode_of(event) == wanted.name]
    if not own:
        names = {episode_of(event) for event in everything.events} - {""}
        raise NotFound(f"no event names the episode {wanted.name!r}", hint=_some(names, "episodes"))
    return episode_scope(wanted.name, own), everything


def _one_of(given: str, names: Iterable[str], what: str) -> str:
    """The one of the names that is given whole, or by its beginning or end."""
    listed = sorted(names)
    if given in listed:
        return given
    low = given.lower()
    near = [name for name in listed if low and (name.lower().startswith(low) or name.lower().endswith(low))]
    if len(near) == 1:
        return near[0]
    if near:
        raise ThunderusError(f"{given!r} may be {len(near)} {what}s", hint=_some(near, f"{what}s"))
    raise NotFound(f"no event is of a {what} {given!r}", hint=_some(listed[-_SHOWN:], f"{what}s"))


def _some(names: Iterable[str], what: str) -> str:
    listed = sorted(names)
    return f"{what} are: {', '.join(listed[:_SHOWN])}" if listed else f"there are no {what} yet"


def _moment_of(memory: Memory, given: str) -> str:
    """The `utc_key` of a time (RFC 3339), a day, an age (``2d``) or a revision of git."""
    ago = _AGO.fullmatch(given)
    if ago is not None:
        now = memory.now().astimezone(UTC)
        span = timedelta(**{_UNITS[ago[2]]: int(ago[1])})
        earliest = datetime.min.replace(tzinfo=UTC)
        moment = now - span if now - earliest > span else earliest
        # Whole days begin at midnight, so that the recap written again in the afternoon is the same one.
        moment = moment if ago[2] == "h" else moment.replace(hour=0, minute=0)
        return utc_key(format_timestamp(moment.replace(second=0, microsecond=0)))
    if key := utc_key(given):
        return key
    if memory.git is not None:
        sha = merge_base(memory.git, given)
        commit = commit_named(memory.git, sha) if sha else None
        if commit is not None:
            return utc_key(commit.date)
    raise ThunderusError(
        f'"{given}" is neither a time nor a revision',
        hint="give 2026-01-21, 2026-01-21T09:00:00Z, 2d, 36h or HEAD~5",
    )
