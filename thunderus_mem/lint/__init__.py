"""Rules: one function each, in a tuple; the docstring is the manual page."""
