"""``check``: which documents a change affects, by its hunks; as text and machine-readable."""

from __future__ import annotations

import json
import os
import re
import subprocess
from typing import TYPE_CHECKING

import pytest
from sarif_kit.validate import validation_errors

from tests.support.code_scene import ISSUE, JWT
from tests.support.stepped_clock import run

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.support.command_server import Done, Server

    Run = Callable[..., Done]

__all__ = ["run"]

FACT = ".thunderus/memory/semantic/FACTS/tokens.md"
GOD = '"""Header."""\n\n\n' + "\n\n".join(
    f"def part_{n}(value):\n    first = value + {n}\n    second = first * {n}\n    return first, second\n"
    for n in range(40)
)


@pytest.fixture
def store(repo: Path, run: Run, once: Callable[..., None]) -> Path:

    def make() -> None:
        (repo / "src").mkdir()
        (repo / "src/jwt.py").write_text(JWT)
        (repo / "src/god.py").write_text(GOD)
        commit(repo)
        assert run("--quiet", "init").code == 0
        for title, place in (("Tokens", "src/jwt.py#issue"), ("Part seven", "src/god.py#part_7")):
            body = f"What {title} says: see `{place}`."
            assert run("add", "fact", title, "--tag", "auth", "--body", body).code == 0
            assert run("anchor", f"fact.{title.lower().replace(' ', '-')}", place).code == 0
        commit(repo)

    once(make)
    return repo


def commit(repo: Path) -> None:
    subprocess.run(["git", "add", "-A"], cwd=repo, check=True)
    subprocess.run(["git", "commit", "-qm", "Next"], cwd=repo, check=True)


def change(repo: Path, path: str, old: str, new: str) -> None:
    text = (repo / path).read_text()
    assert old in text
    (repo / path).write_text(text.replace(old, new))


def found(done: Done) -> list[str]:
    return [finding["doc_id"] for finding in done.json["findings"]]


def test_change_elsewhere_in_an_anchored_file_is_not_reported(store: Path, run: Run) -> None:
    change(store, "src/god.py", "first = value + 8\n", "first = value + 800\n")
    change(store, "src/god.py", '"""Header."""\n', '"""Header."""\n\nimport os\n')
    subprocess.run(["git", "add", "-A"], cwd=store, check=True)
    for arguments in (("--staged",), ("--since", "HEAD"), ()):
        done = run("--json", "check", *arguments)
        assert (done.code, found(done)) == (0, []), arguments
    patch = subprocess.run(["git", "diff", "--cached"], cwd=store, capture_output=True, check=True).stdout
    done = run("--json", "check", "--diff", "-", stdin=patch)
    assert (done.code, found(done), done.json["anchors"]) == (0, [], 1)


def test_change_of_the_anchored_code_is_reported_with_its_hunk(store: Path, run: Run) -> None:
    change(store, "src/god.py", "first = value + 7\n", "first = value - 7\n")
    change(store, "src/god.py", "second = first * 30\n", "second = first + 30\n")
    done = run("--json", "check", "--since", "HEAD", "-p")
    assert (done.code, found(done)) == (1, ["fact.part-seven"])
    finding = done.json["findings"][0]
    assert finding["hunk"].startswith("@@ -40,1 +40,1 @@") or finding["hunk"].startswith("@@ -")
    assert "-    first = value + 7" in finding["diff"]
    assert "30" not in finding["diff"]
    diff = run("--json", "check", "-p").json["findings"][0]["diff"]
    at = re.search(r"^@@ -(\d+),(\d+) \+\1,\2 @@\n", diff, re.MULTILINE)
    assert at is not None, diff
    line, count = int(at[1]), int(at[2])
    now = [one[1:] for one in diff[at.end() :].splitlines() if one[0] in " +"]
    assert now == (store / "src/god.py").read_text().splitlines()[line - 1 : line - 1 + count]
    assert finding["line"] == 9 or finding["line"] > 1
    assert run("check", "--staged").code == 0, "nothing is staged"
    subprocess.run(["git", "add", "-A"], cwd=store, check=True)
    change(store, "src/god.py", "first = value - 7\n", "first = value + 7\n")
    assert found(run("--json", "check", "--staged")) == ["fact.part-seven"]
    assert found(run("--json", "check")) == [], "the working tree has it back"
    assert run("check", "--staged", "--fail-on", "never").code == 0
    text = run("check", "--staged").out
    assert "changed  src/god.py#part_7" in text
    assert "verify fact.part-seven" in text


@pytest.mark.parametrize("applied", [True, False])
@pytest.mark.parametrize("context", ["--unified=0", "--unified=3"])
def test_diff_is_checked_whether_applied_or_not(store: Path, run: Run, applied: bool, context: str) -> None:
    change(store, "src/jwt.py", "ttl=3600", "ttl=60")
    change(store, "src/god.py", "first = value + 9\n", "first = value\n")
    (store / "src/new.py").write_text("x = 1\n")
    subprocess.run(["git", "add", "-A"], cwd=store, check=True)
    patch = subprocess.run(
        ["git", "diff", "--cached", context], cwd=store, capture_output=True, check=True
    ).stdout
    if not applied:
        subprocess.run(["git", "reset", "-q", "--hard"], cwd=store, check=True)
    done = run("--json", "check", "--diff", "-", stdin=patch)
    assert (done.code, found(done)) == (1, ["fact.tokens"])
    (store.parent / "a.patch").write_bytes(patch)
    assert found(run("--json", "check", "--diff", str(store.parent / "a.patch"))) == ["fact.tokens"]
    assert run("check", "--diff", "missing.patch").code == 4


@pytest.mark.parametrize("patch", [b"", b"no diff", b"\xff\0\1", b"--- a\n+++ b\n@@ -1 +1 @@\n-x\n+y\n"])
def test_invalid_diff_is_rejected(store: Path, run: Run, patch: bytes) -> None:
    done = run("check", "--diff", "-", stdin=patch)
    assert done.code == 2
    assert "Traceback" not in done.err
    assert "hint:" in done.err


def test_stale_document_is_reported_only_for_the_change_that_affected_it(store: Path, run: Run) -> None:
    change(store, "src/jwt.py", "ttl=3600", "ttl=60")
    commit(store)
    assert found(run("--json", "check", "--since", "HEAD~1")) == ["fact.tokens"]
    change(store, "src/jwt.py", "ttl=60", "ttl=70")
    assert found(run("--json", "check", "--since", "HEAD")) == []
    assert found(run("--json", "check")) == ["fact.tokens"]


def test_removed_moved_and_renamed_code(store: Path, run: Run) -> None:
    subprocess.run(["git", "mv", "src/jwt.py", "src/tokens.py"], cwd=store, check=True)
    assert found(run("--json", "check", "--staged")) == []
    change(store, "src/tokens.py", ISSUE, "")
    (store / "src/mint.py").write_text(ISSUE)
    subprocess.run(["git", "add", "-A"], cwd=store, check=True)
    assert found(run("--json", "check", "--staged")) == []
    assert run("--json", "check").json["moved"] == 1
    (store / "src/mint.py").unlink()
    subprocess.run(["git", "add", "-A"], cwd=store, check=True)
    done = run("--json", "check", "--staged")
    assert [(one["doc_id"], one["verdict"]) for one in done.json["findings"]] == [("fact.tokens", "missing")]


def test_formats_name_the_affected_document(store: Path, run: Run) -> None:
    change(store, "src/jwt.py", "ttl=3600", "ttl=60")
    commit(store)
    github = run("check", "--format", "github")
    assert f"'Tokens' ({FACT}:15) may be out of date" in github.out
    assert run("check", "--format", "junit").out.count("<failure ") == 1
    sarif = json.loads(run("check", "--format", "sarif").out)
    result = sarif["runs"][0]["results"][0]
    assert result["ruleId"] == "TM701"
    assert "Next" in result["message"]["text"], "the commit's subject"
    before = result["partialFingerprints"]
    change(store, FACT, "tags:\n  - auth\n", "tags:\n  - auth\n  - more\n")
    sarif = json.loads(run("check", "--format", "sarif").out)
    assert sarif["runs"][0]["results"][0]["partialFingerprints"] == before
    assert run("check", "--format", "nonsense").code == 2
    assert run("check", "fact.tokens", "--staged").code == 2
    assert run("check", "nosuch").code == 4
    assert run("check", "--since", "nosuch").code == 4
    assert run("check", "--since", "--output=x").code in (2, 4)
    report = store.parent / "report.sarif"
    assert run("check", "--format", "sarif", "-o", str(report)).code == 1
    assert json.loads(report.read_text())["runs"]


def places(done: Done) -> list[tuple[str, int]]:
    """Where a report for GitLab has its findings."""
    return [(one["location"]["path"], one["location"]["lines"]["begin"]) for one in json.loads(done.out)]


def test_reports_are_at_the_changed_code(store: Path, run: Run) -> None:
    change(store, "src/jwt.py", '"aud": "api"', '"aud": "web"')
    commit(store)
    for arguments in (("--since", "HEAD~1"), ()):
        github = run("check", *arguments, "--format", "github").out
        assert github.startswith("::warning file=src/jwt.py,line=8,col=1,title=TM701 code-changed::"), (
            arguments
        )
        assert places(run("check", *arguments, "--format", "gitlab")) == [("src/jwt.py", 8)]
        log = json.loads(run("check", *arguments, "--format", "sarif").out)
        assert validation_errors(log) == []
        (result,) = log["runs"][0]["results"]
        (place,) = result["locations"]
        assert place["physicalLocation"]["artifactLocation"]["uri"] == "src/jwt.py"
        assert place["physicalLocation"]["region"]["startLine"] == 8
        (document,) = result["relatedLocations"]
        assert document["physicalLocation"]["artifactLocation"]["uri"] == FACT
        assert document["physicalLocation"]["region"]["startLine"] == 15
    assert f'name="{FACT}" classname="thunderus-mem.check"' in run("check", "--format", "junit").out


def test_report_is_at_the_document_if_the_code_is_missing(store: Path, run: Run) -> None:
    (store / "src/jwt.py").unlink()
    assert places(run("check", "--since", "HEAD", "--format", "gitlab")) == [(FACT, 15)]
    assert places(run("check", "--format", "gitlab")) == [(FACT, 15)]
    subprocess.run(["git", "checkout", "-q", "src/jwt.py"], cwd=store, check=True)
    change(store, "src/jwt.py", ISSUE, "")
    assert places(run("check", "--since", "HEAD", "--format", "gitlab")) == [("src/jwt.py", 5)]


def test_report_of_a_folder_is_at_the_changed_file(store: Path, run: Run) -> None:
    assert run("anchor", "fact.tokens", "src/").code == 0
    commit(store)
    change(store, "src/god.py", "first = value + 9\n", "first = value\n")
    line = (store / "src/god.py").read_text().split("\n").index("    first = value") + 1
    assert places(run("check", "--since", "HEAD", "--format", "gitlab")) == [("src/god.py", line)]


def test_markdown_lists_the_affected_documents(store: Path, run: Run) -> None:
    assert run("edit", "fact.tokens", "--set", "title=A | <b> *x* `id`").code == 0
    commit(store)
    done = run("check", "--since", "HEAD", "--format", "markdown")
    assert done.out.startswith("### Documents affected by this change\n\n0 documents affected (")
    change(store, "src/jwt.py", "ttl=3600", "ttl=60")
    done = run("check", "--since", "HEAD", "--format", "markdown")
    assert done.code == 1
    (row,) = [line for line in done.out.splitlines() if "jwt.py" in line]
    _, document, code, reason, _ = row.replace(r"\|", "").split("|")
    assert document == rf" **A  \<b\> \*x\* `id`**<br>{FACT}:15 "
    assert (code, reason) == (" src/jwt.py:6 ", " `issue` has changed since it was recorded ")
    assert "\n\n    thunderus-mem verify fact.tokens\n\n" in done.out
    assert run("check", "--format", "markdown").out.startswith("### Documents that may be out of date\n")


def test_shallow_clone_reports_what_it_cannot_compare(store: Path, run: Run) -> None:
    assert run("anchor", "fact.part-seven", "src/jwt.py#small").code == 0
    commit(store)
    subprocess.run(["git", "mv", "src/jwt.py", "src/tokens.py"], cwd=store, check=True)
    commit(store)
    change(store, "src/tokens.py", "return 1", "return 2")
    change(store, "src/god.py", "first = value + 7\n", "first = value - 7\n")
    commit(store)
    done = run("--json", "check", "--since", "HEAD~1")
    assert (found(done), done.json["unknown"]) == (["fact.part-seven"] * 2, [])
    full = f"file://{store}-full"
    subprocess.run(["git", "branch", "older", "HEAD~2"], cwd=store, check=True)
    store.rename(f"{store}-full")
    subprocess.run(["git", "clone", "-q", "--depth", "2", full, str(store)], check=True)
    done = run("--json", "check", "--since", "HEAD~1")
    assert found(done) == ["fact.part-seven"]
    assert [one["place"] for one in done.json["unknown"]] == ["src/jwt.py#small"]
    done = run("check", "--since", "HEAD~1")
    assert "without the old commit" in done.out
    note = "This shallow clone may not contain the commits that changed the code"
    assert (note in done.err, note in run("check").err) == (False, True)
    subprocess.run(["git", "fetch", "-q", "--depth", "1", full, "older:older"], cwd=store, check=True)
    for command in (("check",), ("events", "verify")):
        done = run(*command, "--since", "older")
        assert done.code == 4
        assert "this shallow clone does not contain the merge base of HEAD and 'older'" in done.err
        assert run(*command, "--since", "nosuch").err.endswith("fetch the revision first\n")


def test_lint_list_show_and_search_report_stale_documents(store: Path, run: Run) -> None:
    change(store, FACT, "What Tokens says", "What Tokens always says")
    before = (store / FACT).read_bytes()
    change(store, "src/jwt.py", "ttl=3600", "ttl=60")
    lint = run("--json", "lint").json
    assert [one["rule"] for one in lint["diagnostics"]] == ["TM701"]
    assert run("lint").code == 1
    for command in ("lint", "check"):
        as_format = run(command, "--format", "json")
        assert (as_format.code, as_format.out) == (1, run("--json", command).out)
        assert as_format.json["schema"] == f"thunderus-mem.{command}/2"
        assert run(command, "--format", "json", "-o", "report.json").code == 1
        assert (store / "report.json").read_text() == as_format.out
    (store / "report.json").unlink()
    listed = run("--json", "list", "verdict:stale").json["documents"]
    assert [(one["id"], one["verdict"]) for one in listed] == [("fact.tokens", "stale")]
    assert "fact.tokens" in run("list", "status:unknown", "--ids").out
    assert "changed: `issue` has changed since it was recorded" in run("show", "tokens").out
    hits = run("--json", "search", "verdict:stale tokens").json["hits"]
    assert [(hit["id"], hit["verdict"]) for hit in hits] == [("fact.tokens", "stale")]
    hits = run("--json", "search", "says").json["hits"]
    assert [hit["id"] for hit in hits] == ["fact.part-seven", "fact.tokens"], "stale ranks below fresh"
    assert (store / FACT).read_bytes() == before, "reading writes nothing"
    change(store, "src/jwt.py", "ttl=60", "ttl=3600")
    assert run("--json", "list", "verdict:stale").json["documents"] == []
    hits = run("--json", "search", "--", "-verdict:verified says").json["hits"]
    assert hits == []


def test_outside_git_only_changes_cannot_be_checked(tmp_path: Path, server: Server) -> None:
    folder = tmp_path / "plain"
    folder.mkdir()
    (folder / "jwt.py").write_text(JWT)
    calls = iter(range(1, 60))

    def run(*arguments: str) -> Done:
        number = next(calls)
        env = {"THUNDERUS_MEM_NOW": f"2026-01-21T09:00:{number:02d}Z", "THUNDERUS_MEM_SEED": str(number)}
        return server.run(*arguments, cwd=str(folder), env=env)

    assert run("--quiet", "init").code == 0
    assert run("add", "fact", "Tokens", "--tag", "auth", "--body", "Words.").code == 0
    assert run("anchor", "tokens", "jwt.py#issue").code == 0
    assert run("check").code == 0
    change(folder, "jwt.py", "ttl=3600", "ttl=60")
    assert run("check").code == 1
    assert run("check", "--staged").code == 4
    assert run("verify", "tokens").code == 0
    assert run("check").code == 0


def test_hook_reports_documents_affected_by_a_commit(store: Path, run: Run) -> None:
    change(store, "src/jwt.py", "ttl=3600", "ttl=60")
    subprocess.run(["git", "add", "-A"], cwd=store, check=True)
    done = run("hooks", "run")
    assert done.code == 0, "a warning stops nothing"
    assert "TM701" in done.out
    assert "src/jwt.py @@" in done.out
    (store / ".thunderus/config.toml").write_text('[lint.severity]\nTM701 = "error"\n')
    assert run("hooks", "run").code == 1
    (store / ".thunderus/config.toml").write_text('[lint.severity]\nTM701 = "off"\n')
    done = run("hooks", "run")
    assert (done.code, done.out) == (0, "")
    subprocess.run(["git", "reset", "-q"], cwd=store, check=True)
    change(store, "src/god.py", "first = value + 9\n", "first = value\n")
    subprocess.run(["git", "add", "src/god.py"], cwd=store, check=True)
    (store / ".thunderus/config.toml").write_text("")
    assert run("hooks", "run").out == ""


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
def test_checkout_of_another_owner_is_reported_as_the_cause(store: Path, run: Run) -> None:
    os.chown(store / ".git", 12345, 12345)
    advice = f"git config --global --add safe.directory {store}"
    for command in ("check --staged", "check --since HEAD", "lint --staged", "hooks install"):
        done = run(*command.split())
        assert (done.code, "belongs to another user" in done.err, advice in done.err) == (4, True, True), done
    done = run("doctor")
    assert "git refuses this checkout" in done.out
    assert advice in done.out
