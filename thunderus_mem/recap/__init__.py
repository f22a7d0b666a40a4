"""Recaps: summaries of a day, a session, an episode or a longer period that cite their events.

`recap` implements the command, including drafts by a summarizer; `scope` selects the period and collects its
events; `events` classifies them and extracts commands and decisions; `documents` and `stories` describe what
happened to each document, and why; `page` renders the recap with `template`, `rollup` that of a week or
month. Only `scope` (reads log, git and files), `recap` (runs the summarizer, writes the document) and
`template` (reads the shipped template) do I/O.
"""
