"""A document as text: its content, its references, and pure functions on texts. Only `schema` reads a file.

`document` is the only way from bytes to a value, using `frontmatter`; `profile` is a document without its
text; `markdown`, `references`, `statements` and `anchors` parse bodies; `ids`, `timestamp` and `paths` handle
names and times; `schema` and `templates` define what a document must contain; `diff` handles changes,
`secrets` and `unicode` what must not be shown, `injection` what must not be obeyed.
"""
