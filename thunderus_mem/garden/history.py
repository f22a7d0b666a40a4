"""What happened, as recaps and consolidation look at it."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from thunderus_mem.garden.recaps.day import Reading
from thunderus_mem.model.event import private_to

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from thunderus_mem.model.event import Event
    from thunderus_mem.store.git_history import Commit

__all__ = ["History", "private_anywhere"]


def _nothing() -> Mapping[str, str]:
    return {}


def _no_anchors(_: str) -> list[dict[str, Any]]:
    return []


class History(NamedTuple):
    """Events in the order of the log; ids of those that are private to this working tree; commits, and the
    files that they ``touched``, by hash.

    ``template`` is the text of a recap template of one's own, ``template_path`` its file. ``reading`` says
    how texts are read. ``said_by_code`` gives the files that say how the code is built and run, by path;
    ``anchors`` the anchors, as frontmatter holds them, of what a text names.
    """

    events: tuple[Event, ...] = ()
    private: frozenset[str] = frozenset()
    commits: tuple[Commit, ...] = ()
    touched: Mapping[str, tuple[str, ...]] = MappingProxyType({})
    template: str = ""
    template_path: str = ""
    reading: Reading = Reading()
    said_by_code: Callable[[], Mapping[str, str]] = _nothing
    anchors: Callable[[str], list[dict[str, Any]]] = _no_anchors


def private_anywhere(history: History) -> frozenset[str]:
    """The ids of events private to this tree, and of those that some change calls private to another."""
    return history.private | {id for event in history.events for id in private_to(event)}
