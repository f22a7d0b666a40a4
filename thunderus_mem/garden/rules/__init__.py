"""The gardening rules, each a pure function of `GardenInput` and the configuration that gives steps.

A module for each rule: `duplicates`, `similar`, `links`, `tags` (and numbers), `sizes`, `archive`; `sessions`
has two, `recaps` and `consolidate`. None touches the disk.
"""
