"""The tokens of some lines of a file: whole nodes as they are, of others only what is inside."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ast_grep_py import SgNode

    from thunderus_mem.evidence.code.walk import Walk

__all__ = ["tokens_of_lines"]


def tokens_of_lines(walk: Walk, root: SgNode, first: int, last: int) -> None:
    """Add the tokens that begin in these lines (from 1) to the walk."""
    stack = [root]
    rules = walk.rules
    while stack:
        node = stack.pop()
        kind = node.kind()
        if not kind or kind in rules.comments:
            continue
        span = node.range()
        begins, ends = span.start.line + 1, span.end.line + (1 if span.end.column else 0)
        if ends < first or begins > last:
            continue
        children = node.children()
        inside = begins >= first and ends <= last
        if inside or not children:
            if begins >= first and (children or kind not in rules.drop):
                walk.run([node])
            continue
        stack.extend(reversed(children))
