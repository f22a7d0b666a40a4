"""Files in the store that no command reads: Markdown outside the folders of documents, and event logs
outside the folders of sessions.

Each becomes a finding with the command that moves or imports it. Reads the disk, writes nothing.
"""

from __future__ import annotations

import os
import posixpath
import shlex
from typing import TYPE_CHECKING, Final

from thunderus_mem.diagnostic import Severity
from thunderus_mem.document.document import MAX_DOCUMENT, read_document
from thunderus_mem.document.ids import file_name, fold_key
from thunderus_mem.document.paths import archived_path, is_archived
from thunderus_mem.errors import ThunderusError
from thunderus_mem.index.scan import visible_name
from thunderus_mem.index.unreadable import foreign_name, is_foreign_name
from thunderus_mem.lint.rule import finding
from thunderus_mem.startup import NamedTuple
from thunderus_mem.store.files import read_file
from thunderus_mem.store.layout import DOCUMENT_FOLDERS, MEMORY, STORE
from thunderus_mem.store.paths import inside, is_shard, kind_of, present_place

if TYPE_CHECKING:
    from collections.abc import Iterator

    from thunderus_mem.diagnostic import Diagnostic
    from thunderus_mem.document.document import Document
    from thunderus_mem.memory.memory import Memory

STRAYS: Final = ("TM511", "TM512")
"""The rules of the findings."""
_MARKDOWN: Final = (".md", ".markdown")
_LOG: Final = f"{STORE}/events.jsonl"
_NOT_WALKED: Final = (f"{STORE}/local", f"{STORE}/.staging", f"{STORE}/.quarantine")
_EDITORS: Final = (".#", "._")
"""Beginnings of the names of files that editors and macOS keep beside a file."""


class _Entry(NamedTuple):
    """A file, or a link to a folder: its root-relative path, and what it is."""

    path: str
    regular: bool
    linked_folder: bool


def stray_files(memory: Memory) -> list[Diagnostic]:
    """A finding for each Markdown file below the memory folder that is not a document, and for each event log
    that is not a shard. The index must be fresh."""
    known = {path for path, _, _ in memory.index.files()}
    folded = {fold_key(path): path for path in known}
    found: list[Diagnostic] = []
    for entry in _walk(memory.root):
        path = entry.path
        if _is_log(path):
            if is_stray(path):
                found.append(_stray_log(memory, path))
        elif path.startswith(f"{MEMORY}/") and path not in known:
            twin = folded.get(fold_key(path))
            if twin is None or not _same_file(memory, path, twin):
                found.append(_stray_document(memory, entry))
    return found


def is_stray(path: str) -> bool:
    """Whether a file of the store at this root-relative path is one that no command reads."""
    if _is_log(path):
        return path != _LOG and not is_shard(path)
    return path.startswith(f"{MEMORY}/") and _is_markdown(path) and kind_of(path) is None


def _walk(root: str) -> Iterator[_Entry]:
    """Markdown files, event logs and linked folders of the store; links are not followed."""
    folders = [STORE]
    while folders:
        folder = folders.pop()
        try:
            entries = sorted(os.scandir(os.path.join(root, folder)), key=lambda entry: entry.name)
        except OSError:
            continue
        for entry in entries:
            path = f"{folder}/{entry.name}"
            if entry.is_dir(follow_symlinks=False):
                if path not in _NOT_WALKED and entry.name != ".git":
                    folders.append(path)
            elif _is_markdown(path) or _is_log(path):
                yield _Entry(visible_name(path), entry.is_file(follow_symlinks=False), False)
            elif entry.is_symlink() and entry.is_dir() and path.startswith(f"{MEMORY}/"):
                yield _Entry(visible_name(path), False, True)


def _is_log(path: str) -> bool:
    return posixpath.basename(path).lower() == "events.jsonl"


def _is_markdown(path: str) -> bool:
    name = posixpath.basename(path)
    return name.lower().endswith(_MARKDOWN) and not name.startswith(_EDITORS)


def _same_file(memory: Memory, one: str, other: str) -> bool:
    """Whether two paths that differ in case are one file, on a file system that ignores case."""
    try:
        return os.path.samefile(memory.layout.at(one), memory.layout.at(other))
    except OSError:
        return False


def _stray_log(memory: Memory, path: str) -> Diagnostic:
    here = shlex.quote(path)
    command = f"mv {here} {_LOG}"
    if os.path.lexists(memory.layout.at(_LOG)):
        command = f"thunderus-mem events add < {here} && rm {here}"
    return finding(
        "TM512",
        path,
        "Event log that no command reads",
        expected=f"{STORE}/sessions/SESSION/events.jsonl, or {_LOG}",
        hint=f"Run `{command}`",
    )


def _stray_document(memory: Memory, entry: _Entry) -> Diagnostic:
    path, here = entry.path, shlex.quote(entry.path)
    if is_foreign_name(path):
        return foreign_name(path)._replace(rule="TM511")
    if entry.linked_folder:
        return _stray(path, "Link to a folder; files behind it are not documents", f"Run `rm {here}`")
    if not entry.regular:
        return _stray(path, "Link or device outside the folders of documents", f"Run `rm {here}`")
    if present_place(path) is not None:
        return _stray(path, "Document in a folder of an older store", "Run `thunderus-mem migrate --apply`")
    document = _document(memory, path)
    if document is None or document.kind not in DOCUMENT_FOLDERS:
        kind = next((kind for kind in memory.config.kinds_allowed if kind != "core"), "core")
        kind = "fact" if "fact" in memory.config.kinds_allowed else kind
        command = f"thunderus-mem import markdown {here} --kind {kind} && rm {here}"
        return _stray(
            path,
            "Markdown file without frontmatter outside the folders of documents",
            f"Move it out of {MEMORY}, or run `{command}`",
            Severity.NOTE if posixpath.basename(path).lower().startswith("readme.") else Severity.WARNING,
        )
    return _stray(path, "Document that no command reads", f"Run `{_move(memory, document)}`")


def _document(memory: Memory, path: str) -> Document | None:
    try:
        return read_document(path, read_file(inside(memory.root, path), MAX_DOCUMENT)).document
    except ThunderusError:
        return None


def _move(memory: Memory, document: Document) -> str:
    """The command that makes a file a document, or compares it with the document that has its id or path."""
    here = document.path
    known = memory.index.paths_of(document.id)
    target = known[0] if known else _target(memory, document)
    at = memory.layout.at
    if known or os.path.lexists(at(target)):
        return f"diff -u {shlex.quote(target)} {shlex.quote(here)}"
    folder = posixpath.dirname(target)
    make = "" if os.path.isdir(at(folder)) else f"mkdir -p {shlex.quote(folder)} && "
    return f"{make}mv {shlex.quote(here)} {shlex.quote(target)}"


def _target(memory: Memory, document: Document) -> str:
    """The path of a document in the folder of its kind."""
    folder = DOCUMENT_FOLDERS[document.kind]
    if is_archived(document.path) and document.kind != "core":
        folder = archived_path(folder)
    name = posixpath.splitext(posixpath.basename(document.path))[0].lstrip(".") + ".md"
    if document.kind == "adr":
        adr = DOCUMENT_FOLDERS["adr"]
        every = [path for path, _, _ in memory.index.files() if path.startswith((adr, archived_path(adr)))]
        name = file_name(document.id, "adr", map(posixpath.basename, every))
    return f"{folder}/{name}"


def _stray(path: str, message: str, hint: str, severity: Severity | None = None) -> Diagnostic:
    expected = f"a document in {', '.join(DOCUMENT_FOLDERS.values())}"
    return finding("TM511", path, message, expected=expected, hint=hint, severity=severity)
