"""No command fails on a bad line: every malformed event, read by every command.

The events are real ones of each kind and operation, with every key missing or of each wrong type, in a shard
whose hashes match. The commands are all of the program, each with and without arguments and flags.
"""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from tests.support.every_command import calls
from tests.support.in_process import run_here
from tests.support.malformed_events import changed, malformed, write_shard
from thunderus_mem.cli.table import BY_NAME
from thunderus_mem.log.line import KINDS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from tests.support.command_server import Done

pytestmark = pytest.mark.damaged

CODES = frozenset({0, 1, 2, 3, 4, 5, 6, 75})
AGENT = "\n".join(
    json.dumps(event)
    for event in (
        {"kind": "message", "body": {"text": "We decided to use pages.", "episode_id": "ep"}},
        {
            "kind": "tool_call",
            "body": {"tool": "bash", "arguments": {"command": "make"}},
            "refs": {"paths": ["src/pages.py"]},
        },
        {"kind": "tool_result", "body": {"tool": "bash", "result": {"exit_code": 1}, "success": False}},
        {"kind": "tool_call", "body": {"tool": "str_replace_editor", "arguments": {"path": "src/pages.py"}}},
    )
)
BEGIN: tuple[tuple[str, ...], ...] = (
    ("init",),
    ("add", "fact", "Pages", "--tag", "net", "--body", "A page has 100 rows.", "--anchor", "src/pages.py"),
    ("add", "fact", "Queues", "--tag", "net", "--body", "A queue has ten jobs."),
    ("add", "fact", "Jobs", "--tag", "net", "--body", "A job lasts a minute."),
    ("supersede", "fact.queues", "fact.jobs", "-m", "newer"),
    ("rename", "fact.jobs", "fact.works"),
    ("verify", "fact.pages", "-y", "-m", "right"),
    ("events", "add", "--kind", "note", "--body", "Why not?", "--about", "fact.pages"),
    ("events", "add"),
    ("garden", "--apply"),
    ("garden", "--propose"),
    ("review", "reject", "--all", "-y", "-m", "no"),
    ("edit", "fact.pages", "--tag", "rows", "-m", "tagged"),
    ("undo",),
    ("recap", "-m", "said so"),
    ("events", "record"),
)


FACTS = ".thunderus/memory/semantic/FACTS"
FILES = {"src/pages.py": "PAGES = 100\n", "notes/a.md": "# A\n\nText.\n", "README.md": "It\n"}


class Store(NamedTuple):
    """A store in a folder, the events of its log, and the texts for the parameters of all commands."""

    root: Path
    events: list[dict[str, Any]]
    values: dict[str, tuple[str, ...]]


@pytest.fixture
def store(
    repo: Path, run: Callable[..., Done], once: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> Store:
    """A store with events of all kinds, which is the current folder."""

    def make() -> None:
        for name, text in FILES.items():
            (repo / name).parent.mkdir(exist_ok=True)
            (repo / name).write_text(text)
        for words in BEGIN:
            if words[0] == "garden":  # so that there is something to do
                copy = (
                    (repo / FACTS / "pages.md").read_text().replace(": fact.pages", f": fact.{words[1][2:]}")
                )
                (repo / FACTS / f"{words[1][2:]}.md").write_text(copy)
            done = run(*words, stdin=AGENT if words == ("events", "add") else b"")
            assert done.code in (0, 1), (words, done)

    once(make)
    shards = sorted(repo.glob(".thunderus/**/events.jsonl"))
    events = [json.loads(line) for path in shards for line in path.read_text().splitlines()]
    monkeypatch.chdir(repo)
    monkeypatch.setenv("THUNDERUS_MEM_NOW", "2026-01-21T10:00:00Z")
    return Store(repo, events, _values(events))


def _values(events: list[dict[str, Any]]) -> dict[str, tuple[str, ...]]:
    named = {key: event["refs"][key] for event in events for key in event["refs"]}
    texts = {
        "kind": "fact", "title": "New", "tag": "net", "document": "fact.pages", "documents": "fact.pages",
        "places": "src/pages.py", "source": "fact.pages", "rel": "refers_to", "target": "fact.works",
        "text": "Words.", "new_id": "fact.new", "names": "fact.pages", "old": "fact.pages",
        "new": "fact.works", "event": events[-1]["id"], "proposal": named["patch_id"],
        "proposals": named["patch_id"], "change": named["snapshot_id"], "value": "10",
        "query": "page rows", "place": "src/pages.py", "path": "src", "filters": "kind:fact",
        "period": "2026-01-21", "form": "markdown",
        "paths": ".thunderus", "code": "TM201", "name": "memory_store", "key": "search.limit",
        "shell": "bash", "directory": "notes", "hook": "pre-commit", "base": "README.md", "ours": "README.md",
        "theirs": "README.md", "why": "said so", "task": "page rows",
    }  # fmt: skip
    return {name: (text,) for name, text in texts.items()}


MORE = (
    ("undo", "--dry-run"),
    ("undo", "--dry-run", "-n", "400"),
    ("undo", "--dry-run", "--redo"),
    ("undo", "--list"),
    ("why", "fact.pages", "-v"),
    ("events", "export", "--format", "prov-json"),
    ("recap", "2026-01-21", "--dry-run"),
    ("recap", "--episode", "ep", "--dry-run"),
)


def failing(store: Store, events: Iterable[dict[str, Any]]) -> list[str]:
    """The commands that fail in an undocumented way when the log ends with these events."""
    shard = write_shard(store.root, "sess_bad", events).parent
    documents = {path: path.read_bytes() for path in store.root.glob(".thunderus/memory/*/*/*.md")}
    wrong = []
    for words in sorted([*MORE, *calls(store.values)], key=lambda words: BY_NAME[words[0]].acts):
        done = run_here(*words)
        if done.code not in CODES or "Traceback" in done.err:
            wrong.append(f"{words}: {done.code} {done.err[-300:]}")
        for path, data in documents.items():
            path.write_bytes(data)
    shutil.rmtree(shard)
    return wrong


def test_malformed_events_fail_no_command(store: Store) -> None:
    kinds = {(event["kind"], event["body"].get("op", "")) for event in store.events}
    assert {kind for kind, _ in kinds} == set(KINDS)
    assert {op for _, op in kinds} >= {"add", "edit", "hand-edit", "rename", "supersede", "undo", "garden"}
    # A sample: of each key another value. All of them are in the fault tier.
    assert failing(store, malformed(store.events)[::19]) == []


@pytest.mark.parametrize(
    ("kind", "place", "wrong", "words"),
    [
        ("patch", ("body", "op"), ["x"], ("undo", "--dry-run")),
        ("patch", ("body", "op"), {"x": 1}, ("undo", "--dry-run", "--redo")),
        ("patch", ("refs", "paths"), None, ("undo", "--list")),
        ("patch", ("refs", "memory_doc_ids"), 7, ("undo", "--list")),
        ("approval", ("refs", "memory_doc_ids"), 7, ("recap", "2026-01-21", "--dry-run")),
        ("tool_call", ("body", "arguments", "command"), ["x"], ("recap", "2026-01-21", "--dry-run")),
    ],
)
def test_values_that_are_not_text_are_skipped(
    store: Store, kind: str, place: tuple[str, ...], wrong: Any, words: tuple[str, ...]
) -> None:
    events = [event for event in store.events if event["kind"] == kind]
    write_shard(store.root, "sess_bad", [changed(event, place, wrong) for event in events])
    done = run_here(*words)
    assert done.code in (0, 1, 3, 6), done
