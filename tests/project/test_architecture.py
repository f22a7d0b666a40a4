"""The shape of the package: a package for each concept, one order of imports, deep modules, no cycles.

It also holds one door for each library, and that a search loads nothing heavy.
"""

from __future__ import annotations

import ast
import io
import re
import subprocess
import sys
import tokenize
import tomllib
from collections import Counter
from functools import cache
from typing import TYPE_CHECKING

import pytest

from tests.conftest import PROJECT, sealed_environment

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

PACKAGE = PROJECT / "thunderus_mem"

ORDER = (
    *("startup", "diagnostic", "errors", "document", "safety", "git", "store", "log", "index", "memory"),
    *("fingerprint", "verdicts", "search", "merge", "history", "lint", "review", "authoring", "recap"),
    *("garden", "interop", "doctor", "hooks", "watch", "mcp", "cli", "__main__"),
)
"""The packages: a module imports from its own package and from those to the left, for types as well."""

DOORS: dict[str, tuple[str, ...]] = {
    "jsonschema": ("document/schema.py",),
    "rfc3339_validator": ("document/schema.py",),
    "referencing": ("document/schema.py",),
    "frontmatter": ("interop/posts.py",),
    "ruamel": ("document/frontmatter/read.py", "interop/streams.py"),
    "yaml": (),
    "git": ("git/commits.py",),
    "sqlite3": ("index/database.py", "interop/foreign_database.py"),
    "watchdog": ("watch.py",),
    "rich": ("cli/drawing.py",),
    "typer": ("cli/",),
    "ast_grep_py": ("fingerprint/definitions.py",),
    "pygments": ("fingerprint/plain.py",),
    "jinja2": ("recap/template.py",),
    "ahocorasick_rs": ("safety/literals.py",),
    "tomlkit": ("store/config_writer.py",),
    "mcp": ("mcp/server.py",),
    "mcp_types": ("mcp/server.py",),
    "anyio": ("mcp/server.py",),
    "pydantic": (),
    "click": (),
}
"""Library → the files (or folder) that may import it."""

HEAVY = (
    "jsonschema", "git", "ruamel", "frontmatter", "watchdog", "rich", "pydantic", "numpy", "asyncio",
    "ast_grep_py", "pygments", "jinja2", "ahocorasick_rs", "tomlkit", "mcp", "mcp_types", "anyio",
)  # fmt: skip


# What is wider or longer than it may be. A list may only get shorter.
MANY_NAMES: frozenset[str] = frozenset()
MANY_PARAMETERS: frozenset[str] = frozenset()
LONG_FUNCTIONS: frozenset[str] = frozenset()
CYCLES: frozenset[frozenset[str]] = frozenset()

SQL = re.compile(
    r"^\s*(SELECT .* FROM|INSERT (OR \w+ )?INTO|UPDATE \w+ SET|DELETE FROM"
    r"|CREATE (TEMP |VIRTUAL )?(TABLE|INDEX)|PRAGMA)",
    re.MULTILINE | re.DOTALL,
)


def modules() -> list[Path]:
    return sorted(path for path in PACKAGE.rglob("*.py") if "__pycache__" not in path.parts)


def name_of(path: Path) -> str:
    """``search.query`` for ``search/query.py``, ``search`` for ``search/__init__.py``."""
    return ".".join(path.relative_to(PACKAGE).with_suffix("").parts).removesuffix(".__init__")


@cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


@cache
def nodes_of(path: Path) -> tuple[ast.AST, ...]:
    """All nodes of a module, walked once for all tests."""
    return tuple(ast.walk(tree_of(path)))


def for_types_only(path: Path) -> set[int]:
    return {
        id(inner)
        for node in nodes_of(path)
        if isinstance(node, ast.If) and ast.unparse(node.test) in ("TYPE_CHECKING", "typing.TYPE_CHECKING")
        for inner in ast.walk(ast.Module(node.body, []))
    }


@cache
def imports(path: Path) -> tuple[tuple[str, int, bool], ...]:
    """Every imported module's full name, its line, and whether only the type checker sees it."""
    return tuple(_imports(path))


def _imports(path: Path) -> Iterator[tuple[str, int, bool]]:
    for_types = for_types_only(path)
    for node in nodes_of(path):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.name, node.lineno, id(node) in for_types
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module, node.lineno, id(node) in for_types
            for alias in node.names:
                yield f"{node.module}.{alias.name}", node.lineno, id(node) in for_types


@cache
def graph() -> dict[str, set[str]]:
    """Module → the modules of the package it imports, inside functions and for types as well."""
    known = {name_of(path): path for path in modules()}
    found = {}
    for name, path in known.items():
        asked = (other.removeprefix("thunderus_mem.") for other, _, _ in imports(path))
        found[name] = {other for other in asked if other in known and other != name}
    return found


def package_of(name: str) -> str:
    return name.split(".")[0]


def functions(path: Path) -> Iterator[ast.FunctionDef]:
    for node in nodes_of(path):
        if isinstance(node, ast.FunctionDef):
            yield node


def test_every_module_is_in_a_package_of_the_order() -> None:
    assert {package_of(name_of(path)) for path in modules()} - {"__init__"} == set(ORDER)


def test_imports_follow_the_layer_order() -> None:
    place = {name: at for at, name in enumerate(ORDER)}
    wrong = [
        f"{name} imports {other}"
        for name, others in graph().items()
        if name != "__init__"
        for other in others
        if other != "__init__" and place[package_of(other)] > place[package_of(name)]
    ]
    assert wrong == []


def test_no_import_cycle() -> None:
    """Strongly connected modules, imports inside functions and for types included (Tarjan)."""
    found: set[frozenset[str]] = set()
    number: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []

    def visit(name: str) -> None:
        number[name] = low[name] = len(number)
        stack.append(name)
        for other in graph()[name]:
            if other not in number:
                visit(other)
                low[name] = min(low[name], low[other])
            elif other in stack:
                low[name] = min(low[name], number[other])
        if low[name] == number[name]:
            at = stack.index(name)
            if len(stack) - at > 1:
                found.add(frozenset(stack[at:]))
            del stack[at:]

    for name in graph():
        if name not in number:
            visit(name)
    assert found == CYCLES


def test_no_test_file_has_the_name_of_another() -> None:
    """Without packages of tests, pytest imports only one of them."""
    names = Counter(path.name for path in (PROJECT / "tests").rglob("test_*.py"))
    assert [name for name, count in names.items() if count > 1] == []


def test_no_public_class_name_twice() -> None:
    where: dict[str, list[str]] = {}
    for path in modules():
        for node in tree_of(path).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                where.setdefault(node.name, []).append(name_of(path))
    assert {name: found for name, found in where.items() if len(found) > 1} == {}


def test_only_the_index_uses_the_database() -> None:
    """SQL over the store, and the connection, stay in ``index/``; one module reads databases of others."""
    wrong = set()
    for path in modules():
        if package_of(name_of(path)) == "index" or name_of(path) == "interop.foreign_database":
            continue
        for node in nodes_of(path):
            sql = isinstance(node, ast.Constant) and isinstance(node.value, str) and SQL.search(node.value)
            if sql or (isinstance(node, ast.Attribute) and node.attr == "database"):
                wrong.add(name_of(path))
    assert wrong == set()


def test_modules_have_few_public_names() -> None:
    """At most 12 are used from outside the package; errors and tables of rules are exempt."""
    used: dict[str, set[str]] = {}
    for path in modules():
        for node in nodes_of(path):
            if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("thunderus_mem."):
                module = node.module.removeprefix("thunderus_mem.")
                if package_of(module) != package_of(name_of(path)):
                    used.setdefault(module, set()).update(alias.name for alias in node.names)
    modules_only = {name for name in used if name in graph() and name != "errors"}
    assert {name for name in modules_only if len(used[name]) > 12} == MANY_NAMES


def test_functions_are_short_and_take_few_parameters() -> None:
    """At most 60 lines and 8 parameters; the parameters of a command are its options."""
    long, wide = set(), set()
    for path in modules():
        name = name_of(path)
        for node in functions(path):
            given = node.args.posonlyargs + node.args.args + node.args.kwonlyargs
            if (node.end_lineno or 0) - node.lineno >= 60:
                long.add(f"{name}.{node.name}")
            count = len([one for one in given if one.arg not in ("self", "cls")])
            if count > 8 and package_of(name) != "cli":
                wide.add(f"{name}.{node.name}")
    assert (long, wide) == (LONG_FUNCTIONS, MANY_PARAMETERS)


def test_no_module_is_longer_than_800_lines() -> None:
    assert [name_of(path) for path in modules() if path.read_text(encoding="utf-8").count("\n") > 800] == []


def test_each_library_is_imported_in_one_module() -> None:
    wrong = []
    for path in modules():
        relative = path.relative_to(PACKAGE).as_posix()
        for name, line, for_types in imports(path):
            doors = DOORS.get(name.split(".")[0])
            if doors is None or for_types or relative in doors:
                continue
            if not any(door.endswith("/") and relative.startswith(door) for door in doors):
                wrong.append(f"{relative}:{line} imports {name}")
    assert wrong == []


def test_heavy_libraries_are_imported_inside_functions() -> None:
    wrong = []
    for path in modules():
        for node in tree_of(path).body:
            names = []
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                names = [node.module or ""]
            wrong += [f"{path.name}: {name}" for name in names if name.split(".")[0] in HEAVY]
    assert wrong == []


def test_no_module_has_a_meaningless_name() -> None:
    empty = {"utils", "helpers", "manager", "common", "misc"}
    assert [path.name for path in modules() if path.stem in empty] == []


def test_every_module_imports_alone_without_heavy_libraries(sealed: Path) -> None:
    """In one process, in the order of names and, all forgotten again, in the other order.

    As no import goes in a circle, a module that loads before what it imports, and after, loads alone as well.
    """
    names = [f"thunderus_mem.{name}".removesuffix(".__init__") for name in map(name_of, modules())]
    code = """
import importlib, sys
heavy = set(sys.argv[1].split(","))
for names in (sys.argv[2:], sys.argv[:1:-1]):
    for known in [known for known in sys.modules if known.split(".")[0] == "thunderus_mem"]:
        del sys.modules[known]
    for name in names:
        importlib.import_module(name)
        found = heavy & {known.split(".")[0] for known in sys.modules}
        if found:
            sys.exit(f"{name} loads {sorted(found)}")
"""
    done = subprocess.run(
        [sys.executable, "-c", code, ",".join(set(HEAVY) - {"asyncio"}), *names],
        env=sealed_environment(sealed),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


GUARDED = {
    "help": ("--help",),
    "version": ("--version",),
    "command help": ("search", "--help"),
    "search": ("search", "words"),
    "context": ("context", "words"),
    "completion of commands": ("--complete", "s"),
    "completion of options": ("--complete", "search", "--"),
    "completion of ids": ("--complete", "show", "fact."),
    "config": ("config", "show"),
    "hook": ("hooks", "run", "pre-commit"),
    "lint": ("lint", "--staged"),
    "add": ("add", "fact", "One fact", "--body", "Text."),
    "show": ("show", "fact.a"),
    "list": ("list",),
}
WITH_TYPER = frozenset(("help", "version", "command help", "config"))


@pytest.mark.parametrize("name", GUARDED)
def test_quick_commands_load_nothing_heavy(name: str, tmp_path: Path, sealed: Path) -> None:
    (tmp_path / ".thunderus" / "memory").mkdir(parents=True)
    unwanted = HEAVY if name in WITH_TYPER else (*HEAVY, "typer", "inspect", "dataclasses")
    code = """
import atexit, os, sys
heavy = set(sys.argv.pop(1).split(","))
def leave(code):
    found = heavy & {name.split(".")[0] for name in sys.modules}
    sys.stderr.write("\\nheavy: " + ",".join(sorted(found)) + "\\n")
    sys.stderr.flush()
    sys.exit(0)
os._exit = leave
sys.argv[0] = "thunderus-mem"
from thunderus_mem.__main__ import main
try:
    main()
except SystemExit as done:
    leave(done.code)
"""
    done = subprocess.run(
        [sys.executable, "-c", code, ",".join(unwanted), *GUARDED[name]],
        cwd=tmp_path,
        env=sealed_environment(sealed),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stderr.strip().splitlines()[-1] == "heavy:", done.stderr


NOT_FOR_A_SEARCH = (
    "typer", "dataclasses", "hashlib", "json", "tomllib", "logging", "tempfile", "shlex",
    "thunderus_mem.diagnostic", "thunderus_mem.document.document", "thunderus_mem.document.frontmatter.nodes",
    "thunderus_mem.document.ids", "thunderus_mem.document.timestamp", "thunderus_mem.index.writer",
    "thunderus_mem.index.writer", "thunderus_mem.store.config_keys",
    "thunderus_mem.store.files", "thunderus_mem.git.repository", "thunderus_mem.verdicts.judge",
    "thunderus_mem.authoring.show", "thunderus_mem.index.log",
)  # fmt: skip
"""What costs a search milliseconds and gives it nothing while the index is fresh."""


def loading(
    folder: Path, environ: dict[str, str], command: list[str], unwanted: tuple[str, ...]
) -> tuple[object, ...]:
    """The exit code of a command (1 if it loads an unwanted module), and the lines on stderr."""
    code = (
        "import sys; from thunderus_mem.cli.app import run;"
        f"code = run({command!r});"
        "sys.exit(code or ' '.join(name for name in sys.argv[1:] if name in sys.modules) or 0)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *unwanted],
        cwd=folder,
        env=environ,
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, *done.stderr.strip().splitlines()


def test_search_of_a_fresh_index_loads_only_what_it_needs(tmp_path: Path, sealed: Path) -> None:
    (tmp_path / ".thunderus" / "memory").mkdir(parents=True)
    # Settings in the environment would have to be looked up in their table.
    plain = {
        name: value
        for name, value in sealed_environment(sealed).items()
        if not name.startswith("THUNDERUS_MEM_")
    }
    loading(tmp_path, plain, ["search", "words"], ())  # builds the index
    assert loading(tmp_path, plain, ["search", "words"], NOT_FOR_A_SEARCH) == (0, "No matches")
    added = [
        "add",
        "fact",
        "Words",
        "--tag",
        "net",
        "--body",
        "The keys of 12 users, see ADR-0012.",
    ]
    loading(tmp_path, plain, added, ())
    for command in (["search", "words"], ["search", "--json", "words"], ["list"], ["show", "fact.words"]):
        assert loading(tmp_path, plain, command, FORMATS_OF_SECRETS)[0] == 0, command


FORMATS_OF_SECRETS = ("thunderus_mem.safety.secrets", "thunderus_mem.safety.secret_rules")
"""What output loads only if it could contain a secret."""


NOT_FOR_A_CONTEXT = (
    "typer", "dataclasses", "hashlib", "json", "tomllib", "logging", "tempfile", "shlex",
    "thunderus_mem.document.document", "thunderus_mem.document.timestamp", "thunderus_mem.git.repository",
    "thunderus_mem.index.log_rows", "thunderus_mem.log.line", "thunderus_mem.verdicts.judge",
)  # fmt: skip
"""What costs a context with passages milliseconds, and gives it nothing while index and log are fresh."""


def test_modules_of_a_context_load_only_what_it_needs() -> None:
    modules = ("search.context", "memory.reviewed", "index.log", "log.reader")
    code = (
        f"import sys, {', '.join(f'thunderus_mem.{name}' for name in modules)};"
        "sys.exit(' '.join(name for name in sys.argv[1:] if name in sys.modules) or 0)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *NOT_FOR_A_CONTEXT],
        cwd=PROJECT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")


NOT_FOR_AN_ADD = (
    "shlex", "tempfile", "tomllib", "logging", "thunderus_mem.git.history", "thunderus_mem.merge.documents",
    "thunderus_mem.verdicts.judge", "thunderus_mem.lint.lint", "thunderus_mem.lint.runner",
    "thunderus_mem.search.search", "thunderus_mem.authoring.anchor",
)  # fmt: skip
"""What costs an ``add`` milliseconds and gives it nothing."""


def test_add_loads_only_what_it_needs(tmp_path: Path, sealed: Path) -> None:
    (tmp_path / ".thunderus" / "memory").mkdir(parents=True)
    command = ["add", "fact", "Ports", "--tag", "net", "--body", "The server listens on port 8080."]
    assert loading(tmp_path, sealed_environment(sealed), command, NOT_FOR_AN_ADD)[:2] == (0, "Added:")


def test_completion_loads_no_typer(tmp_path: Path, sealed: Path) -> None:
    code = (
        "import sys; from thunderus_mem.cli.complete import answer; answer(sys.argv[1:], {});"
        "sys.exit('typer' in sys.modules)"
    )
    for words in (["s"], ["show", "fact."]):
        done = subprocess.run(
            [sys.executable, "-c", code, *words], cwd=tmp_path, env=sealed_environment(sealed), check=False
        )
        assert done.returncode == 0


def test_typer_is_pinned_below_the_release_that_doubled_its_start() -> None:
    from importlib.metadata import version

    project = tomllib.loads((PROJECT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    (pin,) = [line for line in project["dependencies"] if line.startswith("typer")]
    assert "<0.29" in pin
    assert tuple(map(int, version("typer").split(".")[:2])) < (0, 29)


def test_imported_packages_are_declared() -> None:
    project = tomllib.loads((PROJECT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = [line for lines in project["optional-dependencies"].values() for line in lines]
    declared = " ".join([*project["dependencies"], *extras]).lower()
    names = {"frontmatter": "python-frontmatter", "git": "gitpython", "ruamel": "ruamel.yaml"}
    names |= {"anyio": "mcp", "mcp_types": "mcp"}  # which depends on both
    ours = {"thunderus_mem", "tests", "__future__"} | set(sys.stdlib_module_names)
    wrong = set()
    for path in modules():
        for name, _, for_types in imports(path):
            first = name.split(".")[0]
            if first in ours or for_types or first == "referencing":
                continue
            if names.get(first, first.replace("_", "-")) not in declared:
                wrong.add(first)
    assert wrong == set()


def test_readme_lists_every_package_and_where_it_is_used() -> None:
    project = tomllib.loads((PROJECT / "pyproject.toml").read_text(encoding="utf-8"))
    declared = [*project["project"]["dependencies"], *project["dependency-groups"]["dev"]]
    table = (PROJECT / "README.md").read_text(encoding="utf-8").partition("## Which package does what")[2]
    rows = re.findall(r"^\| ([a-z][^|]*) \| `([^`]+)` \|", table.partition("\n## ")[0], re.MULTILINE)
    used = {name.partition(" (")[0]: place for names, place in rows for name in names.split(", ")}
    assert used.keys() - {"sqlite3", "package"} == {re.split("[<>=]", line)[0] for line in declared}
    libraries = {"frontmatter": "python-frontmatter", "git": "gitpython", "ruamel": "ruamel.yaml"}
    for library, files in DOORS.items():
        name = libraries.get(library, library.replace("_", "-"))
        assert name not in used or used[name] == files[0].rstrip("/"), name


SMALL_MODULES: dict[str, str] = {
    "safety.apart": "the pieces of a text that are no prose, kept apart from who judges them",
    "index.caches": "the format of a file in indexes/, kept apart from those who judge",
    "interop.foreign_database": "the only module of the package with SQL",
    "interop.jsonl": "a format is the module of its name",
    "index.log_rows": "loaded only when a shard has changed, with all that reads events",
}
"""Modules below 60 lines of code with one importer, and why each is a module all the same."""

GERUNDS: dict[str, str] = {
    "cli.drawing": "what is drawn on a terminal",
}
"""Modules whose names end in -ing, and why: a module is named by what it holds, not by what it does."""


def code_lines(path: Path) -> int:
    """Lines with code: no docstring, comment or blank line, and no import."""
    text = path.read_text(encoding="utf-8")
    left_out: set[int] = set()
    for node in nodes_of(path):
        documented = isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef))
        alone = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        if isinstance(node, (ast.Import, ast.ImportFrom)) or (alone and not documented):
            left_out.update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    lines = {
        line
        for token in tokenize.generate_tokens(io.StringIO(text).readline)
        if token.type not in NO_CODE
        for line in range(token.start[0], token.end[0] + 1)
    }
    return len(lines - left_out)


NO_CODE = (
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENDMARKER,
)


def importers(name: str) -> list[str]:
    return [other for other, others in graph().items() if name in others]


NOT_DESCRIBED: frozenset[str] = frozenset((*("authoring", "history", "log", "memory", "review", "store"),))


def test_package_docstrings_list_what_they_own() -> None:
    """In three lines at least, and without code: modules import from modules."""
    wrong = set()
    for path in PACKAGE.rglob("*/__init__.py"):
        tree = tree_of(path)
        if len((ast.get_docstring(tree) or "").splitlines()) < 3 or len(tree.body) != 1:
            wrong.add(name_of(path))
    assert wrong <= NOT_DESCRIBED


def test_a_package_describes_each_of_its_modules() -> None:
    """A reader of the docstring learns what there is, and a new module gets its place in it."""
    wrong = set()
    for path in PACKAGE.rglob("__init__.py"):
        named = set(re.findall(r"`(\w+)`", ast.get_docstring(tree_of(path)) or ""))
        inside = {one.stem for one in path.parent.glob("*.py")} - {"__init__"}
        inside |= {one.parent.name for one in path.parent.glob("*/__init__.py")}
        wrong |= {f"{name_of(path)}: {one}" for one in inside - named}
    assert wrong == set()


def test_a_small_module_with_one_importer_has_a_reason() -> None:
    small = {
        name_of(path)
        for path in modules()
        if path.name not in ("__init__.py", "__main__.py")
        and code_lines(path) < 60
        and len(importers(name_of(path))) == 1
    }
    assert small == set(SMALL_MODULES)


def test_modules_are_named_by_their_content() -> None:
    named = {name_of(path) for path in modules() if path.stem.endswith("ing")}
    assert named == set(GERUNDS)
