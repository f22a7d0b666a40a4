"""Import from elsewhere: a folder of Markdown becomes documents, as one patch."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

from thunderus_mem.interop.fields import Options
from thunderus_mem.interop.folder import ImportItem, plan_folder
from thunderus_mem.interop.mapping import read_mapping
from thunderus_mem.model.composing import skeleton
from thunderus_mem.model.document import KINDS
from thunderus_mem.model.errors import ThunderusError
from thunderus_mem.model.timestamp import format_timestamp
from thunderus_mem.verbs.markdown_files import holding_folder, read_folder, stored_documents

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from thunderus_mem.interop.folder import SourceFile
    from thunderus_mem.memory import Memory
    from thunderus_mem.model.document import Document
    from thunderus_mem.store.layout import Layout

_TOGETHER = 500


@dataclass(frozen=True, slots=True)
class ImportedFile:
    """What became of one file: a document (``id``, ``path``, ``title``) or nothing, and why (``reason``).

    Its text is kept whole. ``kept`` are the keys of its frontmatter that stay as they are, ``changed`` those
    that got another value (the first is under ``metadata``), ``links`` the relations made of what it says of
    others, ``decision_status`` what a decision says of itself. ``notes`` are for people. ``refused`` says
    that it was skipped for something to be mended in it.
    """

    source: str
    imported: bool
    id: str
    path: str
    title: str
    notes: tuple[str, ...]
    reason: str
    kept: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    links: tuple[tuple[str, str], ...] = ()
    decision_status: str = ""
    refused: bool = False


@dataclass(frozen=True, slots=True)
class ImportReport:
    """What an import did, or would do (``dry_run``): one entry a file, in the order of their paths.

    ``event_id`` names the event in the log; it is empty when nothing was written. ``published`` is false
    when the event is on disk but a file is not yet: the next command puts it there.
    """

    directory: str
    kind: str
    files: tuple[ImportedFile, ...]
    imported: int
    skipped: int
    dry_run: bool
    event_id: str = ""
    published: bool = True

    @property
    def refused(self) -> int:
        """How many files were skipped for something to be mended in them."""
        return sum(file.refused for file in self.files)


def _report(
    directory: str, kind: str, plan: Sequence[ImportItem], *, dry_run: bool, event_id: str = ""
) -> ImportReport:
    files = tuple(
        ImportedFile(
            item.source,
            item.imported,
            item.id,
            item.path,
            item.title,
            item.notes,
            item.reason,
            item.kept,
            item.changed,
            item.links,
            item.status,
            item.refused,
        )
        for item in plan
    )
    imported = sum(file.imported for file in files)
    return ImportReport(directory, kind, files, imported, len(files) - imported, dry_run, event_id)


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
    """Bring the Markdown files of ``directory`` (or one file) into the store as documents of ``kind``.

    Texts are kept byte for byte; a file whose text is in the store already is skipped. All new documents are
    one patch: one event, or one for every 500. ``mapping`` (``THEIRS=OURS``) says which of their fields give
    ours. Raises `NotFound` when the folder is not there, `ThunderusError` for an unknown kind or field.
    """
    if kind not in KINDS:
        raise ThunderusError(f"There is no kind {kind}.", hint=f"Kinds: {', '.join(KINDS)}.")
    pairs = read_mapping(mapping)
    files = read_folder(directory, memory.now(), memory.tell)
    layout = memory.layout
    options = Options(
        folder=layout.folder_of(kind),
        now=format_timestamp(memory.now()),
        tags=tuple(tags),
        origin=_origin(directory, layout.root),
        folder_name=os.path.basename(holding_folder(directory)),
        mapping=pairs,
    )
    if dry_run:
        plan = plan_folder(files, kind, _kept_documents(layout), options, memory.tell)
        return _report(directory, kind, _without_secrets(plan, files), dry_run=True)
    return _write(memory, directory, files, kind, options, why, actor)


def _write(
    memory: Memory,
    directory: str,
    files: Sequence[SourceFile],
    kind: str,
    options: Options,
    why: str,
    actor: str,
) -> ImportReport:
    from dataclasses import replace

    from thunderus_mem.store.edits import Edit

    why = why or f"imported from {options.origin or options.folder_name}"
    with memory.writing("import") as transaction:
        ids = transaction.ids()
        options = replace(options, events=(ids.event,), patches=(ids.patch,))
        plan = _without_secrets(
            plan_folder(files, kind, _kept_documents(memory.layout), options, memory.tell), files
        )
        template = {one.path: one.text for one in stored_documents(memory.layout) if _is_template(one)}
        edits = [
            Edit(item.id, item.path, template.get(item.path), item.text) for item in plan if item.imported
        ]
        if not edits:
            return _report(directory, kind, plan, dry_run=False)
        for start in range(0, len(edits), _TOGETHER):
            some = edits[start : start + _TOGETHER]
            transaction.commit("import", some, why=why, actor=actor, ids=None if start else ids)
    report = _report(directory, kind, plan, dry_run=False, event_id=ids.event)
    return replace(report, published=not transaction.pending)


def _without_secrets(plan: Sequence[ImportItem], files: Sequence[SourceFile]) -> tuple[ImportItem, ...]:
    """Leave out texts in which something looks like a secret; the value is never told."""
    from thunderus_mem.model.secrets import find_secrets

    sources = {file.path: file.data for file in files}
    kept = []
    for item in plan:
        found = [
            secret
            for secret in (find_secrets(item.text) if item.imported else ())
            if f"ignore TM401 {secret.fingerprint}" not in item.text
        ]
        if found:
            line = _line_of(item.text[found[0].start : found[0].end], sources[item.source])
            what = f"{found[0].kind}, line {line}" if line else found[0].kind
            reason = f"it seems to hold a secret ({what}): take it out first"
            kept.append(ImportItem(item.source, reason=reason, refused=True))
        else:
            kept.append(item)
    return tuple(kept)


def _line_of(value: str, data: bytes) -> int:
    """The line, from 1, in which a file says ``value``; 0 when it does not say it so."""
    at = data.find(value.encode("utf-8", "surrogatepass"))
    return data.count(b"\n", 0, at) + 1 if at >= 0 else 0


def _kept_documents(layout: Layout) -> Iterator[Document]:
    """The documents an import leaves as they are: all but a core that nobody has filled in yet."""
    return (document for document in stored_documents(layout) if not _is_template(document))


def _is_template(document: Document) -> bool:
    """Whether this is the core as `init` wrote it."""
    return document.id == "core" and document.body.strip() == skeleton("core", document.title).strip()


def _origin(directory: str, root: str) -> str:
    """Where the files lie, without naming this machine: from the root, else from their repository's name."""
    from thunderus_mem.store.git import Git

    folder = os.path.realpath(holding_folder(directory))
    relative = os.path.relpath(folder, os.path.realpath(root)).replace(os.sep, "/")
    if relative == ".":
        return ""
    if relative != ".." and not relative.startswith("../"):
        return relative
    git = Git.find(folder)
    above = os.path.dirname(git.toplevel) if git is not None else os.path.dirname(folder)
    return os.path.relpath(folder, above).replace(os.sep, "/")
