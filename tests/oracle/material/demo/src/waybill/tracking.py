"""From scans to the state of a parcel: pure, no clock, no database."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime, tzinfo


@dataclass(frozen=True)
class Scan:
    """One reading of a label. ``number`` grows with each scan of a scanner."""

    number: int
    parcel: str
    place: str
    at: datetime


def localize(local: datetime, zone: tzinfo) -> datetime:
    """Add the depot's zone; an hour that occurs twice is taken as the earlier one."""
    return local.replace(tzinfo=zone, fold=0)


def last_place(scans: Iterable[Scan]) -> str | None:
    """Where the parcel was seen last, in the order of scan numbers."""
    newest = max(scans, key=lambda scan: scan.number, default=None)
    return newest.place if newest else None
