"""The verb `lint`: documents, then the store around them; from the working tree or from what is staged."""

from __future__ import annotations

import os
from functools import partial
from typing import TYPE_CHECKING, Literal, NamedTuple

from thunderus_mem.model.diagnostic import Diagnostic, Severity
from thunderus_mem.model.document import MAX_DOCUMENT, read_document
from thunderus_mem.model.errors import NotFound, ThunderusError
from thunderus_mem.store.layout import MEMORY
from thunderus_mem.verbs.locating import stored_path

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from thunderus_mem.lint.renumber import Rename
    from thunderus_mem.lint.rule import LintConfig
    from thunderus_mem.lint.subject import Subject
    from thunderus_mem.memory import Memory
    from thunderus_mem.model.document import Reading


class LintReport(NamedTuple):
    """Findings in order of file and place; ``fixed`` are the files mended, ``diff`` what mending does.

    ``published`` is false when an event is on disk but a mended file is not yet; the next command does it.
    """

    diagnostics: tuple[Diagnostic, ...]
    checked: int
    errors: int
    warnings: int
    fixed: tuple[str, ...] = ()
    diff: str = ""
    published: bool = True


def lint_config(memory: Memory, select: Iterable[str] = (), ignore: Iterable[str] = ()) -> LintConfig:
    """The rules' settings: the store's configuration, narrowed by what the command line says."""
    from thunderus_mem.lint.rule import LintConfig

    config = memory.config
    return LintConfig(
        select=tuple(select) or config.lint_select,
        ignore=(*config.lint_ignore, *ignore),
        severities={code: _weight(word) for code, word in config.lint_severity.items()},
        core_soft=config.caps_core_soft,
        core_hard=config.caps_core_hard,
        document_soft=config.caps_document_soft,
        document_hard=config.caps_document_hard,
        path_max=config.lint_path_max,
        name_max=config.lint_name_max,
    )


def _weight(word: str) -> Severity | Literal["off"]:
    return "off" if word == "off" else Severity(word)


def subjects(memory: Memory, config: LintConfig | None = None) -> Callable[[Reading], Subject]:
    """Makes what the rules look at for one document: its reading, the others, the repository's files.

    The other documents are read from the index once for all subjects.
    """
    from thunderus_mem.lint.subject import Subject

    corpus, chosen = memory.index.corpus(), config or lint_config(memory)

    def exists(path: str) -> bool:
        return os.path.lexists(os.path.join(memory.root, path))

    return lambda reading: Subject(reading=reading, corpus=corpus, config=chosen, exists=exists)


def lint(
    memory: Memory,
    paths: Sequence[str] = (),
    *,
    staged: bool = False,
    fix: bool = False,
    diff: bool = False,
    select: Iterable[str] = (),
    ignore: Iterable[str] = (),
) -> LintReport:
    """Check documents (all, the given paths, or the staged text) and, without paths, the store itself.

    ``fix`` writes the edits that need no question, each document as one event; ``diff`` only shows them.
    """
    from thunderus_mem.lint.engine import lint_reading

    memory.refresh()
    config = lint_config(memory, select, ignore)
    chosen = _staged_files(memory, paths) if staged else _files(memory, paths)
    subject = subjects(memory, config)
    findings: list[Diagnostic] = []
    mended: list[tuple[Reading, str]] = []
    for done, (path, data) in enumerate(chosen):
        memory.tell("Checking documents:", done, len(chosen))
        if isinstance(data, ThunderusError):
            findings.append(_unreadable(path, data))
            continue
        reading = read_document(path, data)
        found = lint_reading(subject(reading))
        findings.extend(found)
        if (fix or diff) and reading.text is not None:
            mended.extend(_mend(reading, found))
    if not paths and not staged:
        findings.extend(store_findings(memory, config))
    if not fix:
        moved = _renames(memory, findings) if diff and not staged else ()
        return _report(findings, len(chosen), _shown(mended, moved) if diff else "")
    published = _write(memory, mended)
    moved = () if staged else _renames(memory, findings)
    published = _rename(memory, moved) and published
    if not mended and not moved:
        return _report(findings, len(chosen), "")
    new_names = {one.document.path: one.path for one in moved}
    again = [new_names.get(path, path) for path in map(partial(stored_path, memory), paths)]
    changed = (reading.path for reading, _ in mended)
    fixed = tuple(dict.fromkeys(new_names.get(path, path) for path in (*changed, *new_names)))
    return lint(memory, again, select=select, ignore=ignore)._replace(fixed=fixed, published=published)


def _report(findings: list[Diagnostic], checked: int, diff: str) -> LintReport:
    ordered = tuple(sorted(set(findings), key=lambda finding: finding.sort_key))
    return LintReport(
        ordered,
        checked,
        sum(finding.severity is Severity.ERROR for finding in ordered),
        sum(finding.severity is Severity.WARNING for finding in ordered),
        diff=diff,
    )


def _mend(reading: Reading, found: Iterable[Diagnostic]) -> Iterable[tuple[Reading, str]]:
    from thunderus_mem.lint.engine import apply_edits

    text = apply_edits(reading.text or "", found)
    if text != reading.text:
        yield reading, text


def _shown(mended: Iterable[tuple[Reading, str]], moved: Iterable[Rename]) -> str:
    from thunderus_mem.model.event import unified_diff

    diffs = [unified_diff(reading.text or "", text, reading.path) or "" for reading, text in mended]
    for one in moved:
        old, new = one.document.path, one.path
        diffs.append(f"diff --git a/{old} b/{new}\nrename from {old}\nrename to {new}\n")
    return "".join(diffs)


def _renames(memory: Memory, findings: Iterable[Diagnostic]) -> tuple[Rename, ...]:
    """The files that get another number, among those found to share one."""
    from thunderus_mem.lint.renumber import renames

    shared = {finding.path for finding in findings if finding.rule == "TM111"}
    if not shared:
        return ()
    read = [
        read_document(path, data).document for path, data in _files(memory, ()) if isinstance(data, bytes)
    ]
    planned = renames([document for document in read if document is not None])
    return tuple(one for one in planned if one.document.path in shared)


def _rename(memory: Memory, moved: Sequence[Rename]) -> bool:
    """Give files their new names, each as one event; says whether all are in their places.

    A file that changed meanwhile is a `Conflict`.
    """
    from thunderus_mem.transaction import Edit

    if not moved:
        return True
    with memory.writing("lint --fix") as transaction:
        for one in moved:
            id, old, text = one.document.id, one.document.path, one.document.text
            edits = [Edit(id, old, text, None, renames=True), Edit(id, one.path, None, text, renames=True)]
            number = os.path.basename(one.path)[:8]
            transaction.commit("rename", edits, why=f"the number was taken twice; now {number}")
    return not transaction.pending


def _write(memory: Memory, mended: Sequence[tuple[Reading, str]]) -> bool:
    """Write the mended texts, each as one event; says whether all are in their places."""
    from thunderus_mem.transaction import Edit

    if not mended:
        return True
    with memory.writing("lint --fix") as transaction:
        for reading, text in mended:
            doc_id = reading.document.id if reading.document is not None else ""
            transaction.commit("edit", [Edit(doc_id, reading.path, reading.text, text)], why="lint --fix")
    return not transaction.pending


def store_findings(memory: Memory, config: LintConfig) -> Iterable[Diagnostic]:
    """What is wrong with the store as a whole: duplicate ids, log, schemas, projections, manifest."""
    from thunderus_mem.lint.engine import lint_store
    from thunderus_mem.verbs.surveying import survey

    yield from lint_store(survey(memory, config))


def _files(memory: Memory, paths: Sequence[str]) -> list[tuple[str, bytes | ThunderusError]]:
    known = [path for path, _, _ in memory.index.files()]
    return [(path, _bytes(memory, path)) for path in (_chosen(memory, known, paths) if paths else known)]


def _chosen(memory: Memory, known: Sequence[str], paths: Sequence[str]) -> list[str]:
    """The documents that the given paths (files or folders, from the current folder or the root) name."""
    chosen: list[str] = []
    for given in paths:
        name = stored_path(memory, given)
        found = [path for path in known if path == name or path.startswith(name.rstrip("/") + "/")]
        if not found and name in (".", ".thunderus"):
            found = list(known)
        if not found:
            raise NotFound(
                f"{given} is no document of this memory", hint=f"documents live under {memory.root}"
            )
        chosen.extend(found)
    return list(dict.fromkeys(chosen))


def _bytes(memory: Memory, path: str) -> bytes | ThunderusError:
    from thunderus_mem.store.files import read_file
    from thunderus_mem.store.paths import inside

    try:
        return read_file(inside(memory.root, path), MAX_DOCUMENT)
    except ThunderusError as error:
        return error


def _unreadable(path: str, error: ThunderusError) -> Diagnostic:
    return Diagnostic("TM003", Severity.ERROR, path, 0, 0, str(error), hint=error.hint or "")


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
