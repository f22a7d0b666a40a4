"""Memories of shodh-cloudflare: pages of ``GET /api/memories``, saved as files, one or several in a row.

The worker has no metadata column and no export, so values without a field are lost.
"""

from __future__ import annotations

from typing import Final

from thunderus_mem.document.templates import SOURCE_TYPES, TYPES
from thunderus_mem.interop import values as by
from thunderus_mem.interop.streams import Pages
from thunderus_mem.interop.table import BODY, As, Field, FieldTable

_ZERO: Final = "the worker stores 0 as null"

TABLE: Final = FieldTable(
    name="shodh-cloudflare",
    fields=(
        Field("content", BODY, by.CONTENT, required=True),
        Field("content", "title", by.TITLE),
        Field("memory_type", "type", by.types(str, TYPES)),
        Field("memory_type", "kind", by.kinds(), otherwise=by.DEFAULT_KIND),
        Field("tags", "tags", by.JSON_TAGS, otherwise=by.DEFAULT_TAGS),
        Field("source_type", "source_type", by.enum(SOURCE_TYPES)),
        Field("credibility", "credibility", by.UNIT, note="the worker stores 0 as 1"),
        Field("emotion", "emotion", by.LABEL),
        Field("emotional_valence", "emotional_valence", by.BALANCE, note=_ZERO),
        Field("emotional_arousal", "emotional_arousal", by.UNIT, note=_ZERO),
        Field("quality_score", "quality_score", by.UNIT),
        Field("episode_id", "episode_id", by.LABEL),
        Field("sequence_number", "sequence_number", by.COUNT, note=_ZERO),
        Field("created_at", "created", by.SQL_TIME, required=True),
        Field("updated_at", "updated", by.SQL_TIME, otherwise=As("created")),
    ),
    identity="id",
    new_id=by.document_uuid,
    hash="content_hash",
    hash_of=by.raw_hash,
)
FILE: Final = Pages("memories")
