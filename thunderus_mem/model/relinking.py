"""References of a body led elsewhere, and what tells a wiki link from other text in brackets. Pure."""

from __future__ import annotations

import posixpath
import re
from typing import TYPE_CHECKING, Final
from urllib.parse import quote

if TYPE_CHECKING:
    from collections.abc import Iterable

    from thunderus_mem.model.references import Reference

__all__ = ["is_bracketed", "link_to", "may_be_name", "relinked", "wiki_to"]

_NO_NAME: Final = re.compile(r"""[$"'=<>{}();:&!*,]|^-|^\d+$|^\s|\s$""")
# "[[text]](address)" is a link whose text stands in brackets, no wiki link.
_BRACKETED: Final = re.compile(r"\[\[[^\[\]]*\]\][(\[:]")
_PLAIN: Final = "/._-~"


def may_be_name(name: str) -> bool:
    """Whether what stands in double brackets could be the name of a document at all."""
    return _NO_NAME.search(name) is None


def is_bracketed(line: str, column: int) -> bool:
    """Whether the double brackets at a column (from 1) are the text of a link."""
    return _BRACKETED.match(line, column - 1) is not None


def link_to(reference: Reference, source: str, target: str) -> str:
    """What a Markdown link in the file ``source`` has to say instead to lead to the file ``target``; anchor
    and query stay. Both paths are POSIX and relative to the root."""
    path = re.split("[#?]", reference.written, maxsplit=1)[0]
    relative = posixpath.relpath(target, posixpath.dirname(source) or ".")
    return quote(relative, safe=_PLAIN) + reference.written[len(path) :]


def wiki_to(reference: Reference, doc_id: str) -> str:
    """What a wiki link has to say instead to name ``doc_id``; its heading stays."""
    name = reference.target.partition("#")[0].strip()
    return reference.written.replace(name, doc_id, 1) if name else doc_id + reference.written.lstrip()


def relinked(body: str, changes: Iterable[tuple[Reference, str]]) -> str:
    """The body with what the references say replaced; nothing else changes.

    One whose text no longer stands where it was found is left alone.
    """
    lines = body.split("\n")
    placed = sorted(((one.place, one.written, new) for one, new in changes), reverse=True)
    for (number, column), written, new in placed:
        line, start = lines[number - 1], column - 1
        if line.startswith(written, start):
            lines[number - 1] = line[:start] + new + line[start + len(written) :]
    return "\n".join(lines)
