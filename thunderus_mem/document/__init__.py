"""A document as a text: what it holds, what it points at, and pure work on texts. Only `schema` reads a file.

`document` is the one way from bytes to a value, over `frontmatter`; `markdown`, `references`, `statements`,
`anchors` and `suppressions` read bodies; `ids`, `ulid`, `timestamp` and `paths` know how names are written;
`schema`, `templates` and `adr_numbers` say what a document has to look like; `diff` and `conflict_markers`
are about changes, `secrets` and `unicode` about what must not be shown.
"""
