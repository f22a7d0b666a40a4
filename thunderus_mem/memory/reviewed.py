"""Who wrote the present title and body of a document, and whether a user has reviewed them.

Text by a user is reviewed, text by an agent only once a user has verified it since. Text by a tool, or in no
event, is reviewed once it is in HEAD, because its author is unknown. Personal notes, which are never
committed, always are. Read only; git is asked only about texts of tools or in no event.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from thunderus_mem.errors import ThunderusError
from thunderus_mem.startup import NamedTuple
from thunderus_mem.store.layout import CORE_LOCAL_FILE

if TYPE_CHECKING:
    from collections.abc import Iterable

    from thunderus_mem.index.log import TextEvent
    from thunderus_mem.memory.memory import Memory


class Author(NamedTuple):
    """Who wrote the title and body of a document: user, agent or tool, "" if no event says so; and whether a
    user reviewed them."""

    actor: str
    reviewed: bool


def authors(memory: Memory, documents: Iterable[tuple[str, str, str]]) -> dict[str, Author]:
    """Return the author of each document, given as id, path and `content_hash`."""
    asked = list(documents)
    if not asked:
        return {}
    log = memory.log_index()
    found = {id: _author(log.text_events(id), text_hash) for id, _, text_hash in asked}
    unknown = {id: path for id, path, _ in asked if not found[id].reviewed and found[id].actor != "agent"}
    own = {id for id, path in unknown.items() if path == CORE_LOCAL_FILE}
    known = own | _committed(memory, {id: path for id, path in unknown.items() if id not in own})
    return {id: one._replace(reviewed=one.reviewed or id in known) for id, one in found.items()}


def _author(events: Iterable[TextEvent], text_hash: str) -> Author:
    """The author of the text with this hash. Events, newest first, may also be about newer texts.

    A text that was there before, as after an undo, keeps its author: who restores it did not read it.
    """
    known: dict[str, Author] = {}
    now, author = "", Author("", reviewed=False)
    for event in reversed(list(events)):
        if event.after is not None:
            now = event.after
            written = Author(event.text_by, event.text_by == "user") if event.text_by else author
            author = known.get(now, written)
        elif event.text_by:
            author = author._replace(reviewed=True)
        known[now] = author
    return known.get(text_hash, Author("", reviewed=False))


def _committed(memory: Memory, paths: dict[str, str]) -> set[str]:
    """The ids of the documents whose present title and body are in HEAD."""
    if not paths or memory.git is None:
        return set()
    names = {id: f"HEAD:{memory.git.prefix}{path}" for id, path in paths.items()}
    texts = memory.git.blobs(list(names.values()))
    return {id for id, path in paths.items() if _is_same(memory, path, texts[names[id]])}


def _is_same(memory: Memory, path: str, committed: bytes | None) -> bool:
    from thunderus_mem.document.document import MAX_DOCUMENT, same_text
    from thunderus_mem.store.files import read_file

    try:
        now = read_file(os.path.join(memory.root, path), MAX_DOCUMENT)
    except ThunderusError:
        return False
    return committed is not None and same_text(_decoded(committed), _decoded(now))


def _decoded(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape").replace("\r\n", "\n")
