"""The case of every document rule: its exact findings, and documents without any.

``REWRITE_CASES=1 pytest tests/lint/test_lint_cases.py`` rewrites the findings; review the diff.
"""

from __future__ import annotations

import os

import pytest

from tests.support.lint_corpus import lint_documents, read_case
from thunderus_mem.cli.report import report
from thunderus_mem.lint.engine import RULES
from thunderus_mem.lint.rule import LintConfig
from thunderus_mem.store.config import Config

CASES = os.path.join(os.path.dirname(os.path.dirname(__file__)), "cases", "lint")
NAMES = sorted(os.listdir(CASES))
MARK = "=====> findings\n"


@pytest.mark.parametrize("name", NAMES)
def test_case_has_exactly_its_findings(name: str) -> None:
    path = os.path.join(CASES, name)
    with open(path, encoding="utf-8", newline="") as file:
        text = file.read()
    case = read_case(text)
    config = LintConfig(settings=Config(**case.settings), profiles=case.settings.get("lint_profiles", ()))
    found = lint_documents(case.documents, config)
    code = name[:5]
    for bad in case.bad:
        assert code in {one.rule for one in found[bad]}, f"{bad} should show {code}"
    for good in case.good:
        assert code not in {one.rule for one in found[good]}, f"{good} should not show {code}"
    said = report([one for ones in found.values() for one in ones], "full")
    if os.environ.get("REWRITE_CASES"):
        with open(path, "w", encoding="utf-8", newline="") as file:
            file.write(text.partition(MARK)[0] + MARK + said)
    else:
        assert case.findings == said


def test_every_document_rule_has_a_bad_and_a_good_case() -> None:
    for rule in RULES:
        if rule.scope != "store":
            with open(os.path.join(CASES, f"{rule.code}-{rule.name}.md"), encoding="utf-8") as file:
                case = read_case(file.read())
            assert case.bad, rule.code
            assert case.good, rule.code
