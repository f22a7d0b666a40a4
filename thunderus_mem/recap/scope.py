"""The period of a recap, and what happened in it: events, commits and files.

A recap covers a day, a session, everything since a moment, or an episode; `scope_of` turns the options of the
command line into one of these. `Activity` is collected for a recap and knows which events are private, and
what is open. Reads the log, git (also to resolve a revision), code and files; writes only cached verdicts.
The scopes are pure.
"""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta
from functools import lru_cache, partial
from types import MappingProxyType
from typing import TYPE_CHECKING

from thunderus_mem.document.document import MAX_DOCUMENT
from thunderus_mem.document.ids import short_hash, slug
from thunderus_mem.document.paths import is_archived
from thunderus_mem.document.timestamp import (
    MOMENTS,
    format_precise,
    parse_timestamp,
    read_moment,
    utc_key,
)
from thunderus_mem.errors import InvalidConfig, NotFound, ThunderusError
from thunderus_mem.git.changes import merge_base
from thunderus_mem.git.commits import commit_named, commits_between, first_commits
from thunderus_mem.index.log import read
from thunderus_mem.lint.context import hash_of_source
from thunderus_mem.log.event import document_ids, private_to
from thunderus_mem.log.imported import is_imported
from thunderus_mem.memory.proposals import all_waiting
from thunderus_mem.recap.events import EventReading, thread_of
from thunderus_mem.safety.injection import find_injections
from thunderus_mem.safety.secrets import holds_secret
from thunderus_mem.startup import NamedTuple, lazy_pattern
from thunderus_mem.store.files import read_below
from thunderus_mem.store.paths import kind_of, safe_relative
from thunderus_mem.verdicts.code import MOST_EXPLAINED, breaking_commit
from thunderus_mem.verdicts.judge import Judge
from thunderus_mem.verdicts.verdict import MISSING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from thunderus_mem.git.commits import Commit, LoggedCommit
    from thunderus_mem.git.repository import Git
    from thunderus_mem.index.log import EventRow
    from thunderus_mem.index.questions import DocRow
    from thunderus_mem.log.line import Event
    from thunderus_mem.memory.memory import Memory
    from thunderus_mem.memory.proposals import Proposal

# Commits are often rebased some days after they were made.
_DAYS_OF_REBASE = 7
_MOST_DAYS = 3_660
_WEEK_OR_MONTH = lazy_pattern(r"[0-9]{4}-(?:[Ww][0-9]{1,2}|[0-9]{1,2})")


class CommittedChange(NamedTuple):
    """A commit that ``added`` or ``edited`` a document whose text is the result of no event."""

    doc_id: str
    sha: str
    operation: str


class OutdatedCode(NamedTuple):
    """The ``place`` of an anchor whose code changed or ``is_missing``, or the file that a document was
    imported from and that changed (``is_source``), and the commit that did it (``None``: not committed, or
    unknown)."""

    place: str
    is_missing: bool = False
    commit: Commit | None = None
    is_source: bool = False


class Activity(NamedTuple):
    """Events in log order; ids of those private to this working tree; commits, and the files that they
    ``touched``, by hash. Events and commits may lie outside the period of the recap.

    ``committed`` are changes that only commits record, parents first. ``outdated`` are documents whose code
    changed, with those anchors, ``proposals`` those that wait for review, both as of now; ``source_hash``
    returns the hash of a file that a document was imported from, ``None`` if it cannot be read.
    ``template`` is the text of a custom recap template, ``reading`` says how to read texts.
    """

    events: tuple[Event, ...] = ()
    private: frozenset[str] = frozenset()
    commits: tuple[Commit, ...] = ()
    touched: Mapping[str, tuple[str, ...]] = MappingProxyType({})
    committed: tuple[CommittedChange, ...] = ()
    outdated: Mapping[str, tuple[OutdatedCode, ...]] = MappingProxyType({})
    proposals: tuple[Proposal, ...] = ()
    source_hash: Callable[[str], str | None] = lambda _: None
    template: str = ""
    reading: EventReading = EventReading()

    @property
    def private_anywhere(self) -> frozenset[str]:
        """Ids of events private to this tree, or marked by a change as private to another."""
        return self.private | {id for event in self.events for id in private_to(event)}


def happened(memory: Memory, *, day: str = "", naming: str = "") -> Activity:
    """The events of a day, or all; also those that mention the document ``naming``."""
    log_index = memory.log_index()
    rows = log_index.of_day(day) if day else [row for batch in log_index.in_order() for row in batch]
    named: list[EventRow] = log_index.naming([naming]) if naming else []
    logged = read(memory.log, [*rows, *named])
    private = frozenset(one.event.id for one in logged if memory.log.is_private(one.shard))
    return Activity(tuple({one.event.id: one.event for one in logged}.values()), private)


def history_of(memory: Memory) -> Activity:
    """All events, and the commits of the days that `recap.schedule` looks back."""
    now = memory.now().astimezone(UTC)
    start = now - timedelta(days=min(memory.config.recap_days_back + 1, _MOST_DAYS))
    return for_recap(memory, happened(memory), start.isoformat(), now.isoformat())


def for_recap(memory: Memory, activity: Activity, first: str, last: str) -> Activity:
    """The activity with what a page needs besides events: the template, the reading rules, what is open, and
    the commits of HEAD between two times (RFC 3339 or a day) and shortly after."""
    activity = activity._replace(
        outdated=_outdated(memory),
        proposals=tuple(waiting.proposal for waiting in all_waiting(memory.layout)),
        source_hash=partial(hash_of_source, memory),
        template=template_of(memory),
        reading=reading_here(memory),
    )
    start, end = _moment(first), _moment(last)
    if memory.git is None or start is None or end is None:
        return activity
    end += min(timedelta(days=1 + _DAYS_OF_REBASE), datetime.max.replace(tzinfo=UTC) - end)
    since, until = f"{start:%Y-%m-%dT%H:%M:%SZ}", f"{end:%Y-%m-%dT%H:%M:%SZ}"
    found = commits_between(memory.git, since, until)
    return activity._replace(
        commits=tuple(one.commit for one in found),
        touched={one.commit.sha: one.paths for one in found},
        committed=tuple(_committed(memory, memory.git, found[::-1])),
    )


def _committed(memory: Memory, git: Git, commits: Sequence[LoggedCommit]) -> Iterator[CommittedChange]:
    """What these commits, parents first, did to documents whose text is the result of no event."""
    log_index = memory.log_index()
    paths = dict.fromkeys(path for one in commits for path in one.paths if kind_of(path) is not None)
    rows = {path: row for path in paths if (row := memory.index.by_path(path)) is not None}
    only_in_git = {path: row for path, row in rows.items() if not log_index.explains(row.hash)}
    logged = {path for path, row in only_in_git.items() if log_index.naming([row.id])}
    first = first_commits(git, list(only_in_git)) if only_in_git else {}
    for one in commits:
        for path in one.paths:
            if path in only_in_git and only_in_git[path].kind != "recap":
                is_first = path in first and first[path].sha == one.commit.sha
                # The first commit of a document that the log knows holds what the log records.
                if not is_first or path not in logged:
                    operation = "added" if is_first else "edited"
                    yield CommittedChange(only_in_git[path].id, one.commit.sha, operation)


def _outdated(memory: Memory) -> dict[str, tuple[OutdatedCode, ...]]:
    """The documents whose code changed or is missing, with those anchors and the commits that `check`
    names; not superseded ones, which describe earlier code."""
    found: dict[str, tuple[OutdatedCode, ...]] = {}
    if memory.index.has_anchors():
        superseded = memory.index.superseded_by()
        anchored = [one for one in memory.index.anchors() if one.doc_id not in superseded]
        with Judge(memory) as judge:
            stale = [one for one in judge.all(anchored) if one.verdict.is_stale]
            for number, one in enumerate(stale):
                searched = judge.past if number < MOST_EXPLAINED else None
                known = breaking_commit(one.verdict.anchor, searched) if searched is not None else None
                place, is_missing = one.anchored.anchor.place, one.verdict.status == MISSING
                code = OutdatedCode(place, is_missing, known.commit if known is not None else None)
                found[one.doc_id] = (*found.get(one.doc_id, ()), code)
    return found


def _moment(text: str) -> datetime | None:
    text = text.rstrip("U~")
    moment = parse_timestamp(text) or parse_timestamp(f"{text[:10]}T00:00:00Z")
    return moment.astimezone(UTC) if moment is not None else None


def reading_here(memory: Memory) -> EventReading:
    """How to read texts here: machine-specific paths are shortened, and a text with a possible secret or
    prompt injection is unfit for a page."""
    home = memory.environ.get("HOME", "")
    hide = {memory.root: "."} | ({home: "~"} if len(home) > 1 else {})

    @lru_cache(maxsize=65_536)
    def unfit(text: str) -> bool:
        return holds_secret(text) or bool(find_injections(text))

    return EventReading(hide=hide, unfit=unfit)


def template_of(memory: Memory) -> str:
    """The text of the configured template; "" for the built-in one. Raises the errors of reading a file, and
    `InvalidConfig` for invalid UTF-8."""
    if not memory.config.recap_template:
        return ""
    path = safe_relative(memory.config.recap_template)
    try:
        data = read_below(memory.root, path, MAX_DOCUMENT)
    except NotFound as error:
        hint = "correct `recap.template`; `thunderus-mem config path` prints the file"
        raise NotFound(f"template {path!r} does not exist", hint=hint) from error
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise InvalidConfig(f"{path}, line {line}: invalid UTF-8", hint="save the file as UTF-8") from error


# The scope of a recap, from the options of the command line

_SHORT = 8
_READABLE = lazy_pattern(r"[A-Za-z0-9][A-Za-z0-9._-]{0,39}", re.ASCII)
_SHOWN = 5
_EPISODE_RECAP = lazy_pattern(r"recap\.[0-9]{4}-[0-9]{2}-[0-9]{2}-episode-.+")


class RecapScope(NamedTuple):
    """The period of a recap.

    ``kind`` is day, session, since or episode; ``key`` is the day (UTC), session, `utc_key` or episode.
    ``since`` and ``until`` are `utc_key`s that bound its commits; ``label`` is the period in words, ``note``
    what a reader should know about it. ``doc_ids`` are the documents of an episode, in order.
    """

    kind: str
    key: str
    doc_id: str
    title: str
    label: str
    since: str
    until: str
    note: str = ""
    doc_ids: tuple[str, ...] = ()

    def holds(self, event: Event) -> bool:
        """Whether an event belongs to it."""
        if self.kind == "session":
            return self.key in (event.session_id, thread_of(event))
        if self.kind == "episode":
            return episode_of(event) == self.key or not set(self.doc_ids).isdisjoint(document_ids(event))
        return self.since <= utc_key(event.ts) < self.until

    def part_of(self, event: Event) -> Event:
        """The event with only what belongs here: an event of another episode, with its changes to documents
        of this one."""
        if self.kind != "episode" or event.kind != "patch" or episode_of(event) == self.key:
            return event
        listed = event.body.get("changes")
        changes = [one for one in listed if isinstance(one, dict)] if isinstance(listed, list) else []
        own = [one for one in changes if one.get("doc_id") in self.doc_ids]
        return event._replace(body={**event.body, "changes": own})

    def holds_moment(self, ts: str) -> bool:
        """Whether a commit of this time belongs to it."""
        return self.since <= utc_key(ts) < self.until


def episode_of(event: Event) -> str:
    """The episode of an event; "" if it has none."""
    named = event.body.get("episode_id")
    return named if isinstance(named, str) else ""


def day_scope(day: str) -> RecapScope:
    """The scope of a day in UTC (``2026-01-21``)."""
    return RecapScope("day", day, f"recap.{day}", f"Recap of {day}", f"on {day}", day, f"{day}U")


def since_scope(moment: str, until: str) -> RecapScope:
    """The scope from one `utc_key` to another; the document is named after the first."""
    day, time = moment[:10], moment[11:19].replace(":", "")
    name = day if time == "000000" else f"{day}t{time}"
    shown = day if time == "000000" else f"{day} {moment[11:16]}"
    title = f"Recap since {shown}"
    return RecapScope("since", moment, f"recap.{name}-since", title, f"since {shown}", moment, until)


def _moments(events: Sequence[Event]) -> tuple[str, str]:
    """The first moment of events, and the first one after the last; ``events`` is not empty."""
    keys = [utc_key(event.ts) for event in events]
    return min(keys), max(keys) + "~"


def session_scope(session: str, events: Sequence[Event]) -> RecapScope:
    """The scope of a session, from all its events."""
    first, last = _moments(events)
    short = session[-_SHORT:].lower() if session.startswith("sess_") and session[5:].isalnum() else ""
    if not short.isascii() or len(short) < _SHORT:
        short = short_hash(session, _SHORT)
    day = first[:10]
    doc_id, label = f"recap.{day}-{short}", f"in session {session}"
    if not all(is_imported(event) for event in events):
        return RecapScope("session", session, doc_id, f"Recap of session {short} ({day})", label, first, last)
    name = session if _READABLE.fullmatch(session) and not holds_secret(session) else short
    title = f"Recap of the imported session {name} ({day})"
    note = "Only imported events; changes made here during that session are not included."
    return RecapScope("session", session, doc_id, title, label, first, last, note)


def episode_scope(episode: str, events: Sequence[Event], documents: Sequence[DocRow]) -> RecapScope:
    """The scope of an episode, from all its events, or from the times of its documents if it has none."""
    keys = [utc_key(event.ts) for event in events]
    keys = keys or [utc_key(time) for row in documents for time in (row.created, row.updated)]
    first, last = min(keys), max(keys) + "~"
    name = slug(episode)[:40].strip("-") or short_hash(episode, _SHORT)
    doc_id = f"recap.{first[:10]}-episode-{name}"
    title, label = f"Recap of episode {episode}", f"in episode {episode}"
    members = tuple(row.id for row in documents if row.id != doc_id)
    return RecapScope("episode", episode, doc_id, title, label, first, last, doc_ids=members)


class Wanted(NamedTuple):
    """A requested recap: ``kind`` is day, session, since, episode, week or month."""

    kind: str
    name: str

    @classmethod
    def of_period(cls, name: str) -> Wanted:
        """The recap of a day, of a week such as 2026-W04, or of a month such as 2026-01."""
        if _WEEK_OR_MONTH.fullmatch(name) is None:
            return cls("day", name)
        return cls("week" if "W" in name.upper() else "month", name)


def chosen_day(memory: Memory, day: str) -> str:
    """Parse a day (``2026-01-21``, ``today`` or ``yesterday``) to ``2026-01-21``, in UTC."""
    today = memory.now().astimezone(UTC).date()
    named = {"today": today, "yesterday": today - timedelta(days=1)}
    if day in named:
        return named[day].isoformat()
    try:
        chosen = date.fromisoformat(day)
    except ValueError:
        chosen = None
    if chosen is None or chosen.isoformat() != day:
        hint = "use a day (2026-01-21, today, yesterday), a week (2026-W04) or a month (2026-01)"
        raise ThunderusError(f"invalid period {day!r}", hint=hint)
    return day


def scope_of(memory: Memory, wanted: Wanted) -> tuple[RecapScope, Activity]:
    """The scope, and the events that may belong to it.

    Raises `NotFound` for an unknown session or episode, `ThunderusError` for an invalid time.
    """
    if wanted.kind == "day":
        scope = day_scope(chosen_day(memory, wanted.name))
        return scope, happened(memory, day=scope.key, naming=scope.doc_id)
    if wanted.kind == "since":
        now = memory.now()
        scope = since_scope(_moment_of(memory, wanted.name), utc_key(format_precise(now)) + "~")
        # The index sorts each line after the lines before it, whatever its time, so all are read.
        return scope, happened(memory)
    everything = happened(memory)
    if wanted.kind == "session":
        names = {name for event in everything.events for name in (event.session_id, thread_of(event))}
        session = _one_of(wanted.name, names, "session")
        own = [event for event in everything.events if session in (event.session_id, thread_of(event))]
        return session_scope(session, own), everything
    return _episode(memory, wanted.name, everything), everything


def _episode(memory: Memory, name: str, everything: Activity) -> RecapScope:
    """The scope of an episode: its events, its active documents except recaps of it, and their events."""
    found = (memory.index.get(doc_id) for doc_id in memory.index.episode(name))
    documents = [row for row in found if row is not None and not is_archived(row.path)]
    documents = [row for row in documents if row.kind != "recap" or not _EPISODE_RECAP.fullmatch(row.id)]
    ids = {row.id for row in documents}
    events = [one for one in everything.events if episode_of(one) == name or ids & {*document_ids(one)}]
    if not events and not documents:
        names = {episode_of(event) for event in everything.events} - {""} | {*memory.index.episodes()}
        raise NotFound(f"unknown episode {name!r}", hint=_some(names, "episodes"))
    return episode_scope(name, events, documents)


def _one_of(given: str, names: Iterable[str], what: str) -> str:
    """The one name that equals ``given``, or that starts or ends with it."""
    listed = sorted(names)
    if given in listed:
        return given
    low = given.lower()
    near = [name for name in listed if low and (name.lower().startswith(low) or name.lower().endswith(low))]
    if len(near) == 1:
        return near[0]
    if near:
        raise ThunderusError(
            f"ambiguous {what} {given!r}: {len(near)} matches", hint=_some(near, f"matching {what}s")
        )
    raise NotFound(f"unknown {what} {given!r}", hint=_some(listed[-_SHOWN:], f"{what}s"))


def _some(names: Iterable[str], what: str) -> str:
    listed = sorted(names)
    return f"{what}: {', '.join(listed[:_SHOWN])}" if listed else f"there are no {what} yet"


def _moment_of(memory: Memory, given: str) -> str:
    """The `utc_key` of a time (RFC 3339), a day, an age (``2d``) or a git revision."""
    if key := read_moment(given, memory.now()):
        return key
    if memory.git is not None:
        sha = merge_base(memory.git, given)
        commit = commit_named(memory.git, sha) if sha else None
        if commit is not None:
            return utc_key(commit.date)
    raise ThunderusError(
        f"{given!r} is not a time, an age or a revision",
        hint=f"use {MOMENTS}, or a revision such as HEAD~5",
    )
