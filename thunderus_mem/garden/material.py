"""What the gardening rules look at: every rule is a pure function of this and of the configuration."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from thunderus_mem.garden.history import History
from thunderus_mem.garden.similar.sharing import in_turn

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, MutableMapping

    from thunderus_mem.garden.similar.sharing import Share
    from thunderus_mem.model.document import Document


class Material(NamedTuple):
    """The memory as a gardener sees it.

    ``documents`` are those in use, ``archived`` those set aside, both ordered by id and path; ``today`` is
    the day in UTC (``2026-01-21``). ``files`` are all Markdown files of the memory folders, unreadable ones
    too; ``ours`` are ids of documents whose text is the very one that the program itself wrote last;
    ``former`` gives for a path that is no file any more the id of the one document it was, as the log tells.
    ``history`` is what happened, read when a rule asks for it; ``signatures`` is what was computed of texts
    before, by content: rules may add to it, and it changes no answer. ``share`` does work on many of them.
    """

    documents: tuple[Document, ...]
    archived: tuple[Document, ...] = ()
    today: str = ""
    files: frozenset[str] = frozenset()
    ours: frozenset[str] = frozenset()
    former: Mapping[str, str] = MappingProxyType({})
    history: Callable[[], History] = History
    signatures: MutableMapping[str, bytes] | None = None
    share: Share = in_turn
