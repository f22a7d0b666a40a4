"""What the gardening rules look at: every rule is a pure function of this and of the configuration."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from thunderus_mem.garden.history import History

if TYPE_CHECKING:
    from collections.abc import Callable

    from thunderus_mem.model.document import Document


class Material(NamedTuple):
    """The memory as a gardener sees it.

    ``documents`` are those in use, ``archived`` those set aside, both ordered by id and path; ``today`` is
    the day in UTC (``2026-01-21``). ``history`` is what happened, read when a rule asks for it.
    """

    documents: tuple[Document, ...]
    archived: tuple[Document, ...] = ()
    today: str = ""
    history: Callable[[], History] = History
