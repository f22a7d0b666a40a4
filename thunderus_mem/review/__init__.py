"""Review: changes that wait for a decision.

``queue`` lists, shows and rebases proposals: it says what one would do to the documents as they are now;
``decisions`` approves, rejects and expires, as events of the log. The files of proposals are read and
written by ``memory.proposals``, which also says what needs review.
"""
