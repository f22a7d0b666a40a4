"""The verb `doctor`: looks at everything around the documents, and changes nothing.

Each thing it looks at is a function in a tuple: what the program stands on here, the files of the store in
`examining_files`, the log in `examining_log`. One that cannot look says so; the others still do.
"""

from __future__ import annotations

import os
import shlex
import stat
import sys
import time
from collections import Counter
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final, NamedTuple

from thunderus_mem.authoring.init import FILES, lacking
from thunderus_mem.diagnostic import Severity
from thunderus_mem.doctor.context import (
    Check,
    DoctorContext,
    DoctorReport,
    Fix,
    KeptFile,
    kept_files,
    many,
    way_back,
)
from thunderus_mem.document.document import content_hash
from thunderus_mem.document.timestamp import format_timestamp
from thunderus_mem.errors import Degraded, ThunderusError
from thunderus_mem.index.file import QUIET_SECONDS
from thunderus_mem.index.file import leftovers as index_leftovers
from thunderus_mem.log.append import plain_name
from thunderus_mem.log.reader import MAX_SHARD
from thunderus_mem.log.shard import CHAIN, CONFLICT, SHAPE, TORN, parse_shard
from thunderus_mem.memory.proposals import BadProposal, entries
from thunderus_mem.memory.transaction import hand_edits, mass_loss
from thunderus_mem.review.queue import queue_state
from thunderus_mem.store.files import TEMP_PREFIX, file_hash, read_file
from thunderus_mem.store.layout import INDEXES, STORE, is_shard

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from thunderus_mem.diagnostic import Diagnostic
    from thunderus_mem.doctor.context import Kept, Look, StoreEntry
    from thunderus_mem.memory.memory import Memory

FIX = "thunderus-mem doctor --fix"
DERIVED = "nothing: it is made from the documents"
_LITTLE = 4 << 20


def engine(patient: DoctorContext) -> Iterator[Check]:
    """Whether the SQLite of this Python can search."""
    from thunderus_mem.index.database import engine_version, has_full_text_search

    if has_full_text_search():
        yield Check("sqlite", "ok", f"SQLite {engine_version()} with FTS5")
    else:
        yield Check(
            "sqlite",
            "error",
            f"SQLite {engine_version()} has no FTS5, so nothing can be searched",
            "use a Python whose sqlite3 module has FTS5",
            lost="nothing",
        )


def store(patient: DoctorContext) -> Iterator[Check]:
    """Whether the store is where it should be, can be written, and has room."""
    layout = patient.layout
    yield Check("store", "ok", layout.store)
    for other in patient.memory.also:
        yield Check("store", "note", f"{other} has a store too", "-C DIR chooses another one")
    if not os.access(layout.store, os.W_OK):
        yield Check(
            "store",
            "warning",
            "the store cannot be written; reading works",
            "check who owns it, and its permissions",
            affects=(".thunderus",),
            lost="nothing",
            command="ls -ld .thunderus",
        )
    free = _free(layout.store)
    if free is not None and free < _LITTLE:
        yield Check(
            "disk",
            "warning",
            f"only {free >> 10:,} KiB are free: a change may find no room",
            "free some space; the index may go first, any command makes it anew",
            affects=(INDEXES,),
            lost="nothing",
            command=f"rm -r {INDEXES}",
        )


def _free(folder: str) -> int | None:
    """Bytes that we may still write; ``None`` where the system does not say."""
    try:
        info = os.statvfs(folder)
    except (AttributeError, OSError):
        return None
    return info.f_bavail * info.f_frsize


def config(patient: DoctorContext) -> Iterator[Check]:
    """Whether the configuration reads; until it does, no other command runs."""
    for trouble in patient.memory.troubles:
        path = next((path for path in patient.config_files if path in str(trouble)), "")
        relative = patient.layout.relative(path) if path else ""
        yield Check(
            "config",
            "error",
            str(trouble),
            trouble.hint or "mend the line; every key and its meaning: thunderus-mem schema print config",
            affects=(relative,) if relative else (),
            lost="nothing; but no command runs until it reads",
            command=patient.restore(relative) if relative else "",
        )


def formats(patient: DoctorContext) -> Iterator[Check]:
    """Whether this program may write the store at all."""
    from thunderus_mem.store.config import FORMAT
    from thunderus_mem.store.root import newer_version

    version = newer_version(patient.layout, patient.memory.config)
    if version:
        message = f"the store has version {version}, this program knows {FORMAT}: it only reads"
        yield Check("formats", "warning", message, "use a newer thunderus-mem to write", lost="nothing")
    else:
        yield Check("formats", "ok", f"version {FORMAT}")


def index(patient: DoctorContext) -> Iterator[Check]:
    """Whether the index agrees with the files and is whole."""
    status = patient.status
    trouble = status.state if status.state != "fresh" else _deep_trouble(patient)
    if status.state == "newer":
        hint = "use that version; until then answers come from memory, more slowly"
        yield Check("index", "note", "a newer version of the program wrote it", hint, (status.path,), DERIVED)
    elif status.state in ("missing", "behind"):
        message = f"the index is {status.state}"
        yield Check("index", "note", message, "any command brings it up to date", (), DERIVED)
    elif trouble:
        beside = [f"{status.path}{suffix}" for suffix in ("", "-journal", "-wal", "-shm", ".seal")]
        there = tuple(path for path in beside if os.path.lexists(patient.layout.at(path)))
        yield Check(
            "index",
            "note",
            "the index is damaged" if trouble == "damaged" else f"the index is damaged: {trouble}",
            "any command builds it anew; --fix keeps the damaged one to look at",
            there,
            DERIVED,
            FIX,
            (*(Fix("set-aside", path) for path in there), Fix("rebuild", INDEXES)),
        )
    else:
        yield Check("index", "ok", f"{status.documents} documents, fresh")


def _deep_trouble(patient: DoctorContext) -> str:
    """What is wrong with an index that looks fresh; reads every page of it."""
    from thunderus_mem.index.sqlite_index import SqliteIndex

    try:
        found = SqliteIndex.open(patient.layout.index_file)
    except (Degraded, OSError) as error:
        return str(error)
    try:
        return found.problem()
    finally:
        found.close()


def manifest(patient: DoctorContext) -> Iterator[Check]:
    """Whether the manifest is the inventory of the documents."""
    from thunderus_mem.doctor.upkeep import manifest as judged

    if patient.manifest_is_ours:
        yield Check("manifest", "ok", "the inventory of the documents")
        return
    path = f"{INDEXES}/manifest.json"
    there = os.path.lexists(patient.layout.at(path))
    if not judged(patient.memory, check=True).diagnostics:
        yield Check("manifest", "ok", "the inventory of the documents")
    elif not there or (patient.status.state != "fresh" and patient.is_manifest):
        state = "behind" if there else "missing"
        hint = "any command brings it up to date"
        yield Check("manifest", "note", f"the manifest is {state}", hint, (), DERIVED)
    else:
        yield Check(
            "manifest",
            "note",
            "the manifest is damaged, or somebody else wrote it",
            "any command writes it anew; --fix keeps what is there to look at",
            (path,),
            DERIVED,
            FIX,
            (Fix("set-aside", path), Fix("rebuild", INDEXES)),
        )


def documents(patient: DoctorContext) -> Iterator[Check]:
    """Whether every file is a document, and every document one file. Mending them is for people."""
    files = patient.judging.index.files()
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


def edits(patient: DoctorContext) -> Iterator[Check]:
    """Edits that no event and no commit explains yet."""
    memory = patient.judging
    found = hand_edits(memory, patient.git_state)
    gone = mass_loss(memory, found)
    paths = tuple(edit.change.path for edit in found)
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
            paths,
            "nothing",
            "thunderus-mem record",
        )


def encoding(patient: DoctorContext) -> Iterator[Check]:
    """Whether names and output can be anything that UTF-8 can."""
    used = sys.getfilesystemencoding()
    if used.lower().replace("-", "") != "utf8":
        yield Check("encoding", "warning", f"file names are {used}", "set PYTHONUTF8=1 or a UTF-8 locale")
    else:
        yield Check("encoding", "ok", "UTF-8")


def checks() -> tuple[Callable[[DoctorContext], Iterator[Check]], ...]:
    """Everything `doctor` looks at, in the order it tells of it."""

    return (
        engine, config, store, places, formats, index, manifest, interrupted, events,
        documents, schemas, leftovers, unreadable, repository, edits,
        review, encoding,
    )  # fmt: skip


def doctor(memory: Memory, *, alone: bool = False) -> DoctorReport:
    """Look at everything around the documents and say what is wrong and what to do. Mends nothing.

    ``alone``: the lock is held, so that no temporary file is in use.
    """

    patient = DoctorContext(memory, alone=alone)
    # Where a folder of the store is a link, what lies behind it is not ours to look at.
    followed = (engine, config, *linked(), encoding) if patient.linked else checks()
    found = [check for look in followed for check in _looked(look, patient)]
    kept, told = quarantine(patient)
    return DoctorReport((*found, *told), kept)


def _looked(look: Look, patient: DoctorContext) -> list[Check]:
    found: list[Check] = []
    try:
        found.extend(look(patient))
    except (ThunderusError, OSError) as error:
        hint = getattr(error, "hint", "") or "mend that first, then look again"
        message = f"this could not be looked at: {error}"
        found.append(Check(look.__name__, "error", message, hint, lost="nothing that is known of"))
    return found


# What `doctor` looks at in the log: changes that were interrupted, torn ends, lines that cannot be read.

EXAMINING_LOG_FIX: Final = "thunderus-mem doctor --fix"
_STAGING: Final = f"{STORE}/.staging"


class _Kind(NamedTuple):
    """What is said of all findings of one rule."""

    one: str
    many: str
    hint: str
    lost: str


_KINDS: Final = {
    SHAPE: _Kind(
        "a line of the log is no event",
        "{} lines of the log are no events",
        "the others are served; old lines are never rewritten: the shard comes back from git, or stays",
        "what these lines said; no document",
    ),
    CONFLICT: _Kind(
        "a conflict marker of git stands in the log",
        "{} conflict markers of git stand in the log",
        "keep the lines of both sides and delete the marker lines",
        "nothing: the lines of both sides are there",
    ),
    CHAIN: _Kind(
        "a line of the log does not follow from the one before it",
        "{} lines of the log do not follow from the ones before them",
        "a line was edited, removed or moved; the shard comes back from git, or stays and proves less",
        "the proof of what stood there; no document",
    ),
}


def interrupted(patient: DoctorContext) -> Iterator[Check]:
    """Whether a killed command left something to finish, and whether strange things lie in its way."""
    pending = patient.memory.journal.pending()
    strange = _strange(patient)
    if pending:
        yield Check(
            "writes",
            "warning",
            many(pending, "a change was interrupted", "{} changes were interrupted"),
            "the next command that writes finishes or undoes it",
            (_STAGING,),
            "nothing that was acknowledged",
            EXAMINING_LOG_FIX,
            (Fix("recover", _STAGING),),
        )
    else:
        yield Check("writes", "ok", "none interrupted")
    if strange:
        message = many(
            len(strange),
            f"{strange[0]} is no staged change of ours",
            "{} files among the staged changes are none of ours",
        )
        mends = tuple(Fix("set-aside", path) for path in strange)
        yield Check("writes", "note", message, "", strange, "nothing", EXAMINING_LOG_FIX, mends)


def _strange(patient: DoctorContext) -> tuple[str, ...]:
    from thunderus_mem.memory.journal import staged_ids

    known = {f"{_STAGING}/{name}" for name in staged_ids(patient.layout.staging_dir)}
    inside = (seen.path for seen in patient.entries if os.path.dirname(seen.path) == _STAGING)
    return tuple(path for path in inside if path not in known)


def events(patient: DoctorContext) -> Iterator[Check]:
    """Whether every line of the log reads, follows from the one before it, and is whole."""
    from thunderus_mem.history.log import log_findings

    found: dict[str, list[Diagnostic]] = {}
    for finding in log_findings(patient.memory):
        weight = (
            CHAIN + "note" if finding.severity is Severity.NOTE and finding.rule == CHAIN else finding.rule
        )
        found.setdefault(weight, []).append(finding)
    if not found:
        yield Check("log", "ok", "every line and every chain is whole")
    for rule in (SHAPE, CONFLICT, CHAIN):
        if rule in found:
            yield _damaged(patient, _KINDS[rule], found[rule])
    for finding in found.get(TORN, ()):
        yield _torn(patient, finding)
    if CHAIN + "note" in found:
        notes = found[CHAIN + "note"]
        yield Check("log", "note", notes[0].message, notes[0].hint, _where(notes), "nothing that is here")


def _where(findings: list[Diagnostic]) -> tuple[str, ...]:
    return tuple(f"{one.path}:{one.line}" if one.line else one.path for one in findings)


def _damaged(patient: DoctorContext, kind: _Kind, findings: list[Diagnostic]) -> Check:
    weights = {finding.severity for finding in findings}
    state = next(one for one in Severity if one in weights)
    message = many(len(findings), f"{kind.one}: {findings[0].message}", kind.many)
    shard = findings[0].path
    return Check(
        "log", state.value, message, kind.hint, _where(findings), kind.lost, _bring_back(patient, shard)
    )


def _bring_back(patient: DoctorContext, shard: str) -> str:
    """The command for a damaged shard: from git, when git has every event of it that can still be read."""
    git, quoted = patient.memory.git, shlex.quote(shard)
    committed = git.head_bytes(shard) if git is not None else None
    if committed is None:
        return f"less {quoted}"
    theirs = parse_shard(shard, committed)
    ours = patient.memory.log.read_shard(shard)
    if theirs.damages or not {one.event.id for one in ours.events} <= {one.event.id for one in theirs.events}:
        return f"git diff HEAD -- {quoted}"
    return f"git checkout HEAD -- {quoted}"


def _torn(patient: DoctorContext, finding: Diagnostic) -> Check:
    path = finding.path
    mends = (Fix("end", path),) if may_end(patient, path) else ()
    return Check(
        "log",
        "warning" if finding.severity is Severity.ERROR else finding.severity.value,
        f"the last line of {path} is not finished",
        "a command was killed while it wrote it"
        if mends
        else "git knows this file, or another program writes it, so it stays as it is",
        (path,),
        "nothing that was acknowledged",
        EXAMINING_LOG_FIX if mends else _bring_back(patient, path),
        mends,
    )


def may_end(patient: DoctorContext, shard: str) -> bool:
    """Whether the end of a shard is ours to mend: one of our shards, torn behind everything that git has."""
    if not is_shard(shard):
        return False
    git = patient.memory.git
    staged = git.staged_bytes(shard) if git is not None else None
    if staged is None:
        return True
    now = read_file(patient.layout.at(shard), MAX_SHARD)
    return staged.endswith(b"\n") and len(now) > len(staged) and now.startswith(staged)


# What `doctor` looks at in the review queue.


def review(patient: DoctorContext) -> Iterator[Check]:
    """Whether every file of the review queue is a proposal, and none waits for too long."""
    state = queue_state(patient.memory)
    bad: list[BadProposal] = []
    waiting: list[str] = []
    for one in entries(patient.layout):
        if isinstance(one, BadProposal):
            bad.append(one)
        else:
            waiting.append(one.path)
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


# What `doctor` looks at among files: folders, leftovers, rights, schemas, git, the quarantine.

EXAMINING_FILES_FIX: Final = "thunderus-mem doctor --fix"
_OURS: Final = (INDEXES, f"{STORE}/schemas", f"{STORE}/local", f"{STORE}/local/undo", f"{STORE}/.staging")
"""Folders that hold nothing a person wrote, and that are made again."""
_QUARANTINE: Final = f"{STORE}/.quarantine"
_LOCK: Final = f"{STORE}/.lock"
_INDEX_FILES: Final = ("memory.db", "memory.db-journal", "memory.db-wal", "memory.db-shm", "memory.db.seal")
_MANY: Final = 100 << 20


def linked() -> tuple[Look, ...]:
    """What can be looked at while a folder of the store is a link."""
    return (places,)


def places(patient: DoctorContext) -> Iterator[Check]:
    """Whether folders are folders and files are files, so that writing stays inside the store."""
    for path in patient.linked:
        if not path.startswith(tuple(f"{above}/" for above in patient.linked)):
            yield _misplaced(path, "is a symbolic link, so nothing in the store is read or written")
    if patient.linked:
        return
    kinds = {seen.path: seen.mode for seen in patient.entries}
    for path in (*_OURS, _QUARANTINE, f"{STORE}/patches", *_document_folders()):
        if path in kinds and not stat.S_ISDIR(kinds[path]):
            yield _misplaced(path, "is no folder, and one has to be there")
    if _LOCK in kinds and not stat.S_ISREG(kinds[_LOCK]):
        yield _misplaced(_LOCK, "is no file, so nothing can be written")
    for path, mode in kinds.items():
        folder, _, name = path.rpartition("/")
        odd = not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))
        if folder in _OURS and odd and path not in _OURS and name not in ("memory.db", "manifest.json"):
            yield _misplaced(path, "is a link, a pipe or a device where our own files are")


def _document_folders() -> tuple[str, ...]:
    from thunderus_mem.store.layout import ARCHIVE_FOLDERS, DOCUMENT_FOLDERS

    return (f"{STORE}/sessions", *DOCUMENT_FOLDERS.values(), *ARCHIVE_FOLDERS)


def _misplaced(path: str, what: str) -> Check:
    message, lost = f"{path} {what}", "nothing: what it leads to is not touched"
    if path in _OURS or path == _LOCK or path.rpartition("/")[0] in _OURS:
        return Check(
            "places", "error", message, "", (path,), lost, EXAMINING_FILES_FIX, (Fix("set-aside", path),)
        )
    hint = "look at it, move it away, and put a real folder there"
    return Check("places", "error", message, hint, (path,), lost, f"ls -ld {shlex.quote(path)}")


def schemas(patient: DoctorContext) -> Iterator[Check]:
    """Whether the store's copies of the schemas are those of this version."""
    from thunderus_mem.store.config import FORMAT
    from thunderus_mem.store.root import newer_version, version_of_schemas

    if newer_version(patient.layout, patient.memory.config):
        return
    if 0 < version_of_schemas(patient.layout) < FORMAT:
        message = f"the store has the formats of an older version than {FORMAT}"
        hint, command = (
            "migrate shows what would change, and with --apply changes it",
            "thunderus-mem migrate",
        )
        yield Check("schemas", "warning", message, hint, (), "nothing", command)
        return
    paths = tuple(path for path, text in _schema_copies(patient) if not _is(patient.layout.at(path), text))
    if not paths:
        yield Check("schemas", "ok", "as this version has them")
        return
    yield Check(
        "schemas",
        "warning",
        many(
            len(paths),
            "a copy of a schema is missing or differs from this version's",
            "{} copies of schemas are missing or differ from this version's",
        ),
        "editors and CI check documents against them",
        paths,
        "nothing: they are part of the program",
        EXAMINING_FILES_FIX,
        tuple(Fix("write", path) for path in paths),
    )


def _schema_copies(patient: DoctorContext) -> Iterator[tuple[str, str]]:
    from thunderus_mem.lint.runner import packaged_schemas

    for name, text in packaged_schemas().items():
        yield f"{STORE}/schemas/{name}", text


def _is(place: str, text: str) -> bool:
    """Whether a regular file has this text; one that cannot be read has not."""
    try:
        return file_hash(place) == content_hash(text)
    except ThunderusError:
        return False


def leftovers(patient: DoctorContext) -> Iterator[Check]:
    """Temporary files and strange things that no running command owns."""
    found = [seen.path for seen in patient.entries if _is_left(seen, patient.alone)]
    beside = index_leftovers(patient.layout.indexes_dir)
    found += [patient.layout.relative(one.path) for one in beside if not one.in_use]
    if found:
        yield Check(
            "leftovers",
            "note",
            many(
                len(found),
                "a temporary file was left by a command that was killed",
                "{} temporary files were left by commands that were killed",
            ),
            "",
            tuple(sorted(found)),
            "nothing: what they belonged to was finished or undone",
            EXAMINING_FILES_FIX,
            tuple(Fix("set-aside", path) for path in sorted(found)),
        )


def _is_left(seen: StoreEntry, alone: bool) -> bool:
    folder, _, name = seen.path.rpartition("/")
    if folder == INDEXES and name.startswith("memory.db.set-aside-"):
        return True
    ours = name.startswith(TEMP_PREFIX) and name.endswith(".tmp")
    return ours and (alone or seen.mtime < time.time() - QUIET_SECONDS)


def unreadable(patient: DoctorContext) -> Iterator[Check]:
    """Files and folders of the store that may not be read."""
    paths = tuple(seen.path for seen in patient.entries if seen.trouble)
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


def repository(patient: DoctorContext) -> Iterator[Check]:
    """What git knows of the store: part of the repository, private files out of it, attributes in place."""
    memory = patient.memory
    if memory.git is None:
        yield Check("git", "note", "no git repository around the store: history is what the log has")
    elif patient.git_state is not None and patient.git_state.ignored:
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
        missing = lacking(path, patient.layout.at(path))
        if missing:
            yield Check(
                "git",
                "warning",
                f"{path} lacks {many(len(missing), 'a line', '{} lines')}: {', '.join(missing[:3])}",
                "without it private files could be committed, or line ends change",
                (path,),
                "nothing",
                EXAMINING_FILES_FIX,
                (Fix("write", path),),
            )
    yield from _tracked(patient)


def _tracked(patient: DoctorContext) -> Iterator[Check]:
    from thunderus_mem.lint.runner import NEVER_TRACKED

    git = patient.memory.git
    paths = tuple(sorted(git.tracked(NEVER_TRACKED))) if git is not None else ()
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


def quarantine(patient: DoctorContext) -> tuple[tuple[KeptFile, ...], list[Check]]:
    """What has been set aside, with the way back of each, and a word on how much it is."""
    if _QUARANTINE in patient.linked:
        return (), []
    found = kept_files(patient.layout)
    if not found:
        return (), []
    names = _plain_paths(patient) if any(not kept.was for kept in found) else {}
    total = sum(kept.size for kept in found)
    oldest = format_timestamp(_moment(min(kept.mtime for kept in found)))[:10]
    check = Check(
        "quarantine",
        "warning" if total > _MANY else "note",
        f"{many(len(found), 'a file is', '{} files are')} set aside, {_size(total)}, since {oldest}",
        "put back or compare what you need; delete the rest when nothing of it is missed",
        (_QUARANTINE,),
        "nothing: that is what is kept",
        f"ls -lR {_QUARANTINE}",
    )
    return tuple(_told(kept, names) for kept in found), [check]


def _size(total: int) -> str:
    return f"{total / (1 << 20):,.1f} MiB" if total >> 20 else f"{-(-total // 1024)} KiB"


def _moment(seconds: float) -> datetime:
    return datetime.fromtimestamp(max(seconds, 0), UTC)


def _plain_paths(patient: DoctorContext) -> dict[str, str]:
    """The name under which a document's text would be kept, to its path."""
    return {plain_name(seen.path): seen.path for seen in patient.entries if seen.path.endswith(".md")}


def _told(kept: Kept, names: dict[str, str]) -> KeptFile:
    when = format_timestamp(_moment(kept.mtime))
    if kept.was:
        back = way_back(kept.path, kept.was)
        return KeptFile(kept.path, kept.was, kept.size, when, "set aside by doctor --fix", back)
    name = os.path.basename(kept.path).partition("-")[2]
    if name.endswith(".torn"):
        what = "the torn end of a log; nothing in it was acknowledged"
        return KeptFile(kept.path, "", kept.size, when, what, f"cat -v {shlex.quote(kept.path)}")
    path = names.get(name, "")
    what = "a text that found another one in its place" if path else "part of a change that did not happen"
    back = (
        f"diff -u {shlex.quote(path)} {shlex.quote(kept.path)}" if path else f"less {shlex.quote(kept.path)}"
    )
    return KeptFile(kept.path, path, kept.size, when, what, back)
