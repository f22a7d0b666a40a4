"""The review queue: changes that wait for approval.

`queue` lists and shows proposals, and rebases them onto the current documents; `decisions` approves, rejects
and expires them, each as an event in the log. `memory.proposals` reads and writes their files, and decides
which changes need review.
"""
