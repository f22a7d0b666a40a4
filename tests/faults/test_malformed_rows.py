"""F5-kinds: events of each kind with keys that are missing or of a wrong type fail no command."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import report
import tier

from tests.log.test_malformed_events import failing, store
from tests.support.malformed_events import malformed

if TYPE_CHECKING:
    from tests.log.test_malformed_events import Store

__all__ = ["store"]
pytestmark = pytest.mark.damaged
SHARES = 20
"""In a small share no event hides what another one would do."""


@pytest.mark.parametrize("number", range(tier.points(1, SHARES)))
def test_malformed_events_fail_no_command(number: int, store: Store) -> None:
    some = malformed(store.events)[number::SHARES]
    assert failing(store, some) == []
    report.add("F5-kinds", "every command", tried=len(some))
