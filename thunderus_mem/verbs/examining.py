"""The verb `doctor`: looks at everything around the documents, and changes nothing.

Each thing it looks at is a function in a tuple: what the program stands on here, the files of the store in
`examining_files`, the log in `examining_log`. One that cannot look says so; the others still do.
"""

from __future__ import annotations

import os
import sys
from collections import Counter
from typing import TYPE_CHECKING

from thunderus_mem.model.errors import Degraded, ThunderusError
from thunderus_mem.store.layout import INDEXES
from thunderus_mem.transaction.by_hand import hand_edits, mass_loss
from thunderus_mem.verbs.health import Check, DoctorReport, Mend, many
from thunderus_mem.verbs.patient import Patient

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from thunderus_mem.memory import Memory
    from thunderus_mem.verbs.patient import Look

FIX = "thunderus-mem doctor --fix"
DERIVED = "nothing: it is made from the documents"
_LITTLE = 4 << 20


def engine(patient: Patient) -> Iterator[Check]:
    """Whether the SQLite of this Python can search."""
    from thunderus_mem.projection.database import engine_version, has_full_text_search

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


def store(patient: Patient) -> Iterator[Check]:
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


def config(patient: Patient) -> Iterator[Check]:
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


def formats(patient: Patient) -> Iterator[Check]:
    """Whether this program may write the store at all."""
    from thunderus_mem.store.version import FORMAT, newer_version

    version = newer_version(patient.layout, patient.memory.config)
    if version:
        message = f"the store has version {version}, this program knows {FORMAT}: it only reads"
        yield Check("formats", "warning", message, "use a newer thunderus-mem to write", lost="nothing")
    else:
        yield Check("formats", "ok", f"version {FORMAT}")


def index(patient: Patient) -> Iterator[Check]:
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
            (*(Mend("set-aside", path) for path in there), Mend("rebuild", INDEXES)),
        )
    else:
        yield Check("index", "ok", f"{status.documents} documents, fresh")


def _deep_trouble(patient: Patient) -> str:
    """What is wrong with an index that looks fresh; reads every page of it."""
    from thunderus_mem.projection.index import Index

    try:
        found = Index.open(patient.layout.index_file)
    except (Degraded, OSError) as error:
        return str(error)
    try:
        return found.database.check()
    finally:
        found.close()


def manifest(patient: Patient) -> Iterator[Check]:
    """Whether the manifest is the inventory of the documents."""
    from thunderus_mem.verbs.upkeep import manifest as judged

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
            (Mend("set-aside", path), Mend("rebuild", INDEXES)),
        )


def documents(patient: Patient) -> Iterator[Check]:
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


def edits(patient: Patient) -> Iterator[Check]:
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


def encoding(patient: Patient) -> Iterator[Check]:
    """Whether names and output can be anything that UTF-8 can."""
    used = sys.getfilesystemencoding()
    if used.lower().replace("-", "") != "utf8":
        yield Check("encoding", "warning", f"file names are {used}", "set PYTHONUTF8=1 or a UTF-8 locale")
    else:
        yield Check("encoding", "ok", "UTF-8")


def checks() -> tuple[Callable[[Patient], Iterator[Check]], ...]:
    """Everything `doctor` looks at, in the order it tells of it."""
    from thunderus_mem.verbs import examining_files as files
    from thunderus_mem.verbs import examining_log as log
    from thunderus_mem.verbs import examining_queue as waiting

    return (
        engine, config, store, files.places, formats, index, manifest, log.interrupted, log.events,
        documents, files.schemas, files.leftovers, files.unreadable, files.repository, edits,
        waiting.review, encoding,
    )  # fmt: skip


def doctor(memory: Memory, *, alone: bool = False) -> DoctorReport:
    """Look at everything around the documents and say what is wrong and what to do. Mends nothing.

    ``alone``: the lock is held, so that no temporary file is in use.
    """
    from thunderus_mem.verbs.examining_files import linked, quarantine

    patient = Patient(memory, alone=alone)
    # Where a folder of the store is a link, what lies behind it is not ours to look at.
    followed = (engine, config, *linked(), encoding) if patient.linked else checks()
    found = [check for look in followed for check in _looked(look, patient)]
    kept, told = quarantine(patient)
    return DoctorReport((*found, *told), kept)


def _looked(look: Look, patient: Patient) -> list[Check]:
    found: list[Check] = []
    try:
        found.extend(look(patient))
    except (ThunderusError, OSError) as error:
        hint = getattr(error, "hint", "") or "mend that first, then look again"
        message = f"this could not be looked at: {error}"
        found.append(Check(look.__name__, "error", message, hint, lost="nothing that is known of"))
    return found
