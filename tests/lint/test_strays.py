"""Files in the store that no command reads: each is a finding, and its command settles it."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.support.index_support import document, new_store
from thunderus_mem.document.frontmatter.edit import set_key
from thunderus_mem.lint.lint import lint
from thunderus_mem.memory.memory import open_memory

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.support.command_server import Done

    Run = Callable[..., Done]

M = ".thunderus/memory"
FACTS = f"{M}/semantic/FACTS"
PLAYBOOKS = f"{M}/procedural/PLAYBOOKS"
README = "# About\n\nHow this folder is used.\n"


def text_of(kind: str, doc_id: str) -> str:
    body = "## Preconditions\nNone.\n## Steps\n1. Go.\n## Verification\nLook.\n"
    return set_key(document(doc_id, body if kind == "playbook" else f"About {doc_id}.\n"), ("kind",), kind)


def strays(run: Run) -> list[dict[str, Any]]:
    return [one for one in run("lint", "--json").json["diagnostics"] if one["rule"] in ("TM511", "TM512")]


def command(finding: dict[str, Any], repo: Path, run: Run) -> None:
    """Run the command of a finding, with this program in the place of `thunderus-mem`."""
    for words in finding["hint"].rpartition("`")[0].partition("`")[2].split(" && "):
        if words.startswith("thunderus-mem "):
            words, _, source = words.partition(" < ")
            given = (repo / source).read_text() if source else ""
            assert run(*words.split()[1:], stdin=given).code == 0
        else:
            subprocess.run(words, shell=True, cwd=repo, check=True)


DOCUMENTS = {
    "another folder": (f"{M}/other/e.md", "fact", f"{FACTS}/e.md"),
    "memory itself": (f"{M}/loose.md", "fact", f"{FACTS}/loose.md"),
    "upper-case ending": (f"{FACTS}/Testing.MD", "fact", f"{FACTS}/Testing.md"),
    "long ending": (f"{M}/semantic/x.markdown", "fact", f"{FACTS}/x.md"),
    "hidden": (f"{FACTS}/.draft.md", "fact", f"{FACTS}/draft.md"),
    "hidden folder": (f"{M}/.drafts/d.md", "fact", f"{FACTS}/d.md"),
    "folder in lower case": (f"{M}/semantic/facts/low.md", "fact", f"{FACTS}/low.md"),
    "indexes": (f"{M}/indexes/i.md", "fact", f"{FACTS}/i.md"),
    "archive": (f"{M}/archive/old.md", "fact", f"{M}/archive/semantic/FACTS/old.md"),
    "archive of core": (f"{M}/archive/core/c.md", "core", f"{M}/core/c.md"),
    "kind elsewhere": (f"{M}/procedural/p.md", "playbook", f"{PLAYBOOKS}/p.md"),
    "decision": (f"{M}/DECISIONS.d/use-it.md", "adr", f"{M}/semantic/DECISIONS/ADR-0001-z.md"),
    "space": (f"{M}/my notes/a b.md", "fact", f"{FACTS}/a b.md"),
    "too deep": (f"{FACTS}/{'/'.join('abcdefghijklmnopqrstuvwxyz')}/deep.md", "fact", f"{FACTS}/deep.md"),
}


@pytest.mark.parametrize("name", DOCUMENTS)
def test_stray_document_is_moved_by_the_command_of_its_finding(repo: Path, run: Run, name: str) -> None:
    path, kind, target = DOCUMENTS[name]
    run("init")
    (repo / path).parent.mkdir(parents=True, exist_ok=True)
    (repo / path).write_text(text_of(kind, f"{kind}.z"))
    assert run("list", "--archived").out.count(f"{kind}.z") == 0
    (found,) = strays(run)
    assert (found["path"], found["severity"], found["rule"]) == (path, "error", "TM511")
    command(found, repo, run)
    assert (repo / target).is_file()
    assert strays(run) == []
    assert run("show", f"{kind}.z").code == 0


def test_files_without_frontmatter_are_warnings_and_can_be_imported(repo: Path, run: Run) -> None:
    run("init")
    (repo / f"{M}/README.md").write_text(README)
    assert run("lint").code == 0
    (repo / f"{M}/notes").mkdir()
    (repo / f"{M}/notes/more.md").write_text("# More\n\nWhat to do later.\n")
    found = strays(run)
    assert [(one["path"], one["severity"]) for one in found] == [
        (f"{M}/README.md", "note"),
        (f"{M}/notes/more.md", "warning"),
    ]
    for one in found:
        command(one, repo, run)
    assert strays(run) == []
    assert "How this folder is used." in run("search", "folder used").out


def test_document_whose_id_or_path_is_taken_is_compared(repo: Path, run: Run) -> None:
    run("init")
    run("add", "fact", "Testing", "--tag", "x", "--body", "Tests run with pytest.")
    (repo / f"{M}/copy.md").write_bytes((repo / FACTS / "testing.md").read_bytes())
    (repo / f"{M}/notes").mkdir()
    (repo / f"{M}/notes/testing.md").write_text(text_of("fact", "fact.other"))
    assert [one["hint"] for one in strays(run)] == [
        f"Run `diff -u {FACTS}/testing.md {M}/copy.md`",
        f"Run `diff -u {FACTS}/testing.md {M}/notes/testing.md`",
    ]


def test_links_are_reported_and_never_followed(repo: Path, run: Run) -> None:
    run("init")
    (repo / "docs").mkdir()
    (repo / "docs/a.md").write_text(text_of("fact", "fact.a"))
    (repo / f"{M}/linked").symlink_to("../../docs")
    (repo / f"{FACTS}/below").symlink_to("../../../../docs")
    (repo / f"{M}/one.md").symlink_to("../../docs/a.md")
    (repo / f"{M}/dangling.md").symlink_to("nowhere")
    found = strays(run)
    assert {one["path"]: one["message"].partition(" ")[0] for one in found} == {
        f"{M}/linked": "Link",
        f"{FACTS}/below": "Link",
        f"{M}/one.md": "Link",
        f"{M}/dangling.md": "Link",
    }
    for one in found:
        command(one, repo, run)
    assert strays(run) == []
    assert (repo / "docs/a.md").is_file()


def test_folders_of_older_stores_are_migrated(repo: Path, run: Run) -> None:
    run("init")
    (repo / f"{M}/FACTS").mkdir()
    (repo / f"{M}/FACTS/old.md").write_text(text_of("fact", "fact.old"))
    (found,) = strays(run)
    assert found["hint"] == "Run `thunderus-mem migrate --apply`"
    command(found, repo, run)
    assert strays(run) == []
    assert run("show", "fact.old").code == 0


def test_files_of_editors_and_derived_folders_are_left_alone(repo: Path, run: Run) -> None:
    run("init")
    (repo / f"{FACTS}/.#a.md").symlink_to("someone@host.1234")
    (repo / f"{FACTS}/._a.md").write_bytes(b"\0")
    for folder in (".staging", ".quarantine/x", "local/x"):
        (repo / ".thunderus" / folder).mkdir(parents=True, exist_ok=True)
        (repo / ".thunderus" / folder / "events.jsonl").write_text("")
        (repo / ".thunderus" / folder / "a.md").write_text(README)
    (repo / f"{FACTS}/a/b/c").mkdir(parents=True)
    (repo / f"{FACTS}/a/b/c/d.md").write_text(text_of("fact", "fact.d"))
    (repo / f"{M}/core/CORE.local.md").write_text(text_of("core", "core.local"))
    assert strays(run) == []
    assert run("show", "fact.d").code == 0


LOGS = (
    ".thunderus/memory/events.jsonl",
    ".thunderus/sessions/events.jsonl",
    ".thunderus/sessions/sess_1/more/events.jsonl",
    ".thunderus/memory/indexes/events.jsonl",
    ".thunderus/Events.jsonl",
)
LINE = {
    "v": 1,
    "id": "evt_1",
    "ts": "2026-01-21T09:00:00Z",
    "session_id": "sess_1",
    "actor": "user",
    "kind": "note",
    "refs": {},
    "body": {"text": "We chose SQLite."},
}


@pytest.mark.parametrize("path", LOGS)
def test_stray_log_is_moved_or_added_by_the_command_of_its_finding(repo: Path, run: Run, path: str) -> None:
    run("init")
    for turn in range(2):
        (repo / path).parent.mkdir(parents=True, exist_ok=True)
        (repo / path).write_text(json.dumps({**LINE, "id": f"evt_{turn}"}) + "\n")
        (found,) = strays(run)
        assert (found["rule"], found["severity"], found["path"]) == ("TM512", "error", path)
        command(found, repo, run)
        assert strays(run) == []
    assert run("log", "--json").out.count("We chose SQLite.") >= 1


def test_staged_stray_document_is_reported_by_the_hook(repo: Path, run: Run) -> None:
    run("init")
    (repo / f"{M}/other").mkdir()
    (repo / f"{M}/other/e.md").write_text(text_of("fact", "fact.e"))
    subprocess.run(["git", "add", "-A"], cwd=repo, check=True)
    result = run("lint", "--staged", "--json")
    assert result.code == 1
    assert [(one["rule"], one["path"]) for one in result.json["diagnostics"]] == [
        ("TM511", f"{M}/other/e.md")
    ]


def test_lint_of_a_stray_path_says_so(repo: Path, run: Run) -> None:
    run("init")
    (repo / f"{M}/other").mkdir()
    (repo / f"{M}/other/e.md").write_text(text_of("fact", "fact.e"))
    for path in (f"{M}/other/e.md", f"{M}/other"):
        result = run("lint", path, "--json")
        assert [one["rule"] for one in result.json["diagnostics"]] == ["TM511"]
        assert result.code == 1
    assert run("lint", "docs").code == 4


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(st.sampled_from(["semantic", "FACTS", "archive", "core", ".x", "a", "episodic"]), max_size=4),
    st.sampled_from(["n.md", ".n.md", "N.MD", "n.Markdown", "README.md"]),
)
def test_every_markdown_file_is_a_document_or_a_finding(
    tmp_path_factory: pytest.TempPathFactory, folders: list[str], name: str
) -> None:
    layout = new_store(tmp_path_factory.mktemp("stray"))
    path = "/".join((M, *folders, name))
    os.makedirs(os.path.dirname(layout.at(path)), exist_ok=True)
    Path(layout.at(path)).write_text(text_of("fact", "fact.n"))
    memory = open_memory(layout.root)
    memory.refresh()
    documents = {row.path for row in memory.index.documents()} | set(memory.index.paths_of("fact.n"))
    assert path in documents or path in {one.path for one in lint(memory).diagnostics}
    memory.index.close()
