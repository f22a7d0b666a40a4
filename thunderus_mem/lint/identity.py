"""Rules about what a document is: its id, its kind and folder, its number."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from thunderus_mem.model.archive import archived_path, is_archived, live_path
from thunderus_mem.model.ids import is_document_id, slug

if TYPE_CHECKING:
    from collections.abc import Iterable

    from thunderus_mem.lint.subject import Subject
    from thunderus_mem.model.diagnostic import Diagnostic

MEMORY: Final = ".thunderus/memory/"
FOLDERS: Final = {
    "core": MEMORY + "core/",
    "fact": MEMORY + "semantic/FACTS/",
    "adr": MEMORY + "semantic/DECISIONS/",
    "playbook": MEMORY + "procedural/PLAYBOOKS/",
    "recap": MEMORY + "episodic/",
}


def id_grammar(subject: Subject) -> Iterable[Diagnostic]:
    """The id is not lower-case ASCII words joined by single dots, hyphens or underscores.

    Why: ids become file names on every system, stand in links and are typed by people. 120 characters at
    most; names that Windows keeps for devices (``nul``, ``com1``) are refused.

    Bad::

        id: Fact.Testing/Überblick

    Good::

        id: fact.testing.overview

    Mend: choose a new id, and keep the old one under ``aliases`` when something may still name it.
    """
    document = subject.document
    if document is None or is_document_id(document.id):
        return
    words = ".".join(filter(None, (slug(part) for part in document.id.split("."))))
    hint = "Use lower-case letters, digits and single `.`, `-` or `_` between them."
    if is_document_id(words) and words != document.id:
        hint = f"`{words}` would do."
    yield subject.found(
        "TM102",
        subject.at("id"),
        "The id is no document id.",
        key="id",
        expected="lower-case words joined by dots, 120 characters at most",
        hint=hint,
    )


def duplicate_id(subject: Subject) -> Iterable[Diagnostic]:
    """Two files have the same id.

    Why: the id is the identity. Only the file whose path sorts first is the document, and one in use goes
    before one in the archive; the other is not found by search and cannot be linked.

    Bad::

        FACTS/testing.md       id: fact.testing
        FACTS/testing-2.md     id: fact.testing

    Good::

        FACTS/testing.md       id: fact.testing
        FACTS/testing-2.md     id: fact.testing-on-windows

    Mend: give one of them a new id, or merge the two with ``thunderus-mem garden``.
    """
    document = subject.document
    if document is None or subject.corpus is None:
        return
    others = [path for path in subject.corpus.paths_of(document.id) if path != subject.path]
    apart = [path for path in others if is_archived(path) != is_archived(subject.path)]
    if others and len(apart) == len(others):
        archived = subject.path if is_archived(subject.path) else apart[0]
        state = "in use as well" if archived == subject.path else "in the archive as well"
        yield subject.found(
            "TM103",
            subject.at("id"),
            f"The id `{document.id}` is {state}, in {apart[0]}.",
            key="id",
            expected="an id that no other file has",
            hint=f"The document in use counts. Remove {archived}, or give one of the two another id.",
        )
    elif others:
        more = f" and {len(others) - 1} more" if len(others) > 1 else ""
        yield subject.found(
            "TM103",
            subject.at("id"),
            f"The id `{document.id}` is also that of {others[0]}{more}.",
            key="id",
            expected="an id that no other file has",
            hint="Give one of the files a new id, or merge them.",
        )


def kind_folder(subject: Subject) -> Iterable[Diagnostic]:
    """The kind does not agree with the folder.

    Why: Thunderus reads each folder for its own kind and skips other documents in silence. The archive
    mirrors the folders, but for that of core memory.

    Bad::

        .thunderus/memory/semantic/FACTS/deploy.md     kind: playbook

    Good::

        .thunderus/memory/procedural/PLAYBOOKS/deploy.md     kind: playbook

    Mend: move the file, or correct ``kind``.
    """
    document = subject.document
    if document is None or not subject.path.startswith(MEMORY):
        return
    folder = FOLDERS.get(document.kind)
    home = live_path(subject.path)
    if folder is None or (home.startswith(folder) and (document.kind != "core" or home == subject.path)):
        return  # an unknown kind is TM101's
    if home != subject.path and document.kind != "core":
        folder = archived_path(folder)
    wanted = next((kind for kind, place in FOLDERS.items() if home.startswith(place)), "")
    wanted = "" if wanted == document.kind else wanted
    yield subject.found(
        "TM104",
        subject.at("kind"),
        f"A document of kind `{document.kind}` lies in {subject.path.rpartition('/')[0]}/.",
        key="kind",
        expected=folder,
        hint=f"Move the file to {folder}" + (f", or set `kind: {wanted}`." if wanted else "."),
    )


_ADR_NUMBER = re.compile(r"ADR-([0-9]{1,6})(?:[-_.]|$)", re.IGNORECASE)


def adr_number_taken(subject: Subject) -> Iterable[Diagnostic]:
    """Two decisions have the same number in their file names.

    Why: two branches may both take the next number; ids and links are not touched by that, but people say
    "ADR 7" and should mean one thing.

    Bad::

        DECISIONS/ADR-0007-use-jwt.md
        DECISIONS/ADR-0007-use-sqlite.md

    Good::

        DECISIONS/ADR-0007-use-jwt.md
        DECISIONS/ADR-0008-use-sqlite.md

    Mend: ``lint --fix`` renames the newer file; its id and the links to that stay as they are. A file that
    another document links to by its path is left to a person.
    """
    document = subject.document
    match = _ADR_NUMBER.match(subject.path.rpartition("/")[2])
    if document is None or document.kind != "adr" or match is None or subject.corpus is None:
        return
    number = int(match[1])
    taken = subject.corpus.adr_numbers()
    others = [path for path in taken.get(number, ()) if path != subject.path]
    if others:
        free = max(taken, default=number) + 1
        yield subject.found(
            "TM111",
            (0, 0),
            f"The number {number} is also that of {others[0]}.",
            expected="a number of its own",
            hint=f"`thunderus-mem lint --fix` renames the newer of the two; ADR-{free:04d} is free.",
        )


def names_alike(subject: Subject) -> Iterable[Diagnostic]:
    """Two files or two ids differ in nothing but upper and lower case, or in how Unicode writes a letter.

    Why: macOS and Windows keep only one of two such files, so a clone there loses a document and git shows a
    change that nobody made. Two such ids look the same to people who type them.

    Bad::

        FACTS/testing.md
        FACTS/Testing.md

    Good::

        FACTS/testing.md
        FACTS/testing-on-windows.md

    Mend: give one of them another name; the id counts, so links to it stay.
    """
    document, corpus = subject.document, subject.corpus
    if corpus is None:
        return
    paths = [path for path in corpus.paths_like(subject.path) if path != subject.path]
    if paths:
        yield subject.found(
            "TM112",
            (0, 0),
            f"The path differs from {paths[0]} only in case or in the form of its letters.",
            expected="a name that no other file has on any system",
            hint="Rename one of the files; its id and the links to it stay as they are.",
        )
    ids = [one for one in corpus.ids_like(document.id) if one != document.id] if document is not None else []
    if ids:
        yield subject.found(
            "TM112",
            subject.at("id"),
            f"The id differs from `{ids[0]}` only in case or in the form of its letters.",
            key="id",
            expected="an id that cannot be taken for another",
            hint="Give one of the documents a new id, or merge them.",
        )
