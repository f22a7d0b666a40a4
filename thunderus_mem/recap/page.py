"""A recap: what the log, the documents and git say happened, with the events that say so. Pure,
deterministic.

Shared events tell all they say; of private ones (messages and tools) only commands with their outcome, files
edited and sentences that decide something are told, never what came out of a tool. What recaps themselves did
is left out. What is too long for a document is told in part: the page says how much is left out, its counts
are those of the whole.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from thunderus_mem.document.frontmatter.edit import compose
from thunderus_mem.document.timestamp import format_timestamp, parse_timestamp, utc_key
from thunderus_mem.document.unicode import visible
from thunderus_mem.errors import InvalidDocument, NotFound
from thunderus_mem.log.event import changes_of
from thunderus_mem.recap.events import sort_events
from thunderus_mem.recap.sections import RecapContent, sections
from thunderus_mem.recap.template import fill
from thunderus_mem.store.config import configured_caps

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from thunderus_mem.document.document import Document
    from thunderus_mem.log.line import Event
    from thunderus_mem.recap.activity import Activity
    from thunderus_mem.recap.scope import RecapScope
    from thunderus_mem.store.config import Config

_FEW_COMMITS = 30
_FEWER_COMMITS = 12
_FEW_FILES = 10
# In characters; what is longer takes the room of many others.
_LONG: Final = 500


class Page(NamedTuple):
    """A recap to be: its header and body, and the private events that it cites."""

    header: dict[str, Any]
    body: str
    private: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """The whole file."""
        return compose(self.header, "\n" + self.body)

    def fits(self, config: Config) -> bool:
        """Whether it is no longer than the longest recap that lint accepts."""
        most = longest_page(config)
        try:
            return len(self.body) <= most and len(self.text) <= most
        except InvalidDocument:  # more events than a header may hold
            return False


def longest_page(config: Config) -> int:
    """Characters of the longest recap that lint accepts."""
    return 4 * configured_caps(config, "recap").hard


def page_header(
    doc_id: str, title: str, tags: Sequence[str], times: tuple[str, str], events: Iterable[str]
) -> dict[str, Any]:
    """The header of a recap, ``times`` its first and last moment."""
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


class _Draft(NamedTuple):
    """Everything there is to tell, and how its page is filled."""

    scope: RecapScope
    content: RecapContent
    activity: Activity
    config: Config

    def page(self, cited: Sequence[Event], most_commits: int, most_files: int) -> Page:
        """A page that tells of the events ``cited``, and counts all."""
        scope, told = self.scope, self.content.events
        if left := len(self.content.used) - len(cited):
            told, _ = sort_events(cited, scope.doc_id, self.activity.reading)
        header = self._header(cited)
        first, last = header["created"], header["updated"]
        private = tuple(event.id for event in cited if event.id in self.activity.private)
        lines = sections(
            self.content,
            told,
            frozenset(private),
            most_commits=most_commits,
            most_files=most_files,
            left=left,
        )
        if scope.kind != "day":
            lines["summary"].insert(0, f"From {first} to {last}." if first != last else f"At {first}.")
        # A document that holds what nobody sees is refused.
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

    ``created`` and ``updated`` are the first and last moment told of. What does not fit into the largest
    document that lint accepts is counted and left out. Raises ``NotFound`` when nothing happened,
    `InvalidConfig` for a template that cannot be used.
    """
    by_id = {event.id: event for event in activity.events if scope.holds(event)}
    if not config.recap_private:
        by_id = {id: event for id, event in by_id.items() if id not in activity.private}
    ordered = sorted(by_id.values(), key=lambda event: (utc_key(event.ts), event.id))
    reading = activity.reading._replace(keywords=config.consolidate_keywords)
    told, used = sort_events(ordered, scope.doc_id, reading)
    by_sha = {commit.sha: commit for commit in activity.commits if scope.holds_moment(commit.date)}
    commits = sorted(by_sha.values(), key=lambda commit: (utc_key(commit.date), commit.sha))
    if not used and not commits:
        raise NotFound(
            f"nothing happened {scope.label}: no event to tell of and no commit",
            hint="days are counted in UTC"
            if scope.kind == "day"
            else "`thunderus-mem events list` shows what there is",
        )
    for commit in commits:
        told.count_paths(activity.touched.get(commit.sha, ()))
    content = RecapContent(told, used, commits, {document.id: document for document in documents})
    return _fitting(_Draft(scope, content, activity._replace(reading=reading), config))


def _fitting(draft: _Draft) -> Page:
    """The page with as many of the events as there is room for."""
    config, used = draft.config, draft.content.used
    files = config.recap_max_files if config.recap_include_file_changes else 0
    page = draft.page(used, _FEW_COMMITS, files)
    if page.fits(config):
        return page
    ranked = _most_telling(used)

    def part(number: int) -> Page:
        kept = set(ranked[:number])
        cited = [event for place, event in enumerate(used) if place in kept]
        return draft.page(cited, _FEWER_COMMITS, min(files, _FEW_FILES))

    return part(_most_that_fits(len(ranked), lambda number: part(number).fits(config)))


def _most_telling(events: Sequence[Event]) -> list[int]:
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


def _most_that_fits(most: int, fits: Callable[[int], bool]) -> int:
    """The largest number up to ``most`` that ``fits``, where less fits whenever more does; 0 when none."""
    low, high = 0, most
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if fits(middle) else (low, middle - 1)
    return low
