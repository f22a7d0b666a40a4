"""Anchors proposed from a text: only what can mean one thing, each with its reason; the rest with why not."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

import pytest

from tests.support.code_scene import Scene
from thunderus_mem.authoring import add, init
from thunderus_mem.authoring.add import NewDocument
from thunderus_mem.authoring.anchor import anchor
from thunderus_mem.document.anchors import Anchor, code_words, parse_anchor
from thunderus_mem.git.history import ObjectReader
from thunderus_mem.interop.markdown import import_markdown
from thunderus_mem.memory.memory import open_memory
from thunderus_mem.verdicts.code import CommitTree, WorkingTree
from thunderus_mem.verdicts.suggest import Proposals, is_beside, propose, suggest, suggest_all

if TYPE_CHECKING:
    from pathlib import Path

PYTHON = """\
import time

ALGORITHM = "HS256"


class Token:
    size = 3

    def issue(self, user):
        def inner_step(one):
            return one

        return inner_step(user)

    def check(self):
        return True


class Other:
    def check(self):
        return False


@cached
@twice
def issue_token(user):
    token = Token()
    return token.issue(user)


def login(user):
    return issue_token(user)
"""
STORE = "def save_all(rows):\n    return rows\n\n\ndef run(x):\n    return x\n"
TESTS = "def test_issue():\n    pass\n\n\ndef make_user():\n    pass\n\n\ndef login():\n    pass\n"
GO = "package a\n\nfunc SumAll(a []int) int {\n\treturn 0\n}\n\nfunc (l *List) Push(x int) {\n}\n"
RUST = (
    "pub mod net {\n    pub fn dial_peer() {}\n}\npub struct Peer;\n"
    "impl Peer {\n    pub fn hello(&self) {}\n}\n"
)
SCRIPT = "export const fetchUser = async () => 3;\nexport class Store {\n  load() { return 1; }\n}\n"
FILES = {
    "src/auth/jwt.py": PYTHON,
    "src/auth/store.py": STORE,
    "src/old/store.py": "def save_all(rows):\n    return list(rows)\n",
    "src/caller.py": "from auth.jwt import issue_token\n\nx = issue_token(3)\nprint(issue_token)\n",
    "tests/test_jwt.py": TESTS,
    "go/sum.go": GO,
    "rust/lib.rs": RUST,
    "web/app.ts": SCRIPT,
    "c/peer.h": (
        "#define PEER_MAX 3\nint greet(void);\nstruct peer_state {\n  int retries;\n  int limit;\n};\n"
    ),
    "c/peer.c": "int greet(void) {\n  return PEER_MAX;\n}\n",
    "README.md": "# Read the tokens\n\n## SumAll\n",
}


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    made = Scene(tmp_path / "repo")
    for path, text in FILES.items():
        made.write(path, text)
    made.commit("First")
    return made


def proposed(scene: Scene, text: str, *existing: str) -> Proposals:
    tree = WorkingTree(str(scene.root), scene.git())
    return propose(code_words(text), tree, [parse_anchor(one) for one in existing])


def places(scene: Scene, text: str, *existing: str) -> list[str]:
    return [one.place for one in proposed(scene, text, *existing).proposals]


def why_not(scene: Scene, text: str, *existing: str) -> str:
    found = proposed(scene, text, *existing)
    assert found.proposals == ()
    (passed,) = found.passed
    return passed.why


@pytest.mark.parametrize(
    ("code", "place"),
    [
        ("issue_token()", "src/auth/jwt.py#issue_token"),
        ("Token.issue", "src/auth/jwt.py#Token.issue"),
        ("Token::issue", "src/auth/jwt.py#Token.issue"),
        ("auth.jwt.Token", "src/auth/jwt.py#Token"),
        ("jwt.issue_token(user)", "src/auth/jwt.py#issue_token"),
        ("Other.check", "src/auth/jwt.py#Other.check"),
        ("ALGORITHM", "src/auth/jwt.py#ALGORITHM"),
        ("login()", "src/auth/jwt.py#login"),
        ("old.store.save_all", "src/old/store.py#save_all"),
        ("src/auth/store.py#run", "src/auth/store.py#run"),
        ("auth/store.py#run()", "src/auth/store.py#run"),
        ("src/auth/jwt.py:24", "src/auth/jwt.py#issue_token"),
        ("src/auth/jwt.py:26", "src/auth/jwt.py#issue_token"),
        ("src/auth/jwt.py:27-28", "src/auth/jwt.py:L27-28"),
        ("src/auth/jwt.py:24-28", "src/auth/jwt.py#issue_token"),
        ("tests/test_jwt.py::test_issue", "tests/test_jwt.py#test_issue"),
        ("SumAll", "go/sum.go#SumAll"),
        ("List.Push", "go/sum.go#List.Push"),
        ("net::dial_peer", "rust/lib.rs#net.dial_peer"),
        ("Peer::hello", "rust/lib.rs#Peer.hello"),
        ("fetchUser", "web/app.ts#fetchUser"),
        ("Store.load()", "web/app.ts#Store.load"),
        ("src/auth/jwt.py", "src/auth/jwt.py"),
        ("jwt.py", "src/auth/jwt.py"),
        (r"auth\jwt\Token", "src/auth/jwt.py#Token"),
        ("$token->issue($user)", "src/auth/jwt.py#Token.issue"),
        ("Peer greet(void)", "c/peer.c#greet"),
        ("PEER_MAX", "c/peer.h#PEER_MAX"),
        ("peer_state.retries", "c/peer.h#peer_state"),
        ("README.md#Read the tokens", "README.md#Read the tokens"),
    ],
)
def test_unambiguous_name_is_suggested(scene: Scene, code: str, place: str) -> None:
    found = proposed(scene, f"One.\n\nTwo `{code}` three.")
    (one,) = found.proposals
    assert (one.place, one.line, one.weak) == (place, 3, "#" not in place and ":" not in place)
    assert one.reason.startswith(f"`{code}` in line 3 ")
    assert found.passed == ()


def test_reason_says_where_it_is_defined(scene: Scene) -> None:
    (one,) = proposed(scene, "`issue_token`").proposals
    assert one.reason == "`issue_token` in line 1 is defined once: src/auth/jwt.py:24"
    (one,) = proposed(scene, "`login()`").proposals
    assert one.reason == "`login()` in line 1 is defined once outside tests: src/auth/jwt.py:31"


@pytest.mark.parametrize(
    ("code", "why"),
    [
        ("save_all", "defined 2 times: src/auth/store.py:1, src/old/store.py:1"),
        ("run()", "too common"),
        ("get", "too common"),
        ("Error", "too common"),
        ("POST", "too common"),
        ("abc", "too short"),
        ("token.id", "too short"),
        ("test_issue", "only defined in tests or third-party code"),
        ("__init__", "too common: any class may define it"),
        ("make_user()", "only defined in tests or third-party code"),
        ("no_such_thing", "not defined in this repository"),
        ("inner_step", "not defined in this repository"),
        ("Token.size.deep", "not defined in this repository"),
        ("login", "a plain word; write `name()` or mention its file"),
        ("store.py", "ambiguous: 2 files match"),
        ("src/auth/", "a folder: any edit in it would mark the document stale"),
        ("src/gone.py", "no such file"),
        ("src/auth/jwt.py#nothing", "not defined in src/auth/jwt.py"),
        ("src/auth/jwt.py#check", "ambiguous: 2 definitions in src/auth/jwt.py"),
        ("src/auth/jwt.py:400", "no code on these lines of src/auth/jwt.py"),
        ("README.md", "not code"),
    ],
)
def test_ambiguous_or_common_name_is_skipped_with_the_reason(scene: Scene, code: str, why: str) -> None:
    assert why_not(scene, f"See `{code}`.") == why


def test_file_mentioned_nearby_resolves_a_name(scene: Scene) -> None:
    text = "In `src/old/store.py` there is `save_all`, and `run` elsewhere.\n"
    found = proposed(scene, text)
    assert [one.place for one in found.proposals] == ["src/old/store.py#save_all"]
    assert "is defined in src/old/store.py:1, mentioned in line 1" in found.proposals[0].reason
    assert places(scene, "See `src/auth/store.py`\nfor `run`.\n") == ["src/auth/store.py#run"]
    assert places(scene, "See `src/auth/store.py`.\n\nThere is `save_all`.\n") == [
        "src/auth/store.py#save_all"
    ]
    assert places(scene, "See `src/auth/store.py`.\n\nThen `run` it.\n") == ["src/auth/store.py"]
    assert places(scene, "See `src/auth/jwt.py`.\n\nThen `login`.\n") == ["src/auth/jwt.py#login"]


def test_class_mentioned_in_the_text_resolves_a_method(scene: Scene) -> None:
    scene.write(
        "a.py", "class First:\n    def save_it(self): pass\n\n\nclass Other2:\n    def save_it(self): pass\n"
    )
    assert why_not(scene, "`save_it`") == "defined 2 times: a.py:2, a.py:6"
    found = proposed(scene, "`save_it` of `class Other2`\n").proposals
    assert {one.place for one in found} == {"a.py#Other2", "a.py#Other2.save_it"}
    assert "`save_it` in line 1 is a member of Other2, mentioned in line 1: a.py:6" in [
        one.reason for one in found
    ]
    assert len(proposed(scene, "`save_it` of `First` and `Other2`\n").passed) == 1


def test_member_is_preferred_to_its_long_class(scene: Scene) -> None:
    lines = "".join(f"    x{at} = {at}\n" for at in range(100))
    scene.write("long.py", f"class Longish:\n    def part_one(self): pass\n{lines}")
    assert places(scene, "`Longish` has `Longish.part_one`.") == ["long.py#Longish.part_one"]
    assert places(scene, "`Longish` alone.") == ["long.py#Longish"]
    scene.write("long.py", f"class Longish:\n    def part_one(self): pass\n{lines}{lines}{lines}")
    (one,) = proposed(scene, "`Longish` alone.").proposals
    assert one.weak
    assert one.reason.endswith("(302 lines)")


def test_existing_anchors_are_skipped(scene: Scene) -> None:
    assert why_not(scene, "`issue_token`", "src/auth/jwt.py#issue_token") == "already anchored"
    assert why_not(scene, "`Token.issue`", "src/auth/jwt.py#issue") == "already anchored"
    assert why_not(scene, "`src/auth/jwt.py`", "src/auth/jwt.py") == "already anchored"
    assert why_not(scene, "`src/auth/jwt.py`", "src/auth/jwt.py#Token").startswith("a more specific anchor")
    assert why_not(scene, "`src/auth/jwt.py:27-28`", "src/auth/jwt.py:27-28") == "already anchored"


def test_overloads_and_stubs_count_as_one_definition(scene: Scene) -> None:
    scene.write("over.py", "if x:\n    def pick_one(): pass\nelse:\n    def pick_one(): pass\n")
    scene.write("over.pyi", "def pick_one() -> int: ...\n")
    assert places(scene, "`pick_one`") == ["over.py#pick_one"]


def test_class_and_its_constructor_are_one_suggestion(scene: Scene) -> None:
    scene.write(
        "Crate.java", "class Crate {\n  int size;\n  Crate(int size) {\n    this.size = size;\n  }\n}\n"
    )
    assert places(scene, "A `Crate` has a size.") == ["Crate.java#Crate"]
    assert places(scene, "A `new Crate(3)` has a size.") == ["Crate.java#Crate"]


def test_definition_is_preferred_to_its_declaration(scene: Scene) -> None:
    assert places(scene, "`greet()`") == ["c/peer.c#greet"]
    scene.write("c/other.c", "int greet(void) {\n  return 4;\n}\n")
    assert why_not(scene, "`greet()`") == "defined 2 times: c/other.c:1, c/peer.c:1"


def test_heading_of_a_document_is_not_a_definition(scene: Scene) -> None:
    assert places(scene, "`SumAll`") == ["go/sum.go#SumAll"]


def test_variable_is_named_after_its_class(scene: Scene) -> None:
    scene.write(
        "http.py",
        "class HttpClient:\n    def deliver(self): pass\n\n\nclass Mail:\n    def deliver(self): pass\n",
    )
    assert places(scene, "`http_client.deliver`") == ["http.py#HttpClient.deliver"]
    assert places(scene, "`mail.deliver()`") == ["http.py#Mail.deliver"]
    assert why_not(scene, "`parcel.deliver()`") == "not defined in this repository"


def test_field_without_a_definition_names_its_class(scene: Scene) -> None:
    scene.write("peers.py", "class Remote:\n    def start_it(self):\n        self.retries = 3\n")
    assert places(scene, "`Remote.retries` is 3.") == ["peers.py#Remote"]
    assert why_not(scene, "`Remote.timeout`") == "not defined in this repository"


def test_name_in_too_many_files_is_skipped(scene: Scene) -> None:
    for number in range(201):
        scene.write(f"many/m{number}.py", f"def everywhere_{number}(): pass\ndef all_over(): pass\n")
    assert why_not(scene, "`all_over`") == "too common: 201 files may define it, more than the limit"
    assert places(scene, "`all_over` and `everywhere_7`") == ["many/m7.py#everywhere_7"]


def test_files_that_only_use_a_name_are_not_parsed(scene: Scene) -> None:
    for number in range(50):
        scene.write(f"use/u{number}.py", f"from a import issue_token\ny = issue_token({number})\n")
    found = proposed(scene, "`issue_token`")
    assert (len(found.proposals), found.files) == (1, 1)


@pytest.mark.parametrize(
    ("path", "place"),
    [
        ("-odd.py", "-odd.py#odd_one"),
        ("sp ace.py", "sp ace.py#odd_one"),
        ("q'uote$(x).py", "q'uote$(x).py#odd_one"),
    ],
)
def test_odd_paths_are_suggested_unchanged(scene: Scene, path: str, place: str) -> None:
    scene.write(path, "def odd_one():\n    return 1\n")
    assert places(scene, "`odd_one`") == [place]


@pytest.mark.parametrize("path", ["ha#sh.py", "a\nb.py", "a\x1b[31m.py", "z.py:3"])
def test_path_that_is_not_valid_in_an_anchor_is_skipped(scene: Scene, path: str) -> None:
    scene.write(path, "def odd_one():\n    return 1\n")
    found = proposed(scene, "`odd_one`")
    assert found.proposals == ()
    assert [one.why for one in found.passed] in (
        ["its path is not valid in an anchor"],
        ["not defined in this repository"],
    )


def test_hostile_files_are_skipped(scene: Scene) -> None:
    scene.write("big.py", b"def hidden_in_big(): pass\n" + b"# " + b"x" * (3 << 20))
    scene.write("bin.py", b"def hidden_in_bin(): pass\n\0")
    scene.write("broken.py", "def still_found(:\n    pass\n\ndef whole_one():\n    pass\n")
    (scene.root / "link.py").symlink_to("/etc/passwd")
    scene.write("latin.py", "def grüße():\n    pass\n".encode("latin-1"))
    text = "`hidden_in_big` `hidden_in_bin` `whole_one` `link.py` `big.py` `bin.py` `grüße()`\n"
    found = proposed(scene, text)
    assert "broken.py#whole_one" in [one.place for one in found.proposals]
    whys = {one.code: one.why for one in found.passed}
    assert whys["hidden_in_big"] == "not defined in this repository"
    assert "2 MiB" in whys["big.py"]
    assert "symlink" in whys["link.py"]


def test_it_works_on_a_commit_and_outside_git(scene: Scene, tmp_path: Path) -> None:
    git = scene.git()
    assert git is not None
    scene.write("src/auth/jwt.py", "")
    with ObjectReader(git) as reader:
        found = propose(code_words("`issue_token`"), CommitTree(git, reader, "HEAD"))
    assert [one.place for one in found.proposals] == ["src/auth/jwt.py#issue_token"]
    plain = Scene(tmp_path / "plain", git=False)
    plain.write("src/jwt.py", PYTHON)
    assert places(plain, "`issue_token`") == ["src/jwt.py#issue_token"]


def test_is_beside_recognizes_tests_examples_and_docs() -> None:
    assert all(
        map(
            is_beside, ["tests/a.py", "a/test_x.py", "x.spec.ts", "docs/conf.py", "pkg/foo_test.go", "test.c"]
        )
    )
    assert not any(map(is_beside, ["src/testable.py", "contest.py", "a/latest.go", "src/jwt.py"]))


def test_suggest_reads_the_document_and_its_anchors(scene: Scene) -> None:
    init.init(str(scene.root), lambda: open_memory(str(scene.root), environ=scene.repository.env))
    memory = open_memory(str(scene.root), environ=scene.repository.env)
    add.add(
        memory, NewDocument("fact", "Tokens", body="About `issue_token` and `Token.issue`.\n", tags=("a",))
    )
    found = suggest(memory, "tokens")
    assert (found.id, found.anchors) == ("fact.tokens", ())
    lines = (scene.root / ".thunderus/memory/semantic/FACTS/tokens.md").read_text().split("\n")
    assert all("`issue_token`" in lines[one.line - 1] for one in found.proposals)
    assert found.strong == ("src/auth/jwt.py#issue_token", "src/auth/jwt.py#Token.issue")
    anchor(memory, "tokens", found.strong)
    again = suggest(memory, "tokens")
    assert again.proposals == ()
    assert sorted(again.anchors) == sorted(found.strong)


def test_link_of_an_imported_text_is_relative_to_the_original(scene: Scene) -> None:
    scene.write("docs/adr/0001-tokens.md", "# Tokens\n\nSee [the code](../../src/auth/jwt.py#L24).\n")
    init.init(str(scene.root), lambda: open_memory(str(scene.root), environ=scene.repository.env))
    memory = open_memory(str(scene.root), environ=scene.repository.env)
    add.add(memory, NewDocument("adr", "Tokens", body="See PATH.\n", tags=("a",)))
    (document,) = (scene.root / ".thunderus/memory/semantic/DECISIONS").glob("*.md")
    text = document.read_text().replace("PATH", "[the code](../../src/auth/jwt.py#L24)")
    document.write_text(text)
    assert [one.why for one in suggest(memory, "tokens").passed] == ["no such file"]
    document.write_text(
        text.replace("verification:", "metadata:\n  imported_from: docs/adr/0001-tokens.md\nverification:")
    )
    assert suggest(memory, "tokens").strong == ("src/auth/jwt.py#issue_token",)
    (scene.root / "docs/adr/0001-tokens.md").write_text("# Tokens\n\n[It](../../src/auth/jwt.py#L24).\n")
    document.unlink()
    import_markdown(memory, str(scene.root / "docs/adr"), "adr", why="links are rebased")
    assert suggest(memory, "0001-tokens").strong == ("src/auth/jwt.py#issue_token",)


def test_suggest_all_asks_for_documents_without_anchors(scene: Scene) -> None:
    init.init(str(scene.root), lambda: open_memory(str(scene.root), environ=scene.repository.env))
    memory = open_memory(str(scene.root), environ=scene.repository.env)
    for title, body in (
        ("One", "`issue_token`"),
        ("Two", "`SumAll` and `src/auth/store.py`"),
        ("Three", "No code."),
    ):
        add.add(memory, NewDocument("fact", title, body=f"{body}\n", tags=("a",)))
    found = suggest_all(memory)
    assert [(one.id, one.place, one.weak) for one in found.proposals] == [
        ("fact.one", "src/auth/jwt.py#issue_token", False),
        ("fact.two", "go/sum.go#SumAll", False),
        ("fact.two", "src/auth/store.py", True),
    ]
    assert found.documents == 3
    anchor(memory, "one", ["src/auth/jwt.py#issue_token"])
    rest = suggest_all(memory)
    assert ({one.id for one in rest.proposals}, rest.documents) == ({"fact.two"}, 2)
    assert rest.proposals[0][1:] == suggest(memory, "two").proposals[0]


def test_printed_commands_run_in_a_shell(scene: Scene) -> None:
    from io import StringIO

    from thunderus_mem.cli.commands.code import suggestions
    from thunderus_mem.cli.console import Console
    from thunderus_mem.verdicts.suggest import Passed, SuggestedAnchor, Suggestions

    out = StringIO()
    console = Console(out, StringIO(), {})
    place = "-a b;rm $(x)'.py#f"
    made = (SuggestedAnchor(place, "it\nis `so`", 3), SuggestedAnchor("b.py", "whole", 4, weak=True))
    value = Suggestions("fact.a", made, (Passed("x\ny", 5, "why"),), (), 1)
    console.data(suggestions(value, console))
    lines = out.getvalue().splitlines()
    commands = [shlex.split(line) for line in lines if not line.startswith("#") and line]
    assert commands == [
        ["thunderus-mem", "anchor", "--", "fact.a", place],
        ["thunderus-mem", "anchor", "fact.a", "b.py"],
    ]
    assert lines[0] == "# it is `so`"
    assert lines[2] == "# whole; weak"
    assert lines[-1] == "#   why: x y"


def test_suggested_anchor_can_be_added(scene: Scene) -> None:
    text = "`issue_token` `Token.issue` `src/auth/jwt.py:27-28` `SumAll` `src/auth/store.py`\n"
    for one in proposed(scene, text).proposals:
        made = scene.anchor(one.place)
        assert isinstance(made, Anchor)
        assert scene.verdict(made).status == "verified"


def test_name_after_its_module_is_not_a_method(scene: Scene) -> None:
    scene.write("pool/run.py", "class Pool:\n    def spin(self): pass\n\n\ndef spin(): pass\n")
    assert places(scene, "`run.spin` and `Pool`") == ["pool/run.py#spin", "pool/run.py#Pool"]
    assert places(scene, "`Pool.spin`") == ["pool/run.py#Pool.spin"]


@pytest.mark.parametrize(
    "line",
    [
        *("def name_here(): pass", "class name_here: pass", "name_here = 1", "name_here: int = 1"),
        *("async def name_here(): pass", "if x:\n    def name_here(): pass", "@d\ndef  name_here(): pass"),
    ],
)
def test_every_form_of_definition_is_recognized(scene: Scene, line: str) -> None:
    scene.write("forms.py", f"x = 1\n{line}\n")
    assert places(scene, "`name_here`") == ["forms.py#name_here"]


@pytest.mark.parametrize(
    "text",
    [
        "name_here(1)\n",
        "x = name_here\n",
        "x.name_here = 1\n",
        "# name_here = 1\n",
        '"name_here: 3"\n',
        "return name_here\n",
    ],
)
def test_use_of_a_name_is_not_parsed(scene: Scene, text: str) -> None:
    scene.write("forms.py", text)
    found = proposed(scene, "`name_here`")
    assert (found.proposals, found.files) == ((), 0)
