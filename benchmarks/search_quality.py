"""How good is search? Questions with graded answers over the documents of real repositories, and rivals.

``python benchmarks/search_quality.py GIT_DIRECTORY… --work FOLDER`` takes git directories that are on this
machine, named OWNER+NAME, and downloads nothing; stores with their documents go into the work folder. Our
questions are in ``benchmarks/retrieval/questions``; those of published retrieval sets are in the repositories
that ``benchmarks/retrieval/sources.py`` names. Rivals search the same documents in the same run: word
matching as with ripgrep, plain FTS5, and those packages of ``benchmarks/retrieval/requirements.txt`` that are
installed.

Repositories of the sealed half are skipped without ``--sealed``: search must not be tuned to their questions.
It prints tables, or with ``--page`` replaces those of ``docs/explanation/search-measured.md``. The exit code
is 1 when a goal is missed.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from typing import TYPE_CHECKING

PROJECT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, PROJECT)
PAGE = os.path.join(PROJECT, "docs", "explanation", "search-measured.md")

from benchmarks.retrieval import reporting  # noqa: E402
from benchmarks.retrieval.collection import SEALED, errors  # noqa: E402
from benchmarks.retrieval.engines import (  # noqa: E402
    COMMON,
    Ours,
    PlainFts5,
    Unabstaining,
    missing,
    rivals,
    words_of,
)
from benchmarks.retrieval.scoring import ALIASED, ALIASED_SAMPLE, ALWAYS, LINKED, SAMPLE, Asked  # noqa: E402
from benchmarks.retrieval.sources import aliases_of, collection, half_of, name_of  # noqa: E402
from benchmarks.retrieval.stores import build  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Iterable

    from benchmarks.retrieval.collection import Collection, Question
    from benchmarks.retrieval.engines import Engine, Shown


def say(text: str) -> None:
    """Report progress, apart from the tables."""
    print(text, file=sys.stderr, flush=True)


def ask_all(engine: Engine, questions: Iterable[Question]) -> dict[str, list[Shown]]:
    """What an engine shows for each question."""
    return {question.id: engine.ask(question.text) for question in questions}


def replaced(questions: Iterable[Question]) -> dict[str, set[str]]:
    """Which documents a document replaces, from the questions about current decisions."""
    found: dict[str, set[str]] = {}
    for question in questions:
        for current in question.relevant - set(question.outdated) if question.outdated else ():
            if question.answers[current] == 3:
                found.setdefault(current, set()).update(question.outdated)
    return found


def shared_words(one: Collection) -> dict[str, float]:
    """By question, the share of its words that are in the document with most of them.

    Words are stemmed; common ones do not count.
    """
    plain, found = PlainFts5(one.documents), {}
    for question in one.questions:
        words = [word for word in words_of(question.text) if word not in COMMON]
        holders = [plain.holders(word) for word in words]
        counts = [sum(path in rows for rows in holders) for path in question.relevant]
        found[question.id] = max(counts, default=0) / max(len(words), 1)
    return found


def asked_of(one: Collection, work: str) -> Asked:
    """The results of all engines over one collection.

    Questions about current decisions are also put to a store where supersession is recorded; all questions to
    one with aliases, if there are any for the collection.
    """
    root = os.path.join(work, one.name.replace("/", "+"))
    store = build(root, one.documents)
    engines = [Ours(store), Unabstaining(store, ALWAYS), *rivals(one.documents)]
    if older := replaced(one.questions):
        engines.append(Ours(build(f"{root}-linked", one.documents, superseded=older), LINKED))
    named = aliases_of(one.name)
    if named:
        engines.append(Ours(build(f"{root}-aliased", one.documents, aliases=named), ALIASED))
    shown = {engine.name: ask_all(engine, one.questions) for engine in engines}
    return Asked(one, shown | _only_aliased(one, named, f"{root}-sample"), shared_words(one))


def _only_aliased(
    one: Collection, named: dict[str, list[str]], root: str
) -> dict[str, dict[str, list[Shown]]]:
    """The results among the documents that have aliases, without and with them."""
    documents = [document for document in one.documents if document.path in named]
    asked = [each for each in one.questions if not each.answers or each.relevant & set(named)]
    return {
        name: ask_all(Ours(build(root, documents, aliases=aliases), name), asked)
        for name, aliases in ((SAMPLE, None), (ALIASED_SAMPLE, named))
        if named
    }


def options_of(arguments: list[str]) -> argparse.Namespace:
    """The options of the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("repositories", nargs="+", metavar="GIT_DIRECTORY")
    parser.add_argument("--work", required=True, metavar="FOLDER", help="for the stores")
    parser.add_argument("--sealed", action="store_true", help="also ask the sealed questions")
    parser.add_argument("--errors", action="store_true", help="list the errors, except of the sealed half")
    parser.add_argument("--page", action="store_true", help="write the tables into the documentation")
    parser.add_argument("--json", action="store_true", help="plain data instead of tables")
    return parser.parse_args(arguments)


def chosen(repositories: list[str], *, sealed: bool) -> list[str]:
    """The repositories to ask about; reports the others."""
    found = []
    for repository in repositories:
        half = half_of(name_of(repository))
        if not half:
            say(f"{name_of(repository)}: skipped; there are no questions about it")
        elif half == SEALED and not sealed:
            say(f"{name_of(repository)}: skipped; it is sealed")
        else:
            found.append(repository)
    return found


def main(arguments: list[str]) -> int:
    """Run and print."""
    options = options_of(arguments)
    for package in missing():
        say(f"{package}: skipped; not installed")
    asked = []
    for repository in chosen(options.repositories, sealed=options.sealed):
        one = collection(repository)
        if wrong := errors(one):
            say("\n".join(wrong))
            return 2
        say(f"{one.name}: {len(one.documents)} documents, {len(one.questions)} questions")
        asked.append(asked_of(one, options.work))
    if not asked:
        say("nothing to measure")
        return 2
    if options.page:
        with open(PAGE, encoding="utf-8") as file:
            page = reporting.replaced(file.read(), asked)
        with open(PAGE, "w", encoding="utf-8") as file:
            file.write(page)
    elif options.json:
        print(json.dumps(reporting.as_data(asked), indent=1))
    else:
        print(reporting.markdown(asked, examples=options.errors))
    return 0 if reporting.passed(asked) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
