"""Rules about what a document is: its id, kind and folder, number, file name, path and size."""

from __future__ import annotations

import posixpath
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from thunderus_mem.document.ids import file_stem, is_document_id, is_reserved_name, short_hash, slug
from thunderus_mem.document.paths import archived_path, is_archived, live_path
from thunderus_mem.document.references import references
from thunderus_mem.document.timestamp import utc_key
from thunderus_mem.lint.rule import NOTE
from thunderus_mem.store.config import configured_caps
from thunderus_mem.store.layout import DOCUMENT_FOLDERS, MEMORY

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from thunderus_mem.diagnostic import Diagnostic
    from thunderus_mem.document.document import Document
    from thunderus_mem.lint.rule import LintContext

_IMPOSSIBLE = re.compile(r'[<>:"|?*\\\x00-\x1f\x7f]')
_ADR = re.compile(r"ADR-([0-9]{1,6})(?:[-_.]|$)", re.IGNORECASE)


def id_grammar(context: LintContext) -> Iterable[Diagnostic]:
    """The id is not lower-case ASCII words joined by single dots, hyphens or underscores.

    Why: ids become file names on every system, stand in links and are typed by people. 120 characters at
    most; names that Windows keeps for devices (``nul``, ``com1``) are refused.

    Bad::

        id: Fact.Testing/Überblick

    Good::

        id: fact.testing.overview

    Mend: choose a new id, and keep the old one under ``aliases`` when something may still name it.
    """
    document = context.document
    if document is None or is_document_id(document.id):
        return
    words = ".".join(filter(None, (slug(part) for part in document.id.split("."))))
    hint = "Use lower-case letters, digits and single `.`, `-` or `_` between them."
    if is_document_id(words) and words != document.id:
        hint = f"`{words}` would do."
    yield context.finding(
        "TM102",
        context.at("id"),
        "The id is no document id.",
        key="id",
        expected="lower-case words joined by dots, 120 characters at most",
        hint=hint,
    )


def duplicate_id(context: LintContext) -> Iterable[Diagnostic]:
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
    document = context.document
    if document is None or context.corpus is None:
        return
    others = [path for path in context.corpus.paths_of(document.id) if path != context.path]
    if not others:
        return
    here = is_archived(context.path)
    if all(is_archived(path) != here for path in others):
        message = f"is in {'use' if here else 'the archive'} as well, in {others[0]}."
        remove = context.path if here else others[0]
        hint = f"The document in use counts. Remove {remove}, or give one of the two another id."
    else:
        more = f" and {len(others) - 1} more" if len(others) > 1 else ""
        message = f"is also that of {others[0]}{more}."
        hint = "Give one of the files a new id, or merge them."
    yield context.finding(
        "TM103",
        context.at("id"),
        f"The id `{document.id}` {message}",
        key="id",
        expected="an id that no other file has",
        hint=hint,
    )


def kind_folder(context: LintContext) -> Iterable[Diagnostic]:
    """The kind does not agree with the folder.

    Why: Thunderus reads each folder for its own kind and skips other documents in silence. The archive
    mirrors the folders, but for that of core memory.

    Bad::

        .thunderus/memory/semantic/FACTS/deploy.md     kind: playbook

    Good::

        .thunderus/memory/procedural/PLAYBOOKS/deploy.md     kind: playbook

    Mend: move the file, or correct ``kind``.
    """
    document = context.document
    if document is None or not context.path.startswith(f"{MEMORY}/"):
        return
    folder = DOCUMENT_FOLDERS.get(document.kind)
    home = live_path(context.path)
    if folder is None:
        return  # an unknown kind is TM101's
    lies_in = next((kind for kind, place in DOCUMENT_FOLDERS.items() if home.startswith(f"{place}/")), "")
    if lies_in == document.kind and (lies_in != "core" or home == context.path):
        return
    if home != context.path and document.kind != "core":
        folder = archived_path(folder)
    wanted = lies_in if lies_in != document.kind else ""
    yield context.finding(
        "TM104",
        context.at("kind"),
        f"A document of kind `{document.kind}` lies in {context.path.rpartition('/')[0]}/.",
        key="kind",
        expected=f"{folder}/",
        hint=f"Move the file to {folder}/" + (f", or set `kind: {wanted}`." if wanted else "."),
    )


def adr_number_taken(context: LintContext) -> Iterable[Diagnostic]:
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
    document = context.document
    match = _ADR.match(context.path.rpartition("/")[2])
    if document is None or document.kind != "adr" or match is None or context.corpus is None:
        return
    number = int(match[1])
    taken = context.corpus.adr_numbers()
    others = [path for path in taken.get(number, ()) if path != context.path]
    if others:
        free = max(taken, default=number) + 1
        yield context.finding(
            "TM111",
            (0, 0),
            f"The number {number} is also that of {others[0]}.",
            expected="a number of its own",
            hint=f"`thunderus-mem lint --fix` renames the newer of the two; ADR-{free:04d} is free.",
        )


def names_alike(context: LintContext) -> Iterable[Diagnostic]:
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
    document, corpus = context.document, context.corpus
    if corpus is None:
        return
    paths = [path for path in corpus.paths_like(context.path) if path != context.path]
    if paths:
        yield context.finding(
            "TM112",
            (0, 0),
            f"The path differs from {paths[0]} only in case or in the form of its letters.",
            expected="a name that no other file has on any system",
            hint="Rename one of the files; its id and the links to it stay as they are.",
        )
    ids = [one for one in corpus.ids_like(document.id) if one != document.id] if document is not None else []
    if ids:
        yield context.finding(
            "TM112",
            context.at("id"),
            f"The id differs from `{ids[0]}` only in case or in the form of its letters.",
            key="id",
            expected="an id that cannot be taken for another",
            hint="Give one of the documents a new id, or merge them.",
        )


def file_name(context: LintContext) -> Iterable[Diagnostic]:
    """The file's name cannot exist on every system, is too long, or does not follow from the id.

    Why: a name that Windows refuses breaks every clone there. A name that does not follow from the id is a
    note: the id counts, the name only helps to find the file by eye. 60 characters at most, without the
    number of a decision and without ``.md``.

    Bad::

        FACTS/what: why?.md
        FACTS/nul.md

    Good::

        FACTS/testing.llvm-cov.md     id: fact.testing.llvm-cov

    Mend: rename the file; its id and the links to it stay as they are.
    """
    document = context.document
    if document is None or not context.path.startswith(f"{MEMORY}/"):
        return
    longest = context.config.settings.lint_name_max
    name = context.path.rpartition("/")[2]
    stem = name.removesuffix(".md")
    wanted = _name_for(document)
    bad = _IMPOSSIBLE.search(name)
    own = _ADR.sub("", stem, count=1)
    problem = ""
    if bad is not None:
        problem = f"The file name holds `{bad.group()}`, which not every system allows."
    elif stem != stem.strip(" ") or stem.endswith("."):
        problem = "The file name begins or ends with a blank or ends with a dot."
    elif is_reserved_name(name):
        problem = f"`{stem}` is the name of a device on Windows."
    elif len(own) > longest:
        problem = f"The file name is {len(own)} characters long."
    hint = f"Rename the file to {wanted}."
    if problem:
        expected = f"at most {longest} characters, letters, digits, `.`, `-` and `_`"
        yield context.finding("TM105", (0, 0), problem, expected=expected, hint=hint)
    elif not _follows(stem, document):
        message = f"The file name does not follow from the id `{document.id}`."
        yield context.finding("TM105", (0, 0), message, expected=wanted, hint=hint, severity=NOTE)


def _name_for(document: Document) -> str:
    if document.kind == "core":
        return "CORE.md"
    stem = file_stem(document.id, document.kind)
    return f"ADR-<number>-{stem}.md" if document.kind == "adr" else f"{stem}.md"


def _follows(stem: str, document: Document) -> bool:
    if document.kind in ("core", "recap") or not is_document_id(document.id):
        return True
    wanted = file_stem(document.id, document.kind)
    if document.kind == "adr":
        own = _ADR.sub("", stem, count=1)
        cut = own.lower().endswith(f"-{short_hash(document.id)}")  # the number left less room for the name
        return own != stem and (cut or own.lower() in (wanted, ""))
    return stem.lower().replace("_", ".") in (wanted.replace("_", "."), document.id.replace("_", "."))


def path_length(context: LintContext) -> Iterable[Diagnostic]:
    """The path of the file is longer than 120 characters.

    Why: Windows still refuses paths over 260, and clones lie deep in folders of their own.

    Bad::

        .thunderus/memory/episodic/2026/01/21/morning/…/2026-01-21-the-long-story-of-the-broken-build.md

    Good::

        .thunderus/memory/episodic/2026-01-21-broken-build.md

    Mend: shorten the names of folders or of the file.
    """
    config = context.config.settings
    if len(context.path) > config.lint_path_max:
        yield context.finding(
            "TM106",
            (0, 0),
            f"The path is {len(context.path)} characters long.",
            expected=f"at most {config.lint_path_max} characters",
            hint="Shorten the names of folders or of the file.",
        )


def _tokens(document: Document) -> int:
    return len(document.text) // 4


def size_soft(context: LintContext) -> Iterable[Diagnostic]:
    """The document is longer than is good for a reader with a small window.

    Why: core knowledge is read before every piece of work (4,000 tokens), other documents whole when they
    are found (2,000). A token is taken as four characters. For an imported text and for a recap, which is
    as long as its day, it is a note.

    Bad::

        one fact with the history of three years

    Good::

        three facts of one page, linked

    Mend: split the document at its headings, or cut what nobody needs. ``caps`` in ``gardener.toml``
    moves the caps, ``caps.kinds`` the one of a single kind.
    """
    document = context.document
    if document is None:
        return
    soft, hard = configured_caps(context.config.settings, document.kind)
    tokens = _tokens(document)
    if soft < tokens <= hard:
        yield context.finding(
            "TM301",
            (0, 0),
            f"The document holds about {tokens:,} tokens.",
            expected=f"at most {soft:,} tokens",
            hint="Split it at its headings, or cut what nobody needs.",
            severity=NOTE if document.imported_from or document.kind == "recap" else None,
        )


def size_hard(context: LintContext) -> Iterable[Diagnostic]:
    """The document is far too long to be read whole.

    Why: beyond 8,000 tokens for core and 4,000 for others, a reader gets a cut document, and nobody sees
    what was cut. A token is taken as four characters. For an imported text it is a note, as the other rules
    about its form: it came as it was, and an old decision is not written anew to please a check.

    Bad::

        a fact into which a whole manual was pasted

    Good::

        a fact that says what matters and links the manual

    Mend: split the document at its headings; for a fact ``thunderus-mem garden`` proposes how.
    ``caps`` in ``gardener.toml`` moves the caps.
    """
    document = context.document
    if document is None:
        return
    hard = configured_caps(context.config.settings, document.kind)[1]
    tokens = _tokens(document)
    if tokens > hard:
        yield context.finding(
            "TM302",
            (0, 0),
            f"The document holds about {tokens:,} tokens.",
            expected=f"at most {hard:,} tokens",
            hint="See how it could be split: thunderus-mem garden --only sizes"
            if document.kind == "fact"
            else "Split it at its headings.",
            severity=NOTE if document.imported_from else None,
        )


# New numbers for decisions that share one

_NUMBERED = re.compile(r"(ADR-)([0-9]{1,6})(?=[-_.]|$)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Renumbering:
    """A document whose file gets another name: id, title and text stay."""

    document: Document
    path: str


def renumbered(documents: Sequence[Document]) -> tuple[Renumbering, ...]:
    """The newer of two decisions with one number gets the next free one; the oldest keeps it.

    ``documents`` are all of the store. A file that another document links to by its path keeps its name: its
    number is for a person to settle. So does one in the archive, which keeps its number before all others.
    """
    by_number: dict[int, list[Document]] = {}
    for document in documents:
        match = _NUMBERED.match(posixpath.basename(document.path)) if document.kind == "adr" else None
        if match is not None:
            by_number.setdefault(int(match[2]), []).append(document)
    shared = {number: found for number, found in sorted(by_number.items()) if len(found) > 1}
    if not shared:
        return ()
    linked = _linked_paths(documents)
    free = max(by_number) + 1
    planned = []
    for found in shared.values():
        for document in sorted(found, key=_age)[1:]:
            if document.path not in linked and not is_archived(document.path):
                planned.append(Renumbering(document, _numbered(document.path, free)))
                free += 1
    return tuple(planned)


def _age(document: Document) -> tuple[bool, str, str]:
    return not is_archived(document.path), utc_key(document.created) or "9", document.path


def _numbered(path: str, number: int) -> str:
    folder, name = posixpath.split(path)
    return posixpath.join(folder, _NUMBERED.sub(lambda match: f"{match[1]}{number:04d}", name, count=1))


def _linked_paths(documents: Iterable[Document]) -> frozenset[str]:
    """Every path that a relative link of some document leads to."""
    found: set[str] = set()
    for document in documents:
        folder = posixpath.dirname(document.path)
        for reference in references(document.body) if "adr-" in document.body.lower() else ():
            if reference.kind == "link":
                found.add(posixpath.normpath(posixpath.join(folder, reference.target.partition("#")[0])))
    return frozenset(found)
