"""What `doctor` looks at around the documents, what `doctor --fix` does, and the upkeep of projections.

`checks` (one list of checks, what they ask and what they answer) and `upkeep` (status and proof of the index,
the manifest, what the quarantine holds) read the disk; `fix` moves files into the quarantine and writes them
anew, `upkeep` writes the manifest. No document is changed here.
"""
