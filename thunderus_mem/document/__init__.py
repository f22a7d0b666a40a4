"""A document as text: its content, its references, and pure functions on texts.

`document` is the only way from bytes to a value, using `frontmatter`; `profile` is a document without its
text. `markdown`, `references`, `statements`, `anchors` and `state` (of a decision) parse bodies; `ids`,
`timestamp` and `paths` handle names and times; `schema` and `templates` define what a document must contain;
`diff` handles changes; `unicode` escapes invisible characters. Only `schema` reads files, those shipped with
this package.
"""
