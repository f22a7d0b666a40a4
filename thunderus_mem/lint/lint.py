"""The command `lint`: documents, then the store around them, less what the baseline knows; and the baseline.

Documents are those of the working tree or what is staged. A baseline keeps the findings an old store had when
linting began, so that only new ones are reported. Reads documents, index, log and git; ``fix`` writes
documents in one transaction, and the baseline's modes write its file.
"""

from __future__ import annotations

import json
import os
import re
from bisect import bisect_left
from functools import partial
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from thunderus_mem.diagnostic import Severity
from thunderus_mem.document.diff import unified_diff
from thunderus_mem.document.document import read_document
from thunderus_mem.errors import NotFound, ThunderusError
from thunderus_mem.git.repository import look_for_git
from thunderus_mem.index.writer import unlisted_folder
from thunderus_mem.lint.engine import apply_edits, distinct, fingerprinted, lint_store
from thunderus_mem.lint.rule import CODES
from thunderus_mem.lint.rules.identity import renumbered
from thunderus_mem.lint.runner import lint_config, lint_files, lint_stored, store_state, stored_bytes
from thunderus_mem.memory.journal import FileChange
from thunderus_mem.memory.locate import stored_path
from thunderus_mem.memory.transaction import open_transaction, settle
from thunderus_mem.store.files import read_file, replace_file
from thunderus_mem.store.layout import MEMORY
from thunderus_mem.store.paths import inside, kind_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from thunderus_mem.diagnostic import Diagnostic
    from thunderus_mem.document.document import Reading
    from thunderus_mem.lint.rule import LintConfig
    from thunderus_mem.lint.rules.identity import Renumbering
    from thunderus_mem.lint.runner import FileFindings
    from thunderus_mem.memory.memory import Memory
    from thunderus_mem.memory.transaction import Transaction


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


class LintRequest(NamedTuple):
    """What a person asks of `lint`: see there. ``select`` and ``ignore`` are as typed, codes apart by commas.

    ``write_baseline`` names the file to record everything in; ``prune_baseline`` takes out of the baseline
    what is fixed by now. Both lint everything, and leave no other choice.
    """

    paths: tuple[str, ...] = ()
    staged: bool = False
    fix: bool = False
    diff: bool = False
    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    baseline: str | None = None
    write_baseline: str = ""
    prune_baseline: bool = False

    def refuse_contradictions(self) -> None:
        """Raise `ThunderusError` for options that say nothing beside a baseline to be made."""
        if not (self.write_baseline or self.prune_baseline):
            return
        if any((self.paths, self.staged, self.select, self.ignore, self.fix, self.diff)):
            raise ThunderusError("A baseline is made by a lint of everything.", hint="Give no other option.")
        if self.write_baseline and self.prune_baseline:
            raise ThunderusError("--write-baseline leaves nothing to prune.", hint="Give one of the two.")


def answer(memory: Memory, request: LintRequest) -> LintReport:
    """Do what is asked. Raises `ThunderusError` for a code that no rule has."""
    if request.write_baseline:
        return record_baseline(memory, request.write_baseline)
    if request.prune_baseline:
        return prune_baseline(memory, request.baseline)
    return lint(
        memory,
        request.paths,
        staged=request.staged,
        fix=request.fix and not request.diff,
        diff=request.diff,
        select=_codes(request.select),
        ignore=_codes(request.ignore),
        baseline=request.baseline,
    )


def _codes(given: Iterable[str]) -> tuple[str, ...]:
    """Codes or beginnings of codes; one that no rule has would check nothing, or everything, in silence."""
    codes = tuple(code.strip().upper() for item in given for code in item.split(",") if code.strip())
    for code in codes:
        if not any(known.startswith(code) for known in CODES):
            raise ThunderusError(f"There is no rule {code}.", hint="All rules: thunderus-mem rule")
    return codes


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
    ``baseline`` is the file whose findings are left out: ``None`` for the configured one, "" for none.
    """
    if fix:
        settle(memory, "lint --fix")
    memory.refresh()
    config = lint_config(memory, select, ignore)
    known_in = find_baseline(memory, baseline)
    seen = _inspect(memory, paths, config, staged=staged, fix=fix or diff)
    moved = _renames(memory, seen) if (fix or diff) and not staged else ()
    if fix and (seen.fixed_texts or moved):
        new_names, published = _apply_fixes(memory, seen, moved)
        again = [new_names.get(path, path) for path in map(partial(stored_path, memory), paths)]
        after = lint(memory, again, select=select, ignore=ignore, baseline=baseline)
        changed = (*(reading.path for reading, _ in seen.fixed_texts), *new_names)
        fixed = tuple(dict.fromkeys(new_names.get(path, path) for path in changed))
        return after._replace(fixed=fixed, published=published)
    report = _report(seen, known_in, config, whole=not (paths or staged))
    return report._replace(diff=_diff_of_fixes(seen, moved)) if diff and not fix else report


def record_baseline(memory: Memory, path: str) -> LintReport:
    """Check everything, write what is found into the baseline at ``path``, and report what it cannot hide."""
    memory.refresh()
    config = lint_config(memory)
    seen = _inspect(memory, (), config)
    baseline = find_baseline(memory, path)
    recorded = baseline.record(seen.findings) if baseline is not None else 0
    return _report(seen, baseline, config, whole=True)._replace(recorded=recorded)


def prune_baseline(memory: Memory, path: str | None) -> LintReport:
    """Check everything and take the entries that nothing needs any more out of the baseline in force."""
    baseline = find_baseline(memory, path)
    if baseline is None:
        raise NotFound("No baseline is in force.", hint="Name it with --baseline, or as lint.baseline.")
    report = lint(memory, baseline=path)
    baseline.remove(report.obsolete)
    return report


def _report(seen: _Inspection, baseline: Baseline | None, config: LintConfig, *, whole: bool) -> LintReport:
    """What is reported of what was found; ``whole`` says that everything was looked at."""
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
    """What was looked at: findings in order, how many documents, and readings with what their fixes make."""

    findings: tuple[Diagnostic, ...]
    checked: int
    fixed_texts: tuple[tuple[Reading, str], ...] = ()


def _inspect(
    memory: Memory, paths: Sequence[str], config: LintConfig, *, staged: bool = False, fix: bool = False
) -> _Inspection:
    """Run the rules over what is chosen; with ``fix``, also work out the texts that the edits make."""
    texts: list[tuple[Reading, str]] = []
    if staged or fix:
        found: list[FileFindings] = []
        chosen = _staged_files(memory, paths) if staged else _stored_files(memory, paths)
        for one in lint_files(memory, chosen, config):
            if fix and one.reading is not None and one.reading.text is not None:
                text = apply_edits(one.reading.text, one.findings)
                if text != one.reading.text:
                    texts.append((one.reading, text))
            found.append(one._replace(reading=None))
    else:
        found = lint_stored(memory, checked_paths(memory, paths), config)
    findings = [finding for one in found for finding in one.findings]
    if not staged:
        findings.extend(fingerprinted(_unlisted_folders(memory, paths)))
        if not paths:
            needed = frozenset(suppression for one in found for suppression in one.needed)
            findings.extend(lint_store(store_state(memory, config, needed)))
    ordered = distinct(sorted(findings, key=lambda finding: finding.sort_key))
    return _Inspection(tuple(ordered), len(found), tuple(texts))


def _unlisted_folders(memory: Memory, paths: Sequence[str]) -> list[Diagnostic]:
    """A finding for each folder of documents that the last refresh could not look into, instead of nothing.

    Only those that are one of ``paths`` (from the current folder or the root), or below one, when some are
    given.
    """
    folders = memory.index.unlisted()
    names = [stored_path(memory, given).rstrip("/") for given in paths] if folders else []
    return [
        unlisted_folder(folder)
        for folder in folders
        if not names or any(name == "." or f"{folder}/".startswith(f"{name}/") for name in names)
    ]


def at_or_below(ordered: Sequence[str], name: str) -> Sequence[str]:
    """Of sorted paths the one with this name, else those below a folder of this name, without a look at the
    others: many names may be asked for of many paths."""
    at = bisect_left(ordered, name)
    if at < len(ordered) and ordered[at] == name:
        return ordered[at : at + 1]
    behind = name + chr(ord("/") + 1)
    return ordered[bisect_left(ordered, f"{name}/", at) : bisect_left(ordered, behind, at)]


def checked_paths(memory: Memory, paths: Sequence[str] = (), *, staged: bool = False) -> list[str]:
    """The documents that `lint` looks at: all, or those in the given files or folders, from the current
    folder or the root. Raises `NotFound` for a path that is none."""
    if staged:
        return [path for path, _ in _staged_files(memory, paths)]
    known = [path for path, _, _ in memory.index.files()]
    if not paths:
        return known
    chosen: list[str] = []
    ordered = sorted(known)
    for given in paths:
        name = stored_path(memory, given)
        found = known if name in (".", ".thunderus") else at_or_below(ordered, name.rstrip("/"))
        if not found:
            raise NotFound(
                f"{given} is no document of this memory", hint=f"documents live under {memory.root}"
            )
        chosen.extend(found)
    return list(dict.fromkeys(chosen))


def _stored_files(memory: Memory, paths: Sequence[str] = ()) -> list[tuple[str, bytes | ThunderusError]]:
    return [(path, stored_bytes(memory, path)) for path in checked_paths(memory, paths)]


def _staged_files(memory: Memory, paths: Sequence[str]) -> list[tuple[str, bytes | ThunderusError]]:
    """The documents of the coming commit, as staged in the index git names to its hooks, or in its own."""
    git, _ = look_for_git(memory.root, memory.environ, honour_index=True)
    if git is None:
        raise NotFound(
            "there is no git repository here, so nothing is staged", hint="run lint without --staged"
        )
    wanted = {stored_path(memory, given) for given in paths}
    staged = [path for path in git.staged_files(MEMORY) if kind_of(path)]
    texts = git.staged_texts([path for path in staged if not wanted or path in wanted])
    return [(path, data) for path, data in sorted(texts.items()) if data is not None]


def _renames(memory: Memory, seen: _Inspection) -> tuple[Renumbering, ...]:
    """The decisions that get another number, among those found to share one."""
    shared = {finding.path for finding in seen.findings if finding.rule == "TM111"}
    if not shared:
        return ()
    read = [read_document(path, data) for path, data in _stored_files(memory) if isinstance(data, bytes)]
    documents = [one.document for one in read if one.document is not None]
    return tuple(one for one in renumbered(documents) if one.document.path in shared)


def _apply_fixes(
    memory: Memory, seen: _Inspection, moved: Sequence[Renumbering]
) -> tuple[Mapping[str, str], bool]:
    """Write what can be fixed without a question, each document as one event, and all as one patch.

    Returns the new names of files, and whether all are in place. Raises `Conflict` when a file changed
    meanwhile.
    """
    with open_transaction(memory, "lint --fix") as transaction:
        for reading, text in seen.fixed_texts:
            doc_id = reading.document.id if reading.document is not None else ""
            transaction.commit(
                "edit", [FileChange(doc_id, reading.path, reading.text, text)], why="lint --fix"
            )
        if seen.fixed_texts and moved:
            # The texts are other ones now, if they are in place; else the next fix renames.
            moved = _renames(memory, seen) if transaction.outcome.published else ()
        for one in moved:
            _rename(transaction, one)
    return {one.document.path: one.path for one in moved}, transaction.outcome.published


def _rename(transaction: Transaction, one: Renumbering) -> None:
    edits = FileChange.move(one.document.id, one.document.path, one.document.text, one.path)
    number = os.path.basename(one.path)[:8]
    transaction.commit("rename", edits, why=f"the number was taken twice; now {number}")


def _diff_of_fixes(seen: _Inspection, moved: Sequence[Renumbering]) -> str:
    """What `_apply_fixes` would do."""
    diffs = [unified_diff(reading.text or "", text, reading.path) or "" for reading, text in seen.fixed_texts]
    for one in moved:
        old, new = one.document.path, one.path
        diffs.append(f"diff --git a/{old} b/{new}\nrename from {old}\nrename to {new}\n")
    return "".join(diffs)


# The baseline's file has one JSON value a line: a head that names the version, then ``[path, rule,
# fingerprint]``, sorted. Lines come and go alone, so that two branches that change it merge like any text.

BASELINE_SCHEMA: Final = "thunderus-mem.lint-baseline/1"
NEVER_KNOWN: Final = ("TM012", "TM4", "TM503", "TM504", "TM507")
"""Beginnings of the codes no baseline hides: secrets and what else is unsafe, conflicts, a damaged log."""

_FINGERPRINT = re.compile(r"[0-9a-f]{32}")
_LIMIT: Final = 64 << 20


class BaselineEntry(NamedTuple):
    """One known finding. The path tells people where it was; the fingerprint alone decides."""

    path: str
    rule: str
    fingerprint: str


def may_be_known(rule: str) -> bool:
    """Whether a baseline may hide findings of this rule."""
    return not rule.startswith(NEVER_KNOWN)


class Baseline(NamedTuple):
    """A baseline's file: its absolute ``path``, and the ``name`` that messages have, from the root."""

    path: str
    name: str

    def entries(self) -> tuple[BaselineEntry, ...]:
        """What it holds. Raises `NotFound` when there is no file, `ThunderusError` when it is no baseline."""
        try:
            return read_baseline(read_file(self.path, _LIMIT), self.name)
        except NotFound as error:
            raise NotFound(
                f"The baseline {self.name} is not there.",
                hint=f"Record the present findings: thunderus-mem lint --write-baseline {self.name}",
            ) from error

    def compare(
        self, found: Iterable[Diagnostic], runs: Callable[[str], bool]
    ) -> tuple[list[Diagnostic], tuple[BaselineEntry, ...]]:
        """The findings that it does not hide, and those of its entries for which there is no finding.

        Only where everything was looked at, with the rules that run, are these entries obsolete.
        """
        entries, ones = self.entries(), list(found)
        known = {entry.fingerprint for entry in entries}
        present = {one.fingerprint for one in ones if may_be_known(one.rule)}
        return (
            [one for one in ones if one.fingerprint not in known or not may_be_known(one.rule)],
            tuple(entry for entry in entries if entry.fingerprint not in present and runs(entry.rule)),
        )

    def record(self, found: Iterable[Diagnostic]) -> int:
        """Write these findings as all that is known; says how many could be recorded."""
        entries = {
            BaselineEntry(one.path, one.rule, one.fingerprint) for one in found if may_be_known(one.rule)
        }
        replace_file(self.path, baseline_text(entries).encode())
        return len(entries)

    def remove(self, obsolete: Sequence[BaselineEntry]) -> None:
        """Take entries that nothing needs any more out of the file."""
        replace_file(self.path, baseline_text(set(self.entries()) - set(obsolete)).encode())


def find_baseline(memory: Memory, given: str | None) -> Baseline | None:
    """The baseline in force; the file need not be there.

    ``given`` is a path from the current folder, "" for none, ``None`` for what ``lint.baseline`` names.
    Raises `Refused` when the configuration names a file outside the root.
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
    """The entries of a baseline's text. Raises `ThunderusError` that names file and line."""
    hint = f"Write it anew: thunderus-mem lint --write-baseline {name}"
    head, *lines = data.decode("utf-8-sig", "replace").split("\n")
    if _value(head) != {"schema": BASELINE_SCHEMA}:
        raise ThunderusError(f"{name} is no baseline this version can read.", hint=hint)
    entries: list[BaselineEntry] = []
    for number, line in enumerate(lines, 2):
        if not line.strip():
            continue
        value = _value(line)
        if not _is_entry(value):
            raise ThunderusError(f"Line {number} of {name} is no entry of a baseline.", hint=hint)
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
