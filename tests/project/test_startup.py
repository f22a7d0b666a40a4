"""The start of a command: named tuples and patterns that cost little to define."""

from __future__ import annotations

import ast
import pickle
import re
import typing

from tests.project.test_architecture import modules, name_of, tree_of
from thunderus_mem.startup import LazyPattern, NamedTuple, lazy_pattern


class Point(NamedTuple):
    """A point."""

    x: int
    y: int = 2

    @property
    def sum(self) -> int:
        return self.x + self.y


class Typed(typing.NamedTuple):
    """A point."""

    x: int
    y: int = 2

    @property
    def sum(self) -> int:
        return self.x + self.y


def test_named_tuple_is_like_the_one_of_typing() -> None:
    one, other = Point(1), Typed(1)
    assert one == other == (1, 2)
    assert (one.sum, one._replace(x=5).sum, repr(one)) == (3, 7, "Point(x=1, y=2)")
    for name in ("_fields", "_field_defaults", "__match_args__", "__doc__", "__module__", "__mro__"):
        mine, theirs = getattr(Point, name), getattr(Typed, name)
        assert (mine[1:], len(mine)) == (theirs[1:], len(theirs)) if name == "__mro__" else mine == theirs
    assert typing.get_type_hints(Point) == typing.get_type_hints(Typed)
    assert pickle.loads(pickle.dumps(one)) == one


def test_pattern_is_compiled_at_its_first_use() -> None:
    pattern = lazy_pattern(r"(a)b", re.IGNORECASE)
    assert isinstance(pattern, LazyPattern)
    assert "compiled" not in vars(pattern)
    assert pattern.sub(r"\1", "ABab") == "Aa"
    assert (pattern.pattern, pattern.groups) == (r"(a)b", 1)
    assert "compiled" in vars(pattern)


EXEMPT = {
    "history.blame",
    "startup",
}
"""``startup`` itself, a generic named tuple, and scanners, which say themselves what they compile when."""


def test_modules_compile_no_pattern_and_no_annotation_when_imported() -> None:
    wrong = []
    for path in modules():
        if name_of(path) in EXEMPT:
            continue
        for node in tree_of(path).body:
            if isinstance(node, ast.ImportFrom) and node.module == "typing":
                wrong += [f"{path.name}: {one.name}" for one in node.names if one.name == "NamedTuple"]
            elif isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
                calls = [ast.unparse(one.func) for one in ast.walk(node.value) if isinstance(one, ast.Call)]
                wrong += [f"{path.name}:{node.lineno}" for call in calls if call == "re.compile"]
    assert wrong == []
