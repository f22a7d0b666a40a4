"""Texts that the log has no way back to: kept in this working tree alone, so that `undo` can bring them back.

One file an event, named after it: the texts before its changes, by their place in the event. Only what the
diffs of the log do not lead back to stands here (they were too long, or write line ends as LF), and never a
text that holds a secret. Old files go, and the oldest when there are too many; nothing else depends on them.
"""

from __future__ import annotations

import json
import os
import re
from contextlib import suppress
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Final

from thunderus_mem.model.errors import ThunderusError
from thunderus_mem.model.ids import encode_ulid
from thunderus_mem.model.strict_json import parse_object
from thunderus_mem.store import disk
from thunderus_mem.store.files import read_file, replace_file, sweep

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

__all__ = ["CAP", "DAYS", "KeptTexts"]

CAP: Final = 32 << 20
"""Bytes all kept texts may have together."""
DAYS: Final = 90
"""Days a kept text stays."""
_NAME: Final = re.compile(r"(evt_[0-9A-HJKMNP-TV-Z]{26})\.json", re.ASCII)


class KeptTexts:
    """The kept texts of one working tree, in the absolute ``folder``. Writing is for who holds the lock."""

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._last: tuple[str, dict[str, Any]] = ("", {})

    def _file(self, event_id: str) -> str | None:
        name = f"{event_id}.json"
        return os.path.join(self._folder, name) if _NAME.fullmatch(name) else None

    def keep(self, event_id: str, texts: Mapping[int, str], now: datetime) -> bool:
        """Keep texts by their place in the event; says whether they are kept. Never raises for the disk."""
        path = self._file(event_id)
        data = json.dumps({str(place): text for place, text in texts.items()}, ensure_ascii=False).encode()
        if path is None or len(data) > CAP:
            return False
        try:
            replace_file(path, data)
        except ThunderusError:
            return False
        self._clear(now)
        return True

    def read(self, event_id: str, place: int) -> str | None:
        """The text before the change at this place of the event; ``None`` when none was kept."""
        if self._last[0] != event_id:
            path = self._file(event_id)
            try:
                texts = parse_object(read_file(path, CAP), CAP) if path is not None else {}
            except (ThunderusError, ValueError):
                texts = {}
            self._last = (event_id, texts)
        text = self._last[1].get(str(place))
        return text if isinstance(text, str) else None

    def _clear(self, now: datetime) -> None:
        """Take away what is too old and, while there is too much, the oldest."""
        sweep(self._folder)
        eldest = max(int((now - timedelta(days=DAYS)).timestamp() * 1000), 0)
        first = f"evt_{encode_ulid(eldest, 0)}.json"
        room = CAP
        with suppress(OSError):
            for name in sorted(filter(_NAME.fullmatch, os.listdir(self._folder)), reverse=True):
                path = os.path.join(self._folder, name)
                room -= os.lstat(path).st_size
                if room < 0 or name < first:
                    disk.unlink(path)
