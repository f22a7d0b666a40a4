"""The baseline of `lint` on disk: read it, write it, and tell findings that are new from those it knows."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final, NamedTuple

from thunderus_mem.model.errors import NotFound

if TYPE_CHECKING:
    from collections.abc import Sequence

    from thunderus_mem.lint.baseline import Entry
    from thunderus_mem.lint.rule import LintConfig
    from thunderus_mem.memory import Memory
    from thunderus_mem.model.diagnostic import Diagnostic

_LIMIT: Final = 64 << 20


class Known(NamedTuple):
    """What a baseline did: findings left, how many it hid, and its entries that nothing needs any more."""

    told: Sequence[Diagnostic]
    hidden: int = 0
    obsolete: tuple[Entry, ...] = ()


def baseline_file(memory: Memory, given: str | None) -> str:
    """The absolute path of the baseline in force, "" for none.

    ``given`` is a path from the current folder, "" for none, ``None`` for what ``lint.baseline`` names.
    Raises `Refused` when the configuration names a file outside the root.
    """
    from thunderus_mem.store.paths import inside

    if given is not None:
        return os.path.abspath(given) if given else ""
    named = memory.config.lint_baseline
    return inside(memory.root, named) if named else ""


def known(
    memory: Memory, found: Sequence[Diagnostic], path: str, config: LintConfig, *, whole: bool
) -> Known:
    """Leave out what the baseline at ``path`` knows; ``whole`` says that everything was looked at.

    Raises `NotFound` when the file is not there, `ThunderusError` when it is no baseline.
    """
    if not path:
        return Known(found)
    from thunderus_mem.lint import baseline

    entries = _read(path, shown(memory, path))
    new = baseline.told(found, entries)
    gone = baseline.obsolete(found, entries, config.runs) if whole else ()
    return Known(new, len(found) - len(new), gone)


def write(path: str, found: Sequence[Diagnostic]) -> int:
    """Record the present findings at ``path``; says how many could be recorded."""
    from thunderus_mem.lint.baseline import recorded, render
    from thunderus_mem.store.files import replace_file

    entries = recorded(found)
    replace_file(path, render(entries).encode())
    return len(entries)


def prune(memory: Memory, path: str, obsolete: Sequence[Entry]) -> None:
    """Take entries that nothing needs any more out of the baseline."""
    from thunderus_mem.lint.baseline import render
    from thunderus_mem.store.files import replace_file

    gone = set(obsolete)
    entries = [entry for entry in _read(path, shown(memory, path)) if entry not in gone]
    replace_file(path, render(entries).encode())


def shown(memory: Memory, path: str) -> str:
    """How a message names the file: from the root where it lies below it."""
    below = os.path.relpath(path, memory.root)
    return path if below.startswith("..") else below.replace(os.sep, "/")


def _read(path: str, name: str) -> tuple[Entry, ...]:
    from thunderus_mem.lint.baseline import parse
    from thunderus_mem.store.files import read_file

    try:
        return parse(read_file(path, _LIMIT), name)
    except NotFound as error:
        raise NotFound(
            f"The baseline {name} is not there.",
            hint=f"Record the present findings: thunderus-mem lint --write-baseline {name}",
        ) from error
