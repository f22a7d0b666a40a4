"""Similar documents: hand-written pairs, golden plans and property tests.

Set ``WRITE_CASES=1`` to write ``pairs.found.txt``, and ``plan.json`` and ``after/`` of every golden
folder.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections import Counter
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.conftest import PROJECT, sealed_environment
from tests.garden.test_duplicates import Files, read_folder
from tests.garden.test_duplicates import documents as every_document
from tests.support.order_support import applied
from thunderus_mem.document.document import Document, read_document
from thunderus_mem.document.paths import is_archived
from thunderus_mem.document.statements import gist, statements
from thunderus_mem.garden import apply
from thunderus_mem.garden.plan import GardenInput, Step, make_plan
from thunderus_mem.garden.rules.duplicates import gates_of, joined, plan_duplicates, plan_similar
from thunderus_mem.garden.similar import pairs as pairs_module
from thunderus_mem.garden.similar.pairs import Gates, find_similar
from thunderus_mem.garden.similar.profile import profiles, sentences_of
from thunderus_mem.store import parallel
from thunderus_mem.store.config import Config

if TYPE_CHECKING:
    import random
    from collections.abc import Callable, Iterable, Mapping, Sequence

CASES = Path(__file__).parent.parent / "cases" / "similar"
PLANS = CASES / "plans"
MEMORY = ".thunderus/memory/semantic"
law = settings(deadline=None, max_examples=60, derandomize=True)


def made(doc_id: str, title: str, body: str, *, kind: str = "fact", updated: str = "2026-01-01") -> Document:
    header = [f"id: {doc_id}", f"title: {json.dumps(title)}", f"kind: {kind}", "tags: []"]
    header += [f"created: {updated}T00:00:00Z", f"updated: {updated}T00:00:00Z"]
    header += ["provenance:", "  events: []", "  patches: []", "  commits: []"]
    text = "---\n" + "\n".join(header) + "\n---\n\n" + body + "\n"
    path = f"{MEMORY}/FACTS/{doc_id}.md"
    document = read_document(path, text.encode("utf-8", "surrogatepass")).document
    assert document is not None
    return document


class Written(NamedTuple):
    """A hand-written pair and its class."""

    what: str
    name: str
    one: Document
    other: Document


def written() -> list[Written]:
    found = []
    for block in (CASES / "pairs.txt").read_text(encoding="utf-8").split("\n=== ")[1:]:
        head, _, texts = block.partition("\n")
        what, name = head.split()
        two = [text.strip().partition("\n") for text in texts.split("\n---\n")]
        assert len(two) == 2, head
        pair = [made(f"fact.{name}.{end}", two[at][0], two[at][2]) for at, end in enumerate("ab")]
        found.append(Written(what, name, *pair))
    return found


def test_labels_of_hand_written_pairs_match_golden_file() -> None:
    pairs = written()
    found = {
        (pair.first, pair.second): pair
        for pair in find_similar([one for pair in pairs for one in (pair.one, pair.other)])
    }
    lines = []
    for pair in pairs:
        one = found.pop((pair.one.id, pair.other.id), None)
        said = f"{one.tier}, {one.label}, {one.score:.2f}" if one else "not found"
        lines += [
            f"{pair.what} {pair.name}: {said}",
            *(f"    {line}" for line in (one.evidence if one else ())),
        ]
    lines += [f"besides: {first} {second}: {pair.label}" for (first, second), pair in found.items()]
    golden = CASES / "pairs.found.txt"
    if os.environ.get("WRITE_CASES"):
        golden.write_text("\n".join(lines) + "\n", encoding="utf-8")
    assert "\n".join(lines) + "\n" == golden.read_text(encoding="utf-8")


def test_hand_written_pairs_meet_targets() -> None:
    pairs = written()
    found = {
        (pair.first, pair.second): pair
        for pair in find_similar([one for pair in pairs for one in (pair.one, pair.other)])
    }
    total: Counter[str] = Counter()
    proposed: Counter[str] = Counter()
    questioned: Counter[str] = Counter()
    for pair in pairs:
        what = pair.what.partition("-")[0]
        total[what] += 1
        one = found.pop((pair.one.id, pair.other.id), None)
        proposed[what] += one is not None and one.proposed
        questioned[what] += one is not None and one.label == "possible contradiction"
    assert proposed["restatement"] >= 0.6 * total["restatement"]
    assert questioned["contradiction"] >= 0.8 * total["contradiction"]
    assert proposed["form"] <= 0.15 * total["form"]
    assert not found


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
    return plan_similar(GardenInput(tuple(documents(files))), Config(duplicates_strategy=strategy))


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


def test_one_report_lists_all_documents_of_a_form() -> None:
    (step,) = plan_of(in_memory(PLANS / "one-form" / "before"), "merge_to_first")
    assert step.targets == ("fact.invoices", "fact.login", "fact.mail", "fact.search")
    assert step.extent == "report"


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


# A small vocabulary, so that every tier and label is frequent.
SENTENCES = [
    "The exporter retries a failed batch 3 times before it gives up.",
    "The exporter retries a failed batch 5 times before it gives up.",
    "Before giving up, the exporter makes three attempts for each failed batch.",
    "Workers must take jobs from `queue.jobs` in the order in which they came.",
    "Workers must never take jobs from `queue.jobs` in the order in which they came.",
    "Jobs are picked from `queue.jobs` first come, first served.",
    "- Owner: Ana",
    "- Owner: Bo",
    "- Port: 8080",
    "## Context",
    "## Decision",
    "```\nmake release\n```",
    "",
]
HOSTILE = [
    "\x00",
    "<!--",
    "-->",
    "```",
    "~~~",
    "|",
    "---",
    "===",
    "\u2028",
    "\ufeff",
    "\ud800",
    "a" * 300,
    "1." * 40,
]
texts = st.lists(
    st.sampled_from(SENTENCES) | st.sampled_from(HOSTILE) | st.text(max_size=20), max_size=7
).map("\n\n".join)


@st.composite
def memories(draw: st.DrawFn) -> list[Document]:
    found = []
    for name in draw(st.lists(st.sampled_from("abcdef"), unique=True, max_size=6)):
        kind = draw(st.sampled_from(["fact", "fact", "playbook", "adr", "core", "recap"]))
        title = draw(st.sampled_from(["Retries", "Jobs of workers", "Card", "Retries of the exporter"]))
        day = draw(st.integers(1, 3))
        body = draw(texts).replace("\x00", "").encode("utf-8", "ignore").decode()
        found.append(made(f"{kind}.{name}", title, body, kind=kind, updated=f"2026-01-0{day}"))
    return found


@law
@given(memories(), st.randoms(use_true_random=False))
def test_order_of_documents_does_not_matter(known: list[Document], shuffle: random.Random) -> None:
    expected = find_similar(known)
    mixed = list(known)
    shuffle.shuffle(mixed)
    assert find_similar(mixed) == expected
    assert list(expected) == sorted(expected)
    assert all(pair.first < pair.second for pair in expected)


@law
@given(memories())
def test_cache_does_not_change_results(known: list[Document]) -> None:
    kept: dict[str, bytes] = {}
    expected = find_similar(known)
    assert find_similar(known, kept) == expected
    assert find_similar(known, kept) == expected
    torn = {key: data[: len(data) // 2] for key, data in kept.items()}
    assert find_similar(known, torn) == expected
    config = Config()
    assert plan_duplicates(known, config) == plan_duplicates(
        known, config, {one.path: gist(statements(one.body, one.title)) for one in known}
    )


@law
@given(memories())
def test_parallel_work_does_not_change_results(known: list[Document]) -> None:
    def torn(things: Sequence[Any], work: Callable[[Sequence[Any]], list[Any]]) -> list[Any]:
        """Half of the results come back (through JSON), half are lost."""
        answers = json.loads(json.dumps(work(things)))
        return [found if at % 2 else None for at, found in enumerate(answers)]

    alone = find_similar(known)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pairs_module, "_MANY", 1)
        patch.setattr(pairs_module, "spread", torn)
        patch.setattr(apply, "_MANY", 1)
        patch.setattr(parallel, "processors", lambda: 3)
        learned: dict[str, bytes] = {}
        apply.learn(known, learned)
        assert find_similar(known, dict(learned)) == alone
    computed: dict[str, bytes] = {}
    profiles(known, computed)
    assert learned == computed


def test_many_signatures_start_no_threads() -> None:
    """A process with threads cannot fork workers."""
    asked = (
        "import os; from thunderus_mem.garden.similar.profile import signatures\n"
        "assert len(signatures([{at, at + 1} for at in range(1000)])) == 1000\n"
        "assert len(os.listdir('/proc/self/task')) == 1"
    )
    subprocess.run([sys.executable, "-c", asked], check=True, timeout=60)


@law
@given(memories(), st.sampled_from([Gates(0.9, 0.95, 0.6), Gates(0.3, 0.5, 0.2)]))
def test_higher_gates_find_less_and_are_part_of_the_cache_key(known: list[Document], gates: Gates) -> None:
    kept: dict[str, bytes] = {}
    usual = {pair[:2] for pair in find_similar(known, kept)}
    found = find_similar(known, kept, gates=gates)
    assert found == find_similar(known, gates=gates)
    if gates > Gates():
        assert {pair[:2] for pair in found} <= usual
    assert all(pair.score >= min(gates) for pair in found)


def test_gates_come_from_the_settings() -> None:
    config = Config(duplicates_near=60, duplicates_contained=90, duplicates_restated=40)
    assert (gates_of(Config()), gates_of(config)) == (Gates(), Gates(0.6, 0.9, 0.4))
    text = " ".join(f"Word{at} of the exporter stands here." for at in range(9))
    known = (
        made("fact.a", "One", text),
        made("fact.b", "One", text.replace("here", "there", 1) + " It ends."),
    )
    found, none = (
        plan_similar(GardenInput(known), one)
        for one in (Config(), Config(duplicates_near=100, duplicates_contained=100, duplicates_restated=100))
    )
    assert len(found) == 1
    assert none == ()


@law
@given(memories())
def test_exact_duplicates_are_excluded(known: list[Document]) -> None:
    told = {one.id: gist(statements(one.body, one.title)) for one in known}
    for pair in find_similar(known):
        assert not told[pair.first] or told[pair.first] != told[pair.second]
        assert not pair.first.startswith("recap.")
        assert not pair.second.startswith("recap.")
        assert 0 < pair.score <= 1
        assert pair.proposed == (pair.label in ("same", "possible contradiction"))
        assert pair.evidence


@law
@given(memories(), st.sampled_from(["merge_to_first", "keep_newest", "flag_for_review"]))
def test_similar_steps_are_never_applied_and_proposals_are_applicable(
    known: list[Document], strategy: str
) -> None:
    steps = plan_similar(GardenInput(tuple(known)), Config(duplicates_strategy=strategy))
    files = {one.path: one.text.encode() for one in known}
    for step in steps:
        assert step.extent in ("propose", "report")
        assert step.label
        assert {name for name, _ in step.texts} == set(step.targets)
        assert strategy != "flag_for_review" or step.extent == "report"
        if step.extent == "propose":
            after = applied(files, [step])
            assert all(read_document(path, data).document is not None for path, data in after.items())
            rest = plan_similar(GardenInput(tuple(documents(after))), Config(duplicates_strategy=strategy))
            assert step.key not in {one.key for one in rest}


@law
@given(texts, texts)
def test_merged_document_has_all_statements_of_both(one: str, other: str) -> None:
    bodies = [body.replace("\x00", "").encode("utf-8", "ignore").decode() for body in (one, other)]
    stays, leaves = made("fact.a", "Stays", bodies[0]), made("fact.b", "Leaves", bodies[1])
    after = joined(stays, leaves)
    assert after is not None
    assert after.body.startswith(stays.body.rstrip("\r\n"))
    lines = [line.strip() for line in leaves.body.splitlines() if line.strip() and line.strip()[0] != "#"]
    held = after.body.splitlines()
    told = {sentence.plain for sentence in sentences_of(after.body)}
    for line in lines:
        said = {sentence.plain for sentence in sentences_of(line)}
        assert line in [each.strip() for each in held] or said <= told


def test_result_is_the_same_in_every_process(sealed: Path) -> None:
    code = (
        "from tests.garden.test_similar import written;"
        "from thunderus_mem.garden.similar.pairs import find_similar;"
        "print(find_similar([one for pair in written() for one in pair[2:]]))"
    )
    answers = set()
    for seed in ("0", "1", "77"):
        places = os.pathsep.join((str(PROJECT), str(PROJECT / "tests")))
        environment = sealed_environment(sealed) | {"PYTHONHASHSEED": seed, "PYTHONPATH": places}
        done = subprocess.run(
            [sys.executable, "-c", code],
            cwd=PROJECT,
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        )
        answers.add(done.stdout)
    assert len(answers) == 1


@pytest.mark.parametrize(
    "bodies",
    [
        ["", "", ""],
        ["word", "word", "words"],
        ["<!--" * 5000, "<!-- -->" * 5000],
        ["a " * 200_000, "a " * 200_000 + "b"],
        ["```\n" + "x\n" * 50_000, "~~~\n" + "x\n" * 50_000 + "y"],
        ["| a | b |\n" * 20_000, "| a | b |\n" * 20_000 + "| c |"],
        ["a: b\n" * 20_000, "a: c\n" * 20_000],
        [f"word{at} " * 3 for at in range(30)],
        [
            "漢字かな交じり文の文書です。設定は三回まで再試行する。" * 20,
            "漢字かな交じり文の文書です。設定は五回まで再試行する。" * 20,
        ],
        ["\u0130\u03a3\ufb01 \u202e" * 300, "\u0130\u03c2\ufb01 \u202e" * 300],
    ],
    ids=lambda bodies: bodies[0][:8].strip(),
)
def test_hostile_bodies_are_handled(bodies: Sequence[str]) -> None:
    known = [made(f"fact.{at}", f"Title {at}", body) for at, body in enumerate(bodies)]
    kept: dict[str, bytes] = {}
    assert find_similar(known, kept) == find_similar(known, kept)
    plan_similar(GardenInput(tuple(known)), Config())


def test_thousands_of_one_form_are_one_report_in_linear_time() -> None:
    body = (
        "- Owner: {}\n- Port: {}\n- Queue: q{}\n\n"
        + "Ask the owner before you change anything here, and keep it right. " * 3
    )
    known = [
        made(f"fact.{at}", f"Card {at}", body.format(f"team{at % 40}", 8000 + at, at)) for at in range(5000)
    ]
    (step,) = plan_similar(GardenInput(tuple(known)), Config())
    assert len(step.targets) == len(known)
    assert step.label == "same form"


def test_id_claimed_twice_is_left_to_lint() -> None:
    body = "The exporter retries a failed batch 3 times before it gives up and writes a line to the log."
    two = [made("fact.a", "Retries", body), made("fact.a", "Retries", body.replace("3", "5"))]
    assert find_similar(two) == ()
