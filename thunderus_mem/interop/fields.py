"""Which frontmatter keys an imported document needs set: identity, tags, times, records. Pure.

A value that fits is left alone; one that clashes is set anew and its original goes under ``metadata``.
"""

from __future__ import annotations

import os.path
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from thunderus_mem.interop.decisions import Decision, file_date, split_title, without_number
from thunderus_mem.model.ids import (
    MAX_NAME,
    file_stem,
    fold_key,
    is_document_id,
    new_document_id,
    short_hash,
    slug,
)
from thunderus_mem.model.timestamp import parse_timestamp, utc_key

if TYPE_CHECKING:
    from collections.abc import Mapping, Set

STATUSES = ("verified", "stale", "unknown")
_FOLDER_DOCUMENTS = frozenset(["readme", "index"])


@dataclass(frozen=True, slots=True)
class Dates:
    """When a file first and last changed, RFC 3339; empty when nobody knows."""

    created: str = ""
    updated: str = ""


@dataclass(frozen=True, slots=True)
class Taken:
    """What the store already has: ids, file paths (folded), numbers of decisions.

    ``wanted`` are the numbers that files of the same folder carry: nobody else gets one of them.
    """

    ids: Set[str] = frozenset()
    paths: Set[str] = frozenset()
    numbers: Set[int] = frozenset()
    wanted: Set[int] = frozenset()


@dataclass(frozen=True, slots=True)
class Options:
    """What the caller decides: the folder of the kind, tags for all, the time now, where the files lie.

    ``origin`` goes before the path of a file where its source is noted; ``folder_name`` is the folder's own.
    ``events`` and ``patches`` become the provenance of each document. With ``main`` a core document is the
    core itself, when the store has none. ``mapping`` says which foreign field gives which of ours;
    ``day_first`` how days with the year last are written.
    """

    folder: str
    now: str
    tags: tuple[str, ...] = ()
    origin: str = ""
    folder_name: str = ""
    events: tuple[str, ...] = ()
    patches: tuple[str, ...] = ()
    main: bool = False
    mapping: tuple[tuple[str, str], ...] = ()
    day_first: bool | None = None


@dataclass(slots=True)
class Draft:
    """A document in the making: keys to set, original values to keep, notes."""

    data: Mapping[str, Any]
    edits: dict[str, Any] = field(default_factory=dict)
    moved: dict[str, Any] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def replace(self, key: str, value: Any, why: str) -> None:
        """Set ``key`` anew and keep what stood there."""
        self.edits[key] = value
        given = self.data.get(key)
        if given not in (None, "", [], {}):
            self.moved[key] = given
            self.notes.append(f"{key} is now {value!r}: {why}; the original is under metadata")

    def take(self, key: str, value: Any, source: str) -> None:
        """Set ``key`` to what another field says."""
        self.edits[key] = value
        given = self.data.get(key)
        if given not in (None, "", [], {}, value):
            self.moved[key] = given
        self.data = {**self.data, key: value}
        self.notes.append(f"{key} is taken from {source}")


def set_title(draft: Draft, path: str, heading: str, decision: Decision) -> str:
    given = draft.data.get("title")
    if isinstance(given, str) and given.strip():
        return given
    _, title = split_title(heading, decision.number)
    if not title:
        folder, name = os.path.split(os.path.splitext(path)[0])
        if name.lower() in _FOLDER_DOCUMENTS and folder:
            name = os.path.basename(folder)
        title = name.replace("-", " ").replace("_", " ").strip().capitalize() or "Untitled"
        draft.notes.append(f"it has no heading: the title {title!r} comes from its name")
    draft.replace("title", title, "a title is text")
    return title


def set_identity(draft: Draft, path: str, kind: str, title: str, taken: Taken, *, main: bool = False) -> str:
    """Keep a fitting free id of the file's own, else make one: from the title, its path, then counted.

    With ``main`` the id is the kind itself, if that is free (``core``).
    """
    if draft.data.get("kind") != kind:
        draft.replace("kind", kind, "the import was asked for this kind")
    given = draft.data.get("id")
    if main and kind not in taken.ids:
        if given != kind:
            draft.replace("id", kind, "it is the core of this memory")
        return kind
    if isinstance(given, str) and is_document_id(given) and given not in taken.ids:
        return given
    words = title
    if kind == "recap" and not file_date(title):
        words = f"{file_date(os.path.basename(path)) or ''} {title}"
    made = new_document_id(kind, words)
    if made in taken.ids:
        folder, name = os.path.split(os.path.splitext(path)[0])
        made = new_document_id(kind, f"{folder} {without_number(name)}")
    base, count = made, 1
    while made in taken.ids:
        count += 1
        made = f"{base}-{count}"
    why = "that id is taken" if isinstance(given, str) and given in taken.ids else "it is no id here"
    draft.replace("id", made, why)
    return made


def choose_number(draft: Draft, decision: Decision, taken: Taken) -> int:
    wanted = decision.number
    if wanted is not None and wanted not in taken.numbers:
        return wanted
    free = max(max(taken.numbers, default=0), max(taken.wanted, default=0)) + 1
    if wanted is not None:
        draft.notes.append(f"number {wanted} is taken: the file gets {free}")
    return free


def free_path(folder: str, document_id: str, kind: str, number: int | None, taken: Taken) -> str:
    if document_id == kind == "core":
        return f"{folder}/CORE.md"
    prefix = f"ADR-{number:04d}-" if number is not None else ""
    room = MAX_NAME - len(prefix)
    stem = file_stem(document_id, kind)
    if len(stem) > room:
        stem = f"{stem[: room - 7].rstrip('.-_')}-{short_hash(document_id)}"
    path, count = f"{folder}/{prefix}{stem}.md", 1
    while fold_key(path) in taken.paths:
        count += 1
        path = f"{folder}/{prefix}{stem[: room - 4]}-{count}.md"
    return path


def set_tags(draft: Draft, path: str, options: Options) -> None:
    given = draft.data.get("tags")
    tags: list[str] = []
    if isinstance(given, str):
        parts = given.split(",") if "," in given else given.split()
        tags = [part.strip().lstrip("#") for part in parts if part.strip().lstrip("#")]
    elif isinstance(given, list):
        tags = [str(tag) for tag in given if isinstance(tag, str | int | float) and str(tag).strip()]
    kept = tags == given
    if not tags:
        name = os.path.basename(os.path.dirname(path)) or options.folder_name
        tags = [slug(name) or "imported"]
    wanted = list(dict.fromkeys([*tags, *options.tags]))
    if kept and wanted == given:
        return
    if kept:
        draft.edits["tags"] = wanted
        return
    draft.replace("tags", wanted, "tags are a list of words")


def moment(value: Any) -> str:
    """An RFC 3339 time from a time, or from a day (its midnight); else empty."""
    text = str(value).strip() if isinstance(value, str) else ""
    if parse_timestamp(text):
        return text
    spaced = text.replace(" ", "T", 1)
    for candidate in (spaced, f"{spaced}Z", f"{text}T00:00:00Z", f"{spaced}:00Z"):
        if parse_timestamp(candidate):
            return candidate
    return ""


def set_dates(draft: Draft, stem: str, decision: Decision, dates: Dates, now: str) -> None:
    data = draft.data
    own = moment(data.get("created"))
    created = own or moment(data.get("date")) or moment(decision.date) or moment(file_date(stem))
    created = created or dates.created or now
    changed = next(
        (found for key in ("updated", "lastmod", "modified") if (found := moment(data.get(key)))), ""
    )
    updated = changed or dates.updated or created
    if utc_key(updated) < utc_key(created) and not _is_set(data, "updated"):
        updated = created
    for key, value in (("created", created), ("updated", updated)):
        if not _is_set(data, key):
            draft.replace(key, value, "a time needs its hour and zone (RFC 3339)")
    if decision.unread_date:
        draft.notes.append(f"its date ({decision.unread_date}) could be two days, or none: it is not used")


def _is_set(data: Mapping[str, Any], key: str) -> bool:
    value = data.get(key)
    return isinstance(value, str) and parse_timestamp(value) is not None


def set_records(draft: Draft, options: Options) -> None:
    """Provenance and verification, kept where they have our shape."""
    found = draft.data.get("provenance")
    commits = _ids(found.get("commits")) if isinstance(found, dict) else []
    events = [*(_ids(found.get("events")) if isinstance(found, dict) else []), *options.events]
    patches = [*(_ids(found.get("patches")) if isinstance(found, dict) else []), *options.patches]
    wanted = {"events": events, "patches": patches, "commits": commits}
    if isinstance(found, dict) and all(
        wanted.get(key) == value for key, value in found.items() if key in wanted
    ):
        for key, items in wanted.items():
            if key not in found:
                draft.edits[f"provenance.{key}"] = items
    elif isinstance(found, dict) and all(isinstance(found.get(key, []), list) for key in wanted):
        draft.edits.update({f"provenance.{key}": items for key, items in wanted.items()})
    else:
        draft.replace("provenance", wanted, "provenance lists events, patches and commits")
    seen = draft.data.get("verification")
    if isinstance(seen, dict) and seen.get("status") in STATUSES:
        if "last_verified_commit" not in seen:
            draft.edits["verification.last_verified_commit"] = None
        return
    unknown = {"last_verified_commit": None, "status": "unknown"}
    draft.replace("verification", unknown, "verification has its own two keys")


def _ids(value: Any) -> list[str]:
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []
