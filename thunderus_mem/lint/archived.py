"""The rule about links to what is set aside."""

from __future__ import annotations

from typing import TYPE_CHECKING

from thunderus_mem.lint.links import place_of, relation_items
from thunderus_mem.model.archive import is_archived

if TYPE_CHECKING:
    from collections.abc import Iterable

    from thunderus_mem.lint.subject import Subject
    from thunderus_mem.model.diagnostic import Diagnostic


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
