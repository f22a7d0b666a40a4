"""Search: `query` reads people's words, `search` ranks what the index finds and makes hits of it.

Only `search` touches the disk: it reads the files whose text it shows.
"""
