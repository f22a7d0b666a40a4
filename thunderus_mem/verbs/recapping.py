"""The verb `recap`: tells of a day, a session, an episode or a while, in a document of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from thunderus_mem.garden.history import private_anywhere
from thunderus_mem.garden.recaps.day import RECAP_OP
from thunderus_mem.garden.recaps.page import Page, RecapMaterial, recap_page
from thunderus_mem.garden.recaps.rollup import rollup_page
from thunderus_mem.model.document import MAX_DOCUMENT, Document
from thunderus_mem.model.errors import Conflict, InvalidConfig
from thunderus_mem.model.event import changes_of, private_to
from thunderus_mem.projection.log_index import read
from thunderus_mem.store.edits import Edit
from thunderus_mem.store.files import read_below
from thunderus_mem.store.paths import safe_relative
from thunderus_mem.transaction.opening import settle
from thunderus_mem.verbs.checking import checked
from thunderus_mem.verbs.documents import document_at, documents
from thunderus_mem.verbs.happenings import commits_within, happened, reading_here
from thunderus_mem.verbs.recap_scopes import Wanted, scope_of
from thunderus_mem.verbs.written import Written

if TYPE_CHECKING:
    from collections.abc import Iterable

    from thunderus_mem.memory import Memory
    from thunderus_mem.model.event import Event
    from thunderus_mem.transaction.writing import Writing

__all__ = ["Wanted", "recap", "template_of"]


def template_of(memory: Memory) -> str:
    """The text of the configured template; "" for the built-in one. Raises as reading a file does, and
    `InvalidConfig` for what is no text."""
    if not memory.config.recap_template:
        return ""
    path = safe_relative(memory.config.recap_template)
    data = read_below(memory.root, path, MAX_DOCUMENT)
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise InvalidConfig(f"{path}, line {line}: this is not UTF-8", hint="save it as UTF-8") from error


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
        from thunderus_mem.verbs.summarizing import drafted

        page = drafted(memory, page, summarizer, timeout)
    if dry_run:
        return _renewed(memory, page, force=force)[1]
    with memory.writing("recap") as transaction:
        if not summarizer:
            page = _page(memory, wanted)
        edit, written = _renewed(memory, page, force=force)
        if edit is None:
            return written
        said = why or f"recap of {page.header['id'].removeprefix('recap.')}"
        return _commit(transaction, edit, written, page, why=said, actor=actor)


def _page(memory: Memory, wanted: Wanted) -> Page:
    if wanted.kind in ("week", "month"):
        private = private_anywhere(happened(memory))
        return rollup_page(wanted.kind, wanted.name, documents(memory), memory.config, private)
    scope, found = scope_of(memory, wanted)
    made = commits_within(memory, scope.since, scope.until)
    material = RecapMaterial(
        found.events,
        documents(memory),
        made.commits,
        found.private,
        template_of(memory),
        memory.config.recap_template,
        reading_here(memory),
        made.touched,
    )
    return recap_page(scope, material, memory.config)


def _commit(
    transaction: Writing, edit: Edit, planned: Written, page: Page, *, why: str, actor: str
) -> Written:
    event = transaction.commit(RECAP_OP, [edit], private=page.private, why=why, actor=actor)
    return planned._replace(
        event_id=event.id,
        recorded=transaction.recorded,
        published=not transaction.pending,
        dry_run=False,
    )


def _written_by_us(document: Document, events: Iterable[Event]) -> bool:
    return (document.id, document.hash) in texts_by_us(events)


def _renewed(memory: Memory, page: Page, *, force: bool) -> tuple[Edit | None, Written]:
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
    document, warnings = checked(memory, path, text)
    edit = Edit(document.id, path, before.text if before else None, document.text)
    planned = Written(document.id, path, RECAP_OP, text=text, warnings=warnings, dry_run=True)
    return edit, planned._replace(damaged=log_index.damages())


def _see_that_nothing_is_lost(memory: Memory, before: Document, events: list[Event]) -> None:
    """Raise `Conflict` when a new version would lose what a person wrote, or what only another tree knows."""
    if not _written_by_us(before, events):
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
