"""Rules about the store as a whole: schema files, manifest, log, and what git must not track."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from thunderus_mem.lint.rule import CODES, LintStore
from thunderus_mem.model import schema
from thunderus_mem.model.diagnostic import Diagnostic

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


def _found(
    code: str, path: str, message: str, *, key: str = "", expected: str = "", hint: str = ""
) -> Diagnostic:
    return Diagnostic(code, CODES[code][1], path, 0, 0, message, key, expected, hint)


def _same(text: str, wanted: str) -> bool:
    return text.replace("\r\n", "\n").removeprefix("\ufeff") == wanted


def schema_drift(store: LintStore) -> Iterable[Diagnostic]:
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
        elif not _same(copy.text, copy.wanted):
            message = "The schema file differs from the one this version writes."
        else:
            continue
        expected = f"{name} as this version has it"
        path = f"{store.schemas_folder}/{name}"
        yield _found("TM501", path, message, expected=expected, hint="Run `thunderus-mem schema update`.")


def manifest_schema(store: LintStore) -> Iterable[Diagnostic]:
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
    import json

    hint = "Run `thunderus-mem manifest` to write it anew."
    try:
        data = json.loads(store.manifest, parse_constant=_refuse)
    except (ValueError, RecursionError):
        yield _found("TM502", store.manifest_path, "The manifest is no JSON.", expected="JSON", hint=hint)
        return
    if schema.surely_valid_manifest(data):
        return
    for violation in schema.check(schema.MANIFEST, data):
        yield _found(
            "TM502",
            store.manifest_path,
            violation.message,
            key=violation.key,
            expected=violation.expected,
            hint=hint,
        )


def _refuse(name: str) -> Any:
    raise ValueError(name)


def _from_log(store: LintStore, code: str) -> Iterator[Diagnostic]:
    return (found for found in store.log if found.rule == code)


def shard_schema(store: LintStore) -> Iterable[Diagnostic]:
    """A line of the event log is no event: no JSON, or not what its schema asks for.

    Why: the line is not counted as evidence. The other lines are still read.

    Bad::

        {"v": 1, "id": "evt_1", "kind": "patched"}

    Good::

        the lines as this program writes them

    Mend: bring the line back from git (``git log -p`` on the shard). Never rewrite it by hand: every line is
    named by the hash in the next one.
    """
    return _from_log(store, "TM503")


def shard_chain(store: LintStore) -> Iterable[Diagnostic]:
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
    return _from_log(store, "TM504")


def shard_torn(store: LintStore) -> Iterable[Diagnostic]:
    """The last line of an event log is not finished.

    Why: a process was killed while writing, or a disk was full. The line was never acknowledged.

    Bad::

        {"v": 1, "id": "evt_01J…", "ts": "2026-01-

    Good::

        every line ends with a newline

    Mend: run any command that writes; it sets the torn bytes aside in ``.thunderus/.quarantine`` and goes on.
    """
    return _from_log(store, "TM505")


def tracked_projection(store: LintStore) -> Iterable[Diagnostic]:
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
        yield _found(
            "TM506",
            path,
            "Git tracks this file, which is derived or private.",
            expected="a file that git ignores",
            hint=f"Run `git rm --cached {path}`.",
        )


def conflict_in_shard(store: LintStore) -> Iterable[Diagnostic]:
    """An event log holds git's conflict markers.

    Why: shards are written by one working tree and never merged by line; markers mean that a shard was
    changed on two sides, which only happens by hand.

    Bad::

        <<<<<<< HEAD

    Good::

        both sides' lines, each whole, without markers

    Mend: keep the lines of both sides and delete the three marker lines.
    """
    return _from_log(store, "TM507")


def shard_line_ends(store: LintStore) -> Iterable[Diagnostic]:
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
    return _from_log(store, "TM508")
