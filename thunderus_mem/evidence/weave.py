"""Joins what the log and git know of a document into one graph of versions, for `owners.line_owners`. Pure.

Git's revisions (and the file as it is now, the newest of them) are the frame: each names those it started
from. Between two of them the log's transitions are fitted in by hashes: a run of them that leads from an
older revision's text to this one's explains it, line by line. What no run explains was written by the commit
itself, or outside the tool. Transitions that fit nowhere (their branch was rebased, squashed or merged with
another) still say whose their added lines are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from thunderus_mem.evidence.owners import Version
from thunderus_mem.evidence.runs import Runs
from thunderus_mem.evidence.transitions import NOTHING, Transition, known_texts
from thunderus_mem.model.document import content_hash

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

__all__ = ["COMMIT", "EVENT", "UNRECORDED", "Owner", "Revision", "weave"]

EVENT: Final = "event"
COMMIT: Final = "commit"
UNRECORDED: Final = "unrecorded"


class Owner(NamedTuple):
    """Who a line belongs to: an event or a commit by its id, or nobody on record.

    Not ``exact``: what came before is not known, so the line may be older.
    """

    kind: str
    id: str
    exact: bool = True


class Revision(NamedTuple):
    """A state of the file: a commit's, or with ``key`` "" the present one. ``text`` has LF line ends.

    ``parents`` are keys of older revisions it was made from, ``cut``: there are others nobody here has.
    """

    key: str
    parents: tuple[str, ...]
    text: str | None
    cut: bool = False


class _Fit(NamedTuple):
    """How the log explains a revision: ``lead`` starts from an older one, ``run`` ends in this one.

    ``whole``: together they are one run. ``source`` is the older revision the lead starts from.
    """

    lead: tuple[Transition, ...]
    run: tuple[Transition, ...]
    whole: bool
    source: str = ""


def lines_of(text: str) -> list[str]:
    """The lines of a text without their ends, as an editor counts them."""
    lines = text.split("\n")
    return lines[:-1] if lines[-1] == "" else lines


def weave(transitions: Sequence[Transition], revisions: Sequence[Revision]) -> list[Version[Owner]]:
    """The versions of a document, older ones first; the last is the first revision's text.

    ``revisions`` come newest first, every one before those it was made from.
    """
    frame = _Frame(revisions)
    runs = Runs(transitions)
    fits = _fit(frame, runs)
    placed = {transition.number for fit in fits.values() for transition in fit.run}
    spare = [transition for transition in transitions if transition.own and transition.number not in placed]
    return _Loom(frame, fits, transitions, spare).versions()


class _Frame:
    """The revisions that matter, with their hashes; those that repeat a parent's text stand for it."""

    def __init__(self, revisions: Sequence[Revision]) -> None:
        self.by_key = {one.key: one for one in revisions if one.text is not None}
        self.hashes = {key: content_hash(one.text or "") for key, one in self.by_key.items()}
        self.texts = {self.hashes[key]: one.text or "" for key, one in self.by_key.items()}
        self.needed: list[Revision] = []
        wanted = {revisions[0].key} if revisions else set()
        for one in revisions:
            if one.key in wanted and one.text is not None:
                self.needed.append(one)
                wanted.update(self.sources(one))

    def sources(self, one: Revision) -> tuple[str, ...]:
        """The older revisions it was made from; the one with the same text alone, if there is one."""
        there = tuple(key for key in one.parents if key in self.by_key)
        same = [key for key in there if self.hashes[key] == self.hashes[one.key]]
        return tuple(same[:1]) or there

    def repeats(self, one: Revision) -> bool:
        """Whether it has a parent's text."""
        return any(self.hashes[key] == self.hashes[one.key] for key in self.sources(one))


def _fit(frame: _Frame, runs: Runs) -> dict[str, _Fit]:
    """Fit runs of transitions between revisions: those that explain one wholly have the first choice."""
    fits, rest = _whole_fits(frame, runs)
    runs.take(transition for fit in fits.values() for transition in fit.run)
    return fits | _partial_fits(frame, runs, rest)


def _whole_fits(frame: _Frame, runs: Runs) -> tuple[dict[str, _Fit], list[tuple[Revision, int]]]:
    """Runs from an older revision's text to a newer one's, newest first; and what none explains.

    Going back, each revision is left the transitions before those of the revisions made from it.
    """
    fits: dict[str, _Fit] = {}
    rest: list[tuple[Revision, int]] = []
    limits: dict[str, int] = {}
    for one in frame.needed:
        limit = limits.get(one.key, runs.end)
        older = {frame.hashes[key]: key for key in reversed(frame.sources(one))} or {NOTHING: ""}
        if not frame.repeats(one):
            run = runs.between(older, frame.hashes[one.key], limit)
            if run:
                limit = run[0].number
                fits[one.key] = _Fit((), run, whole=True, source=older[run[0].before])
            else:
                rest.append((one, limit))
        for key in frame.sources(one):
            limits[key] = max(limits.get(key, 0), limit)
    return fits, rest


def _partial_fits(frame: _Frame, runs: Runs, rest: Sequence[tuple[Revision, int]]) -> dict[str, _Fit]:
    """Runs that end in a revision's text, and runs that begin at an older one and show in it."""
    ends = []
    for one, limit in rest:
        run = runs.back_from(frame.hashes[one.key], limit)
        runs.take(run)
        ends.append((one, run, run[0].number if run else limit))
    fits: dict[str, _Fit] = {}
    for one, run, limit in reversed(ends):
        leads = [
            (_shown(runs.ahead_from(frame.hashes.get(key, NOTHING), limit), one), key)
            for key in frame.sources(one) or ("",)
        ]
        lead, source = max(leads, key=lambda found: len(found[0]))
        runs.take(lead)
        fits[one.key] = _Fit(lead, run, whole=False, source=source)
    return fits


def _shown(lead: tuple[Transition, ...], one: Revision) -> tuple[Transition, ...]:
    """As much of a lead as shows in the revision: its last transition added a line that stands there."""
    lines = {line for line in lines_of(one.text or "") if any(map(str.isalnum, line))}
    while lead and lines.isdisjoint(lent_lines(lead[-1:])):
        lead = lead[:-1]
    return lead


class _Loom:
    """Puts versions down, parents first."""

    def __init__(
        self,
        frame: _Frame,
        fits: Mapping[str, _Fit],
        transitions: Sequence[Transition],
        spare: Sequence[Transition],
    ) -> None:
        self._frame = frame
        self._fits = fits
        self._steps = transitions
        self._spare = lent_lines(spare)
        self._texts = known_texts(transitions, frame.texts)
        self._made: list[Version[Owner]] = []
        self._places: dict[str, int] = {}

    def versions(self) -> list[Version[Owner]]:
        """All of them; the newest revision's last."""
        for one in reversed(self._frame.needed):
            sources = [self._places[key] for key in self._frame.sources(one)]
            if self._frame.repeats(one):
                self._places[one.key] = sources[0]
            else:
                self._places[one.key] = self._weave_in(one, sources)
        return self._made[: self._places[self._frame.needed[0].key] + 1] if self._frame.needed else []

    def _put(self, text: str, owner: Owner, parents: Iterable[int], lent: Mapping[str, Owner]) -> int:
        self._made.append(Version(lines_of(text), owner, tuple(parents), lent))
        return len(self._made) - 1

    def _weave_in(self, one: Revision, sources: Sequence[int]) -> int:
        fit = self._fits[one.key]
        start = [self._places[fit.source]] if fit.source else []
        others = [place for place in sources if place not in start]
        if fit.whole:
            return self._put_run(fit.run, start, others)[0]
        gap = one.cut
        if fit.lead:
            place, gap = self._put_run(fit.lead, start, ())
            start = [place] if place >= 0 else []
        parents = [*start, *others]
        if not fit.run:
            kind = COMMIT if one.key else UNRECORDED
            return self._put(one.text or "", Owner(kind, one.key, not gap), parents, self._spare)
        before = self._before(fit.run[0], parents)
        return self._put_run(fit.run, [*parents, *before], (), gap=not before)[0]

    def _before(self, transition: Transition, parents: Sequence[int]) -> list[int]:
        """The place of the text a run starts from, which no transition left: a commit's, or its own, put down
        here. None when nobody has that text.
        """
        hashes = self._frame.hashes
        for key, place in self._places.items():
            if hashes[key] == transition.before:
                return [place]
        text = self._texts.get(transition.before)
        if text is None:
            return []
        return [self._put(text, Owner(EVENT, transition.event_id, exact=False), parents, self._spare)]

    def _put_run(
        self, run: Sequence[Transition], parents: Sequence[int], others: Sequence[int], *, gap: bool = False
    ) -> tuple[int, bool]:
        """Put down the texts of a run: the place of the last, and whether one after it is not known.

        Transitions whose text nobody has are counted to the next one that is known. ``others`` are versions
        that were merged in somewhere in the run.
        """
        for transition in run:
            text = self._texts.get(transition.after)
            if text is None:
                gap = True
                continue
            lent = self._spare if gap else self._merged(transition)
            place = self._put(
                text, Owner(EVENT, transition.event_id, exact=not gap), (*parents, *others), lent
            )
            parents, gap = [place], False
        return parents[0] if parents else -1, gap

    def _merged(self, transition: Transition) -> dict[str, Owner]:
        if not transition.merged:
            return {}
        return lent_lines(one for one in self._steps if one.doc_id in transition.merged and not one.own)


def lent_lines(transitions: Iterable[Transition]) -> dict[str, Owner]:
    """Whose the lines are that transitions added, by the lines themselves; the latest's where several did."""
    lent: dict[str, Owner] = {}
    for transition in transitions:
        owner = Owner(EVENT, transition.event_id)
        inside = False
        for line in (transition.diff or "").split("\n"):
            inside = inside or line.startswith("@@ ")
            if inside and line.startswith("+"):
                lent[line[1:]] = owner
    return lent
