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
from thunderus_mem.document.secrets import PRIVATE_QUOTES
from thunderus_mem.document.timestamp import format_timestamp, parse_timestamp, utc_key
from thunderus_mem.document.unicode import visible
from thunderus_mem.errors import InvalidDocument, NotFound
from thunderus_mem.log.event import changes_of
from thunderus_mem.recap.events import (
    ADDED,
    BY_HAND,
    MERGED,
    SUPERSEDED,
    RecapStep,
    decisions_in,
    open_text,
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
from thunderus_mem.store.paths import GARDENER_FILE

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

    from thunderus_mem.document.document import Document
    from thunderus_mem.git.commits import Commit
    from thunderus_mem.log.line import Event
    from thunderus_mem.recap.events import (
        CommandProblem,
        DocumentRecap,
        EventReading,
        Run,
        SortedEvents,
    )
    from thunderus_mem.recap.scope import Activity, RecapScope
    from thunderus_mem.store.config import Config

_HALF_PAGE: Final = (2_200, 24)
"""The characters and list items allowed before the provenance."""
_NAMED: Final = 3
_MOST_COMMITS: Final = 4
_MOST_DECISIONS: Final = 12
"""The most decisions named besides those with a line of their own."""
_MOST_CITED: Final = 30
_LONGEST_TITLE: Final = 70
_OUTCOMES = {True: "succeeded", False: "failed", None: "outcome unknown"}
_MOST_OUTCOMES: Final = 4
_REVIEWED = {"approved": "approval", "rejected": "rejection", "expired": "expired proposal"}
_ENDED = ((True, "succeeded"), (False, "failed"), (None, "with unknown outcome"))
_IN_BULK = frozenset(map(operation_name, ("import", "migrate", "resolve", "verify", "anchor")))
"""Operations that are listed in one line, whatever their reasons."""
_SETTINGS = (".thunderus/config.toml", GARDENER_FILE)
_LABELS = {MERGED: "into", SUPERSEDED: "by"}
_MOST_STEPS: Final = 5
_DIGITS = lazy_pattern(r"\d+")
_GONE = frozenset(("removed", "reverted", "removed by hand"))
_PROPOSED = lazy_pattern(r"(?mi)^##[ \t]+Status[ \t]*\n\s*(?:proposed|draft)\b")
_LINKABLE = frozenset("[]|#\n`<")
_IN_LINK = str.maketrans("[]|`<", "()/'(")
_WORD = lazy_pattern(r"[^\W\d_]{4,}")


class _Room(NamedTuple):
    """The most lines of a section, the longest text quoted in a line, and the most documents named in one."""

    lines: int
    length: int
    named: int = 3


_ROOMS: Final = (
    *(_Room(8, 200, 12), _Room(8, 200, 5), _Room(6, 160), _Room(5, 120), _Room(4, 100), _Room(3, 100)),
    *(_Room(2, 80), _Room(1, 80)),
)


class _Line(NamedTuple):
    """A line, and the documents that it is about; those that say why are shown first."""

    text: str
    explains: bool = True
    doc_ids: tuple[str, ...] = ()


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
        "provenance": {"events": list(events), "patches": []},
        "verification": {"last_verified_commit": None, "status": "unknown"},
    }


class _Content(NamedTuple):
    """The material of a recap: its events, sorted; those that it uses; commits, parents first, and the files
    that they touch; the documents by id and alias."""

    events: SortedEvents
    used: Sequence[Event]
    commits: Sequence[Commit]
    committed: Collection[str]
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
        rendered = _Lines(self.content, shown, self.activity.reading, room, self.config)
        lines = rendered.sections(left) | {"documents": rendered.documents(scope.doc_ids)}
        if scope.kind != "day" and first != last:
            lines["summary"].insert(0, f"Period: {first} to {last}.")
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
    by_id = {event.id: scope.part_of(event) for event in activity.events if scope.holds(event)}
    if not config.recap_private:
        by_id = {id: event for id, event in by_id.items() if id not in activity.private}
    ordered = sorted(by_id.values(), key=lambda event: (utc_key(event.ts), event.id))
    reading = activity.reading._replace(private=activity.private, quote=config.recap_quote)
    sorted_events, used = sort_events(ordered, scope.doc_id, reading)
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
    committed = frozenset(path for paths in activity.touched.values() for path in paths)
    content = _Content(sorted_events, used, commits, committed, documents)
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

    def sections(self, left: int) -> dict[str, list[str]]:
        """The sections by name; ``left`` is the number of events omitted for length."""
        left_out = [f"{count(left, 'event')} omitted for length; see `thunderus-mem log`."] if left else []
        shown, commits = self.shown, self.whole.commits
        decided = self._quoted((event, text, _stated(event)) for event, text in shown.decided)
        notes = self._quoted((event, said(event), "") for event in shown.notes)
        asked = self._quoted((event, open_text(event), "") for event in shown.open_ends)
        unsolved = [self._problem(one) for one in shown.problems if not one.solved]
        quotes, provenance = self._quotes(), _provenance(shown, commits[:_MOST_CITED], self._cite)
        return {
            "summary": [*self._summary(), *left_out, *([f"{PRIVATE_QUOTES}."] if quotes else [])],
            "requests": self._requests(),
            "decisions": self._best([*self._stories["decisions"], *map(_Line, decided)], 2, _MOST_DECISIONS),
            "problems": self._few([self._problem(one) for one in shown.problems if one.solved]),
            "commands": self._few(_commands(shown.ran)),
            "changes": [*self._best(self._stories["changes"]), *self._settings()],
            "commits": self._commits(),
            "notes": self._few(notes),
            "open_ends": self._best([*self._stories["open_ends"], *map(_Line, (*asked, *unsolved))]),
            "files": self._files() if self.config.recap_include_file_changes else [],
            "provenance": [
                *provenance,
                *([f"{PRIVATE_QUOTES}: {self._cite(quotes)}"] if quotes else []),
                *left_out,
            ],
        }

    def _cite(self, ids: Iterable[str]) -> str:
        return ", ".join(f"{span(id)} (private)" if id in self.reading.private else span(id) for id in ids)

    def _quotes(self) -> list[str]:
        """The private events whose texts are quoted."""
        shown = self.shown
        events = [*shown.requests, *shown.notes, *shown.open_ends, *(event for event, _ in shown.decided)]
        ids = [event.id for event in events] + [run.events[-1] for run in shown.ran if run.error]
        return list(dict.fromkeys(id for id in ids if self.reading.quote and id in self.reading.private))

    def _few(self, lines: Sequence[str]) -> list[str]:
        """The first lines, each once, and the number of the others."""
        listed = list(dict.fromkeys(lines))
        more = len(listed) - self.room.lines
        return [*listed[: self.room.lines], f"and {more} more"] if more > 0 else listed

    def _cut(self, text: str) -> str:
        return closed(cut(text, self.room.length))

    def _quoted(self, texts: Iterable[tuple[Event, str, str]]) -> list[str]:
        """The texts that may be quoted, each once and after its source, and the number of the others."""
        times: Counter[str] = Counter()
        hidden = 0
        for event, text, source in texts:
            if self.reading.shows(event):
                times[source + self._cut(one_line(text[:1].upper() + text[1:]))] += 1
            else:
                hidden += 1
        lines = [
            line + (f" (written {number} times)" if number > 1 else "") for line, number in times.items()
        ]
        return [*lines, f"{hidden} in private events, not quoted"] if hidden else lines

    def _requests(self) -> list[str]:
        if not self.reading.quote:
            return []
        return self._few([f'"{self._cut(one_line(said(event)))}"' for event in self.shown.requests])

    # Documents

    def documents(self, doc_ids: Sequence[str]) -> list[str]:
        """Links to the documents of an episode, and the number of those omitted."""
        lines = [self._link(doc_id) for doc_id in doc_ids[: self.room.named]]
        more = len(doc_ids) - len(lines)
        return [*lines, *([f"and {more} more"] if more else [])]

    def _link(self, doc_id: str) -> str:
        """A link to the document with its title; its title and id, if it cannot be linked."""
        document = None if doc_id in self._merged else self.whole.documents.get(doc_id)
        title = document.title if document is not None else self.shown.titles.get(doc_id, "")
        title = cut(one_line(title.translate(_IN_LINK)), _LONGEST_TITLE)
        if document is None or not _LINKABLE.isdisjoint(document.id):
            shown = span(cut(doc_id, _LONGEST_TITLE))
            return f"{title} ({shown})" if title and not self.reading.unfit(title) else shown
        return f"[[{document.id}|{title}]]" if title else f"[[{document.id}]]"

    def _short_link(self, doc_id: str) -> str:
        """A link to the document without its title."""
        document = None if doc_id in self._merged else self.whole.documents.get(doc_id)
        if document is None or not _LINKABLE.isdisjoint(document.id):
            return span(cut(doc_id, _LONGEST_TITLE))
        return f"[[{document.id}]]"

    def _because(self, reasons: Iterable[str]) -> str:
        """The reasons, each once, as the end of a line."""
        given = [reason for reason in dict.fromkeys(reasons) if reason]
        if not given:
            return ""
        return f" {'Reason' if len(given) == 1 else 'Reasons'}: {self._cut('; '.join(given[:_NAMED]))}."

    @cached_property
    def _merged(self) -> set[str]:
        """The documents that were merged into others, which have their ids as aliases now."""
        stories = self.shown.stories.items()
        return {doc_id for doc_id, story in stories if MERGED in story.operations}

    def _section_of(self, doc_id: str, steps: Sequence[RecapStep]) -> str:
        """Where these steps are listed: decisions are records that were added, superseded or reviewed."""
        is_gone = steps[-1].operation in _GONE and doc_id not in self.whole.documents
        done = {step.operation for step in steps}
        decides = not ADDED.isdisjoint(done) or SUPERSEDED in done or any(step.review for step in steps)
        if not doc_id.startswith("adr.") or is_gone or not decides:
            return "changes"
        document = self.whole.documents.get(doc_id)
        is_proposed = document is not None and _PROPOSED.search(document.body) is not None
        return "open_ends" if is_proposed and SUPERSEDED not in done else "decisions"

    @cached_property
    def _stories(self) -> dict[str, list[_Line]]:
        """What happened to the documents and why, by section: one line for all documents with the same steps
        for the same reasons. Imports and verifications have a line of their own, whatever their reasons."""
        together: dict[tuple[str, tuple[RecapStep, ...]], tuple[dict[str, None], dict[str, None]]] = {}
        for doc_id, story in self.shown.stories.items():
            steps = self._steps(doc_id, story)
            alone = [[step] for step in steps if step.operation in _IN_BULK]
            for each in (*alone, [step for step in steps if step.operation not in _IN_BULK]):
                if not each:
                    continue
                in_bulk = each[0].operation in _IN_BULK
                key = tuple(step._replace(other="", reason="" if in_bulk else step.reason) for step in each)
                section = self._section_of(doc_id, each)
                doc_ids, reasons = together.setdefault((section, key), ({}, {}))
                doc_ids[doc_id] = reasons[each[-1].reason] = None
        lines: dict[str, list[_Line]] = {"decisions": [], "open_ends": [], "changes": []}
        mentioned: set[str] = set()
        for (section, key), (doc_ids, reasons) in together.items():
            explained = any(reasons) or any(step.reason or step.operation in BY_HAND for step in key)
            # The reasons of steps before the last one are given once.
            first = [
                step._replace(reason="") if step.reason in {*mentioned, key[-1].reason} else step
                for step in key[:-1]
            ]
            mentioned |= {step.reason for step in first}
            text = self._story(list(doc_ids), [*first, key[-1]], reasons, section)
            lines[section].append(_Line(text, explained, tuple(doc_ids)))
        return lines

    def _best(self, lines: Sequence[_Line], share: int = 1, named: int = 0) -> list[str]:
        """The lines that fit, first those with a reason and edits by hand, then the number of things in the
        others, and the first documents of these; the order is that of the log."""
        listed = list(dict.fromkeys(lines))
        ranked = sorted(range(len(listed)), key=lambda at: (not listed[at].explains, at))
        best, rest = ranked[: share * self.room.lines], ranked[share * self.room.lines :]
        more = sum(len(listed[at].doc_ids) or 1 for at in rest)
        names = [self._short_link(doc_id) for at in sorted(rest) for doc_id in listed[at].doc_ids][:named]
        counted = f"and {more} more{': ' if names else ''}{', '.join(names)}"
        return [*(listed[at].text for at in sorted(best)), *([counted] if more else [])]

    def _steps(self, doc_id: str, story: DocumentRecap) -> list[RecapStep]:
        """The steps of a document: one for repeated operations, unless they have other reasons; none for a
        supersession that was undone."""
        found: list[RecapStep] = []
        for step in story.steps:
            if step.operation == SUPERSEDED and not self._supersedes(step.other, doc_id):
                continue
            if found and found[-1].operation == step.operation and not (step.reason and found[-1].reason):
                step = step._replace(reason=found.pop().reason or step.reason)
            found.append(step)
        if len(found) > _MOST_STEPS:
            middle = RecapStep(f"changed {count(len(found) - _MOST_STEPS + 1, 'more time')}")
            found[_MOST_STEPS - 2 : -1] = [middle]
        return found

    def _supersedes(self, doc_id: str, old_id: str) -> bool:
        document = self.whole.documents.get(doc_id)
        return document is None or any(
            link.rel == "supersedes" and link.target == old_id for link in document.links
        )

    def _story(
        self, doc_ids: Sequence[str], steps: Sequence[RecapStep], reasons: Iterable[str], section: str
    ) -> str:
        """The line of documents with the same steps; ``reasons`` are those of the last step."""
        number = len(doc_ids)
        others = [self._others(doc_id, steps) for doc_id in doc_ids[: self.room.named]]
        parts = []
        for step, other in zip(steps, others[0] if number == 1 else [""] * len(steps), strict=True):
            done = step.operation
            if section == "open_ends" and done in ADDED:
                done = "proposed, not decided"
            reason = step.reason if step is not steps[-1] else ""
            parts.append(
                done
                + (f" {other}" if other else "")
                + (f", {step.review}" if step.review else "")
                + (f" (reason: {self._cut(reason)})" if reason else "")
            )
        text = ", then ".join(parts)
        if number == 1:
            text = f"{self._link(doc_ids[0])} {text}."
        else:
            named = [
                " ".join((self._link(doc_id), *filter(None, each)))
                for doc_id, each in zip(doc_ids, others, strict=False)
            ]
            text = f"{number} documents {text}: {_few_of(named, number)}."
        is_unexplained = steps[-1].operation in BY_HAND
        return text + (self._because(reasons) or (" No reason given." if is_unexplained else ""))

    def _others(self, doc_id: str, steps: Sequence[RecapStep]) -> list[str]:
        """For each step, the document that this one was merged into, superseded by or renamed from."""
        own = {step.operation: step.other for step in self.shown.stories[doc_id].steps if step.other}
        return [
            ""
            if not (other := own.get(step.operation))
            else f"{_LABELS[step.operation]} {self._link(other)}"
            if step.operation in _LABELS
            else f"from {span(cut(other, _LONGEST_TITLE))}"
            for step in steps
        ]

    def _settings(self) -> list[str]:
        """The settings files that were changed in commits."""
        changed = [path for path in _SETTINGS if path in self.whole.events.paths]
        return [f"Settings changed: {spans(changed)}."] if changed else []

    # Commands and commits

    def _problem(self, one: CommandProblem) -> str:
        """The attempts of a command, and what was done between them."""
        parts: list[str] = []
        error = ""
        for at, each in enumerate(one.attempts):
            after = [f"editing {_few_spans(each.files)}"] if each.files else []
            after += [f"running {_few_spans(each.commands)}"] if each.commands else []
            between = f" after {' and '.join(after)}" if after else ""
            if each.run.ok:
                ended = f"; it succeeded{between}" if between else "; a retry succeeded"
                return f"{span(one.command)} {_few_parts(parts)}{ended}."
            often = f" {each.times} times" if each.times > 1 else ""
            if at:
                often = f" {each.times} more times" if often else " again"
            is_other = at > 0 and _DIGITS.sub("0", error) != _DIGITS.sub("0", each.run.error)
            error = each.run.error
            parts.append(f"failed{often}{self._error(error, is_other)}{between}")
        return f"{span(one.command)} {_few_parts(parts)}; it has not succeeded since."

    def _error(self, error: str, is_other: bool) -> str:
        if self.reading.quote and error:
            return f' with "{self._cut(one_line(error))}"'
        return " with another error" if is_other and error else ""

    def _commits(self) -> list[str]:
        """The commits, or a representative choice of many, and the numbers of merges and of the others."""
        most = min(self.room.lines, _MOST_COMMITS)
        commits = [one for one in self.whole.commits if not one.subject.startswith("Merge ")]
        chosen = [commits[at] for at in _representative([one.subject for one in commits], most)]
        lines = [
            f"{span(one.sha[:7])} {closed(cut(one_line(one.subject), _LONGEST_TITLE))}" for one in chosen
        ]
        more = len(commits) - len(chosen)
        lines += [f"and {more} more"] if more else []
        merges = [one.sha[:7] for one in self.whole.commits if one not in commits]
        return [*lines, f"{count(len(merges), 'merge')} ({_few_spans(merges)})"] if merges else lines

    def _files(self) -> list[str]:
        """The files touched, or the most touched of many, without those of the store (documents are listed by
        id)."""
        counts, edited, committed = self.whole.events.paths, self.whole.events.edited, self.whole.committed
        most = min(self.config.recap_max_files, 3 * self.room.lines)
        paths = [path for path in counts if not path.startswith(".thunderus/")]
        chosen = sorted(sorted(paths, key=lambda path: (-counts[path], path))[:most])
        lines = [
            span(cut(path, _LONGEST_TITLE))
            + (" (edited, in no commit)" if committed and path in edited and path not in committed else "")
            for path in chosen
        ]
        return [*lines, f"and {len(paths) - most} more"] if most and len(paths) > most else lines

    def _summary(self) -> list[str]:
        day, lines = self.whole.events, []
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
        if day.ran:
            ended = [(sum(run.ok is ok for run in day.ran), word) for ok, word in _ENDED]
            ended += [(day.looks, "read-only (not listed)")]
            parts = ", ".join(f"{number} {word}" for number, word in ended if number)
            lines.append(f"{count(len(day.ran) + day.looks, 'command')} run: {parts}.")
        if counts := self._counts():
            lines.append(f"{', '.join(counts)}.")
        if self.whole.used:
            lines.append(f"Based on {count(len(self.whole.used), 'event')}.")
        if day.unfit:
            lines.append(f"{count(day.unfit, 'text')} omitted: possible secret or prompt injection.")
        return lines

    def _counts(self) -> list[str]:
        day, commits = self.whole.events, self.whole.commits
        outcomes = Counter(outcome_of(event) for event in day.approvals)
        solved = sum(one.solved for one in day.problems)
        numbers = [
            (len(day.requests), "request"),
            (len(day.decided), "stated decision"),
            *((outcomes[outcome], name) for outcome, name in _REVIEWED.items()),
            (solved, "solved problem"),
            (len(day.problems) - solved, "unsolved problem"),
            (len(day.open_ends), "open item"),
            (len(day.notes), "note"),
        ]
        listed = [count(number, name) for number, name in numbers if number]
        if commits:
            authors = sorted({self._cut(one_line(commit.author)) for commit in commits})
            shown = [*authors[:_NAMED], *(["others"] if len(authors) > _NAMED else [])]
            by = f" by {', '.join(shown)}" if len(authors) > 1 else ""
            listed.append(f"{count(len(commits), 'commit')}{by}")
        return listed


def _few_of(names: Sequence[str], number: int) -> str:
    """Names, the first of ``number``, separated by commas."""
    more = f" and {number - len(names)} more" if number > len(names) else ""
    return ", ".join(names) + more


def _few_spans(names: Sequence[str]) -> str:
    return _few_of([span(cut(name, _LONGEST_TITLE)) for name in names[:_NAMED]], len(names))


def _few_parts(parts: Sequence[str]) -> str:
    """The first and the last of the attempts, and the number of the others."""
    more = len(parts) - _NAMED
    shown = [*parts[:2], f"{count(more, 'more failure')}", parts[-1]] if more > 0 else parts
    return ", then ".join(shown)


def _stated(event: Event) -> str:
    """Where a decision was stated."""
    who = "user" if event.actor == "user" else "agent"
    return "Stated in a note: " if event.kind == "note" else f"Stated by the {who}: "


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


def _provenance(
    day: SortedEvents, commits: Sequence[Commit], cite: Callable[[Iterable[str]], str]
) -> list[str]:
    together: dict[tuple[str, ...], list[str]] = {}
    for doc_id, story in day.stories.items():
        if story.events:
            together.setdefault(tuple(story.events), []).append(doc_id)
    lines = [f"Changes to {_few_spans(doc_ids)}: {cite(events)}" for events, doc_ids in together.items()]
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
    ):
        if events:
            lines.append(f"{name}: {cite(events)}")
    if commits:
        lines.append(f"Commits: {spans(commit.sha[:7] for commit in commits)}")
    return lines
