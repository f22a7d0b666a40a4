"""Render the page of a recap, and of the rollup of a week or month. Pure and deterministic.

Shared events are shown in full; of private ones (messages and tools) only commands with their outcome, edited
files and decision sentences, never the output of a tool. Events of recaps themselves are skipped. If there is
too much for one document, only a part is shown: the page says how many events are omitted, and its counts
cover all of them.
"""

from __future__ import annotations

import re
from collections import Counter
from datetime import date, timedelta
from itertools import groupby
from typing import TYPE_CHECKING, Any, Final

from thunderus_mem.document.frontmatter.write import compose
from thunderus_mem.document.timestamp import format_timestamp, parse_timestamp, utc_key
from thunderus_mem.document.unicode import visible
from thunderus_mem.errors import InvalidDocument, NotFound, ThunderusError
from thunderus_mem.log.event import changes_of, named_ids
from thunderus_mem.recap.events import (
    ADDED,
    SUPERSEDED,
    note_text,
    operation_name,
    outcome_of,
    sort_events,
)
from thunderus_mem.recap.template import SECTIONS, count, cut, fill, one_line, span, spans
from thunderus_mem.startup import NamedTuple, lazy_pattern
from thunderus_mem.store.config import configured_caps

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

    from thunderus_mem.document.document import Document
    from thunderus_mem.git.commits import Commit
    from thunderus_mem.log.line import Event
    from thunderus_mem.recap.events import CommandProblem, DocumentRecap, Run, SortedEvents
    from thunderus_mem.recap.scope import Activity, RecapScope
    from thunderus_mem.store.config import Config

_FEW_COMMITS = 30
_FEWER_COMMITS = 12
_FEW_FILES = 10
# In characters; longer texts would displace many others.
_LONG: Final = 500
_BULK_NAMED = 3
_MOST_COMMANDS = 25
_OUTCOMES = {True: "succeeded", False: "failed", None: "outcome unknown"}
_MOST_OUTCOMES = 8
_REVIEWED = {"approved": "approval", "rejected": "rejection", "expired": "expired proposal"}
_ENDED = ((True, "succeeded"), (False, "failed"), (None, "with unknown outcome"))
_DECISION = lazy_pattern(r"(?m)^##[ \t]+Decision[ \t]*$")
_ITEM = lazy_pattern(r"(?m)^(?:[-*]|\d{1,2}[.)])[ \t]+")
_SENTENCE_END = lazy_pattern(r"(?<=[.!?])\s")
_WORD = lazy_pattern(r"[^\W\d_]{4,}")


class Page(NamedTuple):
    """A recap before it is written: header, body, and the private events that it cites."""

    header: dict[str, Any]
    body: str
    private: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """The whole file."""
        return compose(self.header, "\n" + self.body)

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
    """The material of a recap: its events, sorted; those that it uses; commits; the documents by id."""

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

    def page(self, cited: Sequence[Event], most_commits: int, most_files: int) -> Page:
        """A page that shows the events ``cited`` and counts all of them."""
        scope, shown_events = self.scope, self.content.events
        if left := len(self.content.used) - len(cited):
            shown_events, _ = sort_events(cited, scope.doc_id, self.activity.reading)
        header = self._header(cited)
        first, last = header["created"], header["updated"]
        private = tuple(event.id for event in cited if event.id in self.activity.private)
        lines = _sections(
            self.content,
            shown_events,
            frozenset(private),
            most_commits=most_commits,
            most_files=most_files,
            left=left,
        )
        if scope.kind != "day":
            lines["summary"].insert(0, f"Period: {first} to {last}." if first != last else f"Time: {first}.")
        # Documents with invisible characters are refused.
        values: dict[str, str | Sequence[str]] = {
            "title": visible(scope.title),
            "kind": scope.kind,
            "name": visible(scope.key),
            "day": scope.key if scope.kind == "day" else first[:10],
            **{name: [visible(line) for line in listed] for name, listed in lines.items()},
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
    accepts are counted but not shown. Raises ``NotFound`` if there are no events and no commits,
    `InvalidConfig` for an invalid template.
    """
    by_id = {event.id: event for event in activity.events if scope.holds(event)}
    if not config.recap_private:
        by_id = {id: event for id, event in by_id.items() if id not in activity.private}
    ordered = sorted(by_id.values(), key=lambda event: (utc_key(event.ts), event.id))
    sorted_events, used = sort_events(ordered, scope.doc_id, activity.reading)
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
    content = _Content(sorted_events, used, commits, {document.id: document for document in documents})
    return _fitting(_Draft(scope, content, activity, config))


def _fitting(draft: _Draft) -> Page:
    """The page with as many events as fit."""
    config, used = draft.config, draft.content.used
    files = config.recap_max_files if config.recap_include_file_changes else 0
    page = draft.page(used, _FEW_COMMITS, files)
    if page.fits(config):
        return page
    ranked = _by_importance(used)

    def part(number: int) -> Page:
        kept = set(ranked[:number])
        cited = [event for place, event in enumerate(used) if place in kept]
        return draft.page(cited, _FEWER_COMMITS, min(files, _FEW_FILES))

    return part(_largest_that_fits(len(ranked), lambda number: part(number).fits(config)))


def _by_importance(events: Sequence[Event]) -> list[int]:
    """The positions of ``events``, most important first: notes and decisions, then changes with a reason and
    failed commands, then other changes and commands, and very long texts last; earlier events first."""
    return sorted(range(len(events)), key=lambda place: (_weight(events[place]), place))


def _weight(event: Event) -> int:
    text = event.body.get("text")
    # Of a message only the decision sentence is shown.
    length = len(text) if isinstance(text, str) and event.kind == "note" else 0
    if len(event.why) + length > _LONG:
        return 3
    if event.kind == "patch":
        # Decisions matter most to later readers.
        if event.body.get("op") == "add" and any(one.doc_id.startswith("adr.") for one in changes_of(event)):
            return 0
        return 1 if event.why else 2
    if event.kind == "snapshot":
        return 2
    if event.kind in ("tool_call", "tool_result"):
        return 2 if event.body.get("success", True) else 1
    return 0


def _largest_that_fits(most: int, fits: Callable[[int], bool]) -> int:
    """The largest number up to ``most`` that ``fits`` (a monotonic test); 0 if none does."""
    low, high = 0, most
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if fits(middle) else (low, middle - 1)
    return low


def _sections(
    whole: _Content,
    detailed: SortedEvents,
    private: Collection[str],
    *,
    most_commits: int,
    most_files: int,
    left: int,
) -> dict[str, list[str]]:
    """The sections of a page by name. Events of ``detailed`` are shown, those of ``whole`` counted;
    ``private`` are ids of events local to this working tree; ``left`` is the number of events omitted for
    length."""
    left_out = [f"{count(left, 'event')} omitted for length; see `thunderus-mem log`."] if left else []
    shown, more = _chosen_commits(whole.commits, most_commits)
    return {
        "summary": [*_summary(whole), *left_out],
        "decisions": [*_decisions(detailed, whole.documents)],
        "problems": [_problem(one) for one in detailed.problems if one.solved],
        "commands": _commands(detailed.ran),
        "changes": _changes(detailed, whole.documents),
        "commits": [*(f"{span(one.sha[:7])} {one_line(one.subject)}" for one in shown), *more],
        "notes": [note_text(event) for event in detailed.notes],
        "open_ends": [*(note_text(event) for event in detailed.open_ends), *_unsolved(detailed.problems)],
        "files": _files(whole.events, most_files) if most_files else [],
        "provenance": [*_provenance(detailed, shown, private), *left_out],
    }


def _summary(whole: _Content) -> list[str]:
    day, lines = whole.events, []
    operations = Counter(name for story in day.stories.values() for name in story.operations)
    for _, op, ids in day.bulk:
        operations[operation_name(op)] += len(ids)
    if operations:
        changed = len({*day.stories, *(doc_id for _, _, ids in day.bulk for doc_id in ids)})
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
    solved = sum(one.solved is not None for one in day.problems)
    if day.problems:
        outcome = f"{solved} solved" if len(day.problems) > 1 else "solved" if solved else "not solved"
        lines.append(f"{count(len(day.problems), 'problem')}, {outcome}.")
    if day.decided:
        lines.append(f"{count(len(day.decided), 'decision')} stated.")
    if day.notes or day.open_ends:
        ends = f", {count(len(day.open_ends), 'open item')}" if day.open_ends else ""
        lines.append(f"{count(len(day.notes) + len(day.open_ends), 'note')}{ends}.")
    if day.approvals or day.snapshots:
        outcomes = Counter(outcome_of(event) for event in day.approvals)
        counts = [(name, outcomes[outcome]) for outcome, name in _REVIEWED.items()]
        counts.append(("snapshot", len(day.snapshots)))
        lines.append(f"{', '.join(count(number, name) for name, number in counts if number)}.")
    if whole.commits:
        authors = sorted({one_line(commit.author) for commit in whole.commits})
        named = f" by {', '.join(authors)}" if len(authors) > 1 else ""
        lines.append(f"{count(len(whole.commits), 'commit')}{named}.")
    if whole.used:
        number = len({event.session_id for event in whole.used})
        lines.append(f"{count(len(whole.used), 'event')} in {count(number, 'session')}.")
    if day.unfit:
        lines.append(f"{count(day.unfit, 'text')} omitted: possible secret or prompt injection.")
    return lines


def _decisions(day: SortedEvents, documents: Mapping[str, Document]) -> Iterator[str]:
    """New decision records, decisions in messages, and approvals, with their reasons."""
    for doc_id, story in day.stories.items():
        if _is_decision(doc_id, story):
            document = documents.get(doc_id)
            title = f" ({one_line(document.title)})" if document is not None else ""
            if _is_superseded(doc_id, story, documents):
                decided, why = f"superseded by {span(story.successor)}.", story.replaced_for
            else:
                decided = _first_of_decision(document) if document is not None else ""
                decided, why = decided or "added.", story.made_for
            yield f"{span(doc_id)}{title}: {decided}{f' Reason: {why}.' if why else ''}"
    for _, one in day.decided:
        yield one_line(cut(one))
    for event in day.approvals:
        reason = event.body.get("reason") or event.why
        if isinstance(reason, str) and reason:
            verdict = outcome_of(event).capitalize()
            about = named_ids(event)
            yield f"{verdict}{' ' + spans(about[:_BULK_NAMED]) if about else ''}: {one_line(cut(reason))}"


def _is_decision(doc_id: str, story: DocumentRecap) -> bool:
    return doc_id.startswith("adr.") and not story.operations.keys().isdisjoint(ADDED | {SUPERSEDED})


def _is_superseded(doc_id: str, story: DocumentRecap, documents: Mapping[str, Document]) -> bool:
    """Whether the document was superseded, unless that was undone."""
    successor = documents.get(story.successor)
    linked = successor is None or any(
        link.rel == "supersedes" and link.target == doc_id for link in successor.links
    )
    return SUPERSEDED in story.operations and linked


def _first_of_decision(document: Document) -> str:
    """The first sentence or list item under the heading Decision."""
    parts = _DECISION.split(document.body, maxsplit=1)
    if len(parts) < 2:
        return ""
    paragraph = parts[1].strip().partition("\n\n")[0]
    if paragraph.startswith(("#", "|", "```", "<")):
        return ""
    if (item := _ITEM.match(paragraph)) is not None:
        paragraph = _ITEM.split(paragraph[item.end() :], maxsplit=1)[0]
    return one_line(cut(_SENTENCE_END.split(" ".join(paragraph.split()))[0]))


def _problem(one: CommandProblem) -> str:
    """How a failed command was made to succeed."""
    often = f" {one.times} times" if one.times > 1 else ""
    after = []
    if one.files:
        after.append(f"editing {spans(one.files)}")
    if one.commands:
        after.append(f"running {spans(one.commands)}")
    assert one.solved is not None
    same = one.solved.command == one.failed.command
    then = "it succeeded" if same else f"{span(one.solved.command)} succeeded"
    between = f" after {' and '.join(after)}" if after else ""
    return f"{span(one.failed.command)} failed{often}; {then}{between}."


def _unsolved(problems: Iterable[CommandProblem]) -> Iterator[str]:
    for one in problems:
        if one.solved is None:
            often = f" {one.times} times in a row" if one.times > 1 else ""
            yield f"{span(one.failed.command)} failed{often} and has not succeeded since."


def _commands(ran: Sequence[Run]) -> list[str]:
    """Each command once, with its outcomes in order."""
    by_command: dict[str, list[Run]] = {}
    for run in ran:
        by_command.setdefault(run.command, []).append(run)
    lines = []
    for command, each in list(by_command.items())[:_MOST_COMMANDS]:
        lines.append(f"{span(command)}: {_outcomes([run.ok for run in each])}")
    more = len(by_command) - len(lines)
    return [*lines, f"and {more} more"] if more > 0 else lines


def _outcomes(each: Sequence[bool | None]) -> str:
    """The outcomes of a command in order: ``failed 2 times, succeeded``."""
    parts = [(ok, len(list(same))) for ok, same in groupby(each)]
    named = [_OUTCOMES[ok] + (f" {times} times" if times > 1 else "") for ok, times in parts[:_MOST_OUTCOMES]]
    return ", ".join([*named, "…"] if len(parts) > len(named) else named)


def _changes(day: SortedEvents, documents: Mapping[str, Document]) -> list[str]:
    lines = []
    for event, op, ids in day.bulk:
        reason = f" Reason: {one_line(event.why).rstrip('.')}." if event.why else ""
        named = f"{spans(ids[:_BULK_NAMED])} and {len(ids) - _BULK_NAMED} more"
        lines.append(f"{len(ids)} documents {operation_name(op)} ({named}).{reason}")
    for doc_id, story in day.stories.items():
        if _is_decision(doc_id, story):
            continue
        document = documents.get(doc_id)
        title = f" ({one_line(document.title)})" if document is not None and document.title else ""
        operations = ", ".join(
            _operation(name, story) + (f" {times} times" if times > 1 else "")
            for name, times in story.operations.items()
        )
        done = ", ".join([operations, *story.details])
        label = "Reason" if len(story.reasons) == 1 else "Reasons"
        reasons = f" {label}: {'; '.join(story.reasons)}." if story.reasons else ""
        lines.append(f"{span(doc_id)}{title} {done}.{reasons}")
    return lines


def _operation(name: str, story: DocumentRecap) -> str:
    return f"{name} by {span(story.successor)}" if name == SUPERSEDED else name


def _chosen_commits(commits: Sequence[Commit], most: int) -> tuple[Sequence[Commit], list[str]]:
    """The commits, or a representative choice of many, and a line with the number of the others."""
    if len(commits) <= most:
        return commits, []
    own = [commit for commit in commits if not commit.subject.startswith("Merge ")] or commits
    chosen = [own[place] for place in _representative([commit.subject for commit in own], most)]
    more = len(commits) - len(chosen)
    return chosen, [f"and {more} more"] if more else []


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
    lines = [span(path) for path in chosen]
    return [*lines, f"and {len(paths) - most} more"] if len(paths) > most else lines


def _provenance(day: SortedEvents, commits: Sequence[Commit], private: Collection[str]) -> list[str]:
    def cite(ids: Iterable[str]) -> str:
        return ", ".join(f"{span(id)} (private)" if id in private else span(id) for id in ids)

    lines = [f"{len(ids)} documents {operation_name(op)}: {cite([event.id])}" for event, op, ids in day.bulk]
    together: dict[tuple[str, ...], list[str]] = {}
    for doc_id, story in day.stories.items():
        together.setdefault(tuple(story.events), []).append(doc_id)
    lines += [f"Changes to {spans(doc_ids)}: {cite(events)}" for events, doc_ids in together.items()]
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


# A week or month, from the recaps of its days and sessions. Decisions, problems, open items and notes are
# copied with the id of their recap; commands and files are not, the links point to them. The recap of a day
# covers its sessions, so session recaps are used only for days without one.

_WEEK = lazy_pattern(r"(\d{4})-?[Ww](\d{1,2})", re.ASCII)
_MONTH = lazy_pattern(r"(\d{4})-(\d{2})", re.ASCII)
_OF_DAY = lazy_pattern(r"recap\.(\d{4}-\d{2}-\d{2})(?:-([a-z0-9]{8}))?", re.ASCII)
_HEADING = lazy_pattern(r"(?m)^## +(.+?) *$")
_COPIED_SECTIONS = {
    "Decisions": "decisions",
    "Problems solved": "problems",
    "Problems and what solved them": "problems",  # the heading in older recaps
    "Notes": "notes",
    "Open items": "open_ends",
    "Open ends": "open_ends",  # the heading in older recaps
}


class _Span(NamedTuple):
    first: date
    last: date
    name: str


def week_of(day: str) -> str:
    """The ISO week of a day: ``2026-W04``."""
    year, week, _ = date.fromisoformat(day).isocalendar()
    return f"{year:04d}-W{week:02d}"


def month_of(day: str) -> str:
    """The month of a day: ``2026-01``."""
    return day[:7]


def rollup_id(name: str) -> str:
    """The document id of the recap of a week or month: ``recap.2026-w04``, ``recap.2026-01``."""
    return f"recap.{name.lower()}"


def _span_of(kind: str, name: str) -> _Span:
    """Raises `ThunderusError` for an invalid week or month."""
    try:
        if kind == "week" and (found := _WEEK.fullmatch(name)) is not None:
            first = date.fromisocalendar(int(found[1]), int(found[2]), 1)
            return _Span(first, first + timedelta(days=6), week_of(first.isoformat()))
        if kind == "month" and (found := _MONTH.fullmatch(name)) is not None:
            first = date(int(found[1]), int(found[2]), 1)
            after = date(first.year + first.month // 12, first.month % 12 + 1, 1)
            return _Span(first, after - timedelta(days=1), name)
    except (ValueError, OverflowError):
        pass
    raise ThunderusError(
        f"invalid {kind} {name!r}", hint=f"use e.g. {'2026-W04' if kind == 'week' else '2026-01'}"
    )


def last_day(kind: str, name: str) -> str:
    """The last day of a week or month."""
    return _span_of(kind, name).last.isoformat()


def recaps_within(documents: Iterable[Document], first: str, last: str) -> list[Document]:
    """The recaps of days, and of sessions on days without one, from one day to another, in order."""
    found = []
    for document in documents:
        match = _OF_DAY.fullmatch(document.id) if document.kind == "recap" else None
        if match is not None and first <= match[1] <= last:
            found.append((match[1], match[2] or "", document))
    days = {day for day, session, _ in found if not session}
    kept = [one for one in found if not one[1] or one[0] not in days]
    return [document for _, _, document in sorted(kept, key=lambda one: (one[0], one[1], one[2].path))]


def rollup_page(
    kind: str, name: str, documents: Iterable[Document], config: Config, private: Collection[str] = ()
) -> Page:
    """The recap of a ``week`` (``2026-W04``) or ``month`` (``2026-01``); ``private`` are the events known to
    be private to some working tree.

    Raises `NotFound` if it contains no recap, `ThunderusError` for an invalid name.
    """
    within = _span_of(kind, name)
    recaps = recaps_within(documents, within.first.isoformat(), within.last.isoformat())
    if not recaps:
        raise NotFound(
            f"no recaps of days or sessions in {within.name}",
            hint="write them first, e.g. `thunderus-mem recap --day yesterday`",
        )
    for longest in (300, 160, 80, 40, 0):
        page = _rollup_page(kind, within, recaps, longest)
        if page.fits(config):
            break
    return page._replace(private=tuple(id for id in page.header["provenance"]["events"] if id in private))


def _rollup_page(kind: str, within: _Span, recaps: Sequence[Document], longest: int) -> Page:
    lines: dict[str, list[str]] = {name: [] for name in SECTIONS}
    lines["summary"].append(f"{count(len(recaps), 'recap')} from {within.first} to {within.last}.")
    cited: list[str] = []
    for recap in recaps:
        parts = dict(_rollup_sections(recap.body))
        said = " ".join(parts.get("Summary", ())[:4])
        lines["summary"].append(f"{span(recap.id)}: {cut(said, max(longest, 80)) or 'no summary'}")
        for heading, section in _COPIED_SECTIONS.items() if longest else ():
            lines[section] += [
                f"{_safe(cut(line, longest))} ({span(recap.id)})" for line in parts.get(heading, ())
            ]
        ends = list(dict.fromkeys([*recap.events[:1], *recap.events[-1:]]))
        cited += ends
        between = f", {len(recap.events) - len(ends)} more" if len(recap.events) > len(ends) else ""
        lines["provenance"].append(
            f"From {span(recap.id)}: {', '.join(map(span, ends)) or 'commits only'}{between}"
        )
    title = f"Recap of {within.name}"
    created = min(recap.data().get("created") or f"{within.first}T00:00:00Z" for recap in recaps)
    updated = max(recap.data().get("updated") or f"{within.last}T00:00:00Z" for recap in recaps)
    header = page_header(
        rollup_id(within.name), title, ["recap", kind], (created, updated), dict.fromkeys(cited)
    )
    header["links"] = {"derives_from": sorted(recap.id for recap in recaps)}
    values = {name: [visible(line) for line in listed] for name, listed in lines.items()}
    body = fill(
        "", "", {"title": title, "kind": kind, "name": within.name, "day": str(within.first), **values}
    )
    return Page(header, body)


def _safe(line: str) -> str:
    """A line with an unclosed code span (because it was cut), without the span."""
    return line if line.count("`") % 2 == 0 else line.replace("`", "'")


def _rollup_sections(body: str) -> Iterator[tuple[str, list[str]]]:
    """The list items of each section of a recap."""
    parts = _HEADING.split(body)
    for heading, text in zip(parts[1::2], parts[2::2], strict=False):
        yield heading, [line[2:].strip() for line in text.splitlines() if line.startswith("- ")]
