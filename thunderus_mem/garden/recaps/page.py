"""A recap: what the log, the documents and git say happened, with the events that say so.

Pure and deterministic. Shared events tell all they say; of private ones (messages and tools) only commands
with their outcome, files edited and sentences that decide something are told, never what came out of a tool.
What recaps themselves did is left out. What is too long for a document is told in part: the page says how
much is left out, its counts are those of the whole.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from thunderus_mem.garden.recaps.day import Day, Reading, sort_events
from thunderus_mem.garden.recaps.sections import sections
from thunderus_mem.garden.recaps.telling import most_telling, most_that_fits
from thunderus_mem.garden.recaps.template import fill
from thunderus_mem.model.edit import compose
from thunderus_mem.model.errors import InvalidDocument, NotFound
from thunderus_mem.model.timestamp import format_timestamp, parse_timestamp, utc_key
from thunderus_mem.model.unicode import visible
from thunderus_mem.store.kind_caps import configured_caps

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from thunderus_mem.garden.recaps.scope import Scope
    from thunderus_mem.model.document import Document
    from thunderus_mem.model.event import Event
    from thunderus_mem.store.config import Config
    from thunderus_mem.store.git_history import Commit

__all__ = ["Page", "RecapMaterial", "recap_page"]

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
    reading: Reading = Reading()
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

    scope: Scope
    told: Day
    used: list[Event]
    commits: list[Commit]
    documents: Mapping[str, Document]
    material: RecapMaterial
    config: Config


def recap_page(scope: Scope, material: RecapMaterial, config: Config) -> Page:
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
