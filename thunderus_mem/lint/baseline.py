"""A baseline: the findings an old store had when linting began, so that only new ones are told. Pure.

Its text is one JSON value a line: a head that names the version, then ``[path, rule, fingerprint]``, sorted.
Lines come and go alone, so that two branches that change it merge like any text.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from thunderus_mem.model.errors import ThunderusError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from thunderus_mem.model.diagnostic import Diagnostic

SCHEMA: Final = "thunderus-mem.lint-baseline/1"
NEVER: Final = ("TM012", "TM4", "TM503", "TM504", "TM507")
"""Beginnings of the codes no baseline hides: secrets and what else is unsafe, conflicts, a damaged log."""

_FINGERPRINT = re.compile(r"[0-9a-f]{32}")


class Entry(NamedTuple):
    """One known finding. The path tells people where it was; the fingerprint alone decides."""

    path: str
    rule: str
    fingerprint: str


def may_be_known(rule: str) -> bool:
    """Whether a baseline may hide findings of this rule."""
    return not rule.startswith(NEVER)


def recorded(found: Iterable[Diagnostic]) -> tuple[Entry, ...]:
    """The entries for these findings, sorted; those that no baseline hides are left out."""
    return tuple(sorted({_entry(one) for one in found if may_be_known(one.rule)}))


def _entry(one: Diagnostic) -> Entry:
    return Entry(one.path, one.rule, one.fingerprint)


def told(found: Sequence[Diagnostic], entries: Iterable[Entry]) -> list[Diagnostic]:
    """The findings that the entries do not know."""
    known = {entry.fingerprint for entry in entries}
    return [one for one in found if one.fingerprint not in known or not may_be_known(one.rule)]


def obsolete(
    found: Iterable[Diagnostic], entries: Iterable[Entry], runs: Callable[[str], bool]
) -> tuple[Entry, ...]:
    """Entries whose finding is gone; ``found`` is everything a whole lint finds with the rules that run."""
    present = {one.fingerprint for one in found if may_be_known(one.rule)}
    return tuple(entry for entry in entries if entry.fingerprint not in present and runs(entry.rule))


def render(entries: Iterable[Entry]) -> str:
    """The text of a baseline."""
    lines = [json.dumps({"schema": SCHEMA}), *(json.dumps(list(entry)) for entry in sorted(set(entries)))]
    return "".join(f"{line}\n" for line in lines)


def parse(data: bytes, name: str) -> tuple[Entry, ...]:
    """The entries of a baseline's text. Raises `ThunderusError` that names file and line."""
    hint = f"Write it anew: thunderus-mem lint --write-baseline {name}"
    head, *lines = data.decode("utf-8-sig", "replace").split("\n")
    if _value(head) != {"schema": SCHEMA}:
        raise ThunderusError(f"{name} is no baseline this version can read.", hint=hint)
    entries: list[Entry] = []
    for number, line in enumerate(lines, 2):
        value = _value(line) if line.strip() else None
        if value is not None and _is_entry(value):
            entries.append(Entry(*value))
        elif line.strip():
            raise ThunderusError(f"Line {number} of {name} is no entry of a baseline.", hint=hint)
    return tuple(entries)


def _value(line: str) -> Any:
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return None


def _is_entry(value: Any) -> bool:
    return (
        isinstance(value, list)
        and len(value) == 3
        and all(isinstance(part, str) for part in value)
        and _FINGERPRINT.fullmatch(value[2]) is not None
    )
