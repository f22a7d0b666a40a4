"""The review queue on the command line: output in every format, and exit codes."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.index_support import document
from tests.support.review_support import FACTS, SAME

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.support.command_server import Done, Server

AGENT = {"THUNDERUS_MEM_ACTOR": "agent", "THUNDERUS_MEM_REVIEW_AGENTS": "propose"}


@pytest.fixture
def run(server: Server, tmp_path: Path) -> Callable[..., Done]:
    """The command line in a store with two duplicates; each call is a second later."""
    turn = iter(range(1, 600))

    def command(*words: str, **env: str) -> Done:
        number = next(turn)
        now = f"2026-01-21T09:{number // 60:02d}:{number % 60:02d}Z"
        fixed = {"THUNDERUS_MEM_NOW": now, "THUNDERUS_MEM_SEED": str(number)}
        return server.run(*words, cwd=str(tmp_path), env={**fixed, **env})

    assert command("init").code == 0
    for name in ("one", "two"):
        (tmp_path / FACTS / f"{name}.md").write_text(document(f"fact.{name}", SAME))
    return command


def waiting(run: Callable[..., Done]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(run("review", "list", "--json").out)["proposals"]
    return found


def test_plan_is_shown_queued_and_counted(run: Callable[..., Done]) -> None:
    plan = run("garden")
    assert plan.code == 0
    assert plan.out.startswith(
        "duplicates: 1 to apply\n  merge-duplicates  `fact.two` duplicates `fact.one`\n"
    )
    changed = "    changed: .thunderus/memory/semantic/FACTS/one.md\n    +aliases:\n    +  - fact.two\n"
    assert "changed:" not in plan.out
    assert changed in run("garden", "-p").out
    assert plan.out.endswith("Steps: 1 to apply\nNext: thunderus-mem garden --apply\n")
    assert run("garden").out == plan.out
    assert run("garden", "--check").code == 1
    filed = run("garden", "--propose")
    assert filed.code == 0
    assert "Queued 1 proposal" in filed.err
    (one,) = waiting(run)
    assert one["id"] in filed.out
    again = run("garden", "--propose")
    assert (again.code, again.out) == (0, "Steps: 1 pending review\n")
    checked = run("garden", "--check")
    assert (checked.code, "pending review" in checked.out) == (0, True)
    assert run("garden", "--apply").out == "Steps: 1 pending review\n"
    report = json.loads(run("garden", "--json").out)
    assert (report["steps"], report["waiting"], report["schema"]) == ([], 1, "thunderus-mem.garden/2")


def test_json_is_deterministic_and_contains_the_diff(run: Callable[..., Done]) -> None:
    assert "edits" not in run("garden", "--json").out
    first, second = (run("garden", "--json", "-p").out for _ in range(2))
    assert first == second
    (step,) = json.loads(first)["steps"]
    assert [edit["op"] for edit in step["edits"]] == ["update", "remove"]
    assert step["edits"][0]["diff"].startswith("--- a/")


SUBJECTS = (
    "Ships wait for the tide.\n",
    "Bread rises overnight.\n",
    "Invoices leave on Fridays.\n",
    "Owls hunt without a sound.\n",
    "Glaciers carve valleys.\n",
    "Printers jam in winter.\n",
)
"""Pages with nothing in common, so that only equal ones are found."""


def test_step_is_limited_and_reports_how_much_is_omitted(run: Callable[..., Done], tmp_path: Path) -> None:
    for number in range(6):
        for letter in "ab":
            text = document(f"fact.n{number}{letter}", SUBJECTS[number] * 80)
            (tmp_path / FACTS / f"n{number}{letter}.md").write_text(text)
    shown = run("garden", "-n", "2").out
    assert "5 more steps not shown" in shown
    assert len(shown.splitlines()) == 7
    assert "Steps: 7 to apply" in shown
    assert "not shown" not in run("garden", "-n", "0").out


def test_rules_are_selected_by_commas_and_repetition(run: Callable[..., Done]) -> None:
    def rules(*words: str) -> list[str]:
        return [step["rule"] for step in run("garden", "--json", *words).json["steps"]]

    assert rules("--only", "links, duplicates") == ["duplicates"]
    assert rules("--only", "links", "--only", "tags,duplicates") == ["duplicates"]
    assert rules("--only", "links,tags") == []


def test_shell_completes_proposals_snapshots_and_rules(run: Callable[..., Done]) -> None:
    def offered(*words: str) -> dict[str, str]:
        lines = run("--complete", *words).out.splitlines()
        return {word: text for word, _, text in (line.partition("\t") for line in lines)}

    run("garden", "--propose")
    (one,) = waiting(run)
    for verb in ("show", "approve", "reject"):
        assert list(offered("review", verb, "")) == [one["id"]]
    output = offered("review", "show", one["id"][:12])[one["id"]]
    assert output.startswith("merge-duplicates: fact.one, fact.two; ")
    assert offered("review", "list", "") == {}
    assert offered("review", "show", "patch_X") == {}
    assert list(offered("garden", "--only", "l")) == ["links"]
    assert list(offered("garden", "--only", "links,t")) == ["links,tags"]
    assert list(offered("review", "approve", "--all", "--only", "du")) == ["duplicates"]
    assert run("review", "reject", one["id"], "-m", "no").code == 0
    assert offered("review", "show", "") == {}


def test_shell_completes_snapshots(run: Callable[..., Done]) -> None:
    run("garden", "--apply")
    (snap,) = run("undo", "--list", "--json").json["snapshots"]
    assert snap["id"] in run("--complete", "undo", "").out
    assert run("--complete", "undo", "snap_").out == f"{snap['id']}\t2026-01-21 09:00 garden\n"
    assert run("--complete", "undo", "snap_Z").out == ""


def test_invalid_proposal_does_not_stop_completion(run: Callable[..., Done], tmp_path: Path) -> None:
    run("garden", "--propose")
    (one,) = waiting(run)
    (tmp_path / ".thunderus" / "patches" / "patch_01KFFWG0000000000000000000.json").write_text("{")
    assert run("--complete", "review", "show", "").out.startswith(one["id"])


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("garden", "--only", "duplicate"), 4, "did you mean 'duplicates'?"),
        (("garden", "--only", "links,duplicate"), 4, "did you mean 'duplicates'?"),
        (("garden", "--only", "links,"), 2, "--only links,tags"),
        (("garden", "--apply", "--propose"), 2, "mutually exclusive"),
        (("undo", "snap_0", "--list"), 2, "mutually exclusive"),
        (("undo", "snap_9"), 4, "o snapshot has the id"),
        (("review", "approve"), 2, "missing argument ID"),
        (("review", "approve", "x", "--all"), 2, "mutually exclusive"),
        (("review", "approve", "--all"), 2, "use --yes to approve all proposals"),
        (("review", "approve", "--only", "same"), 2, "use --yes to approve all proposals of same"),
        (("review", "approve", "patch_X", "--only", "same"), 2, "ID and --only are mutually exclusive"),
        (("review", "reject", "patch_0"), 2, "a reason is required"),
        (("review", "reject", "patch_0", "-m", "no"), 4, "o proposal has the id"),
        (("review", "show", "patch_0"), 4, "o proposal has the id"),
        (("review", "aprove"), 2, "aprove"),
    ],
)
def test_errors_are_one_line(words: tuple[str, ...], code: int, said: str, run: Callable[..., Done]) -> None:
    done = run(*words)
    assert done.code == code, done
    assert said in done.err
    assert done.err.count("rror: ") == 1


def test_proposal_is_approved_and_undone(run: Callable[..., Done], tmp_path: Path) -> None:
    before = (tmp_path / FACTS / "two.md").read_bytes()
    run("garden", "--propose")
    (one,) = waiting(run)
    assert (one["actor"], one["action"], one["age_days"]) == ("user", "merge-duplicates", 0)
    shown = run("review", "show", one["id"][:-3])
    assert shown.code == 0
    assert "applies  yes" in shown.out
    assert "-id: fact.two" in shown.out
    done = run("review", "approve", one["id"], "-m", "they are one")
    assert done.out == f"approved  {one['id']}  fact.one, fact.two\n"
    log = run("log", "-n", "2").out
    assert "approved" in log
    assert "they are one" in log
    again = run("review", "approve", one["id"])
    assert again.code == 4
    assert "is not pending: approved by user on 2026-01-21" in again.err
    assert run("undo", one["id"]).code == 0
    assert (tmp_path / FACTS / "two.md").read_bytes() == before
    assert run("review", "list").out == ""


def test_run_is_undone_by_its_snapshot(run: Callable[..., Done], tmp_path: Path) -> None:
    before = (tmp_path / FACTS / "two.md").read_bytes()
    applied = json.loads(run("garden", "--apply", "--json").out)
    listed = run("undo", "--list")
    assert listed.out.startswith(applied["snapshot_id"])
    assert "1 step" in listed.out
    dry = run("undo", applied["snapshot_id"], "--dry-run")
    assert "Dry run" in dry.err
    assert not (tmp_path / FACTS / "two.md").exists()
    done = run("undo", applied["snapshot_id"])
    assert "restored  fact.two" in done.out
    assert (tmp_path / FACTS / "two.md").read_bytes() == before
    assert "  undone  " in run("undo", "--list").out
    assert run("undo", applied["snapshot_id"]).code == 3


def test_agent_commands_report_their_proposal(run: Callable[..., Done]) -> None:
    done = run("edit", "fact.one", "--set", "title=New", "-m", "better", **AGENT)
    (one,) = waiting(run)
    assert done.code == 0
    assert one["id"] in done.out
    assert one["id"] in done.err
    assert one["actor"] == "agent"
    value = run("rename", "fact.one", "fact.first", "--json", **AGENT).json
    assert value["proposed"].startswith("patch_")
    assert not value["changed"]
    refused = run("review", "approve", one["id"], **AGENT)
    assert refused.code == 5
    assert "made by an agent" in refused.err
    assert json.loads(run("review", "approve", one["id"], "--json", **AGENT).out)["decisions"][0]["code"] == 5
    status = run("status").out
    assert "2 pending proposals" in status
    assert "Next: thunderus-mem review list" in status
    assert run("review", "reject", "--all", "--yes", "-m", "no").code == 0


def test_changed_text_needs_a_rebase(run: Callable[..., Done]) -> None:
    run("edit", "fact.one", "--set", "title=New", **AGENT)
    run("edit", "fact.one", "--tag", "later")
    (one,) = waiting(run)
    moved = run("review", "approve", one["id"])
    assert moved.code == 3
    assert f"thunderus-mem review show {one['id']}" in moved.err
    assert "this is the diff against the current text" in run("review", "show", one["id"]).out
    assert run("review", "approve", one["id"], "--rebase").code == 0


def test_invalid_proposal_file_is_reported_by_every_command(run: Callable[..., Done], tmp_path: Path) -> None:
    run("garden", "--propose")
    (tmp_path / ".thunderus" / "patches" / "x.json").write_text("{}\x1b[2J")
    listed = run("review", "list")
    assert listed.code == 6
    assert "x.json" in listed.err
    assert len(waiting(run)) == 1
    lint = run("lint")
    assert lint.code == 1
    assert "TM509" in lint.out
    doctor = run("doctor")
    assert doctor.code == 1
    assert "not a valid proposal" in doctor.out


@pytest.mark.parametrize("label", ["", "duplicates"])
def test_invalid_files_are_not_reported_as_an_empty_queue(
    label: str, run: Callable[..., Done], tmp_path: Path
) -> None:
    assert run("review", "list").err == "No pending proposals\n"
    folder = tmp_path / ".thunderus" / "patches"
    for name in ("x.json", "y.json", "patch_0.json"):
        (folder / name).write_text("{}")
    listed = run("review", "list", *(["--only", label] if label else []))
    assert listed.code == 6
    assert listed.out == ""
    name = "the file name is not `patch_ID.json` with an id of 26 characters"
    assert listed.err.splitlines() == [
        f".thunderus/patches/patch_0.json: invalid proposal: {name}",
        f".thunderus/patches/x.json: invalid proposal: {name}",
        f".thunderus/patches/y.json: invalid proposal: {name}",
        "hint:  move the file out of .thunderus/patches",
    ]
    (folder / "patch_01KFG0000000000000000000AB.json").write_text("{}")
    output = run("review", "list", "-q").err.splitlines()
    assert [line for line in output if line.startswith("hint:")] == [
        "hint:  move the file out of .thunderus/patches",
        "hint:  restore the file from git, or delete it to discard the proposal",
        "hint:  move the file out of .thunderus/patches",
    ]
    assert "No pending" not in run("review", "approve", "--all", "--yes").err


def test_label_without_proposals_has_a_message(run: Callable[..., Done]) -> None:
    run("edit", "fact.one", "--set", "title=New", **AGENT)
    assert run("review", "list", "--only", "other").err == "No matching proposals\n"
    rejected = run("review", "reject", "--all", "--yes", "--only", "other", "-m", "no")
    assert rejected.err == "No matching proposals; see: thunderus-mem review list\n"
    assert len(waiting(run)) == 1
