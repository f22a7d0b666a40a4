"""The unified memory schema of the SHODH family, version 1.0.0, as JSON.

A file holds one memory, a list of them, or an object with the list under ``memories``.
``shodh.schema.json``, made from this table by `make docs`, is the JSON Schema of one memory.
"""

from __future__ import annotations

from typing import Final

from thunderus_mem.document.templates import SOURCE_TYPES, TYPES
from thunderus_mem.interop import values as by
from thunderus_mem.interop.streams import JsonList
from thunderus_mem.interop.table import BODY, As, Field, FieldTable

TABLE: Final = FieldTable(
    name="shodh",
    fields=(
        Field("content", BODY, by.CONTENT, required=True),
        Field("content", "title", by.TITLE),
        Field("type", "type", by.types(str, TYPES)),
        Field("type", "kind", by.kinds(), otherwise=by.DEFAULT_KIND),
        Field("tags", "tags", by.TAGS, otherwise=by.DEFAULT_TAGS),
        Field("source_type", "source_type", by.enum(SOURCE_TYPES)),
        Field("credibility", "credibility", by.UNIT),
        Field("emotion", "emotion", by.LABEL),
        Field("emotional_valence", "emotional_valence", by.BALANCE),
        Field("emotional_arousal", "emotional_arousal", by.UNIT),
        Field("episode_id", "episode_id", by.LABEL),
        Field("sequence_number", "sequence_number", by.COUNT),
        Field("created_at", "created", by.TIME, required=True),
        Field("updated_at", "updated", by.TIME, otherwise=As("created")),
        Field("quality_score", "quality_score", by.UNIT),
        Field("embedding", "", by.DROPPED, note="compute it again in the target"),
    ),
    identity="id",
    new_id=by.document_uuid,
    hash="content_hash",
    hash_of=by.raw_hash,
    metadata="metadata",
    usage=("access_count", "last_accessed_at"),
)
FILE: Final = JsonList("memories")
