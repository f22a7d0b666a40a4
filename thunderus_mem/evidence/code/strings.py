"""Strings that hold code: pieces of text by value, and between them the nodes they embed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from thunderus_mem.evidence.code.walk import AT, CLOSE, OPEN

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ast_grep_py import SgNode

    from thunderus_mem.evidence.code.walk import Item, Walk

__all__ = ["embedding", "pieces", "quoted"]


def pieces(
    walk: Walk, start: int, end: int, embedded: Sequence[tuple[SgNode, str]], value: Callable[[str], str]
) -> list[Item]:
    """The text from ``start`` to ``end`` by value, the embedded nodes in their places between."""
    made: list[Item] = []
    at = start
    for node, kind in embedded:
        span = node.range()
        made.append(value(walk.text[at : span.start.index]))
        made += [(node, AT), (node, kind)]
        at = span.end.index
    made.append(value(walk.text[at:end]))
    return made


def quoted(mark: str, value: Callable[[str], str], ends: int = 1) -> Callable[..., list[Item]]:
    """A handler of plain strings: without the characters at both ends, by value, behind a mark."""

    def handler(walk: Walk, node: SgNode, _pairs: object) -> list[Item]:
        return [mark + value(walk.slice(node)[ends:-ends]), (node, "")]

    return handler


def embedding(kinds: frozenset[str], mark: str, value: Callable[[str], str]) -> Callable[..., list[Item]]:
    """A handler of strings that embed nodes of these kinds; all other text counts as it stands."""

    def handler(walk: Walk, node: SgNode, pairs: Sequence[tuple[SgNode, str]]) -> list[Item]:
        span = node.range()
        inner = [pair for pair in pairs if pair[1] in kinds]
        parts = pieces(walk, span.start.index, span.end.index, inner, value)
        written: list[Item] = [mark + part if isinstance(part, str) else part for part in parts if part]
        return [OPEN + "text", *written, CLOSE, (node, "")]

    return handler
