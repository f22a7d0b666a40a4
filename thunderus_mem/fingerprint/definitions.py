"""The only access to ast-grep: parsing, parse errors, and the definitions in a tree.

A parser may crash its process or hang, so a suspicious text is tried in a child process first (`trial`).
"""

from __future__ import annotations

import contextlib
import os
import warnings
from typing import TYPE_CHECKING, Final, NoReturn

from thunderus_mem.startup import NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

    from ast_grep_py import Rule, SgNode

    TokenText = Callable[[SgNode], str]
    Names = Callable[[SgNode, str, TokenText], tuple[str, ...]]

GRAMMAR: Final = "0.51"
"""The version (major, minor) of ast-grep-py, whose wheel contains the grammars."""


def prepare() -> None:
    """Import the library before forking, so that the child process need not."""
    import ast_grep_py as _  # noqa: F401


def parse(text: str, language: str) -> SgNode:
    """The root of the syntax tree. The text must not contain NUL; its size and depth must have been
    checked."""
    from ast_grep_py import SgRoot

    # The grammar of Markdown does not accept a heading without a line break.
    ends = "" if language != "markdown" or text.endswith("\n") else "\n"
    return SgRoot(text + ends, language).root()


class Parsed(NamedTuple):
    """The syntax tree of a text, the grammar that read it, and the lines of its errors (``None``: not
    searched)."""

    root: SgNode
    grammar: str
    faults: list[int] | None


def parse_with(text: str, grammars: Sequence[str], empty: frozenset[str]) -> Parsed:
    """The tree by the first grammar that reads the text without an error, else with the fewest."""
    if len(grammars) == 1:
        return Parsed(parse(text, grammars[0]), grammars[0], None)
    tried: list[Parsed] = []
    for grammar in grammars:
        root = parse(text, grammar)
        tried.append(Parsed(root, grammar, faults(root, empty)))
        if not tried[-1].faults:
            return tried[-1]
    return min(tried, key=lambda one: len(one.faults or ()))


def find_kinds(root: SgNode, kinds: Iterable[str]) -> list[SgNode]:
    """Every node of one of these kinds, in the order of the text; searched natively, not in Python."""
    rules: list[Rule] = [{"kind": kind} for kind in kinds]
    return root.find_all({"rule": {"any": rules}}) if rules else []


def faults(root: SgNode, empty: frozenset[str]) -> list[int]:
    """The lines (from 1) with a parse error or a missing token."""
    found = root.find_all({"rule": {"any": [{"kind": "ERROR"}, {"regex": "^$"}]}})
    return sorted(
        {
            node.range().start.line + 1
            for node in found
            if node.kind() == "ERROR" or (node.kind() not in empty and node.parent() is not None)
        }
    )


def text_of(text: str, node: SgNode) -> str:
    """The text of a node; offsets are in characters."""
    span = node.range()
    return text[span.start.index : span.end.index]


def covers(node: SgNode, at: int) -> bool:
    """Whether a place in the text is in a node."""
    span = node.range()
    return span.start.index <= at < span.end.index


def is_in(root: SgNode, at: int, kinds: Collection[str]) -> bool:
    """Whether a place in the text is in a node of one of these kinds."""
    node: SgNode | None = root
    while node is not None and node.kind() not in kinds:
        node = next((child for child in node.children() if covers(child, at)), None)
    return node is not None


SCOPE: Final = ""
"""The label of a node that only qualifies the names in it and is not a definition."""


def by_field(node: SgNode, _kind: str, text: TokenText) -> tuple[str, ...]:
    """The name in the field ``name``."""
    name = node.field("name")
    return (text(name),) if name is not None else ()


def dotted(name: str) -> str:
    """A qualified name with dots, without template arguments."""
    depth, kept = 0, []
    for character in name:
        if character == "<" and not name.startswith("operator"):
            depth += 1
        elif character == ">" and depth:
            depth -= 1
        elif not depth:
            kept.append(character)
    return ".".join(part.strip() for part in "".join(kept).replace("::", ".").split(".") if part.strip())


def first(node: SgNode, kinds: tuple[str, ...], text: TokenText) -> str:
    """The text of the first named child of one of these kinds; "" when there is none."""
    return next((text(child) for child in node.named_children() if child.kind() in kinds), "")


def kinds(*groups: str) -> dict[str, str]:
    """Labels by kind of node, from groups such as ``type: struct_item enum_item``."""
    split = (group.partition(": ") for group in groups)
    return {kind: label for label, _, names in split for kind in names.split()}


class Table(NamedTuple):
    """The definitions of one language.

    ``kinds`` maps kinds of nodes to labels (`SCOPE` for nodes that only qualify names); ``names`` gives the
    names of a node, () when it defines nothing; ``wrappers`` are parents that belong to the node, ``before``
    are siblings directly before it that belong to it, ``behind`` gives nodes behind it that do; ``clauses``
    joins consecutive functions of one name.
    ``extent`` gives the nodes of a definition that is more than one node. ``bodies`` maps kinds that may be
    only a declaration (a prototype, an abstract method) to the kinds of children or grandchildren that make
    it a definition with a body; a decorator of the name ``stub`` marks such a declaration.
    """

    kinds: Mapping[str, str]
    names: Names = by_field
    wrappers: frozenset[str] = frozenset()
    before: frozenset[str] = frozenset()
    behind: Callable[[SgNode], list[SgNode]] | None = None
    clauses: bool = False
    bodies: Mapping[str, frozenset[str]] = {}
    stub: str = ""
    extent: Callable[[SgNode], tuple[SgNode, ...]] | None = None


class FoundDefinition(NamedTuple):
    """A definition: its dotted name, label, lines (from 1), last name and nodes; ``node`` is the one with the
    name."""

    name: str
    kind: str
    first: int
    last: int
    own: str
    nodes: tuple[SgNode, ...]
    label: str
    node: SgNode


class _Scope(NamedTuple):
    end: int
    prefix: str
    kind: str


def locate(text: str, root: SgNode, table: Table) -> list[FoundDefinition]:
    """Every named definition in the order of the text, including nested ones."""

    def of(node: SgNode) -> str:
        return text_of(text, node)

    found: list[FoundDefinition] = []
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
        nodes = table.extent(node) if table.extent is not None else (node,)
        end = nodes[-1].range().end.index
        if label != SCOPE:
            nodes = nodes if table.extent is not None else _belonging(node, table)
            for name in names:
                one = _found(outer, name, label, nodes, node)
                at = latest.get(outer.prefix)
                if table.clauses and at is not None and _is_clause(one, found[at]):
                    found[at] = found[at]._replace(last=one.last, nodes=found[at].nodes + one.nodes)
                    continue
                latest[outer.prefix] = len(found)
                found.append(one)
        scopes.append(_Scope(end, f"{outer.prefix}{names[0]}.", label))
    return found


def _found(outer: _Scope, name: str, label: str, nodes: tuple[SgNode, ...], node: SgNode) -> FoundDefinition:
    end = _last(nodes[-1]).range().end
    first = nodes[0].range().start.line + 1
    last = end.line + (1 if end.column else 0)
    own = name.rpartition(".")[2]
    inner = label == "function" and outer.kind in ("class", SCOPE, "type") and outer.prefix
    kind = "method" if inner else label
    return FoundDefinition(outer.prefix + name, kind, first, max(first, last), own, nodes, label, node)


def has_body(found: FoundDefinition, table: Table) -> bool:
    """Whether a definition is more than a declaration, such as a prototype or an abstract method."""
    if table.stub and found.nodes[-1] != found.node and table.stub in _decorators(found.nodes[-1]):
        return False
    wanted = table.bodies.get(found.node.kind())
    if wanted is None:
        return True
    children = found.node.children()
    return any(child.kind() in wanted for child in children) or any(
        inner.kind() in wanted for child in children for inner in child.children()
    )


def _decorators(node: SgNode) -> list[str]:
    """The last names of the decorators of a node."""
    kept = (child.text() for child in node.children() if child.kind() == "decorator")
    return [text.strip("@ \n").rpartition(".")[2] for text in kept]


def bodies(*groups: str) -> dict[str, frozenset[str]]:
    """The value of `Table.bodies`, from groups such as ``method_declaration: block``; nothing
    behind the colon: never a body."""
    return {kind: frozenset(inner.split()) for kind, _, inner in (group.partition(":") for group in groups)}


def _is_clause(one: FoundDefinition, former: FoundDefinition) -> bool:
    return one.label == "function" and (one.name, one.label) == (former.name, former.label)


def _last(node: SgNode) -> SgNode:
    """The end of a node: that of its last descendant that is not a comment."""
    while True:
        last = next((child for child in reversed(node.children()) if "comment" not in child.kind()), None)
        if last is None:
            return node
        node = last


def _belonging(node: SgNode, table: Table) -> tuple[SgNode, ...]:
    """The node with its wrappers, the siblings directly before it and the nodes behind it that belong to
    it."""
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
    return tuple(nodes) if table.behind is None else (*nodes, *table.behind(node))


def _alone(node: SgNode, outer: SgNode) -> bool:
    """Whether the wrapper contains no other definition."""
    kind = node.kind()
    return sum(child.kind() == kind for child in outer.children()) == 1


FAILS: Final = "the parser fails on this file"
SLOW: Final = "the parser takes too long on this file"
UNTRIED: Final = "the parser may crash on this file, and a child process is not available to try it"

_SECONDS: Final = 3
"""In CPU time, which does not depend on the load of the machine."""
_PATIENCE: Final = 20_000
"""In milliseconds of wall time, for work that blocks."""
_MEMORY: Final = 1 << 30
_MOST_FILES: Final = 65_536


def trial(work: Callable[[], object]) -> str:
    """Run the work in a child process; return "" or the reason of its failure.

    All modules it needs must be imported before. It has no effect on this process.
    """
    if not hasattr(os, "fork"):
        return UNTRIED
    import resource as _  # noqa: F401  the child must not import anything
    from select import poll

    reading, writing = os.pipe()
    try:
        child = _fork()
    except OSError:
        os.close(reading)
        os.close(writing)
        return UNTRIED
    if not child:
        _try(work, writing)
    os.close(writing)
    answer, ended = b"", False
    try:
        waiting = poll()
        waiting.register(reading)
        ended = bool(waiting.poll(_PATIENCE))
        answer = os.read(reading, 1) if ended else b""
    finally:
        os.close(reading)
        late = _end(child, kill=not ended)
    return "" if answer else SLOW if late else FAILS


def _fork() -> int:
    with warnings.catch_warnings():
        # Other threads may run: the child does not need their locks, and is killed if it blocks.
        warnings.simplefilter("ignore", DeprecationWarning)
        return os.fork()


def _end(child: int, *, kill: bool) -> bool:
    """Reap the child; return whether it was killed by a time limit."""
    from signal import SIGKILL, SIGXCPU

    with contextlib.suppress(ProcessLookupError, ChildProcessError):  # other code may reap children
        if kill:
            os.kill(child, SIGKILL)
        status = os.waitpid(child, 0)[1]
        return os.WIFSIGNALED(status) and os.WTERMSIG(status) in (SIGKILL, SIGXCPU)
    return kill


def _try(work: Callable[[], object], writing: int) -> NoReturn:
    """Run in the child. Never returns or raises."""
    code = 1
    try:
        _limit()
        silent = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(silent, stream)
        # The child must not keep a lock, database or pipe of the parent open.
        os.closerange(3, writing)
        os.closerange(writing + 1, _MOST_FILES)
        work()
        os.write(writing, b"1")
        code = 0
    finally:
        os._exit(code)


def _limit() -> None:
    import resource

    limits = {resource.RLIMIT_CORE: 0, resource.RLIMIT_CPU: _SECONDS}
    with contextlib.suppress(OSError), open("/proc/self/statm", "rb") as stream:
        limits[resource.RLIMIT_AS] = int(stream.read().split()[0]) * resource.getpagesize() + _MEMORY
    for what, most in limits.items():
        hard = resource.getrlimit(what)[1]
        soft = most if hard == resource.RLIM_INFINITY else min(most, hard)
        with contextlib.suppress(OSError, ValueError):
            resource.setrlimit(what, (soft, hard))
