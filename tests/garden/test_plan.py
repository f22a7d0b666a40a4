"""The order of a plan depends only on its steps."""

from __future__ import annotations

from thunderus_mem.garden.plan import MERGE_DUPLICATES, REPORT, DocumentEdit, Plan, Step, make_plan

EDIT = DocumentEdit("a.md", "fact.a", "sha256:0", None)
MERGE_A = Step(MERGE_DUPLICATES, "why", (), ("fact.a", "fact.b"), (EDIT,))
OTHER = DocumentEdit("c.md", "fact.c", "sha256:0", None)
MERGE_C = Step(MERGE_DUPLICATES, "why", (), ("fact.c", "fact.d"), (OTHER,))
SAY_A = Step(REPORT, "why", (), ("adr.a", "fact.a"))


def test_changes_come_before_reports() -> None:
    expected = Plan((MERGE_A, MERGE_C, SAY_A))
    assert make_plan((SAY_A, MERGE_C), (MERGE_A,)) == expected
    assert make_plan((MERGE_A,), (MERGE_C, SAY_A)) == expected


def test_plan_separates_steps_and_reports() -> None:
    plan = make_plan((SAY_A, MERGE_A))
    assert plan.applicable == (MERGE_A,)
    assert plan.reports == (SAY_A,)


def test_rejected_and_pending_steps_are_omitted_and_counted() -> None:
    propose = Step(
        MERGE_DUPLICATES, "why", (), ("fact.e", "fact.f"), (EDIT,), reach="propose", texts=(("fact.e", "1"),)
    )
    plan = make_plan((MERGE_A, MERGE_C, propose), rejected={MERGE_A.key}, waiting={propose.key})
    assert plan == Plan((MERGE_C,), decided=1, waiting=1)
    assert make_plan((propose,), rejected={propose.key}, waiting={propose.key}) == Plan(decided=1)


def test_step_key_changes_only_with_its_basis() -> None:
    changed = DocumentEdit("a.md", "fact.a", "sha256:1", None)
    assert Step(MERGE_DUPLICATES, "other words", (), MERGE_A.targets, (EDIT,)).key == MERGE_A.key
    assert Step(MERGE_DUPLICATES, "why", (), MERGE_A.targets, (changed,)).key != MERGE_A.key
    told = [
        Step(REPORT, "why", (), ("fact.a", "fact.b"), (edit,), texts=(("fact.a", "1"), ("fact.b", digest)))
        for edit, digest in ((EDIT, "2"), (changed, "2"), (changed, "3"))
    ]
    assert told[0].key == told[1].key != told[2].key
