"""Access to git: in every kind of working tree, and without errors when git is missing or fails."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.support.git_repository import Repository
from thunderus_mem.git.changes import destination
from thunderus_mem.git.commits import added_dates, commit_named, commits_between, first_commits
from thunderus_mem.git.history import file_commits
from thunderus_mem.git.repository import Git, look_for_git, no_repository, read_state

if TYPE_CHECKING:
    from pathlib import Path

    from thunderus_mem.git.commits import Commit

MEMORY = ".thunderus/memory"
DOC = f"{MEMORY}/semantic/FACTS/a.md"
SHARD = ".thunderus/sessions/sess_1/events.jsonl"


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    made = Repository(tmp_path / "tree", tmp_path / "home").init()
    made.write(DOC, "one\n")
    made.commit("First")
    return made


def opened(repository: Repository, below: str = "", **env: str) -> Git:
    git = Git.find(str(repository.root / below), repository.env | env)
    assert git is not None
    return git


def test_state_has_head_and_changed_documents(repository: Repository) -> None:
    git = opened(repository)
    state = git.state("", MEMORY)
    assert state is not None
    assert state.head == repository.git("rev-parse", "HEAD")
    assert not [*state.changed]
    repository.write(DOC, "two\n")
    repository.write(f"{MEMORY}/core/CORE ü.md", "new\n")
    repository.write(f"{MEMORY}/notes.txt", "not a document\n")
    repository.write("README.md", "elsewhere\n")
    state = git.state("", MEMORY)
    assert state is not None
    assert sorted(state.changed) == [f"{MEMORY}/core/CORE ü.md", DOC]


def test_removed_renamed_and_staged_documents_count_as_changed(repository: Repository) -> None:
    repository.git("mv", DOC, f"{MEMORY}/b.md")
    state = opened(repository).state("", MEMORY)
    assert state is not None
    assert sorted(state.changed) == [f"{MEMORY}/b.md", DOC]


def test_repository_without_commits_has_no_head(tmp_path: Path) -> None:
    empty = Repository(tmp_path / "tree", tmp_path / "home").init()
    git = opened(empty)
    state = git.state("", MEMORY)
    assert state is not None
    assert state.head is None
    assert git.reflog_size() == 0
    assert git.head_bytes("x") is None
    assert touching(git, "x") == []
    assert added_dates(git, ["."]) == {}


def touching(git: Git, path: str) -> list[Commit]:
    return [commit for commit, _ in file_commits(git, [path])]


def test_detached_head_has_a_head(repository: Repository) -> None:
    repository.git("switch", "-q", "--detach")
    state = opened(repository).state("", MEMORY)
    assert state is not None
    assert state.head == repository.git("rev-parse", "HEAD")


def test_shard_is_known_once_it_is_in_the_index(repository: Repository) -> None:
    git = opened(repository)

    def known() -> bool:
        state = git.state(SHARD, MEMORY)
        assert state is not None
        return state.shard_known

    assert not known()
    repository.write(SHARD, "{}\n")
    assert not known()
    repository.git("add", "-N", SHARD)
    assert known()
    repository.commit("Shard")
    assert known()
    (repository.root / SHARD).unlink()
    assert known()


def test_ignored_store_is_distinguished_from_a_committed_one(repository: Repository) -> None:
    repository.git("rm", "-rq", "--cached", ".thunderus")
    repository.write(".gitignore", ".thunderus/\n")
    repository.commit("Keep it private")
    repository.write(SHARD, "{}\n")
    state = opened(repository).state(SHARD, MEMORY)
    assert state is not None
    assert (state.ignored, state.shard_known, [*state.changed]) == (True, False, [])


def test_reflog_size_changes_with_every_kind_of_commit(repository: Repository) -> None:
    git = opened(repository)
    sizes = [git.reflog_size()]
    for command in (["commit", "-q", "--amend", "--no-edit"], ["switch", "-q", "-c", "b"], ["reset", "-q"]):
        repository.git(*command)
        sizes.append(git.reflog_size())
    assert sizes == sorted(set(sizes))


def test_paths_are_relative_to_the_root_below_the_top_level(repository: Repository) -> None:
    repository.write(f"pkg/a/{DOC}", "one\n")
    repository.write(f"pkg/a/{SHARD}", "{}\n")
    git = opened(repository, "pkg/a")
    state = git.state(SHARD, MEMORY)
    assert state is not None
    assert ([*state.changed], state.shard_known) == ([DOC], False)
    repository.git("add", "-A")
    assert git.staged_files(MEMORY) == [DOC]
    assert git.staged_bytes(DOC) == b"one\n"
    assert git.tracked([DOC, "missing.md"]) == {DOC}
    sha = repository.commit("Package")
    assert git.head_bytes(DOC) == b"one\n"
    assert [commit.sha for commit in touching(git, DOC)] == [sha]
    assert list(first_commits(git, [SHARD])) == [SHARD]


def test_linked_worktrees_have_their_own_head_and_reflog(repository: Repository, tmp_path: Path) -> None:
    linked = Repository(tmp_path / "linked", tmp_path / "home")
    repository.git("worktree", "add", "-q", "-b", "topic", str(linked.root))
    git = opened(linked)
    assert git.toplevel == str(linked.root)
    assert git.common_dir == opened(repository).git_dir
    before = git.reflog_size()
    repository.git("commit", "-q", "--allow-empty", "-m", "Main moves")
    assert git.reflog_size() == before
    linked.write(DOC, "two\n")
    linked.commit("Linked moves")
    assert git.reflog_size() > before
    assert git.hooks_dir() == opened(repository).hooks_dir()
    assert [commit.subject for commit in touching(git, DOC)] == ["Linked moves", "First"]


def test_submodule_is_its_own_repository(repository: Repository, tmp_path: Path) -> None:
    outer = Repository(tmp_path / "outer", tmp_path / "home").init()
    outer.git("-c", "protocol.file.allow=always", "submodule", "add", "-q", str(repository.root), "sub")
    git = opened(outer, "sub")
    assert git.toplevel == str(outer.root / "sub")
    state = git.state("", MEMORY)
    assert state is not None
    assert state.head == repository.git("rev-parse", "HEAD")


def test_configured_work_tree_is_resolved_by_git(repository: Repository, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    repository.git("config", "core.worktree", str(tmp_path / "elsewhere"))
    found, reason = look_for_git(str(repository.root), repository.env)
    assert found is None or found.toplevel == str(tmp_path / "elsewhere")
    assert found is not None or reason


def test_bare_repositories_and_git_folders_have_no_working_tree(
    repository: Repository, tmp_path: Path
) -> None:
    repository.git("clone", "-q", "--bare", ".", str(tmp_path / "bare"))
    for folder in (tmp_path / "bare", repository.root / ".git"):
        found, reason = look_for_git(str(folder), repository.env)
        assert found is None
        assert "no working tree" in reason


def test_outside_a_repository_there_is_no_git(tmp_path: Path) -> None:
    found, reason = look_for_git(str(tmp_path), os.environ)
    assert found is None
    assert reason == "not inside the working tree of a git repository"


def test_broken_git_file_has_a_reason(tmp_path: Path) -> None:
    (tmp_path / ".git").write_text("gitdir: nowhere\n")
    assert "points to a git folder that does not exist" in look_for_git(str(tmp_path), os.environ)[1]


def test_without_git_installed_there_is_no_git(repository: Repository, tmp_path: Path) -> None:
    found, reason = look_for_git(str(repository.root), {"PATH": f".{os.pathsep}{tmp_path}"})
    assert found is None
    assert "not installed" in reason


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can give files away")
def test_repository_of_another_owner_is_refused_with_the_reason_of_git(repository: Repository) -> None:
    os.chown(repository.root / ".git", 12345, 12345)
    found, reason = look_for_git(str(repository.root), repository.env)
    assert found is None
    assert reason == "git refuses this checkout because it belongs to another user"
    error = no_repository(str(repository.root), repository.env, hint="use --diff")
    assert str(error) == reason
    assert error.hint == f"run `git config --global --add safe.directory {repository.root}` if you trust it"
    repository.git("config", "--global", "safe.directory", str(repository.root))
    assert look_for_git(str(repository.root), repository.env)[0] is not None


def test_configuration_in_the_environment_counts(repository: Repository, tmp_path: Path) -> None:
    (tmp_path / "config").write_text("[review]\n\twho = Grace\n")
    repository.git("config", "filter.x.clean", "rm -rf .")
    by_file = repository.env | {"GIT_CONFIG_GLOBAL": str(tmp_path / "config")}
    by_value = by_file | {
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": "review.who",
        "GIT_CONFIG_VALUE_0": "Ada",
    }
    for env, who in ((by_file, "Grace"), (by_value, "Ada"), (by_file | {"GIT_CONFIG_COUNT": ""}, "Grace")):
        git = look_for_git(str(repository.root), env)[0]
        assert git is not None
        assert git.config("review.who") == who
        assert git.config("filter.x.clean") == "", "still disabled"


def test_repository_that_breaks_later_has_a_reason(repository: Repository) -> None:
    git = opened(repository)
    (repository.root / ".git/HEAD").write_text("nonsense\n")
    assert git.state("", MEMORY) is None
    assert git.reason
    assert git.staged_files("") == []
    assert touching(git, DOC) == []


def test_git_variables_of_a_hook_are_ignored(
    repository: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = Repository(tmp_path / "other", tmp_path / "home").init()
    for name, value in {"GIT_DIR": str(other.root / ".git"), "GIT_WORK_TREE": str(other.root)}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    git = Git.find(str(repository.root))
    assert git is not None
    state = git.state("", MEMORY)
    assert state is not None
    assert state.head == repository.git("rev-parse", "HEAD")
    assert [commit.subject for commit in touching(git, DOC)] == ["First"]
    assert os.environ["GIT_DIR"] == str(other.root / ".git")


def test_index_of_a_hook_is_used_on_request(repository: Repository) -> None:
    repository.write(DOC, "staged elsewhere\n")
    repository.git("add", DOC, GIT_INDEX_FILE=".git/other-index")
    env = repository.env | {"GIT_INDEX_FILE": ".git/other-index"}
    plain, _ = look_for_git(str(repository.root), env)
    hooked, _ = look_for_git(str(repository.root), env, honour_index=True)
    assert plain is not None
    assert hooked is not None
    assert plain.staged_bytes(DOC) == b"one\n"
    assert hooked.staged_bytes(DOC) == b"staged elsewhere\n"


def test_configured_programs_are_not_run(repository: Repository, tmp_path: Path) -> None:
    trap = tmp_path / "trap"
    script = repository.root / "trap.sh"
    script.write_text(f"#!/bin/sh\ntouch {trap}\n")
    script.chmod(0o755)
    for key in ("core.fsmonitor", "core.pager", "diff.external", "diff.x.textconv", "diff.x.command"):
        repository.git("config", key, str(script))
    repository.write(".gitattributes", "*.md diff=x\n")
    for hook in ("post-index-change", "reference-transaction"):
        path = repository.root / ".git/hooks" / hook
        path.parent.mkdir(exist_ok=True)
        path.write_text(script.read_text())
        path.chmod(0o755)
    repository.git("config", "core.fsmonitor", "false")
    repository.write(DOC, "two\n")
    repository.git("add", DOC)
    trap.unlink(missing_ok=True)
    repository.git("config", "core.fsmonitor", str(script), GIT_CONFIG_COUNT="0")
    trap.unlink(missing_ok=True)
    git = opened(repository)
    git.state(SHARD, MEMORY)
    git.staged_files("")
    git.staged_bytes(DOC)
    touching(git, DOC)
    added_dates(git, [DOC])
    git.tracked([DOC])
    assert not trap.exists()


def test_staged_texts_come_from_the_index(repository: Repository) -> None:
    strange = f"{MEMORY}/-- ü $x.md"
    repository.write(DOC, "staged\r\n\0")
    repository.write(strange, "strange\n")
    repository.git("add", "-A")
    repository.write(DOC, "later\n")
    git = opened(repository)
    assert git.staged_files(MEMORY) == [strange, DOC]
    assert git.staged_texts([DOC, "none.md", strange]) == {
        DOC: b"staged\r\n\0",
        "none.md": None,
        strange: b"strange\n",
    }
    assert git.head_bytes(DOC) == b"one\n"
    assert git.show("HEAD", DOC) == b"one\n"
    assert git.show("--all", DOC) is None
    assert git.show("HEAD", "with\nnewline") is None


def test_removed_files_are_not_staged_texts(repository: Repository) -> None:
    repository.git("rm", "-q", DOC)
    assert opened(repository).staged_files("") == []


def test_dates_of_files_come_from_their_first_and_last_commit(repository: Repository) -> None:
    repository.write(DOC, "two\n")
    repository.commit("Second", GIT_AUTHOR_DATE="2026-02-03T10:00:00+02:00")
    git = opened(repository)
    assert added_dates(git, [MEMORY]) == {DOC: ("2026-01-21T09:00:00Z", "2026-02-03T08:00:00Z")}
    assert first_commits(git, [DOC])[DOC].subject == "First"
    assert [commit.subject for commit in touching(git, DOC)] == ["Second", "First"]
    assert touching(git, DOC)[0].author == "Ann Author"


def test_commits_of_a_day(repository: Repository) -> None:
    when = "2026-01-22T12:00:00Z"
    commit = ("commit", "-q", "--allow-empty", "-m")
    repository.git(*commit, "Next day", GIT_COMMITTER_DATE=when)
    repository.git("checkout", "-q", "-b", "side")
    repository.git(*commit, "Side", GIT_COMMITTER_DATE="2026-01-22T11:00:00Z")
    repository.git("checkout", "-q", "-")
    repository.git("merge", "-q", "--no-ff", "-m", "Merge", "side", GIT_COMMITTER_DATE="2026-01-22T10:00:00Z")
    found = commits_between(opened(repository), "2026-01-22T00:00:00Z", "2026-01-23T00:00:00Z")
    assert [one.commit.subject for one in found] == ["Merge", "Side", "Next day"]


def test_commits_and_dates_are_read_with_sha256_and_foreign_variables(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repository = Repository(tmp_path / "new", tmp_path / "home")
    repository.root.mkdir()
    repository.git("init", "-q", "--object-format=sha256")
    repository.write(DOC, "one\n")
    repository.git("config", "user.name", "Ann")
    repository.git("config", "user.email", "ann@example.org")
    repository.commit("Only")
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "elsewhere"))
    git = opened(repository)
    found = commits_between(git, "2026-01-01T00:00:00Z", "2026-02-01T00:00:00Z")
    assert [(len(one.commit.sha), one.commit.subject, one.paths) for one in found] == [(64, "Only", (DOC,))]
    assert list(added_dates(git, ["."])) == [DOC]
    assert os.environ["GIT_DIR"] == str(tmp_path / "elsewhere")


def test_commit_is_found_only_by_hash(repository: Repository) -> None:
    git = opened(repository)
    sha = repository.git("rev-parse", "HEAD")
    commit = commit_named(git, sha[:10])
    assert commit is not None
    assert (commit.sha, commit.subject, commit.date) == (sha, "First", "2026-01-21T09:00:00Z")
    assert [commit_named(git, text) for text in ("0" * 40, "HEAD", "--all", "")] == [None] * 4


def test_author_and_hooks_folder_match_git(repository: Repository) -> None:
    git = opened(repository)
    assert git.user_name() == "Ann Author"
    assert opened(repository, GIT_AUTHOR_NAME="Bea").user_name() == "Bea"
    assert git.hooks_dir() == str(repository.root / ".git/hooks")
    repository.git("config", "core.hooksPath", "tools/hooks")
    git = opened(repository)
    assert git.hooks_dir() == str(repository.root / "tools/hooks")
    assert git.config("core.hooksPath") == "tools/hooks"
    assert git.config("no.such") is None


def test_operation_in_progress_is_detected(repository: Repository) -> None:
    git = opened(repository)
    assert git.operation() == ""
    (repository.root / ".git/MERGE_HEAD").write_text("x")
    assert git.operation() == "merge"


def test_unknown_status_lines_are_skipped() -> None:
    answer = b"# branch.oid abc\0# stash 1\0x strange\0? m/a b.md\0! m/\0"
    state = read_state(answer, "", "s", exists=True, memory_dir="m", reflog_size=0)
    assert (state.head, state.ignored, state.shard_known) == ("abc", True, True)
    assert [*state.changed] == ["m/a b.md"]


def test_state_does_not_load_gitpython() -> None:
    code = "import sys, thunderus_mem.git.repository, thunderus_mem.log.sessions; print('git' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


def test_file_renamed_on_the_branch_that_added_it_is_found(repository: Repository) -> None:
    repository.git("switch", "-q", "-c", "side")
    repository.write("old.py", "".join(f"line {number}\n" for number in range(9)))
    repository.commit("Add it")
    repository.git("mv", "old.py", "new.py")
    repository.commit("Rename it")
    repository.git("switch", "-q", "main")
    repository.write("other.py", "x = 1\n")
    repository.commit("Something else")
    repository.git("merge", "-q", "--no-edit", "side")

    found = destination(opened(repository), "old.py", "HEAD", lambda path: (repository.root / path).exists())

    assert found == "new.py"
