"""Lines of the log that were changed, removed or never chained: found by the log itself and by git."""

from __future__ import annotations

import hashlib
import json
import subprocess
from typing import TYPE_CHECKING, Any

import pytest

from thunderus_mem.git.repository import Git
from thunderus_mem.history.log import log
from thunderus_mem.history.replay import replay_check
from thunderus_mem.memory.memory import open_memory

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

pytestmark = pytest.mark.damaged

FACT = "fact.frames"


class Project:
    """A repository with one committed shard of one event, which adds a fact."""

    def __init__(self, root: Path, run: Callable[..., Any]) -> None:
        self.root = root
        self.run = run

    def begin(self) -> None:
        self.git("init", "-q", "-b", "main")
        self.run("init")
        self.git("add", "-A")
        self.git("commit", "-q", "-m", "Store")
        self.add("Frames", "Frames have four bytes.")
        self.commit("Frames")

    def git(self, *arguments: str) -> str:
        done = subprocess.run(["git", *arguments], cwd=self.root, check=True, capture_output=True, text=True)
        return done.stdout.strip()

    def commit(self, message: str) -> str:
        self.git("add", "-A")
        self.git("commit", "-q", "-m", message)
        return self.git("rev-parse", "HEAD")

    def add(self, title: str, body: str) -> None:
        assert self.run("add", "fact", title, "--tag", "wire", "-m", "Asked", "--body", body).code == 0

    def shards(self) -> list[str]:
        found = (self.root / ".thunderus/sessions").glob("*/events.jsonl")
        return sorted(path.relative_to(self.root).as_posix() for path in found)

    def new_shards(self) -> list[str]:
        """The shards that git does not have yet."""
        return sorted(set(self.shards()) - set(self.git("ls-files", ".thunderus").split()))

    def new_shard(self) -> str:
        """The only one of `new_shards`."""
        (name,) = self.new_shards()
        return name

    def named(self, shard: str) -> list[str]:
        """The shards that the first event of this one names."""
        heads = self.events(shard)[0].get("heads", {})
        return [f".thunderus/sessions/{session_id}/events.jsonl" for session_id in heads]

    @property
    def shard(self) -> str:
        """The shard that added the fact."""
        (name,) = (name for name in self.shards() if b'"doc_id":"fact.frames"' in self.bytes(name))
        return name

    def bytes(self, name: str) -> bytes:
        return (self.root / name).read_bytes()

    def events(self, name: str) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.bytes(name).splitlines()]

    def write(self, name: str, events: list[dict[str, Any]]) -> None:
        lines = [json.dumps(event, ensure_ascii=False, separators=(",", ":")) + "\n" for event in events]
        (self.root / name).write_text("".join(lines), encoding="utf-8")

    def forge(self, name: str = "") -> str:
        """Change author, time, reason and diff of the newest line of a shard."""
        name = name or self.shard
        *before, last = self.events(name)
        last["origin"]["author"] = "Mallory"
        last["ts"] = "2020-01-01T00:00:00.000Z"
        last["why"] = "Invented"
        for change in last["body"].get("changes", ()):
            change["diff"] = (change["diff"] or "").replace("four bytes", "five bytes")
        self.write(name, [*before, last])
        return name

    def verified(self, *options: str) -> list[tuple[str, str, str, int]]:
        """Errors and warnings of `events verify`, as lint reports them too if there are no options."""
        done = self.run("--json", "events", "verify", *options)
        found = [
            (one["rule"], one["severity"], one["path"], one["line"])
            for one in done.json["diagnostics"]
            if one["severity"] != "note"
        ]
        assert done.code == bool(found)
        if not options:
            linted = self.run("lint", "--format", "json").json["diagnostics"]
            errors = [one for one in linted if one["severity"] != "note"]
            assert [(one["rule"], one["severity"], one["path"], one["line"]) for one in errors] == found
        return found

    def notes(self) -> list[tuple[str, str]]:
        done = self.run("--json", "events", "verify")
        assert done.code == 0
        return [(one["path"], one["key"]) for one in done.json["diagnostics"]]


@pytest.fixture
def project(tmp_path: Path, run: Callable[..., Any], once: Callable[..., None]) -> Project:
    project = Project(tmp_path, run)
    once(project.begin)
    return project


def test_new_shard_names_the_committed_ones_once(project: Project) -> None:
    assert project.named(project.shard) == [name for name in project.shards() if name != project.shard]
    project.add("Masks", "Masks have two bits.")
    masks = project.new_shard()
    assert project.named(masks) == [project.shard]
    project.add("Words", "Words have two bytes.")
    assert ["heads" in event for event in project.events(masks)] == [True, False]
    assert not any("head" in event for event in project.events(masks))
    project.commit("Masks")
    project.add("Ports", "Ports are numbers.")
    assert project.named(project.new_shard()) == [masks]
    assert project.verified() == []


def test_shard_that_git_does_not_have_is_not_named_yet(project: Project) -> None:
    project.add("Masks", "Masks have two bits.")
    masks = project.new_shard()
    project.git("commit", "-q", "--allow-empty", "-m", "Elsewhere")
    project.add("Words", "Words have two bytes.")
    (words,) = {name for name in project.shards() if b"Words" in project.bytes(name)}
    assert words != masks
    assert project.named(words) == [project.shard]
    assert project.verified() == []


def test_forged_line_is_found_before_it_is_committed(project: Project) -> None:
    shard = project.forge()
    assert project.verified() == [("TM504", "error", shard, 1)]
    project.git("add", "-A")
    assert project.verified() == [("TM504", "error", shard, 1)]
    project.git("checkout", "HEAD", "--", shard)
    assert project.verified() == []


def test_changed_shard_is_not_named(project: Project) -> None:
    shard = project.forge()
    project.add("Masks", "Masks have two bits.")
    assert shard not in project.named(project.new_shard())


def test_forged_line_is_found_after_it_is_committed(project: Project) -> None:
    project.add("Masks", "Masks have two bits.")
    before = project.commit("Masks")
    shard = project.forge()
    project.commit("Forged")
    assert project.verified() == [("TM504", "error", shard, 0)]
    (error,) = project.run("--json", "events", "verify").json["diagnostics"]
    original = project.git("show", f"{before}:{shard}")
    assert error["expected"] == "sha256:" + hashlib.sha256(original.encode()).hexdigest()
    assert f"git checkout COMMIT -- {shard}" in error["hint"]
    (check,) = [one for one in project.run("--json", "doctor").json["checks"] if one["name"] == "log"]
    assert check["command"] == f"git log -p -- {shard}"


@pytest.mark.parametrize("how", ["forged", "shortened", "removed"])
def test_pull_request_may_only_add_to_the_log(project: Project, how: str) -> None:
    project.git("switch", "-q", "-c", "topic")
    project.add("Masks", "Masks have two bits.")
    project.commit("Masks")
    assert project.verified("--since", "main") == []
    shard = project.shard
    if how == "forged":
        project.forge()
    elif how == "shortened":
        (project.root / shard).write_bytes(b"")
    else:
        (project.root / shard).unlink()
    project.commit("Forged")
    found = project.verified("--since", "main")
    assert ("TM504", "error", shard, int(how == "forged")) in found
    project.git("switch", "-q", "main")
    assert project.verified("--since", "main") == []
    assert project.verified("--since", "topic") == []


def test_grown_shard_passes_and_a_rewritten_one_does_not(project: Project) -> None:
    """A shard that git has may grow: lines that other programs append."""
    project.git("switch", "-q", "-c", "topic")
    (project.root / ".thunderus/events.jsonl").write_text(SEED[0])
    project.commit("One line")
    (project.root / ".thunderus/events.jsonl").write_text("".join(SEED))
    assert project.verified() == []
    assert project.verified("--since", "topic") == []
    (project.root / ".thunderus/events.jsonl").write_text("".join(SEED[1:]))
    assert project.verified() == [("TM504", "error", ".thunderus/events.jsonl", 1)]


def test_unknown_revision_is_an_error(project: Project) -> None:
    done = project.run("events", "verify", "--since", "nowhere")
    assert (done.code, "unknown revision 'nowhere'" in done.err) == (4, True)


def test_missing_shard_is_a_note(project: Project) -> None:
    project.add("Masks", "Masks have two bits.")
    project.commit("Masks")
    (project.root / project.shard).unlink()
    (naming,) = (
        name
        for name in project.shards()
        if b'"heads":' in project.bytes(name) and b"masks" in project.bytes(name)
    )
    assert project.notes() == [(naming, "heads")]


KINDS = ("message", "tool_call", "tool_result", "approval", "patch", "snapshot", "note")
BODIES: dict[str, dict[str, Any]] = {
    "approval": {"decision": "approved"},
    "patch": {"op": "edit", "changes": []},
    "tool_call": {"tool": "bash"},
}
REFS = {"patch": {"patch_id": "patch_1"}, "snapshot": {"snapshot_id": "snap_1"}}


def seed_line(number: int, kind: str) -> str:
    """An event as seed logs have it: without `prev`."""
    event = {
        "v": 1, "id": f"evt_{number}", "ts": f"2026-01-20T09:00:0{number}Z", "session_id": "sess_seed",
        "actor": "user", "kind": kind, "refs": {"paths": [], "memory_doc_ids": [], **REFS.get(kind, {})},
        "body": BODIES.get(kind, {}),
    }  # fmt: skip
    return json.dumps(event) + "\n"


SEED = [seed_line(number, kind) for number, kind in enumerate(KINDS)]
SEED_SHARD = ".thunderus/sessions/sess_seed/events.jsonl"


def test_log_without_prev_is_valid_and_noted_once(project: Project) -> None:
    (project.root / SEED_SHARD).parent.mkdir()
    (project.root / SEED_SHARD).write_text("".join(SEED))
    assert project.notes() == [(SEED_SHARD, "prev")]
    project.commit("Seed")
    assert project.notes() == [(SEED_SHARD, "prev")]
    project.add("Masks", "Masks have two bits.")
    assert SEED_SHARD in project.named(project.new_shard())
    assert project.verified() == []


def test_removing_prev_from_a_committed_shard_is_found(project: Project) -> None:
    shard = project.shard
    events = project.events(shard)
    for event in events:
        del event["prev"]
    project.write(shard, events)
    assert ("TM504", "error", shard, 1) in project.verified()


def marks(project: Project) -> dict[str, set[str]]:
    """The marks of all events about the fact, by command."""
    why = project.run("--json", "why", FACT).json["nodes"]
    lines = project.run("--json", "why", FACT, "--lines").json["sources"]
    log = project.run("--json", "log", FACT).json["events"]
    return {
        "why": {node["mark"] for node in why if node["kind"] == "event"},
        "why --lines": {source["mark"] for source in lines},
        "log": {event["mark"] for event in log},
    }


def everywhere(*found: str) -> dict[str, set[str]]:
    return {command: set(found) for command in ("why", "why --lines", "log")}


def test_new_and_uncommitted_lines_have_no_mark(project: Project) -> None:
    assert marks(project) == everywhere("")
    project.run("edit", FACT, "--body", "Frames have eight bytes.")
    assert marks(project) == everywhere("")
    assert project.run("--json", "events", "replay", "--check").json["diagnostics"] == []


@pytest.mark.parametrize("committed", [False, True])
def test_altered_line_is_marked(project: Project, committed: bool) -> None:
    if committed:
        project.add("Masks", "Masks have two bits.")
        project.commit("Masks")
    shard = project.forge()
    if committed:
        project.commit("Forged")
    assert marks(project) == everywhere("altered")
    for command in ("why", "why --lines", "log"):
        assert "Mallory (altered)" in project.run(*command.split(), FACT).out
    done = project.run("events", "replay", "--check")
    assert f"only altered or unchained lines have this text: altered {shard}:1" in done.out
    assert "Masks" not in done.out


def test_lines_around_a_broken_link_are_marked(project: Project) -> None:
    project.git("rm", "-q", "--cached", "-r", ".thunderus")
    project.git("commit", "-q", "-m", "Out of git")
    for number in range(3):
        project.run("edit", FACT, "--body", f"Frames have {number} bytes.")
    shard = project.new_shards()[-1]
    events = project.events(shard)
    events[0]["why"] = "Invented"
    project.write(shard, events)
    log = project.run("--json", "log", FACT).json["events"]
    marked = {event["id"]: event["mark"] for event in log}
    assert [marked[event["id"]] for event in events] == ["altered", "altered", ""]


def test_unchained_and_imported_lines_are_marked(project: Project) -> None:
    (project.root / SEED_SHARD).parent.mkdir()
    (project.root / SEED_SHARD).write_text("".join(SEED))
    found = {event["id"]: event["mark"] for event in project.run("--json", "log", "--all").json["events"]}
    assert [found[f"evt_{number}"] for number in range(len(SEED))] == ["unchained"] * len(SEED)
    assert {mark for id, mark in found.items() if len(id) > 10} == {""}
    foreign = json.loads(SEED[0]) | {"id": "evt_foreign", "session_id": "sess_other"}
    other = SEED_SHARD.replace("seed", "other")
    (project.root / other).parent.mkdir()
    project.write(other, [foreign | {"origin": {"imported": True}, "prev": None}])
    listed = project.run("--json", "log", "--all", "--kind", "message").json["events"]
    assert {event["id"]: event["mark"] for event in listed} == {
        "evt_0": "unchained",
        "evt_foreign": "imported",
    }


def test_worst_line_that_has_a_text_is_reported(project: Project) -> None:
    """The text is in an altered and in an unchained line."""
    shard = project.forge()
    event = project.events(shard)[0]
    other = SEED_SHARD.replace("seed", "0")
    (project.root / other).parent.mkdir()
    for key in ("prev", "heads"):
        event.pop(key, None)
    project.write(other, [event | {"id": "evt_another", "session_id": "sess_0", "why": ""}])
    done = project.run("--json", "events", "replay", "--check").json["diagnostics"]
    assert [(one["severity"], one["message"]) for one in done] == [
        ("warning", f"In the log, only altered or unchained lines have this text: altered {shard}:1")
    ]


def test_git_is_asked_the_same_for_many_shards(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """A command line has a limited length."""
    for number in range(50):
        shard = SEED_SHARD.replace("seed", str(number))
        (project.root / shard).parent.mkdir()
        project.write(shard, [json.loads(SEED[0]) | {"id": f"evt_{number}", "session_id": f"sess_{number}"}])
    lengths: list[int] = []
    ask = Git.ask

    def measured(git: Git, *words: str, **more: Any) -> Any:
        lengths.append(sum(map(len, words)))
        return ask(git, *words, **more)

    monkeypatch.setattr(Git, "ask", measured)
    memory = open_memory(str(project.root))
    memory.refresh()
    assert {one.mark for one in log(memory).events} == {"", "unchained"}
    replay_check(memory)
    assert max(lengths) < 500


def test_mark_is_the_same_after_the_index_is_rebuilt(project: Project) -> None:
    project.forge()
    before = marks(project)
    project.run("index", "rebuild")
    assert marks(project) == before
