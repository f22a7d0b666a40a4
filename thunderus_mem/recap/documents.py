"""Extract reasons and open items from the documents of a recap and from commit messages. Pure.

Only text in the expected place counts: the state of a decision, the first sentence below *Context*, unchecked
tasks, a title that asks, and the first sentence of a message below its subject.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

from thunderus_mem.document.markdown import inline_text, outline
from thunderus_mem.document.state import document_state, state_in
from thunderus_mem.document.statements import split_sentences
from thunderus_mem.recap.events import is_open_text
from thunderus_mem.recap.template import one_line, span
from thunderus_mem.startup import NamedTuple, lazy_pattern

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from thunderus_mem.document.document import Document
    from thunderus_mem.git.commits import Commit

_TASK = lazy_pattern(r"(?m)^[ \t]{0,8}[-*+][ \t]+\[ \][ \t]+(\S[^\n]*)$")
_CONTEXT = lazy_pattern(r"(?i)(?:\d+\.? )?(?:context|problem|background|motivation|why)\b")
# Lists, tables, quotes, code, HTML, labels such as `**Date:** …`, and trailers such as `Signed-off-by: …`.
_NOT_PROSE = lazy_pattern(
    r"(?i)[-*+>|#<`~=:!]|\d{1,9}[.)]\s|\[[^\]]*\]:|\*\*[^*]*:|[A-Za-z]+(?:-[A-Za-z]+)*-(?:by|id|from):"
    r"|(?:fix|close|resolve|ref)(?:e?s|ed)?:? (?:#\d|\S*/|[A-Z]+-\d)"
)
_FORMAT = lazy_pattern(r"([a-z][a-z0-9-]*):")
_TOKEN = lazy_pattern(r"\w+")
_WORD = lazy_pattern(r"[^\W_]{3,}")
_NEW_WORDS: Final = 3
"""The words a sentence below the subject of a commit must add to it."""
_LONGEST: Final = 4_000
"""The part of a text in which its first sentence is looked for."""


class Facts(NamedTuple):
    """What a document says: its state, why it was decided, and its unchecked tasks. ``asks`` is whether its
    title is a question or an open item."""

    state: str = ""
    context: str = ""
    tasks: tuple[str, ...] = ()
    asks: bool = False


class RecapDocuments:
    """The documents by id and alias, and what they say, each read once."""

    def __init__(self, by_name: Mapping[str, Document]) -> None:
        self._by_name = by_name
        self._facts: dict[str, Facts] = {}

    def get(self, name: str) -> Document | None:
        """The document with this id or alias."""
        return self._by_name.get(name)

    def facts(self, doc_id: str) -> Facts:
        """What a document says; nothing for one that does not exist."""
        if doc_id not in self._facts:
            document = self._by_name.get(doc_id)
            self._facts[doc_id] = Facts() if document is None else _facts_of(document)
        return self._facts[doc_id]

    def successors(self, doc_ids: Iterable[str]) -> dict[str, str]:
        """The document superseded → the one of ``doc_ids`` that supersedes it."""
        found = ((doc_id, self._by_name.get(doc_id)) for doc_id in doc_ids)
        return {
            link.target: doc_id
            for doc_id, document in found
            if document is not None
            for link in document.links
            if link.rel == "supersedes"
        }

    def origin(self, doc_ids: Iterable[str]) -> str:
        """Where documents were imported from: a format or a folder; "" if unknown or from several."""
        origins = [one.imported_from for id in doc_ids if (one := self._by_name.get(id)) is not None]
        origins = [origin for origin in origins if origin]
        formats = {found[1] if (found := _FORMAT.match(origin)) else "" for origin in origins}
        if len(formats) != 1:
            return ""
        if name := formats.pop():
            return name
        folder = os.path.commonpath([os.path.dirname(origin) for origin in origins])
        return span(folder) if folder and ".." not in folder else "Markdown files"


def _facts_of(document: Document) -> Facts:
    body = document.body
    state = document_state(document)
    tasks: tuple[str, ...] = ()
    # The boxes of a playbook are its steps, those of a status section a choice.
    if "[ ]" in body and document.kind not in ("playbook", "recap"):
        found = (inline_text(task) for task in _TASK.findall(body))
        tasks = tuple(one_line(task) for task in found if task and not state_in(task))
    asks = document.kind != "recap" and state in ("", "proposed") and is_open_text(document.title)
    return Facts(state, _context_of(body) if document.kind == "adr" else "", tasks, asks)


def _context_of(body: str) -> str:
    below = (one.text for one in outline(body).passages if _CONTEXT.match(one.heading.rpartition(" > ")[2]))
    return next(filter(None, map(first_sentence, below)), "")


def first_sentence(text: str) -> str:
    """The first sentence of the first paragraph that is prose, as one plain line."""
    for paragraph in text[:_LONGEST].replace("\r\n", "\n").split("\n\n"):
        if (block := paragraph.strip()) and not _NOT_PROSE.match(block):
            return one_line(inline_text(split_sentences(" ".join(block.split()))[0]))
    return ""


def commit_says(commit: Commit) -> str:
    """The subject of a commit, and the first sentence below it if that adds to it."""
    subject, sentence = one_line(commit.subject), first_sentence(commit.body)
    return f"{subject.rstrip('.')}. {sentence}" if _adds(sentence, subject) else subject


def explains(commit: Commit) -> bool:
    """Whether the message says more than its subject."""
    return _adds(first_sentence(commit.body), commit.subject)


def repeats(text: str, before: str) -> bool:
    """Whether a text has only words of the text before it."""
    words = {*_TOKEN.findall(text.casefold())}
    return bool(words) and words.issubset(_TOKEN.findall(before.casefold()))


def _adds(sentence: str, subject: str) -> bool:
    return len(_words(sentence) - _words(subject)) >= _NEW_WORDS


def _words(text: str) -> set[str]:
    return {word.casefold() for word in _WORD.findall(text)}
