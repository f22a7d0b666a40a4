"""The formats of the SHODH family: files of each kind that other programs write, and the files we write."""

from __future__ import annotations

import io
import json
import re
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from thunderus_mem.errors import InvalidDocument
from thunderus_mem.interop import export, formats
from thunderus_mem.interop.streams import Omitted
from thunderus_mem.interop.table import BODY, read_record, write_record
from thunderus_mem.interop.values import document_uuid, folded_hash, raw_hash

NOW = "2026-01-21T09:00:00Z"
CASES = Path(__file__).parent.parent / "cases" / "formats"
DOCUMENT: dict[str, Any] = {
    "id": "adr.use-jwt",
    "title": "Use JWT",
    "kind": "adr",
    "tags": ["auth", "mobile"],
    "created": "2024-12-30T10:00:00Z",
    "updated": "2024-12-30T14:30:00.25Z",
    "source_type": "user",
    "credibility": 0,
    "emotion": "relief",
    "emotional_valence": 0.5,
    "emotional_arousal": 0.25,
    "episode_id": "auth-2024",
    "sequence_number": 3,
    "author": "Ada",
    "metadata": {"reviewers": 2},
    "provenance": {"events": ["evt_1"], "patches": ["patch_1"]},
    "verification": {"last_verified_commit": None, "status": "unknown"},
    BODY: "Use JWT with 24 h expiry.\n\n---\n\nRefresh tokens for mobile.",
}


def read(name: str, data: bytes) -> list[Any]:
    return list(formats.load(name).file.read(io.BytesIO(data)))


def written(name: str, values: dict[str, Any]) -> str:
    form = formats.load(name)
    record = write_record(form.table, values).data
    return "".join(form.file.write([record], {"now": NOW, "version": "1.0"}))


@pytest.mark.parametrize("name", [entry.name for entry in formats.FORMATS if entry.module])
def test_an_export_has_exactly_the_form_of_the_other_program(name: str) -> None:
    text = written(name, DOCUMENT)
    suffix = name if name in ("jsonl", "csv") else "json"
    assert text.encode() == (CASES / f"{name}.{suffix}").read_bytes()
    form = formats.load(name)
    report = export.validate_file(form, io.BytesIO(text.encode()), "x")
    assert (report.records, report.problems) == (1, ())


def test_a_file_of_mif_v1_has_the_ids_that_its_draft_asks_for() -> None:
    file = json.loads(written("mif-v1", DOCUMENT))
    assert re.fullmatch(r"exp_[a-zA-Z0-9]+", file["export"]["id"])
    assert re.fullmatch(r"mem_[a-fA-F0-9-]+", file["memories"][0]["id"])


MEMORY = {"id": "mem_0a", "content": "Use JWT.", "type": "Decision", "created_at": "2024-12-30T10:00:00Z"}
YAML = """\
mif_version: "1.0"
export: {id: exp_1, created_at: 2024-12-30T10:00:00Z, user_id: me}
memories:
  - id: mem_0a
    content: Use JWT.
    type: Decision
    created_at: 2024-12-30T10:00:00Z
todos:
  - id: todo_1
"""


def test_mif_v1_is_read_from_json_yaml_and_json_lines() -> None:
    whole = {"mif_version": "1.0", "memories": [MEMORY], "todos": [{"id": "todo_1"}]}
    lines = [
        {"type": "header", "mif_version": "1.0"},
        {"type": "memory", "data": MEMORY},
        {"type": "todo", "data": {}},
        {"type": "footer"},
    ]
    wanted = [MEMORY, Omitted("todos", 1)]
    assert read("mif-v1", json.dumps(whole, indent=1).encode()) == wanted
    assert read("mif-v1", YAML.encode()) == wanted
    assert read("mif-v1", "\n".join(map(json.dumps, lines)).encode()) == [MEMORY, Omitted("todo", 1)]


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        ("mif", b'{"mif_version": "1.0", "memories": []}', "not MIF 2"),
        ("mif-v1", b'{"mif_version": "2.0", "memories": []}', 'not MIF 1: its `mif_version` is "2.0"'),
        ("mif-v1", b'{"mif_version": false, "memories": []}', "`mif_version` is false"),
        ("mif-v1", b'a: &x 1\nb: *x\nmif_version: "1.0"\n', "aliases"),
        ("mif", b"[]", "not MIF 2: its `mif_version` is missing"),
        ("mif-v1", b"a: [", "not valid YAML"),
        ("mif-v1", b"a: " + b"[" * 99_999, "nested more than 100 levels deep"),
        ("mif-v1", b"a: " + b"[" * 99_999 + b"]" * 99_999, "nested more than 100 levels deep"),
        ("mif-v1", b"a: " + b"{a: " * 99_999, "nested more than 100 levels deep"),
        ("mif-v1", b"- " * 99_999, "nested more than 100 levels deep"),
        ("mif-v1", b"[" * 99_999, "is cut off"),
        ("shodh-cloudflare", b"{}", "no list `memories`"),
        ("mcp-memory-service", b"[]", "is a list"),
        ("mcp-memory-service", b"SQLite format 3\0", "stdin"),
    ],
)
def test_a_file_of_another_format_is_refused(name: str, data: bytes, message: str) -> None:
    with pytest.raises(InvalidDocument, match=message):
        read(name, data)


def test_pages_of_the_worker_may_follow_each_other() -> None:
    pages = [{"memories": [{"id": "a"}], "count": 1}, {"memories": [{"id": "b"}, 5], "count": 2}]
    found = read("shodh-cloudflare", b"\n".join(json.dumps(page).encode() for page in pages))
    assert found[:2] == [{"id": "a"}, {"id": "b"}]
    assert str(found[2]) == "is not an object"


def database(path: Path) -> Path:
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute(
        "CREATE TABLE memories (id INTEGER PRIMARY KEY, content_hash TEXT UNIQUE, content TEXT, tags TEXT, "
        "memory_type TEXT, metadata TEXT, created_at REAL, updated_at REAL, created_at_iso TEXT, "
        "updated_at_iso TEXT, deleted_at REAL)"
    )
    rows = [
        (folded_hash("Use JWT."), "Use JWT.", "auth, mobile", "decision", '{"credibility": 0}', None),
        (folded_hash("gone"), "gone", "", None, None, 1.0),
        (folded_hash("bad"), "bad", "", None, "{", None),
    ]
    connection.executemany(
        "INSERT INTO memories (content_hash, content, tags, memory_type, metadata, created_at, updated_at, "
        "deleted_at) VALUES (?, ?, ?, ?, ?, 1735552800.25, 1735552800.25, ?)",
        rows,
    )
    connection.commit()
    connection.close()
    return path


def test_a_database_of_the_service_is_read_and_stays_unchanged(tmp_path: Path) -> None:
    path = database(tmp_path / "sqlite_vec.db")
    before = path.read_bytes()
    with path.open("rb") as file:
        first, second = formats.load("mcp-memory-service").file.read(file)
    assert isinstance(first, dict)
    values = read_record(formats.load("mcp-memory-service").table, first).values
    assert values["tags"] == ["auth", "mobile"]
    assert (values["kind"], values["type"], values["credibility"]) == ("adr", "Decision", 0)
    assert values["created"] == "2024-12-30T10:00:00.25Z"
    assert isinstance(second, ValueError)
    assert (path.read_bytes(), [one.name for one in tmp_path.iterdir()]) == (before, ["sqlite_vec.db"])


def test_a_row_of_a_wrong_type_does_not_stop_the_others(tmp_path: Path) -> None:
    connection = sqlite3.connect(path := database(tmp_path / "x.db"))
    insert = "INSERT INTO memories (content, content_hash, metadata, created_at) VALUES (%s, %s, %s, 1)"
    odd = (
        ("'a'", "x'00'", "''"),
        ("cast(x'ff41' as text)", "'b'", "''"),
        ("'c'", "'c'", "'[[1'"),
        ("1", "2", "3"),
    )
    for values in odd:
        connection.execute(insert % values)
    connection.commit()
    connection.close()
    form = formats.load("mcp-memory-service")
    with path.open("rb") as file:
        found = [str(one) if isinstance(one, ValueError) else one for one in form.file.read(file)]
    assert found[2:4] == ["`content_hash` is not text in UTF-8", "`content` is not text in UTF-8"]
    assert found[4].startswith("`metadata` is not valid JSON")
    assert formats.record_problems(form.table, found[5])


def test_a_view_is_not_a_table_of_memories(tmp_path: Path) -> None:
    connection = sqlite3.connect(tmp_path / "view.db")
    connection.execute(
        "CREATE VIEW memories AS WITH RECURSIVE n(id) AS (SELECT 1 UNION ALL SELECT id FROM n) "
        "SELECT id FROM n"
    )
    connection.close()
    with (
        (tmp_path / "view.db").open("rb") as file,
        pytest.raises(InvalidDocument, match="no table `memories`"),
    ):
        list(formats.load("mcp-memory-service").file.read(file))


def test_texts_that_a_program_does_not_take_are_refused() -> None:
    table = formats.load("mif").table
    for text, reason in (("short", "5 bytes, and mif needs 10"), ("ü" * 25_001, "50,002 bytes")):
        with pytest.raises(ValueError, match=reason):
            write_record(table, {**DOCUMENT, BODY: text})
    assert write_record(table, {**DOCUMENT, BODY: "ü" * 25_000}).lost == ()


def test_the_worker_cannot_hold_what_has_no_column() -> None:
    lost = write_record(formats.load("shodh-cloudflare").table, DOCUMENT).lost
    assert lost == ("author", "id", "metadata", "provenance", "title", "type")


def test_ids_are_made_from_ids_and_hashes_from_texts() -> None:
    records = {name: write_record(formats.load(name).table, DOCUMENT).data for name in ("shodh", "mif-v1")}
    uuid = document_uuid("adr.use-jwt")
    assert (records["shodh"]["id"], records["mif-v1"]["id"]) == (uuid, f"mem_{uuid}")
    assert uuid == "503db936-d3cf-57c8-913f-bb62409a93b3"
    assert records["shodh"]["content_hash"] == raw_hash(DOCUMENT[BODY])
    service = write_record(formats.load("mcp-memory-service").table, DOCUMENT).data
    assert service["content_hash"] == folded_hash(DOCUMENT[BODY].upper() + " \n")
    assert (service["created_at"], service["updated_at"]) == (1735552800.0, 1735569000.25)


def test_a_text_edited_here_gets_its_new_hash() -> None:
    for name in ("shodh", "mcp-memory-service"):
        table = formats.load(name).table
        record = {"content": "Old", "content_hash": raw_hash("old"), "created_at": 1, "id": "x"}
        record |= {"created_at": NOW} if name == "shodh" else {}
        record["content_hash"] = folded_hash("Old")
        found = read_record(table, record)
        kept = {"imported_from": f"{name}:{found.key}", **({name: found.kept} if found.kept else {})}
        values = {**DOCUMENT, **found.values, "metadata": kept, BODY: "New"}
        assert write_record(table, values).data["content_hash"] == table.hash_of("New")
