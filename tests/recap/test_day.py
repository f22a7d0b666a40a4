"""Which notes are open items, and free text as one line."""

from __future__ import annotations

import pytest

from tests.support.events import note_event
from thunderus_mem.recap.events import sort_events
from thunderus_mem.recap.template import one_line


@pytest.mark.parametrize(
    ("text", "is_open"),
    [
        ("TODO: warm the cache", True),
        ("to do: warm it", True),
        ("[ ] warm it", True),
        ("? who owns it", True),
        ("Who owns it?", True),
        ("open: who owns it", True),
        ("Next: warm it", True),
        ("follow-up: warm it", True),
        ("Unclear who owns it", True),
        ("Open the port before the deploy", False),
        ("Next week is the freeze", False),
        ("The todo list is gone", False),
        ("Todos are kept in the tracker", False),
    ],
)
def test_open_items_are_recognized_by_their_start_or_end(text: str, is_open: bool) -> None:
    event = note_event(id="evt_1", ts="2026-01-21T09:00:00Z", session_id="s", actor="user", text=text)
    day, used = sort_events([event], "recap.2026-01-21")
    assert (day.open_ends, day.notes) == (([event], []) if is_open else ([], [event]))
    assert used == [event]


def test_free_text_cannot_open_markup() -> None:
    assert one_line("a\n# b\n\n<!-- c") == "a # b &lt;!-- c"
    assert one_line("say `this") == "say 'this"
    assert one_line("say `this`") == "say `this`"


def test_relative_link_in_a_note_is_escaped() -> None:
    assert one_line("[a](https://x.example) [b](y.md)") == r"[a](https://x.example) [b]\(y.md)"
