"""What became of a change: of one that was made just now, and of one that was interrupted."""

from __future__ import annotations

from typing import Literal, NamedTuple

__all__ = ["Committed", "Healed"]


class Healed(NamedTuple):
    """What became of one file of an interrupted change.

    ``removed``: never committed, nothing had happened. ``published``: finished now. ``dropped``: had been
    finished. ``aborted``: the file has other text, which stays; ours is in ``kept``. ``pending``: the disk
    refused again, ``problem`` says why. ``tail``: the end of the log ``path`` was mended, torn bytes are in
    ``kept``. ``damaged``: the staged change could not be read; its files are in ``kept``.
    """

    event_id: str
    path: str
    action: Literal["removed", "published", "dropped", "aborted", "pending", "tail", "damaged"]
    kept: str = ""
    problem: str = ""


class Committed(NamedTuple):
    """A change that is in the log for good, and what became of its files.

    ``published`` is False while a file waits for the disk (``problem`` says why): the next command finishes
    it. ``aborted`` names files that somebody changed at the last moment: their text stays, ours is set
    aside.
    """

    event_id: str
    published: bool
    problem: str = ""
    aborted: tuple[Healed, ...] = ()
