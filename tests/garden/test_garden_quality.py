"""The benchmark of the duplicate finder: its pairs, mutations and counts are correct."""

from __future__ import annotations

import json
import random
from typing import TYPE_CHECKING, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks import garden_quality
from benchmarks.quality import corpora, layout, mutants
from benchmarks.quality.documents import document
from benchmarks.quality.finder import ask
from benchmarks.quality.pools import WRITTEN, as_they_are, exact_pool, mutant_pool, near_pool, written_pool
from benchmarks.quality.prose import blocks
from benchmarks.quality.reporting import as_data, markdown
from benchmarks.quality.scoring import Asked, densities, labels, misses, passed, rows
from benchmarks.quality.trials import CONTRADICTION, CONTRADICTS, FORM, RELATED, RESTATEMENT, Seen, Told
from benchmarks.quality.word_overlap import alike, overlap, word_overlap
from benchmarks.quality.written import DISAGREEMENTS, GRADES, SPLITS, load, right_split, written
from tests.support.git_repository import Repository
from thunderus_mem.document.statements import same_text

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from thunderus_mem.document.document import Document

ENTRIES = load()
DOCUMENTS, TRIALS = written(ENTRIES)


class _Pair(NamedTuple):
    first: str
    second: str
    tier: str
    label: str
    proposed: bool


def _twins(documents: Sequence[Document]) -> list[_Pair]:
    """A finder that compares titles only, to check how its results are counted."""
    first: dict[str, str] = {}
    found = []
    for one in documents:
        other = first.setdefault(one.title, one.id)
        if other != one.id:
            found.append(_Pair(other, one.id, "near", CONTRADICTS if "not" in one.body else "same", True))
    return found


def test_every_class_has_enough_pairs() -> None:
    of = [(trial.what, trial.by) for trial in TRIALS]
    assert len(TRIALS) >= 240
    assert {what for what, _ in of} == {RESTATEMENT, CONTRADICTION, FORM, RELATED}
    assert all(of.count((RESTATEMENT, grade)) >= 24 for grade in GRADES)
    assert all(of.count((CONTRADICTION, kind)) >= 5 for kind in DISAGREEMENTS)
    assert {by for what, by in of if what == CONTRADICTION} == set(DISAGREEMENTS)
    assert sum(what == CONTRADICTION for what, _ in of) >= 50
    assert sum(what == FORM for what, _ in of) >= 40
    assert len({by for what, by in of if what == FORM}) >= 10
    assert sum(what == RELATED for what, _ in of) >= 40


def test_ids_are_unique() -> None:
    ids = [entry.id for entry in ENTRIES]
    assert len(set(ids)) == len(ids)
    assert len({each.id for each in DOCUMENTS}) == len(DOCUMENTS)


def test_split_of_an_entry_follows_from_its_id() -> None:
    assert {entry.id: entry.split for entry in ENTRIES} == right_split(ENTRIES)


def test_splits_are_halves() -> None:
    for kind in (RESTATEMENT, CONTRADICTION, FORM, RELATED):
        sizes = [sum(t.what == kind and t.split == split for t in TRIALS) for split in SPLITS]
        assert abs(sizes[0] - sizes[1]) <= 6


def test_no_pair_is_an_exact_duplicate() -> None:
    by_id = {each.id: each for each in DOCUMENTS}
    assert [trial.how for trial in TRIALS if same_text(by_id[trial.one], by_id[trial.other])] == []


def test_texts_have_realistic_length() -> None:
    sizes = sorted(len(each.body.split()) for each in DOCUMENTS)
    assert sizes[0] >= 12
    assert sizes[-1] <= 150


_WORDS = st.frozensets(st.sampled_from("abcdefghijkl"), max_size=9)


@given(st.dictionaries(st.text("xyz", min_size=1, max_size=3), _WORDS), st.sampled_from([0.5, 0.6, 0.8]))
def test_other_method_agrees_with_comparing_all_pairs(words: dict[str, frozenset[str]], limit: float) -> None:
    every = {
        (one, other)
        for one in words
        for other in words
        if one < other and overlap(words[one], words[other]) > limit
    }
    assert alike(words, limit) == every


def test_other_method_merges_only_facts() -> None:
    body = " ".join(f"word{at}" for at in range(200))
    for kind, count in (("fact", 1), ("adr", 0)):
        pair = [document(f"{kind}.{name}", "Words", f"{body} {name}.", kind=kind) for name in ("one", "two")]
        assert len(word_overlap(pair).merged) == count


@given(st.text("ab \n-#`.*1T", max_size=80))
def test_joined_blocks_equal_the_text(body: str) -> None:
    assert "\n".join(line for block in blocks(body) for line in block.lines) == body


PAGE = """# Rolling out

The old version stays for a day. Nobody has to wait for it any longer.

- Deploy at 14:30 with 3 replicas of `gateway`.
- The job must not run twice

Then look at the dashboard. Ask the team before anything else.
"""


@pytest.mark.parametrize("how", layout.LAYOUTS)
def test_layout_changes_text_but_not_statements(how: str) -> None:
    other = layout.laid_out(PAGE, how, random.Random(1))
    assert other != PAGE
    assert same_text(document("fact.a", "Rolling out", PAGE), document("fact.b", "Rolling out", other))


def test_no_layout_changes_statements_of_written_documents() -> None:
    for one in DOCUMENTS:
        for how in layout.LAYOUTS if layout.plain(one.body) and one.kind == "fact" else ():
            other = document(f"{one.id}-b", one.title, layout.laid_out(one.body, how, random.Random(how)))
            assert same_text(one, other), (one.id, how)


@pytest.mark.parametrize("change", mutants.CHANGES)
def test_mutant_differs_in_one_line(change: str) -> None:
    found = mutants.mutant(PAGE, change, ("`edge`", "`gateway`"), random.Random(3))
    assert found is not None
    before, after = PAGE.split("\n"), found.body.split("\n")
    changed = [at for at, line in enumerate(before) if line != after[at]]
    assert len(before) == len(after)
    assert [before[at] for at in changed] == [found.line]
    assert found.new != found.old


def test_text_without_a_number_has_no_number_mutant() -> None:
    assert mutants.mutant("Nothing to count here.", mutants.NUMBER, (), random.Random(1)) is None


def test_link_targets_are_not_mutated() -> None:
    body = "See [the page](https://example.org/a 12 b) first."
    assert mutants.mutant(body, mutants.NUMBER, (), random.Random(1)) is None


def _page(at: int, body: str = PAGE) -> corpora.Page:
    body = body.replace("# Rolling out", f"# Rolling out {at}").replace("day", f"day{at} {at * 7919}")
    older = corpora.Version("revision", "abc", f"Rolling out {at}", body.replace("Nobody", "No one"), 0.03)
    return corpora.Page("some/place", f"docs/{at}.md", f"Rolling out {at}", body.strip("\n"), older)


PAGES = [_page(at) for at in range(12)]


def test_each_pool_contains_pages_and_their_variants() -> None:
    near, changed = near_pool(PAGES), mutant_pool(PAGES, "1")
    assert len(near.documents) == len(changed.documents) == 24
    assert {trial.by for trial in near.trials} == {"2–5 %"}
    assert {trial.by for trial in changed.trials} == {"number", "negation"}, "no other name to put in"
    for pool in (near, changed):
        ids = {each.id for each in pool.documents}
        assert len(ids) == 24
        assert all({trial.one, trial.other} <= ids for trial in pool.trials)


def test_exact_tier_finds_layouts_but_no_mutants() -> None:
    exact, changed = exact_pool(PAGES, "1"), mutant_pool(PAGES, "1")
    assert {trial.by for trial in exact.trials} == set(layout.LAYOUTS)
    seen = ask(lambda documents: (), exact.documents)
    assert seen.merged == {trial.key for trial in exact.trials}
    assert ask(lambda documents: (), changed.documents) == Seen({}, frozenset())


def test_counts_match_manual_counts() -> None:
    pool = near_pool(PAGES[:4])
    keys = [trial.key for trial in pool.trials]
    told = {
        keys[0]: Told("same", "near", True),
        keys[1]: Told("same form", "near", False),
        (keys[0][0], keys[1][0]): Told("related", "paraphrase", True),
    }
    asked = [Asked(pool, Seen(told, frozenset()), Seen({}, frozenset(keys[:3])))]
    row, merged = [row for row in rows(asked) if not row.part]
    assert (row.measure, row.ours, row.theirs) == ("near duplicates proposed", (1, 4), (3, 4))
    assert (row.met, merged.met) == (None, None)
    (density,) = densities([asked[0]._replace(pool=pool._replace(name=WRITTEN))])
    assert (density.documents, density.planted, density.others, density.theirs) == (8, 1, 1, 3)
    assert labels(asked) == {"near": {"same": 1, "same form, not proposed": 1, "not reported": 2}}


def test_mutant_called_the_same_fails_a_target_and_is_printed_unless_sealed() -> None:
    pool = mutant_pool(PAGES[:2], "1")
    key = pool.trials[0].key
    for sealed in (False, True):
        half = garden_quality.halved(pool, frozenset([pool.trials[0].origin] if sealed else []))
        asked = [Asked(half, Seen({key: Told("same", "similar", True)}, frozenset()), Seen({}, frozenset()))]
        assert not passed(rows(asked), densities(asked))
        parts = {row.part for row in rows(asked) if row.measure == "mutants labelled"}
        assert ("sealed" if sealed else "development") in parts
        assert bool(misses(asked)) is not sealed


def test_merge_of_distinct_documents_fails_a_target() -> None:
    pool = written_pool(ENTRIES, ())
    key = next(trial.key for trial in pool.trials if trial.what == CONTRADICTION)
    asked = [Asked(pool, Seen({}, frozenset([key])), Seen({}, frozenset()))]
    row = next(row for row in rows(asked) if row.measure == "contradiction merged by --apply")
    assert (row.ours.hits, row.met) == (1, False)


def test_proposals_in_real_text_count_for_the_target() -> None:
    pool = as_they_are("some/place", PAGES)
    pairs = [(PAGES[0].id, page.id) for page in PAGES[1:]]
    for count, met in ((0, True), (1, False)):
        told = {tuple(sorted(pair)): Told("same", "near", True) for pair in pairs[:count]}
        whole = densities([Asked(pool, Seen(told, frozenset()), Seen({}, frozenset()))])[-1]  # type: ignore[arg-type]
        assert (whole.pool, whole.others, whole.met) == ("all repositories", count, met)


def test_held_out_pairs_are_not_printed() -> None:
    pool = written_pool(ENTRIES, ())
    merged = frozenset(trial.key for trial in pool.trials)
    asked = [Asked(pool, Seen({}, merged), Seen({}, frozenset()))]
    shown = [trial.split for cases in misses(asked).values() for trial, _ in cases]
    assert set(shown) == {"dev"}


def test_report_is_written_as_text_and_json() -> None:
    pool = near_pool(PAGES)
    asked = [Asked(pool, ask(_twins, pool.documents), word_overlap(pool.documents))]
    text, data = markdown(asked, examples=2), json.loads(json.dumps(as_data(asked)))
    assert "| near duplicates proposed | 100.00 %" in text
    assert data["passed"] is True
    assert data["measures"][0]["ours"]["total"] == 12


def test_smoke_run_uses_only_the_written_pairs(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(garden_quality, "product_finder", lambda: _twins)
    assert garden_quality.main(["--smoke", "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert {each["measure"] for each in data["measures"]} >= {"restatements proposed", "same form proposed"}
    (density,) = data["proposals"]
    assert density["documents"] == len(DOCUMENTS)


def test_product_results_for_the_written_pairs(capsys: pytest.CaptureFixture[str]) -> None:
    garden_quality.main(["--smoke", "--json"])
    data = json.loads(capsys.readouterr().out)
    shares = {
        each["measure"]: each["ours"]["hits"] / each["ours"]["total"]
        for each in data["measures"]
        if not each["part"]
    }
    assert [name for name, share in shares.items() if name.endswith("merged by --apply") and share] == []
    assert shares["contradictions labelled"] >= 0.6
    assert shares["same form proposed"] == shares["related proposed"] == 0


def test_proposals_among_real_pages_are_counted_separately() -> None:
    pool = written_pool(ENTRIES, PAGES)
    own, key = pool.documents[0].id, pool.trials[0].key
    pairs = [key, tuple(sorted((own, PAGES[0].id))), (PAGES[0].id, PAGES[1].id)]
    seen = Seen(dict.fromkeys(pairs, Told("same", "near", True)), frozenset())  # type: ignore[arg-type]
    with_own, real = densities([Asked(pool, seen, Seen({}, frozenset()))])
    assert (with_own.documents, with_own.planted, with_own.others) == (len(DOCUMENTS), 1, 1)
    assert (real.documents, real.planted, real.others) == (len(PAGES), 0, 1)


def test_pages_and_earlier_versions_are_read_from_git(tmp_path: Path) -> None:
    repository = Repository(tmp_path / "some+place", tmp_path / "home").init()
    words = " ".join(f"word{at}" for at in range(60))
    header = "---\ntitle: The first page\n---\n"
    repository.write("docs/a.md", f"{header}{words} and so on.\n")
    repository.write("docs/b.md", "Too short.\n")
    repository.write(
        "website/versioned_docs/version-1.0/c.md", f"# Third\n\n{words} in the old days, then.\n"
    )
    repository.write("docs/c.md", f"# Third\n\n{words} in the new days, then.\n")
    repository.commit("first")
    repository.write("docs/a.md", f"{header}{words} and so forth, as ever.\n")
    repository.commit("second")
    first, third = corpora.pages(str(repository.root), random.Random(1), 10)
    assert (first.corpus, first.path, first.title) == ("some/place", "docs/a.md", "The first page")
    assert first.body == f"{words} and so forth, as ever."
    assert first.earlier is not None
    assert first.earlier.origin == "revision"
    assert first.earlier.body == f"{words} and so on."
    assert 0.01 <= first.earlier.change <= 0.2
    assert third.earlier is not None
    assert (third.earlier.origin, third.earlier.source) == ("version", "1.0")


def test_share_of_changed_words() -> None:
    assert corpora.word_change("a b c d e f g h i j", "a b c d e f g h i j") == 0
    assert corpora.word_change("a b c d e f g h i j", "a b c d X f g h i j") == pytest.approx(0.1)
    assert corpora.word_change("a b c", "x y z") == 1


def test_repositories_or_smoke_is_required() -> None:
    with pytest.raises(SystemExit):
        garden_quality.options_of([])
    with pytest.raises(SystemExit):
        garden_quality.options_of(["--smoke", "--repositories", "x"])
