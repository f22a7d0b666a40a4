"""What `doctor` looks at among files: folders, leftovers, rights, schemas, git, the quarantine."""

from __future__ import annotations

import os
import shlex
import stat
import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

from thunderus_mem.model.document import content_hash
from thunderus_mem.model.errors import ThunderusError
from thunderus_mem.model.timestamp import format_timestamp
from thunderus_mem.projection.leftovers import QUIET_SECONDS
from thunderus_mem.projection.leftovers import leftovers as index_leftovers
from thunderus_mem.store.aside import kept_files, way_back
from thunderus_mem.store.files import TEMP_PREFIX, file_hash
from thunderus_mem.store.git_files import FILES, lacking
from thunderus_mem.store.layout import INDEXES, STORE
from thunderus_mem.store.tail import plain_name
from thunderus_mem.verbs.health import Check, KeptFile, Mend, many

if TYPE_CHECKING:
    from collections.abc import Iterator

    from thunderus_mem.store.aside import Kept
    from thunderus_mem.verbs.patient import Look, Patient, Seen

FIX: Final = "thunderus-mem doctor --fix"
_OURS: Final = (INDEXES, f"{STORE}/schemas", f"{STORE}/local", f"{STORE}/local/undo", f"{STORE}/.staging")
"""Folders that hold nothing a person wrote, and that are made again."""
_QUARANTINE: Final = f"{STORE}/.quarantine"
_LOCK: Final = f"{STORE}/.lock"
_INDEX_FILES: Final = ("memory.db", "memory.db-journal", "memory.db-wal", "memory.db-shm", "memory.db.seal")
_MANY: Final = 100 << 20


def linked() -> tuple[Look, ...]:
    """What can be looked at while a folder of the store is a link."""
    return (places,)


def places(patient: Patient) -> Iterator[Check]:
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
        return Check("places", "error", message, "", (path,), lost, FIX, (Mend("set-aside", path),))
    hint = "look at it, move it away, and put a real folder there"
    return Check("places", "error", message, hint, (path,), lost, f"ls -ld {shlex.quote(path)}")


def schemas(patient: Patient) -> Iterator[Check]:
    """Whether the store's copies of the schemas are those of this version."""
    from thunderus_mem.store.version import FORMAT, newer_version, version_of_schemas

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
        FIX,
        tuple(Mend("write", path) for path in paths),
    )


def _schema_copies(patient: Patient) -> Iterator[tuple[str, str]]:
    from thunderus_mem.verbs.surveying import packaged_schemas

    for name, text in packaged_schemas().items():
        yield f"{STORE}/schemas/{name}", text


def _is(place: str, text: str) -> bool:
    """Whether a regular file has this text; one that cannot be read has not."""
    try:
        return file_hash(place) == content_hash(text)
    except ThunderusError:
        return False


def leftovers(patient: Patient) -> Iterator[Check]:
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
            FIX,
            tuple(Mend("set-aside", path) for path in sorted(found)),
        )


def _is_left(seen: Seen, alone: bool) -> bool:
    folder, _, name = seen.path.rpartition("/")
    if folder == INDEXES and name.startswith("memory.db.set-aside-"):
        return True
    ours = name.startswith(TEMP_PREFIX) and name.endswith(".tmp")
    return ours and (alone or seen.mtime < time.time() - QUIET_SECONDS)


def unreadable(patient: Patient) -> Iterator[Check]:
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


def repository(patient: Patient) -> Iterator[Check]:
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
                FIX,
                (Mend("write", path),),
            )
    yield from _tracked(patient)


def _tracked(patient: Patient) -> Iterator[Check]:
    from thunderus_mem.verbs.surveying import NEVER_TRACKED

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


def quarantine(patient: Patient) -> tuple[tuple[KeptFile, ...], list[Check]]:
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


def _plain_paths(patient: Patient) -> dict[str, str]:
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
