"""The commands that create, change and show documents, one function for each.

`init` creates a store; `add`, `edit` (also remove, link, supersede, archive, note, record) and `rename` write
documents; `anchor` anchors documents to code and verifies them; `show` reads: show, list, status. `init` is
also where an import begins: `sources` finds Markdown worth importing, in folders that it only reads.
Documents are written through `memory.transaction`; `init` writes the other files of the store itself.
"""
