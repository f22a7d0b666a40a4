"""`garden -p` shows of a merge only what changes in the surviving document, and what is lost."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, cast

import pytest

from thunderus_mem.cli.commands.garden import _line
from thunderus_mem.garden.apply import PlannedEdit, _kept
from thunderus_mem.garden.plan import DocumentEdit, Step
from thunderus_mem.memory.journal import FileChange

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.support.command_server import Done
    from thunderus_mem.cli.console import Console

FOLDER = ".thunderus/memory/semantic/FACTS"


def text(name: str, *tags: str) -> str:
    listed = "".join(f"  - {tag}\n" for tag in tags)
    times = "".join(f'{key}: "2026-01-0{len(tags)}T00:00:00Z"\n' for key in ("created", "updated"))
    return (
        f"---\nid: fact.{name}\ntitle: Length of frames\nkind: fact\ntags:\n{listed}{times}"
        "provenance:\n  events: []\n  patches: []\n"
        "verification:\n  last_verified_commit: null\n  status: unknown\n---\n\n"
        "A frame begins with its length.\n\n```\nlen: u32\n```\n"
    )


def test_merge_shows_added_lines_and_where_the_removed_file_is(run: Callable[..., Done], repo: Path) -> None:
    assert run("init").code == 0
    (repo / FOLDER / "frames.md").write_text(text("frames", "a"))
    (repo / FOLDER / "length.md").write_text(text("length", "b", "c"))
    done = run("garden", "-p")
    assert done.code == 0, done.err
    assert done.out == (
        "duplicates: 1 to apply\n"
        "  merge-duplicates  `fact.length` duplicates `fact.frames`\n"
        f"    `fact.length` ({FOLDER}/length.md) makes the same statements as `fact.frames` "
        f"({FOLDER}/frames.md)\n"
        f"    changed: {FOLDER}/frames.md\n"
        "    +aliases:\n"
        "    +  - fact.length\n"
        "    +links:\n"
        "    +  duplicates:\n"
        "    +    - fact.length\n"
        "     tags:\n"
        "    +  - b\n"
        "    +  - c\n"
        f"    removed: {FOLDER}/length.md (22 lines, all in fact.frames)\n"
        "\n"
        "Steps: 1 to apply\n"
        "Next: thunderus-mem garden --apply\n"
    )
    changed, removed = run("garden", "-p", "--json").json["steps"][0]["edits"]
    assert "@@" in changed["diff"]
    assert removed["diff"].count("\n-") == 22
    assert (removed["kept_in"], removed["lines"], removed["missing"]) == ("fact.frames", 22, [])


def test_lines_that_the_surviving_document_lacks_are_shown() -> None:
    before = "---\nid: fact.b\nauthor: Ines\ncreated: x\n---\n\nSame.\n  indented\nOnly here.\n"
    edits = (DocumentEdit("a.md", "fact.a", "h", "---\nid: fact.a\n---\n\nSame.\nindented\n"),)
    step = Step("merge-duplicates", "why", (), ("fact.a", "fact.b"), edits)
    removal = PlannedEdit("b.md", "fact.b", "remove", "diff")
    kept = _kept(removal, FileChange("fact.b", "b.md", before, None), step)
    assert (kept.kept_in, kept.lines, kept.missing) == ("fact.a", 9, ("author: Ines", "Only here."))
    # Without a surviving document the diff is all there is.
    alone = Step("remove", "why", (), ("fact.b",), ())
    assert _kept(removal, FileChange("fact.b", "b.md", before, None), alone) == removal


@pytest.mark.parametrize("columns", [60, 80, 100, 200])
def test_long_ids_of_a_step_can_be_told_apart_on_a_narrow_terminal(columns: int) -> None:
    folder = "fact.notes-archives-for-concepts-and-propositions"
    screen = cast("Console", SimpleNamespace(width=columns))
    lines = {
        _line("merge-duplicates", f"`{folder}-{one}` duplicates `{folder}-{other}`", screen, "  ")
        for one, other in ((1146, 1139), (1150, 1139), (1146, 1147))
    }
    assert len(lines) == 3
    assert all(len(line) <= columns for line in lines)
    assert all("duplicates `fac" in line and line.endswith(("1139`", "1147`")) for line in lines)
