"""Writes what `resolve` decided: documents with their events, shards as git has them, and git's index."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from thunderus_mem.model.document import content_hash
from thunderus_mem.model.textdiff import unified_diff
from thunderus_mem.store.edits import Edit
from thunderus_mem.store.files import read_file, replace_file
from thunderus_mem.store.git_unmerged import stage_files
from thunderus_mem.store.paths import inside

if TYPE_CHECKING:
    from collections.abc import Sequence

    from thunderus_mem.memory import Memory
    from thunderus_mem.verbs.conflicts import Answer
    from thunderus_mem.verbs.paired_shards import Shard

__all__ = ["diff_of", "stage", "write"]

_SHARD_LIMIT = 256 << 20


def _edits(memory: Memory, answer: Answer) -> list[Edit]:
    """What is to be written for a document; nothing where its file is as it should be."""
    edits = [Edit(answer.id, path, text, None) for path, text in answer.drops if text is not None]
    known = answer.state == "kept" and (
        answer.before is not None or memory.log_index().explains(content_hash(answer.text or ""))
    )
    if answer.state in ("unreadable", "done") or known:
        return edits
    mixed = bool(answer.drops) and answer.text != answer.before
    if answer.text != answer.found or answer.state == "kept" or mixed:
        found = answer.found if answer.found != answer.before else None
        edits.append(Edit(answer.id, answer.path, answer.before, answer.text, found=found))
    return edits


def write(
    memory: Memory, answers: Sequence[Answer], shards: Sequence[Shard], *, why: str, actor: str
) -> tuple[dict[str, str], tuple[str, ...], bool] | None:
    """Write documents, each file that git had in conflict as one event, and shards.

    Gives the event of each document by its path, the edits by hand that were recorded, and whether every file
    is in its place; ``None`` when an earlier command's files had to be put in their places first, so that the
    answers must be found anew.
    """
    by_file: dict[str, list[tuple[Answer, Edit]]] = {}
    for answer in answers:
        for edit in _edits(memory, answer):
            by_file.setdefault(answer.file, []).append((answer, edit))
    mixed = [shard for shard in shards if shard.data is not None and _bytes(memory, shard) != shard.data]
    if not by_file and not mixed:
        return {}, (), True
    events: dict[str, str] = {}
    with memory.writing("resolve") as transaction:
        if any(healed.action == "published" for healed in transaction.healed):
            return None
        for shard in mixed:
            replace_file(inside(memory.root, shard.path), shard.data or b"")
        for changes in by_file.values():
            reason = why or _reason([answer for answer, _ in changes])
            event = transaction.commit("resolve", [edit for _, edit in changes], why=reason, actor=actor)
            events |= {answer.path: event.id for answer, _ in changes}
    return events, transaction.recorded, not transaction.pending


def _bytes(memory: Memory, shard: Shard) -> bytes | None:
    """What the file of a shard holds, with LF at the ends of lines, as the log reads it."""
    path = inside(memory.root, shard.path)
    return read_file(path, _SHARD_LIMIT).replace(b"\r\n", b"\n") if os.path.lexists(path) else None


def _reason(answers: Sequence[Answer]) -> str:
    """What was decided, in a few words, for whoever reads the log."""
    keys = dict.fromkeys(settled.key for answer in answers for settled in answer.settled)
    left = dict.fromkeys(one.key for answer in answers for one in answer.left)
    said = [f"settled {', '.join(keys)}"] if keys else [answers[0].note or "merged"]
    return "; ".join([*said, *([f"left to people {', '.join(left)}"] if left else [])])


def stage(memory: Memory, answers: Sequence[Answer], shards: Sequence[Shard]) -> tuple[tuple[str, ...], str]:
    """Put what is clean into git's index, and the shard that tells of it; or why not."""
    if memory.git is None:
        return (), "there is no git repository here"
    paths = [path for answer in answers if answer.is_clean for path in (answer.path, *dict(answer.drops))]
    paths += [shard.path for shard in shards]
    if not paths:
        return (), ""
    shard = memory.sessions.known_shard()
    if shard and os.path.isfile(os.path.join(memory.root, shard)):
        paths.append(shard)
    problem = stage_files(memory.git, paths)
    return ((), problem) if problem else (tuple(paths), "")


def diff_of(answers: Sequence[Answer]) -> str:
    """From what the files hold to what they would."""
    diffs = []
    for answer in answers:
        if answer.state != "unreadable":
            diffs.append(unified_diff(answer.found, answer.text, answer.path) or "")
            diffs += [unified_diff(text, None, path) or "" for path, text in answer.drops if text]
    return "".join(diffs)
