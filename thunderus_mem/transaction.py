"""One writing command: heal, refresh, record what people edited, then commit changes one event at a time.

The order is the law (reads as: nothing acknowledged is lost):

1. before the lock, one question to git: where HEAD is, which documents it sees changed;
2. under the lock, finish or undo what a killed command left, and look at the reflog again;
3. record hand edits that no event and no commit explains;
4. each change: decide, stage, append the event (that is the commit point), publish the file;
5. refresh, so that the next reader finds everything in place.

The lock is never held over git, an editor or a prompt.
"""

from __future__ import annotations

import time
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from thunderus_mem.evidence.former import without_way_back
from thunderus_mem.evidence.losses import refusal
from thunderus_mem.evidence.unrecorded import still_unrecorded
from thunderus_mem.garden.filing import acting, must_be_reviewed, word_proposal
from thunderus_mem.model.errors import Busy, Conflict, Degraded, NotWritable
from thunderus_mem.model.event import (
    Change,
    Event,
    changes_of,
    encode,
    line_hash,
    make_event,
    note_event,
    patch_event,
)
from thunderus_mem.model.event_secrets import refuse_secrets
from thunderus_mem.model.timestamp import format_precise
from thunderus_mem.store.edits import Edit, Ids
from thunderus_mem.store.events import last_line
from thunderus_mem.store.files import sweep
from thunderus_mem.store.meanwhile import meanwhile
from thunderus_mem.store.paths import inside
from thunderus_mem.store.standstill import Standstill

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from thunderus_mem.evidence.unrecorded import HandEdit
    from thunderus_mem.memory import Memory
    from thunderus_mem.store.git import GitState
    from thunderus_mem.store.journal import Healed, Write

__all__ = ["Edit", "Ids", "Writing", "writing"]

_TRIES = 3
_LOOKS, _PAUSE = 3, 0.2


class Writing:
    """The open transaction: `ids`, then `commit` or `note`, as often as the verb has steps."""

    def __init__(self, memory: Memory, git: GitState | None, origin: Mapping[str, str]) -> None:
        self._memory = memory
        self._git = git
        self._origin = dict(origin)
        self._standstill = Standstill(memory.git, memory.environ)
        self.recorded: tuple[str, ...] = ()
        self.healed: tuple[Healed, ...] = ()
        self.pending = False
        self.proposed = ""
        """The proposal that the change became, where it waits for a decision instead of being written."""
        self._patch = ""

    def ids(self) -> Ids:
        """A fresh id for the next commit; all commits of a command are one patch and share its id."""
        event = self._memory.new_id("evt")
        self._patch = self._patch or self._memory.new_id("patch")
        return Ids(event, self._patch)

    def commit(
        self,
        op: str,
        edits: Sequence[Edit],
        *,
        undoes: Sequence[str] = (),
        about: Sequence[str] = (),
        private: Sequence[str] = (),
        why: str = "",
        actor: str = "user",
        ids: Ids | None = None,
        snapshot: str = "",
        drops: Sequence[Write] = (),
        reviewed: bool = False,
    ) -> Event:
        """Write one patch event and the files it speaks of; returns the event as logged.

        ``undoes`` names the events it takes back, ``about`` documents besides those it changes, ``snapshot``
        the one it follows, ``drops`` what else goes away with it, ``private`` the private events a document
        was made from. Raises `Conflict` when a file is not what ``edit.before`` says; nothing is written
        then. Where the configuration wants a decision first, and it is not ``reviewed`` yet, `proposed` names
        the proposal filed, and the event is none of the log.
        """
        chosen = ids or self.ids()
        actor = acting(self._memory.environ, actor)
        if not reviewed and must_be_reviewed(self._memory.config, actor, op, [edit.path for edit in edits]):
            return self._file(op, edits, why, actor, chosen)
        return self._append(
            lambda common: patch_event(
                id=chosen.event,
                patch_id=chosen.patch,
                actor=actor,
                op=op,
                changes=[edit.as_change() for edit in edits],
                undoes=undoes,
                about=about,
                private=private,
                why=why,
                snapshot=snapshot,
                **common,
            ),
            edits,
            drops,
        )

    def _file(self, op: str, edits: Sequence[Edit], why: str, actor: str, ids: Ids) -> Event:
        """Put the change into the review queue; nothing else is written."""
        from thunderus_mem.store.proposals import write

        now = format_precise(self._memory.now())
        proposal = word_proposal(
            id=self._memory.new_id("patch") if self.proposed else ids.patch,
            event=ids.event,
            created=now,
            actor=actor,
            op=op,
            why=why,
            origin=self._origin,
            texts=[(one.path, one.doc_id, one.before, one.after, one.renames) for one in edits],
        )
        write(self._memory.layout, proposal)
        self.proposed = proposal.id
        return make_event("patch", {"op": op}, id=ids.event, ts=now, session_id="", actor=actor)

    def note(self, text: str, *, doc_ids: Sequence[str] = (), why: str = "", actor: str = "user") -> Event:
        """Append a note event; no file changes."""
        actor = acting(self._memory.environ, actor)
        return self._append(
            lambda common: note_event(
                id=self._memory.new_id("evt"), actor=actor, text=text, doc_ids=doc_ids, why=why, **common
            ),
            (),
        )

    def approve(
        self,
        body: Mapping[str, Any],
        doc_ids: Sequence[str],
        *,
        why: str,
        actor: str,
        id: str = "",
        patch: str = "",
        drops: Sequence[Write] = (),
    ) -> Event:
        """Append an approval: somebody's word on documents, with what it rests on; no document changes.

        ``id`` is what it is called, where a document cites it; ``patch`` the proposal decided about,
        ``drops`` what goes away with the decision.
        """
        refs = {**({"patch_id": patch} if patch else {}), "memory_doc_ids": list(doc_ids)}
        return self._plain("approval", body, refs, why, acting(self._memory.environ, actor), drops, id=id)

    def snapshot(
        self, id: str, body: Mapping[str, Any], doc_ids: Sequence[str], *, why: str, actor: str
    ) -> Event:
        """Append a snapshot: what the documents of the commits to come are now."""
        refs = {"snapshot_id": id, "patch_id": self.ids().patch, "memory_doc_ids": list(doc_ids)}
        return self._plain("snapshot", body, refs, why, acting(self._memory.environ, actor), ())

    def _plain(
        self,
        kind: str,
        body: Mapping[str, Any],
        refs: Mapping[str, Any],
        why: str,
        actor: str,
        drops: Sequence[Write],
        *,
        id: str = "",
    ) -> Event:
        named = id or self._memory.new_id("evt")
        return self._append(
            lambda common: make_event(kind, dict(body), id=named, actor=actor, refs=refs, why=why, **common),
            (),
            drops,
        )

    def log(self, make: Callable[[dict[str, Any]], Event]) -> Event:
        """Append an event that changes no file; ``make`` gets what all events have in common."""
        return self._append(make, ())

    def log_private(self, makers: Sequence[Callable[[dict[str, Any]], Event]]) -> list[Event]:
        """Append events to this tree's private shard, in one write that is synced before it returns."""
        now = self._memory.now()
        session = self._memory.sessions.current(self._git, now, self._memory.new_id)
        self._memory.journal.repair(session.local_shard)
        last = last_line(inside(self._memory.root, session.local_shard))
        follows = prev = line_hash(last) if last else None
        lines, events = [], []
        for make in makers:
            common = {"ts": format_precise(now), "session_id": session.id, "origin": self._origin}
            event = make({**common, "prev": prev, "head": None})
            refuse_secrets(event)
            line = encode(event)
            prev = line_hash(line)
            lines.append(line)
            events.append(event)
        self._memory.sessions.begin(session)
        self._memory.journal.append(session.local_shard, lines, follows=follows or "")
        if lines:
            self._memory.sessions.wrote(session, lines[-1], private=True)
        return events

    def _append(
        self, make: Callable[[dict[str, Any]], Event], edits: Sequence[Edit], drops: Sequence[Write] = ()
    ) -> Event:
        now = self._memory.now()
        session = self._memory.sessions.current(self._git, now, self._memory.new_id)
        event = make(
            {
                "ts": format_precise(now),
                "session_id": session.id,
                "origin": self._origin,
                "prev": session.prev_line_hash,
                "head": session.head_hint,
            }
        )
        refuse_secrets(event)
        line = encode(event)
        self._memory.sessions.begin(session)
        self._keep(event, edits)
        writes = [*(edit.as_write() for edit in edits), *drops]
        follows = session.prev_line_hash or ""
        commit = self._memory.journal.commit
        committed = commit(event.id, session.shard, line, writes, head=self.head, follows=follows)
        self._memory.sessions.wrote(session, line)
        self.pending = self.pending or not committed.published
        for lost in committed.aborted:
            self._log_aborted(lost)
        if committed.aborted:
            lost = committed.aborted[0]
            raise Conflict(
                f"{lost.path} was changed by somebody else at the last moment; that text stays",
                hint=f"yours is kept in {lost.kept}: look at both, then repeat the change",
            )
        if not self.pending:
            self._standstill.see(self._memory.root, session.shard, line, writes, self._git)
        return event

    def _keep(self, event: Event, edits: Sequence[Edit]) -> None:
        """Keep in this tree what the log will not lead back to, for `undo`."""
        changes = changes_of(event) if edits else ()
        texts = without_way_back(changes, [(edit.before, edit.after) for edit in edits])
        if texts:
            self._memory.kept.keep(event.id, texts, self._memory.now())

    @property
    def head(self) -> str:
        """The newest commit, "" without one."""
        return (self._git.head or "") if self._git is not None else ""

    def recover(self) -> None:
        """Finish or undo what a killed command left; a text that found no place is logged as aborted."""
        memory = self._memory
        for folder in (
            memory.layout.store,
            memory.layout.local_dir,
            memory.layout.schemas_dir,
            memory.layout.patches_dir,
        ):
            sweep(folder)
        shard = memory.sessions.known_shard()
        self.healed = tuple(
            memory.journal.heal(
                memory.log.contains,
                head=self.head or None,
                shards=(shard,) if shard else (),
                on_abort=self._log_aborted,
            )
        )

    def _log_aborted(self, healed: Healed) -> None:
        change = Change("aborted", "", healed.path, "", "", None, False)
        self._log_changes(
            "aborted", (change,), f"{healed.event_id} found other text; ours is in {healed.kept}"
        )

    def record(self, hand_edits: Sequence[HandEdit], why: str = "") -> None:
        """Log edits that people made outside the tool, one event each, as actor ``user``."""
        for edit in hand_edits:
            self._log_changes(
                "hand-edit", (edit.change,), why, event_id=edit.event_id, patch_id=edit.patch_id
            )
        self.recorded = tuple(edit.doc_id or edit.path for edit in hand_edits)

    def _log_changes(
        self, op: str, changes: Sequence[Change], why: str, *, event_id: str = "", patch_id: str = ""
    ) -> None:
        fresh = Ids(self._memory.new_id("evt"), self._memory.new_id("patch"))
        self._append(
            lambda common: patch_event(
                id=event_id or fresh.event,
                patch_id=patch_id or fresh.patch,
                actor="user",
                op=op,
                changes=changes,
                why=why,
                **common,
            ),
            (),
        )


@contextmanager
def writing(
    memory: Memory, command: str, *, accept_loss: bool = False, edited_for: str = ""
) -> Iterator[Writing]:
    """Open a transaction for ``command`` (named to whoever waits for the lock).

    Raises `Busy` when another process holds the lock for too long, `NotWritable` when the disk refuses,
    `Refused` when the store is of a later version, or when more documents are gone than anybody takes away by
    hand, unless ``accept_loss``. ``edited_for`` is the reason of edits made by hand until now.
    """
    from thunderus_mem.store.version import refuse_newer

    refuse_newer(memory.layout, memory.config)
    until = time.monotonic() + memory.config.write_lock_timeout
    tries = 0
    while tries < _TRIES or time.monotonic() < until:
        tries += 1
        Standstill(memory.git, memory.environ).wait()
        # Git takes as long to answer as the index to refresh; neither needs the other.
        asked = meanwhile(lambda: (memory.git_state(), memory.origin()))
        from thunderus_mem.store.lock import held, prepare

        prepare()
        written = memory.sessions.last_written()
        memory.refresh()
        git, origin = asked()
        unrecorded: Sequence[HandEdit] = memory.hand_edits(git)
        if gone := 0 if accept_loss else len(memory.mass_loss(unrecorded)):
            if tries > _LOOKS and not (memory.git and memory.git.index_locked(time.time())):
                raise refusal(gone, memory.index.count())
            time.sleep(_PAUSE)  # git may be in the middle of a checkout
            continue
        with held(memory.layout.lock_file, timeout=memory.config.write_lock_timeout, command=command):
            if not memory.sessions.still_holds(memory.git, git):
                continue  # git is asked again, without the lock
            transaction = Writing(memory, git, origin)
            transaction.recover()
            if transaction.healed or memory.sessions.last_written() != written:
                # What another process wrote before we had the lock is known, and no edit by hand.
                memory.refresh()
                log_index = memory.log_index()
                unrecorded = still_unrecorded(unrecorded, log_index.explains, log_index.removed)
            transaction.record([edit for edit in unrecorded if edit.still_there(memory.layout)], edited_for)
            yield transaction
            # The change is on disk; an index that cannot be renewed is renewed by the next command.
            with suppress(Busy, Degraded, NotWritable):
                memory.refresh()
            return
    raise Busy("git keeps moving HEAD while we try to write", hint="wait for the other git command to end")


def settle(memory: Memory, command: str) -> None:
    """Finish or undo what a command that died has left, for ``command``, which is about to look at documents
    and to decide by them whether there is anything to write. Raises as `writing`."""
    if memory.journal.pending():
        with writing(memory, command):
            pass
