"""The store's .gitignore and .gitattributes: missing lines are found, and added without changing the rest."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from thunderus_mem.authoring.init import FILES, amended, lacking

if TYPE_CHECKING:
    from pathlib import Path

IGNORE, ATTRIBUTES = FILES


@pytest.mark.parametrize("path", FILES)
def test_files_written_by_init_are_complete(path: str, tmp_path: Path) -> None:
    place = tmp_path / "file"
    place.write_text(FILES[path])
    assert lacking(path, str(place)) == ()
    place.write_bytes(FILES[path].replace("\n", "\r\n").encode())
    assert lacking(path, str(place)) == ()


@pytest.mark.parametrize(
    ("path", "text", "missing"),
    [
        (IGNORE, FILES[IGNORE].replace("local/\n", ""), ("local/",)),
        (IGNORE, FILES[IGNORE].replace("local/", "/local"), ()),
        (IGNORE, FILES[IGNORE] + "!memory/indexes/\n", ("memory/indexes/",)),
        (IGNORE, "!memory/indexes/\n" + FILES[IGNORE], ()),
        (IGNORE, FILES[IGNORE] + "more/\n", ()),
        (ATTRIBUTES, "sessions/** text eol=lf linguist-generated merge=ours\n", ()),
        (ATTRIBUTES, "sessions/** eol=lf text\n", ()),
        (ATTRIBUTES, "sessions/** text eol=crlf\n", ("sessions/** text eol=lf linguist-generated",)),
        (
            ATTRIBUTES,
            FILES[ATTRIBUTES] + "sessions/** -text\n",
            ("sessions/** text eol=lf linguist-generated",),
        ),
        (ATTRIBUTES, "", ("sessions/** text eol=lf linguist-generated",)),
    ],
)
def test_missing_lines_are_added(path: str, text: str, missing: tuple[str, ...], tmp_path: Path) -> None:
    place = tmp_path / "file"
    place.write_text(text)
    assert lacking(path, str(place)) == missing
    if missing:
        new = amended(path, text, missing)
        assert new.startswith(text)
        place.write_text(new)
        assert lacking(path, str(place)) == ()


def test_missing_or_unreadable_file_lacks_every_line(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "nowhere")
    assert lacking(IGNORE, str(tmp_path / "none")) == lacking(IGNORE, str(tmp_path / "link"))
    assert "local/" in lacking(IGNORE, str(tmp_path / "none"))


def test_last_line_gets_a_line_end() -> None:
    assert amended(IGNORE, "mine", ("local/",)).startswith("mine\n#")
