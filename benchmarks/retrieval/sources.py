"""Collections from git directories on this machine. The only module here that runs git."""

from __future__ import annotations

import json
import os
import subprocess
from typing import TYPE_CHECKING, Final, NamedTuple

from benchmarks.quality.corpora import corpus_name
from benchmarks.retrieval.collection import DEVELOPMENT, FORMER, Collection
from benchmarks.retrieval.formats import (
    judgements,
    page,
    published_documents,
    published_questions,
    question_file,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

FOLDER: Final = os.path.join(os.path.dirname(os.path.abspath(__file__)), "questions")


class Published(NamedTuple):
    """Where a repository has a published set."""

    name: str
    half: str
    documents: str
    questions: str
    judgements: str
    graded: bool = False
    by_order: bool = False


PUBLISHED: Final = {
    "Menotron/cs7is3-cranfield-search": Published(
        "Cranfield", DEVELOPMENT, "data/cran.all.1400", "data/cran.qry", "data/cranqrel", True, True
    ),
    "PsychoProg/tf-idf": Published("CISI", FORMER, "CISI.ALL", "CISI.QRY", "CISI.REL"),
    "kavinsan/Information-Retrieval-Project": Published(
        "CACM", FORMER, "cacm.all", "query.text", "qrels.text"
    ),
}


def _git(directory: str, *arguments: str, given: bytes = b"") -> bytes:
    command = ["git", "-C", directory, *arguments]
    return subprocess.run(command, input=given, capture_output=True, check=True).stdout


def _texts(directory: str, commit: str, paths: Iterable[str]) -> dict[str, str]:
    wanted = list(paths)
    data = _git(
        directory, "cat-file", "--batch", given="".join(f"{commit}:{one}\n" for one in wanted).encode()
    )
    found, at = {}, 0
    for path in wanted:
        end = data.index(b"\n", at)
        size = int(data[at:end].split()[2])
        text = data[end + 1 : end + 1 + size].decode("utf-8", "replace")
        found[path] = text.replace("\r\n", "\n")
        at = end + 2 + size
    return found


def question_path(repository: str) -> str:
    """The file with our questions about a repository."""
    return os.path.join(FOLDER, repository.replace("/", "+") + ".jsonl")


def half_of(repository: str) -> str:
    """The half of a repository; "" if there are no questions about it."""
    if repository in PUBLISHED:
        return PUBLISHED[repository].half
    if not os.path.exists(question_path(repository)):
        return ""
    with open(question_path(repository), encoding="utf-8") as file:
        return question_file(file.read())[0].half


def aliases_of(repository: str) -> dict[str, list[str]]:
    """Three other names for each of a sample of documents, written without knowing the questions."""
    path = os.path.join(os.path.dirname(FOLDER), "aliases", repository.replace("/", "+") + ".jsonl")
    if not os.path.exists(path):
        return {}
    with open(path, encoding="utf-8") as file:
        return {one["path"]: one["aliases"] for one in map(json.loads, file)}


def name_of(directory: str) -> str:
    """OWNER/NAME, from a path that has OWNER+NAME in it."""
    return corpus_name(directory)


def collection(directory: str) -> Collection:
    """The documents of a repository at the commit of its questions, and the questions."""
    repository = name_of(directory)
    if repository in PUBLISHED:
        return _published(directory, PUBLISHED[repository])
    with open(question_path(repository), encoding="utf-8") as file:
        selection, questions = question_file(file.read())
    listed = _git(directory, "ls-tree", "-r", "-z", "--name-only", selection.commit).decode().split("\0")
    texts = _texts(directory, selection.commit, (path for path in listed if path and selection.takes(path)))
    documents = tuple(page(path, text) for path, text in texts.items())
    return Collection(repository, selection.half, False, documents, tuple(questions))


def _published(directory: str, where: Published) -> Collection:
    texts = _texts(directory, "HEAD", (where.documents, where.questions, where.judgements))
    documents = published_documents(texts[where.documents])
    relevant = judgements(texts[where.judgements], graded=where.graded)
    questions = published_questions(
        where.name, texts[where.questions], relevant, documents, by_order=where.by_order
    )
    return Collection(where.name, where.half, True, tuple(documents), tuple(questions))
