"""Recaps: summaries of a day, a session, an episode or a longer period that cite their events.

`recap` is the command, including summarizer drafts; `scope` selects the period and collects its events;
`events` classifies them and finds commands and decisions; `documents` and `stories` say what happened to each
document, and why; `page` renders the page through `template`, and `rollup` that of a week or month. Only
`scope` (log, git, files), `recap` (runs the summarizer, writes the document) and `template` (the one shipped
with it) have side effects or do I/O.
"""
