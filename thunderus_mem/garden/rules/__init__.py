"""The gardening rules, each a pure function from `GardenInput` and the configuration to steps.

`duplicates` (and similar), `names` (links, tags, numbers), `sizes`, `archive`, `recaps`. None does I/O.
"""
