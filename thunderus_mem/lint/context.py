"""The context in which rules check a document: the settings, the other documents, log and history.

Everything is read when a rule first asks for it.
"""

from __future__ import annotations

import os
from contextlib import suppress
from functools import cached_property, partial
from typing import TYPE_CHECKING, Literal

from thunderus_mem.diagnostic import Severity
from thunderus_mem.document.document import MAX_DOCUMENT, source_hash
from thunderus_mem.errors import ThunderusError
from thunderus_mem.lint.rule import CODES, LintConfig, LintContext
from thunderus_mem.log.event import private_to, text_in
from thunderus_mem.memory.locate import IndexCorpus
from thunderus_mem.store.files import read_file
from thunderus_mem.store.paths import inside

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from thunderus_mem.document.document import Document, Reading
    from thunderus_mem.index.log import LogIndex
    from thunderus_mem.lint.rule import Evidence
    from thunderus_mem.memory.memory import Memory


def lint_config(
    memory: Memory, select: Iterable[str] = (), ignore: Iterable[str] = (), profiles: Iterable[str] = ()
) -> LintConfig:
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
        profiles=(*config.lint_profiles, *profiles),
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
    log_index = memory.log_index() if provenance else None
    corpus = IndexCorpus(memory.index)  # after `log_index`, which may open the index again
    known = KnownProvenance(memory, log_index, corpus.named) if log_index is not None else None

    def exists(path: str) -> bool:
        return os.path.lexists(os.path.join(memory.root, path))

    return lambda reading: LintContext(
        reading=reading,
        corpus=corpus,
        config=config,
        exists=exists,
        source_hash=partial(hash_of_source, memory),
        provenance=known,
        evidence=evidence,
    )


def hash_of_source(memory: Memory, path: str) -> str | None:
    """The `source_hash` of the file that a document was imported from; ``None`` if it cannot be read."""
    with suppress(ThunderusError):
        return source_hash(read_file(inside(memory.root, path), MAX_DOCUMENT))
    return None


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
        found = self._cited(names)
        return tuple(name for name in names if name not in found)

    def ambiguous_events(self, names: Sequence[str]) -> tuple[str, ...]:
        """The names that several imported events have, each in a session of its own."""
        found = self._cited(names)
        return tuple(name for name in names if len(found.get(name, ())) > 1)

    def private_events(self, document: Document) -> frozenset[str]:
        """Events listed by a change of the document as private to the working tree that wrote it."""
        names = (document.id, *document.aliases)
        if self._logged.isdisjoint(names):
            return frozenset()
        from thunderus_mem.index.log import read

        rows = self._log_index.naming(names)
        return frozenset(id for logged in read(self._log, rows) for id in private_to(logged.event))

    def missing_patches(self, document: Document) -> tuple[str, ...]:
        """The document's patches without a local event about the document."""
        from thunderus_mem.index.log import read

        rows = self._log_index.naming((document.id, *document.aliases), document.events)
        found = {text_in(logged.event.refs, "patch_id") for logged in read(self._log, rows)}
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

    def _cited(self, names: Sequence[str]) -> dict[str, set[str]]:
        """The events of each known name; looked up together with those of all documents."""
        found, asked = self._events
        if unasked := set(names) - asked:
            found |= self._log_index.cited(unasked)
            asked |= unasked
        return found

    @cached_property
    def _events(self) -> tuple[dict[str, set[str]], set[str]]:
        asked = set(self._named("events"))
        return self._log_index.cited(asked), asked

    @cached_property
    def _commits(self) -> dict[str, bool | None]:
        return self._git.reached(self._named("commits")) if self._git is not None else {}
