"""Run the rules on the documents of a memory, and on the store.

Documents come from the disk or from the caller, one by one or in several processes; log, review queue,
schemas and manifest come from the disk; tracked files from git. Writes nothing. The command and its baseline
are in `lint`, the loop over the rules is in `engine`, their input in `context`.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

from thunderus_mem.document.document import MAX_DOCUMENT, read_document
from thunderus_mem.document.schema import packaged_schemas
from thunderus_mem.errors import Refused, ThunderusError, TooLarge
from thunderus_mem.index.manifest import MANIFEST_LIMIT
from thunderus_mem.index.unreadable import foreign_name, is_foreign_name
from thunderus_mem.lint.context import contexts
from thunderus_mem.lint.engine import fingerprinted, lint_reading, select_checks
from thunderus_mem.lint.rule import LintConfig, SchemaCopy, StoreState, finding
from thunderus_mem.lint.strays import stray_files
from thunderus_mem.memory.proposals import BadProposal, age, entries
from thunderus_mem.startup import NamedTuple
from thunderus_mem.store.files import read_file
from thunderus_mem.store.layout import INDEXES, MEMORY
from thunderus_mem.store.parallel import spread
from thunderus_mem.store.paths import inside
from thunderus_mem.verdicts.judge import Judge

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from thunderus_mem.diagnostic import Diagnostic
    from thunderus_mem.document.document import Reading
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
    memory.log_index()  # or every process would index the log, and collide
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
    from thunderus_mem.history.log import log_findings

    layout = memory.layout
    return StoreState(
        config=config,
        schemas={
            name: SchemaCopy(_text(f"{layout.schemas_dir}/{name}", _SCHEMA_LIMIT), wanted)
            for name, wanted in packaged_schemas().items()
        },
        manifest=_text(layout.manifest_file, MANIFEST_LIMIT),
        reported=(*log_findings(memory), *_queue_findings(memory), *stray_files(memory)),
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
                hint=f"Run `thunderus-mem review show {one.proposal.id}`, then approve or reject it",
            )
