"""The hooks of the shipped manifest, run as the pre-commit framework runs them: command line and environment.

The framework itself, which builds the tool, is in `test_pre_commit`.
"""

from __future__ import annotations

import shlex
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import yaml

from tests.lint.test_check import change, commit, run, store
from tests.support.index_support import document
from thunderus_mem.diagnostic import Severity

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.support.command_server import Done

    Run = Callable[..., Done]

__all__ = ["run", "store"]

MANIFEST = Path(__file__).resolve().parents[2] / ".pre-commit-hooks.yaml"
HOOKS = {hook["id"]: hook for hook in yaml.safe_load(MANIFEST.read_text())}
FACTS = ".thunderus/memory/semantic/FACTS"
RANGE = {"PRE_COMMIT_FROM_REF": "HEAD~1", "PRE_COMMIT_TO_REF": "HEAD"}
SHARD = ".thunderus/sessions/s/events.jsonl"


@pytest.fixture
def hook(run: Run) -> Run:
    def ran(name: str, *files: str, **env: str) -> Done:
        arguments = shlex.split(HOOKS[f"thunderus-mem-{name}"]["entry"])[1:]
        return run(*arguments, *files, PRE_COMMIT="1", **env)

    return ran


def stage(repo: Path, *paths: str) -> None:
    subprocess.run(["git", "add", "-A", *paths], cwd=repo, check=True)


def write(repo: Path, name: str, body: str) -> None:
    (repo / FACTS / f"{name}.md").write_text(document(f"fact.{name}", body))


def test_check_runs_on_a_commit_of_code_alone(store: Path, hook: Run) -> None:
    assert HOOKS["thunderus-mem-check"]["always_run"]
    assert HOOKS["thunderus-mem-check"]["verbose"], "the framework hides what a passing hook prints"
    change(store, "src/jwt.py", "ttl=3600", "ttl=60")
    stage(store)
    change(store, "src/god.py", "first = value + 7\n", "first = value - 7\n")
    done = hook("check")
    assert done.code == 0, "a warning does not block the commit"
    assert "fact.tokens" in done.out
    assert "fact.part-seven" not in done.out, "not staged"
    (store / ".thunderus/config.toml").write_text('[lint.severity]\nTM701 = "error"\n')
    assert hook("check").code == 1


def test_hook_and_framework_report_the_same_findings_once(store: Path, hook: Run, run: Run) -> None:
    (store / ".thunderus/config.toml").write_text('[lint.severity]\nTM701 = "error"\n')
    change(store, "src/god.py", "first = value + 7\n", "first = value - 7\n")
    commit(store)
    change(store, "src/jwt.py", "ttl=3600", "ttl=60")
    for name in ("tokens", "part-seven"):
        path = store / FACTS / f"{name}.md"
        path.write_text(path.read_text() + "More.\n")
    stage(store)
    change(store, "src/jwt.py", "ttl=60", "ttl=3600")
    by_git, by_framework = run("hooks", "run", "pre-commit"), hook("check")
    for done in (by_git, by_framework):
        assert done.code == 1
        assert done.out.count("src/jwt.py#issue: ") == 1, done.out
        assert done.out.count("src/god.py#part_7: ") == 1, "a changed document whose code had changed before"
    assert "TM7" not in hook("lint").out


def test_check_follows_the_range_of_a_push(store: Path, hook: Run) -> None:
    change(store, "src/god.py", "first = value + 7\n", "first = value - 7\n")
    commit(store)
    change(store, "src/jwt.py", "ttl=3600", "ttl=60")
    commit(store)
    done = hook("check", **RANGE)
    assert "fact.tokens" in done.out
    assert "fact.part-seven" not in done.out, "changed before the range"
    everything = hook("check")
    assert "fact.tokens" in everything.out
    assert "fact.part-seven" in everything.out
    assert hook("check", GIT_INDEX_FILE=".git/index").out == "", "a commit without changes"


def test_lint_checks_only_changed_documents(store: Path, hook: Run) -> None:
    write(store, "old", "See [[gone]].\n")
    commit(store)
    write(store, "new", "See [[lost]].\n")
    stage(store)
    write(store, "new", "See [[tokens]].\n")
    for env in ({}, {"GIT_INDEX_FILE": ".git/index"}):
        done = hook("lint", **env)
        assert (done.code, done.out.count("TM201")) == (1, 1), done.out
        assert "lost" in done.out
    subprocess.run(["git", "commit", "-qm", "New"], cwd=store, check=True)
    write(store, "new", "See [[missing]].\n")
    pushed = hook("lint", **RANGE)
    assert (pushed.code, pushed.out.count("TM201")) == (1, 1), pushed.out


@pytest.mark.parametrize(
    "path",
    [".thunderus/config.toml", ".thunderus/schemas/events.v1.schema.json", SHARD, f"{FACTS}/tokens.md"],
)
def test_lint_checks_the_whole_store_when_another_file_of_it_changed(
    store: Path, hook: Run, path: str
) -> None:
    write(store, "old", "See [[gone]].\n")
    commit(store)
    if path.endswith(".md"):
        (store / path).unlink()
    else:
        (store / path).parent.mkdir(exist_ok=True)
        with (store / path).open("a") as file:
            file.write("\n" if path != SHARD else "")
    stage(store)
    done = hook("lint")
    assert "TM201" in done.out, done.out
    assert done.code == 1


def test_lint_passes_with_warnings_and_leaves_the_code_to_check(store: Path, hook: Run) -> None:
    change(store, "src/jwt.py", "ttl=3600", "ttl=60")
    write(store, "empty", "")
    path = store / FACTS / "tokens.md"
    path.write_text(path.read_text() + "More.\n")
    stage(store)
    done = hook("lint")
    assert (done.code, "TM110" in done.out, "TM7" in done.out) == (0, True, False), done.out


def test_format_prints_only_the_files_it_fixes(store: Path, hook: Run, run: Run) -> None:
    path = store / FACTS / "broken.md"
    path.write_text(document("fact.broken", "See [[gone]].\n"))
    stage(store)
    done = hook("format", f"{FACTS}/broken.md")
    assert (done.code, done.out, done.err) == (0, "", ""), "a finding without a fix belongs to lint"
    broken = path.read_text().replace("[one]", "[on]")
    path.write_text(broken)
    done = hook("format", f"{FACTS}/broken.md")
    assert (done.code, done.out) == (0, f"Fixed {FACTS}/broken.md\n"), done.err
    assert path.read_text() != broken


def test_hooks_check_each_memory_below_the_top(store: Path, hook: Run, run: Run) -> None:
    (store / "svc/b").mkdir(parents=True)
    assert run("-C", "svc/b", "--quiet", "init").code == 0
    stage(store)
    subprocess.run(["git", "commit", "-qm", "Two"], cwd=store, check=True)
    change(store, "src/jwt.py", "ttl=3600", "ttl=60")
    write(store, "new", "See [[gone]].\n")
    broken = document("fact.other", "See [[lost]].\n").replace("[one]", "[on]")
    (store / "svc/b" / FACTS / "other.md").write_text(broken)
    stage(store)
    found = hook("lint")
    assert found.code == 1
    assert found.out.index("`gone`") < found.out.index(f"In svc/b:\n{FACTS}/other.md:")
    checked = hook("check")
    assert (checked.code, "fact.tokens" in checked.out, "svc/b" in checked.out) == (0, True, False)
    fixed = hook("format", f"{FACTS}/new.md", f"svc/b/{FACTS}/other.md")
    assert (fixed.code, fixed.out) == (0, f"In svc/b:\nFixed {FACTS}/other.md\n"), fixed.err


def test_lint_and_check_have_the_same_threshold(store: Path, run: Run) -> None:
    change(store, "src/jwt.py", "ttl=3600", "ttl=60")
    for command in ("lint", "check"):
        assert [run(command, *option).code for option in ((), ("--fail-on", "error"))] == [1, 0], command
        assert run(command, "--fail-on", "fatal").code == 2
    (store / ".thunderus/config.toml").write_text('[lint.severity]\nTM701 = "note"\n')
    for command in ("lint", "check"):
        assert [run(command, *option).code for option in ((), ("--fail-on", "note"))] == [0, 1], command


@pytest.mark.parametrize(("limit", "reached"), [("error", 1), ("warning", 2), ("note", 3), ("never", 0)])
def test_severity_reaches_those_below_it(limit: str, reached: int) -> None:
    assert [one.reaches(limit) for one in Severity] == [True] * reached + [False] * (3 - reached)
