"""All access to git. A repository is never changed here, except its index after a conflict.

`repository` runs git, hardened, finds the working tree, and reads its files, index, objects and settings;
`changes` compares and searches code, and lists files in conflict; `commits` and `history` read commits,
versions of files and old texts. Each function runs one process unless it says otherwise.
"""
