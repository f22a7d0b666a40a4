"""The log: what happened to the memory, one event per line, one shard per session; append-only.

``line`` (encode and decode events), ``event`` (their contents), ``new_event`` (create them), ``shard`` (parse
and check a file of lines), ``transitions`` (texts of a document from event to event) do not access the disk.
``reader`` reads all shards, ``append`` adds lines durably and repairs torn ends, ``sessions`` chooses the
shard to write.
"""
