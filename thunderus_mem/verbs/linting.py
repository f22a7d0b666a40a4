"""The verb `lint`: documents, then the store around them; from the working tree or from what is staged."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Literal, NamedTuple

from thunderus_mem.model.diagnostic import Diagnostic, Severity
from thunderus_mem.model.document import read_document
from thunderus_mem.model.errors import NotFound, ThunderusError
from thunderus_mem.store.layout import MEMORY
from thunderus_mem.store.paths import at_or_below
from thunderus_mem.verbs.inspecting import inspect, inspect_stored, stored_bytes
from thunderus_mem.verbs.locating import stored_path
from thunderus_mem.verbs.unlisted import unlisted_folders

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from thunderus_mem.lint.baseline import Entry
    from thunderus_mem.lint.rule import LintConfig
    from thunderus_mem.memory import Memory
    from thunderus_mem.model.document import Document, Reading
    from thunderus_mem.verbs.baselines import Known
    from thunderus_mem.verbs.inspecting import Inspected


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
    obsolete: tuple[Entry, ...] = ()
    recorded: int = 0


def lint_config(memory: Memory, select: Iterable[str] = (), ignore: Iterable[str] = ()) -> LintConfig:
    """The rules' settings: the store's configuration, narrowed by what the command line says."""
    from thunderus_mem.lint.rule import CODES, LintConfig
    from thunderus_mem.store.kind_caps import tokens_by_kind

    config = memory.config
    chosen = tuple(select) or config.lint_select
    if any(not any(code.startswith(start) for code in CODES) for start in chosen):
        chosen = (*chosen, "TM604")  # else a slip in the only code would check nothing, without a word
    return LintConfig(
        select=chosen,
        ignore=(*config.lint_ignore, *ignore),
        severities={code: _weight(word) for code, word in config.lint_severity.items()},
        core_soft=config.caps_core_soft,
        core_hard=config.caps_core_hard,
        document_soft=config.caps_document_soft,
        document_hard=config.caps_document_hard,
        kind_soft=tokens_by_kind(config.caps_kinds),
        path_max=config.lint_path_max,
        name_max=config.lint_name_max,
        per_file=config.lint_per_file,
    )


def _weight(word: str) -> Severity | Literal["off"]:
    return "off" if word == "off" else Severity(word)


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
    from thunderus_mem.verbs import mending
    from thunderus_mem.verbs.baselines import baseline_file, known

    if fix:
        from thunderus_mem.transaction.opening import settle

        settle(memory, "lint --fix")
    memory.refresh()
    config = lint_config(memory, select, ignore)
    known_in = baseline_file(memory, baseline)
    seen = look(memory, paths, config, staged=staged, mend=fix or diff)
    if fix:
        done = mending.mend(memory, seen, renames=not staged)
        if done is not None:
            again = [done.new_names.get(path, path) for path in map(partial(stored_path, memory), paths)]
            after = lint(memory, again, select=select, ignore=ignore, baseline=baseline)
            return after._replace(fixed=done.fixed, published=done.published)
    told = known(memory, seen.findings, known_in, config, whole=not (paths or staged))
    shown = mending.shown(memory, seen, renames=not staged) if diff and not fix else ""
    return _report(memory, told, seen.checked, known_in)._replace(diff=shown)


def record_baseline(
    memory: Memory, path: str, select: Iterable[str] = (), ignore: Iterable[str] = ()
) -> LintReport:
    """Check everything, write what is found into the baseline at ``path``, and tell what it cannot hide."""
    from thunderus_mem.verbs.baselines import baseline_file, known, write

    memory.refresh()
    config = lint_config(memory, select, ignore)
    seen = look(memory, (), config)
    known_in = baseline_file(memory, path)
    written = write(known_in, seen.findings)
    told = known(memory, seen.findings, known_in, config, whole=True)
    return _report(memory, told, seen.checked, known_in)._replace(recorded=written)


def prune_baseline(memory: Memory, path: str | None) -> LintReport:
    """Check everything and take the entries that nothing needs any more out of the baseline in force."""
    from thunderus_mem.verbs.baselines import baseline_file, prune

    known_in = baseline_file(memory, path)
    if not known_in:
        raise NotFound("No baseline is in force.", hint="Name it with --baseline, or as lint.baseline.")
    report = lint(memory, baseline=path)
    prune(memory, known_in, report.obsolete)
    return report


class Seen(NamedTuple):
    """What was looked at: findings in order, how many documents, and readings that edits would change."""

    findings: tuple[Diagnostic, ...]
    checked: int
    mended: tuple[tuple[Reading, str], ...] = ()


def look(
    memory: Memory, paths: Sequence[str], config: LintConfig, *, staged: bool = False, mend: bool = False
) -> Seen:
    """Run the rules over what is chosen; with ``mend``, also work out the texts that the edits make."""
    from thunderus_mem.lint.engine import apply_edits
    from thunderus_mem.lint.fingerprint import distinct, fingerprinted

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
    return Seen(tuple(ordered), len(found), tuple(mended))


def _report(memory: Memory, known: Known, checked: int, baseline: str) -> LintReport:
    from thunderus_mem.verbs.baselines import shown

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
    from thunderus_mem.verbs.surveying import survey

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
    from thunderus_mem.store.git import look_for_git

    git, _ = look_for_git(memory.root, memory.environ, honour_index=True)
    if git is None:
        raise NotFound(
            "there is no git repository here, so nothing is staged", hint="run lint without --staged"
        )
    wanted = {stored_path(memory, given) for given in paths}
    staged = [path for path in git.staged_files(MEMORY) if memory.layout.kind_of(path)]
    texts = git.staged_texts([path for path in staged if not wanted or path in wanted])
    return [(path, data) for path, data in sorted(texts.items()) if data is not None]
