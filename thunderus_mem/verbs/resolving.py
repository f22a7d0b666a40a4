"""The verb `resolve`: after a merge, what can be decided is; people get only what both sides wrote."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Final

from thunderus_mem.model.conflict import two_way
from thunderus_mem.model.errors import InvalidDocument
from thunderus_mem.model.ids import resolve_prefix
from thunderus_mem.store.git_merge import merge_lines
from thunderus_mem.verbs import merged_files
from thunderus_mem.verbs.conflicts import InConflict, Other, committed_conflicts, conflicts, settle
from thunderus_mem.verbs.locating import find_row, stored_path

if TYPE_CHECKING:
    from collections.abc import Sequence

    from thunderus_mem.memory import Memory
    from thunderus_mem.model.merge import Left, Settled
    from thunderus_mem.model.standoff import Standoff
    from thunderus_mem.verbs.conflicts import Answer

__all__ = ["Resolved", "ResolvedDocument", "resolve"]

_GO_ON: Final = {
    "merge": "git commit",
    "rebase": "git rebase --continue",
    "cherry-pick": "git cherry-pick --continue",
    "revert": "git revert --continue",
}


@dataclass(frozen=True, slots=True)
class ResolvedDocument:
    """What became of one document. ``state``: merged, kept, done, apart or unreadable; see `Answer`.

    ``removed`` are other files of it that went; ``event_id`` is "" when nothing was written.
    """

    id: str
    path: str
    state: str
    settled: tuple[Settled, ...]
    left: tuple[Left, ...]
    note: str
    removed: tuple[str, ...] = ()
    event_id: str = ""


@dataclass(frozen=True, slots=True)
class Resolved:
    """What `resolve` did, or with ``planned`` would do (``diff``).

    ``ours`` and ``theirs`` are git's names of the sides, as far as the markers tell. ``others`` are files
    that are no documents; ``clear`` are documents that were named and have no conflict. ``staged`` are files
    put into git's index, ``unstaged`` says why not. ``published`` is false when a file waits for the next
    command.
    """

    documents: tuple[ResolvedDocument, ...]
    others: tuple[Other, ...]
    clear: tuple[str, ...] = ()
    ours: str = ""
    theirs: str = ""
    diff: str = ""
    planned: bool = False
    staged: tuple[str, ...] = ()
    unstaged: str = ""
    recorded: tuple[str, ...] = ()
    published: bool = True
    next_step: str = ""

    @property
    def is_left(self) -> bool:
        """Whether people must decide something."""
        return any(not other.settled for other in self.others) or any(one.left for one in self.documents)


def resolve(
    memory: Memory,
    names: Sequence[str] = (),
    *,
    plan: bool = False,
    stage: bool = False,
    why: str = "",
    actor: str = "user",
) -> Resolved:
    """Settle the conflicts that a merge, rebase, cherry-pick, revert or stash left in documents.

    ``names`` are ids or paths; without them all documents in conflict. Where git knows of none any more,
    documents with conflict markers are taken. Nothing is staged unless ``stage`` is set, and then only what
    is clean. Raises `NotFound` for a name that no document has.
    """
    if not plan:
        from thunderus_mem.transaction import opening

        opening.settle(memory, "resolve")
    memory.refresh()
    found = conflicts(memory)
    clear: tuple[str, ...] = ()
    if names:
        documents, clear = _named(memory, found.documents, names)
        found = InConflict(documents, [], [])
    elif not any(found):
        found.documents.extend(
            committed_conflicts(memory, [(path, doc_id) for path, _, doc_id in memory.index.files()])
        )
    lines = partial(merge_lines, memory.git.ask) if memory.git is not None else _without_git
    answers = _together(found.documents, [settle(memory, one, lines) for one in found.documents])
    value = _value(answers, found, clear)
    if plan:
        value = replace(value, diff=merged_files.diff_of(answers), planned=True)
        return replace(value, next_step=_next_step(memory, value))
    written = merged_files.write(memory, answers, found.shards, why=why, actor=actor)
    if written is None:
        return resolve(memory, names, stage=stage, why=why, actor=actor)
    events, recorded, published = written
    staged, unstaged = merged_files.stage(memory, answers, found.shards) if stage else ((), "")
    value = replace(
        value,
        documents=tuple(replace(one, event_id=events.get(one.path, "")) for one in value.documents),
        staged=staged,
        unstaged=unstaged,
        recorded=recorded,
        published=published,
    )
    return replace(value, next_step=_next_step(memory, value))


def _without_git(_base: str, ours: str, theirs: str, labels: tuple[str, str]) -> str:
    return two_way(ours, theirs, labels)


def _named(
    memory: Memory, found: Sequence[Standoff], names: Sequence[str]
) -> tuple[list[Standoff], tuple[str, ...]]:
    """The conflicts that names mean, and the documents among them that have none."""
    chosen: dict[int, Standoff] = {}
    clear = []
    for name in names:
        meant = _meant(memory, found, name)
        if not meant:
            row_path, row_id = _whole(memory, name)
            meant = committed_conflicts(memory, [(row_path, row_id)])
            clear += [] if meant else [row_id or row_path]
        # Two documents in one file are parted together or not at all.
        paths = {one.path for one in meant}
        chosen |= {id(one): one for one in (*meant, *(one for one in found if one.path in paths))}
    return list(chosen.values()), tuple(clear)


def _meant(memory: Memory, found: Sequence[Standoff], name: str) -> list[Standoff]:
    path = stored_path(memory, name)
    exact = [one for one in found if name == one.id or path in (one.path, *one.drops)]
    ids = resolve_prefix(name, (one.id for one in found)) if not exact else []
    if len(ids) > 1:
        raise InvalidDocument(
            f"{name!r} is the beginning of {len(ids)} ids", hint=f"one of: {', '.join(ids[:8])}"
        )
    return exact or [one for one in found if one.id in ids]


def _whole(memory: Memory, name: str) -> tuple[str, str]:
    """Path and id of a document that git has nothing against; its header may be unreadable."""
    path = stored_path(memory, name)
    known = {path: doc_id for path, _, doc_id in memory.index.files()}
    if path in known:
        return path, known[path]
    row = find_row(memory, name, itself=True)
    return row.path, row.id


def _together(found: Sequence[Standoff], answers: Sequence[Answer]) -> list[Answer]:
    """When one of two documents in one file must stay as it is, so must the other."""
    stuck = {
        one.path: answer
        for one, answer in zip(found, answers, strict=True)
        if one.apart and answer.state == "unreadable"
    }
    return [
        stuck[one.path]._replace(id=one.id) if one.apart and one.path in stuck else answer
        for one, answer in zip(found, answers, strict=True)
    ]


def _value(answers: Sequence[Answer], found: InConflict, clear: tuple[str, ...]) -> Resolved:
    ours, theirs = next((answer.labels for answer in answers if answer.labels), ("", ""))
    documents = tuple(
        ResolvedDocument(
            answer.id,
            answer.path,
            answer.state,
            answer.settled,
            answer.left,
            answer.note,
            tuple(path for path, text in answer.drops if text is not None),
        )
        for answer in answers
    )
    shards = [Other(shard.path, shard.how, settled=True) for shard in found.shards]
    return Resolved(documents, (*shards, *found.others), clear, ours, theirs)


def _next_step(memory: Memory, value: Resolved) -> str:
    if not value.documents and not value.others:
        return ""
    then = _GO_ON.get(memory.git.operation() if memory.git is not None else "", "")
    if value.planned:
        return "thunderus-mem resolve"
    if value.is_left:
        return f"decide what is left, then `git add` it{f' and `{then}`' if then else ''}"
    if value.staged:
        return then
    return f"`git add` them (or `thunderus-mem resolve --stage`){f', then `{then}`' if then else ''}"
