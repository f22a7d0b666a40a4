"""The index: documents and log in SQLite (FTS5), and the manifest; both are derived from the files.

`questions` is the interface; `sqlite_index` implements it, `log` for events. `refresh` updates index and
manifest: `scan` walks the folders, `writer` writes the rows, `manifest` the list of documents. `database`
opens, seals and replaces the index file and is the only user of sqlite3; `caches` stores verdicts and
signatures. `questions` and `words` do not access the disk.
"""
