"""What the gardening rules look at: every rule is a pure function of this and of the configuration."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import MutableMapping

    from thunderus_mem.model.document import Document


class Material(NamedTuple):
    """The memory as a gardener sees it.

    ``documents`` are those in use, ``archived`` those set aside, both ordered by id and path; ``today`` is
    the day in UTC (``2026-01-21``). ``signatures`` is what was computed of texts before, by content: rules
    may add to it, and it changes no answer.
    """

    documents: tuple[Document, ...]
    archived: tuple[Document, ...] = ()
    today: str = ""
    signatures: MutableMapping[str, bytes] | None = None
