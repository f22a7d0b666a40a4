"""The rule about values that YAML readers do not agree on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from thunderus_mem.model.ambiguous import ambiguous
from thunderus_mem.model.diagnostic import Diagnostic, TextEdit

if TYPE_CHECKING:
    from collections.abc import Iterable

    from thunderus_mem.lint.subject import Subject


def ambiguous_scalar(subject: Subject) -> Iterable[Diagnostic]:
    """An unquoted value means different things to different YAML readers.

    Why: ``no`` is a text here and *false* to a YAML 1.1 reader; ``012`` is 10, ``1:30`` is 90; a commit
    ``12e4567`` becomes a number. Texts that look like something else need quotes.

    Bad::

        tags: [on, 2024]

    Good::

        tags: ["on", "2024"]

    Mend: put the value in double quotes (``lint --fix`` does).
    """
    header = subject.reading.header
    if header is None:
        return
    for path, scalar in ambiguous(header):
        start, end = subject.span(scalar)
        yield subject.found(
            "TM013",
            (subject.reading.header_line + scalar.line - 1, scalar.column),
            f"YAML readers disagree on the unquoted value `{scalar.text}`.",
            key=".".join(path),
            expected=f'"{scalar.text}"',
            hint="Put it in double quotes.",
            edits=(TextEdit(start, end, f'"{scalar.text}"'),),
        )
