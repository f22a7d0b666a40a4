"""The verb `migrate`: brings a store of an older or looser shape to the present one, or shows how."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from thunderus_mem.interop.older import Source, is_present, migrated
from thunderus_mem.interop.older_config import migrated_rules
from thunderus_mem.model.document import MAX_DOCUMENT, read_document
from thunderus_mem.model.errors import NotFound, ThunderusError
from thunderus_mem.model.event import unified_diff
from thunderus_mem.projection.refresh import refuse_unseen
from thunderus_mem.store.edits import Edit
from thunderus_mem.store.layout import CORE_LOCAL_FILE
from thunderus_mem.store.places import GARDENER_FILE, OLDER_FOLDERS, present_place
from thunderus_mem.store.version import FORMAT, refuse_newer, version_of_schemas
from thunderus_mem.transaction.opening import settle

if TYPE_CHECKING:
    from collections.abc import Iterator

    from thunderus_mem.memory import Memory

OP = "migrate"
_AT_ONCE = 64
_ROOM = 40 * 1024


class MigratedFile(NamedTuple):
    """One file that migrates: the steps it takes, and what becomes of its text.

    ``path`` is where it belongs; ``moved_from`` is where it stands, when that is another place. ``diff`` is
    empty when it only moves, ``None`` when it is too long to show.
    """

    path: str
    id: str
    steps: tuple[str, ...]
    diff: str | None
    moved_from: str = ""


class Left(NamedTuple):
    """A file that only a person can bring up to date, and why."""

    path: str
    reason: str


class MigrationReport(NamedTuple):
    """What `migrate` would do or, with ``applied``, did.

    ``version`` is the store's version of the formats by its schemas, 0 when it has none; ``present`` that of
    this program. ``files`` are written beside the documents: copies of the schemas that differ, and what is
    missing. ``published`` is false when an event is on disk but a file is not yet: the next command puts it
    there.
    """

    version: int
    present: int
    changes: tuple[MigratedFile, ...]
    files: tuple[str, ...]
    left: tuple[Left, ...]
    applied: bool = False
    recorded: tuple[str, ...] = ()
    published: bool = True

    @property
    def due(self) -> bool:
        """Whether there is anything to do."""
        return bool(self.changes or self.files)


@dataclass(slots=True)
class _Dates:
    """When documents were committed, as git knows it: asked before the lock, for those that do not say."""

    known: dict[str, tuple[str, str]] = field(default_factory=dict)
    wanted: set[str] = field(default_factory=set)


class _File(NamedTuple):
    change: MigratedFile
    before: str
    after: str


def migrate(memory: Memory, *, apply: bool = False, why: str = "", actor: str = "user") -> MigrationReport:
    """Work out what brings every document, the gardener's rules and the schemas to their present shape.

    With ``apply`` it is written: documents and rules as one change that `undo` takes back, then what a store
    has beside them. Old lines of the log stay as they are. Raises `Refused` for a store of a later version,
    `NotWritable` when a folder of documents cannot be looked into.
    """
    from thunderus_mem.verbs.starting import older_files, update_files

    refuse_newer(memory.layout, memory.config)
    refuse_unseen(memory.layout)
    if apply:
        settle(memory, OP)
    memory.refresh()
    version, dates = version_of_schemas(memory.layout), _Dates()
    files, left = _plan(memory, dates)
    if dates.wanted and memory.git is not None:
        dates.known = memory.git.added_dates(sorted(dates.wanted))
        files, left = _plan(memory, dates)
    report = MigrationReport(
        version=version,
        present=FORMAT,
        changes=tuple(file.change for file in files),
        files=older_files(memory),
        left=tuple(left),
    )
    if not apply:
        return report
    if files:
        report = _write(memory, report, dates, why=why, actor=actor)
    if report.published:
        update_files(memory)
    return report._replace(applied=True)


def _write(
    memory: Memory, report: MigrationReport, dates: _Dates, *, why: str, actor: str
) -> MigrationReport:
    """Write what becomes of the files now, and say what was written."""
    written: set[str] = set()
    with memory.writing(OP) as transaction:
        files, left = _plan(memory, dates)
        for edits in _batches(files):
            transaction.commit(OP, edits, why=why or f"to version {FORMAT}", actor=actor)
            written.update(edit.path for edit in edits if edit.after is not None)
            if transaction.pending:  # the disk refuses: what comes next may need that file
                break
    return report._replace(
        changes=tuple(file.change for file in files if file.change.path in written),
        left=tuple(left),
        recorded=transaction.recorded,
        published=not transaction.pending,
    )


def _batches(files: list[_File]) -> Iterator[list[Edit]]:
    """The edits, in order, as many in one event as its diffs have room for; a file moves, then changes."""
    for file in files:
        if file.change.moved_from:
            id, old, new = file.change.id, file.change.moved_from, file.change.path
            yield [Edit(id, old, file.before, None, True), Edit(id, new, None, file.before, True)]
    batch: list[Edit] = []
    room = _ROOM
    for file in files:
        size = len(file.change.diff or "")
        if batch and (len(batch) == _AT_ONCE or size > room):
            yield batch
            batch, room = [], _ROOM
        if file.after != file.before:
            batch.append(Edit(file.change.id, file.change.path, file.before, file.after))
            room -= size
    if batch:
        yield batch


def _plan(memory: Memory, dates: _Dates) -> tuple[list[_File], list[Left]]:
    """What becomes of each file, in order of their paths, and the files that are left to people."""
    files: list[_File] = []
    left: list[Left] = []
    given: set[str] = set()
    paths = [path for path, _, _ in memory.index.files()]
    every = sorted({*paths, *_older_paths(memory)})
    for done, path in enumerate(every):
        memory.tell("Looking at documents:", done, len(every))
        found = _document(memory, path, given, dates)
        if isinstance(found, Left):
            left.append(found)
        elif found is not None:
            given.add(found.change.id)
            files.append(found)
    rules = _rules(memory)
    return files + ([rules] if rules is not None else []), left


def _older_paths(memory: Memory) -> Iterator[str]:
    for folder in OLDER_FOLDERS:
        try:
            names = os.listdir(memory.layout.at(folder))
        except OSError:
            continue
        yield from (path for name in names if present_place(path := f"{folder}/{name}"))


def _document(memory: Memory, path: str, given: set[str], dates: _Dates) -> _File | Left | None:
    """What becomes of a document; ``None`` when it is as it should be. ``given`` are ids others get."""
    from thunderus_mem.model.secrets import holds_secret

    place = present_place(path)
    target = place or path
    kind = memory.layout.kind_of(target)
    text = _text(memory, path)
    if kind is None or text is None:
        return None if kind is None else Left(path, "it cannot be read as text; see `thunderus-mem lint`")
    if place is not None and os.path.lexists(memory.layout.at(place)):
        return Left(path, f"it belongs in {place}, where another file stands: join them by hand")
    reading = read_document(target, text.encode())
    if place is None and reading.document is not None and is_present(reading.document):
        return None
    after, steps = migrated(Source(target, kind, text, dates.known.get(path, ("", ""))))
    reading = read_document(target, after.encode())
    if reading.document is not None and not reading.document.created:
        dates.wanted.add(path)
    if reading.document is None:
        return _left_out(path, reading.problems[0].message, found=place is not None or steps != ())
    if not steps and place is None:
        return None
    if holds_secret(text):
        return Left(path, "it holds what looks like a secret: take it out first")
    if path == CORE_LOCAL_FILE:
        return Left(path, "it is personal, and a change would be logged for all: `thunderus-mem lint` helps")
    id = reading.document.id
    row = memory.index.get(id)
    if "identity" in steps and (id in given or (row is not None and row.path != path)):
        return Left(path, f"it has no id, and {id} is taken: give it one")
    names = (*(("place",) if place else ()), *steps)
    diff = unified_diff(text, after, target)
    return _File(MigratedFile(target, id, names, diff, path if place else ""), text, after)


def _left_out(path: str, problem: str, *, found: bool) -> Left | None:
    """A file that is no document before and after is lint's to tell; one that needs a hand is named here."""
    if problem == "The file has no frontmatter.":
        return Left(path, "it has no frontmatter: move it out and `thunderus-mem import markdown` it")
    return Left(path, problem[:1].lower() + problem[1:].rstrip(".")) if found else None


def _text(memory: Memory, path: str) -> str | None:
    from thunderus_mem.store.files import read_file
    from thunderus_mem.store.paths import inside

    try:
        return read_file(inside(memory.root, path), MAX_DOCUMENT).decode("utf-8")
    except (ThunderusError, UnicodeDecodeError):
        return None


def _rules(memory: Memory) -> _File | None:
    """What becomes of the gardener's rules."""
    from thunderus_mem.store.files import read_file

    try:
        text = read_file(memory.layout.gardener_file, MAX_DOCUMENT).decode("utf-8")
    except (NotFound, UnicodeDecodeError):
        return None
    after = migrated_rules(text)
    if after == text:
        return None
    diff = unified_diff(text, after, GARDENER_FILE)
    return _File(MigratedFile(GARDENER_FILE, "", ("rule-names",), diff), text, after)
