"""The graph of ``why`` for programs that draw: Mermaid and Graphviz."""

from __future__ import annotations

from typing import TYPE_CHECKING

from thunderus_mem.surfaces.text import cut, one_line

if TYPE_CHECKING:
    from thunderus_mem.evidence.provenance import WhyNode
    from thunderus_mem.surfaces.cli.console import Console
    from thunderus_mem.verbs.history import WhyReport

_WIDTH = 80
# Mermaid reads its labels as HTML; entities are written with # there.
_MERMAID = {ord(char): f"#{ord(char)};" for char in '#"<>&`'}


def _labels(node: WhyNode) -> list[str]:
    """What stands on the lines of a box: kind and id, then what is known."""
    shown = node.id[:12] if node.kind == "commit" else node.id
    head = node.kind if node.kind in ("change", "note", "code") else f"{node.kind} {shown}"
    return [cut(one_line(text), _WIDTH) for text in (head, node.label) if text]


def mermaid(value: WhyReport, console: Console) -> str:
    """A Mermaid flowchart, as hosting servers draw it in Markdown."""
    names = {node.id: f"n{number}" for number, node in enumerate(value.nodes)}
    texts = ("<br/>".join(text.translate(_MERMAID) for text in _labels(node)) for node in value.nodes)
    nodes = [f'    {name}["{text}"]' for name, text in zip(names.values(), texts, strict=True)]
    edges = [f'    {names[edge.from_]} -- "{edge.relation}" --> {names[edge.to]}' for edge in value.edges]
    return "\n".join(["flowchart LR", *nodes, *edges])


def dot(value: WhyReport, console: Console) -> str:
    """A digraph in Graphviz's language."""
    names = {node.id: f"n{number}" for number, node in enumerate(value.nodes)}
    nodes = [f"    {names[node.id]} [label={_quoted(*_labels(node))}];" for node in value.nodes]
    edges = [
        f"    {names[edge.from_]} -> {names[edge.to]} [label={_quoted(edge.relation)}];"
        for edge in value.edges
    ]
    return "\n".join(["digraph why {", "    rankdir=LR;", "    node [shape=box];", *nodes, *edges, "}"])


def _quoted(*lines: str) -> str:
    return '"' + "\\n".join(line.replace("\\", "\\\\").replace('"', '\\"') for line in lines) + '"'
