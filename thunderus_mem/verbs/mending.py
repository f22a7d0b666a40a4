"""What `lint --fix` does: the edits that findings offer, and new names for decisions that share a number."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from thunderus_mem.memory import Memory
    from thunderus_mem.model.document import Reading
    from thunderus_mem.model.renumber import Rename
    from thunderus_mem.transaction.writing import Writing
    from thunderus_mem.verbs.linting import Seen


class Mended(NamedTuple):
    """The files that were mended, the names of those that were renamed, and whether all are in place."""

    fixed: tuple[str, ...]
    new_names: Mapping[str, str]
    published: bool


def mend(memory: Memory, seen: Seen, *, renames: bool) -> Mended | None:
    """Write what can be mended without a question, each document as one event; ``None``: there was nothing.

    All of it is one patch. A file that changed meanwhile is a `Conflict`.
    """
    moved = _renames(memory, seen) if renames else ()
    if not seen.mended and not moved:
        return None
    with memory.writing("lint --fix") as transaction:
        _write(transaction, seen.mended)
        if seen.mended:
            moved = _renames(memory, seen) if moved and not transaction.pending else ()
        _rename(transaction, moved)
    new_names = {one.document.path: one.path for one in moved}
    changed = (reading.path for reading, _ in seen.mended)
    fixed = tuple(dict.fromkeys(new_names.get(path, path) for path in (*changed, *new_names)))
    return Mended(fixed, new_names, not transaction.pending)


def shown(memory: Memory, seen: Seen, *, renames: bool) -> str:
    """What `mend` would do, as a diff."""
    from thunderus_mem.model.event import unified_diff

    diffs = [unified_diff(reading.text or "", text, reading.path) or "" for reading, text in seen.mended]
    for one in _renames(memory, seen) if renames else ():
        old, new = one.document.path, one.path
        diffs.append(f"diff --git a/{old} b/{new}\nrename from {old}\nrename to {new}\n")
    return "".join(diffs)


def _renames(memory: Memory, seen: Seen) -> tuple[Rename, ...]:
    """The files that get another number, among those found to share one."""
    from thunderus_mem.model.renumber import renames
    from thunderus_mem.verbs.linting import documents

    shared = {finding.path for finding in seen.findings if finding.rule == "TM111"}
    if not shared:
        return ()
    return tuple(one for one in renames(documents(memory)) if one.document.path in shared)


def _rename(transaction: Writing, moved: Sequence[Rename]) -> None:
    from thunderus_mem.store.edits import Edit

    for one in moved:
        id, old, text = one.document.id, one.document.path, one.document.text
        edits = [Edit(id, old, text, None, renames=True), Edit(id, one.path, None, text, renames=True)]
        number = os.path.basename(one.path)[:8]
        transaction.commit("rename", edits, why=f"the number was taken twice; now {number}")


def _write(transaction: Writing, mended: Sequence[tuple[Reading, str]]) -> None:
    from thunderus_mem.store.edits import Edit

    for reading, text in mended:
        doc_id = reading.document.id if reading.document is not None else ""
        transaction.commit("edit", [Edit(doc_id, reading.path, reading.text, text)], why="lint --fix")
