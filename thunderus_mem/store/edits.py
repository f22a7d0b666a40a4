"""What a transaction is asked to do: the change of one file, for the log to tell and the journal to make."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from thunderus_mem.model.document import content_hash
from thunderus_mem.model.event import Change, unified_diff
from thunderus_mem.store.files import ABSENT
from thunderus_mem.store.staging import Write

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

__all__ = ["USUAL_MODE", "Edit", "Ids", "keeping_modes"]

USUAL_MODE: Final = 0o644
"""Permissions that the log does not tell of."""


class Edit(NamedTuple):
    """A change of one file: its text before (``None``: there was none) and after (``None``: removed).

    A renamed document is two of them, with ``renames``: its old path loses the text, its new path gets it.
    ``found`` is what the file holds instead of ``before``, where git has left a conflict in it. ``mode`` are
    the permissions a new file gets, or one that goes away has, where they are not the usual ones.
    """

    doc_id: str
    path: str
    before: str | None
    after: str | None
    renames: bool = False
    found: str | None = None
    mode: int | None = None

    @property
    def op(self) -> str:
        """What the change does to the file."""
        if self.renames:
            return "rename"
        if self.before is None:
            return "create"
        return "remove" if self.after is None else "update"

    def as_change(self) -> Change:
        """The change as the log keeps it: hashes and the diff, unless it is too long or tells a secret."""
        from thunderus_mem.model.secrets import holds_secret

        # A hunk may show the middle of a secret alone, so the texts are looked at, not the diff.
        secret = any(holds_secret(text) for text in (self.before, self.after) if text is not None)
        diff = None if secret else unified_diff(self.before, self.after, self.path)
        return Change(
            op=self.op,
            doc_id=self.doc_id,
            path=self.path,
            before=ABSENT if self.before is None else content_hash(self.before),
            after=ABSENT if self.after is None else content_hash(self.after),
            diff=diff,
            diff_omitted=diff is None,
            mode=f"{self.mode:03o}" if self.op == "remove" and self.mode is not None else "",
        )

    def as_write(self) -> Write:
        """The change as the journal carries it out."""
        before = self.before if self.found is None else self.found
        return Write(
            path=self.path,
            before=ABSENT if before is None else content_hash(before),
            after=None if self.after is None else self.after.encode("utf-8"),
            mode=self.mode,
        )


def keeping_modes(edits: Iterable[Edit], mode_at: Callable[[str], int]) -> Iterator[Edit]:
    """The edits with the permissions of the files they take away, for the log; one that moves takes its own
    along. ``mode_at`` gives those of a path, 0 where there are none."""
    left: int | None = None
    for edit in edits:
        if edit.after is None:
            mode = mode_at(edit.path)
            left = mode if mode not in (0, USUAL_MODE) else None
            yield edit._replace(mode=left)
        else:  # what moves follows at once on what it leaves
            moved = left if edit.renames and edit.mode is None else edit.mode
            yield edit._replace(mode=moved)
            left = None


class Ids(NamedTuple):
    """Ids of an event to come, known before it is written so that a document can cite it."""

    event: str
    patch: str
