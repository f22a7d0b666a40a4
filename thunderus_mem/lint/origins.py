"""The rule about where a document says it comes from."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from thunderus_mem.lint.subject import Subject
    from thunderus_mem.model.diagnostic import Diagnostic


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
