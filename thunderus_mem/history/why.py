"""``why``: the provenance of a document as a graph of events, sessions, patches, commits and code.

Anchored code is shown as it was and as it is now. Reads the log, the working tree and git.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

from thunderus_mem.document.document import content_hash
from thunderus_mem.fingerprint.selectors import leaf_of
from thunderus_mem.git.commits import commit_named, first_commits
from thunderus_mem.git.history import file_commits, file_versions
from thunderus_mem.history.log import SHORT_COMMIT, trace
from thunderus_mem.history.marks import marks_of
from thunderus_mem.log.actor import OUTSIDE, by_whom, is_outside
from thunderus_mem.log.event import changes_of, document_ids, private_to, text_in
from thunderus_mem.log.imported import origin_of
from thunderus_mem.memory.locate import find_document
from thunderus_mem.startup import NamedTuple
from thunderus_mem.verdicts.code import breaking_commit, code_of
from thunderus_mem.verdicts.judge import Judge

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Mapping, Sequence

    from thunderus_mem.document.document import Document
    from thunderus_mem.git.commits import Commit
    from thunderus_mem.git.repository import Git
    from thunderus_mem.log.event import Change
    from thunderus_mem.log.line import Event
    from thunderus_mem.log.reader import EventLog
    from thunderus_mem.log.shard import LoggedEvent
    from thunderus_mem.log.transitions import DocumentPast
    from thunderus_mem.memory.memory import Memory
    from thunderus_mem.verdicts.verdict import Verdict


class CodeThen(NamedTuple):
    """An anchor and its code. ``line`` is the anchor's line in the document; ``then`` is the recorded
    code, ``then_commit`` the newest commit with it; ``now`` is the current code, at ``now_place``.
    ``commit`` is the one that changed it. Each is "" if unknown or missing.
    """

    place: str
    line: int
    verdict: str
    reason: str
    then: str
    then_commit: str
    now: str
    now_place: str
    commit: str
    subject: str


def code_then(memory: Memory, doc_id: str) -> tuple[CodeThen, ...]:
    """The code behind each anchor of a document, in their order. The index must be fresh."""
    if not memory.index.has_anchors():
        return ()
    with Judge(memory) as judge:
        judged = judge.all(memory.index.anchors([doc_id]))
        return tuple(_code_then(judge, one.verdict, one.anchored.line) for one in judged)


def _code_then(judge: Judge, verdict: Verdict, line: int) -> CodeThen:
    found = verdict.found
    source = judge.tree.source(found.path) if found is not None else None
    now = code_of(found, source) if found is not None and source is not None and not source.trouble else None
    stale = verdict.is_stale and judge.past is not None
    known = breaking_commit(verdict.anchor, judge.past) if stale and judge.past is not None else None
    then = code_of(known.anchor, known.source) if known is not None else None
    if not verdict.is_stale and verdict.status != "unknown":
        then = now
    return CodeThen(
        place=verdict.anchor.place,
        line=line,
        verdict=verdict.status,
        reason=verdict.reason,
        then=then or "",
        then_commit=known.last_good.sha if known is not None else "",
        now=now or "",
        now_place=found.place if found is not None else "",
        commit=known.commit.sha if known is not None and known.commit is not None else "",
        subject=known.commit.subject if known is not None and known.commit is not None else "",
    )


def anchors_named(code: Sequence[CodeThen], number: int, text: str) -> tuple[str, ...]:
    """The anchors that a line of the document defines or mentions."""
    return tuple(
        one.place for one in code if one.line == number or any(name in text for name in _names(one.place))
    )


def _names(place: str) -> tuple[str, ...]:
    path, _, symbol = place.partition("#")
    leaf = leaf_of(symbol)
    found = [f"`{path.rpartition(':')[0] if ':L' in path else path}"]
    if leaf:
        found += [f"`{leaf}", f".{leaf}`", f".{leaf}("]
    return tuple(found)


# The provenance graph of a document

SHALLOW: Final = "shallow"
_EXCERPT: Final = 72
_COMMITS: Final = 50
_SHOWN_LINKS: Final = frozenset(["derives_from", "supersedes", "duplicates"])


class WhyNode(NamedTuple):
    """A node in the provenance of a document. ``kind``: document, event, session, patch, change (``id`` is
    its patch and index in it), commit, missing (in the frontmatter but not found here), code (an anchor) or
    note.

    ``label`` is text in addition to kind and id; the other fields are "" if unknown. ``mark`` is that of an
    event (altered: its line failed a check; unchained; imported) or of a commit (shallow: this clone has
    nothing before it, so what it seems to add may be older), or "".
    """

    id: str
    kind: str
    label: str = ""
    ts: str = ""
    actor: str = ""
    author: str = ""
    op: str = ""
    why: str = ""
    path: str = ""
    before: str = ""
    after: str = ""
    mark: str = ""


class WhyEdge(NamedTuple):
    """How two nodes are related, by their ids. ``relation``: changed_by, in_session, carries, changes,
    committed_in, touched_by, names, says, talks_about, or that of a link (derives_from, supersedes,
    duplicates)."""

    from_: str
    to: str
    relation: str


class WhyGraph(NamedTuple):
    """Unique nodes, the document first; edges in display order."""

    nodes: tuple[WhyNode, ...]
    edges: tuple[WhyEdge, ...]


class _Builder:
    """Builds a graph; adding a node twice has no effect."""

    def __init__(self, root: WhyNode) -> None:
        self.nodes = {root.id: root}
        self.edges: dict[WhyEdge, None] = {}

    def add(self, source: str, relation: str, node: WhyNode) -> str:
        """Add a node if it is new, and an edge to it; return its id."""
        self.nodes.setdefault(node.id, node)
        self.edges[WhyEdge(source, node.id, relation)] = None
        return node.id

    def add_note(self, source: str, text: str, name: str) -> None:
        """Add a note about a node."""
        self.add(source, "says", WhyNode(f"{source}/{name}", "note", text))

    def done(self) -> WhyGraph:
        """The graph."""
        return WhyGraph(tuple(self.nodes.values()), tuple(self.edges))


def _excerpt(text: str) -> str:
    words = " ".join(text.split())
    return words if len(words) <= _EXCERPT else words[: _EXCERPT - 1] + "…"


def _op(event: Event) -> str:
    return (text_in(event.body, "op") if event.kind == "patch" else "") or event.kind


def _author(event: Event) -> str:
    return text_in(event.origin, "author")


def event_label(event: Event, mark: str = "") -> str:
    """A one-line summary of an event: time, operation, author, mark, reason."""
    op, who = _op(event), by_whom(event.actor, _author(event))
    what = OUTSIDE if is_outside(event.actor, op) else f"{op.replace('_', ' ')} by {who}"
    text = event.why or text_in(event.body, "text")
    reason = f": {_excerpt(text)}" if text else ""
    marked = f" ({mark})" if mark else ""
    return f"{event.ts[:16].replace('T', ' ')} {what}{marked}{reason}"


def events_about(doc: Document, events: Sequence[LoggedEvent], ids: Iterable[str] = ()) -> list[LoggedEvent]:
    """Events that created or changed the document: those in its provenance, and those about its id, an alias
    or one of ``ids``."""
    named = frozenset(doc.events) - _ambiguous(events)
    names = frozenset((doc.id, *doc.aliases, *ids))
    return [
        logged
        for logged in events
        if not (named.isdisjoint(_names_of(logged.event)) and names.isdisjoint(document_ids(logged.event)))
    ]


def _names_of(event: Event) -> set[str]:
    """The names by which documents may cite an event: its id and, if it is imported, its original id, alone
    or after the session (``SESSION/ID``)."""
    session, id = origin_of(event)
    return {event.id, id, f"{session}/{id}"} if id else {event.id}


def _ambiguous(events: Iterable[LoggedEvent]) -> frozenset[str]:
    """The names that several of the events have: original ids of imported events."""
    named = Counter(name for logged in events for name in _names_of(logged.event))
    return frozenset(name for name, number in named.items() if number > 1)


def _short(content: str, missing: str) -> str:
    return content.removeprefix("sha256:")[:SHORT_COMMIT] if content else missing


def _change_node(event: Event, change: Change, number: int, path: str) -> WhyNode:
    """A node for a change of the text; shows its path only if it differs from the document's."""
    what = change.op if change.path == path else f"{change.op} {change.path}"
    return WhyNode(
        id=f"{_patch_id(event) or event.id}/{number}",
        kind="change",
        label=f"{what}: {_short(change.before, '(new)')} → {_short(change.after, '(removed)')}",
        op=change.op,
        path=change.path,
        before=change.before,
        after=change.after,
    )


def _patch_id(event: Event) -> str:
    return text_in(event.refs, "patch_id")


def _event_node(event: Event, mark: str) -> WhyNode:
    return WhyNode(
        id=event.id,
        kind="event",
        label=event_label(event, mark),
        ts=event.ts,
        actor=event.actor,
        author=_author(event),
        op=_op(event),
        why=event.why,
        mark=mark,
    )


def _commit_node(commit: Commit, cut: Container[str] = ()) -> WhyNode:
    """A node for a commit; ``cut`` are those where a shallow clone begins."""
    label = f"{commit.date[:10]} {commit.author}: {_excerpt(commit.subject)}"
    mark = SHALLOW if commit.sha in cut else ""
    return WhyNode(
        commit.sha, "commit", label, ts=commit.date, author=commit.author, why=commit.subject, mark=mark
    )


def _add_event(
    graph: _Builder, doc: Document, ids: frozenset[str], logged: LoggedEvent, private: bool, mark: str
) -> None:
    event = logged.event
    graph.add(doc.id, "changed_by", _event_node(event, mark))
    place = "private to this working tree" if private else ""
    if not private and f"/{event.session_id}/" not in logged.shard:
        place = f"in {logged.shard}"
    graph.add(event.id, "in_session", WhyNode(event.session_id, "session", place))
    if event.kind == "patch":
        patch_id = _patch_id(event)
        holder = graph.add(event.id, "carries", WhyNode(patch_id, "patch")) if patch_id else event.id
        for number, change in enumerate(changes_of(event)):
            if change.doc_id in ids:
                graph.add(holder, "changes", _change_node(event, change, number, doc.path))


def _add_missing(
    graph: _Builder, doc: Document, found: Iterable[LoggedEvent], ambiguous: frozenset[str]
) -> None:
    """Add events and patches in the frontmatter that are not in the local log or ``ambiguous``; private ones
    are known to be elsewhere. ``found`` are the events in the graph."""
    private, known = set[str](), {*graph.nodes}
    for logged in found:
        private.update(private_to(logged.event))
        known.update(_names_of(logged.event))
    elsewhere = "private to the working tree that wrote this"
    missing = "not in the local log: private to another working tree, or dropped by git"
    several = "ambiguous: several imported sessions have an event with this id"
    for name in (*doc.events, *doc.patches):
        if name in ambiguous or name not in known:
            label = several if name in ambiguous else elsewhere if name in private else missing
            graph.add(doc.id, "names", WhyNode(name, "missing", label))


def _add_commits(graph: _Builder, doc: Document, paths: Sequence[str], git: Git) -> None:
    """Add the commits in the frontmatter, then others that changed the file."""
    for sha in doc.commits:
        commit = commit_named(git, sha)
        if commit is None:
            graph.add(doc.id, "names", WhyNode(sha, "missing", "commit not in this clone"))
        else:
            graph.add(doc.id, "names", _commit_node(commit))
    cut = git.shallow_commits()
    others = [commit for commit, _ in file_commits(git, paths) if commit.sha not in graph.nodes]
    for commit in others[:_COMMITS]:
        graph.add(doc.id, "touched_by", _commit_node(commit, cut))
    if len(others) > _COMMITS:
        older = f"{len(others) - _COMMITS:,} older commits not shown; run `git log -- {doc.path}`"
        graph.add_note(doc.id, older, "older-commits")


def _is_recorded(doc: Document, found: Iterable[LoggedEvent], paths: Sequence[str], git: Git | None) -> bool:
    """Whether the current text is in an event or a commit."""
    text_hash = doc.hash
    if any(change.after == text_hash for logged in found for change in changes_of(logged.event)):
        return True
    versions = file_versions(git, paths) if git is not None else []
    return any(content_hash(text) == text_hash for version in versions for text in version.texts.values())


def explain(
    doc: Document,
    events: Sequence[LoggedEvent],
    past: DocumentPast,
    log: EventLog,
    git: Git | None,
    marks: Mapping[str, str],
) -> WhyGraph:
    """Build the provenance graph of a document; ``marks`` are those of events, by id.

    The document has edges to its events by time (each with session, patch and the commit that added it), to
    missing entries of its frontmatter, to documents it derives from, to other commits that changed it, and to
    a note if its current text is unrecorded.
    """
    found = events_about(doc, events, past.ids)
    graph = _Builder(WhyNode(doc.id, "document", doc.title, path=doc.path))
    commits = _first_commits(found, log, git)
    cut = git.shallow_commits() if git is not None else ()
    for logged in found:
        private = log.is_private(logged.shard)
        _add_event(graph, doc, past.ids, logged, private, marks.get(logged.event.id, ""))
        commit = commits.get(logged.shard)
        if commit is not None:
            graph.add(logged.event.id, "committed_in", _commit_node(commit, cut))
        elif git is not None and not private:
            graph.add_note(logged.event.id, "not committed yet", "uncommitted")
    _add_missing(graph, doc, found, _ambiguous(events))
    for link in doc.links:
        if link.rel in _SHOWN_LINKS:
            graph.add(doc.id, link.rel, WhyNode(link.target, "document"))
    if git is not None:
        _add_commits(graph, doc, past.paths, git)
    if not _is_recorded(doc, found, past.paths, git):
        text = "unrecorded: the current text is in no event and no commit"
        graph.add_note(doc.id, f"{text}; the next command that writes records it", "unrecorded")
    return graph.done()


def _first_commits(found: Iterable[LoggedEvent], log: EventLog, git: Git | None) -> Mapping[str, Commit]:
    """The commits that added the shards of these events."""
    shards = sorted({logged.shard for logged in found if not log.is_private(logged.shard)})
    return first_commits(git, shards) if git is not None and shards else {}


def _code_graph(
    doc_id: str, code: Sequence[CodeThen], known: Iterable[WhyNode]
) -> tuple[list[WhyNode], list[WhyEdge]]:
    """The part of the graph about code: anchors, and the commits that changed their code."""
    ids = {node.id for node in known}
    nodes, edges = [], []
    for one in code:
        id = f"code:{one.place}"
        nodes.append(WhyNode(id, "code", f"{one.place} {one.verdict}: {one.reason}", path=one.place))
        edges.append(WhyEdge(doc_id, id, "talks_about"))
        if one.commit and one.commit not in ids:
            ids.add(one.commit)
            nodes.append(WhyNode(one.commit, "commit", one.subject, why=one.subject))
        if one.commit:
            edges.append(WhyEdge(id, one.commit, "changed_by"))
    return nodes, edges


class WhyReport(NamedTuple):
    """The provenance of a document as a graph: document, events, sessions, patches, commits, code.

    ``damaged`` is the number of unreadable lines of the log; ``code`` is the anchored code, then and now.
    """

    id: str
    nodes: tuple[WhyNode, ...]
    edges: tuple[WhyEdge, ...]
    damaged: int = 0
    code: tuple[CodeThen, ...] = ()


def why(memory: Memory, id: str) -> WhyReport:
    """Explain where a document comes from, using the log and git."""
    memory.refresh()
    document = find_document(memory, id)
    logged, past = trace(memory, document)
    graph = explain(document, logged, past, memory.log, memory.git, marks_of(memory, logged))
    code = code_then(memory, document.id)
    nodes, edges = _code_graph(document.id, code, graph.nodes)
    return WhyReport(
        document.id,
        (*graph.nodes, *nodes),
        (*graph.edges, *edges),
        memory.log_index().damages(),
        code,
    )
