"""A report of findings: in which format, with which paths, printed or written to a file."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final, TypeVar

from thunderus_mem.errors import ThunderusError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from thunderus_mem.cli.console import Console
    from thunderus_mem.diagnostic import Diagnostic
    from thunderus_mem.memory.memory import Memory

Value = TypeVar("Value")

FORMATS: Final = ("full", "concise", "json", "jsonl", "github", "gitlab", "sarif", "junit")
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
    if format not in FORMATS:
        raise ValueError(f"There is no format {format}; choose one of {', '.join(FORMATS)}.")
    found = _without_secrets(sorted(diagnostics, key=_order))
    # A commit that is stopped, and a shell that completes a format, need none of the others.
    from thunderus_mem.cli.report import text

    if format == "full":
        return text.full(found)
    if format == "concise":
        return text.concise(found)
    from thunderus_mem.cli.report import ci, json

    if format == "junit":
        return ci.junit(found, documents)
    writers = {
        "json": json.json_document,
        "jsonl": json.jsonl,
        "sarif": json.sarif,
        "github": ci.github,
        "gitlab": ci.gitlab,
    }
    return writers[format](found)


def _order(one: Diagnostic) -> tuple[object, ...]:
    return (*one.sort_key, one.severity, one.doc_id, one.key, one.fingerprint)


def _without_secrets(found: list[Diagnostic]) -> list[Diagnostic]:
    """The findings without the value of any secret: one may stand in the name of a file."""
    from thunderus_mem.document.secrets import find_secrets, redacted

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


def chosen_form(console: Console, given: str, formats: Sequence[str], usual: str, *, named: str = "") -> str:
    """The format to write: ``given`` by option, ``named`` by THUNDERUS_MEM_OUTPUT_FORMAT, what GitHub's log
    understands, or the ``usual`` one. Raises `ThunderusError` for one that is not among ``formats``."""
    form = given or named or ("github" if console.environ.get("GITHUB_ACTIONS") == "true" else usual)
    if form not in formats:
        where = "" if given else " (THUNDERUS_MEM_OUTPUT_FORMAT)"
        raise ThunderusError(f"There is no format {form}{where}.", hint=f"Formats: {', '.join(formats)}")
    return form


def seen_from_top(memory: Memory, found: Sequence[Diagnostic], form: str) -> tuple[Diagnostic, ...]:
    """Findings with paths from the top of the repository, where a format is read there."""

    prefix = memory.git.prefix if form in REPOSITORY_PATHS and memory.git is not None else ""
    return tuple([one._replace(path=prefix + one.path) for one in found] if prefix else found)


def hand_over(
    console: Console,
    command: str,
    value: Value,
    text: Callable[[Value, Console], str],
    output: str,
    *,
    drawn: bool,
    for_people: bool,
) -> None:
    """The report to stdout, or whole to the file ``output``; what people read is safe to print.

    ``drawn``: it is laid out for a terminal, and may be long.
    """
    if output:
        from thunderus_mem.store.files import replace_file

        written = text(value, console)
        kept = console.safe(written) if for_people else written
        replace_file(
            os.path.join(console.start, output), f"{kept}\n".encode() if kept else b"", durable=False
        )
    if console.json or not output:
        console.emit(command, value, text, long=drawn, safe=not for_people)
