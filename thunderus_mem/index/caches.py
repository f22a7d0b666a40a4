"""The cache of verdicts.

``verdicts.json`` in ``indexes/`` can be deleted at any time. If it cannot be written, or two processes write
it at once, only time is lost.
"""

from __future__ import annotations

import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

from thunderus_mem.errors import ThunderusError
from thunderus_mem.index.scan import is_racy
from thunderus_mem.store.files import read_file, replace_file

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from thunderus_mem.index.scan import Stamp

_MOST_VERDICTS: Final = 100_000
_LIMIT: Final = 64 << 20


class VerdictCache:
    """A cache of verdicts by anchor: those on disk, and those learned in this command.

    A verdict is stored with the stamps of the files it depends on and used only while they are unchanged; one
    that depends on the whole tree is not stored. ``measure`` is the version of the rules.
    """

    def __init__(self, path: str, measure: str) -> None:
        self._path = path
        self._measure = measure
        self._known: dict[str, Any] | None = None
        self._learned: dict[str, Any] = {}
        self._now = time.time_ns()

    def _entries(self) -> dict[str, Any]:
        if self._known is None:
            self._known = self._read()
        return self._known

    def _read(self) -> dict[str, Any]:
        import json

        try:
            found = json.loads(read_file(self._path, _LIMIT))
        except (ThunderusError, ValueError, RecursionError):
            return {}
        if not isinstance(found, dict) or found.get("measure") != self._measure:
            return {}
        entries = found.get("verdicts")
        return entries if isinstance(entries, dict) else {}

    def recall(self, key: str, stamp_of: Callable[[str], Stamp | None]) -> Sequence[Any] | None:
        """Return the values of a key if all files they depend on still have their stamps, else ``None``."""
        kept = self._entries().get(key)
        try:
            files, values = kept  # type: ignore[misc]
            for path, *stamp in files:
                now = stamp_of(path)
                if list(now or ()) != stamp:
                    return None
        except (TypeError, ValueError):
            return None
        return values if isinstance(values, list) else None

    def learn(
        self, key: str, files: Sequence[str], stamps: Sequence[Stamp | None], values: list[Any]
    ) -> None:
        """Store values that depend on these files; the stamps were taken before reading, ``None`` if missing.

        If a file changed just now, its stamp may not show the next change: nothing is stored.
        """
        for stamp in stamps:
            if stamp is not None and is_racy(stamp[1], stamp[2], self._now):
                return
        self._learned[key] = [
            [[path, *(stamp or ())] for path, stamp in zip(files, stamps, strict=True)],
            values,
        ]

    def save(self) -> None:
        """Write learned values to the file, if there are any."""
        if not self._learned:
            return
        import json

        entries = {**self._read(), **self._learned}
        while len(entries) > _MOST_VERDICTS:
            del entries[next(iter(entries))]
        text = json.dumps({"measure": self._measure, "verdicts": entries}, separators=(",", ":"))
        self._learned = {}
        with suppress(ThunderusError):
            replace_file(self._path, text.encode("utf-8", "surrogatepass"), durable=False)
