"""The interface of an index, independent of the engine, and the values it returns.

``sqlite_index`` implements it with SQL. Rows are opaque numbers of documents or passages.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Final, Protocol

from thunderus_mem.startup import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence, Set
    from contextlib import AbstractContextManager

    from thunderus_mem.document.anchors import Anchor
    from thunderus_mem.document.profile import Profile
    from thunderus_mem.index.log import LogIndex
    from thunderus_mem.index.records import RecordIndex


class DocRow(NamedTuple):
    """A document in the index. ``path`` is POSIX and relative to root; ``tokens`` is about characters / 4.

    ``status`` is that in the file; ``state`` is what a decision says of itself, "" if nothing."""

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
    state: str = ""


class Filter(NamedTuple):
    """Selects documents that match all given criteria; values that start with ``-`` exclude.

    ``since`` ≤ updated < ``before`` are ``utc_key`` times; ``statuses`` are those in the files, ``verdicts``
    those of `document_verdict`, for which ``judged`` has the verdicts on anchors; state ``superseded``
    includes documents of all kinds; all tags must match; a path with ``*`` is a pattern, else a substring.
    Archived documents are included only with ``archived``; ``episode`` is an ``episode_id``;
    categories match without regard to case.
    """

    kinds: Sequence[str] = ()
    tags: Sequence[str] = ()
    statuses: Sequence[str] = ()
    paths: Sequence[str] = ()
    since: str | None = None
    before: str | None = None
    judged: Mapping[str, str] = MappingProxyType({})
    archived: bool = False
    verdicts: Sequence[str] = ()
    states: Sequence[str] = ()
    episode: str = ""
    categories: Sequence[str] = ()
    runs: Sequence[str] = ()


ALL_IN_USE: Final = Filter()


VERDICTS: Final = ("verified", "stale", "unknown", "unanchored", "archived")
"""Verdicts on documents; unknown: the code could not be checked."""


def document_verdict(status: str, judged: str | None, *, archived: bool) -> str:
    """The verdict on a document: archived, ``judged`` (by its anchors), else its status in the file, where
    unknown means unanchored."""
    if archived:
        return "archived"
    return judged or ("unanchored" if status == "unknown" else status)


class Anchored(NamedTuple):
    """An anchor of a document. ``line`` is its line in the document's file, ``since`` the commit at which the
    document was last verified ("" for none)."""

    doc_id: str
    place: int
    anchor: Anchor
    line: int
    since: str


class DocSummary(NamedTuple):
    """The data of a document that ranking and hits need; ``verdict`` is set later."""

    row: int
    id: str
    kind: str
    title: str
    path: str
    status: str
    confirmed_by: str = ""
    state: str = ""
    updated: str = ""
    hash: str = ""
    verdict: str = ""


class RankedRows(NamedTuple):
    """Scores of the matching documents by row, and passages ``(document row, row, score)``, in no order.
    Higher scores are better."""

    documents: dict[int, float]
    passages: list[tuple[int, int, float]]


class PassageRow(NamedTuple):
    """Location of a passage when its file had this ``stamp``: anchor of its heading, first line from 1, line
    count.

    ``injection`` is what a prompt injection in it does, "" for none; ``heading`` is the path of headings."""

    anchor: str
    line: int
    lines: int
    injection: str
    stamp: tuple[int, int, int, int]
    heading: str


class Index(Protocol):
    """An open index. Queries within one ``moment`` see one consistent state."""

    @property
    def in_memory(self) -> bool:
        """Whether it is in memory, not in a file."""

    def close(self) -> None:
        """Close it."""

    def moment(self) -> AbstractContextManager[None]:
        """A context in which all queries see one state. Writers wait: keep it short."""

    def generation(self) -> str:
        """Return a hash of the indexed paths and texts: equal in every clone with the same files."""

    def problem(self, fresh: Index | None = None) -> str:
        """Describe damage of the index, or the difference from a ``fresh`` index of the same files; "" if
        intact."""

    def distrust(self) -> None:
        """Make the next command rebuild the index."""

    def log(self) -> LogIndex:
        """Return the log in the index."""

    def records(self) -> RecordIndex:
        """Return the records of users in the index."""

    # Files

    def files(self) -> list[tuple[str, str, str]]:
        """Return ``(path, hash, doc_id)`` of every Markdown file; hash and id may be ""."""

    def each_document_file(self, folder: str) -> Iterator[str]:
        """Yield the paths of all documents below a folder, by path; reads the index in pieces."""

    def settled(self) -> dict[str, tuple[str, str]]:
        """Return hash and id of every file whose stamp proves that it is unchanged since it was read, as of
        the last refresh."""

    def unlisted(self) -> tuple[str, ...]:
        """Return the folders that could not be read in the last refresh."""

    def paths_of(self, doc_id: str) -> tuple[str, ...]:
        """Return every file with this id; the first is the document."""

    def paths_like(self, path: str) -> tuple[str, ...]:
        """Return every file whose path differs from this one at most in case or Unicode normalization,
        sorted."""

    def ids_like(self, doc_id: str) -> tuple[str, ...]:
        """Return every id that differs from this one at most in case or Unicode normalization, sorted."""

    # Documents

    def documents(self, wanted: Filter = ALL_IN_USE) -> list[DocRow]:
        """Return the matching documents, by id."""

    def each_document(self, wanted: Filter = ALL_IN_USE) -> Iterator[DocRow]:
        """Yield the matching documents, by id."""

    def each_summary(self, wanted: Filter) -> Iterator[DocSummary]:
        """Yield the data of the matching documents that ranking needs, by id."""

    def profiles(self, without: Collection[str] = ()) -> list[Profile]:
        """Return the profile of every document, except those ``without``, by id."""

    def get(self, doc_id: str) -> DocRow | None:
        """Return the document with exactly this id."""

    def by_path(self, path: str) -> DocRow | None:
        """Return the document in this file, unless the file has a duplicate id."""

    def ids(self) -> list[str]:
        """Return all document ids, sorted."""

    def count(self, *, archived: bool | None = None) -> int:
        """Return the number of documents; optionally only archived or only active ones."""

    def headings(self) -> dict[str, tuple[str, str]]:
        """Return path and heading anchors (a JSON list) of each document by id."""

    def named(self, key: str) -> list[str]:
        """Return everything in the documents' provenance under ``events`` or ``commits``."""

    def names(self) -> dict[str, str]:
        """Return the id of each other name, folded: the first one, active before archived."""

    def heir(self, doc_id: str) -> str | None:
        """Return the active document with this id (e.g. of an archived one) as an alias; the first by id."""

    def edges(self) -> list[tuple[str, str, str]]:
        """Return all links ``(source id, relation, target id)``, sorted."""

    def edges_of(self, doc_id: str) -> list[tuple[str, str, str]]:
        """Return the links from and to one document, sorted."""

    def superseded_by(self, doc_ids: Iterable[str] | None = None) -> dict[str, str]:
        """Return the existing document that supersedes each of the ids, or any id; the first by id."""

    def episode(self, name: str) -> list[str]:
        """Return the ids of the documents of an episode, in order: those with a ``sequence_number`` first."""

    def episodes(self) -> dict[str, int]:
        """Return the number of active documents of each episode; recaps count only with a
        ``sequence_number``."""

    # Anchors

    def has_anchors(self) -> bool:
        """Whether any document has an anchor."""

    def anchors(self, doc_ids: Iterable[str] | None = None) -> list[Anchored]:
        """Return the anchors of some documents, or of all, by document and in their order."""

    def anchors_at(self, paths: Iterable[str]) -> list[Anchored]:
        """Return the anchors at these files, and all with a glob, by document and in their order."""

    def anchored_files(self) -> list[str]:
        """Return the paths of the anchors without a symbol, sorted; patterns are omitted."""

    def anchors_with(self, hashes: Set[str]) -> list[Anchored]:
        """Return the anchors on code, under any name, with one of these hashes, by document and in their
        order."""

    def anchors_below(self, folder: str) -> list[Anchored]:
        """Return the anchors at files below a folder, which ends in ``/`` ("" for all), including globs that
        start there, by document and in their order."""

    # Words

    def nearest(self, words: Sequence[str], limit: int, *, archived: bool = False) -> list[str]:
        """Return the ids of the documents most similar to ``words`` (letters and digits only), best first;
        archived ones only with ``archived``."""

    def newest(self, wanted: Filter) -> list[int]:
        """Return the rows of the matching documents, the one updated last first."""

    def matching(self, expression: str, *, archived: bool) -> set[int]:
        """Return the rows of the documents that match an FTS5 expression."""

    def ranked(self, expression: str, *, archived: bool) -> RankedRows:
        """Return all matches of an expression with their bm25 scores."""

    def holders(self, expressions: Sequence[str], *, archived: bool) -> list[int]:
        """Return the number of documents that match each expression."""

    def holds(self, row: int, passage: int, expressions: Sequence[str]) -> list[bool]:
        """Whether a passage, or the id or tags of its document, match each expression."""

    def called(self, name: str) -> list[int]:
        """Return the rows of the documents with this id, path, alias, file stem, original file name, or ADR
        number such as ``ADR-7``, by id."""

    def by_id(self, rows: Iterable[int]) -> list[int]:
        """Return rows of documents in the order of the ids."""

    def summaries(self, *, rows: Iterable[int] = (), ids: Iterable[str] = ()) -> dict[int, DocSummary]:
        """Return the data of documents that ranking needs, by row."""

    def best_passage(self, row: int, expression: str, best_first: Sequence[int]) -> int:
        """Return the passage of a document to show: the best one whose own text matches, else the first."""

    def passages_of(self, row: int) -> list[int]:
        """Return all passages of a document, in its order."""

    def passage(self, passage: int, path: str) -> PassageRow | None:
        """Return the location of a passage of a file."""

    def injection(self, doc_id: str) -> str:
        """Return what the first prompt injection in a document does, "" for none."""

    def marks(self, text: str, expression: str) -> list[tuple[int, int]]:
        """Return the ranges of a text that match an expression: start and end in characters."""
