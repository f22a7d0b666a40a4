"""The one door to ast-grep: texts parsed to trees, kinds found in them, the places where a parse failed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ast_grep_py import Rule, SgNode

__all__ = ["GRAMMAR", "faults", "find_kinds", "parse", "prepare", "text_of"]

GRAMMAR: Final = "0.51"
"""The version (major, minor) of ast-grep-py, whose wheel holds the grammars."""


def prepare() -> None:
    """Load the library, so that a child of this process need not."""
    import ast_grep_py as _  # noqa: F401


def parse(text: str, language: str) -> SgNode:
    """The root of the syntax tree. The text holds no NUL and is of a size and depth that were checked."""
    from ast_grep_py import SgRoot

    return SgRoot(text, language).root()


def find_kinds(root: SgNode, kinds: Iterable[str]) -> list[SgNode]:
    """Every node of one of these kinds, in the order of the text, found without a walk in Python."""
    rules: list[Rule] = [{"kind": kind} for kind in kinds]
    return root.find_all({"rule": {"any": rules}}) if rules else []


def faults(root: SgNode, empty: frozenset[str]) -> list[int]:
    """The lines (from 1) where the parser met what it does not know, or supposed what is not there."""
    found = root.find_all({"rule": {"any": [{"kind": "ERROR"}, {"regex": "^$"}]}})
    return sorted(
        {
            node.range().start.line + 1
            for node in found
            if node.kind() == "ERROR" or (node.kind() not in empty and node.parent() is not None)
        }
    )


def text_of(text: str, node: SgNode) -> str:
    """The text of a node; positions count characters."""
    span = node.range()
    return text[span.start.index : span.end.index]
