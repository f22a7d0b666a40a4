"""Every term of the glossary is in the code."""

from __future__ import annotations

import importlib
import re
from pathlib import Path

import pytest

GLOSSARY = Path(__file__).parents[2] / "docs" / "glossary.md"
ENTRY = re.compile(r"- \*\*(?P<word>[a-z ]+)\*\* \(`(?P<name>[\w.]+)`\): (?P<meaning>.+[.])")
LINES = [line for line in GLOSSARY.read_text(encoding="utf-8").splitlines() if line.startswith("- ")]


def resolve(name: str) -> object:
    """The module, class or member that a dotted name stands for."""
    parts = name.split(".")
    for cut in range(len(parts), 0, -1):
        try:
            found: object = importlib.import_module(".".join(parts[:cut]))
        except ModuleNotFoundError as error:
            # A module that is there but lacks one of its own imports must not pass for a class.
            if error.name is None or not name.startswith(error.name):
                raise
            continue
        for part in parts[cut:]:
            found = getattr(found, part)
        return found
    raise AssertionError(name)


@pytest.mark.parametrize("line", LINES)
def test_each_glossary_term_is_in_the_code(line: str) -> None:
    entry = ENTRY.fullmatch(line)
    assert entry is not None, line
    assert resolve(entry["name"]) is not None


def test_each_glossary_term_has_one_line() -> None:
    words = [line.split("**")[1] for line in LINES]
    assert len(words) == len(set(words))


def test_glossary_terms_for_event_kinds_are_event_kinds() -> None:
    from thunderus_mem.log.line import KINDS

    assert {"approval", "patch", "snapshot"} <= set(KINDS)
