"""The definitions of a syntax tree, with their dotted names and the nodes that belong to them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from thunderus_mem.evidence.code.syntax import find_kinds, text_of
from thunderus_mem.evidence.code.tables import SCOPE

if TYPE_CHECKING:
    from ast_grep_py import SgNode

    from thunderus_mem.evidence.code.tables import Table

__all__ = ["Found", "locate"]


class Found(NamedTuple):
    """One definition: its dotted name, what it is, its lines from 1, its own last name, its nodes."""

    name: str
    kind: str
    first: int
    last: int
    own: str
    nodes: tuple[SgNode, ...]
    label: str


class _Scope(NamedTuple):
    end: int
    prefix: str
    kind: str


def locate(text: str, root: SgNode, table: Table) -> list[Found]:
    """Every named definition in the order of the text, those inside others included."""

    def of(node: SgNode) -> str:
        return text_of(text, node)

    found: list[Found] = []
    scopes: list[_Scope] = []
    latest: dict[str, int] = {}
    for node in find_kinds(root, table.kinds):
        kind = node.kind()
        names = table.names(node, kind, of)
        if not names:
            continue
        span = node.range()
        while scopes and scopes[-1].end <= span.start.index:
            scopes.pop()
        outer = scopes[-1] if scopes else _Scope(0, "", "")
        label = table.kinds[kind]
        if label != SCOPE:
            nodes = _belonging(node, table)
            for name in names:
                one = _found(outer, name, label, nodes)
                at = latest.get(outer.prefix)
                if table.clauses and at is not None and _is_clause(one, found[at]):
                    found[at] = found[at]._replace(last=one.last, nodes=found[at].nodes + one.nodes)
                    continue
                latest[outer.prefix] = len(found)
                found.append(one)
        scopes.append(_Scope(span.end.index, f"{outer.prefix}{names[0]}.", label))
    return found


def _found(outer: _Scope, name: str, label: str, nodes: tuple[SgNode, ...]) -> Found:
    end = _last(nodes[-1]).range().end
    first = nodes[0].range().start.line + 1
    last = end.line + (1 if end.column else 0)
    own = name.rpartition(".")[2]
    inner = label == "function" and outer.kind in ("class", SCOPE, "type") and outer.prefix
    kind = "method" if inner else label
    return Found(outer.prefix + name, kind, first, max(first, last), own, nodes, label)


def _is_clause(one: Found, former: Found) -> bool:
    return one.label == "function" and (one.name, one.label) == (former.name, former.label)


def _last(node: SgNode) -> SgNode:
    """Where the node ends: its last part that is no comment, however deep."""
    while True:
        last = next((child for child in reversed(node.children()) if "comment" not in child.kind()), None)
        if last is None:
            return node
        node = last


def _belonging(node: SgNode, table: Table) -> tuple[SgNode, ...]:
    """The node in its wrappers, and what stands right before it and belongs to it."""
    for _ in range(4):
        outer = node.parent() if table.wrappers else None
        if outer is None or outer.kind() not in table.wrappers or not _alone(node, outer):
            break
        node = outer
    nodes = [node]
    while table.before:
        former = nodes[0].prev()
        while former is not None and "comment" in former.kind():
            former = former.prev()
        if former is None or former.kind() not in table.before:
            break
        nodes.insert(0, former)
    return tuple(nodes)


def _alone(node: SgNode, outer: SgNode) -> bool:
    """Whether the wrapper holds nothing else that is defined."""
    kind = node.kind()
    return sum(child.kind() == kind for child in outer.children()) == 1
