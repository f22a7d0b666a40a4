"""The gardener: what can be tidied in a memory, planned, carried out or filed for review.

`plan` has the values (a plan, its steps, what rules look at); `apply` has the table of rules and the plan
they make, shows it, carries it out and files it; `rules/` holds the rules, `similar/` finds documents that
are alike. Only `apply` touches the disk (index, documents, log, queue, a cache).
"""
