"""The review queue: queued, approved, rejected, rebased and expired proposals, and their events."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.support.events import note
from tests.support.index_support import document
from tests.support.review_support import FACTS, SAME, Store
from tests.support.verify_store import verify
from thunderus_mem.authoring import anchor, rename
from thunderus_mem.authoring import edit as edit_module
from thunderus_mem.authoring.edit import DocumentEdits
from thunderus_mem.authoring.show import status
from thunderus_mem.document.document import read_document
from thunderus_mem.errors import (
    DocumentExists,
    InvalidDocument,
    NotFound,
    NotWritable,
    Refused,
    ThunderusError,
)
from thunderus_mem.garden import apply
from thunderus_mem.garden.apply import garden_plan, garden_report
from thunderus_mem.history.reverse import UndoChoice
from thunderus_mem.history.undo import undo
from thunderus_mem.lint.lint import lint
from thunderus_mem.memory import proposals
from thunderus_mem.memory.proposals import ProposedEdit, encode, read
from thunderus_mem.recap.recap import recap
from thunderus_mem.review import decisions as decisions_module
from thunderus_mem.review.decisions import review_approve, review_expire, review_reject
from thunderus_mem.review.queue import review_list, review_show
from thunderus_mem.store import files

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from thunderus_mem.memory.memory import Memory

BODY = "".join(f"Line {number} of the text.\n" for number in range(1, 13))


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path).begin()


def edited(store: Store, old: str, new: str, *, name: str = "long", body: str = BODY) -> str:
    """Have an agent propose a changed line; return the id of the proposal."""
    if not store.path(f"{name}.md").exists():
        store.add(name.capitalize(), f"{body}\nThis one is about {name}.\n")
    text = store.path(f"{name}.md").read_text()
    assert old in text
    return edit_module.edit(
        store.agent(), f"fact.{name}", DocumentEdits(text=text.replace(old, new)), why="it changed"
    ).proposed


def states(decided: object) -> list[str]:
    return [one.state for one in decided.decisions]  # type: ignore[attr-defined]


# Queueing


WORDS: dict[str, Callable[[Memory], object]] = {
    "edit": lambda memory: edit_module.edit(memory, "fact.one", DocumentEdits(add_tags=["new"])),
    "remove": lambda memory: edit_module.remove(memory, "fact.one", why="old"),
    "link": lambda memory: edit_module.link(memory, "fact.one", "refers_to", "fact.two"),
    "supersede": lambda memory: edit_module.supersede(memory, "fact.one", "fact.two", why="newer")[0],
    "rename": lambda memory: rename.rename(memory, "fact.one", "fact.three"),
    "anchor": lambda memory: anchor.anchor(memory, "fact.one", [".thunderus/config.toml"]).written,
}


@pytest.mark.parametrize("word", WORDS)
def test_approved_agent_proposal_writes_the_same_bytes_as_a_direct_edit(
    word: str, store: Store, tmp_path: Path
) -> None:
    store.add("One", "The first.")
    store.add("Two", "The second.")
    shutil.copytree(store.root, other := tmp_path / "other")
    before = store.bytes()
    value = WORDS[word](store.agent())
    assert store.patches() == [value.proposed]  # type: ignore[attr-defined]
    assert not value.changed  # type: ignore[attr-defined]
    assert not value.event_id  # type: ignore[attr-defined]
    assert store.bytes() == before
    assert states(review_approve(store.memory(), [value.proposed])) == ["approved"]  # type: ignore[attr-defined]
    done = store.bytes()
    assert done != before
    assert store.patches() == []
    direct = Store(other)
    direct.turn = store.turn
    WORDS[word](direct.memory())
    assert done == direct.bytes()
    patch = store.events("patch")[-1]
    assert patch.body["op"] == word
    assert patch.refs["patch_id"] == value.proposed  # type: ignore[attr-defined]
    undo(store.memory(), UndoChoice(value.proposed))  # type: ignore[attr-defined]
    assert store.bytes() == before
    assert verify(str(store.root), settled=True) == []


def test_approved_supersession_names_both_documents(store: Store) -> None:
    store.add("One", "The first.")
    store.add("Two", "The second.")
    made = edit_module.supersede(store.agent(), "fact.one", "fact.two", why="newer")[0]
    review_approve(store.memory(), [made.proposed])
    for event in store.events()[-2:]:
        assert event.refs["memory_doc_ids"] == ["fact.two", "fact.one"]
    assert (
        " superseded by [[fact.two|Two]], proposed by an agent and approved. Reason: newer.\n"
        in recap(store.memory(), "2026-01-21", dry_run=True).text
    )


def test_approved_document_names_its_approval_and_patch(store: Store) -> None:
    id = store.add("Ports", "Ports are even.", store.agent(), why="seen")
    (patch,) = store.patches()
    assert not store.path("ports.md").exists()
    with pytest.raises(NotFound):
        edit_module.edit(store.memory(), id, DocumentEdits(add_tags=["y"]))
    (done,) = review_approve(store.memory(), [patch], why="true").decisions
    made = read_document("x", store.path("ports.md").read_bytes()).document
    assert made is not None
    assert made.events == (done.approval_id, done.event_id)
    assert made.patches == (patch,)
    approval, change = store.events()[-2:]
    assert [approval.id, change.id] == [done.approval_id, done.event_id]
    assert approval.kind == "approval"
    assert approval.body["decision"] == "approved"
    assert approval.body["approved"] is True
    assert (approval.why, change.why) == ("true", "seen")
    assert [one for one in lint(store.memory()).diagnostics if one.rule == "TM206"] == []


def test_recap_has_the_reasons_of_proposer_and_reviewer(store: Store) -> None:
    store.add("Ports", "Ports are even.", store.agent(), why="seen twice")
    (patch,) = store.patches()
    review_approve(store.memory(), [patch], why="Ruth checked it")
    store.add("Hosts", "Hosts have names.", store.agent(), why="asked in support")
    (patch,) = store.patches()
    review_reject(store.memory(), [patch], why="We use addresses")
    text = recap(store.memory(), "2026-01-21", dry_run=True).text
    assert (
        "- [[fact.ports|Ports]] added, proposed by an agent and approved. Reason: seen twice. "
        "Review: Ruth checked it.\n"
    ) in text
    assert (
        "- `fact.hosts`: a proposal by an agent to add it was rejected. "
        "Reason for the proposal: asked in support. Review: We use addresses.\n"
    ) in text


def test_people_and_other_kinds_need_no_review(store: Store) -> None:
    environ = {"THUNDERUS_MEM_REVIEW_AGENTS": "propose"}
    store.add("One", "The first.", store.memory("user", **environ))
    kinds = {**environ, "THUNDERUS_MEM_REVIEW_KINDS": "adr,core"}
    store.add("Two", "The second.", store.memory("agent", **kinds))
    store.add("Three", "The third.", store.memory("agent"))
    assert store.patches() == []
    assert [event.actor for event in store.events("patch")[1:]] == ["user", "agent", "agent"]
    with pytest.raises(ThunderusError, match="must be one of user, agent, tool"):
        store.add("Four", "The fourth.", store.memory("robot"))


def test_proposal_with_a_secret_is_rejected(store: Store) -> None:
    token = "gh" + "p_" + "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8"
    with pytest.raises(Refused):
        store.add("Token", f"It is {token}.", store.agent())
    with pytest.raises(Refused):
        store.add("Token", "It is secret.", store.agent(), why=token)
    assert store.patches() == []


# Approving


def _long(section: str, more: str = "") -> str:
    body = "".join(f"## {name}\n\n" + f"{name} has a line. " * 600 + "\n\n" for name in ("One", section))
    return document("fact.long", f"It is long.{more}\n\n{body}")


def test_rejected_split_is_proposed_again_after_headings_change(store: Store) -> None:
    def steps() -> list[str]:
        return [step.action for step in garden_plan(store.memory(), only=["sizes"], apart=True).proposals]

    store.put("long.md", _long("Two"))
    assert steps() == ["split"]
    apply.garden_propose(store.memory(), garden_plan(store.memory(), apart=True))
    review_reject(store.memory(), every=True, why="it is read as a whole")
    assert steps() == []
    store.put("long.md", _long("Two", " Of something."))
    assert steps() == []
    store.put("long.md", _long("Three"))
    assert steps() == ["split"]


def test_garden_run_by_an_agent_queues_its_steps(store: Store) -> None:
    store.twins()
    before = store.bytes()
    plan = apply.garden_plan(store.agent(), apart=apply.is_reviewed(store.agent()))
    value = apply.garden_apply(store.agent(), plan)
    assert (value.steps, value.written, value.snapshot_id) == ((), (), "")
    assert [one.action for one in value.filed] == ["merge-duplicates"]
    assert store.bytes() == before
    assert store.patches() == [value.filed[0].id]
    (refused,) = review_approve(store.agent(), store.patches()).decisions
    assert refused.state == "refused"
    (approved,) = review_approve(store.memory(), store.patches()).decisions
    assert (approved.state, len(store.bytes())) == ("approved", len(before) - 1)


def test_garden_run_by_an_agent_applies_steps_without_review(store: Store) -> None:
    store.twins()
    assert not apply.is_reviewed(store.memory("agent"))
    memory = store.memory("agent", THUNDERUS_MEM_REVIEW_AGENTS="propose", THUNDERUS_MEM_REVIEW_KINDS="adr")
    value = apply.garden_apply(memory, apply.garden_plan(memory, apart=True))
    assert (len(value.steps), value.filed, store.patches()) == (1, (), [])


def test_agent_cannot_approve_agent_proposals_unless_allowed(store: Store) -> None:
    patch = edited(store, "Line 3", "Row 3")
    (refused,) = review_approve(store.agent(), [patch]).decisions
    assert (refused.state, refused.code) == ("refused", 5)
    assert store.patches() == [patch]
    allowed = store.memory("agent", THUNDERUS_MEM_REVIEW_SELF_APPROVAL="true")
    assert states(review_approve(allowed, [patch])) == ["approved"]
    assert store.events("approval")[-1].actor == "agent"


def test_document_changed_elsewhere_needs_a_rebase(store: Store) -> None:
    patch = edited(store, "Line 3 ", "Row 3 ")
    edit_module.edit(store.memory(), "fact.long", DocumentEdits(add_tags=["later"]))
    text = store.path("long.md").read_text().replace("Line 11 ", "Row 11 ")
    edit_module.edit(store.memory(), "fact.long", DocumentEdits(text=text))
    (moved,) = review_approve(store.memory(), [patch]).decisions
    assert (moved.state, moved.code) == ("moved", 3)
    assert "review show" in moved.hint
    assert store.patches() == [patch]
    shown = review_show(store.memory(), patch)
    assert shown.state == "moved"
    assert "+Row 3 of" in shown.changes[0].diff
    assert states(review_approve(store.memory(), [patch], rebase=True)) == ["approved"]
    text = store.path("long.md").read_text()
    assert "Row 3 " in text
    assert "Row 11 " in text
    assert "later" in text
    assert store.patches() == []


def test_document_changed_in_the_same_lines_reports_them(store: Store) -> None:
    patch = edited(store, "Line 3 ", "Row 3 ")
    text = store.path("long.md").read_text().replace("Line 3 ", "Verse 3 ").replace("Line 4 ", "Verse 4 ")
    edit_module.edit(store.memory(), "fact.long", DocumentEdits(text=text))
    at = 1 + text[: text.index("Verse 3")].count("\n")
    for decided in (review_approve(store.memory(), [patch], rebase=True),):
        assert states(decided) == ["conflict"]
        assert f"lines {at}-{at + 1} of {FACTS}/long.md" in decided.decisions[0].problem
    assert store.patches() == [patch]
    assert review_show(store.memory(), patch).state == "conflict"


def test_unrecorded_hand_edit_counts_as_a_change(store: Store) -> None:
    patch = edited(store, "Line 3 ", "Row 3 ")
    path = store.path("long.md")
    path.write_text(path.read_text().replace("Line 9 ", "Nine "))
    assert states(review_approve(store.memory(), [patch])) == ["moved"]
    assert states(review_approve(store.memory(), [patch], rebase=True)) == ["approved"]
    assert "Nine " in path.read_text()
    assert "Row 3 " in path.read_text()


def test_removal_of_a_changed_document_is_rejected(store: Store) -> None:
    store.add("One", "The first.")
    patch = edit_module.remove(store.agent(), "fact.one", why="old").proposed
    edit_module.edit(store.memory(), "fact.one", DocumentEdits(body="The very first."))
    (stays,) = review_approve(store.memory(), [patch], rebase=True).decisions
    assert stays.state == "conflict"
    assert "lose that change" in stays.problem
    assert store.path("one.md").exists()


def test_new_document_with_a_used_path_stays_pending(store: Store) -> None:
    store.add("One", "The first.", store.agent())
    (patch,) = store.patches()
    store.add("One", "Quite another.")
    (stays,) = review_approve(store.memory(), [patch]).decisions
    assert stays.state == "conflict"
    assert "now contains another document" in stays.problem
    assert "Quite another." in store.path("one.md").read_text()


def test_line_ends_and_byte_order_mark_are_kept(store: Store) -> None:
    text = "\ufeff" + document("fact.dressed", "Line one.\n\nLine two.\n")
    store.put("dressed.md", text.replace("\n", "\r\n"))
    patch = edit_module.edit(store.agent(), "fact.dressed", DocumentEdits(add_tags=["new"])).proposed
    assert states(review_approve(store.memory(), [patch])) == ["approved"]
    data = store.path("dressed.md").read_bytes()
    assert data.startswith(b"\xef\xbb\xbf---\r\n")
    assert data.count(b"\n") == data.count(b"\r\n")
    assert b"tags: [new, one]\r\n" in data
    patch = rename.rename(store.agent(), "fact.dressed", "fact.undressed").proposed
    assert states(review_approve(store.memory(), [patch])) == ["approved"]
    data = store.path("undressed.md").read_bytes()
    assert data.count(b"\n") == data.count(b"\r\n") > 10


def test_several_proposals_are_decided_separately_with_reasons(store: Store) -> None:
    first = edited(store, "Line 3 ", "Row 3 ")
    same = edited(store, "Line 3 ", "Verse 3 ")
    store.add("Other", "Another text.", store.agent())
    decided = review_approve(store.memory(), every=True)
    assert states(decided) == ["approved", "conflict", "approved"]
    assert decided.code == 3
    assert store.patches() == [same]
    assert first not in store.patches()
    assert verify(str(store.root), settled=True) == []


def test_forged_proposal_is_not_applied(store: Store) -> None:
    store.add("One", "The first.")
    patch = edit_module.edit(store.agent(), "fact.one", DocumentEdits(add_tags=["new"])).proposed
    waiting = read(store.memory().layout, f".thunderus/patches/{patch}.json")
    now = store.path("one.md").read_text()
    cases = {
        "no document": now.replace("---\n", "", 1),
        "other id": now.replace("id: fact.one", "id: fact.two"),
        "no title": now.replace("title: One\n", ""),
    }
    for name, text in cases.items():
        forged = waiting.proposal._replace(
            edits=(ProposedEdit.between(f"{FACTS}/one.md", "fact.one", now, text),)
        )
        store.put(waiting.path, encode(forged))
        (stays,) = review_approve(store.memory(), [patch]).decisions
        assert stays.state == "invalid", name
        assert stays.code == 2
        assert store.path("one.md").read_text() == now
    assert store.events("approval") == []


@pytest.mark.parametrize("after", [None, "gone"])
def test_proposal_cannot_change_another_document_than_it_names(store: Store, after: str | None) -> None:
    for name in ("One", "Two"):
        store.add(name, f"The text of {name}.")
    patch = edit_module.edit(store.agent(), "fact.one", DocumentEdits(add_tags=["new"])).proposed
    waiting = read(store.memory().layout, f".thunderus/patches/{patch}.json")
    before = store.path("two.md").read_text()
    text = before.replace("id: fact.two", "id: fact.one") if after else None
    forged = ProposedEdit.between(f"{FACTS}/two.md", "fact.one", before, text)
    store.put(waiting.path, encode(waiting.proposal._replace(edits=(forged,))))
    (stays,) = review_approve(store.memory(), [patch]).decisions
    assert (stays.state, stays.code) == ("invalid", 2)
    assert "fact.two" in stays.problem
    assert store.path("two.md").read_text() == before
    assert store.events("approval") == []


def test_id_prefix_finds_pending_and_decided_proposals(store: Store) -> None:
    patch = edited(store, "Line 3 ", "Row 3 ")
    other = edited(store, "Line 9 ", "Row 9 ")
    start = next(patch[:at] for at in range(len(patch), 0, -1) if other.startswith(patch[:at]))
    with pytest.raises(InvalidDocument, match="it matches 2"):
        review_show(store.memory(), start)
    assert review_show(store.memory(), patch.removeprefix("patch_").lower()).proposal.id == patch
    review_reject(store.memory(), [patch], why="no")
    with pytest.raises(NotFound, match="is not pending: rejected by"):
        review_approve(store.memory(), [patch])
    for nothing in ("patch_0000", "", "*"):
        with pytest.raises(NotFound, match="no proposal has the id"):
            review_approve(store.memory(), [nothing])


def test_interrupted_approval_is_completed(store: Store) -> None:
    store.add("Ports", "Ports are even.", store.agent())
    (patch,) = store.patches()
    environment = {**os.environ, "FAILPOINT": "before-write-log:kill:2"}
    shell = [os.path.abspath("."), str(store.root), patch]
    script = (
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "from tests.support.failpoints import arm_by_environment\n"
        "from thunderus_mem.memory.memory import open_memory\n"
        "from thunderus_mem.review.decisions import review_approve\n"
        "arm_by_environment()\n"
        "review_approve(open_memory(sys.argv[2]), [sys.argv[3]])\n"
    )
    done = subprocess.run([os.sys.executable, "-c", script, *shell], env=environment, check=False)  # type: ignore[attr-defined]
    assert done.returncode == 137
    (left,) = store.events("approval")
    assert store.patches() == [patch]
    (decided,) = review_approve(store.memory(), [patch]).decisions
    assert decided.approval_id == left.id
    assert len(store.events("approval")) == 1
    assert left.id in store.path("ports.md").read_text()


def test_proposal_of_an_applied_patch_is_removed(store: Store) -> None:
    patch = edited(store, "Line 3 ", "Row 3 ")
    path = store.root / ".thunderus" / "patches" / f"{patch}.json"
    data = path.read_bytes()
    review_approve(store.memory(), [patch])
    lines = len(store.events())
    path.write_bytes(data)  # as a merge may bring it back
    assert review_show(store.memory(), patch).state == "there"
    assert states(review_approve(store.memory(), [patch])) == ["applied"]
    assert store.patches() == []
    assert len(store.events()) == lines


# Rejecting, expiring, rebasing


def test_rejected_step_is_planned_again_only_after_a_change(store: Store) -> None:
    store.twins()
    store.propose()
    (patch,) = store.patches()
    with pytest.raises(InvalidDocument, match="a reason is required"):
        review_reject(store.memory(), [patch], why=" ")
    assert states(review_reject(store.memory(), [patch], why="both are needed")) == ["rejected"]
    assert store.patches() == []
    plan = garden_plan(store.memory())
    assert (plan.steps, plan.decided) == ((), 1)
    assert store.propose().proposals == ()
    assert store.garden().steps == ()
    event = store.events("approval")[-1]
    assert (event.body["decision"], event.body["approved"]) == ("rejected", False)
    assert event.why == "both are needed"
    for name in ("twin-a", "twin-b"):
        path = store.path(f"{name}.md")
        path.write_text(path.read_text().replace("title: A title", "title: Another"))
    assert [step.targets for step in garden_plan(store.memory()).steps] == [("fact.twin-a", "fact.twin-b")]


def _contained(store: Store, *names: str) -> None:
    """Documents with the same anchors; each makes all statements of the next."""
    for number, name in enumerate(names):
        lines = [f"The exporter waits {at} seconds for page {at}.\n\n" for at in range(number, 5)]
        text = document(f"fact.{name}", "".join(lines))
        store.put(
            f"{name}.md", text.replace("kind: fact\n", "kind: fact\nanchors:\n  - path: export.py\n", 1)
        )


def test_approval_expires_proposals_it_makes_obsolete(store: Store) -> None:
    _contained(store, "the", "our", "this")
    filed = apply.garden_propose(store.memory(), garden_plan(store.memory(), apart=True)).proposals
    assert len(filed) == 2
    value = review_approve(store.memory(), every=True)
    assert (states(value), value.code) == (["approved", "expired"], 0)
    assert {one.problem for one in value.decisions[1:]} == {f"superseded by {filed[0].id}"}
    assert store.patches() == []
    again = garden_plan(store.memory(), apart=True).proposals
    assert len(again) == 1, "the gardener plans the remaining step again"
    apply.garden_propose(store.memory(), garden_plan(store.memory(), apart=True))
    assert states(review_approve(store.memory(), every=True)) == ["approved"]
    assert garden_plan(store.memory(), apart=True).proposals == ()


def test_approval_does_not_expire_agent_proposals(store: Store) -> None:
    _contained(store, "our", "the")
    (filed,) = apply.garden_propose(store.memory(), garden_plan(store.memory(), apart=True)).proposals
    leaves = filed.targets[1]
    edit = edit_module.edit(store.agent(), leaves, DocumentEdits(add_tags=["new"])).proposed
    value = review_approve(store.memory(), every=True)
    assert (states(value), value.code) == (["approved", "gone"], 3)
    assert store.patches() == [edit]


def test_duplicate_proposals_are_applied_once(store: Store) -> None:
    store.add("Ports", "Ports are even.")
    for _ in range(2):
        edit_module.edit(store.agent(), "fact.ports", DocumentEdits(add_tags=["new"]))
    value = review_approve(store.memory(), every=True)
    assert (states(value), value.code, store.patches()) == (["approved", "expired"], 0, [])


def test_proposals_expire_by_age_missing_documents_and_applied_changes(store: Store) -> None:
    store.add("Old", "Waits for long.")
    old = edit_module.edit(store.agent(), "fact.old", DocumentEdits(add_tags=["new"])).proposed
    store.days = 29
    gone = edited(store, "Line 3 ", "Row 3 ", name="gone")
    there = edited(store, "Line 3 ", "Row 3 ", name="there")
    stays = edited(store, "Line 3 ", "Row 3 ", name="stays")
    edit_module.remove(store.memory(), "fact.gone", why="away")
    (edit,) = read(store.memory().layout, f".thunderus/patches/{there}.json").proposal.edits
    done = edit.text_after(store.path("there.md").read_text())
    assert done is not None
    store.put("there.md", done)
    planned = review_expire(store.memory(), dry_run=True)
    assert [one.id for one in planned.decisions] == [gone, there]
    assert [one.problem for one in planned.decisions] == [
        f"{FACTS}/gone.md does not exist any more",
        "already applied",
    ]
    store.days = 31
    report = status(store.memory())
    assert (report.proposals, report.oldest_days, report.expired) == (4, 31, 1)
    assert garden_report(store.memory(), garden_plan(store.memory())).expired == 1
    assert [one.path for one in lint(store.memory()).diagnostics if one.rule == "TM510"] == [
        f".thunderus/patches/{old}.json"
    ]
    assert len(store.patches()) == 4
    expired = review_expire(store.memory())
    assert [one.id for one in expired.decisions] == [old, gone, there]
    assert expired.decisions[0].problem == "pending for 31 days"
    assert store.patches() == [stays]
    assert {event.body["decision"] for event in store.events("approval")} == {"expired"}
    assert [event.refs["patch_id"] for event in store.events("approval")] == [old, gone, there]
    assert review_expire(store.memory()).decisions == ()


@pytest.mark.parametrize("decide", ["approve", "reject", "expire"])
def test_all_is_rejected_if_a_proposal_is_unreadable(
    decide: str, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = edited(store, "Line 3 ", "Row 3 ", name="one")
    second = edited(store, "Line 3 ", "Row 3 ", name="two")
    store.days = 99
    really = files.read_below

    def refused(root: str, path: str, limit: int) -> bytes:
        if second in path:
            raise NotWritable(f"{path} may not be read.", hint="Ask its owner.")
        return really(root, path, limit)

    monkeypatch.setattr(proposals, "read_below", refused)
    decisions: dict[str, Callable[[], object]] = {
        "approve": lambda: review_approve(store.memory(), every=True),
        "reject": lambda: review_reject(store.memory(), every=True, why="no"),
        "expire": lambda: review_expire(store.memory()),
    }
    with pytest.raises(NotWritable, match=second):
        decisions[decide]()
    assert store.patches() == [first, second]
    listing = review_list(store.memory())
    assert [one.id for one in listing.proposals] == [first]
    assert [one.path for one in listing.unreadable] == [f".thunderus/patches/{second}.json"]


def test_list_filters_by_label_and_rule(store: Store) -> None:
    store.twins()
    store.propose()
    edited(store, "Line 3 ", "Row 3 ")
    assert len(review_list(store.memory()).proposals) == 2
    (one,) = review_list(store.memory(), only="duplicates").proposals
    assert one.action == "merge-duplicates"
    assert review_list(store.memory(), only="same").proposals == ()
    assert states(review_approve(store.memory(), every=True, only="duplicates")) == ["approved"]
    assert len(store.patches()) == 1


LINES = st.lists(st.sampled_from(["alpha", "beta", "gamma", "delta", ""]), min_size=1, max_size=10)


@settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck))
@given(LINES, LINES, LINES)
def test_approval_never_loses_later_changes(base: list[str], theirs: list[str], ours: list[str]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        store = Store(folder).begin()
        head = document("fact.long", "")
        store.put("long.md", head + "\n".join(base) + "\n")
        store.memory().refresh()
        filed = edit_module.edit(
            store.agent(), "fact.long", DocumentEdits(text=head + "\n".join(theirs) + "\n")
        )
        if not filed.proposed:
            return
        wanted = head + "\n".join(ours) + "\n"
        store.put("long.md", wanted)
        before = store.bytes()
        plain = review_approve(store.memory(), [filed.proposed])
        if base != ours:
            assert states(plain) in (["moved"], ["conflict"], ["there"], ["invalid"])
            assert store.bytes() == before
        if states(plain) == ["moved"]:
            decided = review_approve(store.memory(), [filed.proposed], rebase=True)
            if states(decided) == ["approved"]:
                text = store.path("long.md").read_text()
                new = [line for line in ours if line and line not in base]
                assert all(line in text for line in new)
                assert any(line in text for line in theirs if line not in base) or set(theirs) <= set(base)
        assert verify(folder, settled=True) == []


# Merges


def git(root: Path, *words: str, check: bool = True) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(["git", *words], cwd=root, check=check, capture_output=True)


@pytest.fixture
def tracked(repo: Path) -> Store:
    store = Store(repo)
    store.environ = {"PATH": os.environ["PATH"]}
    store.begin()
    store.add("Long", BODY)
    store.add("Ports", "Ports are even.", store.agent())
    git(repo, "add", "-A")
    git(repo, "commit", "-qm", "Keep a memory")
    git(repo, "branch", "theirs")
    return store


def on(store: Store, branch: str) -> None:
    git(store.root, "add", "-A")
    git(store.root, "commit", "-qm", "On with it")
    git(store.root, "checkout", "-q", branch)


def test_branches_with_proposals_merge_without_conflict(tracked: Store) -> None:
    edited(tracked, "Line 3 ", "Row 3 ")
    on(tracked, "theirs")
    edited(tracked, "Line 3 ", "Verse 3 ")
    on(tracked, "main")
    git(tracked.root, "merge", "-q", "theirs")
    assert len(review_list(tracked.memory()).proposals) == 3


def test_same_change_approved_on_both_sides_is_one_change(tracked: Store) -> None:
    patch = edited(tracked, "Line 3 ", "Row 3 ")
    on(tracked, "theirs")
    git(tracked.root, "merge", "-q", "main")
    review_approve(tracked.memory(), [patch])
    on(tracked, "main")
    review_approve(tracked.memory(), [patch])
    git(tracked.root, "add", "-A")
    git(tracked.root, "commit", "-qm", "Approved here, too")
    git(tracked.root, "merge", "-q", "theirs")
    assert patch not in tracked.patches()
    with pytest.raises(NotFound, match="is not pending: approved by"):
        review_approve(tracked.memory(), [patch])
    assert "Row 3 " in tracked.path("long.md").read_text()


def test_new_document_approved_on_both_sides_is_resolved(tracked: Store) -> None:
    from thunderus_mem.merge.resolve import resolve

    (patch,) = tracked.patches()
    git(tracked.root, "checkout", "-q", "theirs")
    review_approve(tracked.memory(), [patch])
    on(tracked, "main")
    review_approve(tracked.memory(), [patch])
    git(tracked.root, "add", "-A")
    git(tracked.root, "commit", "-qm", "Approved here, too")
    merged = git(tracked.root, "merge", "-q", "theirs", check=False)
    assert merged.returncode == 1  # each side names its own approval
    resolve(tracked.memory())
    made = read_document("x", tracked.path("ports.md").read_bytes()).document
    assert made is not None
    assert len(made.events) == 4
    assert made.patches == (patch,)
    assert tracked.patches() == []


def test_proposal_approved_on_one_side_and_rejected_on_the_other(tracked: Store) -> None:
    (patch,) = tracked.patches()
    git(tracked.root, "checkout", "-q", "theirs")
    review_approve(tracked.memory(), [patch])
    on(tracked, "main")
    review_reject(tracked.memory(), [patch], why="no")
    git(tracked.root, "add", "-A")
    git(tracked.root, "commit", "-qm", "Turned down here")
    git(tracked.root, "merge", "-q", "theirs")
    assert tracked.patches() == []
    assert tracked.path("ports.md").exists()
    decisions = [event.body["decision"] for event in tracked.events("approval")]
    assert sorted(decisions) == ["approved", "rejected"]


def test_proposal_with_conflict_markers_is_reported_and_hides_no_other(tracked: Store) -> None:
    (patch,) = tracked.patches()
    other = edited(tracked, "Line 3 ", "Row 3 ")
    path = tracked.root / ".thunderus" / "patches" / f"{patch}.json"
    path.write_text("<<<<<<< HEAD\n" + path.read_text() + "=======\n{}\n>>>>>>> theirs\n")
    listing = review_list(tracked.memory())
    assert [one.id for one in listing.proposals] == [other]
    assert [one.path for one in listing.unreadable] == [f".thunderus/patches/{patch}.json"]
    assert "merge conflict markers" in listing.unreadable[0].fix
    found = [one for one in lint(tracked.memory()).diagnostics if one.rule == "TM509"]
    assert [one.path for one in found] == [f".thunderus/patches/{patch}.json"]
    with pytest.raises(InvalidDocument, match="is not a valid proposal"):
        review_approve(tracked.memory(), [patch])
    path.unlink()


def test_expiry_is_unknown_while_the_document_is_unreadable(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    patch_id = edited(store, "Line 3 ", "Row 3 ")
    store.path("long.md").unlink()

    def refused(*_: object) -> None:
        raise NotWritable("long.md could not be read: the disk reports an error.")

    with monkeypatch.context() as patch:
        patch.setattr(decisions_module, "rebase", refused)
        with pytest.raises(NotWritable, match="could not be read"):
            review_expire(store.memory())
    assert [one.id for one in review_expire(store.memory()).decisions] == [patch_id]


def test_linked_proposal_folder_is_rejected(store: Store, tmp_path: Path) -> None:
    folder = store.root / ".thunderus" / "patches"
    folder.rmdir()
    (tmp_path / "elsewhere").mkdir()
    os.symlink(tmp_path / "elsewhere", folder)
    with pytest.raises(Refused, match="symbolic link"):
        review_list(store.memory())


def test_existing_text_is_not_proposed_again(store: Store) -> None:
    store.add("One", SAME)
    with pytest.raises(DocumentExists):
        store.add("Two", SAME, store.agent())
    assert store.patches() == []


def test_actor_can_be_set_for_each_call(store: Store) -> None:
    memory = store.memory("tool")
    for memory.actor in ("agent", "user"):
        note(memory, f"By the {memory.actor}.")
    assert [event.actor for event in store.events("note")] == ["agent", "user"]
