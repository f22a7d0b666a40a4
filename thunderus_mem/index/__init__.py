"""The index: a projection of documents and log in SQLite (FTS5), and the manifest, kept equal to the files.

`questions` says what may be asked; `sqlite_index` answers, `log` for events.
`refresh` makes index and manifest agree with the files: `scan` walks, `writer` writes the rows, `manifest` is
the inventory. `database` opens, seals and replaces the index file and is the door to sqlite3, `caches` keeps
verdicts and signatures. `questions` and `words` are pure; the rest touches the disk.
"""
