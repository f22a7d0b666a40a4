"""Rules about reading a file at all: bytes, fences, header syntax, and what must be there for a document."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from thunderus_mem.lint.rule import Subject
from thunderus_mem.model.diagnostic import Diagnostic, TextEdit
from thunderus_mem.model.header import Mapping, Node, Scalar, Sequence, find_fences

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator


def _problems(subject: Subject, code: str) -> Iterator[Diagnostic]:
    torn = [problem for problem in subject.reading.problems if problem.rule == code]
    if not torn:
        return
    # A conflict tears the header; what follows from that is no finding of its own.
    if code >= "TM004" and any(line <= _header_end(subject) for line in subject.conflict_lines):
        return
    yield from torn


def _header_end(subject: Subject) -> int:
    fences = find_fences(subject.reading.text or "")
    return fences.body_line - 1 if fences is not None and fences.closed else 1 << 30


def not_utf8(subject: Subject) -> Iterable[Diagnostic]:
    """The file is not UTF-8 text.

    Why: every reader of the memory, this one included, expects UTF-8; guessing an encoding would change text.

    Bad::

        title: Caf\\xe9        (one Latin-1 byte)

    Good::

        title: Café

    Mend: save the file as UTF-8, for example with ``iconv -f latin1 -t utf-8``.
    """
    return _problems(subject, "TM001")


def nul_or_binary(subject: Subject) -> Iterable[Diagnostic]:
    """The file holds a NUL byte, so it is no text.

    Why: git shows such a file as binary, so nobody can review it, and most tools stop at the byte.

    Bad::

        a picture or a database that was given the name notes.md

    Good::

        a Markdown file

    Mend: delete the byte, or move the file out of the memory folders.
    """
    return _problems(subject, "TM002")


def too_large(subject: Subject) -> Iterable[Diagnostic]:
    """The file is larger than 1 MiB and is not read.

    Why: a memory is read by people and by programs with small windows; a file of this size is a log or a dump.

    Bad::

        FACTS/build-log.md, 50 MB

    Good::

        FACTS/build-failures.md, with the three causes and how each was mended

    Mend: split the document, or keep only what a reader needs.
    """
    return _problems(subject, "TM003")


def no_frontmatter(subject: Subject) -> Iterable[Diagnostic]:
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
    return _problems(subject, "TM004")


def unclosed_frontmatter(subject: Subject) -> Iterable[Diagnostic]:
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
    return _problems(subject, "TM005")


def header_syntax(subject: Subject) -> Iterable[Diagnostic]:
    """The frontmatter is no YAML mapping that can be read.

    Why: a header that one reader guesses right is read wrongly by the next; nothing is guessed here.

    Bad::

        title: Tests: how and why

    Good::

        title: "Tests: how and why"

    Mend: put quotes around a value with ``: `` or `` #`` in it, or mend the line the finding names.
    """
    return _problems(subject, "TM006")


def duplicate_key(subject: Subject) -> Iterable[Diagnostic]:
    """A key stands twice in the frontmatter.

    Why: one reader keeps the first value, another the last; merges by union leave such pairs behind.

    Bad::

        updated: 2026-01-21T09:00:00Z
        updated: 2026-01-22T09:00:00Z

    Good::

        updated: 2026-01-22T09:00:00Z

    Mend: keep the line that is right.
    """
    return _problems(subject, "TM007")


def tab(subject: Subject) -> Iterable[Diagnostic]:
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
    return _problems(subject, "TM008")


def alias_or_anchor_or_tag(subject: Subject) -> Iterable[Diagnostic]:
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
    return _problems(subject, "TM009")


def header_limits(subject: Subject) -> Iterable[Diagnostic]:
    """The frontmatter is larger than 32 KiB, deeper than 6 levels or has more than 4,000 values.

    Why: a header describes a document. Limits keep a hostile or broken one from holding up everything else.

    Bad::

        metadata: [[[[[[[[deep]]]]]]]]

    Good::

        metadata:
          depth: 8

    Mend: move the text to the body.
    """
    return _problems(subject, "TM010")


def missing_identity(subject: Subject) -> Iterable[Diagnostic]:
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
    return _problems(subject, "TM011")


def conflict_markers(subject: Subject) -> Iterable[Diagnostic]:
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

    Mend: keep what is right and delete the three marker lines. A document that shows a conflict on purpose
    indents it, or says ``<!-- thunderus-mem: ignore-file TM012 it explains merging -->``.
    """
    lines = subject.conflict_lines
    for opening, middle, closing in zip(lines[::3], lines[1::3], lines[2::3], strict=True):
        yield subject.found(
            "TM012",
            (opening, 1),
            f"A merge conflict is not resolved: the other side is in line {middle + 1}, the end in line {closing}.",
            expected="no conflict markers",
            hint="Keep what is right and delete the three marker lines.",
        )


_OTHER_BOOLEAN = frozenset(("y", "n", "yes", "no", "on", "off"))
_BOOLEAN_OR_NULL = frozenset(("true", "false", "null", "~"))
# What YAML 1.1 and 1.2 read differently: leading zeros, 0o, sexagesimal, exponents without a dot, underscores.
_OTHER_NUMBER = re.compile(
    r"[-+]?(?:0[0-9_]+|0o[0-7]+|0b[01_]+|[0-9][0-9_]*_[0-9_]*|[0-9]+[eE][-+]?[0-9]+|[0-9]+(?::[0-5]?[0-9])+(?:\.[0-9]*)?)"
)
_ANY_NUMBER = re.compile(
    r"[-+]?(?:0x[0-9a-fA-F_]+|(?:[0-9][0-9_]*\.?[0-9_]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?|\.(?:inf|nan|Inf|NaN|INF|NAN))"
)
_DATE = re.compile(r"[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}(?:[Tt \t].*)?")

_TIMES = frozenset(("created", "updated"))
_NUMBERS = frozenset(
    ("credibility", "emotional_valence", "emotional_arousal", "quality_score", "sequence_number", "session")
)
_TEXTS = frozenset(
    "id title kind tags aliases author type source_type emotion episode_id category run_id agent source symbol "
    "timeframe market".split()  # noqa: SIM905
)


def _reads_two_ways(text: str) -> bool:
    return text.lower() in _OTHER_BOOLEAN or _OTHER_NUMBER.fullmatch(text) is not None


def _is_no_text(text: str) -> bool:
    return (
        _reads_two_ways(text)
        or text.lower() in _BOOLEAN_OR_NULL
        or _ANY_NUMBER.fullmatch(text) is not None
        or _DATE.fullmatch(text) is not None
    )


def _scalars(node: Node, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Scalar]]:
    if isinstance(node, Scalar):
        yield path, node
    elif isinstance(node, Sequence):
        for index, item in enumerate(node.items):
            yield from _scalars(item, (*path, str(index)))
    else:
        for entry in node.entries:
            yield from _scalars(entry.value, (*path, entry.key.text))


def _test_for(path: tuple[str, ...]) -> Callable[[str], bool] | None:
    """Which question a value is asked: known texts must be text in any reader, other keys must be the same."""
    top = path[0]
    if top in _TIMES or top in _NUMBERS:
        return None
    if top in _TEXTS or top == "links" or top == "provenance":
        return _is_no_text
    if path == ("verification", "last_verified_commit"):
        return lambda text: text not in ("null", "~") and _is_no_text(text)
    return _reads_two_ways


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
    if header is None or not isinstance(header, Mapping):
        return
    for path, scalar in _scalars(header, ()):
        text = scalar.text
        if not scalar.plain or not text or len(text) > 64:
            continue
        # Most values begin with a letter and are no such word: one look at them is enough.
        if text[0].isalpha() and len(text) > 5:
            continue
        test = _test_for(path)
        if test is not None and test(text):
            start, end = subject.span(scalar)
            yield subject.found(
                "TM013",
                (subject.reading.header_line + scalar.line - 1, scalar.column),
                f"The unquoted value `{text}` is no text to every YAML reader.",
                key=".".join(path),
                expected=f'"{text}"',
                hint="Put it in double quotes.",
                edits=(TextEdit(start, end, f'"{text}"'),),
            )
