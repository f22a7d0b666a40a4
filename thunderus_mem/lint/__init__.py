"""What is wrong with documents and the store, and which memories the code no longer supports.

`rule` (what a rule is, the table of codes, one document under lint), `rules`, `engine` (runs them;
fingerprints, edits, pages) and `injection` (texts that steer an agent) touch no disk. `runner` (documents in
many processes, the store, a text before it is written), `lint` (the command and its baseline) and `check`
(the code) read it; only `lint --fix` and the baseline write.
"""
