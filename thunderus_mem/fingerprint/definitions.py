"""The one door to ast-grep: texts parsed to trees, where a parse failed, and the definitions in a tree.

A parser may end its process or never come back: a doubtful text is tried in a child that can be lost
(`trial`).
"""

from __future__ import annotations

import contextlib
import os
import warnings
from typing import TYPE_CHECKING, Final, NamedTuple, NoReturn

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from ast_grep_py import Rule, SgNode

    TokenText = Callable[[SgNode], str]
    Names = Callable[[SgNode, str, TokenText], tuple[str, ...]]

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


SCOPE: Final = ""
"""The label of a node that names what is in it and is no definition itself."""


def by_field(node: SgNode, _kind: str, text: TokenText) -> tuple[str, ...]:
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


def first(node: SgNode, kinds: tuple[str, ...], text: TokenText) -> str:
    """The text of the first named child of one of these kinds, "" when there is none."""
    return next((text(child) for child in node.named_children() if child.kind() in kinds), "")


def kinds(*groups: str) -> dict[str, str]:
    """Kinds of nodes with what people call them, from groups as ``type: struct_item enum_item``."""
    split = (group.partition(": ") for group in groups)
    return {kind: label for label, _, names in split for kind in names.split()}


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


class FoundDefinition(NamedTuple):
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


def locate(text: str, root: SgNode, table: Table) -> list[FoundDefinition]:
    """Every named definition in the order of the text, those inside others included."""

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


def _found(outer: _Scope, name: str, label: str, nodes: tuple[SgNode, ...]) -> FoundDefinition:
    end = _last(nodes[-1]).range().end
    first = nodes[0].range().start.line + 1
    last = end.line + (1 if end.column else 0)
    own = name.rpartition(".")[2]
    inner = label == "function" and outer.kind in ("class", SCOPE, "type") and outer.prefix
    kind = "method" if inner else label
    return FoundDefinition(outer.prefix + name, kind, first, max(first, last), own, nodes, label)


def _is_clause(one: FoundDefinition, former: FoundDefinition) -> bool:
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


FAILS: Final = "its parser fails on it"
SLOW: Final = "its parser takes too long"
UNTRIED: Final = "its parser may fail on it, which cannot be tried here"

_SECONDS: Final = 3
"""Of processor time: what else the machine does says nothing of the file."""
_PATIENCE: Final = 20_000
"""Milliseconds of the clock, for work that waits instead of working."""
_MEMORY: Final = 1 << 30
_MOST_FILES: Final = 65_536


def trial(work: Callable[[], object]) -> str:
    """Do the work in a child process, and say why it did not end well; "" when it did.

    All modules the work needs are to be imported before. Nothing it does is seen here.
    """
    if not hasattr(os, "fork"):
        return UNTRIED
    import resource as _  # noqa: F401  the child shall import nothing
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
        # Other threads may run: the child does not need what they may hold, and is given up when it waits.
        warnings.simplefilter("ignore", DeprecationWarning)
        return os.fork()


def _end(child: int, *, kill: bool) -> bool:
    """Whether the child was ended by a limit of time; it is gone afterwards."""
    from signal import SIGKILL, SIGXCPU

    with contextlib.suppress(ProcessLookupError, ChildProcessError):  # somebody else may wait for children
        if kill:
            os.kill(child, SIGKILL)
        status = os.waitpid(child, 0)[1]
        return os.WIFSIGNALED(status) and os.WTERMSIG(status) in (SIGKILL, SIGXCPU)
    return kill


def _try(work: Callable[[], object], writing: int) -> NoReturn:
    """What the child does. No way leads out of here, not even an exception."""
    code = 1
    try:
        _limit()
        silent = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(silent, stream)
        # A lock, a database or a pipe of the parent must not stay open because the child lives on.
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
