"""Check a text before it is written as a document: findings about it, and similar documents."""

from __future__ import annotations

import re
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from thunderus_mem.diagnostic import Diagnostic, Severity
from thunderus_mem.document.document import read_document
from thunderus_mem.document.frontmatter.write import order_of
from thunderus_mem.document.paths import is_archived
from thunderus_mem.document.statements import same_text
from thunderus_mem.errors import DocumentExists, InvalidDocument, NotFound, Refused
from thunderus_mem.lint.context import contexts, lint_config
from thunderus_mem.lint.engine import lint_reading
from thunderus_mem.memory.locate import read_row
from thunderus_mem.startup import lazy_pattern

if TYPE_CHECKING:
    from collections.abc import Iterator

    from thunderus_mem.document.document import Document, Reading
    from thunderus_mem.memory.memory import Memory

_NEAR: Final = 0.8
"""Share of common three-word sequences from which on two texts are near-duplicates."""
_MISSPELLED: Final = 0.75
"""Similarity to a known field from which on a field is a likely misspelling of it."""
_CANDIDATES: Final = 5
_PROBE_WORDS: Final = 40
_SHINGLE: Final = 3
_WORD = lazy_pattern(r"\w+")
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


def unknown_fields(document: Document, before: Document | None = None) -> Iterator[Diagnostic]:
    """Report new frontmatter keys that are not of the format: as a warning if one is likely misspelled."""
    known = {*order_of(""), "session", *(["status"] if document.kind == "adr" else [])}
    ignored = known | {key.text for key, _ in (before.header.entries if before else ())}
    for node in (key for key, _ in document.header.entries if key.text not in ignored):
        from difflib import get_close_matches

        near = get_close_matches(node.text, known, n=1, cutoff=_MISSPELLED)
        yield Diagnostic(
            rule="",
            severity=Severity.WARNING if near else Severity.NOTE,
            path=document.path,
            line=document.header_line + node.line - 1,
            column=node.column,
            message=f"Unknown field `{node.text}`",
            key=node.text,
            hint=f"Did you mean `{near[0]}`?" if near else f"Use `metadata.{node.text}` for your own fields",
            doc_id=document.id,
        )


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
                hint=f"restore it from the archive: `thunderus-mem archive --undo {other.id}`"
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
                    message=f"Near-duplicate of {other.id} ({_in_common(words, overlap)})",
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
        if row is not None and doc_id != document.id:
            # Git may have removed the file since the index was read: then it is no duplicate.
            with suppress(NotFound):
                if other := read_row(memory, row):
                    yield other


def _in_common(words: list[str], share: float) -> str:
    return f"{share:.0%} of three-word sequences in common" if len(words) >= _SHINGLE else "the same words"


def _words(text: str) -> list[str]:
    return _WORD.findall(text.casefold())


def _shingles(words: list[str]) -> set[tuple[str, ...]]:
    """Sequences of three words; a shorter text is one sequence."""
    if len(words) <= _SHINGLE:
        return {tuple(words)}
    return {tuple(words[start : start + _SHINGLE]) for start in range(len(words) - _SHINGLE + 1)}
