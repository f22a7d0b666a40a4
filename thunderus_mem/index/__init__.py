"""The index: a projection of documents and log in SQLite (FTS5), and the manifest, kept equal to the files.

`questions` says what may be asked; `sqlite_index` answers, `log` for events, `corpus` for lint. `refresh`
makes index and manifest agree with the files: `scan` walks, `writer` and `rows` write, `unreadable` tells
what is no document. `file` opens, seals and replaces the index file, `database` is the door to sqlite3,
`caches` keeps verdicts and signatures. `questions`, `corpus`, `rows`, `unreadable` and `words` are pure; the
rest touches the disk.
"""
