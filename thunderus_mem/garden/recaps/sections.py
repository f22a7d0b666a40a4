"""The sections of a recap as lists of lines. Pure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from thunderus_mem.garden.recaps.day import deed_of, note_text
from thunderus_mem.garden.recaps.lines import count, cut, one_line, span, spans
from thunderus_mem.garden.recaps.telling import standing_for

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from thunderus_mem.garden.recaps.day import Day, Story
    from thunderus_mem.garden.recaps.runs import Problem, Run
    from thunderus_mem.model.document import Document
    from thunderus_mem.model.event import Event
    from thunderus_mem.store.git_history import Commit

__all__ = ["sections"]

_BULK_NAMED = 3
_MOST_COMMANDS = 25
_OUTCOMES = {True: "✓", False: "✗", None: "~"}
_DECISION = re.compile(r"(?m)^##[ \t]+Decision[ \t]*$")
_ITEM = re.compile(r"(?m)^(?:[-*]|\d{1,2}[.)])[ \t]+")
_SENTENCE_END = re.compile(r"(?<=[.!?])\s")


def sections(
    told: Day,
    whole: Day,
    used: Sequence[Event],
    commits: Sequence[Commit],
    documents: Mapping[str, Document],
    *,
    private: Collection[str],
    most_commits: int,
    most_files: int,
    left: int,
    lead: Sequence[str] = (),
) -> dict[str, list[str]]:
    """Every section of a page by name. ``told`` is what it tells in detail, ``whole`` what it counts;
    ``left`` events are left out for length; ``lead`` begins the summary."""
    left_out = [f"{count(left, 'event')} left out for length: `thunderus-mem log` tells all."] if left else []
    unfit = (
        [f"{count(whole.unfit, 'text')} left out: a secret, or an order to the reader, seems to stand in it."]
        if whole.unfit
        else []
    )
    shown = _commits(commits, most_commits)
    return {
        "summary": [*lead, *_summary(whole, used, commits), *unfit, *left_out],
        "decisions": [*_decisions(told, documents)],
        "problems": [_problem(one) for one in told.problems if one.solved],
        "commands": _commands(told.ran),
        "changes": _changes(told, documents),
        "commits": [line for line, _ in shown],
        "notes": [note_text(event) for event in told.notes],
        "open_ends": [*(note_text(event) for event in told.open_ends), *_unsolved(told.problems)],
        "files": _files(whole, most_files) if most_files else [],
        "provenance": [*_provenance(told, [c for _, c in shown if c], private), *left_out],
    }


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
        lines.append(f"{count(changed, 'document')} changed: {parts}.")
    if day.ran:
        ended = [(sum(run.ok is ok for run in day.ran), word) for ok, word in _ENDED]
        parts = ", ".join(f"{number} {word}" for number, word in ended if number)
        looks = f"; {day.looks} more only looked around" if day.looks else ""
        lines.append(f"{count(len(day.ran), 'command')} run: {parts}{looks}.")
    solved = sum(one.solved is not None for one in day.problems)
    if day.problems:
        lines.append(f"{count(len(day.problems), 'problem')}, {solved} solved.")
    if day.decided:
        lines.append(f"{count(len(day.decided), 'decision')} told of in messages.")
    if day.notes or day.open_ends:
        ends = f", {count(len(day.open_ends), 'open end')}" if day.open_ends else ""
        lines.append(f"{count(len(day.notes) + len(day.open_ends), 'note')}{ends}.")
    if day.decisions:
        lines.append(f"{count(len(day.decisions), 'approval or snapshot', 'approvals and snapshots')}.")
    if commits:
        authors = sorted({one_line(commit.author) for commit in commits})
        named = f" by {', '.join(authors)}" if len(authors) > 1 else ""
        lines.append(f"{count(len(commits), 'commit')}{named}.")
    if used:
        number = len({event.session_id for event in used})
        lines.append(f"{count(len(used), 'event')} in {count(number, 'session')}.")
    return lines


_ENDED = ((True, "succeeded"), (False, "failed"), (None, "of unknown outcome"))


def _decisions(day: Day, documents: Mapping[str, Document]) -> Iterator[str]:
    """Decision records that were made, what messages decided, what was approved, with reasons."""
    for doc_id, story in day.stories.items():
        if _is_decision(doc_id, story):
            document = documents.get(doc_id)
            title = f" ({one_line(document.title)})" if document is not None else ""
            decided = _first_of_decision(document) if document is not None else ""
            reason = f" Why: {story.made_for}." if story.made_for else ""
            yield f"{span(doc_id)}{title}: {decided or 'decided.'}{reason}"
    for _, one in day.decided:
        yield one_line(cut(one.whole))
    for event in day.decisions:
        reason = event.body.get("reason") or event.why
        if isinstance(reason, str) and reason:
            verdict = "Refused" if event.body.get("approved") is False else "Approved"
            about = [id for id in event.refs.get("memory_doc_ids") or () if isinstance(id, str)]
            yield f"{verdict}{' ' + spans(about[:_BULK_NAMED]) if about else ''}: {one_line(cut(reason))}"


def _is_decision(doc_id: str, story: Story) -> bool:
    return doc_id.startswith("adr.") and not story.deeds.keys().isdisjoint(("added", "superseded"))


def _first_of_decision(document: Document) -> str:
    """The first sentence, or list item, under the heading Decision."""
    parts = _DECISION.split(document.body, maxsplit=1)
    if len(parts) < 2:
        return ""
    paragraph = parts[1].strip().partition("\n\n")[0]
    if paragraph.startswith(("#", "|", "```", "<")):
        return ""
    if (item := _ITEM.match(paragraph)) is not None:
        paragraph = _ITEM.split(paragraph[item.end() :], maxsplit=1)[0]
    return one_line(cut(_SENTENCE_END.split(" ".join(paragraph.split()))[0]))


def _problem(one: Problem) -> str:
    """How a command that failed came to succeed."""
    often = f" {one.times} times" if one.times > 1 else ""
    after = []
    if one.files:
        after.append(f"editing {spans(one.files)}")
    if one.commands:
        after.append(f"running {spans(one.commands)}")
    assert one.solved is not None
    same = one.solved.command == one.failed.command
    then = "it succeeded" if same else f"{span(one.solved.command)} succeeded"
    between = f" after {' and '.join(after)}" if after else ""
    return f"{span(one.failed.command)} failed{often}; {then}{between}."


def _unsolved(problems: Iterable[Problem]) -> Iterator[str]:
    for one in problems:
        if one.solved is None:
            often = f" {one.times} times in a row" if one.times > 1 else ""
            yield f"{span(one.failed.command)} failed{often}, and no success followed."


def _commands(ran: Sequence[Run]) -> list[str]:
    """Each command once, with its outcomes in order."""
    by_command: dict[str, list[Run]] = {}
    for run in ran:
        by_command.setdefault(run.command, []).append(run)
    lines = []
    for command, each in list(by_command.items())[:_MOST_COMMANDS]:
        outcomes = "".join(_OUTCOMES[run.ok] for run in each[:10]) + ("…" if len(each) > 10 else "")
        lines.append(f"{outcomes} {span(command)}")
    more = len(by_command) - len(lines)
    return [*lines, f"and {more} more"] if more > 0 else lines


def _changes(day: Day, documents: Mapping[str, Document]) -> list[str]:
    lines = []
    for event, op, ids in day.bulk:
        reason = f": {one_line(event.why).rstrip('.')}" if event.why else ""
        named = f"{spans(ids[:_BULK_NAMED])} and {len(ids) - _BULK_NAMED} more"
        lines.append(f"{len(ids)} documents {deed_of(op, '')} ({named}){reason}.")
    for doc_id, story in day.stories.items():
        if _is_decision(doc_id, story):
            continue
        document = documents.get(doc_id)
        title = f" ({one_line(document.title)})" if document is not None and document.title else ""
        deeds = ", ".join(
            deed if times == 1 else f"{deed} {times} times" for deed, times in story.deeds.items()
        )
        reasons = f": {'; '.join(story.reasons)}" if story.reasons else ""
        lines.append(f"{span(doc_id)}{title} {deeds}{reasons}.")
    return lines


def _commits(commits: Sequence[Commit], most: int) -> list[tuple[str, Commit | None]]:
    """The commits, or of many those that stand for the others, with how many there are."""
    chosen = commits
    if len(commits) > most:
        own = [commit for commit in commits if not commit.subject.startswith("Merge ")] or commits
        chosen = [own[place] for place in standing_for([commit.subject for commit in own], most)]
    lines: list[tuple[str, Commit | None]] = [
        (f"{span(commit.sha[:7])} {one_line(commit.subject)}", commit) for commit in chosen
    ]
    more = len(commits) - len(lines)
    return [*lines, (f"and {more} more", None)] if more else lines


def _files(day: Day, most: int) -> list[str]:
    """Files that were touched, the most often touched of many, without the store's own: documents are told of
    by their ids."""
    paths = [path for path in day.paths if not path.startswith(".thunderus/")]
    chosen = sorted(sorted(paths, key=lambda path: (-day.paths[path], path))[:most])
    lines = [span(path) for path in chosen]
    return [*lines, f"and {len(paths) - most} more"] if len(paths) > most else lines


def _provenance(day: Day, commits: Sequence[Commit], private: Collection[str]) -> list[str]:
    def cite(ids: Iterable[str]) -> str:
        return ", ".join(f"{span(id)} (private)" if id in private else span(id) for id in ids)

    lines = [f"{len(ids)} documents {deed_of(op, '')}: {cite([event.id])}" for event, op, ids in day.bulk]
    together: dict[tuple[str, ...], list[str]] = {}
    for doc_id, story in day.stories.items():
        together.setdefault(tuple(story.events), []).append(doc_id)
    lines += [f"Changes of {spans(doc_ids)}: {cite(events)}" for events, doc_ids in together.items()]
    cited: set[str] = set()
    for one in day.problems:
        lines.append(
            f"{'Solved' if one.solved else 'Unsolved'}, {span(one.failed.command)}: {cite(one.events)}"
        )
        cited.update(one.events)
    by_command: dict[str, dict[str, None]] = {}
    for run in day.ran:
        if not cited.issuperset(run.events):
            by_command.setdefault(run.command, {}).update(dict.fromkeys(run.events))
    lines += [f"Ran {span(command)}: {cite(ids)}" for command, ids in by_command.items()]
    for name, events in (
        ("Decisions in messages", list(dict.fromkeys(event.id for event, _ in day.decided))),
        ("Notes", [event.id for event in day.notes]),
        ("Open ends", [event.id for event in day.open_ends]),
        ("Approvals and snapshots", [event.id for event in day.decisions]),
    ):
        if events:
            lines.append(f"{name}: {cite(events)}")
    if commits:
        lines.append(f"Commits: {spans(commit.sha[:7] for commit in commits)}")
    return lines
