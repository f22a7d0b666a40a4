"""The definitions of formats that hold data, settings and text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from thunderus_mem.evidence.code.tables import Table, first

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ast_grep_py import SgNode

    Text = Callable[[SgNode], str]

__all__ = ["DATA_TABLES"]


def _css(node: SgNode, kind: str, text: Text) -> tuple[str, ...]:
    name = node.child(1 if kind == "keyframes_statement" else 0)
    return (" ".join(text(name).split()),) if name is not None else ()


def _key(node: SgNode, _kind: str, text: Text) -> tuple[str, ...]:
    key = node.field("key")
    return (text(key).strip("'\""),) if key is not None else ()


def _section(node: SgNode, _kind: str, text: Text) -> tuple[str, ...]:
    heading = node.child(0)
    if heading is None or "heading" not in heading.kind():
        return ()
    return (" ".join(text(heading).strip("#=- \n\t").split()),)


def _hcl(node: SgNode, kind: str, text: Text) -> tuple[str, ...]:
    if kind == "attribute":
        return (first(node, ("identifier",), text),)
    labels = [
        text(child).strip('"')
        for child in node.named_children()
        if child.kind() in ("identifier", "string_lit")
    ]
    return (".".join(labels),)


DATA_TABLES: Final[Mapping[str, Table]] = {
    "css": Table({"rule_set": "rule", "keyframes_statement": "rule"}, _css),
    "json": Table({"pair": "key"}, _key),
    "yaml": Table({"block_mapping_pair": "key"}, _key),
    "html": Table({}),
    "markdown": Table({"section": "heading"}, _section),
    "hcl": Table({"block": "block", "attribute": "key"}, _hcl),
    "nix": Table({}),
}
