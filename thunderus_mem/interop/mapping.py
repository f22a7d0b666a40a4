"""``THEIRS=OURS``: which field of a foreign file gives which field of ours. Pure.

A foreign field is a key of the frontmatter, else a line ``Name: value`` under the title.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from thunderus_mem.interop.days import day_in
from thunderus_mem.interop.fields import moment
from thunderus_mem.interop.relations import REFERS, SUPERSEDES, Mention, value_targets
from thunderus_mem.model.errors import ThunderusError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from thunderus_mem.interop.fields import Draft

_TEXTS: Final = ("title", "author", "type", "category", "source")
_LISTS: Final = ("tags", "aliases")
_TIMES: Final = ("created", "updated")
_RELATIONS: Final = {
    "supersedes": (SUPERSEDES, False),
    "superseded_by": (SUPERSEDES, True),
    "refers_to": (REFERS, False),
    "derives_from": ("derives_from", False),
    "duplicates": ("duplicates", False),
}
FIELDS: Final = (*_TEXTS, *_LISTS, *_TIMES, *_RELATIONS)
_LINE = re.compile(r"\s{0,3}(?:[-*+]\s+)?[*_]{0,2}([^:*_\[\]]{1,40})[*_]{0,2}\s*:\s*[*_]{0,2}\s*(.*)")
_LINES = 60


def read_mapping(given: Iterable[str]) -> tuple[tuple[str, str], ...]:
    """``THEIRS=OURS`` as pairs. Raises `ThunderusError` for a field that we have not got."""
    pairs = []
    for item in given:
        theirs, equals, ours = (part.strip() for part in item.partition("="))
        name = ours.replace("-", "_").lower()
        if not equals or not theirs:
            raise ThunderusError(f"--map takes THEIRS=OURS, not {item}.")
        if name not in FIELDS:
            raise ThunderusError(f"There is no field {ours} to map to.", hint=f"Fields: {', '.join(FIELDS)}")
        pairs.append((theirs, name))
    return tuple(pairs)


def apply_mapping(
    mapping: Iterable[tuple[str, str]], draft: Draft, body: str, *, day_first: bool | None = None
) -> list[Mention]:
    """Set what is mapped, and return the relations that mapped fields tell."""
    told: list[Mention] = []
    for theirs, ours in mapping:
        value = _value(theirs, draft.data, body)
        if value in (None, "", [], {}):
            continue
        if ours in _RELATIONS:
            rel, backwards = _RELATIONS[ours]
            items = value if isinstance(value, list) else [value]
            told += [
                Mention(rel, target, backwards, theirs) for one in items for target in value_targets(one)
            ]
        elif ours in _TIMES:
            _take_time(draft, ours, theirs, value, day_first)
        elif ours in _LISTS:
            before = draft.data.get(ours)
            known = before if isinstance(before, list) else []
            draft.take(ours, list(dict.fromkeys([*map(str, known), *_words(value)])), theirs)
        else:
            draft.take(ours, ", ".join(_words(value)) if isinstance(value, list) else str(value), theirs)
    return told


def _take_time(draft: Draft, ours: str, theirs: str, value: Any, day_first: bool | None) -> None:
    text = str(value)
    when = moment(text) or moment(day_in(text, day_first=day_first))
    if when:
        draft.take(ours, when, theirs)
    else:
        draft.notes.append(f"{theirs} ({text}) is no day that can be read: {ours} does not come from it")


def _words(value: Any) -> list[str]:
    """The items of a list, or of a text with commas."""
    items = value if isinstance(value, list) else str(value).split(",")
    return [word for item in items if (word := str(item).strip().lstrip("#").strip())]


def _value(name: str, data: Mapping[str, Any], body: str) -> Any:
    wanted = _plain(name)
    for key, value in data.items():
        if _plain(key) == wanted:
            return value
    for line in body.splitlines()[:_LINES]:
        found = _LINE.match(line)
        if found and _plain(found[1]) == wanted:
            return found[2].strip()
    return None


def _plain(name: str) -> str:
    """A name as it compares: case, blanks, ``-`` and ``_`` do not matter."""
    return "".join(char for char in name.casefold() if char.isalnum())
