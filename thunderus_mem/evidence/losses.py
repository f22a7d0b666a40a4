"""Documents that are gone, so many that nobody is believed to have meant it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from thunderus_mem.model.errors import Refused
from thunderus_mem.projection.refresh import most_lost
from thunderus_mem.store.files import ABSENT

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from thunderus_mem.evidence.unrecorded import HandEdit


def mass_loss(
    edits: Sequence[HandEdit], documents: int, elsewhere: Callable[[str], bool]
) -> tuple[HandEdit, ...]:
    """The removals among ``edits`` when they are so many that hardly anybody meant them; else none.

    ``documents`` there are left; ``elsewhere`` tells whether a document lives on in another file.
    """
    gone = tuple(edit for edit in edits if edit.after == ABSENT and not elsewhere(edit.doc_id))
    return gone if len(gone) > most_lost(documents + len(gone)) else ()


def refusal(gone: int, left: int) -> Refused:
    """A folder that is not mounted must not be logged as hundreds of removals, nor be written into."""
    return Refused(
        f"{gone:,} of {gone + left:,} documents are gone, and neither a command nor a commit took them away; "
        "nothing was written",
        hint="bring them back; or, if they are meant to be gone, commit that or run "
        "`thunderus-mem record --yes`",
    )
