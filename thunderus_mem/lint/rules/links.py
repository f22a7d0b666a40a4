"""Rules about what a document refers to: documents, files, headings, relations, provenance and code.

`lint.rule` resolves links; the verdicts of anchors say whether the code changed.
"""

from __future__ import annotations

import posixpath
import re
from bisect import bisect_left
from typing import TYPE_CHECKING

from thunderus_mem.diagnostic import TextEdit
from thunderus_mem.document.document import RELATIONS
from thunderus_mem.document.frontmatter import nodes
from thunderus_mem.document.frontmatter.nodes import Scalar
from thunderus_mem.document.ids import closest
from thunderus_mem.document.markdown import heading_anchor
from thunderus_mem.document.paths import is_archived
from thunderus_mem.document.references import link_to, paths_in_code
from thunderus_mem.lint.rule import NOTE, WARNING
from thunderus_mem.safety.redaction import has_secret
from thunderus_mem.startup import lazy_pattern
from thunderus_mem.store.layout import MEMORY

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from thunderus_mem.diagnostic import Diagnostic
    from thunderus_mem.document.references import Reference
    from thunderus_mem.lint.rule import Corpus, LintContext, Target

_COMPARED = 40
_LONGEST = 80
_LISTED = 5
_LINE_ANCHOR = lazy_pattern(r"L[0-9]+(?:-L?[0-9]+)?|:~:.*|top|")
# Words of a line that itself says that a file is missing: removed, planned, generated, an example.
_MENTIONED_AS_MISSING = lazy_pattern(
    r"\b(?:delet|remov|gone\b|former|renam|mov(?:e|ed|ing)\b|creat|generat|plan(?:s|ned)?\b|new\b|add(?:s|ed|ing)?\b|"
    r"will\b|would\b|example|instead of|used to\b|no longer|if it exists|writes?\b|written\b)|\be\.g\.",
    re.IGNORECASE,
)


def nearest(text: str, known: Sequence[str], besides: str = "") -> str:
    """The name most similar to ``text`` among sorted ones, never ``besides``; "" for none."""
    # Full comparison is slow: only the neighbours in the order are compared, which begin as the text does.
    at = bisect_left(known, text)
    likely = [name for name in known[max(at - _COMPARED, 0) : at + _COMPARED] if name != besides]
    return next(iter(closest(text[:_LONGEST], likely, 1)), "")


def _place(context: LintContext, reference: Reference) -> tuple[int, int]:
    """Line and column of a reference in the file."""
    return context.in_body(reference.line), reference.column


def _relations(context: LintContext) -> Iterator[tuple[tuple[int, int], str, str]]:
    """Each item of a relation: its location, key and text."""
    for relation in RELATIONS:
        node = context.node("links", relation)
        if isinstance(node, nodes.Sequence):
            for index, item in enumerate(node.items):
                if isinstance(item, Scalar) and item.text:
                    yield context.at("links", relation, index), f"links.{relation}.{index}", item.text


def _linked(context: LintContext, corpus: Corpus) -> Iterator[tuple[tuple[int, int], str, str | None]]:
    """Location, key and id of every document in the text's links and in ``refers_to``."""
    for reference, target in context.targets:
        yield _place(context, reference), "", target.doc_id
    for place, key, text in _relations(context):
        if key.startswith("links.refers_to"):
            yield place, key, corpus.resolve(text)


def dead_link(context: LintContext) -> Iterable[Diagnostic]:
    """Dead link: the target document or file does not exist.

    Why: a reader cannot tell whether the target moved or never existed. Dead links between documents are
    errors; dead links to other files of the repository are warnings. URLs and links in code are not checked.
    A dead link of an imported text is a note, and so is a dead link to a document in a recap, which is about
    the past. A link of an imported text to a file that was imported too, but is not in the repository, is a
    note; ``lint --fix`` points it to the document. Links of a text imported without
    ``metadata.imported_sha256`` are relative to its original.

    Bad::

        See [[fact.tests]] and [the guide](../guide.md).

    Good::

        See [[fact.testing]] and [the guide](../../../../docs/guide.md).

    Fix: correct the target, or write the id in double brackets; it stays valid when the file moves.
    """
    for reference, target in context.targets:
        if context.corpus is None:
            continue
        if target.doc_id and target.imported and context.document and context.document.imported_sha256:
            paths = context.corpus.paths_of(target.doc_id)
            yield from (_only_imported(context, path, reference, target) for path in paths[:1])
        elif target.exists:
            continue
        elif reference.kind == "wiki":
            near = nearest(target.path, context.corpus.ids())
            hint = f"Did you mean [[{near}]]?" if near else "Correct the id, or remove the link"
            message = f"No document has the id or alias `{target.path}`"
            yield context.finding(
                "TM201",
                _place(context, reference),
                message,
                expected="an id or an alias",
                hint=hint,
                severity=NOTE if _is_past_or_imported(context) else None,
            )
        else:
            yield _dead_path(context, context.corpus, reference, target)


def _is_past_or_imported(context: LintContext) -> bool:
    """Whether the links of a document may be dead without a mistake of its author here."""
    document = context.document
    return document is not None and (document.kind == "recap" or bool(document.imported_from))


def _only_imported(context: LintContext, path: str, reference: Reference, target: Target) -> Diagnostic:
    """A link to a file that is here only as the document at ``path``."""
    start = context.offset(context.in_body(reference.place[0]), reference.place[1])
    end = start + len(reference.written)
    new = link_to(reference, context.path, path)
    return context.finding(
        "TM201",
        _place(context, reference),
        f"{target.path} was imported as {target.doc_id}, and is not in this repository",
        expected="a link to the document",
        hint=f"Change the path to {new}",
        severity=NOTE,
        edits=(TextEdit(start, end, new),),
    )


def _dead_path(context: LintContext, corpus: Corpus, reference: Reference, target: Target) -> Diagnostic:
    stem = posixpath.basename(target.path).removesuffix(".md")
    moved = corpus.resolve(stem)
    if target.imported:
        return context.finding(
            "TM201",
            _place(context, reference),
            f"Dead link in imported text: {target.path} is not imported and not in this repository",
            expected="a document or a file",
            hint=f"Write [[{moved}]] instead" if moved else "Import that file too, or correct the link",
            severity=NOTE,
        )
    hint = "Correct the path, or remove the link"
    if moved is not None:
        paths = corpus.paths_of(moved)
        where = posixpath.relpath(paths[0], posixpath.dirname(context.path) or ".") if paths else ""
        hint = f"Change the path to {where}, or write [[{moved}]]" if where else f"Write [[{moved}]]"
    is_document = target.path.startswith(f"{MEMORY}/") or moved is not None
    return context.finding(
        "TM201",
        _place(context, reference),
        f"Dead link: {target.path} does not exist",
        expected="an existing path, relative to this file",
        hint=hint,
        severity=None if is_document else WARNING,
    )


def superseded_still_linked(context: LintContext) -> Iterable[Diagnostic]:
    """A document links to a superseded document.

    Why: readers follow the link to outdated information. The successor may link to the document it replaces,
    and so may recaps and documents that are superseded themselves.

    Bad::

        links:
          refers_to: [adr.use-jwt]      # superseded by adr.use-paseto

    Good::

        links:
          refers_to: [adr.use-paseto]

    Fix: link to the successor.
    """
    document, corpus = context.document, context.corpus
    if document is None or corpus is None:
        return
    if not document.links and not context.references:
        return
    if corpus.superseded_by(document.id) is not None or document.kind == "recap":
        return
    for place, key, doc_id in _linked(context, corpus):
        successor = corpus.superseded_by(doc_id) if doc_id and doc_id != document.id else None
        if successor is not None and successor not in (document.id, doc_id):
            yield context.finding(
                "TM202",
                place,
                f"The linked document {doc_id} is superseded by {successor}",
                key=key,
                expected=successor,
                hint=f"Link to {successor} instead",
            )


def dead_anchor(context: LintContext) -> Iterable[Diagnostic]:
    """Dead heading anchor: the target document has no such heading.

    Why: the reader lands at the top of the document and has to search. Headings are renamed more often than
    the links to them.

    Bad::

        See [the setup](testing.md#set-up).        (the heading is "Setup")

    Good::

        See [the setup](testing.md#setup).

    Fix: write the heading in lower case, with hyphens instead of spaces and without punctuation.
    """
    for reference, target in context.targets:
        if not target.anchor or not target.doc_id or _LINE_ANCHOR.fullmatch(target.anchor):
            continue
        known = _anchors(context, target.doc_id)
        anchor = target.anchor
        wanted = heading_anchor(anchor) if reference.kind == "wiki" else anchor.replace("\\", "").lower()
        if known is None or _is_known(wanted, known):
            continue
        near = nearest(wanted, sorted(known))
        near = "" if near and _has_secret(context, target.doc_id, near) else near
        lacks = "no heading with the anchor" if known else "no headings, so no anchor"
        yield context.finding(
            "TM203",
            _place(context, reference),
            f"{target.path or 'This document'} has {lacks} #{target.anchor}",
            expected=_listed(context, target.doc_id, known),
            hint=f"Did you mean #{near}?" if near else "Correct the anchor, or remove it from the link",
            severity=NOTE if context.document is not None and context.document.imported_from else None,
        )


def _listed(context: LintContext, doc_id: str, known: frozenset[str]) -> str:
    if not known:
        return "a document with headings"
    if len(known) > _LISTED or any(_has_secret(context, doc_id, name) for name in known):
        return f"one of its {len(known)} headings" if len(known) > 1 else "its heading"
    return ("one of " if len(known) > 1 else "") + ", ".join(f"#{name}" for name in sorted(known))


def _has_secret(context: LintContext, doc_id: str, anchor: str) -> bool:
    """Whether an anchor may be that of a heading with a secret. Anchors have no spaces and no capitals, so
    reports do not redact them; of other documents only the anchors are known."""
    own = context.document is not None and doc_id == context.document.id
    headings = [one.text for one in context.headings if one.anchor == anchor] if own else []
    words = anchor.replace("-", " ")
    return has_secret("\n".join((*headings, anchor, words, anchor.upper(), words.upper())))


def _is_known(wanted: str, known: frozenset[str]) -> bool:
    # Site generators let authors name a heading: "## Setup { #setup }" and "## Setup {#setup}".
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
    """A relation in ``links`` contains an unknown id, or the document's own id.

    Why: supersession, related documents and provenance are computed from relations. A wrong id is silently
    ignored in all three.

    Bad::

        links:
          supersedes: [adr.use-jwtt]

    Good::

        links:
          supersedes: [adr.use-jwt]

    Fix: correct the id. Aliases are allowed. ``duplicates`` may also contain the document's own alias,
    because a merge adds it.
    """
    document, corpus = context.document, context.corpus
    if document is None or corpus is None or context.node("links") is None:
        return
    for place, key, text in _relations(context):
        found = corpus.resolve(text)
        other_case = found is not None and found != text and found.lower() == text.lower()
        if found is not None and found != document.id and not other_case:
            continue
        if key.startswith("links.duplicates.") and text in document.aliases:
            continue  # a merged duplicate lives on as an alias
        near = found if other_case else ""
        if found is None:
            near = nearest(text, corpus.ids(), document.id)
        itself = found is not None and not other_case
        message = "The document refers to itself" if itself else f"No document has the id or alias `{text}`"
        yield context.finding(
            "TM204",
            place,
            message,
            key=key,
            expected="the id of another document",
            hint=f"Did you mean {near}?" if near else "Correct the id, or remove the entry",
        )


def dead_citation(context: LintContext) -> Iterable[Diagnostic]:
    """The text mentions a file of the repository that does not exist.

    Why: readers open the paths that a text mentions. Only paths in backticks that start with an existing
    top-level folder are checked. Hidden folders (``.github/``, ``.thunderus/``) and recaps, which describe
    the past, are not. This is a note because a text may describe plans; `add` and `edit` show it for new
    text.

    Bad::

        The timeout is set in `src/net/clinet.py`.

    Good::

        The timeout is set in `src/net/client.py`; `src/net/old.py` was removed.

    Fix: correct the path, or say in the same line that the file was removed or is planned.
    """
    if context.document is None or context.document.kind == "recap" or "`" not in context.body:
        return
    for citation in paths_in_code(context.scanned):
        first, slash, rest = citation.path.partition("/")
        if not slash or not rest or first.startswith("."):
            continue
        if context.exists(citation.path) or not context.exists(first):
            continue
        if _MENTIONED_AS_MISSING.search(context.body_text(citation.line)):
            continue
        yield context.finding(
            "TM205",
            (context.in_body(citation.line), citation.column),
            f"`{citation.path}` does not exist in the repository",
            expected="an existing path, relative to the root of the repository",
            hint="Correct the path, or say in the same line that the file was removed or is planned",
        )


def import_drift(context: LintContext) -> Iterable[Diagnostic]:
    """The file a document was imported from has changed since.

    Why: the two say different things now, and readers of one do not see the other. Removed files are not
    reported. The files of documents that the gardener merged into this one are checked too.

    Bad::

        the decision in docs/adr was edited, its document was not

    Good::

        the edit was merged into the document

    Fix: run ``thunderus-mem import markdown PATH --kind KIND --on-conflict update``.
    """
    document = context.document
    if document is None:
        return
    origins = [(document.imported_from, document.imported_sha256, "imported_sha256")]
    for path, was in document.merged_from.items():
        again = context.corpus.resolve(path) if context.corpus is not None else None
        origins += [(path, was, "merged")] if again in (None, document.id) else []
    for path, was, key in origins:
        if not was or context.source_hash(path) in (None, was):
            continue
        import shlex

        command = f"thunderus-mem import markdown {shlex.quote(path)} --kind {document.kind}"
        yield context.finding(
            "TM208",
            context.at("metadata", key),
            f"{path} has changed since it was imported",
            key=f"metadata.{key}",
            expected="the text of the imported file",
            hint=f"Run `{command} --on-conflict update`",
        )


def archived_target(context: LintContext) -> Iterable[Diagnostic]:
    """A link points to an archived document.

    Why: the id and the former path still resolve, but archived documents are omitted from search and not
    checked against the code. If a website is generated from the files, links to the former path are dead.
    Relations that record provenance are not reported, nor are links in recaps, nor ids of merged documents,
    which resolve to the document they were merged into.

    Bad::

        See [[recap.2026-01-21]].             (moved to archive/episodic)

    Good::

        See [[fact.release-steps]].

    Fix: link to its replacement, restore it with ``thunderus-mem archive --undo``, or keep the link.
    """
    corpus = context.corpus
    if corpus is None or context.document is None or context.document.kind == "recap":
        return
    for place, key, doc_id in _linked(context, corpus):
        paths = corpus.paths_of(doc_id) if doc_id else ()
        if paths and all(map(is_archived, paths)):
            yield context.finding(
                "TM207",
                place,
                f"The linked document {doc_id} is archived",
                key=key,
                expected="an active document",
                hint=f"Link to its replacement, or run `thunderus-mem archive --undo {doc_id}`",
            )


def unresolved_provenance(context: LintContext) -> Iterable[Diagnostic]:
    """The provenance contains an unknown event, patch or commit.

    Why: provenance records who made a document and why, so its references should resolve. This is only a
    note, because often nothing is wrong: the event is private to another working tree or logged on another
    branch, or the commit was squashed. Private events are not reported if they are in this working tree, or
    if the event that recorded the document lists them, as the event of a recap does. An imported event may be
    cited by its original id; if several sessions have an event with that id, add the session: `SESSION/ID`.
    Patches are checked only if the document lists no events. In a shallow clone, commits are not checked.

    Bad::

        provenance:
          commits: [0123abc]      (rebased away)

    Good::

        provenance:
          commits: [4567def]      (the new commit)

    Fix: none needed if you know where the event, patch or commit is. Otherwise fetch the branch with the
    event, or replace the commit with the squashed one.
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
            context,
            "events",
            events,
            "is not in the log of this clone; it may be private or on another branch",
        )
    if ambiguous := provenance.ambiguous_events(document.events):
        yield _not_found(
            context,
            "events",
            ambiguous,
            "is ambiguous: several imported sessions have an event with this id",
            hint=f"Write it with its session: `SESSION/{ambiguous[0]}`",
        )
    # A patch is in the shard of its event, so checking the events is enough where they are listed.
    if document.patches and not document.events and document.kind != "recap":
        patches = provenance.missing_patches(document)
        if patches:
            yield _not_found(
                context, "patches", patches, "belongs to no event of this document in this clone"
            )
    lost = provenance.lost_commits(document.commits) if document.commits else ()
    for exists, problem in ((False, "is not in this clone"), (True, "is not reachable from a branch or tag")):
        names = [name for name, known in lost if known is exists]
        if names:
            yield _not_found(context, "commits", names, problem)


_NOUN = {"events": "event", "patches": "patch", "commits": "commit"}


def _not_found(
    context: LintContext, key: str, names: Sequence[str], problem: str, *, hint: str = ""
) -> Diagnostic:
    listed = list(getattr(context.document, key))
    place = listed.index(names[0])
    more = f", and {len(names) - 1} more of {len(listed)}" if len(names) > 1 else ""
    advice = f"ignore this if you know where the {_NOUN[key]} is"
    return context.finding(
        "TM206",
        context.at("provenance", key, place),
        f"`{names[0]}` {problem}{more}",
        key=f"provenance.{key}.{place}",
        expected="an event, patch or commit that can be found",
        hint=hint or f"Run `thunderus-mem why` to see what is known; {advice}",
    )


def code_changed(context: LintContext) -> Iterable[Diagnostic]:
    """The anchored code has changed since it was recorded.

    Why: the document describes older code. It may still be true, but it needs another look. Comments,
    formatting and moves do not count: only the content of the definition is compared.

    Bad::

        anchors:
          - path: src/jwt.py
            symbol: issue_token        (the token lifetime has changed since)
            fingerprint: python@0.51/1:4be0…

    Good::

        the document was reviewed and confirmed with `thunderus-mem verify fact.tokens`

    Fix: `thunderus-mem check ID -p` shows the code then and now. If the document is still true, `verify` it.
    Otherwise `edit` or `supersede` it.
    """
    doc_id = context.document.id if context.document is not None else ""
    hint = f"If it is still true, run `thunderus-mem verify {doc_id}`; otherwise edit or supersede it"
    return _with_verdict(context, "changed", "TM701", "the code as recorded", hint)


def code_missing(context: LintContext) -> Iterable[Diagnostic]:
    """The anchored code is missing: it was removed and not found elsewhere.

    Why: a document about code that does not exist misleads its readers.

    Bad::

        anchors: [src/jwt.py#issue_token]      (removed)

    Good::

        anchors: [src/tokens.py#mint]          (its replacement)

    Fix: `supersede` or `remove` the document if it is obsolete. Otherwise anchor the code that replaced it
    with `thunderus-mem anchor ID PLACE`, and remove the old anchor with `--remove`.
    """
    hint = "Anchor the document to other code, or supersede or remove it"
    return _with_verdict(context, "missing", "TM702", "code that exists", hint)


def code_moved(context: LintContext) -> Iterable[Diagnostic]:
    """The anchored code has moved, with the same content.

    Why: the anchor contains the old location. The code can still be found, so this is only a note.

    Bad::

        anchors: [src/util.py#retry]      (moved to src/net/retry.py)

    Good::

        anchors: [src/net/retry.py#retry]

    Fix: `thunderus-mem verify --fix-moved` updates such anchors.
    """
    hint = "Run `thunderus-mem verify --fix-moved` to update the anchor"
    return _with_verdict(context, "moved", "TM703", "the current location of the code", hint)


def _with_verdict(
    context: LintContext, verdict: str, code: str, expected: str, hint: str
) -> Iterator[Diagnostic]:
    """A finding for each anchor of the document with this verdict."""
    if context.document is None or context.evidence is None:
        return
    for state in context.evidence.of(context.document):
        if state.verdict == verdict:
            message = f"{state.place}: {state.reason}"
            found = context.finding(
                code, (state.line, 1), message, key="anchors", expected=expected, hint=hint
            )
            # Code that changes again, or that was verified meanwhile, is another finding.
            yield found._replace(fingerprint=" ".join(state.fingerprints))
