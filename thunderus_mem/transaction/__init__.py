"""One writing command: heal, refresh, record what people edited, then commit changes one event at a time.

The order is the law (reads as: nothing acknowledged is lost):

1. before the lock, one question to git: where HEAD is, which documents it sees changed;
2. under the lock, finish or undo what a killed command left, and look at the reflog again;
3. record hand edits that no event and no commit explains;
4. each change: decide, stage, append the event (that is the commit point), publish the file;
5. refresh, so that the next reader finds everything in place.

The lock is never held over git, an editor or a prompt.
"""
