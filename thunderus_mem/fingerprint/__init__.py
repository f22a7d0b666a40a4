"""Fingerprints of code: hashes that change with the meaning of code, but not with its formatting.

`source` is a file of code with its definitions and fingerprints; `selectors` choose among definitions of one
name. `definitions` wraps ast-grep and finds definitions; `walk` converts a tree into tokens by the rules of a
language (`languages`: `python`, `script`, `systems`, `others`, and `data` for data and markup);
`plain` handles files without a grammar. No disk access; a suspicious text is parsed in a child process.
"""
