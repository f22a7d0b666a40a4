"""The files of `nova`, `jsonl` and `csv`: what they look like, and what of other programs' files is read."""

from __future__ import annotations

import csv
import io
import json
import re
from typing import TYPE_CHECKING, Any

import pytest

from thunderus_mem.errors import InvalidDocument
from thunderus_mem.interop import formats
from thunderus_mem.interop.nova import new_id
from thunderus_mem.interop.table import read_record
from thunderus_mem.interop.values import raw_hash

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.support.command_server import Done

    Run = Callable[..., Done]

CONTEXT = {"now": "2026-01-21T09:00:00Z", "version": "1"}
FACT = ".thunderus/memory/semantic/FACTS"


def records(name: str, text: str) -> list[Any]:
    return list(formats.load(name).file.read(io.BytesIO(text.encode())))


def written(name: str, given: list[dict[str, Any]]) -> str:
    return "".join(formats.load(name).file.write(given, CONTEXT))


def test_nova_item_without_id_has_the_md5_of_its_text_and_is_written_without_again() -> None:
    given = {"content": "Stop at 1.8 ATR.", "metadata": {"category": "risk_rule"}}
    (found,) = records("nova", json.dumps({"items": [given]}))
    assert found["id"] == new_id("", given["content"])
    assert len(found["id"]) == 32
    assert json.loads(written("nova", [found])) == {"items": [given]}
    assert records("nova", json.dumps([given])) == records("nova", json.dumps(given)) == [found]
    assert json.loads(written("nova", [{**found, "id": "own"}]))["items"][0]["id"] == "own"


def test_nova_kinds_and_required_keys() -> None:
    table = formats.load("nova").table
    kinds = {
        kind: read_record(table, {"id": "1", "content": "x", "metadata": {"memory_type": kind}}).values[
            "kind"
        ]
        for kind in ("constraint", "finding", "decision", "artifact", "checkpoint", "scratch")
    }
    assert list(kinds.values()) == ["core", "fact", "adr", "playbook", "recap", "fact"]
    problems = formats.record_problems(table, {"id": "1", "content": "x", "metadata": {"source": "x.md"}})
    missing = {
        word for one in problems for word in ("category", "run_id", "agent", "timestamp") if word in one
    }
    assert len(missing) == 4
    assert any("x.md" in one for one in problems)


def test_nova_round_trip_by_the_command_line(run: Run, repo: Path) -> None:
    item = {
        "content": "Keep the cache key short.",
        "metadata": {
            "memory_type": "decision", "category": "research_note", "run_id": "run_7", "agent": "qa",
            "source": "agent", "timestamp": "2026-02-22T10:30:00Z", "symbol": "KEY", "tags": ["cache"],
            "event_seq": 12,
        },
    }  # fmt: skip
    (repo / "in.json").write_text(json.dumps({"items": [item]}))
    run("init")
    assert run("validate", "nova", "in.json").code == 0
    assert run("import", "nova", "in.json").code == 0
    assert run("list", "--kind", "adr", "--ids").out == "adr.keep-the-cache-key-short\n"
    assert run("export", "nova", "-o", "out.json").code == 0
    assert json.loads((repo / "out.json").read_text()) == {"items": [item]}


def test_csv_is_what_spreadsheets_write(run: Run, repo: Path) -> None:
    """A byte order mark, CRLF, commas and quotes in cells, tags with commas, empty cells, own columns."""
    text = (
        "\ufefftext,title,tags,quality_score,owner\r\n"
        '"Say ""no"", then\nstop.",Stop,"a, b",0.5,Ada\r\n'
        "Plain,,,,\r\n"
    )
    found = records("csv", text)
    assert found == [
        {
            "text": 'Say "no", then\nstop.',
            "title": "Stop",
            "tags": "a, b",
            "quality_score": 0.5,
            "owner": "Ada",
        },
        {"text": "Plain"},
    ]
    values = read_record(formats.load("csv").table, found[0]).values
    assert (values["tags"], values["kind"], values["title"]) == (["a", "b"], "fact", "Stop")
    assert read_record(formats.load("csv").table, found[1]).values["title"] == "Plain"
    run("init")
    (repo / "a.csv").write_bytes(text.encode())
    assert run("import", "csv", "a.csv").code == 0
    rows = list(csv.DictReader(io.StringIO(run("export", "csv").out, newline="")))
    assert {row["title"]: (row["tags"], row["owner"]) for row in rows if row["title"] != "Core"} == {
        "Stop": ("a, b", "Ada"),
        "Plain": ("", ""),
    }


def test_text_is_read_from_another_column_with_map(run: Run, repo: Path) -> None:
    run("init")
    (repo / "a.csv").write_text("name,body\nStop,Stop at noon.\n")
    missing = run("import", "csv", "a.csv")
    assert (missing.code, "`text` is missing or empty; --map KEY=text" in missing.out) == (1, True)
    command = ("import", "csv", "a.csv", "--map", "body=text", "--map", "name=title")
    assert run(*command).code == 0
    assert "Stop at noon." in run("show", "fact.stop").out
    assert run(*command).err == "0 records imported, 1 unchanged\n"
    rows = csv.DictReader(io.StringIO(run("export", "csv").out, newline=""))
    assert [(row["title"], row["text"]) for row in rows] == [("Stop", "Stop at noon.")]


@pytest.mark.parametrize("name", ["csv", "jsonl"])
def test_title_distinguishes_records_without_an_id(run: Run, repo: Path, name: str) -> None:
    run("init")
    file, command = repo / "a", ("import", name, "a")

    def put(*rows: tuple[str, str, str]) -> None:
        given = [{"title": title, "text": text, "tags": [tag]} for title, text, tag in rows]
        file.write_text(written(name, given), encoding="utf-8")

    put(("First", "See below.", "a"), ("Second", "See below.", "a"), ("See below", "See below.", "a"))
    assert run(*command).err.startswith("3 records imported\n")
    assert run(*command).err == "0 records imported, 3 unchanged\n"
    put(("First", "See below.", "b"), ("Second", "See below.", "b"))
    assert run(*command, "--on-conflict", "update").err.startswith("0 records imported, 2 updated\n")
    # A document imported when the text alone was the identity keeps its own.
    path = repo / FACT / "first.md"
    text = path.read_text(encoding="utf-8")
    former = re.sub(
        rf"imported_from: {name}:\w+", f"imported_from: {name}:{raw_hash('See below.')[:16]}", text
    )
    (repo / FACT / "see-below.md").unlink()
    path.write_text(former, encoding="utf-8")
    assert former != text
    assert run(*command).err.endswith("0 records imported, 2 unchanged\n")
    put(("First", "See below.", "c"))
    assert "1 updated" in run(*command, "--on-conflict", "update").err
    assert "  - c\n" in path.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"text,,\na,b,c\n", "a column has no name"),
        (b"text,tags,text\na,b,c\n", "two columns are named `text`"),
        (b"text\n\xff\n", "not valid UTF-8"),
        (b'text\na\n"b\nc\nd "e" f\n', "the record that begins in line 3 is not valid CSV"),
        (b'text\na\n\n"b\nc\n', "the record that begins in line 4 is not valid CSV: unexpected end"),
    ],
)
def test_file_that_is_no_csv_is_refused(data: bytes, reason: str) -> None:
    with pytest.raises(InvalidDocument, match=reason):
        list(formats.load("csv").file.read(io.BytesIO(data)))


def test_line_with_a_broken_quote_is_refused_alone_and_named(run: Run, repo: Path) -> None:
    run("init")
    text = 'title,text\nOne,"First, of\nthree."\nTwo,"Second "one" is broken."\n\nThree,Third.\nFour\n'
    (repo / "a.csv").write_text(text)
    checked = run("validate", "csv", "a.csv")
    assert "\nline 4: is not valid CSV: " in checked.out
    done = run("import", "csv", "a.csv")
    assert done.code == 1
    assert "2 records imported, 2 refused" in done.err
    refused = [line for line in done.out.splitlines() if line.startswith("refuse")]
    assert [line.partition(": ")[0] for line in refused] == ["refuse line 4", "refuse line 7"]
    assert "First, of\nthree.\n" in run("show", "fact.one").out
    (repo / "a.jsonl").write_text('{"id": "a", "text": "One."}\n\n{"id": "b"\n{"id": "c"}\n')
    done = run("import", "jsonl", "a.jsonl", "--json").json
    assert [(one["number"], one["line"]) for one in done["refused"]] == [(1, 3), (2, 4)]


def test_csv_row_that_cannot_be_read_does_not_stop_the_others() -> None:
    found = records("csv", "text,tags,quality_score\na,[1,2]\nb,,x,more\nc,,\n")
    assert [isinstance(one, ValueError) for one in found] == [False, True, False]
    with pytest.raises(ValueError, match="`quality_score` is not a number"):
        read_record(formats.load("csv").table, records("csv", "text,quality_score\na,high\n")[0])


def test_jsonl_has_the_names_of_the_frontmatter(run: Run, repo: Path) -> None:
    run("init")
    run("add", "fact", "Port", "--body", "It is 80.", "--tag", "net", "--set", "author=Ada")
    (line,) = [json.loads(one) for one in run("export", "jsonl", "--kind", "fact").out.splitlines()]
    expected = {"id": "fact.port", "title": "Port", "kind": "fact", "tags": ["net"], "author": "Ada"}
    assert line.items() >= expected.items()
    assert line["text"] == "It is 80."
