"""Rules about reading a file at all: bytes, fences, header syntax, and what must be there for a document.

Most pass on what `document.document.read_document` found.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from thunderus_mem.diagnostic import Diagnostic, TextEdit
from thunderus_mem.document.frontmatter.read import find_fences
from thunderus_mem.document.frontmatter.write import ambiguous

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from thunderus_mem.lint.rule import LintContext


def _problems(context: LintContext, code: str) -> Iterator[Diagnostic]:
    torn = [problem for problem in context.reading.problems if problem.rule == code]
    if not torn:
        return
    # A conflict tears the header; what follows from that is no finding of its own.
    if code >= "TM004" and any(line <= _header_end(context) for line in context.conflict_lines):
        return
    yield from torn


def _header_end(context: LintContext) -> int:
    fences = find_fences(context.reading.text or "")
    return fences.body_line - 1 if fences is not None and fences.closed else 1 << 30


def not_utf8(context: LintContext) -> Iterable[Diagnostic]:
    """The file is not UTF-8 text.

    Why: every reader of the memory, this one included, expects UTF-8; guessing an encoding would change text.

    Bad::

        title: Caf\\xe9        (one Latin-1 byte)

    Good::

        title: Café

    Mend: save the file as UTF-8, for example with ``iconv -f latin1 -t utf-8``.
    """
    return _problems(context, "TM001")


def nul_or_binary(context: LintContext) -> Iterable[Diagnostic]:
    """The file holds a NUL byte, so it is no text; or it is no file at all, but a link or a device.

    Why: git shows such a file as binary, so nobody can review it, and most tools stop at the byte. A file
    that cannot be read, and a folder that cannot be looked into, are told by this code as well.

    Bad::

        a picture or a database that was given the name notes.md

    Good::

        a Markdown file

    Mend: delete the byte, or move the file out of the memory folders.
    """
    return _problems(context, "TM002")


def too_large(context: LintContext) -> Iterable[Diagnostic]:
    """The file is larger than 1 MiB and is not read.

    Why: a memory is read by people and programs with small windows; this size is a log or a dump.

    Bad::

        FACTS/build-log.md, 50 MB

    Good::

        FACTS/build-failures.md, with the three causes and how each was mended

    Mend: split the document, or keep only what a reader needs.
    """
    return _problems(context, "TM003")


def no_frontmatter(context: LintContext) -> Iterable[Diagnostic]:
    """The file does not begin with YAML frontmatter.

    Why: without id, title and kind a file is no document; it cannot be found, linked or listed.

    Bad::

        # How we test

    Good::

        ---
        id: fact.testing
        title: How we test
        kind: fact
        ---

    Mend: put the frontmatter first, or bring the file in with ``thunderus-mem import markdown``.
    """
    return _problems(context, "TM004")


def unclosed_frontmatter(context: LintContext) -> Iterable[Diagnostic]:
    """The frontmatter is never closed by a line ``---``.

    Why: without the closing line the whole file would be header.

    Bad::

        ---
        id: fact.testing
        # How we test

    Good::

        ---
        id: fact.testing
        ---
        # How we test

    Mend: add a line that holds only ``---`` behind the last key.
    """
    return _problems(context, "TM005")


def header_syntax(context: LintContext) -> Iterable[Diagnostic]:
    """The frontmatter is no YAML mapping that can be read.

    Why: a header that one reader guesses right is read wrongly by the next; nothing is guessed here.

    Bad::

        title: Tests: how and why

    Good::

        title: "Tests: how and why"

    Mend: put quotes around a value with ``: `` or `` #`` in it, or mend the line the finding names.
    """
    return _problems(context, "TM006")


def duplicate_key(context: LintContext) -> Iterable[Diagnostic]:
    """A key stands twice in the frontmatter.

    Why: one reader keeps the first value, another the last; merges by union leave such pairs behind.

    Bad::

        updated: 2026-01-21T09:00:00Z
        updated: 2026-01-22T09:00:00Z

    Good::

        updated: 2026-01-22T09:00:00Z

    Mend: keep the line that is right.
    """
    return _problems(context, "TM007")


def tab(context: LintContext) -> Iterable[Diagnostic]:
    """A tab indents a line of the frontmatter.

    Why: YAML forbids tabs as indentation, and readers differ in what they make of one.

    Bad::

        provenance:
        <tab>events: []

    Good::

        provenance:
          events: []

    Mend: write two spaces instead.
    """
    return _problems(context, "TM008")


def alias_or_anchor_or_tag(context: LintContext) -> Iterable[Diagnostic]:
    """The frontmatter uses an anchor, an alias, a tag or a merge key.

    Why: a header must mean what it shows; expansion hides values and can grow without bound.

    Bad::

        tags: &common [testing]
        aliases: *common

    Good::

        tags: [testing]
        aliases: [how we test]

    Mend: write the value out. Quote a text that begins with ``&``, ``*`` or ``!``.
    """
    return _problems(context, "TM009")


def header_limits(context: LintContext) -> Iterable[Diagnostic]:
    """The frontmatter is larger than 32 KiB, deeper than 6 levels or has more than 2,500 values.

    Why: a header describes a document. Limits keep a hostile or broken one from holding up everything else.

    Bad::

        metadata: [[[[[[[[deep]]]]]]]]

    Good::

        metadata:
          depth: 8

    Mend: move the text to the body.
    """
    return _problems(context, "TM010")


def missing_identity(context: LintContext) -> Iterable[Diagnostic]:
    """The frontmatter has no id, no title or no kind.

    Why: these three make a file a document: what it is called, what people read, what sort of memory it is.

    Bad::

        ---
        title: How we test
        ---

    Good::

        ---
        id: fact.testing
        title: How we test
        kind: fact
        ---

    Mend: add the key. An id is lower-case words joined by dots, beginning with the kind.
    """
    return _problems(context, "TM011")


def conflict_markers(context: LintContext) -> Iterable[Diagnostic]:
    """The file holds an unresolved merge conflict.

    Why: both sides of the conflict would be indexed and believed.

    Bad::

        <<<<<<< HEAD
        Tests run with pytest.
        =======
        Tests run with nox.
        >>>>>>> topic

    Good::

        Tests run with nox.

    Mend: ``thunderus-mem resolve`` settles what can be settled; of the rest keep what is right and delete the
    three marker lines. A document that shows a conflict on purpose indents it, or says
    ``<!-- thunderus-mem: ignore-file TM012 it explains merging -->``.
    """
    lines = context.conflict_lines
    for opening, middle, closing in zip(lines[::3], lines[1::3], lines[2::3], strict=True):
        yield context.finding(
            "TM012",
            (opening, 1),
            f"A merge conflict is open: the other side follows line {middle}, the end is line {closing}.",
            expected="no conflict markers",
            hint="Run `thunderus-mem resolve`, or keep what is right and delete the three marker lines.",
        )


def ambiguous_scalar(context: LintContext) -> Iterable[Diagnostic]:
    """An unquoted value means different things to different YAML readers.

    Why: ``no`` is a text here and *false* to a YAML 1.1 reader; ``012`` is 10, ``1:30`` is 90; a commit
    ``12e4567`` becomes a number. Texts that look like something else need quotes.

    Bad::

        tags: [on, 2024]

    Good::

        tags: ["on", "2024"]

    Mend: put the value in double quotes (``lint --fix`` does).
    """
    header = context.reading.header
    if header is None:
        return
    for path, scalar in ambiguous(header):
        start, end = context.span(scalar)
        yield context.finding(
            "TM013",
            (context.reading.header_line + scalar.line - 1, scalar.column),
            f"YAML readers disagree on the unquoted value `{scalar.text}`.",
            key=".".join(path),
            expected=f'"{scalar.text}"',
            hint="Put it in double quotes.",
            edits=(TextEdit(start, end, f'"{scalar.text}"'),),
        )
