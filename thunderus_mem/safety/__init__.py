"""Secrets and prompt injection: find them in a text before it is written, logged or shown.

Secrets: `secrets` finds them, by the formats in `secret_rules` and `secret_tokens` and by the names before
them (`secret_mentions`, `secret_names`); `secret_values` tells secret values from others; `secret_signs`
rules out ordinary text at little cost; `redaction` masks them in output.

Prompt injection: `injection` finds it, in HTML comments and hidden elements itself, by the signs in
`injection_rules`, by words that add up to an order (`orders`), in text beside the prose that names an agent
(`asides`) or not (`apart`), in calls to an agent (`called`), and where text is encoded, out of sight or poses
as another speaker (`concealed`). `literals` finds many words at once, for both. Only `orders` and `asides`
read files, those shipped with this package.
"""
