"""The review queue: list and show pending proposals, and look up decisions in the log.

A rebase computes what a proposal would change in the current documents, if it still applies. Reads proposals,
documents and the log; writes nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from thunderus_mem.document.diff import apply_diff, lines_of, reversed_diff, stretches, three_way
from thunderus_mem.document.document import content_hash, read_document
from thunderus_mem.document.timestamp import format_timestamp
from thunderus_mem.errors import InvalidDocument, NotFound
from thunderus_mem.index.log import read
from thunderus_mem.log.actor import by_whom
from thunderus_mem.log.event import changes_of, text_in
from thunderus_mem.log.imported import is_imported
from thunderus_mem.memory import proposals
from thunderus_mem.memory.journal import FileChange
from thunderus_mem.memory.past_texts import CommittedTexts, PastTexts, as_lf, text_at
from thunderus_mem.merge.documents import merge_cleanly
from thunderus_mem.startup import NamedTuple
from thunderus_mem.store.paths import proposal_id

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from thunderus_mem.log.line import Event
    from thunderus_mem.memory.memory import Memory
    from thunderus_mem.memory.proposals import BadProposal, Proposal, ProposedEdit, Waiting

# Rebase

State: TypeAlias = Literal["fits", "moved", "conflict", "gone", "there"]


class Rebase(NamedTuple):
    """The result of a rebase.

    ``state``: ``fits`` (the documents are unchanged since), ``moved`` (they changed in other lines),
    ``conflict`` (they changed in the same lines, see ``problem``), ``gone`` (a document is missing),
    ``there`` (already applied). ``edits`` are the changes of approving it now, only for ``fits`` and
    ``moved``.
    """

    state: State
    edits: tuple[FileChange, ...] = ()
    problem: str = ""


class _Unusable(Exception):
    """Raised to end the rebase of a proposal that does not apply."""

    def __init__(self, state: State, problem: str) -> None:
        super().__init__(problem)
        self.found = Rebase(state, problem=problem)


def rebase(memory: Memory, proposal: Proposal, committed: CommittedTexts) -> Rebase:
    """Rebase a proposal on the current documents. The index must be fresh.

    Raises `InvalidDocument` for an invalid diff. May request texts from git, see `CommittedTexts`.
    """
    now = {edit.path: text_at(memory.root, edit.path) for edit in proposal.edits}
    rebaser = _Rebaser(memory, proposal, now, committed)
    try:
        found = list(rebaser.edits())
    except _Unusable as error:
        return error.found
    except proposals.InvalidProposal as error:
        raise InvalidDocument(f"{proposal.id}: {error.reason}", hint=error.fix) from None
    if not found:
        return Rebase("there", problem="already applied")
    return Rebase("moved" if rebaser.moved else "fits", tuple(found))


class _Rebaser:
    """Rebases one proposal on the texts ``now`` at its paths."""

    def __init__(
        self, memory: Memory, proposal: Proposal, now: Mapping[str, str | None], committed: CommittedTexts
    ) -> None:
        self._memory = memory
        self._proposal = proposal
        self._now = now
        self._committed = committed
        self.moved = False

    def edits(self) -> Iterator[FileChange]:
        """Yield the remaining changes, file by file. Raises `_Unusable`."""
        source: ProposedEdit | None = None
        for edit in self._proposal.edits:
            if edit.renames and not edit.after:
                source = edit
                continue
            if edit.renames and source is not None:
                yield from self._rename(source, edit)
                continue
            made = self._edit(edit)
            if made is not None:
                yield made

    def _edit(self, edit: ProposedEdit) -> FileChange | None:
        now = self._now[edit.path]
        if not edit.before:
            return self._created(edit, now)
        found = "" if now is None else content_hash(now)
        if found == edit.after:
            self.moved = True
            return None
        if now is None:
            raise _Unusable("gone", f"{edit.path} does not exist any more")
        if found == edit.before:
            return FileChange(edit.doc_id, edit.path, now, edit.text_after(now))
        self.moved = True
        if not edit.after:
            raise _Unusable("conflict", f"{edit.path} has changed since; removing it would lose that change")
        return FileChange(edit.doc_id, edit.path, now, self._merged(edit, now))

    def _created(self, edit: ProposedEdit, now: str | None) -> FileChange | None:
        text = edit.text_after(None)
        if now is not None:
            if _content(edit.path, now) == _content(edit.path, text or ""):
                self.moved = True
                return None
            raise _Unusable("conflict", f"{edit.path} now contains another document")
        taken = self._memory.index.get(edit.doc_id) if edit.doc_id else None
        if taken is not None and taken.path not in self._now:
            raise _Unusable("conflict", f"the id {edit.doc_id!r} is now used by {taken.path}")
        return FileChange(edit.doc_id, edit.path, None, text)

    def _rename(self, old: ProposedEdit, new: ProposedEdit) -> Iterator[FileChange]:
        now = self._now[old.path]
        if now is None:
            renamed = self._now[new.path]
            if renamed is not None and content_hash(renamed) == new.after:
                self.moved = True
                return
            raise _Unusable("gone", f"{old.path} does not exist any more")
        if self._now[new.path] is not None:
            raise _Unusable("conflict", f"{new.path} now contains another document")
        after = new.text_after(None) or ""
        if content_hash(now) == old.before:
            text = three_way(as_lf(now), now, after) if "\r" in now else after
        else:
            self.moved = True
            base = self._base(old, now)
            text = three_way(base, now, after)
            if text is None:
                raise _Unusable("conflict", _overlap(old.path, base, now, after))
        yield from FileChange.move(
            old.doc_id, old.path, now, new.path, new_text=text or after, new_id=new.doc_id
        )

    def _merged(self, edit: ProposedEdit, now: str) -> str:
        base = self._base(edit, now)
        wanted = edit.text_after(base) or ""
        text = merge_cleanly(edit.path, base, now, wanted, format_timestamp(self._memory.now()))
        if text is None:
            raise _Unusable("conflict", _overlap(edit.path, base, now, wanted))
        return text

    def _base(self, edit: ProposedEdit, now: str) -> str:
        """The text that the edit was made from. Raises `_Unusable` if it cannot be found."""
        if not edit.after:
            text = apply_diff("", reversed_diff(edit.diff))
            if text is not None and content_hash(text) == edit.before:
                return text
        events = self._memory.events_about([edit.path], [edit.doc_id] if edit.doc_id else [])
        made = [(event, change) for event in events for change in changes_of(event)]
        made = [one for one in made if edit.doc_id == one[1].doc_id or edit.path == one[1].path]
        own = [change for _, change in made]
        paths = {edit.path, *(change.path for change in own)}
        kept = self._memory.undo_texts
        past = PastTexts(own, now, lambda: kept.of_changes(made), lambda: self._committed.texts(paths))
        text = past.text(edit.before)
        if text is None:
            raise _Unusable(
                "conflict", f"{edit.path} has changed since, and its original text cannot be found"
            )
        return text


def _content(path: str, text: str) -> tuple[str, str, str, str]:
    """The content of a new document, for comparison: everything except times and provenance."""
    document = read_document(path, text.encode("utf-8", "surrogatepass")).document
    if document is None:
        return "", "", "", text
    return document.id, document.kind, document.title, as_lf(document.body)


def _overlap(path: str, base: str, now: str, wanted: str) -> str:
    """A message with the lines of a document that both the proposal and another change have changed."""
    old = lines_of(base)
    ours, theirs = stretches(old, lines_of(now)), stretches(old, lines_of(wanted))
    places = [
        _lines(j1, j2)
        for i1, i2, j1, j2 in ours or ()
        if any(i1 <= stop and start <= i2 for start, stop, _, _ in theirs or ())
    ]
    where = f"{', '.join(places)} of {path}" if places else path
    verb = "has" if (len(places) == 1 and places[0].startswith("line ")) or not places else "have"
    return f"{where} {verb} changed since, and the proposal changes the same lines"


def _lines(start: int, stop: int) -> str:
    return f"line {start + 1}" if stop - start <= 1 else f"lines {start + 1}-{stop}"


# The queue

DECISION: Final = "decision"
"""The key of an approval's body with the decision: approved, rejected or expired."""


def decision_of(event: Event) -> str:
    """The decision of an approval that was logged here, "" if it is none; imported ones decide nothing."""
    return "" if is_imported(event) else text_in(event.body, DECISION)


def decision_about(memory: Memory, patch: str) -> Event | None:
    """The last decision in the log about a proposal, by its id."""
    found = None
    for rows in memory.log_index().in_order(kinds=("approval",)):
        for entry in read(memory.log, rows):
            if entry.event.refs.get("patch_id") == patch and decision_of(entry.event):
                found = entry.event
    return found


def rejected_keys(memory: Memory) -> frozenset[str]:
    """The keys of all steps whose last decision is a rejection."""
    last: dict[str, str] = {}
    for rows in memory.log_index().in_order(kinds=("approval",)):
        for entry in read(memory.log, rows):
            key, decision = text_in(entry.event.body, "key"), decision_of(entry.event)
            if key and decision:
                last[key] = decision
    return frozenset(key for key, decision in last.items() if decision == "rejected")


_MOST_TARGETS, _MOST_WHY = 50, 500


class QueueState(NamedTuple):
    """Number of pending proposals, age of the oldest in days, and number of expired ones."""

    waiting: int = 0
    oldest_days: int = 0
    expired: int = 0


class ListedProposal(NamedTuple):
    """A summary of a proposal: its ``author``, its age in whole days, and whether it is ``expired`` by
    ``review.expires_days``. In a list ``why`` is shortened, and ``more_targets`` is the number of ``targets``
    not shown."""

    id: str
    created: str
    age_days: int
    expired: bool
    actor: str
    author: str
    op: str
    rule: str
    action: str
    label: str
    targets: tuple[str, ...]
    why: str
    more_targets: int = 0


class ProposalListing(NamedTuple):
    """Pending proposals, oldest first, and invalid files. ``left_out`` is the number of newer ones not shown,
    ``expired`` the number of all expired ones."""

    proposals: tuple[ListedProposal, ...]
    unreadable: tuple[BadProposal, ...] = ()
    expires_days: int = 0
    left_out: int = 0
    expired: int = 0


class ProposedChange(NamedTuple):
    """One file of a proposal: ``op`` is create, update, remove or rename (from ``moved_from``); the diff is
    the original one, or rebased on the current text."""

    path: str
    doc_id: str
    op: str
    diff: str
    moved_from: str = ""


class ShownProposal(NamedTuple):
    """A complete proposal. ``state`` and ``problem`` are those of its `Rebase`."""

    proposal: ListedProposal
    evidence: tuple[str, ...]
    state: str
    problem: str
    changes: tuple[ProposedChange, ...]
    path: str


def queue_state(memory: Memory) -> QueueState:
    """Count pending proposals and their ages, from the file names alone."""
    now = memory.now()
    found = (proposals.age(path, now) for path in proposals.file_names(memory.layout))
    ages = [days for days in found if days is not None]
    limit = memory.config.review_expires_days
    return QueueState(len(ages), max(ages, default=0), sum(days > limit for days in ages))


def _listed(memory: Memory, waiting: Waiting) -> ListedProposal:
    one = waiting.proposal
    days = proposals.age(waiting.path, memory.now()) or 0
    return ListedProposal(
        one.id,
        one.created,
        days,
        days > memory.config.review_expires_days,
        one.actor,
        one.origin.get("author", "") or one.actor,
        one.op,
        one.rule,
        one.action or one.op,
        one.label,
        one.targets,
        one.why,
    )


def review_list(memory: Memory, *, only: str = "", limit: int = 0) -> ProposalListing:
    """List pending proposals, at most ``limit`` (0: all), ``only`` those of a rule or with a label.

    Only one proposal at a time is loaded, and only its summary is kept.
    """
    listed: list[ListedProposal] = []
    bad: list[BadProposal] = []
    left_out = expired = 0
    for one in proposals.entries(memory.layout):
        if isinstance(one, proposals.BadProposal):
            bad.append(one)
        elif _matches(one.proposal, only):
            line = _shortened(_listed(memory, one))
            expired += line.expired
            left_out += bool(limit) and len(listed) == limit
            if not left_out:
                listed.append(line)
    return ProposalListing(tuple(listed), tuple(bad), memory.config.review_expires_days, left_out, expired)


def _shortened(one: ListedProposal) -> ListedProposal:
    why = one.why if len(one.why) <= _MOST_WHY else one.why[:_MOST_WHY] + "…"
    more = max(len(one.targets) - _MOST_TARGETS, 0)
    return one._replace(why=why, targets=one.targets[:_MOST_TARGETS], more_targets=more)


def _matches(proposal: Proposal, only: str) -> bool:
    return not only or only in (proposal.rule, proposal.label)


def waiting_for(memory: Memory, ids: Sequence[str], *, every: bool = False, only: str = "") -> list[Waiting]:
    """The proposals with the given ids or unique prefixes, or with ``every`` all, ``only`` those of a rule
    or with a label.

    Raises `NotFound` (with the decision, if there was one), `InvalidDocument` for an ambiguous prefix, and
    the error of any file that cannot be read, because it might be the one requested.
    """
    if every:
        return [one for one in proposals.all_waiting(memory.layout) if _matches(one.proposal, only)]
    paths = {proposal_id(path): path for path in proposals.file_names(memory.layout)}
    paths.pop("", None)
    chosen = dict.fromkeys(_resolved(memory, given, paths) for given in ids)
    return [proposals.read(memory.layout, paths[id]) for id in chosen]


def _resolved(memory: Memory, given: str, known: Collection[str]) -> str:
    wanted = given.strip().upper().removeprefix("PATCH_")
    matches = sorted(id for id in known if wanted and id.startswith(f"patch_{wanted}"))
    if len(matches) == 1:
        return matches[0]
    if matches:
        raise InvalidDocument(
            f"{given!r} is ambiguous: it matches {len(matches)} proposals",
            hint=f"use one of: {', '.join(matches[:8])}",
        )
    memory.refresh()
    decided = decision_about(memory, f"patch_{wanted}")
    if decided is not None:
        who = by_whom(decided.actor, text_in(decided.origin, "author"))
        raise NotFound(
            f"{given!r} is not pending: {text_in(decided.body, DECISION)} by {who} on {decided.ts[:10]}",
            hint=f"see `thunderus-mem events show {decided.id}`",
        )
    raise NotFound(
        f"no proposal has the id {given!r}", hint="run `thunderus-mem review list` to list pending proposals"
    )


def review_show(memory: Memory, id: str) -> ShownProposal:
    """Show one proposal: its reason, evidence and changes, and whether it still applies."""
    memory.refresh()
    (waiting,) = waiting_for(memory, [id])
    committed = CommittedTexts(memory.git)
    found = committed.fetching(lambda: rebase(memory, waiting.proposal, committed))
    proposal = waiting.proposal
    if found.state == "moved":
        proposal = proposal._replace(edits=tuple(map(proposals.ProposedEdit.of, found.edits)))
    changes = tuple(_changes(proposal.edits))
    return ShownProposal(
        _listed(memory, waiting), proposal.evidence, found.state, found.problem, changes, waiting.path
    )


def _changes(edits: Sequence[ProposedEdit]) -> Iterator[ProposedChange]:
    """The edits as shown: the two edits of a rename without other changes are merged into one."""
    source: ProposedEdit | None = None
    for one, following in zip(edits, (*edits[1:], None), strict=True):
        if source is not None:
            yield ProposedChange(one.path, one.doc_id, one.op, "", source.path)
            source = None
        elif one.renames and following is not None and one.before == following.after:
            source = one
        else:
            yield ProposedChange(one.path, one.doc_id, one.op, one.diff)
