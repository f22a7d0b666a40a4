"""A store on disk: where everything is, its settings, and files that are read and written safely.

``layout`` (names, and which store), ``paths`` (which may be opened). ``config`` (settings), ``config_keys``
(their table), ``config_reader`` (their reader; the store's version). ``safe_open`` (no links), ``disk``
(operations), ``files`` (whole files), ``quarantine``, ``lock``. ``parallel`` (processes, threads). All touch
the disk but ``config`` and ``parallel``; ``disk`` alone changes it.
"""
