"""The benchmark of search: its formats, measures and rivals are correct, and its questions are complete."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks import search_quality
from benchmarks.retrieval import sources
from benchmarks.retrieval.collection import (
    DEVELOPMENT,
    FORMER,
    PARTS,
    SEALED,
    UNANSWERABLE,
    Collection,
    Document,
    Question,
    errors,
)
from benchmarks.retrieval.engines import OURS, PLAIN, Ours, PlainFts5, Shown, WordMatch, passages, rivals
from benchmarks.retrieval.formats import (
    Selection,
    judgements,
    page,
    published_documents,
    published_questions,
    question_file,
    records,
)
from benchmarks.retrieval.measures import (
    area,
    before,
    calibration_error,
    found,
    ndcg,
    paired_interval,
    recall,
)
from benchmarks.retrieval.reporting import as_data, markdown, replaced
from benchmarks.retrieval.scoring import (
    ALIASED,
    ALWAYS,
    WITH_CLOSEST,
    Asked,
    aliased,
    answering,
    calibration,
    cases,
    current_first,
    difference,
    goals,
    misses,
    values,
)
from benchmarks.retrieval.stores import build, ids_of
from tests.support.git_repository import Repository

if TYPE_CHECKING:
    from pathlib import Path

FILES = sorted(name for name in os.listdir(sources.FOLDER) if name.endswith(".jsonl"))


def _file(name: str) -> tuple[Selection, list[Question]]:
    with open(os.path.join(sources.FOLDER, name), encoding="utf-8") as file:
        return question_file(file.read())


def test_there_are_enough_questions_of_every_sort() -> None:
    questions = [question for name in FILES for question in _file(name)[1]]
    unanswerable = [question.kind for question in questions if not question.relevant]
    assert len(FILES) >= 5
    assert len(questions) - len(unanswerable) >= 300
    assert all(unanswerable.count(kind) >= 120 for kind in UNANSWERABLE)
    assert len({question.id for question in questions}) == len(questions)


@pytest.mark.parametrize("name", FILES)
def test_questions_agree_with_their_selection(name: str) -> None:
    selection, questions = _file(name)
    paths = {path for question in questions for path in (*question.answers, *question.outdated)}
    assert selection.repository == name.removesuffix(".jsonl").replace("+", "/")
    assert len(selection.commit) == 40
    assert all(map(selection.takes, paths))
    named = tuple(Document(path, "", "") for path in paths)
    assert errors(Collection(name, DEVELOPMENT, False, named, tuple(questions))) == []


def test_repositories_are_divided_into_halves() -> None:
    halves = [sources.half_of(name.removesuffix(".jsonl").replace("+", "/")) for name in FILES]
    published = [where.half for where in sources.PUBLISHED.values()]
    assert halves.count(DEVELOPMENT) == halves.count(FORMER) == 3
    assert {*halves, *published} <= {*PARTS}
    assert sources.half_of("some/other") == ""


def test_questions_that_name_no_half_are_sealed() -> None:
    head = {"repository": "some/docs", "commit": "0" * 40, "folders": ["docs"], "suffixes": [".md"]}
    assert question_file(json.dumps(head))[0].half == SEALED
    assert question_file(json.dumps(head | {"half": FORMER}))[0].half == FORMER


def test_aliases_name_documents_of_their_collection() -> None:
    for name in FILES:
        selection, _ = _file(name)
        named = sources.aliases_of(selection.repository)
        assert all(map(selection.takes, named))
        assert all(len(set(aliases)) == 3 for aliases in named.values())
    assert len(sources.aliases_of("alphagov/govuk-developer-docs")) >= 40


def test_wrong_questions_are_reported() -> None:
    questions = (
        Question("a", "one", "fact", {"x.md": 3}),
        Question("a", "two", "fact", {"y.md": 1}),
        Question("b", "three", "near", {"x.md": 3}),
        Question("c", "four", "current", {"x.md": 3}),
    )
    assert errors(Collection("n", DEVELOPMENT, False, (Document("x.md", "", ""),), questions)) == [
        "a: id used twice",
        "a: y.md is not in the collection",
        "a: fact with 0 answers",
        "b: near with 1 answers",
        "c: no outdated document",
    ]


PUBLISHED = """.I 1
.T
A title in
two lines
.A
Someone
.W
A title in
two lines
and the text
.I 2
.T
Only a title
.X
1 5 1
"""


def test_published_sets_are_read() -> None:
    assert records(PUBLISHED)[1]["A"] == "Someone\n"
    documents = published_documents(PUBLISHED)
    assert documents == [
        Document("1", "A title in two lines", "and the text"),
        Document("2", "Only a title", ""),
    ]
    asked = ".I 001\n.W\nwhat is\nit\n.I 004\n.W\nand that\n"
    by_number = published_questions("S", asked, {1: {2, 9}, 4: set()}, documents, by_order=False)
    by_order = published_questions("S", asked, {2: {1}}, documents, by_order=True)
    assert by_number == [Question("S-1", "what is it", "S", {"2": 2})]
    assert by_order == [Question("S-4", "and that", "S", {"1": 2})]


def test_judgements_of_no_interest_are_skipped() -> None:
    text = "1 184 2 \n1 29 -1\n2 7 5\n\n 3  12\t0\t0.000000\n"
    assert judgements(text, graded=True) == {1: {184}, 3: {12}}
    assert judgements(text, graded=False) == {1: {184, 29}, 2: {7}, 3: {12}}


@pytest.mark.parametrize(
    ("path", "text", "title", "body"),
    [
        ("a/b.md", "---\ntitle: 'Named'\nx: 1\n---\n\nText\n", "Named", "Text"),
        ("a/b.md", "Text\n\n# Heading  one\n", "Heading one", "Text\n\n# Heading  one"),
        ("a/b.rst", "Heading\n=======\n\nText", "Heading", "Heading\n=======\n\nText"),
        ("a/b.html.md.erb", "Text", "b", "Text"),
        ("a/index.md", "Text", "a", "Text"),
    ],
)
def test_title_of_a_page(path: str, text: str, title: str, body: str) -> None:
    assert page(path, text) == Document(path, title, body)


def test_gain_rewards_better_answers_earlier() -> None:
    grades = {"a": 3, "b": 1}
    assert ndcg(["a", "b"], grades) == 1
    assert ndcg(["x", "a"], grades) == pytest.approx((7 / math.log2(3)) / (7 + 1 / math.log2(3)))
    assert ndcg(["x"] * 10 + ["a"], grades) == 0 == ndcg([], grades) == ndcg(["a"], {})


@given(st.dictionaries(st.sampled_from("abcdefgh"), st.integers(0, 3)), st.permutations("abcdefgh"))
def test_gain_is_highest_for_the_ideal_order(grades: dict[str, int], ranked: list[str]) -> None:
    ideal = sorted(ranked, key=lambda path: -grades.get(path, 0))
    assert 0 <= ndcg(ranked, grades) <= ndcg(ideal, grades) + 1e-12
    assert ndcg(ideal, grades) == pytest.approx(float(any(grades.values())))


def test_recall_and_first_hits() -> None:
    assert recall(["a", "x"], {"a", "b"}) == 0.5
    assert recall(["x"] * 10 + ["a"], {"a"}) == 0
    assert found(["x", "a"], {"a"}, 2)
    assert not found(["x", "a"], {"a"}, 1)


def test_current_document_must_be_above_every_outdated_one() -> None:
    assert before(["x", "new", "old"], {"new"}, {"old"})
    assert not before(["old", "new"], {"new"}, {"old"})
    assert not before(["x"], {"new"}, {"old"})


def test_area_counts_ties_as_half() -> None:
    assert area([1, 2], [0, 0.5]) == 1
    assert area([0], [1]) == 0
    assert area([1, 0], [0]) == 0.75


@given(
    st.lists(st.integers(0, 5), min_size=1, max_size=12), st.lists(st.integers(0, 5), min_size=1, max_size=12)
)
def test_area_is_the_share_of_ordered_pairs(positive: list[int], negative: list[int]) -> None:
    pairs = [(one > other) + (one == other) / 2 for one in positive for other in negative]
    assert area(positive, negative) == pytest.approx(sum(pairs) / len(pairs))


def test_calibration_compares_scores_with_relevance() -> None:
    assert calibration_error([(0.95, True), (0.85, False)]) == pytest.approx((0.05 + 0.85) / 2)
    assert calibration_error([(0.5, True), (0.5, False)]) == 0
    assert calibration_error([(1.0, True)]) == 0


def test_interval_is_paired() -> None:
    ours = [number / 10 for number in range(10)]
    low, high = paired_interval([value + 0.05 for value in ours], ours)
    assert low == pytest.approx(0.05) == high
    low, high = paired_interval(ours, list(reversed(ours)))
    assert low < 0 < high
    assert paired_interval(ours, list(reversed(ours))) == (low, high)


def test_passages_begin_at_headings() -> None:
    assert passages("Intro\n\n## One\ntext\n\nTwo\n---\nmore\n") == [
        "Intro",
        "## One\ntext",
        "Two\n---\nmore",
    ]


DOCUMENTS = (
    Document("docs/login.md", "Login", "Tokens expire after an hour. Tokens are signed.\n"),
    Document("docs/backup.md", "Backup", "Backups of the database run at night.\n"),
    Document("docs/backup-old.md", "Old backup", "Backups of the database ran on Sundays.\n"),
)
QUESTIONS = (
    Question("1", "when do tokens expire", "fact", {"docs/login.md": 3}),
    Question("2", "database backups at night", "current", {"docs/backup.md": 3}, ("docs/backup-old.md",)),
    Question("3", "apple pie recipe", "everyday", {}),
    Question("4", "zebra crossing tokenless", "near", {}),
)
SET = Collection("some/docs", DEVELOPMENT, False, DOCUMENTS, QUESTIONS)


@pytest.mark.parametrize("kind", [WordMatch, PlainFts5])
def test_rival_ranks_the_document_with_most_words_first(kind: type[WordMatch | PlainFts5]) -> None:
    engine = kind(DOCUMENTS)
    assert engine.ask("when do tokens expire")[0].path == "docs/login.md"
    assert [one.path for one in engine.ask("backups night")] == ["docs/backup.md", "docs/backup-old.md"]
    assert engine.ask("zebra") == engine.ask("?!") == []


@pytest.mark.parametrize("engine", rivals(DOCUMENTS), ids=lambda engine: str(engine.name))
def test_installed_rival_answers(engine: WordMatch) -> None:
    assert engine.ask("database backups NOT (at: night*")[0].path == "docs/backup.md"
    assert engine.ask("zebra") == []


def test_store_has_every_document_and_its_successor_first(tmp_path: Path) -> None:
    plain = Ours(build(str(tmp_path / "plain"), DOCUMENTS))
    linked = build(str(tmp_path / "linked"), DOCUMENTS, superseded=search_quality.replaced(QUESTIONS))
    assert plain.ask("when do tokens expire")[0].path == "docs/login.md"
    assert Ours(linked).ask("database backups ran on sundays")[0].path == "docs/backup.md"
    aliases = {"docs/login.md": ["sign in duration"]}
    assert Ours(build(str(tmp_path / "named"), DOCUMENTS, aliases=aliases)).ask("sign in duration")


def test_ids_of_documents_are_distinct() -> None:
    paths = ["a/b.md", "a-b.md", "a_b.md", "x" * 80 + "/b.md", "y" + "x" * 80 + "/b.md"]
    ids = ids_of(Document(path, "", "") for path in paths)
    assert list(ids) == paths
    assert len(set(ids.values())) == len(paths)
    assert {ids["a/b.md"], ids["a-b.md"]} == {"fact.a-b-md", "fact.a-b-md-2"}


def test_words_shared_with_the_best_answer() -> None:
    shared = search_quality.shared_words(SET)
    assert shared == {"1": 1.0, "2": 1.0, "3": 0.0, "4": 0.0}


def _asked(ours: dict[str, list[Shown]], theirs: dict[str, list[Shown]]) -> list[Asked]:
    return [Asked(SET, {OURS: ours, ALWAYS: ours, PLAIN: theirs}, {"1": 0.5, "2": 0.0})]


SHOWN = {
    "1": [Shown("docs/login.md", 0.9)],
    "2": [Shown("docs/backup.md", 0.3, closest=True)],
    "3": [],
    "4": [Shown("docs/login.md", 0.2, closest=True)],
}
PLAIN_SHOWN = {
    "1": [Shown("docs/login.md", 2.0)],
    "2": [Shown("docs/backup-old.md", 2.0), Shown("docs/backup.md", 1.0)],
    "3": [],
    "4": [Shown("docs/login.md", 3.0)],
}


def test_closest_hits_count_against_the_engine_either_way() -> None:
    chosen = cases(_asked(SHOWN, PLAIN_SHOWN), DEVELOPMENT, public=False)
    said = answering(chosen)
    assert (said.shares.hits, said.shares.total) == (1, 1)
    assert (said.right.hits, said.right.total) == (1, 2)
    assert (said.everyday.hits, said.near.hits, said.all_false.hits) == (0, 1, 1)
    assert said.false_without_closest.hits == 0
    assert said.area == 1
    recalls = {engine: values(chosen, "recall@10", engine) for engine in (OURS, WITH_CLOSEST, PLAIN)}
    assert recalls == {OURS: [1, 0], WITH_CLOSEST: [1, 1], PLAIN: [1, 1]}
    assert difference(chosen, "recall@10", OURS, PLAIN) == (-0.5, -1, 0)
    assert calibration(chosen, 1) == pytest.approx((0.1 + 0.7 + 0.2) / 3)


def test_current_decision_is_judged_where_it_or_the_outdated_one_is_listed() -> None:
    chosen = cases(_asked(SHOWN, PLAIN_SHOWN), DEVELOPMENT, public=False)
    assert current_first(chosen, OURS).total == 0
    assert (current_first(chosen, PLAIN).hits, current_first(chosen, PLAIN).total) == (0, 1)


def test_missed_goals_and_errors_are_listed() -> None:
    asked = _asked(SHOWN, PLAIN_SHOWN)
    chosen = cases(asked, DEVELOPMENT, public=False)
    met = {goal.name: goal.met for goal in goals(chosen, [])}
    assert not met["false answers"]
    assert met["AUC of the score"]
    assert [line.split()[1] for line in misses(chosen)] == ["2", "4"]
    assert "| false answers | ≤ 5 % |" in markdown(asked)
    assert "docs/backup.md" not in markdown(asked)
    assert "docs/backup.md" in markdown(asked, examples=True)
    assert as_data(asked)[DEVELOPMENT]["goals"]


def test_aliases_are_compared_with_the_same_documents_without() -> None:
    shown = {OURS: PLAIN_SHOWN, PLAIN: PLAIN_SHOWN, ALIASED: SHOWN}
    chosen = cases([Asked(SET, shown, {})], DEVELOPMENT, public=False)
    assert aliased(chosen) == []
    (all_kinds,) = aliased(chosen, "")
    assert (all_kinds.questions, all_kinds.values["recall@10"]) == (2, (1, 0.5))
    assert all_kinds.values["false answers"] == (0.5, 0.5)


def test_errors_of_the_sealed_half_are_not_shown() -> None:
    asked = [one._replace(collection=SET._replace(half=SEALED)) for one in _asked(SHOWN, PLAIN_SHOWN)]
    assert "docs/backup.md" not in markdown(asked, examples=True)


def test_sealed_repositories_are_skipped_unless_asked_for(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    halves = {"some/docs": DEVELOPMENT, "some/former": FORMER, "some/sealed": SEALED, "no/questions": ""}
    monkeypatch.setattr(search_quality, "half_of", halves.__getitem__)
    names = [f"/x/{name.replace('/', '+')}/repo" for name in halves]
    assert search_quality.chosen(names, sealed=False) == names[:2]
    assert search_quality.chosen(names, sealed=True) == names[:3]
    assert "some/sealed: skipped; it is sealed" in capsys.readouterr().err


def test_tables_of_the_page_are_replaced() -> None:
    asked = _asked(SHOWN, PLAIN_SHOWN)
    page = "Text.\n<!-- begin goals -->\nold\n<!-- end goals -->\nMore.\n"
    new = replaced(page, asked)
    assert new.startswith("Text.\n<!-- begin goals -->\n\n| measure |")
    assert new.endswith("\n<!-- end goals -->\nMore.\n")
    assert "old" not in new
    assert replaced(new, asked) == new


def test_documents_come_from_the_commit_of_the_questions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repository = Repository(tmp_path / "some+docs", tmp_path / "home").init()
    for document in DOCUMENTS:
        repository.write(document.path, f"# {document.title}\n\n{document.body}")
    repository.write("src/code.md", "# Code\n")
    commit = repository.commit("documents")
    repository.write("docs/login.md", "# Changed\n")
    repository.commit("change")
    head = {"repository": "some/docs", "commit": commit, "folders": ["docs"], "suffixes": [".md"]}
    head["half"] = DEVELOPMENT
    lines: list[object] = [head]
    lines += [
        {
            "id": one.id,
            "question": one.text,
            "kind": one.kind,
            "answers": one.answers,
            "outdated": one.outdated,
        }
        for one in QUESTIONS
    ]
    (tmp_path / "some+docs.jsonl").write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    monkeypatch.setattr(sources, "FOLDER", str(tmp_path))
    taken = sources.collection(str(tmp_path / "some+docs"))
    assert [(one.path, one.title) for one in taken.documents] == sorted(
        (one.path, one.title) for one in DOCUMENTS
    )
    assert taken.questions == QUESTIONS
    (tmp_path / "page.md").write_text("<!-- begin collections -->\n<!-- end collections -->\n")
    monkeypatch.setattr(search_quality, "PAGE", str(tmp_path / "page.md"))
    given = [str(tmp_path / "some+docs"), "--work", str(tmp_path / "work"), "--page"]
    assert search_quality.main(given) in (0, 1)
    assert "| some/docs | development |" in (tmp_path / "page.md").read_text()


def test_the_benchmark_starts_as_a_script() -> None:
    project = search_quality.PROJECT
    done = subprocess.run(
        [sys.executable, "benchmarks/search_quality.py", "--help"],
        cwd=project,
        capture_output=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, b"")
