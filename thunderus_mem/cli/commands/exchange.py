"""``import export validate formats``: exchange documents with other programs.

The commands only parse, call and render; a file on stdin is copied to a temporary one, because it is read
twice.
"""

from __future__ import annotations

import os
import sys
from collections import Counter
from typing import IO, TYPE_CHECKING, Annotated, Final

from thunderus_mem.cli.options import Argument, Call, Commands, Option
from thunderus_mem.cli.output import dumps
from thunderus_mem.cli.params import (
    Archived,
    DryRun,
    Episode,
    Filters,
    Kinds,
    Tags,
    Why,
    filter_of,
)
from thunderus_mem.cli.text import Style, columns, counted, diff_lines, flowing
from thunderus_mem.document.unicode import escaped
from thunderus_mem.errors import NotFound, ThunderusError
from thunderus_mem.index.questions import Filter
from thunderus_mem.interop.formats import (
    NAMES,
    FormatList,
    describe_formats,
    entry_of,
    load,
    load_log,
    schema_document,
)
from thunderus_mem.interop.markdown import ImportReport, import_markdown
from thunderus_mem.interop.values import shortened

if TYPE_CHECKING:
    from collections.abc import Sequence

    from thunderus_mem.cli.console import Console
    from thunderus_mem.interop.export import ExportReport, LogExport, RecordExport, ValidationReport
    from thunderus_mem.interop.fields import ImportedFile
    from thunderus_mem.interop.formats import DescribedFormat
    from thunderus_mem.interop.transfer import RecordNote, RefusedRecord, TransferReport

app = Commands()

FormatName = Annotated[
    str,
    Argument(
        metavar="FORMAT",
        help="shodh, mif, mcp-memory-service, nova, jsonl, csv or another that `formats` lists.",
    ),
]
SourceFormat = Annotated[
    str,
    Argument(
        metavar="FORMAT",
        help="markdown, shodh, mif, mcp-memory-service, nova, jsonl, csv or another that `formats` lists.",
    ),
]
SourcePath = Annotated[
    str,
    Argument(metavar="PATH", help="The file (a folder for markdown); - for stdin.", show_default=False),
]


@app.command("import")
def import_command(
    ctx: Call,
    form: SourceFormat,
    path: SourcePath = "",
    kind: Annotated[
        str,
        Option(
            "--kind", "-k", metavar="KIND", help="core, fact, adr, playbook or recap; required for markdown."
        ),
    ] = "",
    tag: Annotated[
        list[str] | None, Option("--tag", "-t", metavar="TAG", help="Add this tag to all (repeatable).")
    ] = None,
    mapping: Annotated[
        list[str] | None,
        Option("--map", metavar="THEIRS=OURS", help="Fill the field OURS from the key THEIRS (repeatable)."),
    ] = None,
    why: Why = "",
    on_conflict: Annotated[
        str,
        Option(
            "--on-conflict",
            metavar="skip|update|new",
            help="If a record or file changed since its import: skip it, update the document (records "
            "overwrite edits made here, Markdown is merged), or add a new one.",
        ),
    ] = "skip",
    dry_run: DryRun = False,
) -> int:
    """Import the documents or memories of another program.

    Importing again adds only what is new. What a document has no field for is kept in its metadata, and goes
    back when you export it to the same format. Each record that cannot be imported is reported; the others
    are imported, and the exit code is 1. `undo` reverts the whole import. An import that was interrupted goes
    on where it was when you run the same command again.

    Markdown: text and unknown keys stay unchanged, except relative links, which are rewritten for the new
    path. Dates come from the record, or else from git. Decision records from adr-tools, MADR and log4brains
    keep their numbers and dates, and their references become links. --map deciders=author fills `author` from
    `deciders`, which may be a frontmatter key or a line under the title. With --on-conflict update, files
    that changed since are merged into their documents; the version imported before is read from git.
    """
    console: Console = ctx.obj
    _check_source(console, form, path)
    if entry_of(form).log:
        if kind or tag or mapping or on_conflict != "skip":
            raise ThunderusError(f"only --dry-run and --why apply to format {form!r}")
        return _import_log(console, form, path, why, dry_run=dry_run)
    if not entry_of(form).module:
        return _import_markdown(console, path, kind, tag, mapping, why, on_conflict, dry_run=dry_run)
    from thunderus_mem.interop.transfer import ImportOptions, import_records

    pairs, listed = tuple(map(_pair, mapping or ())), sys.maxsize if console.json else _MOST_LISTED
    options = ImportOptions(kind, tuple(tag or ()), pairs, on_conflict, dry_run, why, listed)
    with _opened(console, path) as file:
        value = import_records(console.memory(), load(form), file, _shown(path), options)
    return _imported(console, value)


def _check_source(console: Console, form: str, path: str) -> None:
    """Raise `ThunderusError` for a format that cannot be imported, and if no path is given."""
    if form not in NAMES and os.path.isdir(os.path.join(console.start, form)):
        hint = f"use `import markdown {form} --kind fact`, or another kind"
        raise ThunderusError(f"unknown format {form!r}", hint=hint)
    if not entry_of(form).reads:
        raise ThunderusError(f"format {form!r} can only be exported")
    if not path:
        raise ThunderusError("missing argument 'PATH'", hint=f"use `import {form} PATH`")


def _import_log(console: Console, form: str, path: str, why: str, *, dry_run: bool) -> int:
    log = load_log(entry_of(form))
    with _opened(console, path) as file:
        value = log.take(console.memory(), file.read(), _shown(path), why, dry_run=dry_run)
    return _imported(console, value)


def _imported(console: Console, value: TransferReport) -> int:
    console.emit("import", value, _changes)
    console.say(_totals(value))
    return console.published_code(value.published) or int(bool(value.refused))


def _pair(given: str) -> tuple[str, str]:
    theirs, equals, ours = given.partition("=")
    if not (theirs and equals and ours):
        raise ThunderusError(f"invalid --map {given!r}", hint="write --map THEIRS=OURS")
    return theirs, ours


def _shown(path: str) -> str:
    return "stdin" if path == "-" else os.path.basename(os.path.normpath(path))


def _opened(console: Console, path: str) -> IO[bytes]:
    """The file, or stdin as a temporary file."""
    if path == "-":
        import shutil
        import sys
        import tempfile

        copy = tempfile.TemporaryFile()  # noqa: SIM115 - the caller closes it
        shutil.copyfileobj(sys.stdin.buffer, copy)
        copy.seek(0)
        return copy
    try:
        return open(os.path.join(console.start, path), "rb")
    except IsADirectoryError:
        hint = f"use `import markdown {path} --kind fact` for a folder of Markdown files"
        raise NotFound(f"{path} is a folder", hint=hint) from None
    except OSError as error:
        raise NotFound(f"cannot read {path}: {error.strerror}") from error


_MOST_LISTED: Final = 20


def _changes(value: TransferReport, console: Console) -> str:
    written = [f"{one.op:6} {one.id}  {escaped(one.title)}" for one in value.documents[:_MOST_LISTED]]
    if written and (more := value.imported + value.updated - len(written)):
        written.append(f"and {more:,} more; --json lists them all")
    refused, skipped = _listed("refuse", value.refused), _listed("skip", value.skipped)
    return "\n".join([*written, *refused, *skipped, *_listed("note", value.notes)])


_MOST_ALIKE: Final = 3


def _listed(what: str, records: Sequence[RefusedRecord | RecordNote]) -> list[str]:
    """Name the first records, and the first few with each text; count the others."""
    alike: Counter[str] = Counter()
    lines: list[str] = []
    for one in records:
        alike[one[2]] += 1
        if len(lines) < _MOST_LISTED and alike[one[2]] <= _MOST_ALIKE:
            lines.append(f"{what:6} {_where(one)}: {one[2]}")
    more = len(records) - len(lines)
    same = f"{what:6} {more:,} more" + (" for the same reason" if len(alike) == 1 else "")
    return [*lines, *([f"{same}; --json lists them all"] if more else [])]


def _where(one: RefusedRecord | RecordNote) -> str:
    if one.number < 0:
        return one.id
    place = f"line {one.line}" if one.line else f"record {one.number}"
    return place + (f" ({escaped(shortened(one.id))})" if one.id else "")


def _totals(value: TransferReport) -> str:
    """The totals, what was not stored, and the command that undoes it."""
    would = "would be " if value.dry_run else ""
    parts = [f"{counted(value.imported, 'record')} {would}imported"]
    parts += [f"{value.updated:,} {would}updated"] if value.updated else []
    parts += [f"{value.unchanged:,} unchanged"] if value.unchanged else []
    parts += [f"{len(value.skipped):,} skipped"] if value.skipped else []
    parts += [f"{len(value.refused):,} refused"] if value.refused else []
    lines = [", ".join(parts)]
    if value.kept:
        lines.append(f"Kept under metadata: {_counts(value.kept)}")
    if value.dropped:
        lines.append(f"Not stored: {_counts(value.dropped)}")
    if value.proposed:
        lines.append("Pending review: thunderus-mem review list")
    elif value.patch:
        lines.append(f"To revert: thunderus-mem undo {value.patch}")
    return "\n".join(lines)


def _counts(counts: dict[str, int]) -> str:
    return ", ".join(f"{escaped(shortened(name))} ({number:,})" for name, number in counts.items())


def _import_markdown(
    console: Console,
    path: str,
    kind: str,
    tag: list[str] | None,
    mapping: list[str] | None,
    why: str,
    on_conflict: str,
    *,
    dry_run: bool,
) -> int:
    if not kind:
        raise ThunderusError("missing option '--kind'", hint="use one of: core, fact, adr, playbook, recap")
    value = import_markdown(
        console.memory(),
        os.path.join(console.start, path),
        kind,
        tags=tuple(tag or ()),
        mapping=tuple(mapping or ()),
        on_conflict=on_conflict,
        dry_run=dry_run,
        why=why,
    )
    console.emit("import markdown", value, _report)
    console.say(_summary(value))
    return console.published_code(value.published) or int(bool(value.refused))


def _report(value: ImportReport, console: Console) -> str:
    return "\n".join(line for item in value.files for line in _lines(item, console.style))


def _lines(item: ImportedFile, style: Style) -> list[str]:
    source = escaped(item.source)  # a file name may contain a newline
    notes = [f"       {note}" for note in item.notes]
    if item.updated:
        changed = [f"       changed: {', '.join(item.changed)}"] if item.changed else []
        return [f"update {source} → {item.id}", *changed, *notes]
    if item.conflict:
        diff = [f"       {line}" for line in diff_lines(item.path, "update", item.conflict, "", style)]
        return [f"conflict {source} → {item.id}: {item.reason}", *diff, *notes]
    if not item.imported:
        return [f"skip {source}: {item.reason}"]
    kept = [f"       kept: {', '.join(item.kept)}"] if item.kept else []
    return [f"add  {source} → {item.id}", *kept, *notes]


_MOST_NAMED: Final = 3


def _summary(value: ImportReport) -> str:
    """The totals, the next step, and at the end what could not be imported."""
    if not value.files:
        folder = os.path.normpath(value.directory)
        return f"No Markdown files in {'the current folder' if folder == '.' else folder}"
    would = "would be " if value.dry_run else ""
    lines = [f"{counted(value.imported, 'file')} {would}imported"]
    lines[0] += f", {value.updated} {would}updated" if value.updated else ""
    lines[0] += f", {value.skipped} skipped" if value.skipped else ""
    if not value.dry_run and (value.imported or value.updated):
        lines.append("Next: thunderus-mem lint")
        revert = f"To revert: thunderus-mem undo {value.patch}"
        lines.append("Pending review: thunderus-mem review list" if value.proposed else revert)
    failed = [item for item in value.files if item.refused and not item.conflict]
    unmerged = [item for item in value.files if item.conflict]
    parts = [_failures(failed, "imported"), _failures(unmerged, "merged")]
    return "\n".join([*lines, *filter(None, ["; ".join(filter(None, parts))])])


def _failures(files: Sequence[ImportedFile], done: str) -> str:
    """Name the files that could not be imported, or merged; "" if there are none."""
    if not files:
        return ""
    named = [escaped(item.source) for item in files[:_MOST_NAMED]]
    more = f", and {len(files) - _MOST_NAMED} more" if len(files) > _MOST_NAMED else ""
    return f"{counted(len(files), 'file')} could not be {done}: {', '.join(named)}{more}"


@app.command("export")
def export_command(
    ctx: Call,
    form: FormatName,
    filters: Filters = None,
    output: Annotated[
        str, Option("--output", "-o", metavar="FILE", help="Write to this file instead of stdout.")
    ] = "",
    kind: Kinds = None,
    tag: Tags = None,
    episode: Episode = "",
    archived: Archived = False,
) -> int:
    """Export documents in the format of another program.

    What the format has no field for goes to its metadata, and comes back when you import the file. A file is
    written completely or not at all. Documents that the format cannot hold are reported, and the exit code is
    1.
    """
    console: Console = ctx.obj
    if not entry_of(form).writes:
        hint = "the documents are Markdown files already, in .thunderus/memory"
        raise ThunderusError(f"format {form!r} can only be imported", hint=hint)
    wanted = filter_of(kind, tag, episode, archived=archived)
    export = _export(console, form, wanted, " ".join(filters or ()))
    if output and output != "-":
        value = export.write(os.path.abspath(os.path.join(console.start, output)))
        console.emit("export", value, lambda value, console: console.style.name(value.file))
    elif console.json:
        text = "".join(export.pieces())
        value = export.done(text=text)
        console.emit("export", value, lambda value, console: value.text)
    else:
        for piece in export.pieces():
            console.raw(piece)
        value = export.done()
    console.say(_exported(value))
    return int(bool(value.refused))


def _export(console: Console, form: str, wanted: Filter, filters: str) -> RecordExport | LogExport:
    from thunderus_mem.interop.export import LogExport, RecordExport

    if not entry_of(form).log:
        return RecordExport(console.memory(), load(form), wanted, filters)
    if filters or wanted != Filter():
        raise ThunderusError(f"format {form!r} contains the log; filters do not apply")
    return LogExport(console.memory(), form, load_log(entry_of(form)))


def _exported(value: ExportReport) -> str:
    what = "record" if entry_of(value.format).log else "document"
    lines = [f"{counted(value.exported, what)} exported"]
    lines[0] += f", {len(value.skipped):,} skipped" if value.skipped else ""
    lines[0] += f", {len(value.refused):,} refused" if value.refused else ""
    lines += [*_listed("refuse", value.refused), *_listed("skip", value.skipped)]
    if value.lost:
        lines.append(f"Not in this format: {_counts(value.lost)}")
    return "\n".join(lines)


@app.command("validate")
def validate_command(
    ctx: Call,
    form: FormatName,
    path: Annotated[str, Argument(metavar="FILE", help="The file; - for stdin.")],
) -> int:
    """Check a file of another program's format, record by record. Exits with 1 if there are problems."""
    from thunderus_mem.interop.export import ValidationReport, validate_file

    console: Console = ctx.obj
    entry = entry_of(form)
    if not entry.reads or not (entry.module or entry.log):
        hint = "use `import markdown --dry-run`" if entry.reads else None
        raise ThunderusError(f"format {form!r} cannot be validated", hint=hint)
    with _opened(console, path) as file:
        if entry.log:
            count, problems = load_log(entry).problems(file.read())
            value = ValidationReport(form, _shown(path), count, tuple(problems))
        else:
            value = validate_file(load(form), file, _shown(path))
    console.emit("validate", value, _problems)
    console.say(f"{counted(value.records, 'record')}, {counted(len(value.problems), 'problem')}")
    return int(bool(value.problems))


def _problems(value: ValidationReport, console: Console) -> str:
    return "\n".join(f"{_where(one)}: {one.reason}" for one in value.problems)


@app.command("formats")
def formats_command(
    ctx: Call,
    form: Annotated[
        str, Argument(metavar="[FORMAT]", help="Show the fields of this format.", show_default=False)
    ] = "",
    schema: Annotated[
        bool, Option("--schema", help="Print the JSON Schema of a record of this format.")
    ] = False,
) -> None:
    """List the formats for import and export, or the fields of one and what becomes of them."""
    console: Console = ctx.obj
    if schema:
        if not form or not entry_of(form).module:
            raise ThunderusError("--schema needs a FORMAT with records", hint="see `thunderus-mem formats`")
        console.data(dumps(schema_document(form), indent=2))
        return
    console.emit("formats", describe_formats(form), _fields if form else _formats)


def _formats(value: FormatList, console: Console) -> str:
    rows = [(console.style.name(one.name), _ways(one), one.description) for one in value.formats]
    return "\n".join(flowing(rows, console.width))


def _ways(one: DescribedFormat) -> str:
    return " ".join(word for word, has in (("import", one.reads), ("export", one.writes)) if has)


def _fields(value: FormatList, console: Console) -> str:
    (one,) = value.formats
    rows = [(row.theirs, row.ours or "-", row.value, row.fate, row.note) for row in one.fields]
    used = [at for at in range(5) if any(row[at] for row in rows)]
    lines = [f"{one.name}: {one.description}", columns([tuple(row[at] for at in used) for row in rows], None)]
    lines += [f"All other fields of a document: {one.extension}"] if one.extension else []
    return "\n".join(filter(None, lines))
