"""Export: every event once, in order, unchanged, with its location; the file is complete or unchanged."""

from __future__ import annotations

import errno
import json
import os
import re
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.events import make_event, patch_event
from tests.support.git_repository import Repository
from tests.support.tree_writer import Clock
from tests.support.verb_tree import VerbTree
from thunderus_mem.authoring import edit
from thunderus_mem.errors import InvalidQuery, NotFound, NotWritable, Refused
from thunderus_mem.interop.events import Export
from thunderus_mem.interop.prov import prov_document
from thunderus_mem.log.event import Change
from thunderus_mem.safety.secrets import find_secrets
from thunderus_mem.store import disk

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.support.command_server import Server

TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
NAME = re.compile(r"mem:[A-Za-z0-9._%-]+", re.ASCII)


@pytest.fixture
def tree(tmp_path: Path) -> VerbTree:
    """Two branches merged, a document removed, a note, and an event that stays private."""
    made = VerbTree(Repository(tmp_path / "tree", tmp_path / "home").init(), Clock())
    made.begin()
    made.add("base", "One.\n")
    made.save("Begin")
    made.git("switch", "-q", "-c", "topic")
    made.add("theirs")
    made.save("Theirs")
    made.git("switch", "-q", "main")
    made.edit("base", "One.", "Two ü.")
    made.note("a remark")
    made.save("Ours")
    made.git("merge", "-q", "--no-edit", "topic")
    edit.remove(made.memory(), "fact.theirs", why="wrong")
    folder = made.root / ".thunderus" / "local" / "sessions" / "sess_private"
    folder.mkdir(parents=True)
    (folder / "events.jsonl").write_bytes(line("message", {"text": "between us"}, number=9))
    return made


def line(kind: str, body: dict[str, Any], *, number: int, **more: Any) -> bytes:
    event = {
        "v": 1, "id": f"evt_{number:026d}", "ts": f"2026-01-22T09:00:{number:02d}.000Z",
        "session_id": "sess_private", "actor": "user", "kind": kind, "refs": {}, "body": body, **more,
    }  # fmt: skip
    return json.dumps(event).encode() + b"\n"


def exported(tree: VerbTree, **options: Any) -> list[dict[str, Any]]:
    export = Export(tree.memory(), **options)
    lines = "".join(export.pieces()).split("\n")[:-1]
    assert export.count == len(lines)
    return [json.loads(one) for one in lines]


def test_export_contains_every_event_once_in_order(tree: VerbTree) -> None:
    written = exported(tree, private=True)
    logged = tree.reader.read_all().events
    assert [one["event"]["id"] for one in written] == [entry.event.id for entry in logged]
    for one, text in zip(
        written, "".join(Export(tree.memory(), private=True).pieces()).splitlines(), strict=True
    ):
        raw = (tree.root / one["shard"]).read_bytes().split(b"\n")[one["line"] - 1].decode()
        assert text.endswith(f', "event": {raw}}}')


def test_private_events_are_exported_only_on_request(tree: VerbTree) -> None:
    export = Export(tree.memory())
    assert "between us" not in "".join(export.pieces())
    assert export.done().private == 1
    assert "between us" in "".join(Export(tree.memory(), private=True).pieces())


def test_filters_select_events(tree: VerbTree) -> None:
    about = exported(tree, document="fact.theirs")
    assert [one["event"]["body"]["op"] for one in about] == ["add", "remove"]
    assert {one["event"]["kind"] for one in exported(tree, kinds=("note",))} == {"note"}
    assert [one["event"]["kind"] for one in exported(tree, since="2026-01-22", private=True)] == ["message"]
    with pytest.raises(NotFound):
        exported(tree, document="fact.never")
    for wrong in ({"since": "soon"}, {"form": "xml"}):
        with pytest.raises(InvalidQuery):
            exported(tree, **wrong)


@pytest.mark.damaged
def test_long_log_is_exported_completely(tree: VerbTree) -> None:
    folder = tree.root / ".thunderus" / "sessions" / "sess_long"
    folder.mkdir()
    lines = [
        line("note", {"text": str(n)}, number=0, id=f"evt_{n:026d}", session_id="sess_long")
        for n in range(100, 1_400)
    ]
    (folder / "events.jsonl").write_bytes(b"".join(lines))
    texts = [one["event"]["body"].get("text") for one in exported(tree, kinds=("note",))]
    assert texts[-1_300:] == [str(number) for number in range(100, 1_400)]


def test_secret_in_a_shard_is_not_exported(tree: VerbTree) -> None:
    folder = tree.root / ".thunderus" / "sessions" / "sess_private"
    folder.mkdir()
    # With an escape before it, as in JSON.
    data = line("note", {"text": f"first\n{TOKEN}", TOKEN: "key"}, number=8)
    (folder / "events.jsonl").write_bytes(data)
    for form in ("jsonl", "prov-json"):
        assert not find_secrets("".join(Export(tree.memory(), form=form).pieces()))
    (record,) = exported(tree, since="2026-01-22")
    assert record["redacted"] is True
    assert record["event"]["body"]["text"].startswith("first\n<github-token")


def test_output_file_is_written_completely_or_unchanged(
    tree: VerbTree, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tree.root.parent / "out"
    folder.mkdir()
    target = folder / "log.jsonl"
    target.write_text("as it was")
    calls = iter(range(100))
    whole = disk.write_all

    def full(descriptor: int, path: str, data: bytes, **more: Any) -> None:
        whole(descriptor, path, data[:99], **more)
        if next(calls) == 1:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(disk, "write_all", full)
    with pytest.raises(NotWritable):
        Export(tree.memory()).write(tree.memory(), str(target))
    assert (target.read_text(), os.listdir(folder)) == ("as it was", ["log.jsonl"])
    monkeypatch.undo()
    done = Export(tree.memory()).write(tree.memory(), str(target))
    assert target.read_text().count("\n") == done.events == len(exported(tree))


def test_protected_files_are_not_overwritten(tree: VerbTree) -> None:
    shard = tree.root / tree.shards().pop()
    before = shard.read_bytes()
    (tree.root.parent / "link").symlink_to(shard)
    (tree.root.parent / "folder").symlink_to(shard.parent)
    for target in (shard, tree.root.parent / "link", tree.root.parent / "folder" / "events.jsonl"):
        with pytest.raises(Refused):
            Export(tree.memory()).write(tree.memory(), str(target))
    with pytest.raises(NotFound):
        Export(tree.memory()).write(tree.memory(), str(tree.root / "no" / "folder"))
    assert shard.read_bytes() == before


def ends(document: dict[str, Any]) -> Iterator[tuple[str, str]]:
    for section, relations in document.items():
        if section not in ("prefix", "entity", "activity", "agent"):
            for relation in relations.values():
                yield from ((end, name) for end, name in relation.items() if end != "prov:time")


def test_prov_defines_everything_it_relates(tree: VerbTree) -> None:
    document = json.loads("".join(Export(tree.memory(), form="prov-json").pieces()))
    named = {name for part in ("entity", "activity", "agent") for name in document[part]}
    assert {name for _, name in ends(document)} <= named
    assert all(NAME.fullmatch(name) for name in named)
    assert len(document["activity"]) == len(exported(tree))
    texts = [one for one in document["entity"].values() if "mem:hash" in one]
    assert len(document["wasGeneratedBy"]) == len(texts) == len(document["specializationOf"])
    assert (len(document["wasDerivedFrom"]), len(document["wasInvalidatedBy"])) == (1, 1)


def test_prov_accepts_any_name_and_omits_aborted_changes() -> None:
    common = {"ts": "2026-01-21T09:00:00Z", "session_id": "sess_1", "actor": "agent"}
    events = [
        patch_event(
            id="evt_a/b",
            patch_id="patch_1",
            op="edit",
            changes=[
                Change("update", "fact.ü ~:x", "p.md", "sha256:1", "sha256:2"),
                Change("aborted", "fact.no", "n.md", "sha256:1", "sha256:2"),
            ],
            origin={"author": 'Ann "~" Ö'},
            **common,  # type: ignore[arg-type]
        ),
        make_event("note", {"text": "x"}, id="evt_2", **common),  # type: ignore[arg-type]
    ]
    document = prov_document(events)
    named = {name for part in ("entity", "activity", "agent") for name in document[part]}
    assert all(NAME.fullmatch(name) for name in named)
    assert {name for _, name in ends(document)} == named
    assert {one["prov:label"] for one in document["agent"].values()} == {'Ann "~" Ö', "agent"}
    assert not [name for name in named if "fact.no" in name]


def test_command_prints_writes_and_counts(tree: VerbTree, server: Server) -> None:
    def run(*words: str) -> Any:
        return server.run("events", "export", *words, cwd=str(tree.root))

    printed = run()
    assert [json.loads(one) for one in printed.out.splitlines()] == exported(tree)
    assert printed.err == f"{len(exported(tree))} events exported; 1 local omitted, use --private\n"
    assert run("-o", "../log.jsonl").out.strip().endswith("/log.jsonl")
    assert (tree.root.parent / "log.jsonl").read_text() == printed.out
    whole = server.run("--json", "events", "export", cwd=str(tree.root)).json
    assert (whole["schema"], whole["text"]) == ("thunderus-mem.events-export/2", printed.out)
    assert run("--format", "xml").code == 2
    assert run("-o", ".thunderus/sessions/x").code == 5
