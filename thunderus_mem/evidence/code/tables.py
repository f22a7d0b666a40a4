"""Which nodes of a tree are definitions, and what they are called."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ast_grep_py import SgNode

    Names = Callable[["SgNode", str, Callable[["SgNode"], str]], tuple[str, ...]]

__all__ = ["SCOPE", "Table", "by_field"]

SCOPE: Final = ""
"""The label of a node that names what is in it and is no definition itself."""


def by_field(node: SgNode, _kind: str, text: Callable[[SgNode], str]) -> tuple[str, ...]:
    """The name in the field ``name``."""
    name = node.field("name")
    return (text(name),) if name is not None else ()


class Table(NamedTuple):
    """The definitions of one language.

    ``kinds`` maps kinds of nodes to what people call them (`SCOPE` for nodes that only qualify names);
    ``names`` gives the names of a node, () when it defines nothing; ``wrappers`` are parents that belong to
    the node, ``before`` are siblings that do when they stand right before it.
    """

    kinds: Mapping[str, str]
    names: Names = by_field
    wrappers: frozenset[str] = frozenset()
    before: frozenset[str] = frozenset()
