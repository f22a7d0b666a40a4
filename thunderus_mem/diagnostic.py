"""A finding as a value: what is wrong, where, what was expected and how to fix it."""

from __future__ import annotations

from enum import StrEnum

from thunderus_mem.startup import NamedTuple


class Severity(StrEnum):
    """The severity of a finding, the gravest first."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"

    def reaches(self, limit: str) -> bool:
        """Whether it is ``limit`` or graver; nothing reaches another word, such as ``never``."""
        ordered = [str(one) for one in Severity]
        return limit in ordered and ordered.index(self) <= ordered.index(limit)


class TextEdit(NamedTuple):
    """Replace ``text[start:end]`` (offsets in characters of the document's text) by ``replacement``.

    ``region`` is the same range: first line and column, last line and the column after the end, from 1.
    """

    start: int
    end: int
    replacement: str
    region: tuple[int, int, int, int] | None = None


class Diagnostic(NamedTuple):
    """One finding.

    ``line`` and ``column`` count from 1; 0 means the whole file. ``key`` is the frontmatter key as a dotted
    path (``provenance.events.0``), empty in a body. ``message`` is the problem, ``expected`` the expected
    value, ``hint`` how to fix it. ``edits`` are the safe fix (``lint --fix``). ``fingerprint`` identifies the
    finding when its line moves; until findings are collected (`thunderus_mem.lint.engine`) it is what else
    identifies the finding, mostly "".
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
        """Order in a report: file, location, rule."""
        return (self.path, self.line, self.column, self.rule, self.message)
