"""A document's header, read and edited as text. No disk.

`read` finds and reads it, and gives `nodes`, values with their places and types. `write` says how values are
written, where they go, and on which ones YAML readers do not agree; `edit` changes one key or item and reads
the result again.
"""
