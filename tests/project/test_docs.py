"""The generated reference agrees with the program."""

from __future__ import annotations

import importlib
import re
import shutil
import subprocess
import sys
import tomllib
from typing import TYPE_CHECKING

import pytest

from tests.conftest import PROJECT
from thunderus_mem.cli.table import COMMANDS, VALUES

if TYPE_CHECKING:
    from pathlib import Path


def test_the_reference_is_up_to_date() -> None:
    done = subprocess.run(
        [sys.executable, str(PROJECT / "docs" / "generate.py"), "--check"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("where", sorted(set(VALUES.values())))
def test_every_printed_value_has_a_documented_type(where: str) -> None:
    module, _, name = where.partition(":")
    assert hasattr(importlib.import_module(f"thunderus_mem.{module}"), name)


MANUAL = PROJECT / "docs" / "man" / "thunderus-mem.1"


@pytest.mark.parametrize(
    "check",
    [
        ("mandoc", "-Tlint", "-W", "style"),
        ("groff", "-man", "-ww", "-z", "-Tutf8"),
        ("man", "--warnings", "-l"),
    ],
    ids=lambda check: check[0],
)
def test_the_manual_page_is_clean_roff(check: tuple[str, ...]) -> None:
    if shutil.which(check[0]) is None:
        pytest.skip(f"{check[0]} is not here")
    done = subprocess.run([*check, str(MANUAL)], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    if check[0] != "man":
        assert done.stdout == ""


def test_the_manual_page_names_every_command_and_is_shipped() -> None:
    page = MANUAL.read_text(encoding="utf-8").replace("\\-", "-")
    for entry in COMMANDS:
        assert f"\n.SS {entry.name}" in page
    shared = tomllib.loads((PROJECT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["hatch"]["build"]
    assert "docs/man/thunderus-mem.1" in shared["targets"]["wheel"]["shared-data"]


def test_roff_escapes_any_text() -> None:
    sys.path.insert(0, str(PROJECT / "docs"))
    import man

    assert man.text(".SH \\n it's `-x` …") == r"\&.SH \en it\(aqs \(ga\-x\(ga ..."
    assert list(man.paragraphs("One. Two\n\nThree")) == ["One.", "Two", ".PP", "Three"]


_BLOCK = re.compile(r"(?ms)^(```+)[^`\n]*$.*?^\1$")
_LINK = re.compile(r"\]\(([^)\s:]*)\)")


def _prose(page: Path) -> str:
    return re.sub(r"(?m)^    .*|`[^`\n]*`", "", _BLOCK.sub("", page.read_text(encoding="utf-8")))


def _headings(page: Path) -> set[str]:
    """The targets of links into a page, as GitHub makes them from its headings."""
    lines = re.findall(r"(?m)^#+ (.+)$", _BLOCK.sub("", page.read_text(encoding="utf-8")))
    return {re.sub(r"[^\w -]", "", line.lower()).replace(" ", "-") for line in lines}


def test_links_between_pages_lead_to_pages_and_headings() -> None:
    dead = []
    for page in [PROJECT / "README.md", *(PROJECT / "docs").rglob("*.md")]:
        for target in _LINK.findall(_prose(page)):
            name, _, heading = target.partition("#")
            there = page.parent / name if name else page
            if not there.exists() or (heading and heading not in _headings(there)):
                dead.append(f"{page.relative_to(PROJECT)}: {target}")
    assert dead == []


def test_readme_lists_every_guide() -> None:
    listed = re.findall(r"\(docs/guide/([\w-]+\.md)\)", (PROJECT / "README.md").read_text(encoding="utf-8"))
    assert sorted(listed) == sorted(page.name for page in (PROJECT / "docs" / "guide").iterdir())


PAGES_WITH_PATHS = {
    "README.md": "## Which package does what",
    "docs/explanation/architecture.md": "## Packages",
    "docs/contributing.md": "# Contributing",
}
"""Pages that name files of the code, and the heading from which on they do."""

A_PATH = re.compile(r"`((?:\w+/)+(?:[\w.]+\.(?:py|md))?|[a-z]+\.py)`")
AN_EXAMPLE = "tests/cases/lint/TM113-title-full-stop.md"


@pytest.mark.parametrize("name", PAGES_WITH_PATHS)
def test_files_mentioned_in_developer_pages_exist(name: str) -> None:
    text = (PROJECT / name).read_text(encoding="utf-8").partition(PAGES_WITH_PATHS[name])[2]
    named = A_PATH.findall(text)
    assert named
    roots = (PROJECT, PROJECT / "thunderus_mem")
    missing = {path for path in named if not any((root / path).exists() for root in roots)}
    assert missing <= {AN_EXAMPLE}
