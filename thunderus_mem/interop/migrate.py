"""`migrate`: convert a store to the current format, or show the changes.

Documents pass through small pure steps, text to text (`MIGRATIONS`). Each step changes only its own keys,
byte for byte, and is idempotent. Unknown keys stay. The docstring of a step is its description in the manual.
Gardener rules with Thunderus's names are rewritten line by line. `migrate` reads files and the index, asks
git for dates, and writes through a transaction.
"""

from __future__ import annotations

import os
import posixpath
import re
import tomllib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from thunderus_mem.authoring.init import older_files, update_files
from thunderus_mem.document.diff import unified_diff
from thunderus_mem.document.document import KINDS, MAX_DOCUMENT, RELATIONS, read_document, tag_words
from thunderus_mem.document.frontmatter.edit import nest_keys, quote_values, set_key
from thunderus_mem.document.frontmatter.nodes import Mapping, Node, Scalar, Sequence, is_null
from thunderus_mem.document.frontmatter.read import find_fences, open_header
from thunderus_mem.document.frontmatter.write import PROVENANCE, ambiguous
from thunderus_mem.document.ids import is_document_id
from thunderus_mem.document.markdown import headings
from thunderus_mem.document.schema import DOCUMENT, is_valid_fast
from thunderus_mem.document.timestamp import parse_timestamp
from thunderus_mem.document.unicode import BOM
from thunderus_mem.errors import InvalidDocument, NotFound, ThunderusError
from thunderus_mem.git.commits import added_dates
from thunderus_mem.index.refresh import refuse_unlisted
from thunderus_mem.index.scan import scan
from thunderus_mem.memory.journal import FileChange
from thunderus_mem.memory.transaction import open_transaction, settle
from thunderus_mem.safety.secrets import holds_secret
from thunderus_mem.startup import NamedTuple, lazy_pattern
from thunderus_mem.store.config import FORMAT
from thunderus_mem.store.config_keys import KEY_BY_NAME, OLDER_NAMES, OLDER_VALUES
from thunderus_mem.store.config_reader import refuse_newer, version_of_schemas
from thunderus_mem.store.files import read_file
from thunderus_mem.store.layout import CORE_LOCAL_FILE, FOLDERS
from thunderus_mem.store.paths import GARDENER_FILE, OLDER_FOLDERS, inside, kind_of, present_place

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from thunderus_mem.diagnostic import Diagnostic
    from thunderus_mem.document.document import Document
    from thunderus_mem.memory.memory import Memory

_KINDS: Final = {
    **dict.fromkeys(("core_memory", "core-memory"), "core"),
    **dict.fromkeys(("facts", "knowledge"), "fact"),
    **dict.fromkeys(("adrs", "decision", "decisions", "decision_record"), "adr"),
    **dict.fromkeys(("playbooks", "procedure", "procedural", "runbook", "how-to", "howto"), "playbook"),
    **dict.fromkeys(("recaps", "episode", "episodic", "session", "session_recap"), "recap"),
}
_STATUSES: Final = {
    **dict.fromkeys(("verified", "true", "yes", "ok", "valid", "fresh", "current"), "verified"),
    **dict.fromkeys(("stale", "outdated", "drifted", "invalid"), "stale"),
    **dict.fromkeys(("unknown", "unverified", "pending", "none", "false", "no"), "unknown"),
}
_EVENT: Final = lazy_pattern(r"evt_\S+|session:\S+|\d{4}-\d\d-\d\dT[\d:-]+Z_\d+(?::\S+)?", re.ASCII)
_PATCH: Final = lazy_pattern(r"(?:patch|mem)_\S+", re.ASCII)
_COMMIT: Final = lazy_pattern(r"[0-9a-fA-F]{7,64}", re.ASCII)
_TIME: Final = lazy_pattern(
    r"(\d{4}-\d\d-\d\d)(?:[Tt]|[ \t]+|$)(?:(\d{1,2}):(\d\d)(?::(\d\d)(\.\d{1,9})?)?)?"
    r"[ \t]*([Zz]|UTC|[+-]\d\d(?::?\d\d)?)?",
    re.ASCII,
)


def kind_of_word(word: str, folder: str) -> str:
    """The kind meant by an older word in the folder of a kind; an unknown word is returned unchanged."""
    lower = word.strip().lower()
    if lower in KINDS:
        return lower
    return folder if lower in ("", "semantic", "memory") else _KINDS.get(lower, word)


def status_of_word(word: str) -> str:
    """The verification status meant by an older word; "" for an unknown word."""
    return _STATUSES.get(word.strip().lower(), "")


def list_of_id(id: str) -> str:
    """The list of the provenance that an id belongs to: events, patches or commits; "" if it is not an id."""
    if _EVENT.fullmatch(id):
        return "events"
    if _PATCH.fullmatch(id):
        return "patches"
    return "commits" if _COMMIT.fullmatch(id) else ""


def convert_timestamp(text: str) -> str:
    """Convert an older time to RFC 3339, in UTC if it has no offset; "" if it is not a time."""
    if parse_timestamp(text) is not None:
        return text
    match = _TIME.fullmatch(text.strip())
    if match is None:
        return ""
    day, hour, minute, second, fraction, zone = match.groups()
    offset = (zone or "Z").upper().replace("UTC", "Z")
    if len(offset) == 3:
        offset += ":00"
    elif len(offset) == 5:
        offset = f"{offset[:3]}:{offset[3:]}"
    found = f"{day}T{int(hour or 0):02d}:{minute or '00'}:{second or '00'}{fraction or ''}{offset}"
    return found if parse_timestamp(found) is not None else ""


_MADE: Final = ("created_at", "created_on", "date")
_CHANGED: Final = ("updated_at", "updated_on", "modified", "last_modified", "last_updated")
_NUMBERED: Final = lazy_pattern(r"adr-(\d+)(?:-(.+))?", re.ASCII | re.IGNORECASE)


class OlderDocument(NamedTuple):
    """The input of a step: a document's root-relative path, the kind of its folder, its text.

    ``dates`` are the times of its first and last commit, for a document without dates of its own.
    """

    path: str
    kind: str
    text: str
    dates: tuple[str, str] = ("", "")

    @property
    def header(self) -> Mapping:
        """Its frontmatter. Raises `InvalidDocument` when it cannot be read."""
        return open_header(self.text).root

    @property
    def body(self) -> str | None:
        """The text after its frontmatter; ``None`` without frontmatter."""
        fences = find_fences(self.text)
        return self.text[fences.body_start :] if fences is not None else None


class Migration(NamedTuple):
    """One step: its name, and the function that converts a document."""

    name: str
    change: Callable[[OlderDocument], str]

    @property
    def page(self) -> str:
        """Its description in the manual."""
        return " ".join((self.change.__doc__ or "").split())


def is_present(document: Document) -> bool:
    """Whether a document certainly has the current format, so that all steps can be skipped."""
    return is_valid_fast(DOCUMENT, document.data()) and next(ambiguous(document.header), None) is None


def migrated(source: OlderDocument) -> tuple[str, tuple[str, ...]]:
    """The text in the current format, and the names of the steps that changed it, in order.

    The body never changes; a step that cannot be applied is skipped.
    """
    names = []
    for step in MIGRATIONS:
        try:
            changed = source._replace(text=step.change(source))
        except InvalidDocument:
            continue
        if changed.text != source.text and source.body in (None, changed.body):
            source = changed
            names.append(step.name)
    return source.text, tuple(names)


def _text(node: Node | None) -> str | None:
    """The text of a non-empty scalar."""
    if isinstance(node, Scalar) and not is_null(node) and node.text.strip():
        return node.text
    return None


def _is_empty(node: Node | None) -> bool:
    """Whether the value is missing, or a text without any letter."""
    return is_null(node) or (isinstance(node, Scalar) and not node.text.strip())


def header_first(source: OlderDocument) -> str:
    """Remove blank lines before the opening ``---``, because frontmatter starts on the first line."""
    text = source.text
    if source.body is not None:
        return text
    mark = BOM if text.startswith(BOM) else ""
    begun = mark + text.removeprefix(BOM).lstrip(" \t\r\n")
    return begun if open_header(begun).root.entries else text


def nested_provenance(source: OlderDocument) -> str:
    """Move ``events``, ``patches`` and ``commits`` that follow ``provenance:`` without indentation under
    it."""
    return nest_keys(source.text, "provenance", PROVENANCE)


def nested_verification(source: OlderDocument) -> str:
    """Move ``last_verified_commit`` and ``status`` that follow ``verification:`` without indentation under
    it."""
    status = _text(source.header.get("status")) or "unknown"
    # Any other word is the status of a decision.
    names = ("last_verified_commit", *(("status",) if status_of_word(status) else ()))
    return nest_keys(source.text, "verification", names)


def provenance(source: OlderDocument) -> str:
    """Convert ``provenance`` to a mapping with the lists ``events`` and ``patches``: add missing lists as
    empty ones, sort a single list of ids into them, convert a single id to a list."""
    node, text = source.header.get("provenance"), source.text
    if isinstance(node, Mapping) and node.entries:
        for name in PROVENANCE:
            inner = node.get(name)
            one = _text(inner)
            if one is not None:
                text = set_key(text, ("provenance", name), [one])
            elif inner is None and name != "commits":
                text = set_key(text, ("provenance", name), [])
        return text
    ids = _listed(node)
    if ids is None or not all(map(list_of_id, ids)):
        return text
    sorted_in: dict[str, Any] = {"events": [], "patches": []}
    for id in ids:
        sorted_in.setdefault(list_of_id(id), []).append(id)
    return set_key(text, ("provenance",), sorted_in)


def _listed(node: Node | None) -> list[str] | None:
    """The texts of a list, of a single text, or of a missing value; ``None`` for anything else."""
    if is_null(node) or (isinstance(node, Mapping) and not node.entries):
        return []
    items = node.items if isinstance(node, Sequence) else (node,)
    texts = [text for item in items if (text := _text(item)) is not None]
    return texts if len(texts) == len(items) else None


def verification(source: OlderDocument) -> str:
    """Convert ``verification`` to a mapping with ``last_verified_commit`` and ``status``: add missing keys
    (null, unknown), use a bare word or ``true`` as the status, replace older status words."""
    node, text = source.header.get("verification"), source.text
    if isinstance(node, Mapping) and node.entries:
        if node.get("last_verified_commit") is None:
            text = set_key(text, ("verification", "last_verified_commit"), None)
        word = _text(node.get("status"))
        status = status_of_word(word or "unknown")
        return set_key(text, ("verification", "status"), status) if status not in ("", word) else text
    status = status_of_word(_text(node) or "unknown")
    if not status or isinstance(node, Sequence):
        return text
    return set_key(text, ("verification",), {"last_verified_commit": None, "status": status})


def kind(source: OlderDocument) -> str:
    """Replace older words for a kind; set a missing kind to that of the folder."""
    word = _text(source.header.get("kind"))
    wanted = kind_of_word(word or "", source.kind)
    return source.text if word == wanted else set_key(source.text, ("kind",), wanted)


def title(source: OlderDocument) -> str:
    """Set a missing title to the first heading, or derive it from the file name."""
    if not _is_empty(source.header.get("title")):
        return source.text
    first = next((mark.text.strip() for mark in headings(source.body or "") if mark.text.strip()), "")
    words = re.sub(r"[-_.]+", " ", _stem(source.path)).strip().capitalize()
    return set_key(source.text, ("title",), first or words)


def identity(source: OlderDocument) -> str:
    """Derive a missing id from the file name: ``fact_testing_coverage.md`` and ``testing.coverage.md`` become
    ``fact.testing.coverage``, ``ADR-0007-use-jwt.md`` ``adr.use-jwt``, ``ADR-0007.md`` ``adr.0007``."""
    if not _is_empty(source.header.get("id")):
        return source.text
    kind = _text(source.header.get("kind")) or source.kind
    stem = _stem(source.path).lower()
    number = _NUMBERED.fullmatch(stem) if kind == "adr" else None
    if stem == kind:
        wanted = kind
    elif number is not None:
        wanted = f"adr.{number[2] or number[1]}"
    elif stem.startswith(f"{kind}_"):
        wanted = stem.replace("_", ".")
    else:
        wanted = f"{kind}.{stem.removeprefix(f'{kind}.')}"
    return set_key(source.text, ("id",), wanted) if is_document_id(wanted) else source.text


def _stem(path: str) -> str:
    return posixpath.splitext(posixpath.basename(path))[0]


def tags(source: OlderDocument) -> str:
    """Convert ``tags`` in one string to a list, split at commas or, if there are none, at spaces. Tag a
    document without tags with its kind, because Thunderus rejects documents without tags."""
    node = source.header.get("tags")
    if isinstance(node, Mapping) or (isinstance(node, Sequence) and node.items):
        return source.text
    found = tag_words(_text(node) or "")
    return set_key(source.text, ("tags",), list(found) or [source.kind])


def times(source: OlderDocument) -> str:
    """Convert ``created`` and ``updated`` to RFC 3339 times, with midnight and UTC as defaults. Take a
    missing one from ``created_at``, ``date``, ``updated_at``, ``modified`` or similar keys, from the other of
    the two, or from git."""
    header, text = source.header, source.text
    created, updated = (_text(header.get(name)) for name in ("created", "updated"))
    made = convert_timestamp(created or "") or _first(header, _MADE)
    changed = convert_timestamp(updated or "") or _first(header, _CHANGED)
    first, last = source.dates
    pairs = (("created", created, made or changed or first), ("updated", updated, changed or made or last))
    for name, word, wanted in pairs:
        if wanted and word != wanted and (word is None or convert_timestamp(word)):
            text = set_key(text, (name,), wanted)
    return text


def _first(header: Mapping, names: tuple[str, ...]) -> str:
    return next((found for name in names if (found := convert_timestamp(_text(header.get(name)) or ""))), "")


def links(source: OlderDocument) -> str:
    """Convert ``links`` to a mapping of relations to lists: a bare list of ids becomes ``refers_to``, a
    single id a list."""
    node, text = source.header.get("links"), source.text
    if isinstance(node, Mapping):
        for relation in RELATIONS:
            one = _text(node.get(relation))
            if one is not None:
                text = set_key(text, ("links", relation), [one])
        return text
    ids = _listed(node)
    return set_key(text, ("links",), {"refers_to": ids}) if ids else text


def quotes(source: OlderDocument) -> str:
    """Quote values that YAML 1.1 readers would not read as strings (``no``, ``012``, ``1:30``)."""
    values = [value for _, value in ambiguous(source.header)]
    return quote_values(source.text, values) if values else source.text


_STEPS: Final = (
    *(header_first, nested_provenance, nested_verification, provenance, verification),
    *(kind, title, identity, tags, times, links, quotes),
)
MIGRATIONS: Final = tuple(Migration(step.__name__.replace("_", "-"), step) for step in _STEPS)
"""Every step, in the order in which they run."""


_SECTION: Final = lazy_pattern(r"\s*\[\s*([A-Za-z0-9_-]+)\s*\]\s*(?:#.*)?", re.ASCII)
_SETTING: Final = lazy_pattern(r"(\s*)([A-Za-z0-9_-]+)(\s*=.*)", re.ASCII | re.DOTALL)


def migrated_rules(text: str) -> str:
    """Rename the keys of ``gardener.toml`` that had other names; comments, values and other keys stay.

    A renamed key moves to the end of its section, which is added if missing. A file that is not valid TOML,
    or whose other settings would change, stays as it is.
    """
    before = _settings(text)
    if before is None or not any(name in OLDER_NAMES for name in before):
        return text
    kept, moved = _sorted_out(text.splitlines(keepends=True))
    line_end = "\r\n" if "\r\n" in text else "\n"
    for name, line in moved:
        section, _, key = name.partition(".")
        kept = _with(kept, section, line.replace("\0", key), line_end)
    after = "".join(kept)
    return after if _settings(after) == _renamed(before) else text


def _settings(text: str) -> dict[str, Any] | None:
    """Every key with its value; ``None`` for invalid TOML."""
    try:
        table = tomllib.loads(text.removeprefix("\ufeff"))
    except (tomllib.TOMLDecodeError, RecursionError):
        return None
    found: dict[str, Any] = {}
    for section, content in table.items():
        below = content.items() if isinstance(content, dict) else ()
        found.update({f"{section}.{name}": value for name, value in below})
        if not isinstance(content, dict):
            found[section] = content
    return found


def _renamed(settings: dict[str, Any]) -> dict[str, Any]:
    older = {
        OLDER_NAMES[name]: OLDER_VALUES.get(str(value), value)
        for name, value in settings.items()
        if name in OLDER_NAMES
    }
    return older | {name: value for name, value in settings.items() if name not in OLDER_NAMES}


def _sorted_out(lines: list[str]) -> tuple[list[str], list[tuple[str, str]]]:
    """The lines that stay, and of each older key its present name and its line, the key's place marked."""
    kept, moved = [], []
    section = ""
    for line in lines:
        head, setting = _SECTION.fullmatch(line.rstrip("\r\n")), _SETTING.fullmatch(line)
        section = head[1] if head is not None else section
        name = OLDER_NAMES.get(f"{section}.{setting[2]}") if setting is not None else None
        if name is None or setting is None:
            kept.append(line)
        else:
            moved.append((name, f"{setting[1]}\0{_present(name, setting[3])}"))
    return [line for at, line in enumerate(kept) if not _is_emptied(kept, at, lines)], moved


def _present(name: str, rest: str) -> str:
    """What follows a key, with the value's present word."""
    if KEY_BY_NAME[name].type != "choice":
        return rest
    for older, word in OLDER_VALUES.items():
        rest = re.sub(rf"(['\"]){older}\1", f'"{word}"', rest, count=1)
    return rest


def _is_emptied(kept: list[str], at: int, lines: list[str]) -> bool:
    """Whether this line heads a section all of whose keys have moved away."""
    if _SECTION.fullmatch(kept[at].rstrip("\r\n")) is None:
        return False
    return not _has_keys(kept, at) and _has_keys(lines, lines.index(kept[at]))


def _has_keys(lines: list[str], at: int) -> bool:
    for line in lines[at + 1 :]:
        if _SECTION.fullmatch(line.rstrip("\r\n")):
            return False
        if line.strip() and not line.lstrip().startswith("#"):
            return True
    return False


def _with(lines: list[str], section: str, line: str, line_end: str) -> list[str]:
    """The lines with one more at the end of a section."""
    heads = [
        (at, head[1]) for at, one in enumerate(lines) if (head := _SECTION.fullmatch(one.rstrip("\r\n")))
    ]
    place = next((at for at, name in heads if name == section), None)
    line = line if line.endswith("\n") else line + line_end
    if place is None:
        lead = [] if not lines or lines[-1].endswith("\n") else [line_end]
        gap = [line_end] if lines else []
        return [*lines, *lead, *gap, f"[{section}]{line_end}", line]
    end = next((at for at, _ in heads if at > place), len(lines))
    while end > place + 1 and not lines[end - 1].strip():
        end -= 1
    if not lines[end - 1].endswith("\n"):
        lines[end - 1] += line_end
    return [*lines[:end], line, *lines[end:]]


OP = "migrate"
_AT_ONCE = 64
_ROOM = 40 * 1024


class MigratedFile(NamedTuple):
    """One file to migrate: the steps that change it, and the diff.

    ``path`` is its new path; ``moved_from`` is its current path if different. ``diff`` is empty if it only
    moves, ``None`` if it is too long to show.
    """

    path: str
    id: str
    steps: tuple[str, ...]
    diff: str | None
    moved_from: str = ""


class NotMigrated(NamedTuple):
    """A file that needs manual changes, and why."""

    path: str
    reason: str


class MigrationReport(NamedTuple):
    """The changes that `migrate` would make or, with ``applied``, made.

    ``version`` is the store's format version by its schemas, 0 if it has none; ``present`` is that of this
    program. ``files`` are missing or outdated files of the store other than documents. ``published`` is false
    if an event is on disk but a file is not yet; the next command writes it.
    """

    version: int
    present: int
    changes: tuple[MigratedFile, ...]
    files: tuple[str, ...]
    left: tuple[NotMigrated, ...]
    applied: bool = False
    recorded: tuple[str, ...] = ()
    published: bool = True

    @property
    def due(self) -> bool:
        """Whether there is anything to do."""
        return bool(self.changes or self.files)


@dataclass(slots=True)
class _Dates:
    """Commit times of documents without dates of their own, asked from git before taking the lock."""

    known: dict[str, tuple[str, str]] = field(default_factory=dict)
    wanted: set[str] = field(default_factory=set)


class _File(NamedTuple):
    change: MigratedFile
    before: str
    after: str


def migrate(memory: Memory, *, apply: bool = False, why: str = "") -> MigrationReport:
    """Compute the changes that convert documents, gardener rules and schemas to the current format.

    With ``apply`` they are written: documents and rules as one change that `undo` can revert, then the other
    files of the store. Old lines of the log stay the same. Raises `Refused` for a store of a later version,
    `NotWritable` if a folder of documents cannot be listed.
    """
    refuse_newer(memory.layout, memory.config)
    refuse_unlisted(scan(memory.root, FOLDERS).unlisted)
    if apply:
        settle(memory, OP)
    memory.refresh()
    version, dates = version_of_schemas(memory.layout), _Dates()
    files, left = _plan(memory, dates)
    if dates.wanted and memory.git is not None:
        dates.known = added_dates(memory.git, sorted(dates.wanted))
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
        report = _write(memory, report, dates, why=why)
    if report.published:
        update_files(memory)
    return report._replace(applied=True)


def _write(memory: Memory, report: MigrationReport, dates: _Dates, *, why: str) -> MigrationReport:
    """Write the converted files, and report what was written."""
    written: set[str] = set()
    with open_transaction(memory, OP) as transaction:
        files, left = _plan(memory, dates)
        for edits in _batches(files):
            transaction.commit(OP, edits, why=why or f"to version {FORMAT}")
            written.update(edit.path for edit in edits if edit.after is not None)
            if not transaction.outcome.published:  # a write failed, and the next batch may need that file
                break
    return report._replace(
        changes=tuple(file.change for file in files if file.change.path in written),
        left=tuple(left),
        recorded=transaction.outcome.recorded,
        published=transaction.outcome.published,
    )


def _batches(files: list[_File]) -> Iterator[list[FileChange]]:
    """The edits in order, as many per event as fit with their diffs; a file is moved first, then changed."""
    for file in files:
        if file.change.moved_from:
            id, old, new = file.change.id, file.change.moved_from, file.change.path
            yield [FileChange(id, old, file.before, None, True), FileChange(id, new, None, file.before, True)]
    batch: list[FileChange] = []
    room = _ROOM
    for file in files:
        size = len(file.change.diff or "")
        if batch and (len(batch) == _AT_ONCE or size > room):
            yield batch
            batch, room = [], _ROOM
        if file.after != file.before:
            batch.append(FileChange(file.change.id, file.change.path, file.before, file.after))
            room -= size
    if batch:
        yield batch


def _plan(memory: Memory, dates: _Dates) -> tuple[list[_File], list[NotMigrated]]:
    """The files to migrate in the order of their paths, and the files that need manual changes."""
    files: list[_File] = []
    left: list[NotMigrated] = []
    given: set[str] = set()
    paths = [path for path, _, _ in memory.index.files()]
    every = sorted({*paths, *_older_paths(memory)})
    for done, path in enumerate(every):
        memory.tell("Checking documents:", done, len(every))
        found = _document(memory, path, given, dates)
        if isinstance(found, NotMigrated):
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


def _document(memory: Memory, path: str, given: set[str], dates: _Dates) -> _File | NotMigrated | None:
    """The migration of a document; ``None`` if it is up to date. ``given`` are ids assigned to others."""
    place = present_place(path)
    target = place or path
    kind = kind_of(target)
    text = _text_of(memory, path)
    if kind is None or text is None:
        return (
            None if kind is None else NotMigrated(path, "not a readable text file; see `thunderus-mem lint`")
        )
    if place is not None and os.path.lexists(memory.layout.at(place)):
        return NotMigrated(path, f"cannot move to {place}: the file already exists; merge them by hand")
    reading = read_document(target, text.encode())
    if place is None and reading.document is not None and is_present(reading.document):
        return None
    after, steps = migrated(OlderDocument(target, kind, text, dates.known.get(path, ("", ""))))
    reading = read_document(target, after.encode())
    if reading.document is not None and not reading.document.created:
        dates.wanted.add(path)
    if reading.document is None:
        return _not_migrated(path, reading.problems[0], found=place is not None or steps != ())
    if not steps and place is None:
        return None
    if holds_secret(text):
        return NotMigrated(path, "contains a possible secret; remove it first")
    if path == CORE_LOCAL_FILE:
        return NotMigrated(
            path, "personal files are not logged; change it by hand with the help of `thunderus-mem lint`"
        )
    id = reading.document.id
    row = memory.index.get(id)
    if "identity" in steps and (id in given or (row is not None and row.path != path)):
        return NotMigrated(path, f"has no id, and {id!r} is taken; choose one")
    names = (*(("place",) if place else ()), *steps)
    diff = unified_diff(text, after, target)
    return _File(MigratedFile(target, id, names, diff, path if place else ""), text, after)


def _not_migrated(path: str, problem: Diagnostic, *, found: bool) -> NotMigrated | None:
    """The entry for a file that needs manual changes; ``None`` if only lint should report it."""
    if problem.rule == "TM004":
        return NotMigrated(
            path,
            "no frontmatter; move it out of the store and import it with `thunderus-mem import markdown`",
        )
    message = problem.message[:1].lower() + problem.message[1:].rstrip(".")
    return NotMigrated(path, message) if found else None


def _text_of(memory: Memory, path: str) -> str | None:
    try:
        return read_file(inside(memory.root, path), MAX_DOCUMENT).decode("utf-8")
    except (ThunderusError, UnicodeDecodeError):
        return None


def _rules(memory: Memory) -> _File | None:
    """The migration of the gardener's rules."""
    try:
        text = read_file(memory.layout.gardener_file, MAX_DOCUMENT).decode("utf-8")
    except (NotFound, UnicodeDecodeError):
        return None
    after = migrated_rules(text)
    if after == text:
        return None
    diff = unified_diff(text, after, GARDENER_FILE)
    return _File(MigratedFile(GARDENER_FILE, "", ("rule-names",), diff), text, after)
