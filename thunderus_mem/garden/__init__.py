"""The gardener: what can be tidied in a memory, planned, carried out or filed for review.

`plan` has the values (a plan, its steps, what rules look at), `planner` the table of rules and the plan they
make, `apply` shows it, carries it out and files it; `rules/` holds a module for each rule, `similar/` finds
documents that are alike. Only `planner` (index, log, a cache) and `apply` (documents, log) touch the disk.
"""
