"""The command line: parse arguments, call one function of another package, print its result.

`app` defines the global options, loads the commands listed in `table` on demand, and turns every exception
into an exit code. Commands declare their parameters with `options`; `params` has those that several commands
share. `quick` parses common command lines without Typer, `group` all others with it. `commands` has one
module per family of commands. `input` parses option values and runs the editor and fzf. `console` prints
values as JSON (`output`), text (`text`, `drawing`) and findings (`report`). `complete` implements shell
completion. Only `app` (crash reports), `complete`, `console`, `input` and `report` (with ``--output``) use
the terminal, other programs or files.
"""
