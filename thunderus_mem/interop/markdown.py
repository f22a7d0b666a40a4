"""`import markdown`: import a folder of Markdown files as documents, in one patch.

The conversion, skipped files and relations are planned without side effects (`plan_folder`, and `fields` for
one file); files are read from disk, their dates from git, and documents are written through a transaction.
"""

from __future__ import annotations

import hashlib
import os
import posixpath
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from thunderus_mem.document.document import KINDS, MAX_DOCUMENT, read_document
from thunderus_mem.document.frontmatter.edit import insert_item
from thunderus_mem.document.ids import fold_key
from thunderus_mem.document.secrets import find_secrets
from thunderus_mem.document.templates import is_core_skeleton
from thunderus_mem.document.timestamp import format_timestamp
from thunderus_mem.errors import InvalidDocument, NotFound, ThunderusError
from thunderus_mem.git.commits import added_dates
from thunderus_mem.git.repository import Git
from thunderus_mem.interop import decisions, fields
from thunderus_mem.memory.journal import FileChange
from thunderus_mem.memory.transaction import open_transaction
from thunderus_mem.startup import NamedTuple, lazy_pattern
from thunderus_mem.store.layout import DOCUMENT_FOLDERS, FOLDERS
from thunderus_mem.store.paths import kind_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from thunderus_mem.document.document import Document
    from thunderus_mem.memory.memory import Memory
    from thunderus_mem.store.layout import Layout

_TOGETHER = 500
_ENDINGS = (".md", ".markdown", ".mdc")
_SKIPPED_FOLDERS = frozenset(["node_modules", "__pycache__"])
_NOT_DECISIONS = frozenset(["readme", "index", "template", "adr-template", "toc", "contributing"])
_TEMPLATE_WORDS = ("template",)
_DATE_LINE = lazy_pattern(r"(?im)^[ \t>*+-]{0,6}date[*_ ]{0,3}:(.*)$")
_HEAD = 4_096


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file of the folder: its path in the folder, bytes and dates."""

    path: str
    data: bytes
    dates: fields.Dates = field(default_factory=fields.Dates)


class ImportPlan(NamedTuple):
    """The result for each file, in the order of their paths, and the texts of the documents by source."""

    files: tuple[fields.ImportedFile, ...]
    texts: dict[str, str]


def plan_folder(
    files: Sequence[SourceFile],
    kind: str,
    documents: Iterable[Document],
    options: fields.Options,
    tell: Callable[[str, int, int], None] = lambda what, done, total: None,
) -> ImportPlan:
    """Plan the import of ``files`` as documents of ``kind`` into a store with ``documents``; a file whose
    body is already in the store is skipped. Pure."""
    taken = _taken(documents)
    if kind == "adr":
        taken.wanted.update(number for file in files if (number := _number(file.path)) is not None)
        options = replace(options, day_first=decisions.writes_day_first(_date_lines(files)))
    results: dict[str, fields.ImportedFile] = {}
    made: dict[str, fields.Imported] = {}
    names = [file.path for file in files]
    main = _main(names) if kind == "core" else ""
    for done, file in enumerate(sorted(files, key=lambda file: _reading_order(file.path, kind))):
        tell("Planning the import:", done, len(files))
        reason = _not_wanted(file.path, names, kind)
        body = "" if reason else _body_key(file)
        origin = f"{options.origin}/{file.path}" if options.origin else file.path
        if reason := reason or taken.known(body, origin):
            results[file.path] = fields.ImportedFile(file.path, reason=reason)
            continue
        own = replace(options, main=file.path == main)
        found = fields.import_document(file.path, file.data, kind, file.dates, taken, options=own)
        if isinstance(found, fields.Imported):
            made[file.path] = found
            taken.put(found, body)
        else:
            results[file.path] = fields.ImportedFile(file.path, reason=found, refused=True)
    related, texts = _relate(made)
    results |= related
    return _without_secrets(ImportPlan(tuple(results[path] for path in sorted(results)), texts), files)


def _main(names: Sequence[str]) -> str:
    """The file that becomes the main core document: the only one, or the one with that name; "" if none."""
    if len(names) == 1:
        return names[0]
    return next((name for name in names if name.lower() == "core.md"), "")


def _taken(documents: Iterable[Document]) -> fields.Taken:
    taken = fields.Taken()
    for document in documents:
        taken.ids.update(map(fold_key, (document.id, *document.aliases)))
        taken.paths.add(fold_key(document.path))
        taken.bodies.setdefault(_digest(document.body), document.id)
        if document.imported_from:
            taken.origins.setdefault(document.imported_from, document.id)
        number = _number(document.path) if document.kind == "adr" else None
        if number is not None:
            taken.numbers.add(number)
    return taken


def _number(path: str) -> int | None:
    return decisions.file_number(os.path.splitext(posixpath.basename(path))[0])


def _date_lines(files: Sequence[SourceFile]) -> Iterator[str]:
    """The values of ``Date:`` lines in the files."""
    for file in files:
        yield from _DATE_LINE.findall(file.data[:_HEAD].decode("utf-8", "replace"))


def _reading_order(path: str, kind: str) -> tuple[bool, int, str]:
    """Numbered decisions first, so that each keeps its number; then by path."""
    number = _number(path) if kind == "adr" else None
    return (number is None, number or 0, path)


def _not_wanted(path: str, names: Sequence[str], kind: str) -> str:
    """Why a file among decisions is not a decision: an index page or a template."""
    folder, name = posixpath.split(path)
    stem = os.path.splitext(name)[0].lower()
    if kind != "adr" or (
        stem not in _NOT_DECISIONS and not any(word in stem.split("-") for word in _TEMPLATE_WORDS)
    ):
        return ""
    if decisions.file_number(stem):  # a decision about templates; tools use number 0 for their own template
        return ""
    if "template" in stem:
        return "template"
    prefix = f"{folder}/" if folder else ""
    below = [other[len(prefix) :] for other in names if other != path and other.startswith(prefix)]
    others = any("/" in other or stem_of(other) not in _NOT_DECISIONS for other in below)
    return "index page" if others else ""


def _body_key(file: SourceFile) -> str:
    """The digest of a file's body, as it would be in its document."""
    reading = fields.read_foreign(file.path, file.data)[0]
    text = (reading.text if reading.text is not None else file.data.decode("latin-1")).removeprefix("\ufeff")
    return _digest(fields.read_post(text)[1] if reading.header is not None else text)


def _digest(body: str) -> str:
    even = body.replace("\r\n", "\n").replace("\r", "\n")
    return hashlib.sha256(even.encode("utf-8", "surrogatepass")).hexdigest()


def _relate(made: Mapping[str, fields.Imported]) -> tuple[dict[str, fields.ImportedFile], dict[str, str]]:
    """Convert mentions between records to links between the new documents; return the results and texts by
    source."""
    names = _Names(made)
    texts = {path: doc.text for path, doc in made.items()}
    notes: dict[str, list[str]] = {path: list(doc.file.notes) for path, doc in made.items()}
    links: dict[str, list[tuple[str, str]]] = {path: [] for path in made}
    for path, doc in made.items():
        for mention in doc.decision.mentions:
            if mention.partial:
                notes[path].append(f"no link made for: {mention.partial}")
                continue
            found = names.find(path, mention.target)
            if len(found) != 1:
                notes[path] += _not_found(mention, len(found))
                continue
            here, there = (found[0], path) if mention.backwards else (path, found[0])
            link = (mention.rel, made[there].file.id)
            if here != there and link not in links[here]:
                links[here].append(link)
                texts[here] = insert_item(texts[here], ("links", mention.rel), made[there].file.id)
                notes[here].append(f"{mention.rel} {made[there].file.id}")
    results = {
        path: replace(doc.file, notes=tuple(dict.fromkeys(notes[path])), links=tuple(links[path]))
        for path, doc in made.items()
    }
    return results, texts


class _Names:
    """Resolves mentions between imported files: paths, numbers, ids and names."""

    def __init__(self, made: Mapping[str, fields.Imported]) -> None:
        self._made = made
        self._numbers: dict[int, list[str]] = {}
        self._names: dict[str, list[str]] = {}
        for path, doc in made.items():
            if doc.decision.number is not None:
                self._numbers.setdefault(doc.decision.number, []).append(path)
            for name in {doc.own_id.lower(), stem_of(path)} - {""}:
                self._names.setdefault(name, []).append(path)

    def find(self, here: str, target: str) -> list[str]:
        """The imported files that a target in ``here`` may refer to."""
        if target.startswith("#"):
            return self._numbers.get(int(target[1:]), [])
        bare = target.removeprefix("?").partition("#")[0]
        if "://" in bare:
            return self._names.get(stem_of(bare), []) if bare.endswith(".md") else []
        joined = posixpath.normpath(posixpath.join(posixpath.dirname(here), bare.removeprefix("./")))
        for candidate in (joined, f"{joined}.md"):
            if candidate in self._made:
                return [candidate]
        named = self._names.get(bare.lower()) or self._names.get(stem_of(joined))
        if named:
            return named
        number = decisions.file_number(posixpath.basename(joined))
        return self._numbers.get(number, []) if number is not None else []


def _not_found(mention: decisions.RelationMention, count: int) -> list[str]:
    """The note about a target that is not found, or ambiguous."""
    if mention.target.startswith("?"):
        return []
    what = f"matches {count} imported files" if count else "is not an imported file"
    return [f"`{mention.target}` ({mention.word or mention.rel}) {what}; link it by hand"]


def stem_of(path: str) -> str:
    """The name of a file without its extension, in lower case."""
    return os.path.splitext(posixpath.basename(path))[0].lower()


def holding_folder(directory: str) -> str:
    """The folder at a path, or the one that contains the file there; absolute."""
    path = os.path.abspath(directory)
    return os.path.dirname(path) if os.path.isfile(path) else path


def read_folder(
    directory: str, now: datetime, tell: Callable[[str, int, int], None] = lambda what, done, total: None
) -> tuple[SourceFile, ...]:
    """The Markdown files below ``directory`` with their dates from git or the file system, without symlinks.

    Raises `NotFound` if the path does not exist.
    """
    folder = holding_folder(directory)
    if not os.path.exists(directory):
        raise NotFound(f"{directory!r} does not exist", hint="pass a folder of Markdown files, or one file")
    chosen = [os.path.abspath(directory)] if os.path.isfile(directory) else list(_walk(folder))
    names = [os.path.relpath(path, folder).replace(os.sep, "/") for path in chosen]
    dates = _git_dates(folder) if chosen else {}
    files: list[SourceFile] = []
    for path, name in zip(chosen, names, strict=True):
        tell("Reading files:", len(files), len(chosen))
        data = _bytes(path)
        if data is not None:
            files.append(SourceFile(name, data, dates.get(name) or _file_dates(path, now)))
    return tuple(files)


def stored_documents(layout: Layout) -> Iterator[Document]:
    """Every valid document of the store, in use or archived, read directly from its file."""
    for folder in (*sorted(DOCUMENT_FOLDERS.values()), *FOLDERS[len(DOCUMENT_FOLDERS) :]):
        for path in _walk(layout.at(folder)):
            relative = layout.relative(path)
            if kind_of(relative) is None:
                continue
            data = _bytes(path)
            document = read_document(relative, data).document if data is not None else None
            if document is not None:
                yield document


def _walk(folder: str) -> Iterator[str]:
    """Markdown files below a folder, by name; hidden files, symlinks and dependencies are skipped."""
    try:
        entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    except OSError:
        return
    for entry in entries:
        if entry.name.startswith(".") or entry.is_symlink():
            continue
        if entry.is_dir(follow_symlinks=False):
            if entry.name not in _SKIPPED_FOLDERS:
                yield from _walk(entry.path)
        elif entry.is_file(follow_symlinks=False) and entry.name.lower().endswith(_ENDINGS):
            yield entry.path


def _bytes(path: str) -> bytes | None:
    """A file's bytes, at most one more than allowed so that the reader reports it as too large."""
    try:
        with open(path, "rb") as file:
            return file.read(MAX_DOCUMENT + 1)
    except OSError:
        return None


def _git_dates(folder: str) -> dict[str, fields.Dates]:
    git = Git.find(folder)
    if git is None:
        return {}
    return {path: fields.Dates(first, last) for path, (first, last) in added_dates(git, ["."]).items()}


def _file_dates(path: str, now: datetime) -> fields.Dates:
    """The modification time of a file; never later than now."""
    try:
        moment = datetime.fromtimestamp(os.stat(path).st_mtime, UTC)
    except (OSError, OverflowError, ValueError):
        return fields.Dates()
    text = format_timestamp(min(moment, now))
    return fields.Dates(text, text)


@dataclass(frozen=True, slots=True)
class ImportReport:
    """The result of an import, or of a ``dry_run``: one entry per file, in the order of their paths.

    ``event_id`` is the event in the log, empty if nothing was written. ``published`` is false if the event is
    on disk but a file is not yet; the next command writes it.
    """

    directory: str
    kind: str
    files: tuple[fields.ImportedFile, ...]
    imported: int
    skipped: int
    dry_run: bool
    event_id: str = ""
    published: bool = True

    @property
    def refused(self) -> int:
        """The number of files skipped because something in them has to be fixed."""
        return sum(file.refused for file in self.files)


def import_markdown(
    memory: Memory,
    directory: str,
    kind: str,
    *,
    tags: Sequence[str] = (),
    mapping: Sequence[str] = (),
    dry_run: bool = False,
    why: str = "",
    actor: str = "user",
) -> ImportReport:
    """Import the Markdown files of ``directory`` (or one file) as documents of ``kind``.

    Texts are kept byte for byte; a file whose text is already in the store is skipped. All new documents are
    one patch: one event, or one for every 500. ``mapping`` (``THEIRS=OURS``) maps their fields to ours.
    Raises `NotFound` if the folder does not exist, `ThunderusError` for an unknown kind or field,
    `InvalidDocument` for a kind that the memory does not allow.
    """
    if kind not in KINDS:
        raise ThunderusError(f"unknown kind {kind!r}", hint=f"use one of: {', '.join(KINDS)}")
    if kind not in (allowed := memory.config.kinds_allowed):
        raise InvalidDocument(
            f"nothing imported: documents of kind {kind!r} are not allowed in this memory",
            hint=f"use one of: {', '.join(allowed)}; or add {kind} to `kinds.allowed`",
        )
    pairs = fields.read_mapping(mapping)
    files = read_folder(directory, memory.now(), memory.tell)
    layout = memory.layout
    options = fields.Options(
        folder=DOCUMENT_FOLDERS[kind],
        now=format_timestamp(memory.now()),
        tags=tuple(tags),
        origin=_origin(directory, layout.root),
        folder_name=os.path.basename(holding_folder(directory)),
        mapping=pairs,
    )
    if dry_run:
        plan = plan_folder(files, kind, _kept_documents(layout), options, memory.tell)
        return _report(directory, kind, plan, dry_run=True)
    with open_transaction(memory, "import") as transaction:
        ids = transaction.ids()
        options = replace(options, events=(ids.event,), patches=(ids.patch,))
        plan = plan_folder(files, kind, _kept_documents(layout), options, memory.tell)
        report = _report(directory, kind, plan)
        template = {one.path: one.text for one in stored_documents(layout) if _is_template(one)}
        changes = [
            FileChange(file.id, file.path, template.get(file.path), plan.texts[file.source])
            for file in plan.files
            if file.imported
        ]
        why = why or f"imported from {options.origin or options.folder_name}"
        for start in range(0, len(changes), _TOGETHER):
            some = changes[start : start + _TOGETHER]
            transaction.commit("import", some, why=why, actor=actor, ids=None if start else ids)
    if not changes:
        return report
    return replace(report, event_id=ids.event, published=transaction.outcome.published)


def _report(directory: str, kind: str, plan: ImportPlan, *, dry_run: bool = False) -> ImportReport:
    imported = sum(file.imported for file in plan.files)
    return ImportReport(directory, kind, plan.files, imported, len(plan.files) - imported, dry_run)


def _without_secrets(plan: ImportPlan, files: Sequence[SourceFile]) -> ImportPlan:
    """Skip texts with a possible secret; the value is never shown."""
    sources = {file.path: file.data for file in files}
    kept = []
    for file in plan.files:
        text = plan.texts.get(file.source, "")
        secret = next(
            (one for one in find_secrets(text) if f"ignore TM401 {one.fingerprint}" not in text), None
        )
        if secret is not None:
            line = _line_of(text[secret.start : secret.end], sources[file.source])
            what = f"{secret.kind}, line {line}" if line else secret.kind
            reason = f"possible secret ({what}); remove it first"
            file = fields.ImportedFile(file.source, reason=reason, refused=True)
        kept.append(file)
    return plan._replace(files=tuple(kept))


def _line_of(value: str, data: bytes) -> int:
    """The line (from 1) of a file that contains ``value``; 0 if none does literally."""
    at = data.find(value.encode("utf-8", "surrogatepass"))
    return data.count(b"\n", 0, at) + 1 if at >= 0 else 0


def _kept_documents(layout: Layout) -> Iterator[Document]:
    """The documents that an import does not replace: all except an unedited core template."""
    return (document for document in stored_documents(layout) if not _is_template(document))


def _is_template(document: Document) -> bool:
    """Whether this is the unedited core template written by `init`."""
    return document.id == "core" and is_core_skeleton(document.body, document.title)


def _origin(directory: str, root: str) -> str:
    """The origin of the files without absolute paths: relative to the root, or to their repository's
    parent."""
    folder = os.path.realpath(holding_folder(directory))
    relative = os.path.relpath(folder, os.path.realpath(root)).replace(os.sep, "/")
    if relative == ".":
        return ""
    if relative != ".." and not relative.startswith("../"):
        return relative
    git = Git.find(folder)
    above = os.path.dirname(git.toplevel) if git is not None else os.path.dirname(folder)
    return os.path.relpath(folder, above).replace(os.sep, "/")
