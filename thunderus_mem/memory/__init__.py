"""An open store and the one way in which it changes.

``memory`` opens the store; ``locate`` finds the document that a person means; ``transaction`` is what writing
commands use, on top of ``journal`` (stage, publish, recover), ``hand_edits`` (what people changed outside the
tool), ``past_texts`` (texts of earlier versions, texts kept for undo) and ``proposals`` (files that wait for
a decision). All of them read the disk; journal, proposals and past_texts write it.
"""
