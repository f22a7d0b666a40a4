"""What `doctor` looks at around the documents, what `doctor --fix` does, and the upkeep of projections.

`context` (what checks ask, and what they answer; status, rebuild and proof of the index; the manifest) and
`checks` (one list of checks) read the disk; `fix` moves files into the quarantine and writes them anew,
`context` writes index and manifest. No document is changed here.
"""
