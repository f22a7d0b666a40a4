"""What somebody wants a recap of, from the words of a command line to a scope with its events."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING, NamedTuple

from thunderus_mem.garden.recaps.runs import thread_of
from thunderus_mem.garden.recaps.scope import (
    Scope,
    day_scope,
    episode_of,
    episode_scope,
    session_scope,
    since_scope,
)
from thunderus_mem.model.errors import NotFound, ThunderusError
from thunderus_mem.model.timestamp import format_precise, format_timestamp, utc_key
from thunderus_mem.verbs.happenings import happened

if TYPE_CHECKING:
    from collections.abc import Iterable

    from thunderus_mem.garden.history import History
    from thunderus_mem.memory import Memory

__all__ = ["Wanted", "chosen_day", "scope_of"]

_AGO = re.compile(r"(\d{1,4})([hdw])", re.ASCII)
_UNITS = {"h": "hours", "d": "days", "w": "weeks"}
_SHOWN = 5


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


def scope_of(memory: Memory, wanted: Wanted) -> tuple[Scope, History]:
    """The scope and the events that may belong to it.

    Raises `NotFound` for a session or an episode that no event names, `ThunderusError` for a time that is
    none.
    """
    if wanted.kind == "day":
        scope = day_scope(chosen_day(memory, wanted.name))
        return scope, happened(memory, day=scope.key, naming=scope.doc_id)
    if wanted.kind == "since":
        now = memory.now()
        scope = since_scope(_moment(memory, wanted.name), utc_key(format_precise(now)) + "~")
        # The index sorts a line behind the lines before it, so all are looked at.
        return scope, happened(memory)
    everything = happened(memory)
    if wanted.kind == "session":
        names = {name for event in everything.events for name in (event.session_id, thread_of(event))}
        session = _named(wanted.name, names, "session")
        own = [event for event in everything.events if session in (event.session_id, thread_of(event))]
        return session_scope(session, own), everything
    own = [event for event in everything.events if episode_of(event) == wanted.name]
    if not own:
        names = {episode_of(event) for event in everything.events} - {""}
        raise NotFound(f"no event names the episode {wanted.name!r}", hint=_some(names, "episodes"))
    return episode_scope(wanted.name, own), everything


def _named(given: str, names: Iterable[str], what: str) -> str:
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


def _moment(memory: Memory, given: str) -> str:
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
        from thunderus_mem.store.git_changes import merge_base

        sha = merge_base(memory.git, given)
        commit = memory.git.commit(sha) if sha else None
        if commit is not None:
            return utc_key(commit.date)
    raise ThunderusError(
        f'"{given}" is neither a time nor a revision',
        hint="give 2026-01-21, 2026-01-21T09:00:00Z, 2d, 36h or HEAD~5",
    )
