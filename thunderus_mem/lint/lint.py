"""A baseline: the findings an old store had when linting began, so that only new ones are told. Pure.

Its text is one JSON value a line: a head that names the version, then ``[path, rule, fingerprint]``, sorted.
Lines come and go alone, so that two branches that change it merge like any text.
"""

from __future__ import annotations

import json
import os
import re
from functools import partial
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from thunderus_mem.diagnostic import Diagnostic, Severity
from thunderus_mem.document.document import read_document
from thunderus_mem.errors import NotFound, ThunderusError
from thunderus_mem.index.refresh import unlisted
from thunderus_mem.index.unreadable import unlisted_folder
from thunderus_mem.lint.runner import inspect, inspect_stored, lint_config, stored_bytes
from thunderus_mem.memory.locate import stored_path
from thunderus_mem.memory.transaction import open_transaction
from thunderus_mem.store.layout import MEMORY
from thunderus_mem.store.paths import at_or_below

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from thunderus_mem.document.document import Document, Reading
    from thunderus_mem.document.references import Rename
    from thunderus_mem.lint.rule import LintConfig
    from thunderus_mem.lint.runner import Inspected
    from thunderus_mem.memory.memory import Memory
    from thunderus_mem.memory.transaction import Transaction

SCHEMA: Final = "thunderus-mem.lint-baseline/1"
NEVER: Final = ("TM012", "TM4", "TM503", "TM504", "TM507")
"""Beginnings of the codes no baseline hides: secrets and what else is unsafe, conflicts, a damaged log."""

_FINGERPRINT = re.compile(r"[0-9a-f]{32}")


class BaselineEntry(NamedTuple):
    """One known finding. The path tells people where it was; the fingerprint alone decides."""

    path: str
    rule: str
    fingerprint: str


def may_be_known(rule: str) -> bool:
    """Whether a baseline may hide findings of this rule."""
    return not rule.startswith(NEVER)


def recorded(found: Iterable[Diagnostic]) -> tuple[BaselineEntry, ...]:
    """The entries for these findings, sorted; those that no baseline hides are left out."""
    return tuple(sorted({_entry(one) for one in found if may_be_known(one.rule)}))


def _entry(one: Diagnostic) -> BaselineEntry:
    return BaselineEntry(one.path, one.rule, one.fingerprint)


def told(found: Sequence[Diagnostic], entries: Iterable[BaselineEntry]) -> list[Diagnostic]:
    """The findings that the entries do not know."""
    known = {entry.fingerprint for entry in entries}
    return [one for one in found if one.fingerprint not in known or not may_be_known(one.rule)]


def obsolete(
    found: Iterable[Diagnostic], entries: Iterable[BaselineEntry], runs: Callable[[str], bool]
) -> tuple[BaselineEntry, ...]:
    """Entries whose finding is gone; ``found`` is everything a whole lint finds with the rules that run."""
    present = {one.fingerprint for one in found if may_be_known(one.rule)}
    return tuple(entry for entry in entries if entry.fingerprint not in present and runs(entry.rule))


def render(entries: Iterable[BaselineEntry]) -> str:
    """The text of a baseline."""
    lines = [json.dumps({"schema": SCHEMA}), *(json.dumps(list(entry)) for entry in sorted(set(entries)))]
    return "".join(f"{line}\n" for line in lines)


def parse(data: bytes, name: str) -> tuple[BaselineEntry, ...]:
    """The entries of a baseline's text. Raises `ThunderusError` that names file and line."""
    hint = f"Write it anew: thunderus-mem lint --write-baseline {name}"
    head, *lines = data.decode("utf-8-sig", "replace").split("\n")
    if _value(head) != {"schema": SCHEMA}:
        raise ThunderusError(f"{name} is no baseline this version can read.", hint=hint)
    entries: list[BaselineEntry] = []
    for number, line in enumerate(lines, 2):
        value = _value(line) if line.strip() else None
        if value is not None and _is_entry(value):
            entries.append(BaselineEntry(*value))
        elif line.strip():
            raise ThunderusError(f"Line {number} of {name} is no entry of a baseline.", hint=hint)
    return tuple(entries)


def _value(line: str) -> Any:
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return None


def _is_entry(value: Any) -> bool:
    return (
        isinstance(value, list)
        and len(value) == 3
        and all(isinstance(part, str) for part in value)
        and _FINGERPRINT.fullmatch(value[2]) is not None
    )


# The baseline of `lint` on disk: read it, write it, and tell findings that are new from those it knows.

_LIMIT: Final = 64 << 20


class BaselineResult(NamedTuple):
    """What a baseline did: findings left, how many it hid, and its entries that nothing needs any more."""

    told: Sequence[Diagnostic]
    hidden: int = 0
    obsolete: tuple[BaselineEntry, ...] = ()


def baseline_file(memory: Memory, given: str | None) -> str:
    """The absolute path of the baseline in force, "" for none.

    ``given`` is a path from the current folder, "" for none, ``None`` for what ``lint.baseline`` names.
    Raises `Refused` when the configuration names a file outside the root.
    """
    from thunderus_mem.store.paths import inside

    if given is not None:
        return os.path.abspath(given) if given else ""
    named = memory.config.lint_baseline
    return inside(memory.root, named) if named else ""


def known(
    memory: Memory, found: Sequence[Diagnostic], path: str, config: LintConfig, *, whole: bool
) -> BaselineResult:
    """Leave out what the baseline at ``path`` knows; ``whole`` says that everything was looked at.

    Raises `NotFound` when the file is not there, `ThunderusError` when it is no baseline.
    """
    if not path:
        return BaselineResult(found)

    entries = _read(path, shown(memory, path))
    new = told(found, entries)
    gone = obsolete(found, entries, config.runs) if whole else ()
    return BaselineResult(new, len(found) - len(new), gone)


def write(path: str, found: Sequence[Diagnostic]) -> int:
    """Record the present findings at ``path``; says how many could be recorded."""
    from thunderus_mem.store.files import replace_file

    entries = recorded(found)
    replace_file(path, render(entries).encode())
    return len(entries)


def prune(memory: Memory, path: str, obsolete: Sequence[BaselineEntry]) -> None:
    """Take entries that nothing needs any more out of the baseline."""
    from thunderus_mem.store.files import replace_file

    gone = set(obsolete)
    entries = [entry for entry in _read(path, shown(memory, path)) if entry not in gone]
    replace_file(path, render(entries).encode())


def shown(memory: Memory, path: str) -> str:
    """How a message names the file: from the root where it lies below it."""
    below = os.path.relpath(path, memory.root)
    return path if below.startswith("..") else below.replace(os.sep, "/")


def _read(path: str, name: str) -> tuple[BaselineEntry, ...]:
    from thunderus_mem.store.files import read_file

    try:
        return parse(read_file(path, _LIMIT), name)
    except NotFound as error:
        raise NotFound(
            f"The baseline {name} is not there.",
            hint=f"Record the present findings: thunderus-mem lint --write-baseline {name}",
        ) from error


# Folders of documents that could not be looked into: what is said of them instead of nothing.


def unlisted_folders(memory: Memory, paths: Sequence[str] = ()) -> list[Diagnostic]:
    """A finding for each folder that the last refresh could not look into; only those that are one of
    ``paths`` (from the current folder or the root), or are below one, when some are given."""
    folders = unlisted(memory.index)
    names = [stored_path(memory, given).rstrip("/") for given in paths] if folders else []
    return [
        unlisted_folder(folder)
        for folder in folders
        if not names or any(name == "." or f"{folder}/".startswith(f"{name}/") for name in names)
    ]


# The verb `lint`: documents, then the store around them; from the working tree or from what is staged.


class LintReport(NamedTuple):
    """Findings in order of file and place; ``fixed`` are the files mended, ``diff`` what mending does.

    ``published`` is false when an event is on disk but a mended file is not yet; the next command does it.
    ``known`` counts what ``baseline`` hides; ``obsolete`` are its entries whose finding is gone, ``recorded``
    how many were written into it just now.
    """

    diagnostics: tuple[Diagnostic, ...]
    checked: int
    errors: int
    warnings: int
    fixed: tuple[str, ...] = ()
    diff: str = ""
    published: bool = True
    baseline: str = ""
    known: int = 0
    obsolete: tuple[BaselineEntry, ...] = ()
    recorded: int = 0


def lint(
    memory: Memory,
    paths: Sequence[str] = (),
    *,
    staged: bool = False,
    fix: bool = False,
    diff: bool = False,
    select: Iterable[str] = (),
    ignore: Iterable[str] = (),
    baseline: str | None = None,
) -> LintReport:
    """Check documents (all, the given paths, or the staged text) and, without paths, the store itself.

    ``fix`` writes the edits that need no question, each document as one event; ``diff`` only shows them.
    ``baseline`` is the file whose findings are not told: ``None`` for the configured one, "" for none.
    """

    if fix:
        from thunderus_mem.memory.transaction import settle

        settle(memory, "lint --fix")
    memory.refresh()
    config = lint_config(memory, select, ignore)
    known_in = baseline_file(memory, baseline)
    seen = look(memory, paths, config, staged=staged, mend=fix or diff)
    if fix:
        done = apply_fixes(memory, seen, renames=not staged)
        if done is not None:
            again = [done.new_names.get(path, path) for path in map(partial(stored_path, memory), paths)]
            after = lint(memory, again, select=select, ignore=ignore, baseline=baseline)
            return after._replace(fixed=done.fixed, published=done.published)
    told = known(memory, seen.findings, known_in, config, whole=not (paths or staged))
    shown = shown_edits(memory, seen, renames=not staged) if diff and not fix else ""
    return _report(memory, told, seen.checked, known_in)._replace(diff=shown)


def record_baseline(
    memory: Memory, path: str, select: Iterable[str] = (), ignore: Iterable[str] = ()
) -> LintReport:
    """Check everything, write what is found into the baseline at ``path``, and tell what it cannot hide."""

    memory.refresh()
    config = lint_config(memory, select, ignore)
    seen = look(memory, (), config)
    known_in = baseline_file(memory, path)
    written = write(known_in, seen.findings)
    told = known(memory, seen.findings, known_in, config, whole=True)
    return _report(memory, told, seen.checked, known_in)._replace(recorded=written)


def prune_baseline(memory: Memory, path: str | None) -> LintReport:
    """Check everything and take the entries that nothing needs any more out of the baseline in force."""

    known_in = baseline_file(memory, path)
    if not known_in:
        raise NotFound("No baseline is in force.", hint="Name it with --baseline, or as lint.baseline.")
    report = lint(memory, baseline=path)
    prune(memory, known_in, report.obsolete)
    return report


class Inspection(NamedTuple):
    """What was looked at: findings in order, how many documents, and readings that edits would change."""

    findings: tuple[Diagnostic, ...]
    checked: int
    mended: tuple[tuple[Reading, str], ...] = ()


def look(
    memory: Memory, paths: Sequence[str], config: LintConfig, *, staged: bool = False, mend: bool = False
) -> Inspection:
    """Run the rules over what is chosen; with ``mend``, also work out the texts that the edits make."""
    from thunderus_mem.lint.engine import apply_edits, distinct, fingerprinted

    mended: list[tuple[Reading, str]] = []
    if staged or mend:
        found: list[Inspected] = []
        chosen = _staged_files(memory, paths) if staged else _files(memory, paths)
        for one in inspect(memory, chosen, config):
            if mend and one.reading is not None and one.reading.text is not None:
                text = apply_edits(one.reading.text, one.findings)
                if text != one.reading.text:
                    mended.append((one.reading, text))
            found.append(one._replace(reading=None))
    else:
        found = inspect_stored(memory, checked_paths(memory, paths), config)
    findings = [finding for one in found for finding in one.findings]
    needed = {answer for one in found for answer in one.needed}
    if not staged:
        findings.extend(fingerprinted(unlisted_folders(memory, paths), lambda line: ""))
    if not paths and not staged:
        findings.extend(store_findings(memory, config, frozenset(needed)))
    ordered = distinct(sorted(findings, key=lambda finding: finding.sort_key))
    return Inspection(tuple(ordered), len(found), tuple(mended))


def _report(memory: Memory, known: BaselineResult, checked: int, baseline: str) -> LintReport:

    return LintReport(
        tuple(known.told),
        checked,
        sum(finding.severity is Severity.ERROR for finding in known.told),
        sum(finding.severity is Severity.WARNING for finding in known.told),
        baseline=shown(memory, baseline) if baseline else "",
        known=known.hidden,
        obsolete=known.obsolete,
    )


def store_findings(
    memory: Memory, config: LintConfig, answered: frozenset[tuple[str, str]] | None = None
) -> Iterable[Diagnostic]:
    """What is wrong with the store as a whole: log, schemas, projections, manifest, configured answers."""
    from thunderus_mem.lint.engine import lint_store
    from thunderus_mem.lint.runner import survey

    yield from lint_store(survey(memory, config)._replace(answered=answered))


def checked_paths(memory: Memory, paths: Sequence[str] = (), *, staged: bool = False) -> list[str]:
    """The documents that `lint` looks at, by path."""
    if staged:
        return [path for path, _ in _staged_files(memory, paths)]
    known = [path for path, _, _ in memory.index.files()]
    return _chosen(memory, known, paths) if paths else known


def _files(memory: Memory, paths: Sequence[str]) -> list[tuple[str, bytes | ThunderusError]]:
    return [(path, stored_bytes(memory, path)) for path in checked_paths(memory, paths)]


def documents(memory: Memory) -> list[Document]:
    """Every document of the store that reads."""
    read = [read_document(path, data) for path, data in _files(memory, ()) if isinstance(data, bytes)]
    return [one.document for one in read if one.document is not None]


def _chosen(memory: Memory, known: Sequence[str], paths: Sequence[str]) -> list[str]:
    """The documents that the given paths (files or folders, from the current folder or the root) name."""
    chosen: list[str] = []
    ordered = sorted(known)
    for given in paths:
        name = stored_path(memory, given)
        found = list(known) if name in (".", ".thunderus") else at_or_below(ordered, name.rstrip("/"))
        if not found:
            raise NotFound(
                f"{given} is no document of this memory", hint=f"documents live under {memory.root}"
            )
        chosen.extend(found)
    return list(dict.fromkeys(chosen))


def _staged_files(memory: Memory, paths: Sequence[str]) -> list[tuple[str, bytes | ThunderusError]]:
    """The documents of the coming commit, as staged in the index git names to its hooks, or in its own."""
    from thunderus_mem.git.repository import look_for_git

    git, _ = look_for_git(memory.root, memory.environ, honour_index=True)
    if git is None:
        raise NotFound(
            "there is no git repository here, so nothing is staged", hint="run lint without --staged"
        )
    wanted = {stored_path(memory, given) for given in paths}
    staged = [path for path in git.staged_files(MEMORY) if memory.layout.kind_of(path)]
    texts = git.staged_texts([path for path in staged if not wanted or path in wanted])
    return [(path, data) for path, data in sorted(texts.items()) if data is not None]


# What `lint --fix` does: the edits that findings offer, and new names for decisions that share a number.


class Fixed(NamedTuple):
    """The files that were mended, the names of those that were renamed, and whether all are in place."""

    fixed: tuple[str, ...]
    new_names: Mapping[str, str]
    published: bool


def apply_fixes(memory: Memory, seen: Inspection, *, renames: bool) -> Fixed | None:
    """Write what can be mended without a question, each document as one event; ``None``: there was nothing.

    All of it is one patch. A file that changed meanwhile is a `Conflict`.
    """
    moved = _renames(memory, seen) if renames else ()
    if not seen.mended and not moved:
        return None
    with open_transaction(memory, "lint --fix") as transaction:
        _write(transaction, seen.mended)
        if seen.mended:
            moved = _renames(memory, seen) if moved and not transaction.pending else ()
        _rename(transaction, moved)
    new_names = {one.document.path: one.path for one in moved}
    changed = (reading.path for reading, _ in seen.mended)
    fixed = tuple(dict.fromkeys(new_names.get(path, path) for path in (*changed, *new_names)))
    return Fixed(fixed, new_names, not transaction.pending)


def shown_edits(memory: Memory, seen: Inspection, *, renames: bool) -> str:
    """What `mend` would do, as a diff."""
    from thunderus_mem.document.diff import unified_diff

    diffs = [unified_diff(reading.text or "", text, reading.path) or "" for reading, text in seen.mended]
    for one in _renames(memory, seen) if renames else ():
        old, new = one.document.path, one.path
        diffs.append(f"diff --git a/{old} b/{new}\nrename from {old}\nrename to {new}\n")
    return "".join(diffs)


def _renames(memory: Memory, seen: Inspection) -> tuple[Rename, ...]:
    """The files that get another number, among those found to share one."""
    from thunderus_mem.document.references import renames

    shared = {finding.path for finding in seen.findings if finding.rule == "TM111"}
    if not shared:
        return ()
    return tuple(one for one in renames(documents(memory)) if one.document.path in shared)


def _rename(transaction: Transaction, moved: Sequence[Rename]) -> None:
    from thunderus_mem.memory.journal import FileChange

    for one in moved:
        id, old, text = one.document.id, one.document.path, one.document.text
        edits = [
            FileChange(id, old, text, None, renames=True),
            FileChange(id, one.path, None, text, renames=True),
        ]
        number = os.path.basename(one.path)[:8]
        transaction.commit("rename", edits, why=f"the number was taken twice; now {number}")


def _write(transaction: Transaction, mended: Sequence[tuple[Reading, str]]) -> None:
    from thunderus_mem.memory.journal import FileChange

    for reading, text in mended:
        doc_id = reading.document.id if reading.document is not None else ""
        transaction.commit("edit", [FileChange(doc_id, reading.path, reading.text, text)], why="lint --fix")
