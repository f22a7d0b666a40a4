"""Everything the program asks of a Markdown body: its headings, passages, references, paths and sentences.

The work is done in `outline` (one scan of the lines) and `references`; import from here.
"""

from __future__ import annotations

from thunderus_mem.model.outline import Heading, Outline, Passage, headings, outline, passages, slug
from thunderus_mem.model.references import (
    Citation,
    Reference,
    cited_paths,
    path_in,
    plain_sentences,
    references,
)

__all__ = [
    "Citation",
    "Heading",
    "Outline",
    "Passage",
    "Reference",
    "cited_paths",
    "headings",
    "outline",
    "passages",
    "path_in",
    "plain_sentences",
    "references",
    "slug",
]
