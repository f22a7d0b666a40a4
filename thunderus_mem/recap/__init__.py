"""Recaps: what happened in a day, a session, an episode or a longer while, with the events that say so.

`recap` is the command; `scope` what a recap is of; `activity` gathers what happened; `events` sorts it, with
`commands` and `decisions` found in it; `sections` and `page` write it down, `rollup` a week or a month of it,
`lines` and `template` as text; `summarizer` asks a command for a draft. Only `activity`, `scope` (log, git,
files), `recap` (writes the document) and `summarizer` (runs the command) touch the disk.
"""
