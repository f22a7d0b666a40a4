"""Where a document comes from: document, events, session, patch, commits, as a tree of values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from thunderus_mem.model.document import content_hash
from thunderus_mem.model.event import changes_of, document_ids

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from thunderus_mem.model.document import Document
    from thunderus_mem.model.event import Change, Event
    from thunderus_mem.model.shard import LoggedEvent
    from thunderus_mem.store.events import EventLog
    from thunderus_mem.store.git import Git
    from thunderus_mem.store.git_history import Commit

__all__ = ["WhyNode", "event_label", "events_about", "explaining_commit", "why"]

_SHORT: Final = 12
_EXCERPT: Final = 72
_COMMITS: Final = 50
_VERSIONS: Final = 200
_TOLD_LINKS: Final = frozenset(["derives_from", "supersedes", "duplicates"])


@dataclass(frozen=True, slots=True)
class WhyNode:
    """One line of the tree. ``kind``: document, event, session, patch, commit or note; ``id`` may be "".

    ``label`` says what kind and id do not say already; it may be "".
    """

    label: str
    kind: str
    id: str = ""
    children: tuple[WhyNode, ...] = ()


def explaining_commit(text_hash: str, path: str, git: Git) -> Commit | None:
    """The newest commit in which the document had the text of this hash; ``None`` when none had."""
    commits = git.commits_of_path(path, limit=_VERSIONS)
    names = {commit.sha: f"{commit.sha}:{git.prefix}{path}" for commit in commits}
    texts = git.blobs(list(names.values()))
    for commit in commits:
        text = texts[names[commit.sha]]
        if text is not None and content_hash(text) == text_hash:
            return commit
    return None


def _excerpt(text: str) -> str:
    words = " ".join(text.split())
    return words if len(words) <= _EXCERPT else words[: _EXCERPT - 1] + "…"


def event_label(event: Event) -> str:
    """One line about an event: time, what, by whom, why."""
    op = event.body.get("op")
    what = op if event.kind == "patch" and isinstance(op, str) else event.kind.replace("_", " ")
    author = event.origin.get("author")
    who = f"{event.actor} {author}" if isinstance(author, str) and author else event.actor
    text = event.why or event.body.get("text")
    reason = f": {_excerpt(text)}" if isinstance(text, str) and text else ""
    return f"{event.ts[:16].replace('T', ' ')} {what} by {who}{reason}"


def events_about(doc: Document, events: Iterable[LoggedEvent]) -> list[LoggedEvent]:
    """Events that made the document or changed it: those its provenance names and those that name its id."""
    named = frozenset(doc.events)
    names = frozenset((doc.id, *doc.aliases))
    return [
        logged
        for logged in events
        if logged.event.id in named or not names.isdisjoint(document_ids(logged.event))
    ]


def _short(content: str) -> str:
    return content.removeprefix("sha256:")[:_SHORT] if content else "nothing"


def _change_label(change: Change, path: str) -> str:
    """What a change did to the text; its path only where it is not the document's own."""
    what = change.op if change.path == path else f"{change.op} {change.path}"
    return f"{what}: {_short(change.before)} → {_short(change.after)}"


def _patch_node(event: Event, changes: Iterable[Change], path: str) -> WhyNode:
    patch_id = event.refs.get("patch_id")
    leaves = tuple(WhyNode(_change_label(change, path), "note") for change in changes)
    return WhyNode("", "patch", patch_id if isinstance(patch_id, str) else "", leaves)


def _commit_node(commit: Commit) -> WhyNode:
    label = f"{commit.date[:10]} {commit.author}: {_excerpt(commit.subject)}"
    return WhyNode(label, "commit", commit.sha)


def _event_node(
    doc: Document, logged: LoggedEvent, private: bool, commits: Mapping[str, Commit], in_git: bool
) -> WhyNode:
    event = logged.event
    place = "private to this working tree" if private else ""
    if not private and f"/{event.session_id}/" not in logged.shard:
        place = f"in {logged.shard}"
    children = [WhyNode(place, "session", event.session_id)]
    if event.kind == "patch":
        own = (doc.id, *doc.aliases)
        changes = [one for one in changes_of(event) if one.doc_id in own]
        children.append(_patch_node(event, changes, doc.path))
    commit = commits.get(logged.shard)
    if commit is not None:
        children.append(_commit_node(commit))
    elif in_git and not private:
        children.append(WhyNode("not committed yet", "note"))
    return WhyNode(event_label(event), "event", event.id, tuple(children))


def _missing_nodes(doc: Document, found: Iterable[LoggedEvent]) -> list[WhyNode]:
    """Notes for what the frontmatter names and the log here does not hold."""
    events = [logged.event for logged in found]
    known = {event.id for event in events} | {event.refs.get("patch_id") for event in events}
    away = "not in the log here: private to another working tree, or dropped by git"
    return [WhyNode(away, "note", name) for name in (*doc.events, *doc.patches) if name not in known]


def _commit_nodes(doc: Document, git: Git, told: set[str]) -> list[WhyNode]:
    """Commits the frontmatter names, then those that touched the file and were not told yet."""
    nodes: list[WhyNode] = []
    for sha in doc.commits:
        commit = git.commit(sha)
        if commit is None:
            nodes.append(WhyNode("a commit that is not in this clone", "note", sha))
        else:
            told.add(commit.sha)
            nodes.append(_commit_node(commit))
    touching = git.commits_of_path(doc.path, limit=_COMMITS)
    return nodes + [_commit_node(commit) for commit in touching if commit.sha not in told]


def _unrecorded(doc: Document, found: Iterable[LoggedEvent], git: Git | None) -> list[WhyNode]:
    text_hash = doc.hash
    changes = (change for logged in found for change in changes_of(logged.event))
    if any(change.after == text_hash for change in changes):
        return []
    if git is not None and explaining_commit(text_hash, doc.path, git) is not None:
        return []
    label = (
        "unrecorded: no event and no commit has the text as it is now; the next writing command records it"
    )
    return [WhyNode(label, "note")]


def why(doc: Document, log: EventLog, git: Git | None) -> WhyNode:
    """Everything known about where a document comes from.

    Below the document: its events by time, each with session, patch and the commit that brought it in; what
    its frontmatter names and nobody here has; documents it derives from; other commits that touched it; a
    note when its present text is unrecorded.
    """
    found = events_about(doc, log.read_all().events)
    shards = sorted({logged.shard for logged in found if not log.is_private(logged.shard)})
    commits = git.first_commits(shards) if git is not None and shards else {}
    children = [
        _event_node(doc, logged, log.is_private(logged.shard), commits, git is not None) for logged in found
    ]
    children += _missing_nodes(doc, found)
    children += [WhyNode(link.rel, "document", link.target) for link in doc.links if link.rel in _TOLD_LINKS]
    if git is not None:
        children += _commit_nodes(doc, git, {commit.sha for commit in commits.values()})
    children += _unrecorded(doc, found, git)
    return WhyNode(f"{doc.title} ({doc.path})", "document", doc.id, tuple(children))
