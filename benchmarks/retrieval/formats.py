"""Read question files, pages, and the published sets, whose fields are ``.I`` number, ``.T`` title and
``.W`` text. Pure."""

from __future__ import annotations

import json
import os
import re
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from benchmarks.retrieval.collection import RELEVANT, SEALED, Document, Question

if TYPE_CHECKING:
    from collections.abc import Iterable

_NUMBER = re.compile(r"\.I\s+(\d+)\s*")
_FIELD = re.compile(r"\.([A-Z])\s*")
_HEADER = re.compile(r"---[ \t]*\n(.*?)\n---[ \t]*(?:\n|$)", re.DOTALL)
_TITLE_KEY = re.compile(r"^title:[ \t]*(.+)$", re.MULTILINE)
_HEADING = re.compile(r"^#[ \t]+(.+)$|^(\S.*)\n[=#*]{3,}[ \t]*$", re.MULTILINE)
_SUFFIXES = re.compile(r"(?:\.html)?\.(?:mdx?|rst)(?:\.erb)?$")
_NOT_RELEVANT: Final = ("-1", "5")
"""In Cranfield's judgements, 1 to 4 are degrees of relevance and 5 is "of no interest"."""


class Selection(NamedTuple):
    """The first line of a question file: which files of which commit are the collection.

    A file that names no ``half`` is sealed.
    """

    repository: str
    commit: str
    folders: tuple[str, ...]
    suffixes: tuple[str, ...]
    half: str = SEALED

    def takes(self, path: str) -> bool:
        """Whether a file is in the collection."""
        below = any(
            folder in ("", ".") or path.startswith(folder.rstrip("/") + "/") for folder in self.folders
        )
        return below and path.endswith(self.suffixes)


def question_file(text: str) -> tuple[Selection, list[Question]]:
    """The content of a question file: JSON objects, one a line."""
    head, *lines = (json.loads(line) for line in text.splitlines() if line.strip())
    selection = Selection(
        *(head["repository"], head["commit"], tuple(head["folders"]), tuple(head["suffixes"])),
        half=head.get("half", SEALED),
    )
    return selection, [_question(line) for line in lines]


def _question(line: dict[str, Any]) -> Question:
    return Question(
        line["id"], line["question"], line["kind"], line["answers"], tuple(line.get("outdated", ()))
    )


def page(path: str, text: str) -> Document:
    """A Markdown or reStructuredText file; its title is that of its header, its first heading or its name."""
    header = _HEADER.match(text)
    body = text[header.end() :] if header else text
    named = _TITLE_KEY.search(header[1]) if header else None
    heading = _HEADING.search(body)
    title = named[1].strip(" \"'") if named else (heading[1] or heading[2]) if heading else ""
    stem = _SUFFIXES.sub("", os.path.basename(path))
    if stem.lower() in ("readme", "index"):
        stem = os.path.basename(os.path.dirname(path)) or stem
    return Document(path, " ".join(title.split())[:200] or stem, body.strip("\n"))


def records(text: str) -> dict[int, dict[str, str]]:
    """The fields of each numbered record of a published set."""
    found: dict[int, dict[str, str]] = {}
    fields: dict[str, str] = {}
    field = ""
    for line in text.splitlines():
        if number := _NUMBER.fullmatch(line):
            fields = found[int(number[1])] = {}
            field = ""
        elif name := _FIELD.fullmatch(line):
            field = name[1]
            fields.setdefault(field, "")
        elif field:
            fields[field] += line + "\n"
    return found


def judgements(text: str, *, graded: bool) -> dict[int, set[int]]:
    """The relevant documents of each question; with ``graded``, the third column is a degree."""
    found: dict[int, set[int]] = {}
    for line in text.splitlines():
        columns = line.split()
        if len(columns) < 2 or (graded and columns[2:3] and columns[2] in _NOT_RELEVANT):
            continue
        found.setdefault(int(columns[0]), set()).add(int(columns[1]))
    return found


def published_documents(text: str) -> list[Document]:
    """The documents of a published set. Cranfield's texts repeat their title."""
    found = []
    for number, fields in records(text).items():
        title = " ".join(fields.get("T", "").split())
        body = fields.get("W", "").strip()
        body = body.removeprefix(fields.get("T", "").strip()).strip() or body
        found.append(Document(str(number), title or f"Document {number}", body))
    return found


def published_questions(
    name: str, text: str, relevant: dict[int, set[int]], documents: Iterable[Document], *, by_order: bool
) -> list[Question]:
    """The questions of a published set that have answers; with ``by_order``, judgements count them from 1."""
    known = {document.path for document in documents}
    found = []
    for place, (number, fields) in enumerate(records(text).items(), 1):
        answers = {
            str(one): RELEVANT
            for one in sorted(relevant.get(place if by_order else number, ()))
            if str(one) in known
        }
        if answers:
            found.append(Question(f"{name}-{number}", " ".join(fields["W"].split()), name, answers))
    return found
