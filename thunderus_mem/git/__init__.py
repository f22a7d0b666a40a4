"""Everything that is asked of git; a repository is never changed here but for its index, after a conflict.

`repository` starts git, hardened, finds the working tree, reads files of the git folder, and says what is in
working tree, index, objects and settings; `changes` compares and searches code; `commits` and `history` read
commits, versions of files and old texts; `conflicts` has unmerged files, and writes temporary ones. An answer
is one process unless it says otherwise.
"""
