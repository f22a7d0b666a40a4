"""The gardening rule `consolidate`: each lesson of the sessions as a document to approve. Pure."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

from thunderus_mem.garden.consolidation.learning import Lesson, lessons
from thunderus_mem.garden.plan import DocumentEdit, Step
from thunderus_mem.model.composing import file_name
from thunderus_mem.model.document import read_document
from thunderus_mem.model.edit import compose
from thunderus_mem.model.errors import InvalidDocument
from thunderus_mem.model.event import changes_of
from thunderus_mem.model.ids import is_document_id, short_hash
from thunderus_mem.model.timestamp import format_timestamp, parse_timestamp, utc_key
from thunderus_mem.model.unicode import visible
from thunderus_mem.store.layout import DOCUMENT_FOLDERS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from thunderus_mem.garden.history import History
    from thunderus_mem.garden.material import Material
    from thunderus_mem.model.event import Event
    from thunderus_mem.store.config import Config

__all__ = ["plan_consolidation"]

LEARN = "learn"
_HEARD = frozenset(("message", "tool_call", "tool_result", "note"))


def plan_consolidation(material: Material, config: Config) -> tuple[Step, ...]:
    """A proposal for each thing that sessions have shown and neither memory nor code says yet, at most
    ``consolidate.max_per_session`` of a session."""
    if not config.consolidate_max_per_session:
        return ()
    history = material.history()
    heard = sorted(
        (event for event in history.events if event.kind in _HEARD),
        key=lambda event: (utc_key(event.ts), event.id),
    )
    if not heard:
        return ()
    documents = [*material.documents, *material.archived]
    found = lessons(heard, config, history.reading, documents, history.said_by_code())
    taken = {doc_id for document in documents for doc_id in (document.id, *document.aliases)}
    # What was learned once and is gone was taken away by somebody.
    gone = {change.doc_id for event in history.events for change in changes_of(event)} - taken
    names = {document.path.rpartition("/")[2] for document in documents if document.kind == "adr"}
    by_id = {event.id: event for event in heard}
    steps = []
    for lesson in _chosen(found, config, taken, gone):
        name = file_name(lesson.id, lesson.kind, names)
        names.add(name)
        step = _step(lesson, f"{DOCUMENT_FOLDERS[lesson.kind]}/{name}", by_id, history)
        if step is not None:
            steps.append(step)
    return tuple(steps)


def _chosen(found: Iterable[Lesson], config: Config, taken: set[str], gone: set[str]) -> Iterator[Lesson]:
    """The lessons of kinds that are allowed, each under an id of its own, no more of a session than asked."""
    of_session: dict[str, int] = {}
    seen: set[tuple[str, str]] = set()
    for lesson in found:
        if lesson.kind not in config.kinds_allowed or (lesson.kind, lesson.alike) in seen:
            continue
        seen.add((lesson.kind, lesson.alike))
        if lesson.id in taken:
            lesson = lesson._replace(id=f"{lesson.id[:100].rstrip('.-_')}-{short_hash(lesson.alike)}")
        number = of_session.get(lesson.thread, 0)
        usable = is_document_id(lesson.id) and lesson.id not in taken and lesson.id not in gone
        if not usable or number >= config.consolidate_max_per_session:
            continue
        of_session[lesson.thread] = number + 1
        taken.add(lesson.id)
        yield lesson


def _step(lesson: Lesson, path: str, by_id: dict[str, Event], history: History) -> Step | None:
    body = visible(lesson.body)
    moments = sorted(utc_key(by_id[id].ts) for id in lesson.events if id in by_id)
    last = parse_timestamp(moments[-1]) if moments else None
    if last is None or history.reading.unfit(body):
        return None
    header: dict[str, Any] = {
        "id": lesson.id,
        "title": visible(lesson.title),
        "kind": lesson.kind,
        "tags": sorted(lesson.tags),
        "created": format_timestamp(last),
        "updated": format_timestamp(last),
        "provenance": {"events": list(lesson.events), "patches": [], "commits": []},
        "verification": {"last_verified_commit": None, "status": "unknown"},
        "source": "consolidation",
    }
    if anchors := history.anchors(body):
        header["anchors"] = anchors
    try:
        text = compose(header, "\n" + body)
    except InvalidDocument:
        return None
    if read_document(path, text.encode("utf-8", "surrogatepass")).document is None:
        return None
    digest = hashlib.sha256(f"{lesson.kind}\0{lesson.alike}".encode("utf-8", "surrogatepass")).hexdigest()
    return Step(
        LEARN,
        lesson.why,
        (*(f"`{id}`" for id in lesson.events[:10]), f"`{path}` would say: {' '.join(body.split())[:200]}"),
        (lesson.id,),
        (DocumentEdit(path, lesson.id, "", text),),
        rule="consolidate",
        reach="propose",
        texts=((lesson.id, digest),),
        private=tuple(id for id in lesson.events if id in history.private),
    )
