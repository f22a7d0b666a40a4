"""Rules about reading a file at all (bytes, fences, header syntax, conflicts), and about what a document must
hold: frontmatter by its schema, sections, headings, times, a text.

Most of the first pass on what `document.document.read_document` found.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from thunderus_mem.diagnostic import Diagnostic, Severity, TextEdit
from thunderus_mem.document.frontmatter.nodes import Mapping, Scalar
from thunderus_mem.document.frontmatter.read import find_fences
from thunderus_mem.document.frontmatter.write import ambiguous
from thunderus_mem.document.ids import closest
from thunderus_mem.document.timestamp import parse_timestamp
from thunderus_mem.lint.rule import NOTE, WARNING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from thunderus_mem.document.schema import Violation
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


# What a document must hold

SECTIONS: Final = {
    "core": ("Identity", "Commands", "Architecture", "Conventions"),
    "adr": ("Status", "Context", "Decision", "Consequences"),
    "playbook": ("Preconditions", "Steps", "Verification"),
    "recap": ("Provenance",),
}
_DATE_ONLY = re.compile(r"[0-9]{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12][0-9]|3[01])")
_NESTED = {"events": "provenance", "patches": "provenance", "last_verified_commit": "verification"}


def frontmatter_schema(context: LintContext) -> Iterable[Diagnostic]:
    """The frontmatter does not hold what its schema asks for.

    Why: other programs read these documents too. Thunderus refuses one without tags, and a time without an
    offset means something else on every machine. Keys that are not in the schema are always fine.

    Bad::

        tags: []
        created: yesterday

    Good::

        tags: [testing]
        created: 2026-01-21T09:00:00Z

    Mend: change the key the finding names to what it expects. ``thunderus-mem schema print
    memory_doc.frontmatter`` shows the whole schema.
    """
    document = context.document
    if document is None or context.conflict_lines:
        return
    for violation in context.violations:
        if violation.key == "id":  # TM102 says it with a better fix
            continue
        yield context.finding(
            "TM101",
            context.at(*violation.path),
            violation.message,
            key=violation.key,
            expected=violation.expected,
            hint=_schema_hint(context, violation),
            edits=_schema_edits(context, violation),
        )


def _schema_hint(context: LintContext, violation: Violation) -> str:
    last = str(violation.path[-1]) if violation.path else ""
    header = context.reading.header
    if violation.kind == "required":
        if _NESTED.get(last) and isinstance(header, Mapping) and header.get(last) is not None:
            return f"Indent `{last}` by two spaces, under `{_NESTED[last]}:`."
        return f"Add the key `{last}`."
    if violation.kind == "additionalProperties":
        near = closest(last, violation.expected.removeprefix("one of ").split(", "), 1)
        return f"Did you mean `{near[0]}`?" if near else "Use one of the known relations."
    if violation.key == "tags":
        if violation.kind == "type":
            return "Write a list: `tags: [one, two]`."
        if violation.kind == "minItems":
            return "Add a tag; Thunderus refuses a document without one."
    if violation.kind == "enum":
        node = context.node(*violation.path)
        text = node.text if isinstance(node, Scalar) else ""
        near = closest(text.lower(), violation.expected.removeprefix("one of ").split(", "), 1)
        if near and near[0][:1] == text[:1].lower():
            return f"Did you mean `{near[0]}`?"
    if violation.kind == "format":
        return "Write date, time and offset; `Z` means UTC."
    return f"Change `{violation.key}` to {violation.expected}."


def _schema_edits(context: LintContext, violation: Violation) -> tuple[TextEdit, ...]:
    node = context.node(*violation.path)
    if violation.kind == "format" and isinstance(node, Scalar) and _DATE_ONLY.fullmatch(node.text):
        return (TextEdit(*context.span(node), f"{node.text}T00:00:00Z"),)
    return ()


def missing_section(context: LintContext) -> Iterable[Diagnostic]:
    """A section that this kind of document should have is missing.

    Why: readers, and Thunderus, look for these headings: core has Identity, Commands, Architecture and
    Conventions; an adr Status, Context, Decision and Consequences; a playbook Preconditions, Steps and
    Verification; a recap Provenance. A heading may go on (``Context and problem``), and an adr may carry its
    status in the frontmatter instead. In a decision of MADR's form, Status and Consequences are a note. An
    imported text keeps the form it was written in.

    Bad::

        # Use SQLite

        We use SQLite.

    Good::

        # Use SQLite

        ## Status
        Accepted
        ## Context
        ...
        ## Decision
        ...
        ## Consequences
        ...

    Mend: add the section, even if it only says that there is nothing to say.
    """
    document = context.document
    wanted = SECTIONS.get(document.kind, ()) if document is not None else ()
    if document is None or not wanted or not context.body.strip() or document.imported_from:
        return
    begun = tuple(heading.text.lower().lstrip("0123456789. ") for heading in context.headings)
    missing = [name for name in wanted if not any(text.startswith(name.lower()) for text in begun)]
    if "Status" in missing and isinstance(context.node("status"), Scalar):
        missing.remove("Status")
    if not missing:
        return
    # MADR's form (adr.github.io/madr) has its own names and leaves these two to the author.
    madr = any(text.startswith("decision outcome") for text in begun)
    optional = madr and {"Status", "Consequences"}.issuperset(missing)
    yield context.finding(
        "TM107",
        (document.body_line, 1),
        f"The {'sections are' if len(missing) > 1 else 'section is'} missing: {', '.join(missing)}.",
        expected=", ".join(f"## {name}" for name in wanted),
        hint=f"Add a heading `## {missing[0]}`" + (" and so on." if len(missing) > 1 else "."),
        severity=NOTE if optional else None,
    )


def _heading_paths(context: LintContext) -> Iterator[tuple[tuple[str, ...], int]]:
    path: list[tuple[int, str]] = []
    for heading in context.headings:
        while path and path[-1][0] >= heading.level:
            path.pop()
        path.append((heading.level, heading.text))
        yield tuple(text for _, text in path), heading.line


def repeated_anchor(context: LintContext) -> Iterable[Diagnostic]:
    """Two headings of a document have the same text, so their anchors are told apart by number only.

    Why: search results and links name a heading by its anchor. The second one becomes ``#setup-1``, and
    changes its name as soon as another is put before it. Under different parents it is a note only, one for
    the document.

    Bad::

        ## Setup
        ## Setup

    Good::

        ## Setup on Linux
        ## Setup on Windows

    Mend: make the headings differ.
    """
    if "#" not in context.body and "\n-" not in context.body and "\n=" not in context.body:
        return
    first: dict[str, int] = {}
    paths: set[tuple[str, ...]] = set()
    elsewhere: list[tuple[str, int]] = []
    for path, line in _heading_paths(context):
        folded = tuple(step.lower() for step in path)
        if folded[-1] in first and folded in paths:
            yield _repeated(context, path[-1], line, first[folded[-1]])
        elif folded[-1] in first:
            elsewhere.append((path[-1], line))
        if folded[-1]:
            first.setdefault(folded[-1], line)
        paths.add(folded)
    if elsewhere:
        text, line = elsewhere[0]
        others = len(elsewhere) - 1
        more = f", and {others} more {'does' if others == 1 else 'do'} so below" if others else ""
        yield _repeated(context, text, line, first[text.lower()], NOTE, more)


def _repeated(
    context: LintContext, text: str, line: int, before: int, severity: Severity = WARNING, more: str = ""
) -> Diagnostic:
    return context.finding(
        "TM108",
        (context.in_body(line), 1),
        f"The heading “{text}” repeats the one in line {context.in_body(before)}{more}.",
        expected="headings that differ",
        hint="Say in the heading what makes this section another one.",
        severity=severity,
    )


def updated_before_created(context: LintContext) -> Iterable[Diagnostic]:
    """``updated`` is earlier than ``created``.

    Why: Thunderus refuses such a document, and every list that sorts by time shows it in the wrong place.

    Bad::

        created: 2026-01-21T09:00:00Z
        updated: 2026-01-20T09:00:00Z

    Good::

        created: 2026-01-21T09:00:00Z
        updated: 2026-01-21T09:00:00Z

    Mend: correct the one that is wrong; ``lint --fix`` sets ``updated`` to ``created``.
    """
    document = context.document
    if document is None or document.created == document.updated:
        return
    created, updated = parse_timestamp(document.created), parse_timestamp(document.updated)
    if created is None or updated is None or updated >= created:
        return
    before, after = context.node("created"), context.node("updated")
    edits: tuple[TextEdit, ...] = ()
    if isinstance(before, Scalar) and isinstance(after, Scalar) and before.plain and after.plain:
        edits = (TextEdit(*context.span(after), before.text),)
    yield context.finding(
        "TM109",
        context.at("updated"),
        f"`updated` is {document.updated}, before `created`.",
        key="updated",
        expected=f"{document.created} or later",
        hint="Set `updated` to the time of the last change.",
        edits=edits,
    )


def empty_body(context: LintContext) -> Iterable[Diagnostic]:
    """The document has frontmatter and no text.

    Why: there is nothing to find and nothing to remember.

    Bad::

        ---
        id: fact.testing
        title: How we test
        kind: fact
        ---

    Good::

        ---
        id: fact.testing
        title: How we test
        kind: fact
        ---
        Run `make test`.

    Mend: write at least one sentence, or remove the document.
    """
    document = context.document
    if document is not None and not context.body.strip():
        yield context.finding(
            "TM110",
            (document.body_line, 1),
            "The document has no text.",
            expected="at least one sentence",
            hint="Write what is to be remembered, or remove the document.",
        )
