"""P7: clocks that jump back, stop or leap: ids are unique, order is kept, nothing is rejected."""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta, timezone
from typing import TYPE_CHECKING

import pytest
import report
from tier import points

from tests.support.events import note
from tests.support.verify_store import parse_line, shards, verify
from thunderus_mem.authoring.add import NewDocument, add
from thunderus_mem.authoring.edit import DocumentEdits, edit, supersede
from thunderus_mem.authoring.show import show
from thunderus_mem.diagnostic import Severity
from thunderus_mem.document.timestamp import utc_key
from thunderus_mem.history.log import events_verify, log
from thunderus_mem.lint.lint import lint
from thunderus_mem.memory.memory import Memory, open_memory
from thunderus_mem.search.search import search

if TYPE_CHECKING:
    from pathlib import Path

ZONES = [UTC, *(timezone(timedelta(minutes=minutes)) for minutes in (345, 840, -720, -570))]
STEPS = (
    timedelta(seconds=1),
    timedelta(0),
    timedelta(days=-1),
    timedelta(seconds=-1),
    timedelta(hours=-1),  # an hour that comes twice
    timedelta(days=3652),
    timedelta(days=-3652),
    timedelta(milliseconds=1),
)
BEGUN = datetime(2026, 10, 25, 0, 30, tzinfo=UTC)
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
LAST = datetime(2400, 1, 1, tzinfo=UTC)


def test_wrong_clock_loses_and_blocks_nothing(repo: Path) -> None:
    (repo / ".thunderus").mkdir()
    chance, count = random.Random(31), points(60, 600)
    moment = BEGUN
    written: list[str] = []
    hidden = 0

    def opened() -> Memory:
        return open_memory(str(repo), now=lambda: moment)

    for turn in range(count):
        moment = EPOCH if turn % 20 == 7 else min(max(moment + chance.choice(STEPS), EPOCH), LAST)
        moment = moment.astimezone(chance.choice(ZONES))
        memory = opened()
        if turn < 3 or turn % 3 == 0:
            done = add(
                memory, NewDocument("fact", f"Of {turn}", body=f"Said in turn {turn}.", tags=["clock"])
            )
            written.append(done.event_id)
        elif turn % 3 == 1:
            which = f"fact.of-{chance.choice([0, 1, 2])}"
            written.append(edit(memory, which, DocumentEdits(body=f"Said again in turn {turn}.")).event_id)
            found = show(memory, which)
            hidden += utc_key(found.updated) < utc_key(found.created)
        else:
            written.append(note(memory, f"Turn {turn}"))
        hidden += not search(memory, f"turn {turn}").hits and turn % 3 != 2
        hidden += written[-1] not in {event.id for event in log(memory, limit=10_000).events}
        memory.index.close()
        moment = moment.astimezone(UTC)
    memory = opened()
    supersede(memory, "fact.of-0", "fact.of-1", why="newer")
    on_disk = [parse_line(line)["id"] for shard in shards(str(repo)) for line in _lines(shard)]
    report.add("P7", "clocks", tried=count, lost=hidden + len(set(written) - set(on_disk)))
    assert len(on_disk) == len(set(on_disk))
    assert (set(written) - set(on_disk), hidden) == (set(), 0)
    _order_is_that_of_writing(repo, memory)
    assert [one for one in events_verify(memory).diagnostics if one.severity is not Severity.NOTE] == []
    assert [one for one in lint(memory).diagnostics if one.severity is Severity.ERROR] == []
    assert verify(str(repo), settled=False) == []


def _lines(shard: str) -> list[bytes]:
    with open(shard, "rb") as stream:
        return stream.read().splitlines()


def _order_is_that_of_writing(repo: Path, memory: Memory) -> None:
    """In each session events are listed as they were written."""
    listed = [event.id for event in reversed(log(memory, limit=10_000).events)]
    for shard in shards(str(repo)):
        mine = [parse_line(line)["id"] for line in _lines(shard)]
        assert [one for one in listed if one in set(mine)] == mine


@pytest.mark.parametrize("zone", ["America/St_Johns", "Australia/Lord_Howe", "Africa/Monrovia"])
def test_repeated_hour_at_the_end_of_daylight_saving_time(repo: Path, zone: str) -> None:
    from zoneinfo import ZoneInfo

    (repo / ".thunderus").mkdir()
    first = datetime(2026, 11, 1, 1, 30, tzinfo=ZoneInfo(zone), fold=0)
    moments = [first, first.replace(fold=1), first + timedelta(minutes=5)]
    for number, moment in enumerate(moments):
        memory = open_memory(str(repo), now=lambda moment=moment: moment)  # type: ignore[misc]
        add(memory, NewDocument("fact", f"Of {number}", body=f"Said in turn {number}.", tags=["clock"]))
        assert show(memory, f"fact.of-{number}").created.endswith("Z")
    _order_is_that_of_writing(repo, memory)
    report.add("P7", zone, tried=len(moments))
