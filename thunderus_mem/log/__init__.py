"""The log: what happened to the memory, one event a line, in a shard for each session; it only grows.

``line`` (an event and its bytes), ``event`` (what it says), ``new_event`` (making one), ``shard`` (a file of
lines as a value, and what is wrong with it). These touch no disk. ``reader`` reads all shards, ``append``
adds lines durably and repairs torn ends, ``sessions`` says which shard is written.
"""
