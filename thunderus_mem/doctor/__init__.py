"""What `doctor` looks at around the documents, what `doctor --fix` does, and the upkeep of projections.

`context` (what checks ask, and what they answer), `checks` (one list of checks) and `upkeep` (status, rebuild
and proof of the index; the manifest) read the disk; `fix` moves files into the quarantine and writes them
anew, `upkeep` writes index and manifest. No document is changed here.
"""
