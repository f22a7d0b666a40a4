"""The open transaction: what a verb may do in it, one event at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from thunderus_mem.evidence.former import without_way_back
from thunderus_mem.garden.filing import acting, must_be_reviewed, word_proposal
from thunderus_mem.model.errors import Conflict
from thunderus_mem.model.event import (
    Change,
    Event,
    changes_of,
    encode,
    make_event,
    note_event,
    patch_event,
)
from thunderus_mem.model.event_secrets import refuse_secrets
from thunderus_mem.model.timestamp import format_precise
from thunderus_mem.store.edits import Edit, Ids, keeping_modes
from thunderus_mem.store.files import permissions, sweep
from thunderus_mem.store.paths import inside
from thunderus_mem.store.standstill import Standstill
from thunderus_mem.transaction.private import append_private

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from datetime import datetime

    from thunderus_mem.evidence.unrecorded import HandEdit
    from thunderus_mem.memory import Memory
    from thunderus_mem.store.git import GitState
    from thunderus_mem.store.outcome import Healed
    from thunderus_mem.store.sessions import Session
    from thunderus_mem.store.staging import Write

__all__ = ["Writing"]


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
        edits = list(keeping_modes(edits, self._mode))
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

    def _mode(self, path: str) -> int:
        return permissions(inside(self._memory.root, path))

    def _file(self, op: str, edits: Sequence[Edit], why: str, actor: str, ids: Ids) -> Event:
        """Put the change into the review queue; nothing else is written."""
        from thunderus_mem.store.proposals import write

        now = format_precise(self._memory.now())
        proposal = word_proposal(
            edits,
            id=self._memory.new_id("patch") if self.proposed else ids.patch,
            event=ids.event,
            created=now,
            actor=actor,
            op=op,
            why=why,
            origin=self._origin,
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
        return append_private(self._memory, session, self._common(now, session), makers)

    def _append(
        self, make: Callable[[dict[str, Any]], Event], edits: Sequence[Edit], drops: Sequence[Write] = ()
    ) -> Event:
        now = self._memory.now()
        session = self._memory.sessions.current(self._git, now, self._memory.new_id)
        links = {"prev": session.prev_line_hash, "head": session.head_hint}
        event = make({**self._common(now, session), **links})
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

    def _common(self, now: datetime, session: Session) -> dict[str, Any]:
        """What all events of the transaction say of themselves."""
        return {"ts": format_precise(now), "session_id": session.id, "origin": self._origin}

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
