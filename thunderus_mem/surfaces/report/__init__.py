"""Findings for people and for machines: one module a family of formats. The same findings, the same bytes.

Text that people see passes `visible`. What machines read is ASCII, so nothing in it reaches a terminal raw.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from thunderus_mem.model.diagnostic import Diagnostic

    Format = Callable[[Sequence[Diagnostic], Sequence[str]], str]

__all__ = ["FORMATS", "FOR_PEOPLE", "REPOSITORY_PATHS", "report"]

_MODULES: Final = {
    "full": "text",
    "concise": "text",
    "json": "json_text",
    "jsonl": "json_text",
    "github": "github",
    "gitlab": "gitlab",
    "sarif": "sarif",
    "junit": "junit",
}
FORMATS: Final = tuple(_MODULES)
FOR_PEOPLE: Final = frozenset(("full", "concise", "github"))
"""Formats that go through the printer of texts; the others are ASCII and hold no secret."""

REPOSITORY_PATHS: Final = frozenset(("github", "gitlab", "sarif"))
"""Formats whose reader takes paths from the top of the repository, wherever the memory lies in it."""


def report(diagnostics: Iterable[Diagnostic], format: str = "full", documents: Sequence[str] = ()) -> str:
    """The findings, sorted by file, place and rule, in one of `FORMATS`.

    "full" says everything and ends in a summary; "concise" is one line each and empty without findings.
    ``documents`` are the files that were looked at, for formats that tell of good ones too.
    Raises `ValueError` for another format.
    """
    if format not in _MODULES:
        raise ValueError(f"There is no format {format}; choose one of {', '.join(FORMATS)}.")
    module = import_module(f"thunderus_mem.surfaces.report.{_MODULES[format]}")
    written: Format = getattr(module, format if format != "json" else "json_document")
    found = sorted(diagnostics, key=_order)
    return written(_without_secrets(found), documents)


def _order(one: Diagnostic) -> tuple[object, ...]:
    return (*one.sort_key, one.severity, one.doc_id, one.key, one.fingerprint)


def _without_secrets(found: list[Diagnostic]) -> list[Diagnostic]:
    """The findings without the value of any secret: one may stand in the name of a file."""
    from thunderus_mem.model.secrets import find_secrets, redacted

    texts = {text for one in found for text in one if type(text) is str and text}
    if not find_secrets("\n".join(texts)):
        return found
    return [
        one._replace(
            path=redacted(one.path),
            message=redacted(one.message),
            key=redacted(one.key),
            expected=redacted(one.expected),
            hint=redacted(one.hint),
            doc_id=redacted(one.doc_id),
            edits=() if find_secrets("".join(edit.replacement for edit in one.edits)) else one.edits,
        )
        for one in found
    ]
