"""What the rules find in documents: in one after another, or in many at once in processes of our own."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final, NamedTuple

from thunderus_mem.model.diagnostic import Diagnostic, Severity
from thunderus_mem.model.document import MAX_DOCUMENT, read_document
from thunderus_mem.model.errors import Refused, ThunderusError, TooLarge
from thunderus_mem.projection.refused import foreign_name, is_foreign_name
from thunderus_mem.verbs.judging import Judge

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from thunderus_mem.lint.rule import Evidence, LintConfig
    from thunderus_mem.lint.subject import Subject
    from thunderus_mem.memory import Memory
    from thunderus_mem.model.document import Reading

__all__ = ["Inspected", "inspect", "inspect_stored", "stored_bytes", "subjects"]

_MANY: Final = 1000
"""Documents from which on it is worth starting processes to look at them."""

_ABOUT_CODE: Final = ("TM701", "TM702", "TM703")


class Inspected(NamedTuple):
    """What the rules find in one file, and what of the configured answers, by glob and code, that needed.

    ``reading`` is what they looked at; ``None`` for a file that cannot be read.
    """

    findings: list[Diagnostic]
    needed: set[tuple[str, str]]
    reading: Reading | None


def subjects(
    memory: Memory, config: LintConfig, *, origins: bool = False, evidence: Evidence | None = None
) -> Callable[[Reading], Subject]:
    """Makes what the rules look at for one document: its reading, the others, the repository's files.

    The other documents are read from the index once for all subjects. ``origins`` adds log and history; a
    document that is just being written names an event that is not there yet. ``evidence`` judges anchors.
    """
    from thunderus_mem.evidence.origins import Origins
    from thunderus_mem.lint.subject import Subject

    log_index = memory.log_index() if origins else None
    corpus = memory.index.corpus()
    known = Origins(memory.log, log_index, memory.git, corpus.named) if log_index is not None else None

    def exists(path: str) -> bool:
        return os.path.lexists(os.path.join(memory.root, path))

    return lambda reading: Subject(
        reading=reading, corpus=corpus, config=config, exists=exists, origins=known, evidence=evidence
    )


def inspect(
    memory: Memory, files: Iterable[tuple[str, bytes | ThunderusError]], config: LintConfig
) -> Iterator[Inspected]:
    """Run the rules over files, each with its bytes or why there are none."""
    from thunderus_mem.lint.engine import lint_reading, running
    from thunderus_mem.lint.fingerprint import fingerprinted

    checks = running(config)
    with Judge(memory) as judge:
        subject = subjects(memory, config, origins=True, evidence=judge)
        for path, data in files:
            if isinstance(data, ThunderusError):
                yield Inspected(fingerprinted([_unreadable(path, data)], lambda line: ""), set(), None)
                continue
            reading = read_document(path, data)
            needed: set[tuple[str, str]] = set()
            yield Inspected(lint_reading(subject(reading), checks, needed), needed, reading)


def inspect_stored(memory: Memory, paths: Sequence[str], config: LintConfig) -> list[Inspected]:
    """Run the rules over documents on disk, without giving what was read. The index must be fresh.

    Many are shared out among processes. Each has a connection of its own, to the index as it is here: one
    that finds another leaves its share to this process.
    """
    if len(paths) < _MANY or memory.index.in_memory:
        return list(_in_turn(memory, paths, config, len(paths)))
    from thunderus_mem.store.forked import spread

    _judge_ahead(memory, config)
    process, generation = os.getpid(), memory.index.generation()

    def work(share: Sequence[str]) -> list[Inspected]:
        mine = memory if os.getpid() == process else memory.apart(generation)
        return list(_in_turn(mine, share, config, len(paths)))

    found = spread(paths, work)
    left = [path for path, inspected in zip(paths, found, strict=True) if inspected is None]
    rest = _in_turn(memory, left, config, len(paths))
    return [next(rest) if inspected is None else inspected for inspected in found]


def _in_turn(memory: Memory, paths: Sequence[str], config: LintConfig, together: int) -> Iterator[Inspected]:
    files = ((path, stored_bytes(memory, path)) for path in paths)
    for done, inspected in enumerate(inspect(memory, files, config)):
        memory.tell("Checking documents:", done * together // len(paths), together)
        yield inspected._replace(reading=None)


def _judge_ahead(memory: Memory, config: LintConfig) -> None:
    """Judge all anchors at once, which is quicker, and keep the verdicts where each process finds them."""
    from thunderus_mem.projection.anchored import anchored

    if any(config.runs(code) for code in _ABOUT_CODE):
        with Judge(memory) as judge:
            judge.all(anchored(memory.index.database))


def stored_bytes(memory: Memory, path: str) -> bytes | ThunderusError:
    """The bytes of a document, or why it cannot be read."""
    from thunderus_mem.store.files import read_file
    from thunderus_mem.store.paths import inside

    try:
        return read_file(inside(memory.root, path), MAX_DOCUMENT)
    except ThunderusError as error:
        return error


def _unreadable(path: str, error: ThunderusError) -> Diagnostic:
    """A link or a device has the rule that the index gives it as well."""
    rule = "TM003" if isinstance(error, TooLarge) else "TM002"
    if isinstance(error, Refused) and is_foreign_name(path):
        return foreign_name(path)
    return Diagnostic(rule, Severity.ERROR, path, 0, 0, str(error), hint=error.hint or "")
