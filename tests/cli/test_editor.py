"""The editor: help is removed from the text, and unchanged text does nothing."""

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


def test_help_is_removed_and_headings_are_kept() -> None:
    text = "# A heading\n\nText with <!-- a comment -->.\n"
    assert without_help(with_help(text, "Write above. --> is fine")) == text


def test_edited_text_is_returned(tmp_path: Path) -> None:
    environ = editor(tmp_path, 'printf "# New\\n" > "$file"')
    assert edited(with_help("", "Help"), environ) == "# New\n"


@pytest.mark.parametrize("script", [":", ': > "$file"', 'printf "\\n  \\n" > "$file"'])
def test_unchanged_or_empty_text_is_none(tmp_path: Path, script: str) -> None:
    assert edited(with_help("# Start\n", "Help"), editor(tmp_path, script)) is None


def test_failing_editor_keeps_the_text(tmp_path: Path) -> None:
    with pytest.raises(ThunderusError) as caught:
        edited("text", editor(tmp_path, 'printf "much work" > "$file"; exit 3'))
    path = (caught.value.hint or "").removeprefix("your text is in ")
    with open(path, encoding="utf-8") as handle:
        assert handle.read() == "much work"


def test_visual_wins_over_editor_and_a_missing_editor_is_reported() -> None:
    assert editor_command({"VISUAL": "code --wait", "EDITOR": "vi"}) == ["code", "--wait"]
    with pytest.raises(ThunderusError, match="cannot run the editor"):
        edited("text", {"EDITOR": "/no/such/editor"})


def test_rejected_text_is_saved_and_the_hint_has_its_path(tmp_path: Path) -> None:
    with pytest.raises(ThunderusError) as caught, keeping("My words.\n", "fact.md"):
        raise ThunderusError("no", hint="do better")
    assert caught.value.hint is not None
    said, _, path = caught.value.hint.partition("; your text is in ")
    assert said == "do better"
    assert Path(path).read_text() == "My words.\n"
    Path(path).unlink()
