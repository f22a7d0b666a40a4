"""Transactions: how commands write, under the lock, one event at a time.

`open_transaction` waits for git, recovers interrupted changes, records hand edits and yields a `Transaction`,
whose result is an `Outcome`. Writes documents, the log, proposals and the texts for `undo`.
"""

from __future__ import annotations

import os
import time
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, Final

from thunderus_mem.document.timestamp import format_precise
from thunderus_mem.errors import Busy, Conflict, Degraded, NotWritable, explain
from thunderus_mem.log.event import ABORTED, HAND_EDIT, Change, changes_of
from thunderus_mem.log.line import Event, encode, line_hash, refuse_secrets
from thunderus_mem.log.new_event import (
    MOST_WITH_DIFFS,
    NO_LINKS,
    EventContext,
    Ids,
    PatchLinks,
    make_event,
    patch_event,
)
from thunderus_mem.log.reader import SHARD_NAME, last_line, read_last_line
from thunderus_mem.log.transitions import given_up
from thunderus_mem.memory.hand_edits import hand_edits, mass_loss, refusal, still_unrecorded
from thunderus_mem.memory.journal import FileChange, with_modes
from thunderus_mem.memory.past_texts import unrestorable
from thunderus_mem.memory.proposals import needs_review, proposal_of, write
from thunderus_mem.startup import NamedTuple
from thunderus_mem.store.config_reader import refuse_newer
from thunderus_mem.store.files import file_hash, permissions, sweep
from thunderus_mem.store.layout import SHARD_FOLDERS
from thunderus_mem.store.lock import held
from thunderus_mem.store.parallel import in_background
from thunderus_mem.store.paths import inside

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from thunderus_mem.diagnostic import Diagnostic
    from thunderus_mem.document.document import Document
    from thunderus_mem.git.repository import Git, GitState
    from thunderus_mem.log.sessions import Session
    from thunderus_mem.memory.hand_edits import HandEdit
    from thunderus_mem.memory.journal import RecoveredFile
    from thunderus_mem.memory.memory import Memory


class Outcome(NamedTuple):
    """The result of a transaction; results of commands have fields with the same names.

    ``event_id`` is its last event; ``recorded`` are the documents whose hand edits it logged first.
    ``published`` is false if an event is on disk but a file is not yet: the next command writes it.
    ``proposed`` is the id of the proposal, if the change is pending review: then nothing was changed.
    """

    event_id: str = ""
    recorded: tuple[str, ...] = ()
    published: bool = True
    proposed: str = ""


class Written(NamedTuple):
    """The result of a command that writes: the document, its event, and warnings.

    ``op`` is the command; ``changed`` is false if there was nothing to do; ``dry_run`` if nothing was to be
    written. ``damaged`` counts unreadable lines of the log, if the document was made from it. The other
    fields are those of `Outcome`.
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


def unchanged(document: Document, op: str) -> Written:
    """Return the result of a command that had nothing to do."""
    return Written(document.id, document.path, op, text=document.text, changed=False)


_GIT_WAIT: Final = 2.0
_PAUSE: Final = 0.01
_LOOK: Final = "check with `thunderus-mem log` whether the change was recorded; if not, repeat it"
_MOST_LISTED: Final = 1_000
_IN_A_HOOK: Final = ("GIT_INDEX_FILE", "GIT_DIR")


class GitRace:
    """Avoids races with git commands in the working tree. ``git`` is ``None`` outside a repository.

    Git takes its index lock, compares the files, and then replaces those it found unchanged. Files
    written in between are lost silently. So a write waits for git first, and finally verifies what it wrote.
    """

    def __init__(self, git: Git | None, environ: Mapping[str, str]) -> None:
        # In a hook git waits for us, so we must not wait for git.
        self._git = None if any(environ.get(name) for name in _IN_A_HOOK) else git

    def wait(self) -> bool:
        """Wait briefly for git to release its index lock; return whether it was locked.

        A long ``git add`` may hold it, which changes no file: then the write proceeds anyway.
        """
        until = time.monotonic() + _GIT_WAIT
        waited = False
        while self._git is not None and self._git.index_locked(time.time()) and time.monotonic() < until:
            waited = True
            time.sleep(_PAUSE)
        return waited

    def verify(
        self, root: str, shard: str, line: bytes, changes: Sequence[FileChange], state: GitState | None
    ) -> None:
        """Verify, once git is done, that a line and its files are as written.

        ``state`` is git's state before. Raises ``Conflict`` if git replaced them, and `ThunderusError` if
        they cannot be read.
        """
        moved = self.wait() or (self._git is not None and self._git.reflog_size() != _reflog_size(state))
        intact = _end_of(root, shard) == line.rstrip(b"\r\n")
        if intact and (
            not moved or all(file_hash(inside(root, change.path)) == change.hash_after for change in changes)
        ):
            return
        raise Conflict(
            "git changed the working tree while this was written",
            hint=_LOOK,
        )


def _end_of(root: str, shard: str) -> bytes | None:
    """Return the last line of a shard, ``None`` if it is missing."""
    try:
        return read_last_line(os.path.join(root, *shard.split("/")))
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        ours = explain(error, shard)
        raise type(ours)(str(ours), hint=_LOOK) from error


def _reflog_size(state: GitState | None) -> int:
    return state.reflog_size if state is not None else 0


class Transaction:
    """An open transaction. For each step call `ids`, then `commit`, `write` or `log`.

    The actor of its events is that of the memory.
    """

    def __init__(self, memory: Memory, git: GitState | None, origin: Mapping[str, str]) -> None:
        self._memory = memory
        self._git = git
        self._origin = dict(origin)
        self._race = GitRace(memory.git, memory.environ)
        self._patch = ""
        self.recovered: tuple[RecoveredFile, ...] = ()
        self.outcome = Outcome()
        self.changed: set[str] | None = set()
        """The paths of the files it changed; ``None`` if there are too many to list."""

    @property
    def head(self) -> str:
        """The commit HEAD, "" if there is none."""
        return (self._git.head or "") if self._git is not None else ""

    def ids(self) -> Ids:
        """Return new ids for the next commit; all commits of a command share one patch id."""
        event = self._memory.new_id("evt")
        self._patch = self._patch or self._memory.new_id("patch")
        return Ids(event, self._patch)

    def write(
        self,
        op: str,
        before: Document | None,
        after: Document | None,
        *,
        why: str = "",
        ids: Ids | None = None,
        about: Sequence[str] = (),
        warnings: tuple[Diagnostic, ...] = (),
    ) -> Written:
        """Write one document like `commit`: ``before`` is ``None`` if new, ``after`` if removed.

        ``about`` are other documents that the event names. Returns the result of a command that writes
        nothing else.
        """
        document = after or before
        assert document is not None
        text = after.text if after is not None else None
        change = FileChange(document.id, document.path, before.text if before is not None else None, text)
        self.commit(op, [change], why=why, ids=ids, links=PatchLinks(about=about))
        return Written(
            document.id,
            document.path,
            op,
            text=text or "",
            warnings=warnings,
            changed=not self.outcome.proposed,
            **self.outcome._asdict(),
        )

    def commit(
        self,
        op: str,
        changes: Sequence[FileChange],
        *,
        why: str = "",
        actor: str = "",
        ids: Ids | None = None,
        links: PatchLinks = NO_LINKS,
        drops: Sequence[FileChange] = (),
        reviewed: bool = False,
    ) -> str:
        """Write one patch event and its files; return the id of the event.

        ``actor`` is ``tool`` if the program alone decides what to write; ``links`` are its other references,
        ``drops`` files to remove with it. Raises `Conflict`, without
        writing anything, if a file does not match ``change.before``. If the settings require a review and it
        is not ``reviewed`` yet, the change becomes a proposal: see `Outcome`.
        """
        chosen = ids or self.ids()
        actor = actor or self._memory.actor
        changes = list(with_modes(changes, self._mode))
        if not reviewed and needs_review(self._memory.config, actor, op, [one.path for one in changes]):
            self._propose(op, changes, why, actor, chosen, links.about)
            return ""
        diffs = len(changes) <= MOST_WITH_DIFFS
        logged = [one.for_log(diffs=diffs) for one in changes]
        return self._append(
            lambda context: patch_event(context, chosen, op, logged, actor=actor, why=why, links=links),
            changes,
            drops,
        )

    def _mode(self, path: str) -> int:
        return permissions(inside(self._memory.root, path))

    def _propose(
        self, op: str, changes: Sequence[FileChange], why: str, actor: str, ids: Ids, about: Sequence[str]
    ) -> None:
        """Add the change to the review queue; nothing else is written."""
        created = format_precise(self._memory.now())
        if self.outcome.proposed:  # each commit of a command is a proposal of its own
            ids = ids._replace(patch=self._memory.new_id("patch"))
        proposal = proposal_of(
            changes,
            ids,
            created=created,
            actor=actor,
            op=op,
            why=why,
            about=about,
            origin=self._origin,
        )
        write(self._memory.layout, proposal)
        self.outcome = self.outcome._replace(event_id="", proposed=proposal.id)

    def approve(
        self,
        body: Mapping[str, Any],
        doc_ids: Sequence[str],
        *,
        why: str,
        id: str = "",
        patch: str = "",
        drops: Sequence[FileChange] = (),
    ) -> str:
        """Append an approval: a decision, or the verification of documents; no document changes.

        ``id`` is its id, if a document cites it; ``patch`` the proposal that was decided, ``drops`` files to
        remove with the decision.
        """
        refs = {"patch_id": patch} if patch else {}
        return self._append_about("approval", body, doc_ids, refs, why=why, drops=drops, id=id)

    def snapshot(self, id: str, body: Mapping[str, Any], doc_ids: Sequence[str], *, why: str) -> str:
        """Append a snapshot of the documents that the next commits will change."""
        refs = {"snapshot_id": id, "patch_id": self.ids().patch}
        return self._append_about("snapshot", body, doc_ids, refs, why=why)

    def _append_about(
        self,
        kind: str,
        body: Mapping[str, Any],
        doc_ids: Sequence[str],
        refs: Mapping[str, str] = {},
        *,
        why: str = "",
        drops: Sequence[FileChange] = (),
        id: str = "",
    ) -> str:
        """Append an event about documents without changing them."""
        named = id or self._memory.new_id("evt")
        about = {**refs, "memory_doc_ids": list(dict.fromkeys(doc_ids))}
        return self._append(
            lambda context: make_event(
                context, kind, dict(body), id=named, actor=self._memory.actor, refs=about, why=why
            ),
            drops=drops,
        )

    def log(self, make: Callable[[EventContext], Event]) -> str:
        """Append an event that changes no file; ``make`` creates it from the shared context."""
        return self._append(make)

    def log_private(self, makers: Sequence[Callable[[EventContext], Event]], shard: str = "") -> list[str]:
        """Append events to a private shard in one synced write: to that of this session, or to ``shard``.

        Each maker gets the shared context. Raises `Refused`, without writing anything, if an event contains a
        secret.
        """
        session, context = self._session()
        if shard:
            context = context._replace(session_id=shard.split("/")[-2])
        place = shard or f"{SHARD_FOLDERS[1]}/{session.id}/{SHARD_NAME}"
        self._memory.journal.repair(place)
        last = last_line(inside(self._memory.root, place))
        follows = prev = line_hash(last) if last else None
        lines, ids = [], []
        for make in makers:
            event = make(context._replace(prev=prev))
            refuse_secrets(event)
            lines.append(encode(event))
            ids.append(event.id)
            prev = line_hash(lines[-1])
        if not shard:
            self._memory.sessions.begin(session)
        if lines:
            self._memory.journal.append(ids[0], place, lines, follows=follows or "")
        if lines and not shard:
            self._memory.sessions.wrote(session, lines[-1], private=True)
        return ids

    def _session(self) -> tuple[Session, EventContext]:
        """Return the session to write, and the context of its events without links to other lines."""
        now = self._memory.now()
        session = self._memory.sessions.current(self._git, now, self._memory.new_id)
        return session, EventContext(format_precise(now), session.id, origin=self._origin)

    def _heads(self) -> dict[str, str]:
        """Return the last lines that a new shard names: of shards that git has; outside git, of all."""
        known = self._git.has if self._git is not None and not self._git.ignored else _always
        return self._memory.log_index().unnamed_heads(known)

    def _append(
        self,
        make: Callable[[EventContext], Event],
        changes: Sequence[FileChange] = (),
        drops: Sequence[FileChange] = (),
        texts: Sequence[tuple[str | None, str | None]] = (),
    ) -> str:
        """Append an event and change its files. ``texts`` are those before and after changes that were made
        already."""
        session, context = self._session()
        heads = self._heads() if session.prev_line_hash is None else {}
        event = make(context._replace(prev=session.prev_line_hash, heads=heads))
        refuse_secrets(event)
        line = encode(event)
        self._memory.sessions.begin(session)
        self._keep_texts(event, texts or [(one.before, one.after) for one in changes])
        files = [*changes, *drops]
        self._note_changed(one.path for one in files)
        committed = self._memory.journal.commit(
            event.id, session.shard, line, files, head=self.head, follows=session.prev_line_hash or ""
        )
        self._memory.sessions.wrote(session, line)
        published = self.outcome.published and committed.published
        self.outcome = self.outcome._replace(event_id=event.id, published=published)
        for lost in committed.aborted:
            self._log_aborted(lost)
        if committed.aborted:
            raise Conflict(
                f"{committed.aborted[0].path} was changed by another program at the last moment; "
                "that text is kept",
                hint="read it, then repeat the change" + self._kept(committed.aborted, "; yours is in "),
            )
        if published:
            self._race.verify(self._memory.root, session.shard, line, files, self._git)
        return event.id

    def _keep_texts(self, event: Event, texts: Sequence[tuple[str | None, str | None]]) -> None:
        """Keep texts in this tree that the log cannot restore, for `undo`."""
        old, new = unrestorable(changes_of(event), texts) if texts else ([], [])
        kept = not (old or new) or self._memory.undo_texts.keep(event.id, [*old, *new], self._memory.now())
        if old and not kept:
            count = "1 old text" if len(old) == 1 else f"{len(old):,} old texts"
            self._memory.say(f"`undo` cannot restore {count} of {event.id}: no copy could be kept")

    def recover(self) -> None:
        """Finish or undo interrupted changes; a conflicting text is logged as aborted."""
        memory = self._memory
        for folder in (
            memory.layout.store,
            memory.layout.local_dir,
            memory.layout.schemas_dir,
            memory.layout.patches_dir,
        ):
            sweep(folder)
        shard = memory.sessions.known_shard()
        self.recovered = tuple(
            memory.journal.recover(
                memory.log.contains,
                head=self.head or None,
                shards=(shard,) if shard else (),
                given_up=lambda paths: given_up(memory.events_about(paths, ())),
                on_abort=self._log_aborted,
            )
        )
        self._note_changed(one.path for one in self.recovered)

    def _note_changed(self, paths: Iterable[str]) -> None:
        if self.changed is not None:
            self.changed.update(paths)
            self.changed = self.changed if len(self.changed) <= _MOST_LISTED else None

    def _log_aborted(self, recovered: RecoveredFile) -> None:
        kept = self._kept([recovered], "; ours is in ")
        why = f"{recovered.event_id} was not applied: the file has other text{kept}"
        self._log_change(ABORTED, _aborted(recovered), why)

    def give_up(self, event_id: str, *, why: str, ids: Ids, links: PatchLinks) -> tuple[RecoveredFile, ...]:
        """Abort the writes of an event that are not published yet, as an event with ``ids``; return them.

        Raises `NotWritable` if their texts cannot be quarantined: then nothing was changed.
        """

        def log(lost: Sequence[RecoveredFile]) -> None:
            kept = self._kept(lost, "; its text is in ")
            reason = f"{event_id} was undone before it was written{kept}" + (f": {why}" if why else "")
            changes = [_aborted(one) for one in lost]
            self._append(
                lambda context: patch_event(
                    context, ids, ABORTED, changes, actor=self._memory.actor, why=reason, links=links
                )
            )

        return self._memory.journal.give_up(event_id, log)

    def _kept(self, lost: Sequence[RecoveredFile], before: str) -> str:
        """Return the paths of the quarantined texts, with ``before`` in front; "" if there are none."""
        paths = ", ".join(self._memory.layout.relative(one.kept) for one in lost if one.kept)
        return before + paths if paths else ""

    def record(self, edits: Iterable[HandEdit], why: str = "") -> None:
        """Log hand edits, one event each.

        Their actor is ``user`` if a user runs this command, else ``tool``: an agent that writes here may
        only have found the edit of somebody else.
        """
        recorded = []
        for edit in edits:
            self._log_change(HAND_EDIT, edit.change, why, Ids(edit.event_id, edit.patch_id), edit.texts)
            recorded.append(edit.doc_id or edit.path)
        self.outcome = Outcome(recorded=tuple(recorded))

    def _log_change(
        self,
        op: str,
        change: Change,
        why: str,
        ids: Ids | None = None,
        texts: tuple[str | None, str | None] | None = None,
    ) -> None:
        fresh = Ids(self._memory.new_id("evt"), self._memory.new_id("patch"))
        actor = "user" if self._memory.actor == "user" else "tool"
        self._append(
            lambda context: patch_event(context, ids or fresh, op, (change,), actor=actor, why=why),
            texts=[texts] if texts else (),
        )


def _aborted(lost: RecoveredFile) -> Change:
    return Change(ABORTED, "", lost.path, "", "")


def _always(shard: str) -> bool:
    return True


_TRIES: Final = 3
_LOSS_TRIES, _OPENING_PAUSE = 3, 0.2


class _Before(NamedTuple):
    """The state before taking the lock: git's state, origin, this tree's last write, and hand edits."""

    git: GitState | None
    origin: dict[str, str]
    written: object
    edits: tuple[HandEdit, ...]


def _look(memory: Memory) -> _Before:
    """Ask git, without the lock, and refresh the index in parallel."""
    GitRace(memory.git, memory.environ).wait()
    asked = in_background(lambda: (memory.git_state(), memory.origin()))
    written = memory.sessions.last_written()
    memory.refresh()
    git, origin = asked()
    return _Before(git, origin, written, hand_edits(memory, git))


@contextmanager
def open_transaction(
    memory: Memory, command: str, *, accept_loss: bool = False, edited_for: str = ""
) -> Iterator[Transaction]:
    """Open a transaction for ``command`` (shown to processes that wait for the lock) and record hand edits.

    Raises `Busy` if another process holds the lock for too long, `NotWritable` for a system error, `Refused`
    if the store has a newer format, or if too many documents are missing, unless ``accept_loss``.
    ``edited_for`` is the reason to record for the hand edits.
    """
    refuse_newer(memory.layout, memory.config)
    until = time.monotonic() + memory.config.write_lock_timeout
    tries = 0
    while tries < _TRIES or time.monotonic() < until:
        tries += 1
        seen = _look(memory)
        if gone := 0 if accept_loss else len(mass_loss(memory, seen.edits)):
            if tries > _LOSS_TRIES and not (memory.git and memory.git.index_locked(time.time())):
                raise refusal(gone, memory.index.count())
            time.sleep(_OPENING_PAUSE)  # git may be in the middle of a checkout
            continue
        with held(memory.layout.lock_file, timeout=memory.config.write_lock_timeout, command=command):
            if not memory.sessions.still_holds(memory.git, seen.git):
                continue  # ask git again, without the lock
            transaction = Transaction(memory, seen.git, seen.origin)
            transaction.recover()
            edits: Sequence[HandEdit] = seen.edits
            if transaction.recovered or memory.sessions.last_written() != seen.written:
                # What another process wrote before we had the lock is not a hand edit.
                memory.refresh()
                edits = still_unrecorded(memory, edits)
            transaction.record([edit for edit in edits if edit.still_applies(memory.layout)], edited_for)
            yield transaction
            # The change is on disk; if the index cannot be updated, the next command does it.
            with suppress(Busy, Degraded, NotWritable):
                memory.refresh(transaction.changed)
            return
    raise Busy(
        "git keeps moving HEAD while this command tries to write",
        hint="wait for the other git command to finish",
    )


def settle(memory: Memory, command: str) -> None:
    """Finish or undo interrupted changes before ``command`` reads documents to decide what to write.

    Raises like `open_transaction`.
    """
    if memory.journal.pending():
        with open_transaction(memory, command):
            pass
