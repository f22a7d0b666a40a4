"""What `doctor` looks at: one function a thing, in a tuple. Each yields what it found and changes nothing."""

from __future__ import annotations

import os
import sys
from collections import Counter
from typing import TYPE_CHECKING

from thunderus_mem.model.diagnostic import Severity
from thunderus_mem.verbs.upkeep import Check, index_status

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from thunderus_mem.memory import Memory


def engine(memory: Memory) -> Iterator[Check]:
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
        )


def folders(memory: Memory) -> Iterator[Check]:
    """Whether the store is where it should be, and can be written."""
    yield Check("store", "ok", memory.layout.store)
    for other in memory.also:
        yield Check("store", "note", f"{other} has a store too", "-C DIR chooses another one")
    if not os.access(memory.layout.store, os.W_OK):
        yield Check("store", "warning", "the store cannot be written; reading works", "check the permissions")


def formats(memory: Memory) -> Iterator[Check]:
    """Whether this program may write the store at all."""
    from thunderus_mem.store.version import FORMAT, newer_version

    version = newer_version(memory.layout, memory.config)
    if version:
        message = f"the store has version {version}, this program knows {FORMAT}: it only reads"
        yield Check("formats", "warning", message, "use a newer thunderus-mem to write")
    else:
        yield Check("formats", "ok", f"version {FORMAT}")


def index(memory: Memory) -> Iterator[Check]:
    """Whether the index agrees with the files and its pages are whole; `index verify` looks at every row."""
    status = index_status(memory)
    if status.state == "damaged":
        yield Check("index", "note", "the index is damaged", "any command builds it anew")
    elif status.state in ("missing", "behind"):
        yield Check("index", "note", f"the index is {status.state}", "any command brings it up to date")
    elif status.state == "newer":
        yield Check(
            "index",
            "note",
            "a newer version of the program wrote the index; here answers come from the files",
            "use that version, or delete .thunderus/memory/indexes",
        )
    elif problem := _torn_pages(memory):
        yield Check("index", "warning", f"the index is damaged: {problem}", "any command builds it anew")
    else:
        yield Check("index", "ok", f"{status.documents} documents, fresh")
    if status.problems:
        yield Check(
            "documents", "warning", f"{status.problems} files are no documents", "see: thunderus-mem lint"
        )


def _torn_pages(memory: Memory) -> str:
    from thunderus_mem.projection.index import Index
    from thunderus_mem.projection.seal import break_seal

    found = Index.open(memory.layout.index_file)
    try:
        problem = found.database.check(words=False)
    finally:
        found.close()
    if problem:
        break_seal(memory.layout.index_file)
    return problem


def interrupted(memory: Memory) -> Iterator[Check]:
    """Whether a killed command left something to finish, and what was set aside from damage."""
    pending = memory.journal.pending()
    if pending:
        hint = "the next command that writes finishes or undoes it"
        yield Check("writes", "warning", f"{pending} interrupted", hint)
    else:
        yield Check("writes", "ok", "none interrupted")
    kept = _count(memory.layout.quarantine_dir)
    if kept:
        yield Check(
            "quarantine",
            "note",
            f"{kept} files were set aside from damage or conflict",
            f"look at {memory.layout.relative(memory.layout.quarantine_dir)}, then delete what is not needed",
        )


def _count(folder: str) -> int:
    try:
        return len(os.listdir(folder))
    except OSError:
        return 0


def store(memory: Memory) -> Iterator[Check]:
    """What lint says of the store as a whole: schemas, log, tracked projections."""
    from thunderus_mem.verbs.linting import lint_config, store_findings

    found = list(store_findings(memory, lint_config(memory)))
    weights = Counter(finding.severity for finding in found)
    if not found:
        yield Check("log", "ok", "every line and every chain is whole")
    for weight in (Severity.ERROR, Severity.WARNING, Severity.NOTE):
        if weights[weight]:
            first = next(finding for finding in found if finding.severity is weight)
            more = f" (and {weights[weight] - 1} more)" if weights[weight] > 1 else ""
            yield Check("log and schemas", weight.value, f"{first.path}: {first.message}{more}", first.hint)


def repository(memory: Memory) -> Iterator[Check]:
    """What git knows of the store: ignored as a whole, attributes in place."""
    if memory.git is None:
        yield Check("git", "note", "no git repository around the store: history is what the log has")
        return
    state = memory.git_state()
    if state is not None and state.ignored:
        yield Check(
            "git",
            "warning",
            "git ignores the whole store, so nobody else gets it",
            "let .gitignore except .thunderus; what must stay private is ignored inside it",
        )
    else:
        yield Check("git", "ok", "the store is part of the repository")
    for name in (".gitignore", ".gitattributes"):
        if not os.path.exists(os.path.join(memory.layout.store, name)):
            yield Check("git", "warning", f".thunderus/{name} is missing", "run: thunderus-mem init")


def hand_edits(memory: Memory) -> Iterator[Check]:
    """Edits that no event and no commit explains yet."""
    memory.refresh()
    edits = memory.hand_edits(memory.git_state())
    gone = len(memory.mass_loss(edits))
    if gone:
        yield Check(
            "edits",
            "error",
            f"{gone:,} of {memory.index.count() + gone:,} documents are gone, and neither a command nor a "
            "commit took them away; nothing is written until that is settled",
            "bring them back; or, if they are meant to be gone, commit that or run "
            "`thunderus-mem record --yes`",
        )
    elif edits:
        yield Check(
            "edits",
            "note",
            f"{len(edits)} documents were edited by hand and are not recorded yet",
            "the next command that writes records them; `thunderus-mem record` does it now",
        )


def encoding(memory: Memory) -> Iterator[Check]:
    """Whether names and output can be anything that UTF-8 can."""
    used = sys.getfilesystemencoding()
    if used.lower().replace("-", "") != "utf8":
        yield Check("encoding", "warning", f"file names are {used}", "set PYTHONUTF8=1 or a UTF-8 locale")
    else:
        yield Check("encoding", "ok", "UTF-8")


CHECKS: tuple[Callable[[Memory], Iterator[Check]], ...] = (
    engine,
    folders,
    formats,
    index,
    interrupted,
    store,
    repository,
    hand_edits,
    encoding,
)
