"""Which paths may be opened."""

from __future__ import annotations

import os

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from thunderus_mem.errors import NotWritable, Refused
from thunderus_mem.lint.lint import at_or_below
from thunderus_mem.store.paths import inside, safe_relative


@pytest.mark.parametrize(
    ("given_path", "normal"),
    [
        (".thunderus/memory/semantic/FACTS/testing.md", ".thunderus/memory/semantic/FACTS/testing.md"),
        ("./a//b/./c.md", "a/b/c.md"),
        ("Grüße/naïve (1).md", "Grüße/naïve (1).md"),
        ("漢字.md", "漢字.md"),
        (".github/x", ".github/x"),
        ("console/null.md", "console/null.md"),
    ],
)
def test_ordinary_paths_are_accepted(given_path: str, normal: str) -> None:
    assert safe_relative(given_path) == normal


@pytest.mark.parametrize(
    "path",
    [
        *["", ".", "..", "/x", "a/../b", "a\\b", "C:x", "a:b", "nul.md", "a.", "a ", " a", "~/x", "A~1"],
        *[".GIT/x", "a\0", "%2e%2e/x", "a\u202eb", "a\u034fb", "\uff0e\uff0e/x", "x" * 241, "a/" + "ü" * 200],
        *["a\ud800", "clock$"],
    ],
)
def test_paths_with_another_meaning_on_some_system_are_rejected(path: str) -> None:
    with pytest.raises(Refused) as caught:
        safe_relative(path)
    assert caught.value.hint


@settings(deadline=None, max_examples=300, derandomize=True)
@given(st.text(max_size=40))
def test_accepted_path_is_below_the_root_and_stable(path: str) -> None:
    try:
        normal = safe_relative(path)
    except Refused:
        return
    assert safe_relative(normal) == normal
    assert os.path.normpath(os.path.join("/root", normal)).startswith("/root/")


def test_links_and_files_below_the_root_are_rejected(tmp_path) -> None:
    (tmp_path / "real" / "folder").mkdir(parents=True)
    (tmp_path / "real" / "file").write_text("x")
    (tmp_path / "real" / "link").symlink_to(tmp_path, target_is_directory=True)
    (tmp_path / "root").symlink_to(tmp_path / "real", target_is_directory=True)
    root = str(tmp_path / "root")
    assert inside(root, "folder/new/x.md") == os.path.join(root, "folder", "new", "x.md")
    assert inside(root, "file") == os.path.join(root, "file")
    for path in ("link", "link/x", "file/x"):
        with pytest.raises(Refused):
            inside(root, path)


def test_missing_root_or_file_as_root_contains_nothing(tmp_path) -> None:
    (tmp_path / "file").write_text("x")
    assert inside(str(tmp_path / "file"), "x") == str(tmp_path / "file" / "x")
    assert inside(str(tmp_path / "none"), "x") == str(tmp_path / "none" / "x")


def test_system_error_is_reported(tmp_path, monkeypatch) -> None:
    def refuse(path: str) -> None:
        raise PermissionError(13, "no")

    monkeypatch.setattr(os, "lstat", refuse)
    with pytest.raises(NotWritable):
        inside(str(tmp_path), "x")


NAMES = st.text("ab/.0-", max_size=5)


@given(st.sets(NAMES.filter(lambda name: not name.endswith("/"))), NAMES.map(lambda name: name.rstrip("/")))
def test_paths_at_or_below_a_name(paths: set[str], name: str) -> None:
    below = [path for path in sorted(paths) if path.startswith(f"{name}/")]
    assert list(at_or_below(sorted(paths), name)) == ([name] if name in paths else below)
