"""Rules about what a document points at: documents, files, headings, relations."""

from __future__ import annotations

import posixpath
import re
from typing import TYPE_CHECKING

from thunderus_mem.document.document import RELATIONS
from thunderus_mem.document.frontmatter import nodes
from thunderus_mem.document.frontmatter.nodes import Scalar
from thunderus_mem.document.markdown import slug
from thunderus_mem.document.paths import is_archived
from thunderus_mem.document.references import paths_in_code
from thunderus_mem.lint.context import nearest, relative_path
from thunderus_mem.lint.rule import NOTE, WARNING
from thunderus_mem.lint.rules.identity import MEMORY

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from thunderus_mem.diagnostic import Diagnostic
    from thunderus_mem.document.references import Reference
    from thunderus_mem.lint.context import Subject, Target
    from thunderus_mem.lint.rule import Corpus
    from thunderus_mem.verdicts.judge import CodeState


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
        if isinstance(node, nodes.Sequence):
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


# The rule about links to what is set aside.


def archived_target(subject: Subject) -> Iterable[Diagnostic]:
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
    corpus = subject.corpus
    if corpus is None or subject.document is None:
        return
    named = [(place_of(subject, reference), "", target.doc_id) for reference, target in subject.targets]
    named += [
        (place, key, corpus.resolve(text))
        for place, key, text in relation_items(subject)
        if key.startswith("links.refers_to")
    ]
    for place, key, doc_id in named:
        paths = corpus.paths_of(doc_id) if doc_id else ()
        if paths and all(map(is_archived, paths)):
            yield subject.found(
                "TM207",
                place,
                f"The linked document {doc_id} is in the archive.",
                key=key,
                expected="a document in use",
                hint=f"Link what took its place, or bring it back: thunderus-mem unarchive {doc_id}",
            )


# The rule about where a document says it comes from.


def unresolved_provenance(subject: Subject) -> Iterable[Diagnostic]:
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
    document, origins = subject.document, subject.origins
    if document is None or origins is None:
        return
    events = origins.missing_events(document.events)
    if events:
        private = origins.private_events(document)
        events = tuple(name for name in events if name not in private)
    if events:
        yield _found(
            subject, "events", events, "is in no shard here: private elsewhere, or on another branch"
        )
    # A patch stands in the shard of its event, so where events are named they tell it all.
    if document.patches and not document.events and document.kind != "recap":
        patches = origins.missing_patches(document)
        if patches:
            yield _found(subject, "patches", patches, "belongs to no event here that names this document")
    lost = origins.lost_commits(document.commits) if document.commits else ()
    for there, said in ((False, "is not in this clone"), (True, "is reached by no branch and no tag")):
        names = [name for name, held in lost if held is there]
        if names:
            yield _found(subject, "commits", names, said)


def _found(subject: Subject, key: str, names: Sequence[str], said: str) -> Diagnostic:
    listed = list(getattr(subject.document, key))
    place = listed.index(names[0])
    more = f", and {len(names) - 1} more of {len(listed)}" if len(names) > 1 else ""
    return subject.found(
        "TM206",
        subject.at("provenance", key, place),
        f"`{names[0]}` {said}{more}.",
        key=f"provenance.{key}.{place}",
        expected="something that can be found from here",
        hint="Nothing to do when you know where it is; `thunderus-mem why` tells what is known.",
    )


# The rules about the code that a document talks about: its anchors, judged by content.


def code_changed(subject: Subject) -> Iterable[Diagnostic]:
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
    for state in _states(subject, "changed"):
        hint = f"still right: `thunderus-mem verify {_id(subject)}`; else edit or supersede it"
        yield _code_found(subject, "TM701", state, "code that is as it was confirmed", hint)


def code_missing(subject: Subject) -> Iterable[Diagnostic]:
    """The code that an anchor names is gone, and its content is nowhere else.

    Why: a document about code that does not exist misleads whoever trusts it.

    Bad::

        anchors: [src/jwt.py#issue_token]      (removed)

    Good::

        anchors: [src/tokens.py#mint]          (what does it now)

    Mend: `supersede` or `remove` the document when it is over; else name what does it now with
    `thunderus-mem anchor ID PLACE` and take the old anchor out with `--remove`.
    """
    for state in _states(subject, "missing"):
        hint = "anchor it anew, or supersede or remove the document"
        yield _code_found(subject, "TM702", state, "code that is there", hint)


def code_moved(subject: Subject) -> Iterable[Diagnostic]:
    """The code that an anchor names is elsewhere now, with the same content.

    Why: the document is right, only its anchor leads to the old place. It is followed all the same, so this
    is a note.

    Bad::

        anchors: [src/util.py#retry]      (moved to src/net/retry.py)

    Good::

        anchors: [src/net/retry.py#retry]

    Mend: `thunderus-mem verify --fix-moved` sets such anchors anew.
    """
    for state in _states(subject, "moved"):
        hint = "`thunderus-mem verify --fix-moved` sets it anew"
        yield _code_found(subject, "TM703", state, "the place where the code is", hint)


def _states(subject: Subject, verdict: str) -> Iterable[CodeState]:
    if subject.document is None or subject.evidence is None:
        return ()
    return [state for state in subject.evidence.of(subject.document) if state.verdict == verdict]


def _id(subject: Subject) -> str:
    return subject.document.id if subject.document is not None else ""


def _code_found(subject: Subject, rule: str, state: CodeState, expected: str, hint: str) -> Diagnostic:
    return subject.found(
        rule, (state.line, 1), f"{state.place}: {state.reason}.", key="anchors", expected=expected, hint=hint
    )
