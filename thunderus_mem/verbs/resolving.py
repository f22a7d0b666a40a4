"""The verb `resolve`: after a merge, what can be decided is; people get only what both sides wrote."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from thunderus_mem.model.conflict import two_way
from thunderus_mem.model.document import content_hash
from thunderus_mem.model.errors import InvalidDocument
from thunderus_mem.model.ids import resolve_prefix
from thunderus_mem.model.textdiff import unified_diff
from thunderus_mem.store.git_merge import merge_lines
from thunderus_mem.store.git_unmerged import stage_files
from thunderus_mem.transaction import Edit
from thunderus_mem.verbs.conflicts import committed_conflicts, conflicts, settle
from thunderus_mem.verbs.locating import find_row, stored_path

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from thunderus_mem.memory import Memory
    from thunderus_mem.model.merge import Left, Settled
    from thunderus_mem.model.standoff import Standoff
    from thunderus_mem.verbs.conflicts import Answer, Other

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
        return bool(self.others) or any(document.left for document in self.documents)


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
    memory.refresh()
    found, others = conflicts(memory)
    clear: tuple[str, ...] = ()
    if names:
        found, clear = _named(memory, found, names)
        others = []
    elif not found:
        found = committed_conflicts(memory, [(path, doc_id) for path, _, doc_id in memory.index.files()])
    lines = partial(merge_lines, memory.git.ask) if memory.git is not None else _without_git
    answers = _together(found, [settle(memory, one, lines) for one in found])
    if plan:
        return _value(memory, answers, others, clear, diff=_diff(answers), planned=True)
    events, recorded, published = _write(memory, found, answers, why=why, actor=actor)
    staged, unstaged = _stage(memory, answers) if stage else ((), "")
    return _value(
        memory,
        answers,
        others,
        clear,
        events=events,
        staged=staged,
        unstaged=unstaged,
        recorded=recorded,
        published=published,
    )


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
    row = find_row(memory, name)
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


def _edits(memory: Memory, answer: Answer) -> list[Edit]:
    """What is to be written for a document; nothing where its file is as it should be."""
    edits = [Edit(answer.id, path, text, None) for path, text in answer.drops if text is not None]
    known = answer.state == "kept" and (
        answer.before is not None or memory.log_index().explains(content_hash(answer.text or ""))
    )
    if answer.state in ("unreadable", "done") or known:
        return edits
    if answer.text != answer.found or answer.state == "kept":
        found = answer.found if answer.found != answer.before else None
        edits.append(Edit(answer.id, answer.path, answer.before, answer.text, found=found))
    return edits


def _write(
    memory: Memory, found: Sequence[Standoff], answers: Sequence[Answer], *, why: str, actor: str
) -> tuple[dict[str, str], tuple[str, ...], bool]:
    """Write what is decided, each file that git had in conflict as one event; the event of each document."""
    by_file: dict[str, list[tuple[Answer, Edit]]] = {}
    for one, answer in zip(found, answers, strict=True):
        for edit in _edits(memory, answer):
            by_file.setdefault(one.path, []).append((answer, edit))
    if not by_file:
        return {}, (), True
    events: dict[str, str] = {}
    with memory.writing("resolve") as transaction:
        for changes in by_file.values():
            reason = why or _reason([answer for answer, _ in changes])
            event = transaction.commit("resolve", [edit for _, edit in changes], why=reason, actor=actor)
            events |= {answer.path: event.id for answer, _ in changes}
    return events, transaction.recorded, not transaction.pending


def _reason(answers: Sequence[Answer]) -> str:
    """What was decided, in a few words, for whoever reads the log."""
    keys = dict.fromkeys(settled.key for answer in answers for settled in answer.settled)
    left = dict.fromkeys(one.key for answer in answers for one in answer.left)
    said = [f"settled {', '.join(keys)}"] if keys else [answers[0].note or "merged"]
    return "; ".join([*said, *([f"left to people {', '.join(left)}"] if left else [])])


def _stage(memory: Memory, answers: Sequence[Answer]) -> tuple[tuple[str, ...], str]:
    """Put what is clean into git's index, and the shard that tells of it; or why not."""
    if memory.git is None:
        return (), "there is no git repository here"
    paths = [path for answer in answers if answer.is_clean for path in (answer.path, *dict(answer.drops))]
    if not paths:
        return (), ""
    shard = memory.sessions.known_shard()
    if shard and os.path.isfile(os.path.join(memory.root, shard)):
        paths.append(shard)
    problem = stage_files(memory.git, paths)
    return ((), problem) if problem else (tuple(paths), "")


def _diff(answers: Sequence[Answer]) -> str:
    """From what the files hold to what they would."""
    diffs = []
    for answer in answers:
        if answer.state != "unreadable":
            diffs.append(unified_diff(answer.found, answer.text, answer.path) or "")
            diffs += [unified_diff(text, None, path) or "" for path, text in answer.drops if text]
    return "".join(diffs)


def _value(
    memory: Memory,
    answers: Sequence[Answer],
    others: Sequence[Other],
    clear: tuple[str, ...],
    *,
    events: Mapping[str, str] | None = None,
    **rest: Any,
) -> Resolved:
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
            (events or {}).get(answer.path, ""),
        )
        for answer in answers
    )
    value = Resolved(documents, tuple(others), clear, ours, theirs, **rest)
    return replace(value, next_step=_next_step(memory, value))


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
