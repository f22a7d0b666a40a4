"""An open store, and the transactions that change it.

``memory`` opens the store; ``locate`` finds the document for an id, prefix or path; ``transaction`` is for
commands that write, based on ``journal`` (stage, publish, recover), ``hand_edits`` (changes made outside the
program), ``past_texts`` (earlier texts, texts kept for undo) and ``proposals`` (changes pending review). All
read the disk; ``journal``, ``proposals`` and ``past_texts`` write it.
"""
