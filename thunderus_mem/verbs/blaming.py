"""``blame``: each line of a document, and the event or commit that last changed it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from thunderus_mem.model.errors import InvalidQuery

if TYPE_CHECKING:
    from collections.abc import Iterable

    from thunderus_mem.evidence.blame import Blame
    from thunderus_mem.memory import Memory
    from thunderus_mem.model.event import Event
    from thunderus_mem.store.git_history import Commit
    from thunderus_mem.verbs.code_then import CodeThen


@dataclass(frozen=True, slots=True)
class BlameSource:
    """Where lines come from. ``kind`` is event, commit or unrecorded (no event and no commit has the line).

    ``op`` is what the event did, ``why`` its reason or the commit's subject.
    """

    id: str
    kind: str
    ts: str
    actor: str
    author: str
    session_id: str
    op: str
    why: str


@dataclass(frozen=True, slots=True)
class BlameLine:
    """One line of the file. ``source`` is the id of its source, "" for an unrecorded one.

    ``anchors`` are the places in the code that the line names, or is. Not ``exact``: what was before the
    source is not known here, so the line may be older.
    """

    number: int
    text: str
    source: str
    exact: bool
    anchors: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class BlameReport:
    """A document's lines, or those asked for, and their sources, each once, in the order of the lines.
    ``damaged`` counts the lines of the log that cannot be read; ``code`` is what those lines speak of."""

    id: str
    path: str
    hash: str
    lines: tuple[BlameLine, ...]
    sources: tuple[BlameSource, ...]
    damaged: int = 0
    code: tuple[CodeThen, ...] = ()


def blame(memory: Memory, id: str, *, lines: tuple[int, int] | None = None) -> BlameReport:
    """The event or commit that last changed each line of a document, frontmatter and body.

    ``lines`` are the first and the last line wanted (0: the end). Raises `InvalidQuery` when there are none.
    """
    from thunderus_mem.evidence.blame import blame as blamed
    from thunderus_mem.evidence.weave import lines_of
    from thunderus_mem.verbs.code_then import code_then, speaking_of
    from thunderus_mem.verbs.locating import find_document
    from thunderus_mem.verbs.tracing import trace

    memory.refresh()
    document = find_document(memory, id)
    logged, past = trace(memory, document)
    found = blamed(document, past, memory.git)
    texts = lines_of(document.text.replace("\r\n", "\n").replace("\r", "\n"))
    first, last = _range(lines, len(texts), document.path)
    code = code_then(memory, document.id)
    told = tuple(
        BlameLine(number, text, owner.id, owner.exact, speaking_of(code, number, text))
        for number, (text, owner) in enumerate(zip(texts, found.owners, strict=True), 1)
        if first <= number <= last
    )
    events = {entry.event.id: entry.event for entry in logged}
    sources = _sources((line.source for line in told), events, found)
    damaged = memory.log_index().damages()
    named = {place for line in told for place in line.anchors}
    meant = tuple(one for one in code if one.place in named)
    return BlameReport(document.id, document.path, document.hash, told, sources, damaged, meant)


def _range(lines: tuple[int, int] | None, count: int, path: str) -> tuple[int, int]:
    if lines is None:
        return 1, count
    first, last = lines[0], min(lines[1] or count, count)
    if not 1 <= first <= last:
        raise InvalidQuery(
            f"{path} has {count} lines, and none of those asked for", hint="-L 10,20 shows lines 10 to 20"
        )
    return first, last


def _sources(ids: Iterable[str], events: dict[str, Event], found: Blame) -> tuple[BlameSource, ...]:
    told = []
    for id in dict.fromkeys(ids):
        if id in events:
            told.append(_from_event(events[id]))
        elif id in found.commits:
            told.append(_from_commit(found.commits[id]))
        else:
            told.append(BlameSource("", "unrecorded", "", "", "", "", "", ""))
    return tuple(told)


def _from_event(event: Event) -> BlameSource:
    return BlameSource(
        id=event.id,
        kind="event",
        ts=event.ts,
        actor=event.actor,
        author=str(event.origin.get("author", "")),
        session_id=event.session_id,
        op=str(event.body.get("op", "")),
        why=event.why,
    )


def _from_commit(commit: Commit) -> BlameSource:
    return BlameSource(commit.sha, "commit", commit.date, "user", commit.author, "", "", commit.subject)
