"""Markdown files below a folder, read straight from disk: those of elsewhere, and those of the store."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from thunderus_mem.interop.fields import Dates
from thunderus_mem.interop.folder import SourceFile
from thunderus_mem.model.document import KINDS, MAX_DOCUMENT, read_document
from thunderus_mem.model.errors import NotFound
from thunderus_mem.model.timestamp import format_timestamp
from thunderus_mem.store.layout import ARCHIVE_FOLDERS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from thunderus_mem.model.document import Document
    from thunderus_mem.store.layout import Layout

_ENDINGS = (".md", ".markdown", ".mdc")
_SKIPPED_FOLDERS = frozenset(["node_modules", "__pycache__"])


def holding_folder(directory: str) -> str:
    """The folder at a path, or the one that holds the file there; absolute."""
    path = os.path.abspath(directory)
    return os.path.dirname(path) if os.path.isfile(path) else path


def read_folder(
    directory: str, now: datetime, tell: Callable[[str, int, int], None] = lambda what, done, total: None
) -> tuple[SourceFile, ...]:
    """The Markdown files below ``directory`` with the dates git knows, else their own; no links.

    Raises `NotFound` when nothing is at that path.
    """
    folder = holding_folder(directory)
    if not os.path.exists(directory):
        raise NotFound(
            f"There is no folder {directory}.", hint="Give the folder that holds the Markdown files."
        )
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
    """Every document of the store that reads, in use or archived, straight from its file."""
    for folder in (*sorted({layout.folder_of(kind) for kind in KINDS}), *ARCHIVE_FOLDERS):
        for path in _walk(layout.at(folder)):
            relative = layout.relative(path)
            if layout.kind_of(relative) is None:
                continue
            data = _bytes(path)
            document = read_document(relative, data).document if data is not None else None
            if document is not None:
                yield document


def _walk(folder: str) -> Iterator[str]:
    """Markdown files below a folder, by name; hidden folders, links and dependencies are passed over."""
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
    """A file's bytes, one more than allowed at most so that a reader can say it is too large."""
    try:
        with open(path, "rb") as file:
            return file.read(MAX_DOCUMENT + 1)
    except OSError:
        return None


def _git_dates(folder: str) -> dict[str, Dates]:
    from thunderus_mem.store.git import Git

    git = Git.find(folder)
    if git is None:
        return {}
    return {path: Dates(first, last) for path, (first, last) in git.added_dates(["."]).items()}


def _file_dates(path: str, now: datetime) -> Dates:
    """When the file was last written, by its own time; never later than now."""
    try:
        moment = datetime.fromtimestamp(os.stat(path).st_mtime, UTC)
    except (OSError, OverflowError, ValueError):
        return Dates()
    text = format_timestamp(min(moment, now))
    return Dates(text, text)
