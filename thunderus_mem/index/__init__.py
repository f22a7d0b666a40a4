"""The index: documents and log in SQLite (FTS5), and the manifest; both are derived from the files.

`questions` is the interface; `sqlite_index` implements it, `log` for events, `records` for what users stored.
`refresh` updates index and manifest: `scan` walks the folders, `writer` writes the rows (those of events
are made by `log_rows`), `manifest` the list of documents; `unreadable` has the findings for files that
commands do not open. `database` opens, seals and replaces the index file; no other module opens SQLite,
except `interop.foreign_database` for files of other programs. `caches` stores verdicts. `known` keeps the
names that an import or export knows in a temporary file. `questions`, `words`, `unreadable` and `log_rows`
do not access the disk.
"""
