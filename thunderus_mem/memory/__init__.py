"""An open store, and the transactions that change it.

`memory` opens the store; `locate` finds the document for an id, prefix or path; `transaction` is for commands
that write, based on `journal` (stage, publish, recover), `hand_edits` (changes made outside the program),
`past_texts` (present and earlier texts, texts kept for undo) and `proposals` (changes pending review).
`reviewed` says whether a user has reviewed a text; `usage` counts reads; `records` are the private records of
one user. All read the disk; `journal`, `proposals`, `past_texts`, `usage` and `records` write it.
"""
