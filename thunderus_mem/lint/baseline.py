"""A baseline: the findings an old store had when linting began, so that only new ones are reported.

A file of one JSON value a line: a head that names the version, then ``[path, rule, fingerprint]``, sorted.
Lines come and go alone, so that two branches that change it merge like any text.
"""

from __future__ import annotations

import json
import os
import re
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from thunderus_mem.errors import NotFound, ThunderusError
from thunderus_mem.store.files import read_file, replace_file
from thunderus_mem.store.paths import inside

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from thunderus_mem.diagnostic import Diagnostic
    from thunderus_mem.memory.memory import Memory

SCHEMA: Final = "thunderus-mem.lint-baseline/1"
NEVER: Final = ("TM012", "TM4", "TM503", "TM504", "TM507")
"""Beginnings of the codes no baseline hides: secrets and what else is unsafe, conflicts, a damaged log."""

_FINGERPRINT = re.compile(r"[0-9a-f]{32}")
_LIMIT: Final = 64 << 20


class BaselineEntry(NamedTuple):
    """One known finding. The path tells people where it was; the fingerprint alone decides."""

    path: str
    rule: str
    fingerprint: str


def may_be_known(rule: str) -> bool:
    """Whether a baseline may hide findings of this rule."""
    return not rule.startswith(NEVER)


class Baseline(NamedTuple):
    """A baseline's file: its absolute ``path``, and the ``name`` that messages have, from the root."""

    path: str
    name: str

    def entries(self) -> tuple[BaselineEntry, ...]:
        """What it holds. Raises `NotFound` when there is no file, `ThunderusError` when it is no baseline."""
        try:
            return parse(read_file(self.path, _LIMIT), self.name)
        except NotFound as error:
            raise NotFound(
                f"The baseline {self.name} is not there.",
                hint=f"Record the present findings: thunderus-mem lint --write-baseline {self.name}",
            ) from error

    def compare(
        self, found: Iterable[Diagnostic], runs: Callable[[str], bool]
    ) -> tuple[list[Diagnostic], tuple[BaselineEntry, ...]]:
        """The findings that it does not hide, and those of its entries for which there is no finding.

        Only where everything was looked at, with the rules that run, are these entries obsolete.
        """
        entries, ones = self.entries(), list(found)
        known = {entry.fingerprint for entry in entries}
        present = {one.fingerprint for one in ones if may_be_known(one.rule)}
        return (
            [one for one in ones if one.fingerprint not in known or not may_be_known(one.rule)],
            tuple(entry for entry in entries if entry.fingerprint not in present and runs(entry.rule)),
        )

    def record(self, found: Iterable[Diagnostic]) -> int:
        """Write these findings as all that is known; says how many could be recorded."""
        entries = {
            BaselineEntry(one.path, one.rule, one.fingerprint) for one in found if may_be_known(one.rule)
        }
        replace_file(self.path, render(entries).encode())
        return len(entries)

    def remove(self, obsolete: Sequence[BaselineEntry]) -> None:
        """Take entries that nothing needs any more out of the file."""
        replace_file(self.path, render(set(self.entries()) - set(obsolete)).encode())


def find_baseline(memory: Memory, given: str | None) -> Baseline | None:
    """The baseline in force; the file need not be there.

    ``given`` is a path from the current folder, "" for none, ``None`` for what ``lint.baseline`` names.
    Raises `Refused` when the configuration names a file outside the root.
    """
    configured = memory.config.lint_baseline
    if given is None:
        path = inside(memory.root, configured) if configured else ""
    else:
        path = os.path.abspath(given) if given else ""
    if not path:
        return None
    below = os.path.relpath(path, memory.root)
    return Baseline(path, path if below.startswith("..") else below.replace(os.sep, "/"))


def render(entries: Iterable[BaselineEntry]) -> str:
    """The text of a baseline."""
    lines = [json.dumps({"schema": SCHEMA}), *(json.dumps(list(entry)) for entry in sorted(set(entries)))]
    return "".join(f"{line}\n" for line in lines)


def parse(data: bytes, name: str) -> tuple[BaselineEntry, ...]:
    """The entries of a baseline's text. Raises `ThunderusError` that names file and line."""
    hint = f"Write it anew: thunderus-mem lint --write-baseline {name}"
    head, *lines = data.decode("utf-8-sig", "replace").split("\n")
    if _value(head) != {"schema": SCHEMA}:
        raise ThunderusError(f"{name} is no baseline this version can read.", hint=hint)
    entries: list[BaselineEntry] = []
    for number, line in enumerate(lines, 2):
        if not line.strip():
            continue
        value = _value(line)
        if not _is_entry(value):
            raise ThunderusError(f"Line {number} of {name} is no entry of a baseline.", hint=hint)
        entries.append(BaselineEntry(*value))
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
