"""Profiles: other sets of tools for the MCP server, each the contract of another memory server.

`memoryos` and `nova` each have a function `profile`, which returns a `ServerProfile`. Names, fields, limits
and errors of a contract are in the module of the same name in `interop`; none of them touches the disk.
"""
