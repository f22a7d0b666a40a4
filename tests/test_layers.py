"""The shape of the package: imports point down, one door per library, and a search loads nothing heavy."""

from __future__ import annotations

import ast
import subprocess
import sys
import tomllib
from typing import TYPE_CHECKING

import pytest

from tests.conftest import PROJECT, sealed_environment

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

PACKAGE = PROJECT / "thunderus_mem"

LAYERS: dict[str, int] = {
    "model": 0,
    "store": 1,
    "projection": 2,
    "evidence": 3,
    "lint": 3,
    "garden": 3,
    "recall": 3,
    "interop": 3,
    "memory": 4,
    "transaction": 4,
    "verbs": 5,
    "surfaces": 6,
    "__main__": 7,
}
"""A module may import from its own layer's number or a smaller one; siblings of one number stay apart."""

DOORS: dict[str, tuple[str, ...]] = {
    "jsonschema": ("model/schema.py",),
    "rfc3339_validator": ("model/schema.py",),
    "referencing": ("model/schema.py",),
    "frontmatter": ("model/post.py",),
    "ruamel": ("model/header_full.py",),
    "yaml": (),
    "git": ("store/git_history.py",),
    "filelock": ("store/lock.py",),
    "sqlite3": ("projection/database.py",),
    "watchdog": ("surfaces/observer.py",),
    "rich": ("surfaces/drawing.py",),
    "typer": ("surfaces/cli/",),
    "ast_grep_py": ("evidence/code/syntax.py",),
    "pygments": ("evidence/code/lexed.py",),
    "jinja2": ("garden/recaps/template.py",),
    "rensa": ("garden/similar/profile.py",),
    "pydantic": (),
    "click": (),
}
"""Library → the files (or folder) that may import it."""

SIBLINGS_MAY = frozenset([("memory", "transaction"), ("transaction", "memory")])
"""Pairs of layers with one number where the first may import the second."""

HEAVY = (
    "jsonschema", "git", "ruamel", "frontmatter", "watchdog", "rich", "pydantic", "numpy", "asyncio",
    "ast_grep_py", "pygments", "jinja2", "rensa",
)  # fmt: skip


def modules() -> list[Path]:
    return sorted(path for path in PACKAGE.rglob("*.py") if "__pycache__" not in path.parts)


def layer_of(relative: str) -> str:
    return relative.split("/")[0].removesuffix(".py")


def imports(path: Path) -> Iterator[tuple[str, int, bool]]:
    """Every imported module's full name, its line, and whether only the type checker sees it."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for_types: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and ast.unparse(node.test) in ("TYPE_CHECKING", "typing.TYPE_CHECKING"):
            for inner in ast.walk(ast.Module(node.body, [])):
                for_types.add(id(inner))
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield alias.name, node.lineno, id(node) in for_types
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module, node.lineno, id(node) in for_types
            for alias in node.names:
                yield f"{node.module}.{alias.name}", node.lineno, id(node) in for_types


def test_imports_point_down() -> None:
    wrong = []
    for path in modules():
        relative = path.relative_to(PACKAGE).as_posix()
        own = layer_of(relative)
        if own == "__init__":
            continue
        for name, line, for_types in imports(path):
            other = name.removeprefix("thunderus_mem.").split(".")[0]
            if not name.startswith("thunderus_mem.") or other not in LAYERS or other == own:
                continue
            allowed = LAYERS[other] < LAYERS[own] or (own, other) in SIBLINGS_MAY
            if not allowed and not for_types:
                wrong.append(f"{relative}:{line} imports {name}")
    assert wrong == []


def test_every_module_belongs_to_a_layer() -> None:
    names = {layer_of(path.relative_to(PACKAGE).as_posix()) for path in modules()}
    assert names - {"__init__"} <= set(LAYERS)


def test_one_door_for_each_library() -> None:
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
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            names = []
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                names = [node.module or ""]
            wrong += [f"{path.name}: {name}" for name in names if name.split(".")[0] in {*HEAVY, "filelock"}]
    assert wrong == []


def test_no_module_hides_behind_an_empty_name() -> None:
    empty = {"utils", "helpers", "manager", "common", "misc"}
    assert [path.name for path in modules() if path.stem in empty] == []


def test_every_module_imports_alone_and_none_brings_a_heavy_library(sealed: Path) -> None:
    """In one process: each module after all of ours are forgotten again."""
    names = [
        ".".join(("thunderus_mem", *path.relative_to(PACKAGE).with_suffix("").parts)).removesuffix(
            ".__init__"
        )
        for path in modules()
    ]
    code = """
import importlib, sys
heavy = set(sys.argv[1].split(","))
for name in sys.argv[2:]:
    for known in [known for known in sys.modules if known.split(".")[0] == "thunderus_mem"]:
        del sys.modules[known]
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
    "completion of commands": ("--complete", "s"),
    "completion of options": ("--complete", "search", "--"),
    "completion of ids": ("--complete", "show", "fact."),
    "config": ("config", "show"),
    "hook": ("hooks", "run", "pre-commit"),
}


@pytest.mark.parametrize("name", GUARDED)
def test_the_quick_commands_load_nothing_heavy(name: str, tmp_path: Path, sealed: Path) -> None:
    (tmp_path / ".thunderus" / "memory").mkdir(parents=True)
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
        [sys.executable, "-c", code, ",".join(HEAVY), *GUARDED[name]],
        cwd=tmp_path,
        env=sealed_environment(sealed),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stderr.strip().splitlines()[-1] == "heavy:", done.stderr


NOT_FOR_A_SEARCH = (
    "dataclasses", "hashlib", "json", "tomllib", "logging", "filelock",
    "thunderus_mem.diagnostic", "thunderus_mem.document.document", "thunderus_mem.document.frontmatter.nodes",
    "thunderus_mem.document.ids", "thunderus_mem.document.timestamp", "thunderus_mem.index.rows",
    "thunderus_mem.index.writer", "thunderus_mem.store.config_keys", "thunderus_mem.store.config_keys",
    "thunderus_mem.store.files", "thunderus_mem.git.repository", "thunderus_mem.verdicts.judge",
    "thunderus_mem.authoring.show",
)  # fmt: skip
"""What costs a search milliseconds and gives it nothing while the index is fresh."""


def test_a_search_of_a_fresh_index_loads_only_what_finding_takes(tmp_path: Path, sealed: Path) -> None:
    (tmp_path / ".thunderus" / "memory").mkdir(parents=True)
    code = (
        "import sys; from thunderus_mem.cli.run import run; code = run(['search', 'words']);"
        "sys.exit(code or ' '.join(name for name in sys.argv[1:] if name in sys.modules) or 0)"
    )
    # Settings in the environment would have to be looked up in their table.
    plain = {
        name: value
        for name, value in sealed_environment(sealed).items()
        if not name.startswith("THUNDERUS_MEM_")
    }
    for _ in range(2):  # the first builds the index, for which it may load what it likes
        done = subprocess.run(
            [sys.executable, "-c", code, *NOT_FOR_A_SEARCH],
            cwd=tmp_path,
            env=plain,
            capture_output=True,
            text=True,
            check=False,
        )
    assert (done.returncode, done.stderr.strip().splitlines()) == (0, ["Nothing found."])


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


def test_what_is_imported_is_declared() -> None:
    project = tomllib.loads((PROJECT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    declared = " ".join(project["dependencies"]).lower()
    names = {"frontmatter": "python-frontmatter", "git": "gitpython", "ruamel": "ruamel.yaml"}
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
