"""Unified diffs: git applies them, and long ones are omitted."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import pytest

from thunderus_mem.document.diff import MAX_DIFF, unified_diff

if TYPE_CHECKING:
    from pathlib import Path

LONG = "".join(f"line {n}\n" for n in range(20_000))
CASES = [
    (None, "a\nb\n"),
    (None, "no end"),
    ("a\nb\n", None),
    ("a\n", "a"),
    ("a", "a\n"),
    ("a\nb\nc\n", "a\nB\nc\n"),
    ("a\n" * 9, "a\n" * 5 + "x\n" + "a\n" * 4),
    ("x\u2028y\nz\n", "x\u2028y\nZ\n"),
    ("1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n", "0\n1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n"),
    (LONG, LONG.replace("line 10000\n", "changed\nand more\n")),
    (LONG, LONG.replace("line 3\n", "").replace("line 2500\n", "here\n")),
]


@pytest.mark.parametrize(("old", "new"), CASES)
def test_git_applies_the_diff(tmp_path: Path, old: str | None, new: str | None) -> None:
    diff = unified_diff(old, new, "doc.md")
    assert diff
    target = tmp_path / "doc.md"
    if old is not None:
        target.write_bytes(old.encode())
    command = ["git", "apply", "--whitespace=nowarn", "-"]
    done = subprocess.run(command, cwd=tmp_path, input=diff.encode(), capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    assert (target.read_bytes().decode() if target.exists() else None) == new


def test_equal_texts_have_an_empty_diff() -> None:
    assert unified_diff("a\r\nb", "a\nb", "x") == ""


def test_diff_over_the_limit_is_omitted() -> None:
    assert unified_diff(None, "x" * MAX_DIFF, "x") is None
    assert unified_diff("a\n" * 9_000, "b\n" * 9_000, "x") is None
