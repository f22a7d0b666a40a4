"""One word for one thing: messages and help use the words of the glossary."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

PACKAGE = Path(__file__).parents[2] / "thunderus_mem"

INSTEAD = {
    "anew": "again, or rebuild, recompute",
    "bring back": "restore",
    "brought back": "restored",
    "colour": "color",
    "exclude each other": "are mutually exclusive",
    "heal": "fix",
    "is none": "is not",
    "left out": "omitted",
    "look after": "maintain",
    "made false": "affected",
    "mend": "fix",
    "mended": "fixed",
    "mends": "fixes",
    "nobody": "the passive",
    "not what it was": "changed",
    "passed over": "skipped",
    "set aside": "moved to quarantine, or archived",
    "somebody": "someone, or the passive",
    "speaks of": "mentions",
    "stands": "is",
    "take back": "undo",
    "taken back": "undone",
    "takes back": "undoes",
    "tidying": "cleanup",
    "told": "reported, listed or shown",
    "took back": "undid",
    "untie": "remove the anchor",
}
"""Word or phrase → the one to use."""

WORD_LIST = re.compile(r"\s*(?:[a-z]+\s+){12,}[a-z]+\s*")
_UNWANTED = re.compile(rf"\b(?:{'|'.join(INSTEAD)})\b", re.IGNORECASE)


def messages(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """String literals with a space that are neither docstrings nor word lists or patterns, and help texts."""
    docstrings = {}
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if not isinstance(body, list):
            continue
        for statement in body:  # also the docstring of a constant
            if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
                docstrings[statement.value] = node
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and " " in node.value:
            if WORD_LIST.fullmatch(node.value) or "(?:" in node.value:
                continue
            owner = docstrings.get(node)
            if owner is None or (
                isinstance(owner, ast.FunctionDef) and any(map(is_command, owner.decorator_list))
            ):
                yield node.lineno, node.value


def is_command(decorator: ast.expr) -> bool:
    call = decorator.func if isinstance(decorator, ast.Call) else decorator
    return isinstance(call, ast.Attribute) and call.attr in ("command", "callback")


def test_messages_and_help_use_the_words_of_the_glossary() -> None:
    found = [
        f"{path.relative_to(PACKAGE)}:{line}: {match[0]!r}: use {INSTEAD[match[0].lower()]}"
        for path in sorted(PACKAGE.rglob("*.py"))
        for line, text in messages(ast.parse(path.read_text("utf-8")))
        for match in _UNWANTED.finditer(text)
    ]
    assert found == []
