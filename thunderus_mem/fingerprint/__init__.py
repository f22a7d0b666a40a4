"""Fingerprints of code: what formatting does not change, and meaning does.

`source` is a file of code with its definitions and fingerprints; `definitions` is the door to ast-grep and
finds what is defined; `walk` turns a tree into tokens by the rules of a language (`languages`: `python`,
`script`, `systems`, `others`). Nothing touches the disk; a doubtful text is parsed in a child process.
"""
