"""Rules about the store as a whole: schema files, manifest, log, review queue, and what git must not track.

What is wrong in the log and in the queue is found where they are read; their rules here pass it on.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from thunderus_mem.document import schema
from thunderus_mem.lint.rule import finding
from thunderus_mem.store.layout import INDEXES, STORE

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from thunderus_mem.diagnostic import Diagnostic
    from thunderus_mem.lint.rule import StoreState

_MANIFEST: Final = f"{INDEXES}/manifest.json"


def _reported(store: StoreState, code: str) -> Iterator[Diagnostic]:
    """What reading the log or the review queue found already."""
    return (one for one in store.reported if one.rule == code)


def schema_drift(store: StoreState) -> Iterable[Diagnostic]:
    """A schema file in ``.thunderus/schemas`` is missing or differs from the one this version writes.

    Why: editors and CI check documents against these files; when they lag behind, the two disagree with lint.

    Bad::

        a schemas folder of an older version, or one with a hand edit

    Good::

        the files as ``thunderus-mem schema update`` writes them

    Mend: run ``thunderus-mem schema update``; it writes these files and leaves all else alone.
    """
    for name, copy in sorted(store.schemas.items()):
        if copy.text is None:
            message = "The schema file is missing."
        elif copy.text.replace("\r\n", "\n").removeprefix("\ufeff") != copy.wanted:
            message = "The schema file differs from the one this version writes."
        else:
            continue
        expected = f"{name} as this version has it"
        path = f"{STORE}/schemas/{name}"
        yield finding("TM501", path, message, expected=expected, hint="Run `thunderus-mem schema update`.")


def manifest_schema(store: StoreState) -> Iterable[Diagnostic]:
    """The manifest is no JSON, or does not hold what its schema asks for.

    Why: Thunderus and other tools list the memory from it and refuse one that lacks a key.

    Bad::

        {"version": 1, "docs": []}

    Good::

        the file as ``thunderus-mem manifest`` writes it

    Mend: run ``thunderus-mem manifest``. It is derived from the documents, so nothing can be lost.
    """
    if store.manifest is None:
        return
    hint = "Run `thunderus-mem manifest` to write it anew."
    try:
        data = json.loads(store.manifest, parse_constant=_refuse)
    except (ValueError, RecursionError):
        yield finding("TM502", _MANIFEST, "The manifest is no JSON.", expected="JSON", hint=hint)
        return
    if schema.is_valid_fast(schema.MANIFEST, data):
        return
    for violation in schema.check(schema.MANIFEST, data):
        yield finding(
            "TM502",
            _MANIFEST,
            violation.message,
            key=violation.key,
            expected=violation.expected,
            hint=hint,
        )


def _refuse(name: str) -> Any:
    raise ValueError(name)


def shard_schema(store: StoreState) -> Iterable[Diagnostic]:
    """A line of the event log is no event: no JSON, or not what its schema asks for.

    Why: the line is not counted as evidence. The other lines are still read.

    Bad::

        {"v": 1, "id": "evt_1", "kind": "patched"}

    Good::

        the lines as this program writes them

    Mend: bring the line back from git (``git log -p`` on the shard). Never rewrite it by hand: every line is
    named by the hash in the next one.
    """
    return _reported(store, "TM503")


def shard_chain(store: StoreState) -> Iterable[Diagnostic]:
    """A line of the event log does not follow from the line before it.

    Why: each line names the hash of the one before. An edited, removed or moved line shows as a break. That
    a whole shard is missing, because git dropped or split it, is a note only.

    Bad::

        a shard from which a line was deleted, or in which one was edited

    Good::

        a shard whose older lines are as they were written

    Mend: bring the shard back from git (``git checkout <commit> -- <file>``), or keep it and know that its
    order and text are no longer proved.
    """
    return _reported(store, "TM504")


def shard_torn(store: StoreState) -> Iterable[Diagnostic]:
    """The last line of an event log is not finished.

    Why: a process was killed while writing, or a disk was full. The line was never acknowledged.

    Bad::

        {"v": 1, "id": "evt_01J…", "ts": "2026-01-

    Good::

        every line ends with a newline

    Mend: run any command that writes; it sets the torn bytes aside in ``.thunderus/.quarantine`` and goes on.
    """
    return _reported(store, "TM505")


def tracked_projection(store: StoreState) -> Iterable[Diagnostic]:
    """Git tracks a file that is derived or private.

    Why: index and manifest change with every document and would be in conflict in every merge; an index from
    somebody else's clone is not to be trusted; personal overlays are nobody else's.

    Bad::

        git add -f .thunderus/memory/indexes/memory.db

    Good::

        only documents, schemas, configuration and session shards are tracked

    Mend: ``git rm --cached <file>``, and keep the ``.gitignore`` that init wrote.
    """
    for path in sorted(store.tracked):
        yield finding(
            "TM506",
            path,
            "Git tracks this file, which is derived or private.",
            expected="a file that git ignores",
            hint=f"Run `git rm --cached {path}`.",
        )


def conflict_in_shard(store: StoreState) -> Iterable[Diagnostic]:
    """An event log holds git's conflict markers.

    Why: shards are written by one working tree and never merged by line; markers mean that a shard was
    changed on two sides, which only happens by hand.

    Bad::

        <<<<<<< HEAD

    Good::

        both sides' lines, each whole, without markers

    Mend: keep the lines of both sides and delete the three marker lines.
    """
    return _reported(store, "TM507")


def shard_line_ends(store: StoreState) -> Iterable[Diagnostic]:
    """Lines of the event log end in CRLF.

    Why: git turns LF into CRLF where ``core.autocrlf``, ``core.eol`` or an attribute says so. The log reads
    the same, since no hash counts line ends, but other programs may not expect it. New lines end in LF.

    Bad::

        a clone with ``core.autocrlf=true`` and without ``.thunderus/.gitattributes``

    Good::

        sessions/** text eol=lf

    Mend: run ``thunderus-mem init``, which adds the missing file, commit it, and check the shards out again
    (``git rm --cached -r .thunderus/sessions && git reset --hard`` in a clean tree).
    """
    return _reported(store, "TM508")


def unreadable_proposal(store: StoreState) -> Iterable[Diagnostic]:
    """A file in ``.thunderus/patches`` is no proposal, or one that nobody may carry out.

    Why: nobody can decide about it, and whoever wrote it believes that it waits. A proposal may come from
    anybody through git, so one that names a place where no document lives, or that holds a secret, is none.

    Bad::

        a file that git merged with conflict markers, or one that was edited by hand

    Good::

        the files as ``thunderus-mem garden --propose`` writes them

    Mend: bring the file back from git, or delete it: then nothing is proposed.
    """
    return _reported(store, "TM509")


def expired_proposal(store: StoreState) -> Iterable[Diagnostic]:
    """A proposal has waited for longer than ``review.expires_days``.

    Why: a queue that nobody reads hides what matters, and its diffs fit less with every day.

    Bad::

        a proposal of last spring

    Good::

        proposals that are approved or rejected in the weeks they are made

    Mend: decide (``thunderus-mem patch show``, ``approve``, ``reject``), or ``thunderus-mem patch expire``.
    """
    return _reported(store, "TM510")
