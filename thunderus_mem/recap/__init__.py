"""Recaps: what happened in a day, a session, an episode or a longer while, with the events that say so.

`recap` is the command, with a summarizer's draft; `scope` what a recap is of, and what happened then;
`events` sorts that, with the decisions and the commands found in it; `page` writes it down through
`template`, a week or a month of recaps as well. Only `scope` (log, git, files) and `recap` (runs the
summarizer, writes the document) touch more than values.
"""
