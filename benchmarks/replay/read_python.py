"""Truth for Python, from the standard library's ``ast``."""

from __future__ import annotations

import ast
import warnings
from typing import TYPE_CHECKING, Any, Final

from benchmarks.replay.symbols import Reading, Symbol, digest

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_BLANK: Final = "·"
_Defined = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_LEFT_OUT: Final = frozenset(["type_comment", "kind", "ctx"])


def _is_text(statement: ast.stmt) -> bool:
    return (
        isinstance(statement, ast.Expr)
        and isinstance(statement.value, ast.Constant)
        and isinstance(statement.value.value, str)
    )


def _dump(node: Any, out: list[str]) -> None:
    if isinstance(node, list):
        out.append("[")
        for one in node:
            _dump(one, out)
        out.append("]")
    elif isinstance(node, ast.AST):
        out.append("(" + type(node).__name__)
        for name, value in ast.iter_fields(node):
            if name in _LEFT_OUT:
                continue
            inner = value
            if name == "body" and isinstance(node, (*_Defined, ast.Module)) and value and _is_text(value[0]):
                inner = value[1:]
            out.append(name)
            _dump(inner, out)
        out.append(")")
    else:
        out.append(f"{type(node).__name__}:{node!r} ")


def dump(node: ast.AST) -> str:
    """A node as text: no docstrings, positions, or spelling of constants."""
    out: list[str] = []
    _dump(node, out)
    return "".join(out)


def _blanked(text: str, own: str) -> str:
    """A dump without the definition's own name, where it is declared and where it is used as a name."""
    for field in ("id", "name"):
        text = text.replace(f"{field}str:{own!r} ", field + _BLANK)
    return text


def _targets(node: ast.stmt) -> list[str]:
    if isinstance(node, ast.Assign):
        return [target.id for target in node.targets if isinstance(target, ast.Name)]
    if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
        return [node.target.id]
    return []


def _first(node: ast.stmt) -> int:
    decorators: list[ast.expr] = getattr(node, "decorator_list", [])
    return min([node.lineno, *(one.lineno for one in decorators)])


def _blocks(node: ast.stmt) -> Iterator[list[ast.stmt]]:
    """The statements inside a statement that opens no scope: if, try, with, for …"""
    for name in ("body", "orelse", "finalbody"):
        yield getattr(node, name, [])
    for holder in (*getattr(node, "handlers", []), *getattr(node, "cases", [])):
        yield holder.body


def _found(body: Sequence[ast.stmt], prefix: str, *, inside: bool) -> Iterator[Symbol]:
    """Definitions in statements; ``inside`` a function, assignments are no definitions."""
    for node in body:
        if isinstance(node, _Defined):
            kind = "class" if isinstance(node, ast.ClassDef) else "function"
            name = prefix + node.name
            yield _symbol(node, name, kind)
            yield from _found(node.body, name + ".", inside=kind == "function")
            continue
        if not inside:
            for target in _targets(node):
                yield _symbol(node, prefix + target, "const")
        for block in _blocks(node):
            yield from _found(block, prefix, inside=inside)


def _symbol(node: ast.stmt, name: str, kind: str) -> Symbol:
    own = name.rpartition(".")[2]
    last = node.end_lineno or node.lineno
    text = dump(node)
    marks = [ast.unparse(one).rpartition(".")[2] for one in getattr(node, "decorator_list", [])]
    return Symbol(
        name, kind, _first(node), last, digest(text), digest(_blanked(text, own)), "overload" not in marks
    )


class PythonReader:
    """Reads files in this process."""

    suffixes: tuple[str, ...] = (".py", ".pyi")
    made_of = __file__

    def read(self, files: Sequence[tuple[str, bytes]]) -> list[Reading]:
        """One reading for every file; old Python 2 and newer syntax than this interpreter's are trouble."""
        return [self._one(data) for _, data in files]

    def _one(self, data: bytes) -> Reading:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                tree = ast.parse(data)
            return Reading(tuple(_found(tree.body, "", inside=False)))
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            return Reading((), f"{type(error).__name__}: {error}")
