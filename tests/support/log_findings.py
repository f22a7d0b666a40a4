"""The problems of a log, as lint and doctor report them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from thunderus_mem.log.shard import LogCheck

if TYPE_CHECKING:
    from thunderus_mem.diagnostic import Diagnostic
    from thunderus_mem.log.reader import EventLog


def log_findings(log: EventLog) -> list[Diagnostic]:
    """Findings over the whole log: TM503 shape, 504 chain, 505 torn, 507 markers, 508 line ends."""
    check = LogCheck()
    found: list[Diagnostic] = []
    for reading in log.readings():
        found += check.take(reading, log.session_of(reading.path))
    return sorted([*found, *check.close(log.readings)], key=lambda one: one.sort_key)
