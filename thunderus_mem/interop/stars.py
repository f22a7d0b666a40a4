"""Foreign headers whose values begin with an unquoted ``*``, such as ``globs: **/*.ts`` in rules for editors.

No YAML reader takes them: ``*`` would name an anchor. What the writer means is a text, so import puts it in
quotes; everything else stays as it is. Pure.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from thunderus_mem.model.document import read_document

if TYPE_CHECKING:
    from thunderus_mem.model.document import Reading

# As many lines of one header as this are mended; each costs a reading.
_MOST: Final = 50
_BEFORE = re.compile(r" {0,40}(?:- {1,8})?(?:([A-Za-z_][\w-]{0,60}): {1,40})?(?=\*)", re.ASCII)


def read_foreign(path: str, data: bytes) -> tuple[Reading, tuple[str, ...]]:
    """A file as `read_document` reads it, values that begin with ``*`` taken as texts; and a note for each.

    A header that has another fault as well is told of as it stands in the file.
    """
    first = reading = read_document(path, data)
    notes: list[str] = []
    while reading.header is None and reading.text is not None and len(notes) < _MOST:
        line = next((one.line for one in reading.problems), 0)
        mended = _quoted(reading.text, line) if line else None
        if mended is None:
            return first, ()
        notes.append(mended[1])
        reading = read_document(path, mended[0].encode("utf-8", "surrogatepass"))
    return (first, ()) if reading.header is None and notes else (reading, tuple(dict.fromkeys(notes)))


def _quoted(text: str, number: int) -> tuple[str, str] | None:
    """The text with the value in a line (from 1) in quotes, and a note; ``None`` when it begins otherwise."""
    lines = text.split("\n")
    line = lines[number - 1]
    before = _BEFORE.match(line)
    if before is None:
        return None
    value = line[before.end() :].partition(" #")[0].rstrip()
    written = '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
    lines[number - 1] = line[: before.end()] + written + line[before.end() + len(value) :]
    name = before[1] or "an item of a list"
    return "\n".join(lines), f"{name} is in quotes now: no YAML reader takes a bare *"
