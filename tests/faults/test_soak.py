"""A long soak test of one store, only at night; ``THUNDERUS_MEM_SOAK`` is its length in minutes."""

from __future__ import annotations

import os

import pytest
import report
from soak import soak
from tier import NIGHT

MINUTES = float(os.environ.get("THUNDERUS_MEM_SOAK", "3"))


@pytest.mark.timeout(MINUTES * 60 + 300)
@pytest.mark.skipif(not NIGHT, reason="takes minutes: at night")
def test_soak_loses_nothing_and_has_no_growth(tmp_path) -> None:
    tally = soak(MINUTES, str(tmp_path))
    report.add(
        "soak", "a long day", tried=tally.tried, lost=tally.lost, healed=tally.healed, slowest=tally.slowest
    )
    assert tally.wrong == []
    assert tally.healed > 5
