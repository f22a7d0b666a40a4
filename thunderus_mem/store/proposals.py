"""The folder of proposals: one file each, written whole, read under a cap, never followed anywhere."""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TYPE_CHECKING, Final, NamedTuple

from thunderus_mem.model.document import content_hash
from thunderus_mem.model.errors import InvalidDocument, NotFound, Refused, ThunderusError
from thunderus_mem.model.ids import ulid_time
from thunderus_mem.model.proposal import PATCH_ID, InvalidProposal, Proposal
from thunderus_mem.model.proposal_file import MAX_PROPOSAL, decode, encode
from thunderus_mem.store.disk import explain
from thunderus_mem.store.files import ABSENT, TEMP_PREFIX, read_below, replace_file
from thunderus_mem.store.layout import kind_of
from thunderus_mem.store.paths import inside, is_safe
from thunderus_mem.store.places import may_change, proposal_id
from thunderus_mem.store.staging import Write

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import datetime

    from thunderus_mem.store.layout import Layout

__all__ = [
    "BadProposal",
    "Waiting",
    "age",
    "all_waiting",
    "discard",
    "entries",
    "file_names",
    "read",
    "write",
]

FOLDER: Final = ".thunderus/patches"
_DAY: Final = 86_400


class Waiting(NamedTuple):
    """A proposal that waits: its file from the root, the hash of that file, and what it says."""

    path: str
    hash: str
    proposal: Proposal


class BadProposal(NamedTuple):
    """A file among the proposals that is none: where, which key of it, why, and what to do."""

    path: str
    key: str
    reason: str
    fix: str


def file_names(layout: Layout) -> list[str]:
    """The files among the proposals, from the root, oldest first: their names begin with the time."""
    try:
        names = os.listdir(layout.patches_dir)
    except FileNotFoundError:
        return []
    except OSError as error:
        raise explain(error, layout.patches_dir) from error
    return [f"{FOLDER}/{name}" for name in sorted(names) if not name.startswith((TEMP_PREFIX, "."))]


def age(path: str, now: datetime) -> int | None:
    """Whole days since the proposal in this file was made, by the time in its name; ``None`` for no such."""
    made = ulid_time(proposal_id(path).removeprefix("patch_"))
    return None if made is None else max(int((now - made).total_seconds()) // _DAY, 0)


def entries(layout: Layout) -> Iterator[Waiting | BadProposal]:
    """Each file of the folder, oldest first, one at a time: one bad file hides no other."""
    for path in file_names(layout):
        try:
            yield _read(layout, path)
        except InvalidProposal as error:
            yield BadProposal(path, error.key, error.reason, error.fix)
        except NotFound:
            continue  # decided meanwhile
        except ThunderusError as error:
            told = str(error).removeprefix(repr(path)).removeprefix(path).strip(" .")
            yield BadProposal(path, "", told, error.hint or "")


def all_waiting(layout: Layout) -> Iterator[Waiting]:
    """Each proposal that waits, oldest first, for who decides about all of them.

    A file that is none is left out; one that the system will not let us read may be one, and raises.
    """
    for path in file_names(layout):
        with suppress(InvalidProposal, NotFound, Refused):
            yield _read(layout, path)


def read(layout: Layout, path: str) -> Waiting:
    """One proposal by its file. Raises `NotFound`, `Refused`, or `InvalidDocument` naming file and key."""
    try:
        return _read(layout, path)
    except InvalidProposal as error:
        raise InvalidDocument(f"{path} is no proposal: {error}", hint=error.fix) from None


def _read(layout: Layout, path: str) -> Waiting:
    named = proposal_id(path)
    if not named:
        raise InvalidProposal("", "no proposal has such a name (patch_….json)", "move the file away")
    data = read_below(layout.root, path, MAX_PROPOSAL)
    proposal = decode(data)
    if proposal.id != named:
        raise InvalidProposal("id", f"is {proposal.id}, but the file is named {named}")
    for at, edit in enumerate(proposal.edits):
        if not (is_safe(edit.path) and may_change(edit.path)):
            raise InvalidProposal(
                f"edits[{at}].path", f"{edit.path!r} is no place of a document", "delete it: it is not ours"
            )
        if not edit.doc_id and kind_of(edit.path) is not None:
            raise InvalidProposal(f"edits[{at}].doc_id", "is empty")
    _refuse_secrets(data, proposal)
    return Waiting(path, content_hash(data), proposal)


def _refuse_secrets(data: bytes, proposal: Proposal) -> None:
    from thunderus_mem.model.secrets import find_secrets

    texts = [proposal.why, *proposal.evidence, *(edit.diff for edit in proposal.edits)]
    for secret in find_secrets("\n".join(texts))[:1] or find_secrets(data.decode("utf-8", "replace"))[:1]:
        raise InvalidProposal(
            "", f"holds what looks like a secret ({secret.kind})", "delete the file, and make the secret void"
        )


def write(layout: Layout, proposal: Proposal, *, expecting: str = ABSENT) -> str:
    """Put a proposal into the folder; returns its file from the root. ``expecting`` is the hash of the file
    it replaces. Raises `Refused` when it holds a secret or is too large, `Conflict` when the file differs."""
    data = encode(proposal)
    if len(data) > MAX_PROPOSAL:
        raise Refused(
            f"the proposal is {len(data):,} bytes long; {MAX_PROPOSAL:,} are allowed",
            hint="make several smaller changes of it",
        )
    try:
        _refuse_secrets(data, proposal)
    except InvalidProposal as error:
        raise Refused(
            f"nothing is filed: the proposal {error.reason}",
            hint="name where the secret is kept instead of the secret",
        ) from None
    assert PATCH_ID.fullmatch(proposal.id), proposal.id
    path = f"{FOLDER}/{proposal.id}.json"
    replace_file(inside(layout.root, path), data, expecting=expecting)
    return path


def discard(waiting: Waiting) -> Sequence[Write]:
    """What a change has to do besides, so that the proposal is gone with it."""
    return (Write(waiting.path, waiting.hash, None),)
