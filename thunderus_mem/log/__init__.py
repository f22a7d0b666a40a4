"""The log: what happened to the memory, one event per line, one shard per session; append-only.

`line` (encode and decode events), `event` (their contents; an undo names the events it reverts, and a redo is
the undo of an undo), `new_event` (create them), `actor` (whose they are), `imported` (those of other
programs), `records` (what users stored), `shard` (parse and check a file of lines) and `transitions` (texts
of a document from event to event) do not access the disk. `reader` reads all shards, `append` adds lines
durably and repairs torn ends, `sessions` chooses the shard to write. Each line contains the hash of the line
before it: `shard` checks this chain, `memory.transaction` writes it.
"""
