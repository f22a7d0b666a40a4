"""Convert one foreign Markdown file to a document of the store, field by field. Pure.

The input is bytes and facts, the output text and notes. The body is kept byte for byte, and so is every
frontmatter line whose meaning does not conflict with ours. A value that does not match our schema is
replaced, and the original is kept under ``metadata``, with a note. Unquoted values that are meant as strings
but are not valid YAML (``globs: **/*.ts`` in editor rules, ``assignee: [@ann]``, ``title: Fix: a bug``) are
quoted.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final

from thunderus_mem.authoring.sources import file_date, without_number
from thunderus_mem.document import ids
from thunderus_mem.document.document import read_document, source_hash
from thunderus_mem.document.frontmatter.edit import remove_key, set_key
from thunderus_mem.document.frontmatter.read import find_fences
from thunderus_mem.document.frontmatter.write import flow_value
from thunderus_mem.document.markdown import headings
from thunderus_mem.document.profile import tag_key
from thunderus_mem.document.references import rebased
from thunderus_mem.document.schema import DOCUMENT, check, is_valid_fast
from thunderus_mem.document.timestamp import parse_timestamp, utc_key
from thunderus_mem.document.unicode import BOM
from thunderus_mem.errors import InvalidDocument, ThunderusError
from thunderus_mem.interop import decisions
from thunderus_mem.interop.posts import in_yaml, read_post, write_post
from thunderus_mem.startup import NamedTuple, lazy_pattern

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Mapping, Sequence

    from thunderus_mem.document.document import Document, Reading
    from thunderus_mem.document.markdown import Heading

# Maximum number of repaired lines per header; each is parsed again.
_MOST: Final = 50
_BEFORE = lazy_pattern(r" {0,40}(?:- {1,8})?(?:([A-Za-z_][\w-]{0,60}):(?: {1,40}|$))?", re.ASCII)
_QUOTABLE = frozenset(["TM006", "TM009"])
_NOT_PLAIN = tuple("\"'|>&!{#")
_FLOW_ITEM = lazy_pattern(r"""\s*("[^"]*"|'[^']*'|[^\s,"'\[\]{}][^,"'\[\]{}]*)\s*(?:,|$)""")


def read_foreign(path: str, data: bytes) -> tuple[Reading, tuple[str, ...]]:
    """Read a file like `read_document`, with frontmatter in TOML or JSON as YAML, and unquoted strings that
    are not valid YAML quoted; and a note for each."""
    data, format = in_yaml(data)
    reading, notes = _read_yaml(path, data)
    return reading, ((f"frontmatter converted from {format} to YAML", *notes) if format else notes)


def _read_yaml(path: str, data: bytes) -> tuple[Reading, tuple[str, ...]]:
    """Read a file like `read_document`, with unquoted strings that are not valid YAML quoted; and a note for
    each.

    A header with any other error is returned as it is in the file.
    """
    first = reading = read_document(path, data)
    notes: list[str] = []
    while reading.header is None and reading.text is not None and len(notes) < _MOST:
        line = next((one.line for one in reading.problems if one.rule in _QUOTABLE), 0)
        fixed = _quoted(reading.text, line) if line else None
        if fixed is None:
            return first, ()
        notes.append(fixed[1])
        reading = read_document(path, fixed[0].encode("utf-8", "surrogatepass"))
    return (first, ()) if reading.header is None and notes else (reading, tuple(dict.fromkeys(notes)))


def _quoted(text: str, number: int) -> tuple[str, str] | None:
    """Quote the value on a line (from 1), or each item of its list, with a note; ``None`` if it is not a
    plain string, or quoted already."""
    lines = text.split("\n")
    line = lines[number - 1]
    before = _BEFORE.match(line)
    if before is None or not before[0].strip():
        return None
    value = line[before.end() :].partition(" #")[0].rstrip()
    if value.startswith("[") and value.endswith("]"):
        items = _flow_items(value[1:-1])
        written = f"[{', '.join(map(_in_quotes, items))}]" if items else value
    elif not value or value.startswith(_NOT_PLAIN) or (value[0] == "[" and "]" not in value):
        return None
    else:
        written = _in_quotes(value)
    if written == value:
        return None
    lines[number - 1] = line[: before.end()] + written + line[before.end() + len(value) :]
    name = before[1] or "list item"
    return "\n".join(lines), f"{name}: quoted, because the value is not valid YAML"


def _flow_items(text: str) -> list[str]:
    """The items of a flat list; none if it contains anything but plain and quoted strings."""
    items, at = [], 0
    while at < len(text):
        found = _FLOW_ITEM.match(text, at)
        if found is None:
            return []
        items.append(found[1].rstrip())
        at = found.end()
    return items


def _in_quotes(value: str) -> str:
    if value.startswith(('"', "'")):
        return value
    return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'


# Fields of a document, from the header and the place of a foreign file

_MOST_TITLE: Final = 200
_FOLDER_DOCUMENTS = frozenset(["readme", "index"])


@dataclass(frozen=True, slots=True)
class Dates:
    """When a file was created and last changed, RFC 3339; empty if unknown."""

    created: str = ""
    updated: str = ""


@dataclass(frozen=True, slots=True)
class Taken:
    """Names taken by stored documents and files planned before: ids and file paths (folded), numbers of
    decisions, and document ids by a digest of the body.

    ``wanted`` are the numbers of files in the imported folder: no other file gets one of them.
    """

    ids: set[str] = field(default_factory=set)
    paths: set[str] = field(default_factory=set)
    numbers: set[int] = field(default_factory=set)
    wanted: set[int] = field(default_factory=set)
    bodies: dict[str, str] = field(default_factory=dict)

    def put(self, made: Imported, body: str) -> None:
        """Add a planned document."""
        self.bodies[body] = made.file.id
        self.ids.update(map(ids.fold_key, made.names))
        self.paths.add(ids.fold_key(made.file.path))
        if made.number is not None:
            self.numbers.add(made.number)


@dataclass(frozen=True, slots=True)
class Options:
    """Options of an import: the folder of the kind, tags for all documents, the current time, the origin.

    ``origin`` is the prefix of the recorded source of a file. ``events`` and ``patches`` become the
    provenance of each document. With ``main`` a core document becomes the main core document if the store
    has none. ``mapping`` maps foreign fields to ours; ``day_first`` is the order in dates with the year last.
    ``document`` is the document that was imported from the file before: the new text has its id, kind and
    path.
    """

    folder: str
    now: str
    tags: tuple[str, ...] = ()
    origin: str = ""
    events: tuple[str, ...] = ()
    patches: tuple[str, ...] = ()
    main: bool = False
    mapping: tuple[tuple[str, str], ...] = ()
    day_first: bool | None = None
    document: Document | None = None

    def origin_of(self, path: str) -> str:
        """The recorded source of a file of the folder."""
        return f"{self.origin}/{path}" if self.origin else path


@dataclass(slots=True)
class Draft:
    """A document in the making: keys to set, original values to keep, notes."""

    data: Mapping[str, Any]
    edits: dict[str, Any] = field(default_factory=dict)
    moved: dict[str, Any] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def replace(self, key: str, value: Any, why: str) -> None:
        """Replace the value of ``key`` and keep the original."""
        self.edits[key] = value
        given = self.data.get(key)
        if given not in (None, "", [], {}):
            self.moved[key] = given
            self.notes.append(f"{key}: changed to {flow_value(value)} ({why}); original kept under metadata")

    def take(self, key: str, value: Any, source: str) -> None:
        """Set ``key`` to the value of another field."""
        self.edits[key] = value
        given = self.data.get(key)
        if given not in (None, "", [], {}, value):
            self.moved[key] = given
        self.data = {**self.data, key: value}
        self.notes.append(f"{key}: taken from {source}")


def set_title(draft: Draft, path: str, kind: str, heading: str, decision: decisions.DecisionRecord) -> str:
    """Keep the file's own title, otherwise take it from the heading (of a decision without its number) or the
    file name, cut to 200 characters. A file name with a blank is a title as it is."""
    given = draft.data.get("title")
    if isinstance(given, str) and given.strip():
        return given
    title = decisions.plain_title(heading)
    if kind == "adr":
        _, title = decisions.split_title(heading, decision.number)
    if not title:
        folder, name = os.path.split(os.path.splitext(path)[0])
        if name.lower() in _FOLDER_DOCUMENTS and folder:
            name = os.path.basename(folder)
        title = name.strip() if " " in name.strip() else name.replace("-", " ").replace("_", " ").strip()
        title = title[:1].upper() + title[1:] or "Untitled"
        draft.notes.append(f"no heading for the whole text; title {title!r} taken from the file name")
    if len(title) > _MOST_TITLE:
        title = f"{title[:_MOST_TITLE].rstrip()}…"
    draft.replace("title", title, "a title is a string")
    return title


def set_identity(draft: Draft, path: str, kind: str, title: str, taken: Taken, *, main: bool = False) -> str:
    """Keep the file's own id if it is valid and free, otherwise derive one from the title, path or a counter.

    With ``main`` the id is the kind (``core``) if that is free.
    """
    if draft.data.get("kind") != kind:
        draft.replace("kind", kind, "requested kind")
    given = draft.data.get("id")
    if main and kind not in taken.ids:
        if given != kind:
            draft.replace("id", kind, "main core document")
        return kind
    if isinstance(given, str) and ids.is_document_id(given) and ids.fold_key(given) not in taken.ids:
        return given
    words = title
    if kind == "recap" and not file_date(title):
        words = f"{file_date(os.path.basename(path)) or ''} {title}"
    made = ids.new_document_id(kind, words)
    if made in taken.ids:
        folder, name = os.path.split(os.path.splitext(path)[0])
        made = ids.new_document_id(kind, f"{folder} {without_number(name)}")
    base, count = made, 1
    while made in taken.ids:
        count += 1
        made = f"{base}-{count}"
    why = "id already taken" if isinstance(given, str) and ids.fold_key(given) in taken.ids else "invalid id"
    draft.replace("id", made, why)
    return made


def keep_identity(draft: Draft, document: Document) -> None:
    """Set id and kind to those of the document."""
    for key, value in (("kind", document.kind), ("id", document.id)):
        if draft.data.get(key) != value:
            draft.replace(key, value, "imported before")


def choose_number(draft: Draft, decision: decisions.DecisionRecord, taken: Taken) -> int:
    wanted = decision.number
    if wanted is not None and wanted not in taken.numbers:
        return wanted
    free = max(max(taken.numbers, default=0), max(taken.wanted, default=0)) + 1
    if wanted is not None:
        draft.notes.append(f"number {wanted} is taken; using {free}")
    return free


def free_path(
    folder: str, document_id: str, kind: str, number: int | None, taken: Container[str] = ()
) -> str:
    """The path of a new document; ``taken`` are the folded paths of the others."""
    if document_id == kind == "core":
        return f"{folder}/CORE.md"
    prefix = f"ADR-{number:04d}-" if number is not None else ""
    room = ids.MAX_NAME - len(prefix)
    stem = ids.file_stem(document_id, kind)
    if len(stem) > room:
        stem = f"{stem[: room - 7].rstrip('.-_')}-{ids.short_hash(document_id)}"
    path, count = f"{folder}/{prefix}{stem}.md", 1
    while ids.fold_key(path) in taken:
        count += 1
        path = f"{folder}/{prefix}{stem[: room - 4]}-{count}.md"
    return path


def set_aliases(draft: Draft, path: str, target: str, taken: Taken) -> tuple[str, ...]:
    """Add the name of the file, without its extension, to the aliases if it is free and the new file has
    another name; return them."""
    given = draft.data.get("aliases")
    aliases = [alias for alias in given if isinstance(alias, str)] if isinstance(given, list) else []
    stem, own = (os.path.splitext(os.path.basename(one))[0] for one in (path, target))
    known, key = {*map(ids.fold_key, (*aliases, own)), *_FOLDER_DOCUMENTS}, ids.fold_key(stem)
    if key not in known and key not in taken.ids and given in (None, aliases):
        aliases.append(stem)
        draft.edits["aliases"] = aliases
    return tuple(aliases)


def set_tags(draft: Draft, path: str, options: Options) -> str:
    """Set the tags of the file and the options; returns the tag made from the folder of a file without tags,
    "" for a file of the imported folder itself."""
    given = draft.data.get("tags")
    tags: list[str] = []
    if isinstance(given, str):
        parts = given.split(",") if "," in given else given.split()
        tags = [part.strip().lstrip("#") for part in parts if part.strip().lstrip("#")]
    elif isinstance(given, list):
        tags = [str(tag) for tag in given if isinstance(tag, str | int | float) and str(tag).strip()]
    kept = tags == given
    made = "" if tags else ids.slug(os.path.basename(os.path.dirname(path)))
    if made in map(tag_key, options.tags):
        made = ""
    wanted = list(dict.fromkeys([*tags, *([made] if made else []), *options.tags]))
    if not kept:
        draft.replace("tags", wanted, "tags must be a list of words")
    elif wanted != given:
        draft.edits["tags"] = wanted
    return made


def timestamp_of(value: Any) -> str:
    """An RFC 3339 time from a time, or from a day (its midnight); else empty."""
    text = str(value).strip() if isinstance(value, str) else ""
    if parse_timestamp(text):
        return text
    spaced = text.replace(" ", "T", 1)
    for candidate in (spaced, f"{spaced}Z", f"{text}T00:00:00Z", f"{spaced}:00Z"):
        if parse_timestamp(candidate):
            return candidate
    return ""


def set_dates(draft: Draft, stem: str, decision: decisions.DecisionRecord, dates: Dates, now: str) -> None:
    data = draft.data
    own = timestamp_of(data.get("created"))
    created = (
        own or timestamp_of(data.get("date")) or timestamp_of(decision.date) or timestamp_of(file_date(stem))
    )
    created = created or dates.created or now
    changed = next(
        (found for key in ("updated", "lastmod", "modified") if (found := timestamp_of(data.get(key)))), ""
    )
    updated = changed or dates.updated or created
    if utc_key(updated) < utc_key(created) and not _is_set(data, "updated"):
        updated = created
    for key, value in (("created", created), ("updated", updated)):
        if not _is_set(data, key):
            draft.replace(key, value, "a time needs an hour and an offset (RFC 3339)")
    if decision.unread_date:
        draft.notes.append(f"ambiguous or invalid date {decision.unread_date!r}; not used")


def _is_set(data: Mapping[str, Any], key: str) -> bool:
    value = data.get(key)
    return isinstance(value, str) and parse_timestamp(value) is not None


def set_records(draft: Draft, options: Options) -> None:
    """Set provenance, to which a file in our format may add, and verification, which no file can bring."""
    found = draft.data.get("provenance")
    given = found if isinstance(found, dict) else {}
    added = {"events": options.events, "patches": options.patches}
    if "commits" in given:
        added["commits"] = ()
    wanted = {key: [*_ids(given.get(key)), *new] for key, new in added.items()}
    if isinstance(found, dict) and all(wanted[key] == found[key] for key in wanted if key in found):
        draft.edits |= {f"provenance.{key}": items for key, items in wanted.items() if key not in found}
    elif isinstance(found, dict) and all(isinstance(found.get(key, []), list) for key in wanted):
        draft.edits |= {f"provenance.{key}": items for key, items in wanted.items()}
    else:
        draft.replace("provenance", wanted, "provenance must have lists of events, patches and commits")
    unknown = {"last_verified_commit": None, "status": "unknown"}
    if draft.data.get("verification") != unknown:
        draft.replace("verification", unknown, "a file cannot say that it was verified here")


def _ids(value: Any) -> list[str]:
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []


_TEXTS: Final = ("title", "author", "type", "category", "source")
_LISTS: Final = ("tags", "aliases")
_TIMES: Final = ("created", "updated")
_RELATIONS: Final = {
    "supersedes": (decisions.SUPERSEDES, False),
    "superseded_by": (decisions.SUPERSEDES, True),
    "refers_to": (decisions.REFERS, False),
    "derives_from": ("derives_from", False),
    "duplicates": ("duplicates", False),
}
FIELDS: Final = (*_TEXTS, *_LISTS, *_TIMES, *_RELATIONS)
_LINE = lazy_pattern(r"\s{0,3}(?:[-*+]\s+)?[*_]{0,2}([^:*_\[\]]{1,40})[*_]{0,2}\s*:\s*[*_]{0,2}\s*(.*)")
_LINES = 60


def read_mapping(given: Iterable[str]) -> tuple[tuple[str, str], ...]:
    """Parse ``THEIRS=OURS`` into pairs. Raises `ThunderusError` for an unknown field of ours."""
    pairs = []
    for item in given:
        theirs, equals, ours = (part.strip() for part in item.partition("="))
        name = ours.replace("-", "_").lower()
        if not equals or not theirs:
            raise ThunderusError(f"invalid value {item!r} for --map", hint="use THEIRS=OURS")
        if name not in FIELDS:
            raise ThunderusError(f"unknown field {ours!r}", hint=f"use one of: {', '.join(FIELDS)}")
        pairs.append((theirs, name))
    return tuple(pairs)


def apply_mapping(
    mapping: Iterable[tuple[str, str]], draft: Draft, body: str, *, day_first: bool | None = None
) -> list[decisions.RelationMention]:
    """Set the mapped fields, and return the relations in mapped fields."""
    mentions: list[decisions.RelationMention] = []
    for theirs, ours in mapping:
        value = _value(theirs, draft.data, body)
        if value in (None, "", [], {}):
            continue
        if ours in _RELATIONS:
            rel, backwards = _RELATIONS[ours]
            mentions += decisions.value_mentions(value, rel, theirs, backwards=backwards)
        elif ours in _TIMES:
            _take_time(draft, ours, theirs, value, day_first)
        elif ours in _LISTS:
            before = draft.data.get(ours)
            known = before if isinstance(before, list) else []
            draft.take(ours, list(dict.fromkeys([*map(str, known), *_words(value)])), theirs)
        else:
            draft.take(ours, ", ".join(_words(value)) if isinstance(value, list) else str(value), theirs)
    return mentions


def _take_time(draft: Draft, ours: str, theirs: str, value: Any, day_first: bool | None) -> None:
    text = str(value)
    when = timestamp_of(text) or timestamp_of(decisions.day_in(text, day_first=day_first))
    if when:
        draft.take(ours, when, theirs)
    else:
        draft.notes.append(f"{theirs}: cannot read the date {text!r}; not used for {ours}")


def _words(value: Any) -> list[str]:
    """The items of a list, or of a comma-separated text."""
    items = value if isinstance(value, list) else str(value).split(",")
    return [word for item in items if (word := str(item).strip().lstrip("#").strip())]


def _value(name: str, data: Mapping[str, Any], body: str) -> Any:
    wanted = _plain(name)
    for key, value in data.items():
        if _plain(key) == wanted:
            return value
    for line in body.splitlines()[:_LINES]:
        found = _LINE.match(line)
        if found and _plain(found[1]) == wanted:
            return found[2].strip()
    return None


def _plain(name: str) -> str:
    """Normalize a name for comparison: ignore case, spaces, ``-`` and ``_``."""
    return "".join(char for char in name.casefold() if char.isalnum())


_NO_HEADER = frozenset(["TM004", "TM005"])
EMPTY: Final = "empty file"
"""The reason to skip a file without text; nothing in it has to be fixed."""


@dataclass(frozen=True, slots=True)
class ImportedFile:
    """The result for one file: a document (``id``, ``path``, ``title``), or the ``reason`` why it was
    skipped.

    ``kept`` are unchanged keys of its frontmatter, ``changed`` those with a new value (the original is under
    ``metadata``), ``links`` the relations found in it, ``decision_status`` the state of a decision. ``notes``
    are for people. ``refused``: it was skipped because something in it has to be fixed. ``updated``: changes
    of the file were merged into the document imported from it before; ``conflict`` is the difference, as a
    diff from the document to the file, if they could not be.
    """

    source: str
    imported: bool = False
    id: str = ""
    path: str = ""
    title: str = ""
    notes: tuple[str, ...] = ()
    reason: str = ""
    kept: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    links: tuple[tuple[str, str], ...] = ()
    decision_status: str = ""
    refused: bool = False
    updated: bool = False
    conflict: str = ""


class Imported(NamedTuple):
    """A converted document: its file, text, number (of an ADR), id and aliases; and from the foreign file:
    the facts of the decision record, and its own id.

    Of an updated document, ``decision`` has only the new relations, and ``dropped`` those that are gone.
    ``folder_tag`` is the one of its ``tags`` that was made from the folder, or "".
    """

    file: ImportedFile
    text: str
    number: int | None
    decision: decisions.DecisionRecord
    own_id: str
    names: tuple[str, ...]
    dropped: tuple[decisions.RelationMention, ...] = ()
    tags: tuple[str, ...] = ()
    folder_tag: str = ""


def import_document(
    path: str, data: bytes, kind: str, dates: Dates, taken: Taken, *, options: Options
) -> Imported | str:
    """Convert the bytes ``data`` of the file ``path`` (relative to its folder) to a document of kind
    ``kind``; or return the reason why not.

    Never raises because of the content; the same input gives the same result.
    """
    if any("\ud800" <= character <= "\udfff" for character in path):
        return "the file name is not UTF-8"
    reading, starred = read_foreign(path, data)
    text = reading.text
    if text is None:
        return _problem(reading)
    plain_note = _plain_reason(reading)
    if reading.header is None and plain_note is None:
        return f"invalid frontmatter: {_problem(reading)}"
    values, body = read_post(text) if plain_note is None else ({}, text.removeprefix(BOM))
    if not body.strip():
        return EMPTY
    stem = os.path.splitext(os.path.basename(path))[0]
    marks = _headings(body)
    first = marks[0].text if marks else ""
    draft = Draft(values)
    draft.notes.extend(starred)
    decision = _decision(draft, kind, stem, first, body, options)
    if plain_note:
        draft.notes.append(plain_note)
    title = set_title(draft, path, kind, first if _is_title(marks) else "", decision)
    document_id, number, target = _identity(draft, path, kind, title, decision, taken, options)
    names = set_aliases(draft, path, target, taken)
    folder_tag = set_tags(draft, path, options)
    set_dates(draft, stem, decision, dates, options.now)
    set_records(draft, options)
    source = {"imported_from": options.origin_of(path), "imported_sha256": source_hash(data)}
    linked = rebased(body, options.origin_of(path), target)
    try:
        if plain_note is None:
            made = _edit(text, draft, source).removesuffix(body) + linked
        else:
            made = _wrap(text, linked, draft, source)
        document = _checked(target, made, linked)
    except InvalidDocument as error:
        return f"cannot be converted to a valid document: {error}"
    own, touched = values.get("id"), {*draft.edits, *draft.moved}
    file = ImportedFile(
        path,
        imported=True,
        id=document.id,
        path=target,
        title=title,
        notes=tuple(draft.notes),
        kept=tuple(key for key in values if key not in touched),
        changed=tuple(key for key in values if key in touched),
        decision_status=decision.status,
    )
    own_id = str(own) if isinstance(own, str | int) else ""
    return Imported(
        file, made, number, decision, own_id, (document_id, *names), (), document.tags, folder_tag
    )


def _checked(path: str, text: str, body: str) -> Document:
    """The converted document; raises `InvalidDocument` if it is not valid or has another body."""
    reading = read_document(path, text.encode("utf-8", "surrogatepass"))
    if reading.document is None:
        raise InvalidDocument(_problem(reading))
    if reading.document.body != body:
        raise InvalidDocument("its text would change")
    return reading.document


def _headings(body: str) -> list[Heading]:
    """The headings with a text; the keys of another header are none."""
    fences = find_fences(body.lstrip())
    if fences is not None and ":" in body.lstrip()[fences.start : fences.end]:
        body = body.lstrip()[fences.body_start :]
    return [mark for mark in headings(body) if mark.text.strip()]


def _is_title(marks: Sequence[Heading]) -> bool:
    """Whether the first heading is for the whole text, not for one of several sections."""
    levels = [mark.level for mark in marks]
    return bool(levels) and (
        levels[0] == 1 or (levels.index(min(levels)) == 0 and levels.count(levels[0]) == 1)
    )


def _identity(
    draft: Draft,
    path: str,
    kind: str,
    title: str,
    decision: decisions.DecisionRecord,
    taken: Taken,
    options: Options,
) -> tuple[str, int | None, str]:
    """Set id and kind; return the id, the number of a new decision, and the path of the document."""
    if options.document is not None:
        keep_identity(draft, options.document)
        return options.document.id, None, options.document.path
    document_id = set_identity(draft, path, kind, title, taken, main=options.main)
    number = choose_number(draft, decision, taken) if kind == "adr" else None
    return document_id, number, free_path(options.folder, document_id, kind, number, taken.paths)


def _decision(
    draft: Draft, kind: str, stem: str, heading: str, body: str, options: Options
) -> decisions.DecisionRecord:
    """The facts of a decision record; for other kinds only the relations in mapped fields."""
    day_first = options.day_first
    found = decisions.DecisionRecord()
    if kind == "adr":
        found = decisions.read_decision(stem, heading, draft.data, body, day_first=day_first)
    mapped = apply_mapping(options.mapping, draft, body, day_first=day_first)
    number = decisions.split_title(heading, found.number)[0]
    if number is not None and found.number not in (None, number):
        draft.notes.append(
            f"number {number} in the heading, {found.number} in the file name; using {found.number}"
        )
    return replace(found, mentions=(*found.mentions, *mapped))


def _problem(reading: Reading) -> str:
    if not reading.problems:
        return "cannot be read"
    first = reading.problems[0]
    place = f" (line {first.line})" if first.line else ""
    wanted = f"; expected: {first.expected}" if first.expected else ""
    return f"{first.message[:1].lower()}{first.message[1:].rstrip('.')}{place}{wanted}"


def _plain_reason(reading: Reading) -> str | None:
    """``None`` if the file has frontmatter; otherwise a note about its beginning, often empty."""
    codes = {problem.rule for problem in reading.problems}
    text = (reading.text or "").removeprefix(BOM)
    if reading.header is not None:
        return None
    if "TM005" in codes:
        return "no closing `---` after the first line; the whole file is kept as text"
    if codes & _NO_HEADER:
        hugo = text.startswith("+++")
        return "invalid `+++` frontmatter; it is kept as text" if hugo else ""
    fences = find_fences(text)
    head = text[fences.start : fences.end] if fences is not None else ""
    if ":" not in head:
        return "the lines between `---` at the start are not frontmatter; they are kept as text"
    return None


def _wrap(text: str, body: str, draft: Draft, source: Mapping[str, str]) -> str:
    """Add a header to a text without one, with the line endings of that text."""
    made = write_post({**draft.edits, "metadata": dict(source)}, body)
    if text.startswith(BOM):
        draft.notes.append("byte order mark moved before the new frontmatter")
        made = BOM + made
    return made


def _edit(text: str, draft: Draft, source: Mapping[str, str]) -> str:
    """Set the drafted keys line by line; move conflicting values under ``metadata``."""
    for key, value in draft.edits.items():
        text = set_key(text, tuple(key.split(".")), value)
    for key in _foreign(text):
        draft.moved[key] = draft.data.get(key)
        draft.notes.append(f"{key}: moved under metadata, because it has another meaning here")
        text = remove_key(text, (key,))
    metadata = draft.data.get("metadata") if "metadata" not in draft.moved else None
    own = metadata if isinstance(metadata, dict) else {}
    replaced = {key: own[key] for key in source if own.get(key, source[key]) != source[key]}
    taken = {*own, *source}
    for key, value in (*replaced.items(), *draft.moved.items()):
        name = key
        while name in taken:
            name = f"original_{name}"
        taken.add(name)
        if name != key:
            draft.notes.append(f"{key}: kept as metadata.{name}, because metadata.{key} is used")
        text = set_key(text, ("metadata", name), value)
    for key, value in source.items():
        text = set_key(text, ("metadata", key), value)
    return text


def _foreign(text: str) -> list[str]:
    """Top-level keys whose values do not match the schema of documents."""
    document = read_document("document.md", text.encode("utf-8", "surrogatepass")).document
    if document is None:
        return []
    data = document.data()
    if is_valid_fast(DOCUMENT, data):
        return []
    found = check(DOCUMENT, data)
    return sorted({key for item in found if (key := item.key.partition(".")[0]) and key in data})
