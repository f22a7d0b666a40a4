"""Reformatted code has the same fingerprint, other code does not: cases in files, pair by pair."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path

import pytest

from thunderus_mem.fingerprint.source import CodeSource

CASES = Path(__file__).parent.parent / "cases" / "code"
SUFFIX = {
    "python": "py",
    "javascript": "jsx",
    "typescript": "ts",
    "tsx": "tsx",
    "go": "go",
    "rust": "rs",
    "java": "java",
    "c": "c",
    "cpp": "cpp",
    "csharp": "cs",
    "ruby": "rb",
    "kotlin": "kt",
    "swift": "swift",
    "php": "php",
    "scala": "scala",
    "bash": "sh",
    "lua": "lua",
    "json": "json",
    "css": "css",
    "dart": "dart",
    "haskell": "hs",
    "elixir": "ex",
    "hcl": "tf",
    "html": "html",
    "markdown": "md",
    "nix": "nix",
    "solidity": "sol",
    "toml": "toml",
    "yaml": "yaml",
    "zig": "zig",
}


def cases(name: str) -> list[object]:
    """Every case in the files of that name: language, title and versions."""
    found: list[object] = []
    for path in sorted(CASES.glob(f"*/{name}.txt")):
        for block in path.read_text(encoding="utf-8").split("===== ")[1:]:
            title, _, body = block.partition("\n")
            language = path.parent.name
            found.append(pytest.param(language, body.split("-----\n"), id=f"{language}: {title}"))
    return found


def source(language: str, text: str) -> CodeSource:
    read = CodeSource(f"a.{SUFFIX[language]}", text.encode())
    assert not read.trouble
    assert not read.broken, (read.trouble_at, text)
    return read


@pytest.mark.parametrize(("language", "versions"), cases("same"))
def test_equivalent_code_has_the_same_fingerprint(language: str, versions: list[str]) -> None:
    assert len(versions) > 1
    assert len({source(language, text).whole().hash for text in versions}) == 1


@pytest.mark.parametrize(("language", "versions"), cases("differ"))
def test_different_code_has_a_different_fingerprint(language: str, versions: list[str]) -> None:
    measured = [(text, source(language, text).whole().hash) for text in versions]
    assert len(measured) > 1
    assert [(a[0], b[0]) for a, b in combinations(measured, 2) if a[1] == b[1]] == []


def test_definition_in_a_group_has_the_same_fingerprint_as_alone() -> None:
    alone = source("go", "package a\n\nvar x string\nconst c = 1\ntype T struct{ A int }\n")
    group = source(
        "go",
        "package a\n\nvar (\n\tx string\n\ty int\n)\nconst (\n\tb = 0\n\tc = 1\n)\n"
        "type (\n\tT struct{ A int }\n\tU int\n)\n",
    )
    for name in ("x", "c", "T"):
        assert alone.find(name)[0].fingerprint == group.find(name)[0].fingerprint
