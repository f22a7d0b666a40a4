"""The gardening rules, each a pure function from `GardenInput` and the configuration to steps.

`duplicates` and `similar` compare documents (`origins` decides which); `names` repairs links, tags and
numbers; `sizes` splits, `archive` archives, `recaps` writes what is missing. None does I/O.
"""
