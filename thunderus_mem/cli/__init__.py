"""The command line: parse, call one function of another package, print what it gives.

`app` (the options of the program, commands loaded when asked) stands on `table`; its `run` is where every
exception ends and an exit code begins. `commands` has a module for each family of commands, `params` the
options they share, `input` what options mean, the editor and fzf. `console` prints: values through `output`
(``--json`` and ``--plain``), text made with `text` and `drawing`, findings through `report`.
`complete` answers shells. Only `app` (crash reports), `complete`, `console`, `input` and `report` (with
``--output``) touch terminal, programs or files.
"""
