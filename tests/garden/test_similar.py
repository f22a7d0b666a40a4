"""Two documents about one subject: golden plans, cases and property tests.

Set ``WRITE_CASES=1`` to write ``plan.json`` and ``after/`` of every golden folder.
"""

from __future__ import annotations

import json
import os
import shutil
import unicodedata
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.garden.test_duplicates import Files, read_folder
from tests.garden.test_duplicates import documents as every_document
from tests.support.order_support import applied
from thunderus_mem.document.document import Document, read_document
from thunderus_mem.document.paths import is_archived
from thunderus_mem.document.profile import traits_of
from thunderus_mem.document.statements import gist, statements
from thunderus_mem.garden.plan import GardenInput, Step, make_plan
from thunderus_mem.garden.rules.duplicates import plan_duplicates
from thunderus_mem.garden.rules.similar import plan_similar
from thunderus_mem.store.config import Config

if TYPE_CHECKING:
    import random
    from collections.abc import Iterable, Mapping, Sequence

PLANS = Path(__file__).parent.parent / "cases" / "similar" / "plans"
FOLDERS = {"fact": "semantic/FACTS", "adr": "semantic/DECISIONS", "playbook": "procedural/PLAYBOOKS"}
ANCHOR = "anchors:\n  - path: export.py\n    symbol: retry"
law = settings(deadline=None, max_examples=60, derandomize=True)


def made(
    doc_id: str, title: str, body: str, *, kind: str = "fact", updated: str = "2026-01-01", more: str = ""
) -> Document:
    header = [f"id: {doc_id}", f"title: {json.dumps(title)}", f"kind: {kind}", "tags: []"]
    header += [f"created: {updated}T00:00:00Z", f"updated: {updated}T00:00:00Z", *more.splitlines()]
    header += ["provenance:", "  events: []", "  patches: []", "  commits: []"]
    text = "---\n" + "\n".join(header) + "\n---\n\n" + body + "\n"
    path = f".thunderus/memory/{FOLDERS.get(kind, 'core')}/{doc_id}.md"
    document = read_document(path, text.encode("utf-8", "surrogatepass")).document
    assert document is not None
    return document


def about(doc_id: str, title: str, body: str, *, more: str = "", **options: str) -> Document:
    """A document with the same anchor as all others."""
    return made(doc_id, title, body, more=f"{ANCHOR}\n{more}", **options)


def imported(doc_id: str, title: str, body: str, source: str, updated: str = "2026-01-01") -> Document:
    return made(
        doc_id, title, body, updated=updated, more=f"metadata:\n  imported_from: {json.dumps(source)}"
    )


def planned(*known: Document, **config: str) -> list[tuple[str, str, tuple[str, ...]]]:
    return [(step.action, step.label, step.targets) for step in steps_for(*known, **config)]


def steps_for(*known: Document, **config: str) -> tuple[Step, ...]:
    return plan_similar(GardenInput.of(known), Config(**config))  # type: ignore[arg-type]


def exact(known: Sequence[Document]) -> tuple[Step, ...]:
    return plan_duplicates(GardenInput.of(known, verbose=True), Config())


def shown(steps: Iterable[Step]) -> str:
    """A plan without the complete texts, which are in ``after/``."""
    keys = ("rule", "action", "reach", "label", "why", "evidence", "targets", "edits")
    data = [{key: asdict(step)[key] for key in keys} for step in steps]
    for step in data:
        step["edits"] = [
            f"{'remove' if edit['after_text'] is None else 'update'} {edit['path']}" for edit in step["edits"]
        ]
    return json.dumps(data, indent=2, ensure_ascii=False) + "\n"


def documents(files: Mapping[str, bytes]) -> list[Document]:
    """The documents in use."""
    return [one for one in every_document(dict(files)) if not is_archived(one.path)]


def in_memory(folder: Path) -> Files:
    """The files of a golden folder by their path in a store."""
    return {f".thunderus/memory/{path}": data for path, data in read_folder(folder).items()}


def plan_of(files: Files, strategy: str) -> tuple[Step, ...]:
    return steps_for(*documents(files), duplicates_strategy=strategy)


@pytest.mark.parametrize("name", sorted(path.name for path in PLANS.iterdir()))
def test_golden_folder(name: str) -> None:
    folder = PLANS / name
    strategy = (folder / "about.txt").read_text(encoding="utf-8").splitlines()[0].removeprefix("strategy: ")
    before = in_memory(folder / "before")
    steps = plan_of(before, strategy)
    after = applied(before, steps)
    changed = {path: data for path, data in after.items() if before.get(path) != data}
    if os.environ.get("WRITE_CASES"):
        shutil.rmtree(folder / "after", ignore_errors=True)
        (folder / "plan.json").write_text(shown(steps), encoding="utf-8")
        for path, data in changed.items():
            place = folder / "after" / path.removeprefix(".thunderus/memory/")
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(data)
    assert shown(steps) == (folder / "plan.json").read_text(encoding="utf-8")
    assert changed == in_memory(folder / "after")
    assert not [step for step in plan_of(after, strategy) if step.edits]


RETRIES = "The exporter retries a failed batch 3 times and waits 10 seconds between two attempts."
LATER = RETRIES.replace("3 times", "5 times")
MORE = "\n\nWhat still fails is written to `failed.log`, which the nightly job reads and mails."
NEWER = {"updated": "2026-02-01"}
SAID = [("join", "same", ("fact.a", "fact.b"))]
REPLACED = [("supersede", "possible contradiction", ("fact.b", "fact.a"))]


def test_document_contained_in_another_of_its_anchors_is_archived() -> None:
    whole, part = about("fact.a", "Retries", RETRIES + MORE), about("fact.b", "Retries.", RETRIES, **NEWER)
    assert planned(whole, part) == SAID
    (step,) = steps_for(whole, part)
    assert [edit.path for edit in step.edits if edit.after_text is None] == [part.path]
    after = read_document(whole.path, (step.edits[0].after_text or "").encode()).document
    assert after is not None
    assert (after.body, after.aliases) == (whole.body, ("fact.b",))


@pytest.mark.parametrize(
    "stub",
    [
        "- [[plans/one]]\n- [Retries of the nightly export job](../export/retries.md)\n- <https://example.org/a>",
        "## Related\n\nSee [the pages about retries, waiting and failed batches](a.md) and [[b]].",
        "To do: describe this.",
    ],
)
def test_stub_is_not_archived_for_a_document_that_contains_it(stub: str) -> None:
    assert planned(about("fact.a", "Related", f"{stub}\n\n{MORE}"), about("fact.b", "Related", stub)) == []


def test_newer_text_supersedes_the_older_one_with_its_anchors() -> None:
    assert (
        planned(about("fact.a", "Retries", RETRIES), about("fact.b", "Retries", LATER, **NEWER)) == REPLACED
    )


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (("Retries of exports", RETRIES), ("Attempts of exports", LATER)),
        (("Retries", RETRIES), ("Retries", LATER)),
        (("Retries", RETRIES + MORE), ("Retries", RETRIES)),
        (("Port 4", "## Port 4\n\n" + RETRIES), ("Port 11", "## Port 11\n\n" + RETRIES)),
        (("Step 1: Retries", RETRIES), ("Step 2: Retries", LATER)),
        (("Retries", RETRIES), ("Retries", "The upload is never repeated; the job reports what was left.")),
        (
            (
                "The test database is kept",
                "Run the suite with `--reuse-db`. Creating the database again takes four minutes.",
            ),
            (
                "The test database is created again",
                "Run the suite with `--create-db`. Reusing the old database saves four minutes.",
            ),
        ),
    ],
)
def test_likeness_alone_proposes_nothing(one: tuple[str, str], other: tuple[str, str]) -> None:
    known = (made("fact.a", *one), made("fact.b", *other, **NEWER))
    assert planned(*known) == []
    reported = plan_similar(GardenInput.of(known, verbose=True), Config())
    assert all(step.reach == "report" for step in reported)


def test_pair_of_two_subjects_is_reported_on_request() -> None:
    known = (made("fact.a", "Retries", RETRIES + MORE), made("fact.b", "Attempts", LATER + MORE, **NEWER))
    assert planned(*known) == []
    (step,) = plan_similar(GardenInput.of(known, verbose=True), Config())
    assert (step.reach, step.label, step.targets) == ("report", REPLACED[0][1], ("fact.b", "fact.a"))


def test_equal_texts_do_not_contradict_each_other() -> None:
    known = (made("fact.a", "Retries", RETRIES + MORE), made("fact.b", "Retries", RETRIES + MORE, **NEWER))
    assert [step.label for step in exact(known)] != []
    assert plan_similar(GardenInput.of(known, verbose=True), Config()) == ()


def test_changed_line_that_repeats_another_is_a_difference() -> None:
    bodies = [RETRIES + "\n\n- one\n- two\n- " + last + "\n" for last in ("three", "one")]
    known = (about("fact.a", "Retries", bodies[0]), about("fact.b", "Retries", bodies[1], **NEWER))
    assert planned(*known) == REPLACED


def test_difference_in_a_code_span_is_never_the_same() -> None:
    texts = [f"Run the whole suite of the exporter with `--{word}-db` on every push." for word in ("a", "b")]
    known = (about("fact.a", "Suite", texts[0]), about("fact.b", "Suite", texts[1], **NEWER))
    assert planned(*known) == REPLACED


def test_texts_of_one_age_are_only_reported() -> None:
    report = [("report", "possible contradiction", ("fact.b", "fact.a"))]
    assert planned(about("fact.a", "Retries", RETRIES), about("fact.b", "Retries", LATER)) == report


def test_pair_that_mentions_each_other_is_skipped() -> None:
    linked = about("fact.b", "Retries", LATER, **NEWER, more="links:\n  refers_to: [fact.a]")
    assert planned(about("fact.a", "Retries", RETRIES), linked) == []
    assert (
        planned(about("fact.a", "Retries", RETRIES + " See fact.b."), about("fact.b", "Retries", LATER)) == []
    )


def test_anchors_shared_by_many_are_no_subject() -> None:
    known = [
        about(f"fact.{at}", "Card", f"{RETRIES} Port {at}.", updated=f"2026-01-0{at}") for at in (1, 2, 3)
    ]
    assert planned(*known[:2])
    assert planned(*known, about("fact.4", "Card", RETRIES)) == []


def test_same_anchors_are_one_subject_if_the_titles_agree() -> None:
    one = about("fact.a", "Retries", RETRIES)
    assert planned(one, about("fact.b", "Retries of exports", LATER, **NEWER)) == REPLACED
    assert planned(one, about("fact.b", "Retries 2", LATER, **NEWER)) == []
    assert planned(one, about("fact.b", "Waiting", LATER, **NEWER)) == []
    assert planned(one, made("fact.b", "Retries", LATER, **NEWER, more="anchors:\n  - path: b.py")) == []


def test_heading_without_text_is_a_difference() -> None:
    whole = about("fact.a", "Retries", f"{RETRIES}{MORE}\n\n## The port is 80")
    assert planned(whole, about("fact.b", "Retries", f"{RETRIES}\n\n## The port is 443", **NEWER)) == []
    assert planned(whole, about("fact.b", "Retries", f"{RETRIES}\n\n## The port is 80", **NEWER)) == SAID


def test_decision_supersedes_an_older_one_whatever_their_numbers() -> None:
    older = about("adr.a", "ADR-0004: Retries", RETRIES, kind="adr")
    newer = about("adr.b", "12. Retries", LATER, kind="adr", **NEWER)
    assert [step[2] for step in planned(older, newer)] == [("adr.b", "adr.a")]
    assert planned(older, about("fact.b", "Retries", LATER, **NEWER)) == []


def test_one_sided_keys_are_taken_over_lists_united_and_conflicts_listed() -> None:
    whole = about("fact.a", "Retries", RETRIES + MORE, more="market: Oslo\nareas:\n  - north")
    part = about("fact.b", "Retries", RETRIES, more="market: Bergen\nareas:\n  - west\ntimeframe: 2025")
    (step,) = steps_for(whole, part)
    assert '`market`: "Oslo" in `fact.a`, "Bergen" in `fact.b`' in step.evidence
    after = read_document(whole.path, (step.edits[0].after_text or "").encode()).document
    assert after is not None
    data = after.data()
    assert (data["market"], data["areas"], str(data["timeframe"])) == ("Oslo", ["north", "west"], "2025")
    assert data["metadata"]["merged"]["fact.b"]["market"] == "Bergen"


def test_apply_never_chooses_between_two_values() -> None:
    one = made("fact.a", "Retries", RETRIES, more="market: Oslo")
    other = made("fact.b", "Retries", RETRIES, more="market: Bergen\ntimeframe: 2025")
    (step,) = exact([one, other])
    assert (step.reach, step.targets) == ("report", ("fact.a", "fact.b"))
    assert step.evidence[-1] == '`market`: "Oslo" in `fact.a`, "Bergen" in `fact.b`'
    third = made("fact.c", "Retries", RETRIES, more="market: Oslo\nareas: [north]")
    assert [s.reach for s in exact([one, other, third])] == ["apply", "report"]


def test_one_text_under_two_titles_is_not_merged() -> None:
    """Placeholders: the text says nothing, so only the title says what the page is about."""
    guide = "\n\n".join(f"## Pattern {at}\n\nExplain here when to use this pattern." for at in range(20))
    stack, copy = made("fact.a", "Tech Stack Guide", guide), made("fact.b", "tech stack guide", guide)
    flows = made("fact.c", "Development Workflows", guide)
    (step,) = exact([stack, flows])
    assert (step.action, step.reach) == ("report", "report")
    assert "the titles or files of `fact.a` and `fact.c` may describe different things" in step.evidence
    merge, rest = exact([stack, copy, flows])
    assert (merge.action, merge.targets) == ("merge-duplicates", ("fact.a", "fact.b"))
    assert (rest.action, rest.targets) == ("report", ("fact.a", "fact.c"))


def test_rejected_pair_stays_rejected_until_a_text_changes() -> None:
    before = in_memory(PLANS / "contradiction" / "before")
    first = make_plan(plan_of(before, "merge_to_first"))
    rejected = {step.key for step in first.steps}
    assert first.proposals
    again = make_plan(plan_of(before, "merge_to_first"), rejected=rejected)
    assert (again.steps, again.decided) == ((), len(rejected))
    tagged = {path: data.replace(b"  - export\n", b"  - exports\n") for path, data in before.items()}
    assert make_plan(plan_of(tagged, "merge_to_first"), rejected=rejected).steps == ()
    changed = {path: data.replace(b"nightly job", b"weekly job") for path, data in before.items()}
    assert make_plan(plan_of(changed, "merge_to_first"), rejected=rejected).proposals


# A small vocabulary, so that every outcome is frequent.
SENTENCES = [
    RETRIES,
    LATER,
    "Workers must never take jobs from `queue.jobs` in the order in which they came.",
    "- Port: 8080",
    "## Context",
    "1. Stop it.\n2. Start it.",
    "```\nmake release\n```",
    "\u2028",
    "\ud800",
    "<!--",
    "é e\u0301",
    "",
]
texts = st.lists(st.sampled_from(SENTENCES) | st.text(max_size=20), max_size=6).map("\n\n".join)


@st.composite
def memories(draw: st.DrawFn) -> list[Document]:
    found = []
    for name in draw(st.lists(st.sampled_from("abcdef"), unique=True, max_size=6)):
        kind = draw(st.sampled_from(["fact", "fact", "fact", "playbook", "adr"]))
        title = draw(st.sampled_from(["Retries", "Jobs of workers"]))
        day = draw(st.integers(1, 3))
        body = draw(texts).replace("\x00", "").encode("utf-8", "ignore").decode()
        found.append(about(f"{kind}.{name}", title, body, kind=kind, updated=f"2026-01-0{day}"))
    return found


@law
@given(memories(), st.randoms(use_true_random=False))
def test_order_of_documents_does_not_matter(known: list[Document], shuffle: random.Random) -> None:
    expected = steps_for(*known)
    mixed = list(known)
    shuffle.shuffle(mixed)
    assert steps_for(*mixed) == expected


@law
@given(memories(), st.sampled_from(["merge_to_first", "keep_newest", "flag_for_review"]))
def test_similar_steps_are_never_applied_and_proposals_are_applicable(
    known: list[Document], strategy: str
) -> None:
    files = {one.path: one.text.encode() for one in known}
    for step in steps_for(*known, duplicates_strategy=strategy):
        assert step.reach in ("propose", "report")
        assert {name for name, _ in step.texts} == set(step.targets)
        assert strategy != "flag_for_review" or step.reach == "report"
        if step.reach == "propose":
            after = applied(files, [step])
            assert all(read_document(path, data).document is not None for path, data in after.items())
            rest = steps_for(*documents(after), duplicates_strategy=strategy)
            assert step.key not in {one.key for one in rest}


@law
@given(texts, st.integers(0, 5), st.sampled_from(["# Retries\n\n", "Retries\n===\n\n", ""]))
def test_equal_statements_have_equal_letters(body: str, at: int, heading: str) -> None:
    body = body.replace("\x00", "").encode("utf-8", "ignore").decode()
    moved = heading + "\n\n".join(body.split("\n\n")[at:] + body.split("\n\n")[:at])
    one, other = made("fact.a", "Retries", body), made("fact.b", "Retries", moved)
    said, other_said = (sorted(statements(each.body, each.title)) for each in (one, other))
    if said == other_said:
        assert traits_of(one).letters == traits_of(other).letters
        assert not gist(said) or exact([one, other])


@law
@given(st.text() | st.text("aAeEiI\u0130nN\u00e9\u6f22"))
def test_letters_are_counted_in_lower_case(text: str) -> None:
    document = made("fact.a", "Retries", text.replace("\x00", "").encode("utf-8", "ignore").decode())
    lowered = unicodedata.normalize("NFC", document.body).lower()
    assert traits_of(document).letters == " ".join(str(lowered.count(letter)) for letter in "aeinst")


@pytest.mark.parametrize(
    "bodies",
    [
        ["", "", ""],
        ["word", "word", "words"],
        ["<!--" * 5000, "<!-- -->" * 5000],
        ["a " * 200_000, "a " * 200_000 + "b"],
        ["```\n" + "x\n" * 50_000, "~~~\n" + "x\n" * 50_000 + "y"],
        ["| a | b |\n" * 20_000, "| a | b |\n" * 20_000 + "| c |"],
        ["漢字かな交じり文の文書です。設定は三回まで再試行する。" * 20, "漢字かな交じり文の文書です。" * 20],
        ["\u0130\u03a3\ufb01 \u202e" * 300, "\u0130\u03c2\ufb01 \u202e" * 300],
    ],
    ids=lambda bodies: bodies[0][:8].strip(),
)
def test_hostile_bodies_are_handled(bodies: Sequence[str]) -> None:
    known = [made(f"fact.{at}", "Title", body) for at, body in enumerate(bodies)]
    assert steps_for(*known) == steps_for(*known)


def test_id_claimed_twice_is_left_to_lint() -> None:
    assert planned(about("fact.a", "Retries", RETRIES), about("fact.a", "Retries", LATER, **NEWER)) == []
