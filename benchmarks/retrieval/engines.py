"""Our search and its rivals behind one interface: a question in, paths with scores out.

Rivals see path, title and text of each document. Those that are not installed are skipped.
"""

from __future__ import annotations

import importlib
import importlib.util
import re
import sqlite3
from collections import defaultdict
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol
from unittest.mock import patch

from benchmarks.retrieval.measures import DEPTH
from thunderus_mem.search import search as search_module

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchmarks.retrieval.collection import Document
    from benchmarks.retrieval.stores import Store

OURS: Final = "thunderus-mem"
PLAIN: Final = "plain FTS5"

_WORD = re.compile(r"\w+")
_SECTION = re.compile(
    r"^#{1,6}[ \t]+.+$|^\S.*\n(?:={3,}|-{3,}|~{3,}|\*{3,}|\^{3,}|#{3,})[ \t]*$", re.MULTILINE
)
_FUSION: Final = 60

# ruff: noqa: SIM905 – a word list is most readable as text
COMMON: Final = frozenset(
    (
        "a an and are as at be but by can do does for from had has have how i if in into is it my no not of "
        "on or our should such that the their then there these they this to was we were what when where "
        "which who why will with would you your"
    ).split()
)


class Shown(NamedTuple):
    """One result: ``closest`` is one that is offered without being an answer."""

    path: str
    score: float
    closest: bool = False


class Engine(Protocol):
    """Something that answers questions about one collection."""

    name: str

    def ask(self, question: str) -> list[Shown]:
        """At most ten results, best first."""
        ...


def words_of(text: str) -> list[str]:
    """The different words of a text in lower case, in order."""
    return list(dict.fromkeys(_WORD.findall(text.lower())))


def searched(document: Document) -> str:
    """The text that rivals without columns search."""
    return f"{document.path}\n{document.title}\n{document.body}"


def _best(documents: Sequence[Document], scores: dict[int, Any]) -> list[Shown]:
    """The ten highest scores; ties in the order of the documents. Of a tuple, the first is the score."""
    rows = sorted(scores, key=lambda row: scores[row], reverse=True)[:DEPTH]
    return [
        Shown(documents[row].path, float(value[0] if isinstance(value, tuple) else value))
        for row, value in ((row, scores[row]) for row in rows)
    ]


class Ours:
    """The ``search`` of the program."""

    def __init__(self, store: Store, name: str = OURS) -> None:
        self.name = name
        self._store = store

    def ask(self, question: str) -> list[Shown]:
        """The answers, then the closest hits."""
        result = search_module.search(self._store.memory, question, limit=DEPTH)
        return [
            Shown(self._store.paths[hit.id], hit.score, closest)
            for hits, closest in ((result.hits, False), (getattr(result, "closest", ()), True))
            for hit in hits
        ]


class Unabstaining(Ours):
    """The same without the decision to answer, to measure ranking alone."""

    def ask(self, question: str) -> list[Shown]:
        """Every match is an answer."""
        with patch.object(search_module, "is_answer", lambda *_: True):
            return super().ask(question)


class WordMatch:
    """As with ripgrep: documents with most of the question's different words, then with most matches."""

    name = "word matching"

    def __init__(self, documents: Sequence[Document]) -> None:
        self._documents = documents
        self._texts = [searched(document).lower() for document in documents]

    def ask(self, question: str) -> list[Shown]:
        """Words match inside others, as in ``rg -i``."""
        words = [word for word in words_of(question) if word not in COMMON]
        scores = {}
        for row, text in enumerate(self._texts):
            counts = [count for count in map(text.count, words) if count]
            if counts:
                scores[row] = (len(counts), sum(counts))
        return _best(self._documents, scores)


class PlainFts5:
    """Two FTS5 tables with the Porter stemmer and no weights: documents and passages, fused by rank."""

    name = PLAIN

    def __init__(self, documents: Sequence[Document]) -> None:
        self._documents = documents
        self._database = sqlite3.connect(":memory:")
        for table in ("documents (path, title, body)", "passages (path, title, body)"):
            name, _, columns = table.partition(" (")
            self._database.execute(
                f"CREATE VIRTUAL TABLE {name} USING fts5 ({columns[:-1]}, tokenize = 'porter unicode61')"
            )
        self._owners: list[int] = []
        for row, document in enumerate(documents):
            self._insert("documents", row, document.path, document.title, document.body)
            for passage in passages(document.body):
                self._insert("passages", len(self._owners), "", document.title, passage)
                self._owners.append(row)

    def _insert(self, table: str, row: int, *values: str) -> None:
        self._database.execute(
            f"INSERT INTO {table} (rowid, path, title, body) VALUES (?, ?, ?, ?)", (row, *values)
        )

    def _rows(self, table: str, expression: str) -> list[int]:
        found = self._database.execute(
            f"SELECT rowid FROM {table} WHERE {table} MATCH ? ORDER BY rank LIMIT 600", (expression,)
        )
        return [row for (row,) in found]

    def holders(self, word: str) -> set[str]:
        """The documents with a word, stemmed."""
        found = self._database.execute("SELECT rowid FROM documents WHERE documents MATCH ?", (f'"{word}"',))
        return {self._documents[row].path for (row,) in found}

    def ask(self, question: str) -> list[Shown]:
        """Any of the question's words."""
        expression = " OR ".join(f'"{word}"' for word in words_of(question))
        if not expression:
            return []
        by_passage = [self._owners[row] for row in self._rows("passages", expression)]
        scores: defaultdict[int, float] = defaultdict(float)
        for ranking in (self._rows("documents", expression), dict.fromkeys(by_passage)):
            for place, row in enumerate(ranking, 1):
                scores[row] += 1 / (_FUSION + place)
        return _best(self._documents, scores)


def passages(body: str) -> list[str]:
    """The sections of a text, each with its heading."""
    edges = [0, *(match.start() for match in _SECTION.finditer(body)), len(body)]
    pieces = [body[start:end].strip() for start, end in pairwise(edges)]
    return [piece for piece in pieces if piece]


class Bm25s:
    """The Python package bm25s, with its English stop words and, if installed, the Snowball stemmer."""

    name = "bm25s"

    def __init__(self, documents: Sequence[Document]) -> None:
        self._package = importlib.import_module("bm25s")
        stemmer = importlib.util.find_spec("Stemmer")
        self._stemmer = importlib.import_module("Stemmer").Stemmer("english") if stemmer else None
        self._documents = documents
        self._index = self._package.BM25()
        self._index.index(self._tokens([searched(document) for document in documents]), show_progress=False)

    def _tokens(self, texts: list[str]) -> Any:
        return self._package.tokenize(texts, stopwords="en", stemmer=self._stemmer, show_progress=False)

    def ask(self, question: str) -> list[Shown]:
        """The package's own order."""
        tokens = self._tokens([question])
        if not tokens.vocab:
            return []
        most = min(DEPTH, len(self._documents))
        rows, scores = self._index.retrieve(tokens, k=most, show_progress=False)
        return [
            Shown(self._documents[int(row)].path, float(score))
            for row, score in zip(rows[0], scores[0], strict=True)
            if score > 0
        ]


class Tantivy:
    """The search engine tantivy, with its English stemmer. One field: ranks better here than three."""

    name = "tantivy"

    def __init__(self, documents: Sequence[Document]) -> None:
        package = importlib.import_module("tantivy")
        self._documents = documents
        builder = package.SchemaBuilder()
        builder.add_text_field("text", tokenizer_name="en_stem")
        builder.add_integer_field("row", stored=True)
        self._index = package.Index(builder.build())
        writer = self._index.writer(num_threads=1)
        for row, document in enumerate(documents):
            writer.add_document(package.Document(row=row, text=searched(document)))
        writer.commit()
        self._index.reload()
        self._searcher = self._index.searcher()

    def ask(self, question: str) -> list[Shown]:
        """Any of the question's words."""
        query = self._index.parse_query(" ".join(words_of(question)), ["text"])
        return [
            Shown(self._documents[self._searcher.doc(address)["row"][0]].path, score)
            for score, address in self._searcher.search(query, DEPTH).hits
        ]


_RIVALS: Final = ((WordMatch, ""), (PlainFts5, ""), (Bm25s, "bm25s"), (Tantivy, "tantivy"))


def missing() -> list[str]:
    """The rivals whose package is not installed."""
    return [package for _, package in _RIVALS if package and importlib.util.find_spec(package) is None]


def rivals(documents: Sequence[Document]) -> list[Engine]:
    """All rivals that are installed."""
    absent = missing()
    return [kind(documents) for kind, package in _RIVALS if package not in absent]
