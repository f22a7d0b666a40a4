"""The command `recap`: tells of a day, a session, an episode or a while, in a document of its own.

Reads the log, the documents, git and the template; writes one document through a transaction.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from thunderus_mem.errors import Conflict
from thunderus_mem.index.log import read
from thunderus_mem.lint.validate import validate
from thunderus_mem.log.event import private_to
from thunderus_mem.log.new_event import PatchLinks
from thunderus_mem.memory.journal import FileChange
from thunderus_mem.memory.locate import document_at, documents
from thunderus_mem.memory.transaction import Written, open_transaction, settle
from thunderus_mem.recap.activity import for_recap, happened
from thunderus_mem.recap.events import RECAP_OP, texts_by_us
from thunderus_mem.recap.page import recap_page
from thunderus_mem.recap.rollup import rollup_page
from thunderus_mem.recap.scope import Wanted, scope_of
from thunderus_mem.recap.summarizer import drafted

if TYPE_CHECKING:
    from thunderus_mem.document.document import Document
    from thunderus_mem.log.line import Event
    from thunderus_mem.memory.memory import Memory
    from thunderus_mem.recap.page import Page


def recap(
    memory: Memory,
    of: str | Wanted,
    *,
    force: bool = False,
    dry_run: bool = False,
    why: str = "",
    actor: str = "user",
    summarizer: str = "",
    timeout: float = 60.0,
) -> Written:
    """Write or renew the recap of ``of``: a day (``2026-01-21`` in UTC, ``today``, ``yesterday``) or what is
    `Wanted`.

    Nothing is written when nothing has been added since. ``summarizer`` is a command that gets the recap on
    its input and ``timeout`` seconds to answer with a summary, which is kept as a draft. What of the log can
    be read is told; ``damaged`` counts the rest. Raises `NotFound` when nothing happened, `Conflict` when a
    person has edited the recap, or when it was written from private events that are not here, unless
    ``force`` is set; `InvalidConfig` for a template that cannot be used.
    """
    wanted = Wanted("day", of) if isinstance(of, str) else of
    if not dry_run:
        settle(memory, "recap")
    memory.refresh()
    page = _page(memory, wanted)
    if summarizer:
        page = drafted(memory, page, summarizer, timeout)
    if dry_run:
        return _renewed(memory, page, force=force)[1]
    with open_transaction(memory, "recap") as transaction:
        if not summarizer:
            page = _page(memory, wanted)
        edit, written = _renewed(memory, page, force=force)
        if edit is None:
            return written
        said = why or f"recap of {page.header['id'].removeprefix('recap.')}"
        links = PatchLinks(private=page.private)
        transaction.commit(RECAP_OP, [edit], links=links, why=said, actor=actor)
        return written._replace(dry_run=False, **transaction.outcome._asdict())


def _page(memory: Memory, wanted: Wanted) -> Page:
    if wanted.kind in ("week", "month"):
        private = happened(memory).private_anywhere
        return rollup_page(wanted.kind, wanted.name, documents(memory), memory.config, private)
    scope, told = scope_of(memory, wanted)
    told = for_recap(memory, told, scope.since, scope.until)
    return recap_page(scope, told, documents(memory), memory.config)


def _renewed(memory: Memory, page: Page, *, force: bool) -> tuple[FileChange | None, Written]:
    """The edit that brings the recap up to date (``None`` when it is), and what to say of it."""
    doc_id, text = str(page.header["id"]), page.text
    log_index = memory.log_index()
    row = memory.index.get(doc_id)
    before = document_at(memory, row.path) if row is not None else None
    path = before.path if before else f"{memory.layout.folder_of('recap')}/{doc_id.removeprefix('recap.')}.md"
    if before is not None and before.text == text:
        return None, Written(before.id, path, RECAP_OP, text=text, changed=False, damaged=log_index.damages())
    if before is not None and not force:
        events = [logged.event for logged in read(memory.log, log_index.naming([doc_id]))]
        _see_that_nothing_is_lost(memory, before, events)
    document, warnings = validate(memory, path, text)
    edit = FileChange(document.id, path, before.text if before else None, document.text)
    planned = Written(document.id, path, RECAP_OP, text=text, warnings=warnings, dry_run=True)
    return edit, planned._replace(damaged=log_index.damages())


def _see_that_nothing_is_lost(memory: Memory, before: Document, events: list[Event]) -> None:
    """Raise `Conflict` when a new version would lose what a person wrote, or what only another tree knows."""
    if (before.id, before.hash) not in texts_by_us(events):
        raise Conflict(
            f"{before.path} has been edited since it was written, and a new version would lose that",
            hint="keep it as it is, or write it anew with --force",
        )
    private = {id for event in events for id in private_to(event)} & set(before.events)
    if private - memory.log_index().known(private):
        raise Conflict(
            f"{before.path} was written from events private to another working tree, and a new version would "
            "lose what they tell",
            hint="renew it there, or write it anew from what is here with --force",
        )
