"""Every regular expression of the package, from the syntax trees of its sources, and what is done with it.

A pattern compiled once for a module, one given to ``re`` where it is used, one that a function compiles from
a text it is given: none can be missed. What is built from values at run time has samples here.
"""

from __future__ import annotations

import ast
import importlib
import json
import re
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from thunderus_mem.document.schema import SCHEMA_NAMES, schema_text
from thunderus_mem.fingerprint.source import _texts
from thunderus_mem.safety.concealed import PLACES
from thunderus_mem.safety.injection_rules import SIGNS
from thunderus_mem.safety.secret_rules import SECRET_RULES
from thunderus_mem.startup import LazyPattern

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import ModuleType

PACKAGE: Final = Path(__file__).resolve().parents[2] / "thunderus_mem"
USES: Final = ("match", "fullmatch", "search", "finditer")
_CALLS: Final = ("compile", *USES, "findall", "sub", "subn", "split")


def _in_schemas() -> tuple[str, ...]:
    """Every pattern that the JSON Schemas ask for."""
    found: dict[str, None] = {}

    def note(pairs: list[tuple[str, object]]) -> None:
        found.update((value, None) for key, value in pairs if key == "pattern" and isinstance(value, str))

    for name in SCHEMA_NAMES:
        json.loads(schema_text(name), object_pairs_hook=note)
    return tuple(found)


# Patterns made from values: what they are like. A site that cannot be read and is not here is an error.
BUILT: Final[dict[str, tuple[str, ...]]] = {
    "document.schema._of_text": _in_schemas(),
    "safety.secret_rules._compiled": (SECRET_RULES[0].pattern.pattern,),
    "document.frontmatter.write.entry_lines": (
        r"(?: {1,}#[^\n]*\n?|[ \t]*\r?\n(?= {1,}#))*",
        r"(?: {7,}#[^\n]*\n?)*",
    ),
    "interop.migrate._present": (r"""(['"])flag_for_review\1""",),
    "authoring.rename.mentions": (r"(?<![\w.-])(?:fact\.ports|FACTS/ports\.md)(?![\w-]|\.\w)",),
    "document.frontmatter.edit._first_comment": (r" {1}#",),
    "cli.text.pieces": ("\uf8e0(?:[bdrygcm\uf000-\uf21f])|\uf8e1|.",),
    "authoring.rename._others": (r"fact\.ports|ports",),
    "fingerprint.source._texts": tuple(
        _texts(language).pattern.decode("latin-1") for language in ("c", "lua", "php", "kotlin")
    ),
    "fingerprint.source.CodeSource.may_define": (r"(?<!\w)limit(?!\w)",),
    "verdicts.suggest._Search._owner": (r"\bget_token\b",),
    "search.snippets.Snippets._marks": (r"(?i)cache|token|parse_http2", "(?i)a|b|c"),
}


class Pattern(NamedTuple):
    """One expression: its name, what is done with it, and the expression itself."""

    name: str
    uses: frozenset[str]
    compiled: re.Pattern[str]


class _Site(NamedTuple):
    """A call of ``re``: where it is, what it does, and with what."""

    module: str
    scope: str
    use: str
    pattern: ast.expr
    flags: int
    parameters: frozenset[str]


class _Finder(ast.NodeVisitor):
    def __init__(self, module: str) -> None:
        self.module = module
        self.scope: list[str] = []
        self.parameters: frozenset[str] = frozenset()
        self.sites: list[_Site] = []
        self.done: dict[ast.AST, str] = {}

    def visit_Attribute(self, node: ast.Attribute) -> None:
        """``re.compile(…).match(…)``: what is done with a pattern right where it is made."""
        self.done[node.value] = node.attr
        self.generic_visit(node)

    def visit_Assign(self, node: ast.Assign) -> None:
        """``own = re.compile(…)``: it is done under that name."""
        if isinstance(node.value, ast.Call):
            self.done[node.value] = ast.unparse(node.targets[0])
        self.generic_visit(node)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        before = self.parameters
        self.parameters = before | {one.arg for one in node.args.args}
        self.visit_ClassDef(node)
        self.parameters = before

    def visit_ClassDef(self, node: ast.ClassDef | ast.FunctionDef) -> None:
        self.scope.append(node.name)
        self.generic_visit(node)
        self.scope.pop()

    def visit_Call(self, node: ast.Call) -> None:
        does = node.func
        if isinstance(does, ast.Attribute) and does.attr in _CALLS and ast.unparse(does.value) == "re":
            scope, flags = ".".join(self.scope), _flags(node.args)
            use = self.done.get(node, does.attr) if does.attr == "compile" else does.attr
            self.sites.append(_Site(self.module, scope, use, node.args[0], flags, self.parameters))
        self.generic_visit(node)


def _flags(arguments: list[ast.expr]) -> int:
    names = [one.attr for one in arguments if isinstance(one, ast.Attribute)]
    return sum(int(getattr(re, name)) for name in names if name.isupper())


def trees() -> Iterator[tuple[str, ast.Module]]:
    """Name (from the package on) and syntax tree of every module."""
    for path in sorted(PACKAGE.rglob("*.py")):
        name = ".".join(path.relative_to(PACKAGE).with_suffix("").parts).removesuffix("__init__").rstrip(".")
        if name not in ("__main__", "startup"):
            yield name, ast.parse(path.read_text(encoding="utf-8"))


def _module(name: str) -> ModuleType:
    return importlib.import_module(f"thunderus_mem.{name}".rstrip("."))


def _uses(nodes: list[ast.AST]) -> Iterator[tuple[str, str]]:
    """What is done with a name: ``_NAME.match(…)``, ``pattern(_NAME).sub(…)``, or under another name."""
    other = {
        target.id: list(_names(node.value))
        for node in nodes
        if isinstance(node, ast.Assign) and not isinstance(node.value, ast.Constant)
        for target in node.targets
        if isinstance(target, ast.Name) and not target.id.isupper()
    }
    for node in nodes:
        if isinstance(node, ast.Attribute) and node.attr in (*_CALLS, "scanner"):
            use = node.attr if node.attr in USES else "finditer"
            for name in _names(node.value):
                yield from ((known, use) for known in (name, *other.get(name, ())))


def _names(expression: ast.AST) -> Iterator[str]:
    return (node.id for node in ast.walk(expression) if isinstance(node, ast.Name))


def _named(expression: ast.expr) -> list[str]:
    """The names that an argument may be: one, or either of two."""
    if isinstance(expression, ast.IfExp):
        return _named(expression.body) + _named(expression.orelse)
    return [expression.id] if isinstance(expression, ast.Name) else []


def _compiled_from(nodes: list[ast.AST], makers: set[str]) -> Iterator[str]:
    """Names of texts given to the functions that compile what they are given."""
    for node in nodes:
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in makers:
            yield from (name for argument in node.args for name in _named(argument))


@cache
def patterns() -> list[Pattern]:
    """All of them, by name. Raises `LookupError` for a site that cannot be read."""
    parsed = dict(trees())
    nodes = {module: list(ast.walk(tree)) for module, tree in parsed.items()}
    uses: dict[tuple[str, str], set[str]] = {}
    for module in parsed:
        for name, use in _uses(nodes[module]):
            # A name of a module's own is used in it alone; others may be imported from anywhere.
            place = module if name.startswith("_") else ""
            uses.setdefault((place, name), set()).add(use)
    found: dict[str, Pattern] = {}
    makers: set[str] = set()
    for module, tree in parsed.items():
        finder = _Finder(module)
        finder.visit(tree)
        for number, site in enumerate(finder.sites):
            if isinstance(site.pattern, ast.Name) and site.pattern.id in site.parameters:
                makers.add(site.scope.rpartition(".")[2])
            elif site.scope:
                found.update((one.name, one) for one in _inline(site, number, uses))
        for name, value in vars(_module(module)).items():
            if isinstance(value, LazyPattern):
                value = value.compiled
            if isinstance(value, re.Pattern) and isinstance(value.pattern, str):
                found[f"{module}.{name}"] = Pattern(f"{module}.{name}", _seen(uses, module, name), value)
    for module in parsed:
        # A local name comes from a list of texts: those are named below, one by one.
        for name in filter(vars(_module(module)).__contains__, _compiled_from(nodes[module], makers)):
            compiled = re.compile(vars(_module(module))[name])
            found[f"{module}.{name}"] = Pattern(f"{module}.{name}", _seen(uses, module, name), compiled)
    for rule in SECRET_RULES:
        name = f"safety.secret_rules[{rule.kind}]"
        found[name] = Pattern(name, frozenset(["finditer"]), rule.pattern)
        if rule.gate:
            found[f"{name}.gate"] = Pattern(f"{name}.gate", frozenset(["match"]), re.compile(rule.gate))
    for number, sign in enumerate(SIGNS):
        for place, part in enumerate(sign.parts):
            name = f"safety.injection[{number:03d}.{place}]"
            found[name] = Pattern(name, frozenset(["finditer"]), re.compile(part))
    for row in PLACES:
        name = f"safety.concealed[{row.name}]"
        found[name] = Pattern(name, frozenset(["match"]), re.compile(row.pattern))
    return [found[name] for name in sorted(found)]


def _seen(uses: dict[tuple[str, str], set[str]], module: str, name: str) -> frozenset[str]:
    return frozenset(uses.get((module if name.startswith("_") else "", name), {"finditer"}))


def _inline(site: _Site, number: int, known: dict[tuple[str, str], set[str]]) -> Iterator[Pattern]:
    """The pattern of a call in a function: written there, a text of the module, or built."""
    name = f"{site.module}.{site.scope}"
    does = site.use if site.use in USES else "finditer"
    uses = {does} if site.use in _CALLS else known.get(("", site.use), {does})
    texts = BUILT.get(name, ())
    value = getattr(site.pattern, "value", None)
    if isinstance(site.pattern, ast.Name):
        value = vars(_module(site.module)).get(site.pattern.id)
    if isinstance(value, str | bytes):
        texts = (value if isinstance(value, str) else value.decode("latin-1"),)
    if not texts:
        raise LookupError(
            f"{name}: add samples of {ast.unparse(site.pattern)} to BUILT in tests/support/patterns.py"
        )
    for at, text in enumerate(texts):
        yield Pattern(f"{name}#{number}.{at}", frozenset(uses), re.compile(text, site.flags))
