"""Import from and export to other programs, one module for each foreign format.

`markdown` imports a folder of Markdown (`fields` converts one file, with python-frontmatter; `decisions`
reads decision records; `update` merges a file that was imported before); `events` adds events and exports the
log as JSON Lines or PROV-JSON; `thunderus` migrates older stores. `markdown`, `events` and `thunderus` read
files and write through a transaction; the others are pure.
"""
