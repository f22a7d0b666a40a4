"""A store on disk: its layout, its configuration, and safe reading and writing of files.

`layout` (names; finding the store), `paths` (which paths may be opened), `config` (settings), `config_keys`
(their table), `config_reader` (their reader; the store's version), `config_writer` (sets one), `safe_open`
(no symbolic links), `disk` (operations), `files` (whole files), `folders` (which may be walked),
`quarantine`, `lock`, `parallel` (processes, threads). All but `config`, `config_keys` and `parallel` access
the disk; only `disk` changes it, besides the files of `lock`.
"""
