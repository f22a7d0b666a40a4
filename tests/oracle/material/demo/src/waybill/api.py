"""HTTP answers; every rule stands elsewhere."""

from __future__ import annotations

from waybill.tracking import Scan, last_place


def parcel_page(number: str, scans: list[Scan]) -> dict[str, str]:
    """What a customer sees of one parcel."""
    return {"parcel": number, "place": last_place(scans) or "not yet seen"}
