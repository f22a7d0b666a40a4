"""What is checked before a document is written: what lint finds in its text, and others that say the same.

Reads the index, and those documents of the disk that may be the same.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from thunderus_mem.diagnostic import Diagnostic, Severity
from thunderus_mem.document.document import read_document
from thunderus_mem.document.paths import is_archived
from thunderus_mem.document.statements import same_text
from thunderus_mem.errors import DocumentExists, InvalidDocument, Refused
from thunderus_mem.lint.engine import lint_reading
from thunderus_mem.lint.runner import contexts, lint_config
from thunderus_mem.memory.locate import read_row

if TYPE_CHECKING:
    from collections.abc import Iterator

    from thunderus_mem.document.document import Document, Reading
    from thunderus_mem.memory.memory import Memory

_NEAR: Final = 0.8
"""Share of common three-word runs from which on two texts say nearly the same."""
_CANDIDATES: Final = 5
_PROBE_WORDS: Final = 40
_SHINGLE: Final = 3
_WORD = re.compile(r"\w+")
_SECRET: Final = "TM401"
_DEAD_CITATION: Final = "TM205"


def validate(
    memory: Memory, path: str, text: str, *, before: str | None = None
) -> tuple[Document, tuple[Diagnostic, ...]]:
    """The document a text will be, and the warnings about it.

    What lint finds in the text ``before`` the change too stands in nobody's way and is not told again; only a
    secret does.
    Raises `Refused` for a secret, `InvalidDocument` for anything else that lint calls an error.
    """
    reading, findings = _lint(memory, path, text)
    if before is not None and findings:
        known = {_identity(one) for one in _lint(memory, path, before)[1]}
        findings = [one for one in findings if one.rule == _SECRET or _identity(one) not in known]
    errors = [one for one in findings if one.severity is Severity.ERROR]
    leaks = [one for one in errors if one.rule == _SECRET]
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
    # A path that is not there is a note only, yet whoever writes it fixes it best at once.
    warned = (one for one in findings if one.severity is Severity.WARNING or one.rule == _DEAD_CITATION)
    return reading.document, tuple(warned)


def _lint(memory: Memory, path: str, text: str) -> tuple[Reading, list[Diagnostic]]:
    reading = read_document(path, text.encode("utf-8", "surrogateescape"))
    return reading, lint_reading(contexts(memory, lint_config(memory))(reading))


def _identity(finding: Diagnostic) -> tuple[str, ...]:
    """What makes two findings the same, wherever they stand: numbers (a size, a line) do not count."""
    return finding.rule, finding.severity, finding.key, re.sub(r"[\d,]+", "0", finding.message)


def _lower_first(message: str) -> str:
    return message[:1].lower() + message[1:]


def find_duplicates(memory: Memory, document: Document) -> tuple[Diagnostic, ...]:
    """Warnings for documents that say nearly the same; none when ``write.duplicates`` is off.

    Raises `DocumentExists` when one says exactly the same: what the gardener would call a duplicate.
    """
    words = _words(document.body)
    if not words or not memory.config.write_duplicates:
        return ()
    mine = _shingles(words)
    near = []
    for other in _candidates(memory, document):
        if same_text(document, other):
            raise DocumentExists(
                f"already known: {other.id} says exactly this",
                hint=f"it is in the archive; `thunderus-mem unarchive {other.id}` brings it back"
                if is_archived(other.path)
                else f"see `thunderus-mem show {other.id}`, or add a detail that it lacks",
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
                    message=f"{other.id} says nearly the same ({overlap:.0%} of three-word runs shared).",
                    expected="one document for one thing",
                    hint=f"edit {other.id} instead, or `supersede` it by this one",
                    doc_id=document.id,
                )
            )
    return tuple(near)


def _candidates(memory: Memory, document: Document) -> Iterator[Document]:
    """The stored documents nearest to this one, as the index finds them by its longest words."""
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
    """Runs of three words; a shorter text is one run."""
    if len(words) <= _SHINGLE:
        return {tuple(words)}
    return {tuple(words[start : start + _SHINGLE]) for start in range(len(words) - _SHINGLE + 1)}
