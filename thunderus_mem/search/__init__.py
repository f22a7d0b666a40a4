"""Search: `query` reads people's words, `rank` orders what the index finds, `search` makes hits of it.

Only `search` touches the disk: it reads the files whose text it shows.
"""
