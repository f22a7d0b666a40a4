"""`resolve`: resolve conflicts after a merge as far as possible; and the merge driver.

Writes documents with their events, shards, and, on request, git's index. The driver merges one document given
by git; it needs no store and logs nothing.
"""

from __future__ import annotations

import os
from functools import partial
from typing import TYPE_CHECKING, Final

from thunderus_mem.document.diff import unified_diff
from thunderus_mem.document.document import MAX_DOCUMENT, content_hash
from thunderus_mem.document.ids import resolve_prefix
from thunderus_mem.errors import InvalidDocument, NotWritable
from thunderus_mem.git import repository
from thunderus_mem.git.changes import stage_files
from thunderus_mem.memory.journal import FileChange
from thunderus_mem.memory.locate import find_row, stored_path
from thunderus_mem.memory.transaction import open_transaction, settle
from thunderus_mem.merge import conflicts
from thunderus_mem.merge.documents import LABELS, Merged, UnmergedKey, find_conflict, merge, two_way
from thunderus_mem.startup import NamedTuple
from thunderus_mem.store.files import read_file, replace_file
from thunderus_mem.store.paths import inside

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from thunderus_mem.memory.memory import Memory
    from thunderus_mem.merge.conflicts import Answer, DocumentConflict, Shard
    from thunderus_mem.merge.documents import Lines, MergedKey

_SIDES: Final = ("ours", "base", "theirs")
_MOST_CONFLICTS: Final = 127


def merge_lines(
    run: Callable[..., repository.Output], base: str, ours: str, theirs: str, labels: tuple[str, str]
) -> str:
    """Merge three texts with git; conflicts have markers in the configured style.

    ``run`` runs git. Raises `NotWritable` when git fails.
    """
    from tempfile import TemporaryDirectory

    with TemporaryDirectory(prefix="thunderus-mem-") as folder:
        paths = [os.path.join(folder, name) for name in _SIDES]
        for path, text in zip(paths, (ours, base, theirs), strict=True):
            with open(path, "wb") as stream:
                stream.write(text.encode("utf-8", "surrogatepass"))
        names = [word for label in (labels[0], "base", labels[1]) for word in ("-L", label)]
        done = run("merge-file", "-p", *names, *paths)
    if not 0 <= done.code <= _MOST_CONFLICTS:
        raise NotWritable(f"git cannot merge the text: {done.complaint or 'unknown error'}")
    return done.data.decode("utf-8", "surrogatepass")


_SHARD_LIMIT = 256 << 20


_GO_ON: Final = {
    "merge": "git commit",
    "rebase": "git rebase --continue",
    "cherry-pick": "git cherry-pick --continue",
    "revert": "git revert --continue",
}


class ResolvedDocument(NamedTuple):
    """The result for one document. ``state``: merged, kept, done, apart or unreadable; see `Answer`.

    ``removed`` are its other files, now deleted; ``event_id`` is "" when nothing was written.
    """

    id: str
    path: str
    state: str
    settled: tuple[MergedKey, ...]
    left: tuple[UnmergedKey, ...]
    note: str
    removed: tuple[str, ...] = ()
    event_id: str = ""


class Resolved(NamedTuple):
    """The result of `resolve`; with ``planned`` what it would do (``diff``).

    ``ours`` and ``theirs`` are the labels of the sides in the conflict markers. ``others`` are files that are
    not documents; ``clear`` are the given documents without conflicts. ``staged`` are files added to git's
    index, ``unstaged`` is the reason if there are none. ``published`` is false when a file is written by the
    next command.
    """

    documents: tuple[ResolvedDocument, ...]
    others: tuple[conflicts.Other, ...]
    clear: tuple[str, ...] = ()
    ours: str = ""
    theirs: str = ""
    diff: str = ""
    planned: bool = False
    staged: tuple[str, ...] = ()
    unstaged: str = ""
    recorded: tuple[str, ...] = ()
    published: bool = True
    next_step: str = ""

    @property
    def is_left(self) -> bool:
        """Whether anything is left to decide."""
        return any(not other.settled for other in self.others) or any(one.left for one in self.documents)


def resolve(
    memory: Memory,
    names: Sequence[str] = (),
    *,
    dry_run: bool = False,
    stage: bool = False,
    why: str = "",
) -> Resolved:
    """Resolve the conflicts in documents after a merge, rebase, cherry-pick, revert or stash.

    ``names`` are ids or paths; by default all documents in conflict. If git reports none, documents with
    conflict markers are resolved. Files are staged only with ``stage``, and only if nothing is left to
    decide. Raises `NotFound` for an unknown name.
    """
    if not dry_run:
        settle(memory, "resolve")
    memory.refresh()
    found = conflicts.in_store(memory)
    clear: tuple[str, ...] = ()
    if names:
        documents, clear = _named(memory, found.documents, names)
        found = conflicts.InConflict(documents, [], [])
    elif not any(found):
        found.documents.extend(
            conflicts.committed_conflicts(
                memory, [(path, doc_id) for path, _, doc_id in memory.index.files()]
            )
        )
    lines = partial(merge_lines, memory.git.ask) if memory.git is not None else _two_way
    answers = _together(found.documents, [conflicts.decide(memory, one, lines) for one in found.documents])
    value = _value(answers, found, clear)
    if dry_run:
        value = value._replace(diff=_diff(answers), planned=True)
        return value._replace(next_step=_next_step(memory, value))
    written = _write(memory, answers, found.shards, why=why)
    if written is None:
        return resolve(memory, names, stage=stage, why=why)
    events, recorded, published = written
    staged, unstaged = _stage(memory, answers, found.shards) if stage else ((), "")
    value = value._replace(
        documents=tuple(one._replace(event_id=events.get(one.path, "")) for one in value.documents),
        staged=staged,
        unstaged=unstaged,
        recorded=recorded,
        published=published,
    )
    return value._replace(next_step=_next_step(memory, value))


def _two_way(_base: str, ours: str, theirs: str, labels: tuple[str, str]) -> str:
    return two_way(ours, theirs, labels)


def _named(
    memory: Memory, found: Sequence[DocumentConflict], names: Sequence[str]
) -> tuple[list[DocumentConflict], tuple[str, ...]]:
    """The conflicts of the given documents, and the given documents without conflicts."""
    chosen: dict[int, DocumentConflict] = {}
    clear = []
    for name in names:
        meant = _meant(memory, found, name)
        if not meant:
            row_path, row_id = _resolved_document(memory, name)
            meant = conflicts.committed_conflicts(memory, [(row_path, row_id)])
            clear += [] if meant else [row_id or row_path]
        # Two documents in one file are separated together or not at all.
        paths = {one.path for one in meant}
        chosen |= {id(one): one for one in (*meant, *(one for one in found if one.path in paths))}
    return list(chosen.values()), tuple(clear)


def _meant(memory: Memory, found: Sequence[DocumentConflict], name: str) -> list[DocumentConflict]:
    path = stored_path(memory, name)
    exact = [one for one in found if name == one.id or path in (one.path, *one.drops)]
    ids = resolve_prefix(name, (one.id for one in found)) if not exact else []
    if len(ids) > 1:
        raise InvalidDocument(
            f"{name!r} is ambiguous: {len(ids)} ids begin with it", hint=f"use one of: {', '.join(ids[:8])}"
        )
    return exact or [one for one in found if one.id in ids]


def _resolved_document(memory: Memory, name: str) -> tuple[str, str]:
    """Path and id of a document without a conflict in git; its header may be invalid."""
    path = stored_path(memory, name)
    known = {path: doc_id for path, _, doc_id in memory.index.files()}
    if path in known:
        return path, known[path]
    row = find_row(memory, name, itself=True)
    return row.path, row.id


def _together(found: Sequence[DocumentConflict], answers: Sequence[Answer]) -> list[Answer]:
    """If one of two documents in a file cannot be resolved, neither can the other."""
    stuck = {
        one.path: answer
        for one, answer in zip(found, answers, strict=True)
        if one.apart and answer.state == "unreadable"
    }
    return [
        stuck[one.path]._replace(id=one.id) if one.apart and one.path in stuck else answer
        for one, answer in zip(found, answers, strict=True)
    ]


def _value(answers: Sequence[Answer], found: conflicts.InConflict, clear: tuple[str, ...]) -> Resolved:
    ours, theirs = next((answer.labels for answer in answers if answer.labels), ("", ""))
    documents = tuple(
        ResolvedDocument(
            answer.id,
            answer.path,
            answer.state,
            answer.settled,
            answer.left,
            answer.note,
            tuple(path for path, text in answer.drops if text is not None),
        )
        for answer in answers
    )
    shards = [conflicts.Other(shard.path, shard.how, settled=True) for shard in found.shards]
    return Resolved(documents, (*shards, *found.others), clear, ours, theirs)


def _next_step(memory: Memory, value: Resolved) -> str:
    if not value.documents and not value.others:
        return ""
    then = _GO_ON.get(memory.git.operation() if memory.git is not None else "", "")
    if value.planned:
        return "thunderus-mem resolve"
    if value.is_left:
        return f"resolve the remaining conflicts, then `git add` them{f' and `{then}`' if then else ''}"
    if value.staged:
        return then
    return f"`git add` them (or `thunderus-mem resolve --stage`){f', then `{then}`' if then else ''}"


def _edits(memory: Memory, answer: Answer) -> list[FileChange]:
    """The changes to write for a document; none if its file is already right."""
    edits = [FileChange(answer.id, path, text, None) for path, text in answer.drops if text is not None]
    known = answer.state == "kept" and (
        answer.before is not None or memory.log_index().explains(content_hash(answer.text or ""))
    )
    if answer.state in ("unreadable", "done") or known:
        return edits
    mixed = bool(answer.drops) and answer.text != answer.before
    if answer.text != answer.found or answer.state == "kept" or mixed:
        found = answer.found if answer.found != answer.before else None
        edits.append(FileChange(answer.id, answer.path, answer.before, answer.text, found=found))
    return edits


def _write(
    memory: Memory,
    answers: Sequence[Answer],
    shards: Sequence[Shard],
    *,
    why: str,
) -> tuple[dict[str, str], tuple[str, ...], bool] | None:
    """Write documents, with one event for each file in conflict, and shards.

    Returns the event of each document by path, the hand edits that were recorded, and whether all files were
    written; ``None`` when an interrupted command had to be finished first, so that everything must be
    computed again.
    """
    by_file: dict[str, list[tuple[Answer, FileChange]]] = {}
    for answer in answers:
        for edit in _edits(memory, answer):
            by_file.setdefault(answer.file, []).append((answer, edit))
    mixed = [shard for shard in shards if shard.data is not None and _bytes(memory, shard) != shard.data]
    if not by_file and not mixed:
        return {}, (), True
    events: dict[str, str] = {}
    with open_transaction(memory, "resolve") as transaction:
        if any(recovered.action == "published" for recovered in transaction.recovered):
            return None
        for shard in mixed:
            replace_file(inside(memory.root, shard.path), shard.data or b"")
        for changes in by_file.values():
            reason = why or _reason([answer for answer, _ in changes])
            event = transaction.commit("resolve", [edit for _, edit in changes], why=reason)
            events |= {answer.path: event for answer, _ in changes}
    return events, transaction.outcome.recorded, transaction.outcome.published


def _bytes(memory: Memory, shard: Shard) -> bytes | None:
    """The bytes of a shard's file with LF line ends, as the log reads them."""
    path = inside(memory.root, shard.path)
    return read_file(path, _SHARD_LIMIT).replace(b"\r\n", b"\n") if os.path.lexists(path) else None


def _reason(answers: Sequence[Answer]) -> str:
    """A short summary for the log."""
    keys = dict.fromkeys(settled.key for answer in answers for settled in answer.settled)
    left = dict.fromkeys(one.key for answer in answers for one in answer.left)
    summary = [f"resolved {', '.join(keys)}"] if keys else [answers[0].note or "merged"]
    return "; ".join([*summary, *([f"still in conflict: {', '.join(left)}"] if left else [])])


def _stage(memory: Memory, answers: Sequence[Answer], shards: Sequence[Shard]) -> tuple[tuple[str, ...], str]:
    """Stage the resolved files and the shard with their events; or return the reason why not."""
    if memory.git is None:
        return (), "not in a git repository"
    paths = [path for answer in answers if answer.is_clean for path in (answer.path, *dict(answer.drops))]
    paths += [shard.path for shard in shards]
    if not paths:
        return (), ""
    shard = memory.sessions.known_shard()
    if shard and os.path.isfile(os.path.join(memory.root, shard)):
        paths.append(shard)
    problem = stage_files(memory.git, paths)
    return ((), problem) if problem else (tuple(paths), "")


def _diff(answers: Sequence[Answer]) -> str:
    """The diff from the present files to the result."""
    diffs = []
    for answer in answers:
        if answer.state != "unreadable":
            diffs.append(unified_diff(answer.found, answer.text, answer.path) or "")
            diffs += [unified_diff(text, None, path) or "" for path, text in answer.drops if text]
    return "".join(diffs)


class Driven(NamedTuple):
    """The result of the merge driver: ``settled`` and ``left`` as in `Merged`."""

    path: str
    settled: tuple[str, ...]
    left: tuple[UnmergedKey, ...]


def merge_driver(base: str, ours: str, theirs: str, path: str, *, environ: Mapping[str, str]) -> Driven:
    """Merge the files given by git (%O %A %B), and write the result to ``ours``.

    ``path`` is the path of the document. Files that are not valid documents are merged by line. Raises
    `InvalidDocument` when a file is not UTF-8.
    """
    try:
        texts = [
            read_file(os.path.abspath(name), MAX_DOCUMENT).decode("utf-8") for name in (base, ours, theirs)
        ]
    except UnicodeDecodeError as error:
        raise InvalidDocument(f"{path} is not UTF-8 on every side", hint="resolve it with git") from error
    merged = _merged(conflicts.Versions(path, texts[0] or None, texts[1], texts[2]), _lines(environ))
    replace_file(os.path.abspath(ours), merged.text.encode())
    return Driven(path, tuple(dict.fromkeys(one.key for one in merged.settled)), merged.left)


def _merged(versions: conflicts.Versions, lines: Lines) -> Merged:
    base, ours, theirs = versions.base, versions.ours or "", versions.theirs or ""
    if len(conflicts.document_conflicts([versions])) > 1:
        why = "the file has two documents; run `thunderus-mem resolve` to separate them"
        return Merged(lines(base or "", ours, theirs, LABELS), left=(UnmergedKey("", why),))
    try:
        return merge(base, ours, theirs, lines)
    except InvalidDocument as error:
        text = lines(base or "", ours, theirs, LABELS)
        return Merged(text, left=(UnmergedKey("", str(error)),) if find_conflict(text) else ())


def _lines(environ: Mapping[str, str]) -> Lines:
    executable = repository.find_executable(environ.get("PATH", os.defpath))
    if executable is None:
        return _two_way
    process = repository.GitProcess(executable, os.getcwd(), environ)
    return partial(merge_lines, process.run)
