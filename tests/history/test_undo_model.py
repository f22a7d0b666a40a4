"""Which events of a log are undone, for any order of lines and any writer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.events import patch_event
from thunderus_mem.history.reverse import can_be_undone, origin, patch_of, steps_of, undone_events
from thunderus_mem.log.event import Change, undone_by
from thunderus_mem.merge.documents import merge_cleanly

if TYPE_CHECKING:
    from thunderus_mem.log.line import Event

HASHES = ["sha256:" + digit * 64 for digit in "abc"]


def event(
    name: str, *undoes: str, op: str = "edit", patch: str = "", changes: tuple[Change, ...] = ()
) -> Event:
    default = (Change("update", "fact.a", "a.md", HASHES[0], HASHES[1], "+x\n"),)
    return patch_event(
        id=f"evt_{name}",
        patch_id=f"patch_{patch or name}",
        ts="2026-01-21T09:00:00.000Z",
        session_id="sess_1",
        actor="user",
        op="undo" if undoes else op,
        changes=changes or default,
        undoes=[f"evt_{one}" for one in undoes],
    )


@st.composite
def histories(draw: st.DrawFn) -> list[Event]:
    """Changes, their undos, and undos of undos, as commands write them."""
    made = [event("0")]
    for number in range(1, draw(st.integers(1, 10))):
        open_ones = [one.id[4:] for one in made if one.id not in undone_events(made)]
        target = draw(st.none() | st.sampled_from(open_ones)) if open_ones else None
        made.append(event(str(number), *([target] if target is not None else [])))
    return made


@settings(max_examples=100, deadline=None, derandomize=True)
@given(histories(), st.data())
def test_undone_events_depend_only_on_undo_events(history: list[Event], data: st.DataObject) -> None:
    def counts(one: Event) -> bool:
        return not any(counts(other) for other in history if one.id in undone_by(other))

    gone = {target for one in history if counts(one) for target in undone_by(one)}
    assert undone_events(history).keys() == gone
    assert undone_events(data.draw(st.permutations(history))).keys() == gone


def test_forged_cycle_of_undos_terminates() -> None:
    circle = [event("a", "b"), event("b", "a"), event("c", "c")]
    assert undone_events(circle) == {}
    known = {one.id: one for one in circle}
    assert origin(circle[0], known.get)[0].id in known


def test_undo_is_about_the_documents_it_reverted() -> None:
    first, undo, redo = event("1"), event("2", "1"), event("3", "2")
    known = {one.id: one for one in (first, undo, redo)}
    assert origin(first, known.get) == (first, False)
    assert origin(undo, known.get) == (first, True)
    assert origin(redo, known.get) == (first, False)
    assert origin(undo, {}.get) == (undo, True)


def test_events_of_one_command_share_session_and_patch() -> None:
    one = event("1", patch="p")
    assert patch_of(one) == patch_of(event("2", patch="p")) != patch_of(event("3"))
    assert patch_of(one._replace(session_id="sess_2")) != patch_of(one)
    assert patch_of(one._replace(refs={})) == ("sess_1", "evt_1")


def test_only_changes_by_the_tool_are_chosen() -> None:
    plain, undo = event("1"), event("2", "1")
    assert can_be_undone(plain, {}, undos=False)
    assert not can_be_undone(plain, {"evt_1": "evt_2"}, undos=False)
    assert not can_be_undone(undo, {}, undos=False)
    assert can_be_undone(undo, {}, undos=True)
    for op in ("hand-edit", "aborted"):
        assert not can_be_undone(event("3", op=op), {}, undos=False)


def test_both_halves_of_a_rename_are_matched() -> None:
    def half(name: str, path: str, before: str, after: str) -> Change:
        return Change("rename", name, path, before, after)

    changes = (
        half("fact.a", "a.md", HASHES[0], ""),
        half("fact.b", "b.md", HASHES[1], ""),
        half("fact.b2", "b2.md", "", HASHES[1]),
        half("fact.a", "a2.md", "", HASHES[2]),
        Change("update", "fact.c", "c.md", HASHES[0], HASHES[1], "+x\n"),
    )
    found = steps_of(event("1", op="rename", changes=changes))
    assert [(one.old_path, one.new_path, one.old_id, one.new_id) for one in found] == [
        ("a.md", "a2.md", "fact.a", "fact.a"),
        ("b.md", "b2.md", "fact.b", "fact.b2"),
        ("c.md", "c.md", "fact.c", "fact.c"),
    ]


HEAD = "---\nid: fact.a\ntitle: A\nkind: fact\ntags:\n  - one\nupdated: {updated}\n---\n\n{body}"


def test_merge_that_changes_the_id_is_a_conflict() -> None:
    base = HEAD.format(updated="1", body="One.\n")
    assert merge_cleanly("a.md", base, base.replace("One", "Two"), base.replace("- one", "- two"), "9") == (
        base.replace("One", "Two").replace("- one", "- two")
    )
    assert merge_cleanly("a.md", base, base, base.replace("fact.a", "fact.b"), "9") is None
    assert merge_cleanly("a.md", base, base, base.replace("id: fact.a\n", ""), "9") is None
    assert merge_cleanly("a.md", "a\nb\nc\n", "A\nb\nc\n", "a\nb\nC\n", "9") == "A\nb\nC\n"


def test_merged_text_gets_the_current_time() -> None:
    base = HEAD.format(updated="1", body="One.\n\nTwo.\n\nThree.\n")
    ours = HEAD.format(updated="2", body="One.\n\nTwo.\n\n3.\n")
    theirs = HEAD.format(updated="3", body="1.\n\nTwo.\n\nThree.\n")
    wanted = HEAD.format(updated='"9"', body="1.\n\nTwo.\n\n3.\n")
    assert merge_cleanly("a.md", base, ours, theirs, "9") == wanted
    assert (
        merge_cleanly("a.md", base, ours, HEAD.format(updated="3", body="One.\n\nTwo.\n\nThree.\n"), "9")
        == ours
    )
