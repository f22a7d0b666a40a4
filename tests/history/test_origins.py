"""Origins named by documents: events in shards of this tree and others, commits, patches."""

from __future__ import annotations

import json
import subprocess
from typing import TYPE_CHECKING

from tests.support.lint_corpus import FRONT

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.support.command_server import Done

    Run = Callable[..., Done]

FACTS = ".thunderus/memory/semantic/FACTS"


def git(folder: Path, *arguments: str) -> str:
    done = subprocess.run(["git", *arguments], cwd=folder, check=True, capture_output=True, text=True)
    return done.stdout.strip()


def put(folder: Path, name: str, **lists: str) -> None:
    text = FRONT.format(id=f"fact.{name}", kind="fact")
    for key, value in lists.items():
        text = text.replace(f"  {key}: []", f"  {key}: [{value}]")
    (folder / FACTS / f"{name}.md").write_text(text + "Text.\n")


def notes(run: Run, *arguments: str, cwd: Path | None = None) -> list[tuple[str, str, str]]:
    ran = run("lint", "--select", "TM206", "--format", "jsonl", *arguments, cwd=cwd)
    assert ran.code == 0, ran.err
    found = [json.loads(line) for line in ran.out.splitlines()]
    assert {one["severity"] for one in found} <= {"note"}
    return [(one["doc_id"], one["key"], one["message"]) for one in found]


def test_origin_is_found_and_missing_without_its_shard(repo: Path, run: Run) -> None:
    run("--quiet", "init")
    assert notes(run) == []
    (shard,) = (repo / ".thunderus/sessions").glob("*/events.jsonl")
    kept = shard.read_bytes()
    shard.unlink()
    ((doc_id, key, said),) = notes(run)
    assert (doc_id, key) == ("core", "provenance.events.0")
    assert "is not in the log of this clone" in said
    private = repo / ".thunderus/local/sessions" / shard.parent.name / "events.jsonl"
    private.parent.mkdir(parents=True)
    private.write_bytes(kept)
    assert notes(run) == []


def test_staged_text_is_checked(repo: Path, run: Run) -> None:
    run("--quiet", "init")
    put(repo, "a", events="evt_01JB0000000000000000000000")
    git(repo, "add", "-A")
    put(repo, "a")
    assert [one[0] for one in notes(run, "--staged")] == ["fact.a"]
    assert notes(run) == []


def test_missing_and_unreachable_commits_are_distinguished(repo: Path, run: Run, tmp_path: Path) -> None:
    run("--quiet", "init")
    git(repo, "add", "-A")
    git(repo, "commit", "-qm", "Second")
    good = git(repo, "rev-parse", "HEAD")
    git(repo, "commit", "-q", "--allow-empty", "-m", "Third")
    loose = git(repo, "rev-parse", "HEAD")
    git(repo, "reset", "-q", "--hard", good)
    put(repo, "a", commits=f"{good}, {good[:9]}, {loose[:10]}, {'0' * 40}")
    put(repo, "b", commits="not-a-commit")
    said = [(doc_id, key, message.partition("`")[2]) for doc_id, key, message in notes(run)]
    assert [(doc_id, key) for doc_id, key, _ in said] == [
        ("fact.a", "provenance.commits.2"),
        ("fact.a", "provenance.commits.3"),
        ("fact.b", "provenance.commits.0"),
    ]
    assert "is not reachable from a branch or tag" in said[0][2]
    assert "is not in this clone" in said[1][2]
    git(repo, "tag", "kept", loose)
    assert [key for _, key, _ in notes(run)] == ["provenance.commits.3", "provenance.commits.0"]


def test_commits_are_not_checked_in_a_shallow_clone_or_outside_git(repo: Path, run: Run) -> None:
    run("--quiet", "init")
    put(repo, "a", commits="0" * 40)
    git(repo, "add", "-A")
    git(repo, "commit", "-qm", "Second")
    assert len(notes(run)) == 1
    git(repo, "clone", "-q", "--depth", "1", f"file://{repo}", "shallow")
    assert notes(run, cwd=repo / "shallow") == []
    outside = repo / "outside"
    git(repo, "clone", "-q", str(repo), "outside")
    subprocess.run(["rm", "-rf", str(outside / ".git"), str(repo / ".git")], check=True)
    assert notes(run, cwd=outside) == []


def test_all_commits_are_checked_with_two_processes(repo: Path, run: Run) -> None:
    from thunderus_mem.git.repository import Git

    git(repo, "commit", "-q", "--allow-empty", "-m", "Second")
    store = Git.find(str(repo))
    assert store is not None
    asked: list[str] = []
    plain = store.ask
    store.ask = lambda *given, **more: (asked.append(given[0]), plain(*given, **more))[1]  # type: ignore[method-assign]
    head = git(repo, "rev-parse", "HEAD")
    names = [head[:length] for length in range(7, 41)] + ["f" * 40, "HEAD", "-x", "; rm"]
    reached = store.reached(names)
    assert asked == ["cat-file", "rev-list"]
    assert {name for name, state in reached.items() if state} == set(names[:-4])
    assert [reached[name] for name in names[-4:]] == [None] * 4
    assert store.reached([]) == {}


def test_patches_are_checked_without_a_named_event(repo: Path, run: Run) -> None:
    run("--quiet", "init")
    core = (repo / ".thunderus/memory/core/CORE.md").read_text()
    before, _, rest = core.partition("  events:\n")
    assert rest
    (repo / ".thunderus/memory/core/CORE.md").write_text(before + "  events: []\n" + rest.partition("\n")[2])
    assert notes(run) == []
    put(repo, "a", patches="patch_01JB0000000000000000000000")
    assert [(one[0], one[1]) for one in notes(run)] == [("fact.a", "provenance.patches.0")]
