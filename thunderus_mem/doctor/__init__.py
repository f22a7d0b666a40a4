"""`doctor`, `doctor --fix`, and the maintenance of index and manifest.

`checks` (the list of checks) and `upkeep` (status and verification of the index, the manifest, the files in
quarantine) read the disk; `fix` moves files to quarantine and rewrites files of the store, `upkeep` writes
the manifest. No document is changed here.
"""
