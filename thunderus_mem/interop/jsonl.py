"""Documents as JSON Lines, with the names of the frontmatter; also the table of `csv`."""

from __future__ import annotations

from typing import Final

from thunderus_mem.document.document import KINDS
from thunderus_mem.interop import values as by
from thunderus_mem.interop.streams import Lines
from thunderus_mem.interop.table import BODY, As, Field, FieldTable

_KIND: Final = by.Conversion(
    "kind", {"enum": [*KINDS, None]}, lambda value: value if value in KINDS else by.DEFAULT_KIND, str
)
_LABELS: Final = (
    *("author", "type", "source_type", "source", "agent", "run_id", "category", "symbol", "timeframe"),
    *("market", "emotion", "episode_id"),
)


def flat_table(name: str) -> FieldTable:
    """The table of a format that has our own names for the values of a document."""
    return FieldTable(
        name=name,
        fields=(
            Field("title", "title", by.LABEL, note="the first heading or sentence if it is missing"),
            Field("kind", "kind", _KIND, otherwise=by.DEFAULT_KIND),
            Field("tags", "tags", by.COMMA_TAGS, otherwise=by.DEFAULT_TAGS),
            Field("created", "created", by.TIME, note="the time of the import if it is missing"),
            Field("updated", "updated", by.TIME, otherwise=As("created")),
            *(Field(key, key, by.LABEL) for key in _LABELS),
            Field("credibility", "credibility", by.UNIT),
            Field("quality_score", "quality_score", by.UNIT),
            Field("emotional_valence", "emotional_valence", by.BALANCE),
            Field("emotional_arousal", "emotional_arousal", by.UNIT),
            Field("sequence_number", "sequence_number", by.COUNT),
            Field("text", BODY, by.CONTENT, required=True),
            Field("text", "title", by.TITLE),
        ),
        identity="id",
        new_id=lambda given, text: given or by.raw_hash(text)[:16],
        metadata="metadata",
    )


TABLE: Final = flat_table("jsonl")
FILE: Final = Lines()
