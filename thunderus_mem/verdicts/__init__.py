"""Verdicts: does the code still hold what an anchor was made for? Writes nothing but its cache.

`verdict` has the values, `evaluate` judges one anchor (pure), `code` reads files, trees and their past,
`judge` judges many and keeps what it can; `lookup` (`for` and `coverage`) and `suggest` answer commands.
`code` and `judge` read the disk and git, and so do those that use them.
"""
