"""Change checks against the truth in random histories: every commit edits, moves and renames code, and no
anchor is updated. The truth is read with Python's ``ast``, which finds code by a string constant in it."""

from __future__ import annotations

import ast
import random
import subprocess
from typing import TYPE_CHECKING, NamedTuple

from tests.support.stepped_clock import run

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.support.command_server import Done

    Run = Callable[..., Done]

__all__ = ["run"]

_FUNCTION = """\
def {name}(value, other=None):
    total = value + {number}
    for one in range(total):
        if one % {number} == 0 and other is not None:
            total = total - one * {number}
        print("{mark}", one, total)
    return total, other
"""
_SMALL = 'def {name}(value):\n    return "{mark}", value + {number}\n'
_CLASS = """\
class {name}:
    def put(self, one):
        self.one = one, "{mark}", {number}
        return self
"""
_TABLE = '{name} = {{\n    "mark": "{mark}",\n    "number": {number},\n    "more": [1, 2, 3],\n}}\n'
_TEXTS = {"function": _FUNCTION, "small": _SMALL, "class": _CLASS, "table": _TABLE}
_STEPS = 10


class Part(NamedTuple):
    """A definition of a file; its ``mark`` stays the same for ever."""

    kind: str
    mark: str
    name: str
    number: int
    remark: str = ""

    @property
    def text(self) -> str:
        lines = _TEXTS[self.kind].format(name=self.name, mark=self.mark, number=self.number).splitlines()
        return "\n".join([*lines[:2], *([self.remark] if self.remark else []), *lines[2:]]) + "\n"


class Program:
    """Files of parts, changed at random."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.names = iter(range(100, 1000))
        self.files: dict[str, list[Part]] = {}
        self.heads: dict[str, list[str]] = {}
        kinds = [*("function",) * 3, "small", "class", "table"]
        for letter in "abc":
            path = f"src/{letter}.py"
            self.files[path] = [
                Part(kind, f"{letter}-{at}", f"{kind.title()}_{letter}{at}", 10 + at)
                for at, kind in enumerate(kinds)
            ]
            self.heads[path] = [f'FILE = "file-{letter}"']

    def texts(self) -> dict[str, str]:
        return {
            path: "\n".join([*self.heads[path], *(f"\n{part.text}" for part in parts)])
            for path, parts in self.files.items()
        }

    def step(self) -> None:
        for _ in range(self.random.randint(1, 3)):
            change = self.random.choice(
                [
                    self.edit,
                    self.edit,
                    self.restore,
                    self.insert,
                    self.remark,
                    self.rename,
                    self.move,
                    self.swap,
                ]
            )
            change()
        if self.random.random() < 0.3:
            self.rename_file()
        if self.random.random() < 0.1:
            self.delete()

    def some(self, *kinds: str) -> tuple[str, int, Part]:
        found = [
            (path, at, part)
            for path, parts in sorted(self.files.items())
            for at, part in enumerate(parts)
            if part.kind in kinds
        ]
        return self.random.choice(found)

    def edit(self) -> None:
        path, at, part = self.some(*_TEXTS)
        self.files[path][at] = part._replace(number=next(self.names))

    def restore(self) -> None:
        path, at, part = self.some(*_TEXTS)
        self.files[path][at] = part._replace(number=10 + int(part.mark[-1]))

    def insert(self) -> None:
        self.heads[self.random.choice(sorted(self.heads))].append(f"import module_{next(self.names)}")

    def remark(self) -> None:
        path, at, part = self.some("function", "table")
        self.files[path][at] = part._replace(remark=f"    # Remark {next(self.names)}.")

    def rename(self) -> None:
        path, at, part = self.some("function")
        self.files[path][at] = part._replace(name=f"function_{next(self.names)}")

    def move(self) -> None:
        path, at, part = self.some("function", "small", "class")
        del self.files[path][at]
        self.random.choice([parts for _, parts in sorted(self.files.items())]).insert(0, part)

    def swap(self) -> None:
        parts = self.files[self.random.choice(sorted(self.files))]
        self.random.shuffle(parts)
        parts.sort(key=lambda part: part.kind == "table")  # lines are not searched for like definitions

    def delete(self) -> None:
        path, at, _ = self.some("function", "small")
        del self.files[path][at]

    def rename_file(self) -> None:
        path = self.random.choice(sorted(self.files))
        new = f"src/module_{next(self.names)}.py"
        self.files[new], self.heads[new] = self.files.pop(path), self.heads.pop(path)


def read(repo: Path) -> dict[str, tuple[str, str]]:
    """The place of the code with each mark, and its meaning without the name of a function."""
    found: dict[str, tuple[str, str]] = {}
    for file in sorted((repo / "src").glob("*.py")):
        path, tree = f"src/{file.name}", ast.parse(file.read_text())
        found[mark_of(tree)] = path, ast.dump(tree)
        for node in tree.body[1:]:
            if isinstance(node, ast.Assign):
                lines = f"{node.lineno + 1}-{node.end_lineno - 1}"
                found[mark_of(node)] = f"{path}:{lines}", ast.dump(node)
            elif isinstance(node, ast.ClassDef):
                found[mark_of(node)] = f"{path}#{node.name}.put", ast.dump(node.body[0])
            elif isinstance(node, ast.FunctionDef):
                place = f"{path}#{node.name}"
                node.name = ""
                found[mark_of(node)] = place, ast.dump(node)
    return found


def mark_of(node: ast.AST) -> str:
    """The first constant with a dash in a piece of code."""
    values = (one.value for one in ast.walk(node) if isinstance(one, ast.Constant))
    return next(value for value in values if isinstance(value, str) and "-" in value)


def truth(repo: Path) -> dict[str, str]:
    return {mark: meaning for mark, (_, meaning) in read(repo).items()}


def write(repo: Path, program: Program) -> None:
    texts = program.texts()
    (repo / "src").mkdir(exist_ok=True)
    for path in (repo / "src").iterdir():
        if f"src/{path.name}" not in texts:
            path.unlink()
    for path, text in texts.items():
        (repo / path).write_text(text)
    subprocess.run(["git", "add", "-A"], cwd=repo, check=True)


def commit(repo: Path, subject: str) -> None:
    subprocess.run(["git", "add", "-A"], cwd=repo, check=True)
    subprocess.run(["git", "commit", "-q", "--allow-empty", "-m", subject], cwd=repo, check=True)


def test_every_commit_is_checked_against_the_truth(repo: Path, run: Run) -> None:
    program = Program(seed=1)
    write(repo, program)
    commit(repo, "Start")
    assert run("--quiet", "init").code == 0
    for mark, (place, _) in read(repo).items():
        anchor = ("--tag", "code", "--anchor", place, "--body", f"About {mark}.")
        assert run("add", "fact", f"About {mark}", *anchor).code == 0
    commit(repo, "Document it")
    verified = before = truth(repo)
    edited: dict[str, str] = {}
    for number in range(_STEPS):
        program.step()
        write(repo, program)
        now = truth(repo)
        good = {mark for mark in verified if before.get(mark) == verified[mark]}
        expected = {mark for mark in good if now.get(mark) != verified[mark]}
        edited |= dict.fromkeys(expected, f"Step {number}")
        done = run("--json", "check", "--staged")
        found = {one["doc_id"].removeprefix("fact.about-") for one in done.json["findings"]}
        assert found == expected, (number, done.json["findings"])
        commit(repo, f"Step {number}")
        before = now
    stale = {mark: edited[mark] for mark in verified if before.get(mark) != verified[mark]}
    done = run("--json", "check")
    named = {one["doc_id"].removeprefix("fact.about-"): one["subject"] for one in done.json["findings"]}
    assert named == stale
