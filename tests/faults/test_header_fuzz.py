"""F1: any header gives a mapping or a problem, in bounded time and memory."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest
import report
import tier
from header_fuzz import check
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.support.headers import headers

FUZZ = os.path.join(os.path.dirname(os.path.abspath(__file__)), "header_fuzz.py")
SHARES = 8
MEMORY = 64 << 20
EXAMPLES = tier.points(200, 4_000)


@pytest.mark.parametrize("share", range(SHARES))
def test_headers_by_mutation_and_grammar(share: int) -> None:
    count = tier.points(5_000, 200_000) // SHARES
    seed = share + 1 + 1_000 * tier.NIGHT
    done = subprocess.run([sys.executable, FUZZ, str(count), str(seed)], capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()[-2_000:]
    found = json.loads(done.stdout)
    assert found["failed"] == []
    assert found["slow"] == []
    assert found["grown"] < MEMORY
    assert found["peak"] < MEMORY
    # Enough of the headers must be valid.
    assert found["codes"]["full"] + found["codes"]["fast"] > count // 5
    report.add("F1", f"share {share}", tried=found["tried"], slowest=found["slowest"])


@settings(max_examples=EXAMPLES, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(headers() | st.text(max_size=80))
def test_headers_by_hypothesis(text: str) -> None:
    check(text)
