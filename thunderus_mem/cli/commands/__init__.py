"""The commands, one module per family: their options, one call, and the text output of its value.

Documents: `read`, `write`, `search`, `context`, `tag`, `code` (anchors and verdicts). Care: `lint`, `garden`
(and recaps), `review`. History: `log`, `undo` (and merges). The store: `store`, `exchange` (import, export),
`mcp`. ``cli/table.py`` maps commands to modules. A module is imported only when one of its commands is used
(to run it, for its help, or to complete its options), so its imports are at the top; `search`, whose start-up
time matters most, imports the rest where it is needed.
"""
