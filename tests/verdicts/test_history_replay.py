"""The ground truth for verdicts: each class appears in a small real history and is distinguished."""

from __future__ import annotations

import random
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from benchmarks.replay.baselines import BLOB, DATE, LOG, stale_by, stale_by_log
from benchmarks.replay.clone import Clone
from benchmarks.replay.judging import SITUATIONS
from benchmarks.replay.moving import moves
from benchmarks.replay.mutating import mutate
from benchmarks.replay.read_python import PythonReader
from benchmarks.replay.read_rust import dump, parse
from benchmarks.replay.reporting import About, Findings, as_data, markdown
from benchmarks.replay.scoring import (
    FALSE_ALARM,
    MISSED,
    NO_ANSWER,
    NOT_SCORED,
    RIGHT,
    WRONG_PLACE,
    Given,
    Rate,
    outcome,
    rates,
    right,
)
from benchmarks.replay.truth import CLASSES, Expected, Library, Span, expected
from benchmarks.replay.walking import Walk, cases_of, sown, walk
from tests.conftest import PROJECT
from tests.support.git_repository import Repository

if TYPE_CHECKING:
    from benchmarks.replay.scoring import Case
    from benchmarks.replay.symbols import Symbol

_BODY = """
    total = []
    for name, value in sorted(rows.items()):
        if value is not None and name not in skipped:
            total.append((name, value * {number} + {number}))
    return dict(total)
"""


def _function(name: str, number: int) -> str:
    return f"def {name}(rows, skipped=()):{_BODY.format(number=number)}\n"


BEFORE = {
    "still.py": _function("still", 1),
    "mixed.py": "".join(
        _function(name, at)
        for at, name in enumerate(("near", "looks", "real", "gone", "old_name", "back"), 10)
    ),
    "old.py": _function("carried", 20) + _function("rewritten", 21) + _function("padding", 22),
    "from.py": _function("travels", 30) + _function("stays", 31),
    "twin.py": _function("twin", 40) + "NAME = 1\n",
    "bad.py": _function("hidden", 50),
}
AFTER = {
    "still.py": BEFORE["still.py"],
    "mixed.py": _function("near", 10)
    + _function("looks", 11).replace("    total = []\n", '    """Says."""\n    total = []  # all\n')
    + _function("real", 99)
    + _function("new_name", 14)
    + _function("back", 15),
    "new.py": _function("carried", 20) + _function("rewritten", 98) + _function("padding", 22),
    "from.py": _function("stays", 31),
    "to.py": "import os\n\n\n" + _function("travels", 30),
    "twin.py": "NAME = 1\n",
    "one.py": _function("twin", 40),
    "two.py": _function("twin", 40),
    "bad.py": "def hidden(:\n",
}
TRUTH = {
    "still.py#still": "untouched",
    "mixed.py#near": "file touched",
    "mixed.py#looks": "cosmetic",
    "mixed.py#real": "edited",
    "mixed.py#gone": "deleted",
    "mixed.py#old_name": "symbol renamed",
    "mixed.py#back": "reverted",
    "old.py#carried": "file renamed",
    "old.py#rewritten": "renamed and edited",
    "old.py#padding": "file renamed",
    "from.py#travels": "moved",
    "from.py#stays": "file touched",
    "twin.py#twin": "unclear",
    "twin.py#NAME": "file touched",
    "bad.py#hidden": "unreadable",
}


def _commit(repo: Repository, files: dict[str, str], message: str) -> str:
    for old in repo.root.glob("*.py"):
        old.unlink()
    for path, text in files.items():
        repo.write(path, text)
    return repo.commit(message)


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Library:
    tmp_path = tmp_path_factory.mktemp("replay")
    repo = Repository(tmp_path / "given", tmp_path / "home").init()
    _commit(repo, {"readme.py": "x = 1\n"}, "first")
    _commit(repo, BEFORE, "A")
    between = BEFORE | {"mixed.py": BEFORE["mixed.py"].replace(_function("back", 15), _function("back", 77))}
    _commit(repo, between, "between")
    _commit(repo, AFTER, "B")
    return Library(Clone(str(repo.root), str(tmp_path / "scratch"), "tiny"), [PythonReader()])


@pytest.fixture(scope="module")
def span(library: Library) -> Span:
    line = library.clone.line()
    return Span(library, line[1], line[3])


def _symbols(span: Span) -> list[tuple[str, Symbol]]:
    return [(path, one) for path, blob in span.before.items() for one in span.library.one(path, blob).symbols]


def _of(span: Span, place: str) -> tuple[str, Symbol]:
    return next((path, one) for path, one in _symbols(span) if f"{path}#{one.name}" == place)


@pytest.fixture(scope="module")
def cases(span: Span) -> list[Case]:
    planted, not_seen = sown(span.library, span.before, [(path, one, True) for path, one in _symbols(span)])
    assert not_seen == []
    return cases_of("walk", span, planted, 2, SITUATIONS, log_lines=99)


def test_truth_distinguishes_every_class(span: Span) -> None:
    found = {
        f"{path}#{one.name}": expected(span, path, one, small=False).kind for path, one in _symbols(span)
    }
    assert found == TRUTH
    assert {*TRUTH.values()} == {*CLASSES}


def test_truth_has_the_places(span: Span) -> None:
    assert expected(span, *_of(span, "from.py#travels"), small=False).places == (("to.py", "travels"),)
    assert expected(span, *_of(span, "old.py#carried"), small=False).places == (("new.py", "carried"),)
    assert expected(span, *_of(span, "mixed.py#old_name"), small=False).places == (("mixed.py", "new_name"),)
    assert len(expected(span, *_of(span, "twin.py#twin"), small=False).places) == 2


def test_small_body_under_another_name_is_unclear(span: Span) -> None:
    assert expected(span, *_of(span, "mixed.py#old_name"), small=True).kind == "unclear"
    assert expected(span, *_of(span, "from.py#travels"), small=True).kind == "moved"


def test_verdicts_agree_in_every_situation(cases: list[Case]) -> None:
    for case in cases:
        for situation, given in case.given.items():
            if case.truth.kind == "unreadable":
                with_text = situation == "history"
                assert given.status == ("changed" if with_text else "unknown"), (situation, given)
            elif case.truth.kind != "unclear":
                found = outcome(case.path, case.symbol, case.truth, given)
                assert found == RIGHT, (situation, case.path, case.symbol, case.truth, given)


def test_baselines_flag_by_file_and_by_line(span: Span) -> None:
    touched = span.library.clone.touched(span.a, span.b)
    flags = {}
    for place in TRUTH:
        path, symbol = _of(span, place)
        truth = expected(span, path, symbol, small=False)
        flags[place] = stale_by(span, touched, path) | {LOG: stale_by_log(span, path, symbol, truth)}
    assert flags["still.py#still"] == {BLOB: False, DATE: False, LOG: False}
    assert flags["mixed.py#near"] == {BLOB: True, DATE: True, LOG: False}
    assert flags["mixed.py#looks"] == {BLOB: True, DATE: True, LOG: True}
    assert flags["old.py#carried"] == {BLOB: True, DATE: True, LOG: True}


@pytest.mark.parametrize(
    ("kind", "given", "how"),
    [
        ("edited", Given("changed", "a.py", "f"), RIGHT),
        ("edited", Given("verified", "a.py", "f"), MISSED),
        ("deleted", Given("moved", "b.py", "f"), MISSED),
        ("cosmetic", Given("changed", "a.py", "f"), FALSE_ALARM),
        ("cosmetic", Given("verified", "a.py", "f"), RIGHT),
        ("cosmetic", Given("moved", "b.py", "f"), WRONG_PLACE),
        ("moved", Given("missing"), FALSE_ALARM),
        ("moved", Given("moved", "b.py", "f"), RIGHT),
        ("moved", Given("moved", "c.py", "f"), WRONG_PLACE),
        ("moved", Given("verified", "b.py", "f"), WRONG_PLACE),
        ("edited", Given("unknown"), NO_ANSWER),
        ("unclear", Given("missing"), NOT_SCORED),
    ],
)
def test_outcome_of_a_verdict(kind: str, given: Given, how: str) -> None:
    assert outcome("a.py", "f", Expected(kind, (("b.py", "f"),)), given) == how


def test_rates_have_confidence_intervals(cases: list[Case]) -> None:
    wrong = [case for case in cases if case.truth.kind == "cosmetic"]
    flagged = [case._replace(given={"history": Given("changed")}) for case in wrong]
    assert [str(rate) for rate in rates(flagged, lambda case: case.given["history"].stale).values()] == [
        "0.00 % (0.00–79.35), 0/1",
        "–",
        "100.00 % (20.65–100.00), 1/1",
        "100.00 % (20.65–100.00), 1/1",
    ]
    assert right(cases, "history", ["moved"]) == Rate(1, 1)
    assert Rate(0, 1000).interval == pytest.approx((0.0, 0.003827), abs=1e-6)
    assert Rate(990, 1000).interval == pytest.approx((0.98169, 0.99456), abs=1e-5)


def test_walk_is_deterministic_and_its_report_lists_false_verdicts(library: Library) -> None:
    plan = Walk((2,), 1, 8, 4, ("history", "none"))
    first, again = ([seen for _, seen in walk(library, plan, random.Random(7))] for _ in range(2))
    assert first == again
    cases = [case for seen in first for case in seen.cases]
    assert {case.origin for case in cases} == {"walk", "reverts"}
    broken = cases[0]._replace(
        truth=Expected("edited"), given=dict.fromkeys(cases[0].given, Given("verified"))
    )
    findings = Findings([About("tiny", 4, "2026-01-21", 1)], [*cases, broken], [], [], [])
    assert [one["how"] for one in as_data(findings)["false_verdicts"]] == [MISSED]
    assert "| edited |" in markdown(findings)


def test_planted_moves_and_mutations_are_noticed(library: Library) -> None:
    at = library.clone.line()[1]
    seen = moves(library, at, random.Random(1), 6, ("history",))
    assert {case.truth.kind for case in seen.cases} == {"file renamed", "moved", "symbol renamed"}
    mutations = mutate(library, at, random.Random(1), 12)
    assert len(mutations) == 12
    assert not [one for one in mutations if one.missed]


def test_rustc_dump_is_read_without_locations_and_parentheses() -> None:
    plain = parse("Expr {\n    kind: Path(\n        x#0,\n    ),\n    span: /t.rs:1:1: 1:2 (#0),\n}\n")
    inside = parse(
        "Expr {\n    kind: Paren(\n        Expr {\n            kind: Path(\n                x#0,\n"
    )
    assert dump(plain.first()) == dump(inside.first()) == "Expr(kind:Path(:x))"


def _macro(*words: str, docs: bool = False) -> str:
    """The part of rustc's dump of a macro call that matters here."""
    tokens = "".join(
        f"Token(\nToken {{\nkind: {word},\nspan: /t.rs:1:1: 1:2 (#0),\n}},\nAlone,\n),\n" for word in words
    )
    doc = "attrs: [\nAttribute {\nkind: DocComment(\nLine,\n),\n},\n],\n" if docs else "attrs: [],\n"
    return dump(parse(f"MacCall {{\n{doc}tokens: TokenStream(\n[\n{tokens}],\n),\n}}\n").first())


def test_rust_macro_tokens_count_and_doc_comments_do_not() -> None:
    assert _macro('Ident("a")') != _macro('Ident("b")')
    assert _macro('Ident("a")', "Comma") == _macro('Ident("a")') == _macro('Ident("a")', docs=True)


def test_replay_runs_as_a_script() -> None:
    done = subprocess.run(
        [sys.executable, "benchmarks/history_replay.py", "--help"],
        cwd=PROJECT,
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
