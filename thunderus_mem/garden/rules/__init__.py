"""The gardening rules, each a pure function of `GardenInput` and the configuration that gives steps:
`duplicates`, `similar`, `links`, `tags` (and numbers), `sizes`, `recaps`, `archive`, `consolidate`. None
touches the disk.
"""
