"""The gardener: plan cleanup of a memory, and apply the steps or propose them for review.

`plan` defines the values (a plan, its steps, the input of rules); `apply` has the table of rules, and makes,
shows, applies and proposes a plan; `rules` contains the rules. Only `apply` does I/O (index, documents, log,
queue).
"""
