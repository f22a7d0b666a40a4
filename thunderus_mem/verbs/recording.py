"""The verb `record`: log what people edited by hand now, without waiting for the next command that writes."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from thunderus_mem.memory import Memory


class Recorded(NamedTuple):
    """The documents whose edits were recorded, by id, or by path where a file has none."""

    recorded: tuple[str, ...]


def record(memory: Memory, *, accept_loss: bool = False, why: str = "") -> Recorded:
    """Log every edit made by hand that neither an event nor a commit explains; ``why`` is their reason.

    Raises `Refused` when more documents are gone than anybody takes away by hand, unless ``accept_loss``.
    """
    with memory.writing("record", accept_loss=accept_loss, edited_for=why) as transaction:
        return Recorded(transaction.recorded)
