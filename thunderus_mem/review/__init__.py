"""Review: changes pending a decision.

``queue`` lists, shows and rebases proposals on the current documents; ``decisions`` approves, rejects and
expires them, as events of the log. ``memory.proposals`` reads and writes the files of proposals, and decides
which changes need review.
"""
