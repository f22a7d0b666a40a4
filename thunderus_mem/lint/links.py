"""Rules about what a document points at: documents, files, headings, relations."""

from __future__ import annotations

import posixpath
import re
from typing import TYPE_CHECKING

from thunderus_mem.lint.identity import MEMORY
from thunderus_mem.lint.rule import NOTE, WARNING
from thunderus_mem.lint.subject import nearest, relative_path
from thunderus_mem.model.document import RELATIONS
from thunderus_mem.model.header import Scalar, Sequence
from thunderus_mem.model.markdown import paths_in_code, slug

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from thunderus_mem.lint.follow import Target
    from thunderus_mem.lint.rule import Corpus
    from thunderus_mem.lint.subject import Subject
    from thunderus_mem.model.diagnostic import Diagnostic
    from thunderus_mem.model.markdown import Reference


def place_of(subject: Subject, reference: Reference) -> tuple[int, int]:
    """Line and column of a reference in the file."""
    return subject.in_body(reference.line), reference.column


def dead_link(subject: Subject) -> Iterable[Diagnostic]:
    """A link leads nowhere: no such document, no such file.

    Why: a reader who follows it learns nothing, and cannot tell whether the target moved or never was.
    Links between documents are errors, links to other files of the repository warnings. Addresses on the
    network and links in code are not looked at. The links of an imported text hold as they are: they are
    followed from the place it was imported from (``metadata.imported_from``), and a dead one is a note.

    Bad::

        See [[fact.tests]] and [the guide](../guide.md).

    Good::

        See [[fact.testing]] and [the guide](../../../../docs/guide.md).

    Mend: correct the target, or write the id in double brackets: it holds wherever the file moves.
    """
    for reference, target in subject.targets:
        if target.there or subject.corpus is None:
            continue
        if reference.kind == "wiki":
            near = nearest(target.path, subject.corpus.ids())
            hint = f"Did you mean [[{near}]]?" if near else "Correct the id, or remove the link."
            message = f"No document is called `{target.path}`."
            yield subject.found(
                "TM201", place_of(subject, reference), message, expected="an id or an alias", hint=hint
            )
        else:
            yield _dead_path(subject, subject.corpus, reference, target)


def _dead_path(subject: Subject, corpus: Corpus, reference: Reference, target: Target) -> Diagnostic:
    stem = posixpath.basename(target.path).removesuffix(".md")
    moved = corpus.resolve(stem)
    if target.imported:
        return subject.found(
            "TM201",
            place_of(subject, reference),
            f"The imported text links to {target.path}, which is neither imported nor in this repository.",
            expected="a document or a file",
            hint=f"Write [[{moved}]] instead." if moved else "Import that file too, or correct the link.",
            severity=NOTE,
        )
    hint = "Correct the path, or remove the link."
    if moved is not None:
        paths = corpus.paths_of(moved)
        where = relative_path(paths[0], subject.path) if paths else ""
        hint = (
            f"The document {moved} is at {where}; or write [[{moved}]]." if where else f"Write [[{moved}]]."
        )
    is_document = target.path.startswith(MEMORY) or moved is not None
    return subject.found(
        "TM201",
        place_of(subject, reference),
        f"The link leads to {target.path}, which does not exist.",
        expected="a path that exists, relative to this file",
        hint=hint,
        severity=None if is_document else WARNING,
    )


def superseded_still_linked(subject: Subject) -> Iterable[Diagnostic]:
    """A document still points at one that another has replaced.

    Why: the reader follows the link to what is no longer so. The successor itself may name what it replaces,
    and so may a document that is superseded too.

    Bad::

        links:
          refers_to: [adr.use-jwt]      # superseded by adr.use-paseto

    Good::

        links:
          refers_to: [adr.use-paseto]

    Mend: link the successor.
    """
    document, corpus = subject.document, subject.corpus
    if document is None or corpus is None:
        return
    if not document.links and not subject.references:
        return
    if corpus.superseded_by(document.id) is not None:
        return
    named = [(place_of(subject, reference), "", target.doc_id) for reference, target in subject.targets]
    for place, key, target_text in relation_items(subject):
        if key.startswith("links.refers_to"):
            named.append((place, key, corpus.resolve(target_text)))
    for place, key, doc_id in named:
        successor = corpus.superseded_by(doc_id) if doc_id and doc_id != document.id else None
        if successor is not None and successor not in (document.id, doc_id):
            yield subject.found(
                "TM202",
                place,
                f"The linked document {doc_id} is superseded by {successor}.",
                key=key,
                expected=successor,
                hint=f"Link {successor} instead.",
            )


_LINE_ANCHOR = re.compile(r"L[0-9]+(?:-L?[0-9]+)?|:~:.*|top|")


def dead_anchor(subject: Subject) -> Iterable[Diagnostic]:
    """A link names a heading that the target document does not have.

    Why: the reader lands at the top and has to search. Headings are renamed more often than links are mended.

    Bad::

        See [the setup](testing.md#set-up).        (the heading is "Setup")

    Good::

        See [the setup](testing.md#setup).

    Mend: write the heading's words in lower case with hyphens for blanks, without punctuation.
    """
    for reference, target in subject.targets:
        if not target.anchor or not target.doc_id or _LINE_ANCHOR.fullmatch(target.anchor):
            continue
        known = _anchors(subject, target.doc_id)
        wanted = slug(target.anchor) if reference.kind == "wiki" else target.anchor.replace("\\", "").lower()
        if known is None or _is_known(wanted, known):
            continue
        near = nearest(wanted, known)
        yield subject.found(
            "TM203",
            place_of(subject, reference),
            f"{target.path or 'This document'} has no heading with the anchor #{target.anchor}.",
            expected=f"one of its {len(known)} headings" if known else "a document with headings",
            hint=f"Did you mean #{near}?" if near else "Correct the anchor, or link the document alone.",
        )


def _is_known(wanted: str, known: frozenset[str]) -> bool:
    # "## Setup { #setup }" and "## Setup {#setup}", as site generators let authors name a heading.
    return (
        wanted in known
        or f"{wanted}-{wanted}" in known
        or any(name.endswith(f"--{wanted}-") for name in known)
    )


def _anchors(subject: Subject, doc_id: str) -> frozenset[str] | None:
    if subject.document is not None and doc_id == subject.document.id:
        return subject.anchors
    return subject.corpus.anchors(doc_id) if subject.corpus is not None else None


def relation_items(subject: Subject) -> Iterator[tuple[tuple[int, int], str, str]]:
    """Each item of a relation: its place, its key and its text."""
    for relation in RELATIONS:
        node = subject.node("links", relation)
        if isinstance(node, Sequence):
            for index, item in enumerate(node.items):
                if isinstance(item, Scalar) and item.text:
                    yield subject.at("links", relation, index), f"links.{relation}.{index}", item.text


def unknown_relation_target(subject: Subject) -> Iterable[Diagnostic]:
    """A relation in ``links`` names a document that does not exist, or the document itself.

    Why: relations are what supersession, reading on and provenance are built from; a wrong id drops out of
    all of them in silence.

    Bad::

        links:
          supersedes: [adr.use-jwtt]

    Good::

        links:
          supersedes: [adr.use-jwt]

    Mend: correct the id. Aliases count; ``duplicates`` may name an alias of the document itself, as a merge
    leaves it.
    """
    document, corpus = subject.document, subject.corpus
    if document is None or corpus is None or subject.node("links") is None:
        return
    for place, key, text in relation_items(subject):
        found = corpus.resolve(text)
        if found is not None and found != document.id:
            continue
        if key.startswith("links.duplicates.") and text in document.aliases:
            continue  # a merged duplicate lives on as an alias
        near = nearest(text, (one for one in corpus.ids() if one != document.id)) if found is None else ""
        message = (
            "A document cannot stand in relation to itself." if found else f"No document is called `{text}`."
        )
        yield subject.found(
            "TM204",
            place,
            message,
            key=key,
            expected="the id of another document",
            hint=f"Did you mean {near}?" if near else "Correct the id, or remove the entry.",
        )


# Words of a line that says itself that a file is not there: gone, planned, made by the reader, an example.
_NOT_THERE = re.compile(
    r"\b(?:delet|remov|gone\b|former|renam|mov(?:e|ed|ing)\b|creat|generat|plan(?:s|ned)?\b|new\b|add(?:s|ed|ing)?\b|"
    r"will\b|would\b|example|instead of|used to\b|no longer|if it exists|writes?\b|written\b)|\be\.g\.",
    re.IGNORECASE,
)


def dead_citation(subject: Subject) -> Iterable[Diagnostic]:
    """The text names a file of the repository that is not there.

    Why: a path in code marks is where a reader looks next. Only paths that begin in a folder of this
    repository count: others speak of a project elsewhere, and a bare name may be anywhere. Folders that every
    repository may have (``.github/``) and what this tool makes do not count. A note: a text may speak of
    what is planned; `add` and `edit` show it for what they write. A recap tells what was, so it may name
    anything.

    Bad::

        The timeout is set in `src/net/clinet.py`.

    Good::

        The timeout is set in `src/net/client.py`; `src/net/old.py` was removed.

    Mend: correct the path, or say in the same line that the file is gone or planned.
    """
    if subject.document is None or subject.document.kind == "recap" or "`" not in subject.body:
        return
    for citation in paths_in_code(subject.scanned):
        first, slash, rest = citation.path.partition("/")
        if not slash or not rest or first.startswith("."):
            continue
        if subject.exists(citation.path) or not subject.exists(first):
            continue
        if _NOT_THERE.search(subject.body_text(citation.line)):
            continue
        yield subject.found(
            "TM205",
            (subject.in_body(citation.line), citation.column),
            f"The text names `{citation.path}`, which is not in the repository.",
            expected="a path that exists, from the root of the repository",
            hint="Correct the path, or say in the line that the file is gone or planned.",
        )
