"""Search: from a query to the passages that answer it.

`query` parses queries, `search` ranks what the index finds and returns hits, `snippets` cuts the text they
show. `context` collects the passages that help with a task; `frame` quotes them, so that none can be taken
for a line of the program. `records` finds what a user stored. `snippets` reads the files whose text is shown;
the index is read by `search`, `context` and `records`. Nothing is written, except that `context` counts reads
(`memory.usage`).
"""
