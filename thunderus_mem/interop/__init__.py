"""What comes from other programs and goes to them, a module for each foreign format.

`markdown` imports a folder of Markdown (`fields` makes one file a document, and knows python-frontmatter;
`decisions` reads decision records); `events` takes events in and writes the log as JSON lines or PROV-JSON;
`thunderus` brings a store of an older or looser shape up to date. `markdown`, `events` and `thunderus` read
files and write through a transaction; the others are pure.
"""
