"""What happened, from the log and git: listed, explained, and taken back.

``log`` lists and checks events; ``why`` draws where a document comes from, ``blame`` says whose each line is
(``version_graph``, ``line_owners``, ``code_diff`` work it out); ``replay`` holds the log against the files;
``undo`` (and restore) takes changes back: ``undo_choice`` says which, ``reverse`` how. Only ``undo`` writes.
"""
