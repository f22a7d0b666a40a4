"""The verb `doctor`: looks at everything around the documents, and changes nothing.

`CHECKS` is the one list of what is looked at: each check is a function that reads the disk, the index, the
log or git through a `DoctorContext`, and yields what it finds. One that cannot look says so; the others
still do.
"""

from __future__ import annotations

import json
import os
import shlex
import stat
import sys
import time
from collections import Counter
from contextlib import closing
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from thunderus_mem.authoring.init import FILES, lacking
from thunderus_mem.diagnostic import Severity
from thunderus_mem.doctor import upkeep
from thunderus_mem.document import schema
from thunderus_mem.document.document import content_hash
from thunderus_mem.errors import Degraded, ThunderusError
from thunderus_mem.history.log import log_findings
from thunderus_mem.index.manifest import manifest_stamp
from thunderus_mem.index.refresh import QUIET_SECONDS
from thunderus_mem.index.refresh import leftovers as index_leftovers
from thunderus_mem.index.scan import visible_name
from thunderus_mem.index.sqlite_index import SqliteIndex
from thunderus_mem.lint.runner import NEVER_TRACKED, packaged_schemas
from thunderus_mem.log.reader import MAX_SHARD
from thunderus_mem.log.shard import CHAIN, CONFLICT, SHAPE, TORN, parse_shard
from thunderus_mem.memory.hand_edits import hand_edits, mass_loss
from thunderus_mem.memory.journal import staged_ids
from thunderus_mem.memory.proposals import BadProposal, entries
from thunderus_mem.review.queue import queue_state
from thunderus_mem.store.config import FORMAT
from thunderus_mem.store.config_reader import newer_version, version_of_schemas
from thunderus_mem.store.files import TEMP_PREFIX, file_hash, read_file
from thunderus_mem.store.layout import FOLDERS, INDEXES, STORE, linked_places
from thunderus_mem.store.paths import is_shard

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from thunderus_mem.diagnostic import Diagnostic
    from thunderus_mem.git.repository import GitState
    from thunderus_mem.memory.memory import Memory
    from thunderus_mem.store.layout import Layout

_MANIFEST_LIMIT: Final = 256 << 20
_CONFIG_LIMIT: Final = 1 << 20

ACTIONS: Final = {
    "set-aside": "set {} aside",
    "recover": "finish or undo what a killed command left in {}",
    "end": "set the torn end of {} aside",
    "write": "write {} as it should be, and keep the old text",
    "rebuild": "make index and manifest anew in {}",
}
"""What a fix can be, in the order in which fixes are made, with what it says of its path."""


class Fix(NamedTuple):
    """A safe way to mend a finding. ``action`` is one of:

    ``set-aside``: move ``path`` into the quarantine. ``recover``: finish or undo what a killed command left.
    ``end``: set the torn end of the log ``path`` aside. ``write``: write ``path`` as it should be, keeping
    the old text. ``rebuild``: make index and manifest anew.
    """

    action: str
    path: str


@dataclass(frozen=True, slots=True)
class Check:
    """One thing `doctor` looked at. ``state`` is ok, note, warning or error; ``hint`` says what mends it.

    ``affects`` are root-relative paths (``path:line`` in a log). ``lost`` says what is gone for good,
    ``command`` what to run next; ``mends`` is what ``doctor --fix`` would do.
    """

    name: str
    state: str
    message: str
    hint: str = ""
    affects: tuple[str, ...] = ()
    lost: str = ""
    command: str = ""
    mends: tuple[Fix, ...] = ()

    @property
    def is_trouble(self) -> bool:
        """Whether somebody has to do something."""
        return self.state in ("warning", "error")


@dataclass(frozen=True, slots=True)
class DoctorReport:
    """All checks, in the order they were made, and what the quarantine holds."""

    checks: tuple[Check, ...]
    kept: tuple[upkeep.KeptFile, ...] = ()

    @property
    def mends(self) -> tuple[Fix, ...]:
        """Everything that ``doctor --fix`` would do, in its order."""
        order = list(ACTIONS)
        wanted = dict.fromkeys(fix for check in self.checks for fix in check.mends)
        return tuple(sorted(wanted, key=lambda fix: (order.index(fix.action), fix.path)))


class StoreEntry(NamedTuple):
    """An entry of the store as the walk saw it; ``trouble`` says why it cannot be looked into."""

    path: str
    mode: int
    mtime: float
    trouble: str = ""


class DoctorContext:
    """One examination. ``alone`` when the lock is held: then nobody else writes."""

    def __init__(self, memory: Memory, *, alone: bool = False) -> None:
        self.memory = memory
        self.alone = alone

    @property
    def layout(self) -> Layout:
        """Where everything is."""
        return self.memory.layout

    @cached_property
    def linked(self) -> tuple[str, ...]:
        """Folders of the store that are symbolic links."""
        return linked_places(self.layout.root)

    @cached_property
    def status(self) -> upkeep.IndexStatus:
        """How the index stood before anybody touched it."""
        return upkeep.index_status(self.memory)

    @cached_property
    def git_state(self) -> GitState | None:
        """What git says of the store."""
        return self.memory.git_state()

    @cached_property
    def judging(self) -> Memory:
        """The memory with an index that agrees with the files; one that does not is left as it is, and so is
        a manifest that somebody else wrote."""
        if not self.manifest_is_ours:
            self.memory.judge()
        return self.memory

    @cached_property
    def manifest_is_ours(self) -> bool:
        """Whether the index is fresh and knows the manifest as the file it wrote."""
        if self.status.state != "fresh":
            return False
        try:
            index = SqliteIndex.open(self.layout.index_file)
        except (Degraded, OSError):
            return False
        with closing(index):
            known = index.manifest_stamp()
        return bool(known) and known == manifest_stamp(self.layout.manifest_file)

    @cached_property
    def is_manifest(self) -> bool:
        """Whether the file at the manifest's place has a manifest's shape."""
        try:
            data: Any = json.loads(read_file(self.layout.manifest_file, _MANIFEST_LIMIT))
        except (ThunderusError, ValueError, RecursionError):
            return False
        return not schema.check(schema.MANIFEST, data)

    @cached_property
    def entries(self) -> tuple[StoreEntry, ...]:
        """Everything in the store but the quarantine and its own folder of git, links not followed."""
        found: list[StoreEntry] = []
        waiting = [self.layout.store]
        while waiting:
            folder = waiting.pop()
            try:
                names = sorted(os.listdir(folder))
            except OSError as error:
                found.append(StoreEntry(self._relative(folder), stat.S_IFDIR, 0, error.strerror or "refused"))
                continue
            for name in names:
                path = os.path.join(folder, name)
                try:
                    info = os.lstat(path)
                except OSError:
                    continue
                if stat.S_ISDIR(info.st_mode) and path != self.layout.quarantine_dir:
                    waiting.append(path)
                readable = not stat.S_ISREG(info.st_mode) or os.access(path, os.R_OK)
                trouble = "" if readable else "permission denied"
                found.append(StoreEntry(self._relative(path), info.st_mode, info.st_mtime, trouble))
        return tuple(found)

    def _relative(self, path: str) -> str:
        return visible_name(self.layout.relative(path))

    def restore_command(self, path: str) -> str:
        """The command that brings a file back from git, or sets it aside where git has no other text."""
        git = self.memory.git
        committed = git.head_bytes(path) if git is not None else None
        try:
            present = read_file(self.layout.at(path), _CONFIG_LIMIT)
        except ThunderusError:
            present = None
        quoted = shlex.quote(path)
        if committed is not None and committed != present:
            return f"git checkout HEAD -- {quoted}"
        return f"mv {quoted} {shlex.quote(path + '.old')} && thunderus-mem init"


# The checks

FIX: Final = "thunderus-mem doctor --fix"
_DERIVED: Final = "nothing: it is made from the documents"
_STAGING: Final = f"{STORE}/.staging"
_QUARANTINE: Final = f"{STORE}/.quarantine"
_LOCK: Final = f"{STORE}/.lock"
_OURS: Final = (INDEXES, f"{STORE}/schemas", f"{STORE}/local", f"{STORE}/local/undo", _STAGING)
"""Folders that hold nothing a person wrote, and that are made again."""
_LITTLE_ROOM: Final = 4 << 20
_MUCH_KEPT: Final = 100 << 20


def many(number: int, one: str, more: str) -> str:
    """The sentence for one thing, or for so many (``{}`` in ``more``)."""
    return one if number == 1 else more.format(f"{number:,}")


def _fixable(
    name: str, state: str, message: str, hint: str, paths: Iterable[str], lost: str, fixes: Iterable[Fix]
) -> Check:
    """Something that ``doctor --fix`` takes care of."""
    return Check(name, state, message, hint, tuple(paths), lost, FIX, tuple(fixes))


def engine(context: DoctorContext) -> Iterator[Check]:
    """Whether the SQLite of this Python can search."""
    version, searches = SqliteIndex.engine()
    if searches:
        yield Check("sqlite", "ok", f"SQLite {version} with FTS5")
    else:
        message = f"SQLite {version} has no FTS5, so nothing can be searched"
        hint = "use a Python whose sqlite3 module has FTS5"
        yield Check("sqlite", "error", message, hint, lost="nothing")


def store(context: DoctorContext) -> Iterator[Check]:
    """Whether the store is where it should be, can be written, and has room."""
    layout = context.layout
    yield Check("store", "ok", layout.store)
    for other in context.memory.also:
        yield Check("store", "note", f"{other} has a store too", "-C DIR chooses another one")
    if not os.access(layout.store, os.W_OK):
        message, hint = "the store cannot be written; reading works", "check who owns it, and its permissions"
        yield Check("store", "warning", message, hint, (".thunderus",), "nothing", "ls -ld .thunderus")
    free = _free(layout.store)
    if free is not None and free < _LITTLE_ROOM:
        message = f"only {free >> 10:,} KiB are free: a change may find no room"
        hint = "free some space; the index may go first, any command makes it anew"
        yield Check("disk", "warning", message, hint, (INDEXES,), "nothing", f"rm -r {INDEXES}")


def _free(folder: str) -> int | None:
    """Bytes that we may still write; ``None`` where the system does not say."""
    try:
        info = os.statvfs(folder)
    except (AttributeError, OSError):
        return None
    return info.f_bavail * info.f_frsize


def config(context: DoctorContext) -> Iterator[Check]:
    """Whether the configuration reads; until it does, no other command runs."""
    layout = context.layout
    for trouble in context.memory.troubles:
        files = (layout.config_file, layout.gardener_file)
        path = next((layout.relative(file) for file in files if file in str(trouble)), "")
        hint = trouble.hint or "mend the line; every key and its meaning: thunderus-mem schema print config"
        lost = "nothing; but no command runs until it reads"
        command = context.restore_command(path) if path else ""
        yield Check("config", "error", str(trouble), hint, (path,) if path else (), lost, command)


def formats(context: DoctorContext) -> Iterator[Check]:
    """Whether this program may write the store at all."""
    version = newer_version(context.layout, context.memory.config)
    if version:
        message = f"the store has version {version}, this program knows {FORMAT}: it only reads"
        yield Check("formats", "warning", message, "use a newer thunderus-mem to write", lost="nothing")
    else:
        yield Check("formats", "ok", f"version {FORMAT}")


def index(context: DoctorContext) -> Iterator[Check]:
    """Whether the index agrees with the files and is whole."""
    status = context.status
    trouble = status.state if status.state != "fresh" else _deep_trouble(context)
    if status.state == "newer":
        hint = "use that version; until then answers come from memory, more slowly"
        yield Check(
            "index", "note", "a newer version of the program wrote it", hint, (status.path,), _DERIVED
        )
    elif status.state in ("missing", "behind"):
        message = f"the index is {status.state}"
        yield Check("index", "note", message, "any command brings it up to date", (), _DERIVED)
    elif trouble:
        beside = [f"{status.path}{suffix}" for suffix in ("", "-journal", "-wal", "-shm", ".seal")]
        there = [path for path in beside if os.path.lexists(context.layout.at(path))]
        message = "the index is damaged" if trouble == "damaged" else f"the index is damaged: {trouble}"
        hint = "any command builds it anew; --fix keeps the damaged one to look at"
        fixes = (*(Fix("set-aside", path) for path in there), Fix("rebuild", INDEXES))
        yield _fixable("index", "note", message, hint, there, _DERIVED, fixes)
    else:
        yield Check("index", "ok", f"{status.documents} documents, fresh")


def _deep_trouble(context: DoctorContext) -> str:
    """What is wrong with an index that looks fresh; reads every page of it."""
    try:
        found = SqliteIndex.open(context.layout.index_file)
    except (Degraded, OSError) as error:
        return str(error)
    with closing(found):
        return found.problem()


def manifest(context: DoctorContext) -> Iterator[Check]:
    """Whether the manifest is the inventory of the documents."""
    path = f"{INDEXES}/manifest.json"
    there = os.path.lexists(context.layout.at(path))
    if context.manifest_is_ours or not upkeep.manifest(context.memory, check=True).diagnostics:
        yield Check("manifest", "ok", "the inventory of the documents")
    elif not there or (context.status.state != "fresh" and context.is_manifest):
        message = f"the manifest is {'behind' if there else 'missing'}"
        yield Check("manifest", "note", message, "any command brings it up to date", (), _DERIVED)
    else:
        message = "the manifest is damaged, or somebody else wrote it"
        hint = "any command writes it anew; --fix keeps what is there to look at"
        fixes = (Fix("set-aside", path), Fix("rebuild", INDEXES))
        yield _fixable("manifest", "note", message, hint, (path,), _DERIVED, fixes)


def documents(context: DoctorContext) -> Iterator[Check]:
    """Whether every file is a document, and every document one file. Mending them is for people."""
    files = context.judging.index.files()
    unread = tuple(path for path, _, doc_id in files if not doc_id)
    if unread:
        yield Check(
            "documents",
            "warning",
            many(len(unread), f"{unread[0]} is no document", "{} files are no documents"),
            "lint says where and why; the others are served",
            unread,
            "nothing: their text is as it was",
            "thunderus-mem lint",
        )
    ids = Counter(doc_id for _, _, doc_id in files if doc_id)
    twice = tuple(path for path, _, doc_id in files if ids[doc_id] > 1)
    if twice:
        yield Check(
            "documents",
            "warning",
            many(
                sum(number > 1 for number in ids.values()), "two files have one id", "{} ids are taken twice"
            ),
            "the first by path is served, one in use before one in the archive; give the other an id of its "
            "own, or remove it",
            twice,
            "nothing: both texts are as they were",
            "thunderus-mem lint --select TM103",
        )


def edits(context: DoctorContext) -> Iterator[Check]:
    """Edits that no event and no commit explains yet."""
    memory = context.judging
    found = hand_edits(memory, context.git_state)
    gone = mass_loss(memory, found)
    if gone:
        total = memory.index.count() + len(gone)
        yield Check(
            "edits",
            "error",
            f"{len(gone):,} of {total:,} documents are gone, and neither a command nor a commit took them "
            "away; nothing is written until that is settled",
            "bring them back; or, if they are meant to be gone, commit that or run "
            "`thunderus-mem record --yes`",
            tuple(edit.change.path for edit in gone),
            "nothing that git or the log has",
            "thunderus-mem status",
        )
    elif found:
        yield Check(
            "edits",
            "note",
            many(
                len(found),
                "a document was edited by hand and is not recorded yet",
                "{} documents were edited by hand and are not recorded yet",
            ),
            "the next command that writes records them; this does it now",
            tuple(edit.change.path for edit in found),
            "nothing",
            "thunderus-mem record",
        )


def encoding(context: DoctorContext) -> Iterator[Check]:
    """Whether names and output can be anything that UTF-8 can."""
    used = sys.getfilesystemencoding()
    if used.lower().replace("-", "") != "utf8":
        yield Check("encoding", "warning", f"file names are {used}", "set PYTHONUTF8=1 or a UTF-8 locale")
    else:
        yield Check("encoding", "ok", "UTF-8")


def interrupted(context: DoctorContext) -> Iterator[Check]:
    """Whether a killed command left something to finish, and whether strange things lie in its way."""
    pending = context.memory.journal.pending()
    known = {f"{_STAGING}/{name}" for name in staged_ids(context.layout.staging_dir)}
    inside = (seen.path for seen in context.entries if os.path.dirname(seen.path) == _STAGING)
    strange = [path for path in inside if path not in known]
    if pending:
        message = many(pending, "a change was interrupted", "{} changes were interrupted")
        hint = "the next command that writes finishes or undoes it"
        lost = "nothing that was acknowledged"
        yield _fixable("writes", "warning", message, hint, (_STAGING,), lost, (Fix("recover", _STAGING),))
    else:
        yield Check("writes", "ok", "none interrupted")
    if strange:
        message = many(
            len(strange),
            f"{strange[0]} is no staged change of ours",
            "{} files among the staged changes are none of ours",
        )
        fixes = (Fix("set-aside", path) for path in strange)
        yield _fixable("writes", "note", message, "", strange, "nothing", fixes)


class _LogDamage(NamedTuple):
    """What is said of all findings of one rule."""

    one: str
    many: str
    hint: str
    lost: str


_LOG_DAMAGE: Final = {
    SHAPE: _LogDamage(
        "a line of the log is no event",
        "{} lines of the log are no events",
        "the others are served; old lines are never rewritten: the shard comes back from git, or stays",
        "what these lines said; no document",
    ),
    CONFLICT: _LogDamage(
        "a conflict marker of git stands in the log",
        "{} conflict markers of git stand in the log",
        "keep the lines of both sides and delete the marker lines",
        "nothing: the lines of both sides are there",
    ),
    CHAIN: _LogDamage(
        "a line of the log does not follow from the one before it",
        "{} lines of the log do not follow from the ones before them",
        "a line was edited, removed or moved; the shard comes back from git, or stays and proves less",
        "the proof of what stood there; no document",
    ),
}


def events(context: DoctorContext) -> Iterator[Check]:
    """Whether every line of the log reads, follows from the one before it, and is whole."""
    found: dict[str, list[Diagnostic]] = {}
    notes: list[Diagnostic] = []
    for finding in log_findings(context.memory):
        if finding.rule == CHAIN and finding.severity is Severity.NOTE:
            notes.append(finding)
        else:
            found.setdefault(finding.rule, []).append(finding)
    if not found and not notes:
        yield Check("log", "ok", "every line and every chain is whole")
    for rule, damage in _LOG_DAMAGE.items():
        if rule in found:
            yield _damaged(context, damage, found[rule])
    for finding in found.get(TORN, ()):
        yield _torn(context, finding)
    if notes:
        yield Check("log", "note", notes[0].message, notes[0].hint, _where(notes), "nothing that is here")


def _where(findings: list[Diagnostic]) -> tuple[str, ...]:
    return tuple(f"{one.path}:{one.line}" if one.line else one.path for one in findings)


def _damaged(context: DoctorContext, damage: _LogDamage, findings: list[Diagnostic]) -> Check:
    weights = {finding.severity for finding in findings}
    state = next(one for one in Severity if one in weights)
    message = many(len(findings), f"{damage.one}: {findings[0].message}", damage.many)
    command = _restore_shard(context, findings[0].path)
    return Check("log", state.value, message, damage.hint, _where(findings), damage.lost, command)


def _restore_shard(context: DoctorContext, shard: str) -> str:
    """The command for a damaged shard: from git, when git has every event of it that can still be read."""
    git, quoted = context.memory.git, shlex.quote(shard)
    committed = git.head_bytes(shard) if git is not None else None
    if committed is None:
        return f"less {quoted}"
    theirs = parse_shard(shard, committed)
    ours = context.memory.log.read_shard(shard)
    if theirs.damages or not {one.event.id for one in ours.events} <= {one.event.id for one in theirs.events}:
        return f"git diff HEAD -- {quoted}"
    return f"git checkout HEAD -- {quoted}"


def _torn(context: DoctorContext, finding: Diagnostic) -> Check:
    path = finding.path
    state = "warning" if finding.severity is Severity.ERROR else finding.severity.value
    message, lost = f"the last line of {path} is not finished", "nothing that was acknowledged"
    if _may_end(context, path):
        hint = "a command was killed while it wrote it"
        return _fixable("log", state, message, hint, (path,), lost, (Fix("end", path),))
    hint = "git knows this file, or another program writes it, so it stays as it is"
    return Check("log", state, message, hint, (path,), lost, _restore_shard(context, path))


def _may_end(context: DoctorContext, shard: str) -> bool:
    """Whether the end of a shard is ours to mend: one of our shards, torn behind everything that git has."""
    if not is_shard(shard):
        return False
    git = context.memory.git
    staged = git.staged_bytes(shard) if git is not None else None
    if staged is None:
        return True
    now = read_file(context.layout.at(shard), MAX_SHARD)
    return staged.endswith(b"\n") and len(now) > len(staged) and now.startswith(staged)


def review(context: DoctorContext) -> Iterator[Check]:
    """Whether every file of the review queue is a proposal, and none waits for too long."""
    state = queue_state(context.memory)
    queue = list(entries(context.layout))
    bad = [one for one in queue if isinstance(one, BadProposal)]
    waiting = [one.path for one in queue if not isinstance(one, BadProposal)]
    if bad:
        first = bad[0]
        yield Check(
            "review",
            "error",
            many(len(bad), "a file of the review queue is no proposal", "{} files are no proposals")
            + f": {first.key}{': ' if first.key else ''}{first.reason}",
            first.fix,
            tuple(one.path for one in bad),
            "what was proposed there, unless git has it",
            "thunderus-mem lint",
        )
    if state.expired:
        yield Check(
            "review",
            "warning",
            many(state.expired, "a proposal has expired", "{} proposals have expired"),
            "decide, or let them go",
            tuple(waiting),
            "nothing",
            "thunderus-mem patch expire --plan",
        )
    elif waiting:
        days = many(state.oldest_days, "1 day", "{} days")
        told = many(len(waiting), "a proposal waits", "{} proposals wait")
        yield Check("review", "note", f"{told} for a decision, the oldest {days}", "thunderus-mem patch list")


def places(context: DoctorContext) -> Iterator[Check]:
    """Whether folders are folders and files are files, so that writing stays inside the store."""
    for path in context.linked:
        if not path.startswith(tuple(f"{above}/" for above in context.linked)):
            yield _misplaced(path, "is a symbolic link, so nothing in the store is read or written")
    if context.linked:
        return
    folders = (*_OURS, _QUARANTINE, f"{STORE}/patches", f"{STORE}/sessions")
    kinds = {seen.path: seen.mode for seen in context.entries}
    for path in (*folders, *FOLDERS):
        if path in kinds and not stat.S_ISDIR(kinds[path]):
            yield _misplaced(path, "is no folder, and one has to be there")
    if _LOCK in kinds and not stat.S_ISREG(kinds[_LOCK]):
        yield _misplaced(_LOCK, "is no file, so nothing can be written")
    for path, mode in kinds.items():
        folder, _, name = path.rpartition("/")
        odd = not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))
        if folder in _OURS and odd and path not in _OURS and name not in ("memory.db", "manifest.json"):
            yield _misplaced(path, "is a link, a pipe or a device where our own files are")


def _misplaced(path: str, what: str) -> Check:
    message, lost = f"{path} {what}", "nothing: what it leads to is not touched"
    if path in _OURS or path == _LOCK or path.rpartition("/")[0] in _OURS:
        return _fixable("places", "error", message, "", (path,), lost, (Fix("set-aside", path),))
    hint = "look at it, move it away, and put a real folder there"
    return Check("places", "error", message, hint, (path,), lost, f"ls -ld {shlex.quote(path)}")


def schemas(context: DoctorContext) -> Iterator[Check]:
    """Whether the store's copies of the schemas are those of this version."""
    if newer_version(context.layout, context.memory.config):
        return
    if 0 < version_of_schemas(context.layout) < FORMAT:
        message = f"the store has the formats of an older version than {FORMAT}"
        hint = "migrate shows what would change, and with --apply changes it"
        yield Check("schemas", "warning", message, hint, (), "nothing", "thunderus-mem migrate")
        return
    copies = ((f"{STORE}/schemas/{name}", text) for name, text in packaged_schemas().items())
    paths = [path for path, text in copies if not _is(context.layout.at(path), text)]
    if not paths:
        yield Check("schemas", "ok", "as this version has them")
        return
    message = many(
        len(paths),
        "a copy of a schema is missing or differs from this version's",
        "{} copies of schemas are missing or differ from this version's",
    )
    hint, lost = "editors and CI check documents against them", "nothing: they are part of the program"
    yield _fixable("schemas", "warning", message, hint, paths, lost, (Fix("write", path) for path in paths))


def _is(place: str, text: str) -> bool:
    """Whether a regular file has this text; one that cannot be read has not."""
    try:
        return file_hash(place) == content_hash(text)
    except ThunderusError:
        return False


def leftovers(context: DoctorContext) -> Iterator[Check]:
    """Temporary files and strange things that no running command owns."""
    left = [seen.path for seen in context.entries if _is_left(seen, context.alone)]
    beside = index_leftovers(context.layout.indexes_dir)
    found = sorted([*left, *(context.layout.relative(one.path) for one in beside if not one.in_use)])
    if found:
        message = many(
            len(found),
            "a temporary file was left by a command that was killed",
            "{} temporary files were left by commands that were killed",
        )
        lost = "nothing: what they belonged to was finished or undone"
        fixes = (Fix("set-aside", path) for path in found)
        yield _fixable("leftovers", "note", message, "", found, lost, fixes)


def _is_left(seen: StoreEntry, alone: bool) -> bool:
    folder, _, name = seen.path.rpartition("/")
    if folder == INDEXES and name.startswith("memory.db.set-aside-"):
        return True
    ours = name.startswith(TEMP_PREFIX) and name.endswith(".tmp")
    return ours and (alone or seen.mtime < time.time() - QUIET_SECONDS)


def unreadable(context: DoctorContext) -> Iterator[Check]:
    """Files and folders of the store that may not be read."""
    paths = tuple(seen.path for seen in context.entries if seen.trouble)
    if paths:
        quoted = " ".join(shlex.quote(path) for path in paths[:20])
        yield Check(
            "rights",
            "warning",
            many(len(paths), f"{paths[0]} cannot be read", "{} files or folders of the store cannot be read"),
            "what is in them is unknown, not gone: no document leaves the index for it",
            paths,
            "nothing",
            f"chmod u+rwX {quoted}",
        )


def repository(context: DoctorContext) -> Iterator[Check]:
    """What git knows of the store: part of the repository, private files out of it, attributes in place."""
    memory = context.memory
    if memory.git is None:
        yield Check("git", "note", "no git repository around the store: history is what the log has")
    elif context.git_state is not None and context.git_state.ignored:
        yield Check(
            "git",
            "warning",
            "git ignores the whole store, so nobody else gets it",
            "let .gitignore except .thunderus; what must stay private is ignored inside it",
            (".gitignore",),
            "nothing",
            "git check-ignore -v .thunderus",
        )
    else:
        yield Check("git", "ok", "the store is part of the repository")
    for path in FILES:
        missing = lacking(path, context.layout.at(path))
        if missing:
            message = f"{path} lacks {many(len(missing), 'a line', '{} lines')}: {', '.join(missing[:3])}"
            hint = "without it private files could be committed, or line ends change"
            yield _fixable("git", "warning", message, hint, (path,), "nothing", (Fix("write", path),))
    paths = tuple(sorted(memory.git.tracked(NEVER_TRACKED))) if memory.git is not None else ()
    if paths:
        yield Check(
            "git",
            "warning",
            many(
                len(paths),
                f"git tracks {paths[0]}, which is derived or private",
                "git tracks {} files that are derived or private",
            ),
            "they would be in conflict in every merge; this takes them out of git and leaves them on disk",
            paths,
            "nothing",
            f"git rm --cached -- {' '.join(shlex.quote(path) for path in paths[:20])}",
        )


def quarantine(kept: Sequence[upkeep.KeptFile]) -> Iterator[Check]:
    """How much has been set aside, and since when."""
    if kept:
        total = sum(one.size for one in kept)
        amount = f"{total / (1 << 20):,.1f} MiB" if total >> 20 else f"{-(-total // 1024)} KiB"
        since = min(one.time for one in kept)[:10]
        yield Check(
            "quarantine",
            "warning" if total > _MUCH_KEPT else "note",
            f"{many(len(kept), 'a file is', '{} files are')} set aside, {amount}, since {since}",
            "put back or compare what you need; delete the rest when nothing of it is missed",
            (_QUARANTINE,),
            "nothing: that is what is kept",
            f"ls -lR {_QUARANTINE}",
        )


CHECKS: Final = (
    *(engine, config, store, places, formats, index, manifest, interrupted, events, documents, schemas),
    *(leftovers, unreadable, repository, edits, review, encoding),
)
"""Everything `doctor` looks at, in the order it reports it."""

_THROUGH_LINKS: Final = (engine, config, places, encoding)
"""What can be looked at while a folder of the store is a link: what lies behind it is not ours to look at."""


def doctor(memory: Memory) -> DoctorReport:
    """Look at everything around the documents and say what is wrong and what to do. Mends nothing."""
    context = DoctorContext(memory)
    wanted = _THROUGH_LINKS if context.linked else CHECKS
    found = [result for check in wanted for result in _look(check, context)]
    if _QUARANTINE in context.linked:
        return DoctorReport(tuple(found))
    documents = (entry.path for entry in context.entries if entry.path.endswith(".md"))
    kept = upkeep.kept(context.layout, documents)
    return DoctorReport((*found, *quarantine(kept)), kept)


def _look(check: Callable[[DoctorContext], Iterator[Check]], context: DoctorContext) -> list[Check]:
    found: list[Check] = []
    try:
        found.extend(check(context))
    except (ThunderusError, OSError) as error:
        hint = getattr(error, "hint", "") or "mend that first, then look again"
        message = f"this could not be looked at: {error}"
        found.append(Check(check.__name__, "error", message, hint, lost="nothing that is known of"))
    return found
