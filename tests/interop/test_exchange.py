"""Import into a real store, and the hook and the watcher with the real tool."""

from __future__ import annotations

import hashlib
import os
import queue
import subprocess
import sys
import threading
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from thunderus_mem.authoring.edit import DocumentEdits, edit
from thunderus_mem.authoring.show import show
from thunderus_mem.document.document import read_document
from thunderus_mem.errors import InvalidDocument, NotFound, ThunderusError
from thunderus_mem.hooks import BLOCKED
from thunderus_mem.interop.markdown import import_markdown
from thunderus_mem.lint.lint import LintRequest, answer, lint
from thunderus_mem.memory.memory import Memory, open_memory
from thunderus_mem.watch import WatchedMemory, WatchTurn, watch

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.support.command_server import Done, Server

DECISIONS = ".thunderus/memory/semantic/DECISIONS"
FACT = ".thunderus/memory/semantic/FACTS/a.md"
PROJECT = str(Path(__file__).resolve().parents[2])
GIT = {
    "PATH": os.environ["PATH"],
    "HOME": "/nonexistent",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_AUTHOR_NAME": "A",
    "GIT_AUTHOR_EMAIL": "a@example.org",
    "GIT_AUTHOR_DATE": "2020-05-06T07:08:09Z",
    "GIT_COMMITTER_NAME": "A",
    "GIT_COMMITTER_EMAIL": "a@example.org",
    "LC_ALL": "C.UTF-8",
    "PYTHONPATH": PROJECT,
}
GOOD = """---
id: fact.a
title: A
kind: fact
tags: [x]
created: 2026-01-21T09:00:00Z
updated: 2026-01-21T09:00:00Z
provenance:
  events: []
  patches: []
  commits: []
verification:
  last_verified_commit: null
  status: unknown
---

Text.
"""
BAD = GOOD.replace("kind: fact", "kind: wish")


def git(folder: Path, *arguments: str, code: int = 0) -> str:
    done = subprocess.run(
        ["git", *arguments], cwd=folder, env=GIT, capture_output=True, text=True, check=False
    )
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout + done.stderr


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    (folder / ".thunderus/memory/semantic/FACTS").mkdir(parents=True)
    git(folder, "init", "-q")
    return folder


def opened(root: Path) -> Memory:
    return open_memory(str(root), environ=GIT, now=lambda: datetime(2026, 1, 21, 9, tzinfo=UTC))


@pytest.fixture
def decisions(root: Path) -> Path:
    folder = root / "docs/adr"
    folder.mkdir(parents=True)
    (folder / "0001-old.md").write_text("# 1. Old\n\n## Status\n\nSuperseded by [2](0002-new.md)\n")
    (folder / "0002-new.md").write_text("---\nowner: me  # kept\n---\n# 2. New\n\n## Status\n\nAccepted\n")
    (folder / "README.md").write_text("# All decisions\n")
    git(root, "add", "docs")
    git(root, "commit", "-qm", "Decisions")
    return folder


def files(root: Path) -> dict[str, bytes]:
    store = root / ".thunderus"
    wanted = [store / "memory/semantic", store / "sessions"]
    return {
        path.relative_to(root).as_posix(): path.read_bytes()
        for folder in wanted
        for path in folder.rglob("*")
        if path.is_file()
    }


def test_folder_is_imported_in_one_event(root: Path, decisions: Path) -> None:
    memory = opened(root)
    before = {path.name: path.read_bytes() for path in decisions.iterdir()}
    report = import_markdown(memory, str(decisions), "adr", tags=("imported",))
    assert (report.imported, report.skipped) == (2, 1)
    names = sorted(path for path in files(root) if path.startswith(DECISIONS))
    assert names == [f"{DECISIONS}/ADR-0001-old.md", f"{DECISIONS}/ADR-0002-new.md"]
    new = read_document(names[1], (root / names[1]).read_bytes()).document
    assert new is not None
    assert new.body == "# 2. New\n\n## Status\n\nAccepted\n"
    assert "owner: me  # kept\n" in new.text
    assert new.events == (report.event_id,)
    assert new.created == "2020-05-06T07:08:09Z"
    assert new.tags == ("imported",)
    hashed = hashlib.sha256((decisions / "0002-new.md").read_bytes()).hexdigest()
    assert new.data()["metadata"] == {"imported_from": "docs/adr/0002-new.md", "imported_sha256": hashed}
    assert new.aliases == ("0002-new",)
    assert [(link.rel, link.target) for link in new.links] == [("supersedes", "adr.old")]
    events = memory.log.read_all().events
    assert len(events) == 1
    assert {path.name: path.read_bytes() for path in decisions.iterdir()} == before
    assert sorted(row.id for row in memory.index.documents()) == ["adr.new", "adr.old"]


RULE = """---
description: Rules for TypeScript
globs: **/*.ts, **/*.tsx  # all of it
paths:
  - *.md
  - "*.txt"
said: |
  * one
  * two
alwaysApply: false
---
# TypeScript

Prefer `unknown`.
"""


def test_editor_rules_are_imported_with_globs_quoted(root: Path) -> None:
    folder = root / ".cursor/rules"
    folder.mkdir(parents=True)
    (folder / "ts.mdc").write_text(RULE)
    (folder / "crlf.md").write_bytes(b"---\r\nglobs: *\r\n---\r\n# CRLF\r\n\r\nText.\r\n")
    (folder / "alias.md").write_text("---\na: &x 1\nb: *x\n---\n# Alias\n\nText of it.\n")
    (folder / "wrong.md").write_text("---\nglobs: **/*\nb: [\n---\n# Wrong\n\nText again.\n")
    report = import_markdown(opened(root), str(folder), "fact")
    by_source = {item.source: item for item in report.files}
    assert [source for source, item in by_source.items() if item.imported] == ["crlf.md", "ts.mdc"]
    made = (root / by_source["ts.mdc"].path).read_text()
    assert 'globs: "**/*.ts, **/*.tsx"  # all of it\npaths:\n  - "*.md"\n  - "*.txt"\n' in made
    assert "said: |\n  * one\n  * two\nalwaysApply: false\n" in made
    assert made.endswith("---\n# TypeScript\n\nPrefer `unknown`.\n")
    assert by_source["ts.mdc"].notes == (
        "globs: quoted, because the value is not valid YAML",
        "list item: quoted, because the value is not valid YAML",
    )
    crlf = read_document("a.md", (root / by_source["crlf.md"].path).read_bytes()).document
    assert crlf is not None
    assert crlf.data()["globs"] == "*"
    assert "anchor" in by_source["alias.md"].reason
    assert "(line 2)" in by_source["wrong.md"].reason
    again = import_markdown(opened(root), str(folder), "fact")
    assert again.imported == 0
    assert {item.source: item for item in again.files}[
        "ts.mdc"
    ].reason == "already imported as fact.typescript"


def test_line_end_in_a_file_name_is_escaped(repo: Path, run: Callable[..., Done]) -> None:
    run("init")
    (repo / "in").mkdir()
    (repo / "in/a\nskip b.md").write_text("# A\n\nText.\n")
    assert (
        "add  a\\nskip b.md → fact.a\n" in run("import", "markdown", "in", "--kind", "fact", "--dry-run").out
    )


def test_importing_again_writes_nothing(root: Path, decisions: Path) -> None:
    import_markdown(opened(root), str(decisions), "adr")
    before = files(root)
    report = import_markdown(opened(root), str(decisions), "adr")
    assert (report.imported, report.event_id) == (0, "")
    reasons = ["already imported as adr.old", "already imported as adr.new", "index page"]
    assert [item.reason for item in report.files] == reasons
    assert files(root) == before


def test_dry_run_writes_nothing_and_reports_the_same(root: Path, decisions: Path) -> None:
    planned = import_markdown(opened(root), str(decisions), "adr", dry_run=True)
    assert files(root) == {}
    assert planned.files == import_markdown(opened(root), str(decisions), "adr").files


def test_log_contains_no_absolute_path(root: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere/a.md").write_text("# A\n")
    import_markdown(opened(root), str(tmp_path / "elsewhere"), "fact")
    assert not any(str(tmp_path).encode() in data for data in files(root).values())


def test_text_with_a_secret_is_skipped_and_not_printed(root: Path, tmp_path: Path) -> None:
    secret = "ghp_" + "aB3dE5fG7h" * 3 + "J9kL1m"
    (tmp_path / "in").mkdir()
    (tmp_path / "in/a.md").write_text(f"# A\n\nUse {secret} here.\n")
    (tmp_path / "in/b.md").write_text("# B\n")
    (tmp_path / "in/c.md").write_text("# C\n\n```\n<<<<<<< a\n1\n=======\n2\n>>>>>>> b\n```\n")
    report = import_markdown(opened(root), str(tmp_path / "in"), "fact")
    assert [item.imported for item in report.files] == [False, True, False]
    assert report.files[2].reason.startswith("contains conflict markers; ")
    assert report.files[0].reason == "possible secret (github-token, line 3); remove it first"
    assert secret not in repr(report)
    assert not any(secret.encode() in data for data in files(root).values())


def test_hidden_files_links_and_devices_are_reported_as_skipped_dependencies_are_not(
    root: Path, tmp_path: Path
) -> None:
    hidden = ("in/.hidden/x/a.md", "in/sub/.b.md", "in/.git/c.md", "in/.hidden/.deep/d.md", "in/.empty/e.txt")
    for name in (*hidden, "in/node_modules/b.md", "outside/c.md", "in/d.markdown", "in/e.txt"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(f"# {name}\n")
    (tmp_path / "in/link.md").symlink_to(tmp_path / "outside/c.md")
    (tmp_path / "in/linked").symlink_to(tmp_path / "outside")
    (tmp_path / "in/link.txt").symlink_to(tmp_path / "outside/c.md")
    (tmp_path / "in/loop").symlink_to("loop")
    os.mkfifo(tmp_path / "in/pipe.md")
    report = import_markdown(opened(root), str(tmp_path / "in"), "fact")
    dotted = "its name starts with a dot; pass it as DIR to import it"
    link = "symbolic link; pass it to import it"
    assert {item.source: item.reason for item in report.files} == {
        ".hidden": dotted,
        "d.markdown": "",
        "link.md": link,
        "linked": link,
        "pipe.md": "not a regular file",
        "sub/.b.md": dotted,
    }
    assert (report.imported, report.refused) == (1, 0)
    for passed in (".hidden", "linked"):
        assert import_markdown(opened(root), str(tmp_path / "in" / passed), "fact").imported == 1


def test_pipe_is_not_a_regular_file(root: Path, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.md")
    with pytest.raises(ThunderusError, match=r"pipe\.md' is not a regular file$") as failed:
        import_markdown(opened(root), str(tmp_path / "pipe.md"), "fact")
    assert failed.value.exit_code == 2


def test_file_that_cannot_be_read_is_reported(
    root: Path, decisions: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("thunderus_mem.interop.markdown._bytes", lambda path: None)
    report = import_markdown(opened(root), str(decisions / "0002-new.md"), "adr")
    assert [(item.reason, item.refused) for item in report.files] == [("cannot be read", True)]


def test_empty_file_is_skipped_with_the_reason(root: Path, tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in/a.md").write_text("")
    (tmp_path / "in/b.md").write_text("---\ntitle: B\n---\n\n")
    report = import_markdown(opened(root), str(tmp_path / "in"), "fact")
    assert [(item.reason, item.refused) for item in report.files] == [("empty file", False)] * 2


def test_single_file_can_be_imported(root: Path, decisions: Path) -> None:
    memory = opened(root)
    report = import_markdown(memory, str(decisions / "0002-new.md"), "adr")
    assert [item.id for item in report.files] == ["adr.new"]
    (event,) = memory.log.read_all().events
    assert event.event.why == "imported from docs/adr/0002-new.md"


def test_missing_folder_and_unknown_kind_are_errors(root: Path) -> None:
    with pytest.raises(NotFound, match="no-such"):
        import_markdown(opened(root), str(root / "no-such"), "adr")
    with pytest.raises(ThunderusError, match="wish"):
        import_markdown(opened(root), str(root), "wish")


def tool(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "thunderus_mem", *arguments]
    return subprocess.run(command, cwd=folder, env=GIT, capture_output=True, text=True, check=False)


def test_installed_hook_checks_staged_text(root: Path) -> None:
    assert tool(root, "hooks", "install").returncode == 0
    (root / FACT).write_text(BAD)
    (root / ".gitignore").write_text(".thunderus/memory/indexes/\n.thunderus/local/\n.thunderus/.lock\n")
    git(root, "add", FACT, ".gitignore")
    (root / FACT).write_text(GOOD)
    index = (root / ".git/index").read_bytes()
    assert tool(root, "hooks", "run", "pre-commit").returncode == 1
    assert tool(root, "hooks", "run", "pre-commit", "--hook").returncode == BLOCKED
    assert (root / ".git/index").read_bytes() == index
    said = git(root, "commit", "-qm", "x", code=1)
    assert FACT in said
    assert "--no-verify" in said
    git(root, "add", FACT)
    assert "memory not checked" not in git(root, "commit", "-qm", "x")


def test_partial_commit_is_checked_with_its_git_index(root: Path) -> None:
    (root / FACT).write_text(GOOD)
    (root / "other.txt").write_text("x")
    git(root, "add", ".")
    git(root, "commit", "-qm", "x")
    tool(root, "hooks", "install")
    (root / FACT).write_text(BAD)
    assert FACT in git(root, "commit", "-m", "the bad one alone", FACT, code=1)
    git(root, "add", FACT)
    (root / "other.txt").write_text("y")
    git(root, "commit", "-qm", "the other alone", "other.txt")


def test_watcher_keeps_the_index_up_to_date(root: Path) -> None:
    memory = opened(root)
    turns: queue.Queue[WatchTurn] = queue.Queue()
    begun, stop = threading.Event(), threading.Event()
    watched = WatchedMemory(lambda: opened(root))
    thread = threading.Thread(
        target=watch,
        args=(watched, turns.put, lambda text: begun.set(), stop),
        kwargs={"every": 0.1},
        daemon=True,
    )
    thread.start()
    assert begun.wait(8)
    (root / FACT).write_text(BAD)
    turn = turns.get(timeout=8)
    assert FACT in (*turn.added, *turn.modified)
    assert any(found.path == FACT for found in turn.diagnostics)
    assert [row.id for row in memory.index.documents()] == ["fact.a"]
    stop.set()
    thread.join(8)


def test_long_imported_texts_are_reported_without_failing(root: Path, server: Server) -> None:
    assert server.run("init", cwd=str(root)).code == 0
    folder = root / "long"
    folder.mkdir()
    for number in range(3):
        (folder / f"{number}.md").write_text(
            f"# Thing {number}\n\n" + f"Thing {number} has a line.\n" * 1_000, encoding="utf-8"
        )
    words = ("import", "markdown", "long", "-k", "fact", "-t", "x")
    assert server.run(*words, cwd=str(root), env={"THUNDERUS_MEM_SEED": "2"}).code == 0
    done = server.run("lint", cwd=str(root))
    assert done.out.count("note TM302 size-hard") == 3
    assert "thunderus-mem garden --only sizes" in done.out
    assert done.code == 0


def test_links_of_imported_texts_are_valid(root: Path) -> None:
    files = {
        "docs/adr/0001-one.md": "# 1. One\n\nSee [two](0002-two.md) and [the guide](../guide.md).\n",
        "docs/adr/0002-two.md": "# 2. Two\n\n[three](0003-three.md) is not there.\n",
        "docs/guide.md": "A guide.\n",
    }
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    memory = opened(root)
    import_markdown(memory, str(root / "docs/adr"), "adr")
    found = [one for one in lint(memory).diagnostics if one.rule == "TM201"]
    assert [(one.severity.value, one.doc_id) for one in found] == [("note", "adr.two")]
    assert "docs/adr/0003-three.md" in found[0].message
    assert show(memory, "docs/adr/0001-one.md").id == "adr.one"


def test_existing_findings_do_not_stop_an_edit(root: Path) -> None:
    (root / FACT).write_text(GOOD.replace("Text.", "See [[fact.none]]."))
    memory = opened(root)
    done = edit(memory, "fact.a", DocumentEdits(add_tags=["y"]))
    assert (done.changed, done.warnings) == (True, ())
    with pytest.raises(InvalidDocument, match=r"fact\.other"):
        edit(memory, "fact.a", DocumentEdits(body="See [[fact.other]]."))


def test_staged_text_comes_from_the_named_git_index(root: Path) -> None:
    (root / FACT).write_text(GOOD)
    git(root, "add", "-A")
    (root / FACT).write_text(BAD)
    subprocess.run(["git", "add", FACT], cwd=root, env=GIT | {"GIT_INDEX_FILE": ".git/other"}, check=True)
    assert lint(opened(root), staged=True).errors == 0
    other = open_memory(str(root), environ=GIT | {"GIT_INDEX_FILE": ".git/other"})
    assert lint(other, staged=True).errors == 1


def test_links_to_files_that_are_only_documents_here_are_reported_and_fixed(root: Path) -> None:
    notes = root.parent / "elsewhere/notes"
    (notes / "sub").mkdir(parents=True)
    text = "See [b](b.md#more) and [c](<sub/c.md> 'C').\n\n[d]: sub/c.md\n\n[d] and [d]\n"
    (notes / "a.md").write_text(f"# A\n\n{text}")
    (notes / "b.md").write_text("# B\n\n## More\n\nBack to [a](a.md), [gone](gone.md).\n")
    (notes / "sub/c.md").write_text("# C\n\nIt is short.\n")
    import_markdown(opened(root), str(notes), "fact")
    found = [one for one in lint(opened(root)).diagnostics if one.rule == "TM201"]
    assert [one.severity.value for one in found] == ["note"] * 5
    assert [bool(one.edits) for one in found] == [True, True, True, True, False]
    assert found[0].message == "notes/b.md was imported as fact.b, and is not in this repository"
    answer(opened(root), LintRequest(fix=True))
    folder = root / ".thunderus/memory/semantic/FACTS"
    assert "See [b](b.md#more) and [c](<c.md> 'C').\n\n[d]: c.md\n" in (folder / "a.md").read_text()
    assert "Back to [a](a.md), [gone](../../../../notes/gone.md)." in (folder / "b.md").read_text()
    found = [one for one in lint(opened(root)).diagnostics if one.rule == "TM201"]
    assert [one.message for one in found] == [
        "Dead link in imported text: notes/gone.md is not imported and not in this repository"
    ]
    again = import_markdown(opened(root), str(notes), "fact", on_conflict="update")
    assert (again.imported, again.updated, again.refused) == (0, 0, 0)


def test_imported_documents_have_few_findings(root: Path) -> None:
    title = "Use one very long name for a thing that could be told in three words"
    (root / "docs").mkdir()
    (root / "docs/0001-long.md").write_text(f"# 1. {title}\n\nWhy not.\n\n" + "Word. " * 2500)
    memory = opened(root)
    import_markdown(memory, str(root / "docs"), "adr")
    found = [(one.rule, one.severity.value) for one in lint(memory).diagnostics if one.doc_id]
    assert found == [("TM301", "note")]


def test_hook_lists_errors_and_the_first_warnings_and_omits_notes(root: Path) -> None:
    env = GIT | {"TERM": "dumb"}
    (root / FACT).write_text(BAD)
    for name in "bcde":
        text = GOOD.replace("fact.a", f"fact.{name}").replace("Text.", "")
        (root / FACT.replace("a.md", f"{name}.md")).write_text(text)
    git(root, "add", "-A")
    command = [sys.executable, "-m", "thunderus_mem", "hooks", "run", "pre-commit"]
    stopped = subprocess.run(command, cwd=root, env=env, capture_output=True, text=True, check=False)
    assert stopped.returncode == 1
    assert "TM101" in stopped.stdout
    assert stopped.stdout.count(": warning TM110 ") == 3
    assert stopped.stdout.splitlines()[-1] == "1 more warning; see: thunderus-mem lint"
    assert ": note " not in stopped.stdout
    (root / FACT).write_text(GOOD)
    git(root, "add", "-A")
    passed = subprocess.run(command, cwd=root, env=env, capture_output=True, text=True, check=False)
    assert passed.returncode == 0
    assert passed.stdout.count(": warning TM110 ") == 3
    # What the message names still shows the rest after the commit.
    git(root, "commit", "-qm", "x", "--no-verify")
    said = passed.stdout.splitlines()[-1].partition("see: thunderus-mem ")[2]
    after = subprocess.run(
        [*command[:3], *said.split()], cwd=root, env=env, capture_output=True, text=True, check=False
    )
    assert after.stdout.count(": warning TM110 ") == 4


def test_hook_checks_every_store_of_the_repository(root: Path) -> None:
    inner = root / "packages/one" / FACT
    inner.parent.mkdir(parents=True)
    inner.write_text(BAD)
    (root / FACT).write_text(GOOD)
    git(root, "add", "-A")
    command = [sys.executable, "-m", "thunderus_mem", "hooks", "run", "pre-commit"]
    for start in (root, root / "packages"):
        ran = subprocess.run(command, cwd=start, env=GIT, capture_output=True, text=True, check=False)
        assert ran.returncode == 1
        assert ran.stdout.startswith(f"packages/one/{FACT}:4:7: error TM101")


def test_invalid_files_are_counted_as_rejected(root: Path, decisions: Path) -> None:
    (decisions / "0009-torn.md").write_bytes(b"# Torn \xff\n")
    key = "gh" + "p_" + "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8"
    (decisions / "0010-key.md").write_text(f"# Keys\n\nThe key is {key}.\n")
    report = import_markdown(opened(root), str(decisions), "adr")
    assert report.refused == 2
    refused = [file.source for file in report.files if file.refused]
    assert refused == ["0009-torn.md", "0010-key.md"]
    again = import_markdown(opened(root), str(decisions), "adr")
    assert (again.imported, again.refused) == (0, 2)
