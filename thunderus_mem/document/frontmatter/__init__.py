"""A document's header, read and edited as text. No disk access.

`read` finds and parses it into `nodes`, values with their positions and types. `write` formats values,
decides where they go, and finds values that YAML readers interpret differently; `edit` changes one key or
item and parses the result again.
"""
