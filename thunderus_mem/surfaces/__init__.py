"""Parse, call a verb, print. No rule lives here."""
