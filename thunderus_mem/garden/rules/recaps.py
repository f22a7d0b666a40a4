"""The gardening rule `recaps`: write the missing recaps of the schedule for periods that are over. Pure.

It only creates files: a recap that exists, existed once, or was archived is never written again.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, timedelta
from functools import cached_property
from typing import TYPE_CHECKING

from thunderus_mem.document.document import read_document
from thunderus_mem.document.timestamp import utc_key
from thunderus_mem.errors import NotFound
from thunderus_mem.garden.plan import DocumentEdit, Step
from thunderus_mem.log.event import changes_of
from thunderus_mem.recap.events import RECAP_OP, thread_of
from thunderus_mem.recap.page import masked, recap_page
from thunderus_mem.recap.rollup import last_day, month_of, rollup_id, rollup_page, week_of
from thunderus_mem.recap.scope import day_scope, session_scope
from thunderus_mem.safety.secrets import holds_secret
from thunderus_mem.store.layout import DOCUMENT_FOLDERS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from thunderus_mem.document.document import Document
    from thunderus_mem.garden.plan import GardenInput
    from thunderus_mem.log.line import Event
    from thunderus_mem.recap.page import Page
    from thunderus_mem.recap.scope import Activity, RecapScope
    from thunderus_mem.store.config import Config


def plan_recaps(material: GardenInput, config: Config) -> tuple[Step, ...]:
    """A step for each missing recap of ``recap.schedule``; sessions and days first, because weeks and months
    are made from them."""
    if not config.recap_schedule or not material.today or "recap" not in config.kinds_allowed:
        return ()
    return _Planner(material, config, material.history()).run()


class _ByName(Mapping[str, "Document"]):
    """The documents in use by id and alias, each read when it is asked for."""

    def __init__(self, material: GardenInput) -> None:
        self._read = material.read
        known = material.documents
        aliases = {alias: one for one in known for alias in one.aliases}
        self._known = aliases | {one.id: one for one in known}

    def __getitem__(self, name: str) -> Document:
        return self._read(self._known[name])

    def __iter__(self) -> Iterator[str]:
        return iter(self._known)

    def __len__(self) -> int:
        return len(self._known)


class _Planner:
    """Plans the missing recaps of a schedule."""

    def __init__(self, material: GardenInput, config: Config, history: Activity) -> None:
        self._material = material
        self._config = config
        self._history = history
        self._today = material.today
        earliest = date.fromisoformat(material.today) - timedelta(
            days=min(config.recap_days_back, date.fromisoformat(material.today).toordinal() - 1)
        )
        self._first = earliest.isoformat()
        known = (*material.documents, *material.archived)
        self._taken = {doc_id for one in known for doc_id in (one.id, *one.aliases)}
        # A recap that was written and no longer exists was removed on purpose.
        self._taken |= {
            change.doc_id for event in history.events for change in changes_of(event)
            if change.doc_id.startswith("recap.")
        }  # fmt: skip
        self._written: list[Document] = []
        self._steps: list[Step] = []

    @cached_property
    def _recaps(self) -> list[Document]:
        known = (*self._material.documents, *self._material.archived)
        return [self._material.read(one) for one in known if one.kind == "recap"]

    def run(self) -> tuple[Step, ...]:
        """The steps, in the order in which they build on each other."""
        for scope in self._scopes():
            if scope.doc_id not in self._taken:
                self._add(self._page_of(scope), scope.label)
        for kind, name in self._spans():
            if rollup_id(name) not in self._taken:
                self._add(self._rollup(kind, name), f"in {name}")
        return tuple(self._steps)

    def _scopes(self) -> Iterator[RecapScope]:
        if "session" in self._config.recap_schedule:
            threads: dict[str, list[Event]] = {}
            for event in self._history.events:
                threads.setdefault(thread_of(event), []).append(event)
            for name in sorted(threads):
                last = max(utc_key(event.ts)[:10] for event in threads[name])
                if self._first <= last < self._today:
                    yield session_scope(name, threads[name])
        if "day" in self._config.recap_schedule:
            moments = [event.ts for event in self._history.events]
            moments += [commit.date for commit in self._history.commits]
            for day in sorted({utc_key(moment)[:10] for moment in moments}):
                if self._first <= day < self._today:
                    yield day_scope(day)

    def _spans(self) -> Iterator[tuple[str, str]]:
        first, today = date.fromisoformat(self._first), date.fromisoformat(self._today)
        days = [(first + timedelta(days=number)).isoformat() for number in range((today - first).days)]
        for kind, name_of in (("week", week_of), ("month", month_of)):
            if kind in self._config.recap_schedule:
                for name in dict.fromkeys(map(name_of, days)):
                    if last_day(kind, name) < self._today:
                        yield kind, name

    def _page_of(self, scope: RecapScope) -> Page | None:
        try:
            return recap_page(scope, self._history, _ByName(self._material), self._config)
        except NotFound:
            return None

    def _rollup(self, kind: str, name: str) -> Page | None:
        private = self._history.private_anywhere
        try:
            page = rollup_page(kind, name, [*self._recaps, *self._written], self._config, private)
            return masked(page, self._history.reading.unfit)
        except NotFound:
            return None

    def _add(self, page: Page | None, label: str) -> None:
        """Plan the page if it cites events (a day with commits only is covered by git log); report it if
        `recap` would refuse it."""
        if page is None or not page.header["provenance"]["events"]:
            return
        doc_id, text = str(page.header["id"]), page.text
        path = f"{DOCUMENT_FOLDERS['recap']}/{doc_id.removeprefix('recap.')}.md"
        document = read_document(path, text.encode("utf-8", "surrogatepass")).document
        if document is None or holds_secret(text):
            problem = "it would not be valid" if document is None else "it would contain a possible secret"
            why = f"no recap of the events {label}: {problem}; `thunderus-mem recap` shows where"
            self._steps.append(Step("skip-recap", why, (), (doc_id,), rule="recaps"))
            return
        self._taken.add(doc_id)
        self._written.append(document)
        events = page.header["provenance"]["events"]
        self._steps.append(
            Step(
                "write-recap",
                f"no recap yet of the events {label}",
                (f"`{doc_id}` cites {len(events)} event{'s' if len(events) > 1 else ''}",),
                (doc_id,),
                (DocumentEdit(path, doc_id, "", text),),
                rule="recaps",
                op=RECAP_OP,
                private=page.private,
            )
        )
