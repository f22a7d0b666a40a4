"""The lines of a recap about documents: what happened to each and why, and what is open. Pure.

A reason was written down by an author: with the change (`-m`), as the context of a decision, or as the
message of the commit that contains the change; the line says which.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from typing import TYPE_CHECKING, Final

from thunderus_mem.document.anchors import anchors_in
from thunderus_mem.document.ids import slug
from thunderus_mem.document.timestamp import utc_key
from thunderus_mem.log.event import HAND_EDIT
from thunderus_mem.recap.documents import commit_says, repeats
from thunderus_mem.recap.events import (
    ADDED,
    BY_HAND,
    DECIDED,
    EXPIRED,
    IMPORTED,
    MERGED,
    SUPERSEDED,
    SUPERSEDING,
    TITLE,
    RecapStep,
    operation_name,
)
from thunderus_mem.recap.template import OMITTED, closed, count, cut, one_line, span
from thunderus_mem.startup import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from thunderus_mem.git.commits import Commit
    from thunderus_mem.memory.proposals import Proposal
    from thunderus_mem.recap.documents import RecapDocuments
    from thunderus_mem.recap.events import DocumentRecap, EventReading, SortedEvents
    from thunderus_mem.recap.scope import OutdatedCode

FEW: Final = 3
"""The most things named in a list within a line."""
LONGEST_TITLE: Final = 70
STORE: Final = ".thunderus/"
_IN_BULK = frozenset((IMPORTED, *map(operation_name, ("migrate", "resolve", "verify", "anchor"))))
"""Operations on several documents that are listed in one line, whatever their reasons."""
_LABELS = {MERGED: " into", SUPERSEDED: " by", SUPERSEDING: "", **dict.fromkeys(ADDED, ", superseding")}
_ENDED = frozenset(("rejected", "deprecated"))
_EDITED = frozenset(map(operation_name, ("edit", HAND_EDIT)))
_UNDONE = operation_name("undo")
_GONE = frozenset(("removed", _UNDONE, "redone", "removed by hand"))
_LINKABLE = frozenset("[]|#\n`<")
_IN_LINK = str.maketrans("[]|`<", "()/'(")


class Room(NamedTuple):
    """The most lines of a section, the longest text quoted in a line, the most documents named in one, the
    most steps of a document, the most commits, and whether files are listed. Without ``titles``, a link has
    a title only if the id does not say the same."""

    lines: int
    length: int
    named: int = 3
    steps: int = 5
    commits: int = 1
    files: bool = False
    titles: bool = False


class StoryLine(NamedTuple):
    """A line, and the documents that it is about; those that say why are shown first."""

    text: str
    explains: bool = True
    doc_ids: tuple[str, ...] = ()


class History(NamedTuple):
    """The commits that may hold the changes: those that touched each file, parents first, and the files that
    each ``touched``, by hash; the documents whose code changed, and the proposals that wait for review."""

    by_path: Mapping[str, Sequence[Commit]]
    touched: Mapping[str, Sequence[str]]
    outdated: Mapping[str, Sequence[OutdatedCode]]
    proposals: Sequence[Proposal]


class _Group(NamedTuple):
    """Documents with the same ``steps``, and the reasons of their last step."""

    section: str
    steps: tuple[RecapStep, ...]
    doc_ids: list[str]
    reasons: list[str]


@dataclass(frozen=True)
class Stories:
    """The lines about documents; ``shown`` are the events described. They have the days of what happened if
    it is ``dated``."""

    shown: SortedEvents
    documents: RecapDocuments
    history: History
    reading: EventReading
    room: Room
    dated: bool = False

    @cached_property
    def sections(self) -> dict[str, list[StoryLine]]:
        """The lines by section: decisions, changes, and open items."""
        lines: dict[str, list[StoryLine]] = {"decisions": [], "changes": [], "open_ends": []}
        mentioned: set[str] = set()
        for group in self._groups():
            key = group.steps
            # The reasons of steps before the last one are given once.
            first = [
                step._replace(reason="") if step.reason in {*mentioned, key[-1].reason} else step
                for step in key[:-1]
            ]
            mentioned |= {step.reason for step in first}
            short = _without_repetition(group._replace(steps=(*first, key[-1])))
            lines[group.section].append(self._line(short))
        lines["open_ends"] = [
            *self._proposals(),
            *lines["open_ends"],
            *self._imported_proposals(),
            *self._outdated(),
            *self._tasks(),
        ]
        return lines

    # Links

    def link(self, doc_id: str) -> str:
        """A link to the document with its title; its title and id, if it cannot be linked."""
        found = self.documents.get(doc_id)
        document = None if doc_id in self._merged else found
        title = document.title if document is not None else self.shown.titles.get(doc_id, "")
        if document is None and found is not None and found.title == title:
            title = ""  # that of the document that it was merged into
        title = self._title(title.translate(_IN_LINK))
        if document is None or not _LINKABLE.isdisjoint(document.id):
            shown = span(cut(doc_id, LONGEST_TITLE))
            return f"{title} ({shown})" if title else shown
        is_shown = self.room.titles or document.id.partition(".")[2] != slug(document.title)
        return f"[[{document.id}|{title}]]" if title and is_shown else f"[[{document.id}]]"

    def short_link(self, doc_id: str) -> str:
        """A link to the document without its title."""
        document = None if doc_id in self._merged else self.documents.get(doc_id)
        if document is None or not _LINKABLE.isdisjoint(document.id):
            return span(cut(doc_id, LONGEST_TITLE))
        return f"[[{document.id}]]"

    def _title(self, title: str) -> str:
        return OMITTED if self.reading.unfit(title) else cut(one_line(title), LONGEST_TITLE)

    def cut(self, text: str) -> str:
        """A text as short as this page needs it; a mark instead of one that may not be in it."""
        return OMITTED if self.reading.unfit(text) else closed(cut(text, self.room.length))

    @cached_property
    def _merged(self) -> set[str]:
        """The documents that were merged into others, which have their ids as aliases now."""
        stories = self.shown.stories.items()
        return {doc_id for doc_id, story in stories if MERGED in story.operations}

    # What happened

    def _groups(self) -> list[_Group]:
        """The documents with the same steps for the same reasons together. Imports and verifications of
        several documents are a group of their own, whatever their reasons."""
        steps = {doc_id: self._steps(doc_id, story) for doc_id, story in self.shown.stories.items()}
        often = Counter(op for each in steps.values() for op in {step.operation for step in each})
        together: dict[tuple[str, tuple[RecapStep, ...]], tuple[dict[str, None], dict[str, None]]] = {}
        for doc_id, each in steps.items():
            bulk = [step for step in each if step.operation in _IN_BULK and often[step.operation] > 1]
            for part in (*([step] for step in bulk), [step for step in each if step not in bulk]):
                if part:
                    is_bulk, section = part[0] in bulk, self._section_of(doc_id, part)
                    key = tuple(
                        step._replace(
                            other=step.other if step.operation == SUPERSEDING else "",
                            reason="" if is_bulk else step.reason,
                            by=step.by if step.review or section != "changes" else "",
                        )
                        for step in part
                    )
                    doc_ids, reasons = together.setdefault((section, key), ({}, {}))
                    doc_ids[doc_id] = reasons[part[-1].reason] = None
        groups = [
            _Group(section, key, list(doc_ids), [reason for reason in reasons if reason])
            for (section, key), (doc_ids, reasons) in together.items()
        ]
        return _joined(groups)

    def _steps(self, doc_id: str, story: DocumentRecap) -> list[RecapStep]:
        """The steps of a document: one for repeated operations, unless they have other reasons; none for a
        supersession that was undone, or that the line of its successor reports."""
        found: list[RecapStep] = []
        for step in story.steps:
            if step.operation == SUPERSEDED and (
                not self._supersedes(step.other, doc_id) or self._replaced.get(step.other) == doc_id
            ):
                continue
            if step.operation in ADDED and doc_id in self._replaced:
                old = self._replaced[doc_id]
                step = step._replace(other=old, reason=step.reason or self._reason_for(old))
            if step.operation == SUPERSEDING and step.other == self._replaced.get(doc_id):
                continue
            is_same = found and (found[-1].operation, found[-1].comment) == (step.operation, step.comment)
            if is_same and not (step.reason and found[-1].reason):
                step = step._replace(reason=found.pop().reason or step.reason)
            found.append(step)
        if len(found) > self.room.steps:
            middle = RecapStep(f"changed {count(len(found) - self.room.steps + 1, 'more time')}")
            found[self.room.steps - 2 : -1] = [middle]
        return found

    def _supersedes(self, doc_id: str, old_id: str) -> bool:
        document = self.documents.get(doc_id)
        return document is None or any(
            link.rel == "supersedes" and link.target == old_id for link in document.links
        )

    @cached_property
    def _replaced(self) -> dict[str, str]:
        """A document that was added here → the one that it superseded, if that is all that happened to it."""
        found: dict[str, str] = {}
        for old, story in self.shown.stories.items():
            steps = [step for step in story.steps if step.operation != IMPORTED]
            if [step.operation for step in steps] == [SUPERSEDED] and self._supersedes(steps[0].other, old):
                successor = self.shown.stories.get(steps[0].other)
                if successor is not None and not ADDED.isdisjoint(successor.operations):
                    found.setdefault(steps[0].other, old)
        return found

    def _reason_for(self, superseded: str) -> str:
        steps = self.shown.stories[superseded].steps
        return next(step.reason for step in steps if step.operation == SUPERSEDED)

    def _section_of(self, doc_id: str, steps: Sequence[RecapStep]) -> str:
        """Where these steps are listed: decisions are records that were added, superseded or reviewed, or
        whose state was edited."""
        is_gone = steps[-1].operation in _GONE and self.documents.get(doc_id) is None
        done = {step.operation for step in steps}
        decides = not done.isdisjoint((*ADDED, *DECIDED, SUPERSEDED)) or any(step.review for step in steps)
        if not doc_id.startswith("adr.") or is_gone or not decides:
            return "changes"
        is_proposed = self.documents.facts(doc_id).state == "proposed"
        return "open_ends" if is_proposed and SUPERSEDED not in done else "decisions"

    def _line(self, group: _Group) -> StoryLine:
        """The line of documents with the same steps."""
        last = group.steps[-1]
        if last.operation == IMPORTED and len(group.steps) == 1 < len(group.doc_ids):
            return StoryLine(self._imported(group), bool(group.reasons), tuple(group.doc_ids))
        number = len(group.doc_ids)
        others = [self._others(doc_id, group.steps) for doc_id in group.doc_ids[: self.room.named]]
        text, known = "", ""
        for step, other in zip(
            group.steps, others[0] if number == 1 else [""] * len(group.steps), strict=True
        ):
            reasons = self._reasons(step) if step is not last else ""
            by = f" by {self.cut(step.by)}" if step.by not in ("", known) else ""
            known = step.by or known
            if step.is_refused:
                did = _refused(step, number, is_first=not text) + by
            elif step.review:
                made = f"proposed by {step.proposer} and" if step.proposer else "proposal"
                did = f"{self._done(step, group)}{other}, {made} approved{by}"
            else:
                did = self._done(step, group, by) + other
            joined = "" if step.is_refused else ", then " if text else " "
            text += joined + did + (f" ({reasons})" if reasons else "")
        text += self._restored(group, others[0])
        if number == 1:
            text = f"{self.link(group.doc_ids[0])}{text}."
        else:
            named = [
                self.link(doc_id) + "".join(each) for doc_id, each in zip(group.doc_ids, others, strict=False)
            ]
            subject = "" if group.steps[0].is_refused else f"{number} documents"
            text = f"{subject}{text}: {few_of(named, number)}."
        why = self._because(group)
        is_unexplained = last.operation in BY_HAND and not why
        is_clear = last.operation == MERGED or is_unexplained
        explains = bool(why or is_clear or any(self._reasons(step) for step in group.steps))
        return StoryLine(
            text + (" No reason given." if is_unexplained else why), explains, tuple(group.doc_ids)
        )

    def _restored(self, group: _Group, others: Sequence[str]) -> str:
        """Which decision applies again after its successor was undone."""
        doc_id = group.doc_ids[0]
        old = next((step.other for step in self._steps(doc_id, self.shown.stories[doc_id]) if step.other), "")
        is_undone = len(group.doc_ids) == 1 and group.steps[-1].operation == _UNDONE and any(others)
        if not is_undone or old in self._successors or self.documents.get(old) is None:
            return ""
        return f", so that {self.short_link(old)} applies again"

    def _reasons(self, step: RecapStep) -> str:
        """Why a step was done, and why it was approved or rejected."""
        said = (("reason", step.reason), ("review", step.comment))
        return "; ".join(f"{name}: {self.cut(text)}" for name, text in said if text)

    def _done(self, step: RecapStep, group: _Group, by: str = "") -> str:
        if step.operation not in ADDED:
            return (SUPERSEDED if step.operation == SUPERSEDING else step.operation) + by
        if group.section == "open_ends":
            return f"proposed{by}, not decided"
        state = self.documents.facts(group.doc_ids[0]).state if len(group.doc_ids) == 1 else ""
        return f"{step.operation} as {state}{by}" if state in _ENDED else step.operation + by

    def _others(self, doc_id: str, steps: Sequence[RecapStep]) -> list[str]:
        """For each step, the document that this one was merged into, superseded by, renamed from or
        supersedes."""
        story = self.shown.stories[doc_id]
        own = {step.operation: step.other for step in self._steps(doc_id, story) if step.other}
        return [
            ""
            if not (other := own.get(step.operation))
            else f"{_LABELS[step.operation]} {self.link(other)}"
            if step.operation in _LABELS
            else f" from {span(cut(other, LONGEST_TITLE))}"
            for step in steps
        ]

    def _because(self, group: _Group) -> str:
        """Why, as the end of a line: the reasons, else the context of a decision, else a commit; then the
        comment of a review."""
        last = group.steps[-1]
        reviewed = f" Review: {sentence(self.cut(last.comment))}" if last.comment else ""
        if group.reasons:
            reasons = "; ".join(group.reasons[:FEW])
            name = "Reason" if len(group.reasons) == 1 else "Reasons"
            return f" {name}{' for the proposal' if last.is_refused else ''}: {self.cut(reasons)}.{reviewed}"
        has_reason = last.is_refused or any(step.reason for step in group.steps)
        return ("" if has_reason else self._context(group)) + reviewed

    def _context(self, group: _Group) -> str:
        if len(group.doc_ids) == 1 and group.section != "changes":
            context = self.documents.facts(group.doc_ids[0]).context
            if context:
                return f" Context: {sentence(self.cut(context))}"
        if group.steps[-1].operation == MERGED:
            return ""
        commits = {self._holder(doc_id) for doc_id in group.doc_ids[: self.room.named]}
        commit = commits.pop() if len(commits) == 1 else None
        return f" Commit: {self.names(commit)}." if commit is not None else ""

    def says(self, commit: Commit) -> str:
        """The hash of a commit, and a quote of its message, as short as this page needs it."""
        return self._quoted(commit, commit_says(commit))

    def names(self, commit: Commit) -> str:
        """The hash and the subject of a commit."""
        return self._quoted(commit, one_line(commit.subject))

    def _quoted(self, commit: Commit, text: str) -> str:
        shown = self.cut(text).replace('"', "'")
        return f"{span(commit.sha[:7])} {shown}" if shown == OMITTED else f'{span(commit.sha[:7])} "{shown}"'

    def day_of(self, time: str) -> str:
        """The day of a time (UTC) if the lines are dated; else ""."""
        return utc_key(time)[:10] if self.dated else ""

    def _holder(self, doc_id: str) -> Commit | None:
        """The first commit of a document's file after the last event that changed it, if the commit is about
        the document: it changes nothing else but the memory and the code of the document."""
        document, story = self.documents.get(doc_id), self.shown.stories[doc_id]
        if document is None or not story.last:
            return None
        commits = self.history.by_path.get(document.path, ())
        found = next((one for one in commits if utc_key(one.date) >= story.last[:19]), None)
        code = {cited.anchor.path for cited in anchors_in(document.header, document.header_line)}
        touched = self.history.touched.get(found.sha, ()) if found is not None else ()
        others = [path for path in touched if path not in code and not path.startswith(STORE)]
        return found if not others else None

    # Imports

    def _imported(self, group: _Group) -> str:
        """An import: from where, how many, and which decisions with their states."""
        number, named = len(group.doc_ids), self.room.named
        origin = self.documents.origin(group.doc_ids)
        decisions = [doc_id for doc_id in group.doc_ids if doc_id.startswith("adr.")]
        # An index page or template among decisions has no state.
        decisions.sort(key=lambda doc_id: not self.documents.facts(doc_id).state)
        others = [doc_id for doc_id in group.doc_ids if not doc_id.startswith("adr.")]
        undecided = sum(self.documents.facts(doc_id).state == "proposed" for doc_id in decisions)
        of_them = f" ({undecided} proposed)" if undecided and len(decisions) > named else ""
        among = ", among them" if len(decisions) > named else ":"
        shown = [self.link(doc_id) + self._state(doc_id) for doc_id in decisions[:named]]
        parts = [f"{count(len(decisions), 'decision')}{of_them}{among} {', '.join(shown)}"]
        parts = parts if decisions else []
        by_kind = [(kind, list(some)) for kind, some in groupby(sorted(others, key=_kind), key=_kind)]
        for kind, some in by_kind:
            links = [self.link(doc_id) for doc_id in some[: max(named - len(shown), 0) // len(by_kind)]]
            parts.append(f"{count(len(some), kind)}{': ' if links else ''}{few_of(links, len(some))}")
        source = f" from {origin}" if origin else ""
        return f"{number} documents imported{source}: {'; '.join(parts)}.{self._because(group)}"

    def _state(self, doc_id: str) -> str:
        if successor := self._successors.get(doc_id):
            return f" (superseded by {self.short_link(successor)})"
        state = self.documents.facts(doc_id).state
        return f" ({state})" if state not in ("", "accepted") else ""

    @cached_property
    def _successors(self) -> dict[str, str]:
        return self.documents.successors(self.shown.stories)

    # What is open

    def _imported_proposals(self) -> list[StoryLine]:
        found = [
            doc_id
            for doc_id, story in self.shown.stories.items()
            if IMPORTED in story.operations
            and self.documents.facts(doc_id).state == "proposed"
            and doc_id not in self._successors
        ]
        if not found:
            return []
        named = few_of([self.link(doc_id) for doc_id in found[: self.room.named]], len(found))
        return [StoryLine(f"Imported as proposed, not decided: {named}.", doc_ids=tuple(found))]

    def _proposals(self) -> list[StoryLine]:
        """The proposals that wait for review; those of a rule of the gardener together."""
        lines = []
        for rule, some in groupby(sorted(self.history.proposals, key=_rule), key=_rule):
            listed = list(some)
            if rule and len(listed) > 1:
                lines.append(StoryLine(f"{len(listed)} proposals of the gardener ({rule}) wait for review."))
                continue
            for one in listed:
                named = few_of([self._target(one, doc_id) for doc_id in one.targets[:FEW]], len(one.targets))
                why = one_line(one.why).rstrip(".")
                reason = f" Reason: {self.cut(why)}." if why else ""
                of = " by an agent" if one.actor == "agent" else ""
                on = f" on {day}" if (day := self.day_of(one.created)) else ""
                text = f"Proposal{of}{on} to {one.op} {named} waits for review.{reason}"
                lines.append(StoryLine(text, bool(why)))
        return lines

    def _target(self, proposal: Proposal, doc_id: str) -> str:
        if self.documents.get(doc_id) is not None:
            return self.link(doc_id)
        diff = next((edit.diff for edit in proposal.edits if edit.doc_id == doc_id), "")
        found = TITLE.search(diff)
        title = self._title(found[1].strip("\"' ")) if found else ""
        shown = span(cut(doc_id, LONGEST_TITLE))
        return f"{title} ({shown})" if title else shown

    def _outdated(self) -> list[StoryLine]:
        """The documents whose code changed: those of one commit in one line."""
        lines: list[StoryLine] = []
        by_commit: dict[Commit, list[str]] = {}
        for doc_id, each in self.history.outdated.items():
            commits = {one.commit for one in each}
            if len(commits) == 1 and (commit := commits.pop()) is not None:
                by_commit.setdefault(commit, []).append(doc_id)
            else:
                lines.append(self._outdated_one(doc_id))
        return lines + [
            self._outdated_by(commit, doc_ids) if len(doc_ids) > 1 else self._outdated_one(doc_ids[0])
            for commit, doc_ids in by_commit.items()
        ]

    def _outdated_by(self, commit: Commit, doc_ids: Sequence[str]) -> StoryLine:
        named = []
        for doc_id in doc_ids[: self.room.named]:
            changed = self.history.outdated[doc_id]
            removed = ", removed" if all(one.is_missing for one in changed) else ""
            named.append(f"{self.link(doc_id)} ({_places(changed)}{removed}{self._since(doc_id, commit)})")
        listed = few_of(named, len(doc_ids))
        text = f"{len(doc_ids)} documents may be out of date: {listed}. Changed in {self.names(commit)}."
        return StoryLine(text, True, tuple(doc_ids))

    def _outdated_one(self, doc_id: str) -> StoryLine:
        by_change: dict[tuple[bool, Commit | None], list[OutdatedCode]] = {}
        for one in self.history.outdated[doc_id]:
            by_change.setdefault((one.is_missing, one.commit), []).append(one)
        parts = [
            sentence(
                f"{_places(places)}, {'removed' if is_missing else 'changed'}{self._later(doc_id, commit)}"
                + (f" in {self.names(commit)}" if commit is not None else "")
                + (self._since(doc_id, commit))
            )
            for (is_missing, commit), places in by_change.items()
        ]
        more = f" And {len(parts) - FEW} more." if len(parts) > FEW else ""
        text = f"{self.link(doc_id)} may be out of date: {' '.join(parts[:FEW])}{more}"
        return StoryLine(text, True, (doc_id,))

    def _since(self, doc_id: str, commit: Commit | None) -> str:
        """A remark on a document that was edited after the commit: maybe only its anchor is out of date."""
        story = self.shown.stories.get(doc_id)
        if story is None or commit is None or not story.steps:
            return ""
        is_edited = list(story.steps)[-1].operation in _EDITED and story.last > utc_key(commit.date)
        return "; edited since, not verified" if is_edited else ""

    def _later(self, doc_id: str, commit: Commit | None) -> str:
        story = self.shown.stories.get(doc_id)
        is_later = story is not None and commit is not None and "" < story.last < utc_key(commit.date)
        return " later" if is_later else ""

    def _tasks(self) -> list[StoryLine]:
        """The documents of the period that ask something, or have unchecked tasks."""
        lines = []
        for doc_id in self.shown.stories:
            facts = self.documents.facts(doc_id)
            if facts.tasks:
                more = f" and {len(facts.tasks) - 1} more" if len(facts.tasks) > 1 else ""
                text = f"{self.link(doc_id)}: to do: {sentence(self.cut(facts.tasks[0]) + more)}"
                lines.append(StoryLine(text, False, (doc_id,)))
            elif facts.asks and facts.state != "proposed":
                lines.append(StoryLine(self.link(doc_id), False, (doc_id,)))
        return lines


def _joined(groups: Sequence[_Group]) -> list[_Group]:
    """The groups, those of the same documents that were changed together in steps as one."""
    found: list[_Group] = []
    for group in groups:
        last = found[-1] if found else group
        if last is not group and len(group.doc_ids) > 1 and last.doc_ids == group.doc_ids:
            before = last.steps[-1]._replace(reason="; ".join(last.reasons[:FEW]))
            found[-1] = group._replace(steps=(*last.steps[:-1], before, *group.steps))
        else:
            found.append(group)
    return found


def _without_repetition(group: _Group) -> _Group:
    """The group without reasons that only repeat what the line says before them."""
    before = ""
    steps = []
    for step in group.steps[:-1]:
        kept = step._replace(reason="") if repeats(step.reason, before) else step
        steps.append(kept)
        before = f"{before} {kept.reason} {kept.comment}"
    reasons = [reason for reason in group.reasons if not repeats(reason, before)]
    return group._replace(steps=(*steps, group.steps[-1]), reasons=reasons)


def _refused(step: RecapStep, number: int, *, is_first: bool) -> str:
    """What became of a proposal about one document or several, with the punctuation before it."""
    ended = EXPIRED if step.review == EXPIRED else f"{'was' if number == 1 else 'were'} {step.review}"
    of = f" by {step.proposer}" if step.proposer else ""
    if number == 1:
        return f"{':' if is_first else ';'} a proposal{of} to {step.operation} it {ended}"
    if is_first:
        return f"Proposals{of} to {step.operation} {number} documents {ended}"
    return f"; proposals{of} to {step.operation} them {ended}"


def _kind(doc_id: str) -> str:
    return doc_id.partition(".")[0]


def _rule(proposal: Proposal) -> str:
    return proposal.rule


def sentence(text: str) -> str:
    """A text that ends with a full stop, or with its own mark."""
    return text if text[-1:] in ".!?…" else f"{text}."


def few_of(names: Sequence[str], number: int) -> str:
    """Names, the first of ``number``, separated by commas; "" without any."""
    more = f" and {number - len(names)} more" if number > len(names) > 0 else ""
    return ", ".join(names) + more


def _places(changed: Sequence[OutdatedCode]) -> str:
    named = [
        ("its source " if one.is_source else "") + span(cut(one.place, LONGEST_TITLE))
        for one in changed[:FEW]
    ]
    return few_of(named, len(changed))


def few_spans(names: Iterable[str]) -> str:
    """The first names as code spans, and the number of the others."""
    listed = list(names)
    return few_of([span(cut(name, LONGEST_TITLE)) for name in listed[:FEW]], len(listed))
