"""A recap of recaps: a week or a month from the lines of its days' and sessions' recaps. Pure.

Decisions, problems, open ends and notes are taken over with the recap they stand in; commands and files stay
below, where the links lead. A day's recap tells its sessions, so these count only on days that have none.
"""

from __future__ import annotations

import re
from datetime import date, timedelta
from typing import TYPE_CHECKING, NamedTuple

from thunderus_mem.document.unicode import visible
from thunderus_mem.errors import NotFound, ThunderusError
from thunderus_mem.recap.page import Page, page_header
from thunderus_mem.recap.template import SECTIONS, count, cut, fill, span

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from thunderus_mem.document.document import Document
    from thunderus_mem.store.config import Config

_WEEK = re.compile(r"(\d{4})-?[Ww](\d{1,2})", re.ASCII)
_MONTH = re.compile(r"(\d{4})-(\d{2})", re.ASCII)
_OF_DAY = re.compile(r"recap\.(\d{4}-\d{2}-\d{2})(?:-([a-z0-9]{8}))?", re.ASCII)
_HEADING = re.compile(r"(?m)^## +(.+?) *$")
_TAKEN = {
    "Decisions": "decisions",
    "Problems and what solved them": "problems",
    "Notes": "notes",
    "Open ends": "open_ends",
}


class _Span(NamedTuple):
    first: date
    last: date
    name: str


def week_of(day: str) -> str:
    """The ISO week of a day: ``2026-W04``."""
    year, week, _ = date.fromisoformat(day).isocalendar()
    return f"{year:04d}-W{week:02d}"


def month_of(day: str) -> str:
    """The month of a day: ``2026-01``."""
    return day[:7]


def rollup_id(name: str) -> str:
    """The document id of a week's or month's recap: ``recap.2026-w04``, ``recap.2026-01``."""
    return f"recap.{name.lower()}"


def _span_of(kind: str, name: str) -> _Span:
    """Raises `ThunderusError` for a name that is no week or month."""
    try:
        if kind == "week" and (found := _WEEK.fullmatch(name)) is not None:
            first = date.fromisocalendar(int(found[1]), int(found[2]), 1)
            return _Span(first, first + timedelta(days=6), week_of(first.isoformat()))
        if kind == "month" and (found := _MONTH.fullmatch(name)) is not None:
            first = date(int(found[1]), int(found[2]), 1)
            after = date(first.year + first.month // 12, first.month % 12 + 1, 1)
            return _Span(first, after - timedelta(days=1), name)
    except (ValueError, OverflowError):
        pass
    raise ThunderusError(f'"{name}" is not a {kind}', hint="a week is 2026-W04, a month 2026-01")


def last_day(kind: str, name: str) -> str:
    """The last day of a week or month."""
    return _span_of(kind, name).last.isoformat()


def recaps_within(documents: Iterable[Document], first: str, last: str) -> list[Document]:
    """The recaps of days, and of sessions on days without, from one day to another, in order."""
    found = []
    for document in documents:
        match = _OF_DAY.fullmatch(document.id) if document.kind == "recap" else None
        if match is not None and first <= match[1] <= last:
            found.append((match[1], match[2] or "", document))
    days = {day for day, session, _ in found if not session}
    kept = [one for one in found if not one[1] or one[0] not in days]
    return [document for _, _, document in sorted(kept, key=lambda one: (one[0], one[1], one[2].path))]


def rollup_page(
    kind: str, name: str, documents: Iterable[Document], config: Config, private: Collection[str] = ()
) -> Page:
    """The recap of a ``week`` (``2026-W04``) or ``month`` (``2026-01``); ``private`` are the events known to
    be private to some working tree.

    Raises `NotFound` when there is no recap within, `ThunderusError` for a name that is none.
    """
    within = _span_of(kind, name)
    recaps = recaps_within(documents, within.first.isoformat(), within.last.isoformat())
    if not recaps:
        raise NotFound(
            f"there is no recap of a day or session in {within.name}",
            hint="write them first, as with `thunderus-mem recap --day yesterday`",
        )
    for longest in (300, 160, 80, 40, 0):
        page = _rollup_page(kind, within, recaps, longest)
        if page.fits(config):
            break
    return page._replace(private=tuple(id for id in page.header["provenance"]["events"] if id in private))


def _rollup_page(kind: str, within: _Span, recaps: Sequence[Document], longest: int) -> Page:
    lines: dict[str, list[str]] = {name: [] for name in SECTIONS}
    lines["summary"].append(f"{count(len(recaps), 'recap')} from {within.first} to {within.last}.")
    cited: list[str] = []
    for recap in recaps:
        parts = dict(_sections(recap.body))
        said = " ".join(parts.get("Summary", ())[:4])
        lines["summary"].append(f"{span(recap.id)}: {cut(said, max(longest, 80)) or 'no summary'}")
        for heading, section in _TAKEN.items() if longest else ():
            lines[section] += [
                f"{_safe(cut(line, longest))} ({span(recap.id)})" for line in parts.get(heading, ())
            ]
        ends = list(dict.fromkeys([*recap.events[:1], *recap.events[-1:]]))
        cited += ends
        between = f", {len(recap.events) - len(ends)} more" if len(recap.events) > len(ends) else ""
        lines["provenance"].append(
            f"From {span(recap.id)}: {', '.join(map(span, ends)) or 'commits alone'}{between}"
        )
    title = f"Recap of {within.name}"
    created = min(recap.data().get("created") or f"{within.first}T00:00:00Z" for recap in recaps)
    updated = max(recap.data().get("updated") or f"{within.last}T00:00:00Z" for recap in recaps)
    header = page_header(
        rollup_id(within.name), title, ["recap", kind], (created, updated), dict.fromkeys(cited)
    )
    header["links"] = {"derives_from": sorted(recap.id for recap in recaps)}
    values = {name: [visible(line) for line in listed] for name, listed in lines.items()}
    body = fill(
        "", "", {"title": title, "kind": kind, "name": within.name, "day": str(within.first), **values}
    )
    return Page(header, body)


def _safe(line: str) -> str:
    """A line that was cut in the middle of a code span, without the span."""
    return line if line.count("`") % 2 == 0 else line.replace("`", "'")


def _sections(body: str) -> Iterator[tuple[str, list[str]]]:
    """The list items of each section of a recap."""
    parts = _HEADING.split(body)
    for heading, text in zip(parts[1::2], parts[2::2], strict=False):
        yield heading, [line[2:].strip() for line in text.splitlines() if line.startswith("- ")]
