"""Write the rows of the index: read changed files, and insert and delete the rows of their documents.

Files that no command would open become findings. With many documents, words are inserted into the full-text
tables in a thread: tokenising takes a third of a rebuild but does not need Python, so SQLite does it while
the next documents are read. Call ``wait`` before using the connection.
"""

from __future__ import annotations

import math
import time
from array import array
from contextlib import suppress
from hashlib import sha256
from itertools import islice
from json.encoder import encode_basestring as _json_text
from typing import TYPE_CHECKING, Any, Final, TypeAlias, TypeVar

from thunderus_mem.document.anchors import anchors_in
from thunderus_mem.document.document import content_hash, read_document
from thunderus_mem.document.ids import fold_key
from thunderus_mem.document.markdown import Passage, outline, scan, without_comments
from thunderus_mem.document.paths import ARCHIVE, is_archived, live_path
from thunderus_mem.document.profile import traits_of
from thunderus_mem.document.timestamp import utc_key
from thunderus_mem.document.unicode import token_count
from thunderus_mem.index.database import BATCH, PASSAGES_PER_DOCUMENT, IndexDamaged
from thunderus_mem.index.scan import FileStamp, FolderPart, read_bytes
from thunderus_mem.index.unreadable import failed, irregular, openable
from thunderus_mem.index.words import fold_name, identifier_parts
from thunderus_mem.safety.injection import flagged_lines
from thunderus_mem.startup import NamedTuple, lazy_pattern
from thunderus_mem.store.parallel import in_background
from thunderus_mem.store.safe_open import Folders

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

    from thunderus_mem.diagnostic import Diagnostic
    from thunderus_mem.document.document import Document
    from thunderus_mem.index.database import Database
    from thunderus_mem.index.scan import FolderScan

_FOLDER = lazy_pattern(r"^\.thunderus/memory/(?:semantic/|procedural/)?[^/]+/")


PassageValues: TypeAlias = tuple[str, int, str, str, str, str, str]
"""Anchor, line, title, heading, body, parts and injection of a passage."""


class DocumentRows(NamedTuple):
    """The rows of one document, without row ids: in ``docs``, ``manifest``, ``docs_fts``, ``passages``,
    ``names``, ``doc_edges``, ``anchors``, ``traits``, ``episodes``. An archived one has no anchors, and "" as
    its manifest entry."""

    doc_id: str
    doc: tuple[Any, ...]
    manifest: str
    words: tuple[str, ...]
    passages: tuple[PassageValues, ...]
    names: tuple[tuple[str, str], ...]
    edges: tuple[tuple[str, str, str], ...]
    anchors: tuple[tuple[str, int, str, str, str, str, int, str], ...]
    traits: tuple[str, ...]
    episode: tuple[str, int | None] | None


def entry_of(document: Document, content_hash: str, size: int) -> DocumentRows:
    """Return the rows of a document whose file has ``size`` bytes."""
    # Comments are not searchable, as they are invisible in the rendered text.
    doc_id, title, path, text = document.id, document.title, document.path, document.body
    body, scanned = without_comments(text), scan(text)
    inner = _FOLDER.sub("", live_path(path)).removesuffix(".md")
    archived = is_archived(path)
    names = " ".join((*document.aliases, inner))
    outlined = outline(body, scanned if body is text else None)
    found_headings = outlined.headings
    tokens = token_count(document.text)
    rows = _passage_rows(outlined.passages, f"{title}\n{names}", document)
    words = (
        doc_id,
        title,
        "\n".join(heading.text for heading in found_headings),
        " ".join(document.tags),
        body,
        names,
        " ".join((*identifier_parts(f"{doc_id} {title} {names}"), *(row[5] for row in rows))),
    )
    state = ""
    if document.kind == "adr":
        from thunderus_mem.document.state import document_state

        state = document_state(document, found_headings)
    doc = (
        doc_id, document.kind, title, path, _list(document.tags), document.updated, _provenance(document),
        document.created, utc_key(document.updated), document.status, state, document.confirmed_by,
        _list(document.aliases),
        _list(heading.anchor for heading in found_headings), content_hash, size, tokens, int(archived),
        fold_key(doc_id), document.label("category"), document.label("run_id"),
    )  # fmt: skip
    stem = inner.rpartition("/")[2].casefold()
    known_as = {name for alias in document.aliases if (name := fold_name(alias))} | {stem}
    if document.imported_from:
        known_as.add(fold_name(document.imported_from.removesuffix(".md")))
    return DocumentRows(
        doc_id,
        doc,
        "" if archived else manifest_entry(document, size, tokens),
        words,
        rows,
        tuple((name, doc_id) for name in sorted(known_as)),
        tuple(sorted({(doc_id, link.rel, link.target) for link in document.links})),
        () if archived else _anchors(document),
        tuple(one if isinstance(one, str) else _list(one) for one in traits_of(document, scanned)),
        document.episode,
    )


def _anchors(document: Document) -> tuple[tuple[str, int, str, str, str, str, int, str], ...]:
    since = document.last_verified_commit or ""
    return tuple(
        (
            document.id,
            place,
            cited.anchor.path,
            cited.anchor.symbol,
            cited.anchor.item.get("lines", ""),
            cited.anchor.fingerprint,
            cited.line,
            since,
        )
        for place, cited in enumerate(anchors_in(document.header, document.header_line))
    )


def manifest_entry(document: Document, size: int, tokens: int) -> str:
    """Return a document's manifest entry as indented JSON."""
    commit = document.last_verified_commit
    verified = "null" if commit is None else _json_text(commit)
    return (
        "    {\n"
        f'      "id": {_json_text(document.id)},\n'
        f'      "kind": {_json_text(document.kind)},\n'
        f'      "path": {_json_text(document.path)},\n'
        f'      "provenance": {_provenance(document)},\n'
        f'      "size_bytes": {size},\n'
        f'      "tags": {_list(document.tags)},\n'
        f'      "title": {_json_text(document.title)},\n'
        f'      "token_count_approx": {tokens},\n'
        f'      "updated": {_json_text(document.updated)},\n'
        f'      "verification": {{"last_verified_commit": {verified}, '
        f'"status": {_json_text(document.status)}}}\n'
        "    }"
    )


def _passage_rows(found: tuple[Passage, ...], title: str, document: Document) -> tuple[PassageValues, ...]:
    first = document.body_line - 1
    kept = _within_room(found) or (Passage("", "", 1, ""),)
    return tuple(
        (
            passage.anchor,
            first + passage.line,
            title,
            passage.heading,
            passage.text,
            " ".join(identifier_parts(f"{passage.heading}\n{passage.text}")),
            injection,
        )
        for passage, injection in zip(kept, _injections(document, kept), strict=True)
    )


def _injections(document: Document, passages: Sequence[Passage]) -> Sequence[str]:
    """Return the first injection in or next to each passage, "" for none.

    One in the title or an alias applies to all passages, because each hit shows the title.
    """
    found = flagged_lines(document.text, document.body_start, (document.title, *document.aliases))
    if not found:
        return ("",) * len(passages)
    if not found[0].line:
        return (found[0].says,) * len(passages)
    first = document.body_line - 1
    begins = [*(first + passage.line for passage in passages[1:]), math.inf]
    ends = [0, *(first + passage.line + passage.text.count("\n") for passage in passages[:-1])]
    return [
        next((one.says for one in found if end < one.line < begin), "")
        for end, begin in zip(ends, begins, strict=True)
    ]


def _within_room(found: tuple[Passage, ...]) -> tuple[Passage, ...]:
    """Limit the number of passages; the last one contains the text of all the rest."""
    if len(found) <= PASSAGES_PER_DOCUMENT:
        return found
    kept, rest = found[: PASSAGES_PER_DOCUMENT - 1], found[PASSAGES_PER_DOCUMENT - 1 :]
    text = "\n".join(part for one in rest for part in (one.heading, one.text) if part)
    return (*kept, rest[0]._replace(text=text))


def _list(items: Iterable[str]) -> str:
    return f"[{', '.join(map(_json_text, items))}]"


def _provenance(document: Document) -> str:
    return (
        f'{{"commits": {_list(document.commits)}, "events": {_list(document.events)}, '
        f'"patches": {_list(document.patches)}}}'
    )


def encode_problems(problems: Sequence[Diagnostic]) -> str:
    """Encode findings as JSON for the index."""
    if not problems:
        return "[]"
    import json

    return json.dumps(
        [
            [p.rule, p.severity, p.path, p.line, p.column, p.message, p.key, p.expected, p.hint, p.doc_id]
            for p in problems
        ],
        ensure_ascii=False,
    )


_MANY: Final = 100
"""Number of documents from which a thread pays off."""
_WORDS = "doc_id, title, headings, tags, body, names, parts"
_INDEX_WORDS = f"INSERT INTO docs_fts (rowid, {_WORDS}) SELECT id, {_WORDS} FROM temp.words ORDER BY id"
_INDEX_PASSAGES = (
    "INSERT INTO passages_fts (rowid, title, heading, body, parts) "
    "SELECT id, title, heading, body, parts FROM passages WHERE id BETWEEN ? AND ?"
)


class RowWriter:
    """Writes rows within the caller's transaction."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._indexing: Callable[[], None] | None = None

    def wait(self) -> None:
        """Wait until the connection is free. Raises exceptions of the thread."""
        if self._indexing is not None:
            self._indexing()
            self._indexing = None

    def next_row(self) -> int:
        """Return the next free row id."""
        return int((self._database.row("SELECT coalesce(max(rowid), 0) FROM docs") or (0,))[0]) + 1

    def drop(self, row_id: int, doc_id: str) -> None:
        """Delete all rows of a document except those in ``files``."""
        span = (row_id * PASSAGES_PER_DOCUMENT, (row_id + 1) * PASSAGES_PER_DOCUMENT - 1)
        run = self._database.run
        run("DELETE FROM docs_fts WHERE rowid = ?", (row_id,))
        # An external-content table needs the exact words it indexed.
        run(
            "INSERT INTO passages_fts (passages_fts, rowid, title, heading, body, parts) "
            "SELECT 'delete', id, title, heading, body, parts FROM passages WHERE id BETWEEN ? AND ?",
            span,
        )
        run("DELETE FROM passages WHERE id BETWEEN ? AND ?", span)
        run("DELETE FROM names WHERE doc_id = ?", (doc_id,))
        run("DELETE FROM manifest WHERE doc_id = ?", (doc_id,))
        run("DELETE FROM doc_edges WHERE src_doc_id = ?", (doc_id,))
        run("DELETE FROM anchors WHERE doc_id = ?", (doc_id,))
        run("DELETE FROM traits WHERE doc_id = ?", (doc_id,))
        run("DELETE FROM episodes WHERE doc_id = ?", (doc_id,))
        run("DELETE FROM docs WHERE rowid = ?", (row_id,))

    def insert(self, entries: Sequence[tuple[int, DocumentRows]]) -> None:
        """Insert the rows of documents that have none, each with its row id."""
        if not entries:
            return
        many = self._database.run_many
        many(
            "INSERT INTO docs (rowid, doc_id, kind, title, path, tags_json, updated, provenance_json, "
            "created, updated_key, status, state, confirmed_by, aliases_json, anchors_json, hash, size, "
            f"tokens, archived, folded, category, run_id) VALUES ({', '.join('?' * 22)})",
            [(row_id, *entry.doc) for row_id, entry in entries],
        )
        listed = [(entry.doc_id, entry.manifest) for _, entry in entries if entry.manifest]
        many("INSERT INTO manifest VALUES (?, ?)", listed)
        many("INSERT INTO names VALUES (?, ?)", [name for _, entry in entries for name in entry.names])
        many("INSERT INTO doc_edges VALUES (?, ?, ?)", [edge for _, entry in entries for edge in entry.edges])
        many(
            "INSERT INTO anchors VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            [anchor for _, entry in entries for anchor in entry.anchors],
        )
        episodes = [(entry.doc_id, *entry.episode) for _, entry in entries if entry.episode]
        many("INSERT INTO episodes VALUES (?, ?, ?)", episodes)
        many(
            "INSERT INTO traits VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            [(entry.doc_id, *entry.traits) for _, entry in entries],
        )
        many(
            "INSERT INTO passages VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            [
                (row_id * PASSAGES_PER_DOCUMENT + place, *passage)
                for row_id, entry in entries
                for place, passage in enumerate(entry.passages)
            ],
        )
        self._index_words(entries)

    def _index_words(self, entries: Sequence[tuple[int, DocumentRows]]) -> None:
        rows = [(row_id, *entry.words) for row_id, entry in entries]
        if len(entries) < _MANY:
            sql = f"INSERT INTO docs_fts (rowid, {_WORDS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
            self._database.run_many(sql, rows)
            for row_id, _ in entries:
                self._index_passages(row_id, row_id)
            return
        run = self._database.run
        run(f"CREATE TEMP TABLE IF NOT EXISTS words (id INTEGER PRIMARY KEY, {_WORDS})")
        run("DELETE FROM temp.words")
        self._database.run_many("INSERT INTO temp.words VALUES (?, ?, ?, ?, ?, ?, ?, ?)", rows)
        ids = [row_id for row_id, _ in entries]
        runs = _runs(sorted(ids))

        def index() -> None:
            run(_INDEX_WORDS)
            for first, last in runs:
                self._index_passages(first, last)

        self._indexing = in_background(index)

    def _index_passages(self, first: int, last: int) -> None:
        """Insert the passages of consecutive documents into the full-text table."""
        span = (first * PASSAGES_PER_DOCUMENT, (last + 1) * PASSAGES_PER_DOCUMENT - 1)
        self._database.run(_INDEX_PASSAGES, span)


def _runs(ids: Sequence[int]) -> list[tuple[int, int]]:
    """Group sorted numbers into (first, last) of each run without gaps."""
    runs: list[tuple[int, int]] = []
    for number in ids:
        if runs and runs[-1][1] == number - 1:
            runs[-1] = (runs[-1][0], number)
        else:
            runs.append((number, number))
    return runs


class KnownFile(NamedTuple):
    """The data of a file in the index before it is read."""

    size: int
    hash: str
    doc_id: str
    problems_json: str


class FileRow(NamedTuple):
    """A row of ``files``."""

    path: str
    size: int
    mtime_ns: int
    ctime_ns: int
    inode: int
    hash: str
    doc_id: str
    problems_json: str
    folded: str
    settled: bool


def _file_row(
    stamp: FileStamp, text_hash: str, doc_id: str, problems_json: str, *, settled: bool = True
) -> FileRow:
    return FileRow(stamp.path, *stamp.values, text_hash, doc_id, problems_json, fold_key(stamp.path), settled)


class ReadFile(NamedTuple):
    """A file as read: its new ``row`` (``None`` keeps the old one), the rows of its document, the ids whose
    document may have changed, and whether the file must be read again next time despite its stamp."""

    row: FileRow | None
    entry: DocumentRows | None = None
    touched: tuple[str, ...] = ()
    unsettled: bool = False


def read_file(
    root: str, stamp: FileStamp, before: KnownFile | None, folders: Folders | None = None
) -> ReadFile:
    """Read the file of a stamp; ``before`` is its data in the index, ``folders`` opens it."""
    path = stamp.path
    if not (stamp.regular and openable(path)):
        return _not_a_document(stamp, before, (irregular(path),))
    moment = time.time_ns()
    try:
        data, stamp = read_bytes(root, stamp, folders)
    except FileNotFoundError:  # removed after the walk
        return ReadFile(None, unsettled=True)
    except OSError as error:
        return _unreadable(stamp, before, error)
    text_hash = content_hash(data)
    racy = stamp.racy_at(moment)
    if before and before.hash == text_hash and before.size == stamp.size and b"\r" not in data:
        row = _file_row(stamp, text_hash, before.doc_id, before.problems_json, settled=not racy)
        return ReadFile(row, unsettled=racy)
    reading = read_document(path, data)
    document = reading.document
    doc_id = document.id if document else ""
    return ReadFile(
        _file_row(stamp, text_hash, doc_id, encode_problems(reading.problems), settled=not racy),
        entry_of(document, text_hash, stamp.size) if document else None,
        (doc_id, before.doc_id if before else ""),
        racy,
    )


def _unreadable(stamp: FileStamp, before: KnownFile | None, error: OSError) -> ReadFile:
    """Keep the known data after a failed read, which proves nothing about the text; retry next time."""
    if before and before.doc_id:
        return ReadFile(None, unsettled=True)
    found = _not_a_document(stamp, before, (failed(stamp.path, error),))
    return found._replace(row=found.row and found.row._replace(settled=False), unsettled=True)


def _not_a_document(stamp: FileStamp, before: KnownFile | None, problems: tuple[Diagnostic, ...]) -> ReadFile:
    row = _file_row(stamp, "", "", encode_problems(problems))
    return ReadFile(row, touched=(before.doc_id,) if before else ())


def entry_in(root: str, stamp: FileStamp, doc_id: str) -> DocumentRows | None:
    """Return the rows of the document with this id in a file; ``None`` if the file has another id now.

    Raises ``OSError`` if it cannot be read.
    """
    data, stamp = read_bytes(root, stamp)
    document = read_document(stamp.path, data).document
    if document is None or document.id != doc_id:
        return None
    return entry_of(document, content_hash(data), stamp.size)


_SPACE: Final = 1 << 64


class GenerationDrift:
    """Accumulates how changes of files change a generation."""

    def __init__(self) -> None:
        self._sum = 0

    def add(self, path: str, content_hash: str) -> None:
        """Add a file with this text."""
        self._sum += _file_hash(path, content_hash)

    def remove(self, path: str, content_hash: str) -> None:
        """Remove a file with this text."""
        self._sum -= _file_hash(path, content_hash)

    def applied(self, generation: str) -> str:
        """Return the generation after the changes, and forget them; "" means no files. Raises
        ``IndexDamaged``."""
        try:
            before = int(generation or "0", 16)
        except ValueError:
            raise IndexDamaged("invalid generation") from None
        after, self._sum = before + self._sum, 0
        return f"{after % _SPACE:016x}"


def _file_hash(path: str, content_hash: str) -> int:
    return int.from_bytes(sha256(f"{path}\0{content_hash}".encode()).digest()[:8], "big")


_Item = TypeVar("_Item")
_FILE_COLUMNS: Final = "size, mtime_ns, ctime_ns, inode, hash, doc_id, problems_json, settled"
_FILE_VALUES: Final = ", ".join(f"excluded.{column}" for column in _FILE_COLUMNS.split(", "))
# An equal row is not written, so that reading a file again need not write to the disk.
_INSERT_FILE: Final = (
    "INSERT INTO files VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) "
    f"ON CONFLICT (path) DO UPDATE SET ({_FILE_COLUMNS}) = ({_FILE_VALUES}) "
    f"WHERE ({_FILE_COLUMNS}) <> ({_FILE_VALUES})"
)

_FIRST_PATH: Final = f"substr(min((path GLOB '{ARCHIVE}/*') || path), 2)"
"""The path, among those with one id, whose file is the document: active before archived."""


_PIECE: Final = 2_000
"""Number of removed files in a transaction."""

_REMOVE_PART: Final = "DELETE FROM walk WHERE folder = ? AND instr('/' || names || '/', '/' || ? || '/')"
_UNEQUAL: Final = "INSERT INTO walk VALUES ('', '', '', x'')"
"""Adds a row that no scan has, so that the next refresh compares all."""

Tell: TypeAlias = "Callable[[str, int, int], None]"
"""Callback for progress: what is being done, number of files done, total."""


class _Changed(NamedTuple):
    """A file that may have changed: its stamp in the walk, and its data in the index."""

    stamp: FileStamp
    before: KnownFile | None


class Update:
    """One update within the caller's transaction. ``added`` and ``modified`` count documents;
    ``unsettled`` are files that must be read again next time despite their stamps; ``drift`` is the change of
    the generation."""

    def __init__(self, root: str, database: Database, tell: Tell) -> None:
        self._tell = tell
        self._root = root
        self._database = database
        self._writer = RowWriter(database)
        self._touched: set[str] = set()
        self._doubted: set[str] = set()
        self._earlier: dict[str, bool] = {}  # whether a changed document that had rows before has some now
        self._first_row = self._next_row = 0
        self.added = 0
        self.unsettled: set[str] = set()
        self.drift = GenerationDrift()
        self.held = 0

    @property
    def modified(self) -> int:
        """Number of existing documents with new rows."""
        return sum(self._earlier.values())

    @property
    def removed(self) -> tuple[str, ...]:
        """The ids of the documents without a file now."""
        return tuple(doc_id for doc_id, written in self._earlier.items() if not written)

    @property
    def changed(self) -> bool:
        """Whether any document changed."""
        return bool(self.added or self.modified or self.removed)

    def run(self, seen: FolderScan, only: Collection[str] | None = None) -> Iterator[None]:
        """Apply all changes; with ``only``, the scan is one of these files alone.

        Yields where the caller may commit and begin again: after each of many pieces of removed files, since
        SQLite keeps the pages that a transaction changes in memory.
        """
        self._first_row = self._next_row = self._writer.next_row()
        parts = self._fresh(seen) if only is None else seen.parts
        changed, new = self._compare(parts)
        if only is None:
            gone = self._gone(seen, seen.size - new)
        else:
            gone = self._unless_hidden(sorted(set(only).difference(seen.paths())), seen)
        try:
            for piece in range(0, len(gone), _PIECE):
                if piece:
                    self._settle({})
                    self._writer.wait()
                    self._database.run("DELETE FROM walk")
                    self._database.run(_UNEQUAL)
                    yield
                self._forget(gone[piece : piece + _PIECE])
            self._next_row = self._writer.next_row()
            self._read_changed(list(zip(parts, changed, strict=True)))
        finally:
            self._writer.wait()
        if only is None:
            self._write_walk(seen)
        else:
            # A file that is moved back may have the stamp that it had.
            self._database.run_many(_REMOVE_PART, [path.rpartition("/")[::2] for path in gone])
            self._database.run(_UNEQUAL)

    def _fresh(self, seen: FolderScan) -> list[FolderPart]:
        """Return the parts that the last refresh did not find, or of which a file must be read again."""
        left = dict.fromkeys(seen.parts)
        for part in self._database.each("SELECT * FROM walk"):
            left.pop(FolderPart._make(part), None)
        return list(left)

    def _compare(self, parts: Sequence[FolderPart]) -> tuple[list[array[int]], int]:
        """Return the places of new and changed files in each part, and the number of new ones."""
        sql = "SELECT path, settled, size, mtime_ns, ctime_ns, inode FROM files WHERE path IN ({})"
        changed, new = [], 0
        for part in parts:
            known = self._rows_of(list(part.paths()), sql)
            new += part.size - len(known)
            places = (at for at, file in enumerate(part.files()) if known.get(file.path) != (1, *file.values))
            changed.append(array("q", places))
        return changed, new

    def _gone(self, seen: FolderScan, known: int) -> list[str]:
        """Return the files in the index that are not in the scan, of which a ``known`` number is in the
        index; those of folders that could not be read are held."""
        if known == int((self._database.row("SELECT count(*) FROM files") or (0,))[0]):
            return []
        present = set(seen.paths())
        indexed = self._database.each("SELECT path FROM files ORDER BY path")
        return self._unless_hidden([path for (path,) in indexed if path not in present], seen)

    def _unless_hidden(self, missing: list[str], seen: FolderScan) -> list[str]:
        """Return the missing files whose folder could be read; the index keeps the others."""
        hidden = tuple(f"{folder}/" for folder in seen.unlisted)
        gone = [path for path in missing if not path.startswith(hidden or "//")]
        self.held = len(missing) - len(gone)
        return gone

    def _write_walk(self, seen: FolderScan) -> None:
        """Write what differs from the scan in the index."""
        left = dict.fromkeys(map(self._remembered, seen.parts))
        gone = []
        for row_id, *columns in self._database.each("SELECT rowid, * FROM walk"):
            part = FolderPart(*columns)
            if part in left:
                del left[part]
            else:
                gone.append((row_id,))
        self._database.run_many("DELETE FROM walk WHERE rowid = ?", gone)
        self._database.run_many("INSERT INTO walk VALUES (?, ?, ?, ?)", list(left))
        self._database.set_meta("unlisted", "\0".join(seen.unlisted))

    def _remembered(self, part: FolderPart) -> FolderPart:
        """Return the part as it is stored: without stamps if one of its files must be read again."""
        if not self.unsettled or self.unsettled.isdisjoint(part.paths()):
            return part
        return part._replace(stamps=b"")

    def _read_changed(self, changed: Sequence[tuple[FolderPart, Sequence[int]]]) -> None:
        """Read the files at these places of parts and write their rows, in batches."""
        total = sum(len(places) for _, places in changed)
        files = (file for part, places in changed for file in map(list(part.files()).__getitem__, places))
        for done in range(0, total, BATCH):
            self._tell("Reading documents:", done, total)
            stamps = list(islice(files, BATCH))
            known = self._known([stamp.path for stamp in stamps])
            self._update_batch([_Changed(stamp, known.get(stamp.path)) for stamp in stamps])
        self._settle({})

    def _update_batch(self, batch: Sequence[_Changed]) -> None:
        """Read some files and write their rows."""
        read: list[ReadFile] = []
        with Folders() as folders:
            for one in batch:
                found = self._read(one, folders)
                read.append(found)
                (self.unsettled.add if found.unsettled else self.unsettled.discard)(one.stamp.path)
                self._touched.update(found.touched)
                if found.row is not None:
                    self._drifted(found.row.path, found.row.hash, one.before)
        self._writer.wait()
        self._database.run_many(_INSERT_FILE, [found.row for found in read if found.row is not None])
        self._settle({found.row.path: found.entry for found in read if found.row and found.entry})

    def _read(self, one: _Changed, folders: Folders) -> ReadFile:
        """Read a file; do not trust its hash in the index if it changed during the update."""
        before = one.before
        if before is not None and one.stamp.path in self._doubted:
            before = before._replace(hash="")
        return read_file(self._root, one.stamp, before, folders)

    def _forget(self, gone: list[str]) -> None:
        """Delete the rows of removed files; their ids are settled with the first batch."""
        for batch in _batches(gone):
            known = self._known(batch)
            self._touched.update(row.doc_id for row in known.values())
            for path, row in known.items():
                self.drift.remove(path, row.hash)
            self._database.run_many("DELETE FROM files WHERE path = ?", [(path,) for path in batch])

    def _drifted(self, path: str, text_hash: str, before: KnownFile | None) -> None:
        """Record the change of a file's text in the drift."""
        old = None if before is None else "" if path in self._doubted else before.hash
        if old != text_hash:
            self.drift.add(path, text_hash)
            if old is not None:
                self.drift.remove(path, old)

    def problem_count(self) -> int:
        """Return the number of files with findings of the reader."""
        row = self._database.row("SELECT count(*) FROM files WHERE problems_json <> '[]'")
        return int(row[0]) if row else 0

    def _known(self, paths: Sequence[str]) -> dict[str, KnownFile]:
        sql = "SELECT path, size, hash, doc_id, problems_json FROM files WHERE path IN ({})"
        return {path: KnownFile(*row) for path, row in self._rows_of(paths, sql).items()}

    def _settle(self, read: dict[str, DocumentRows]) -> None:
        """For each touched id, find its file, and write the rows of that file.

        ``read`` are the entries of files just read. A later batch may touch an id again, when another file of
        it is added or removed.
        """
        self._touched.discard("")
        entries: list[tuple[int, DocumentRows]] = []
        touched = sorted(self._touched)
        old = self._rows_of(touched, "SELECT doc_id, rowid, path FROM docs WHERE doc_id IN ({})")
        winners = self._rows_of(
            touched, f"SELECT doc_id, {_FIRST_PATH} FROM files WHERE doc_id IN ({{}}) GROUP BY doc_id"
        )
        for doc_id in touched:
            row_id, old_path = old.get(doc_id, (0, ""))
            (winner,) = winners.get(doc_id, ("",))
            if winner and winner == old_path and winner not in read:
                continue
            found = (read.get(winner) or self._entry_in(winner, doc_id)) if winner else None
            if row_id:
                self._writer.drop(row_id, doc_id)
            if doc_id in self._earlier or 0 < row_id < self._first_row:
                self._earlier[doc_id] = found is not None
            else:
                self.added += (found is not None) - bool(row_id)
            if found is not None:
                entries.append((row_id or self._next_row, found))
                self._next_row += not row_id
        self._touched.clear()
        self._writer.insert(entries)

    def _rows_of(self, keys: Sequence[str], sql: str) -> dict[str, tuple[Any, ...]]:
        """Return the rows by their first column; ``{}`` in the statement is replaced by the keys."""
        found: dict[str, tuple[Any, ...]] = {}
        for batch in _batches(keys):
            rows = self._database.rows(sql.format(", ".join("?" * len(batch))), batch)
            found.update((row[0], row[1:]) for row in rows)
        return found

    def _entry_in(self, path: str, doc_id: str) -> DocumentRows | None:
        """Read the rows of a file that replaces another one as the document."""
        with suppress(OSError):
            found = entry_in(self._root, FileStamp(path, 0, 0, 0, 0), doc_id)
            if found is not None:
                return found
        # It changed since the walk: the next refresh reads it and settles the id.
        self.unsettled.add(path)
        self._drifted(path, "", self._known([path]).get(path))
        self._doubted.add(path)
        self._database.run("UPDATE files SET hash = '', settled = 0 WHERE path = ?", (path,))
        return None


def _batches(items: Sequence[_Item]) -> Iterator[Sequence[_Item]]:
    return (items[start : start + BATCH] for start in range(0, len(items), BATCH))
