"""Rules about what a document points at: documents, files, headings, relations, where it comes from, code.

Links and relations are resolved in `lint.context`; code is judged by the anchors' verdicts.
"""

from __future__ import annotations

import posixpath
import re
from itertools import takewhile
from typing import TYPE_CHECKING

from thunderus_mem.document.document import RELATIONS
from thunderus_mem.document.frontmatter import nodes
from thunderus_mem.document.frontmatter.nodes import Scalar
from thunderus_mem.document.ids import closest
from thunderus_mem.document.markdown import heading_anchor
from thunderus_mem.document.paths import is_archived
from thunderus_mem.document.references import paths_in_code
from thunderus_mem.lint.rule import NOTE, WARNING
from thunderus_mem.store.layout import MEMORY

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from thunderus_mem.diagnostic import Diagnostic
    from thunderus_mem.document.references import Reference
    from thunderus_mem.lint.rule import Corpus, LintContext, Target

_COMPARED = 80
_LINE_ANCHOR = re.compile(r"L[0-9]+(?:-L?[0-9]+)?|:~:.*|top|")
# Words of a line that says itself that a file is not there: gone, planned, made by the reader, an example.
_NOT_THERE = re.compile(
    r"\b(?:delet|remov|gone\b|former|renam|mov(?:e|ed|ing)\b|creat|generat|plan(?:s|ned)?\b|new\b|add(?:s|ed|ing)?\b|"
    r"will\b|would\b|example|instead of|used to\b|no longer|if it exists|writes?\b|written\b)|\be\.g\.",
    re.IGNORECASE,
)


def nearest(text: str, known: Iterable[str]) -> str:
    """The known name most like ``text``, "" when none is; quick however many there are."""

    def unlike(name: str) -> tuple[int, str]:
        alike = takewhile(lambda pair: pair[0] == pair[1], zip(name, text, strict=False))
        return -sum(1 for _ in alike), name

    # Comparing letter by letter is slow: only names that begin alike get that far.
    likely = sorted(known, key=unlike)[:_COMPARED]
    return next(iter(closest(text[:_COMPARED], likely, 1)), "")


def _place(context: LintContext, reference: Reference) -> tuple[int, int]:
    """Line and column of a reference in the file."""
    return context.in_body(reference.line), reference.column


def _relations(context: LintContext) -> Iterator[tuple[tuple[int, int], str, str]]:
    """Each item of a relation: its place, its key and its text."""
    for relation in RELATIONS:
        node = context.node("links", relation)
        if isinstance(node, nodes.Sequence):
            for index, item in enumerate(node.items):
                if isinstance(item, Scalar) and item.text:
                    yield context.at("links", relation, index), f"links.{relation}.{index}", item.text


def _linked(context: LintContext, corpus: Corpus) -> Iterator[tuple[tuple[int, int], str, str | None]]:
    """Place, key and id of every document that the text links or ``refers_to`` names."""
    for reference, target in context.targets:
        yield _place(context, reference), "", target.doc_id
    for place, key, text in _relations(context):
        if key.startswith("links.refers_to"):
            yield place, key, corpus.resolve(text)


def dead_link(context: LintContext) -> Iterable[Diagnostic]:
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
    for reference, target in context.targets:
        if target.exists or context.corpus is None:
            continue
        if reference.kind == "wiki":
            near = nearest(target.path, context.corpus.ids())
            hint = f"Did you mean [[{near}]]?" if near else "Correct the id, or remove the link."
            message = f"No document is called `{target.path}`."
            yield context.finding(
                "TM201", _place(context, reference), message, expected="an id or an alias", hint=hint
            )
        else:
            yield _dead_path(context, context.corpus, reference, target)


def _dead_path(context: LintContext, corpus: Corpus, reference: Reference, target: Target) -> Diagnostic:
    stem = posixpath.basename(target.path).removesuffix(".md")
    moved = corpus.resolve(stem)
    if target.imported:
        return context.finding(
            "TM201",
            _place(context, reference),
            f"The imported text links to {target.path}, which is neither imported nor in this repository.",
            expected="a document or a file",
            hint=f"Write [[{moved}]] instead." if moved else "Import that file too, or correct the link.",
            severity=NOTE,
        )
    hint = "Correct the path, or remove the link."
    if moved is not None:
        paths = corpus.paths_of(moved)
        where = posixpath.relpath(paths[0], posixpath.dirname(context.path) or ".") if paths else ""
        hint = (
            f"The document {moved} is at {where}; or write [[{moved}]]." if where else f"Write [[{moved}]]."
        )
    is_document = target.path.startswith(f"{MEMORY}/") or moved is not None
    return context.finding(
        "TM201",
        _place(context, reference),
        f"The link leads to {target.path}, which does not exist.",
        expected="a path that exists, relative to this file",
        hint=hint,
        severity=None if is_document else WARNING,
    )


def superseded_still_linked(context: LintContext) -> Iterable[Diagnostic]:
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
    document, corpus = context.document, context.corpus
    if document is None or corpus is None:
        return
    if not document.links and not context.references:
        return
    if corpus.superseded_by(document.id) is not None:
        return
    for place, key, doc_id in _linked(context, corpus):
        successor = corpus.superseded_by(doc_id) if doc_id and doc_id != document.id else None
        if successor is not None and successor not in (document.id, doc_id):
            yield context.finding(
                "TM202",
                place,
                f"The linked document {doc_id} is superseded by {successor}.",
                key=key,
                expected=successor,
                hint=f"Link {successor} instead.",
            )


def dead_anchor(context: LintContext) -> Iterable[Diagnostic]:
    """A link names a heading that the target document does not have.

    Why: the reader lands at the top and has to search. Headings are renamed more often than links are mended.

    Bad::

        See [the setup](testing.md#set-up).        (the heading is "Setup")

    Good::

        See [the setup](testing.md#setup).

    Mend: write the heading's words in lower case with hyphens for blanks, without punctuation.
    """
    for reference, target in context.targets:
        if not target.anchor or not target.doc_id or _LINE_ANCHOR.fullmatch(target.anchor):
            continue
        known = _anchors(context, target.doc_id)
        anchor = target.anchor
        wanted = heading_anchor(anchor) if reference.kind == "wiki" else anchor.replace("\\", "").lower()
        if known is None or _is_known(wanted, known):
            continue
        near = nearest(wanted, known)
        yield context.finding(
            "TM203",
            _place(context, reference),
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


def _anchors(context: LintContext, doc_id: str) -> frozenset[str] | None:
    if context.document is not None and doc_id == context.document.id:
        return context.anchors
    return context.corpus.anchors(doc_id) if context.corpus is not None else None


def unknown_relation_target(context: LintContext) -> Iterable[Diagnostic]:
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
    document, corpus = context.document, context.corpus
    if document is None or corpus is None or context.node("links") is None:
        return
    for place, key, text in _relations(context):
        found = corpus.resolve(text)
        if found is not None and found != document.id:
            continue
        if key.startswith("links.duplicates.") and text in document.aliases:
            continue  # a merged duplicate lives on as an alias
        near = nearest(text, (one for one in corpus.ids() if one != document.id)) if found is None else ""
        message = (
            "A document cannot stand in relation to itself." if found else f"No document is called `{text}`."
        )
        yield context.finding(
            "TM204",
            place,
            message,
            key=key,
            expected="the id of another document",
            hint=f"Did you mean {near}?" if near else "Correct the id, or remove the entry.",
        )


def dead_citation(context: LintContext) -> Iterable[Diagnostic]:
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
    if context.document is None or context.document.kind == "recap" or "`" not in context.body:
        return
    for citation in paths_in_code(context.scanned):
        first, slash, rest = citation.path.partition("/")
        if not slash or not rest or first.startswith("."):
            continue
        if context.exists(citation.path) or not context.exists(first):
            continue
        if _NOT_THERE.search(context.body_text(citation.line)):
            continue
        yield context.finding(
            "TM205",
            (context.in_body(citation.line), citation.column),
            f"The text names `{citation.path}`, which is not in the repository.",
            expected="a path that exists, from the root of the repository",
            hint="Correct the path, or say in the line that the file is gone or planned.",
        )


def archived_target(context: LintContext) -> Iterable[Diagnostic]:
    """A link leads to a document in the archive.

    Why: the link holds, by the id as well as by the path the file had; but what is set aside is no longer
    found by search and kept up with the code, and on a website of files the path leads nowhere. Relations
    that tell where a document comes from are left alone, and so are the ids of documents that were joined
    into another: they lead to the other.

    Bad::

        See [[recap.2026-01-21]].             (moved to archive/episodic)

    Good::

        See [[fact.release-steps]].

    Mend: link what took its place, bring it back with ``thunderus-mem unarchive``, or leave it.
    """
    corpus = context.corpus
    if corpus is None or context.document is None:
        return
    for place, key, doc_id in _linked(context, corpus):
        paths = corpus.paths_of(doc_id) if doc_id else ()
        if paths and all(map(is_archived, paths)):
            yield context.finding(
                "TM207",
                place,
                f"The linked document {doc_id} is in the archive.",
                key=key,
                expected="a document in use",
                hint=f"Link what took its place, or bring it back: thunderus-mem unarchive {doc_id}",
            )


def unresolved_provenance(context: LintContext) -> Iterable[Diagnostic]:
    """The provenance names an event, a patch or a commit that cannot be found from here.

    Why: provenance answers "who says so"; what it names should lead somewhere. Often nothing is wrong: an
    event can be private to another working tree, its shard can stand on another branch, and a commit is gone
    after a squash. So it is a note, one for events (patches, where no event is named) and one for commits.
    Events of this tree's private shards are found. A recap, or what is learned from a session, may name
    private ones: the event that wrote the document lists them, so they are known not to be lost. In a shallow
    clone nothing is said of commits.

    Bad::

        provenance:
          commits: [0123abc]      (rebased away)

    Good::

        provenance:
          commits: [4567def]      (the commit that came of it)

    Mend: nothing, when you know where it is. Else bring the shard in with its branch, or name the commit that
    came of a squash.
    """
    document, provenance = context.document, context.provenance
    if document is None or provenance is None:
        return
    events = provenance.missing_events(document.events)
    if events:
        private = provenance.private_events(document)
        events = tuple(name for name in events if name not in private)
    if events:
        yield _not_found(
            context, "events", events, "is in no shard here: private elsewhere, or on another branch"
        )
    # A patch stands in the shard of its event, so where events are named they tell it all.
    if document.patches and not document.events and document.kind != "recap":
        patches = provenance.missing_patches(document)
        if patches:
            yield _not_found(context, "patches", patches, "belongs to no event here that names this document")
    lost = provenance.lost_commits(document.commits) if document.commits else ()
    for there, said in ((False, "is not in this clone"), (True, "is reached by no branch and no tag")):
        names = [name for name, held in lost if held is there]
        if names:
            yield _not_found(context, "commits", names, said)


def _not_found(context: LintContext, key: str, names: Sequence[str], said: str) -> Diagnostic:
    listed = list(getattr(context.document, key))
    place = listed.index(names[0])
    more = f", and {len(names) - 1} more of {len(listed)}" if len(names) > 1 else ""
    return context.finding(
        "TM206",
        context.at("provenance", key, place),
        f"`{names[0]}` {said}{more}.",
        key=f"provenance.{key}.{place}",
        expected="something that can be found from here",
        hint="Nothing to do when you know where it is; `thunderus-mem why` tells what is known.",
    )


def code_changed(context: LintContext) -> Iterable[Diagnostic]:
    """The code that an anchor names is not what it was when the document was confirmed.

    Why: what the document says was true of other code. It may still be true; somebody has to look. Comments,
    formatting and moves do not count: what is compared is the content of the definition.

    Bad::

        anchors:
          - path: src/jwt.py
            symbol: issue_token        (its lifetime was changed since)
            fingerprint: python@0.51/1:4be0…

    Good::

        the text read again, and `thunderus-mem verify fact.tokens`

    Mend: `thunderus-mem check ID -p` shows the code then and now. Still right: `verify` it. Else `edit` the
    text, or `supersede` it.
    """
    doc_id = context.document.id if context.document is not None else ""
    hint = f"still right: `thunderus-mem verify {doc_id}`; else edit or supersede it"
    return _anchors_that_are(context, "changed", "TM701", "code that is as it was confirmed", hint)


def code_missing(context: LintContext) -> Iterable[Diagnostic]:
    """The code that an anchor names is gone, and its content is nowhere else.

    Why: a document about code that does not exist misleads whoever trusts it.

    Bad::

        anchors: [src/jwt.py#issue_token]      (removed)

    Good::

        anchors: [src/tokens.py#mint]          (what does it now)

    Mend: `supersede` or `remove` the document when it is over; else name what does it now with
    `thunderus-mem anchor ID PLACE` and take the old anchor out with `--remove`.
    """
    hint = "anchor it anew, or supersede or remove the document"
    return _anchors_that_are(context, "missing", "TM702", "code that is there", hint)


def code_moved(context: LintContext) -> Iterable[Diagnostic]:
    """The code that an anchor names is elsewhere now, with the same content.

    Why: the document is right, only its anchor leads to the old place. It is followed all the same, so this
    is a note.

    Bad::

        anchors: [src/util.py#retry]      (moved to src/net/retry.py)

    Good::

        anchors: [src/net/retry.py#retry]

    Mend: `thunderus-mem verify --fix-moved` sets such anchors anew.
    """
    hint = "`thunderus-mem verify --fix-moved` sets it anew"
    return _anchors_that_are(context, "moved", "TM703", "the place where the code is", hint)


def _anchors_that_are(
    context: LintContext, verdict: str, code: str, expected: str, hint: str
) -> Iterator[Diagnostic]:
    """A finding for each anchor of the document with this verdict."""
    if context.document is None or context.evidence is None:
        return
    for state in context.evidence.of(context.document):
        if state.verdict == verdict:
            said = f"{state.place}: {state.reason}."
            yield context.finding(code, (state.line, 1), said, key="anchors", expected=expected, hint=hint)
