"""Search: `query` parses queries, `search` ranks what the index finds and returns hits.

Only `search` accesses the disk: it reads the files whose text it shows.
"""
