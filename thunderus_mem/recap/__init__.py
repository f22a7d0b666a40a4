"""Recaps: what happened in a day, a session, an episode or a longer while, with the events that say so.

`recap` is the command; `scope` what a recap is of; `activity` gathers what happened; `events` sorts it, with
the `commands` and `decisions` found in it; `page` writes it down through `template`, `rollup` a week or a
month of recaps; `summarizer` asks a command for a draft. Only `activity` and `scope` (log, git, files),
`recap` (writes the document) and `summarizer` (runs the command) touch more than values.
"""
