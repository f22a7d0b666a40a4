"""What a writing verb answers."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from thunderus_mem.model.diagnostic import Diagnostic
    from thunderus_mem.model.document import Document
    from thunderus_mem.model.event import Event
    from thunderus_mem.transaction.writing import Writing


class Written(NamedTuple):
    """What a writing verb did: the document, the event that says so, and what to look at.

    ``op`` is the verb; ``changed`` is false when there was nothing to do; ``dry_run`` when nothing was
    written on purpose. ``published`` is false when the event is on disk but the file is not yet: the next
    command puts it there. ``damaged`` counts the lines of the log that could not be read, where the document
    was made from it. ``proposed`` names the proposal it became, where that waits for a decision: then
    nothing was changed.
    """

    id: str
    path: str
    op: str
    event_id: str = ""
    text: str = ""
    warnings: tuple[Diagnostic, ...] = ()
    recorded: tuple[str, ...] = ()
    dry_run: bool = False
    changed: bool = True
    published: bool = True
    damaged: int = 0
    proposed: str = ""


def done(
    transaction: Writing,
    document: Document,
    event: Event,
    *,
    op: str,
    warnings: tuple[Diagnostic, ...] = (),
    removed: bool = False,
) -> Written:
    """The answer of a verb whose transaction has ended; the text of a removed document is empty."""
    return Written(
        document.id,
        document.path,
        op,
        "" if transaction.proposed else event.id,
        "" if removed else document.text,
        warnings,
        transaction.recorded,
        changed=not transaction.proposed,
        published=not transaction.pending,
        proposed=transaction.proposed,
    )


def unchanged(document: Document, op: str) -> Written:
    """The answer of a verb that found nothing to do."""
    return Written(document.id, document.path, op, text=document.text, changed=False)
