"""From a node of a syntax tree to its tokens: what formatting does not change, and nothing else.

A node becomes its kind as an opening bracket, what is in it, and a closing bracket; a leaf becomes its text.
Each language says what it leaves out and what it writes in one way: see `Rules`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from ast_grep_py import SgNode

__all__ = ["AT", "CLOSE", "OPEN", "Item", "Rules", "Walk"]

OPEN: Final = "\x01"
"""Begins the token that opens a node; no text begins with it but a stray control character."""
CLOSE: Final = "\x02"
AT: Final = "\x03"

Pair: TypeAlias = "tuple[SgNode, str]"
"""A node, and the kind it is to be taken for: "" leaves the node out, `AT` what stands before it."""
Item: TypeAlias = "str | Pair"
Handler: TypeAlias = "Callable[[Walk, SgNode, list[Pair]], Sequence[Item] | None]"


class Rules(NamedTuple):
    """How the tokens of one language are made.

    ``comments`` are kinds left out whole; ``transparent`` kinds give what is in them without brackets of
    their own and without parentheses; ``names`` maps kinds to the one under which they are written; ``drop``
    are tokens left out, except in the kinds of ``keep``; ``nodes`` says what a node is made of when it is
    not simply its children (``None`` from it: as usual, brackets included; a list: exactly that); ``leaves``
    writes a leaf's text in one way; ``empty`` are kinds that may lawfully be empty; ``trailing`` leaves out
    commas before what closes a list.
    """

    comments: frozenset[str]
    transparent: frozenset[str] = frozenset()
    names: Mapping[str, str] = {}
    drop: frozenset[str] = frozenset()
    keep: Mapping[str, frozenset[str]] = {}
    nodes: Mapping[str, Handler] = {}
    leaves: Mapping[str, Callable[[str], str]] = {}
    empty: frozenset[str] = frozenset()
    trailing: bool = False


_PARENTHESES: Final = frozenset("()")
_NOTHING: Final[frozenset[str]] = frozenset()


class Walk:
    """One pass over nodes of one text; afterwards ``tokens``, ``docs`` and ``broken`` are what it found."""

    def __init__(self, text: str, rules: Rules) -> None:
        self.text = text
        self.rules = rules
        self.tokens: list[str] = []
        self.docs: list[str] = []
        self.broken = False
        self._at = 0

    def run(self, nodes: Sequence[SgNode]) -> None:
        """Add the tokens of these nodes, which follow each other in the text."""
        for node in nodes:
            span = node.range()
            self._at = span.start.index
            if span.end.index > self._at or node.children():
                self._run([(node, node.kind())])

    def slice(self, node: SgNode) -> str:
        """The text of a node."""
        span = node.range()
        return self.text[span.start.index : span.end.index]

    def pairs(self, node: SgNode) -> list[Pair]:
        """The children of a node with their kinds, comments left out."""
        comments = self.rules.comments
        found = [(child, child.kind()) for child in node.children()]
        return [(child, kind) for child, kind in found if kind not in comments]

    def parts(self, node: SgNode) -> list[Pair]:
        """All children of a node, comments as what is left out: for nodes that are written as others."""
        comments = self.rules.comments
        found = [(child, child.kind()) for child in node.children()]
        return [(child, "" if kind in comments else kind) for child, kind in found]

    def _run(self, stack: list[Item]) -> None:
        # Depth is data, so there is no recursion here: what is still to be written waits on the stack.
        rules, tokens = self.rules, self.tokens
        comments, transparent, nodes = rules.comments, rules.transparent, rules.nodes
        while stack:
            item = stack.pop()
            if isinstance(item, str):
                tokens.append(item)
                continue
            node, kind = item
            if not kind or kind in comments:
                self._skip(node)
                continue
            if kind == AT:
                self._at = max(self._at, node.range().start.index)
                continue
            children = node.children()
            if not children:
                self._leaf(node, kind)
                continue
            if kind == "ERROR":
                self.broken = True
            named = [(child, child.kind()) for child in children]
            pairs = [(child, "" if name in comments else name) for child, name in named]
            handler = nodes.get(kind)
            if handler is not None:
                made = handler(self, node, pairs)
                if made is not None:
                    stack.extend(reversed(made))
                    continue
            if kind in transparent:
                drop = rules.drop | _PARENTHESES
                stack.extend([(child, "" if name in drop else name) for child, name in reversed(pairs)])
                continue
            if rules.trailing:
                pairs = _without_last_comma(pairs)
            tokens.append(OPEN + rules.names.get(kind, kind))
            stack.append(CLOSE)
            drop = rules.drop - rules.keep.get(kind, _NOTHING)
            stack.extend([(child, "" if name in drop else name) for child, name in reversed(pairs)])

    def inside(self, kind: str, pairs: Sequence[Item]) -> list[Item]:
        """What a node of this kind holds, in brackets, the tokens dropped that the language drops."""
        drop = self.rules.drop - self.rules.keep.get(kind, _NOTHING)
        kept: list[Item] = [OPEN + self.rules.names.get(kind, kind)]
        kept += [item if isinstance(item, str) or item[1] not in drop else (item[0], "") for item in pairs]
        kept.append(CLOSE)
        return kept

    def _skip(self, node: SgNode) -> None:
        span = node.range()
        self._gap(span.start.index)
        self._at = max(self._at, span.end.index)

    def _leaf(self, node: SgNode, kind: str) -> None:
        span = node.range()
        start, end = span.start.index, span.end.index
        if start > self._at:
            self._gap(start)
        if start == end:
            self._nothing(kind)
            return
        self._at = max(self._at, end)
        if kind == "ERROR":
            self.broken = True
        text = self.text[start:end]
        write = self.rules.leaves.get(kind)
        if write is not None:
            text = write(text)
        elif kind == text:
            text = " ".join(text.split())  # an operator of two words
        if text and not text.isspace():
            self.tokens.append(text)

    def _nothing(self, kind: str) -> None:
        """A leaf without text: the parser supposed it to be there, unless the grammar has such leaves."""
        if kind not in self.rules.empty:
            self.broken = True
            self.tokens.append(f"{OPEN}missing {kind}{CLOSE}")

    def _gap(self, start: int) -> None:
        """Text that no leaf covers still counts."""
        if self._at < start:
            # A line may be continued anywhere.
            words = self.text[self._at : start].replace("\\\n", " ").split()
            if words and not self.rules.drop.issuperset(words):
                self.tokens.append(" ".join(words))
            self._at = start


def _without_last_comma(pairs: list[Pair]) -> list[Pair]:
    kept = [at for at, (_, kind) in enumerate(pairs) if kind]
    if len(kept) < 2 or pairs[kept[-2]][1] != "," or pairs[kept[-1]][1] not in (")", "]", "}", ">"):
        return pairs
    return [(node, "" if at == kept[-2] else kind) for at, (node, kind) in enumerate(pairs)]
