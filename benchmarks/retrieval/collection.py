"""Documents and questions with graded answers. Pure."""

from __future__ import annotations

from typing import Final, NamedTuple

DEVELOPMENT: Final = "development"
FORMER: Final = "former sealed"
"""Sealed when an earlier version of search was measured; since then used to develop it."""
SEALED: Final = "sealed"
"""Not used to develop search; its errors are not shown."""
PARTS: Final = (DEVELOPMENT, FORMER, SEALED)

RELEVANT: Final = 2
"""The grade from which a document counts as an answer: 3 answers fully, 2 in good part, 1 is context."""

UNANSWERABLE: Final = ("everyday", "near")
"""Kinds of questions without an answer: on another subject, and on the subject of the documents."""


class Document(NamedTuple):
    """A file of a collection, without its own frontmatter."""

    path: str
    title: str
    body: str


class Question(NamedTuple):
    """``answers`` maps paths to grades; ``outdated`` are documents that a current one replaces."""

    id: str
    text: str
    kind: str
    answers: dict[str, int]
    outdated: tuple[str, ...] = ()

    @property
    def relevant(self) -> frozenset[str]:
        """The documents that answer it."""
        return frozenset(path for path, grade in self.answers.items() if grade >= RELEVANT)


class Collection(NamedTuple):
    """``half`` is one of ``PARTS``. ``public`` marks a published retrieval set; all its questions have
    answers."""

    name: str
    half: str
    public: bool
    documents: tuple[Document, ...]
    questions: tuple[Question, ...]


def errors(collection: Collection) -> list[str]:
    """What is wrong with the questions of a collection."""
    paths = {document.path for document in collection.documents}
    found = [f"{id}: id used twice" for id in _repeated([one.id for one in collection.questions])]
    for one in collection.questions:
        unknown = sorted({*one.answers, *one.outdated} - paths)
        found += [f"{one.id}: {path} is not in the collection" for path in unknown]
        if bool(one.relevant) == (one.kind in UNANSWERABLE):
            found.append(f"{one.id}: {one.kind} with {len(one.relevant)} answers")
        if one.kind == "current" and not one.outdated:
            found.append(f"{one.id}: no outdated document")
    return found


def _repeated(names: list[str]) -> list[str]:
    return sorted({name for name in names if names.count(name) > 1})
