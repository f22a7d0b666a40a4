"""The hook in real repositories with real git; a script replaces the tool where only the block matters."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from thunderus_mem import hooks
from thunderus_mem.diagnostic import Diagnostic, Severity
from thunderus_mem.errors import NotFound, Refused
from thunderus_mem.git.repository import Git
from thunderus_mem.hooks import BLOCKED, block, insert_block, remove_block

SEALED = {
    "PATH": os.environ["PATH"],
    "HOME": "/nonexistent",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_AUTHOR_NAME": "A",
    "GIT_AUTHOR_EMAIL": "a@example.org",
    "GIT_COMMITTER_NAME": "A",
    "GIT_COMMITTER_EMAIL": "a@example.org",
    "LC_ALL": "C.UTF-8",
}
FACT = ".thunderus/memory/semantic/FACTS/a.md"


def git(folder: Path, *arguments: str, code: int = 0, **environ: str) -> str:
    done = subprocess.run(
        ["git", "-c", "init.defaultBranch=main", *arguments],
        cwd=folder,
        env={**SEALED, **environ},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout + done.stderr


def write(folder: Path, name: str, text: str) -> None:
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(text)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    folder = tmp_path / "repo"
    folder.mkdir()
    git(folder, "init", "-q")
    return folder


def found(folder: Path) -> Git:
    here = Git.find(str(folder), SEALED)
    assert here is not None
    return here


def tool(folder: Path, text: str) -> list[str]:
    """A stand-in for the tool, outside the repository."""
    path = folder.parent / "the tool.sh"
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return [str(path)]


# Prints the staged text of FACT like the real tool: from the index that git passes to the hook.
READS_STAGED = f"""
text=$(git show ":{FACT}") || exit 0
echo "staged: $text"
case $text in *bad*) exit {BLOCKED};; esac
exit 0
"""


def hook_file(folder: Path) -> Path:
    return folder / ".git/hooks/pre-commit"


def test_findings_in_staged_text_block_the_commit(repository: Path) -> None:
    hooks.install(found(repository), command=tool(repository, READS_STAGED))
    write(repository, FACT, "bad\n")
    git(repository, "add", ".")
    write(repository, FACT, "good\n")
    assert "staged: bad" in git(repository, "commit", "-m", "x", code=1)


def test_unstaged_error_does_not_block_a_commit(repository: Path) -> None:
    hooks.install(found(repository), command=tool(repository, READS_STAGED))
    write(repository, FACT, "good\n")
    git(repository, "add", ".")
    write(repository, FACT, "bad\n")
    git(repository, "commit", "-m", "x")

    assert git(repository, "show", f"HEAD:{FACT}").strip() == "good"


def test_commit_without_memory_does_not_run_the_tool(repository: Path) -> None:
    hooks.install(found(repository), command=tool(repository, "echo started; exit 93"))
    write(repository, "src/a.py", "x\n")
    git(repository, "add", ".")
    assert "started" not in git(repository, "commit", "-m", "x")


def test_memory_in_a_nested_package_is_checked(repository: Path) -> None:
    hooks.install(found(repository), command=tool(repository, "echo started; exit 93"))
    write(repository, f"packages/b/{FACT}", "x\n")
    git(repository, "add", ".")
    assert "started" in git(repository, "commit", "-m", "x", code=1)


def test_partial_commit_is_checked_by_its_own_index(repository: Path) -> None:
    write(repository, FACT, "good\n")
    write(repository, "other.md", "x\n")
    git(repository, "add", ".")
    git(repository, "commit", "-qm", "x")
    hooks.install(found(repository), command=tool(repository, READS_STAGED))
    write(repository, FACT, "bad\n")
    assert "staged: bad" in git(repository, "commit", "-m", "x", FACT, code=1)
    git(repository, "add", FACT)
    write(repository, "other.md", "y\n")
    assert "staged" not in git(repository, "commit", "-m", "only the other", "other.md")


def test_amend_and_merge_are_checked(repository: Path) -> None:
    write(repository, FACT, "good\n")
    git(repository, "add", ".")
    git(repository, "commit", "-qm", "x")
    git(repository, "checkout", "-qb", "side")
    write(repository, FACT, "bad\n")
    git(repository, "commit", "-qam", "side")
    git(repository, "checkout", "-q", "main")
    write(repository, "a", "a")
    git(repository, "add", ".")
    git(repository, "commit", "-qm", "y")
    hooks.install(found(repository), command=tool(repository, READS_STAGED))
    git(repository, "merge", "-q", "--no-commit", "side")
    assert "staged: bad" in git(repository, "commit", "-m", "merge", code=1)
    git(repository, "merge", "--abort")
    write(repository, FACT, "bad too\n")
    git(repository, "add", ".")
    assert "staged: bad too" in git(repository, "commit", "--amend", "-m", "z", code=1)


def test_linked_worktree_uses_the_same_hook_and_its_own_index(repository: Path, tmp_path: Path) -> None:
    git(repository, "commit", "-q", "--allow-empty", "-m", "x")
    git(repository, "worktree", "add", "-q", str(tmp_path / "linked"), "-b", "linked")
    linked = tmp_path / "linked"
    installed = hooks.install(found(linked), command=tool(repository, READS_STAGED))
    assert Path(installed.path) == hook_file(repository)
    write(linked, FACT, "bad\n")
    git(linked, "add", ".")
    assert "staged: bad" in git(linked, "commit", "-m", "x", code=1)


def test_hook_changes_neither_index_nor_working_tree(repository: Path) -> None:
    hooks.install(found(repository), command=tool(repository, READS_STAGED))
    write(repository, FACT, "bad\n")
    write(repository, "other", "x\n")
    git(repository, "add", ".")
    os.utime(repository / "other", (1, 1))
    before = hashlib.sha256((repository / ".git/index").read_bytes()).hexdigest()
    subprocess.run([str(hook_file(repository))], cwd=repository, env=SEALED, check=False, capture_output=True)
    assert hashlib.sha256((repository / ".git/index").read_bytes()).hexdigest() == before
    assert git(repository, "status", "--porcelain").count("\n") == 2


@pytest.mark.parametrize(
    ("script", "line"),
    [
        ("echo Traceback; echo more >&2; exit 1", "failed (exit 1)"),
        ("exit 70", "failed (exit 70)"),
        ("exit 75", "failed (exit 75)"),
        ("exit 127", "not found"),
        ("kill -9 $$", "failed (exit 137)"),
    ],
)
def test_broken_tool_does_not_block_the_commit(repository: Path, script: str, line: str) -> None:
    hooks.install(found(repository), command=tool(repository, script))
    write(repository, FACT, "x\n")
    git(repository, "add", ".")
    said = [text for text in git(repository, "commit", "-qm", "x").splitlines() if text]
    assert len(said) == 1
    assert line in said[0]
    assert ("see: thunderus-mem hooks run" in said[0]) == ("failed" in line)
    assert said[0].endswith("commit continues")


@pytest.mark.skipif(shutil.which("timeout") is None, reason="the system has no timeout")
def test_slow_tool_does_not_block_the_commit(repository: Path) -> None:
    hooks.install(found(repository), command=tool(repository, "sleep 30"))
    write(repository, FACT, "x\n")
    git(repository, "add", ".")
    said = git(repository, "commit", "-qm", "x", THUNDERUS_MEM_HOOK_SECONDS="0.2").splitlines()
    assert [line for line in said if line] == [
        "thunderus-mem: timed out; memory not checked, commit continues"
    ]


def test_missing_python_and_tool_do_not_block_the_commit(repository: Path) -> None:
    command = tool(repository, "exit 93")
    hooks.install(found(repository), command=command)
    os.unlink(command[0])
    write(repository, FACT, "x\n")
    git(repository, "add", ".")
    said = git(repository, "commit", "-qm", "x", PATH="/usr/bin:/bin")
    assert said.strip() == "thunderus-mem: not found; memory not checked, commit continues"


def test_python_without_the_package_does_not_block_the_commit(repository: Path) -> None:
    hooks.install(found(repository), command=[sys.executable, "-P", "-I", "-S", "-m", "thunderus_mem"])
    write(repository, FACT, "x\n")
    git(repository, "add", ".")
    assert "failed (exit 1)" in git(repository, "commit", "-qm", "x")


@pytest.mark.parametrize("shell", ["sh", "bash", "dash", "zsh"])
def test_block_runs_in_common_shells(repository: Path, shell: str) -> None:
    path = shutil.which(shell)
    if path is None:
        pytest.skip(f"no {shell} here")
    lines = block(tool(repository, READS_STAGED))
    hook_file(repository).parent.mkdir(exist_ok=True)
    hook_file(repository).write_bytes(insert_block(f"#!{path} -eu\necho mine\n".encode(), lines))
    hook_file(repository).chmod(0o755)
    write(repository, FACT, "good\n")
    git(repository, "add", ".")
    said = git(repository, "commit", "-m", "x")
    assert "staged: good" in said
    assert "mine" in said


def test_install_is_idempotent_and_uninstall_removes_everything(repository: Path) -> None:
    here = found(repository)
    assert hooks.status(here).state == "absent"
    assert hooks.install(here).changed
    text = hook_file(repository).read_bytes()
    again = hooks.install(here)
    assert (again.changed, again.state) == (False, "installed")
    assert hook_file(repository).read_bytes() == text
    assert hooks.status(here).state == "installed"
    assert hooks.uninstall(here).state == "absent"
    assert not hook_file(repository).exists()
    assert not hooks.uninstall(here).changed


def test_old_block_is_reported_and_replaced(repository: Path) -> None:
    here = found(repository)
    hooks.install(here, command=["/old/python"])
    assert hooks.status(here).state == "outdated"
    hooks.install(here)
    assert hooks.status(here).state == "installed"
    assert b"/old/python" not in hook_file(repository).read_bytes()


def test_existing_shell_hook_is_kept_and_still_runs(repository: Path) -> None:
    foreign = b"#!/usr/bin/env bash\n# theirs\necho theirs\nexit 0\n"
    hook_file(repository).parent.mkdir(exist_ok=True)
    hook_file(repository).write_bytes(foreign)
    hook_file(repository).chmod(0o750)
    here = found(repository)
    assert hooks.status(here).state == "foreign"
    hooks.install(here, command=tool(repository, READS_STAGED))
    write(repository, FACT, "good\n")
    git(repository, "add", ".")
    said = git(repository, "commit", "-m", "x")
    assert "theirs" in said
    assert "staged: good" in said
    assert hooks.uninstall(here).state == "foreign"
    assert hook_file(repository).read_bytes() == foreign
    assert hook_file(repository).stat().st_mode & 0o777 == 0o750


@pytest.mark.parametrize("linked", [False, True])
def test_existing_hook_in_another_language_is_chained_and_restored(
    repository: Path, tmp_path: Path, linked: bool
) -> None:
    foreign = f"#!{sys.executable}\nprint('theirs')\nraise SystemExit(3)\n".encode()
    hook = hook_file(repository)
    hook.parent.mkdir(exist_ok=True)
    real = tmp_path / "shared-hook" if linked else hook
    real.write_bytes(foreign)
    real.chmod(0o755)
    if linked:
        hook.symlink_to(real)
    here = found(repository)
    hooks.install(here, command=tool(repository, READS_STAGED))
    hooks.install(here, command=tool(repository, READS_STAGED))
    write(repository, FACT, "good\n")
    git(repository, "add", ".")
    said = git(repository, "commit", "-m", "x", code=1)
    assert "staged: good" in said
    assert "theirs" in said
    hooks.uninstall(here)
    assert hook.is_symlink() is linked
    assert hook.read_bytes() == foreign
    assert sorted(os.listdir(hook.parent)) == sorted(
        {*os.listdir(hook.parent)} - {"pre-commit.before-thunderus-mem"}
    )


def test_non_executable_hook_is_not_enabled(repository: Path) -> None:
    hook_file(repository).parent.mkdir(exist_ok=True)
    hook_file(repository).write_text("#!/bin/sh\nexit 1\n")
    hook_file(repository).chmod(0o644)
    with pytest.raises(Refused, match="not executable"):
        hooks.install(found(repository))


def test_foreign_hooks_path_is_refused_with_a_hint(repository: Path, tmp_path: Path) -> None:
    (tmp_path / "theirs").mkdir()
    git(repository, "config", "core.hooksPath", str(tmp_path / "theirs"))
    with pytest.raises(Refused) as refused:
        hooks.install(found(repository))
    assert "git config --unset core.hooksPath" in (refused.value.hint or "")
    assert os.listdir(tmp_path / "theirs") == []
    assert hooks.status(found(repository)).state == "elsewhere"
    git(repository, "config", "core.hooksPath", ".git/hooks")
    assert hooks.install(found(repository)).changed


def line_in(hint: str | None) -> str:
    return (hint or "").split("`")[1]


@pytest.mark.parametrize("husky", [False, True])
def test_line_for_a_foreign_hooks_folder_needs_no_tool(repository: Path, husky: bool) -> None:
    folder = repository / (".husky/_" if husky else ".hooks")
    folder.mkdir(parents=True)
    hook = folder / "pre-commit"
    if husky:
        (folder / "h").write_text('sh -e "$(dirname "$(dirname "$0")")/$(basename "$0")" "$@"\n')
        hook.write_text('#!/bin/sh\n. "$(dirname "$0")/h"\n')
        hook.chmod(0o755)
        hook = repository / ".husky/pre-commit"
    git(repository, "config", "core.hooksPath", str(folder.relative_to(repository)))
    with pytest.raises(Refused) as refused:
        hooks.install(found(repository))
    assert str(hook) in (refused.value.hint or ""), "husky writes its own folder again"
    assert ("--unset" in (refused.value.hint or "")) is not husky
    hook.write_text(f"#!/bin/sh\n{line_in(refused.value.hint)}\necho theirs\n")
    hook.chmod(0o755)
    assert hooks.status(found(repository)).state == "installed"
    assert not hooks.install(found(repository)).changed
    write(repository, FACT, "x\n")
    git(repository, "add", ".")
    assert "theirs" in git(repository, "commit", "-m", "without the tool", PATH="/usr/bin:/bin")
    tools = Path(tool(repository, "echo found; exit 1")[0]).rename(repository.parent / "thunderus-mem").parent
    write(repository, FACT, "y\n")
    git(repository, "add", ".")
    said = git(repository, "commit", "-m", "x", code=1, PATH=f"{tools}:{os.environ['PATH']}")
    assert ("found" in said, "theirs" in said) == (True, False)


def test_unknown_hook_is_not_found(repository: Path) -> None:
    with pytest.raises(NotFound, match="post-merge"):
        hooks.install(found(repository), "post-merge")


def test_only_errors_block_a_commit() -> None:
    warning = Diagnostic("TM301", Severity.WARNING, "a.md", 1, 1, "long")
    error = Diagnostic("TM101", Severity.ERROR, "a.md", 1, 1, "wrong")
    assert not hooks.run("pre-commit", lambda: [warning]).blocked
    assert hooks.run("pre-commit", lambda: [warning, error]).blocked


def test_inserting_and_removing_the_block_keeps_the_bytes() -> None:
    for text in (b"#!/bin/sh\nexit 0\n", b"#!/bin/bash\n\n\n# x", b"#!/bin/sh\nset -e\n\tx\n"):
        once = insert_block(text, block(["/usr/bin/python3"]))
        assert insert_block(once, block(["/usr/bin/python3"])) == once
        assert remove_block(once) == text
