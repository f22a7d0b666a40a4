"""Find the event or commit that last changed each line of a document, or mark the line as unrecorded.

`kept_lines` finds the unchanged lines between two texts, fast for any input; `line_owners` propagates owners
along a graph of versions; `version_graph` builds that graph. These are pure.
"""

from __future__ import annotations

from bisect import bisect_left
from itertools import pairwise
from typing import TYPE_CHECKING, Final, Generic, NamedTuple, TypeVar

from thunderus_mem.document.document import content_hash, read_document
from thunderus_mem.errors import InvalidQuery
from thunderus_mem.git.history import file_versions, renamed_files
from thunderus_mem.history.log import trace
from thunderus_mem.history.marks import marks_of
from thunderus_mem.history.why import CodeThen, anchors_named, code_then
from thunderus_mem.log.event import text_in
from thunderus_mem.log.transitions import Transition, known_texts
from thunderus_mem.memory.locate import find_document
from thunderus_mem.memory.past_texts import as_lf
from thunderus_mem.store.files import ABSENT
from thunderus_mem.store.layout import MEMORY

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from thunderus_mem.document.document import Document
    from thunderus_mem.git.commits import Commit
    from thunderus_mem.git.history import FileVersion
    from thunderus_mem.git.repository import Git
    from thunderus_mem.log.line import Event
    from thunderus_mem.log.shard import LoggedEvent
    from thunderus_mem.log.transitions import DocumentPast
    from thunderus_mem.memory.memory import Memory

NEW: Final = -1
"""The index of a new line, which has no counterpart in the old text."""
_MAX_PAIRS: Final = 40_000
"""Ranges without unique lines are compared up to this many pairs of lines, otherwise treated as new."""
_MAX_DEPTH: Final = 40


def kept_lines(old: Sequence[str], new: Sequence[str]) -> list[int]:
    """For each line of ``new`` its index in ``old``, or `NEW`. Indexes only increase.

    Lines that are unique in both texts are matched first, so that a moved bracket or blank line does not
    mismatch its surroundings. If all lines are different, the longest common subsequence is found.
    """
    found = [NEW] * len(new)
    waiting = [(0, len(old), 0, len(new), 0)]
    while waiting:
        start, stop, begin, end, depth = waiting.pop()
        while start < stop and begin < end and old[start] == new[begin]:
            found[begin] = start
            start, begin = start + 1, begin + 1
        while start < stop and begin < end and old[stop - 1] == new[end - 1]:
            stop, end = stop - 1, end - 1
            found[end] = stop
        if start == stop or begin == end:
            continue
        anchors = _anchors(old[start:stop], new[begin:end]) if depth < _MAX_DEPTH else []
        if not anchors:
            found[begin:end] = _compared(old[start:stop], new[begin:end], start)
            continue
        for place, at in anchors:
            found[begin + at] = start + place
        edges = [(start - 1, begin - 1), *((start + i, begin + j) for i, j in anchors), (stop, end)]
        for (i, j), (next_i, next_j) in pairwise(edges):
            waiting.append((i + 1, next_i, j + 1, next_j, depth + 1))
    return found


def _anchors(old: Sequence[str], new: Sequence[str]) -> list[tuple[int, int]]:
    """Indexes of lines unique in both texts, the longest run in order; only lines with words, if there are
    any."""
    places = _once(old)
    common = [(line, places[line], at) for line, at in _once(new).items() if line in places]
    worded = [(place, at) for line, place, at in common if any(map(str.isalnum, line))]
    return list(_growing(worded or [(place, at) for _, place, at in common]))


def _once(lines: Sequence[str]) -> dict[str, int]:
    """The unique lines with their indexes, in order."""
    places: dict[str, int] = {}
    for at, line in enumerate(lines):
        places[line] = NEW if line in places else at
    return {line: at for line, at in places.items() if at != NEW}


def _growing(pairs: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """A longest increasing subsequence by the first element; the pairs are sorted by the second."""
    ends: list[int] = []
    last: list[int] = []
    before: list[int] = []
    for number, (place, _) in enumerate(pairs):
        at = bisect_left(ends, place)
        before.append(last[at - 1] if at else NEW)
        ends[at : at + 1] = [place]
        last[at : at + 1] = [number]
    chosen: list[tuple[int, int]] = []
    number = last[-1] if last else NEW
    while number != NEW:
        chosen.append(pairs[number])
        number = before[number]
    return reversed(chosen)


def _compared(old: Sequence[str], new: Sequence[str], start: int) -> list[int]:
    found = [NEW] * len(new)
    if len(old) * len(new) > _MAX_PAIRS:
        return found
    from difflib import SequenceMatcher

    for i, j, size in SequenceMatcher(None, old, new, autojunk=False).get_matching_blocks():
        found[j : j + size] = range(start + i, start + i + size)
    return found


LineOwner = TypeVar("LineOwner")
_NOTHING_LENT: Mapping[str, object] = {}


class Version(NamedTuple, Generic[LineOwner]):
    """A version of the text: its lines, its owner, and the versions it was made from.

    ``parents`` are indexes of earlier versions; a line in several of them belongs to the first. ``lent`` maps
    lines that are in none of them to their owners, for a text merged from several documents.
    """

    lines: Sequence[str]
    owner: LineOwner
    parents: tuple[int, ...] = ()
    lent: Mapping[str, LineOwner] = _NOTHING_LENT  # type: ignore[assignment]


def line_owners(versions: Sequence[Version[LineOwner]]) -> list[LineOwner]:
    """The owner of each line of the last version.

    A line belongs to the version that added it, i.e. that has it without a counterpart in any parent. A line
    that was removed and added again belongs to the version that added it again.
    """
    known: list[list[LineOwner]] = []
    for version in versions:
        owners: list[LineOwner | None] = [None] * len(version.lines)
        for parent in version.parents:
            for at, place in enumerate(kept_lines(versions[parent].lines, version.lines)):
                if owners[at] is None and place != NEW:
                    owners[at] = known[parent][place]
        _borrow(owners, version)
        known.append([version.owner if owner is None else owner for owner in owners])
    return known[-1] if known else []


def _borrow(owners: list[LineOwner | None], version: Version[LineOwner]) -> None:
    """Assign lines that are in no parent to their owners in ``lent``.

    A line without words (blank, a fence, a bracket) gets the owner of the line before or after.
    """
    if not version.lent:
        return
    open_places = [at for at, owner in enumerate(owners) if owner is None]
    wordless = []
    for at in open_places:
        line = version.lines[at]
        if any(map(str.isalnum, line)):
            owners[at] = version.lent.get(line)
        elif line in version.lent:
            wordless.append(at)
    fresh = set(open_places)
    for order, step in ((wordless, -1), (reversed(wordless), 1)):
        for at in order:
            if owners[at] is None and at + step in fresh:
                owners[at] = owners[at + step]


# The versions of a document, combined from log and git. Git's revisions (and the current file as the newest)
# are the frame: each one lists its parents. Transitions of the log are inserted between them by hash: a run
# of transitions from an older revision's text to this one's explains it, line by line. Changes without a run
# were made by the commit itself, or outside the tool. Transitions that fit nowhere (their branch was rebased,
# squashed or merged) still determine the owners of the lines they added.

EVENT: Final = "event"
COMMIT: Final = "commit"
UNRECORDED: Final = "unrecorded"


class Owner(NamedTuple):
    """The owner of a line: an event or commit by its id, or none (unrecorded).

    Not ``exact``: the history before is unknown, so the line may be older.
    """

    kind: str
    id: str
    exact: bool = True


class Revision(NamedTuple):
    """A state of the file in a commit, or the current one with ``key`` "". ``text`` has LF line endings.

    ``parents`` are keys of older revisions, ``cut`` means that some are missing from this clone.
    """

    key: str
    parents: tuple[str, ...]
    text: str | None
    cut: bool = False


class Runs:
    """Searches the transitions of one document by their texts, except those already taken."""

    def __init__(self, transitions: Sequence[Transition]) -> None:
        self.end = max((transition.number for transition in transitions), default=-1) + 1
        self._taken: set[int] = set()
        self._to: dict[str, list[Transition]] = {}
        self._from: dict[str, list[Transition]] = {}
        for transition in transitions:
            if transition.before != transition.after:
                self._to.setdefault(transition.after, []).append(transition)
                self._from.setdefault(transition.before, []).append(transition)

    def take(self, transitions: Iterable[Transition]) -> None:
        """Mark transitions as used."""
        self._taken.update(transition.number for transition in transitions)

    def between(self, starts: Collection[str], goal: str, limit: int) -> tuple[Transition, ...]:
        """The latest run from one of the texts ``starts`` to the text ``goal``, before transition ``limit``.

        If no run is in order, one out of order is accepted, because clocks of machines differ.
        """
        return self._back(starts, goal, limit, ordered=True) or self._back(
            starts, goal, self.end, ordered=False
        )

    def _back(
        self, starts: Collection[str], goal: str, limit: int, *, ordered: bool
    ) -> tuple[Transition, ...]:
        """Depth-first search from the end, latest first; a text is tried again only with a higher limit."""
        tried: dict[str, int] = {goal: limit}
        path: list[Transition] = []
        ways: list[Iterator[Transition]] = [self._into(goal, limit)]
        while ways:
            transition = next(ways[-1], None)
            if transition is None:
                ways.pop()
                if path:
                    path.pop()
                continue
            if transition.before in starts:
                return (transition, *reversed(path))
            room = transition.number if ordered else self.end
            if transition.before == ABSENT or tried.get(transition.before, -1) >= room:
                continue
            tried[transition.before] = room
            path.append(transition)
            ways.append(self._into(transition.before, room))
        return ()

    def _into(self, text: str, limit: int) -> Iterator[Transition]:
        return (transition for transition in reversed(self._to.get(text, ())) if transition.number < limit)

    def back_from(self, goal: str, limit: int) -> tuple[Transition, ...]:
        """The latest run of unused transitions that ends in a text, as far back as possible."""
        found: list[Transition] = []
        while transition := next(
            (one for one in self._into(goal, limit) if one.number not in self._taken), None
        ):
            found.append(transition)
            goal, limit = transition.before, transition.number
        return tuple(reversed(found))

    def ahead_from(self, start: str, limit: int) -> tuple[Transition, ...]:
        """The earliest run of unused transitions that starts at a text, as far ahead as possible."""
        found: list[Transition] = []
        number = -1
        while True:
            transition = next(
                (
                    one
                    for one in self._from.get(start, ())
                    if number < one.number < limit and one.number not in self._taken and one.own
                ),
                None,
            )
            if transition is None:
                return tuple(found)
            found.append(transition)
            start, number = transition.after, transition.number


class _Explained(NamedTuple):
    """How the log explains a revision: ``lead`` starts from an older one, ``run`` ends in this one.

    ``whole``: together they are one run. ``source`` is the older revision that the lead starts from.
    """

    lead: tuple[Transition, ...]
    run: tuple[Transition, ...]
    whole: bool
    source: str = ""


def lines_of(text: str) -> list[str]:
    """The lines of a text without line endings, as an editor counts them."""
    lines = text.split("\n")
    return lines[:-1] if lines[-1] == "" else lines


def version_graph(transitions: Sequence[Transition], revisions: Sequence[Revision]) -> list[Version[Owner]]:
    """The versions of a document, older ones first; the last is the first revision's text.

    ``revisions`` come newest first, every one before those it was made from.
    """
    frame = _Frame(revisions)
    runs = Runs(transitions)
    explained = _explain(frame, runs)
    placed = {transition.number for one in explained.values() for transition in one.run}
    spare = [transition for transition in transitions if transition.own and transition.number not in placed]
    return _Graph(frame, explained, transitions, spare).versions()


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
        """The older revisions it was made from; only the one with the same text, if there is one."""
        there = tuple(key for key in one.parents if key in self.by_key)
        same = [key for key in there if self.hashes[key] == self.hashes[one.key]]
        return tuple(same[:1]) or there

    def repeats(self, one: Revision) -> bool:
        """Whether it has a parent's text."""
        return any(self.hashes[key] == self.hashes[one.key] for key in self.sources(one))


def _explain(frame: _Frame, runs: Runs) -> dict[str, _Explained]:
    """Place runs of transitions between revisions, first those that explain a revision completely."""
    whole, rest = _explain_wholly(frame, runs)
    runs.take(transition for one in whole.values() for transition in one.run)
    return whole | _explain_partly(frame, runs, rest)


def _explain_wholly(frame: _Frame, runs: Runs) -> tuple[dict[str, _Explained], list[tuple[Revision, int]]]:
    """Runs from an older revision's text to a newer one's, newest first; and the unexplained revisions.

    Going back, each revision uses only transitions before those of the revisions made from it.
    """
    found: dict[str, _Explained] = {}
    rest: list[tuple[Revision, int]] = []
    limits: dict[str, int] = {}
    for one in frame.needed:
        limit = limits.get(one.key, runs.end)
        older = {frame.hashes[key]: key for key in reversed(frame.sources(one))} or {ABSENT: ""}
        if not frame.repeats(one):
            run = runs.between(older, frame.hashes[one.key], limit)
            if run:
                limit = run[0].number
                found[one.key] = _Explained((), run, whole=True, source=older[run[0].before])
            else:
                rest.append((one, limit))
        for key in frame.sources(one):
            limits[key] = max(limits.get(key, 0), limit)
    return found, rest


def _explain_partly(frame: _Frame, runs: Runs, rest: Sequence[tuple[Revision, int]]) -> dict[str, _Explained]:
    """Runs that end in a revision's text, and runs that start at an older one and contributed lines to it."""
    ends = []
    for one, limit in rest:
        run = runs.back_from(frame.hashes[one.key], limit)
        runs.take(run)
        ends.append((one, run, run[0].number if run else limit))
    found: dict[str, _Explained] = {}
    for one, run, limit in reversed(ends):
        leads = [
            (_shown(runs.ahead_from(frame.hashes.get(key, ABSENT), limit), one), key)
            for key in frame.sources(one) or ("",)
        ]
        lead, source = max(leads, key=lambda pair: len(pair[0]))
        runs.take(lead)
        found[one.key] = _Explained(lead, run, whole=False, source=source)
    return found


def _shown(lead: tuple[Transition, ...], one: Revision) -> tuple[Transition, ...]:
    """The part of a lead up to the last transition that added a line still in the revision."""
    lines = {line for line in lines_of(one.text or "") if any(map(str.isalnum, line))}
    while lead and lines.isdisjoint(lent_lines(lead[-1:])):
        lead = lead[:-1]
    return lead


class _Graph:
    """Builds versions, parents first."""

    def __init__(
        self,
        frame: _Frame,
        explained: Mapping[str, _Explained],
        transitions: Sequence[Transition],
        spare: Sequence[Transition],
    ) -> None:
        self._frame = frame
        self._explained = explained
        self._steps = transitions
        self._spare = lent_lines(spare)
        self._texts = known_texts(transitions, frame.texts)
        self._made: list[Version[Owner]] = []
        self._places: dict[str, int] = {}

    def versions(self) -> list[Version[Owner]]:
        """All versions; the newest revision's is last."""
        for one in reversed(self._frame.needed):
            sources = [self._places[key] for key in self._frame.sources(one)]
            if self._frame.repeats(one):
                self._places[one.key] = sources[0]
            else:
                self._places[one.key] = self._add(one, sources)
        return self._made[: self._places[self._frame.needed[0].key] + 1] if self._frame.needed else []

    def _put(self, text: str, owner: Owner, parents: Iterable[int], lent: Mapping[str, Owner]) -> int:
        self._made.append(Version(lines_of(text), owner, tuple(parents), lent))
        return len(self._made) - 1

    def _add(self, one: Revision, sources: Sequence[int]) -> int:
        found = self._explained[one.key]
        start = [self._places[found.source]] if found.source else []
        others = [place for place in sources if place not in start]
        if found.whole:
            return self._put_run(found.run, start, others)[0]
        gap = one.cut
        if found.lead:
            place, gap = self._put_run(found.lead, start, ())
            start = [place] if place >= 0 else []
        parents = [*start, *others]
        if not found.run:
            kind = COMMIT if one.key else UNRECORDED
            return self._put(one.text or "", Owner(kind, one.key, not gap), parents, self._spare)
        before = self._before(found.run[0], parents)
        return self._put_run(found.run, [*parents, *before], (), gap=not before)[0]

    def _before(self, transition: Transition, parents: Sequence[int]) -> list[int]:
        """The index of the text that a run starts from: a commit's version, or a new one added here. Empty if
        that text is unknown.
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
        """Add the texts of a run; return the index of the last one, and whether a text after it is unknown.

        Transitions with an unknown text are merged into the next known one. ``others`` are versions that were
        merged in during the run.
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
    """The owners of the lines added by transitions; the latest one if several added the same line."""
    lent: dict[str, Owner] = {}
    for transition in transitions:
        owner = Owner(EVENT, transition.event_id)
        inside = False
        for line in (transition.diff or "").split("\n"):
            inside = inside or line.startswith("@@ ")
            if inside and line.startswith("+"):
                lent[line[1:]] = owner
    return lent


# The lines of a document on disk

_MOST_RENAMES = 8


class Blame(NamedTuple):
    """The owner of each line, and the commits among the owners by their hash."""

    owners: tuple[Owner, ...]
    commits: Mapping[str, Commit]


def blame_lines(doc: Document, past: DocumentPast, git: Git | None) -> Blame:
    """The owner of every line of the current document, frontmatter and body."""
    versions, paths = _versions(doc, past, git)
    revisions = [
        Revision("", tuple(version.commit.sha for version in versions[:1]), as_lf(doc.text)),
        *(
            Revision(version.commit.sha, version.parents, _text_of(doc, past, version, paths), version.cut)
            for version in versions
        ),
    ]
    owners = line_owners(version_graph(past.transitions, revisions))
    return Blame(tuple(owners), {version.commit.sha: version.commit for version in versions})


def _versions(doc: Document, past: DocumentPast, git: Git | None) -> tuple[list[FileVersion], list[str]]:
    """The versions of the document in git, and its paths, followed through git's renames."""
    paths = list(past.paths)
    if git is None:
        return [], paths
    versions = file_versions(git, paths)
    for _ in range(_MOST_RENAMES):
        earlier = _earlier_path(doc, past, git, versions, paths)
        if not earlier:
            break
        paths.append(earlier)
        versions = file_versions(git, paths)
    return versions, paths


def _text_of(doc: Document, past: DocumentPast, version: FileVersion, paths: Sequence[str]) -> str | None:
    """The document's text in a commit: at its current path, otherwise at a former path that contained it."""
    for path in paths:
        data = version.texts.get(path)
        if data is not None and (path == doc.path or _is_it(path, data, past)):
            return as_lf(data.decode("utf-8", "surrogateescape"))
    return None


def _is_it(path: str, data: bytes, past: DocumentPast) -> bool:
    document = read_document(path, data).document
    return document is None or document.id in past.ids


def _earlier_path(
    doc: Document, past: DocumentPast, git: Git, versions: Sequence[FileVersion], paths: Sequence[str]
) -> str:
    """The former path of the document by git's renames, if the log has no beginning; otherwise ""."""
    known = {transition.path for transition in past.transitions if not transition.before}
    texts = {version.commit.sha: _text_of(doc, past, version, paths) for version in versions}
    first = {
        version.commit.sha: next(path for path in paths if path in version.texts)
        for version in versions
        if texts[version.commit.sha] is not None
        and not any(texts[parent] is not None for parent in version.parents)
    }
    asked = {sha: path for sha, path in first.items() if path not in known}
    if not asked:
        return ""
    renames = renamed_files(git, list(asked), MEMORY)
    found = (renames.get((sha, path), "") for sha, path in asked.items())
    return next((old for old in found if old and old not in paths), "")


class BlameSource(NamedTuple):
    """The source of lines. ``kind`` is event, commit or unrecorded (the line is in no event and no commit).

    ``op`` is the event's operation, ``why`` its reason or the commit's subject. ``mark`` is that of an event:
    altered (its line failed a check), unchained, imported, or "".
    """

    id: str
    kind: str
    ts: str
    actor: str
    author: str
    session_id: str
    op: str
    why: str
    mark: str = ""


class BlameLine(NamedTuple):
    """One line of the file. ``source`` is the id of its source, "" for an unrecorded one.

    ``anchors`` are the anchors that the line defines or mentions. Not ``exact``: the history before the
    source is unknown, so the line may be older.
    """

    number: int
    text: str
    source: str
    exact: bool
    anchors: tuple[str, ...] = ()


class BlameReport(NamedTuple):
    """The lines of a document, or the requested ones, and their unique sources in the order of the lines.
    ``damaged`` is the number of unreadable lines of the log; ``code`` is the code mentioned in the lines."""

    id: str
    path: str
    hash: str
    lines: tuple[BlameLine, ...]
    sources: tuple[BlameSource, ...]
    damaged: int = 0
    code: tuple[CodeThen, ...] = ()


def blame(memory: Memory, id: str, *, lines: tuple[int, int] | None = None) -> BlameReport:
    """The event or commit that last changed each line of a document, frontmatter and body.

    ``lines`` are the first and the last line (0: the end). Raises `InvalidQuery` for an invalid range.
    """
    memory.refresh()
    document = find_document(memory, id)
    logged, past = trace(memory, document)
    found = blame_lines(document, past, memory.git)
    texts = lines_of(as_lf(document.text))
    first, last = _range(lines, len(texts), document.path)
    code = code_then(memory, document.id)
    shown = tuple(
        BlameLine(number, text, owner.id, owner.exact, anchors_named(code, number, text))
        for number, (text, owner) in enumerate(zip(texts, found.owners, strict=True), 1)
        if first <= number <= last
    )
    wanted = {line.source for line in shown}
    events = {entry.event.id: entry for entry in logged if entry.event.id in wanted}
    marks = marks_of(memory, events.values())
    sources = _sources((line.source for line in shown), events, marks, found)
    damaged = memory.log_index().damages()
    mentioned = {place for line in shown for place in line.anchors}
    anchored = tuple(one for one in code if one.place in mentioned)
    return BlameReport(document.id, document.path, document.hash, shown, sources, damaged, anchored)


def _range(lines: tuple[int, int] | None, count: int, path: str) -> tuple[int, int]:
    if lines is None:
        return 1, count
    first, last = lines[0], min(lines[1] or count, count)
    if 0 < lines[1] < first:
        raise InvalidQuery(
            f"invalid line range {lines[0]},{lines[1]}: the end is before the start",
            hint="use e.g. ID:10-20 for lines 10 to 20",
        )
    if not 1 <= first <= last:
        raise InvalidQuery(
            f"invalid line range: {path} has {count} lines", hint="use e.g. ID:10-20 for lines 10 to 20"
        )
    return first, last


def _sources(
    ids: Iterable[str], events: Mapping[str, LoggedEvent], marks: Mapping[str, str], found: Blame
) -> tuple[BlameSource, ...]:
    found_sources = []
    for id in dict.fromkeys(ids):
        if id in events:
            found_sources.append(_from_event(events[id].event, marks.get(id, "")))
        elif id in found.commits:
            found_sources.append(_from_commit(found.commits[id]))
        else:
            found_sources.append(BlameSource("", "unrecorded", "", "", "", "", "", ""))
    return tuple(found_sources)


def _from_event(event: Event, mark: str) -> BlameSource:
    return BlameSource(
        id=event.id,
        kind="event",
        ts=event.ts,
        actor=event.actor,
        author=text_in(event.origin, "author"),
        session_id=event.session_id,
        op=text_in(event.body, "op"),
        why=event.why,
        mark=mark,
    )


def _from_commit(commit: Commit) -> BlameSource:
    return BlameSource(commit.sha, "commit", commit.date, "user", commit.author, "", "", commit.subject)
