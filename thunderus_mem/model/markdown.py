"""Everything the program asks of a Markdown body: its headings, passages, references, paths and sentences.

The work is done in `outline` (the one scan of the lines), `references` and `sentences`; import from here.
"""

from __future__ import annotations

from thunderus_mem.model.inline import slug
from thunderus_mem.model.outline import Heading, Outline, Passage, Scan, headings, outline, passages, scan
from thunderus_mem.model.path_text import path_in
from thunderus_mem.model.references import Citation, Reference, cited_paths, paths_in_code, references
from thunderus_mem.model.sentences import plain_sentences

__all__ = [
    "Citation",
    "Heading",
    "Outline",
    "Passage",
    "Reference",
    "Scan",
    "cited_paths",
    "headings",
    "outline",
    "passages",
    "path_in",
    "paths_in_code",
    "plain_sentences",
    "references",
    "scan",
    "slug",
]
