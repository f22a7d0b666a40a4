"""Code that a grammar does not read: a definition without an error inside is judged as usual, another one by
its tokens, and only by the reader that made its fingerprint."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.code_scene import Scene
from thunderus_mem.document.anchors import Anchor
from thunderus_mem.errors import InvalidDocument, NotFound
from thunderus_mem.fingerprint.source import CodeSource
from thunderus_mem.verdicts.code import WorkingTree
from thunderus_mem.verdicts.evaluate import evaluate
from thunderus_mem.verdicts.verdict import NoHistory

if TYPE_CHECKING:
    from pathlib import Path

C = """\
int limit(int a) {
  return a > 100 ? 100 : a; /* at most */
}

int each(struct list *l, int n) {
  LIST_FOREACH(one, l, next) n += one->size;
  return n;
}

"""
TYPES = "type Keys<AP> = { [type in keyof AP]: X }\n\nfunction limit(a: number) {\n  return a + 100\n}\n"
SWIFT = """\
func limit(_ a: Int) -> Int {
    guard a > 1 else { return 100 }
    let b = a > 3 ? 1 : 2
    return [1, 2].map { $0 + b }.first! + a
}
"""


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    made = Scene(tmp_path / "code")
    for path, text in (("a.c", C), ("a.ts", TYPES), ("a.swift", SWIFT)):
        made.write(path, text)
        assert CodeSource(path, text.encode()).broken == (path != "a.swift")
    made.commit()
    return made


@pytest.mark.parametrize("path", ["a.c", "a.ts"])
def test_definition_is_judged_although_another_does_not_parse(scene: Scene, path: str) -> None:
    anchor = scene.anchor(f"{path}#limit")
    assert anchor.scheme == {"a.c": "c", "a.ts": "ecma"}[path]
    assert scene.verdict(anchor).status == "verified"
    scene.write(path, "// A comment.\n" + (scene.root / path).read_text().replace("  return", "    return"))
    assert scene.verdict(anchor).status == "verified"
    scene.change(path, "100", "200")
    assert scene.verdict(anchor).status == "changed"
    assert evaluate(anchor, WorkingTree(str(scene.root), None), NoHistory()).status == "changed"


@pytest.mark.parametrize("place", ["a.c#each", "a.ts#Keys"])
def test_definition_that_does_not_parse_is_read_by_its_tokens(scene: Scene, place: str) -> None:
    anchor = scene.anchor(place)
    path = anchor.path
    text = (scene.root / path).read_text()
    assert anchor.scheme == {"a.c": "c-tokens", "a.ts": "ecma-tokens"}[path]
    scene.write(
        path, text.replace("{", "{ /* why */\n  ").replace(": X", " :\n X").replace("  return n", "return n")
    )
    assert scene.verdict(anchor).status == "verified"
    scene.write(path, text.replace("return n", "return n + 1").replace("]: X", "]?: X"))
    assert scene.verdict(anchor).status == "changed"
    scene.write(path, text)
    assert scene.verdict(anchor).status == "verified"
    scene.repository.git("mv", path, f"b{path}")
    assert scene.verdict(anchor).status == "moved"


def test_fingerprint_by_tokens_is_compared_by_tokens_when_the_code_parses(scene: Scene) -> None:
    # The grammar fails on a comment before `let`.
    scene.change("a.swift", "    let b", "/* why */    let b")
    anchor = scene.anchor("a.swift#limit")
    assert anchor.scheme == "swift-tokens"
    scene.change("a.swift", "/* why */", "")
    assert not CodeSource("a.swift", (scene.root / "a.swift").read_bytes()).broken
    verdict = scene.verdict(anchor)
    assert (verdict.status, verdict.found) == ("verified", anchor)
    scene.change("a.swift", "100", "200")
    assert scene.verdict(anchor).status == "changed"


def test_definition_that_stops_parsing_is_compared_with_its_text_in_the_history(scene: Scene) -> None:
    anchor = scene.anchor("a.swift#limit")
    assert anchor.scheme == "swift"
    scene.change("a.swift", "    let b", "/* why */    let b")
    verdict = scene.verdict(anchor)
    assert (verdict.status, verdict.found) == ("verified", anchor)
    tree = WorkingTree(str(scene.root), None)
    without = evaluate(anchor, tree, NoHistory())
    assert (without.status, without.reason) == ("unknown", "`limit` no longer parses")
    scene.change("a.swift", "100", "200")
    assert scene.verdict(anchor).status == "changed"
    scene.commit()
    verdict = scene.verdict(anchor)
    assert verdict.status == "changed"
    assert verdict.found is not None
    assert verdict.found.scheme == "swift-tokens"


def test_error_in_another_definition_is_no_change(scene: Scene) -> None:
    text = "def each(a):\n    return [a]\n\n\ndef limit(a):\n    return 100\n"
    scene.write("a.py", text)
    base = scene.commit()
    anchor = scene.anchor("a.py#limit")
    for at in (i for i, char in enumerate(text[:28]) if char in "()[]:"):
        scene.write("a.py", text[:at] + text[at + 1 :])
        assert scene.verdict(anchor, base).status in ("verified", "unknown"), text[:at]


def test_definition_in_a_merge_conflict_is_unknown_and_cannot_be_anchored(scene: Scene) -> None:
    anchor = scene.anchor("a.swift#limit")
    ours, theirs = SWIFT.replace("100", "1"), SWIFT.replace("100", "2")
    scene.write("a.swift", f"<<<<<<< ours\n{ours}=======\n{theirs}>>>>>>> theirs\n")
    assert scene.verdict(anchor).reason == "`limit` contains a merge conflict"
    with pytest.raises(InvalidDocument, match="contains a merge conflict"):
        scene.anchor("a.swift#limit")


LIMIT = "int limit(int a) {\n  return a > 100 ? 100 : a; /* at most */\n}\n"


@pytest.mark.parametrize("use", ["", "// See limit.\n", "int f(void) {\n  return limit(2);\n}\n"])
@pytest.mark.parametrize("committed", [True, False])
def test_symbol_that_cannot_be_in_what_does_not_parse_is_missing(
    scene: Scene, use: str, committed: bool
) -> None:
    anchor = scene.anchor("a.c#limit")
    since = scene.repository.git("rev-parse", "HEAD").strip() if committed else ""
    scene.change("a.c", LIMIT, use)
    assert scene.verdict(anchor, since).reason == "`limit` is not defined in a.c"
    scene.write("b.c", C.replace("100 : a", "100 : a + a + a"))
    assert scene.verdict(anchor, since).status == "missing"
    scene.write("b.c", C)
    found = scene.verdict(anchor, since)
    assert (found.status, found.found and found.found.place) == ("moved", "b.c#limit")


@pytest.mark.parametrize(
    "use",
    [
        "int limit(int a) LIST_FOREACH(a) {\n",
        "int each2(int n) {\n  LIST_FOREACH(one, l, next) n += limit(2);\n}\n",
        "#ifdef limit\n#endif\n",
        "struct b {\n  int limit;\n};\nint (*limit[2])(void) = {\n",
        "limit(int) {\n",
    ],
)
def test_symbol_that_may_be_in_what_does_not_parse_is_unknown(scene: Scene, use: str) -> None:
    anchor = scene.anchor("a.c#limit")
    scene.change("a.c", LIMIT, use)
    assert scene.verdict(anchor).status in ("unknown", "changed")
    scene.write("a.c", C.replace(LIMIT, "").replace("LIST_FOREACH(one", "limit(one"))
    assert scene.verdict(anchor).reason == "the file does not parse (line 3)"
    with pytest.raises(NotFound, match="does not define 'limit'; it does not parse"):
        scene.anchor("a.c#limit")


def test_file_that_was_rewritten_in_another_language_is_unknown_for_that_reason(tmp_path: Path) -> None:
    one, other = CodeSource("A.java", b"class A { int f() { return 1; } }\n"), b"class A { fun f() = 1 }\n"
    named = one.named("A.f")
    assert named is not None
    anchor = Anchor("A.java", "A.f", None, str(named.fingerprint))

    class Renamed(NoHistory):
        def renamed(self, path: str) -> str | None:
            return "A.kt" if path == "A.java" else None

    (tmp_path / "A.kt").write_bytes(other)
    verdict = evaluate(anchor, WorkingTree(str(tmp_path), None), Renamed())

    assert (verdict.status, verdict.reason) == (
        "unknown",
        "the file is now in another language; verify the document again",
    )
