"""Render the page of a recap. Pure and deterministic.

The part before the provenance is at most half a page: it links to documents instead of repeating them, has
each line once, and says how many lines are omitted. The provenance cites the events, up to the largest
document that lint accepts. Of private events (messages and tools) only commands with their outcome and edited
files are shown; texts only with ``recap.quote``. Events of recaps themselves are skipped.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from typing import TYPE_CHECKING, Any, Final

from thunderus_mem.document.frontmatter.write import compose
from thunderus_mem.document.timestamp import format_timestamp, parse_timestamp, utc_key
from thunderus_mem.document.unicode import visible
from thunderus_mem.errors import InvalidDocument, NotFound
from thunderus_mem.log.event import changes_of, named_ids
from thunderus_mem.recap.events import (
    ADDED,
    MERGED,
    SUPERSEDED,
    decisions_in,
    operation_name,
    outcome_of,
    said,
    sort_events,
)
from thunderus_mem.recap.template import (
    PROVENANCE,
    closed,
    count,
    cut,
    fill,
    one_line,
    span,
    spans,
)
from thunderus_mem.startup import NamedTuple, lazy_pattern
from thunderus_mem.store.config import configured_caps

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

    from thunderus_mem.document.document import Document
    from thunderus_mem.git.commits import Commit
    from thunderus_mem.log.line import Event
    from thunderus_mem.recap.events import (
        CommandProblem,
        DocumentRecap,
        EventReading,
        RecapStep,
        Run,
        SortedEvents,
    )
    from thunderus_mem.recap.scope import Activity, RecapScope
    from thunderus_mem.store.config import Config

_HALF_PAGE: Final = (2_200, 24)
"""The characters and list items allowed before the provenance."""
_NAMED: Final = 3
_MOST_COMMITS: Final = 4
_MOST_CITED: Final = 30
_LONGEST_TITLE: Final = 70
_OUTCOMES = {True: "succeeded", False: "failed", None: "outcome unknown"}
_MOST_OUTCOMES: Final = 4
_REVIEWED = {"approved": "approval", "rejected": "rejection", "expired": "expired proposal"}
_ENDED = ((True, "succeeded"), (False, "failed"), (None, "with unknown outcome"))
_IN_BULK = frozenset((MERGED, *map(operation_name, ("import", "migrate", "resolve", "verify", "anchor"))))
"""Operations that are listed in one line, whatever their reasons."""
_GONE = frozenset(("removed", "reverted", "removed by hand"))
_PROPOSED = lazy_pattern(r"(?mi)^##[ \t]+Status[ \t]*\n\s*(?:proposed|draft)\b")
_LINKABLE = frozenset("[]|#\n`<")
_IN_LINK = str.maketrans("[]|`<", "()/'(")
_WORD = lazy_pattern(r"[^\W\d_]{4,}")


class _Room(NamedTuple):
    """The most lines of a section, and the longest text quoted in a line."""

    lines: int
    length: int


_ROOMS: Final = (
    *(_Room(8, 200), _Room(6, 160), _Room(5, 120), _Room(4, 100), _Room(3, 100), _Room(2, 80)),
    _Room(1, 80),
)


class Page(NamedTuple):
    """A recap before it is written: header, body, and the private events that it cites."""

    header: dict[str, Any]
    body: str
    private: tuple[str, ...] = ()

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
        "provenance": {"events": list(events), "patches": [], "commits": []},
        "verification": {"last_verified_commit": None, "status": "unknown"},
    }


class _Content(NamedTuple):
    """The material of a recap: its events, sorted; those that it uses; commits; the documents by id and
    alias."""

    events: SortedEvents
    used: Sequence[Event]
    commits: Sequence[Commit]
    documents: Mapping[str, Document]


class _Draft(NamedTuple):
    """The material of a recap, and how its page is rendered."""

    scope: RecapScope
    content: _Content
    activity: Activity
    config: Config

    def page(self, cited: Sequence[Event], room: _Room) -> Page:
        """A page that shows the events ``cited`` and counts all of them."""
        scope, shown = self.scope, self.content.events
        if left := len(self.content.used) - len(cited):
            shown, _ = sort_events(cited, scope.doc_id, self.activity.reading)
        header = self._header(cited)
        first, last = header["created"], header["updated"]
        private = tuple(event.id for event in cited if event.id in self.activity.private)
        lines = _Lines(self.content, shown, self.activity.reading, room, self.config).sections(private, left)
        if scope.kind != "day":
            lines["summary"].insert(0, f"Period: {first} to {last}." if first != last else f"Time: {first}.")
        # Documents with invisible characters are refused.
        values: dict[str, str | Sequence[str]] = {
            "title": visible(scope.title),
            "kind": scope.kind,
            "name": visible(scope.key),
            "day": scope.key if scope.kind == "day" else first[:10],
            **{name: [visible(line) for line in dict.fromkeys(listed)] for name, listed in lines.items()},
        }
        return Page(header, fill(self.activity.template, self.config.recap_template, values), private)

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
        return header | ({"episode_id": self.scope.key} if self.scope.kind == "episode" else {})


def recap_page(scope: RecapScope, activity: Activity, documents: Iterable[Document], config: Config) -> Page:
    """The recap of ``scope``.

    ``created`` and ``updated`` are its first and last moment. Events beyond the largest document that lint
    accepts are counted but not cited. Raises ``NotFound`` if there are no events and no commits,
    `InvalidConfig` for an invalid template.
    """
    by_id = {event.id: event for event in activity.events if scope.holds(event)}
    if not config.recap_private:
        by_id = {id: event for id, event in by_id.items() if id not in activity.private}
    ordered = sorted(by_id.values(), key=lambda event: (utc_key(event.ts), event.id))
    reading = activity.reading._replace(private=activity.private, quote=config.recap_quote)
    sorted_events, used = sort_events(ordered, scope.doc_id, reading)
    by_sha = {commit.sha: commit for commit in activity.commits if scope.holds_moment(commit.date)}
    commits = sorted(by_sha.values(), key=lambda commit: (utc_key(commit.date), commit.sha))
    if not used and not commits:
        raise NotFound(
            f"no events or commits {scope.label}",
            hint="choose another day with --day, or a period with --since (days are in UTC)"
            if scope.kind == "day"
            else "run `thunderus-mem events list`",
        )
    for commit in commits:
        sorted_events.count_paths(activity.touched.get(commit.sha, ()))
    listed = list(documents)
    names = {alias: document for document in listed for alias in document.aliases}
    content = _Content(sorted_events, used, commits, names | {one.id: one for one in listed})
    return _fitting(_Draft(scope, content, activity._replace(reading=reading), config))


def _fitting(draft: _Draft) -> Page:
    """The page with half a page before the provenance, and as many events as fit."""
    config, used = draft.config, draft.content.used
    for room in _ROOMS:
        page = draft.page(used, room)
        if page.head_fits:
            break
    if page.fits(config):
        return page
    ranked = _by_importance(used)

    def part(number: int) -> Page:
        kept = set(ranked[:number])
        return draft.page([event for place, event in enumerate(used) if place in kept], room)

    return part(_largest_that_fits(len(ranked), lambda number: part(number).fits(config)))


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
    room: _Room
    config: Config

    def sections(self, private: Collection[str], left: int) -> dict[str, list[str]]:
        """The sections by name; ``private`` are ids of events local to this working tree, ``left`` the number
        of events omitted for length."""
        left_out = [f"{count(left, 'event')} omitted for length; see `thunderus-mem log`."] if left else []
        shown, commits = self.shown, self.whole.commits
        decided, notes = self._quoted(shown.decided), self._quoted(_texts(shown.notes))
        open_ends = [*self._proposed(), *self._quoted(_texts(shown.open_ends)), *self._unsolved()]
        files = self.config.recap_max_files if self.config.recap_include_file_changes else 0
        return {
            "summary": [*self._summary(), *left_out],
            "requests": self._requests(),
            "decisions": self._few([*self._decisions(), *decided, *self._reviews()]),
            "problems": self._few([self._problem(one) for one in shown.problems if one.solved]),
            "commands": self._few(_commands(shown.ran)),
            "changes": self._changes(),
            "commits": self._commits(),
            "notes": self._few(notes),
            "open_ends": self._few(open_ends),
            "files": _files(self.whole.events, min(files, self.room.lines)) if files else [],
            "provenance": [*_provenance(shown, commits[:_MOST_CITED], private), *left_out],
        }

    def _few(self, lines: Sequence[str]) -> list[str]:
        """The first lines, each once, and the number of the others."""
        listed = list(dict.fromkeys(lines))
        more = len(listed) - self.room.lines
        return [*listed[: self.room.lines], f"and {more} more"] if more > 0 else listed

    def _cut(self, text: str) -> str:
        return closed(cut(text, self.room.length))

    def _quoted(self, texts: Iterable[tuple[Event, str]]) -> list[str]:
        """The texts that may be quoted, and the number of the others."""
        lines, hidden = [], 0
        for event, text in texts:
            if self.reading.shows(event):
                lines.append(self._cut(one_line(text[:1].upper() + text[1:])))
            else:
                hidden += 1
        return [*lines, f"{hidden} in private events, not quoted"] if hidden else lines

    def _requests(self) -> list[str]:
        if not self.reading.quote:
            return []
        return self._few([f'"{self._cut(one_line(said(event)))}"' for event in self.shown.requests])

    # Documents

    def _link(self, doc_id: str) -> str:
        """A link to the document with its title; its id, if it cannot be linked."""
        document = None if doc_id in self._merged else self.whole.documents.get(doc_id)
        if document is None or not _LINKABLE.isdisjoint(document.id):
            return span(cut(doc_id, _LONGEST_TITLE))
        title = " ".join(document.title.translate(_IN_LINK).split())
        return f"[[{document.id}|{cut(one_line(title), _LONGEST_TITLE)}]]" if title else f"[[{document.id}]]"

    def _links(self, doc_ids: Sequence[str]) -> str:
        return _few_of([self._link(doc_id) for doc_id in doc_ids[: _NAMED + 1]], len(doc_ids))

    def _because(self, reasons: Iterable[str]) -> str:
        """The reasons, each once, as the end of a line."""
        given = [reason for reason in dict.fromkeys(reasons) if reason]
        if not given:
            return ""
        return f" {'Reason' if len(given) == 1 else 'Reasons'}: {self._cut('; '.join(given[:_NAMED]))}."

    def _is_proposed(self, doc_id: str) -> bool:
        document = self.whole.documents.get(doc_id)
        return document is not None and _PROPOSED.search(document.body) is not None

    def _decisions(self) -> Iterator[str]:
        """Decision records that were added or superseded, with their reasons."""
        for doc_id, story in self.shown.stories.items():
            if doc_id.startswith("adr.") and self._is_superseded(doc_id):
                if not self._is_replaced(story):
                    done = f"superseded by {self._link(story.successor)}"
                    yield self._change([doc_id], done, [story.reason_of((SUPERSEDED,))])
            elif _is_added_decision(doc_id, story) and not self._is_proposed(doc_id):
                yield self._change(
                    [doc_id], "added", [story.reason_of(ADDED)], self._replaced.get(doc_id, ())
                )

    def _proposed(self) -> Iterator[str]:
        """Decision records that were added and are still proposed."""
        for doc_id, story in self.shown.stories.items():
            is_current = _is_added_decision(doc_id, story) and not self._is_superseded(doc_id)
            if is_current and self._is_proposed(doc_id):
                yield self._change([doc_id], "is proposed, not decided", [story.reason_of(ADDED)])

    @cached_property
    def _merged(self) -> set[str]:
        """The documents that were merged into others, which have their ids as aliases now."""
        steps = (step for story in self.shown.stories.values() for step in story.steps)
        return {doc_id for step in steps if step.operation == MERGED for doc_id in step.others}

    @cached_property
    def _replaced(self) -> dict[str, list[str]]:
        """The documents superseded by each one that was added."""
        found: dict[str, list[str]] = {}
        for doc_id, story in self.shown.stories.items():
            if self._is_superseded(doc_id) and self._is_replaced(story):
                found.setdefault(story.successor, []).append(doc_id)
        return found

    def _is_replaced(self, story: DocumentRecap) -> bool:
        """Whether the line of the successor, which was added, lists the document of ``story``."""
        successor = self.shown.stories.get(story.successor)
        return successor is not None and not ADDED.isdisjoint(successor.operations)

    def _is_superseded(self, doc_id: str) -> bool:
        """Whether the document was superseded, unless that was undone."""
        story = self.shown.stories[doc_id]
        successor = self.whole.documents.get(story.successor)
        linked = successor is None or any(
            link.rel == "supersedes" and link.target == doc_id for link in successor.links
        )
        return SUPERSEDED in story.operations and linked

    def _change(
        self, doc_ids: Sequence[str], done: str, reasons: Iterable[str], replaced: Sequence[str] = ()
    ) -> str:
        """The line of a change of one or more documents; ``replaced`` are those that the first supersedes."""
        why = [*reasons, *(self.shown.stories[one].reason_of((SUPERSEDED,)) for one in replaced)]
        names = [self._named(doc_id, done) for doc_id in doc_ids[:_NAMED]]
        done += f", supersedes {self._links(replaced)}" if replaced else ""
        number = len(doc_ids)
        text = (
            f"{number} documents {done}: {_few_of(names, number)}." if number > 1 else f"{names[0]} {done}."
        )
        return text + self._because(why)

    def _named(self, doc_id: str, done: str) -> str:
        """A document, with its former id or the documents merged into it."""
        story = self.shown.stories[doc_id]
        others = [one for step in story.steps if step.operation == done for one in step.others]
        label = "with" if done == MERGED else "previously"
        return self._link(doc_id) + (f" ({label} {_few_spans(others)})" if others else "")

    def _reviews(self) -> list[str]:
        """What was approved and rejected; reviews with the same reason in one line."""
        together: dict[tuple[str, str], dict[str, None]] = {}
        for event in self.shown.approvals:
            given = event.body.get("reason") or event.why
            reason = one_line(given).rstrip(".") if isinstance(given, str) else ""
            about = together.setdefault((outcome_of(event).capitalize(), reason), {})
            about |= dict.fromkeys(named_ids(event))
        return [
            f"{verdict}{' ' if about else ''}{self._links(list(about))}.{self._because([reason])}"
            for (verdict, reason), about in together.items()
            if about or reason
        ]

    def _changes(self) -> list[str]:
        """What happened to the documents and why: the same change for the same reason in one line, and all
        imports and merges in one each."""
        together: dict[tuple[str, str, str], tuple[dict[str, None], dict[str, None]]] = {}
        for doc_id, story in self.shown.stories.items():
            for step in self._steps(doc_id, story):
                done, alone = step.operation, doc_id if doc_id in self._replaced else ""
                if done == SUPERSEDED:
                    done = f"superseded by {self._link(story.successor)}"
                key = (done, "" if done in _IN_BULK else step.reason, alone if done in ADDED else "")
                doc_ids, reasons = together.setdefault(key, ({}, {}))
                doc_ids[doc_id] = reasons[step.reason] = None
        lines = [
            (self._change(list(doc_ids), done, reasons, self._replaced.get(alone, ())), any(reasons))
            for (done, _, alone), (doc_ids, reasons) in together.items()
        ]
        # Changes with a reason say most; the order is that of the log.
        best = sorted(range(len(lines)), key=lambda at: (not lines[at][1], at))[: self.room.lines]
        more = len(lines) - len(best)
        return [*(lines[at][0] for at in sorted(best)), *([f"and {more} more"] if more else [])]

    def _steps(self, doc_id: str, story: DocumentRecap) -> Iterator[RecapStep]:
        """The steps to list: a document that was added and is gone, once; the later steps of a new document
        only if they have another reason; none that is in the line of a decision or a successor."""
        steps = list(story.steps)
        added = [step for step in steps if step.operation in ADDED]
        if added and steps[-1].operation in _GONE and doc_id not in self.whole.documents:
            yield steps[-1]._replace(operation=f"added, then {steps[-1].operation}")
            return
        for step in steps:
            if step.operation in ADDED:
                told = doc_id.startswith("adr.") or (doc_id, step.reason) in self._approved
            elif step.operation == SUPERSEDED:
                told = (
                    doc_id.startswith("adr.") or not self._is_superseded(doc_id) or self._is_replaced(story)
                )
            else:
                told = bool(added) and step.reason in ("", added[0].reason)
            if not told:
                yield step

    @cached_property
    def _approved(self) -> set[tuple[str, str]]:
        """The documents of approvals, with the reason."""
        return {
            (doc_id, one_line(event.why).rstrip("."))
            for event in self.shown.approvals
            for doc_id in named_ids(event)
        }

    # Commands and commits

    def _problem(self, one: CommandProblem) -> str:
        """How a failed command was made to succeed."""
        often = f" {one.times} times" if one.times > 1 else ""
        after = [f"editing {_few_spans(one.files)}"] if one.files else []
        after += [f"running {_few_spans(one.commands)}"] if one.commands else []
        between = f"it succeeded after {' and '.join(after)}" if after else "a retry succeeded"
        return f"{span(one.failed.command)} failed{often}{self._error(one)}; {between}."

    def _unsolved(self) -> Iterator[str]:
        for one in self.shown.problems:
            if one.solved is None:
                often = f" {one.times} times in a row" if one.times > 1 else ""
                failed = f"{span(one.failed.command)} failed{often}{self._error(one)}"
                yield f"{failed} and has not succeeded since."

    def _error(self, one: CommandProblem) -> str:
        return f' with "{self._cut(one_line(one.failed.error))}"' if one.failed.error else ""

    def _commits(self) -> list[str]:
        """The commits, or a representative choice of many, and the numbers of merges and of the others."""
        most = min(self.room.lines, _MOST_COMMITS)
        commits = [one for one in self.whole.commits if not one.subject.startswith("Merge ")]
        chosen = [commits[at] for at in _representative([one.subject for one in commits], most)]
        lines = [
            f"{span(one.sha[:7])} {closed(cut(one_line(one.subject), _LONGEST_TITLE))}" for one in chosen
        ]
        more, merges = len(commits) - len(chosen), len(self.whole.commits) - len(commits)
        lines += [f"and {more} more"] if more else []
        return [*lines, count(merges, "merge")] if merges else lines

    def _summary(self) -> list[str]:
        day, lines = self.whole.events, []
        operations = Counter(name for story in day.stories.values() for name in story.operations)
        if operations:
            changed = len(day.stories)
            parts = ", ".join(f"{number} {name}" for name, number in sorted(operations.items()))
            often = ", some more than once" if sum(operations.values()) > changed else ""
            changes = f"changed{often}: {parts}"
            if len(operations) == 1 and not often:
                changes = next(iter(operations))
            lines.append(f"{count(changed, 'document')} {changes}.")
        if day.ran:
            ended = [(sum(run.ok is ok for run in day.ran), word) for ok, word in _ENDED]
            parts = ", ".join(f"{number} {word}" for number, word in ended if number)
            looks = f"; {count(day.looks, 'read-only command')} not listed" if day.looks else ""
            lines.append(f"{count(len(day.ran), 'command')} run: {parts}{looks}.")
        if counts := self._counts():
            lines.append(f"{', '.join(counts)}.")
        if self.whole.used:
            number = len({event.session_id for event in self.whole.used})
            lines.append(f"{count(len(self.whole.used), 'event')} in {count(number, 'session')}.")
        if day.unfit:
            lines.append(f"{count(day.unfit, 'text')} omitted: possible secret or prompt injection.")
        return lines

    def _counts(self) -> list[str]:
        day, commits = self.whole.events, self.whole.commits
        outcomes = Counter(outcome_of(event) for event in day.approvals)
        solved = sum(one.solved is not None for one in day.problems)
        numbers = [
            (len(day.requests), "request"),
            (len(day.decided), "stated decision"),
            *((outcomes[outcome], name) for outcome, name in _REVIEWED.items()),
            (solved, "solved problem"),
            (len(day.problems) - solved, "unsolved problem"),
            (len(day.open_ends), "open item"),
            (len(day.notes), "note"),
            (len(day.snapshots), "snapshot"),
        ]
        listed = [count(number, name) for number, name in numbers if number]
        if commits:
            authors = sorted({self._cut(one_line(commit.author)) for commit in commits})
            shown = [*authors[:_NAMED], *(["others"] if len(authors) > _NAMED else [])]
            by = f" by {', '.join(shown)}" if len(authors) > 1 else ""
            listed.append(f"{count(len(commits), 'commit')}{by}")
        return listed


def _few_of(names: Sequence[str], number: int) -> str:
    """The first of ``number`` names, separated by commas."""
    more = f" and {number - _NAMED} more" if number > _NAMED else ""
    return ", ".join(names[:_NAMED]) + more


def _few_spans(names: Sequence[str]) -> str:
    return _few_of([span(cut(name, _LONGEST_TITLE)) for name in names[:_NAMED]], len(names))


def _texts(events: Iterable[Event]) -> Iterator[tuple[Event, str]]:
    return ((event, said(event)) for event in events)


def _is_added_decision(doc_id: str, story: DocumentRecap) -> bool:
    return doc_id.startswith("adr.") and not ADDED.isdisjoint(story.operations)


def _commands(ran: Sequence[Run]) -> list[str]:
    """Each command once, with its outcomes in order."""
    by_command: dict[str, list[Run]] = {}
    for run in ran:
        by_command.setdefault(run.command, []).append(run)
    return [
        f"{span(command)} ({_outcomes([run.ok for run in each])})" for command, each in by_command.items()
    ]


def _outcomes(each: Sequence[bool | None]) -> str:
    """The outcomes of a command in order: ``failed 2 times, succeeded``."""
    parts = [(ok, len(list(same))) for ok, same in groupby(each)]
    named = [_OUTCOMES[ok] + (f" {times} times" if times > 1 else "") for ok, times in parts[:_MOST_OUTCOMES]]
    return ", ".join([*named, "…"] if len(parts) > len(named) else named)


def _representative(texts: Sequence[str], number: int) -> list[int]:
    """The positions of at most ``number`` texts that together cover most of the words of all, in order.

    A word weighs as much as the number of texts that contain it; the next text chosen is the one with the
    largest weight of words not covered yet, relative to its length.
    """
    words = [frozenset(_WORD.findall(text.casefold())) for text in texts]
    weight: dict[str, int] = {}
    for each in words:
        for word in each:
            weight[word] = weight.get(word, 0) + 1
    covered: set[str] = set()
    chosen: list[int] = []
    left = set(range(len(texts)))
    while left and len(chosen) < number:
        # A word that is in one text only says nothing about the others.
        gain = {
            at: sum(weight[word] for word in words[at] - covered if weight[word] > 1)
            / (len(words[at]) + 4) ** 0.5
            for at in left
        }
        best = min(left, key=lambda at: (-gain[at], at))
        chosen.append(best)
        covered |= words[best]
        left.discard(best)
    return sorted(chosen)


def _files(day: SortedEvents, most: int) -> list[str]:
    """The files touched, or the most touched of many, without those of the store (documents are listed by
    id)."""
    paths = [path for path in day.paths if not path.startswith(".thunderus/")]
    chosen = sorted(sorted(paths, key=lambda path: (-day.paths[path], path))[:most])
    lines = [span(cut(path, _LONGEST_TITLE)) for path in chosen]
    return [*lines, f"and {len(paths) - most} more"] if len(paths) > most else lines


def _provenance(day: SortedEvents, commits: Sequence[Commit], private: Collection[str]) -> list[str]:
    def cite(ids: Iterable[str]) -> str:
        return ", ".join(f"{span(id)} (private)" if id in private else span(id) for id in ids)

    together: dict[tuple[str, ...], list[str]] = {}
    for doc_id, story in day.stories.items():
        together.setdefault(tuple(story.events), []).append(doc_id)
    lines = [f"Changes to {_few_spans(doc_ids)}: {cite(events)}" for events, doc_ids in together.items()]
    cited: set[str] = set()
    for one in day.problems:
        state = "Solved" if one.solved else "Unsolved"
        lines.append(f"{state} problem {span(one.failed.command)}: {cite(one.events)}")
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
        ("Snapshots", [event.id for event in day.snapshots]),
    ):
        if events:
            lines.append(f"{name}: {cite(events)}")
    if commits:
        lines.append(f"Commits: {spans(commit.sha[:7] for commit in commits)}")
    return lines
