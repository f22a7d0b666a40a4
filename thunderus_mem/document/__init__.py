"""A document as a text: what it holds, what it points at, and pure work on texts. Only `schema` reads a file.

`document` is the one way from bytes to a value, over `frontmatter`; `markdown`, `references`, `statements`
and `anchors` read bodies; `ids`, `timestamp` and `paths` know how names and times are written; `schema` and
`templates` say what a document has to look like; `diff` is about changes, `secrets` and `unicode` about
what must not be shown.
"""
