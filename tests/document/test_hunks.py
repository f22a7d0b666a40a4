"""Unified diffs parsed as hunks: those of the real git, and any text."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

from hypothesis import given, settings
from hypothesis import strategies as st

from thunderus_mem.document.diff import Hunk, parse_diff, unquoted

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

LINES = st.lists(st.sampled_from(["a", "b", "c", "", "--- x", "+++ y", "@@ -1 +1 @@", " d"]), max_size=12)


def replayed(old: list[str], hunks: tuple[Hunk, ...]) -> list[str]:
    """The new lines, from the old ones and the hunks."""
    new: list[str] = []
    at = 0
    for hunk in hunks:
        start = hunk.old_start - 1 if hunk.old_count else hunk.old_start
        new += old[at:start]
        new += [line[1:] for line in hunk.lines if line[:1] in ("+", " ")]
        at = start + hunk.old_count
    return new + old[at:]


@settings(max_examples=40, deadline=None)
@given(old=LINES, new=LINES, context=st.sampled_from(["0", "3"]))
def test_hunks_of_git_transform_old_to_new(
    tmp_path_factory: pytest.TempPathFactory, old: list[str], new: list[str], context: str
) -> None:
    folder = tmp_path_factory.mktemp("diff")
    for name, lines in (("old", old), ("new", new)):
        (folder / name).write_text("".join(f"{line}\n" for line in lines))
    done = subprocess.run(
        ["git", "diff", "--no-index", f"--unified={context}", "old", "new"],
        cwd=folder, capture_output=True, text=True, check=False,
    )  # fmt: skip
    found = parse_diff(done.stdout)
    assert len(found) == (old != new)
    for diff in found:
        assert (diff.old_path, diff.new_path) == ("old", "new")
        assert replayed(old, diff.hunks) == new


def test_paths_of_renamed_new_deleted_and_binary_files(repo: Path) -> None:
    def git(*arguments: str) -> str:
        done = subprocess.run(["git", *arguments], cwd=repo, capture_output=True, text=True, check=True)
        return done.stdout

    names = ["plain.txt", "with space.txt", 'quo"te.txt', "ümlaut.txt", "tab\there.txt", "-dash.txt"]
    for name in names:
        (repo / name).write_text("one\ntwo\nthree\n" * 5)
    (repo / "picture.bin").write_bytes(b"\0\1\2")
    git("add", "-A")
    git("commit", "-qm", "First")
    for name in names[:5]:
        (repo / name).write_text("one\ntwo\nTHREE\n" + "one\ntwo\nthree\n" * 4)
    git("mv", "--", "-dash.txt", "moved dash.txt")
    (repo / "picture.bin").write_bytes(b"\0\1\3")
    (repo / "new.txt").write_text("new\n")
    git("rm", "-qf", "plain.txt")
    git("add", "-A")
    for options in ((), ("-c", "core.quotePath=false"), ("-c", "diff.noprefix=false")):
        found = {
            diff.new_path or diff.old_path: diff
            for diff in parse_diff(git(*options, "diff", "--cached", "-M"))
        }
        assert set(found) == {*names[:5], "moved dash.txt", "picture.bin", "new.txt"}
        assert found["plain.txt"].new_path == ""
        assert found["new.txt"].old_path == ""
        assert (found["moved dash.txt"].old_path, found["moved dash.txt"].hunks) == ("-dash.txt", ())
        assert found["picture.bin"].hunks == ()
        assert all(len(found[name].hunks) == 1 for name in names[1:5])


@given(st.text(alphabet='ab/\\"0127\n+-@ ,d', max_size=120))
def test_any_text_is_accepted(text: str) -> None:
    for diff in parse_diff(text):
        assert isinstance(diff.old_path, str)


def test_lines_touched_by_hunks() -> None:
    hunk = Hunk(10, 2, 12, 0, ())
    assert [hunk.touches_old(*span) for span in ((1, 9), (1, 10), (11, 20), (12, 20))] == [
        False,
        True,
        True,
        False,
    ]
    # Nothing is left of it between lines 12 and 13 of the new file.
    assert [hunk.touches_new(*span) for span in ((1, 12), (12, 13), (13, 20), (5, 30))] == [
        False,
        True,
        False,
        True,
    ]
    assert unquoted('"a\\303\\274\\t\\"b"') == 'aü\t"b'
