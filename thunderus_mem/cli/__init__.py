"""The command line: parse arguments, call one function of another package, print its result.

`app` defines the global options and loads commands listed in `table` on demand; its `run` turns every
exception into an exit code. `options` is how commands declare their parameters, those they share are in
`params`; `quick` parses usual command lines without Typer, `group` all others. `commands` has one module per
family of commands. `input` parses option values and runs the editor and fzf. `console` prints: values through
`output` (``--json``), text made with `text` and `drawing`, findings through `report`. `complete` answers
shells. Only `app` (crash reports), `complete`, `console`, `input` and `report` (with ``--output``) use the
terminal, other programs or files.
"""
