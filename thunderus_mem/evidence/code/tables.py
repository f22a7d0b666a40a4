"""Which nodes of a tree are definitions, and what they are called."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ast_grep_py import SgNode

    Names = Callable[["SgNode", str, Callable[["SgNode"], str]], tuple[str, ...]]

__all__ = ["SCOPE", "Table", "by_field", "dotted", "first", "kinds"]

SCOPE: Final = ""
"""The label of a node that names what is in it and is no definition itself."""


def by_field(node: SgNode, _kind: str, text: Callable[[SgNode], str]) -> tuple[str, ...]:
    """The name in the field ``name``."""
    name = node.field("name")
    return (text(name),) if name is not None else ()


def dotted(name: str) -> str:
    """A qualified name with points, without the arguments of its templates."""
    depth, kept = 0, []
    for character in name:
        if character == "<" and not name.startswith("operator"):
            depth += 1
        elif character == ">" and depth:
            depth -= 1
        elif not depth:
            kept.append(character)
    return ".".join(part.strip() for part in "".join(kept).replace("::", ".").split(".") if part.strip())


def first(node: SgNode, kinds: tuple[str, ...], text: Callable[[SgNode], str]) -> str:
    """The text of the first named child of one of these kinds, "" when there is none."""
    return next((text(child) for child in node.named_children() if child.kind() in kinds), "")


def kinds(label: str, kinds: str, more: Mapping[str, str]) -> dict[str, str]:
    """A table of kinds: many under one label, and some more with labels of their own."""
    return {**dict.fromkeys(kinds.split(), label), **more}


class Table(NamedTuple):
    """The definitions of one language.

    ``kinds`` maps kinds of nodes to what people call them (`SCOPE` for nodes that only qualify names);
    ``names`` gives the names of a node, () when it defines nothing; ``wrappers`` are parents that belong to
    the node, ``before`` are siblings that do when they stand right before it;
    ``clauses`` joins functions of one name that follow each other.
    """

    kinds: Mapping[str, str]
    names: Names = by_field
    wrappers: frozenset[str] = frozenset()
    before: frozenset[str] = frozenset()
    clauses: bool = False
