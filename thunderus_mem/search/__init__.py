"""Search: `query` parses queries, `search` ranks what the index finds and returns hits, `snippets` cuts the
text they show.

Only `snippets` accesses the disk: it reads the files whose text it shows.
"""
