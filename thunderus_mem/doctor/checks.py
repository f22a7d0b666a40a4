"""The command `doctor`: check everything around the documents, without changing anything.

`CHECKS` lists all checks: each is a function that reads the disk, the index, the log or git through a
`DoctorContext` and yields its results. A check that fails is reported and does not stop the others.
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
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

from thunderus_mem.authoring.init import FILES, lacking
from thunderus_mem.diagnostic import Severity
from thunderus_mem.doctor import upkeep
from thunderus_mem.document import schema
from thunderus_mem.document.document import content_hash
from thunderus_mem.document.paths import is_archived
from thunderus_mem.errors import Degraded, ThunderusError
from thunderus_mem.git.repository import no_repository
from thunderus_mem.history.log import log_findings
from thunderus_mem.index.database import UNSEALED
from thunderus_mem.index.manifest import MANIFEST_LIMIT, manifest_stamp
from thunderus_mem.index.refresh import QUIET_SECONDS
from thunderus_mem.index.refresh import leftovers as index_leftovers
from thunderus_mem.index.scan import visible_name
from thunderus_mem.index.sqlite_index import SqliteIndex
from thunderus_mem.lint.runner import NEVER_TRACKED
from thunderus_mem.log.reader import MAX_SHARD
from thunderus_mem.log.shard import CHAIN, CONFLICT, SHAPE, TORN, parse_shard
from thunderus_mem.memory.hand_edits import hand_edits, mass_loss
from thunderus_mem.memory.journal import staged_ids
from thunderus_mem.memory.proposals import BadProposal, entries
from thunderus_mem.review.queue import queue_state
from thunderus_mem.startup import NamedTuple
from thunderus_mem.store.config import FORMAT
from thunderus_mem.store.config_reader import newer_version, version_of_schemas
from thunderus_mem.store.files import TEMP_PREFIX, file_hash, read_file
from thunderus_mem.store.layout import FOLDERS, INDEXES, MEMORY, STORE, linked_places
from thunderus_mem.store.paths import is_shard

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from thunderus_mem.diagnostic import Diagnostic
    from thunderus_mem.git.repository import GitState
    from thunderus_mem.memory.memory import Memory
    from thunderus_mem.store.layout import Layout

_CONFIG_LIMIT: Final = 1 << 20

ACTIONS: Final = {
    "set-aside": "move {} to quarantine",
    "recover": "recover interrupted writes in {}",
    "end": "move the incomplete end of {} to quarantine",
    "write": "write {}, keeping any old text in quarantine",
    "rebuild": "rebuild index and manifest in {}",
}
"""The kinds of fixes, in the order in which they are applied, with their descriptions."""


class Fix(NamedTuple):
    """A safe repair of ``path``; ``action`` is a key of `ACTIONS`, which describes each."""

    action: str
    path: str


class Check(NamedTuple):
    """The result of one check. ``state`` is ok, note, warning or error; ``hint`` says how to fix it.

    ``affects`` are root-relative paths (``path:line`` in a log). ``lost`` says which data is lost,
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
        """Whether the check needs action."""
        return self.state in ("warning", "error")


class DoctorReport(NamedTuple):
    """All results, in order of the checks, and the files in quarantine."""

    checks: tuple[Check, ...]
    kept: tuple[upkeep.KeptFile, ...] = ()

    @property
    def fixes(self) -> tuple[Fix, ...]:
        """Everything that ``doctor --fix`` would do, in order."""
        order = list(ACTIONS)
        wanted = dict.fromkeys(fix for check in self.checks for fix in check.mends)
        return tuple(sorted(wanted, key=lambda fix: (order.index(fix.action), fix.path)))


class StoreEntry(NamedTuple):
    """An entry of the store found by the walk; ``trouble`` says why it is unreadable."""

    path: str
    mode: int
    mtime: float
    trouble: str = ""


class DoctorContext:
    """The state shared by the checks. ``alone``: we hold the lock, so no other process writes."""

    def __init__(self, memory: Memory, *, alone: bool = False) -> None:
        self.memory = memory
        self.alone = alone

    @property
    def layout(self) -> Layout:
        """The layout of the store."""
        return self.memory.layout

    @cached_property
    def linked(self) -> tuple[str, ...]:
        """Folders of the store that are symbolic links."""
        return linked_places(self.layout.root)

    @cached_property
    def status(self) -> upkeep.IndexStatus:
        """The state of the index before any refresh."""
        return upkeep.index_status(self.memory)

    @cached_property
    def git_state(self) -> GitState | None:
        """The state of the store in git."""
        return self.memory.git_state()

    @cached_property
    def current(self) -> Memory:
        """The memory with an up-to-date index, without writing index or manifest."""
        if not self.manifest_is_ours:
            self.memory.judge()
        return self.memory

    @cached_property
    def manifest_is_ours(self) -> bool:
        """Whether the index is fresh and the manifest is the file that it wrote."""
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
        """Whether the manifest file matches the schema."""
        try:
            data: Any = json.loads(read_file(self.layout.manifest_file, MANIFEST_LIMIT))
        except (ThunderusError, ValueError, RecursionError):
            return False
        return not schema.check(schema.MANIFEST, data)

    @cached_property
    def entries(self) -> tuple[StoreEntry, ...]:
        """All files and folders in the store, except in quarantine; links are not followed."""
        found: list[StoreEntry] = []
        waiting = [self.layout.store]
        while waiting:
            folder = waiting.pop()
            try:
                names = sorted(os.listdir(folder))
            except OSError as error:
                found.append(
                    StoreEntry(self._relative(folder), stat.S_IFDIR, 0, error.strerror or "unreadable")
                )
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
        """The command that restores a file from git; "" when git has no other text."""
        git = self.memory.git
        committed = git.head_bytes(path) if git is not None else None
        try:
            present = read_file(self.layout.at(path), _CONFIG_LIMIT)
        except ThunderusError:
            present = None
        if committed is not None and committed != present:
            return f"git checkout HEAD -- {shlex.quote(path)}"
        return ""


# The checks

FIX: Final = "thunderus-mem doctor --fix"
_DERIVED: Final = "nothing; it is built from the documents"
_STAGING: Final = f"{STORE}/.staging"
_QUARANTINE: Final = f"{STORE}/.quarantine"
_LOCK: Final = f"{STORE}/.lock"
_OURS: Final = (INDEXES, f"{STORE}/schemas", f"{STORE}/local", f"{STORE}/local/undo", _STAGING)
"""Folders without user data, which can be recreated."""
_LITTLE_ROOM: Final = 4 << 20
_MUCH_KEPT: Final = 100 << 20


def many(number: int, one: str, more: str) -> str:
    """Return the text for one thing, or for several (``{}`` in ``more`` is the number)."""
    return one if number == 1 else more.format(f"{number:,}")


def _fixable(
    name: str, state: str, message: str, hint: str, paths: Iterable[str], lost: str, fixes: Iterable[Fix]
) -> Check:
    """A problem that ``doctor --fix`` fixes."""
    return Check(name, state, message, hint, tuple(paths), lost, FIX, tuple(fixes))


def engine(context: DoctorContext) -> Iterator[Check]:
    """Check that SQLite has full-text search."""
    version, searches = SqliteIndex.engine()
    if searches:
        yield Check("sqlite", "ok", f"SQLite {version} with FTS5")
    else:
        message = f"SQLite {version} lacks FTS5; search does not work"
        hint = "use a Python whose sqlite3 module has FTS5"
        yield Check("sqlite", "error", message, hint, lost="nothing")


def store(context: DoctorContext) -> Iterator[Check]:
    """Check the location, permissions and free space of the store."""
    layout = context.layout
    yield Check("store", "ok", layout.store)
    for other in context.memory.also:
        yield Check("store", "note", f"{other} also has a store", "use -C DIR to choose another store")
    if not os.access(layout.store, os.W_OK):
        message, hint = "the store is read-only", "check its owner and permissions"
        yield Check("store", "warning", message, hint, (".thunderus",), "nothing", "ls -ld .thunderus")
    if (free := _free(layout.store)) is not None and free < _LITTLE_ROOM:
        message = f"only {free >> 10:,} KiB free; writes may fail"
        hint = "free some space; the index can be deleted, any command rebuilds it"
        yield Check("disk", "warning", message, hint, (INDEXES,), "nothing", f"rm -r {INDEXES}")


def _free(folder: str) -> int | None:
    """Free space in bytes; ``None`` if unknown."""
    try:
        info = os.statvfs(folder)
    except (AttributeError, OSError):
        return None
    return info.f_bavail * info.f_frsize


def config(context: DoctorContext) -> Iterator[Check]:
    """Check the configuration; if it is invalid, no other command runs."""
    layout = context.layout
    for trouble in context.memory.troubles:
        files = (layout.config_file, layout.gardener_json_file, layout.gardener_file)
        path = next((layout.relative(file) for file in files if file in str(trouble)), "")
        schema = f"thunderus-mem config schemas {'gardener' if 'gardener.' in path else 'config'}"
        hint = trouble.hint or f"fix the line; run `{schema}` to list all keys"
        lost = "nothing, but no command runs until it is fixed"
        command = (context.restore_command(path) if path else "") or schema
        yield Check("config", "error", str(trouble), hint, (path,) if path else (), lost, command)
    if retired := context.memory.config.retired:
        yield Check("config", "note", f"keys without effect: {', '.join(retired)}", "remove them")


def formats(context: DoctorContext) -> Iterator[Check]:
    """Check that this version may write the store."""
    if version := newer_version(context.layout, context.memory.config):
        message = f"the store has format version {version}, this program supports {FORMAT}: read-only"
        yield Check("formats", "warning", message, "upgrade thunderus-mem to write", lost="nothing")
    else:
        yield Check("formats", "ok", f"version {FORMAT}")


def index(context: DoctorContext) -> Iterator[Check]:
    """Check that the index is up to date and intact."""
    status = context.status
    if status.state == "newer":
        hint = "upgrade thunderus-mem; until then commands index the files in memory, which is slower"
        message = "written by a newer version of thunderus-mem"
        yield Check("index", "note", message, hint, (status.path,), _DERIVED)
    elif status.state in ("missing", "behind"):
        message = f"the index is {'missing' if status.state == 'missing' else 'out of date'}"
        yield Check("index", "note", message, "any command updates it", (), _DERIVED)
    elif trouble := _deep_trouble(context) or ("it cannot be read" if status.state == "damaged" else ""):
        beside = [f"{status.path}{suffix}" for suffix in ("", "-journal", "-wal", "-shm", ".seal")]
        there = [path for path in beside if os.path.lexists(context.layout.at(path))]
        message = f"the index {trouble[3:]}" if trouble == UNSEALED else f"the index is damaged: {trouble}"
        hint = "any command rebuilds it; --fix keeps the old file in quarantine"
        fixes = (*(Fix("set-aside", path) for path in there), Fix("rebuild", INDEXES))
        yield _fixable("index", "note", message, hint, there, _DERIVED, fixes)
    else:
        yield Check("index", "ok", f"{many(status.documents, '1 document', '{} documents')}, up to date")


def _deep_trouble(context: DoctorContext) -> str:
    """Return what is wrong with an index, "" for nothing; reads all its pages."""
    try:
        found = SqliteIndex.open(context.layout.index_file)
    except (Degraded, OSError) as error:
        return str(error)
    with closing(found):
        return found.problem()


def manifest(context: DoctorContext) -> Iterator[Check]:
    """Check that the manifest lists the documents."""
    path = f"{INDEXES}/manifest.json"
    there = os.path.lexists(context.layout.at(path))
    found = () if context.manifest_is_ours else upkeep.manifest(context.memory, check=True).diagnostics
    if not any(one.path == path for one in found):
        yield Check("manifest", "ok", "up to date")
    elif not there or (context.status.state != "fresh" and context.is_manifest):
        message = f"the manifest is {'out of date' if there else 'missing'}"
        yield Check("manifest", "note", message, "any command updates it", (), _DERIVED)
    else:
        message = "the manifest is damaged, or was written by another program"
        hint = "any command rewrites it; --fix keeps the current file in quarantine"
        fixes = (Fix("set-aside", path), Fix("rebuild", INDEXES))
        yield _fixable("manifest", "note", message, hint, (path,), _DERIVED, fixes)


def documents(context: DoctorContext) -> Iterator[Check]:
    """Check that every file is a valid document with a unique id. These need manual fixes."""
    files = context.current.index.files()
    unread = tuple(path for path, _, doc_id in files if not doc_id)
    if unread:
        yield Check(
            "documents",
            "warning",
            many(len(unread), f"{unread[0]} is not a valid document", "{} files are not valid documents"),
            "lint shows where and why; the other documents are not affected",
            unread,
            "nothing; the files are unchanged",
            "thunderus-mem lint",
        )
    ids = Counter(doc_id for _, _, doc_id in files if doc_id)
    twice = tuple(path for path, _, doc_id in files if ids[doc_id] > 1)
    if twice:
        first = min(twice, key=lambda path: (is_archived(path), path))
        yield Check(
            "documents",
            "warning",
            many(
                sum(number > 1 for number in ids.values()),
                f"{len(twice)} files have the same id",
                "{} ids are used more than once",
            ),
            f"commands use {first}; give the other file a new id, or remove it"
            if len(twice) == 2
            else "for each id, commands use the first path; give the other files new ids, or remove them",
            twice,
            "nothing; the files are unchanged",
            "thunderus-mem lint --select TM103",
        )


_RESTORE_DELETED: Final = f"git ls-files -dz -- {MEMORY} | xargs -0 git checkout HEAD --"
"""Restores the deleted files and keeps edits in the others."""


def edits(context: DoctorContext) -> Iterator[Check]:
    """Find edits that are in no event and no commit yet."""
    memory = context.current
    found = hand_edits(memory, context.git_state)
    gone = mass_loss(memory, found)
    if gone:
        total = memory.index.count() + len(gone)
        yield Check(
            "edits",
            "error",
            f"{len(gone):,} of {total:,} documents deleted outside this program and git; writing is blocked",
            "restore them; if they were deleted on purpose, commit that or run "
            "`thunderus-mem events record --yes`",
            tuple(edit.change.path for edit in gone),
            "nothing that was committed or logged",
            _RESTORE_DELETED if memory.git is not None else "thunderus-mem status",
        )
    elif found:
        yield Check(
            "edits",
            "note",
            many(
                len(found),
                "1 document with unrecorded hand edits",
                "{} documents with unrecorded hand edits",
            ),
            "the next command that writes records them; to record them now, use the command below",
            tuple(edit.change.path for edit in found),
            "nothing",
            "thunderus-mem events record",
        )


def encoding(context: DoctorContext) -> Iterator[Check]:
    """Check that file names are UTF-8."""
    used = sys.getfilesystemencoding()
    if used.lower().replace("-", "") != "utf8":
        yield Check(
            "encoding",
            "warning",
            f"the encoding of file names is {used}",
            "set PYTHONUTF8=1 or a UTF-8 locale",
        )
    else:
        yield Check("encoding", "ok", "UTF-8")


def interrupted(context: DoctorContext) -> Iterator[Check]:
    """Check for interrupted writes, and for unknown files among the staged changes."""
    pending = context.memory.journal.pending()
    known = {f"{_STAGING}/{name}" for name in staged_ids(context.layout.staging_dir)}
    inside = (seen.path for seen in context.entries if os.path.dirname(seen.path) == _STAGING)
    strange = [path for path in inside if path not in known]
    if pending:
        message = many(pending, "1 interrupted write", "{} interrupted writes")
        hint = "the next write recovers it"
        lost = "nothing; the write was not completed"
        yield _fixable("writes", "warning", message, hint, (_STAGING,), lost, (Fix("recover", _STAGING),))
    else:
        yield Check("writes", "ok", "no interrupted writes")
    if strange:
        message = many(
            len(strange),
            f"{strange[0]} is not a staged change",
            "{} files in the staging folder are not staged changes",
        )
        fixes = (Fix("set-aside", path) for path in strange)
        yield _fixable("writes", "note", message, "", strange, "nothing", fixes)


class _LogDamage(NamedTuple):
    """The texts for all findings of one rule."""

    one: str
    many: str
    hint: str
    lost: str


_LOG_DAMAGE: Final = {
    SHAPE: _LogDamage(
        "invalid event in the log",
        "{} invalid events in the log",
        "restore the file from git, or leave it; its other lines are still read",
        "the events on these lines; no document is lost",
    ),
    CONFLICT: _LogDamage(
        "the log contains a git conflict marker",
        "the log contains {} git conflict markers",
        "keep the lines of both sides and delete the marker lines",
        "nothing; the lines of both sides are still there",
    ),
    CHAIN: _LogDamage(
        "broken hash chain in the log",
        "hash chain broken in {} places in the log",
        "restore the file from git, or accept that earlier lines can no longer be verified",
        "the proof that earlier lines are unchanged; no document is lost",
    ),
}


def events(context: DoctorContext) -> Iterator[Check]:
    """Check that every line of the log is readable, complete and chained to the previous one."""
    found: dict[str, list[Diagnostic]] = {}
    notes: list[Diagnostic] = []
    for finding in log_findings(context.memory):
        if finding.rule == CHAIN and finding.severity is Severity.NOTE:
            notes.append(finding)
        else:
            found.setdefault(finding.rule, []).append(finding)
    if not found and not notes:
        yield Check("log", "ok", "intact")
    for rule, damage in _LOG_DAMAGE.items():
        if rule in found:
            yield _damaged(context, damage, found[rule])
    for finding in found.get(TORN, ()):
        yield _torn(context, finding)
    if notes:
        yield Check("log", "note", notes[0].message, notes[0].hint, _where(notes), "nothing")


def _where(findings: list[Diagnostic]) -> tuple[str, ...]:
    return tuple(f"{one.path}:{one.line}" if one.line else one.path for one in findings)


def _damaged(context: DoctorContext, damage: _LogDamage, findings: list[Diagnostic]) -> Check:
    weights = {finding.severity for finding in findings}
    state = next(one for one in Severity if one in weights)
    detail = findings[0].message.removeprefix("Invalid event: ")
    detail = detail.replace("before this one", f"before line {findings[0].line}")
    message = many(len(findings), f"{damage.one}: {detail[:1].lower()}{detail[1:]}", damage.many)
    if damage is _LOG_DAMAGE[CONFLICT]:
        message, command = many(len(findings), damage.one, damage.many), "thunderus-mem events verify"
    else:
        command = _restore_shard(context, findings[0].path)
    return Check("log", state.value, message, damage.hint, _where(findings), damage.lost, command)


def _restore_shard(context: DoctorContext, shard: str) -> str:
    """The command for a damaged shard: restore it from HEAD if HEAD has all its readable events.

    If HEAD has the same lines, list the older versions.
    """
    git, quoted = context.memory.git, shlex.quote(shard)
    committed = git.head_bytes(shard) if git is not None else None
    if committed is None:
        return f"less {quoted}"
    theirs = parse_shard(shard, committed)
    ours = context.memory.log.read_shard(shard)
    if theirs.lines == ours.lines:
        return f"git log -p -- {quoted}"
    if theirs.damages or not {one.event.id for one in ours.events} <= {one.event.id for one in theirs.events}:
        return f"git diff HEAD -- {quoted}"
    return f"git checkout HEAD -- {quoted}"


def _torn(context: DoctorContext, finding: Diagnostic) -> Check:
    path = finding.path
    state = "warning" if finding.severity is Severity.ERROR else finding.severity.value
    message, lost = f"the last line of {path} is incomplete", "nothing; the line was never completed"
    if _is_fixable_end(context, path):
        hint = "a command was interrupted while writing it"
        return _fixable("log", state, message, hint, (path,), lost, (Fix("end", path),))
    hint = "the file is committed, or another program writes it, so it is not fixed automatically"
    return Check("log", state, message, hint, (path,), lost, _restore_shard(context, path))


def _is_fixable_end(context: DoctorContext, shard: str) -> bool:
    """Whether we may fix the end of a shard: it is ours, and the damage is after everything that git has."""
    if not is_shard(shard):
        return False
    git = context.memory.git
    staged = git.staged_bytes(shard) if git is not None else None
    if staged is None:
        return True
    now = read_file(context.layout.at(shard), MAX_SHARD)
    return staged.endswith(b"\n") and len(now) > len(staged) and now.startswith(staged)


def review(context: DoctorContext) -> Iterator[Check]:
    """Check that the review queue contains only valid proposals, and none has expired."""
    state = queue_state(context.memory)
    queue = list(entries(context.layout))
    bad = [one for one in queue if isinstance(one, BadProposal)]
    waiting = [one.path for one in queue if not isinstance(one, BadProposal)]
    if bad:
        first = bad[0]
        yield Check(
            "review",
            "error",
            many(
                len(bad),
                "a file in the review queue is not a valid proposal",
                "{} files are not valid proposals",
            )
            + f": {first.key}{': ' if first.key else ''}{first.reason}",
            first.fix,
            tuple(one.path for one in bad),
            "the proposal, unless it is in git",
            context.restore_command(first.path) or "thunderus-mem lint",
        )
    if state.expired:
        yield Check(
            "review",
            "warning",
            many(state.expired, "1 expired proposal", "{} expired proposals"),
            "approve or reject, or remove with `thunderus-mem review expire`",
            tuple(waiting),
            "nothing",
            "thunderus-mem review expire --dry-run",
        )
    elif waiting:
        days = many(state.oldest_days, "1 day", "{} days")
        pending = many(len(waiting), "1 pending proposal", "{} pending proposals")
        hint = "run `thunderus-mem review list`"
        yield Check("review", "note", f"{pending}, the oldest {days} old", hint)


def places(context: DoctorContext) -> Iterator[Check]:
    """Check that folders and files are not links or other types, so that writes stay in the store."""
    for path in context.linked:
        if not path.startswith(tuple(f"{above}/" for above in context.linked)):
            yield _misplaced(path, "is a symbolic link; the store is not read or written")
    if context.linked:
        return
    folders = (*_OURS, _QUARANTINE, f"{STORE}/patches", f"{STORE}/sessions")
    kinds = {seen.path: seen.mode for seen in context.entries}
    for path in (*folders, *FOLDERS):
        if path in kinds and not stat.S_ISDIR(kinds[path]):
            yield _misplaced(path, "is not a folder")
    if _LOCK in kinds and not stat.S_ISREG(kinds[_LOCK]):
        yield _misplaced(_LOCK, "is not a file; writing is not possible")
    for path, mode in kinds.items():
        folder, _, name = path.rpartition("/")
        odd = not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))
        if folder in _OURS and odd and path not in _OURS and name not in ("memory.db", "manifest.json"):
            yield _misplaced(path, "is a link, pipe or device")


def _misplaced(path: str, what: str) -> Check:
    message, lost = f"{path} {what}", "nothing; the target of a link is not touched"
    if path in _OURS or path == _LOCK or path.rpartition("/")[0] in _OURS:
        return _fixable("places", "error", message, "", (path,), lost, (Fix("set-aside", path),))
    hint = "move it away and create a real folder"
    return Check("places", "error", message, hint, (path,), lost, f"ls -ld {shlex.quote(path)}")


def schemas(context: DoctorContext) -> Iterator[Check]:
    """Check that the copies of the schemas match this version."""
    if newer_version(context.layout, context.memory.config):
        return
    if 0 < version_of_schemas(context.layout) < FORMAT:
        message = f"the store has an older format version than {FORMAT}"
        hint = "migrate shows the changes; migrate --apply writes them"
        yield Check("schemas", "warning", message, hint, (), "nothing", "thunderus-mem migrate")
        return
    copies = ((f"{STORE}/schemas/{name}", text) for name, text in schema.packaged_schemas().items())
    paths = [path for path, text in copies if not _is(context.layout.at(path), text)]
    if not paths:
        yield Check("schemas", "ok", "up to date")
        return
    message = many(
        len(paths),
        "1 schema is missing or outdated",
        "{} schemas are missing or outdated",
    )
    hint, lost = "editors and CI validate documents with them", "nothing; they are part of the program"
    yield _fixable("schemas", "warning", message, hint, paths, lost, (Fix("write", path) for path in paths))


def _is(place: str, text: str) -> bool:
    """Whether a regular file has this text; false for an unreadable one."""
    try:
        return file_hash(place) == content_hash(text)
    except ThunderusError:
        return False


def leftovers(context: DoctorContext) -> Iterator[Check]:
    """Find temporary files that no running command uses."""
    left = [seen.path for seen in context.entries if _is_left(seen, context.alone)]
    beside = index_leftovers(context.layout.indexes_dir)
    found = sorted([*left, *(context.layout.relative(one.path) for one in beside if not one.in_use)])
    if found:
        message = many(
            len(found),
            "1 temporary file of an interrupted command",
            "{} temporary files of interrupted commands",
        )
        lost = "nothing; the interrupted writes were recovered"
        fixes = (Fix("set-aside", path) for path in found)
        yield _fixable("leftovers", "note", message, "", found, lost, fixes)


def _is_left(seen: StoreEntry, alone: bool) -> bool:
    folder, _, name = seen.path.rpartition("/")
    if folder == INDEXES and name.startswith("memory.db.set-aside-"):
        return True
    ours = name.startswith(TEMP_PREFIX) and name.endswith(".tmp")
    return ours and (alone or seen.mtime < time.time() - QUIET_SECONDS)


def unreadable(context: DoctorContext) -> Iterator[Check]:
    """Find files and folders of the store without read permission."""
    paths = tuple(seen.path for seen in context.entries if seen.trouble)
    if paths:
        quoted = " ".join(shlex.quote(path) for path in paths[:20])
        yield Check(
            "rights",
            "warning",
            many(len(paths), f"{paths[0]} cannot be read", "{} files or folders cannot be read"),
            "their documents stay in the index",
            paths,
            "nothing",
            f"chmod u+rwX {quoted}",
        )


def repository(context: DoctorContext) -> Iterator[Check]:
    """Check that git tracks the store, ignores its private files, and has its attributes."""
    memory = context.memory
    if memory.git is None:
        message = "no git repository; history comes from the log only"
        error = no_repository(memory.root, memory.environ, message=message)
        yield Check("git", "warning" if error.hint else "note", str(error), error.hint or "")
    elif context.git_state is not None and context.git_state.ignored:
        yield Check(
            "git",
            "warning",
            "git ignores the store, so it is not shared",
            "except .thunderus in .gitignore; private files are ignored inside it",
            (".gitignore",),
            "nothing",
            "git check-ignore -v .thunderus",
        )
    else:
        yield Check("git", "ok", "the store is not ignored")
    for path in FILES:
        missing = lacking(path, context.layout.at(path))
        if missing:
            message = f"{path} lacks {many(len(missing), '1 line', '{} lines')}: {', '.join(missing[:3])}"
            hint = "otherwise private files could be committed, or line endings change"
            yield _fixable("git", "warning", message, hint, (path,), "nothing", (Fix("write", path),))
    paths = tuple(sorted(memory.git.tracked(NEVER_TRACKED))) if memory.git is not None else ()
    if paths:
        one = f"git tracks {paths[0]}, which is generated or private"
        yield Check(
            "git",
            "warning",
            many(len(paths), one, "git tracks {} files that are generated or private"),
            "they would conflict in every merge; remove them from git, they stay on disk",
            paths,
            "nothing",
            f"git rm --cached -- {' '.join(shlex.quote(path) for path in paths[:20])}",
        )


def quarantine(kept: Sequence[upkeep.KeptFile]) -> Iterator[Check]:
    """Report the number, size and age of quarantined files."""
    if kept:
        total = sum(one.size for one in kept)
        amount = f"{total / (1 << 20):,.1f} MiB" if total >> 20 else f"{-(-total // 1024)} KiB"
        since = min(one.time for one in kept)[:10]
        yield Check(
            "quarantine",
            "warning" if total > _MUCH_KEPT else "note",
            f"{many(len(kept), '1 file', '{} files')}, {amount}, since {since}",
            "restore or compare the files you need, then delete the rest",
            (_QUARANTINE,),
            "nothing",
            f"ls -lR {_QUARANTINE}",
        )


CHECKS: Final = (
    *(engine, config, store, places, formats, index, manifest, interrupted, events, documents, schemas),
    *(leftovers, unreadable, repository, edits, review, encoding),
)
"""All checks, in order of the report."""

_THROUGH_LINKS: Final = (engine, config, places, encoding)
"""The checks that run while a folder of the store is a link, because its target must not be read."""


def doctor(memory: Memory) -> DoctorReport:
    """Run all checks. Changes nothing."""
    context = DoctorContext(memory)
    wanted = _THROUGH_LINKS if context.linked else CHECKS
    found = list(_run(wanted, context))
    if not os.access(context.layout.store, os.W_OK):
        hint = "make the store writable, then run doctor again"
        found = [one._replace(hint=hint, command="", mends=()) if one.mends else one for one in found]
    if _QUARANTINE in context.linked:
        return DoctorReport(tuple(found))
    documents = (entry.path for entry in context.entries if entry.path.endswith(".md"))
    kept = upkeep.kept(context.layout, documents)
    return DoctorReport((*found, *quarantine(kept)), kept)


def _run(
    wanted: Sequence[Callable[[DoctorContext], Iterator[Check]]], context: DoctorContext
) -> Iterator[Check]:
    for done, check in enumerate(wanted):
        context.memory.tell("Checks:", done, len(wanted))
        try:
            yield from check(context)
        except (ThunderusError, OSError) as error:
            hint = getattr(error, "hint", "") or "fix this first, then run doctor again"
            yield Check(check.__name__, "error", f"check failed: {error}", hint, lost="unknown")
