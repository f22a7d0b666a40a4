"""Import from and export to other programs, one module for each foreign format.

Formats are listed in `formats`. Those of documents are tables: `table` converts by them, `values` single
values, and `streams` reads and writes files record by record: `jsonl`, `csv`, `mif`, `shodh`,
`shodh_cloudflare`, `mcp_memory_service` (its SQLite file through `foreign_database`), `nova`. Those of logs,
proposals and private records: `events`, `prov`, `thunderus_log` (with `thunderus_events`), `thunderus_queue`,
`memoryos_files` (with `memoryos`). `migrate` converts older stores. `transfer` imports records, `export`
exports them. `markdown` imports a folder of Markdown: `fields` converts a file, `posts` reads its
frontmatter, `decisions` decision records, `update` merges later changes; `lint.rules.links` checks links.
`batches` writes an import of any size as events of one patch.

`markdown`, `transfer`, `export`, `events`, `migrate`, `thunderus_queue` and `foreign_database` open files,
and all but `foreign_database` write: `export` one file, the others mostly through a transaction.
`thunderus_log`, `prov` and `memoryos_files` read and write the memory through other packages. The rest works
on streams and values it is given.
"""
