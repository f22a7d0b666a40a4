"""Problems in documents and the store, and documents that may be out of date with the code.

`rule` (the types, the table of codes, one document under lint), `rules` and `engine` (runs rules;
fingerprints, edits, rule pages) touch no disk. `runner` (documents in parallel, the
store, a text before it is written), `lint` (the command and its baseline) and `check` (the code) read the
disk; only `lint --fix` and the baseline write.
"""
