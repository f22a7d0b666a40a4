"""Code that is no longer in its place: spans beside new lines, twins, renamed classes; patterns of files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.support.code_scene import Scene
from thunderus_mem.git.repository import Git, Output

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    return Scene(tmp_path / "repo")


@pytest.mark.parametrize("revision", ["", "HEAD"])
def test_code_is_unknown_when_git_does_not_answer_where_it_is(
    scene: Scene, monkeypatch: pytest.MonkeyPatch, revision: str
) -> None:
    scene.write("a.py", "def limit(a):\n    return a + 1\n")
    anchor = scene.anchor("a.py#limit")
    scene.write("a.py", "import os\n")
    scene.commit("First")
    ask = Git.ask

    def silent(git: Git, *arguments: str, **options: Any) -> Output:
        if arguments[0] == "grep":
            return Output(-1, b"", "git did not answer")
        return ask(git, *arguments, **options)

    assert scene.verdict_in(revision, anchor).status == "missing"
    monkeypatch.setattr(Git, "ask", silent)
    found = scene.verdict_in(revision, anchor) if revision else scene.verdict(anchor)
    reason = "its code is not here, and git did not answer where it may be now"
    assert (found.status, found.reason, found.others) == ("unknown", reason, True)


def test_definition_that_became_two_in_another_file_is_not_followed_to_one_of_them(scene: Scene) -> None:
    body = "def each(a)\n  yield call(a, 1, 2, 3)\nend\n"
    scene.write("one.rb", body)
    since, anchor = scene.commit("First"), scene.anchor("one.rb#each")
    (scene.root / "one.rb").unlink()
    other = body.replace("1, 2, 3", "f(4, 5, 6), g(7, 8, 9)")
    scene.write("other.rb", other + "class Pad\n  def x\n    4\n  end\nend\n" * 9 + body)
    found = scene.verdict(anchor, since)
    assert (found.status, found.reason) == (
        "unknown",
        "its code is now other.rb#each~2; verify the document again",
    )


BODIES = {
    "a.py": ("def f(a):\n", "    x = a + 1\n    return x\n", "    g(a)\n", ""),
    "b.py": ("class A:\n", "    x = 1\n    y = 2\n", "    z = 3\n", ""),
    "c.py": ("", "import os\nimport re\n", "import sys\n", ""),
    "a.rb": ("def f(a)\n", "  x = a + 1\n  x * 2\n", "  g(a)\n", "end\n"),
    "b.rb": ("each do |a|\n", "  x = a + 1\n  x * 2\n", "  g(a)\n", "end\n"),
    "a.go": ("package a\n\nfunc f(a int) {\n", "\tx := a + 1\n\tg(x)\n", "\tg(a)\n", "}\n"),
    "a.js": ("function f(a) {\n", "  let x = a + 1;\n  return x;\n", "  g(a);\n", "}\n"),
    "b.js": ("", "let x = 1;\nlet y = 2;\n", "let z = 3;\n", ""),
    "a.rs": ("fn f(a: i32) {\n", "    let x = a + 1;\n    g(x);\n", "    g(a);\n", "}\n"),
    "a.c": ("int f(int a)\n{\n", "    int x = a + 1;\n    g(x);\n", "    g(a);\n", "}\n"),
    "a.java": ("class A {\n", "  int x = 1;\n  int y = 2;\n", "  int z = 3;\n", "}\n"),
    "a.kt": ("fun f(a: Int) {\n", "  val x = a + 1\n  g(x)\n", "  g(a)\n", "}\n"),
    "a.swift": ("func f(a: Int) {\n", "  let x = a + 1\n  g(x)\n", "  g(a)\n", "}\n"),
    "a.lua": ("function f(a)\n", "  local x = a + 1\n  g(x)\n", "  g(a)\n", "end\n"),
    "a.sh": ("if true; then\n", "  echo a\n  echo b\n", "  echo c\n", "fi\n"),
    "a.yaml": ("on:\n", "  push: 1\n  pull: 2\n", "  call: 3\n", ""),
    "b.yaml": ("on:\n", "  - a\n  - b\n", "  - c\n", ""),
    "a.tf": ('variable "a" {\n', "  x = 1\n  y = 2\n", "  z = 3\n", "}\n"),
    "a.css": ("a {\n", "  color: red;\n  top: 1px;\n", "  left: 2px;\n", "}\n"),
    "a.md": ("# A\n\n", "- one\n- two\n", "- three\n", ""),
    "a.toml": ("[a]\n", "x = 1\ny = 2\n", "z = 3\n", ""),
}


@pytest.mark.parametrize("path", BODIES)
@pytest.mark.parametrize("committed", [True, False])
def test_line_added_beside_a_span_does_not_change_it(scene: Scene, path: str, committed: bool) -> None:
    before, span, line, after = BODIES[path]
    scene.write(path, before + span + after)
    at = before.count("\n") + 1
    anchor = scene.anchor(f"{path}:{at}-{at + 1}")
    since = scene.commit("First") if committed else ""
    scene.write(path, before + span + line + after)
    assert scene.verdict(anchor, since).status == "verified"
    scene.write(path, before + line + span + after)
    found = scene.verdict(anchor, since)
    if committed:
        assert (found.status, found.found and found.found.lines) == ("moved", (at + 1, at + 2))
    else:
        assert found.status in ("moved", "unknown")
    scene.write(path, before + line + span.splitlines(keepends=True)[0] + line + after)
    assert scene.verdict(anchor, since).status == "changed"


@pytest.mark.parametrize("path", BODIES)
def test_line_removed_beside_a_span_does_not_change_it(scene: Scene, path: str) -> None:
    before, span, line, after = BODIES[path]
    scene.write(path, before + line + span + line + after)
    at = before.count("\n") + 2
    anchor = scene.anchor(f"{path}:{at}-{at + 1}")
    first = scene.commit("First")
    scene.write(path, before + span + after)
    found = scene.verdict(anchor, first)
    assert (found.status, found.found and found.found.lines) == ("moved", (at - 1, at))


@pytest.mark.parametrize(
    ("path", "text", "more"),
    [
        ("a.json", '{\n  "a": 1,\n  "b": 2\n}\n', '{\n  "a": 1,\n  "b": 2,\n  "c": 3\n}\n'),
        ("a.java", "enum A {\n  B,\n  C\n}\n", "enum A {\n  B,\n  C,\n  D\n}\n"),
        ("a.c", "int a[] = {\n  1,\n  2\n};\n", "int a[] = {\n  1,\n  2,\n  3\n};\n"),
        ("a.py", "a = [\n  1,\n  2\n]\n", "a = [\n  1,\n  2,\n  3\n]\n"),
    ],
)
def test_comma_for_a_line_added_behind_a_span_does_not_change_it(
    scene: Scene, path: str, text: str, more: str
) -> None:
    scene.write(path, text)
    anchor = scene.anchor(f"{path}:2-3")
    scene.write(path, more)
    assert scene.verdict(anchor).status == "verified"


@pytest.mark.parametrize(
    ("path", "text", "other"),
    [
        ("a.py", "if a:\n    b()\n    c()\n", "if a:\n    b()\nc()\n"),
        ("a.sh", "echo a\nb\nc\n", "echo a b\n\nc\n"),
        ("a.yaml", "a:\n  b: 1\n  c: 2\n", "a:\n  b: 1\nc: 2\n"),
    ],
)
def test_structure_of_a_span_counts(scene: Scene, path: str, text: str, other: str) -> None:
    scene.write(path, text)
    anchor = scene.anchor(f"{path}:1-3")
    scene.write(path, other)
    assert scene.verdict(anchor).status == "changed"


def test_line_like_the_first_of_a_span_is_added_before_it(scene: Scene) -> None:
    scene.write("a.py", "def f(a):\n    g(a)\n    return a\n")
    anchor, first = scene.anchor("a.py:2-3"), scene.commit("First")
    scene.write("a.py", "def f(a):\n    g(a)\n    g(a)\n    return a\n")
    found = scene.verdict(anchor, first)
    assert (found.status, found.found and found.found.lines) == ("moved", (3, 4))


CALL = "x = call(1, 2, [3, 4, 5, 6, 7], key=None)\n"


@pytest.mark.parametrize(
    ("path", "text", "now", "status"),
    [
        ("a.py", "a()\nx = 1\nb()\nc()\nx = 1\n", "a()\nb()\nc()\nx = 1\n", "unknown"),
        ("a.c", "a();\nx = 1;\nb();\nx = 1;\n", "a();\nb();\nx = 1;\n", "unknown"),
        ("a.txt", "one\nx\ntwo\nx\n", "one\ntwo\nx\n", "unknown"),
        ("a.py", "a()\nx = 1\nb()\nc()\n", "a()\nb()\nc()\n", "changed"),
        (
            "a.py",
            f"a()\n{CALL}b()\n{CALL}",
            f"a()\nb()\n{CALL}",
            "moved",
        ),
        (
            "a.py",
            f"a()\n{CALL}b()\n",
            f"b()\na()\n\n\n\n{CALL}\ny = 1\n{CALL}",
            "unknown",
        ),
    ],
)
def test_span_is_followed_without_its_commit_only_when_unique_and_large(
    tmp_path: Path, path: str, text: str, now: str, status: str
) -> None:
    scene = Scene(tmp_path / "plain", git=False)
    scene.write(path, text)
    anchor = scene.anchor(f"{path}:2")
    scene.write(path, now)
    assert scene.verdict(anchor).status == status


TWINS = {
    "a.py": ("def f():\n    a()\n    return 1\n", "def g():\n    b()\n    return 1\n"),
    "a.go": ("func f() int {\n\ta()\n\treturn 1\n}\n", "func g() int {\n\tb()\n\treturn 1\n}\n"),
    "a.js": ("function f() {\n  a();\n  return 1;\n}\n", "function g() {\n  b();\n  return 1;\n}\n"),
    "a.rb": ("def f\n  a\n  return 1\nend\n", "def g\n  b\n  return 1\nend\n"),
}


@pytest.mark.parametrize("path", TWINS)
def test_twin_on_the_lines_of_a_span_does_not_hide_a_change(scene: Scene, path: str) -> None:
    one, two = TWINS[path]
    head = "package a\n" if path.endswith("go") else ""
    rows = one.count("\n")
    scene.write(path, head + one + two)
    at = head.count("\n") + 3
    anchor, first = scene.anchor(f"{path}:{at}"), scene.commit("First")
    second = scene.anchor(f"{path}:{at + rows}")
    scene.write(path, head + two + one)
    assert scene.verdict(anchor, first).status in ("verified", "moved"), "the order says nothing"
    above = two.replace(" g", " h")
    scene.write(path, head + above + one + two)
    found = scene.verdict(anchor, first)
    assert (found.status, found.found and found.found.lines) == ("moved", (at + rows, at + rows))
    scene.write(path, head + above + one.replace("1", "2") + two)
    assert scene.verdict(anchor, first).status == "changed"
    assert scene.verdict(second, first).status == "moved"


SHORT = {
    "py": "class Gone(Error):\n    pass\n",
    "java": "class Gone {}\n",
    "rb": "class Gone\nend\n",
    "go": "package a\n\ntype Gone struct{}\n",
    "ts": "export class Gone {}\n",
    "rs": "struct Gone;\n",
}


@pytest.mark.parametrize("suffix", SHORT)
def test_short_class_is_not_followed_to_its_twin_without_the_commit(
    scene: Scene, tmp_path: Path, suffix: str
) -> None:
    plain = Scene(tmp_path / "plain", git=False)
    for at in (scene, plain):
        at.write(f"one.{suffix}", SHORT[suffix])
        at.write(f"two.{suffix}", SHORT[suffix])
    anchor = scene.anchor(f"one.{suffix}#Gone")
    first = scene.commit("First")
    for at in (scene, plain):
        (at.root / f"one.{suffix}").unlink()
    assert plain.verdict(anchor).status == "unknown"
    assert scene.verdict(anchor, first).status == "missing"
    (scene.root / f"two.{suffix}").rename(scene.root / f"three.{suffix}")
    assert scene.verdict(anchor, first).status == "moved"


RENAMED = {
    "java": "class {name} {{\n  int one = 1;\n  {name}() {{ one = 2; }}\n  int get() {{ return one; }}\n}}\n",
    "cs": "class {name} {{\n  int one = 1;\n  {name}() {{ one = 2; }}\n  int get() {{ return one; }}\n}}\n",
    "py": "class {name}:\n    one = 1\n\n    def get(self):\n        return self.one\n",
    "rb": "class {name}\n  def get\n    @one\n  end\nend\n",
    "ts": "export class {name} {{\n  one = 1;\n  get() {{ return this.one; }}\n}}\n",
    "php": "<?php\nclass {name} {{\n  function get() {{ return 1; }}\n}}\n",
    "kt": "class {name} {{\n  fun get(): Int {{ return 1 }}\n}}\n",
}


def other_files(scene: Scene, suffix: str) -> None:
    """Two classes with the same method, so that its body is common."""
    for name in ("Second", "Third"):
        scene.write(f"{name}.{suffix}", RENAMED[suffix].format(name=name))


@pytest.mark.parametrize("suffix", RENAMED)
@pytest.mark.parametrize("file_too", [True, False])
def test_short_body_is_followed_when_its_class_was_renamed(scene: Scene, suffix: str, file_too: bool) -> None:
    scene.write(f"lib/Old.{suffix}", RENAMED[suffix].format(name="Old"))
    other_files(scene, suffix)
    names = ["get", "Old"] if suffix in ("java", "cs") else ["get"]
    anchors = {name: scene.anchor(f"lib/Old.{suffix}#Old.{name}") for name in names}
    whole = scene.anchor(f"lib/Old.{suffix}#Old")
    first = scene.commit("First")
    path = f"lib/Fresh.{suffix}" if file_too else f"lib/Old.{suffix}"
    scene.repository.git("rm", "-q", f"lib/Old.{suffix}")
    scene.write(path, RENAMED[suffix].format(name="Fresh"))
    scene.commit("Rename")
    for name, anchor in anchors.items():
        found = scene.verdict(anchor, first)
        assert (found.status, found.found and found.found.place) == (
            "moved", f"{path}#Fresh.{name.replace('Old', 'Fresh')}",
        )  # fmt: skip
    if file_too:
        found = scene.verdict(whole, first)
        assert (found.status, found.found and found.found.place) == ("moved", f"{path}#Fresh")
    scene.change(path, "1", "7") if suffix in ("php", "kt") else scene.change(path, "one", "seven")
    assert scene.verdict(anchors["get"], first).status == "missing"


@pytest.mark.parametrize("suffix", RENAMED)
def test_short_body_is_not_followed_to_a_class_that_existed(scene: Scene, suffix: str) -> None:
    both = RENAMED[suffix].format(name="Old") + RENAMED[suffix].format(name="Kept").replace("<?php\n", "")
    scene.write(f"lib/Old.{suffix}", both)
    other_files(scene, suffix)
    anchor = scene.anchor(f"lib/Old.{suffix}#Old.get")
    first = scene.commit("First")
    scene.write(
        f"lib/Old.{suffix}", both.replace(RENAMED[suffix].format(name="Old"), "<?php\n" * (suffix == "php"))
    )
    assert scene.verdict(anchor, first).status == "missing"
    scene.write(
        f"lib/Old.{suffix}",
        both.replace("Old", "Two") + RENAMED[suffix].format(name="Three").replace("<?php\n", ""),
    )
    assert scene.verdict(anchor, first).status == "missing"


@pytest.mark.parametrize("suffix", [*SHORT])
def test_short_body_is_followed_without_git_into_the_only_file_of_that_name(
    tmp_path: Path, suffix: str
) -> None:
    scene = Scene(tmp_path / "plain", git=False)
    scene.write(f"src/gone.{suffix}", SHORT[suffix])
    scene.write(f"src/other.{suffix}", SHORT[suffix])
    anchor = scene.anchor(f"src/gone.{suffix}#Gone")
    (scene.root / "src").rename(scene.root / "lib")
    found = scene.verdict(anchor)
    assert (found.status, found.found and found.found.path) == ("moved", f"lib/gone.{suffix}")
    scene.write(f"old/gone.{suffix}", SHORT[suffix])
    assert scene.verdict(anchor).status != "moved", "either of two files of that name may have been there"
    scene.write(f"lib/src/gone.{suffix}", SHORT[suffix])
    found = scene.verdict(anchor)
    assert (found.status, found.found and found.found.path) == ("moved", f"lib/src/gone.{suffix}")


def test_short_body_is_followed_into_the_file_that_shares_most_folders(tmp_path: Path) -> None:
    scene = Scene(tmp_path / "plain", git=False)
    places = ["demo/one/parts/link.js", "demo/two/parts/link.js"]
    for path in places:
        scene.write(path, SHORT["ts"])
    anchors = [scene.anchor(f"{path}#Gone") for path in places]
    for path in places:
        (scene.root / path).unlink()
        scene.write(path.replace("/parts/", "/src/parts/"), SHORT["ts"])
    found = [scene.verdict(anchor).found for anchor in anchors]
    assert [one and one.path for one in found] == [
        "demo/one/src/parts/link.js", "demo/two/src/parts/link.js",
    ]  # fmt: skip


def test_short_body_is_followed_into_the_folder_with_the_fewest_new_names(tmp_path: Path) -> None:
    scene = Scene(tmp_path / "plain", git=False)
    scene.write("junit/tests/All.java", SHORT["java"])
    anchor = scene.anchor("junit/tests/All.java#Gone")
    (scene.root / "junit/tests/All.java").unlink()
    for folder in ("src", "src/org"):
        scene.write(f"{folder}/junit/tests/All.java", SHORT["java"])
    found = scene.verdict(anchor)
    assert (found.status, found.found and found.found.path) == ("moved", "src/junit/tests/All.java")


NUMBERS = ", ".join(map(str, range(60)))
PAIRS = {
    "a.py": f"class One:\n    def %s(self):\n        return [{NUMBERS}]\n\n"
    f"class Two:\n    def %s(self):\n        return [{NUMBERS}]\n",
    "a.java": f"class One {{ int[] %s() {{ return all({NUMBERS}); }} }}\n"
    f"class Two {{ int[] %s() {{ return all({NUMBERS}); }} }}\n",
}


@pytest.mark.parametrize("path", PAIRS)
def test_renamed_method_is_followed_within_its_class(tmp_path: Path, path: str) -> None:
    scene = Scene(tmp_path / "plain", git=False)
    scene.write(path, PAIRS[path] % ("old", "old"))
    anchor = scene.anchor(f"{path}#One.old")
    scene.write(path, PAIRS[path] % ("new", "other"))
    found = scene.verdict(anchor)
    assert (found.status, found.found and found.found.symbol) == ("moved", "One.new")


@pytest.mark.parametrize("path", PAIRS)
def test_renamed_definition_is_followed_in_its_file_before_a_copy(tmp_path: Path, path: str) -> None:
    scene = Scene(tmp_path / "plain", git=False)
    for folder in ("one", "two"):
        scene.write(f"{folder}/{path}", PAIRS[path] % ("old", "other"))
    anchor = scene.anchor(f"one/{path}#One.old")
    scene.write(f"one/{path}", PAIRS[path] % ("new", "other"))
    found = scene.verdict(anchor)
    assert (found.status, found.found and found.found.place) == ("moved", f"one/{path}#One.new")


@pytest.mark.parametrize("suffix", ["py", "java", "ts", "php"])
def test_short_body_in_another_class_of_its_file_says_nothing_without_the_commit(
    tmp_path: Path, suffix: str
) -> None:
    scene = Scene(tmp_path / "plain", git=False)
    one, two = (RENAMED[suffix].format(name=name) for name in ("Old", "Kept"))
    scene.write(f"a.{suffix}", one + two.removeprefix("<?php\n"))
    anchor = scene.anchor(f"a.{suffix}#Old.get")
    scene.write(f"a.{suffix}", two)
    assert scene.verdict(anchor).status == "missing"


METHODS = {
    "java": "class {name} {{\n  int get() {{ return sum(1, 2); }}\n}}\n",
    "cs": "class {name} {{\n  int get() {{ return sum(1, 2); }}\n}}\n",
    "py": "class {name}:\n    def get(self):\n        return sum([1, self.two])\n",
    "rb": "class {name}\n  def get\n    sum([1, @two].compact)\n  end\nend\n",
}


@pytest.mark.parametrize("suffix", METHODS)
def test_short_body_is_common_only_under_the_name_of_its_class(tmp_path: Path, suffix: str) -> None:
    scene = Scene(tmp_path / "plain", git=False)
    scene.write(f"lib/old.{suffix}", METHODS[suffix].format(name="Old"))
    scene.write(f"lib/new.{suffix}", METHODS[suffix].format(name="Second"))
    anchor = scene.anchor(f"lib/old.{suffix}#Old.get")
    (scene.root / f"lib/old.{suffix}").rename(scene.root / f"lib/moved.{suffix}")
    found = scene.verdict(anchor)
    assert (found.status, found.found and found.found.path) == ("moved", f"lib/moved.{suffix}")
    scene.write(f"lib/more.{suffix}", METHODS[suffix].format(name="Old"))
    assert scene.verdict(anchor).status == "missing"


GLOBS = {
    "py": ("x = 1\n", "x = 2\n", "x = (\n"),
    "java": ("class A { int x = 1; }\n", "class A { int x = 2; }\n", "class A { int x = ; ((\n"),
    "ts": ("let x = 1;\n", "let x = 2;\n", "let x = ((;\n"),
    "go": ("package a\n\nvar x = 1\n", "package a\n\nvar x = 2\n", "package a\n\nvar x = ((\n"),
}


@pytest.mark.parametrize("suffix", GLOBS)
def test_pattern_is_decided_by_the_files_that_parse(scene: Scene, tmp_path: Path, suffix: str) -> None:
    good, other, bad = GLOBS[suffix]
    plain = Scene(tmp_path / "plain", git=False)
    for at in (scene, plain):
        at.write(f"src/one.{suffix}", good)
        at.write(f"src/two.{suffix}", good)
    anchor, first = scene.anchor(f"src/*.{suffix}"), scene.commit("First")
    for at in (scene, plain):
        at.write(f"src/two.{suffix}", bad)
    found = scene.verdict(anchor, first)
    assert (found.status, f"src/two.{suffix} does not parse" in found.reason) == ("unknown", True)
    assert plain.verdict(anchor).status == "unknown"
    scene.write(f"src/one.{suffix}", other)
    assert scene.verdict(anchor, first).status == "changed"
    scene.write(f"src/one.{suffix}", good)
    scene.write(f"src/three.{suffix}", good)
    assert scene.verdict(anchor, first).status == "changed"
    (scene.root / f"src/three.{suffix}").unlink()
    (scene.root / f"src/one.{suffix}").unlink()
    assert scene.verdict(anchor, first).status == "changed"
    scene.write(f"src/one.{suffix}", good)
    scene.write(f"src/two.{suffix}", other)
    assert scene.verdict(anchor, first).status == "changed"
    scene.write(f"src/two.{suffix}", good)
    assert scene.verdict(anchor, first).status == "verified"


@pytest.mark.parametrize("suffix", GLOBS)
def test_pattern_with_a_file_that_never_parsed(scene: Scene, suffix: str) -> None:
    good, other, bad = GLOBS[suffix]
    scene.write(f"src/one.{suffix}", good)
    scene.write(f"src/two.{suffix}", bad)
    anchor, first = scene.anchor(f"src/*.{suffix}"), scene.commit("First")
    assert scene.verdict(anchor, first).status == "verified"
    scene.write(f"src/one.{suffix}", other)
    assert scene.verdict(anchor, first).status == "changed"
    scene.write(f"src/one.{suffix}", good)
    scene.write(f"src/two.{suffix}", good)
    assert scene.verdict(anchor, first).status == "unknown"
