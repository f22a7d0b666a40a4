"""The recap of a day: what the shared log, the documents and git say happened, with the events that say so.

Pure and deterministic. Only events that travel with the repository count (changes, notes, approvals,
snapshots), so that every clone writes the same recap; what recaps themselves did is left out. A day too long
for a document is told in part: the page says how much is left out, its counts are those of the whole day.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from thunderus_mem.garden.day import SHARED_KINDS, Day, deed_of, note_text, one_line, sort_events
from thunderus_mem.garden.telling import most_telling, most_that_fits
from thunderus_mem.model.edit import compose
from thunderus_mem.model.errors import InvalidDocument, NotFound
from thunderus_mem.model.timestamp import format_timestamp, parse_timestamp, utc_key
from thunderus_mem.model.unicode import visible

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from thunderus_mem.model.document import Document
    from thunderus_mem.model.event import Event
    from thunderus_mem.store.config import Config
    from thunderus_mem.store.git_history import Commit

TEMPLATE: Final = """\
# $title

## Summary

$summary

## Changes

$changes

## Commits

$commits

## Notes

$notes

## Open ends

$open_ends

## Files touched

$files

## Provenance

$provenance
"""
_BULK_NAMED = 3
# What a day too long for a page keeps of its commits and files; the rest of the room is for its events.
_FEW_COMMITS = 30
_FEW_FILES = 10


class _Whole(NamedTuple):
    """Everything a day has to tell, and how its page is filled."""

    day: str
    told: Day
    used: list[Event]
    commits: list[Commit]
    titles: Mapping[str, str]
    template: str
    most_files: int


def recap_id(day: str) -> str:
    """The document id of the recap of ``day`` (``2026-01-21``)."""
    return f"recap.{day}"


def _count(number: int, one: str, many: str = "") -> str:
    return f"{number} {one if number == 1 else many or one + 's'}"


def _bullets(lines: Iterable[str]) -> str:
    return "\n".join(f"- {line}" for line in lines)


def _code(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def _summary(day: Day, used: Sequence[Event], commits: Sequence[Commit]) -> list[str]:
    lines = []
    deeds: dict[str, int] = {}
    for story in day.stories.values():
        for deed in story.deeds:
            deeds[deed] = deeds.get(deed, 0) + 1
    for _, op, ids in day.bulk:
        deeds[deed_of(op, "")] = deeds.get(deed_of(op, ""), 0) + len(ids)
    if deeds:
        changed = len({*day.stories, *(doc_id for _, _, ids in day.bulk for doc_id in ids)})
        parts = ", ".join(f"{number} {deed}" for deed, number in sorted(deeds.items()))
        lines.append(f"{_count(changed, 'document')} changed: {parts}.")
    if day.notes or day.open_ends:
        ends = f", {_count(len(day.open_ends), 'open end')}" if day.open_ends else ""
        lines.append(f"{_count(len(day.notes) + len(day.open_ends), 'note')}{ends}.")
    if day.decisions:
        lines.append(f"{_count(len(day.decisions), 'approval or snapshot', 'approvals and snapshots')}.")
    if commits:
        authors = ", ".join(sorted({one_line(commit.author) for commit in commits}))
        lines.append(f"{_count(len(commits), 'commit')} by {authors}.")
    if used:
        sessions = len({event.session_id for event in used})
        lines.append(f"{_count(len(used), 'event')} in {_count(sessions, 'session')}.")
    return lines


def _changes(day: Day, titles: Mapping[str, str]) -> list[str]:
    lines = []
    for event, op, ids in day.bulk:
        reason = f": {one_line(event.why).rstrip('.')}" if event.why else ""
        named = f"{_code(ids[:_BULK_NAMED])} and {len(ids) - _BULK_NAMED} more"
        lines.append(f"{len(ids)} documents {deed_of(op, '')} ({named}){reason}.")
    for doc_id, story in day.stories.items():
        title = f" ({one_line(titles[doc_id])})" if titles.get(doc_id) else ""
        deeds = ", ".join(
            deed if times == 1 else f"{deed} {times} times" for deed, times in story.deeds.items()
        )
        reasons = f": {'; '.join(story.reasons)}" if story.reasons else ""
        lines.append(f"`{doc_id}`{title} {deeds}{reasons}.")
    return lines


def _files(day: Day, most: int) -> list[str]:
    paths = sorted(day.paths)
    lines = [f"`{path}`" for path in paths[:most]]
    return [*lines, f"and {len(paths) - most} more"] if len(paths) > most else lines


def _provenance(day: Day, commits: Sequence[Commit]) -> list[str]:
    lines = [f"{len(ids)} documents {deed_of(op, '')}: `{event.id}`" for event, op, ids in day.bulk]
    together: dict[tuple[str, ...], list[str]] = {}
    for doc_id, story in day.stories.items():
        together.setdefault(tuple(story.events), []).append(doc_id)
    lines += [f"Changes of {_code(doc_ids)}: {_code(events)}" for events, doc_ids in together.items()]
    for name, events in (
        ("Notes", day.notes),
        ("Open ends", day.open_ends),
        ("Approvals and snapshots", day.decisions),
    ):
        if events:
            lines.append(f"{name}: {_code(event.id for event in events)}")
    if commits:
        lines.append(f"Commits: {_code(commit.sha[:7] for commit in commits)}")
    return lines


def fill_template(template: str, values: Mapping[str, str]) -> str:
    """``template`` with each ``$name`` replaced; a ``##`` section all of whose names are empty is left out.

    A template without ``$provenance`` gets that section at its end: a recap always says where it is from.
    """
    from string import Template

    if "$provenance" not in template and "${provenance}" not in template:
        template = f"{template.rstrip()}\n\n## Provenance\n\n$provenance\n"
    kept = []
    for section in re.split(r"(?m)^(?=## )", template):
        names = [name for name in values if re.search(rf"\$(?:{name}\b|{{{name}}})", section)]
        if not names or any(values[name] for name in names):
            kept.append(Template(section).safe_substitute(values))
    return "".join(kept).rstrip() + "\n"


def _header(
    day: str, used: Sequence[Event], commits: Sequence[Commit], cited: Sequence[Event]
) -> dict[str, Any]:
    moments = sorted(utc_key(text) for text in (*(e.ts for e in used), *(c.date for c in commits)))
    first, last = parse_timestamp(moments[0]), parse_timestamp(moments[-1])
    assert first is not None
    assert last is not None
    return {
        "id": recap_id(day),
        "title": f"Recap of {day}",
        "kind": "recap",
        "tags": ["recap"],
        "created": format_timestamp(first),
        "updated": format_timestamp(last),
        "provenance": {"events": [event.id for event in cited], "patches": [], "commits": []},
        "verification": {"last_verified_commit": None, "status": "unknown"},
    }


def recap_document(
    day: str,
    events: Iterable[Event],
    documents: Iterable[Document],
    commits: Iterable[Commit],
    config: Config,
    *,
    template: str = "",
) -> tuple[dict[str, Any], str]:
    """Header and body of the recap of ``day`` (``2026-01-21``, in UTC).

    ``events`` and ``commits`` may reach beyond the day, in any order; ``documents`` lend their titles;
    ``template`` replaces `TEMPLATE`. ``created`` and ``updated`` are the first and last moment of the day.
    What does not fit into the largest document that lint accepts is counted and left out.
    Raises ``NotFound`` when nothing happened.
    """
    by_id = {e.id: e for e in events if e.kind in SHARED_KINDS and utc_key(e.ts)[:10] == day}
    ordered = sorted(by_id.values(), key=lambda event: (utc_key(event.ts), event.id))
    told, used = sort_events(ordered, recap_id(day))
    by_sha = {commit.sha: commit for commit in commits if utc_key(commit.date)[:10] == day}
    made = sorted(by_sha.values(), key=lambda commit: (utc_key(commit.date), commit.sha))
    if not used and not made:
        raise NotFound(
            f"nothing happened on {day}: no shared event and no commit", hint="days are counted in UTC"
        )
    whole = _Whole(
        day,
        told,
        used,
        made,
        {document.id: document.title for document in documents},
        template or TEMPLATE,
        config.recap_max_files if config.recap_include_file_changes else 0,
    )
    return _fitting(whole, 4 * config.caps_document_hard)


def _fitting(whole: _Whole, most: int) -> tuple[dict[str, Any], str]:
    """Header and body of the day in ``most`` characters, with as many of the events as there is room for."""

    def fits(header: dict[str, Any], body: str) -> bool:
        if len(body) > most:
            return False
        try:
            return len(compose(header, "\n" + body)) <= most
        except InvalidDocument:  # more events than a header may hold
            return False

    page = _page(whole, whole.used, whole.commits, whole.most_files)
    if fits(*page):
        return page
    ranked = most_telling(whole.used)

    def part(number: int) -> tuple[dict[str, Any], str]:
        kept = set(ranked[:number])
        cited = [event for place, event in enumerate(whole.used) if place in kept]
        return _page(whole, cited, whole.commits[:_FEW_COMMITS], min(whole.most_files, _FEW_FILES))

    return part(most_that_fits(len(ranked), lambda number: fits(*part(number))))


def _page(
    whole: _Whole, cited: list[Event], commits: Sequence[Commit], most_files: int
) -> tuple[dict[str, Any], str]:
    """Header and body of a page that tells of the events ``cited`` and of ``commits``, and counts all."""
    left = len(whole.used) - len(cited)
    told = sort_events(cited, recap_id(whole.day))[0] if left else whole.told
    header = _header(whole.day, whole.used, whole.commits, cited)
    listed = [f"`{commit.sha[:7]}` {one_line(commit.subject)}" for commit in commits]
    if len(commits) < len(whole.commits):
        listed.append(f"and {len(whole.commits) - len(commits)} more")
    left_out = f"{_count(left, 'event')} left out for length: `thunderus-mem log` tells all." if left else ""
    summary = _summary(whole.told, whole.used, whole.commits)
    values = {
        "title": header["title"],
        "day": whole.day,
        "summary": _bullets([*summary, left_out] if left else summary),
        "changes": _bullets(_changes(told, whole.titles)),
        "commits": _bullets(listed),
        "notes": _bullets(note_text(event) for event in told.notes),
        "open_ends": _bullets(note_text(event) for event in told.open_ends),
        "files": _bullets(_files(whole.told, most_files) if most_files else []),
        "provenance": _bullets(
            [*_provenance(told, commits), left_out] if left else _provenance(told, commits)
        ),
    }
    # A document that holds what nobody sees is refused.
    return header, fill_template(whole.template, {name: visible(text) for name, text in values.items()})
