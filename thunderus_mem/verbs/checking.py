"""The one pass before a document is written: schema, secrets, cited paths, and what is already known."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from thunderus_mem.model.archive import is_archived
from thunderus_mem.model.diagnostic import Diagnostic, Severity
from thunderus_mem.model.document import read_document
from thunderus_mem.model.errors import DocumentExists, InvalidDocument, Refused
from thunderus_mem.model.statements import same_text

if TYPE_CHECKING:
    from collections.abc import Iterable

    from thunderus_mem.memory import Memory
    from thunderus_mem.model.document import Document, Reading

NEAR = 0.8
_CANDIDATES = 5
_PROBE_WORDS = 40
_SHINGLE = 3
_WORD = re.compile(r"\w+")


def checked(
    memory: Memory, path: str, text: str, *, before: str | None = None
) -> tuple[Document, tuple[Diagnostic, ...]]:
    """The document a text will be, and the warnings about it.

    What lint finds in the text ``before`` the change too stands in nobody's way and is not told again; only a
    secret does.
    Raises `Refused` for a secret, `InvalidDocument` for anything else that lint calls an error.
    """
    reading, findings = _linted(memory, path, text)
    if before is not None and findings:
        known = {_sameness(finding) for finding in _linted(memory, path, before)[1]}
        findings = [one for one in findings if one.rule == "TM401" or _sameness(one) not in known]
    errors = [finding for finding in findings if finding.severity is Severity.ERROR]
    leaks = [finding for finding in errors if finding.rule == "TM401"]
    if leaks:
        raise Refused(
            f"nothing written: line {leaks[0].line} holds {_lower_first(leaks[0].message)}",
            diagnostics=leaks,
            hint=leaks[0].hint or "name where the secret is kept instead of the secret",
        )
    if errors or reading.document is None:
        first = (errors or list(reading.problems))[0]
        raise InvalidDocument(
            f"nothing written: {_lower_first(first.message)}", diagnostics=errors, hint=first.hint or None
        )
    return reading.document, tuple(finding for finding in findings if _is_told(finding))


def _is_told(finding: Diagnostic) -> bool:
    """Whether a writer hears of it: warnings, and a path that is not there, which is best mended at once."""
    return finding.severity is Severity.WARNING or finding.rule == "TM205"


def _linted(memory: Memory, path: str, text: str) -> tuple[Reading, list[Diagnostic]]:
    from thunderus_mem.lint.engine import lint_reading
    from thunderus_mem.verbs.inspecting import subjects
    from thunderus_mem.verbs.linting import lint_config

    reading = read_document(path, text.encode("utf-8", "surrogateescape"))
    return reading, lint_reading(subjects(memory, lint_config(memory))(reading))


def _sameness(finding: Diagnostic) -> tuple[str, ...]:
    """What makes two findings the same, wherever they stand: numbers (a size, a line) do not count."""
    return finding.rule, finding.severity, finding.key, re.sub(r"[\d,]+", "0", finding.message)


def _lower_first(message: str) -> str:
    return message[:1].lower() + message[1:]


def already_known(memory: Memory, document: Document) -> tuple[Diagnostic, ...]:
    """Warnings for documents that say nearly the same; none when ``write.duplicates`` is off.

    Raises `DocumentExists` when one says exactly the same: what the gardener would call a duplicate.
    """
    mine = _words(document.body)
    if not mine or not memory.config.write_duplicates:
        return ()
    near = []
    for other in _candidates(memory, document):
        theirs = _words(other.body)
        if same_text(document, other):
            raise DocumentExists(
                f"already known: {other.id} says exactly this",
                hint=f"it is in the archive; `thunderus-mem unarchive {other.id}` brings it back"
                if is_archived(other.path)
                else f"see `thunderus-mem show {other.id}`, or add a detail that it lacks",
            )
        overlap = _jaccard(_shingles(mine), _shingles(theirs))
        if overlap >= NEAR:
            near.append(
                Diagnostic(
                    rule="",
                    severity=Severity.WARNING,
                    path=document.path,
                    line=document.body_line,
                    column=1,
                    message=f"{other.id} says nearly the same ({overlap:.0%} of three-word runs shared).",
                    expected="one document for one thing",
                    hint=f"edit {other.id} instead, or `supersede` it by this one",
                    doc_id=document.id,
                )
            )
    return tuple(near)


def _candidates(memory: Memory, document: Document) -> Iterable[Document]:
    from thunderus_mem.verbs.locating import read_row

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
    if len(words) <= _SHINGLE:
        return {tuple(words)}
    return {tuple(words[start : start + _SHINGLE]) for start in range(len(words) - _SHINGLE + 1)}


def _jaccard(left: set[tuple[str, ...]], right: set[tuple[str, ...]]) -> float:
    return len(left & right) / len(left | right)
