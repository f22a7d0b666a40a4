"""What happened, from the log and git: listed, explained, and taken back.

``log`` lists and checks events; ``why`` draws where a document comes from, ``blame`` says whose each line is;
``replay`` holds the log against the files; ``undo`` (and restore) takes
changes back: ``reverse`` says which, and how. Only ``undo`` writes.
"""
