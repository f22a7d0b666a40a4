"""Repository memory: Markdown documents beside the code, found, explained and checked.

`memory` opens a store and holds its transactions; `document` is the text of a document, `safety` finds
secrets and prompt injection in it, `store` is the files, `log` the history, `index` what is derived from
them. `git` and `fingerprint` read code, `verdicts` compares it with the documents. `authoring`, `search`,
`lint`, `history`, `merge`, `review`, `recap`, `garden`, `interop`, `doctor`, `hooks` and `watch` are the
commands, called by `cli` and `mcp`; `__main__` is the program. `diagnostic` (findings), `errors` and
`startup` serve all packages. Importing this package loads none of them.
"""

from __future__ import annotations

__version__ = "0.1.0"
