"""A person's editor: help goes out and never comes back, nothing new means nothing done."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from thunderus_mem.cli.input import edited, editor_command, keeping, with_help, without_help
from thunderus_mem.errors import ThunderusError


def editor(folder: Path, script: str) -> dict[str, str]:
    path = folder / "an editor"
    path.write_text(f"#!/bin/sh\nfor file; do :; done\n{script}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return {"VISUAL": f'"{path}" --wait', "PATH": os.environ["PATH"]}


def test_help_is_taken_out_and_headings_stay() -> None:
    text = "# A heading\n\nText with <!-- a comment -->.\n"
    assert without_help(with_help(text, "Write above. --> is fine")) == text


def test_the_edited_text_comes_back(tmp_path: Path) -> None:
    environ = editor(tmp_path, 'printf "# New\\n" > "$file"')
    assert edited(with_help("", "Help"), environ) == "# New\n"


@pytest.mark.parametrize("script", [":", ': > "$file"', 'printf "\\n  \\n" > "$file"'])
def test_nothing_new_or_nothing_at_all_is_none(tmp_path: Path, script: str) -> None:
    assert edited(with_help("# Start\n", "Help"), editor(tmp_path, script)) is None


def test_an_editor_that_fails_keeps_the_text(tmp_path: Path) -> None:
    with pytest.raises(ThunderusError) as caught:
        edited("text", editor(tmp_path, 'printf "much work" > "$file"; exit 3'))
    path = (caught.value.hint or "").removeprefix("Your text is in ").removesuffix(".")
    with open(path, encoding="utf-8") as handle:
        assert handle.read() == "much work"


def test_visual_wins_over_editor_and_a_missing_one_is_told() -> None:
    assert editor_command({"VISUAL": "code --wait", "EDITOR": "vi"}) == ["code", "--wait"]
    with pytest.raises(ThunderusError, match="does not start"):
        edited("text", {"EDITOR": "/no/such/editor"})


def test_a_refused_text_is_kept_and_the_error_says_where(tmp_path: Path) -> None:
    with pytest.raises(ThunderusError) as caught, keeping("My words.\n", "fact.md"):
        raise ThunderusError("no", hint="do better")
    assert caught.value.hint is not None
    said, _, path = caught.value.hint.partition("; your text is kept in ")
    assert said == "do better"
    assert Path(path).read_text() == "My words.\n"
    Path(path).unlink()
