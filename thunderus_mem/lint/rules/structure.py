"""Rules about reading a file (bytes, fences, header syntax, conflicts), and about required content:
frontmatter that matches its schema, sections, headings, times and a body.

Most of the former only report what `document.document.read_document` found.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from thunderus_mem.diagnostic import Diagnostic, Severity, TextEdit
from thunderus_mem.document.frontmatter.nodes import Mapping, Scalar, is_null
from thunderus_mem.document.frontmatter.read import find_fences
from thunderus_mem.document.frontmatter.write import ambiguous
from thunderus_mem.document.ids import closest
from thunderus_mem.document.templates import SOURCE_TYPES, STATUSES, TYPES
from thunderus_mem.document.timestamp import parse_timestamp
from thunderus_mem.lint.rule import NOTE, WARNING
from thunderus_mem.startup import lazy_pattern

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from thunderus_mem.document.frontmatter.nodes import Node
    from thunderus_mem.document.schema import Violation
    from thunderus_mem.lint.rule import LintContext


def _problems(context: LintContext, code: str) -> Iterator[Diagnostic]:
    found = [problem for problem in context.reading.problems if problem.rule == code]
    if not found:
        return
    # A conflict breaks the header; the errors that follow from it are not reported.
    if code >= "TM004" and any(line <= _header_end(context) for line in context.conflict_lines):
        return
    yield from found


def _header_end(context: LintContext) -> int:
    fences = find_fences(context.reading.text or "")
    return fences.body_line - 1 if fences is not None and fences.closed else 1 << 30


def not_utf8(context: LintContext) -> Iterable[Diagnostic]:
    """The file is not UTF-8 text.

    Why: all tools that read documents expect UTF-8; guessing the encoding could change the text.

    Bad::

        title: Caf\\xe9        (one Latin-1 byte)

    Good::

        title: Café

    Fix: save the file as UTF-8, for example with ``iconv -f latin1 -t utf-8``.
    """
    return _problems(context, "TM001")


def nul_or_binary(context: LintContext) -> Iterable[Diagnostic]:
    """Not a regular text file (NUL byte, symlink or device), or not readable.

    Why: git treats a file with a NUL byte as binary, so it cannot be reviewed, and most tools stop at that
    byte. Symlinks and devices are not read.

    Bad::

        an image or a database named notes.md

    Good::

        a Markdown file

    Fix: delete the NUL byte, correct the permissions, or move the file out of the memory folders.
    """
    return _problems(context, "TM002")


def too_large(context: LintContext) -> Iterable[Diagnostic]:
    """The file is larger than 1 MiB and is skipped.

    Why: documents are read by people and by agents with small context windows; a file of this size is a log
    or a dump.

    Bad::

        FACTS/build-log.md, 50 MB

    Good::

        FACTS/build-failures.md, with the three causes and their fixes

    Fix: split the document, or shorten it.
    """
    return _problems(context, "TM003")


def no_frontmatter(context: LintContext) -> Iterable[Diagnostic]:
    """The file does not start with YAML frontmatter.

    Why: without id, title and kind a file is not a document; it cannot be found, linked or listed.

    Bad::

        # How we test

    Good::

        ---
        id: fact.testing
        title: How we test
        kind: fact
        ---

    Fix: put the frontmatter first, or import the file with ``thunderus-mem import markdown``.
    """
    return _problems(context, "TM004")


def unclosed_frontmatter(context: LintContext) -> Iterable[Diagnostic]:
    """The frontmatter has no closing ``---`` line.

    Why: without it the whole file would be frontmatter.

    Bad::

        ---
        id: fact.testing
        # How we test

    Good::

        ---
        id: fact.testing
        ---
        # How we test

    Fix: add a line with only ``---`` after the last key.
    """
    return _problems(context, "TM005")


def header_syntax(context: LintContext) -> Iterable[Diagnostic]:
    """Syntax error: the frontmatter is not a valid YAML mapping.

    Why: YAML readers interpret invalid syntax differently, so this program does not guess.

    Bad::

        title: Tests: how and why

    Good::

        title: "Tests: how and why"

    Fix: quote values that contain ``: `` or `` #``, or correct the reported line.
    """
    return _problems(context, "TM006")


def duplicate_key(context: LintContext) -> Iterable[Diagnostic]:
    """Duplicate key in the frontmatter.

    Why: some YAML readers keep the first value, others the last. Union merges leave such pairs behind.

    Bad::

        updated: 2026-01-21T09:00:00Z
        updated: 2026-01-22T09:00:00Z

    Good::

        updated: 2026-01-22T09:00:00Z

    Fix: keep the correct line.
    """
    return _problems(context, "TM007")


def tab(context: LintContext) -> Iterable[Diagnostic]:
    """A line of the frontmatter is indented with a tab.

    Why: YAML forbids tabs as indentation, and readers handle them differently.

    Bad::

        provenance:
        <tab>events: []

    Good::

        provenance:
          events: []

    Fix: indent with two spaces.
    """
    return _problems(context, "TM008")


def alias_or_anchor_or_tag(context: LintContext) -> Iterable[Diagnostic]:
    """The frontmatter uses an anchor, an alias, a tag or a merge key.

    Why: values should be readable where they are used; expansion hides them and can grow without bound.

    Bad::

        tags: &common [testing]
        aliases: *common

    Good::

        tags: [testing]
        aliases: [how we test]

    Fix: write the value out. Quote text that starts with ``&``, ``*`` or ``!``.
    """
    return _problems(context, "TM009")


def header_limits(context: LintContext) -> Iterable[Diagnostic]:
    """The frontmatter is larger than 32 KiB, nested deeper than 6 levels or has more than 2,500 values.

    Why: the limits keep a hostile or broken header from slowing down everything else.

    Bad::

        metadata: [[[[[[[[deep]]]]]]]]

    Good::

        metadata:
          depth: 8

    Fix: move the text to the body.
    """
    return _problems(context, "TM010")


def missing_identity(context: LintContext) -> Iterable[Diagnostic]:
    """The frontmatter has no id, no title or no kind.

    Why: these three keys make a file a document.

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

    Fix: add the key. An id consists of words joined by dots and usually starts with the kind.
    """
    return _problems(context, "TM011")


def conflict_markers(context: LintContext) -> Iterable[Diagnostic]:
    """The file contains an unresolved merge conflict.

    Why: both sides of the conflict would be indexed and trusted.

    Bad::

        <<<<<<< HEAD
        Tests run with pytest.
        =======
        Tests run with nox.
        >>>>>>> topic

    Good::

        Tests run with nox.

    Fix: run ``thunderus-mem resolve``; resolve the rest by hand and delete the three marker lines. To
    show a conflict as an example, indent it or add ``<!-- thunderus-mem: ignore-file TM012 explains merging
    -->``.
    """
    lines = context.conflict_lines
    for opening, closing in zip(lines[::3], lines[2::3], strict=True):
        yield context.finding(
            "TM012",
            (opening, 1),
            f"Unresolved merge conflict in lines {opening} to {closing}",
            expected="no conflict markers",
            hint="Run `thunderus-mem resolve`, or resolve by hand and delete the three marker lines",
        )


def ambiguous_scalar(context: LintContext) -> Iterable[Diagnostic]:
    """YAML readers disagree on an unquoted value.

    Why: YAML 1.1 reads ``no`` as *false*, ``012`` as 10 and ``1:30`` as 90. YAML 1.2, which is used here,
    reads ``no`` and ``1:30`` as strings. A commit id such as ``12e4567`` can be read as a number. Strings
    that look like other types need quotes. ``null`` is no value to other programs, and text here.

    Bad::

        tags: [on, 2024]

    Good::

        tags: ["on", "2024"]

    Fix: put the value in double quotes (``lint --fix`` does, except for ``null``).
    """
    header = context.reading.header
    if header is None:
        return
    for path, scalar in ambiguous(header):
        empty = is_null(scalar)
        yield context.finding(
            "TM013",
            (context.reading.header_line + scalar.line - 1, scalar.column),
            f"Ambiguous unquoted value `{scalar.text}`",
            key=".".join(path),
            expected="" if empty else f'"{scalar.text}"',
            hint="Remove the key, or put the word in double quotes" if empty else "Put it in double quotes",
            edits=() if empty else (TextEdit(*context.span(scalar), f'"{scalar.text}"'),),
        )


# Required content

SECTIONS: Final = {
    "core": ("Identity", "Commands", "Architecture", "Conventions"),
    "adr": ("Status", "Context", "Decision", "Consequences"),
    "playbook": ("Preconditions", "Steps", "Verification"),
}
_DATE_ONLY = lazy_pattern(r"[0-9]{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12][0-9]|3[01])")
_NESTED = {
    "events": "provenance",
    "patches": "provenance",
    "last_verified_commit": "verification",
    "status": "verification",
}


def frontmatter_schema(context: LintContext) -> Iterable[Diagnostic]:
    """The frontmatter does not match the schema.

    Why: other programs read these documents too. Some require tags, and a time without an offset means
    something different on every machine. Keys that are not in the schema are allowed.

    Bad::

        tags: []
        created: yesterday

    Good::

        tags: [testing]
        created: 2026-01-21T09:00:00Z

    Fix: change the reported key to the expected value. ``thunderus-mem config schemas
    memory_doc.frontmatter`` prints the schema.
    """
    document = context.document
    if document is None or context.conflict_lines:
        return
    for violation in context.violations:
        if violation.key == "id":  # TM102 reports it with a better hint
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


def _text_of(node: Node | None) -> str:
    return node.text if isinstance(node, Scalar) else ""


def _schema_hint(context: LintContext, violation: Violation) -> str:
    last = str(violation.path[-1]) if violation.path else ""
    header = context.reading.header
    if violation.kind == "required":
        found = header.get(last) if last in _NESTED and isinstance(header, Mapping) else None
        # Any other `status` is that of a decision.
        if found is not None and (last != "status" or _text_of(found) in STATUSES):
            return f"Indent `{last}` by two spaces, under `{_NESTED[last]}:`, or run `thunderus-mem migrate`"
        parent = violation.key.rpartition(".")[0]
        return f"Add the key `{last}`" + (f" under `{parent}`" if parent else "")
    if violation.kind == "additionalProperties":
        near = closest(last, violation.expected.removeprefix("one of ").split(", "), 1)
        return f"Did you mean `{near[0]}`?" if near else "Use one of the known relations"
    if violation.key == "tags" and violation.kind == "type":
        return "Write a list: `tags: [one, two]`"
    if violation.kind == "enum":
        text = _text_of(context.node(*violation.path))
        near = closest(text.lower(), violation.expected.removeprefix("one of ").split(", "), 1)
        if near and near[0][:1] == text[:1].lower():
            return f"Did you mean `{near[0]}`?"
    if violation.kind == "format":
        return "Write date, time and offset; `Z` means UTC"
    return f"Change `{violation.key}` to {violation.expected}"


def _schema_edits(context: LintContext, violation: Violation) -> tuple[TextEdit, ...]:
    node = context.node(*violation.path)
    if violation.kind == "format" and isinstance(node, Scalar) and _DATE_ONLY.fullmatch(node.text):
        return (TextEdit(*context.span(node), f"{node.text}T00:00:00Z"),)
    return ()


def missing_section(context: LintContext) -> Iterable[Diagnostic]:
    """A section that this kind of document should have is missing.

    Why: people and programs look for these headings. core: Identity, Commands, Architecture, Conventions;
    adr: Status, Context, Decision, Consequences; playbook: Preconditions, Steps, Verification. A heading may
    be longer (``Context and problem``), and an adr may have its status in the frontmatter instead. In MADR
    decisions, a missing Status or Consequences is a note. Imported documents are not checked.

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

    Fix: add the section, even if it only says "None".
    """
    document = context.document
    wanted = SECTIONS.get(document.kind, ()) if document is not None else ()
    if document is None or not wanted or not context.body.strip() or document.imported_from:
        return
    begun = tuple(_heading_name(heading.text) for heading in context.headings)
    missing = [name for name in wanted if not any(text.startswith(name.lower()) for text in begun)]
    if "Status" in missing and isinstance(context.node("status"), Scalar):
        missing.remove("Status")
    if not missing:
        return
    # MADR (adr.github.io/madr) has its own names, and these two are optional in it.
    madr = any(text.startswith("decision outcome") for text in begun)
    optional = madr and {"Status", "Consequences"}.issuperset(missing)
    yield context.finding(
        "TM107",
        (document.body_line, 1),
        f"Missing {'sections' if len(missing) > 1 else 'section'}: {', '.join(missing)}",
        expected=", ".join(f"## {name}" for name in wanted),
        hint="Add " + ", ".join(f"`## {name}`" for name in missing),
        severity=NOTE if optional else None,
    )


def recap_provenance(context: LintContext) -> Iterable[Diagnostic]:
    """A recap does not say what it was made from.

    Why: a recap is a summary, so its statements must be traceable. It needs a section ``Provenance`` with
    text, and at least one event, patch or commit under ``provenance`` in the frontmatter. The section is not
    required in imported documents.

    Bad::

        provenance:
          events: []
          patches: []

    Good::

        provenance:
          events:
            - evt_01KFF9T5G0GM00EG87DTZMYXB0
          patches: []

    Fix: write the recap with ``thunderus-mem recap``, or add the section and the ids by hand.
    ``thunderus-mem log`` lists the events.
    """
    document = context.document
    if document is None or document.kind != "recap" or not context.body.strip():
        return
    sections = [*_sections(context, "provenance")]
    if not any(sections) and not document.imported_from:
        yield context.finding(
            "TM114",
            (document.body_line, 1),
            "The section Provenance is empty" if sections else "Missing section: Provenance",
            expected="## Provenance, and text below it",
            hint="Write under `## Provenance` which events and files the recap was made from",
        )
    if not (document.events or document.patches or document.commits):
        yield context.finding(
            "TM114",
            context.at("provenance"),
            "The recap has no provenance",
            key="provenance",
            expected="at least one event, patch or commit",
            hint="Add the ids of its events to `provenance.events`; `thunderus-mem log` lists them",
        )


def _sections(context: LintContext, name: str) -> Iterator[str]:
    """The text of each section whose heading starts with ``name``, with its subsections."""
    headings, lines = context.headings, context.body.split("\n")
    for at, heading in enumerate(headings):
        if _heading_name(heading.text).startswith(name):
            end = next((one.line - 1 for one in headings[at + 1 :] if one.level <= heading.level), None)
            yield "\n".join(lines[heading.line : end]).strip("-= \t\r\n")


def _heading_name(text: str) -> str:
    return text.lower().lstrip("0123456789. ")


_LISTED: Final = {"type": TYPES, "source_type": SOURCE_TYPES}


def _letters(text: str) -> str:
    return "".join(filter(str.isalpha, text.lower()))


def unlisted_type(context: LintContext) -> Iterable[Diagnostic]:
    """The value of ``type`` or ``source_type`` is not in the list of known values.

    Why: other programs filter by these keys and do not know other values. ``type`` is one of Observation,
    Decision, Learning, Error, Discovery, Pattern, Context, Task, CodeEdit, FileAccess, Search, Command,
    Conversation; ``source_type`` is one of user, system, api, file, web, ai_generated, inferred.
    Documents with ``metadata.imported_from`` keep the values of their source.

    Bad::

        type: decision
        source_type: human

    Good::

        type: Decision
        source_type: user

    Fix: use one of the known values, or a tag.
    """
    if context.document is not None and context.document.imported_from:
        return
    for key, known in _LISTED.items():
        node = context.node(key)
        if not isinstance(node, Scalar) or is_null(node) or node.text in known:
            continue
        near = next((value for value in known if _letters(value) == _letters(node.text)), "")
        yield context.finding(
            "TM115",
            context.at(key),
            f"Unknown `{key}`: '{node.text}'",
            key=key,
            expected=f"one of {', '.join(known)}",
            hint=f"Did you mean `{near}`?" if near else "Use one of the known values, or a tag",
        )


def usage_in_file(context: LintContext) -> Iterable[Diagnostic]:
    """``access_count`` or ``last_accessed_at`` is in the frontmatter.

    Why: these values change by reading. In a file every read would be a change to commit, and two branches
    would conflict. With ``usage.count`` reads are counted in ``.thunderus/local``.

    Bad::

        access_count: 5
        last_accessed_at: 2026-01-21T09:00:00Z

    Good::

        metadata:
          readers: 5

    Fix: remove the key (``lint --fix`` does).
    """
    text = context.reading.text or ""
    for key in ("access_count", "last_accessed_at"):
        node = context.node(key)
        if node is not None:
            edits: tuple[TextEdit, ...] = ()
            if isinstance(node, Scalar):
                start, end = context.span(node)
                edits = (TextEdit(text.rfind("\n", 0, start) + 1, text.index("\n", end) + 1, ""),)
            yield context.finding(
                "TM116",
                context.at(key),
                f"`{key}` changes by reading and does not belong in a file",
                key=key,
                expected="no such key",
                hint="Remove the key",
                edits=edits,
            )


def _heading_paths(context: LintContext) -> Iterator[tuple[tuple[str, ...], int]]:
    path: list[tuple[int, str]] = []
    for heading in context.headings:
        while path and path[-1][0] >= heading.level:
            path.pop()
        path.append((heading.level, heading.text))
        yield tuple(text for _, text in path), heading.line


def repeated_anchor(context: LintContext) -> Iterable[Diagnostic]:
    """Two headings of a document have the same text, so their anchors differ only by a number.

    Why: search results and links refer to a heading by its anchor. The second one becomes ``#setup-1``, and
    its anchor changes when another one is added before it. If the two headings have different
    parent headings, this is only a note, reported once per document. In imported texts it is a note.

    Bad::

        ## Setup
        ## Setup

    Good::

        ## Setup on Linux
        ## Setup on Windows

    Fix: give the headings different texts.
    """
    if "#" not in context.body and "\n-" not in context.body and "\n=" not in context.body:
        return
    imported = context.document is not None and context.document.imported_from
    severity = NOTE if imported else WARNING
    first: dict[str, int] = {}
    paths: set[tuple[str, ...]] = set()
    elsewhere: list[tuple[str, int]] = []
    for path, line in _heading_paths(context):
        folded = tuple(step.lower() for step in path)
        if folded[-1] in first and folded in paths:
            yield _repeated(context, path[-1], line, first[folded[-1]], severity)
        elif folded[-1] in first:
            elsewhere.append((path[-1], line))
        if folded[-1]:
            first.setdefault(folded[-1], line)
        paths.add(folded)
    if elsewhere:
        text, line = elsewhere[0]
        others = len(elsewhere) - 1
        more = f"; {others} more repeated heading{'s' if others > 1 else ''} below" if others else ""
        yield _repeated(context, text, line, first[text.lower()], NOTE, more)


def _repeated(
    context: LintContext, text: str, line: int, before: int, severity: Severity, more: str = ""
) -> Diagnostic:
    return context.finding(
        "TM108",
        (context.in_body(line), 1),
        f"The heading “{text}” repeats the one on line {context.in_body(before)}{more}",
        expected="unique headings",
        hint='Make the heading unique, for example "Setup on Windows"',
        severity=severity,
    )


def updated_before_created(context: LintContext) -> Iterable[Diagnostic]:
    """``updated`` is earlier than ``created``.

    Why: other programs may reject such a document, and lists sorted by time show it in the wrong place.

    Bad::

        created: 2026-01-21T09:00:00Z
        updated: 2026-01-20T09:00:00Z

    Good::

        created: 2026-01-21T09:00:00Z
        updated: 2026-01-21T09:00:00Z

    Fix: correct the wrong one; ``lint --fix`` sets ``updated`` to ``created``.
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
        f"`updated` ({document.updated}) is earlier than `created`",
        key="updated",
        expected=f"{document.created} or later",
        hint="Set `updated` to the time of the last change",
        edits=edits,
    )


def empty_body(context: LintContext) -> Iterable[Diagnostic]:
    """The document has no text after the frontmatter.

    Why: there is nothing to find.

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

    Fix: write at least one sentence, or remove the document.
    """
    document = context.document
    if document is not None and not context.body.strip():
        yield context.finding(
            "TM110",
            (document.body_line, 1),
            "Empty document",
            expected="at least one sentence",
            hint="Add text, or remove the document",
        )
