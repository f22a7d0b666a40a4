"""Replay: the text that each document should have according to the log alone, and whether its diffs rebuild
it; and a comparison of log and files in both directions. Reads files and git, writes nothing.
"""

from __future__ import annotations

import os
from collections import Counter
from typing import TYPE_CHECKING

from thunderus_mem.diagnostic import Diagnostic, Severity
from thunderus_mem.document.document import MAX_DOCUMENT
from thunderus_mem.document.paths import is_archived
from thunderus_mem.errors import ThunderusError
from thunderus_mem.git.history import removed_files, texts_in_history
from thunderus_mem.history.marks import ALTERED, Marks
from thunderus_mem.index.log import read
from thunderus_mem.log.event import changes_of
from thunderus_mem.log.transitions import RENAME, Transition, happened, known_texts, moved_from
from thunderus_mem.startup import NamedTuple
from thunderus_mem.store.files import read_file
from thunderus_mem.store.layout import CORE_LOCAL_FILE, MEMORY
from thunderus_mem.store.paths import is_safe, kind_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from thunderus_mem.git.repository import Git
    from thunderus_mem.log.event import Change
    from thunderus_mem.log.line import Event
    from thunderus_mem.memory.memory import Memory
    from thunderus_mem.store.layout import Layout


class Reached(NamedTuple):
    """The final state of a document in the log: its path, the hash of its text ("" if it was removed).

    ``rebuilt``: the diffs alone produce that text.
    """

    path: str
    hash: str
    rebuilt: bool


def replay_log(events: Sequence[Event]) -> dict[str, Reached]:
    """Apply all events in order to an empty memory; returns documents by id.

    Aborted changes, whose file contained another text, are skipped.
    """
    last: dict[str, Change] = {}
    found: dict[str, list[Transition]] = {}
    groups = _Groups()
    for number, (event, changes) in enumerate(happened(events)):
        # The target of a moved file comes last, whatever the order in the event.
        for change in sorted(changes, key=lambda one: bool(one.after)):
            if not change.doc_id:
                continue
            last[change.doc_id] = change
            found.setdefault(change.doc_id, []).append(
                Transition(
                    event_id=event.id,
                    number=number,
                    doc_id=change.doc_id,
                    path=change.path,
                    before=change.before or moved_from(change, changes),
                    after=change.after,
                    base=change.before,
                    diff=change.diff,
                )
            )
        groups.join([one.doc_id for one in changes if one.op == RENAME and one.doc_id])
    return _rebuilt(last, found, groups)


def _rebuilt(
    last: Mapping[str, Change], transitions: Mapping[str, Sequence[Transition]], groups: _Groups
) -> dict[str, Reached]:
    found: dict[str, Reached] = {}
    for ids in groups.of(last):
        texts = known_texts([transition for id in ids for transition in transitions[id]], {})
        for id in ids:
            found[id] = Reached(last[id].path, last[id].after, last[id].after in texts)
    return found


class _Groups:
    """Groups of ids that belong to the same document."""

    def __init__(self) -> None:
        self._of: dict[str, set[str]] = {}

    def join(self, ids: Sequence[str]) -> None:
        """Record that these ids belong to one document."""
        if len(set(ids)) < 2:
            return
        together = set(ids).union(*(self._of.get(id, ()) for id in ids))
        for id in together:
            self._of[id] = together

    def of(self, ids: Iterable[str]) -> Iterable[Sequence[str]]:
        """The groups of all these ids, each once."""
        done: set[str] = set()
        for id in ids:
            if id not in done:
                group = sorted(self._of.get(id, {id}))
                done.update(group)
                yield group


class Unexplained(NamedTuple):
    """Files whose text is not in the log: those ``in_git``, and the ``unrecorded`` ones that are nowhere.

    ``personal`` files are never recorded; ``unreadable`` ones cannot be compared.
    """

    in_git: tuple[str, ...]
    unrecorded: tuple[str, ...]
    personal: tuple[str, ...]
    unreadable: tuple[str, ...]


def unexplained(layout: Layout, files: Iterable[str], git: Git | None) -> Unexplained:
    """Search git for the texts of files that are not in the log, all at once."""
    personal = []
    unreadable = []
    texts: dict[str, bytes] = {}
    for path in files:
        if path == CORE_LOCAL_FILE:
            personal.append(path)
            continue
        try:
            texts[path] = read_file(os.path.join(layout.root, path), MAX_DOCUMENT)
        except ThunderusError:
            unreadable.append(path)
    in_git = texts_in_history(git, texts, MEMORY) if git is not None and texts else set()
    unrecorded = [path for path in texts if path not in in_git]
    return Unexplained(tuple(sorted(in_git)), tuple(unrecorded), tuple(personal), tuple(unreadable))


def gone(
    layout: Layout, reached: Mapping[str, Reached], missing: Iterable[str], git: Git | None
) -> Sequence[tuple[str, str]]:
    """``(id, path)`` of documents in the log without a file, unless a commit removed the file.

    ``missing`` are the ids without a file. A path that exists now belongs to another document and is not
    reported.
    """
    lost = {id: reached[id].path for id in missing if id in reached and reached[id].hash}
    # The log can come from anyone: only safe paths are looked up on disk and in git.
    asked = sorted({path for path in lost.values() if kind_of(path) and is_safe(path)})
    settled = {path for path in asked if os.path.lexists(os.path.join(layout.root, path))}
    rest = [path for path in asked if path not in settled]
    if git is not None and rest:
        settled |= removed_files(git, rest, MEMORY)
    return tuple(sorted((id, path) for id, path in lost.items() if path not in settled))


class Replayed(NamedTuple):
    """One document: its final hash in the log, and that of its file. ``state``: rebuilt (the diffs in the log
    produce the text on disk), known (the log has its hash, but not every diff), differs (the file has another
    text), unlogged (no event about it), gone (no file)."""

    id: str
    path: str
    state: str
    reached: str
    found: str


class ReplayReport(NamedTuple):
    """The result of a replay; ``counts`` is the number of documents by state. If not ``checked``, these are
    the states of ``documents``. Otherwise they are log, git, personal (never recorded), unrecorded,
    unreadable and gone, with a finding for each document in the last three, and for those whose text only
    altered or unchained lines have. ``damaged`` is the number of unreadable lines of the log."""

    checked: bool
    counts: dict[str, int]
    documents: tuple[Replayed, ...]
    diagnostics: tuple[Diagnostic, ...]
    damaged: int = 0

    @property
    def unexplained(self) -> int:
        """The number of files whose text is in neither log nor git."""
        return self.counts.get("unrecorded", 0) + self.counts.get("unreadable", 0)


def replay(memory: Memory) -> ReplayReport:
    """Rebuild every document from the log alone and compare it with its file. Writes nothing."""
    memory.refresh()
    reached = replay_log([entry.event for entry in memory.log.read_all().events])
    listed = memory.index.files()
    # The last of each id wins: in use before archived, then the first by path.
    ordered = sorted(listed, key=lambda file: (is_archived(file[0]), file[0]), reverse=True)
    files = {doc_id: (path, hash) for path, hash, doc_id in ordered if doc_id}
    there = {path for path, _, _ in listed}
    found = [
        _compared(id, reached.get(id), files.get(id))
        for id in sorted({*reached, *files})
        # Without a file only if not removed, and if no other document has its path now.
        if id in files or (reached[id].hash and reached[id].path not in there)
    ]
    counts = Counter(one.state for one in found)
    return ReplayReport(
        checked=False,
        counts=dict(sorted(counts.items())),
        documents=tuple(one for one in found if one.state != "rebuilt"),
        diagnostics=(),
        damaged=memory.log_index().damages(),
    )


def _events_about(memory: Memory, ids: Sequence[str]) -> list[Event]:
    """The events about some documents; an aborted change contains only the path."""
    logged = read(memory.log, memory.log_index().naming(ids)) if ids else []
    paths = {change.path for entry in logged for change in changes_of(entry.event)}
    return memory.events_about(paths, ids) if paths else []


def _compared(id: str, reached: Reached | None, file: tuple[str, str] | None) -> Replayed:
    path, found = file or ("", "")
    if reached is None:
        return Replayed(id, path, "unlogged", "", found)
    if file is None:
        return Replayed(id, reached.path, "gone", reached.hash, "")
    if reached.hash != found:
        return Replayed(id, path, "differs", reached.hash, found)
    return Replayed(id, path, "rebuilt" if reached.rebuilt else "known", found, found)


def replay_check(memory: Memory) -> ReplayReport:
    """Check that every text on disk is in the log or in git, and that every document in the log has a
    file."""
    memory.refresh()
    index = memory.log_index()
    total = len(memory.index.files())
    open_files = index.unexplained_files()
    rest = unexplained(memory.layout, open_files, memory.git)
    missing = index.vanished()
    waiting = {path for _, path in memory.journal.waiting()}
    reached = replay_log(_events_about(memory, missing))
    lost = [one for one in gone(memory.layout, reached, missing, memory.git) if one[1] not in waiting]
    counts = {
        "log": total - len(open_files),
        "git": len(rest.in_git),
        "personal": len(rest.personal),
        "unrecorded": len(rest.unrecorded),
        "unreadable": len(rest.unreadable),
        "gone": len(lost),
    }
    found = [*_findings(rest), *map(_gone, lost), *_marked(memory)]
    findings = sorted(found, key=lambda one: one.sort_key)
    return ReplayReport(
        checked=True,
        counts=counts,
        documents=(),
        diagnostics=tuple(findings),
        damaged=index.damages(),
    )


def _findings(rest: Unexplained) -> Iterator[Diagnostic]:
    for path in rest.unrecorded:
        message = "Unrecorded text: it is in no event and no commit"
        hint = "Run any command that writes, e.g. `thunderus-mem events record`, or commit the file"
        yield Diagnostic("", Severity.WARNING, path, 0, 0, message, hint=hint)
    for path in rest.unreadable:
        message = "Cannot read the file to compare it with the log"
        yield Diagnostic("", Severity.WARNING, path, 0, 0, message, hint=f"Run `thunderus-mem lint {path}`")


def _marked(memory: Memory) -> Iterator[Diagnostic]:
    """Yield texts that only altered or unchained lines of the log have."""
    lines: dict[str, list[tuple[str, int]]] = {}
    for path, shard, line in memory.log_index().explaining():
        lines.setdefault(path, []).append((shard, line))
    marks = Marks(memory, (shard for places in lines.values() for shard, _ in places))
    for path, places in lines.items():
        found = [(marks.at(shard, line), shard, line) for shard, line in places]
        if all(mark for mark, _, _ in found):
            mark, shard, line = min(found)  # altered comes before unchained
            severity = Severity.WARNING if mark == ALTERED else Severity.NOTE
            message = f"In the log, only altered or unchained lines have this text: {mark} {shard}:{line}"
            yield Diagnostic("", severity, path, 0, 0, message, hint="Run `thunderus-mem events verify`")


def _gone(lost: tuple[str, str]) -> Diagnostic:
    id, path = lost
    message = f"The file of {id} is missing, but no event or commit removed it"
    hint = f"Run `thunderus-mem log {id}` or `git log --all -- {path}` to see its history"
    return Diagnostic("", Severity.NOTE, path, 0, 0, message, hint=hint, doc_id=id)
