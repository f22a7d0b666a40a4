"""What was changed outside the tool: the edits and removals that neither an event nor a commit explains."""

from __future__ import annotations

import os
import time
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from thunderus_mem.document.timestamp import format_precise
from thunderus_mem.errors import Busy, Conflict, Degraded, NotWritable, ThunderusError
from thunderus_mem.log.event import Change, changes_of
from thunderus_mem.log.line import Event, encode, line_hash, refuse_secrets
from thunderus_mem.log.new_event import (
    NO_LINKS,
    EventContext,
    Ids,
    PatchLinks,
    make_event,
    note_event,
    patch_event,
)
from thunderus_mem.log.reader import last_line, read_last_line
from thunderus_mem.memory.hand_edits import refusal, still_unrecorded
from thunderus_mem.memory.journal import FileChange, keeping_modes
from thunderus_mem.memory.past_texts import without_way_back
from thunderus_mem.memory.proposals import must_be_reviewed, word_proposal
from thunderus_mem.store.disk import explain
from thunderus_mem.store.files import file_hash, permissions, sweep
from thunderus_mem.store.parallel import in_background
from thunderus_mem.store.paths import inside

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from datetime import datetime

    from thunderus_mem.diagnostic import Diagnostic
    from thunderus_mem.document.document import Document
    from thunderus_mem.git.repository import Git
    from thunderus_mem.git.status import GitState
    from thunderus_mem.log.sessions import Session
    from thunderus_mem.memory.hand_edits import HandEdit
    from thunderus_mem.memory.journal import Healed
    from thunderus_mem.memory.memory import Memory


def hand_edits(memory: Memory, state: GitState | None) -> tuple[HandEdit, ...]:
    """Edits made outside the tool that no event and no commit explains; ``state`` is git's answer."""
    from thunderus_mem.index.log import read
    from thunderus_mem.memory.hand_edits import KnownTexts
    from thunderus_mem.memory.hand_edits import hand_edits as found_in

    log_index = memory.log_index()
    known = KnownTexts(
        paths=lambda: [path for path, _, _ in memory.index.files()],
        settled=memory.index.settled,
        explains=log_index.explains,
        vanished=log_index.vanished,
        told=lambda paths, doc_ids: [
            # Looked at again: what a file shows by now was logged before.
            logged.event
            for logged in read(memory.log, memory.log_index().about(paths, doc_ids))
        ],
    )
    return found_in(memory.layout, known, memory.git, state)


def mass_loss(memory: Memory, edits: Sequence[HandEdit]) -> tuple[HandEdit, ...]:
    """The removals among hand edits, when they are so many that hardly anybody meant them; else none."""
    from thunderus_mem.memory import hand_edits as hand_edits_module

    index = memory.index
    return hand_edits_module.mass_loss(edits, index.count(), lambda doc_id: index.get(doc_id) is not None)


# Events that stay in this working tree: the private shard of a session.


def append_private(
    memory: Memory,
    session: Session,
    context: EventContext,
    makers: Sequence[Callable[[EventContext], Event]],
) -> list[Event]:
    """Append events to the private shard of ``session``, in one write that is synced before it returns.

    Each of ``makers`` gets the ``context`` with the hash of the line before. Raises
    `Refused` for an event that holds a secret; nothing is written then.
    """
    memory.journal.repair(session.local_shard)
    last = last_line(inside(memory.root, session.local_shard))
    follows = prev = line_hash(last) if last else None
    lines, events = [], []
    for make in makers:
        event = make(context._replace(prev=prev))
        refuse_secrets(event)
        line = encode(event)
        prev = line_hash(line)
        lines.append(line)
        events.append(event)
    memory.sessions.begin(session)
    if lines:
        memory.journal.append(events[0].id, session.local_shard, lines, follows=follows or "")
        memory.sessions.wrote(session, lines[-1], private=True)
    return events


# Git and we write into one working tree: waiting for git, and seeing that what we wrote outlived it.
#
# Git takes its index lock, looks at the files, and then exchanges those that it found unchanged. What is
# written between the look and the exchange is gone, and nobody is told. So a write waits for git before it
# begins, and before it is acknowledged it is looked for.

_PATIENCE: Final = 2.0
_PAUSE: Final = 0.01
_LOOK: Final = "see with `thunderus-mem log` whether it is there, then repeat it"
_IN_A_HOOK: Final = ("GIT_INDEX_FILE", "GIT_DIR")


class GitRace:
    """The moments when git leaves the working tree alone. ``git`` is ``None`` outside a repository."""

    def __init__(self, git: Git | None, environ: Mapping[str, str]) -> None:
        # Inside a hook git waits for us, so we must not wait for it.
        self._git = None if any(environ.get(name) for name in _IN_A_HOOK) else git

    def wait(self) -> bool:
        """Wait a moment for git to let go of its index; whether there was anything to wait for.

        It may be a long ``git add``, which touches no file: then the write goes on without it.
        """
        until = time.monotonic() + _PATIENCE
        waited = False
        while self._git is not None and self._git.index_locked(time.time()) and time.monotonic() < until:
            waited = True
            time.sleep(_PAUSE)
        return waited

    def see(
        self, root: str, shard: str, line: bytes, changes: Sequence[FileChange], state: GitState | None
    ) -> None:
        """See, once git is done, that a line and the files it speaks of stand where they were written.

        ``state`` is what git said before. Raises ``Conflict`` when git exchanged them meanwhile, and what the
        system says when it does not let us look.
        """
        moved = self.wait() or (self._git is not None and self._git.reflog_size() != _reflog_size(state))
        stands = _end_of(root, shard) == line.rstrip(b"\r\n")
        if stands and (
            not moved or all(file_hash(inside(root, change.path)) == change.hash_after for change in changes)
        ):
            return
        raise Conflict(
            "git exchanged the working tree while this was written",
            hint=_LOOK,
        )


def _end_of(root: str, shard: str) -> bytes | None:
    """The last line of a shard; ``None`` when the shard is gone."""
    try:
        return read_last_line(os.path.join(root, *shard.split("/")))
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        told = explain(error, shard)
        raise type(told)(str(told), hint=_LOOK) from error


def _reflog_size(state: GitState | None) -> int:
    return state.reflog_size if state is not None else 0


# What goes to review instead of being written, and the proposal that is made of it. Pure.

ACTOR: Final = "THUNDERUS_MEM_ACTOR"
"""The environment variable that says whose commands these are: user or agent."""


def acting(environ: Mapping[str, str], actor: str) -> str:
    """Who acts: what a verb was told, or where that is the ordinary ``user``, what the environment says.

    Raises `ThunderusError` for a word that is neither user nor agent.
    """
    said = environ.get(ACTOR, "")
    if actor != "user" or not said:
        return actor
    if said not in ("user", "agent"):
        raise ThunderusError(f"{ACTOR} must be user or agent, not {said!r}")
    return said


# The open transaction: what a verb may do in it, one event at a time.


class Transaction:
    """The open transaction: `ids`, then `commit` or `note`, as often as the verb has steps."""

    def __init__(self, memory: Memory, git: GitState | None, origin: Mapping[str, str]) -> None:
        self._memory = memory
        self._git = git
        self._origin = dict(origin)
        self._standstill = GitRace(memory.git, memory.environ)
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
        edits: Sequence[FileChange],
        *,
        why: str = "",
        actor: str = "user",
        ids: Ids | None = None,
        links: PatchLinks = NO_LINKS,
        drops: Sequence[FileChange] = (),
        reviewed: bool = False,
    ) -> Event:
        """Write one patch event and the files it speaks of; returns the event as logged.

        ``links`` say what it speaks of besides, ``drops`` what else goes away with it. Raises `Conflict` when
        a file is not what ``edit.before`` says; nothing is written then. Where the configuration wants a
        decision first, and it is not ``reviewed`` yet, `proposed` names the proposal filed, and the event is
        none of the log.
        """
        chosen = ids or self.ids()
        actor = acting(self._memory.environ, actor)
        edits = list(keeping_modes(edits, self._mode))
        if not reviewed and must_be_reviewed(self._memory.config, actor, op, [edit.path for edit in edits]):
            return self._file(op, edits, why, actor, chosen)
        return self._append(
            lambda context: patch_event(
                context,
                chosen,
                op,
                [edit.for_log() for edit in edits],
                actor=actor,
                why=why,
                links=links,
            ),
            edits,
            drops,
        )

    def _mode(self, path: str) -> int:
        return permissions(inside(self._memory.root, path))

    def _file(self, op: str, edits: Sequence[FileChange], why: str, actor: str, ids: Ids) -> Event:
        """Put the change into the review queue; nothing else is written."""
        from thunderus_mem.memory.proposals import write

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
        return make_event(EventContext(now, ""), "patch", {"op": op}, id=ids.event, actor=actor)

    def note(self, text: str, *, doc_ids: Sequence[str] = (), why: str = "", actor: str = "user") -> Event:
        """Append a note event; no file changes."""
        actor = acting(self._memory.environ, actor)
        return self._append(
            lambda context: note_event(
                context, text, id=self._memory.new_id("evt"), actor=actor, doc_ids=doc_ids, why=why
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
        drops: Sequence[FileChange] = (),
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
        drops: Sequence[FileChange],
        *,
        id: str = "",
    ) -> Event:
        named = id or self._memory.new_id("evt")
        return self._append(
            lambda context: make_event(context, kind, dict(body), id=named, actor=actor, refs=refs, why=why),
            (),
            drops,
        )

    def log(self, make: Callable[[EventContext], Event]) -> Event:
        """Append an event that changes no file; ``make`` gets what all events share."""
        return self._append(make, ())

    def log_private(self, makers: Sequence[Callable[[EventContext], Event]]) -> list[Event]:
        """Append events to this tree's private shard, in one write that is synced before it returns."""
        now = self._memory.now()
        session = self._memory.sessions.current(self._git, now, self._memory.new_id)
        return append_private(self._memory, session, self._context(now, session), makers)

    def _append(
        self,
        make: Callable[[EventContext], Event],
        edits: Sequence[FileChange],
        drops: Sequence[FileChange] = (),
    ) -> Event:
        now = self._memory.now()
        session = self._memory.sessions.current(self._git, now, self._memory.new_id)
        context = self._context(now, session)
        event = make(context._replace(prev=session.prev_line_hash, head=session.head_hint))
        refuse_secrets(event)
        line = encode(event)
        self._memory.sessions.begin(session)
        self._keep(event, edits)
        changes = [*edits, *drops]
        follows = session.prev_line_hash or ""
        commit = self._memory.journal.commit
        committed = commit(event.id, session.shard, line, changes, head=self.head, follows=follows)
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
            self._standstill.see(self._memory.root, session.shard, line, changes, self._git)
        return event

    def _context(self, now: datetime, session: Session) -> EventContext:
        """What all events of the transaction say of themselves."""
        return EventContext(format_precise(now), session.id, origin=self._origin)

    def _keep(self, event: Event, edits: Sequence[FileChange]) -> None:
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
            lambda context: patch_event(
                context,
                Ids(event_id or fresh.event, patch_id or fresh.patch),
                op,
                changes,
                actor="user",
                why=why,
            ),
            (),
        )


# Open a transaction: under the lock, on documents as git and log know them, with hand edits recorded.

_TRIES = 3
_LOOKS, _OPENING_PAUSE = 3, 0.2


@contextmanager
def open_transaction(
    memory: Memory, command: str, *, accept_loss: bool = False, edited_for: str = ""
) -> Iterator[Transaction]:
    """Open a transaction for ``command`` (named to whoever waits for the lock).

    Raises `Busy` when another process holds the lock for too long, `NotWritable` when the disk refuses,
    `Refused` when the store is of a later version, or when more documents are gone than anybody takes away by
    hand, unless ``accept_loss``. ``edited_for`` is the reason of edits made by hand until now.
    """
    from thunderus_mem.store.root import refuse_newer

    refuse_newer(memory.layout, memory.config)
    until = time.monotonic() + memory.config.write_lock_timeout
    tries = 0
    while tries < _TRIES or time.monotonic() < until:
        tries += 1
        GitRace(memory.git, memory.environ).wait()
        # Git takes as long to answer as the index to refresh; neither needs the other.
        asked = in_background(lambda: (memory.git_state(), memory.origin()))
        from thunderus_mem.store.lock import held, prepare

        prepare()
        written = memory.sessions.last_written()
        memory.refresh()
        git, origin = asked()
        unrecorded: Sequence[HandEdit] = hand_edits(memory, git)
        if gone := 0 if accept_loss else len(mass_loss(memory, unrecorded)):
            if tries > _LOOKS and not (memory.git and memory.git.index_locked(time.time())):
                raise refusal(gone, memory.index.count())
            time.sleep(_OPENING_PAUSE)  # git may be in the middle of a checkout
            continue
        with held(memory.layout.lock_file, timeout=memory.config.write_lock_timeout, command=command):
            if not memory.sessions.still_holds(memory.git, git):
                continue  # git is asked again, without the lock
            transaction = Transaction(memory, git, origin)
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
    and to decide by them whether there is anything to write. Raises as `open_transaction`."""
    if memory.journal.pending():
        with open_transaction(memory, command):
            pass


# What a writing verb answers.


class Written(NamedTuple):
    """What a writing verb did: the document, the event that says so, and what to look at.

    ``op`` is the verb; ``changed`` is false when there was nothing to do; ``dry_run`` when nothing was
    written on purpose. ``published`` is false when the event is on disk but the file is not yet: the next
    command puts it there. ``damaged`` counts the lines of the log that could not be read, where the document
    was made from it. ``proposed`` names the proposal it became, where that waits for a decision: then
    nothing was changed.
    """

    id: str
    path: str
    op: str
    event_id: str = ""
    text: str = ""
    warnings: tuple[Diagnostic, ...] = ()
    recorded: tuple[str, ...] = ()
    dry_run: bool = False
    changed: bool = True
    published: bool = True
    damaged: int = 0
    proposed: str = ""


def done(
    transaction: Transaction,
    document: Document,
    event: Event,
    *,
    op: str,
    warnings: tuple[Diagnostic, ...] = (),
    removed: bool = False,
) -> Written:
    """The answer of a verb whose transaction has ended; the text of a removed document is empty."""
    return Written(
        document.id,
        document.path,
        op,
        "" if transaction.proposed else event.id,
        "" if removed else document.text,
        warnings,
        transaction.recorded,
        changed=not transaction.proposed,
        published=not transaction.pending,
        proposed=transaction.proposed,
    )


def unchanged(document: Document, op: str) -> Written:
    """The answer of a verb that found nothing to do."""
    return Written(document.id, document.path, op, text=document.text, changed=False)
