"""Verdicts where a name is defined several times in a file."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.code_scene import Scene
from thunderus_mem.document.anchors import Anchor
from thunderus_mem.errors import InvalidDocument
from thunderus_mem.fingerprint.selectors import split_selector
from thunderus_mem.fingerprint.source import CodeSource
from thunderus_mem.verdicts.code import WorkingTree
from thunderus_mem.verdicts.evaluate import evaluate
from thunderus_mem.verdicts.verdict import NoHistory

if TYPE_CHECKING:
    from pathlib import Path

PROTOTYPE = "int limit(int);\nint limit(int a) {\n return a + 100;\n}\n"
SUM = "return b + c + a * 3 + b * 4 + c * 5 + a * b * c"
BODY = f"    {{\n        int b = a + 1;\n        int c = b * 2;\n        {SUM};\n    }}\n"
LAST = "    int run(String s) { return 0; }\n"
OVERLOADS = f"class A {{\n    int run(int a)\n{BODY}    int run(long a)\n{BODY}{LAST}}}\n"


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    return Scene(tmp_path / "repo")


def head(scene: Scene) -> str:
    return scene.repository.git("rev-parse", "HEAD")


def of_first(scene: Scene, path: str, symbol: str) -> Anchor:
    """An anchor as it was made when only the first definition was watched."""
    source = CodeSource(path, (scene.root / path).read_bytes())
    return Anchor(path, symbol, None, str(source.find(symbol)[0].fingerprint))


def test_function_below_its_prototype_is_watched(scene: Scene) -> None:
    scene.write("p.c", PROTOTYPE)
    since = scene.commit()
    anchor = scene.anchor("p.c#limit")
    assert scene.verdict(anchor, since).status == "verified"
    scene.change("p.c", "int limit(int);", "int limit(int amount);\nint limit(int);")
    assert scene.verdict(anchor, since).status == "verified"
    scene.change("p.c", "100", "200")
    assert scene.verdict(anchor, since).status == "changed"


@pytest.mark.parametrize(
    ("place", "old", "new", "status"),
    [
        ("run", "return 0", "return 1", "changed"),
        ("A.run", "int b = a + 1", "int b = a + 2", "changed"),
        ("A.run", LAST, "", "changed"),
        ("A.run", "String s) { return 0; }", "String s) { return 0; } // nothing", "verified"),
        ("A.run(int)", "return 0", "return 1", "verified"),
        ("A.run(String)", "return 0", "return 1", "changed"),
        ("run(String)", LAST, "", "missing"),
        ("A.run(String)", "String s", "String text", "changed"),
    ],
)
def test_every_definition_counts_and_a_selector_chooses_one(
    scene: Scene, place: str, old: str, new: str, status: str
) -> None:
    scene.write("A.java", OVERLOADS)
    since = scene.commit()
    anchor = scene.anchor(f"A.java#{place}")
    scene.change("A.java", old, new)
    assert scene.verdict(anchor, since).status == status
    assert scene.verdict(anchor).status == status


def test_order_of_definitions_does_not_matter(scene: Scene) -> None:
    scene.write("A.java", OVERLOADS)
    since = scene.commit()
    anchor = scene.anchor("A.java#A.run")
    scene.write("A.java", OVERLOADS.replace(LAST, "").replace("class A {\n", f"class A {{\n{LAST}"))
    assert scene.verdict(anchor, since).status == "verified"


def test_anchor_made_for_the_first_definition_has_to_be_verified_again(scene: Scene) -> None:
    scene.write("A.java", OVERLOADS)
    since = scene.commit()
    anchor = of_first(scene, "A.java", "A.run")
    for edit in (None, ("int run(int a)", "int run(int x)"), ("return 0", "return 1")):
        if edit is not None:
            scene.change("A.java", *edit)
        for hint in (since, ""):
            found = scene.verdict(anchor, hint)
            reason = "`A.run` is defined 3 times; verify the document again"
            assert (found.status, found.reason) == ("unknown", reason)
    scene.write("A.java", OVERLOADS)
    scene.repository.git("mv", "A.java", "B.java")
    scene.commit("Rename")
    assert scene.verdict(anchor, since).status == "unknown"
    scene.write("lib/A.java", (scene.root / "B.java").read_bytes())
    (scene.root / "B.java").unlink()
    found = scene.verdict(anchor, since)
    assert (found.status, "verify the document again" in found.reason) == ("unknown", True)


def test_anchor_made_for_the_prototype_has_to_be_verified_again(scene: Scene) -> None:
    scene.write("p.c", PROTOTYPE)
    since = scene.commit()
    anchor = of_first(scene, "p.c", "limit")
    for hint in (since, ""):
        found = scene.verdict(anchor, hint)
        reason = "`limit` is defined 2 times; verify the document again"
        assert (found.status, found.reason) == ("unknown", reason)
    scene.change("p.c", "100", "200")
    assert scene.verdict(anchor, since).status == "unknown"


def test_function_added_to_its_prototype_is_reported(scene: Scene) -> None:
    scene.write("p.c", "int limit(int);\n")
    since = scene.commit()
    anchor = scene.anchor("p.c#limit")
    scene.write("p.c", PROTOTYPE)
    assert scene.verdict(anchor, since).status == "changed"


def test_added_definition_of_the_name_is_reported(scene: Scene) -> None:
    scene.write("a.py", "def run():\n    return 1\n")
    since = scene.commit()
    anchor = scene.anchor("a.py#run")
    scene.write("a.py", "def run():\n    return 1\n\n\ndef run():\n    return 2\n")
    found = scene.verdict(anchor, since)
    assert (found.status, found.reason) == ("changed", "`run` has changed since it was recorded")
    assert scene.verdict(anchor, "0" * 40).status == "changed"
    scene.commit()
    squashed = scene.verdict(anchor, "0" * 40)
    assert squashed.status == "unknown", "whether the second one is new is not known"
    scene.write("a.py", "def run():\n    return 1\n")
    assert scene.verdict(anchor, since).status == "verified"


def test_changed_parameters_are_changed_and_a_deleted_definition_is_missing(scene: Scene) -> None:
    scene.write("A.java", OVERLOADS)
    since = scene.commit()
    anchor = scene.anchor("A.java#A.run(String)")
    scene.change("A.java", "String s", "String s, int b")
    found = scene.verdict(anchor, since)
    assert (found.status, found.found and found.found.symbol) == ("changed", "A.run(String, int)")
    alone = evaluate(anchor, WorkingTree(str(scene.root), None), NoHistory())
    assert alone.status == "missing", "without history, it may be any of the three"
    scene.change("A.java", "String s, int b", "String s, char b")
    scene.change("A.java", "int run(long a)", "int run(float a)")
    assert scene.verdict(anchor, since).status == "missing"


def test_selector_by_order_follows_its_code(scene: Scene) -> None:
    first, second = "def run():\n    return 1\n\n\n", "def run():\n    return 2\n"
    scene.write("a.py", first + second)
    since = scene.commit()
    anchor = scene.anchor("a.py#run~2")
    scene.write("a.py", second)
    found = scene.verdict(anchor, since)
    assert (found.status, found.found and found.found.place) == ("moved", "a.py#run")
    scene.write("a.py", first)
    assert scene.verdict(anchor, since).status == "missing"
    scene.write("a.py", second + "\n\n" + first)
    found = scene.verdict(anchor, since)
    assert found.status == "changed"


@pytest.mark.parametrize("git", [True, False])
@pytest.mark.parametrize(
    ("place", "new"),
    [
        ("A.run", "lib/B.java#A.run"),
        ("A.run(int)", "lib/B.java#A.run(int)"),
        ("A.run(long)", "lib/B.java#A.run(long)"),
    ],
)
def test_moved_definitions_are_followed(scene: Scene, git: bool, place: str, new: str) -> None:
    scene.write("src/A.java", OVERLOADS)
    scene.write("src/keep.txt", "one\n")
    since = scene.commit()
    anchor = scene.anchor(f"src/A.java#{place}")
    scene.write("lib/B.java", "class X {}\n" * 40 + OVERLOADS)
    (scene.root / "src" / "A.java").unlink()
    found = scene.verdict(anchor, since if git else "")
    assert (found.status, found.found and found.found.place) == ("moved", new)


def test_renamed_definitions_are_followed_together(scene: Scene) -> None:
    scene.write("A.java", OVERLOADS)
    since = scene.commit()
    every, one = scene.anchor("A.java#A.run"), scene.anchor("A.java#A.run(long)")
    scene.change("A.java", "run", "go")
    for anchor, new in ((every, "A.java#A.go"), (one, "A.java#A.go(long)")):
        found = scene.verdict(anchor, since)
        assert (found.status, found.found and found.found.place) == ("moved", new)


def test_name_in_several_scopes_is_ambiguous(scene: Scene) -> None:
    scene.write("a.py", "class A:\n    def run(self): return 1\n\n\nclass B:\n    def run(self): return 2\n")
    with pytest.raises(InvalidDocument, match=r"'run' is ambiguous in a\.py: A\.run, B\.run"):
        scene.anchor("a.py#run")
    second = CodeSource("a.py", (scene.root / "a.py").read_bytes()).find("B.run")[0]
    anchor = Anchor("a.py", "run", None, str(second.fingerprint))
    assert scene.verdict(anchor).status == "verified"
    scene.change("a.py", "return 1", "return 3")
    assert scene.verdict(anchor).status == "verified"
    scene.change("a.py", "return 2", "return 3")
    assert scene.verdict(anchor).status == "changed"


@pytest.mark.parametrize("title", ["Usage (advanced)", "render(node, to)"])
def test_heading_with_parentheses_is_a_name(scene: Scene, title: str) -> None:
    text = "Some words about it, and what to do with them in which order, so that it can be followed.\n"
    scene.write("docs/a.md", f"# Guide\n\n## {title}\n\n{text}\n## Other\n\nMore.\n")
    since = scene.commit()
    anchor = scene.anchor(f"docs/a.md#Guide.{title}")
    assert anchor.symbol == f"Guide.{title}"
    scene.write("docs/new/a.md", f"# Guide\n\n## {title}\n\n{text}\n")
    scene.change("docs/a.md", f"## {title}\n\n{text}\n", "")
    found = scene.verdict(anchor, since)
    assert (found.status, found.found and found.found.place) == ("moved", f"docs/new/a.md#Guide.{title}")
    assert split_selector("Usage (advanced)").is_plain
