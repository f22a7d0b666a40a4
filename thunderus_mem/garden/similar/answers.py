"""What was found about a whole memory, kept as long as none of its documents changes."""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING, Any, Final

from thunderus_mem.garden.similar.profile import key_of, measure

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from thunderus_mem.garden.similar.overlap import Gates
    from thunderus_mem.model.document import Document


_JUDGEMENT: Final = 2
"""Raised when the same documents would get another answer: other gates, labels, words or evidence."""


def memory_key(documents: Iterable[Document], gates: Gates) -> str:
    """What an answer about these documents, in whatever order, is kept by: their ids, paths and texts, and
    from where on they are alike."""
    known = sorted((document.id, document.path, key_of(document)) for document in documents)
    return sha256(
        repr((_JUDGEMENT, measure(), tuple(gates), known)).encode("utf-8", "surrogatepass")
    ).hexdigest()


def packed(rows: Sequence[tuple[Any, ...]]) -> bytes:
    """An answer as bytes."""
    import json

    return json.dumps(rows).encode()


def unpacked(data: bytes, names: frozenset[str]) -> list[list[Any]] | None:
    """The answer in some bytes; ``None`` when they hold none about documents of these ``names``."""
    import json

    try:
        rows = json.loads(data)
        if all(len(row) == 7 and {row[0], row[1]} <= names for row in rows):
            return list(rows)
    except (ValueError, TypeError, RecursionError):
        pass
    return None
