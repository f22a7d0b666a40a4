"""Laws of all formats with a table: nothing is lost on the way in and out, except what the format says."""

from __future__ import annotations

import io
import json
import math
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from thunderus_mem.document.frontmatter.write import KEY_ORDER
from thunderus_mem.document.templates import SOURCE_TYPES, TYPES
from thunderus_mem.interop import formats, transfer
from thunderus_mem.interop.export import export_document
from thunderus_mem.interop.table import BODY, EXTENSION, ForeignRecord, put, read_record, same, write_record
from thunderus_mem.interop.values import folded_hash, raw_hash, title_of
from thunderus_mem.log.new_event import Ids

if TYPE_CHECKING:
    from thunderus_mem.document.document import Document

WITH_TABLE = tuple(entry.name for entry in formats.FORMATS if entry.module)
NOW = "2026-01-21T09:00:00Z"
THEIR_FILES = Path(__file__).parent.parent / "cases" / "formats" / "theirs"
"""Exports of other programs, with the fields that those write."""
IDS = Ids("evt_1", "patch_1")
LOST: dict[str, set[str]] = {
    "shodh-cloudflare": {
        *("id", "title", "kind", "type", "provenance", "verification", "author", "category", "run_id"),
        *("aliases", "links", "anchors", "metadata", "own_key"),
    }
}
"""Keys of a document that a format cannot hold; none for a format that is not here."""

TEXT = st.text(st.characters(codec="utf-8", exclude_characters="\0\r"), min_size=1, max_size=60)
WORDS = st.text("abc xyz-äß", min_size=1, max_size=12).filter(str.strip)
CONTENT = st.one_of(
    TEXT.filter(str.strip),
    st.sampled_from(["a\n---\nb", "---\n---", "# Title\n\ntext", "\n\nx\n\n", "Ünï ☃", "x " * 300, "a\r\nb"]),
).map(lambda text: f"A memory: {text}")
TIMES = st.sampled_from(
    ["2024-12-30T10:00:00Z", "2024-12-30T10:00:00.123456+02:00", "2024-06-01T00:00:00.5Z"]
)
UNIT = st.one_of(st.sampled_from([0, 1, 0.0, 1.0]), st.floats(0, 1))
JSON = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-5, 5), st.floats(-9, 9), TEXT),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(WORDS, inner, max_size=3)),
    max_leaves=6,
)


def optional(**fields: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    """Some of the fields, each possibly null."""
    return st.fixed_dictionaries({}, optional={name: st.none() | value for name, value in fields.items()})


RECORDS = ("provenance", "verification", "id", "kind", "created", "title", "claimed")
"""Names that mean something else here."""
OURS = st.fixed_dictionaries(
    {
        "id": st.sampled_from(["fact.ci.cache", "ADR.7", "playbook.x"]),
        "title": TEXT.filter(lambda text: text.strip() and text.isprintable()),
        "kind": st.sampled_from(["core", "fact", "adr", "playbook", "recap"]),
        "tags": st.lists(st.sampled_from(["ci", "Build", "a,b", "x y"]), min_size=1, unique=True),
        "created": st.just("2024-01-30T10:00:00Z"),
        "updated": TIMES,
        "provenance": st.just({"events": ["evt_9"], "patches": [], "commits": ["abcd1234"]}),
        "verification": st.sampled_from(
            [
                {"last_verified_commit": None, "status": "unknown"},
                {"last_verified_commit": "abcd1234", "status": "verified", "by": "user"},
            ]
        ),
    },
    optional={
        "type": st.sampled_from([*TYPES, "note"]),
        "source_type": st.sampled_from(SOURCE_TYPES),
        "credibility": UNIT,
        "quality_score": UNIT,
        "emotion": WORDS,
        "emotional_valence": st.sampled_from([0, -1.0, 0.25]),
        "emotional_arousal": UNIT,
        "episode_id": WORDS,
        "sequence_number": st.integers(0, 9),
        "author": WORDS,
        "category": WORDS,
        "run_id": WORDS,
        "aliases": st.just(["old name"]),
        "links": st.just({"refers_to": ["fact.b"]}),
        "anchors": st.just([{"path": "a.py", "symbol": "f"}]),
        "metadata": st.dictionaries(st.sampled_from(["a", "b"]), st.sampled_from([1, 1.5, True, None, "x"])),
        "own_key": st.sampled_from([1, "x", [1, "a"]]),
    },
)
UNIFIED = st.builds(
    lambda required, more: {**required, **more},
    st.fixed_dictionaries(
        {"id": st.uuids().map(str), "content": CONTENT, "content_hash": st.none(), "created_at": TIMES}
    ),
    optional(
        type=st.sampled_from([*TYPES, "decision", "Other"]),
        tags=st.lists(WORDS, max_size=3),
        source_type=st.sampled_from([*SOURCE_TYPES, "robot"]),
        credibility=UNIT,
        emotion=WORDS,
        emotional_valence=st.floats(-1, 1),
        emotional_arousal=UNIT,
        episode_id=WORDS,
        sequence_number=st.integers(0, 9),
        updated_at=st.just("2025-01-01T00:00:00Z"),
        last_accessed_at=TIMES,
        quality_score=UNIT,
        access_count=st.integers(0, 9),
        metadata=st.dictionaries(
            st.sampled_from(["project", "imported_from", "shodh", "a b", *RECORDS]), JSON, max_size=3
        ),
        unknown=JSON,
        provenance=JSON,
        verification=JSON,
        kind=JSON,
        created=JSON,
    ),
).map(lambda record: {**record, "content_hash": raw_hash(record["content"])})
NOVA = st.builds(
    lambda key, content, metadata, own: {"id": key, "content": content, "metadata": {**own, **metadata}},
    st.one_of(st.uuids().map(str), st.just("run 1")),
    CONTENT,
    optional(
        category=st.sampled_from(["risk_rule", "Other", ""]),
        run_id=WORDS,
        agent=WORDS,
        source=st.sampled_from(["agent", "https://a.example"]),
        symbol=WORDS,
        timeframe=WORDS,
        market=WORDS,
        tags=st.lists(WORDS, max_size=3),
        memory_type=st.sampled_from(["decision", "scratch", "checkpoint"]),
    ),
    st.builds(
        lambda time, more: {"timestamp": time, **more},
        TIMES,
        st.dictionaries(
            st.sampled_from(["event_seq", "project", "nova", "merged", *RECORDS]), JSON, max_size=3
        ),
    ),
)
FLAT = st.builds(
    lambda key, text, more: {"id": key, "text": text, **more},
    WORDS,
    CONTENT,
    st.fixed_dictionaries(
        {"title": WORDS, "created": TIMES},
        optional={
            "kind": st.sampled_from(["adr", "recap", "page"]),
            "tags": st.lists(WORDS, min_size=1, max_size=3),
            "author": WORDS,
            "quality_score": UNIT,
            "sequence_number": st.integers(0, 9),
            "metadata": st.dictionaries(WORDS | st.sampled_from(RECORDS), JSON, min_size=1, max_size=2),
            "owner": WORDS,
            "provenance": WORDS,
            "verification": WORDS,
        },
    ),
)
MIF = st.builds(
    lambda key, content, more: {"id": key, "content": f"{content} .........", **more},
    st.uuids().map(str),
    CONTENT,
    st.fixed_dictionaries(
        {"memory_type": st.sampled_from(["decision", "code_edit", "intention"]), "created_at": TIMES},
        optional={
            "tags": st.lists(WORDS, max_size=3),
            "metadata": st.dictionaries(WORDS | st.sampled_from(RECORDS), TEXT, max_size=3),
            "entities": st.just([{"name": "JWT", "entity_type": "technology", "confidence": 0.5}]),
            "source": optional(source_type=st.sampled_from(["user", "hook"]), session_id=WORDS, agent=WORDS),
            "version": st.just(1),
            "external_id": WORDS,
            "vendor_metadata": st.just({"importance": 0.5, "access_count": 3}),
        },
    ),
)
MIF_V1 = st.builds(
    lambda key, content, more: {"id": f"mem_{key}", "content": content, **more},
    st.uuids().map(str),
    CONTENT,
    st.fixed_dictionaries(
        {"type": st.sampled_from(TYPES), "created_at": TIMES},
        optional={
            "importance": UNIT,
            "updated_at": st.just("2025-01-01T00:00:00Z"),
            "access_count": st.integers(0, 9),
            "tags": st.lists(WORDS, max_size=3),
            "source": optional(type=st.sampled_from(["user", "hook", "conversation"]), agent=WORDS),
            "relations": st.just({"related_memories": ["mem_1"], "related_todos": []}),
        },
    ),
)
PAGE = st.builds(
    lambda key, content, more: {"id": key, "content": content, "content_hash": raw_hash(content), **more},
    st.uuids().map(str),
    CONTENT,
    st.fixed_dictionaries(
        {
            "memory_type": st.sampled_from(TYPES),
            "tags": st.one_of(st.lists(WORDS, max_size=3), st.just('["as text"]')),
            "source_type": st.sampled_from(SOURCE_TYPES),
            "emotion": st.none() | WORDS,
            "emotional_valence": st.none() | st.floats(-1, 1),
            "credibility": UNIT,
            "quality_score": st.none() | UNIT,
            "access_count": st.integers(0, 9),
            "last_accessed_at": st.none(),
            "episode_id": st.none() | WORDS,
            "sequence_number": st.none() | st.integers(0, 9),
            "preceding_memory_id": st.none(),
            "created_at": st.sampled_from(["2024-12-30 10:00:00", "2024-12-30T10:00:00.000Z"]),
            "updated_at": st.sampled_from(["2024-12-30 10:00:01", "2025-12-30T10:00:00.000Z"]),
        }
    ),
)
SERVICE = st.builds(
    lambda content, more: {"content": content, "content_hash": folded_hash(content), **more},
    CONTENT,
    st.fixed_dictionaries(
        {
            "tags": st.lists(WORDS.map(lambda word: word.replace(",", "")), max_size=3, unique=True),
            "created_at": st.floats(1e9, 2e9) | st.integers(10**9, 2 * 10**9),
            "metadata": optional(
                quality_score=UNIT,
                credibility=UNIT,
                source_type=st.sampled_from(SOURCE_TYPES),
                emotion=WORDS,
                episode_id=WORDS,
                sequence_number=st.integers(0, 9),
                access_count=st.integers(0, 9),
                project=JSON,
                **dict.fromkeys(RECORDS, JSON),
            ),
            "export_source": st.just("host"),
        },
        optional={
            "updated_at": st.just(2000000000.25),
            "memory_type": st.sampled_from(["decision", "architecture", "note", "finding", "Decision"]),
        },
    ),
)
THEIRS = {
    "shodh": UNIFIED,
    "mif": MIF,
    "mif-v1": MIF_V1,
    "shodh-cloudflare": PAGE,
    "mcp-memory-service": SERVICE,
    "nova": NOVA,
    "jsonl": FLAT,
    "csv": FLAT,
}


_TEXT = {"content": "Ten bytes or more.", "created_at": "2024-12-30T10:00:00Z"}
MINIMAL = {
    "shodh": {**_TEXT, "type": "Learning"},
    "mif": {**_TEXT, "memory_type": "learning"},
    "mif-v1": {**_TEXT, "type": "Learning"},
    "shodh-cloudflare": {**_TEXT, "memory_type": "learning"},
    "nova": {"content": _TEXT["content"], "metadata": {"timestamp": _TEXT["created_at"]}},
    "jsonl": {"text": "It is 80.", "title": "Port"},
    "csv": {"text": "It is 80.", "title": "Port"},
}


def stored(form: formats.Format, found: ForeignRecord) -> Document:
    """The document that an import writes."""
    values = found.values
    id = found.own_id or transfer.derived_ids(values["kind"], values["title"], found.key)[0]
    origin = "" if found.own_id else f"{form.name}:{found.key}"
    placed = transfer.Placed(id, values["kind"], origin, "0" * 64, IDS)
    header = transfer.header_of(form.table, found, placed, NOW)
    return transfer.checked("a.md", transfer.document_text(header, values), header)


def through_file(form: formats.Format, record: dict[str, Any]) -> dict[str, Any]:
    """A record written to a file and read again."""
    text = "".join(form.file.write([record], {"now": NOW, "version": "1"}))
    (back,) = form.file.read(io.BytesIO(text.encode()))
    assert isinstance(back, dict)
    return back


@pytest.mark.parametrize("name", WITH_TABLE)
def test_foreign_record_round_trips(name: str) -> None:
    form = formats.load(name)

    @settings(max_examples=60, deadline=None, database=None)
    @given(THEIRS[name])
    def law(record: dict[str, Any]) -> None:
        document = stored(form, read_record(form.table, record))
        back = through_file(form, export_document(form.table, document).data)
        assert same(back, record), (back, record)

    law()


@pytest.mark.parametrize("path", sorted(THEIR_FILES.iterdir()), ids=lambda path: path.stem)
def test_a_file_as_the_other_program_writes_it_comes_back(path: Path) -> None:
    form = formats.load(path.stem)
    records = [one for one in form.file.read(io.BytesIO(path.read_bytes())) if isinstance(one, dict)]
    assert records
    dropped = {row.theirs for row in form.table.fields if not row.ours}
    documents = [stored(form, read_record(form.table, record)) for record in records]
    backs = [export_document(form.table, document).data for document in documents]
    text = "".join(form.file.write(backs, {"now": NOW, "version": "1"}))
    wanted = [{key: value for key, value in one.items() if key not in dropped} for one in records]
    assert [one for one in form.file.read(io.BytesIO(text.encode())) if isinstance(one, dict)] == wanted


@pytest.mark.parametrize("name", WITH_TABLE)
def test_document_round_trips(name: str) -> None:
    form = formats.load(name)

    @settings(max_examples=60, deadline=None, database=None)
    @given(OURS, CONTENT)
    def law(data: dict[str, Any], text: str) -> None:
        values = {**data, BODY: text}
        written = write_record(form.table, values)
        assert set(written.lost) <= LOST.get(name, set())
        if written.lost:
            return
        found = read_record(form.table, through_file(form, written.data))
        back = transfer.values_of(stored(form, found))
        for key, added in (("events", "evt_1"), ("patches", "patch_1")):
            assert back["provenance"][key].pop() == added
        assert same(back, values), (back, values)
        assert not found.kept

    law()


ODD = JSON | st.sampled_from([2**70, -1, [[]], {"a": []}, "\0", "?", "x" * 2_000])


def odd_places(record: dict[str, Any]) -> st.SearchStrategy[dict[str, Any]]:
    """The record with another value in one place, also in our extension."""
    outer = [key for key, value in record.items() if isinstance(value, dict)]
    places = [(key,) for key in record]
    places += [(key, inner) for key in outer for inner in (*record[key], "thunderus_mem")]
    places += [("metadata", "thunderus_mem", key) for key in (*KEY_ORDER, "(edges)", "absent", "new")]

    def changed(place: tuple[str, ...], value: Any) -> dict[str, Any]:
        made = json.loads(json.dumps(record))
        put(made, ".".join(place), value)
        return dict(made)

    return st.builds(changed, st.sampled_from(places), ODD)


@pytest.mark.parametrize("name", WITH_TABLE)
def test_a_value_of_any_type_in_any_place_is_taken_or_refused(name: str) -> None:
    form = formats.load(name)

    @settings(max_examples=25, deadline=None, database=None)
    @given(THEIRS[name].flatmap(odd_places))
    def law(record: dict[str, Any]) -> None:
        assert all(len(problem) < 400 for problem in formats.record_problems(form.table, record))
        with suppress(ValueError):
            document = stored(form, read_record(form.table, record))
            written = export_document(form.table, document)
            assert written.data[form.table.identity] not in ("", None)
            through_file(form, written.data)

    law()


@pytest.mark.parametrize("name", WITH_TABLE)
def test_every_row_names_a_key_of_ours_and_has_a_reason_if_it_is_not_stored(name: str) -> None:
    from thunderus_mem.document.schema import DOCUMENT, load_schema

    keys = {*load_schema(DOCUMENT)["properties"], BODY}
    for row in formats.load(name).table.fields:
        assert row.ours.partition(".")[0] in keys if row.ours else row.note


def test_a_hash_of_other_text_is_refused_by_each_rule() -> None:
    table = formats.load("shodh").table
    base = {"id": "x", "content": " A Text ", "created_at": "2024-12-30T10:00:00Z"}
    for right in (raw_hash(" A Text "), folded_hash(" A Text ")):
        assert read_record(table, {**base, "content_hash": right}).values["title"] == "A Text"
    with pytest.raises(ValueError, match="`content_hash` does not match the text"):
        read_record(table, {**base, "content_hash": raw_hash("cut")})


def test_problems_name_a_missing_key_once_and_say_what_is_expected() -> None:
    table = formats.load("mcp-memory-service").table
    problems = formats.record_problems(table, {"content": "x", "created_at": "now"})
    assert problems == [
        "the key `content_hash` is missing",
        "`created_at` is a string; expected a number or null",
    ]


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("# A heading #\n\ntext", "A heading"),
        ("One sentence. Two.", "One sentence"),
        ("word " * 40, ("word " * 16).strip()),
        ("\n\n  x\ty  \nz", "x y"),
    ],
)
def test_a_record_without_title_is_called_by_its_beginning(text: str, title: str) -> None:
    assert title_of(text) == title


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ({"content": "a", "credibility": 1.5}, "`credibility` is not between 0 and 1"),
        ({"content": "a", "created_at": "yesterday"}, "`created_at` is not a time in RFC 3339 format"),
        ({"content": "a", "tags": "x"}, "`tags` is not a list"),
        ({"content": " "}, "`content` is empty"),
        ({"content": "a", "emotional_valence": math.nan}, "`emotional_valence` is not between -1 and 1"),
        ({"id": "1"}, "`content` is missing or empty"),
        ({"content": "\ud800"}, "`content` is not valid Unicode"),
    ],
)
def test_a_record_that_cannot_be_read_has_a_reason(given: dict[str, Any], reason: str) -> None:
    with pytest.raises(ValueError, match=reason.replace("`", "[`]")):
        read_record(formats.load("shodh").table, given)


@pytest.mark.parametrize("name", [name for name in WITH_TABLE if name != "mcp-memory-service"])
@pytest.mark.parametrize("key", [7, 0, 2**70, "7", "https://x/?a=1", "?", "a:b", " "])
def test_id_of_any_kind_round_trips(name: str, key: str | int) -> None:
    form = formats.load(name)
    record = {**MINIMAL[name], form.table.identity: key}
    document = stored(form, read_record(form.table, record))
    back = export_document(form.table, document).data
    assert back[form.table.identity] == key
    assert EXTENSION not in back.get("metadata", {})
    assert not {"imported_from", "imported_sha256"} & back.get("metadata", {}).keys()


def test_an_id_is_a_text_or_a_number() -> None:
    for key in (1.5, True, [], {"a": 1}):
        with pytest.raises(ValueError, match="`id` is not a string"):
            read_record(formats.load("shodh").table, {**MINIMAL["shodh"], "id": key})


def test_a_field_changed_in_the_other_program_wins_over_our_own_value() -> None:
    table = formats.load("shodh").table
    values = {"id": "fact.a", "title": "T", "kind": "adr", "tags": ["x"], "created": NOW, "updated": NOW}
    record = json.loads(json.dumps(write_record(table, {**values, BODY: "text"}).data))
    assert record["type"] == "Decision"
    assert "type" not in read_record(table, record).values
    changed = read_record(table, {**record, "type": "Error"})
    assert (changed.values["type"], changed.values["kind"], changed.own_id) == ("Error", "fact", "fact.a")
