"""Render the recap of a week or month from the recaps of its days and sessions. Pure and deterministic.

Decisions, solved problems, open items, notes and, for a week, changes and commits are copied with the day of
their recap; the links lead to the rest. An open item is as of its recap: a later one may report that it was
done. The recap of a day covers its sessions, so session recaps are used only for days without one.
"""

from __future__ import annotations

import re
from datetime import date, timedelta
from typing import TYPE_CHECKING

from thunderus_mem.document.paths import is_archived
from thunderus_mem.document.unicode import visible
from thunderus_mem.errors import NotFound, ThunderusError
from thunderus_mem.recap.page import Page, page_header
from thunderus_mem.recap.template import SECTIONS, closed, count, cut, fill, span
from thunderus_mem.safety.secrets import PRIVATE_QUOTES
from thunderus_mem.startup import NamedTuple, lazy_pattern

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from thunderus_mem.document.document import Document
    from thunderus_mem.store.config import Config

_WEEK = lazy_pattern(r"(\d{4})-?[Ww](\d{1,2})", re.ASCII)
_MONTH = lazy_pattern(r"(\d{4})-(\d{2})", re.ASCII)
_OF_DAY = lazy_pattern(r"recap\.(\d{4}-\d{2}-\d{2})(?:-([a-z0-9]{8}))?", re.ASCII)
_HEADING = lazy_pattern(r"(?m)^## +(.+?) *$")
_COPIED_SECTIONS = {
    "Decisions": "decisions",
    "Changes": "changes",
    "Commits": "commits",
    "Problems solved": "problems",
    "Problems and what solved them": "problems",  # the heading in older recaps
    "Notes": "notes",
    "Open items": "open_ends",
    "Open ends": "open_ends",  # the heading in older recaps
}


_ONLY_IN_WEEKS = frozenset(("changes", "commits"))
_ABOUT_DOCUMENTS = frozenset(("decisions", "changes"))
_COUNTED = lazy_pattern(r"and \d+ more")
_LINKED = lazy_pattern(r"\[\[[^\]]+\]\]")


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
    """The document id of the recap of a week or month: ``recap.2026-w04``, ``recap.2026-01``."""
    return f"recap.{name.lower()}"


def _span_of(kind: str, name: str) -> _Span:
    """Raises `ThunderusError` for an invalid week or month."""
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
    raise ThunderusError(
        f"invalid {kind} {name!r}", hint=f"use e.g. {'2026-W04' if kind == 'week' else '2026-01'}"
    )


def last_day(kind: str, name: str) -> str:
    """The last day of a week or month."""
    return _span_of(kind, name).last.isoformat()


def recaps_within(documents: Iterable[Document], first: str, last: str) -> list[Document]:
    """The recaps of days, and of sessions on days without one, from one day to another, in order. Of several
    with one id, the first active one."""
    found: dict[tuple[str, str], Document] = {}
    for document in sorted(documents, key=lambda one: (is_archived(one.path), one.path)):
        match = _OF_DAY.fullmatch(document.id) if document.kind == "recap" else None
        if match is not None and first <= match[1] <= last:
            found.setdefault((match[1], match[2] or ""), document)
    return [found[day, session] for day, session in sorted(found) if not session or (day, "") not in found]


def days_without_recap(kind: str, name: str, documents: Iterable[Document]) -> list[str]:
    """The days of a week or month that have no recap, of the day or of a session."""
    first, last, _ = _span_of(kind, name)
    days = [(first + timedelta(days=number)).isoformat() for number in range((last - first).days + 1)]
    covered = {one.id.removeprefix("recap.")[:10] for one in recaps_within(documents, days[0], days[-1])}
    return [day for day in days if day not in covered]


def rollup_page(
    kind: str, name: str, documents: Iterable[Document], config: Config, private: Collection[str] = ()
) -> Page:
    """The recap of a ``week`` (``2026-W04``) or ``month`` (``2026-01``); ``private`` are the events known to
    be private to some working tree.

    Raises `NotFound` if it contains no recap, `ThunderusError` for an invalid name.
    """
    within = _span_of(kind, name)
    recaps = recaps_within(documents, within.first.isoformat(), within.last.isoformat())
    if not recaps:
        raise NotFound(f"no recaps of days or sessions in {within.name}")
    for longest in (1_000, 300, 160, 80, 40, 0):
        page = _rollup_page(kind, within, recaps, longest)
        if page.fits(config):
            break
    return page._replace(private=tuple(id for id in page.header["provenance"]["events"] if id in private))


def _rollup_page(kind: str, within: _Span, recaps: Sequence[Document], longest: int) -> Page:
    lines: dict[str, list[str]] = {name: [] for name in SECTIONS}
    lines["summary"].append(f"{count(len(recaps), 'recap')} from {within.first} to {within.last}.")
    lines |= _copied(kind, recaps, longest) if longest else {}
    cited: list[str] = []
    for recap in recaps:
        ends = list(dict.fromkeys([*recap.events[:1], *recap.events[-1:]]))
        cited += ends
        between = f", {len(recap.events) - len(ends)} more" if len(recap.events) > len(ends) else ""
        lines["provenance"].append(
            f"From {span(recap.id)}: {', '.join(map(span, ends)) or 'commits only'}{between}"
        )
    if quoting := [span(recap.id) for recap in recaps if PRIVATE_QUOTES in recap.body]:
        lines["provenance"].append(f"{PRIVATE_QUOTES}: {', '.join(quoting)}")
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


def _copied(kind: str, recaps: Sequence[Document], longest: int) -> dict[str, list[str]]:
    """The lines of each section, except counts, with the days of their recaps. What happened later to a
    document is added to its first line, and an open item is listed once, as of the last recap that has it."""
    found: dict[str, dict[str, str]] = {section: {} for section in _COPIED_SECTIONS.values()}
    about: dict[str, tuple[str, str]] = {}
    for recap in recaps:
        parts = dict(_rollup_sections(recap.body))
        day = recap.id.removeprefix("recap.")
        for heading, section in _COPIED_SECTIONS.items():
            if kind == "month" and section in _ONLY_IN_WEEKS:
                continue
            for line in parts.get(heading, ()):
                if _COUNTED.fullmatch(line):
                    continue
                text, listed = closed(cut(line, longest)), found[section]
                link = _LINKED.match(line)
                if section == "open_ends":
                    listed[text] = f"{text} (as of {day})"
                elif link is None or section not in _ABOUT_DOCUMENTS:
                    listed[text] = f"{text} ({day})"
                elif link[0] in about:
                    first, key = about[link[0]]
                    found[first][key] += f" Then{text[link.end() :]} ({day})"
                else:
                    about[link[0]] = section, text
                    listed[text] = f"{text} ({day})"
    return {section: list(listed.values()) for section, listed in found.items()}


def _rollup_sections(body: str) -> Iterator[tuple[str, list[str]]]:
    """The list items of each section of a recap."""
    parts = _HEADING.split(body)
    for heading, text in zip(parts[1::2], parts[2::2], strict=False):
        yield heading, [line[2:].strip() for line in text.splitlines() if line.startswith("- ")]
