"""Recaps: what happened on a day, in a session or in a while, as a document. Pure."""
