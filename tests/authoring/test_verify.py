"""``anchor`` and ``verify``: what they write, and what they leave alone."""

from __future__ import annotations

import json
import re
import subprocess
from typing import TYPE_CHECKING

import pytest

from tests.lint.test_check import change, commit
from tests.support.code_scene import ISSUE, JWT
from tests.support.stepped_clock import run

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.support.command_server import Done

    Run = Callable[..., Done]

__all__ = ["run"]
FACT = ".thunderus/memory/semantic/FACTS/tokens.md"


@pytest.fixture
def store(repo: Path, run: Run, once: Callable[..., None]) -> Path:

    def make() -> None:
        (repo / "src").mkdir()
        (repo / "src/jwt.py").write_text(JWT)
        commit(repo)
        assert run("--quiet", "init").code == 0
        assert run("add", "fact", "Tokens", "--tag", "auth", "--body", "A token lives an hour.").code == 0
        assert run("anchor", "tokens", "src/jwt.py#issue", "src/jwt.py#Box.put", "src/jwt.py:13-14").code == 0
        commit(repo)

    once(make)
    return repo


def text(store: Path) -> str:
    return (store / FACT).read_text()


def changed_lines(before: str, after: str) -> list[str]:
    old = before.splitlines()
    return [line.strip().partition(":")[0] for line in after.splitlines() if line not in old]


def events(store: Path) -> list[dict[str, object]]:
    shards = sorted((store / ".thunderus/sessions").glob("*/events.jsonl"))
    found = [json.loads(line) for shard in shards for line in shard.read_text().splitlines()]
    return sorted(found, key=lambda event: event["id"])


def test_person_verifies(store: Path, run: Run) -> None:
    before = text(store)
    head = subprocess.run(
        ["git", "rev-parse", "HEAD"], cwd=store, capture_output=True, text=True, check=True
    ).stdout.strip()
    assert run("verify", "tokens", "-m", "read it again").code == 0
    assert changed_lines(before, text(store)) == ["last_verified_commit", "status", "by", "committed"]
    assert head in text(store)
    patch, approval = events(store)[-2:]
    assert (patch["kind"], patch["body"]["op"], patch["actor"]) == ("patch", "verify", "user")
    assert (approval["kind"], approval["why"]) == ("approval", "read it again")
    assert [one["verdict"] for one in approval["body"]["evidence"]] == ["verified"] * 3
    assert approval["refs"]["memory_doc_ids"] == ["fact.tokens"]
    assert run("events", "verify").code == 0
    assert run("lint").code == 0
    again = text(store)
    (document,) = run("--json", "verify", "tokens").json["documents"]
    assert document["places"][0] == {"place": "src/jwt.py:L13-14", "was": "verified"}
    assert text(store) == again
    assert [event["kind"] for event in events(store)[-2:]] == ["approval", "approval"]


def test_agent_verification_ranks_below_a_person(store: Path, run: Run) -> None:
    assert run("add", "fact", "Other", "--tag", "auth", "--body", "A token lives a day.").code == 0
    assert run("verify", "other").code == 0
    assert run("verify", "tokens", "--actor", "agent").code == 0
    assert "by: agent" in text(store)
    assert "verified by an agent" in run("show", "tokens").out
    assert events(store)[-1]["actor"] == "agent"
    hits = run("--json", "search", "lives").json["hits"]
    assert [hit["id"] for hit in hits] == ["fact.other", "fact.tokens"]
    assert run("verify", "other", THUNDERUS_MEM_ACTOR="agent").code == 0
    assert run("verify", "other", "--actor", "nobody").code == 2


def test_verify_changes_only_its_lines(store: Path, run: Run) -> None:
    assert run("verify", "tokens").code == 0
    before = text(store)
    change(store, "src/jwt.py", "ttl=3600", "ttl=60")
    commit(store)
    assert run("check").code == 1
    assert run("verify", "--update-status", "--dry-run").code == 1
    assert text(store) == before
    assert run("verify", "--update-status").code == 0
    assert changed_lines(before, text(store)) == ["status"]
    assert "status: stale" in text(store)
    assert run("verify", "--update-status", "--dry-run").code == 1, "stale is stale, whoever says it"
    assert run("verify", "tokens").code == 0
    assert changed_lines(before, text(store)) == ["fingerprint", "last_verified_commit", "committed"]
    assert run("check").code == 0
    assert run("verify", "--update-status", "--dry-run").code == 0


def test_revert_makes_a_stale_document_verified_again(store: Path, run: Run) -> None:
    assert run("verify", "tokens").code == 0
    before = text(store)
    change(store, "src/jwt.py", "ttl=3600", "ttl=60")
    assert run("verify", "--update-status").code == 0
    change(store, "src/jwt.py", "ttl=60", "ttl=3600")
    assert run("verify", "--update-status").code == 0
    assert text(store) == before


def test_anchors_of_moved_code_are_updated(store: Path, run: Run) -> None:
    subprocess.run(["git", "mv", "src/jwt.py", "src/tokens.py"], cwd=store, check=True)
    change(store, "src/tokens.py", "import time\n", "import time\n\nA = 1\n")
    commit(store)
    before = text(store)
    assert run("check").code == 0
    planned = run("verify", "--fix-moved")
    assert planned.code == 0
    assert "src/jwt.py#issue" in planned.out
    assert text(store) == before
    assert run("verify", "--fix-moved", "--yes").code == 0
    assert changed_lines(before, text(store)) == ["- path", "lines", "- path", "- path"] or set(
        changed_lines(before, text(store))
    ) == {"- path", "lines"}
    assert "status: unknown" in text(store), "moving confirms nothing"
    assert run("--json", "check").json["moved"] == 0
    subprocess.run(["git", "mv", "src/tokens.py", "mint.py"], cwd=store, check=True)
    assert run("verify", "--all-moved", "-m", "only moved").code == 0
    assert "path: mint.py" in text(store)
    assert "status: verified" in text(store)
    assert run("verify", "--all-moved").out == ""


def test_missing_code_cannot_be_verified(store: Path, run: Run) -> None:
    change(store, "src/jwt.py", ISSUE, "")
    before = text(store)
    done = run("verify", "tokens")
    assert done.code == 1
    assert "refused" in done.out
    assert text(store) == before
    assert run("anchor", "tokens", "--remove", "src/jwt.py#issue", "src/jwt.py:13-14").code == 0
    assert run("verify", "tokens").code == 0
    assert run("verify", "nosuch").code == 4
    assert run("verify").code == 2
    assert run("verify", "--update-status", "--all-moved").code == 2


def test_anchor_to_missing_code_suggests_existing_names(store: Path, run: Run) -> None:
    before = text(store)
    for place, expected in (
        ("src/jwt.py#isue", "issue"),
        ("jwt.py#issue", "src/jwt.py"),
        ("src/jwt.py:900-901", "lines"),
        ("../x.py", "repository"),
        ("nothing/*.py", "matches"),
    ):
        done = run("anchor", "tokens", place)
        assert done.code in (2, 4)
        assert expected in done.err, place
    assert run("anchor", "tokens", "--remove", "src/none.py").code == 4
    assert run("anchor", "tokens").code == 2
    assert text(store) == before
    assert run("anchor", "tokens", "src/jwt.py#issue").code == 0
    assert text(store) == before, "an anchor that is there already changes nothing"


def test_undo_reverts_a_verification(store: Path, run: Run) -> None:
    before = text(store)
    assert run("verify", "tokens").code == 0
    assert run("undo").code == 0
    assert text(store) == before


def test_add_and_edit_accept_anchors(store: Path, run: Run) -> None:
    body = "Boxes hold one thing."
    done = run("add", "fact", "Boxes", "--tag", "box", "--body", body, "--anchor", "src/jwt.py#Box")
    assert done.code == 0
    assert run("--json", "show", "boxes").json["anchors"][0]["verdict"] == "verified"
    assert run("edit", "boxes", "--anchor", "src/jwt.py").code == 0
    places = [one["place"] for one in run("--json", "show", "boxes").json["anchors"]]
    assert places == ["src/jwt.py", "src/jwt.py#Box"]
    assert run("add", "fact", "No", "--tag", "x", "--body", "No.", "--anchor", "src/no.py").code == 4
    assert run("show", "fact.no").code == 4


def head_of(store: Path) -> str:
    done = subprocess.run(["git", "rev-parse", "HEAD"], cwd=store, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def with_older_rules(store: Path) -> str:
    """Replace the fingerprints by those that older rules would have given; return the text before."""
    before = text(store)
    older = re.sub(r"(python.*)/1:[0-9a-f]{20}", rf"\1/0:{'0' * 20}", before)
    assert older != before
    (store / FACT).write_text(older)
    commit(store)
    return before


def test_verify_records_that_the_code_was_committed(store: Path, run: Run) -> None:
    assert run("verify", "tokens").code == 0
    [proof] = re.findall(r"committed: \W?([0-9a-f]{8})", text(store))
    assert run("lint").code == 0
    (store / "src/other.py").write_text("x = 1\n")
    commit(store)
    assert run("verify", "tokens").code == 0
    assert re.findall(r"committed: \W?([0-9a-f]{8})", text(store)) not in ([], [proof])
    change(store, "src/jwt.py", "def small", "def little")
    assert run("verify", "tokens").code == 0
    assert "committed: " in text(store)
    change(store, "src/jwt.py", "now = int(time.time())\n", "now = int(time.time())  # in seconds\n")
    assert run("verify", "tokens").code == 0
    assert "committed: " not in text(store)


def test_restamp_computes_fingerprints_of_the_verified_commit(store: Path, run: Run) -> None:
    assert run("verify", "tokens").code == 0
    commit(store)
    verified = with_older_rules(store)
    change(store, "src/jwt.py", "ttl=3600", "ttl=60")
    commit(store)
    assert "try `thunderus-mem verify --restamp`" in run("check").out
    before = events(store)
    done = run("--json", "verify", "--restamp")
    assert (done.code, [one["reason"] for one in done.json["anchors"]]) == (0, ["", "", ""])
    assert text(store) == verified
    [patch] = events(store)[len(before) :]
    assert (patch["kind"], patch["actor"], patch["body"]["op"]) == ("patch", "tool", "anchor")
    found = {one["place"]: one["verdict"] for one in run("--json", "check").json["findings"]}
    assert found == {"src/jwt.py#issue": "changed"}
    assert "Nothing to update" in run("verify", "--restamp").err


@pytest.mark.parametrize(
    ("what", "reason"),
    [
        ("edited", "not recorded that its verified code was committed"),
        ("anchored", "not recorded that its verified code was committed"),
        ("never", "not recorded that its verified code was committed"),
        ("gone", "its code is not in commit"),
    ],
)
def test_restamp_leaves_what_is_not_proven(store: Path, run: Run, what: str, reason: str) -> None:
    if what == "edited":
        change(store, "src/jwt.py", "now = int(time.time())\n", "now = int(time.time())  # in seconds\n")
    if what != "never":
        assert run("verify", "tokens").code == 0
        commit(store)
    if what == "anchored":
        assert run("anchor", "tokens", "src/jwt.py#small").code == 0
    if what == "gone":
        # As in a shallow clone.
        assert run("verify", "tokens").code == 0
        lost = head_of(store)
        subprocess.run(["git", "commit", "-q", "--amend", "-m", "Another"], cwd=store, check=True)
        (store / f".git/objects/{lost[:2]}/{lost[2:]}").unlink()
    with_older_rules(store)
    before = text(store)
    done = run("verify", "--restamp")
    assert done.code == 0
    assert reason in done.out
    assert text(store) == before
    assert run("verify", "tokens").code == 0
    assert "/0:" not in text(store)


OVERLOADS = """\
class Limit {
  int of(int a) { return 1; }
  int of(Map<String, Integer> a) { return 2; }
  class A { void run() { } }
  class B { void run() { } }
}
"""


@pytest.fixture
def overloads(store: Path) -> Path:
    (store / "src/Limit.java").write_text(OVERLOADS)
    commit(store)
    return store


def test_anchor_on_several_definitions_names_each(overloads: Path, run: Run) -> None:
    done = run("anchor", "tokens", "src/Limit.java#of", "src/jwt.py#small", "--json")
    choices = ["src/Limit.java#Limit.of(int)", "src/Limit.java#Limit.of(Map<String,Integer>)"]
    assert json.loads(done.out)["repeated"] == [{"choices": choices, "place": "src/Limit.java#of"}]
    again = run("anchor", "tokens", "src/Limit.java#Limit.of").err
    assert "src/Limit.java#Limit.of covers 2 definitions; to choose one, anchor " in again
    assert f"'{choices[0]}' or '{choices[1]}'" in again


def test_selector_is_written_with_one_spacing_and_removed_with_any(overloads: Path, run: Run) -> None:
    place = "src/Limit.java#of( Map<String,  Integer> )"
    assert run("anchor", "tokens", place).code == 0
    assert "symbol: of(Map<String,Integer>)" in (overloads / FACT).read_text()
    assert run("anchor", "--remove", "tokens", place).code == 0
    assert "Limit" not in (overloads / FACT).read_text()


def test_ambiguous_and_unknown_definitions_are_refused_with_their_names(overloads: Path, run: Run) -> None:
    done = run("anchor", "tokens", "src/Limit.java#run")
    assert done.code == 2
    assert "'run' is ambiguous in src/Limit.java: Limit.A.run, Limit.B.run" in done.err
    done = run("anchor", "tokens", "src/Limit.java#of(char)")
    assert done.code == 4
    assert "the file defines Limit.of(int), Limit.of(Map<String,Integer>)" in done.err


def test_staged_change_of_any_definition_is_found_in_its_hunk(overloads: Path, run: Run) -> None:
    run("anchor", "tokens", "src/Limit.java#Limit.of")
    commit(overloads)
    change(overloads, "src/Limit.java", "return 2", "return 3")
    subprocess.run(["git", "add", "-A"], cwd=overloads, check=True)
    done = run("check", "--staged")
    assert done.code == 1
    assert "by src/Limit.java @@ -3,1 +3,1 @@" in done.out


def test_anchor_notes_weak_support(store: Path, run: Run) -> None:
    (store / "src/a.swift").write_text("func limit(_ a: Int) -> Int {\n    return a\n}\n")
    done = run("anchor", "tokens", "src/a.swift#limit", "src/jwt.py")
    assert done.err.splitlines() == [
        "note: src/a.swift#limit is in a language with weak support",
        "note: src/jwt.py covers whole files; any edit there marks the document stale",
    ]
    assert "weak support" in run("coverage").out
    assert "weak" not in run("anchor", "tokens", "src/jwt.py:L1-3").err, "only new anchors are noted"


def test_weak_suggestions_are_not_offered_as_strong_ones(run: Run, repo: Path) -> None:
    assert run("init").code == 0
    (repo / "jobs.py").write_text("def first(): ...\ndef second(): ...\n")
    run("add", "fact", "Jobs", "--body", "Jobs are in `jobs.py`.")
    for options in ((), ("--apply",)):
        done = run("anchor", "fact.jobs", "--suggest", *options)
        assert (done.code, done.out.count("; weak\n")) == (0, 1)
        assert "No strong suggestions" in done.err
        assert "To add" not in done.err
