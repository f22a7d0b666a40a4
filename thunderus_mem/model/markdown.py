"""Everything the program asks of a Markdown body: its headings, passages, references, paths and sentences.

The work is done in `outline` (the one scan of the lines), `references` and `sentences`; import from here.
"""

from __future__ import annotations

from thunderus_mem.model.inline import slug
from thunderus_mem.model.outline import Heading, Outline, Passage, headings, outline, passages
from thunderus_mem.model.path_text import path_in
from thunderus_mem.model.references import Citation, Reference, cited_paths, references
from thunderus_mem.model.sentences import plain_sentences

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
