"""A document as text: its content, its references, and pure functions on texts.

`document` is the only way from bytes to a value, using `frontmatter`; `profile` is a document without its
text. `markdown`, `references`, `statements`, `anchors` and `state` (of a decision) parse bodies; `ids`,
`timestamp` and `paths` handle names and times; `schema` and `templates` define what a document must contain;
`diff` handles changes. `secrets` finds secrets, with `secret_signs`, `secret_rules`, `secret_tokens`,
`secret_mentions`, `secret_names` and `secret_values`; `redaction` hides them, `unicode` escapes invisible
characters. `injection` finds what must not be obeyed, with `injection_rules`, `orders`, `apart`, `asides`,
`called` and `concealed`; `literals` speeds up both. Only `schema`, `orders` and `asides` read files, those
shipped with this package.
"""
