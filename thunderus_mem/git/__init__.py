"""Everything that is asked of git; a repository is never changed here but for its index, after a conflict.

`process` starts git, hardened; `repository` finds the working tree, reads files of the git folder, and says
what is in index, objects and settings; `status` reads ``git status``; `changes` compares and searches code;
`commits` and `history` read commits and versions of files; `objects` streams many texts; `conflicts` has
unmerged files, and writes temporary ones. An answer is one process unless it says otherwise.
"""
