"""Problems in documents and the store, and documents that may be out of date with the code.

`rule` (the types, the table of codes), `rules` and `engine` (runs rules; fingerprints, edits, rule pages)
touch no disk. `context` is what a rule sees: it reads settings, log and history when a rule first asks.
`runner` (documents in parallel, the store), `draft` (a text before it is written), `strays` (files no command
reads), `lint` (the command and its baseline) and `check` (the code) read the disk; only `lint --fix` and the
baseline write, and `check` its cache of verdicts.
"""
