"""Documents of older and looser shapes, brought to the present one: a tuple of small steps, text to text.

Each step changes only the keys it names, byte for byte, and leaves a text alone that needs it not: running
them again does nothing. Keys that no step knows stay. The docstring of a step is its page in the manual.
"""

from __future__ import annotations

import posixpath
import re
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from thunderus_mem.interop.older_words import kind_of_word, list_of_id, moment, status_of_word
from thunderus_mem.model.accept import surely_valid
from thunderus_mem.model.ambiguous import ambiguous
from thunderus_mem.model.document import RELATIONS, tag_words
from thunderus_mem.model.edit import nest_keys, quote_values, set_key
from thunderus_mem.model.errors import InvalidDocument
from thunderus_mem.model.header import Mapping, Node, Scalar, Sequence, find_fences
from thunderus_mem.model.ids import is_document_id
from thunderus_mem.model.markdown import headings
from thunderus_mem.model.splice import open_header

if TYPE_CHECKING:
    from collections.abc import Callable

    from thunderus_mem.model.document import Document

__all__ = ["MIGRATIONS", "Migration", "Source", "is_present", "migrated"]

_BOM: Final = "\ufeff"
_NULLS: Final = frozenset(["", "~", "null", "Null", "NULL"])
_LISTS: Final = ("events", "patches", "commits")
_MADE: Final = ("created_at", "created_on", "date")
_CHANGED: Final = ("updated_at", "updated_on", "modified", "last_modified", "last_updated")
_NUMBERED: Final = re.compile(r"adr-(\d+)(?:-(.+))?", re.ASCII | re.IGNORECASE)


class Source(NamedTuple):
    """A document as a step sees it: its path from the root, the kind of its folder, its text.

    ``dates`` are the times of its first and last commit, for a document that names none itself.
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
        """What follows its frontmatter; ``None`` without one."""
        fences = find_fences(self.text)
        return self.text[fences.body_start :] if fences is not None else None


class Migration(NamedTuple):
    """One step: its name, and what it makes of a document."""

    name: str
    change: Callable[[Source], str]

    @property
    def page(self) -> str:
        """What it does, for people."""
        return " ".join((self.change.__doc__ or "").split())


def is_present(document: Document) -> bool:
    """Whether a document surely has its present shape, so that no step needs to look at it."""
    return surely_valid(document.data()) and next(ambiguous(document.header), None) is None


def migrated(source: Source) -> tuple[str, tuple[str, ...]]:
    """The text in its present shape, and the names of the steps that changed it, in order.

    The body stays as it is; a step whose edit cannot be made leaves the text alone.
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
    """The text of a scalar that has one."""
    if isinstance(node, Scalar) and not _is_null(node) and node.text.strip():
        return node.text
    return None


def _is_null(node: Node | None) -> bool:
    return node is None or (isinstance(node, Scalar) and node.plain and node.text in _NULLS)


def _is_empty(node: Node | None) -> bool:
    """Whether there is nothing, or a text without any letter."""
    return _is_null(node) or (isinstance(node, Scalar) and not node.text.strip())


def header_first(source: Source) -> str:
    """Blank lines before the opening ``---`` go: a frontmatter begins in the first line."""
    text = source.text
    if source.body is not None:
        return text
    mark = _BOM if text.startswith(_BOM) else ""
    begun = mark + text.removeprefix(_BOM).lstrip(" \t\r\n")
    return begun if open_header(begun).root.entries else text


def nested_provenance(source: Source) -> str:
    """``events``, ``patches`` and ``commits`` that stand below ``provenance:`` without being indented are
    moved under it."""
    return nest_keys(source.text, "provenance", _LISTS)


def nested_verification(source: Source) -> str:
    """``last_verified_commit`` and ``status`` that stand below ``verification:`` without being indented are
    moved under it."""
    status = _text(source.header.get("status")) or "unknown"
    # Any other word is the status of a decision.
    names = ("last_verified_commit", *(("status",) if status_of_word(status) else ()))
    return nest_keys(source.text, "verification", names)


def provenance(source: Source) -> str:
    """``provenance`` becomes a mapping of the lists ``events`` and ``patches``: one that is missing is added
    empty, one list of ids is sorted into them, a single id becomes a list of one."""
    node, text = source.header.get("provenance"), source.text
    if isinstance(node, Mapping) and node.entries:
        for name in _LISTS:
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
    sorted_in: dict[str, Any] = {name: [] for name in _LISTS}
    for id in ids:
        sorted_in[list_of_id(id)].append(id)
    return set_key(text, ("provenance",), sorted_in)


def _listed(node: Node | None) -> list[str] | None:
    """The texts of a list, of a single text, or of nothing; ``None`` when there is something else."""
    if _is_null(node) or (isinstance(node, Mapping) and not node.entries):
        return []
    items = node.items if isinstance(node, Sequence) else (node,)
    texts = [text for item in items if (text := _text(item)) is not None]
    return texts if len(texts) == len(items) else None


def verification(source: Source) -> str:
    """``verification`` becomes a mapping with ``last_verified_commit`` and ``status``: missing ones are added
    (null, unknown), a bare word or ``true`` becomes the status, older words for a status the present ones."""
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


def kind(source: Source) -> str:
    """Older words for a kind become the present ones; a missing kind is that of the folder."""
    word = _text(source.header.get("kind"))
    wanted = kind_of_word(word or "", source.kind)
    return source.text if word == wanted else set_key(source.text, ("kind",), wanted)


def title(source: Source) -> str:
    """A missing title is the first heading of the text, else made from the file name."""
    if not _is_empty(source.header.get("title")):
        return source.text
    first = next((mark.text.strip() for mark in headings(source.body or "") if mark.text.strip()), "")
    words = re.sub(r"[-_.]+", " ", _stem(source.path)).strip().capitalize()
    return set_key(source.text, ("title",), first or words)


def identity(source: Source) -> str:
    """A missing id follows from the file name: ``fact_testing_coverage.md`` and ``testing.coverage.md`` are
    ``fact.testing.coverage``, ``ADR-0007-use-jwt.md`` is ``adr.use-jwt``, ``ADR-0007.md`` is ``adr.0007``."""
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


def tags(source: Source) -> str:
    """``tags`` in one text become a list, split at commas or, where there are none, at blanks. A document
    without any is tagged with its kind: Thunderus refuses one that has no tag."""
    node = source.header.get("tags")
    if isinstance(node, Mapping) or (isinstance(node, Sequence) and node.items):
        return source.text
    found = tag_words(_text(node) or "")
    return set_key(source.text, ("tags",), list(found) or [source.kind])


def times(source: Source) -> str:
    """``created`` and ``updated`` become RFC 3339 times: a day its midnight, and UTC where no offset
    is given. A missing one is taken from ``created_at``, ``date``, ``updated_at``, ``modified`` and
    the like, else from the other of the two, else from git."""
    header, text = source.header, source.text
    created, updated = (_text(header.get(name)) for name in ("created", "updated"))
    made = moment(created or "") or _first(header, _MADE)
    changed = moment(updated or "") or _first(header, _CHANGED)
    first, last = source.dates
    pairs = (("created", created, made or changed or first), ("updated", updated, changed or made or last))
    for name, word, wanted in pairs:
        if wanted and word != wanted and (word is None or moment(word)):
            text = set_key(text, (name,), wanted)
    return text


def _first(header: Mapping, names: tuple[str, ...]) -> str:
    return next((found for name in names if (found := moment(_text(header.get(name)) or ""))), "")


def links(source: Source) -> str:
    """``links`` becomes a mapping of relations to lists: a bare list of ids is ``refers_to``, a single id a
    list of one."""
    node, text = source.header.get("links"), source.text
    if isinstance(node, Mapping):
        for relation in RELATIONS:
            one = _text(node.get(relation))
            if one is not None:
                text = set_key(text, ("links", relation), [one])
        return text
    ids = _listed(node)
    return set_key(text, ("links",), {"refers_to": ids}) if ids else text


def quotes(source: Source) -> str:
    """Unquoted values that readers of YAML 1.1 take for something else (``no``, ``012``, ``1:30``) get
    quotes."""
    values = [value for _, value in ambiguous(source.header)]
    return quote_values(source.text, values) if values else source.text


_STEPS: Final = (
    *(header_first, nested_provenance, nested_verification, provenance, verification),
    *(kind, title, identity, tags, times, links, quotes),
)
MIGRATIONS: Final = tuple(Migration(step.__name__.replace("_", "-"), step) for step in _STEPS)
"""Every step, in the order in which they run."""
