"""``check`` follows code that moved in earlier commits, without ``verify --fix-moved`` in between."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.code_scene import ISSUE, JWT, SMALL
from tests.support.stepped_clock import run

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.support.command_server import Done

    Run = Callable[..., Done]

__all__ = ["run"]

SPAN = "src/jwt.py:7-9"
"""Three lines inside the function `issue`."""


@pytest.fixture
def store(repo: Path, run: Run, once: Callable[..., None]) -> Path:
    def make() -> None:
        (repo / "src").mkdir()
        (repo / "src/jwt.py").write_text(JWT)
        (repo / "src/other.py").write_text("import os\n\n\ndef root():\n    return os.sep\n")
        commit(repo, "Start")
        assert run("--quiet", "init").code == 0
        places = {"symbol": "src/jwt.py#issue", "span": SPAN, "small": "src/jwt.py#small", "glob": "src/*.py"}
        for title, place in places.items():
            assert run("add", "fact", title, "--tag", "auth", "--body", f"About {title}.").code == 0
            assert run("anchor", f"fact.{title}", place).code == 0
        assert run("add", "fact", "whole", "--tag", "auth", "--body", "About the file.").code == 0
        assert run("anchor", "fact.whole", "src/jwt.py").code == 0
        commit(repo, "Document it")

    once(make)
    return repo


def git(repo: Path, *arguments: str) -> bytes:
    return subprocess.run(["git", *arguments], cwd=repo, check=True, capture_output=True).stdout


def commit(repo: Path, subject: str) -> None:
    git(repo, "add", "-A")
    git(repo, "commit", "-qm", subject)


def change(repo: Path, path: str, old: str, new: str) -> None:
    text = (repo / path).read_text()
    assert text.count(old) == 1
    (repo / path).write_text(text.replace(old, new))


def affected(repo: Path, run: Run) -> dict[str, dict[str, Any]]:
    """The findings for the uncommitted changes, by document: equal in all forms of a change check."""
    git(repo, "add", "-A")
    patch = git(repo, "diff", "--cached", "--unified=0", "--find-renames", "HEAD")
    answers = [
        run("--json", "check", "-p", "--staged"),
        run("--json", "check", "-p", "--since", "HEAD"),
        run("--json", "check", "-p", "--diff", "-", stdin=patch),
    ]
    git(repo, "stash", "-q")
    answers.append(run("--json", "check", "-p", "--diff", "-", stdin=patch))
    git(repo, "stash", "pop", "-q", "--index")
    found = [{one["doc_id"]: one for one in done.json["findings"]} for done in answers]
    assert [done.code for done in answers] == [int(bool(one)) for one in found]
    assert found[1:] == found[:-1]
    return found[0]


def blamed(run: Run, id: str) -> str:
    """The subject of the commit that `check` names for a document."""
    done = run("--json", "check", id)
    assert [one["doc_id"] for one in done.json["findings"]] == [id]
    return done.json["findings"][0]["subject"]


def test_edit_of_lines_that_moved_down_is_reported(store: Path, run: Run) -> None:
    change(store, "src/jwt.py", "import time\n", "import time\nimport os\n")
    commit(store, "Import")
    change(store, "src/jwt.py", '"aud": "api"', '"aud": "web"')
    found = affected(store, run)
    assert set(found) == {"fact.symbol", "fact.span"}, "the file and the pattern were changed before"
    assert found["fact.span"]["place"] == "src/jwt.py:L7-9"
    assert found["fact.span"]["now"] == "src/jwt.py:L8-10"
    assert '+    payload = {"sub": user.id, "iat": now' in found["fact.span"]["diff"]
    commit(store, "Edit")
    change(store, "src/jwt.py", "import os\n", "import os\nimport sys\n")
    assert affected(store, run) == {}
    commit(store, "Import more")
    assert blamed(run, "fact.span") == "Edit"
    assert blamed(run, "fact.whole") == "Import"


def test_edit_beside_lines_that_moved_is_not_reported(store: Path, run: Run) -> None:
    change(store, "src/jwt.py", "import time\n", "import time\nimport os\n")
    commit(store, "Import")
    change(store, "src/jwt.py", "    return 1\n", "    return 2\n")
    assert set(affected(store, run)) == {"fact.small"}


def test_edit_in_a_renamed_file_is_reported(store: Path, run: Run) -> None:
    git(store, "mv", "src/jwt.py", "src/tokens.py")
    commit(store, "Rename the file")
    change(store, "src/tokens.py", "ttl=3600", "ttl=60")
    found = affected(store, run)
    assert set(found) == {"fact.symbol", "fact.whole"}, "the lines are below the edit"
    assert (found["fact.symbol"]["place"], found["fact.symbol"]["now"]) == (
        "src/jwt.py#issue",
        "src/tokens.py#issue",
    )
    assert found["fact.symbol"]["file"] == "src/tokens.py"
    assert found["fact.symbol"]["hunk"]
    commit(store, "Edit")
    change(store, "src/tokens.py", '"aud": "api"', '"aud": "web"')
    assert set(affected(store, run)) == {"fact.span"}, "the others were out of date before"
    commit(store, "Edit the lines")
    assert blamed(run, "fact.symbol") == "Edit"
    assert blamed(run, "fact.whole") == "Edit"
    assert blamed(run, "fact.span") == "Edit the lines"


def test_edit_after_two_renames_is_reported(store: Path, run: Run) -> None:
    git(store, "mv", "src/jwt.py", "src/tokens.py")
    commit(store, "Rename the file")
    git(store, "mv", "src/tokens.py", "src/mint.py")
    change(store, "src/mint.py", "def small", "def little")
    commit(store, "Rename it again")
    change(store, "src/mint.py", '"aud": "api"', '"aud": "web"')
    assert set(affected(store, run)) == {"fact.symbol", "fact.span"}
    git(store, "mv", "src/mint.py", "src/last.py")
    assert set(affected(store, run)) == {"fact.symbol", "fact.span"}
    commit(store, "Edit and rename")
    git(store, "mv", "src/last.py", "src/very_last.py")
    commit(store, "Rename it at last")
    assert blamed(run, "fact.symbol") == "Edit and rename"
    assert blamed(run, "fact.span") == "Edit and rename"
    assert blamed(run, "fact.whole") == "Rename it again"


def test_edit_of_a_moved_function_is_reported(store: Path, run: Run) -> None:
    change(store, "src/jwt.py", ISSUE, "from src.mint import issue\n")
    change(store, "src/jwt.py", SMALL, "")
    (store / "src/mint.py").write_text(f"import time\n\n\n{ISSUE}\n\n{SMALL}")
    commit(store, "Move the functions")
    change(store, "src/mint.py", "ttl=3600", "ttl=60")
    found = affected(store, run)
    assert set(found) == {"fact.symbol"}
    assert found["fact.symbol"]["now"] == "src/mint.py#issue"
    commit(store, "Edit")
    change(store, "src/mint.py", "return 1\n", "return 2\n")
    assert set(affected(store, run)) == {"fact.small"}
    commit(store, "Edit the small one")
    change(store, "src/mint.py", "ttl=60", "ttl=70")
    assert affected(store, run) == {}
    commit(store, "Edit again")
    assert blamed(run, "fact.symbol") == "Edit"
    assert blamed(run, "fact.small") == "Edit the small one"


def test_edit_of_a_renamed_and_moved_function_is_reported(store: Path, run: Run) -> None:
    change(store, "src/jwt.py", "def issue(", "def mint(")
    commit(store, "Rename the function")
    change(store, "src/jwt.py", ISSUE.replace("issue", "mint"), "")
    change(store, "src/other.py", "import os\n", f"import os\n\n\n{ISSUE.replace('issue', 'mint')}")
    commit(store, "Move the function")
    change(store, "src/other.py", "return os.sep", "return os.curdir")
    assert affected(store, run) == {}
    change(store, "src/other.py", "ttl=3600", "ttl=60")
    found = affected(store, run)
    assert set(found) == {"fact.symbol"}
    assert found["fact.symbol"]["now"] == "src/other.py#mint"
    commit(store, "Edit")
    assert blamed(run, "fact.symbol") == "Edit"


def test_removed_file_of_moved_code_is_reported(store: Path, run: Run) -> None:
    git(store, "mv", "src/jwt.py", "src/tokens.py")
    commit(store, "Rename the file")
    git(store, "rm", "-q", "src/tokens.py")
    found = affected(store, run)
    assert {id: one["verdict"] for id, one in found.items()} == {
        "fact.symbol": "missing",
        "fact.span": "missing",
        "fact.small": "missing",
        "fact.whole": "missing",
    }
    assert {one["file"] for one in found.values()} == {"src/tokens.py"}


def test_pattern_is_checked_only_when_a_matching_file_changed(store: Path, run: Run) -> None:
    (store / "elsewhere.py").write_text("one = 1\n")
    assert affected(store, run) == {}
    (store / "src/new.py").write_text("two = 2\n")
    assert set(affected(store, run)) == {"fact.glob"}


def test_copy_in_a_changed_file_is_not_the_anchored_code(store: Path, run: Run) -> None:
    (store / "src/copy.py").write_text(ISSUE)
    commit(store, "Copy the function")
    change(store, "src/copy.py", "ttl=3600", "ttl=60")
    assert affected(store, run) == {}
