"""The gardening rules, each a pure function of `GardenInput` and the configuration that gives steps.

`duplicates` (and similar), `names` (links, tags, numbers), `sizes`, `archive`, `sessions` (recaps,
consolidate). None touches the disk.
"""
