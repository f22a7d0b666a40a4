"""The verb `recap`: tells of a day from its events, documents and commits, in a document of its own."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING

from thunderus_mem.garden.day import RECAP_OP
from thunderus_mem.garden.recap import recap_document, recap_id
from thunderus_mem.model.document import MAX_DOCUMENT, Document
from thunderus_mem.model.edit import compose
from thunderus_mem.model.errors import Conflict, ThunderusError
from thunderus_mem.model.event import changes_of
from thunderus_mem.projection.log_index import read
from thunderus_mem.store.files import read_file
from thunderus_mem.store.paths import inside
from thunderus_mem.transaction import Edit
from thunderus_mem.verbs.checking import checked
from thunderus_mem.verbs.documents import document_at, documents
from thunderus_mem.verbs.written import Written

if TYPE_CHECKING:
    from collections.abc import Iterable

    from thunderus_mem.memory import Memory
    from thunderus_mem.model.event import Event
    from thunderus_mem.store.git_history import Commit
    from thunderus_mem.transaction import Writing

# A commit made on the day may be rebased for a while after it.
_DAYS_OF_REBASE = 7


def _chosen_day(memory: Memory, day: str) -> str:
    """A day in UTC as ``2026-01-21``, from that, ``today`` or ``yesterday``."""
    today = memory.now().astimezone(UTC).date()
    named = {"today": today, "yesterday": today - timedelta(days=1)}
    if day in named:
        return named[day].isoformat()
    try:
        chosen = date.fromisoformat(day)
    except ValueError:
        chosen = None
    if chosen is None or chosen.isoformat() != day:
        raise ThunderusError(
            f'"{day}" is not a day', hint="give it as 2026-01-21, or say `today` or `yesterday`"
        )
    return day


def _commits_of(memory: Memory, day: str) -> list[Commit]:
    if memory.git is None:
        return []
    start = datetime.fromisoformat(day).replace(tzinfo=UTC)
    last = datetime.max.replace(tzinfo=UTC)
    end = start + min(timedelta(days=1 + _DAYS_OF_REBASE), last - start)
    return memory.git.commits_between(f"{start:%Y-%m-%dT%H:%M:%SZ}", f"{end:%Y-%m-%dT%H:%M:%SZ}")


def _template(memory: Memory) -> str:
    if not memory.config.recap_template:
        return ""
    from thunderus_mem.store.paths import safe_relative

    path = inside(memory.root, safe_relative(memory.config.recap_template))
    return read_file(path, MAX_DOCUMENT).decode("utf-8", "replace")


def texts_by_us(events: Iterable[Event]) -> frozenset[tuple[str, str]]:
    """Ids and hashes of the texts that `recap` itself has written, or the gardener made of those, as the log
    says; ``events`` in its order."""
    found: set[tuple[str, str]] = set()
    for event in events:
        op = event.body.get("op") if event.kind == "patch" else ""
        for change in changes_of(event) if op in (RECAP_OP, "garden") else ():
            if op == RECAP_OP or (change.doc_id, change.before) in found:
                found.add((change.doc_id, change.after))
    return frozenset(found)


def _written_by_us(document: Document, events: Iterable[Event]) -> bool:
    return (document.id, document.hash) in texts_by_us(events)


def recap(
    memory: Memory,
    day: str,
    *,
    force: bool = False,
    dry_run: bool = False,
    why: str = "",
    actor: str = "user",
) -> Written:
    """Write or renew the recap of ``day`` (``2026-01-21`` in UTC, ``today`` or ``yesterday``).

    Nothing is written when nothing has been added since. What of the log can be read is told; ``damaged``
    counts the rest. Raises `NotFound` when nothing happened on the day,
    `Conflict` when a person has edited the recap, unless ``force`` is set.
    """
    chosen = _chosen_day(memory, day)
    memory.refresh()
    commits = _commits_of(memory, chosen)
    if dry_run:
        return _renewed(memory, chosen, commits, force=force)[1]
    with memory.writing("recap") as transaction:
        edit, written = _renewed(memory, chosen, commits, force=force)
        if edit is None:
            return written
        return _commit(transaction, edit, written, why=why or f"recap of {chosen}", actor=actor)


def _commit(transaction: Writing, edit: Edit, planned: Written, *, why: str, actor: str) -> Written:
    event = transaction.commit(RECAP_OP, [edit], why=why, actor=actor)
    return planned._replace(
        event_id=event.id,
        recorded=transaction.recorded,
        published=not transaction.pending,
        dry_run=False,
    )


def _renewed(memory: Memory, day: str, commits: list[Commit], *, force: bool) -> tuple[Edit | None, Written]:
    """The edit that brings the recap up to date (``None`` when it is), and what to say of it."""
    log_index = memory.log_index()
    rows = [*log_index.of_day(day), *log_index.naming([recap_id(day)])]
    events = [logged.event for logged in read(memory.log, rows)]
    header, body = recap_document(
        day, events, documents(memory), commits, memory.config, template=_template(memory)
    )
    row = memory.index.get(recap_id(day))
    before = document_at(memory, row.path) if row is not None else None
    path = before.path if before else f"{memory.layout.folder_of('recap')}/{day}.md"
    text = compose(header, "\n" + body)
    if before is not None and before.text == text:
        return None, Written(before.id, path, RECAP_OP, text=text, changed=False, damaged=log_index.damages())
    if before is not None and not force and not _written_by_us(before, events):
        raise Conflict(
            f"{path} has been edited since it was written, and a new version would lose that",
            hint="keep it as it is, or write it anew with --force",
        )
    document, warnings = checked(memory, path, text)
    edit = Edit(document.id, path, before.text if before else None, document.text)
    planned = Written(document.id, path, RECAP_OP, text=text, warnings=warnings, dry_run=True)
    return edit, planned._replace(damaged=log_index.damages())
