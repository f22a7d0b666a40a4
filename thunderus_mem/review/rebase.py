"""Rebase: what a proposal would do to the documents as they are now, if it still can. Reads only."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

from thunderus_mem.document.diff import apply_diff, lines_of, reversed_diff, stretches, three_way
from thunderus_mem.document.document import MAX_DOCUMENT, content_hash, read_document
from thunderus_mem.document.timestamp import format_timestamp
from thunderus_mem.errors import Conflict, InvalidDocument, NotFound
from thunderus_mem.log.event import changes_of
from thunderus_mem.memory.journal import FileChange
from thunderus_mem.memory.past_texts import CommittedTexts, PastTexts, as_lf
from thunderus_mem.memory.proposals import InvalidProposal
from thunderus_mem.merge.documents import merge_cleanly
from thunderus_mem.store.files import read_file
from thunderus_mem.store.paths import inside

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from thunderus_mem.memory.memory import Memory
    from thunderus_mem.memory.proposals import Proposal, ProposedEdit

State: TypeAlias = Literal["fits", "moved", "conflict", "gone", "there"]


class Rebase(NamedTuple):
    """``state`` fits: what it was made from is there. moved: its documents changed since, in other places.
    conflict: in the same place (``problem`` names the lines). gone: a document of it is not there any more.
    there: what it wants is there already.

    ``edits`` are what approving it would do now: with ``fits`` and ``moved`` alone.
    """

    state: State
    edits: tuple[FileChange, ...] = ()
    problem: str = ""


class _Unusable(Exception):
    """Ends the rebase of a proposal that cannot be carried out."""

    def __init__(self, state: State, problem: str) -> None:
        super().__init__(problem)
        self.found = Rebase(state, problem=problem)


def rebase(memory: Memory, proposal: Proposal, committed: CommittedTexts) -> Rebase:
    """Hold a proposal against the documents as they are. The index must be fresh.

    Raises `InvalidDocument` for a diff that leads nowhere. May ask for what git has, see `CommittedTexts`.
    """
    now = {edit.path: _text_at(memory, edit.path) for edit in proposal.edits}
    rebaser = _Rebaser(memory, proposal, now, committed)
    try:
        found = list(rebaser.edits())
    except _Unusable as error:
        return error.found
    except InvalidProposal as error:
        raise InvalidDocument(f"{proposal.id}: {error.reason}", hint=error.fix) from None
    if not found:
        return Rebase("there", problem="what it would change is so already")
    return Rebase("moved" if rebaser.moved else "fits", tuple(found))


def _text_at(memory: Memory, path: str) -> str | None:
    try:
        return read_file(inside(memory.root, path), MAX_DOCUMENT).decode("utf-8")
    except NotFound:
        return None
    except UnicodeDecodeError:
        raise Conflict(
            f"{path} is not UTF-8 text", hint=f"mend it first: thunderus-mem lint {path}"
        ) from None


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
        """What is left to do, file by file. Raises `_Unusable`."""
        leaves: ProposedEdit | None = None
        for edit in self._proposal.edits:
            if edit.renames and not edit.after:
                leaves = edit
                continue
            if edit.renames and leaves is not None:
                yield from self._rename(leaves, edit)
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
            raise _Unusable("gone", f"{edit.path} is not there any more")
        if found == edit.before:
            return FileChange(edit.doc_id, edit.path, now, edit.text_after(now))
        self.moved = True
        if not edit.after:
            raise _Unusable(
                "conflict", f"{edit.path} was changed since, and removing it would take that along"
            )
        return FileChange(edit.doc_id, edit.path, now, self._merged(edit, now))

    def _created(self, edit: ProposedEdit, now: str | None) -> FileChange | None:
        text = edit.text_after(None)
        if now is not None:
            if _says(edit.path, now) == _says(edit.path, text or ""):
                self.moved = True
                return None
            raise _Unusable("conflict", f"another document is in {edit.path} by now")
        taken = self._memory.index.get(edit.doc_id) if edit.doc_id else None
        if taken is not None and taken.path not in self._now:
            raise _Unusable("conflict", f"{edit.doc_id} is in {taken.path} by now")
        return FileChange(edit.doc_id, edit.path, None, text)

    def _rename(self, old: ProposedEdit, new: ProposedEdit) -> Iterator[FileChange]:
        now = self._now[old.path]
        if now is None:
            there = self._now[new.path]
            if there is not None and content_hash(there) == new.after:
                self.moved = True
                return
            raise _Unusable("gone", f"{old.path} is not there any more")
        if self._now[new.path] is not None:
            raise _Unusable("conflict", f"another document is in {new.path} by now")
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
        """The text the edit was made from. Raises `_Unusable` when it is nowhere any more."""
        if not edit.after:
            text = apply_diff("", reversed_diff(edit.diff))
            if text is not None and content_hash(text) == edit.before:
                return text
        events = self._memory.events_about([edit.path], [edit.doc_id] if edit.doc_id else [])
        changes = [change for event in events for change in changes_of(event)]
        own = [change for change in changes if edit.doc_id == change.doc_id or edit.path == change.path]
        paths = {edit.path, *(change.path for change in own)}
        text = PastTexts(own, now, lambda: self._committed.texts(paths)).text(edit.before)
        if text is None:
            raise _Unusable(
                "conflict", f"{edit.path} was changed since, and its text of then is nowhere any more"
            )
        return text


def _says(path: str, text: str) -> tuple[str, str, str, str]:
    """What makes two new documents the same: all but times and provenance."""
    document = read_document(path, text.encode("utf-8", "surrogatepass")).document
    if document is None:
        return "", "", "", text
    return document.id, document.kind, document.title, as_lf(document.body)


def _overlap(path: str, base: str, now: str, wanted: str) -> str:
    """Names the lines of a document that were changed since and that the proposal changes as well."""
    old = lines_of(base)
    ours, theirs = stretches(old, lines_of(now)), stretches(old, lines_of(wanted))
    places = [
        _lines(j1, j2)
        for i1, i2, j1, j2 in ours or ()
        if any(i1 <= stop and start <= i2 for start, stop, _, _ in theirs or ())
    ]
    where = f"{', '.join(places)} of {path}" if places else path
    verb = "was" if (len(places) == 1 and places[0].startswith("line ")) or not places else "were"
    return f"{where} {verb} changed since, and the proposal changes the same place"


def _lines(start: int, stop: int) -> str:
    return f"line {start + 1}" if stop - start <= 1 else f"lines {start + 1}-{stop}"
