"""Rules about the review queue: what in it is no proposal, and what nobody has decided in time."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from thunderus_mem.lint.rule import LintStore
    from thunderus_mem.model.diagnostic import Diagnostic


def _from_queue(store: LintStore, code: str) -> Iterator[Diagnostic]:
    return (found for found in store.queue if found.rule == code)


def unreadable_proposal(store: LintStore) -> Iterable[Diagnostic]:
    """A file in ``.thunderus/patches`` is no proposal, or one that nobody may carry out.

    Why: nobody can decide about it, and whoever wrote it believes that it waits. A proposal may come from
    anybody through git, so one that names a place where no document lives, or that holds a secret, is none.

    Bad::

        a file that git merged with conflict markers, or one that was edited by hand

    Good::

        the files as ``thunderus-mem garden --propose`` writes them

    Mend: bring the file back from git, or delete it: then nothing is proposed.
    """
    return _from_queue(store, "TM509")


def expired_proposal(store: LintStore) -> Iterable[Diagnostic]:
    """A proposal has waited for longer than ``review.expires_days``.

    Why: a queue that nobody reads hides what matters, and its diffs fit less with every day.

    Bad::

        a proposal of last spring

    Good::

        proposals that are approved or rejected in the weeks they are made

    Mend: decide (``thunderus-mem patch show``, ``approve``, ``reject``), or ``thunderus-mem patch expire``.
    """
    return _from_queue(store, "TM510")
