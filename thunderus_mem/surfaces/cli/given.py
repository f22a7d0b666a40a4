"""What options mean: text from a word, a file or stdin, ``KEY=VALUE``, ``REL:ID``, and paths of a person."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any, Final

from thunderus_mem.model.errors import NotFound, ThunderusError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from thunderus_mem.surfaces.cli.console import Console

RELATIONS: Final = ("derives_from", "refers_to", "supersedes", "duplicates")
_TEXT_LIMIT = 1 << 20


def text_of(given: str | None, console: Console) -> str | None:
    """``-`` reads stdin, ``@FILE`` a file (from ``-C``), anything else is the text; ``None`` stays."""
    if given == "-":
        return _decoded(sys.stdin.buffer.read(_TEXT_LIMIT + 1), "stdin")
    if given is None or not given.startswith("@"):
        return given
    path = os.path.join(console.start, given[1:])
    try:
        with open(path, "rb") as handle:
            return _decoded(handle.read(_TEXT_LIMIT + 1), given[1:])
    except OSError as error:
        raise NotFound(f"{given[1:]} cannot be read: {error.strerror}.") from error


def _decoded(data: bytes, name: str) -> str:
    if len(data) > _TEXT_LIMIT:
        raise ThunderusError(f"The text from {name} is longer than 1 MiB.", hint="Split it into documents.")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ThunderusError(f"The text from {name} is not UTF-8.", hint="Save it as UTF-8.") from error


def pairs(given: Iterable[str], option: str) -> dict[str, Any]:
    """``KEY=VALUE`` options; a value that reads as JSON (number, true, list) is that, else it is text."""
    found: dict[str, Any] = {}
    for item in given:
        key, equals, value = item.partition("=")
        if not equals or not key.strip():
            raise ThunderusError(f"{option} takes KEY=VALUE, not {item}.")
        found[key.strip()] = _value(value)
    return found


def _value(text: str) -> Any:
    import json

    if text[:1] in ("[", "{") or text in ("true", "false", "null"):
        try:
            return json.loads(text)
        except ValueError:
            return text
    return text


def links(given: Iterable[str]) -> tuple[tuple[str, str], ...]:
    """``REL:ID`` options as pairs."""
    found = []
    for item in given:
        rel, _, target = item.partition(":")
        if not target:
            raise ThunderusError(
                f"--link takes RELATION:ID, not {item}.", hint=f"Relations: {', '.join(RELATIONS)}"
            )
        found.append((relation(rel), target))
    return tuple(found)


def relation(given: str) -> str:
    """A relation by its name, ``-`` or ``_``. Raises with the list of relations."""
    name = given.replace("-", "_")
    if name not in RELATIONS:
        raise ThunderusError(f"There is no relation {given}.", hint=f"Relations: {', '.join(RELATIONS)}")
    return name
