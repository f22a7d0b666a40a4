"""`import markdown`: import a folder of Markdown files as documents, or update them, in one patch.

The conversion, skipped files and relations are planned without side effects (`plan_folder`; `fields` converts
one file, `update` merges one). Files are read from disk, their dates and former versions from git, and
documents are written through a transaction.
"""

from __future__ import annotations

import hashlib
import os
import posixpath
from collections import Counter
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

from thunderus_mem.authoring.sources import file_number, markdown_files, not_wanted, stem_of
from thunderus_mem.document.document import KINDS, MAX_DOCUMENT, read_document, source_hash
from thunderus_mem.document.frontmatter.edit import insert_item, rename_item
from thunderus_mem.document.ids import fold_key
from thunderus_mem.document.profile import tag_key
from thunderus_mem.document.references import rebased
from thunderus_mem.document.templates import is_core_skeleton
from thunderus_mem.document.timestamp import derived_ulid, format_timestamp
from thunderus_mem.errors import InvalidDocument, NotFound, ThunderusError, resumable
from thunderus_mem.garden.rules.origins import role, shared_names, source_path
from thunderus_mem.git.commits import added_dates
from thunderus_mem.git.history import former_names, versions_with_hash
from thunderus_mem.git.repository import Git
from thunderus_mem.interop import decisions, fields
from thunderus_mem.interop.batches import ImportRun
from thunderus_mem.interop.posts import read_post
from thunderus_mem.interop.update import adopt_document, update_document
from thunderus_mem.interop.values import conflict_in
from thunderus_mem.log.new_event import MOST_DOCUMENTS
from thunderus_mem.memory.journal import FileChange
from thunderus_mem.memory.transaction import open_transaction
from thunderus_mem.safety.secrets import find_secrets
from thunderus_mem.startup import NamedTuple, lazy_pattern
from thunderus_mem.store.layout import DOCUMENT_FOLDERS, FOLDERS

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence

    from thunderus_mem.document.document import Document
    from thunderus_mem.memory.memory import Memory

ON_CONFLICT: Final = ("skip", "update")
"""What becomes of a file that changed since it was imported."""

_UPDATE = "use --on-conflict update"
_NUMBER = lazy_pattern(r"[0-9]{1,9}")
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


class ImportUpdate(NamedTuple):
    """How to update documents imported before: the bytes of the changed files at their last import, why the
    others are ``missing``, and the former names of ``renamed`` files. Files are named as in `origin_of`."""

    bases: Mapping[str, bytes]
    missing: str
    renamed: Mapping[str, str] = {}


def plan_folder(
    files: Sequence[SourceFile],
    kind: str,
    documents: Iterable[Document],
    options: fields.Options,
    tell: Callable[[str, int, int], None] = lambda what, done, total: None,
    update: ImportUpdate | None = None,
) -> ImportPlan:
    """Plan the import of ``files`` as documents of ``kind`` into a store with ``documents``; a file whose
    body is already in the store is skipped, unless it has a role in its folder, as is one whose document was
    merged into another. With ``update``, changes of a file are merged into the document imported from it; if
    that was merged into another, a changed file is imported as a new document, because it is no duplicate any
    more. Pure."""
    documents = list(documents)
    paths = (*map(source_path, documents), *(options.origin_of(file.path) for file in files))
    shared = shared_names(paths)
    taken, copies = _taken(documents, shared), copies_of(documents)
    merged = {origin: (one.id, was) for one in documents for origin, was in one.merged_from.items()}
    if kind == "adr":
        taken.wanted.update(number for file in files if (number := _number(file.path)) is not None)
        options = replace(options, day_first=decisions.writes_day_first(_date_lines(files)))
    results: dict[str, fields.ImportedFile] = {}
    made: dict[str, fields.Imported] = {}
    folder = f"{options.origin}/" if options.origin else ""
    known = {path[len(folder) :]: copy for path, copy in copies.items() if path.startswith(folder)}
    names = [file.path for file in files]
    main = _main(names) if kind == "core" else ""
    for done, file in enumerate(sorted(files, key=lambda file: _reading_order(file.path, kind))):
        tell("Planning the import:", done, len(files))
        if reason := not_wanted(file.path, names, kind):
            results[file.path] = fields.ImportedFile(file.path, reason=reason)
            continue
        found: fields.Imported | fields.ImportedFile
        origin = options.origin_of(file.path)
        if copy := copies.get(update.renamed.get(origin, origin) if update else origin):
            found = _again(file, copy, taken, options, update)
        elif (into := merged.get(origin)) and not (_changed(file, into[1]) and update):
            changed = f", and changed since; {_UPDATE}" if _changed(file, into[1]) else ""
            found = fields.ImportedFile(file.path, reason=f"already imported as {into[0]}{changed}")
        else:
            found = _first_time(file, kind, taken, replace(options, main=file.path == main), shared)
        if isinstance(found, fields.Imported) and (reason := _refusal(found.text, file.data)):
            found = fields.ImportedFile(file.path, reason=reason, refused=True)
        if isinstance(found, fields.Imported):
            made[file.path] = found
        else:
            results[file.path] = found
    relations = _Relations(_in_known_spelling(made, documents), known, update=update is not None)
    results |= relations.results()
    return ImportPlan(tuple(results[path] for path in sorted(results)), relations.texts)


def _in_known_spelling(
    made: Mapping[str, fields.Imported], documents: Iterable[Document]
) -> dict[str, fields.Imported]:
    """The converted documents, each tag made from a folder in the spelling that most others use, if any."""
    uses = Counter(tag for document in documents for tag in document.tags)
    uses.update(tag for one in made.values() for tag in one.tags if tag != one.folder_tag)
    known = {tag_key(tag): tag for tag in sorted(uses, key=lambda tag: (uses[tag], tag))}

    def respelt(one: fields.Imported) -> fields.Imported:
        tag = known.get(one.folder_tag, one.folder_tag)
        return one._replace(text=rename_item(one.text, ("tags",), one.folder_tag, tag))

    return {path: respelt(one) if one.folder_tag else one for path, one in made.items()}


def _first_time(
    file: SourceFile, kind: str, taken: fields.Taken, options: fields.Options, shared: Container[str]
) -> fields.Imported | fields.ImportedFile:
    path, text = options.origin_of(file.path), file.data.decode("utf-8", "replace")
    body = _body_key(file, path) + role(path, text, shared)
    if body in taken.bodies:
        return fields.ImportedFile(file.path, reason=f"duplicate of {taken.bodies[body]}")
    found = fields.import_document(file.path, file.data, kind, file.dates, taken, options=options)
    if isinstance(found, str):
        return fields.ImportedFile(file.path, reason=found, refused=found != fields.EMPTY)
    taken.put(found, body)
    return found


def _again(
    file: SourceFile,
    copy: Document,
    taken: fields.Taken,
    options: fields.Options,
    update: ImportUpdate | None,
) -> fields.Imported | fields.ImportedFile:
    """The result for a file that ``copy`` was imported from."""
    origin = options.origin_of(file.path)
    if copy.imported_sha256:
        same = not _changed(file, copy.imported_sha256)
    else:
        same = _body_key(file, origin) == _document_key(copy)
    renamed = copy.imported_from != origin
    if same and not renamed and (copy.imported_sha256 or update is None):
        return fields.ImportedFile(file.path, reason=f"already imported as {copy.id}")
    if update is None:
        reason = f"already imported as {copy.id}, and changed since; {_UPDATE}"
        return fields.ImportedFile(file.path, reason=reason)
    options = replace(options, document=copy)
    if same and not renamed:
        return adopt_document(file.path, file.data, options=options)
    missing = update.missing if copy.imported_sha256 else "the version imported before was not recorded"
    base = file.data if same else update.bases.get(copy.imported_from)
    return update_document(file.path, file.data, base, taken, options=options, missing=missing)


def _changed(file: SourceFile, imported: str) -> bool:
    """Whether a file has another hash than when it was imported; false if that is not known."""
    return imported not in ("", source_hash(file.data))


def _main(names: Sequence[str]) -> str:
    """The file that becomes the main core document: the only one, or the one with that name; "" if none."""
    if len(names) == 1:
        return names[0]
    return next((name for name in names if name.lower() == "core.md"), "")


def _taken(documents: Iterable[Document], shared: Container[str]) -> fields.Taken:
    taken = fields.Taken()
    for document in documents:
        taken.ids.update(map(fold_key, (document.id, *document.aliases)))
        taken.paths.add(fold_key(document.path))
        body = _document_key(document) + role(source_path(document), document.body, shared)
        taken.bodies.setdefault(body, document.id)
        number = _number(document.path) if document.kind == "adr" else None
        if number is not None:
            taken.numbers.add(number)
    return taken


def copies_of(documents: Iterable[Document]) -> dict[str, Document]:
    """The document imported from each file, by its recorded path."""
    found: dict[str, Document] = {}
    for document in documents:
        if document.imported_from:
            found.setdefault(document.imported_from, document)
    return found


def _number(path: str) -> int | None:
    return file_number(os.path.splitext(posixpath.basename(path))[0])


def _date_lines(files: Sequence[SourceFile]) -> Iterator[str]:
    """The values of ``Date:`` lines in the files."""
    for file in files:
        yield from _DATE_LINE.findall(file.data[:_HEAD].decode("utf-8", "replace"))


def _reading_order(path: str, kind: str) -> tuple[bool, int, str]:
    """Numbered decisions first, so that each keeps its number; then by path."""
    number = _number(path) if kind == "adr" else None
    return (number is None, number or 0, path)


def _body_key(file: SourceFile, origin: str) -> str:
    """The digest of a file's body, as it would be in its document; however its relative links are written."""
    reading = fields.read_foreign(file.path, file.data)[0]
    text = (reading.text if reading.text is not None else file.data.decode("latin-1")).removeprefix("\ufeff")
    body = read_post(text)[1] if reading.header is not None else text
    return _digest(rebased(body, origin, origin))


def _document_key(document: Document) -> str:
    """The digest of a document's body, as it would be in the file it was imported from."""
    origin = document.imported_from
    if not origin:
        return _digest(document.body)
    path = document.path if document.imported_sha256 else origin
    return _digest(rebased(document.body, path, origin))


def _digest(body: str) -> str:
    even = body.replace("\r\n", "\n").replace("\r", "\n")
    return hashlib.sha256(even.encode("utf-8", "surrogatepass")).hexdigest()


class _Relations:
    """Converts mentions between records to links between documents: the converted ones (``made``) and those
    imported before (``known``), which change only with ``update``."""

    def __init__(
        self, made: Mapping[str, fields.Imported], known: Mapping[str, Document], *, update: bool
    ) -> None:
        self._made = made
        self._known = known
        self._update = update
        self._names = _Names(made, known)
        self._ids = {path: one.id for path, one in known.items()} | {
            path: one.file.id for path, one in made.items()
        }
        self.texts = {path: one.text for path, one in made.items()}
        self._notes: dict[str, list[str]] = {path: list(one.file.notes) for path, one in made.items()}
        self._links: dict[str, list[tuple[str, str]]] = {}
        for path, one in made.items():
            for mention in one.decision.mentions:
                self._add(path, mention)
            for mention in one.dropped:
                self._drop(path, mention)

    def results(self) -> dict[str, fields.ImportedFile]:
        """The results for the converted files, and for documents that only get links."""
        found = {path: one.file for path, one in self._made.items()}
        for path in self.texts.keys() - found.keys():
            one = self._known[path]
            found[path] = fields.ImportedFile(
                path, id=one.id, path=one.path, title=one.title, updated=True, changed=("links",)
            )
        return {
            path: replace(
                file,
                notes=tuple(dict.fromkeys(self._notes.get(path, []))),
                links=tuple(self._links.get(path, [])),
            )
            for path, file in found.items()
        }

    def _add(self, path: str, mention: decisions.RelationMention) -> None:
        notes = self._notes[path]
        if mention.partial:
            notes.append(f"no link made for: {mention.partial}")
            return
        found = self._names.find(path, mention.target)
        if len(found) != 1:
            notes += _not_found(mention, len(found))
            return
        here, there = (found[0], path) if mention.backwards else (path, found[0])
        link = (mention.rel, self._ids[there])
        links = self._links.setdefault(here, [])
        if here == there or link in links:
            return
        text = self._text(here)
        if text is None:
            command = f"thunderus-mem link {self._ids[here]} {mention.rel} {link[1]}"
            notes.append(f"not linked, because {here} was imported before: {command}")
            return
        self.texts[here] = insert_item(text, ("links", mention.rel), link[1])
        links.append(link)
        self._notes.setdefault(here, []).append(f"{mention.rel} {link[1]}")

    def _drop(self, path: str, mention: decisions.RelationMention) -> None:
        """Note a relation that the file no longer mentions; the other file may still do."""
        found = [] if mention.partial else self._names.find(path, mention.target)
        if len(found) == 1:
            here, there = (found[0], path) if mention.backwards else (path, found[0])
            link = f"{self._ids[here]} {mention.rel} {self._ids[there]}"
            self._notes[path].append(f"no longer mentioned: {link}; remove the link if it is outdated")

    def _text(self, path: str) -> str | None:
        """The text to change at a path; ``None`` if it is not to be changed."""
        if path in self.texts or not self._update:
            return self.texts.get(path)
        return self._known[path].text


class _Names:
    """Resolves mentions between imported files: paths, numbers, ids and names."""

    def __init__(self, made: Mapping[str, fields.Imported], known: Mapping[str, Document]) -> None:
        self._paths = {*made, *known}
        self._numbers: dict[int, list[str]] = {}
        self._names: dict[str, list[str]] = {}
        for path, one in made.items():
            self._put(path, one.decision.number, one.own_id)
        for path in known.keys() - made.keys():
            self._put(path, _number(path), known[path].id)

    def _put(self, path: str, number: int | None, own_id: str) -> None:
        if number is not None:
            self._numbers.setdefault(number, []).append(path)
        for name in {own_id.lower(), stem_of(path)} - {""}:
            self._names.setdefault(name, []).append(path)

    def find(self, here: str, target: str) -> list[str]:
        """The imported files that a target in ``here`` may refer to."""
        if target.startswith("#"):
            return self._numbers.get(int(target[1:]), []) if _NUMBER.fullmatch(target[1:]) else []
        bare = target.removeprefix("?").partition("#")[0]
        if "://" in bare:
            return self._names.get(stem_of(bare), []) if bare.endswith(".md") else []
        joined = posixpath.normpath(posixpath.join(posixpath.dirname(here), bare.removeprefix("./")))
        for candidate in (joined, f"{joined}.md"):
            if candidate in self._paths:
                return [candidate]
        named = self._names.get(bare.lower()) or self._names.get(stem_of(joined))
        if named:
            return named
        number = file_number(posixpath.basename(joined))
        return self._numbers.get(number, []) if number is not None else []


def _not_found(mention: decisions.RelationMention, count: int) -> list[str]:
    """The note about a target that is not found, or ambiguous."""
    if mention.target.startswith("?"):
        return []
    what = f"matches {count} imported files" if count else "is not an imported file"
    return [f"`{mention.target}` ({mention.word or mention.rel}) {what}; link it by hand"]


def holding_folder(directory: str) -> str:
    """The folder at a path, or the one that contains the file there; absolute."""
    path = os.path.abspath(directory)
    return os.path.dirname(path) if os.path.isfile(path) else path


class SourceFolder(NamedTuple):
    """The Markdown files of a folder, and the entries ``skipped`` in it, or not readable."""

    files: tuple[SourceFile, ...]
    skipped: tuple[fields.ImportedFile, ...]


def read_folder(
    directory: str, now: datetime, tell: Callable[[str, int, int], None] = lambda what, done, total: None
) -> SourceFolder:
    """The Markdown files below ``directory`` with their dates from git or the file system, without symlinks.

    Raises `NotFound` if the path does not exist, `ThunderusError` if it is neither a folder nor a file.
    """
    folder, directory = holding_folder(directory), os.path.normpath(directory)
    if not os.path.exists(directory):
        raise NotFound(f"{directory!r} does not exist", hint="pass a folder of Markdown files, or one file")
    is_file = os.path.isfile(directory)
    if not is_file and not os.path.isdir(directory):
        raise ThunderusError(f"{directory!r} is not a regular file", hint="pass a folder, or a regular file")
    passed: dict[str, str] = {}
    chosen = [os.path.abspath(directory)] if is_file else list(markdown_files(folder, passed))

    def name_of(path: str) -> str:
        return os.path.relpath(path, folder).replace(os.sep, "/")

    skipped = [fields.ImportedFile(name_of(path), reason=reason) for path, reason in passed.items()]
    dates = _git_dates(folder) if chosen else {}
    files: list[SourceFile] = []
    for path in chosen:
        tell("Reading files:", len(files), len(chosen))
        name, data = name_of(path), _bytes(path)
        if data is None:
            skipped.append(fields.ImportedFile(name, reason="cannot be read", refused=True))
        else:
            files.append(SourceFile(name, data, dates.get(name) or _file_dates(path, now)))
    return SourceFolder(tuple(files), tuple(skipped))


def stored_documents(memory: Memory) -> Iterator[Document]:
    """Every valid document of a refreshed memory, in use or archived, read directly from its file."""
    for folder in (*sorted(DOCUMENT_FOLDERS.values()), *FOLDERS[len(DOCUMENT_FOLDERS) :]):
        for path in memory.index.each_document_file(folder):
            data = _bytes(memory.layout.at(path))
            document = read_document(path, data).document if data is not None else None
            if document is not None:
                yield document


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

    ``event_id`` is the event in the log, ``patch`` undoes the import; both are empty if nothing was written.
    ``proposed`` is set if it is pending review. ``published`` is false if the event is
    on disk but a file is not yet; the next command writes it.
    """

    directory: str
    kind: str
    files: tuple[fields.ImportedFile, ...]
    imported: int
    updated: int
    skipped: int
    dry_run: bool
    event_id: str = ""
    published: bool = True
    patch: str = ""
    proposed: str = ""

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
    on_conflict: str = "skip",
    dry_run: bool = False,
    why: str = "",
) -> ImportReport:
    """Import the Markdown files of ``directory`` (or one file) as documents of ``kind``.

    Texts are kept, with their relative links rebased; a file whose text is already in the store is skipped.
    ``on_conflict`` says what happens to a file that changed since it was imported: ``skip``, or ``update``,
    which merges the change into the document. All documents are one patch: one event, or several.
    ``mapping`` (``THEIRS=OURS``) maps their fields to ours. Raises `NotFound` if the folder does not exist,
    `ThunderusError` for an unknown kind, field or ``on_conflict``, `InvalidDocument` for a kind that the
    memory does not allow.
    """
    _check(memory, kind, on_conflict)
    pairs = fields.read_mapping(mapping)
    found = read_folder(directory, memory.now(), memory.tell)
    options = fields.Options(
        folder=DOCUMENT_FOLDERS[kind],
        now=format_timestamp(memory.now()),
        tags=tuple(tags),
        origin=_origin(directory, memory.root),
        mapping=pairs,
    )
    memory.refresh()
    update = _update(directory, found.files, memory, options) if on_conflict == "update" else None

    def planned(options: fields.Options) -> tuple[ImportPlan, dict[str, str]]:
        stored = list(stored_documents(memory))
        kept = [one for one in stored if not _is_template(one)]
        plan = plan_folder(found.files, kind, kept, options, memory.tell, update)
        return _with_skipped(plan, found.skipped), {one.path: one.text for one in stored}

    if dry_run:
        return _report(directory, kind, planned(options)[0], dry_run=True)
    origin = _shown_origin(directory, options)
    hashes = (part for file in found.files for part in (file.path, source_hash(file.data)))
    import_id = f"import_{derived_ulid('markdown', kind, origin, *hashes)}"
    with resumable(), open_transaction(memory, "import") as transaction:
        run = ImportRun(memory, transaction, import_id, why or f"imported from {origin}")
        first = run.ids.event
        plan, before = planned(replace(options, events=(first,), patches=(run.patch,)))
        report = _report(directory, kind, plan)
        changes = [
            FileChange(file.id, file.path, before.get(file.path), plan.texts[file.source])
            for file in plan.files
            if file.imported or file.updated
        ]
        _write(run, changes, memory.tell)
    if not changes:
        return report
    outcome = transaction.outcome
    report = replace(report, event_id=first, patch=run.patch)
    return replace(report, published=outcome.published, proposed=outcome.proposed)


def _write(run: ImportRun, changes: Sequence[FileChange], tell: Callable[[str, int, int], None]) -> None:
    """Write the documents in events; each cites the event that contains it instead of the planned one."""
    planned = run.ids.event
    for start in range(0, len(changes), MOST_DOCUMENTS):
        tell("Writing documents:", start, len(changes))
        some = changes[start : start + MOST_DOCUMENTS]
        texts = ((one.after or "").replace(planned, run.ids.event) for one in some)
        if not run.write([one._replace(after=text) for one, text in zip(some, texts, strict=True)]):
            break
    run.end()


def _check(memory: Memory, kind: str, on_conflict: str) -> None:
    if on_conflict not in ON_CONFLICT:
        raise ThunderusError(
            f"invalid value {on_conflict!r} for --on-conflict", hint=f"use one of: {', '.join(ON_CONFLICT)}"
        )
    if kind not in KINDS:
        raise ThunderusError(f"unknown kind {kind!r}", hint=f"use one of: {', '.join(KINDS)}")
    if kind not in (allowed := memory.config.kinds_allowed):
        raise InvalidDocument(
            f"nothing imported: documents of kind {kind!r} are not allowed in this memory",
            hint=f"use one of: {', '.join(allowed)}; or add {kind} to `kinds.allowed`",
        )


def _update(
    directory: str, files: Sequence[SourceFile], memory: Memory, options: fields.Options
) -> ImportUpdate:
    """Former names of renamed files, and the versions of changed files at their last import, from git."""
    layout = memory.layout
    copies = copies_of(stored_documents(memory))
    hashes = {options.origin_of(file.path): source_hash(file.data) for file in files}
    outside = _below(directory, layout.root) is None
    git = Git.find(holding_folder(directory) if outside else layout.root)
    renamed = {} if outside else _renamed(git, layout.root, hashes, copies)
    wanted: dict[str, str] = {}
    for origin, present in hashes.items():
        former = renamed.get(origin, origin)
        copy = copies.get(former)
        if copy is not None and copy.imported_sha256 not in ("", present):
            wanted[former] = f"sha256:{copy.imported_sha256}"
    above = f"{options.origin}/" if outside else ""
    asked = {origin.removeprefix(above): one for origin, one in wanted.items()}
    found = versions_with_hash(git, asked) if git is not None and asked else {}
    shallow = git is not None and git.is_shallow()
    where = "the history of this shallow clone" if shallow else "git's history"
    bases = {above + path: data for path, data in found.items()}
    return ImportUpdate(bases, f"the version imported before is not in {where}", renamed)


def _renamed(
    git: Git | None, root: str, hashes: Mapping[str, str], copies: Mapping[str, Document]
) -> dict[str, str]:
    """The former names of files that were imported under another name: by the same bytes, or else by git."""
    gone = [path for path in copies if not os.path.lexists(os.path.join(root, path))]
    by_hash = {one: path for path in gone if (one := copies[path].imported_sha256)}
    new = {path: one for path, one in hashes.items() if path not in copies}
    found = {path: former for path, one in new.items() if (former := by_hash.pop(one, ""))}
    rest = [path for path in new if path not in found]
    left = [path for path in gone if path not in found.values()]
    return found | (former_names(git, rest, left) if git is not None and rest and left else {})


def _with_skipped(plan: ImportPlan, skipped: Sequence[fields.ImportedFile]) -> ImportPlan:
    """The plan with the entries that were skipped when the folder was read."""
    return plan._replace(files=tuple(sorted((*plan.files, *skipped), key=lambda file: file.source)))


def _shown_origin(directory: str, options: fields.Options) -> str:
    """The imported folder or file, for the log."""
    if os.path.isfile(directory):
        return options.origin_of(os.path.basename(directory))
    return options.origin or os.path.basename(holding_folder(directory))


def _report(directory: str, kind: str, plan: ImportPlan, *, dry_run: bool = False) -> ImportReport:
    imported, updated = sum(file.imported for file in plan.files), sum(file.updated for file in plan.files)
    skipped = len(plan.files) - imported - updated
    return ImportReport(directory, kind, plan.files, imported, updated, skipped, dry_run)


def _refusal(text: str, data: bytes) -> str:
    """Why the text of a file must not be stored: conflict markers, or a possible secret, which is not shown;
    "" if nothing is wrong."""
    if reason := conflict_in(text):
        return reason
    secret = next((one for one in find_secrets(text) if f"ignore TM401 {one.fingerprint}" not in text), None)
    if secret is None:
        return ""
    line = _line_of(text[secret.start : secret.end], data)
    return f"possible secret ({secret.kind}{f', line {line}' if line else ''}); remove it first"


def _line_of(value: str, data: bytes) -> int:
    """The line (from 1) of a file that contains ``value``; 0 if none does literally."""
    at = data.find(value.encode("utf-8", "surrogatepass"))
    return data.count(b"\n", 0, at) + 1 if at >= 0 else 0


def _is_template(document: Document) -> bool:
    """Whether this is the unedited core template written by `init`."""
    return document.id == "core" and is_core_skeleton(document.body, document.title)


def _origin(directory: str, root: str) -> str:
    """The origin of the files without absolute paths: relative to the root, or to their repository's
    parent."""
    relative = _below(directory, root)
    if relative is not None:
        return relative
    folder = os.path.realpath(holding_folder(directory))
    git = Git.find(folder)
    above = os.path.dirname(git.toplevel) if git is not None else os.path.dirname(folder)
    return os.path.relpath(folder, above).replace(os.sep, "/")


def _below(directory: str, root: str) -> str | None:
    """The folder relative to the root, "" for the root; ``None`` if it is outside."""
    folder = os.path.realpath(holding_folder(directory))
    relative = os.path.relpath(folder, os.path.realpath(root)).replace(os.sep, "/")
    if relative == ".." or relative.startswith("../"):
        return None
    return "" if relative == "." else relative
