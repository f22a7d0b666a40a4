"""Show one document, list many, and report the status of the store with one next step. Writes nothing."""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING, Final

from thunderus_mem.document.ids import adr_number, hash_prefix
from thunderus_mem.document.paths import is_archived
from thunderus_mem.document.state import document_state
from thunderus_mem.document.timestamp import utc_key
from thunderus_mem.errors import InvalidQuery
from thunderus_mem.index.questions import ALL_IN_USE, Filter, document_verdict
from thunderus_mem.memory.hand_edits import hand_edits, mass_loss, never_logged
from thunderus_mem.memory.locate import find_document
from thunderus_mem.review.queue import queue_state
from thunderus_mem.search.query import filter_value, meant_filter, parse_query
from thunderus_mem.startup import NamedTuple
from thunderus_mem.verdicts.judge import Judge, code_statuses
from thunderus_mem.verdicts.verdict import ORDER, status_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from thunderus_mem.authoring.sources import FirstStep, Source
    from thunderus_mem.index.questions import DocRow, DocSummary, Index
    from thunderus_mem.memory.memory import Memory
    from thunderus_mem.memory.usage import Usage


class ListedDocument(NamedTuple):
    """One document of a listing. ``status`` is that in the file, ``verdict`` is computed now, ``state`` and
    ``number`` are those of a decision."""

    id: str
    kind: str
    title: str
    path: str
    tags: tuple[str, ...]
    created: str
    updated: str
    status: str
    superseded_by: str
    tokens: int
    archived: bool = False
    verdict: str = ""
    state: str = ""
    number: int | None = None


class Listing(NamedTuple):
    """Documents in the requested order; ``left_out`` are the ones not shown."""

    documents: tuple[ListedDocument, ...]
    left_out: int = 0


ORDERS: Final = ("id", "updated", "created", "title", "tokens")
"""What documents can be sorted by: times newest first, tokens most first."""


def list_documents(
    memory: Memory, given: Filter = ALL_IN_USE, filters: str = "", *, order: str = "id", limit: int = 0
) -> Listing:
    """List the documents that match all that is ``given``, and ``filters`` as in a query; at most ``limit``
    if it is not 0.

    Times are compared with ``updated``, all tags are required. Archived documents are included only with
    ``archived`` or that verdict. ``order`` is one of `ORDERS`; "id" sorts by kind first, decisions by
    number, an ``episode`` by its sequence. Raises `InvalidQuery` for an unknown kind, status, verdict, state
    or order, an invalid day, or a word that is no filter.
    """
    if order not in ORDERS:
        raise InvalidQuery(f"unknown order {order!r}", hint=f"use one of: {', '.join(ORDERS)}")
    memory.refresh()
    wanted = _filter(memory, given, filters)
    computed = code_statuses(memory)

    def listing(index: Index) -> Listing:
        successors = index.superseded_by()
        place = _places(index, given.episode if order == "id" else "")
        rows = sorted(index.documents(wanted._replace(judged=computed)), key=place)
        if order != "id":
            rows.sort(key=lambda row: _sort_key(row, order), reverse=order != "title")
        shown = rows[:limit] if limit else rows
        documents = (_listed(row, computed.get(row.id), successors.get(row.id, "")) for row in shown)
        return Listing(tuple(documents), len(rows) - len(shown))

    return memory.ask(listing)


def document_rows(memory: Memory, given: Filter = ALL_IN_USE, filters: str = "") -> array[int]:
    """Return the rows in the index of the documents of `list_documents`, in its order, in a fraction of its
    memory."""
    memory.refresh()
    wanted = _filter(memory, given, filters)._replace(judged=code_statuses(memory))

    def rows(index: Index) -> array[int]:
        place = _places(index, given.episode)
        placed: list[tuple[tuple[str, int, str], int]] = []
        by_kind = {"adr": array("q")}
        for one in index.each_summary(wanted):  # by id, which is the order of most kinds
            if given.episode or one.kind == "adr":
                placed.append((place(one), one.row))
            else:
                by_kind.setdefault(one.kind, array("q")).append(one.row)
        by_kind["adr"].extend(row for _, row in sorted(placed))
        return array("q", (row for kind in sorted(by_kind) for row in by_kind[kind]))

    return memory.ask(rows)


def _places(index: Index, episode: str) -> Callable[[DocRow | DocSummary], tuple[str, int, str]]:
    """The order of documents by id, or in an episode."""
    if not episode:
        return _place
    places = {doc_id: at for at, doc_id in enumerate(index.episode(episode))}
    return lambda row: ("", places[row.id], row.id)


def _filter(memory: Memory, given: Filter, filters: str) -> Filter:
    """What is given by options and by a query of filters."""
    query = parse_query(filters, now=memory.now)
    if query.terms:
        word = query.terms[0].text
        meant = meant_filter(word)
        hint = f"did you mean `{meant}`?" if meant else f"use `search {word}`, or e.g. tag:api"
        raise InvalidQuery(f"{word!r} is not a filter", hint=hint)
    return given._replace(
        kinds=[*query.kinds, *(filter_value("kind", kind) for kind in given.kinds)],
        tags=[*query.tags, *given.tags],
        statuses=query.statuses,
        verdicts=query.verdicts,
        states=[*query.states, *(filter_value("state", state) for state in given.states)],
        paths=query.paths,
        categories=query.categories,
        runs=query.runs,
        since=filter_value("since", given.since, memory.now) if given.since else query.since,
        before=query.before,
        archived=given.archived or "archived" in query.verdicts,
    )


def _place(row: DocRow | DocSummary) -> tuple[str, int, str]:
    return row.kind, _number(row), row.id


def _sort_key(row: DocRow, order: str) -> str | int:
    if order == "title":
        return row.title.casefold()
    return row.tokens if order == "tokens" else utc_key(row.updated if order == "updated" else row.created)


class TagCount(NamedTuple):
    """A tag, and the number of documents in use that have it."""

    tag: str
    documents: int


class TagList(NamedTuple):
    """Tags, the most frequent first; ``left_out`` less frequent ones are not shown."""

    tags: tuple[TagCount, ...]
    left_out: int = 0


def list_tags(memory: Memory, *, limit: int = 0) -> TagList:
    """List the tags of documents in use, the most frequent first; all if ``limit`` is 0."""
    from collections import Counter

    memory.refresh()
    rows = memory.ask(lambda index: list(index.documents(ALL_IN_USE)))
    counts = Counter(tag for row in rows for tag in row.tags)
    found = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    shown = found[:limit] if limit else found
    return TagList(tuple(TagCount(*item) for item in shown), len(found) - len(shown))


def _listed(row: DocRow, judged: str | None, superseded_by: str) -> ListedDocument:
    return ListedDocument(
        row.id,
        row.kind,
        row.title,
        row.path,
        tuple(row.tags),
        row.created,
        row.updated,
        row.status,
        superseded_by,
        row.tokens,
        is_archived(row.path),
        document_verdict(row.status, judged, archived=is_archived(row.path)),
        "superseded" if superseded_by else row.state,
        _number(row) or None,
    )


def _number(row: DocRow | DocSummary) -> int:
    """The number of a decision; 0 for other documents."""
    return adr_number(row.path.rpartition("/")[2]) if row.kind == "adr" else 0


class DocumentRelation(NamedTuple):
    """A relation of a document, ``incoming`` if it is in another document."""

    rel: str
    target: str
    title: str
    incoming: bool


class AnchorState(NamedTuple):
    """An anchor of a document and its current ``verdict``: verified, moved, changed, missing or unknown, with
    the reason, and where the code is ``now`` ("" if missing or still there)."""

    place: str
    line: int
    verdict: str
    reason: str
    now: str
    note: str


class Shown(NamedTuple):
    """A complete document, with its relations in both directions and the state of its anchors.

    ``hash`` is the beginning of the hash of ``text``; ``body`` has no frontmatter and no outer blank lines.
    ``status`` is that in the file, ``verdict`` is computed now, ``state`` is that of a decision;
    ``confirmed_by`` is user, agent or "". ``injection`` is what a prompt injection in it does, as `lint`
    reports it, "" for none. Archived documents are not checked against the code. ``access_count`` is ``None``
    if reads are not counted.
    """

    id: str
    kind: str
    title: str
    path: str
    tags: tuple[str, ...]
    aliases: tuple[str, ...]
    created: str
    updated: str
    status: str
    superseded_by: str
    links: tuple[DocumentRelation, ...]
    hash: str
    text: str
    body: str
    confirmed_by: str = ""
    anchors: tuple[AnchorState, ...] = ()
    archived: bool = False
    injection: str = ""
    verdict: str = ""
    state: str = ""
    access_count: int | None = None
    last_accessed_at: str = ""


def show(memory: Memory, id: str) -> Shown:
    """Show one document, read from its file. With ``usage.count`` this counts as a read."""
    memory.refresh()
    document = find_document(memory, id)
    usage = _counted(memory, document.id) if memory.config.usage_count else None
    anchors = _anchor_states(memory, document.id)
    superseded_by = memory.index.superseded_by([document.id]).get(document.id, "")
    archived = is_archived(document.path)
    return Shown(
        id=document.id,
        kind=document.kind,
        title=document.title,
        path=document.path,
        tags=document.tags,
        aliases=document.aliases,
        created=document.created,
        updated=document.updated,
        status=document.status,
        superseded_by=superseded_by,
        links=tuple(_relations(memory, document.id)),
        hash=hash_prefix(document.hash),
        text=document.text,
        body=document.body.strip("\r\n"),
        confirmed_by=document.confirmed_by,
        anchors=anchors,
        archived=archived,
        injection=memory.index.injection(document.id),
        verdict=document_verdict(document.status, _judged(anchors), archived=archived),
        state="superseded" if superseded_by else document_state(document),
        access_count=usage.access_count if usage and usage.access_count else None,
        last_accessed_at=usage.last_accessed_at if usage else "",
    )


def _counted(memory: Memory, doc_id: str) -> Usage | None:
    """The reads before this one, which is counted now."""
    from thunderus_mem.memory.usage import count_reads, usage_of

    before = usage_of(memory).get(doc_id)
    count_reads(memory, [doc_id])
    return before


def _anchor_states(memory: Memory, doc_id: str) -> tuple[AnchorState, ...]:
    if not memory.index.has_anchors():
        return ()
    with Judge(memory) as judge:
        judged = judge.all(memory.index.anchors([doc_id]))
    return tuple(
        AnchorState(
            one.verdict.anchor.place,
            one.anchored.line,
            one.verdict.status,
            one.verdict.reason,
            one.now if one.now != one.verdict.anchor.place else "",
            one.verdict.note,
        )
        for one in judged
    )


def _judged(anchors: Sequence[AnchorState]) -> str | None:
    return status_of(max((one.verdict for one in anchors), key=ORDER.index)) if anchors else None


def _relations(memory: Memory, doc_id: str) -> Iterable[DocumentRelation]:
    for source, relation, target in memory.index.edges_of(doc_id):
        other = source if target == doc_id else target
        row = memory.index.get(other)
        yield DocumentRelation(
            relation, other, row.title if row is not None else "", incoming=target == doc_id
        )


class StatusReport(NamedTuple):
    """The state of a store at a glance.

    ``counts`` are documents in use by kind, ``archived`` is the number of archived ones; ``conflicts`` are
    files with merge conflicts; ``unreadable`` files are not valid documents; ``unrecorded`` are hand edits
    that the next write records; ``gone`` are documents missing in suspicious numbers, without a reason in the
    log or git; ``not_logged`` are files whose edits are never logged, because the name may contain a secret;
    ``pending`` is the number of writes to recover; ``proposals`` is the number pending review,
    with the age of the oldest and the number of ``expired`` ones; ``found`` are the folders to import into a
    new memory.
    """

    root: str
    also: tuple[str, ...]
    counts: dict[str, int]
    stale: tuple[str, ...]
    unrecorded: tuple[str, ...]
    gone: tuple[str, ...]
    unreadable: tuple[str, ...]
    pending: int
    events: int
    index: str  # type: ignore[assignment]  # a name of the output, not the method of tuples
    next_step: str
    conflicts: tuple[str, ...] = ()
    archived: int = 0
    proposals: int = 0
    oldest_days: int = 0
    expired: int = 0
    found: tuple[Source, ...] = ()
    not_logged: tuple[str, ...] = ()


def status(memory: Memory) -> StatusReport:
    """Report counts, stale and unrecorded documents, and one next step. Changes no tracked file."""
    refreshed = memory.refresh()
    rows = memory.index.documents()
    counts: dict[str, int] = {}
    for row in rows:
        counts[row.kind] = counts.get(row.kind, 0) + 1
    state = memory.git_state()
    edits = hand_edits(memory, state)
    gone = mass_loss(memory, edits)
    lost = {edit.path for edit in gone}
    conflicts = state.conflicts if state is not None else ()
    unreadable = tuple(path for path, _, doc_id in memory.index.files() if not doc_id)
    computed = code_statuses(memory)
    stale = tuple(sorted(row.id for row in rows if computed.get(row.id, row.status) == "stale"))
    pending = memory.journal.pending()
    waiting = queue_state(memory)
    not_logged = never_logged(memory)
    step = _next_step(unreadable, pending, stale, bool(gone), bool(conflicts), bool(waiting.waiting))
    step = step or ("thunderus-mem lint" if not_logged else "")
    first = None if step else _first_step(memory)
    made = "in memory" if refreshed.in_memory else "rebuilt"
    return StatusReport(
        root=memory.root,
        also=memory.also,
        counts=dict(sorted(counts.items())),
        stale=stale,
        unrecorded=tuple(edit.doc_id or edit.path for edit in edits if edit.path not in lost),
        gone=tuple(edit.doc_id or edit.path for edit in gone),
        unreadable=unreadable,
        pending=pending,
        events=memory.log_index().total(),
        index=f"{made}, since {refreshed.rebuilt}" if refreshed.rebuilt else "fresh",
        next_step=step or (first.next_step if first else "thunderus-mem search WORDS"),
        conflicts=conflicts,
        archived=memory.index.count(archived=True),
        proposals=waiting.waiting,
        oldest_days=waiting.oldest_days,
        expired=waiting.expired,
        found=first.found if first else (),
        not_logged=not_logged,
    )


def _first_step(memory: Memory) -> FirstStep | None:
    from thunderus_mem.authoring.sources import first_step

    return first_step(memory)


def _next_step(
    unreadable: tuple[str, ...],
    pending: int,
    stale: tuple[str, ...],
    lost: bool,
    conflict: bool,
    waiting: bool,
) -> str:
    if lost:
        return "thunderus-mem doctor"
    if conflict:
        return "thunderus-mem resolve"
    if unreadable:
        return f"thunderus-mem lint {unreadable[0]}"
    if pending:
        return "thunderus-mem doctor"
    if stale:
        return f"thunderus-mem check {stale[0]} -p"
    if waiting:
        return "thunderus-mem review list"
    return ""
