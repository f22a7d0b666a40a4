"""The transaction: what a command that writes may do, under the lock, one event at a time.

`open_transaction` waits for git, finishes what a killed command left, records edits made by hand, and yields
a `Transaction`; what it did is its `Outcome`. Writes documents, the log, proposals and the texts for `undo`.
"""

from __future__ import annotations

import os
import time
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from thunderus_mem.document.timestamp import format_precise
from thunderus_mem.errors import Busy, Conflict, Degraded, NotWritable, ThunderusError, explain
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
from thunderus_mem.memory.hand_edits import hand_edits, mass_loss, refusal, still_unrecorded
from thunderus_mem.memory.journal import FileChange, keeping_modes
from thunderus_mem.memory.past_texts import without_way_back
from thunderus_mem.memory.proposals import needs_review, proposal_of, write
from thunderus_mem.store.config_reader import refuse_newer
from thunderus_mem.store.files import file_hash, permissions, sweep
from thunderus_mem.store.lock import held, prepare
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
    """What a transaction did; the values of the commands say it in fields of the same names.

    ``event_id`` is its last event; ``recorded`` names the documents whose edits made by hand it logged first.
    ``published`` is false when an event is on disk but a file is not yet: the next command puts it there.
    ``proposed`` names the proposal that the change became, where it waits for a decision: then nothing was
    changed.
    """

    event_id: str = ""
    recorded: tuple[str, ...] = ()
    published: bool = True
    proposed: str = ""


class Written(NamedTuple):
    """What a writing verb did: the document, the event that says so, and what to look at.

    ``op`` is the verb; ``changed`` is false when there was nothing to do; ``dry_run`` when nothing was
    written on purpose. ``damaged`` counts the lines of the log that could not be read, where the document
    was made from it. The rest is that of an `Outcome`.
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
    """The answer of a command that found nothing to do."""
    return Written(document.id, document.path, op, text=document.text, changed=False)


_PATIENCE: Final = 2.0
_PAUSE: Final = 0.01
_LOOK: Final = "see with `thunderus-mem log` whether it is there, then repeat it"
_IN_A_HOOK: Final = ("GIT_INDEX_FILE", "GIT_DIR")


class GitRace:
    """The moments when git leaves the working tree alone. ``git`` is ``None`` outside a repository.

    Git takes its index lock, looks at the files, and then exchanges those that it found unchanged. What is
    written between the look and the exchange is gone without a message. So a write waits for git before it
    begins, and what it wrote is looked for before it is acknowledged.
    """

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
        ours = explain(error, shard)
        raise type(ours)(str(ours), hint=_LOOK) from error


def _reflog_size(state: GitState | None) -> int:
    return state.reflog_size if state is not None else 0


ACTOR: Final = "THUNDERUS_MEM_ACTOR"
"""The environment variable that says whose commands these are: user or agent."""


def resolve_actor(environ: Mapping[str, str], actor: str) -> str:
    """Who acts: what a verb was told, or where that is the ordinary ``user``, what the environment says.

    Raises `ThunderusError` for a word that is neither user nor agent.
    """
    said = environ.get(ACTOR, "")
    if actor != "user" or not said:
        return actor
    if said not in ("user", "agent"):
        raise ThunderusError(f"{ACTOR} must be user or agent, not {said!r}")
    return said


class Transaction:
    """The open transaction: `ids`, then `commit`, `write` or `note`, as often as the command has steps."""

    def __init__(self, memory: Memory, git: GitState | None, origin: Mapping[str, str]) -> None:
        self._memory = memory
        self._git = git
        self._origin = dict(origin)
        self._race = GitRace(memory.git, memory.environ)
        self._patch = ""
        self.recovered: tuple[RecoveredFile, ...] = ()
        self.outcome = Outcome()

    @property
    def head(self) -> str:
        """The newest commit, "" without one."""
        return (self._git.head or "") if self._git is not None else ""

    def ids(self) -> Ids:
        """A fresh id for the next commit; all commits of a command are one patch and share its id."""
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
        actor: str = "user",
        ids: Ids | None = None,
        warnings: tuple[Diagnostic, ...] = (),
    ) -> Written:
        """Write one document, as `commit` does: ``before`` is ``None`` for a new one, ``after`` for one that
        goes away. The answer of a command that writes no other."""
        document = after or before
        assert document is not None
        text = after.text if after is not None else None
        change = FileChange(document.id, document.path, before.text if before is not None else None, text)
        self.commit(op, [change], why=why, actor=actor, ids=ids)
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
        actor: str = "user",
        ids: Ids | None = None,
        links: PatchLinks = NO_LINKS,
        drops: Sequence[FileChange] = (),
        reviewed: bool = False,
    ) -> str:
        """Write one patch event and the files it speaks of; returns the id of the event.

        ``links`` say what it speaks of besides, ``drops`` what else goes away with it. Raises `Conflict` when
        a file is not what ``change.before`` says; nothing is written then. Where the configuration wants a
        decision first, and it is not ``reviewed`` yet, the change becomes a proposal: see `Outcome`.
        """
        chosen = ids or self.ids()
        actor = resolve_actor(self._memory.environ, actor)
        changes = list(keeping_modes(changes, self._mode))
        if not reviewed and needs_review(self._memory.config, actor, op, [one.path for one in changes]):
            self._propose(op, changes, why, actor, chosen)
            return ""
        return self._append(
            lambda context: patch_event(
                context, chosen, op, [one.for_log() for one in changes], actor=actor, why=why, links=links
            ),
            changes,
            drops,
        )

    def _mode(self, path: str) -> int:
        return permissions(inside(self._memory.root, path))

    def _propose(self, op: str, changes: Sequence[FileChange], why: str, actor: str, ids: Ids) -> None:
        """Put the change into the review queue; nothing else is written."""
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
            origin=self._origin,
        )
        write(self._memory.layout, proposal)
        self.outcome = self.outcome._replace(event_id="", proposed=proposal.id)

    def note(self, text: str, doc_ids: Sequence[str] = (), *, actor: str = "user") -> str:
        """Append a note event; no file changes."""
        actor = resolve_actor(self._memory.environ, actor)
        return self._append(
            lambda context: note_event(
                context, text, id=self._memory.new_id("evt"), actor=actor, doc_ids=doc_ids
            )
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
    ) -> str:
        """Append an approval: somebody's word on documents, with what it rests on; no document changes.

        ``id`` is what it is called, where a document cites it; ``patch`` the proposal decided about,
        ``drops`` what goes away with the decision.
        """
        refs = {"patch_id": patch} if patch else {}
        return self._append_about("approval", body, doc_ids, refs, why=why, actor=actor, drops=drops, id=id)

    def snapshot(
        self, id: str, body: Mapping[str, Any], doc_ids: Sequence[str], *, why: str, actor: str
    ) -> str:
        """Append a snapshot: what the documents of the commits to come are now."""
        refs = {"snapshot_id": id, "patch_id": self.ids().patch}
        return self._append_about("snapshot", body, doc_ids, refs, why=why, actor=actor)

    def _append_about(
        self,
        kind: str,
        body: Mapping[str, Any],
        doc_ids: Sequence[str],
        refs: Mapping[str, str] = {},
        *,
        why: str = "",
        actor: str,
        drops: Sequence[FileChange] = (),
        id: str = "",
    ) -> str:
        """Append an event about documents that changes none."""
        actor = resolve_actor(self._memory.environ, actor)
        named = id or self._memory.new_id("evt")
        about = {**refs, "memory_doc_ids": list(dict.fromkeys(doc_ids))}
        return self._append(
            lambda context: make_event(context, kind, dict(body), id=named, actor=actor, refs=about, why=why),
            drops=drops,
        )

    def log(self, make: Callable[[EventContext], Event]) -> str:
        """Append an event that changes no file; ``make`` gets what all events share."""
        return self._append(make)

    def log_private(self, makers: Sequence[Callable[[EventContext], Event]]) -> list[str]:
        """Append events to this tree's private shard, in one write that is synced before it returns.

        Each maker gets what the events share. Raises `Refused` for an event that holds a secret;
        nothing is written then.
        """
        session, context = self._session()
        self._memory.journal.repair(session.local_shard)
        last = last_line(inside(self._memory.root, session.local_shard))
        follows = prev = line_hash(last) if last else None
        lines, ids = [], []
        for make in makers:
            event = make(context._replace(prev=prev))
            refuse_secrets(event)
            lines.append(encode(event))
            ids.append(event.id)
            prev = line_hash(lines[-1])
        self._memory.sessions.begin(session)
        if lines:
            self._memory.journal.append(ids[0], session.local_shard, lines, follows=follows or "")
            self._memory.sessions.wrote(session, lines[-1], private=True)
        return ids

    def _session(self) -> tuple[Session, EventContext]:
        """The session to write in, and what an event of it says of itself; the links to other lines are not
        among it."""
        now = self._memory.now()
        session = self._memory.sessions.current(self._git, now, self._memory.new_id)
        return session, EventContext(format_precise(now), session.id, origin=self._origin)

    def _append(
        self,
        make: Callable[[EventContext], Event],
        changes: Sequence[FileChange] = (),
        drops: Sequence[FileChange] = (),
    ) -> str:
        session, context = self._session()
        event = make(context._replace(prev=session.prev_line_hash, head=session.head_hint))
        refuse_secrets(event)
        line = encode(event)
        self._memory.sessions.begin(session)
        self._keep_texts(event, changes)
        files = [*changes, *drops]
        committed = self._memory.journal.commit(
            event.id, session.shard, line, files, head=self.head, follows=session.prev_line_hash or ""
        )
        self._memory.sessions.wrote(session, line)
        published = self.outcome.published and committed.published
        self.outcome = self.outcome._replace(event_id=event.id, published=published)
        for lost in committed.aborted:
            self._log_aborted(lost)
        if committed.aborted:
            lost = committed.aborted[0]
            raise Conflict(
                f"{lost.path} was changed by somebody else at the last moment; that text stays",
                hint=f"yours is kept in {lost.kept}: look at both, then repeat the change",
            )
        if published:
            self._race.see(self._memory.root, session.shard, line, files, self._git)
        return event.id

    def _keep_texts(self, event: Event, changes: Sequence[FileChange]) -> None:
        """Keep in this tree what the log will not lead back to, for `undo`."""
        logged = changes_of(event) if changes else ()
        texts = without_way_back(logged, [(one.before, one.after) for one in changes])
        if texts:
            self._memory.undo_texts.keep(event.id, texts, self._memory.now())

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
        self.recovered = tuple(
            memory.journal.recover(
                memory.log.contains,
                head=self.head or None,
                shards=(shard,) if shard else (),
                on_abort=self._log_aborted,
            )
        )

    def _log_aborted(self, recovered: RecoveredFile) -> None:
        change = Change("aborted", "", recovered.path, "", "", None, False)
        why = f"{recovered.event_id} found other text; ours is in {recovered.kept}"
        self._log_change("aborted", change, why)

    def record(self, edits: Iterable[HandEdit], why: str = "") -> None:
        """Log edits that people made outside the tool, one event each, as actor ``user``."""
        recorded = []
        for edit in edits:
            self._log_change("hand-edit", edit.change, why, Ids(edit.event_id, edit.patch_id))
            recorded.append(edit.doc_id or edit.path)
        self.outcome = Outcome(recorded=tuple(recorded))

    def _log_change(self, op: str, change: Change, why: str, ids: Ids | None = None) -> None:
        fresh = Ids(self._memory.new_id("evt"), self._memory.new_id("patch"))
        self._append(lambda context: patch_event(context, ids or fresh, op, (change,), actor="user", why=why))


_TRIES: Final = 3
_LOOKS, _OPENING_PAUSE = 3, 0.2


class _Seen(NamedTuple):
    """What was seen before the lock: git's answer, who writes, the shard's last write, and edits by hand."""

    git: GitState | None
    origin: dict[str, str]
    written: object
    edits: tuple[HandEdit, ...]


def _look(memory: Memory) -> _Seen:
    """Ask git, without the lock, and refresh the index meanwhile: neither needs the other."""
    GitRace(memory.git, memory.environ).wait()
    asked = in_background(lambda: (memory.git_state(), memory.origin()))
    prepare()
    written = memory.sessions.last_written()
    memory.refresh()
    git, origin = asked()
    return _Seen(git, origin, written, hand_edits(memory, git))


@contextmanager
def open_transaction(
    memory: Memory, command: str, *, accept_loss: bool = False, edited_for: str = ""
) -> Iterator[Transaction]:
    """Open a transaction for ``command`` (named to whoever waits for the lock): on documents as git and log
    know them, with hand edits recorded.

    Raises `Busy` when another process holds the lock for too long, `NotWritable` when the disk refuses,
    `Refused` when the store is of a later version, or when more documents are gone than anybody takes away by
    hand, unless ``accept_loss``. ``edited_for`` is the reason of edits made by hand until now.
    """
    refuse_newer(memory.layout, memory.config)
    until = time.monotonic() + memory.config.write_lock_timeout
    tries = 0
    while tries < _TRIES or time.monotonic() < until:
        tries += 1
        seen = _look(memory)
        if gone := 0 if accept_loss else len(mass_loss(memory, seen.edits)):
            if tries > _LOOKS and not (memory.git and memory.git.index_locked(time.time())):
                raise refusal(gone, memory.index.count())
            time.sleep(_OPENING_PAUSE)  # git may be in the middle of a checkout
            continue
        with held(memory.layout.lock_file, timeout=memory.config.write_lock_timeout, command=command):
            if not memory.sessions.still_holds(memory.git, seen.git):
                continue  # git is asked again, without the lock
            transaction = Transaction(memory, seen.git, seen.origin)
            transaction.recover()
            edits: Sequence[HandEdit] = seen.edits
            if transaction.recovered or memory.sessions.last_written() != seen.written:
                # What another process wrote before we had the lock is known, and no edit by hand.
                memory.refresh()
                edits = still_unrecorded(memory, edits)
            transaction.record([edit for edit in edits if edit.still_there(memory.layout)], edited_for)
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
