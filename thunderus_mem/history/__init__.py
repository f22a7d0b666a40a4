"""History from the log and git: list, explain and undo changes.

``log`` lists and checks events; ``why`` shows the provenance of a document, ``blame`` the origin of each
line; ``replay`` compares the log with the files; ``undo`` (and restore) reverts changes, ``reverse`` computes
which and how. Only ``undo`` writes.
"""
