"""Verdicts on real repositories: verified, moved, changed, missing and unknown."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from tests.support.code_scene import ISSUE, JWT, SMALL, Scene
from thunderus_mem.document.anchors import Anchor
from thunderus_mem.verdicts.code import WorkingTree
from thunderus_mem.verdicts.evaluate import evaluate
from thunderus_mem.verdicts.verdict import ORDER, NoHistory, Verdict, status_of, worst

if TYPE_CHECKING:
    from pathlib import Path

GO = """\
package a

func Sum(a []int) int {
	total := 0
	for _, v := range a {
		total += v
	}
	return total
}
"""


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    made = Scene(tmp_path / "repo")
    made.write("src/jwt.py", JWT)
    made.write("src/sum.go", GO)
    made.write("README.md", "# Read\n\nSome words.\n")
    made.commit("First")
    return made


def head(scene: Scene) -> str:
    return scene.repository.git("rev-parse", "HEAD")


@pytest.mark.parametrize(
    "edit",
    [
        ("now = int(time.time())", "now = int( time.time() )  # seconds"),
        ('"sub": user.id, "iat"', "'sub': user.id,\n        'iat'"),
        ("return sign(payload, key", "return (sign(payload, key"),
        ("import time\n", "import time\nimport os\n\nOTHER = 1\n"),
        ("return 1", "return 2"),
    ],
)
def test_formatting_and_other_code_do_not_change_the_verdict(scene: Scene, edit: tuple[str, str]) -> None:
    anchor = scene.anchor("src/jwt.py#issue")
    scene.change("src/jwt.py", *edit)
    if edit[1].startswith("return (sign"):
        scene.change("src/jwt.py", '{"typ": "JWT"})', '{"typ": "JWT"}))')
    assert scene.verdict(anchor, head(scene)).status == "verified"


@pytest.mark.parametrize(
    ("place", "old", "new"),
    [
        ("src/jwt.py#issue", "ttl=3600", "ttl=600"),
        ("src/jwt.py#issue", "now + ttl", "now - ttl"),
        ("src/jwt.py#Box.put", "self.one = one", "self.one = [one]"),
        ("src/jwt.py#Box", "self.one = one", "self.one = [one]"),
        ("src/sum.go#Sum", "total += v", "total -= v"),
        ("src/jwt.py:6-7", "now = int", "now = float"),
        ("src/jwt.py", "return 1", "return 2"),
        ("src/*.py", "return 1", "return 2"),
        ("src/**", "return 1", "return 2"),
        ("src/", "return 1", "return 2"),
        ("README.md", "Some", "Other"),
    ],
)
def test_changed_code_is_reported(scene: Scene, place: str, old: str, new: str) -> None:
    anchor = scene.anchor(place)
    path = "README.md" if place == "README.md" else "src/sum.go" if "go" in place else "src/jwt.py"
    before = (scene.root / path).read_text()
    scene.change(path, old, new)
    assert scene.verdict(anchor, head(scene)).status == "changed"
    scene.write(path, before)
    assert scene.verdict(anchor, head(scene)).status == "verified", "a revert restores the verdict"


def test_changed_docstring_is_a_note(scene: Scene) -> None:
    scene.write("a.py", 'def f(x):\n    """One."""\n    return x + 1\n')
    anchor = scene.anchor("a.py#f")
    scene.change("a.py", "One", "Two")
    found = scene.verdict(anchor)
    assert (found.status, found.note) == ("verified", "its docstring changed")


def test_moved_code_is_followed_by_rename_name_and_shape(scene: Scene) -> None:
    first = head(scene)
    anchors = {name: scene.anchor(f"src/jwt.py#{name}") for name in ("issue", "small", "Box.put")}
    scene.repository.git("mv", "src/jwt.py", "src/tokens.py")
    scene.commit("Rename the file")
    for name, anchor in anchors.items():
        found = scene.verdict(anchor, first)
        assert (found.status, found.by) == ("moved", "rename")
        assert found.found is not None
        assert found.found.place == f"src/tokens.py#{name}"
    scene.change("src/tokens.py", ISSUE, "")
    scene.write("lib/mint.py", "import time\n\n\n" + ISSUE.replace("def issue", "def mint"))
    scene.commit("Move and rename the function")
    found = scene.verdict(anchors["issue"], first)
    assert (found.status, found.found and found.found.place) == ("moved", "lib/mint.py#mint")
    scene.change("lib/mint.py", "now + ttl", "now - ttl")
    assert scene.verdict(anchors["issue"], first).status == "missing"


DEPENDENCIES = "\n".join(f'    "package-{at}>={at}.0",' for at in range(20))
KEYS = {
    "pyproject.toml": (
        f'[project]\nname = "a"\ndependencies = [\n{DEPENDENCIES}\n]\n',
        "project.name",
        "name =",
    ),
    "setup.cfg": ("[metadata]\nname = a\nversion = 1\n", "metadata.name", "name ="),
    "Makefile": ("all: a b\n\tcc\n\nclean:\n\trm a\n", "clean", "clean:"),
}


@pytest.mark.parametrize("path", KEYS)
def test_removed_or_renamed_key_is_missing(scene: Scene, path: str) -> None:
    text, symbol, key = KEYS[path]
    scene.write(path, text)
    first = scene.commit("Settings")
    anchor = scene.anchor(f"{path}#{symbol}")
    assert scene.verdict(anchor, first).status == "verified"
    scene.write(path, text.replace(key, f"other-{key}"))
    found = scene.verdict(anchor, first)
    assert (found.status, found.reason) == ("missing", f"`{symbol}` is not defined in {path}")
    scene.write(path, "".join(line for line in text.splitlines(True) if not line.startswith(key)))
    assert scene.verdict(anchor, first).status == "missing"
    scene.write(path, text)
    assert scene.verdict(anchor, first).status == "verified"


def test_renamed_key_with_a_long_value_is_moved(scene: Scene) -> None:
    text = KEYS["pyproject.toml"][0]
    scene.write("pyproject.toml", text)
    first = scene.commit("Settings")
    anchor = scene.anchor("pyproject.toml#project.dependencies")
    scene.write("pyproject.toml", text.replace("dependencies", "optional"))
    found = scene.verdict(anchor, first)
    assert (found.status, found.found and found.found.place) == ("moved", "pyproject.toml#project.optional")


@pytest.mark.parametrize(("path", "status"), [("notes.txt", "unknown"), ("uv.lock", "unknown")])
def test_names_of_files_without_keys_are_unknown(scene: Scene, path: str, status: str) -> None:
    scene.write(path, "a = 1\n" * (30_000 if path == "uv.lock" else 1))
    found = scene.verdict(Anchor(path, "b", None, "toml@/1:" + "0" * 20 + ":-:3"))
    assert found.status == status
    assert found.reason.startswith("symbols are not supported in this file type")


def test_existing_copy_is_not_a_move_target(scene: Scene) -> None:
    scene.write("src/other.py", "import time\n\n\n" + ISSUE)
    second = scene.commit("A copy")
    anchor = scene.anchor("src/jwt.py#issue")
    scene.change("src/jwt.py", ISSUE, "")
    assert scene.verdict(anchor, second).status == "missing"


def test_two_new_copies_are_ambiguous(scene: Scene) -> None:
    anchor, first = scene.anchor("src/jwt.py#issue"), head(scene)
    scene.change("src/jwt.py", ISSUE, "")
    for name in ("one", "two"):
        scene.write(f"src/{name}.py", ISSUE)
    found = scene.verdict(anchor, first)
    assert found.status == "missing"
    assert "ambiguous: its code is now in 2 places" in found.reason


def test_lines_are_followed_and_changes_reported(scene: Scene) -> None:
    anchor, first = scene.anchor("src/jwt.py:7-9"), head(scene)
    scene.change("src/jwt.py", "import time\n", "import time\n\nA = 1\nB = 2\n")
    for since in (first, ""):
        found = scene.verdict(anchor, since)
        assert (found.status, found.found and found.found.lines) == ("moved", (10, 12))
    scene.change("src/jwt.py", "int(time.time())", "round(time.time())")
    found = scene.verdict(anchor, first)
    assert (found.status, found.found and found.found.lines) == ("changed", (10, 12))
    scene.change("src/jwt.py", ISSUE.replace("int(", "round("), "")
    assert scene.verdict(anchor, first).status in ("missing", "changed")


@pytest.mark.parametrize("lost", ["squash", "amend", "shallow", "none"])
def test_missing_commit_does_not_break_verdicts(scene: Scene, tmp_path: Path, lost: str) -> None:
    anchors = [scene.anchor(f"src/jwt.py{place}") for place in ("#issue", "#Box.put", "", ":7-9")]
    first = {"none": "", "squash": "0" * 40, "amend": "1" * 40, "shallow": head(scene)}[lost]
    scene.repository.git("mv", "src/jwt.py", "src/tokens.py")
    scene.commit("Rename")
    scene.write("x.txt", "more\n")
    scene.commit("More")
    at = scene
    if lost == "shallow":
        scene.repository.clone(tmp_path / "shallow", "--depth", "1", "--no-local")
        at = Scene(tmp_path / "shallow", git=False)
    found = [at.verdict(anchor, first).status for anchor in anchors]
    expected = ["moved"] * 4 if lost != "shallow" else ["moved", "moved", "unknown", "unknown"]
    assert found == expected
    at.change("src/tokens.py", "ttl=3600", "ttl=60")
    assert at.verdict(anchors[0], first).status in ("changed", "missing")


def test_code_that_cannot_be_compared_is_unknown(scene: Scene) -> None:
    anchor, first = scene.anchor("src/jwt.py#issue"), head(scene)
    scene.change("src/jwt.py", "return sign(", "return sign((((")
    assert evaluate(anchor, WorkingTree(str(scene.root), None), NoHistory()).status == "unknown"
    scene.write("src/jwt.py", JWT)
    newer = anchor._replace(fingerprint=anchor.fingerprint.replace("@0.51", "@0.99"))
    scene.change("src/jwt.py", "ttl=3600", "ttl=1")
    assert scene.verdict(newer, first).status == "unknown"
    assert scene.verdict(anchor._replace(fingerprint="sha:1"), first).status == "unknown"
    assert scene.verdict(anchor._replace(fingerprint=""), first).status == "unknown"
    assert scene.verdict(Anchor("src/nothing.py", "f"), first).status == "missing"


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("a.py", b"\0\1\2" * 100),
        ("a.py", b"x = 1\n" * 4_000_000),
        ("a.py", "é = 1\n".encode("latin-1")),
        ("a.js", b"function f(){" + b"return [" * 60_000),
        ("a.py", b"(" * 100_000),
        ("a.ts", "\ufefffunction f() {}\r\n".encode("utf-16")),
    ],
)
def test_hostile_files_get_a_verdict(scene: Scene, name: str, data: bytes) -> None:
    scene.write(name, "def f():\n    return 1\n" if name.endswith("py") else "function f() { return 1 }\n")
    anchors = [scene.anchor(f"{name}#f"), scene.anchor(name), scene.anchor(f"{name}:1-2")]
    scene.write(name, data)
    for anchor in anchors:
        found = scene.verdict(anchor)
        assert found.status in ORDER
        assert found.reason


def test_symlinks_folders_and_odd_names(scene: Scene) -> None:
    os.symlink("jwt.py", scene.root / "src" / "link.py")
    os.symlink("/", scene.root / "out")
    assert scene.verdict(Anchor("src/link.py", "issue", None, "x")).status == "unknown"
    assert scene.verdict(Anchor("out/etc/passwd", "", None, "x")).status == "unknown"
    assert scene.verdict(Anchor("src", "", None, "x")).status == "unknown"
    assert scene.verdict(Anchor("../src/jwt.py", "", None, "x")).status == "missing"
    for name in ("-x.py", "a b.py", "ö.py", "a'b\".py"):
        scene.write(name, JWT)
        anchor = scene.anchor(f"{name}#issue")
        assert scene.verdict(anchor).status == "verified"
        first = scene.commit(f"Add {name}"[:20])
        scene.repository.git("mv", "--", name, f"moved-{name.strip('-')}")
        scene.commit("Move")
        assert scene.verdict(anchor, first).status == "moved", name
        (scene.root / f"moved-{name.strip('-')}").unlink()
        scene.commit("Remove")
        assert scene.verdict(anchor, first).status == "missing", name
    scene.write("new\nline.py", JWT)
    scene.commit("A name with a newline")
    assert scene.verdict(Anchor("new\nline.py", "issue", None, "x")).status == "unknown"


def test_outside_git_and_in_other_trees(scene: Scene, tmp_path: Path) -> None:
    bare = Scene(tmp_path / "plain", git=False)
    bare.write("jwt.py", JWT)
    anchor = bare.anchor("jwt.py#issue")
    assert bare.verdict(anchor).status == "verified"
    bare.write("deep/er/jwt.py", JWT)
    (bare.root / "jwt.py").unlink()
    assert bare.verdict(anchor).status == "moved"
    bare.change("deep/er/jwt.py", "3600", "36")
    assert bare.verdict(anchor).status == "missing"

    kept, first = scene.anchor("src/jwt.py#issue"), head(scene)
    scene.change("src/jwt.py", "3600", "60")
    second = scene.commit("Change")
    scene.repository.git("mv", "src/jwt.py", "a.py")
    scene.change("a.py", "ttl=60", "ttl=3600")
    third = scene.commit("Move back")
    states = [scene.verdict_in(at, kept, first).status for at in (first, second, third)]
    assert states == ["verified", "changed", "moved"]


def test_document_status_is_that_of_its_worst_anchor() -> None:
    anchor = Anchor("a.py")
    made = [Verdict(status, anchor) for status in ("moved", "verified", "unknown", "changed")]
    assert [status_of(worst(made[:count])) for count in range(5)] == [
        "unknown", "verified", "verified", "unknown", "stale",
    ]  # fmt: skip


def test_small_bodies_are_followed_only_under_their_full_name(scene: Scene) -> None:
    anchor, first = scene.anchor("src/jwt.py#small"), head(scene)
    scene.change("src/jwt.py", SMALL, "")
    scene.write("src/other.py", SMALL.replace("small", "tiny"))
    assert scene.verdict(anchor, first).status == "missing"
    scene.write("src/other.py", SMALL)
    found = scene.verdict(anchor, first)
    assert (found.status, found.found and found.found.path) == ("moved", "src/other.py")


def test_name_with_the_same_end_does_not_hide_a_move(scene: Scene) -> None:
    first = head(scene)
    anchor = scene.anchor("src/jwt.py#issue")
    scene.change("src/jwt.py", ISSUE, "")
    scene.change("src/jwt.py", "    def put(self, one):", "    def issue(self, one):")
    assert scene.verdict(anchor, first).status == "changed"
    scene.write("src/mint.py", ISSUE)
    found = scene.verdict(anchor, first)
    assert (found.status, found.found and found.found.path) == ("moved", "src/mint.py")


def test_common_small_body_is_not_followed(scene: Scene) -> None:
    for number in range(3):
        scene.write(f"examples/{number}.py", SMALL)
    second = scene.commit("Examples")
    anchor = scene.anchor("examples/0.py#small")
    (scene.root / "examples/0.py").unlink()
    scene.write("examples/other/9.py", SMALL)
    assert scene.verdict(anchor, second).status == "missing"


def test_copy_with_the_longest_common_path_end_is_chosen(scene: Scene) -> None:
    scene.write("apps/front/__init__.py", ISSUE)
    scene.write("apps/back/__init__.py", ISSUE)
    second = scene.commit("Two alike")
    anchors = [scene.anchor(f"apps/{name}/__init__.py#issue") for name in ("front", "back")]
    scene.repository.git("mv", "apps", "web")
    scene.commit("Move both")
    for since in (second, ""):
        found = [scene.verdict(anchor, since).found for anchor in anchors]
        assert [one and one.path for one in found] == ["web/front/__init__.py", "web/back/__init__.py"]
