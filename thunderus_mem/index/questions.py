"""What may be asked of an index, whatever engine answers: its questions, and their answers as values.

``sqlite_index`` answers them with SQL. Rows are numbers that only the index itself can read: of a document,
of a passage.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Final, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from contextlib import AbstractContextManager

    from thunderus_mem.document.anchors import Anchor
    from thunderus_mem.index.log import LogIndex


DOCUMENT_WEIGHTS: Final = {
    "doc_id": 2.0, "title": 3.0, "headings": 1.5, "tags": 2.0, "body": 1.0, "names": 3.0, "parts": 0.8,
}  # fmt: skip
"""What a word weighs in each part of a document as a whole."""
PASSAGE_WEIGHTS: Final = {"title": 3.0, "heading": 1.5, "body": 1.0, "parts": 0.8}


class DocRow(NamedTuple):
    """One document as the index knows it. ``path`` is POSIX and relative to root; ``tokens`` is about chars
    / 4."""

    id: str
    kind: str
    title: str
    path: str
    tags: tuple[str, ...]
    updated: str
    created: str
    status: str
    aliases: tuple[str, ...]
    hash: str
    tokens: int
    size: int


class Filter(NamedTuple):
    """Documents that fit everything given; values that begin with ``-`` leave out.

    ``since`` ≤ updated < ``before`` are ``utc_key`` times; status ``superseded`` asks for what another
    document supersedes; tags must all be there; a path with ``*`` is a pattern, without one a part of the
    path. ``judged`` gives documents another status than their files do. Archived ones only with ``archived``.
    """

    kinds: Sequence[str] = ()
    tags: Sequence[str] = ()
    statuses: Sequence[str] = ()
    paths: Sequence[str] = ()
    since: str | None = None
    before: str | None = None
    judged: Mapping[str, str] = MappingProxyType({})
    archived: bool = False


ALL_IN_USE: Final = Filter()


class Anchored(NamedTuple):
    """An anchor of a document. ``line`` is that of the document's file it stands in, ``since`` the commit the
    document names as last verified ("" for none)."""

    doc_id: str
    place: int
    anchor: Anchor
    line: int
    since: str


class DocSummary(NamedTuple):
    """What ranking asks of a document."""

    row: int
    id: str
    kind: str
    title: str
    path: str
    status: str
    confirmed_by: str = ""


class RankedRows(NamedTuple):
    """Rows of documents that match, and of passages with those of their documents, each with its score, best
    first."""

    documents: list[tuple[int, float]]
    passages: list[tuple[int, int, float]]


class PassageRow(NamedTuple):
    """Where a passage was when its file had this ``stamp``: heading, first line from 1, count of lines."""

    anchor: str
    line: int
    lines: int
    stamp: tuple[int, int, int, int]


class Index(Protocol):
    """An open index. What is asked within one ``moment`` is answered from one state of it."""

    @property
    def in_memory(self) -> bool:
        """Whether nobody else can open it."""

    def close(self) -> None:
        """Let go of it."""

    def moment(self) -> AbstractContextManager[None]:
        """All that is asked inside is of one moment: writers wait. To be held for moments only."""

    def generation(self) -> str:
        """Which files the index agrees with: equal for equal paths and texts, in any clone, at any time."""

    def problem(self, fresh: Index | None = None) -> str:
        """What is wrong with its pages or words, or what it says otherwise than a ``fresh`` index of the same
        files; "" when nothing is."""

    def distrust(self) -> None:
        """Have the next command build a new one."""

    def log(self) -> LogIndex:
        """The event log as the index knows it."""

    # Files

    def files(self) -> list[tuple[str, str, str]]:
        """``(path, hash, doc_id)`` of every Markdown file; hash and id may be ""."""

    def settled(self) -> dict[str, tuple[str, str]]:
        """Hash and id of every file that has not changed since it was read, as its stamp proves. Fresh as
        the last refresh."""

    def unlisted(self) -> tuple[str, ...]:
        """The folders that the walk which the index agrees with could not look into."""

    def paths_of(self, doc_id: str) -> tuple[str, ...]:
        """Every file with this id; the first is the document."""

    # Documents

    def documents(self, wanted: Filter = ALL_IN_USE) -> list[DocRow]:
        """The documents that fit, by id."""

    def get(self, doc_id: str) -> DocRow | None:
        """The document with exactly this id."""

    def by_path(self, path: str) -> DocRow | None:
        """The document in this file (not when the file only repeats another's id)."""

    def ids(self) -> list[str]:
        """All document ids, sorted."""

    def count(self, *, archived: bool | None = None) -> int:
        """How many documents there are; only those in the archive, or in use, when asked."""

    def headings(self) -> dict[str, tuple[str, str]]:
        """Path and heading anchors (a JSON list) of each document by id."""

    def named(self, key: str) -> list[str]:
        """Everything that documents name in their provenance under ``events`` or ``commits``."""

    def names(self) -> dict[str, str]:
        """Each other name, folded, and the id it means: the first one, in use before in the archive."""

    def heir(self, doc_id: str) -> str | None:
        """The document in use that has this id, or that of an archived document, among its aliases; the first
        by id when several."""

    def edges(self) -> list[tuple[str, str, str]]:
        """All relations ``(source id, relation, target id)``, sorted."""

    def edges_of(self, doc_id: str) -> list[tuple[str, str, str]]:
        """The relations from and to one document, sorted."""

    def superseded_by(self, doc_ids: Iterable[str] | None = None) -> dict[str, str]:
        """For each of the ids (of all when none are given) that an existing document supersedes: that
        document (the first by id)."""

    # Anchors

    def has_anchors(self) -> bool:
        """Whether any document talks about code in a way that can be checked."""

    def anchors(self, doc_ids: Iterable[str] | None = None) -> list[Anchored]:
        """The anchors of some documents, or of all, by document and in their order."""

    def anchors_at(self, paths: Iterable[str]) -> list[Anchored]:
        """Anchors at one of these files, and all with a glob, by document and in their order."""

    def anchors_below(self, folder: str) -> list[Anchored]:
        """Anchors at files below a folder, which ends in ``/`` ("" for all), those with a glob that begins
        there among them, by document and in their order."""

    # Words

    def nearest(self, words: Sequence[str], limit: int, *, archived: bool = False) -> list[str]:
        """Ids of the documents that share most with ``words`` (letters and digits only), best first; those in
        the archive only with ``archived``."""

    def newest(self, wanted: Filter) -> list[int]:
        """The rows of the documents that fit, the one updated last first."""

    def matching(self, expression: str, *, archived: bool) -> set[int]:
        """The rows of the documents that match an FTS5 expression."""

    def ranked(self, expression: str, limit: int, *, archived: bool) -> RankedRows:
        """What matches an expression best; at most ``limit`` documents and three times as many passages, all
        for -1."""

    def summaries(self, *, rows: Iterable[int] = (), ids: Iterable[str] = ()) -> dict[int, DocSummary]:
        """What ranking asks of documents, by row."""

    def telling_passage(self, row: int, expression: str, best_first: Sequence[int]) -> int:
        """The passage to show of a document: the best of those whose own text matches, else the first."""

    def passage(self, passage: int, path: str) -> PassageRow | None:
        """Where a passage of a file is."""

    def marks(self, text: str, expression: str) -> list[tuple[int, int]]:
        """Where an expression matches in any text: first character, and the one behind the last."""
