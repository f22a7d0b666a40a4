"""Which events a page tells of when there is no room for all, and which texts stand for many. Pure."""

from __future__ import annotations

import re
from datetime import date, timedelta
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from thunderus_mem.document.frontmatter.edit import compose
from thunderus_mem.document.timestamp import format_timestamp, parse_timestamp, utc_key
from thunderus_mem.document.unicode import visible
from thunderus_mem.errors import InvalidDocument, NotFound, ThunderusError
from thunderus_mem.log.event import changes_of
from thunderus_mem.recap.events import Day, EventReading, deed_of, note_text, sort_events
from thunderus_mem.recap.template import count, cut, fill, one_line, span, spans
from thunderus_mem.store.config import configured_caps

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

    from thunderus_mem.document.document import Document
    from thunderus_mem.git.repository import Commit
    from thunderus_mem.log.line import Event
    from thunderus_mem.recap.events import CommandProblem, RecapScope, Run, Story
    from thunderus_mem.store.config import Config

# In characters; what is longer takes the room of many others.
_LONG: Final = 500
_WORD = re.compile(r"[^\W\d_]{4,}")


def most_telling(events: Sequence[Event]) -> list[int]:
    """The places of ``events`` from the most to the least telling: what people wrote and decided, then
    changes with a reason and commands that failed, then other changes and commands, and last what is very
    long; earlier ones first."""
    return sorted(range(len(events)), key=lambda place: (_weight(events[place]), place))


def _weight(event: Event) -> int:
    text = event.body.get("text")
    # Of a message only the sentence that decides is told.
    length = len(text) if isinstance(text, str) and event.kind == "note" else 0
    if len(event.why) + length > _LONG:
        return 3
    if event.kind == "patch":
        # A decision is what a later reader misses most.
        if event.body.get("op") == "add" and any(one.doc_id.startswith("adr.") for one in changes_of(event)):
            return 0
        return 1 if event.why else 2
    if event.kind in ("tool_call", "tool_result"):
        return 2 if event.body.get("success", True) else 1
    return 0


def most_that_fits(most: int, fits: Callable[[int], bool]) -> int:
    """The largest number up to ``most`` that ``fits``, where less fits whenever more does; 0 when none."""
    low, high = 0, most
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if fits(middle) else (low, middle - 1)
    return low


def standing_for(texts: Sequence[str], number: int) -> list[int]:
    """The places of at most ``number`` texts that together speak of most of what all speak of, in order.

    Each word weighs as many texts as have it; the text whose words of those not told yet weigh most, for its
    length, comes next.
    """
    words = [frozenset(_WORD.findall(text.casefold())) for text in texts]
    weight: dict[str, int] = {}
    for each in words:
        for word in each:
            weight[word] = weight.get(word, 0) + 1
    told: set[str] = set()
    chosen: list[int] = []
    left = set(range(len(texts)))
    while left and len(chosen) < number:
        # A word that one text alone has says nothing of the others.
        gain = {
            at: sum(weight[word] for word in words[at] - told if weight[word] > 1)
            / (len(words[at]) + 4) ** 0.5
            for at in left
        }
        best = min(left, key=lambda at: (-gain[at], at))
        chosen.append(best)
        told |= words[best]
        left.discard(best)
    return sorted(chosen)


# The sections of a recap as lists of lines. Pure.

_BULK_NAMED = 3
_MOST_COMMANDS = 25
_OUTCOMES = {True: "✓", False: "✗", None: "~"}
_DECISION = re.compile(r"(?m)^##[ \t]+Decision[ \t]*$")
_ITEM = re.compile(r"(?m)^(?:[-*]|\d{1,2}[.)])[ \t]+")
_SENTENCE_END = re.compile(r"(?<=[.!?])\s")


def sections(
    told: Day,
    whole: Day,
    used: Sequence[Event],
    commits: Sequence[Commit],
    documents: Mapping[str, Document],
    *,
    private: Collection[str],
    most_commits: int,
    most_files: int,
    left: int,
    lead: Sequence[str] = (),
) -> dict[str, list[str]]:
    """Every section of a page by name. ``told`` is what it tells in detail, ``whole`` what it counts;
    ``left`` events are left out for length; ``lead`` begins the summary."""
    left_out = [f"{count(left, 'event')} left out for length: `thunderus-mem log` tells all."] if left else []
    unfit = (
        [f"{count(whole.unfit, 'text')} left out: a secret, or an order to the reader, seems to stand in it."]
        if whole.unfit
        else []
    )
    shown = _commits(commits, most_commits)
    return {
        "summary": [*lead, *_summary(whole, used, commits), *unfit, *left_out],
        "decisions": [*_decisions(told, documents)],
        "problems": [_problem(one) for one in told.problems if one.solved],
        "commands": _commands(told.ran),
        "changes": _changes(told, documents),
        "commits": [line for line, _ in shown],
        "notes": [note_text(event) for event in told.notes],
        "open_ends": [*(note_text(event) for event in told.open_ends), *_unsolved(told.problems)],
        "files": _files(whole, most_files) if most_files else [],
        "provenance": [*_provenance(told, [c for _, c in shown if c], private), *left_out],
    }


def _summary(day: Day, used: Sequence[Event], commits: Sequence[Commit]) -> list[str]:
    lines = []
    deeds: dict[str, int] = {}
    for story in day.stories.values():
        for deed in story.deeds:
            deeds[deed] = deeds.get(deed, 0) + 1
    for _, op, ids in day.bulk:
        deeds[deed_of(op, "")] = deeds.get(deed_of(op, ""), 0) + len(ids)
    if deeds:
        changed = len({*day.stories, *(doc_id for _, _, ids in day.bulk for doc_id in ids)})
        parts = ", ".join(f"{number} {deed}" for deed, number in sorted(deeds.items()))
        lines.append(f"{count(changed, 'document')} changed: {parts}.")
    if day.ran:
        ended = [(sum(run.ok is ok for run in day.ran), word) for ok, word in _ENDED]
        parts = ", ".join(f"{number} {word}" for number, word in ended if number)
        looks = f"; {day.looks} more only looked around" if day.looks else ""
        lines.append(f"{count(len(day.ran), 'command')} run: {parts}{looks}.")
    solved = sum(one.solved is not None for one in day.problems)
    if day.problems:
        lines.append(f"{count(len(day.problems), 'problem')}, {solved} solved.")
    if day.decided:
        lines.append(f"{count(len(day.decided), 'decision')} told of in messages.")
    if day.notes or day.open_ends:
        ends = f", {count(len(day.open_ends), 'open end')}" if day.open_ends else ""
        lines.append(f"{count(len(day.notes) + len(day.open_ends), 'note')}{ends}.")
    if day.decisions:
        lines.append(f"{count(len(day.decisions), 'approval or snapshot', 'approvals and snapshots')}.")
    if commits:
        authors = sorted({one_line(commit.author) for commit in commits})
        named = f" by {', '.join(authors)}" if len(authors) > 1 else ""
        lines.append(f"{count(len(commits), 'commit')}{named}.")
    if used:
        number = len({event.session_id for event in used})
        lines.append(f"{count(len(used), 'event')} in {count(number, 'session')}.")
    return lines


_ENDED = ((True, "succeeded"), (False, "failed"), (None, "of unknown outcome"))


def _decisions(day: Day, documents: Mapping[str, Document]) -> Iterator[str]:
    """Decision records that were made, what messages decided, what was approved, with reasons."""
    for doc_id, story in day.stories.items():
        if _is_decision(doc_id, story):
            document = documents.get(doc_id)
            title = f" ({one_line(document.title)})" if document is not None else ""
            decided = _first_of_decision(document) if document is not None else ""
            reason = f" Why: {story.made_for}." if story.made_for else ""
            yield f"{span(doc_id)}{title}: {decided or 'decided.'}{reason}"
    for _, one in day.decided:
        yield one_line(cut(one.whole))
    for event in day.decisions:
        reason = event.body.get("reason") or event.why
        if isinstance(reason, str) and reason:
            verdict = "Refused" if event.body.get("approved") is False else "Approved"
            about = [id for id in event.refs.get("memory_doc_ids") or () if isinstance(id, str)]
            yield f"{verdict}{' ' + spans(about[:_BULK_NAMED]) if about else ''}: {one_line(cut(reason))}"


def _is_decision(doc_id: str, story: Story) -> bool:
    return doc_id.startswith("adr.") and not story.deeds.keys().isdisjoint(("added", "superseded"))


def _first_of_decision(document: Document) -> str:
    """The first sentence, or list item, under the heading Decision."""
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
    """How a command that failed came to succeed."""
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
            yield f"{span(one.failed.command)} failed{often}, and no success followed."


def _commands(ran: Sequence[Run]) -> list[str]:
    """Each command once, with its outcomes in order."""
    by_command: dict[str, list[Run]] = {}
    for run in ran:
        by_command.setdefault(run.command, []).append(run)
    lines = []
    for command, each in list(by_command.items())[:_MOST_COMMANDS]:
        outcomes = "".join(_OUTCOMES[run.ok] for run in each[:10]) + ("…" if len(each) > 10 else "")
        lines.append(f"{outcomes} {span(command)}")
    more = len(by_command) - len(lines)
    return [*lines, f"and {more} more"] if more > 0 else lines


def _changes(day: Day, documents: Mapping[str, Document]) -> list[str]:
    lines = []
    for event, op, ids in day.bulk:
        reason = f": {one_line(event.why).rstrip('.')}" if event.why else ""
        named = f"{spans(ids[:_BULK_NAMED])} and {len(ids) - _BULK_NAMED} more"
        lines.append(f"{len(ids)} documents {deed_of(op, '')} ({named}){reason}.")
    for doc_id, story in day.stories.items():
        if _is_decision(doc_id, story):
            continue
        document = documents.get(doc_id)
        title = f" ({one_line(document.title)})" if document is not None and document.title else ""
        deeds = ", ".join(
            deed if times == 1 else f"{deed} {times} times" for deed, times in story.deeds.items()
        )
        reasons = f": {'; '.join(story.reasons)}" if story.reasons else ""
        lines.append(f"{span(doc_id)}{title} {deeds}{reasons}.")
    return lines


def _commits(commits: Sequence[Commit], most: int) -> list[tuple[str, Commit | None]]:
    """The commits, or of many those that stand for the others, with how many there are."""
    chosen = commits
    if len(commits) > most:
        own = [commit for commit in commits if not commit.subject.startswith("Merge ")] or commits
        chosen = [own[place] for place in standing_for([commit.subject for commit in own], most)]
    lines: list[tuple[str, Commit | None]] = [
        (f"{span(commit.sha[:7])} {one_line(commit.subject)}", commit) for commit in chosen
    ]
    more = len(commits) - len(lines)
    return [*lines, (f"and {more} more", None)] if more else lines


def _files(day: Day, most: int) -> list[str]:
    """Files that were touched, the most often touched of many, without the store's own: documents are told of
    by their ids."""
    paths = [path for path in day.paths if not path.startswith(".thunderus/")]
    chosen = sorted(sorted(paths, key=lambda path: (-day.paths[path], path))[:most])
    lines = [span(path) for path in chosen]
    return [*lines, f"and {len(paths) - most} more"] if len(paths) > most else lines


def _provenance(day: Day, commits: Sequence[Commit], private: Collection[str]) -> list[str]:
    def cite(ids: Iterable[str]) -> str:
        return ", ".join(f"{span(id)} (private)" if id in private else span(id) for id in ids)

    lines = [f"{len(ids)} documents {deed_of(op, '')}: {cite([event.id])}" for event, op, ids in day.bulk]
    together: dict[tuple[str, ...], list[str]] = {}
    for doc_id, story in day.stories.items():
        together.setdefault(tuple(story.events), []).append(doc_id)
    lines += [f"Changes of {spans(doc_ids)}: {cite(events)}" for events, doc_ids in together.items()]
    cited: set[str] = set()
    for one in day.problems:
        lines.append(
            f"{'Solved' if one.solved else 'Unsolved'}, {span(one.failed.command)}: {cite(one.events)}"
        )
        cited.update(one.events)
    by_command: dict[str, dict[str, None]] = {}
    for run in day.ran:
        if not cited.issuperset(run.events):
            by_command.setdefault(run.command, {}).update(dict.fromkeys(run.events))
    lines += [f"Ran {span(command)}: {cite(ids)}" for command, ids in by_command.items()]
    for name, events in (
        ("Decisions in messages", list(dict.fromkeys(event.id for event, _ in day.decided))),
        ("Notes", [event.id for event in day.notes]),
        ("Open ends", [event.id for event in day.open_ends]),
        ("Approvals and snapshots", [event.id for event in day.decisions]),
    ):
        if events:
            lines.append(f"{name}: {cite(events)}")
    if commits:
        lines.append(f"Commits: {spans(commit.sha[:7] for commit in commits)}")
    return lines


# A recap: what the log, the documents and git say happened, with the events that say so.
#
# Pure and deterministic. Shared events tell all they say; of private ones (messages and tools) only
# commands with their outcome, files edited and sentences that decide something are told, never what came
# out of a tool. What recaps themselves did is left out. What is too long for a document is told in part:
# the page says how much is left out, its counts are those of the whole.

_FEW_COMMITS = 30
_FEWER_COMMITS = 12
_FEW_FILES = 10


class RecapMaterial(NamedTuple):
    """What a recap is made from. ``events`` and ``commits`` may reach beyond its scope, in any order.

    ``private`` are ids of events that stay in this working tree. ``template`` is the text of a template of
    one's own, ``template_path`` its file. ``reading`` says how texts are read. ``touched`` are the files that
    commits touched, by hash.
    """

    events: Iterable[Event]
    documents: Iterable[Document] = ()
    commits: Iterable[Commit] = ()
    private: Collection[str] = frozenset()
    template: str = ""
    template_path: str = ""
    reading: EventReading = EventReading()
    touched: Mapping[str, Sequence[str]] = MappingProxyType({})


class Page(NamedTuple):
    """A recap to be: its header and body, and the private events that it cites."""

    header: dict[str, Any]
    body: str
    private: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """The whole file."""
        return compose(self.header, "\n" + self.body)


class _Whole(NamedTuple):
    """Everything there is to tell, and how its page is filled."""

    scope: RecapScope
    told: Day
    used: list[Event]
    commits: list[Commit]
    documents: Mapping[str, Document]
    material: RecapMaterial
    config: Config


def recap_page(scope: RecapScope, material: RecapMaterial, config: Config) -> Page:
    """The recap of ``scope``.

    ``created`` and ``updated`` are the first and last moment told of. What does not fit into the largest
    document that lint accepts is counted and left out. Raises ``NotFound`` when nothing happened,
    `InvalidConfig` for a template that cannot be used.
    """
    by_id = {event.id: event for event in material.events if scope.holds(event)}
    if not config.recap_private:
        by_id = {id: event for id, event in by_id.items() if id not in material.private}
    ordered = sorted(by_id.values(), key=lambda event: (utc_key(event.ts), event.id))
    reading = material.reading._replace(keywords=config.consolidate_keywords)
    told, used = sort_events(ordered, scope.doc_id, reading)
    by_sha = {commit.sha: commit for commit in material.commits if scope.holds_moment(commit.date)}
    made = sorted(by_sha.values(), key=lambda commit: (utc_key(commit.date), commit.sha))
    if not used and not made:
        hint = (
            "days are counted in UTC"
            if scope.kind == "day"
            else "`thunderus-mem events list` shows what there is"
        )
        raise NotFound(f"nothing happened {scope.label}: no event to tell of and no commit", hint=hint)
    for commit in made:
        for path in material.touched.get(commit.sha, ()):
            told.paths[path] = told.paths.get(path, 0) + 1
    whole = _Whole(
        scope,
        told,
        used,
        made,
        {document.id: document for document in material.documents},
        material._replace(reading=reading),
        config,
    )
    return _fitting(whole, 4 * configured_caps(config, "recap").hard)


def _fitting(whole: _Whole, most: int) -> Page:
    """The page in ``most`` characters, with as many of the events as there is room for."""

    def fits(page: Page) -> bool:
        if len(page.body) > most:
            return False
        try:
            return len(page.text) <= most
        except InvalidDocument:  # more events than a header may hold
            return False

    files = whole.config.recap_max_files if whole.config.recap_include_file_changes else 0
    page = _page(whole, whole.used, _FEW_COMMITS, files)
    if fits(page):
        return page
    ranked = most_telling(whole.used)

    def part(number: int) -> Page:
        kept = set(ranked[:number])
        cited = [event for place, event in enumerate(whole.used) if place in kept]
        return _page(whole, cited, _FEWER_COMMITS, min(files, _FEW_FILES))

    return part(most_that_fits(len(ranked), lambda number: fits(part(number))))


def _page(whole: _Whole, cited: list[Event], most_commits: int, most_files: int) -> Page:
    """A page that tells of the events ``cited``, and counts all."""
    left = len(whole.used) - len(cited)
    told = sort_events(cited, whole.scope.doc_id, whole.material.reading)[0] if left else whole.told
    header = _header(whole, cited)
    first, last = header["created"], header["updated"]
    span = f"From {first} to {last}." if first != last else f"At {first}."
    lead = [] if whole.scope.kind == "day" else [span]
    private = tuple(event.id for event in cited if event.id in whole.material.private)
    lines = sections(
        told,
        whole.told,
        whole.used,
        whole.commits,
        whole.documents,
        private=frozenset(private),
        most_commits=most_commits,
        most_files=most_files,
        left=left,
        lead=lead,
    )
    values: dict[str, str | Sequence[str]] = {
        "title": visible(whole.scope.title),
        "kind": whole.scope.kind,
        "name": visible(whole.scope.key),
        "day": header["created"][:10] if whole.scope.kind != "day" else whole.scope.key,
    }
    # A document that holds what nobody sees is refused.
    values |= {name: [visible(line) for line in listed] for name, listed in lines.items()}
    return Page(header, fill(whole.material.template, whole.material.template_path, values), private)


def _header(whole: _Whole, cited: Sequence[Event]) -> dict[str, Any]:
    moments = sorted(
        utc_key(text) for text in (*(e.ts for e in whole.used), *(c.date for c in whole.commits))
    )
    first, last = parse_timestamp(moments[0]), parse_timestamp(moments[-1])
    assert first is not None
    assert last is not None
    header = {
        "id": whole.scope.doc_id,
        "title": visible(" ".join(whole.scope.title.split()))[:200],
        "kind": "recap",
        "tags": ["recap"],
        "created": format_timestamp(first),
        "updated": format_timestamp(last),
        "provenance": {"events": [event.id for event in cited], "patches": [], "commits": []},
        "verification": {"last_verified_commit": None, "status": "unknown"},
    }
    if whole.scope.kind == "episode":
        header["episode_id"] = whole.scope.key
    return header


# A recap of recaps: a week or a month from the lines of its days' and sessions' recaps. Pure.
#
# Decisions, problems, open ends and notes are taken over with the recap they stand in; commands and files
# stay below, where the links lead. A day's recap tells its sessions, so these count only on days that have
# none.

_WEEK = re.compile(r"(\d{4})-?[Ww](\d{1,2})", re.ASCII)
_MONTH = re.compile(r"(\d{4})-(\d{2})", re.ASCII)
_OF_DAY = re.compile(r"recap\.(\d{4}-\d{2}-\d{2})(?:-([a-z0-9]{8}))?", re.ASCII)
_HEADING = re.compile(r"(?m)^## +(.+?) *$")
_TAKEN = {
    "Decisions": "decisions",
    "Problems and what solved them": "problems",
    "Notes": "notes",
    "Open ends": "open_ends",
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
    """The document id of a week's or month's recap: ``recap.2026-w04``, ``recap.2026-01``."""
    return f"recap.{name.lower()}"


def _span_of(kind: str, name: str) -> _Span:
    """Raises `ThunderusError` for a name that is no week or month."""
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
    raise ThunderusError(f'"{name}" is not a {kind}', hint="a week is 2026-W04, a month 2026-01")


def last_day(kind: str, name: str) -> str:
    """The last day of a week or month."""
    return _span_of(kind, name).last.isoformat()


def recaps_within(documents: Iterable[Document], first: str, last: str) -> list[Document]:
    """The recaps of days, and of sessions on days without, from one day to another, in order."""
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

    Raises `NotFound` when there is no recap within, `ThunderusError` for a name that is none.
    """
    within = _span_of(kind, name)
    recaps = recaps_within(documents, within.first.isoformat(), within.last.isoformat())
    if not recaps:
        raise NotFound(
            f"there is no recap of a day or session in {within.name}",
            hint="write them first, as with `thunderus-mem recap --day yesterday`",
        )
    most = 4 * configured_caps(config, "recap").hard
    for longest in (300, 160, 80, 40, 0):
        page = _rollup_page(kind, within, recaps, longest)
        page = page._replace(private=tuple(id for id in page.header["provenance"]["events"] if id in private))
        try:
            if len(compose(page.header, "\n" + page.body)) <= most:
                return page
        except InvalidDocument:
            continue
    return page


def _rollup_page(kind: str, within: _Span, recaps: Sequence[Document], longest: int) -> Page:
    lines: dict[str, list[str]] = {name: [] for name in ("summary", "provenance", *_TAKEN.values())}
    lines["summary"].append(f"{count(len(recaps), 'recap')} from {within.first} to {within.last}.")
    for recap in recaps:
        parts = dict(_sections(recap.body))
        said = " ".join(parts.get("Summary", ())[:4])
        lines["summary"].append(f"{span(recap.id)}: {cut(said, max(longest, 80)) or 'no summary'}")
        for heading, section in _TAKEN.items():
            if longest:
                lines[section] += [
                    f"{_safe(cut(line, longest))} ({span(recap.id)})" for line in parts.get(heading, ())
                ]
        ends = list(dict.fromkeys([*recap.events[:1], *recap.events[-1:]]))
        between = f", {len(recap.events) - len(ends)} more" if len(recap.events) > len(ends) else ""
        lines["provenance"].append(
            f"From {span(recap.id)}: {', '.join(map(span, ends)) or 'commits alone'}{between}"
        )
    title = f"Recap of {within.name}"
    header = {
        "id": rollup_id(within.name),
        "title": title,
        "kind": "recap",
        "tags": ["recap", kind],
        "created": min(recap.data().get("created") or f"{within.first}T00:00:00Z" for recap in recaps),
        "updated": max(recap.data().get("updated") or f"{within.last}T00:00:00Z" for recap in recaps),
        "provenance": {
            "events": list(dict.fromkeys(id for r in recaps for id in (*r.events[:1], *r.events[-1:]))),
            "patches": [],
            "commits": [],
        },
        "verification": {"last_verified_commit": None, "status": "unknown"},
        "links": {"derives_from": sorted(recap.id for recap in recaps)},
    }
    empty: dict[str, list[str]] = {name: [] for name in ("commands", "changes", "commits", "files")}
    values = {name: [visible(line) for line in listed] for name, listed in (empty | lines).items()}
    body = fill(
        "", "", {"title": title, "kind": kind, "name": within.name, "day": str(within.first), **values}
    )
    return Page(header, body)


def _safe(line: str) -> str:
    """A line that was cut in the middle of a code span, without the span."""
    return line if line.count("`") % 2 == 0 else line.replace("`", "'")


def _sections(body: str) -> Iterator[tuple[str, list[str]]]:
    """The list items of each section of a recap."""
    parts = _HEADING.split(body)
    for heading, text in zip(parts[1::2], parts[2::2], strict=False):
        yield heading, [line[2:].strip() for line in text.splitlines() if line.startswith("- ")]
