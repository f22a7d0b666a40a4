"""``why`` and ``blame`` on the command line: text and JSON agree."""

from __future__ import annotations

import re
import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.support.command_server import Done, Server

    Run = Callable[..., Done]

FACT = ".thunderus/memory/semantic/FACTS/frames.md"


@pytest.fixture
def run(server: Server, repo: Path) -> Run:
    def command(*arguments: str) -> Done:
        command.calls = number = command.calls + 1  # type: ignore[attr-defined]
        env = {"THUNDERUS_MEM_NOW": f"2026-01-21T09:00:{number:02d}Z", "THUNDERUS_MEM_SEED": str(number)}
        return server.run(*arguments, cwd=str(repo), env=env)

    command.calls = 0  # type: ignore[attr-defined]
    return command


def git(*arguments: str, cwd: Path | None = None) -> None:
    subprocess.run(["git", *arguments], cwd=cwd, check=True)


def save(repo: Path, message: str) -> None:
    git("add", "-A", cwd=repo)
    git("commit", "-qm", message, cwd=repo)


@pytest.fixture
def store(repo: Path, run: Run, once: Callable[..., None]) -> Path:

    def make() -> None:
        assert run("--quiet", "init").code == 0
        body = 'Four [bytes] "big" <endian>.'
        assert run("add", "fact", "Frames", "--tag", "net", "--body", body).code == 0
        assert run("edit", "fact.frames", "--tag", "wire", "-m", 'said "so" & [that]').code == 0

    once(make)
    return repo


def test_blame_text_and_json_agree(store: Path, run: Run) -> None:
    with (store / FACT).open("a", encoding="utf-8") as file:
        file.write("By \x1b[31mhand.\n")
    report = run("--json", "why", "frames", "--lines").json
    assert report["schema"] == "thunderus-mem.why-lines/2"
    sources = {source["id"]: source for source in report["sources"]}
    printed = run("why", "frames", "--lines").out.splitlines()
    assert len(printed) == len(report["lines"])
    for text, line in zip(printed, report["lines"], strict=True):
        source = sources[line["source"]]
        name = source["id"].removeprefix("evt_")[:14] or "unrecorded"
        assert text.startswith(name)
        assert re.search(rf" {line['number']}(  |$)", text)
    assert {source["kind"] for source in report["sources"]} == {"event", "unrecorded"}
    assert printed[-1].endswith("By \\x1b[31mhand.")


@pytest.mark.parametrize(("lines", "numbers"), [("2-3", [2, 3]), ("4", [4]), ("20-900", list(range(20, 25)))])
def test_blame_of_a_line_range(store: Path, run: Run, lines: str, numbers: list[int]) -> None:
    shown = run("--json", "why", f"frames:{lines}").json["lines"]
    assert [line["number"] for line in shown] == [n for n in numbers if n <= shown[-1]["number"]]


@pytest.mark.parametrize("lines", ["0", "900", "4-2"])
def test_blame_of_missing_lines_is_an_error(store: Path, run: Run, lines: str) -> None:
    ran = run("why", f"frames:{lines}")
    assert (ran.code, ran.out) == (2, "")
    assert "invalid line range" in ran.err


def test_blame_takes_the_path_and_line_that_search_prints(store: Path, run: Run) -> None:
    place = run("search", "frames").out.splitlines()[1].split("  ")[0]
    (line,) = run("--json", "why", place).json["lines"]
    assert place.endswith(f":{line['number']}")


def test_blame_of_an_unknown_document_is_an_error(store: Path, run: Run) -> None:
    assert run("why", "fact.nothing", "--lines").code == 4


def test_possibly_older_lines_are_marked(store: Path, run: Run) -> None:
    shard = next((store / ".thunderus" / "sessions").glob("*/events.jsonl"))
    shard.write_bytes(b"".join(shard.read_bytes().splitlines(keepends=True)[-1:]))
    ran = run("why", "frames", "--lines")
    assert ran.out.startswith("^")
    assert "may be older" in ran.err


def test_why_graph_is_complete_and_versioned(store: Path, run: Run) -> None:
    report = run("--json", "why", "frames").json
    assert report["schema"] == "thunderus-mem.why/2"
    assert set(report) == {"code", "damaged", "edges", "id", "nodes", "schema"}
    known = {node["id"] for node in report["nodes"]}
    assert report["nodes"][0]["id"] == report["id"] == "fact.frames"
    assert known == {edge[end] for edge in report["edges"] for end in ("from", "to")}
    tree, full = run("why", "frames").out, run("why", "frames", "-v").out
    named = [node["id"] for node in report["nodes"] if node["kind"] in ("event", "session", "patch")]
    assert len(named) == 5
    assert all(id in full and id not in tree for id in named)
    assert '2026-01-21 09:00 edit by Ada Example: said "so" & [that]\n' in tree
    assert "→" in full
    assert "→" not in tree


@pytest.mark.damaged
@pytest.mark.parametrize(
    "words",
    [("why", "frames", "--lines"), ("why", "frames"), ("events", "replay"), ("events", "replay", "--check"),
     ("events", "export")],
    ids=" ".join,
)  # fmt: skip
def test_intact_part_of_a_damaged_log_is_used(store: Path, run: Run, words: tuple[str, ...]) -> None:
    shard = next((store / ".thunderus" / "sessions").glob("*/events.jsonl"))
    shard.write_bytes(b"no event\n" + shard.read_bytes())
    ran = run(*words)
    assert ran.code == 6
    assert "1 unreadable line in the log" in ran.err
    assert ran.out
    if words != ("events", "export"):
        assert run("--json", *words).json["damaged"] == 1


def test_why_marks_what_a_shallow_clone_does_not_know(store: Path, run: Run) -> None:
    (store / "frames.py").write_text("def frame(one):\n    return one + 1\n", encoding="utf-8")
    assert run("anchor", "frames", "frames.py#frame").code == 0
    save(store, "Ann: frames")
    (store / "frames.py").write_text("def frame(one):\n    return one + 2\n", encoding="utf-8")
    save(store, "Bob: another number")
    shutil.move(store, f"{store}-full")
    git("clone", "-q", "--depth", "1", f"file://{store}-full", str(store))
    done = run("why", "frames", "-p")
    assert "commit ^" in done.out
    assert done.err == "^ marks commits where this shallow clone begins; what they add may be older\n"
    assert "\n+ " not in done.out, "the code then is unknown, and is not shown as empty"
    assert "the recorded code is not in the known history" in done.out
