"""Files that have a role in their folder."""

from __future__ import annotations

import pytest

from tests.garden.test_similar import imported
from thunderus_mem.garden.plan import GardenInput
from thunderus_mem.garden.rules.duplicates import plan_duplicates
from thunderus_mem.garden.rules.origins import role, shared_names
from thunderus_mem.store.config import Config

FORM = "# Capture\n\nAppend freely: tasks, ideas and links.\n\n## Inbox\n\n- \n"
TEXT = (
    "# Capture\n\nThe queue is read every ten seconds by one worker. Another one takes over within a minute "
    "if that one stops, and reports it.\n"
)


@pytest.mark.parametrize(
    ("path", "body", "others", "expected"),
    [
        ("a/_template/x.md", TEXT, [], "a/_template"),
        ("Templates/x.md", TEXT, [], "Templates"),
        ("template.md", TEXT, [], ""),
        ("p/a/x.md", TEXT, ["p/b/x.md", "p/c/x.md"], "p/a"),
        ("p/a/x.md", TEXT, ["p/b/x.md", "q/c/x.md"], ""),
        ("p/a/x.md", TEXT, ["p/b/y.md", "p/c/y.md"], ""),
        ("x.md", TEXT, ["y.md", "z.md"], ""),
        ("p/x.md", FORM, [], "p"),
        ("p/x.md", FORM.replace("- \n", "- [ ]\n"), [], "p"),
        ("p/x.md", FORM.replace("- \n", "- Buy milk\n"), [], ""),
        ("p/x.md", FORM + "\n" + "This is a long text. " * 10, [], ""),
    ],
)
def test_role_of_a_file(path: str, body: str, others: list[str], expected: str) -> None:
    assert role(path, body, shared_names([path, *others])) == expected


@pytest.mark.parametrize(
    ("one", "other", "body", "merged"),
    [
        ("projects/a/capture.md", "projects/_template/capture.md", FORM, False),
        ("projects/a/capture.md", "projects/_template/capture.md", TEXT, False),
        ("projects/a/capture.md", "projects/b/capture.md", FORM, False),
        ("projects/a/capture.md", "projects/b/capture.md", TEXT, True),
        ("templates/capture.md", "templates/capture 1.md", TEXT, True),
        ("Templates.capture.md", "projects.a.capture.md", TEXT, False),
        ("vault/3-Templates.capture.md", "vault/1-Projects.a.capture.md", TEXT, False),
    ],
)
def test_files_with_a_role_are_merged_only_within_their_folder(
    one: str, other: str, body: str, merged: bool
) -> None:
    known = [imported("fact.a", "Capture", body, one), imported("fact.b", "Capture", body, other)]
    steps = plan_duplicates(GardenInput.of(known, verbose=True), Config())
    assert [step.action for step in steps] == (["merge-duplicates"] if merged else [])


def test_files_of_other_names_under_one_heading_of_a_form_are_not_merged() -> None:
    """The title is a heading that many files have; only their names say what they are about."""
    size, review = (
        imported(f"fact.{name}", "Concept Definition", TEXT, f"notes/{name}.md")
        for name in ("size", "review")
    )
    (step,) = plan_duplicates(GardenInput.of([size, review], verbose=True), Config())
    assert step.action == "report"
    assert plan_duplicates(GardenInput.of([size, review]), Config()) == ()
    named = imported("fact.b", "T-shirt size", TEXT, "notes/b/Sizes of shirts.md")
    plain = imported("fact.a", "T-shirt size", TEXT, "notes/T-shirt Size.md")
    (step,) = plan_duplicates(GardenInput.of([named, plain]), Config())
    assert (step.action, step.targets) == ("merge-duplicates", ("fact.a", "fact.b"))


@pytest.mark.parametrize(
    "other",
    [
        TEXT.replace("# Capture\n\n", "# Capture\n\n\n"),
        TEXT.replace("Another", "\nAnother"),
        TEXT.replace("reports it.\n", "reports it.  \n"),
    ],
)
def test_imported_texts_with_another_layout_are_not_merged(other: str) -> None:
    """Which one is the page, and which a stage of its making or an abandoned copy, is not known."""
    known = [imported("fact.a", "Capture", TEXT, "a/capture.md")]
    known.append(imported("fact.b", "Capture", other, "b/capture.md"))
    assert plan_duplicates(GardenInput.of(known), Config()) == ()
    known[1] = imported("fact.b", "Capture", TEXT.replace("\n", "\r\n"), "b/capture.md")
    assert [step.action for step in plan_duplicates(GardenInput.of(known), Config())] == ["merge-duplicates"]


def test_short_imported_texts_are_not_merged() -> None:
    values = "# Styles\n\n- secure and calm\n- insecure and anxious\n- disorganized\n- avoiding\n"
    known = [
        imported(f"fact.{one}", "Styles", values, f"{one}/lists/styles.md") for one in ("theory", "style")
    ]
    assert plan_duplicates(GardenInput.of(known), Config()) == ()
