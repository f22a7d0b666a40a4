"""Near-duplicate documents: `pairs` finds and labels candidates, `profile` computes the cached profile (and
the sentences) of a text, `compare` compares two texts, `words` has the English word tables. None does I/O;
the caller stores the profiles.
"""
