"""Verdicts: is the anchored code still what was verified? Writes only its cache.

`verdict` has the values, `evaluate` judges one anchor (pure), `code` reads files, trees and their history,
`judge` judges many anchors and caches the results, `change` judges those that a diff affects; `lookup` (`for`
and `coverage`) and `suggest` serve commands. `code` and `judge` read the disk and git, and so does everything
that uses them.
"""
