"""Law 10 in a folder that cannot be written: what was acknowledged is in the files at last, nothing else."""

from __future__ import annotations

import tempfile
from contextlib import nullcontext
from typing import TYPE_CHECKING

from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st

from tests.support.events import note
from tests.support.failpoints import not_writable
from tests.support.undo_support import FACTS, Store, with_hand
from tests.support.verify_store import verify
from thunderus_mem.authoring import add, edit, show
from thunderus_mem.authoring.add import NewDocument
from thunderus_mem.authoring.edit import DocumentEdits
from thunderus_mem.authoring.rename import rename
from thunderus_mem.errors import ThunderusError
from thunderus_mem.history.replay import replay_check
from thunderus_mem.history.undo import Undone

if TYPE_CHECKING:
    from collections.abc import Callable


STEPS: dict[str, Callable[[Store], object]] = {
    "note": lambda store: note(store.memory(), "on we go"),
    "add": lambda store: add.add(store.memory(), NewDocument("fact", "New", body="New.", tags=("n",))),
    "edit": lambda store: edit.edit(store.memory(), "fact.hand", DocumentEdits(body="Now this.")),
    "tag": lambda store: edit.edit(store.memory(), "fact.other", DocumentEdits(add_tags=("bee",))),
    "remove": lambda store: edit.remove(store.memory(), "fact.hand", why="gone"),
    "rename": lambda store: rename(store.memory(), "fact.hand", "fact.alfa"),
    "rename back": lambda store: rename(store.memory(), "fact.alfa", "fact.hand"),
    "undo": lambda store: store.undo(),
    "redo": lambda store: store.undo(redo=True),
}


@given(steps=st.lists(st.tuples(st.sampled_from(sorted(STEPS)), st.booleans()), min_size=2, max_size=7))
@settings(max_examples=8, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
def test_law_10_a_change_that_waits_is_written_or_undone(steps: list[tuple[str, bool]]) -> None:
    """A twin whose folder can always be written makes the same accepted changes, and has the same files."""
    with tempfile.TemporaryDirectory() as ours, tempfile.TemporaryDirectory() as theirs:
        store, twin = with_hand(ours), with_hand(theirs)
        can_redo = True
        for name, writable in steps:
            if name == "redo" and not can_redo:
                continue  # only the twin can redo what was aborted here
            with nullcontext() if writable else not_writable(store.root / FACTS):
                twin.turn = store.turn
                try:
                    done = STEPS[name](store)
                except ThunderusError as error:
                    event(f"{name}: {type(error).__name__}")
                    continue
                event(f"{name}: {'written' if writable else 'waits or aborted'}")
                assert show.status(store.memory()).unrecorded == ()
            if name == "undo" and isinstance(done, Undone) and any(one.is_aborted for one in done.events):
                can_redo = False
            if getattr(done, "changed", True):  # else there was nothing to do on the files as they are
                STEPS[name](twin)
        note(store.memory(), "on we go")
        assert store.documents() == twin.documents()
        assert replay_check(store.memory()).diagnostics == ()
        assert verify(str(store.root), settled=True) == []
