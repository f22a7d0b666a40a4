"""The gardening rules, each a pure function from `GardenInput` and the configuration to steps.

`duplicates` (and similar), `names` (links, tags, numbers), `sizes`, `archive`, `sessions` (recaps,
consolidate). None does I/O.
"""
