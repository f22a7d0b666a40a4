"""A finding as a value: what is wrong, where, what was expected and how to mend it."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple


class Severity(StrEnum):
    """How much a finding weighs. Only ``error`` and ``warning`` make ``lint`` exit with 1."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


class TextEdit(NamedTuple):
    """Replace ``text[start:end]`` (offsets in characters of the document's text) by ``replacement``.

    ``region`` is the same place as first line and column, last line and the column after it, from 1.
    """

    start: int
    end: int
    replacement: str
    region: tuple[int, int, int, int] | None = None


class Diagnostic(NamedTuple):
    """One finding.

    ``line`` and ``column`` count from 1; 0 means the whole file. ``key`` is the frontmatter key as a dotted
    path (``provenance.events.0``), empty in a body. ``message`` says what is, ``expected`` what should be,
    ``hint`` how to mend it. ``edits`` mend it without a question (``lint --fix``). ``fingerprint`` names the
    finding wherever its line moves to; "" until findings are collected (`thunderus_mem.lint.engine`).
    """

    rule: str
    severity: Severity
    path: str
    line: int
    column: int
    message: str
    key: str = ""
    expected: str = ""
    hint: str = ""
    doc_id: str = ""
    edits: tuple[TextEdit, ...] = ()
    fingerprint: str = ""

    @property
    def sort_key(self) -> tuple[str, int, int, str, str]:
        """Order of a report: file, place, rule."""
        return (self.path, self.line, self.column, self.rule, self.message)
