"""``events replay``: the log against the documents, both ways."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from thunderus_mem.model.archive import is_archived
from thunderus_mem.model.diagnostic import Diagnostic, Severity
from thunderus_mem.model.event import changes_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from thunderus_mem.evidence.explained import Unexplained
    from thunderus_mem.evidence.replay import Reached
    from thunderus_mem.memory import Memory
    from thunderus_mem.store.events import LoggedEvent


@dataclass(frozen=True, slots=True)
class Replayed:
    """One document: the hash the log leaves it with, and that of its file. ``state``: rebuilt (the diffs of
    the log make the text on disk), known (the log has its hash, but not every diff), differs (the file holds
    another text), unlogged (no event names it), gone (no file)."""

    id: str
    path: str
    state: str
    reached: str
    found: str


@dataclass(frozen=True, slots=True)
class ReplayReport:
    """What a replay found; ``counts`` says how many documents are in each state. Unchecked, these are the
    states of ``documents``. Checked, they are log, git, personal (never recorded), unrecorded, unreadable and
    gone, with a finding for each document in the last three. ``damaged`` counts the lines of the log that
    cannot be read."""

    checked: bool
    counts: dict[str, int]
    documents: tuple[Replayed, ...]
    diagnostics: tuple[Diagnostic, ...]
    damaged: int = 0

    @property
    def unexplained(self) -> int:
        """How many files neither the log nor git explains."""
        return self.counts.get("unrecorded", 0) + self.counts.get("unreadable", 0)


def replay(memory: Memory, *, every: bool = False) -> ReplayReport:
    """Rebuild every document from the log alone and compare it with its file. Writes nothing."""
    memory.refresh()
    reached = _reached(memory.log.read_all().events)
    listed = memory.index.files()
    # The last of each id counts: in use before archived, the first by path.
    ordered = sorted(listed, key=lambda file: (is_archived(file[0]), file[0]), reverse=True)
    files = {doc_id: (path, hash) for path, hash, doc_id in ordered if doc_id}
    there = {path for path, _, _ in listed}
    found = [
        _compared(id, reached.get(id), files.get(id))
        for id in sorted({*reached, *files})
        # Removed, and gone; or its file is there and holds another id.
        if id in files or (reached[id].hash and reached[id].path not in there)
    ]
    counts = Counter(one.state for one in found)
    told = tuple(one for one in found if every or one.state != "rebuilt")
    return ReplayReport(
        checked=False,
        counts=dict(sorted(counts.items())),
        documents=told,
        diagnostics=(),
        damaged=memory.log_index().damages(),
    )


def _reached(logged: Iterable[LoggedEvent]) -> dict[str, Reached]:
    from thunderus_mem.evidence.replay import replay as replayed

    return replayed([entry.event for entry in logged])


def _story(memory: Memory, ids: Sequence[str]) -> list[LoggedEvent]:
    """The events about some documents; a change that was given up names only the path."""
    from thunderus_mem.projection.log_index import read

    index = memory.log_index()
    logged = read(memory.log, index.naming(ids)) if ids else []
    paths = {change.path for entry in logged for change in changes_of(entry.event)}
    return read(memory.log, index.about(paths, ids)) if paths else []


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
    """Is every text on disk one that an event left or a commit has? And what the log has, is it there?"""
    from thunderus_mem.evidence.explained import gone, unexplained

    memory.refresh()
    index = memory.log_index()
    total = len(memory.index.files())
    open_files = index.unexplained_files()
    rest = unexplained(memory.layout, open_files, memory.git)
    missing = index.vanished()
    lost = gone(memory.layout, _reached(_story(memory, missing)), missing, memory.git)
    counts = {
        "log": total - len(open_files),
        "git": len(rest.by_git),
        "personal": len(rest.personal),
        "unrecorded": len(rest.by_nobody),
        "unreadable": len(rest.unreadable),
        "gone": len(lost),
    }
    findings = sorted([*_findings(rest), *map(_gone, lost)], key=lambda one: one.sort_key)
    return ReplayReport(
        checked=True,
        counts=counts,
        documents=(),
        diagnostics=tuple(findings),
        damaged=index.damages(),
    )


def _findings(rest: Unexplained) -> Iterator[Diagnostic]:
    for path in rest.by_nobody:
        message = "No event and no commit has this text."
        hint = "The next writing command records it (thunderus-mem note TEXT is one); so does git commit."
        yield Diagnostic("", Severity.WARNING, path, 0, 0, message, hint=hint)
    for path in rest.unreadable:
        message = "This file cannot be read, so nothing explains it."
        yield Diagnostic(
            "", Severity.WARNING, path, 0, 0, message, hint=f"See why: thunderus-mem lint {path}"
        )


def _gone(lost: tuple[str, str]) -> Diagnostic:
    id, path = lost
    message = f"The log has {id}, but its file is gone and no event and no commit removed it."
    hint = f"What is known of it: thunderus-mem log {id}; git log --all -- {path}"
    return Diagnostic("", Severity.NOTE, path, 0, 0, message, hint=hint, doc_id=id)
