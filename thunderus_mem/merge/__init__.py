"""Merging changes of documents: frontmatter by key, bodies by line, conflict markers for the rest.

`documents` merges three texts of one document and is pure; `conflicts` finds conflicts in git's index and in
files, and computes the result for each document; `resolve` writes the results, the log and git's index, and
implements the merge driver.
"""
