"""Everything that is asked of git; a repository is never changed here but for its index, after a conflict.

`repository` starts git, hardened, finds the working tree, reads files of the git folder, and says what is in
working tree, index, objects and settings; `changes` compares and searches code, and has the files that a
merge left in conflict; `commits` and `history` read commits, versions of files and old texts. An answer is
one process unless it says otherwise.
"""
