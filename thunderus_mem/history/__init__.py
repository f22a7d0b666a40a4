"""History from the log and git: list, explain, undo and redo changes.

`log` lists and checks events; `marks` flags events that cannot be relied on; `why` shows the provenance of a
document, ``blame`` the origin of each line; `replay` compares the log with the files; `undo` (also redo and
restore) reverts changes, `reverse` computes which and how. All read the disk, the index or git; only `undo`
writes.
"""
