"""What sort of work a command is, and which commands are worth nothing to know. Pure."""

from __future__ import annotations

import re
from typing import Final

from thunderus_mem.garden.recaps.runs import first_words, only_looks

__all__ = ["CLASSES", "class_of", "is_trivial"]

_WORD = re.compile(r"[a-z0-9]+")
_TRIVIAL: Final = frozenset(
    (
        *("git", "mkdir", "rm", "cp", "mv", "touch", "chmod", "ln", "sed", "sleep", "kill", "curl", "wget"),
        *("env", "export", "clear", "history", "man", "thunderus-mem"),
    )
)
_OF_CLASS: Final[tuple[tuple[str, frozenset[str]], ...]] = tuple(
    (name, frozenset(words.split()))
    for name, words in (
        ("test", "test tests pytest tox nox jest vitest mocha rspec ctest phpunit unittest nextest"),
        ("lint", "lint ruff flake8 eslint mypy clippy pylint pyright shellcheck typecheck golangci"),
        ("format", "fmt format prettier black gofmt rustfmt isort"),
        ("build", "build compile tsc webpack cmake ninja make wheel bundle"),
        ("deploy", "deploy release publish terraform helm"),
        ("install", "install sync ci bootstrap setup"),
        ("run", "run start serve dev up runserver"),
    )
)
CLASSES: Final = tuple(name for name, _ in _OF_CLASS)
"""Kinds of work a command may do, in the order in which they are looked for."""


def is_trivial(command: str) -> bool:
    """Whether a command only looks around, or is one that everybody knows."""
    words = first_words(command).split()
    return not words or only_looks(command) or words[0].rpartition("/")[2] in _TRIVIAL


def class_of(command: str) -> str:
    """What a command does: one of `CLASSES`, "" when that cannot be told from its first words."""
    if is_trivial(command) or "…" in command:
        return ""
    beginning = " ".join(command.split()[:4]).lower()
    words = set(_WORD.findall(beginning))
    if words & {"run"} and words & {"npm", "pnpm", "yarn", "bun", "uv", "poetry", "hatch", "pdm"}:
        words -= {"run"}
    return next((name for name, known in _OF_CLASS if not words.isdisjoint(known)), "")
