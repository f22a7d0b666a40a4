"""The verb `search`, alone in its module: what it loads is felt at every search.

For the same reason values on its way are named tuples: making a class of them costs a fifth of a dataclass.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final, NamedTuple

from thunderus_mem.model.query import parse_query
from thunderus_mem.recall.search import Hit
from thunderus_mem.recall.search import search as ranked
from thunderus_mem.recall.snippet import Outdated
from thunderus_mem.verbs.code_statuses import code_statuses

if TYPE_CHECKING:
    from thunderus_mem.memory import Memory
    from thunderus_mem.projection.index import Index


_NOT_ASKED: Final = "The archive was not asked; --archived looks there as well."


class SearchResult(NamedTuple):
    """The passages found for a query, best first; ``notes`` say what was left out of the query.

    ``generation`` names the documents that were asked: it follows from their paths and texts.
    """

    query: str
    hits: tuple[Hit, ...]
    notes: tuple[str, ...]
    total_documents: int
    generation: str


def search(
    memory: Memory,
    text: str,
    *,
    limit: int | None = None,
    explain: bool = False,
    unfinished: bool = False,
    archived: bool = False,
) -> SearchResult:
    """Find passages in people's words. No hit is an answer, not an error.

    With ``unfinished`` the last word is still being typed. Documents in the archive are asked only with
    ``archived``.
    """
    query = parse_query(text, unfinished=unfinished)
    most = limit or memory.config.search_limit

    def answer(index: Index, *, whole: bool) -> SearchResult:
        hits = ranked(
            index,
            query,
            root=memory.root,
            limit=most,
            explain=explain,
            whole=whole,
            judge=partial(code_statuses, memory),
            archived=archived,
        )
        aside = 0 if archived else index.count_archived()
        notes = (*query.notes, _NOT_ASKED) if aside and not hits else query.notes
        return SearchResult(text, tuple(hits), notes, index.count() - aside, index.generation())

    memory.refresh()
    try:
        return memory.ask(lambda index: answer(index, whole=True))
    except Outdated:
        memory.refresh()
        return memory.ask(lambda index: answer(index, whole=False))
