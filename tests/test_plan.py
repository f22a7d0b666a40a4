"""A plan's order depends on its steps alone."""

from __future__ import annotations

from thunderus_mem.garden.plan import MERGE_DUPLICATES, REPORT, DocumentEdit, Plan, Step, make_plan

EDIT = DocumentEdit("a.md", "fact.a", "sha256:0", None)
MERGE_A = Step(MERGE_DUPLICATES, "why", (), ("fact.a", "fact.b"), (EDIT,))
MERGE_C = Step(MERGE_DUPLICATES, "why", (), ("fact.c", "fact.d"), (EDIT,))
SAY_A = Step(REPORT, "why", (), ("adr.a", "fact.a"))


def test_what_changes_something_comes_before_what_only_says_something() -> None:
    expected = Plan((MERGE_A, MERGE_C, SAY_A))
    assert make_plan((SAY_A, MERGE_C), (MERGE_A,)) == expected
    assert make_plan((MERGE_A,), (MERGE_C, SAY_A)) == expected


def test_a_plan_tells_steps_from_reports() -> None:
    plan = make_plan((SAY_A, MERGE_A))
    assert plan.applicable == (MERGE_A,)
    assert plan.reports == (SAY_A,)
