"""A document's header, read and edited as text. No disk.

`read` finds it and reads ordinary headers, `full` the others; both give `nodes`, values with their places and
types. `write` says how values are written, where they go, and on which ones YAML readers do not agree; `edit`
changes one key or item and reads the result again.
"""
