"""Create events: patches, notes and other kinds. No disk access."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from thunderus_mem.log.event import HAND_EDIT, distinct
from thunderus_mem.log.line import ACTORS, KINDS, Event, encode, encoded_size
from thunderus_mem.startup import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from thunderus_mem.log.event import Change

PATCH_OPS: Final = (
    *("add", "edit", "remove", "rename", "supersede", "link", "import", "garden", "recap"),
    *("archive", "unarchive"),
    *("undo", "redo", "migrate", "resolve", "anchor", "verify", HAND_EDIT, "aborted"),
)
MAX_RECORD: Final = 64 * 1024
"""Target size of a patch event in bytes; diffs are omitted, longest first, to reach it."""
MOST_WITH_DIFFS: Final = 320
"""A patch of more changes has no room for any diff: each takes more than 200 bytes without one."""
MOST_DOCUMENTS: Final = 500
"""The most documents in one event of an import or of the gardener."""


class EventContext(NamedTuple):
    """What all events of a transaction share: time, session and origin.

    ``prev`` is the hash of the previous line; ``heads`` are the last line hashes of other shards by session,
    for the first event of a shard.
    """

    ts: str
    session_id: str
    prev: str | None = None
    heads: Mapping[str, str] = MappingProxyType({})
    origin: Mapping[str, Any] = MappingProxyType({})


class Ids(NamedTuple):
    """The ids of the next event, known before it is written so that documents can cite it."""

    event: str
    patch: str


class PatchLinks(NamedTuple):
    """References of a patch besides its changes: the events it undoes, other documents it is about, private
    events cited by its documents, the snapshot before it, and the import it belongs to (in ``origin``)."""

    undoes: Sequence[str] = ()
    about: Sequence[str] = ()
    private: Sequence[str] = ()
    snapshot: str = ""
    imported: str = ""


NO_LINKS: Final = PatchLinks()


def make_event(
    context: EventContext,
    kind: str,
    body: dict[str, Any],
    *,
    id: str,
    actor: str,
    refs: Mapping[str, Any] | None = None,
    why: str = "",
) -> Event:
    """Create an event of any kind. ``refs``: ``paths``, ``patch_id``, ``snapshot_id``, ``memory_doc_ids``."""
    if actor not in ACTORS:
        raise ValueError(f'unknown actor "{actor}" (one of {", ".join(ACTORS)})')
    if kind not in KINDS:
        raise ValueError(f'unknown kind of event "{kind}" (one of {", ".join(KINDS)})')
    return Event(
        id=id,
        ts=context.ts,
        session_id=context.session_id,
        actor=actor,
        kind=kind,
        refs={"paths": [], "memory_doc_ids": [], **(refs or {})},
        body=body,
        prev=context.prev,
        heads=dict(context.heads),
        origin=dict(context.origin),
        extra={},
        why=why,
    )


def _change_data(change: Change) -> dict[str, Any]:
    return {
        "op": change.op,
        "doc_id": change.doc_id,
        "path": change.path,
        "before": change.before,
        "after": change.after,
        "diff": change.diff,
        "diff_omitted": change.diff_omitted,
        **({"mode": change.mode} if change.mode else {}),
        **({"text_kept": True} if change.text_kept else {}),
    }


def _without_longest_diffs(changes: Sequence[Change], room: int) -> list[Change]:
    """Omit diffs, the longest first, until the others fit into ``room`` bytes."""
    sizes = {at: encoded_size(change.diff) for at, change in enumerate(changes) if change.diff}
    kept, total = list(changes), sum(sizes.values())
    for at in sorted(sizes, key=lambda at: (-sizes[at], at)):
        if total <= room:
            break
        kept[at] = changes[at]._replace(diff=None, diff_omitted=True)
        total -= sizes[at]
    return kept


def patch_event(
    context: EventContext,
    ids: Ids,
    op: str,
    changes: Sequence[Change],
    *,
    actor: str,
    why: str = "",
    links: PatchLinks = NO_LINKS,
) -> Event:
    """Create a ``patch`` event with the changes in the given order; ``op`` is one of `PATCH_OPS`.

    If the line would be longer than `MAX_RECORD`, diffs are omitted, the longest first; hashes are kept.
    """
    if op not in PATCH_OPS:
        raise ValueError(f'unknown kind of patch "{op}" (one of {", ".join(PATCH_OPS)})')
    if links.imported:
        context = context._replace(origin={**context.origin, "import": links.imported})
    undone = {"undoes": list(links.undoes)} if links.undoes else {}
    private = {"private": list(links.private)} if links.private else {}
    refs = {
        "paths": distinct(change.path for change in changes),
        "patch_id": ids.patch,
        **({"snapshot_id": links.snapshot} if links.snapshot else {}),
        "memory_doc_ids": distinct([*(change.doc_id for change in changes), *links.about]),
    }

    def made(kept: Iterable[Change]) -> Event:
        listed = [_change_data(change) for change in kept]
        body = {"op": op, **undone, **private, "changes": listed}
        return make_event(context, "patch", body, id=ids.event, actor=actor, refs=refs, why=why)

    bare = len(encode(made(change._replace(diff=None) for change in changes)))
    return made(_without_longest_diffs(changes, MAX_RECORD - bare))
