"""Render the page of a recap. Pure and deterministic.

The part before the provenance is at most half a page: it links to documents instead of repeating them, has
each line once, and says how many lines are omitted. The provenance cites the events, up to the largest
document that lint accepts. Of private events (messages and tools) only commands with their outcome and edited
files are shown; texts only with ``recap.quote``. Events of recaps themselves are skipped.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

from thunderus_mem.document.frontmatter.write import compose
from thunderus_mem.document.timestamp import format_timestamp, parse_timestamp, utc_key
from thunderus_mem.document.unicode import visible
from thunderus_mem.errors import InvalidDocument, NotFound
from thunderus_mem.log.event import changes_of
from thunderus_mem.recap.documents import RecapDocuments, explains
from thunderus_mem.recap.events import (
    IN_COMMIT,
    DocumentRecap,
    RecapStep,
    decisions_in,
    open_text,
    said,
    sort_events,
    who,
)
from thunderus_mem.recap.scope import OutdatedCode
from thunderus_mem.recap.stories import (
    FEW,
    LONGEST_TITLE,
    STORE,
    History,
    Room,
    Stories,
    StoryLine,
    few_of,
    few_spans,
)
from thunderus_mem.recap.template import OMITTED, PROVENANCE, count, cut, fill, one_line, span, spans
from thunderus_mem.safety.secrets import PRIVATE_QUOTES
from thunderus_mem.startup import NamedTuple, lazy_pattern
from thunderus_mem.store.config import configured_caps
from thunderus_mem.store.paths import GARDENER_FILE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from thunderus_mem.diagnostic import Diagnostic
    from thunderus_mem.document.document import Document
    from thunderus_mem.git.commits import Commit
    from thunderus_mem.log.line import Event
    from thunderus_mem.recap.events import CommandProblem, EventReading, SortedEvents
    from thunderus_mem.recap.scope import Activity, RecapScope
    from thunderus_mem.store.config import Config

_HALF_PAGE: Final = (2_200, 24)
"""The characters and list items allowed before the provenance."""
_MOST_DECISIONS: Final = 12
"""The most decisions named besides those with a line of their own."""
_MOST_CITED: Final = 30
_SETTINGS = (".thunderus/config.toml", GARDENER_FILE)
_DIGITS = lazy_pattern(r"\d+")
# The mark of a list or heading, the text, and the events and commits cited.
_LINE = lazy_pattern(r"^([-#\s]*).*?((?:: `(?:evt_\w+|[0-9a-f]{7})`.*)?)$")
_ROOMS: Final = (
    *(Room(12, 200, 12, commits=8, files=True, titles=True), Room(12, 200, 12, commits=6)),
    *(Room(12, 200, 5, commits=5), Room(12, 200, commits=4), Room(12, 160, commits=3)),
    *(Room(8, 160, commits=3), Room(8, 120, commits=3), Room(6, 120, commits=3), Room(5, 120, commits=3)),
    *(Room(4, 100, 3, 3, 2), Room(3, 100, 3, 3, 2), Room(2, 80, 3, 3, 1), Room(1, 80, 3, 3, 1)),
)


class Page(NamedTuple):
    """A recap before it is written: header, body, the private events that it cites, and ``warnings`` about
    what it omits."""

    header: dict[str, Any]
    body: str
    private: tuple[str, ...] = ()
    warnings: tuple[Diagnostic, ...] = ()

    @property
    def text(self) -> str:
        """The whole file."""
        return compose(self.header, "\n" + self.body)

    @property
    def head_fits(self) -> bool:
        """Whether the part before the provenance is at most half a page."""
        head = self.body.rpartition(PROVENANCE)[0]
        return len(head) <= _HALF_PAGE[0] and head.count("\n- ") <= _HALF_PAGE[1]

    def fits(self, config: Config) -> bool:
        """Whether lint accepts a recap of this length."""
        most = longest_page(config)
        try:
            return len(self.body) <= most and len(self.text) <= most
        except InvalidDocument:  # more events than a header may hold
            return False


def longest_page(config: Config) -> int:
    """The length of the longest recap that lint accepts, in characters."""
    return 4 * configured_caps(config, "recap").hard


def page_header(
    doc_id: str, title: str, tags: Sequence[str], times: tuple[str, str], events: Iterable[str]
) -> dict[str, Any]:
    """The header of a recap; ``times`` are its first and last moment."""
    return {
        "id": doc_id,
        "title": title,
        "kind": "recap",
        "tags": list(tags),
        "created": times[0],
        "updated": times[1],
        "provenance": {"events": list(events), "patches": []},
        "verification": {"last_verified_commit": None, "status": "unknown"},
    }


class _Content(NamedTuple):
    """The material of a recap: its events, sorted; those that it uses; commits, parents first; the documents,
    and the commits and open items that may concern them."""

    events: SortedEvents
    used: Sequence[Event]
    commits: Sequence[Commit]
    documents: RecapDocuments
    history: History


class _Draft(NamedTuple):
    """The material of a recap, and how its page is rendered."""

    scope: RecapScope
    content: _Content
    activity: Activity
    config: Config

    def page(self, cited: Sequence[Event], room: Room) -> Page:
        """A page that shows the events ``cited`` and counts all of them."""
        scope, shown = self.scope, self.content.events
        if left := len(self.content.used) - len(cited):
            shown, _ = sort_events(cited, scope.doc_id, self.activity.reading)
            _add_commits(shown, self.content.commits, self.activity)
        header = self._header(cited)
        first, last = header["created"], header["updated"]
        private = tuple(event.id for event in cited if event.id in self.activity.private)
        rendered = _Lines(self.content, shown, self.activity.reading, room, self.config)
        lines = rendered.sections(left) | {"documents": rendered.documents(scope.doc_ids)}
        if scope.kind != "day" and first != last:
            ends = (first[:10], last[:10]) if first[:10] != last[:10] else (first, last)
            lines["summary"].insert(0, f"Period: {ends[0]} to {ends[1]}.")
        lines["summary"] += [scope.note] if scope.note else []
        # Documents with invisible characters are refused.
        values: dict[str, str | Sequence[str]] = {
            "title": visible(scope.title),
            "kind": scope.kind,
            "name": visible(scope.key),
            "day": scope.key if scope.kind == "day" else first[:10],
            **{name: [visible(line) for line in dict.fromkeys(listed)] for name, listed in lines.items()},
        }
        return Page(header, fill(self.activity.template, self.config.recap_template, values), private)

    def roomy(self, cited: Sequence[Event]) -> Page:
        """The page with the most room of which the part before the provenance is at most half a page."""
        pages = (self.page(cited, room) for room in _ROOMS)
        return next((page for page in pages if page.head_fits), self.page(cited, _ROOMS[-1]))

    def _header(self, cited: Sequence[Event]) -> dict[str, Any]:
        content = self.content
        moments = [utc_key(event.ts) for event in content.used]
        moments += [utc_key(commit.date) for commit in content.commits]
        first, last = parse_timestamp(min(moments)), parse_timestamp(max(moments))
        assert first is not None
        assert last is not None
        header = page_header(
            self.scope.doc_id,
            visible(" ".join(self.scope.title.split()))[:200],
            ["recap"],
            (format_timestamp(first), format_timestamp(last)),
            (event.id for event in cited),
        )
        if not cited:
            header["provenance"]["commits"] = [commit.sha for commit in content.commits[:_MOST_CITED]]
        return header | ({"episode_id": self.scope.key} if self.scope.kind == "episode" else {})


def by_name(documents: Iterable[Document]) -> dict[str, Document]:
    """Documents by id and alias."""
    listed = list(documents)
    names = {alias: document for document in listed for alias in document.aliases}
    return names | {one.id: one for one in listed}


def recap_page(
    scope: RecapScope, activity: Activity, documents: Mapping[str, Document], config: Config
) -> Page:
    """The recap of ``scope``; ``documents`` are by id and alias.

    ``created`` and ``updated`` are its first and last moment. Events beyond the largest document that lint
    accepts are counted but not cited. Raises ``NotFound`` if there are no events and no commits,
    `InvalidConfig` for an invalid template.
    """
    reading = activity.reading
    while True:
        draft = _draft(scope, activity._replace(reading=reading), documents, config)
        page = _fitting(draft)
        commands = {run.command for run in draft.content.events.ran}
        suspect = _suspicious(page.body, commands, reading.unfit)
        if not suspect:
            return masked(page, reading.unfit)
        reading = reading._replace(omit={*reading.omit, suspect})


def masked(page: Page, unfit: Callable[[str], bool]) -> Page:
    """The page with a mark instead of each line that may not be in it; the citations of a line are kept."""
    lines = page.body.split("\n")
    while unfit("\n".join(lines)):
        at = bisect_left(range(len(lines)), True, key=lambda at: unfit("\n".join(lines[: at + 1])))
        mark = _LINE.sub(rf"\1{OMITTED}\2", lines[at])
        if mark == lines[at]:  # the fault of no line
            break
        lines[at] = mark
    title = OMITTED if unfit(page.header["title"]) else page.header["title"]
    return page._replace(header=page.header | {"title": title}, body="\n".join(lines))


def _suspicious(body: str, commands: Iterable[str], unfit: Callable[[str], bool]) -> str:
    """The command with which the text becomes unfit although each is fit on its own, as a name in one and a
    value in the next look like a secret; "" if it is fit, or unfit for another reason."""
    if not unfit(body):
        return ""
    shown = {visible(span(text)): one for one in commands for text in (one, cut(one, LONGEST_TITLE))}
    places = sorted(
        (start, start + len(text), command)
        for text, command in shown.items()
        for start in _places(text, body)
    )
    at = bisect_left(places, True, key=lambda place: unfit(body[: place[1]]))
    return places[at][2] if at < len(places) and not unfit(body[: places[at][0]]) else ""


def _places(text: str, body: str) -> Iterator[int]:
    """Where a text occurs in another."""
    at = body.find(text)
    while at >= 0:
        yield at
        at = body.find(text, at + len(text))


def has_events(scope: RecapScope, activity: Activity, config: Config) -> bool:
    """Whether a recap would have events to cite."""
    return bool(sort_events(_events_in_order(scope, activity, config), scope.doc_id, activity.reading)[1])


def _events_in_order(scope: RecapScope, activity: Activity, config: Config) -> list[Event]:
    by_id = {event.id: scope.part_of(event) for event in activity.events if scope.holds(event)}
    if not config.recap_private:
        by_id = {id: event for id, event in by_id.items() if id not in activity.private}
    return sorted(by_id.values(), key=lambda event: (utc_key(event.ts), event.id))


def _draft(
    scope: RecapScope, activity: Activity, documents: Mapping[str, Document], config: Config
) -> _Draft:
    """The material of a recap, and how its page is rendered."""
    reading = activity.reading._replace(private=activity.private, quote=config.recap_quote)
    sorted_events, used = sort_events(_events_in_order(scope, activity, config), scope.doc_id, reading)
    by_sha = {commit.sha: commit for commit in activity.commits if scope.holds_moment(commit.date)}
    commits = list(by_sha.values())[::-1]
    if not used and not commits:
        raise NotFound(
            f"no events or commits {scope.label}",
            hint="pass another day, or --since (days are in UTC)"
            if scope.kind == "day"
            else "run `thunderus-mem log --all`",
        )
    for commit in commits:
        sorted_events.count_paths(activity.touched.get(commit.sha, ()))
    _add_commits(sorted_events, commits, activity)
    history = _history(scope, activity, sorted_events, documents)
    content = _Content(sorted_events, used, commits, RecapDocuments(documents), history)
    return _Draft(scope, content, activity._replace(reading=reading), config)


def _add_commits(events: SortedEvents, commits: Sequence[Commit], activity: Activity) -> None:
    """Add the changes that only commits record."""
    by_sha = {commit.sha: commit for commit in commits}
    for change in activity.committed:
        if change.sha in by_sha:
            story = events.stories.setdefault(change.doc_id, DocumentRecap())
            commit = by_sha[change.sha]
            step = RecapStep(IN_COMMIT[change.operation], by=one_line(commit.author))
            story.add(step, utc_key(commit.date))


def _history(
    scope: RecapScope, activity: Activity, events: SortedEvents, documents: Mapping[str, Document]
) -> History:
    """The commits by file, parents first; the documents whose code or source was changed in the period or
    that were changed themselves, and proposals made in it."""
    by_path: dict[str, list[Commit]] = {}
    for commit in activity.commits[::-1]:
        for path in activity.touched.get(commit.sha, ()):
            by_path.setdefault(path, []).append(commit)

    def is_recent(one: OutdatedCode) -> bool:
        # After a move, no commit has the file of the anchor.
        is_within = one.commit is not None and scope.holds_moment(one.commit.date)
        return is_within or one.place.partition("#")[0] in events.paths

    outdated = {
        doc_id: list(each)
        for doc_id, each in activity.outdated.items()
        if doc_id in events.stories or any(map(is_recent, each))
    }
    for doc_id, source in _changed_sources(events, documents, activity.source_hash):
        by = _commit_of_source(by_path.get(source, ()), events.stories.get(doc_id))
        outdated.setdefault(doc_id, []).append(OutdatedCode(source, commit=by, is_source=True))
    proposals = [one for one in activity.proposals if scope.holds_moment(one.created)]
    return History(by_path, activity.touched, outdated, proposals)


def _changed_sources(
    events: SortedEvents, documents: Mapping[str, Document], source_hash: Callable[[str], str | None]
) -> Iterator[tuple[str, str]]:
    """The documents imported from files that changed since, and these, if one was changed in the period."""
    for doc_id in dict.fromkeys(document.id for document in documents.values()):
        document = documents[doc_id]
        source, imported = document.imported_from, document.imported_sha256
        is_recent = doc_id in events.stories or source in events.paths
        if imported and is_recent and source_hash(source) not in (None, imported):
            yield doc_id, source


def _commit_of_source(commits: Sequence[Commit], story: DocumentRecap | None) -> Commit | None:
    """The last of the commits of a file, if it is later than what happened to its document."""
    last = commits[-1] if commits else None
    is_later = last is not None and (story is None or utc_key(last.date) >= story.last[:19])
    return last if is_later else None


def _fitting(draft: _Draft) -> Page:
    """The page with half a page before the provenance, and as many events as fit."""
    config, used = draft.config, draft.content.used
    page = draft.roomy(used)
    if page.fits(config):
        return page
    ranked = _by_importance(used)

    def part(number: int) -> list[Event]:
        kept = set(ranked[:number])
        return [event for place, event in enumerate(used) if place in kept]

    number = _largest_that_fits(len(ranked), lambda most: draft.page(part(most), _ROOMS[-1]).fits(config))
    # A longer part before the provenance is worth some citations.
    pages = (draft.roomy(part(number * percent // 100)) for percent in (97, 94, 90))
    return next((page for page in pages if page.fits(config)), draft.page(part(number), _ROOMS[-1]))


def _by_importance(events: Sequence[Event]) -> list[int]:
    """The positions of ``events``, most important first: notes and decisions, then changes with a reason and
    failed commands, then other changes, commands and requests; earlier events first."""
    return sorted(range(len(events)), key=lambda place: (_weight(events[place]), place))


def _weight(event: Event) -> int:
    if event.kind == "patch":
        # Decisions matter most to later readers.
        if event.body.get("op") == "add" and any(one.doc_id.startswith("adr.") for one in changes_of(event)):
            return 0
        return 1 if event.why else 2
    if event.kind == "message":
        return 0 if decisions_in(said(event)) else 2
    if event.kind in ("tool_call", "tool_result"):
        return 2 if event.body.get("success", True) else 1
    return 2 if event.kind == "snapshot" else 0


def _largest_that_fits(most: int, fits: Callable[[int], bool]) -> int:
    """The largest number up to ``most`` that ``fits`` (a monotonic test); 0 if none does."""
    low, high = 0, most
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if fits(middle) else (low, middle - 1)
    return low


@dataclass(frozen=True)
class _Lines:
    """The lines of a page: ``shown`` events are described, those of ``whole`` counted."""

    whole: _Content
    shown: SortedEvents
    reading: EventReading
    room: Room
    config: Config

    def sections(self, left: int) -> dict[str, list[str]]:
        """The sections by name; ``left`` is the number of events omitted for length."""
        left_out = [f"{count(left, 'event')} omitted for length; see `thunderus-mem log`."] if left else []
        shown, stories = self.shown, self.stories.sections
        decided = self._quoted("decision", ((event, text, _stated(event)) for event, text in shown.decided))
        notes = self._quoted("note", ((event, said(event), "") for event in shown.notes))
        asked = self._quoted("open item", ((event, open_text(event), "") for event in shown.open_ends))
        unsolved = [
            self._problem(one) for one in shown.problems if not one.solved and not self._is_noted(one)
        ]
        quotes = self._quotes()
        provenance = _provenance(shown, self.whole.commits[:_MOST_CITED], self._cite)
        return {
            "summary": [*self._summary(), *left_out, *([f"{PRIVATE_QUOTES}."] if quotes else [])],
            "requests": self._requests(),
            "decisions": self._best(
                [*stories["decisions"], *map(StoryLine, decided)], 2 * self.room.lines, _MOST_DECISIONS
            ),
            "problems": self._few(self._problem(one) for one in shown.problems if one.solved),
            "changes": [*self._best(stories["changes"], self.room.lines), *self._settings()],
            "notes": self._few(notes),
            "open_ends": self._best(
                [*map(StoryLine, (*unsolved, *asked)), *stories["open_ends"]], 2 * self.room.lines
            ),
            "commits": self._commits(),
            "files": self._files() if self.room.files and self.config.recap_include_file_changes else [],
            "provenance": [
                *provenance,
                *([f"{PRIVATE_QUOTES}: {self._cite(quotes)}"] if quotes else []),
                *left_out,
            ],
        }

    @cached_property
    def stories(self) -> Stories:
        """The lines about documents."""
        content = self.whole
        days = {event.ts[:10] for event in content.used} | {one.date[:10] for one in content.commits}
        return Stories(
            self.shown, content.documents, content.history, self.reading, self.room, dated=len(days) > 1
        )

    def _cite(self, ids: Iterable[str]) -> str:
        return ", ".join(f"{span(id)} (private)" if id in self.reading.private else span(id) for id in ids)

    def _quotes(self) -> list[str]:
        """The private events whose texts are quoted."""
        shown = self.shown
        events = [*shown.requests, *shown.notes, *shown.open_ends, *(event for event, _ in shown.decided)]
        ids = [event.id for event in events] + [run.events[-1] for run in shown.ran if run.error]
        return list(dict.fromkeys(id for id in ids if self.reading.quote and id in self.reading.private))

    def _few(self, lines: Iterable[str], most: int = 0) -> list[str]:
        """The first lines, each once, and the number of the others."""
        return self._best(list(map(StoryLine, lines)), most or self.room.lines)

    def _best(self, lines: Sequence[StoryLine], most: int, named: int = 0) -> list[str]:
        """At most this many lines, each once, first those with a reason and edits by hand, then the number of
        things in the others, and the first documents of these; the order is that of the log."""
        listed = list(dict.fromkeys(lines))
        ranked = sorted(range(len(listed)), key=lambda at: (not listed[at].explains, at))
        best, rest = ranked[:most], ranked[most:]
        more = sum(len(listed[at].doc_ids) or 1 for at in rest)
        links = [self.stories.short_link(id) for at in sorted(rest) for id in listed[at].doc_ids][:named]
        counted = f"and {more} more{': ' if links else ''}{', '.join(links)}"
        return [*(listed[at].text for at in sorted(best)), *([counted] if more else [])]

    def _cut(self, text: str) -> str:
        return self.stories.cut(text)

    def _quoted(self, what: str, texts: Iterable[tuple[Event, str, str]]) -> list[str]:
        """The texts that may be quoted, each once and after its source, and the number of the others."""
        times: Counter[str] = Counter()
        hidden: dict[str, None] = {}
        for event, text, source in texts:
            if self.reading.shows(event):
                day = f" ({day})" if (day := self.stories.day_of(event.ts)) else ""
                times[source + self._cut(one_line(text[:1].upper() + text[1:])) + day] += 1
            else:
                hidden[event.id] = None
        lines = [
            line + (f" (written {number} times)" if number > 1 else "") for line, number in times.items()
        ]
        return lines + self._unquoted(f"{what} in a private event", f"{what}s in private events", hidden)

    def _unquoted(self, one: str, many: str, ids: Iterable[str], why: str = "not quoted") -> list[str]:
        """How many texts are not shown, their events, and how to print them."""
        listed = list(ids)
        counted = f"{count(len(listed), one, many)}, {why} (`thunderus-mem events show ID`)"
        return [f"{counted}: {few_spans(listed)}"] if listed else []

    def _requests(self) -> list[str]:
        if not self.reading.quote:
            return []
        return self._few([f'"{self._cut(one_line(said(event)))}"' for event in self.shown.requests])

    def documents(self, doc_ids: Sequence[str]) -> list[str]:
        """Links to the documents of an episode, and the number of those omitted."""
        lines = [self.stories.link(doc_id) for doc_id in doc_ids[: self.room.named]]
        more = len(doc_ids) - len(lines)
        return [*lines, *([f"and {more} more"] if more else [])]

    def _settings(self) -> list[str]:
        """The settings files that were changed in commits."""
        changed = [path for path in _SETTINGS if path in self.whole.events.paths]
        return [f"Settings changed: {spans(changed)}."] if changed and not self.whole.events.created else []

    # Commands and commits

    def _problem(self, one: CommandProblem) -> str:
        """The attempts of a command, and what was done between them."""
        parts: list[str] = []
        error = ""
        for at, each in enumerate(one.attempts):
            after = [f"editing {few_spans(each.files)}"] if each.files else []
            after += [f"running {few_spans(each.commands)}"] if each.commands else []
            between = f" after {' and '.join(after)}" if after else ""
            if each.run.ok:
                ended = f"; it succeeded{between}" if between else "; a retry succeeded"
                return f"{span(one.command)} {_few_parts(parts)}{ended}."
            often = f" {each.times} times" if each.times > 1 else ""
            if at:
                often = f" {each.times} more times" if often else " again"
            is_other = at > 0 and _DIGITS.sub("0", error) != _DIGITS.sub("0", each.run.error)
            error = each.run.error
            cause = f" ({each.run.cause})" if each.run.cause else ""
            parts.append(f"failed{often}{cause}{self._error(error, is_other)}{between}")
        return f"{span(one.command)} {_few_parts(parts)}; no later run in this period succeeded."

    def _is_noted(self, one: CommandProblem) -> bool:
        """Whether a file that the command lacks is named in an open item: that says more."""
        names = [word for word in one.command.split() if "/" in word and one.attempts[-1].run.cause]
        notes = [said(event) for event in self.shown.open_ends if self.reading.shows(event)]
        return any(name in note for name in names for note in notes)

    def _error(self, error: str, is_other: bool) -> str:
        if self.reading.quote and error:
            return f' with "{self._cut(one_line(error))}"'
        return " with another error" if is_other and error else ""

    def _commits(self) -> list[str]:
        """The commits that say most, and the number of the others; merges in one line. Those of bots come
        last.

        A commit that only changes the memory is named if its message says why: the lines about documents
        say what it changed."""
        merges = [one for one in self.whole.commits if one.subject.startswith("Merge ")]
        commits = [one for one in self.whole.commits if one not in merges]
        is_told = bool(self.shown.stories)
        named = [
            at for at, one in enumerate(commits) if explains(one) or not (is_told and self._is_in_store(one))
        ]
        ranked = sorted(named, key=lambda at: (*self._is_minor(commits[at]), at))
        lines = [self._commit(commits[at]) for at in sorted(ranked[: self.room.commits])]
        more = len(named) - len(lines)
        merged = few_of([self.stories.names(one) for one in merges[:FEW]], len(merges))
        return [
            *lines,
            *([f"and {more} more"] if more and lines else []),
            *([f"{count(len(merges), 'merge')}: {merged}"] if merges else []),
        ]

    def _commit(self, commit: Commit) -> str:
        """A commit with its message and author, and its day if there are several."""
        by = filter(None, (self._cut(one_line(commit.author)), self.stories.day_of(commit.date)))
        return f"{self.stories.says(commit)} ({', '.join(by)})"

    def _is_minor(self, commit: Commit) -> tuple[bool, bool, int]:
        is_minor = commit.author.endswith("[bot]") or self._is_in_store(commit)
        return is_minor, not explains(commit), -len(self.whole.history.touched.get(commit.sha, ()))

    def _is_in_store(self, commit: Commit) -> bool:
        paths = self.whole.history.touched.get(commit.sha, ())
        return bool(paths) and all(path.startswith(STORE) for path in paths)

    def _files(self) -> list[str]:
        """The files touched, or the most touched of many, without those of the store (documents are listed by
        id)."""
        counts, edited = self.whole.events.paths, self.whole.events.edited
        committed = {path for paths in self.whole.history.touched.values() for path in paths}
        most = min(self.config.recap_max_files, self.room.lines)
        paths = [path for path in counts if not path.startswith(STORE)]
        chosen = sorted(sorted(paths, key=lambda path: (-counts[path], path))[:most])
        lines = [
            span(cut(path, LONGEST_TITLE))
            + (" (edited, in no commit)" if committed and path in edited and path not in committed else "")
            for path in chosen
        ]
        return [*lines, f"and {len(paths) - most} more"] if most and len(paths) > most else lines

    def _summary(self) -> list[str]:
        day = self.whole.events
        lines = ["The memory was created."] if day.created else []
        operations: Counter[str] = Counter()
        for story in day.stories.values():
            operations.update(story.operations)
        if operations:
            documents = count(sum(bool(story.operations) for story in day.stories.values()), "document")
            parts = ", ".join(f"{number} {name}" for name, number in sorted(operations.items()))
            total = sum(operations.values())
            often = f"{count(total, 'change')} to {documents}: {parts}"
            once = f"{documents} {f'changed: {parts}' if len(operations) > 1 else next(iter(operations))}"
            lines.append(f"{once if documents == count(total, 'document') else often}.")
        if self.whole.commits:
            lines.append(f"{self._counted_commits()}.")
        if not self.reading.quote:
            lines += self._unquoted("request", "requests", (event.id for event in day.requests))
        unfit = [ids[-1] for ids in day.unfit]
        lines += self._unquoted("note or command", "notes and commands", unfit, OMITTED[1:-1])
        if day.ran and not lines:
            failed = sum(run.ok is False for run in day.ran)
            lines.append(f"{count(len(day.ran), 'command')} run, {failed} failed.")
        return lines or [f"{count(len(self.whole.used), 'event')}."]

    def _counted_commits(self) -> str:
        authors = sorted({self._cut(one_line(commit.author)) for commit in self.whole.commits})
        shown = [*authors[:FEW], *(["others"] if len(authors) > FEW else [])]
        return f"{count(len(self.whole.commits), 'commit')} by {', '.join(shown)}"


def _few_parts(parts: Sequence[str]) -> str:
    """The first and the last of the attempts, and the number of the others."""
    more = len(parts) - FEW
    shown = [*parts[:2], f"{count(more, 'more failure')}", parts[-1]] if more > 0 else parts
    return ", then ".join(shown)


def _stated(event: Event) -> str:
    """Where and by whom a decision was stated."""
    by = who(event.actor, event.origin) or ("the user" if event.actor == "user" else "")
    return f"Stated{' in a note' if event.kind == 'note' else ''}{f' by {by}' if by else ''}: "


def _provenance(
    day: SortedEvents, commits: Sequence[Commit], cite: Callable[[Iterable[str]], str]
) -> list[str]:
    together: dict[tuple[str, ...], list[str]] = {}
    for doc_id, story in day.stories.items():
        if story.events:
            together.setdefault(tuple(story.events), []).append(doc_id)
    lines = [f"Changes to {few_spans(doc_ids)}: {cite(events)}" for events, doc_ids in together.items()]
    cited: set[str] = set()
    for one in day.problems:
        state = "Solved" if one.solved else "Unsolved"
        lines.append(f"{state} problem {span(one.command)}: {cite(one.events)}")
        cited.update(one.events)
    by_command: dict[str, dict[str, None]] = {}
    for run in day.ran:
        if not cited.issuperset(run.events):
            by_command.setdefault(run.command, {}).update(dict.fromkeys(run.events))
    lines += [f"Ran {span(command)}: {cite(ids)}" for command, ids in by_command.items()]
    for name, events in (
        ("Requests", [event.id for event in day.requests]),
        ("Stated decisions", list(dict.fromkeys(event.id for event, _ in day.decided))),
        ("Notes", [event.id for event in day.notes]),
        ("Open items", [event.id for event in day.open_ends]),
        ("Reviews", [event.id for event in day.approvals]),
        ("Omitted texts", [id for ids in day.unfit for id in ids]),
    ):
        if events:
            lines.append(f"{name}: {cite(events)}")
    if commits:
        lines.append(f"Commits: {spans(commit.sha[:7] for commit in commits)}")
    return lines
