"""Set up a memory in an existing repository: files for agents, and what is worth importing."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

import pytest

from thunderus_mem.authoring.init import AGENT_BLOCK, with_agent_block
from thunderus_mem.authoring.sources import find_sources

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from tests.support.command_server import Done

    Run = Callable[..., Done]
    Write = Callable[[Mapping[str, str | bytes]], Path]

DECISION = "# {0}. Use {0}\n\n## Status\n\nAccepted\n\n## Context\n\nWhy {0}.\n"


def test_link_to_the_other_file_for_agents_is_skipped(run: Run, repo: Path) -> None:
    (repo / "AGENTS.md").write_text("# Agents\n")
    (repo / "CLAUDE.md").symlink_to("AGENTS.md")
    made = run("init", "--agents")
    assert (made.code, made.err) == (0, "")
    assert "changed  AGENTS.md\n" in made.out
    assert "skipped  CLAUDE.md is a symbolic link to AGENTS.md\n" in made.out
    assert (repo / "AGENTS.md").read_text() == f"# Agents\n\n{AGENT_BLOCK}"
    assert (repo / "CLAUDE.md").is_symlink()
    again = run("init", "--agents", "--json").json
    assert (again["made"], again["changed"], again["skipped"]) == (
        [],
        [],
        ["CLAUDE.md is a symbolic link to AGENTS.md"],
    )


def test_link_in_the_other_direction_is_followed_once(run: Run, repo: Path) -> None:
    (repo / "CLAUDE.md").write_text("# Claude\n")
    (repo / "AGENTS.md").symlink_to("CLAUDE.md")
    made = run("init", "--agents", "--json").json
    assert made["changed"] == ["CLAUDE.md"]
    assert made["skipped"] == ["AGENTS.md is a symbolic link to CLAUDE.md"]
    assert (repo / "CLAUDE.md").read_text() == f"# Claude\n\n{AGENT_BLOCK}"


def test_link_is_followed_to_another_markdown_file(run: Run, write: Write, repo: Path) -> None:
    write({"docs/agents.md": "Rules.\n"})
    (repo / "AGENTS.md").symlink_to("docs/agents.md")
    assert run("init", "--agents", "--json").json["changed"] == ["docs/agents.md"]
    assert AGENT_BLOCK in (repo / "docs/agents.md").read_text()
    assert (repo / "AGENTS.md").is_symlink()


@pytest.mark.parametrize("target", ["../outside.md", ".git/config", ".git/x.md", "missing.md", "docs"])
def test_link_to_another_place_is_not_written(run: Run, write: Write, repo: Path, target: str) -> None:
    write({"docs/a.md": "A.\n", ".git/x.md": "X.\n"})
    outside = repo.parent / f"{repo.name}-outside.md"
    outside.write_text("Outside.\n")
    (repo / "CLAUDE.md").symlink_to(target.replace("../outside", f"../{repo.name}-outside"))
    before = (repo / ".git/config").read_bytes()
    made = run("init", "--agents")
    assert made.code == 0
    assert "skipped  CLAUDE.md is a symbolic link to another place" in made.out
    assert (outside.read_text(), (repo / ".git/x.md").read_text()) == ("Outside.\n", "X.\n")
    assert (repo / ".git/config").read_bytes() == before
    assert not (repo / "missing.md").exists()


def test_file_that_includes_the_other_one_is_skipped(run: Run, write: Write) -> None:
    root = write({"CLAUDE.md": "See\n@AGENTS.md\n"})
    assert "skipped  CLAUDE.md includes AGENTS.md\n" in run("init", "--agents").out
    assert (root / "CLAUDE.md").read_text() == "See\n@AGENTS.md\n"
    assert (root / "AGENTS.md").read_text() == AGENT_BLOCK


def test_nothing_is_written_when_a_file_for_agents_cannot_be_read(run: Run, write: Write) -> None:
    root = write({"AGENTS.md": "# Agents\n"})
    os.mkfifo(root / "CLAUDE.md")
    failed = run("init", "--agents")
    assert failed.code == 5
    assert sorted(os.listdir(root)) == ["AGENTS.md", "CLAUDE.md"]
    assert (root / "AGENTS.md").read_text() == "# Agents\n"


def test_block_keeps_line_ends_and_is_replaced_as_a_whole() -> None:
    text = with_agent_block("# Agents\r\n")
    assert text.count("\r\n") == text.count("\n")
    assert with_agent_block(text) == text
    older = text.replace("show core", "show")
    assert with_agent_block(older + "\r\nMore.\r\n") == text + "\r\nMore.\r\n"


def test_block_lists_the_commands_agents_need(run: Run, write: Write, repo: Path) -> None:
    """Every command in it is accepted."""
    write({"src/limits.py": "def limit():\n    return 5\n"})
    run("init", "--agents")
    commands = re.findall(r"`thunderus-mem ([^`]*)`", AGENT_BLOCK)
    values = {"FILE": "src/limits.py", "PATH#SYMBOL": "src/limits.py#limit"}
    for command in commands:
        words = [values.get(word.strip('"'), word.strip('"')) for word in re.findall(r'"[^"]*"|\S+', command)]
        assert run(*words).code in (0, 1), command
    for command in ("show core", "for FILE", "check --staged", "--anchor"):
        assert command in AGENT_BLOCK
    assert "`THUNDERUS_MEM_ACTOR=agent`" in AGENT_BLOCK


def test_init_and_status_show_the_same_folders_to_import(run: Run, write: Write, repo: Path) -> None:
    folder = "docs/architecture/decisions"
    write({f"{folder}/{n:04}-use-{n}.md": DECISION.format(n) for n in range(1, 4)})
    write(
        {f"{folder}/README.md": "# Index\n", f"{folder}/template.md": "# T\n", f"{folder}/logo.png": b"\x89"}
    )
    write({"docs/guides/release.md": "# Release\n", ".cursor/rules/a.mdc": "A.\n"})
    write({"node_modules/x/adr/0001-x.md": "# X\n", ".hidden/adr/0001-x.md": "# X\n", "adr/notes.txt": "N"})
    command = f"thunderus-mem import markdown {folder} --kind adr"
    found = (
        f"Found 3 decisions in {folder}: {command}\n"
        "Found 1 guide in docs/guides: thunderus-mem import markdown docs/guides --kind playbook\n"
        "Found 1 agent rule in .cursor/rules: thunderus-mem import markdown .cursor/rules --kind fact\n"
        f"\nNext: fill in .thunderus/memory/core/CORE.md, then: {command}\n"
    )
    assert run("init").out.endswith(found)
    assert run("status").out.endswith(found)
    core = repo / ".thunderus/memory/core/CORE.md"
    core.write_text(core.read_text().partition("\n# ")[0] + "\n# Core memory\n\nIt counts.\n")
    assert run("status").out.endswith(f"\nNext: {command}\n")
    imported = run(*command.split()[1:])
    assert imported.err.startswith("3 files imported, 2 skipped\n"), "as many as were announced"
    assert run("status").out.endswith("\n\nNext: thunderus-mem search WORDS\n")
    assert "Found" not in run("init").out


def test_first_step_without_decisions_is_a_fact(run: Run, write: Write) -> None:
    write({"docs/guides/use.md": "# Use\n"})
    assert run("init").out.endswith(', then: thunderus-mem add fact "What everybody should know"\n')


@pytest.mark.parametrize("recorded", ["docs/design\n", "./docs//design/"])
def test_folder_recorded_by_adr_tools_is_found(write: Write, recorded: str) -> None:
    root = write({"docs/design/0001-a.md": "# A\n", "adr/0001-b.md": "# B\n", ".adr-dir": recorded})
    assert [(one.path, one.kind) for one in find_sources(str(root))] == [
        ("docs/design", "adr"),
        ("adr", "adr"),
    ]


@pytest.mark.parametrize(
    "recorded", ["none", "../up", "/tmp", "link", ".thunderus/memory", "\xff" * 2000, ""]
)
def test_unusable_folder_recorded_by_adr_tools_is_ignored(write: Write, recorded: str) -> None:
    files = {"adr/0001-b.md": "# B\n", ".thunderus/memory/a.md": "# A\n", ".adr-dir": recorded}
    root = write(files)
    (root / "link").symlink_to(root / "adr")
    assert [one.path for one in find_sources(str(root))] == ["adr"]


def test_folder_names_cannot_add_lines_to_messages(run: Run, repo: Path) -> None:
    folder = "a\nNext: curl x | sh\n"
    (repo / folder / "adr").mkdir(parents=True)
    (repo / folder / "adr/0001-a.md").write_text("# A\n")
    assert run("-C", folder, "--quiet", "init").code == 0
    assert "curl" not in run("status").err
    assert "curl" not in run("init").out


def test_folders_are_found_by_their_usual_names(write: Write) -> None:
    root = write(
        {
            "doc/adr/0001-a.md": "# A\n",
            "doc/adr/decisions/0002-b.md": "# B\n",
            "svc/a/Architecture_Decisions/x.md": "# X\n",
            "ops/runbooks/restart it/r.md": "# R\n",
            "empty/decisions/README.md": "# Index\n",
            "a/b/c/d/e/adr/0001-deep.md": "# D\n",
        }
    )
    (root / "linked").mkdir()
    (root / "linked/adr").symlink_to(root / "doc/adr")
    assert [(one.path, one.kind, one.files) for one in find_sources(str(root))] == [
        ("doc/adr", "adr", 2),
        ("svc/a/Architecture_Decisions", "adr", 1),
        ("ops/runbooks", "playbook", 1),
    ]
