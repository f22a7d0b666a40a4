"""Change checks are compared with the commit that edited a definition, wherever that is by then."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

from benchmarks.replay import changing
from benchmarks.replay.changing import check_changes
from benchmarks.replay.clone import Clone
from benchmarks.replay.read_python import PythonReader
from benchmarks.replay.reporting import changes_checked
from benchmarks.replay.truth import Library
from tests.support.git_repository import Repository

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

_ONE = "def one(rows):\n    return [row for row in rows if row > 1]\n"
_TWO = "def two(rows):\n    return {row: rows[row] for row in rows if row < 2}\n"


def test_truth_follows_definitions_to_the_commit_that_edits_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(changing, "NEAREST", 1)
    monkeypatch.setattr(changing, "FURTHEST", 5)
    repo = Repository(tmp_path / "given", tmp_path / "home").init()
    repo.write("readme.py", "x = 1\n")
    repo.commit("first")
    repo.write("a.py", f"{_ONE}\n\n{_TWO}")
    repo.commit("planted")
    repo.write("a.py", f"import os\n\n\n{_ONE}\n\n{_TWO}")
    repo.commit("lines above")
    repo.write("a.py", f"import os\n\n\n{_ONE}\n\n{_TWO}".replace("row > 1", "row > 7"))
    edited_one = repo.commit("edits one")
    repo.git("mv", "a.py", "b.py")
    repo.commit("renames the file")
    repo.write("b.py", f"import os\n\n\n{_ONE}\n\n{_TWO}".replace("row > 1", "row > 9").replace("< 2", "< 3"))
    edited_two = repo.commit("edits two, and one again")
    repo.write("b.py", f"{_ONE}\n\n{_TWO}".replace("row > 1", "row > 9").replace("< 2", "< 3"))
    repo.commit("lines away")
    library = Library(Clone(str(repo.root), str(tmp_path / "scratch"), "tiny"), [PythonReader()])
    checked = {one.commit: one for one in check_changes(library, random.Random(1), 5, 40)}
    assert checked[edited_one].edited == checked[edited_one].reported == {"a.py#one"}
    assert checked[edited_two].edited == {"a.py#two"}
    assert "tiny" in changes_checked(list(checked.values()))
