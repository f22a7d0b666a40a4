"""`for` and `coverage`: the documents for code, and code without documents."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.code_scene import JWT, Scene
from thunderus_mem.authoring import add as add_module
from thunderus_mem.authoring import edit, init
from thunderus_mem.authoring.add import NewDocument
from thunderus_mem.authoring.anchor import anchor
from thunderus_mem.document.anchors import Anchor, parse_anchor
from thunderus_mem.errors import InvalidDocument, InvalidQuery, ThunderusError
from thunderus_mem.fingerprint.source import CodeSource
from thunderus_mem.index import caches
from thunderus_mem.memory.memory import Memory, open_memory
from thunderus_mem.verdicts.code import CodeFolder
from thunderus_mem.verdicts.lookup import Governed, coverage, folders_covered, governing, relate
from thunderus_mem.verdicts.verdict import ORDER, Verdict

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.support.command_server import Done

CODE = """\
class Outer:
    def one(self):
        return 1

    def two(self):
        return 2


def alone():
    return 3
"""


def source() -> CodeSource:
    return CodeSource("a.py", CODE.encode())


def never() -> CodeSource:
    raise AssertionError("the file must not be read for this")


@pytest.mark.parametrize(
    ("asked", "anchored", "how"),
    [
        ("a.py#Outer.one", "a.py#Outer.one", "same"),
        ("a.py#Outer::one", "a.py#Outer.one", "same"),
        ("a.py#one", "a.py#Outer.one", "same"),
        ("a.py#Outer.one", "a.py#one", "same"),
        ("a.py#Outer.one(int)", "a.py#one(int)", "same"),
        ("a.py#Outer.one", "a.py#one~2", "inside"),
        ("a.py#Outer.one(int, int)", "a.py#one", "around"),
        ("a.py#Outer.one", "a.py#Outer", "around"),
        ("a.py#Outer", "a.py#Outer.one", "inside"),
        ("a.py:2-3", "a.py:2-3", "same"),
        ("a.py:3", "a.py:2-3", "overlaps"),
        ("a.py:3", "a.py:4-9", ""),
        ("a.py", "a.py#Outer.one", "inside"),
        ("a.py", "a.py:2-3", "inside"),
        ("a.py", "a.py", "file"),
        ("a.py#Outer", "a.py", "file"),
        ("a.py:3", "a.py", "file"),
        ("a.py", "*.py", "folder"),
        ("a.py#Outer", "*.py", "folder"),
        ("a.py", "b/*.py", ""),
        ("a.py", "b.py", ""),
        ("d/a.py", "d/", "folder"),
        ("d/", "d/e/a.py#f", "inside"),
        ("d/", "d/a.py", "file"),
        ("d/", "d/*.py", "folder"),
        ("d/", "**", "folder"),
        ("d/", "e/a.py", ""),
    ],
)
def test_names_and_lines_relate_without_reading_code(asked: str, anchored: str, how: str) -> None:
    found = relate(parse_anchor(asked), parse_anchor(anchored), never)
    assert (found.how if found else "") == how


@pytest.mark.parametrize(
    ("asked", "anchored", "how"),
    [
        ("a.py#one", "a.py#Outer", "around"),
        ("a.py#Outer", "a.py#two", "inside"),
        ("a.py#alone", "a.py#Outer", ""),
        ("a.py#Outer", "a.py:2-3", "inside"),
        ("a.py#Outer.one", "a.py:1-9", "around"),
        ("a.py#Outer.one", "a.py:3-5", "overlaps"),
        ("a.py#Outer.one", "a.py:9-10", ""),
        ("a.py:6", "a.py#Outer.two", "around"),
        ("a.py:6", "a.py#Outer.one", ""),
        ("a.py:1-10", "a.py#alone", "inside"),
    ],
)
def test_code_relates_names_to_lines(asked: str, anchored: str, how: str) -> None:
    found = relate(parse_anchor(asked), parse_anchor(anchored), source)
    assert (found.how if found else "") == how


@pytest.mark.parametrize(
    ("asked", "anchored", "how"),
    [
        ("a.java#run(int)", "a.java#run(char)", ""),
        ("a.java:2", "a.java#A.run", "around"),
        ("a.java:3", "a.java#A.run", "around"),
        ("a.java:2", "a.java#A.run(char)", ""),
        ("a.java:3", "a.java#run(char)", "around"),
    ],
)
def test_selectors_relate_by_the_definitions_they_choose(asked: str, anchored: str, how: str) -> None:
    text = b"class A {\n  int run(int a) { return 1; }\n  int run(char a) { return 2; }\n}\n"
    found = relate(parse_anchor(asked), parse_anchor(anchored), lambda: CodeSource("a.java", text))
    assert (found.how if found else "") == how


def test_missing_file_makes_lines_nearby_and_other_symbols_unrelated() -> None:
    def missing() -> None:
        return None

    near = relate(parse_anchor("a.py#f"), parse_anchor("a.py:2-3"), missing)
    assert near is not None
    assert near.how == "nearby"
    assert relate(parse_anchor("a.py#f"), parse_anchor("a.py#g"), missing) is None


def test_innermost_definition_is_the_closest() -> None:
    asked = parse_anchor("a.py:6")
    inner, outer = (relate(asked, parse_anchor(place), source) for place in ("a.py#Outer.two", "a.py#Outer"))
    assert inner is not None
    assert outer is not None
    assert inner.rank < outer.rank


PLACES = st.builds(
    lambda path, rest: parse_anchor(path + rest),
    st.sampled_from(["a.py", "d/a.py", "d/e.py"]),
    st.sampled_from(["", "#Outer", "#one", "#Outer.two", ":1", ":3-6", ":40"]),
)


@settings(deadline=None, max_examples=200, derandomize=True)
@given(PLACES, PLACES)
def test_around_and_inside_are_inverse(one: Anchor, other: Anchor) -> None:
    forth, back = relate(one, other, source), relate(other, one, source)
    turned = {"same": "same", "around": "inside", "inside": "around", "overlaps": "overlaps"}
    if forth is not None and forth.how in turned and not one.is_weak and not other.is_weak:
        assert back is not None
        exact = bool(one.symbol) == bool(other.symbol)
        assert back.how == turned[forth.how] or not exact
    if one.path != other.path:
        assert forth is None


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    made = Scene(tmp_path / "repo")
    made.write("src/jwt.py", JWT)
    made.write("src/web/app.ts", "export function start() {\n  return 1;\n}\n")
    made.write("src/web/more.ts", "export const x = 1;\n")
    made.write("tools/run.sh", "echo one\n")
    made.write("README.md", "# Read\n")
    init.init(str(made.root), lambda: memory(made))
    made.commit("First")
    return made


def memory(scene: Scene) -> Memory:
    return open_memory(str(scene.root), environ=scene.repository.env)


def add(scene: Scene, title: str, *places: str, body: str = "", kind: str = "fact") -> None:
    id = add_module.add(
        memory(scene), NewDocument(kind, title, body=body or f"{title} is so.\n", tags=("a",))
    ).id
    if places:
        anchor(memory(scene), id, places)


def shown(
    scene: Scene, place: str, start: str = "", *, mentions: bool | None = None
) -> list[tuple[str, ...]]:
    found = governing(memory(scene), place, start=str(scene.root / start), mentions=mentions)
    return [(one.id.removeprefix("fact."), one.how, one.verdict) for one in found.documents]


def test_most_specific_document_comes_first(scene: Scene) -> None:
    add(scene, "pattern", "src/*.py")
    add(scene, "folder", "src/")
    add(scene, "file", "src/jwt.py")
    add(scene, "lines", "src/jwt.py:7-8")
    add(scene, "symbol", "src/jwt.py#issue")
    add(scene, "other", "src/jwt.py#small")
    add(scene, "method", "src/jwt.py#Box.put")
    add(scene, "class", "src/jwt.py#Box")
    assert shown(scene, "src/jwt.py#issue") == [
        ("symbol", "same", "verified"),
        ("lines", "inside", "verified"),
        ("file", "file", "verified"),
        ("pattern", "folder", "verified"),
        ("folder", "folder", "verified"),
    ]
    assert [one[:2] for one in shown(scene, "src/jwt.py#Box.put")][:2] == [
        ("method", "same"),
        ("class", "around"),
    ]
    assert [one[0] for one in shown(scene, "src/jwt.py:8")][:2] == ["symbol", "lines"]
    assert len(shown(scene, "src/jwt.py")) == 8
    assert [one[0] for one in shown(scene, "src/web/app.ts")] == ["folder"]
    assert [one[0] for one in shown(scene, "tools/run.sh")] == []


def test_path_may_be_relative_to_any_folder(scene: Scene) -> None:
    add(scene, "symbol", "src/jwt.py#issue")
    wanted = [("symbol", "same", "verified")]
    assert shown(scene, "src/jwt.py#issue", "src/web") == wanted
    assert shown(scene, "jwt.py#issue", "src") == wanted
    assert shown(scene, "../jwt.py#issue", "src/web") == wanted
    assert shown(scene, f"{scene.root}/src/jwt.py#issue", "src") == wanted
    assert shown(scene, "./src//jwt.py#issue") == wanted
    assert [one[:2] for one in shown(scene, "..", "src/web")] == [("symbol", "inside")]
    assert [one[:2] for one in shown(scene, ".", "")] == [("symbol", "inside")]
    os.symlink(scene.root, scene.root.parent / "link")
    assert shown(scene, f"{scene.root.parent}/link/src/jwt.py#issue") == wanted


@pytest.mark.parametrize("form", [":7", ":7-8", "#L7-L8", ":L7-L8", "#L7"])
def test_lines_are_accepted_in_every_form(scene: Scene, form: str) -> None:
    add(scene, "lines", "src/jwt.py:6-9")
    assert shown(scene, f"src/jwt.py{form}") == [("lines", "overlaps", "verified")]


def test_documents_for_missing_code_are_shown(scene: Scene) -> None:
    add(scene, "symbol", "src/jwt.py#issue")
    add(scene, "lines", "src/jwt.py:7-8")
    (scene.root / "src/jwt.py").unlink()
    scene.commit("Gone")
    found = governing(memory(scene), "jwt.py#issue", start=str(scene.root / "src"))
    assert not found.exists
    assert [(one.id, one.how, one.verdict) for one in found.documents] == [
        ("fact.symbol", "same", "missing"),
        ("fact.lines", "nearby", "missing"),
    ]


def test_moved_code_is_found_at_its_new_place(scene: Scene) -> None:
    add(scene, "lines", "src/jwt.py:7-9")
    text = (scene.root / "src/jwt.py").read_text()
    scene.write("src/jwt.py", "import os\n" * 30 + text)
    found = governing(memory(scene), "src/jwt.py:38", start=str(scene.root)).documents
    assert [(one.how, one.verdict, one.place, one.now) for one in found] == [
        ("overlaps", "moved", "src/jwt.py:L7-9", "src/jwt.py:L37-39")
    ]


def test_changed_code_is_shown_with_the_reason(scene: Scene) -> None:
    add(scene, "symbol", "src/jwt.py#issue")
    add(scene, "newer", "src/jwt.py#issue")
    edit.supersede(memory(scene), "fact.symbol", "fact.newer", why="newer")
    scene.change("src/jwt.py", "ttl=3600", "ttl=600")
    found = {one.id: one for one in governing(memory(scene), "src/jwt.py", start=str(scene.root)).documents}
    assert found["fact.newer"].verdict == "changed"
    assert found["fact.newer"].reason == "`issue` has changed since it was recorded"
    assert found["fact.symbol"].superseded_by == "fact.newer"
    lines = (scene.root / found["fact.newer"].path).read_text().split("\n")
    assert "src/jwt.py" in lines[found["fact.newer"].line - 1]


def test_documents_that_only_mention_the_file_come_last(scene: Scene) -> None:
    add(scene, "symbol", "src/jwt.py#issue", body="`src/jwt.py` again.\n")
    add(scene, "naming", body="One.\n\nSee `src/jwt.py:12` for it.\n")
    add(scene, "short", body="See `jwt.py`.\n")
    add(scene, "linking", body="See [it](../../../../src/jwt.py).\n")
    add(scene, "elsewhere", body="See `other/jwt.py` and jwt.py and `src/web/app.ts`.\n")
    rows = shown(scene, "src/jwt.py")
    assert rows == [
        ("symbol", "inside", "verified"),
        ("linking", "mentions", ""),
        ("naming", "mentions", ""),
        ("short", "mentions", ""),
    ]
    assert shown(scene, "src/jwt.py", mentions=False) == rows[:1]
    left = governing(memory(scene), "src/jwt.py", start=str(scene.root), mentions=False)
    assert left.mentions == 3
    scene.write("lib/jwt.py", "")
    assert [one[0] for one in shown(scene, "src/jwt.py")] == ["symbol", "linking", "naming"]
    found = governing(memory(scene), "src/jwt.py", start=str(scene.root)).documents
    (naming,) = [one for one in found if one.id == "fact.naming"]
    lines = (scene.root / naming.path).read_text().split("\n")
    assert "`src/jwt.py:12`" in lines[naming.line - 1]


def test_mentions_are_omitted_when_many_documents_are_anchored(scene: Scene) -> None:
    for number in range(5):
        add(scene, f"no{number}", "src/jwt.py#issue")
    add(scene, "naming", body="See `src/jwt.py`.\n")
    assert len(shown(scene, "src/jwt.py")) == 5
    assert len(shown(scene, "src/jwt.py", mentions=True)) == 6


@pytest.mark.parametrize(
    ("place", "error"),
    [
        ("/etc/passwd", InvalidQuery),
        ("../..", InvalidQuery),
        ("src/jwt.py#", InvalidDocument),
        ("src/jwt.py:9-3", InvalidDocument),
        ("src#symbol", InvalidQuery),
        ("src:3", InvalidQuery),
        ("", InvalidQuery),
        ("#L3", InvalidQuery),
        ("a\udcff.py", InvalidQuery),
        ("a\0b", InvalidQuery),
    ],
)
def test_invalid_place_is_an_error(scene: Scene, place: str, error: type[ThunderusError]) -> None:
    with pytest.raises(error):
        governing(memory(scene), place, start=str(scene.root))


@pytest.mark.parametrize(
    "path", ["-odd.py", "a#b.py", "c:3", "d\ne.py", "\x1b[31m.py", "x" * 300, "a/" * 2000]
)
def test_odd_paths_are_accepted(scene: Scene, path: str) -> None:
    add(scene, "every", "**")
    if len(path) < 200:
        scene.write(path, "x = 1\n")
    found = governing(memory(scene), path, start=str(scene.root))
    assert isinstance(found, Governed)
    assert found.exists == (len(path) < 200)


@settings(deadline=None, max_examples=100, derandomize=True)
@given(st.text(max_size=40) | st.text(alphabet="a/.#:L0-9~*[", max_size=20))
def test_any_text_is_accepted_or_rejected(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    global _KEPT
    if _KEPT is None:
        made = Scene(tmp_path_factory.mktemp("kept") / "repo")
        init.init(str(made.root), lambda: memory(made))
        _KEPT = memory(made), str(made.root)
    try:
        assert governing(_KEPT[0], text, start=_KEPT[1]).documents == ()
    except ThunderusError as error:
        assert error.hint or str(error)  # noqa: PT017


_KEPT: tuple[Memory, str] | None = None


def test_coverage_counts_folders(scene: Scene) -> None:
    add(scene, "symbol", "src/jwt.py#issue", "src/jwt.py#small")
    add(scene, "whole", "src/jwt.py", "src/web/")
    add(scene, "gone", "tools/run.sh")
    add(scene, "bare")
    add(scene, "recap", kind="recap", body="## Provenance\n\n- notes\n")
    (scene.root / "tools/run.sh").unlink()
    scene.commit("Gone")
    scene.change("src/jwt.py", "ttl=3600", "ttl=600")
    found = coverage(memory(scene), start=str(scene.root))
    assert [tuple(one) for one in found.folders] == [
        ("src/", 1, 1, 3, 2, 0),
        ("src/web/", 2, 0, 1, 0, 2),
        ("tools/", 0, 0, 1, 1, 0),
    ]
    assert tuple(found.total) == (".", 3, 1, 5, 3, 2)
    assert found.documents == 3
    assert [(one.id, one.next_step) for one in found.unanchored] == [
        ("fact.bare", "thunderus-mem anchor --suggest fact.bare")
    ]
    assert [(one.id, one.place, one.files) for one in found.weak] == [
        ("fact.gone", "tools/run.sh", 1),
        ("fact.whole", "src/jwt.py", 1),
        ("fact.whole", "src/web/", 2),
    ]


def test_coverage_lists_anchors_with_weak_support(scene: Scene) -> None:
    scene.write("src/a.c", "int each(struct list *l) {\n  FOREACH(l, next) n += 1;\n  return n;\n}\n")
    scene.write("src/a.swift", "func limit(_ a: Int) -> Int {\n    return a\n}\n")
    add(scene, "weak", "src/a.c#each", "src/a.swift#limit", "src/jwt.py#issue")
    found = coverage(memory(scene), start=str(scene.root))
    assert [(one.place, one.files, one.reason) for one in found.weak] == [
        (
            "src/a.c#each",
            0,
            "does not parse and is compared by its tokens; other formatting may mark the document stale",
        ),
        ("src/a.swift#limit", 0, "is in a language with weak support"),
    ]


def test_coverage_of_a_folder_includes_only_that_folder(scene: Scene) -> None:
    add(scene, "symbol", "src/jwt.py#issue")
    add(scene, "whole", "src/web/", "**")
    found = coverage(memory(scene), "web", start=str(scene.root / "src"))
    assert [tuple(one) for one in found.folders] == [("src/web/", 2, 0, 2, 0, 2)]
    assert (found.path, found.documents, found.unanchored) == ("src/web/", 1, ())
    for wrong in ("src/jwt.py", "nowhere", "/etc"):
        with pytest.raises(InvalidQuery):
            coverage(memory(scene), wrong, start=str(scene.root))


def test_coverage_calls_git_once(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    from thunderus_mem.git.repository import GitProcess

    add(scene, "symbol", "src/jwt.py#issue")
    store = memory(scene)
    assert store.git is not None
    coverage(store, start=str(scene.root))
    asked: list[str] = []
    run = GitProcess.run

    def counted(self: GitProcess, *arguments: str, **options: object) -> object:
        asked.append(arguments[0])
        return run(self, *arguments, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(GitProcess, "run", counted)
    coverage(store, start=str(scene.root))
    assert asked == ["ls-files"]


PATHS = st.lists(st.sampled_from(["a.py", "d/b.py", "d/e/c.rs", "d/e/f/g.go", "h/i.md", "*.py"]), unique=True)
ANCHORS = st.lists(
    st.builds(
        lambda place, status: Verdict(status, parse_anchor(place)),
        st.sampled_from(["a.py#x", "d/b.py", "d/", "d/**/*.go", "h/i.md:3", "gone/x.py", "*.py", "**"]),
        st.sampled_from(ORDER),
    )
)


@settings(deadline=None, max_examples=200, derandomize=True)
@given(PATHS, ANCHORS, st.integers(0, 4))
def test_folders_add_up_at_any_depth(paths: list[str], verdicts: list[Verdict], depth: int) -> None:
    whole = folders_covered(paths, verdicts, "", 0)
    parts = folders_covered(paths, verdicts, "", depth)
    sums = [sum(column) for column in zip(*(one[1:] for one in parts), strict=True)]
    assert sums == [sum(column) for column in zip(*(one[1:] for one in whole), strict=True)]
    if parts:
        assert sums[2] == len(verdicts)
        assert sums[3] == sum(verdict.is_stale for verdict in verdicts)
    assert all(one.path.count("/") <= depth for one in parts)


def test_for_and_coverage_commands(scene: Scene, run: Callable[..., Done]) -> None:
    add(scene, "Tokens", "src/jwt.py#issue")
    add(scene, "naming", body="See `src/jwt.py`.\n")
    src = scene.root / "src"
    done = run("for", "jwt.py#issue", cwd=src)
    assert (done.code, done.out.splitlines()[0].split()) == (
        *(0, ["fact.tokens", "same", "verified", "src/jwt.py#issue", "Tokens"]),
    )
    done = run("for", "jwt.py", cwd=src)
    assert done.out.split()[:4] == ["fact.tokens", "inside", "verified", "src/jwt.py#issue"]
    done = run("--json", "for", "jwt.py", "--mentions", cwd=src)
    assert [one["how"] for one in done.json["documents"]] == ["inside", "mentions"]
    assert done.json["schema"] == "thunderus-mem.for/2"
    done = run("-C", "src", "for", "jwt.py:7", cwd=scene.root)
    assert done.out.split()[:2] == ["fact.tokens", "around"]
    done = run("for", "--", "-none.py", cwd=src)
    assert (done.code, done.out) == (0, "")
    assert done.err == "No documents about src/-none.py; no such file\n"
    done = run("for", "a\x1b[31m\nb", cwd=src)
    assert (done.code, "\x1b" in done.out + done.err) == (0, False)
    done = run("for", "/etc", cwd=src)
    assert (done.code, done.err.splitlines()[0]) == (2, "error: '/etc' is outside the repository")
    scene.change("src/jwt.py", "ttl=3600", "ttl=600")
    done = run("for", "jwt.py", cwd=src)
    assert done.out.splitlines()[:2] == [
        "fact.tokens  inside    changed  src/jwt.py#issue  Tokens",
        "    `issue` has changed since it was recorded",
    ]
    done = run("coverage", cwd=src)
    assert done.code == 0
    assert "1 document without an anchor:" in done.out
    assert done.out.splitlines()[1].split() == ["src/", "1", "1", "0", "1", "1"]
    assert run("--json", "coverage", "web", cwd=src).json["total"]["files"] == 2
    assert run("coverage", "jwt.py", cwd=src).code == 2


def test_code_is_read_only_when_names_are_not_enough(scene: Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    add(scene, "symbol", "src/jwt.py#issue")
    add(scene, "lines", "src/jwt.py:7-8")
    monkeypatch.setattr(caches, "is_racy", lambda *_: False)
    wanted = shown(scene, "src/jwt.py")

    def never_read(self: CodeFolder, path: str) -> None:
        raise AssertionError(f"{path} is read")

    monkeypatch.setattr(CodeFolder, "read", never_read)
    assert shown(scene, "src/jwt.py") == wanted
    assert shown(scene, "tools/run.sh") == []
    with pytest.raises(AssertionError, match="is read"):
        shown(scene, "src/jwt.py:8")


@pytest.mark.parametrize("data", [b"x = 1\n" * 500_000, b"def one():\n    pass\n\0", b"plain text\n"])
def test_unreadable_file_relates_nothing(data: bytes) -> None:
    path = "a.txt" if data.startswith(b"plain") else "a.py"

    def unreadable() -> CodeSource:
        return CodeSource(path, data)

    near = relate(parse_anchor(f"{path}#one"), parse_anchor(f"{path}:2-3"), unreadable)
    assert near is not None
    assert near.how == "nearby"
    assert relate(parse_anchor(f"{path}#one"), parse_anchor(f"{path}#two"), unreadable) is None
