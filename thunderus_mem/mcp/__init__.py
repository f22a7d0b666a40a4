"""The MCP server: the memory as tools, resources and prompts for coding agents, over stdio.

`tools` and `resources` call the functions of the commands; `calls` opens the memory for one call, attributed
to its client. `profile` is the set of tools that a server offers; `profiles` has other sets. Only `server`
uses the SDK, which it imports on demand. None of them touches the disk itself.
"""
