"""Secrets and prompt injection: find them in a text before it is written, logged or shown.

Secrets: `secrets` finds them, by the formats in `secret_rules` and `secret_tokens` and by the names before
them (`secret_mentions`, `secret_names`); `secret_values` tells secret values from others; `secret_signs`
rules out ordinary text at little cost; `redaction` removes them from output. Prompt injection: `injection`
finds it, by the signs in `injection_rules`, by words that add up to an order (`orders`), in text beside the
prose that names an agent (`asides`) or not (`apart`), in calls to an agent (`called`) and in text that people
do not see (`concealed`). `literals` finds many words at once, for both. Only `orders` and `asides` read
files, those shipped with this package.
"""
