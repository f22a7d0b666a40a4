"""Who last changed each line of a document: the log's events, git's commits, or nobody on record yet."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from thunderus_mem.document.document import read_document
from thunderus_mem.errors import InvalidQuery
from thunderus_mem.git.history import file_versions, renamed_files
from thunderus_mem.history.log import trace
from thunderus_mem.history.version_graph import Owner, Revision, line_owners, lines_of, version_graph
from thunderus_mem.history.why import CodeThen, anchors_named, code_then
from thunderus_mem.memory.locate import find_document
from thunderus_mem.memory.past_texts import as_lf
from thunderus_mem.store.layout import MEMORY

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from thunderus_mem.document.document import Document
    from thunderus_mem.git.commits import Commit
    from thunderus_mem.git.history import FileVersion
    from thunderus_mem.git.repository import Git
    from thunderus_mem.log.line import Event
    from thunderus_mem.log.reader import DocumentPast
    from thunderus_mem.memory.memory import Memory

_MOST_RENAMES = 8


class Blame(NamedTuple):
    """The owner of each line, and the commits among the owners by their hash."""

    owners: tuple[Owner, ...]
    commits: Mapping[str, Commit]


def blame_lines(doc: Document, past: DocumentPast, git: Git | None) -> Blame:
    """The owner of every line of the document as it is now, frontmatter and body."""
    versions, paths = _versions(doc, past, git)
    revisions = [
        Revision("", tuple(version.commit.sha for version in versions[:1]), as_lf(doc.text)),
        *(
            Revision(version.commit.sha, version.parents, _text_of(doc, past, version, paths), version.cut)
            for version in versions
        ),
    ]
    owners = line_owners(version_graph(past.transitions, revisions))
    return Blame(tuple(owners), {version.commit.sha: version.commit for version in versions})


def _versions(doc: Document, past: DocumentPast, git: Git | None) -> tuple[list[FileVersion], list[str]]:
    """The versions that git has of the document, and the paths it had, followed through git's renames."""
    paths = list(past.paths)
    if git is None:
        return [], paths
    versions = file_versions(git, paths)
    for _ in range(_MOST_RENAMES):
        earlier = _earlier_path(doc, past, git, versions, paths)
        if not earlier:
            break
        paths.append(earlier)
        versions = file_versions(git, paths)
    return versions, paths


def _text_of(doc: Document, past: DocumentPast, version: FileVersion, paths: Sequence[str]) -> str | None:
    """The document's text in a commit: at its present path, else at an earlier one that was its own then."""
    for path in paths:
        data = version.texts.get(path)
        if data is not None and (path == doc.path or _is_it(path, data, past)):
            return as_lf(data.decode("utf-8", "surrogateescape"))
    return None


def _is_it(path: str, data: bytes, past: DocumentPast) -> bool:
    document = read_document(path, data).document
    return document is None or document.id in past.ids


def _earlier_path(
    doc: Document, past: DocumentPast, git: Git, versions: Sequence[FileVersion], paths: Sequence[str]
) -> str:
    """The path from which git saw the document come, when the log does not know how it began; else ""."""
    known = {transition.path for transition in past.transitions if not transition.before}
    texts = {version.commit.sha: _text_of(doc, past, version, paths) for version in versions}
    first = {
        version.commit.sha: next(path for path in paths if path in version.texts)
        for version in versions
        if texts[version.commit.sha] is not None
        and not any(texts[parent] is not None for parent in version.parents)
    }
    asked = {sha: path for sha, path in first.items() if path not in known}
    if not asked:
        return ""
    renames = renamed_files(git, list(asked), MEMORY)
    found = (renames.get((sha, path), "") for sha, path in asked.items())
    return next((old for old in found if old and old not in paths), "")


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
    memory.refresh()
    document = find_document(memory, id)
    logged, past = trace(memory, document)
    found = blame_lines(document, past, memory.git)
    texts = lines_of(as_lf(document.text))
    first, last = _range(lines, len(texts), document.path)
    code = code_then(memory, document.id)
    told = tuple(
        BlameLine(number, text, owner.id, owner.exact, anchors_named(code, number, text))
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
