"""The sections of a recap as lists of lines. Pure."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from thunderus_mem.recap.events import note_text, operation_name
from thunderus_mem.recap.lines import count, cut, one_line, span, spans

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from thunderus_mem.document.document import Document
    from thunderus_mem.git.repository import Commit
    from thunderus_mem.log.line import Event
    from thunderus_mem.recap.commands import CommandProblem, Run
    from thunderus_mem.recap.events import DocumentRecap, SortedEvents

_BULK_NAMED = 3
_MOST_COMMANDS = 25
_OUTCOMES = {True: "✓", False: "✗", None: "~"}
_ENDED = ((True, "succeeded"), (False, "failed"), (None, "of unknown outcome"))
_DECISION = re.compile(r"(?m)^##[ \t]+Decision[ \t]*$")
_ITEM = re.compile(r"(?m)^(?:[-*]|\d{1,2}[.)])[ \t]+")
_SENTENCE_END = re.compile(r"(?<=[.!?])\s")
_WORD = re.compile(r"[^\W\d_]{4,}")


class RecapContent(NamedTuple):
    """All that a recap has to tell: its events, sorted; those of them that have something to tell; commits;
    the documents by id."""

    events: SortedEvents
    used: Sequence[Event]
    commits: Sequence[Commit]
    documents: Mapping[str, Document]


def sections(
    whole: RecapContent,
    told: SortedEvents,
    private: Collection[str],
    *,
    most_commits: int,
    most_files: int,
    left: int,
) -> dict[str, list[str]]:
    """Every section of a page by name. ``told`` is what it tells in detail, ``whole`` what it counts;
    ``private`` are ids of events that stay in this working tree; ``left`` events are left out for length."""
    left_out = [f"{count(left, 'event')} left out for length: `thunderus-mem log` tells all."] if left else []
    shown, more = _chosen_commits(whole.commits, most_commits)
    return {
        "summary": [*_summary(whole), *left_out],
        "decisions": [*_decisions(told, whole.documents)],
        "problems": [_problem(one) for one in told.problems if one.solved],
        "commands": _commands(told.ran),
        "changes": _changes(told, whole.documents),
        "commits": [*(f"{span(one.sha[:7])} {one_line(one.subject)}" for one in shown), *more],
        "notes": [note_text(event) for event in told.notes],
        "open_ends": [*(note_text(event) for event in told.open_ends), *_unsolved(told.problems)],
        "files": _files(whole.events, most_files) if most_files else [],
        "provenance": [*_provenance(told, shown, private), *left_out],
    }


def _summary(whole: RecapContent) -> list[str]:
    day, lines = whole.events, []
    operations = Counter(name for story in day.stories.values() for name in story.operations)
    for _, op, ids in day.bulk:
        operations[operation_name(op)] += len(ids)
    if operations:
        changed = len({*day.stories, *(doc_id for _, _, ids in day.bulk for doc_id in ids)})
        parts = ", ".join(f"{number} {name}" for name, number in sorted(operations.items()))
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
    if day.approvals:
        lines.append(f"{count(len(day.approvals), 'approval or snapshot', 'approvals and snapshots')}.")
    if whole.commits:
        authors = sorted({one_line(commit.author) for commit in whole.commits})
        named = f" by {', '.join(authors)}" if len(authors) > 1 else ""
        lines.append(f"{count(len(whole.commits), 'commit')}{named}.")
    if whole.used:
        number = len({event.session_id for event in whole.used})
        lines.append(f"{count(len(whole.used), 'event')} in {count(number, 'session')}.")
    if day.unfit:
        lines.append(
            f"{count(day.unfit, 'text')} left out: a secret, or an order to the reader, seems to stand in it."
        )
    return lines


def _decisions(day: SortedEvents, documents: Mapping[str, Document]) -> Iterator[str]:
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
    for event in day.approvals:
        reason = event.body.get("reason") or event.why
        if isinstance(reason, str) and reason:
            verdict = "Refused" if event.body.get("approved") is False else "Approved"
            about = [id for id in event.refs.get("memory_doc_ids") or () if isinstance(id, str)]
            yield f"{verdict}{' ' + spans(about[:_BULK_NAMED]) if about else ''}: {one_line(cut(reason))}"


def _is_decision(doc_id: str, story: DocumentRecap) -> bool:
    return doc_id.startswith("adr.") and not story.operations.keys().isdisjoint(("added", "superseded"))


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


def _problem(one: CommandProblem) -> str:
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


def _unsolved(problems: Iterable[CommandProblem]) -> Iterator[str]:
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


def _changes(day: SortedEvents, documents: Mapping[str, Document]) -> list[str]:
    lines = []
    for event, op, ids in day.bulk:
        reason = f": {one_line(event.why).rstrip('.')}" if event.why else ""
        named = f"{spans(ids[:_BULK_NAMED])} and {len(ids) - _BULK_NAMED} more"
        lines.append(f"{len(ids)} documents {operation_name(op)} ({named}){reason}.")
    for doc_id, story in day.stories.items():
        if _is_decision(doc_id, story):
            continue
        document = documents.get(doc_id)
        title = f" ({one_line(document.title)})" if document is not None and document.title else ""
        operations = ", ".join(
            name if times == 1 else f"{name} {times} times" for name, times in story.operations.items()
        )
        reasons = f": {'; '.join(story.reasons)}" if story.reasons else ""
        lines.append(f"{span(doc_id)}{title} {operations}{reasons}.")
    return lines


def _chosen_commits(commits: Sequence[Commit], most: int) -> tuple[Sequence[Commit], list[str]]:
    """The commits, or of many those that stand for the others, and a line that says how many more there
    are."""
    if len(commits) <= most:
        return commits, []
    own = [commit for commit in commits if not commit.subject.startswith("Merge ")] or commits
    chosen = [own[place] for place in _standing_for([commit.subject for commit in own], most)]
    more = len(commits) - len(chosen)
    return chosen, [f"and {more} more"] if more else []


def _standing_for(texts: Sequence[str], number: int) -> list[int]:
    """The places of at most ``number`` texts that together speak of most of what all speak of, in order.

    Each word weighs as many texts as have it; the text whose words of those not told yet weigh most, for its
    length, comes next.
    """
    words = [frozenset(_WORD.findall(text.casefold())) for text in texts]
    weight: dict[str, int] = {}
    for each in words:
        for word in each:
            weight[word] = weight.get(word, 0) + 1
    told: set[str] = set()
    chosen: list[int] = []
    left = set(range(len(texts)))
    while left and len(chosen) < number:
        # A word that one text alone has says nothing of the others.
        gain = {
            at: sum(weight[word] for word in words[at] - told if weight[word] > 1)
            / (len(words[at]) + 4) ** 0.5
            for at in left
        }
        best = min(left, key=lambda at: (-gain[at], at))
        chosen.append(best)
        told |= words[best]
        left.discard(best)
    return sorted(chosen)


def _files(day: SortedEvents, most: int) -> list[str]:
    """Files that were touched, the most often touched of many, without the store's own: documents are told of
    by their ids."""
    paths = [path for path in day.paths if not path.startswith(".thunderus/")]
    chosen = sorted(sorted(paths, key=lambda path: (-day.paths[path], path))[:most])
    lines = [span(path) for path in chosen]
    return [*lines, f"and {len(paths) - most} more"] if len(paths) > most else lines


def _provenance(day: SortedEvents, commits: Sequence[Commit], private: Collection[str]) -> list[str]:
    def cite(ids: Iterable[str]) -> str:
        return ", ".join(f"{span(id)} (private)" if id in private else span(id) for id in ids)

    lines = [f"{len(ids)} documents {operation_name(op)}: {cite([event.id])}" for event, op, ids in day.bulk]
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
        ("Approvals and snapshots", [event.id for event in day.approvals]),
    ):
        if events:
            lines.append(f"{name}: {cite(events)}")
    if commits:
        lines.append(f"Commits: {spans(commit.sha[:7] for commit in commits)}")
    return lines
