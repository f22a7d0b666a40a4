"""Write an import of any size as events of one patch, which the same command continues after an interruption.

All of them have the id of the import in ``origin.import``. While an import has not ended, the file
``local/<its id>`` contains its patch. Writes through a transaction.
"""

from __future__ import annotations

import os
from datetime import UTC, timedelta
from typing import TYPE_CHECKING

from thunderus_mem.document.document import content_hash
from thunderus_mem.document.timestamp import ulid_time
from thunderus_mem.errors import NotFound
from thunderus_mem.log.new_event import Ids, PatchLinks
from thunderus_mem.store.files import read_file, remove_file, replace_file

if TYPE_CHECKING:
    from collections.abc import Sequence

    from thunderus_mem.memory.journal import FileChange
    from thunderus_mem.memory.memory import Memory
    from thunderus_mem.memory.transaction import Transaction


class ImportRun:
    """The events of one import: ``ids`` are for the next event, ``events`` counts those written.

    ``patch`` is taken from an earlier run of the import if that did not end (``resumed``).
    """

    def __init__(self, memory: Memory, transaction: Transaction, import_id: str, why: str) -> None:
        self._memory = memory
        self._transaction = transaction
        self._links = PatchLinks(imported=import_id)
        self._running = os.path.join(memory.layout.local_dir, import_id)
        self._why = why
        unfinished = _unfinished(memory, self._running)
        self.resumed = bool(unfinished)
        first = transaction.ids()
        self.patch = unfinished or first.patch
        self.ids = Ids(first.event, self.patch)
        self.events = 0

    def write(self, changes: Sequence[FileChange]) -> bool:
        """Write an event; return whether its files are published: if not, repeating the command continues."""
        if not self.events:
            replace_file(self._running, self.patch.encode())
        self._transaction.commit("import", changes, why=self._why, ids=self.ids, links=self._links)
        self.events += 1
        self.ids = Ids(self._memory.new_id("evt"), self.patch)
        return self._transaction.outcome.published

    def end(self) -> None:
        """Note that the import has ended, unless files wait to be published."""
        if (self.events or self.resumed) and self._transaction.outcome.published:
            remove_file(self._running, expecting=content_hash(self.patch))


def _unfinished(memory: Memory, running: str) -> str:
    """The patch of an earlier run of the same import, which did not end; "" if none.

    Events of a patch are searched on the day its id was made and the next (`of_patches`): an older one gets
    no more events.
    """
    try:
        patch = read_file(running, 1 << 10).decode("ascii", "replace")
    except NotFound:
        return ""
    made = ulid_time(patch.removeprefix("patch_"))
    yesterday = (memory.now() - timedelta(days=1)).astimezone(UTC).date()
    return patch if made and made.date() >= yesterday else ""
