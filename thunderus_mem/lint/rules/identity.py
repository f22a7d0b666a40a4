"""Rules about a document's id, kind and folder, number, file name, path and size."""

from __future__ import annotations

import posixpath
import re
from typing import TYPE_CHECKING

from thunderus_mem.document.ids import file_stem, is_document_id, is_reserved_name, short_hash, slug
from thunderus_mem.document.paths import archived_path, is_archived, live_path
from thunderus_mem.document.references import references
from thunderus_mem.document.timestamp import utc_key
from thunderus_mem.document.unicode import token_count
from thunderus_mem.lint.rule import NOTE
from thunderus_mem.startup import NamedTuple, lazy_pattern
from thunderus_mem.store.config import configured_caps
from thunderus_mem.store.layout import DOCUMENT_FOLDERS, MEMORY

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from thunderus_mem.diagnostic import Diagnostic
    from thunderus_mem.document.document import Document
    from thunderus_mem.lint.rule import LintContext

_IMPOSSIBLE = lazy_pattern(r'[<>:"|?*\\\x00-\x1f\x7f]')
_ADR = lazy_pattern(r"ADR-([0-9]{1,6})(?:[-_.]|$)", re.IGNORECASE)


def id_grammar(context: LintContext) -> Iterable[Diagnostic]:
    """Invalid id: not ASCII words joined by single dots, hyphens or underscores.

    Why: ids become file names, appear in links and are typed by people. An id has at most 120 characters and
    is not a name that Windows reserves for devices (``nul``, ``com1``). Upper case is allowed.

    Bad::

        id: Fact.Testing/Überblick

    Good::

        id: fact.testing.overview

    Fix: choose a new id. Keep the old one under ``aliases`` if something may still refer to it.
    """
    document = context.document
    if document is None or is_document_id(document.id):
        return
    words = ".".join(filter(None, (slug(part) for part in document.id.split("."))))
    hint = "Choose an id such as `fact.testing`"
    if is_document_id(words) and words != document.id:
        hint = f"Use `{words}`"
    yield context.finding(
        "TM102",
        context.at("id"),
        f"Invalid id '{document.id}'",
        key="id",
        expected="ASCII letters and digits, joined by single `.`, `-` or `_`; at most 120 characters",
        hint=hint,
    )


def duplicate_id(context: LintContext) -> Iterable[Diagnostic]:
    """Two files have the same id.

    Why: the id identifies the document. Search and links find only one of the files: an active file before
    an archived one, otherwise the file whose path sorts first.

    Bad::

        FACTS/testing.md       id: fact.testing
        FACTS/testing-2.md     id: fact.testing

    Good::

        FACTS/testing.md       id: fact.testing
        FACTS/testing-2.md     id: fact.testing-on-windows

    Fix: change one of the ids, or merge the two with ``thunderus-mem garden``.
    """
    document = context.document
    if document is None or context.corpus is None:
        return
    others = [path for path in context.corpus.paths_of(document.id) if path != context.path]
    if not others:
        return
    here = is_archived(context.path)
    if all(is_archived(path) != here for path in others):
        message = f"is also used {'by' if here else 'in the archive by'} {others[0]}"
        remove = context.path if here else others[0]
        hint = f"Remove the archived file {remove}, or change one of the ids"
    else:
        more = f" and {len(others) - 1} more" if len(others) > 1 else ""
        message = f"is also used by {others[0]}{more}"
        hint = "Change one of the ids, or merge the files"
    yield context.finding(
        "TM103",
        context.at("id"),
        f"The id `{document.id}` {message}",
        key="id",
        expected="a unique id",
        hint=hint,
    )


def kind_folder(context: LintContext) -> Iterable[Diagnostic]:
    """The document is in the folder of another kind.

    Why: other programs expect one kind in each folder and silently skip other documents. The archive has
    the same folders, except for core documents.

    Bad::

        .thunderus/memory/semantic/FACTS/deploy.md     kind: playbook

    Good::

        .thunderus/memory/procedural/PLAYBOOKS/deploy.md     kind: playbook

    Fix: move the file, or correct ``kind``.
    """
    document = context.document
    if document is None or not context.path.startswith(f"{MEMORY}/"):
        return
    folder = DOCUMENT_FOLDERS.get(document.kind)
    home = live_path(context.path)
    if folder is None:
        return  # an unknown kind is TM101's
    folder_kind = next((kind for kind, place in DOCUMENT_FOLDERS.items() if home.startswith(f"{place}/")), "")
    if folder_kind == document.kind and (folder_kind != "core" or home == context.path):
        return
    if home != context.path and document.kind != "core":
        folder = archived_path(folder)
    wanted = folder_kind if folder_kind != document.kind else ""
    yield context.finding(
        "TM104",
        context.at("kind"),
        f"Document of kind `{document.kind}` in {context.path.rpartition('/')[0]}/",
        key="kind",
        expected=f"{folder}/",
        hint=f"Move the file to {folder}/" + (f", or set `kind: {wanted}`" if wanted else ""),
    )


def adr_number_taken(context: LintContext) -> Iterable[Diagnostic]:
    """Two decisions have the same number in their file names.

    Why: two branches can both take the next number. Ids and links still work, but "ADR 7" becomes ambiguous.

    Bad::

        DECISIONS/ADR-0007-use-jwt.md
        DECISIONS/ADR-0007-use-sqlite.md

    Good::

        DECISIONS/ADR-0007-use-jwt.md
        DECISIONS/ADR-0008-use-sqlite.md

    Fix: ``lint --fix`` renames the newer file and keeps its id and the links to that id. It does not rename a
    file that another document links to by path; do that by hand.
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
            f"ADR number {number} is also used by {others[0]}",
            expected="a unique number",
            hint=f"Run `thunderus-mem lint --fix` to renumber the newer one; ADR-{free:04d} is free",
        )


def names_alike(context: LintContext) -> Iterable[Diagnostic]:
    """Two paths or two ids differ only in case or Unicode normalization.

    Why: macOS and Windows keep only one of two such files, so a clone loses a document and git shows a change
    that was never made. Two such ids look the same to people.

    Bad::

        FACTS/testing.md
        FACTS/Testing.md

    Good::

        FACTS/testing.md
        FACTS/testing-on-windows.md

    Fix: rename one of the files; its id and the links to it stay the same.
    """
    document, corpus = context.document, context.corpus
    if corpus is None:
        return
    paths = [path for path in corpus.paths_like(context.path) if path != context.path]
    if paths:
        yield context.finding(
            "TM112",
            (0, 0),
            f"The path differs from {paths[0]} only in case or Unicode normalization",
            expected="a path that is unique on every system",
            hint="Rename one of the files; its id and the links to it stay the same",
        )
    ids = [one for one in corpus.ids_like(document.id) if one != document.id] if document is not None else []
    if ids:
        yield context.finding(
            "TM112",
            context.at("id"),
            f"The id differs from `{ids[0]}` only in case or Unicode normalization",
            key="id",
            expected="an id that cannot be confused with another",
            hint="Change one of the ids, or merge the documents",
        )


def kind_not_allowed(context: LintContext) -> Iterable[Diagnostic]:
    """The kind of the document is not in ``kinds.allowed``.

    Why: ``kinds.allowed`` in ``gardener.toml`` lists the kinds that this memory uses, so that readers know
    where to look. Commands do not write new documents of other kinds.

    Bad::

        kinds.allowed = ["core", "fact", "adr"]     kind: playbook

    Good::

        kinds.allowed = ["core", "fact", "adr"]     kind: fact

    Fix: archive or convert the document, or add its kind to ``kinds.allowed``.
    """
    document, allowed = context.document, context.config.settings.kinds_allowed
    if document is None or document.kind in allowed or document.kind not in DOCUMENT_FOLDERS:
        return
    yield context.finding(
        "TM113",
        context.at("kind"),
        f"Documents of kind `{document.kind}` are not allowed in this memory",
        key="kind",
        expected=f"one of {', '.join(allowed)}",
        hint=f"Archive the document, or add `{document.kind}` to `kinds.allowed`",
    )


def file_name(context: LintContext) -> Iterable[Diagnostic]:
    """The file name is not portable, is too long, or does not match the id.

    Why: a name that Windows does not allow breaks every clone there. The limit is 60 characters, not
    counting the number of a decision and ``.md``. Names reserved by Windows (``nul.md``) are reported as
    TM002. A name that does not match the id is only a note, because the id identifies the document.

    Bad::

        FACTS/what: why?.md

    Good::

        FACTS/testing.llvm-cov.md     id: fact.testing.llvm-cov

    Fix: rename the file; its id and the links to it stay the same.
    """
    document = context.document
    if document is None or not context.path.startswith(f"{MEMORY}/"):
        return
    longest = context.config.settings.lint_name_max
    name = context.path.rpartition("/")[2]
    stem = name.removesuffix(".md")
    wanted = _name_for(document, context)
    bad = _IMPOSSIBLE.search(name)
    own = _ADR.sub("", stem, count=1)
    problem = ""
    if bad is not None:
        problem = f"The file name contains `{bad.group()}`, which some systems do not allow"
    elif stem != stem.strip(" ") or stem.endswith("."):
        problem = "The file name starts or ends with a space, or ends with a dot"
    elif is_reserved_name(name):
        problem = f"`{stem}` is a reserved device name on Windows"
    elif len(own) > longest:
        problem = f"The file name is {len(own)} characters long"
    hint = f"Rename the file to {wanted}"
    if problem:
        expected = f"at most {longest} characters, letters, digits, `.`, `-` and `_`"
        yield context.finding("TM105", (0, 0), problem, expected=expected, hint=hint)
    elif not _matches_id(stem, document):
        message = f"The file name does not match the id `{document.id}`"
        yield context.finding("TM105", (0, 0), message, expected=wanted, hint=hint, severity=NOTE)


def _name_for(document: Document, context: LintContext) -> str:
    if document.kind == "core":
        return "CORE.md"
    stem = file_stem(document.id, document.kind)
    if document.kind != "adr":
        return f"{stem}.md"
    own = _ADR.match(posixpath.basename(document.path))
    taken = context.corpus.adr_numbers() if context.corpus is not None else {}
    number = own[1] if own is not None else f"{max(taken, default=0) + 1:04d}"
    return f"ADR-{number}-{stem}.md"


def _matches_id(stem: str, document: Document) -> bool:
    if document.kind in ("core", "recap") or not is_document_id(document.id):
        return True
    wanted = file_stem(document.id, document.kind)
    if document.kind == "adr":
        own = _ADR.sub("", stem, count=1)
        cut = own.lower().endswith(f"-{short_hash(document.id)}")  # the number leaves less room for the name
        return own != stem and (cut or own.lower() in (wanted, ""))
    return stem.lower().replace("_", ".") in (wanted.replace("_", "."), document.id.lower().replace("_", "."))


def path_length(context: LintContext) -> Iterable[Diagnostic]:
    """The path of the file is longer than 120 characters.

    Why: Windows limits absolute paths to 260 characters, and a repository can be cloned into a deep folder.

    Bad::

        .thunderus/memory/episodic/2026/01/21/morning/…/2026-01-21-the-long-story-of-the-broken-build.md

    Good::

        .thunderus/memory/episodic/2026-01-21-broken-build.md

    Fix: shorten the name of the file or its folders.
    """
    config = context.config.settings
    if len(context.path) > config.lint_path_max:
        yield context.finding(
            "TM106",
            (0, 0),
            f"The path is {len(context.path)} characters long",
            expected=f"at most {config.lint_path_max} characters",
            hint="Shorten the name of the file or its folders",
        )


def size_soft(context: LintContext) -> Iterable[Diagnostic]:
    """The document exceeds the soft size limit of its kind.

    Why: agents read core documents before every task (limit: 4,000 tokens), and any other document in full
    once they find it (limit: 2,000 tokens). Four characters count as one token. For imported documents and
    recaps this is a note.

    Bad::

        one fact that contains three years of history

    Good::

        three linked facts, one page each

    Fix: split the document at its headings, or shorten it. In ``gardener.toml``, ``caps`` sets the limits,
    and ``caps.kinds`` sets them by kind.
    """
    document = context.document
    if document is None:
        return
    soft, hard = configured_caps(context.config.settings, document.kind)
    tokens = token_count(document.text)
    if soft < tokens <= hard:
        yield context.finding(
            "TM301",
            (0, 0),
            f"The document has about {tokens:,} tokens",
            expected=f"at most {soft:,} tokens",
            hint="Split it at its headings, or shorten it",
            severity=NOTE if document.imported_from or document.kind == "recap" else None,
        )


def size_hard(context: LintContext) -> Iterable[Diagnostic]:
    """The document exceeds the hard size limit of its kind.

    Why: beyond 8,000 tokens for core documents and 4,000 for others, agents may get a truncated text without
    noticing. Four characters count as one token. For imported documents this is a note, because their text
    is kept as it is.

    Bad::

        a fact with a whole manual pasted into it

    Good::

        a fact that summarizes the manual and links to it

    Fix: split the document at its headings; for a fact, ``thunderus-mem garden`` proposes how. ``caps`` in
    ``gardener.toml`` sets the limits.
    """
    document = context.document
    if document is None:
        return
    hard = configured_caps(context.config.settings, document.kind)[1]
    tokens = token_count(document.text)
    if tokens > hard:
        yield context.finding(
            "TM302",
            (0, 0),
            f"The document has about {tokens:,} tokens, more than the limit of {hard:,}",
            expected=f"at most {hard:,} tokens",
            hint="Split it at its headings"
            + ("; `thunderus-mem garden --only sizes` shows how" if document.kind == "fact" else ""),
            severity=NOTE if document.imported_from else None,
        )


# Renumber decisions that share a number

_NUMBERED = lazy_pattern(r"(ADR-)([0-9]{1,6})(?=[-_.]|$)", re.IGNORECASE)


class Renumbering(NamedTuple):
    """A document and the new path of its file; id, title and text stay the same."""

    document: Document
    path: str


def decision_number(path: str) -> int | None:
    """The number in the file name of a decision."""
    match = _NUMBERED.match(posixpath.basename(path))
    return int(match[2]) if match is not None else None


def renumbered(documents: Iterable[Document], linked: Collection[str]) -> tuple[Renumbering, ...]:
    """Give the newer of two decisions with the same number the next free one; the oldest keeps it.

    ``documents`` include all decisions of the store. A file in ``linked``, to which another document links by
    path, is not renamed, and neither is one in the archive, which takes precedence over files in use.
    """
    by_number: dict[int, list[Document]] = {}
    for document in documents:
        number = decision_number(document.path) if document.kind == "adr" else None
        if number is not None:
            by_number.setdefault(number, []).append(document)
    free = max(by_number, default=0) + 1
    planned = []
    for _, found in sorted(by_number.items()):
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


def linked_paths(documents: Iterable[Document]) -> frozenset[str]:
    """Every path that a relative link in any document points to."""
    found: set[str] = set()
    for document in documents:
        folder = posixpath.dirname(document.path)
        for reference in references(document.body) if "adr-" in document.body.lower() else ():
            if reference.kind == "link":
                found.add(posixpath.normpath(posixpath.join(folder, reference.target.partition("#")[0])))
    return frozenset(found)
