"""Run the rules on the documents of a memory, on the store, and on a text before it is written.

Documents come from the disk or from the caller, one by one or in several processes; log, review queue,
schemas and manifest come from the disk; other documents, anchors and provenance from the index; tracked files
from git. Writes nothing. The command and its baseline are in `lint`, the loop over the rules is in `engine`.
"""

from __future__ import annotations

import os
import re
from functools import cached_property
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from thunderus_mem.diagnostic import Diagnostic, Severity
from thunderus_mem.document.document import MAX_DOCUMENT, read_document
from thunderus_mem.document.paths import is_archived
from thunderus_mem.document.schema import INDEX, SCHEMA_NAMES, schema_text
from thunderus_mem.document.statements import same_text
from thunderus_mem.errors import DocumentExists, InvalidDocument, Refused, ThunderusError, TooLarge
from thunderus_mem.history.log import log_findings
from thunderus_mem.index.log import read
from thunderus_mem.index.writer import foreign_name, is_foreign_name
from thunderus_mem.lint.engine import fingerprinted, lint_reading, select_checks
from thunderus_mem.lint.rule import CODES, LintConfig, LintContext, SchemaCopy, StoreState, finding
from thunderus_mem.log.event import private_to
from thunderus_mem.memory.locate import IndexCorpus, read_row
from thunderus_mem.memory.proposals import BadProposal, age, entries
from thunderus_mem.store.files import read_file
from thunderus_mem.store.layout import INDEXES, MEMORY
from thunderus_mem.store.parallel import spread
from thunderus_mem.store.paths import inside
from thunderus_mem.verdicts.judge import Judge

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from thunderus_mem.document.document import Document, Reading
    from thunderus_mem.index.log import LogIndex
    from thunderus_mem.lint.rule import Evidence
    from thunderus_mem.memory.memory import Memory

NEVER_TRACKED: Final = (
    INDEXES,
    f"{MEMORY}/core/CORE.local.md",
    ".thunderus/local",
    ".thunderus/.staging",
    ".thunderus/.quarantine",
    ".thunderus/.lock",
)
"""Derived and private files, which git must not track."""

_MANY: Final = 1000
"""Number of documents from which on several processes are used."""
_ABOUT_CODE: Final = ("TM701", "TM702", "TM703")
_SCHEMA_LIMIT: Final = 1 << 20
_MANIFEST_LIMIT: Final = 256 << 20


def lint_config(memory: Memory, select: Iterable[str] = (), ignore: Iterable[str] = ()) -> LintConfig:
    """The configuration of the rules, narrowed by the options of the command line."""
    config = memory.config
    chosen = tuple(select) or config.lint_select
    if any(not any(code.startswith(start) for code in CODES) for start in chosen):
        chosen = (*chosen, "TM604")  # otherwise a typo in the only code would silently check nothing
    return LintConfig(
        select=chosen,
        ignore=(*config.lint_ignore, *ignore),
        severities={code: _weight(word) for code, word in config.lint_severity.items()},
        per_file=config.lint_per_file,
        settings=config,
    )


def _weight(word: str) -> Severity | Literal["off"]:
    return "off" if word == "off" else Severity(word)


def contexts(
    memory: Memory, config: LintConfig, *, provenance: bool = False, evidence: Evidence | None = None
) -> Callable[[Reading], LintContext]:
    """Return a function that makes the `LintContext` of a document.

    The other documents are read from the index once. ``provenance`` adds log and history; leave it out for a
    document being written, whose event does not exist yet. ``evidence`` judges anchors.
    """
    corpus = IndexCorpus(memory.index)
    log_index = memory.log_index() if provenance else None
    known = KnownProvenance(memory, log_index, corpus.named) if log_index is not None else None

    def exists(path: str) -> bool:
        return os.path.lexists(os.path.join(memory.root, path))

    return lambda reading: LintContext(
        reading=reading, corpus=corpus, config=config, exists=exists, provenance=known, evidence=evidence
    )


class KnownProvenance:
    """Which events, patches and commits in the provenance of documents exist here.

    All ``events`` and ``commits`` of the indexed documents (``named``) are looked up together at the first
    question, with one git command.
    """

    def __init__(self, memory: Memory, log_index: LogIndex, named: Callable[[str], list[str]]) -> None:
        self._log = memory.log
        self._log_index = log_index
        self._git = memory.git
        self._named = named

    def missing_events(self, names: Sequence[str]) -> tuple[str, ...]:
        """The events that are in no local shard, including the private ones of this working tree."""
        found, asked = self._events
        unasked = [name for name in names if name not in asked]
        if unasked:
            found |= self._log_index.known(unasked)
            asked |= set(unasked)
        return tuple(name for name in names if name not in found)

    def private_events(self, document: Document) -> frozenset[str]:
        """Events listed by a change of the document as private to the working tree that wrote it."""
        names = (document.id, *document.aliases)
        if self._logged.isdisjoint(names):
            return frozenset()
        rows = self._log_index.naming(names)
        return frozenset(id for logged in read(self._log, rows) for id in private_to(logged.event))

    def missing_patches(self, document: Document) -> tuple[str, ...]:
        """The document's patches without a local event about the document."""
        rows = self._log_index.naming((document.id, *document.aliases), document.events)
        found = {logged.event.refs.get("patch_id") for logged in read(self._log, rows)}
        return tuple(name for name in document.patches if name not in found)

    def lost_commits(self, names: Sequence[str]) -> tuple[tuple[str, bool], ...]:
        """The commits not reachable from a branch or tag, each with whether it exists in the clone.

        Empty where that is unknown: outside git, and in a shallow clone.
        """
        if self._git is None or self._git.is_shallow():
            return ()
        unasked = [name for name in names if name not in self._commits]
        if unasked:
            self._commits.update(self._git.reached(unasked))
        found = ((name, self._commits[name]) for name in names)
        return tuple((name, state is False) for name, state in found if state is not True)

    @cached_property
    def _logged(self) -> set[str]:
        """The documents with events in the log; the others need no query of their own."""
        return self._log_index.documents()

    @cached_property
    def _events(self) -> tuple[set[str], set[str]]:
        asked = set(self._named("events"))
        return self._log_index.known(asked), asked

    @cached_property
    def _commits(self) -> dict[str, bool | None]:
        return self._git.reached(self._named("commits")) if self._git is not None else {}


class FileFindings(NamedTuple):
    """The findings in one file, and the configured suppressions (glob and code) that hid some.

    ``reading`` is the parsed file; ``None`` if it cannot be read.
    """

    findings: list[Diagnostic]
    needed: set[tuple[str, str]]
    reading: Reading | None


def lint_files(
    memory: Memory, files: Iterable[tuple[str, bytes | ThunderusError]], config: LintConfig
) -> Iterator[FileFindings]:
    """Run the rules on files, each given with its bytes or the error from reading it."""
    selected = select_checks(config)
    with Judge(memory) as judge:
        context = contexts(memory, config, provenance=True, evidence=judge)
        for path, data in files:
            needed: set[tuple[str, str]] = set()
            if isinstance(data, ThunderusError):
                yield FileFindings(fingerprinted([_unreadable(path, data)]), needed, None)
                continue
            reading = read_document(path, data)
            yield FileFindings(lint_reading(context(reading), selected, needed), needed, reading)


def lint_stored(memory: Memory, paths: Sequence[str], config: LintConfig) -> list[FileFindings]:
    """Run the rules on documents on disk; the results have no ``reading``. The index must be fresh.

    Many documents are distributed over several processes. Each opens the index itself; if the index has
    changed meanwhile, this process checks that share.
    """
    if len(paths) < _MANY or memory.index.in_memory:
        return list(_one_by_one(memory, paths, config, len(paths)))
    if any(config.runs(code) for code in _ABOUT_CODE):
        # Judging all anchors at once is faster, and every process finds the verdicts in the cache.
        with Judge(memory) as judge:
            judge.all(memory.index.anchors())
    process, generation = os.getpid(), memory.index.generation()

    def work(share: Sequence[str]) -> list[FileFindings]:
        mine = memory if os.getpid() == process else memory.apart(generation)
        return list(_one_by_one(mine, share, config, len(paths)))

    found = spread(paths, work)
    left = [path for path, findings in zip(paths, found, strict=True) if findings is None]
    rest = _one_by_one(memory, left, config, len(paths))
    return [next(rest) if findings is None else findings for findings in found]


def _one_by_one(
    memory: Memory, paths: Sequence[str], config: LintConfig, total: int
) -> Iterator[FileFindings]:
    files = ((path, stored_bytes(memory, path)) for path in paths)
    for done, one in enumerate(lint_files(memory, files, config)):
        memory.tell("Checking documents:", done * total // len(paths), total)
        yield one._replace(reading=None)


def stored_bytes(memory: Memory, path: str) -> bytes | ThunderusError:
    """The bytes of a document, or the error from reading it."""
    try:
        return read_file(inside(memory.root, path), MAX_DOCUMENT)
    except ThunderusError as error:
        return error


def _unreadable(path: str, error: ThunderusError) -> Diagnostic:
    """The finding for an unreadable file; a symlink or device gets the same finding as in the index."""
    if isinstance(error, Refused) and is_foreign_name(path):
        return foreign_name(path)
    hint = error.hint or ""
    code = "TM003" if isinstance(error, TooLarge) else "TM002"
    return finding(code, path, str(error), hint=hint[:1].upper() + hint[1:])


def store_state(
    memory: Memory, config: LintConfig, needed: frozenset[tuple[str, str]] | None = None
) -> StoreState:
    """Collect the input of the rules about the store."""
    layout = memory.layout
    return StoreState(
        config=config,
        schemas={
            name: SchemaCopy(_text(f"{layout.schemas_dir}/{name}", _SCHEMA_LIMIT), wanted)
            for name, wanted in packaged_schemas().items()
        },
        manifest=_text(layout.manifest_file, _MANIFEST_LIMIT),
        reported=(*log_findings(memory), *_queue_findings(memory)),
        tracked=tuple(sorted(memory.git.tracked(NEVER_TRACKED))) if memory.git is not None else (),
        needed=needed,
    )


def _text(path: str, limit: int) -> str | None:
    try:
        return read_file(path, limit).decode("utf-8", "replace")
    except ThunderusError:
        return None


def _queue_findings(memory: Memory) -> Iterator[Diagnostic]:
    """Findings about invalid and expired proposals in the review queue."""
    limit = memory.config.review_expires_days
    for one in entries(memory.layout):
        if isinstance(one, BadProposal):
            yield finding(
                "TM509",
                one.path,
                f"Invalid proposal: {f'{one.key}: ' if one.key else ''}{one.reason}",
                key=one.key,
                expected="a proposal written by this program",
                hint=one.fix,
            )
        elif (days := age(one.path, memory.now()) or 0) > limit:
            yield finding(
                "TM510",
                one.path,
                f"Proposal pending for {days} days; the limit is {limit}",
                expected="a decision",
                hint=f"Run `thunderus-mem patch show {one.proposal.id}`, then approve or reject it",
            )


def packaged_schemas() -> dict[str, str]:
    """File names and texts of the schemas that a store contains copies of."""
    files = {f"{name}.schema.json": schema_text(name) for name in SCHEMA_NAMES}
    return {**files, "memory_store.sql": schema_text(INDEX)}


# Before a document is written: findings about its text, and similar documents.


_NEAR: Final = 0.8
"""Share of common three-word sequences from which on two texts are near-duplicates."""
_CANDIDATES: Final = 5
_PROBE_WORDS: Final = 40
_SHINGLE: Final = 3
_WORD = re.compile(r"\w+")
_SECRET: Final = "TM401"
_DEAD_CITATION: Final = "TM205"


def validate(
    memory: Memory, path: str, text: str, *, before: str | None = None
) -> tuple[Document, tuple[Diagnostic, ...]]:
    """Parse and lint a text before it is written; return the document and the warnings.

    Findings that the text ``before`` the change already had are ignored, except secrets.
    Raises `Refused` for a secret, `InvalidDocument` for any other error found by lint.
    """
    reading, findings = _lint(memory, path, text)
    if before is not None and findings:
        known = {_identity(one) for one in _lint(memory, path, before)[1]}
        findings = [one for one in findings if one.rule == _SECRET or _identity(one) not in known]
    errors = [one for one in findings if one.severity is Severity.ERROR]
    leaks = [one for one in errors if one.rule == _SECRET]
    if leaks:
        raise Refused(
            f"nothing written: line {leaks[0].line}: {_lower_first(leaks[0].message)}",
            diagnostics=leaks,
            hint=_lower_first(leaks[0].hint) or "write where the secret is stored instead of the secret",
        )
    if errors or reading.document is None:
        first = (errors or list(reading.problems))[0]
        raise InvalidDocument(
            f"nothing written: {_lower_first(first.message)}",
            diagnostics=errors,
            hint=_lower_first(first.hint) or None,
        )
    # A missing path is only a note, but it is easiest to correct while writing.
    warned = (one for one in findings if one.severity is Severity.WARNING or one.rule == _DEAD_CITATION)
    return reading.document, tuple(warned)


def _lint(memory: Memory, path: str, text: str) -> tuple[Reading, list[Diagnostic]]:
    reading = read_document(path, text.encode("utf-8", "surrogateescape"))
    return reading, lint_reading(contexts(memory, lint_config(memory))(reading))


def _identity(finding: Diagnostic) -> tuple[str, ...]:
    """Identify a finding independently of its location and of numbers in its message (a size, a line)."""
    return finding.rule, finding.severity, finding.key, re.sub(r"[\d,]+", "0", finding.message)


def _lower_first(message: str) -> str:
    return message[:1].lower() + message[1:]


def find_duplicates(memory: Memory, document: Document) -> tuple[Diagnostic, ...]:
    """Return warnings about near-duplicates; none if ``write.duplicates`` is off.

    Raises `DocumentExists` for an exact duplicate, by the gardener's definition.
    """
    words = _words(document.body)
    if not words or not memory.config.write_duplicates:
        return ()
    mine = _shingles(words)
    near = []
    for other in _candidates(memory, document):
        if same_text(document, other):
            raise DocumentExists(
                f"duplicate of {other.id}: it has the same text",
                hint=f"restore it from the archive: `thunderus-mem unarchive {other.id}`"
                if is_archived(other.path)
                else f"see `thunderus-mem show {other.id}`, or add new information",
            )
        theirs = _shingles(_words(other.body))
        overlap = len(mine & theirs) / len(mine | theirs)
        if overlap >= _NEAR:
            near.append(
                Diagnostic(
                    rule="",
                    severity=Severity.WARNING,
                    path=document.path,
                    line=document.body_line,
                    column=1,
                    message=f"Near-duplicate of {other.id} ({overlap:.0%} of three-word sequences in common)",
                    expected="one document per topic",
                    hint=f"Edit {other.id} instead, or `supersede` it with this one",
                    doc_id=document.id,
                )
            )
    return tuple(near)


def _candidates(memory: Memory, document: Document) -> Iterator[Document]:
    """The most similar stored documents, found in the index by the longest words of this one."""
    words = list(dict.fromkeys(_words(f"{document.title}\n{document.body}")))
    longest = sorted(words, key=len, reverse=True)[:_PROBE_WORDS]
    for doc_id in memory.index.nearest(longest, _CANDIDATES, archived=True):
        row = memory.index.get(doc_id)
        other = read_row(memory, row) if row is not None and doc_id != document.id else None
        if other is not None:
            yield other


def _words(text: str) -> list[str]:
    return _WORD.findall(text.casefold())


def _shingles(words: list[str]) -> set[tuple[str, ...]]:
    """Sequences of three words; a shorter text is one sequence."""
    if len(words) <= _SHINGLE:
        return {tuple(words)}
    return {tuple(words[start : start + _SHINGLE]) for start in range(len(words) - _SHINGLE + 1)}
