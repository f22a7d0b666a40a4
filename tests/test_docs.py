"""The generated reference agrees with the program."""

from __future__ import annotations

import importlib
import subprocess
import sys

import pytest

from tests.conftest import PROJECT
from thunderus_mem.surfaces.cli.table import COMMANDS


def test_the_reference_is_up_to_date() -> None:
    done = subprocess.run(
        [sys.executable, str(PROJECT / "docs" / "generate.py"), "--check"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("entry", COMMANDS, ids=lambda entry: entry.name)
def test_every_value_a_command_prints_is_a_documented_type(entry: object) -> None:
    from thunderus_mem.surfaces.cli.table import Entry

    assert isinstance(entry, Entry)
    pytest.importorskip("thunderus_mem.memory")
    for _, where in entry.values:
        module, _, name = where.partition(":")
        assert hasattr(importlib.import_module(module), name), where
