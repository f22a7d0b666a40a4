"""Merging changes of documents: key by key in frontmatters, line by line in bodies, markers for the rest.

`documents` merges three texts of one document and is pure; `conflicts` finds what git left in conflict, from
its index and the files, and says what each document comes to; `resolve` writes that, the log and git's index,
and is what git may call as its merge driver.
"""
