"""The command `lint`: findings about documents and the store, without those in the baseline; and the
baseline.

Documents come from the working tree or git's staging area. A baseline records existing findings, so that only
new ones are reported. Reads documents, index, log and git; ``fix`` writes documents in one transaction, and
the baseline options write its file.
"""

from __future__ import annotations

import json
import os
from bisect import bisect_left
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from thunderus_mem.diagnostic import Severity
from thunderus_mem.document.diff import unified_diff
from thunderus_mem.document.document import read_document
from thunderus_mem.errors import NotFound, ThunderusError
from thunderus_mem.git.repository import look_for_git, no_repository
from thunderus_mem.index.unreadable import unlisted_folder
from thunderus_mem.lint.context import lint_config
from thunderus_mem.lint.engine import apply_edits, distinct, fingerprinted, lint_store
from thunderus_mem.lint.rule import CODES, LIST_RULES, PROFILES, LintConfig, StoreState
from thunderus_mem.lint.rules.identity import linked_paths, renumbered
from thunderus_mem.lint.runner import lint_files, lint_stored, store_state, stored_bytes
from thunderus_mem.lint.strays import STRAYS, is_stray, stray_files
from thunderus_mem.memory.journal import FileChange
from thunderus_mem.memory.locate import stored_path
from thunderus_mem.startup import NamedTuple, lazy_pattern
from thunderus_mem.store.files import read_file, replace_file
from thunderus_mem.store.layout import STORE
from thunderus_mem.store.paths import inside, kind_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from thunderus_mem.diagnostic import Diagnostic
    from thunderus_mem.document.document import Reading
    from thunderus_mem.lint.rules.identity import Renumbering
    from thunderus_mem.lint.runner import FileFindings
    from thunderus_mem.memory.memory import Memory
    from thunderus_mem.memory.transaction import Transaction


class LintReport(NamedTuple):
    """Findings in order of file and location; ``fixed`` are the fixed files, ``diff`` shows the fixes.

    ``published`` is false if an event is on disk but a fixed file is not yet; the next command writes it.
    ``known`` counts the findings hidden by ``baseline``; ``obsolete`` are entries whose finding is fixed,
    ``recorded`` is the number of entries just written.
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


class LintRequest(NamedTuple):
    """The options of the command `lint`; ``select`` and ``ignore`` are as typed, codes separated by commas.

    ``write_baseline`` is the file to record all findings in, so it cannot be combined with options that
    choose some.
    """

    paths: tuple[str, ...] = ()
    staged: bool = False
    fix: bool = False
    dry_run: bool = False
    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    profiles: tuple[str, ...] = ()
    baseline: str | None = None
    write_baseline: str = ""

    def refuse_contradictions(self) -> None:
        """Raise `ThunderusError` for options that cannot be combined with writing a baseline."""
        narrowed = (self.paths, self.staged, self.select, self.ignore, self.profiles, self.fix, self.dry_run)
        if self.write_baseline and any(narrowed):
            raise ThunderusError("--write-baseline lints everything", hint="remove paths and other options")


def answer(memory: Memory, request: LintRequest) -> LintReport:
    """Run the command `lint`. Raises `ThunderusError` for an unknown rule code."""
    if request.write_baseline:
        return record_baseline(memory, request.write_baseline)
    checked = request._replace(
        select=_codes(request.select),
        ignore=_codes(request.ignore),
        profiles=_profiles(request.profiles),
    )
    return _lint(memory, checked)


def _codes(given: Iterable[str]) -> tuple[str, ...]:
    """Codes or prefixes of codes; an unknown one is an error, or it would silently check nothing."""
    codes = tuple(code.strip().upper() for item in given for code in item.split(",") if code.strip())
    for code in codes:
        if not any(known.startswith(code) for known in CODES):
            raise ThunderusError(f"unknown rule {code!r}", hint=LIST_RULES)
    return codes


def _profiles(given: Iterable[str]) -> tuple[str, ...]:
    for name in given:
        if name not in PROFILES:
            raise ThunderusError(f"unknown profile {name!r}", hint=f"use one of: {', '.join(PROFILES)}")
    return tuple(given)


def lint(
    memory: Memory,
    paths: Sequence[str] = (),
    *,
    staged: bool = False,
    fix: bool = False,
    select: Iterable[str] = (),
    ignore: Iterable[str] = (),
    baseline: str | None = None,
) -> LintReport:
    """Check documents (all, the given paths, or the staged text) and, without paths, the store itself.

    ``fix`` applies safe fixes, each document as one event, and removes the entries of fixed findings from the
    baseline. ``baseline`` is the file of hidden findings: ``None`` for the configured one, "" for none.
    """
    request = LintRequest(
        tuple(paths), staged, fix, select=tuple(select), ignore=tuple(ignore), baseline=baseline
    )
    return _lint(memory, request)


def _lint(memory: Memory, request: LintRequest) -> LintReport:
    paths, staged, shown = request.paths, request.staged, request.dry_run
    fix = request.fix and not shown
    if fix:
        from thunderus_mem.memory.transaction import settle

        settle(memory, "lint --fix")
    memory.refresh()
    config = lint_config(memory, request.select, request.ignore, request.profiles)
    current_baseline = find_baseline(memory, request.baseline)
    seen = _inspect(memory, paths, config, staged=staged, fix=fix or shown)
    moved = _renames(memory, seen) if (fix or shown) and not staged else ()
    if fix and (seen.fixed_texts or moved):
        new_names, published = _apply_fixes(memory, seen, moved)
        again = [new_names.get(path, path) for path in map(partial(stored_path, memory), paths)]
        after = _lint(memory, request._replace(paths=tuple(again), staged=False, fix=False))
        changed = (*(reading.path for reading, _ in seen.fixed_texts), *new_names)
        fixed = tuple(dict.fromkeys(new_names.get(path, path) for path in changed))
        return after._replace(fixed=fixed, published=published)
    report = _report(seen, current_baseline, config, whole=not (paths or staged))
    if fix and current_baseline is not None:
        current_baseline.remove(report.obsolete)
    return report._replace(diff=_diff_of_fixes(seen, moved)) if shown else report


def record_baseline(memory: Memory, path: str) -> LintReport:
    """Check everything, record the findings in the baseline at ``path``, and report those it cannot hide."""
    memory.refresh()
    config = lint_config(memory)
    seen = _inspect(memory, (), config)
    baseline = find_baseline(memory, path)
    recorded = baseline.record(seen.findings) if baseline is not None else 0
    return _report(seen, baseline, config, whole=True)._replace(recorded=recorded)


def _report(seen: _Inspection, baseline: Baseline | None, config: LintConfig, *, whole: bool) -> LintReport:
    """Make the report of the findings; ``whole`` means that everything was checked."""
    unknown: Sequence[Diagnostic] = seen.findings
    obsolete: tuple[BaselineEntry, ...] = ()
    if baseline is not None:
        unknown, obsolete = baseline.compare(seen.findings, config.runs)
    return LintReport(
        tuple(unknown),
        seen.checked,
        sum(finding.severity is Severity.ERROR for finding in unknown),
        sum(finding.severity is Severity.WARNING for finding in unknown),
        baseline=baseline.name if baseline is not None else "",
        known=len(seen.findings) - len(unknown),
        obsolete=obsolete if whole else (),
    )


class _Inspection(NamedTuple):
    """The findings in order, the number of documents, and readings with their fixed texts."""

    findings: tuple[Diagnostic, ...]
    checked: int
    fixed_texts: tuple[tuple[Reading, str], ...] = ()


def _inspect(
    memory: Memory, paths: Sequence[str], config: LintConfig, *, staged: bool = False, fix: bool = False
) -> _Inspection:
    """Run the rules on the chosen documents; with ``fix``, also compute the fixed texts."""
    texts: list[tuple[Reading, str]] = []
    strays: Sequence[str] = paths
    if staged or fix:
        found: list[FileFindings] = []
        if staged:
            chosen, strays = _staged_files(memory, paths)
        else:
            chosen = _stored_files(memory, paths)
        for one in lint_files(memory, chosen, config):
            if fix and one.reading is not None and one.reading.text is not None:
                text = apply_edits(one.reading.text, one.findings)
                if text != one.reading.text:
                    texts.append((one.reading, text))
            found.append(one._replace(reading=None))
    else:
        found = lint_stored(memory, checked_paths(memory, paths), config)
    findings = [finding for one in found for finding in one.findings]
    if strays:
        findings.extend(_strays(memory, strays, config))
    if not staged:
        findings.extend(fingerprinted(_unlisted_folders(memory, paths)))
        if not paths:
            needed = frozenset(suppression for one in found for suppression in one.needed)
            findings.extend(lint_store(store_state(memory, config, needed)))
    ordered = distinct(sorted(findings, key=lambda finding: finding.sort_key))
    return _Inspection(tuple(ordered), len(found), tuple(texts))


def _strays(memory: Memory, paths: Sequence[str], config: LintConfig) -> list[Diagnostic]:
    """The findings about stray files at or below one of the ``paths``."""
    names = [stored_path(memory, given).rstrip("/") for given in paths]
    if all(kind_of(name) for name in names):
        return []
    found = lint_store(StoreState(config=config, reported=tuple(stray_files(memory))))
    within = tuple(f"{name}/" for name in names if name != ".")
    everything = len(within) < len(names)
    return [one for one in found if one.rule in STRAYS and (everything or f"{one.path}/".startswith(within))]


def _unlisted_folders(memory: Memory, paths: Sequence[str]) -> list[Diagnostic]:
    """A finding for each document folder that the last refresh could not list.

    With ``paths`` (relative to the current folder or the root), only those at or below one of them.
    """
    folders = memory.index.unlisted()
    names = [stored_path(memory, given).rstrip("/") for given in paths] if folders else []
    return [
        unlisted_folder(folder)
        for folder in folders
        if not names or any(name == "." or f"{folder}/".startswith(f"{name}/") for name in names)
    ]


def at_or_below(ordered: Sequence[str], name: str) -> Sequence[str]:
    """Of sorted paths, the one with this name or those below a folder of this name, by binary search."""
    at = bisect_left(ordered, name)
    if at < len(ordered) and ordered[at] == name:
        return ordered[at : at + 1]
    behind = name + chr(ord("/") + 1)
    return ordered[bisect_left(ordered, f"{name}/", at) : bisect_left(ordered, behind, at)]


def checked_paths(memory: Memory, paths: Sequence[str] = (), *, staged: bool = False) -> list[str]:
    """The documents to check: all, or those in the given files or folders, relative to the current folder or
    the root. Raises `NotFound` for any other path."""
    if staged:
        return [path for path, _ in _staged_files(memory, paths)[0]]
    known = [path for path, _, _ in memory.index.files()]
    if not paths:
        return known
    chosen: list[str] = []
    ordered = sorted(known)
    for given in paths:
        name = stored_path(memory, given)
        found = known if name in (".", ".thunderus") else at_or_below(ordered, name.rstrip("/"))
        if not found and not _strays(memory, [given], LintConfig()):
            raise NotFound(
                f"{given!r} is not a document in this memory", hint="documents are in .thunderus/memory"
            )
        chosen.extend(found)
    return list(dict.fromkeys(chosen))


def _stored_files(memory: Memory, paths: Sequence[str] = ()) -> list[tuple[str, bytes | ThunderusError]]:
    return [(path, stored_bytes(memory, path)) for path in checked_paths(memory, paths)]


def _staged_files(
    memory: Memory, paths: Sequence[str]
) -> tuple[list[tuple[str, bytes | ThunderusError]], list[str]]:
    """The staged documents and stray files, from the index that git passes to hooks, or from the default
    one."""
    git, _ = look_for_git(memory.root, memory.environ, honour_index=True)
    if git is None:
        message, hint = "not in a git repository, so nothing is staged", "run lint without --staged"
        raise no_repository(memory.root, memory.environ, message=message, hint=hint)
    wanted = {stored_path(memory, given) for given in paths}
    staged = [path for path in git.staged_files(STORE) if not wanted or path in wanted]
    texts = git.staged_texts([path for path in staged if kind_of(path)])
    documents: list[tuple[str, bytes | ThunderusError]] = [
        (path, data) for path, data in sorted(texts.items()) if data is not None
    ]
    return documents, [path for path in staged if is_stray(path)]


def _renames(memory: Memory, seen: _Inspection) -> tuple[Renumbering, ...]:
    """The decisions to renumber, among those found to share a number."""
    shared = {finding.path for finding in seen.findings if finding.rule == "TM111"}
    if not shared:
        return ()
    read = [read_document(path, data) for path, data in _stored_files(memory) if isinstance(data, bytes)]
    documents = [one.document for one in read if one.document is not None]
    return tuple(one for one in renumbered(documents, linked_paths(documents)) if one.document.path in shared)


def _apply_fixes(
    memory: Memory, seen: _Inspection, moved: Sequence[Renumbering]
) -> tuple[Mapping[str, str], bool]:
    """Write the safe fixes, each document as one event, and all as one patch.

    Returns the new paths of renamed files, and whether all files are written. Raises `Conflict` if a file
    changed meanwhile.
    """
    from thunderus_mem.memory.transaction import open_transaction

    with open_transaction(memory, "lint --fix") as transaction:
        for reading, text in seen.fixed_texts:
            doc_id = reading.document.id if reading.document is not None else ""
            transaction.commit(
                "edit", [FileChange(doc_id, reading.path, reading.text, text)], why="lint --fix"
            )
        if seen.fixed_texts and moved:
            # The texts have changed; if they are not written yet, the next fix renames.
            moved = _renames(memory, seen) if transaction.outcome.published else ()
        for one in moved:
            _rename(transaction, one)
    return {one.document.path: one.path for one in moved}, transaction.outcome.published


def _rename(transaction: Transaction, one: Renumbering) -> None:
    edits = FileChange.move(one.document.id, one.document.path, one.document.text, one.path)
    number = os.path.basename(one.path)[:8]
    transaction.commit("rename", edits, why=f"renumbered to {number}: the number was used twice")


def _diff_of_fixes(seen: _Inspection, moved: Sequence[Renumbering]) -> str:
    """The changes that `_apply_fixes` would make."""
    diffs = [unified_diff(reading.text or "", text, reading.path) or "" for reading, text in seen.fixed_texts]
    for one in moved:
        old, new = one.document.path, one.path
        diffs.append(f"diff --git a/{old} b/{new}\nrename from {old}\nrename to {new}\n")
    return "".join(diffs)


# The baseline file has one JSON value per line: a header with the version, then ``[path, rule,
# fingerprint]``, sorted. Entries are independent lines, so that changes of two branches merge like any text.

BASELINE_SCHEMA: Final = "thunderus-mem.lint-baseline/1"
NEVER_KNOWN: Final = ("TM012", "TM4", "TM503", "TM504", "TM507")
"""Prefixes of the codes that no baseline hides: unsafe content, conflicts, a damaged log."""

_FINGERPRINT = lazy_pattern(r"[0-9a-f]{32}")
_LIMIT: Final = 64 << 20


class BaselineEntry(NamedTuple):
    """One known finding. The fingerprint alone identifies it; the path is for people."""

    path: str
    rule: str
    fingerprint: str


def may_be_known(rule: str) -> bool:
    """Whether a baseline may hide findings of this rule."""
    return not rule.startswith(NEVER_KNOWN)


class Baseline(NamedTuple):
    """A baseline file: its absolute ``path``, and the root-relative ``name`` used in messages."""

    path: str
    name: str

    def entries(self) -> tuple[BaselineEntry, ...]:
        """Its entries. Raises `NotFound` if the file is missing, `ThunderusError` if it is not a baseline."""
        try:
            return read_baseline(read_file(self.path, _LIMIT), self.name)
        except NotFound as error:
            raise NotFound(
                f"baseline {self.name!r} does not exist",
                hint=f"record the current findings: `thunderus-mem lint --write-baseline {self.name}`",
            ) from error

    def compare(
        self, found: Iterable[Diagnostic], runs: Callable[[str], bool]
    ) -> tuple[list[Diagnostic], tuple[BaselineEntry, ...]]:
        """The findings that it does not hide, and its entries without a finding.

        The entries are obsolete only if everything was checked.
        """
        entries, ones = self.entries(), list(found)
        known = {entry.fingerprint for entry in entries}
        present = {one.fingerprint for one in ones if may_be_known(one.rule)}
        return (
            [one for one in ones if one.fingerprint not in known or not may_be_known(one.rule)],
            tuple(entry for entry in entries if entry.fingerprint not in present and runs(entry.rule)),
        )

    def record(self, found: Iterable[Diagnostic]) -> int:
        """Replace the entries by these findings; returns how many were recorded."""
        entries = {
            BaselineEntry(one.path, one.rule, one.fingerprint) for one in found if may_be_known(one.rule)
        }
        replace_file(self.path, baseline_text(entries).encode())
        return len(entries)

    def remove(self, obsolete: Sequence[BaselineEntry]) -> None:
        """Remove obsolete entries from the file."""
        replace_file(self.path, baseline_text(set(self.entries()) - set(obsolete)).encode())


def find_baseline(memory: Memory, given: str | None) -> Baseline | None:
    """The baseline to use; its file may be missing.

    ``given`` is a path relative to the current folder, "" for none, ``None`` for the value of
    ``lint.baseline``. Raises `Refused` if the configured file is outside the root.
    """
    configured = memory.config.lint_baseline
    if given is None:
        path = inside(memory.root, configured) if configured else ""
    else:
        path = os.path.abspath(given) if given else ""
    if not path:
        return None
    below = os.path.relpath(path, memory.root)
    return Baseline(path, path if below.startswith("..") else below.replace(os.sep, "/"))


def baseline_text(entries: Iterable[BaselineEntry]) -> str:
    """The text of a baseline."""
    lines = [
        json.dumps({"schema": BASELINE_SCHEMA}),
        *(json.dumps(list(entry)) for entry in sorted(set(entries))),
    ]
    return "".join(f"{line}\n" for line in lines)


def read_baseline(data: bytes, name: str) -> tuple[BaselineEntry, ...]:
    """The entries of a baseline's text. Raises `ThunderusError` with file and line."""
    hint = f"write it again: `thunderus-mem lint --write-baseline {name}`"
    head, *lines = data.decode("utf-8-sig", "replace").split("\n")
    if _value(head) != {"schema": BASELINE_SCHEMA}:
        raise ThunderusError(f"{name}: not a baseline, or of an unsupported version", hint=hint)
    entries: list[BaselineEntry] = []
    for number, line in enumerate(lines, 2):
        if not line.strip():
            continue
        value = _value(line)
        if not _is_entry(value):
            raise ThunderusError(f"{name}:{number}: invalid baseline entry", hint=hint)
        entries.append(BaselineEntry(*value))
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
