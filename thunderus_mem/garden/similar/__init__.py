"""Documents that nearly say the same: `pairs` finds those worth comparing and labels them, `profile` is what
is kept of each text (and its sentences), `compare` sets two texts against each other, `words` knows English.
None touches the disk; the caller keeps the profiles.
"""
